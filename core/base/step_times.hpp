#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ranvier/base/ids.hpp"

namespace ranvier {

/// A duration in steps, rounded up; one on the grid is not rounded up because of its binary representation.
/// @param name of the duration, for errors
/// @throws ValueOutOfBoundsError for 2^30 steps or more
double steps_rounded_up(std::string_view name, double duration, double resolution);

/// Converts steps to times as in decimal arithmetic: with a resolution of 0.1 ms, step 3 is at 0.3 ms.
///
/// The double 0.1 is slightly more than a tenth, and 3 * 0.1 in doubles is 0.30000000000000004. Therefore the
/// resolution represents the fraction p / q that the user meant, and a time is the double nearest to step * p / q. That
/// fraction is the one with a denominator up to 2^20 to which the resolution is the nearest double, such as 1/10 or
/// 1/3; otherwise the decimal number of at most 15 digits; otherwise the double itself.
class StepTimes {
   public:
    explicit StepTimes(double resolution);

    /// In the unit of the resolution.
    double operator()(Step step) const;
    void operator()(std::span<const Step> steps, double* times) const;

   private:
    double exact(Step step) const;

    double resolution_;
    /// The fraction in lowest terms; a denominator of 0 represents none.
    std::uint64_t numerator_ = 0;
    std::uint64_t denominator_ = 0;
    /// Up to this step, numerator and denominator are exact as doubles, and their quotient is rounded once.
    Step largest_product_ = 0;
};

}  // namespace ranvier
