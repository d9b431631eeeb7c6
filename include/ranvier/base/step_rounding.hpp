#pragma once

#include <cmath>

#include "ranvier/base/instruction_set.hpp"

namespace ranvier {

/// Rounds decimal numbers of the user: 0.145 ms is 14.5 steps of 0.01 ms, so 15, although the nearest doubles give
/// 14.499999999999998. A time, a resolution, its multiple and its reciprocal are each rounded to double once: together
/// at most 3 * 2^-53 of the quotient, which the factor covers. Decimal numbers of 15 digits do not come this close to
/// half a step from below.
inline constexpr double decimal_half_guard = 1.0 + 0x1p-50;

/// A time in steps plus one half: its whole part is the nearest step; half a step is rounded up.
RANVIER_ALWAYS_INLINE double half_up(double milliseconds, double steps_per_millisecond) {
    return milliseconds * (steps_per_millisecond * decimal_half_guard) + 0.5;
}

/// The nearest whole number of a product of decimal numbers; one half is rounded up.
inline double round_half_up(double value) { return std::floor(value * decimal_half_guard + 0.5); }

}  // namespace ranvier
