#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "cable/mechanisms/receptor_scale.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"
#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

namespace {
namespace nmda_parts {

constexpr Bounds magnesium_bounds{.lower = 0.0, .upper = 1e6};
/// Magnesium block: its voltage dependence (1/mV), and the concentration that blocks half of the receptors at 0 mV
/// (mM).
constexpr double block_slope = 0.062;
constexpr double half_magnesium = 3.57;

enum Parameter : std::size_t { tau_rise, tau_decay, e, Mg };

constexpr std::array parameters{
    models::ParameterInfo{"tau_rise", "ms", 2.0, time_bounds, "Time constant of the rise"},
    models::ParameterInfo{"tau_decay", "ms", 65.0, time_bounds, "Time constant of the decay"},
    models::ParameterInfo{"e", "mV", 0.0, reversal_bounds, "Reversal potential"},
    models::ParameterInfo{"Mg", "mM", 1.0, magnesium_bounds, "Extracellular magnesium, which blocks the receptors"},
};

ReceptorConstants constants(std::span<const double> p, double step) {
    ReceptorConstants constants = two_exponentials(p[tau_rise], p[tau_decay], p[e], step);
    constants.blockers = p[Mg] / half_magnesium;
    constants.block_slope = block_slope;
    return constants;
}

std::optional<std::string> conflict(std::span<const double> p) { return rise_conflict(p[tau_rise], p[tau_decay]); }

}  // namespace nmda_parts
}  // namespace

constinit const ReceptorModel nmda{
    .name = "nmda",
    .summary = "NMDA receptors, which magnesium blocks at low potentials",
    .equations = R"(i = g B(V) (V - e)
B(V) = 1 / (1 + exp(-0.062 V / mV) Mg / 3.57 mM)
g = sum over spikes of w f (exp(-t / tau_decay) - exp(-t / tau_rise)), t after the spike arrives
f is such that a spike of weight w gives a greatest conductance of w without magnesium.
Within a step, the current is linear in V, about the potential before the step.)",
    .reference = "C. E. Jahr and C. F. Stevens, Journal of Neuroscience 10, 3178-3182 (1990)",
    .parameters = nmda_parts::parameters,
    .constants = nmda_parts::constants,
    .conflict = nmda_parts::conflict,
};

}  // namespace ranvier::cable
