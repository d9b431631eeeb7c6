#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/space/mask.hpp"
#include "ranvier/connect/space/pair_function.hpp"

namespace ranvier::connect {

/// A value of pairs that depends on their distance alone.
struct ValueByDistance {
    const PairFunction* function = nullptr;  ///< radial; null: the same value for all pairs
    double constant = 0.0;                   ///< without a function
    const Mask* mask = nullptr;              ///< radial; outside of it the value is 0
    double most = 1.0;                       ///< values above it, and below 0, are refused
};

/// Bounds of a value that depends on the distance, on any interval of distances, by table look-ups.
///
/// The squares of the edges of cells, divided by that of the reach, are numbers with few digits, so that
/// some bits of it are the cell of a squared distance. They grow in proportion to the distance, by 1.1 to 1.6 % of it.
class DistanceBounds {
   public:
    /// @param reach greatest distance, > 0
    DistanceBounds(const ValueByDistance& value, double reach);

    /// Bounds between two squared distances; distances beyond the reach count as the reach. Where a value may be refused,
    /// `low` is below 0 and `high` the greatest value.
    PairRanges::Range between(double least_squared, double greatest_squared) const {
        const std::size_t first = cell(least_squared);
        const std::size_t last = cell(greatest_squared);
        if (is_falling_) return {low_[last], high_[first]};
        const unsigned level = levels_[last - first];
        const std::size_t one = level * cells + first;
        const std::size_t other = level * cells + last + 1 - (std::size_t{1} << level);
        return {std::min(low_[one], low_[other]), std::max(high_[one], high_[other])};
    }

    /// Candidates of a neuron: `count` places in an index, each taken if its limit is less than its value.
    struct Candidates {
        std::size_t count = 0;
        const std::uint32_t* places = nullptr;
        const double* limits = nullptr;
        std::size_t dimensions = 0;
        const double* coordinates[most_dimensions] = {};  ///< by axis and place
        double from[most_dimensions] = {};    ///< the neuron
        double period[most_dimensions] = {};  ///< infinite on axes that are not periodic
    };
    enum Decision : std::uint8_t { rejected, taken, undecided };
    /// Decides candidates by the bounds of their distances, which leaves some of a hundred undecided.
    void decide(InstructionSet set, const Candidates& candidates, std::uint8_t* decisions) const;

   private:
    static constexpr unsigned digits = 5;   ///< of a square, after the first
    static constexpr std::size_t octaves = 24;  ///< of squares; the first cell has the distances below
    static constexpr std::size_t cells = (octaves << digits) + 1;

    std::size_t cell(double squared) const {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(squared * inverse_square_) >> (52 - digits);
        return bits <= before ? 0 : std::min<std::uint64_t>(bits - before, cells - 1);
    }

    /// The bits of the squares in the first cell: the last ends at 1.
    static constexpr std::uint64_t before = (std::uint64_t{1023} << digits) - cells;

    struct Decide;

    double inverse_square_;  ///< of the reach
    bool is_falling_;      ///< whether no bound is greater than one at a lesser distance
    std::vector<std::uint8_t> levels_;  ///< by number of cells - 1: the logarithm to base 2, rounded down
    /// Of level l and cell k: the bounds over 2^l cells from k on.
    std::vector<float> low_;
    std::vector<float> high_;
    /// By cell: a limit below the first is taken, and one not below the second rejected.
    std::vector<float> surely_;
    std::vector<float> possibly_;
};

}  // namespace ranvier::connect
