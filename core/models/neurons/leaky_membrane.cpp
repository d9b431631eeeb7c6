#include "models/neurons/leaky_membrane.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/step_times.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models::leaky_membrane {

namespace {

// Between these bounds the closed forms below lose digits, so their Taylor series are used.
constexpr double series_range = 1.0;
constexpr int series_terms = 20;

/// Integral of u e^(x u) over u in [0, 1], x <= 0.
double integral_of_rising(double x) {
    if (x < -series_range) return (math::exp(x) * (x - 1.0) + 1.0) / (x * x);
    double sum = 0.0;
    double power = 1.0;  // x^k / k!
    for (int k = 0; k < series_terms; ++k) {
        sum += power / (k + 2);
        power *= x / (k + 1);
    }
    return sum;
}

/// Integral of (1 - u) e^(x u) over u in [0, 1], x <= 0.
double integral_of_falling(double x) {
    if (x < -series_range) return (math::exp(x) - 1.0 - x) / (x * x);
    double sum = 0.0;
    double term = 0.5;  // x^k / (k + 2)!
    for (int k = 0; k < series_terms; ++k) {
        sum += term;
        term *= x / (k + 3);
    }
    return sum;
}

}  // namespace

std::optional<std::string> reset_conflict(double threshold, double reset) {
    if (reset < threshold) return std::nullopt;
    return "V_reset, " + to_text(reset) + " mV, must be below V_th, " + to_text(threshold) + " mV";
}

std::optional<std::string> limit_conflict(double threshold, double lower_limit) {
    if (lower_limit < threshold) return std::nullopt;
    return "V_min, " + to_text(lower_limit) + " mV, must be below V_th, " + to_text(threshold) + " mV";
}

std::optional<std::string> constants_conflict(std::span<const double> gains, std::span<const double> others) {
    // The smallest normal number of single precision.
    constexpr double least = 0x1p-126;
    constexpr double greatest = 0x1p127;
    for (const double gain : gains) {
        if (gain >= least && gain <= greatest) continue;
        return "C_m and the time constants scale an input by " + to_text(gain) + "; this factor must be between " +
               to_text(least) + " and " + to_text(greatest);
    }
    for (const double other : others) {
        if (std::abs(other) <= greatest) continue;
        return "a factor of the update, a potential relative to E_L or the effect of I_e is " + to_text(other) +
               "; its absolute value can be at most " + to_text(greatest);
    }
    return std::nullopt;
}

double refractory_steps(double refractory_time, double resolution) {
    return steps_rounded_up("t_ref", refractory_time, resolution);
}

double decay(double h, double tau) { return math::exp(-h / tau); }

double gain_of_constant(double h, double tau_m, double capacitance) {
    return h / capacitance * math::expm1_over(-h / tau_m);
}

// Both gains are convolutions of the current with exp(-t / tau_m) / C_m. The slower of the two exponentials is taken out
// of the integral, so that the exponent that stays inside is never positive and nothing overflows.

double gain_of_exponential(double h, double tau_m, double tau_syn, double capacitance) {
    const double membrane = h / tau_m;
    const double synapse = h / tau_syn;
    return h / capacitance * math::exp(-std::min(membrane, synapse)) * math::expm1_over(-std::abs(membrane - synapse));
}

double gain_of_ramp(double h, double tau_m, double tau_syn, double capacitance) {
    const double membrane = h / tau_m;
    const double synapse = h / tau_syn;
    const double integral = membrane <= synapse ? math::exp(-membrane) * integral_of_rising(membrane - synapse)
                                                : math::exp(-synapse) * integral_of_falling(synapse - membrane);
    return h * h / capacitance * integral;
}

}  // namespace ranvier::models::leaky_membrane
