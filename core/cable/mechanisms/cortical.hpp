#pragma once

#include "base/math.hpp"
#include "ranvier/base/instruction_set.hpp"

/// Common functions of the channels of cortical cells.
namespace ranvier::cable::cortical {

inline constexpr double measured_celsius = 21.0;

/// The factor of rates at a temperature: 2.3 for each ten degrees above that of the measurements.
inline double speed(double celsius) { return math::exp(0.1 * (celsius - measured_celsius) * math::log(2.3)); }

/// x / (1 - e^(-x / y)), which is y at x = 0.
RANVIER_ALWAYS_INLINE double linear_exponential(double x, double y) { return y * math::over_expm1(-x * (1.0 / y)); }

/// 1 / (1 + e^(-x)).
RANVIER_ALWAYS_INLINE double logistic(double x) { return 1.0 / (1.0 + math::exp(-x)); }

struct Constants {
    double speed;
};

struct Gate {
    static Constants constants(double celsius, const double* /*parameters*/) { return {cortical::speed(celsius)}; }
};

}  // namespace ranvier::cable::cortical
