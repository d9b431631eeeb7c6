#pragma once

#include <cstdint>
#include <span>

#include "ranvier/base/ids.hpp"

namespace ranvier {

/// Turns steps into times, as a person would on paper: with a resolution of 0.1 ms, step 3 is at 0.3 ms.
///
/// The double 0.1 is a little more than a tenth, and 3 * 0.1 in doubles is 0.30000000000000004. So the resolution
/// stands for the fraction p / q that the user meant, and a time is the double nearest to step * p / q. The user meant
/// the fraction with a denominator up to 2^20 to which the resolution is the nearest double, such as 1/10 or 1/3; if
/// there is none, the decimal number of at most 15 digits; if there is none either, the double itself.
class StepTimes {
   public:
    explicit StepTimes(double resolution);

    /// In the unit of the resolution.
    double operator()(Step step) const;
    void operator()(std::span<const Step> steps, double* times) const;

   private:
    double exact(Step step) const;

    double resolution_;
    /// The fraction, in its lowest terms; a denominator of 0 stands for none.
    std::uint64_t numerator_ = 0;
    std::uint64_t denominator_ = 0;
    /// Up to this step numerator and denominator are doubles, and so the quotient of both is rounded once.
    Step largest_product_ = 0;
};

}  // namespace ranvier
