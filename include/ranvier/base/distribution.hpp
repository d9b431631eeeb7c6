#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ranvier/base/instruction_set.hpp"
#include "ranvier/base/random.hpp"

namespace ranvier {

/// A distribution of real numbers, optionally restricted to [lower, upper].
///
/// Value i of a stream is a function of (key, stream, i) alone.
struct Distribution {
    enum class Kind : std::uint8_t {
        constant,     ///< first
        normal,       ///< mean first, standard deviation second >= 0
        lognormal,    ///< exp of a normal: mean of the logarithm first, its standard deviation second >= 0
        uniform,      ///< in [first, second)
        exponential,  ///< first + exponential of mean second >= 0
    };
    enum class Restriction : std::uint8_t {
        none,
        clip,    ///< values outside are moved to the nearer bound
        redraw,  ///< values outside are drawn again
    };

    Kind kind = Kind::constant;
    double first = 0.0;
    double second = 0.0;
    Restriction restriction = Restriction::none;
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    static Distribution constant(double value) { return {.first = value}; }

    /// Least and greatest value that fill() can give: finite, since it draws from 52 random bits.
    double least() const;
    double greatest() const;

    /// The value below which draws lie with this probability, from 0 to 1. Exact where values are not redrawn;
    /// otherwise the quantile of the unrestricted distribution, clamped to the bounds. For estimates.
    double quantile(double probability) const;

    /// @throws ValueOutOfBoundsError when a parameter is not finite or is negative where it must not be, when lower >
    /// upper, or when redrawing would accept less than one draw in a thousand. `object` names the distribution in the
    /// message.
    void check(std::string_view object) const;

    /// Values [first_index, first_index + count) of the stream.
    void fill(InstructionSet set, RandomKey key, std::uint64_t stream, std::uint32_t first_index, std::size_t count,
              double* out) const;
    /// Value `index` of the stream.
    double draw(RandomKey key, std::uint64_t stream, std::uint32_t index) const;
    /// Probability that one unrestricted draw falls into [lower, upper].
    double acceptance() const;
};

}  // namespace ranvier
