#pragma once

#include <limits>
#include <string>

namespace ranvier {

/// Bounds of a parameter; an open bound does not belong to the interval.
struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
    bool lower_open = false;
    bool upper_open = false;

    bool contains(double value) const {
        return (lower_open ? value > lower : value >= lower) && (upper_open ? value < upper : value <= upper);
    }
};

inline constexpr Bounds any_number{};
inline constexpr Bounds positive{.lower = 0.0, .lower_open = true};
inline constexpr Bounds not_negative{.lower = 0.0};

/// "> 0", ">= 0 and <= 1", ...
std::string describe(const Bounds& bounds);

}  // namespace ranvier
