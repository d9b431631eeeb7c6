#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "ranvier/models/model_info.hpp"

/// Common code of the leaky integrate-and-fire models: parameters of the membrane and the exact solution of
///     C_m dV/dt = -C_m V / tau_m + I(t)        (V relative to E_L)
/// over one step of the grid, for currents that are constant or decay exponentially.
///
/// S. Rotter and M. Diesmann, "Exact digital simulation of time-invariant linear systems with applications to neuronal
/// modeling", Biological Cybernetics 81 (1999).
namespace ranvier::models::membrane_parameters {

inline constexpr ParameterInfo E_L{"E_L", "mV", -70.0, any_number, "Resting potential"};
inline constexpr ParameterInfo C_m{"C_m", "pF", 250.0, positive, "Capacitance of the membrane"};
inline constexpr ParameterInfo tau_m{"tau_m", "ms", 10.0, positive, "Time constant of the membrane"};
inline constexpr ParameterInfo t_ref{
    "t_ref", "ms", 2.0, {.lower = 0.0, .upper = 1e6}, "Duration of the refractory period, rounded up to the grid"};
inline constexpr ParameterInfo V_th{"V_th", "mV", -55.0, any_number, "Threshold: the neuron fires when V_m >= V_th"};
inline constexpr ParameterInfo V_reset{"V_reset", "mV", -70.0, any_number, "Potential after a spike"};
inline constexpr ParameterInfo I_e{"I_e", "pA", 0.0, any_number, "Constant current"};
inline constexpr ParameterInfo V_min{.name = "V_min",
                                     .unit = "mV",
                                     .default_value = -std::numeric_limits<double>::infinity(),
                                     .bounds = {.upper_open = true},
                                     .meaning = "Lower limit of the potential; -infinity: none",
                                     .may_be_infinite = true};

}  // namespace ranvier::models::membrane_parameters

namespace ranvier::models::leaky_membrane {

/// Why threshold and reset do not fit together; nothing if they do.
std::optional<std::string> reset_conflict(double threshold, double reset);
/// Why threshold and lower limit do not fit together; nothing if they do.
std::optional<std::string> limit_conflict(double threshold, double lower_limit);

/// Why the constants of a step are out of range, also in single precision; nothing if they are not.
/// @param gains must not vanish
/// @param others may vanish: a decay over a long step is 0
std::optional<std::string> constants_conflict(std::span<const double> gains, std::span<const double> others);

/// A refractory period in steps, rounded up.
/// @throws ValueOutOfBoundsError for 2^30 steps or more
double refractory_steps(double refractory_time, double resolution);

/// The factors below are for a step h. They are accurate for time constants that are equal, nearly equal, or far
/// apart.

/// Decay of a potential, or of a current with this time constant: exp(-h / tau).
double decay(double h, double tau);
/// Potential that a constant current of 1 pA adds: (tau_m / C_m) (1 - exp(-h / tau_m)).
double gain_of_constant(double h, double tau_m, double capacitance);
/// Potential that a current exp(-t / tau_syn) pA adds.
double gain_of_exponential(double h, double tau_m, double tau_syn, double capacitance);
/// Potential that a current t exp(-t / tau_syn) pA adds, with t in ms.
double gain_of_ramp(double h, double tau_m, double tau_syn, double capacitance);

}  // namespace ranvier::models::leaky_membrane
