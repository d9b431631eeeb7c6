#include <array>
#include <cstddef>

#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace na_transient_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::linear_exponential;

enum Parameter : std::size_t { gbar, ena };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.1, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ena", "mV", 50.0, reversal_bounds, "Reversal potential of sodium"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double alpha = 0.182 * linear_exponential(v + 38.0, 6.0);
        const double beta = 0.124 * linear_exponential(-(v + 38.0), 6.0);
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / (constants.speed * sum)};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double alpha = 0.015 * linear_exponential(-(v + 66.0), 6.0);
        const double beta = 0.015 * linear_exponential(v + 66.0, 6.0);
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / (constants.speed * sum)};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 3}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ena, powers}};

}  // namespace na_transient_parts
}  // namespace

constinit const MechanismModel na_transient{
    .name = "na_transient",
    .summary = "Transient sodium current of cortical pyramidal cells",
    .equations = R"(i = gbar m^3 h (V - ena)
dx/dt = alpha_x (1 - x) - beta_x x, V in mV and rates in 1/ms at 21 degrees:
alpha_m = 0.182 (V + 38) / (1 - exp(-(V + 38) / 6))       beta_m = -0.124 (V + 38) / (1 - exp((V + 38) / 6))
alpha_h = -0.015 (V + 66) / (1 - exp((V + 66) / 6))       beta_h = 0.015 (V + 66) / (1 - exp(-(V + 66) / 6))
At temperature T, rates are multiplied by 2.3^((T - 21) / 10).)",
    .reference =
        "C. M. Colbert and E. Pan, Nature Neuroscience 5, 533-538 (2002); as in E. Hay et al., PLoS Computational "
        "Biology 7, e1002107 (2011)",
    .parameters = na_transient_parts::parameters,
    .gates = na_transient_parts::gates,
    .currents = na_transient_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
