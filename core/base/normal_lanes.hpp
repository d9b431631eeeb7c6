#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Quantiles of the standard normal distribution of many numbers, for kernels that are dispatched by instruction set.
namespace ranvier::normal_lanes {

/// Greatest number of quantiles of a call.
inline constexpr std::size_t most = 256;
inline constexpr std::size_t values_together = 64;

/// One bit for each of `values_together` numbers: a loop with these is vectorised.
alignas(64) inline constexpr std::array<std::uint64_t, values_together> bit_of_place = [] {
    std::array<std::uint64_t, values_together> bits{};
    for (std::size_t k = 0; k < values_together; ++k) bits[k] = std::uint64_t{1} << k;
    return bits;
}();

/// The quantile's tails take one more logarithm, root and division than its centre, and hold 15 in 100 of the numbers:
/// they are gathered, computed side by side and scattered back. The result is bit-identical to math::normal_quantile.
/// @param uniform `count` numbers, with room for `most`
RANVIER_ALWAYS_INLINE void fill_quantiles(double* __restrict uniform, std::size_t count, double* __restrict out) {
    constexpr std::size_t lanes = 8;
    double tail[most + lanes];
    std::uint32_t tail_places[most];
    // The centre, so that `values_together` at a time can be tested.
    for (std::size_t i = count; i < (count + values_together - 1) / values_together * values_together; ++i)
        uniform[i] = 0.5;
    for (std::size_t i = 0; i < count; ++i) out[i] = math::detail::quantile_central(uniform[i] - 0.5);
    std::size_t tails = 0;
    for (std::size_t begin = 0; begin < count; begin += values_together) {
        std::uint64_t beyond = 0;
        for (std::size_t k = 0; k < values_together; ++k) {
            const double q = uniform[begin + k] - 0.5;
            beyond |= q >= -0.425 && q <= 0.425 ? 0 : bit_of_place[k];
        }
        for (; beyond != 0; beyond &= beyond - 1) {
            const std::size_t place = begin + static_cast<std::size_t>(__builtin_ctzll(beyond));
            tail_places[tails] = static_cast<std::uint32_t>(place);
            tail[tails++] = uniform[place];
        }
    }
    // Whole vectors: a remainder would be computed one number after another.
    const std::size_t padded = (tails + lanes - 1) / lanes * lanes;
    for (std::size_t i = tails; i < padded; ++i) tail[i] = 0.5;
    for (std::size_t i = 0; i < padded; i += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) tail[i + k] = math::detail::quantile_tail(tail[i + k]);
    }
    for (std::size_t i = 0; i < tails; ++i) out[tail_places[i]] = tail[i];
}

}  // namespace ranvier::normal_lanes
