#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"
#include "ranvier/cable/receptor.hpp"

namespace ranvier::cable {

namespace {
namespace expsyn_parts {

enum Parameter : std::size_t { tau, e };

constexpr std::array parameters{
    models::ParameterInfo{"tau", "ms", 2.0, time_bounds, "Time constant of the conductance"},
    models::ParameterInfo{"e", "mV", 0.0, reversal_bounds, "Reversal potential"},
};

ReceptorConstants constants(std::span<const double> p, double step) {
    return {.reversal = p[e], .decay = math::exp(-step / p[tau]), .half_decay = math::exp(-0.5 * step / p[tau])};
}

}  // namespace expsyn_parts
}  // namespace

constinit const ReceptorModel expsyn{
    .name = "expsyn",
    .summary = "Conductance that jumps with each spike and decays exponentially",
    .equations = R"(i = g (V - e)
dg/dt = -g / tau + sum of the weights of the spikes that arrive)",
    .reference =
        "A. Destexhe, Z. F. Mainen and T. J. Sejnowski, Neural Computation 6, 14-18 (1994), in its limit of "
        "short pulses",
    .parameters = expsyn_parts::parameters,
    .constants = expsyn_parts::constants,
};

}  // namespace ranvier::cable
