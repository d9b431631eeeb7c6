#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "base/math.hpp"
#include "cable/mechanisms/receptor_scale.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"
#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

namespace {
namespace exp2syn_parts {

enum Parameter : std::size_t { tau_rise, tau_decay, e };

constexpr std::array parameters{
    models::ParameterInfo{"tau_rise", "ms", 0.5, time_bounds, "Time constant of the rise"},
    models::ParameterInfo{"tau_decay", "ms", 2.0, time_bounds, "Time constant of the decay"},
    models::ParameterInfo{"e", "mV", 0.0, reversal_bounds, "Reversal potential"},
};

ReceptorConstants constants(std::span<const double> p, double step) {
    return two_exponentials(p[tau_rise], p[tau_decay], p[e], step);
}

std::optional<std::string> conflict(std::span<const double> p) { return rise_conflict(p[tau_rise], p[tau_decay]); }

}  // namespace exp2syn_parts
}  // namespace

constinit const ReceptorModel exp2syn{
    .name = "exp2syn",
    .summary = "Conductance that rises and decays exponentially",
    .equations = R"(i = g (V - e)
g = sum over spikes of w f (exp(-t / tau_decay) - exp(-t / tau_rise)), t after the spike arrives
f is such that a spike of weight w gives a greatest conductance of w.)",
    .reference =
        "A. Roth and M. C. W. van Rossum, in: Computational Modeling Methods for Neuroscientists, "
        "MIT Press (2009), 139-160",
    .parameters = exp2syn_parts::parameters,
    .constants = exp2syn_parts::constants,
    .conflict = exp2syn_parts::conflict,
};

}  // namespace ranvier::cable
