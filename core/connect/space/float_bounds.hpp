#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// Bounds in single precision.
namespace ranvier::connect {

/// A number that is not greater; infinite for NaN. What is not negative stays so.
inline float rounded_down(double value) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (!(value >= -std::numeric_limits<float>::max())) return -infinity;
    const float below = std::nextafter(static_cast<float>(value), -infinity);
    return value >= 0.0 ? std::max(below, 0.0F) : below;
}

/// A number that is not less; infinite for NaN. 0 stays 0, so that no pair is drawn where none can be.
inline float rounded_up(double value) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (!(value <= std::numeric_limits<float>::max())) return infinity;
    return value == 0.0 ? 0.0F : std::nextafter(static_cast<float>(value), infinity);
}

}  // namespace ranvier::connect
