#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/program/program.hpp"

namespace ranvier::connect {

/// A quantity of a pair of a source and a target, an input of a PairFunction. Lengths are in the unit of the positions.
enum class PairQuantity : std::uint8_t {
    distance,
    displacement_x,  ///< target minus source; on periodic axes the shortest
    displacement_y,
    displacement_z,
    source_x,
    source_y,
    source_z,
    target_x,
    target_y,
    target_z,
    source_index,  ///< among the sources of the rule
    target_index,  ///< among the targets of the rule
};

inline constexpr std::size_t pair_quantity_count = static_cast<std::size_t>(PairQuantity::target_index) + 1;

/// The name used in Python: "distance", "displacement_x", ...
std::string_view to_string(PairQuantity quantity);
/// @throws UnknownNameError
PairQuantity parse_pair_quantity(std::string_view name);

/// Whether a quantity needs positions.
constexpr bool is_spatial(PairQuantity quantity) { return quantity < PairQuantity::source_index; }

/// The least and the greatest value of each quantity, over some pairs.
struct PairRanges {
    struct Range {
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
    };
    std::array<Range, pair_quantity_count> of{};

    Range& operator[](PairQuantity quantity) { return of[static_cast<std::size_t>(quantity)]; }
    const Range& operator[](PairQuantity quantity) const { return of[static_cast<std::size_t>(quantity)]; }
};

/// A number for each pair of a source and a target, or for each synapse if it draws: an expression of the user.
/// Immutable and thread-safe.
class PairFunction {
   public:
    /// A part of the value that is drawn again until it is within its bounds.
    struct Redraw {
        std::uint32_t accepted = 0;  ///< index of the result of the program that is true within the bounds
        std::vector<std::uint32_t> draws;  ///< indices of the draws of the part
    };
    /// A number that must not be negative, such as a standard deviation.
    struct Width {
        std::string name;    ///< "std of Normal(mean=1.0, std='d - 0.5')"
        std::string remedy;
    };
    /// An array for each quantity; those that are not inputs may be null.
    using Quantities = std::array<const double*, pair_quantity_count>;

    /// @param program its first result is the number; then follow truths of redraws and numbers that are widths
    /// @param inputs the quantity of each input of the program
    /// @param text as the user wrote it, for errors
    /// @param redraws inner parts before those that contain them
    /// @throws ValueOutOfBoundsError, ShapeError for a program that is not valid
    PairFunction(program::Program program, std::vector<PairQuantity> inputs, std::string text,
                 std::vector<Redraw> redraws = {}, std::vector<Width> widths = {});
    /// The same function with other names of its widths, or without widths, which are known to be valid.
    PairFunction with_widths(std::vector<Width> widths) const;

    const program::Program& program() const { return program_; }
    std::span<const PairQuantity> inputs() const { return inputs_; }
    const std::string& text() const { return text_; }
    std::span<const Redraw> redraws() const { return redraws_; }
    std::span<const Width> widths() const { return widths_; }
    /// The number of the result that is a width.
    std::size_t result_of(std::size_t width) const { return 1 + redraws_.size() + width; }
    bool uses(PairQuantity quantity) const;
    /// Whether it needs positions.
    bool is_spatial() const;
    /// Whether it is a function of the distance alone.
    bool is_radial() const;
    bool draws() const { return draw_count_ > 0; }
    /// Draws have indices below this.
    std::size_t draw_count() const { return draw_count_; }

    /// The values of `count` pairs, of the first attempt of each draw. Vectorised; the bits are those of
    /// program::evaluate().
    /// @throws ValueOutOfBoundsError for a width below 0
    /// @param words one array for each draw of the program, by its index
    void evaluate(InstructionSet set, std::size_t count, const Quantities& quantities,
                  std::span<const std::uint64_t* const> words, double* out) const;

    /// Objects that draw, as positions in streams of random numbers.
    struct Objects {
        /// Objects first, first + 1, ... of a stream.
        static Objects of(std::uint64_t stream, std::uint32_t first) { return {.stream = stream, .first = first}; }
        /// One position for each object.
        static Objects at(const std::uint64_t* streams, const std::uint32_t* indices) {
            return {.streams = streams, .indices = indices};
        }
        Objects from(std::size_t begin) const {
            if (streams == nullptr) return of(stream, first + static_cast<std::uint32_t>(begin));
            return at(streams + begin, indices + begin);
        }

        std::uint64_t stream = 0;
        std::uint32_t first = 0;
        const std::uint64_t* streams = nullptr;
        const std::uint32_t* indices = nullptr;
    };

    /// The values of objects, such as the synapses of a neuron. The random numbers of an object are functions of the key
    /// and its position alone. A part that most_attempts draws leave outside of its bounds gets the nearer bound.
    /// @throws ValueOutOfBoundsError for a width below 0
    void draw(InstructionSet set, std::size_t count, const Quantities& quantities, RandomKey key,
              const Objects& objects, double* out) const;
    static constexpr std::uint32_t most_attempts = 40'000;

    /// The fraction of draws that each redraw accepts, the least of them, for one pair; estimated from up to
    /// 20,000 draws of their own key, fewer where it is above a tenth. 1 without redraws.
    double acceptance(const std::array<double, pair_quantity_count>& pair) const;

    /// An interval that contains the values of all pairs whose quantities are within the ranges: not too narrow, possibly
    /// too wide. Infinite or NaN ends stand for values that may not be finite.
    /// @param result 0: the value
    PairRanges::Range range(const PairRanges& ranges, std::size_t result = 0) const;

    /// Upper bounds of a radial function between successive distances.
    /// @param edges ascending, at least one; result i is the bound from edges[i] to edges[i + 1]
    /// @throws InternalError if it is not radial
    std::vector<double> upper_bounds(std::span<const double> edges) const;

    /// Hash of what it calculates, without the text.
    std::uint64_t fingerprint() const;
    /// Bytes of its program and code.
    std::uint64_t bytes() const;

   private:
    class Code;
    class Run;
    class Drawing;

    /// Refuses a negative number among the widths of some objects. @param inputs by input of the program
    void check_widths(const std::vector<const double*>& inputs, std::span<const double* const> widths,
                      std::size_t count) const;
    /// The array of each input.
    std::vector<const double*> inputs_from(const Quantities& quantities, std::size_t begin) const;

    program::Program program_;
    std::vector<PairQuantity> inputs_;
    std::string text_;
    std::vector<Redraw> redraws_;
    std::vector<Width> widths_;
    std::size_t draw_count_ = 0;
    std::shared_ptr<const Code> code_;
};

}  // namespace ranvier::connect
