#pragma once

#include <cstdint>
#include <limits>

/// Estimates may exceed 64 bits. They saturate at the greatest 64-bit number: the conversion of a number that does not
/// fit is undefined, and a sum that overflows wraps around.
namespace ranvier {

/// The whole part of a number, at least 0. @pre it is not NaN
constexpr std::uint64_t to_saturated(double number) {
    if (number >= 0x1p64) return std::numeric_limits<std::uint64_t>::max();
    return number > 0.0 ? static_cast<std::uint64_t>(number) : 0;
}

constexpr std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace ranvier
