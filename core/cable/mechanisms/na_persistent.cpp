#include <array>
#include <cstddef>

#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace na_persistent_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::linear_exponential;
using cortical::logistic;

enum Parameter : std::size_t { gbar, ena };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.001, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ena", "mV", 50.0, reversal_bounds, "Reversal potential of sodium"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double alpha = 0.182 * linear_exponential(v + 38.0, 6.0);
        const double beta = 0.124 * linear_exponential(-(v + 38.0), 6.0);
        return {logistic((v + 52.6) / 4.6), 6.0 / (constants.speed * (alpha + beta))};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double alpha = 2.88e-6 * linear_exponential(-(v + 17.0), 4.63);
        const double beta = 6.94e-6 * linear_exponential(v + 64.4, 2.63);
        return {logistic(-(v + 48.8) / 10.0), 1.0 / (constants.speed * (alpha + beta))};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 3}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ena, powers}};

}  // namespace na_persistent_parts
}  // namespace

constinit const MechanismModel na_persistent{
    .name = "na_persistent",
    .summary = "Persistent sodium current of cortical pyramidal cells",
    .equations = R"(i = gbar m^3 h (V - ena)
dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
m_inf = 1 / (1 + exp(-(V + 52.6) / 4.6))                  h_inf = 1 / (1 + exp((V + 48.8) / 10))
tau_m = 6 / (0.182 (V + 38) / (1 - exp(-(V + 38) / 6)) - 0.124 (V + 38) / (1 - exp((V + 38) / 6)))
1/tau_h = -2.88e-6 (V + 17) / (1 - exp((V + 17) / 4.63)) + 6.94e-6 (V + 64.4) / (1 - exp(-(V + 64.4) / 2.63))
At temperature T, rates are multiplied by 2.3^((T - 21) / 10).)",
    .reference =
        "J. Magistretti and A. Alonso, Journal of General Physiology 114, 491-509 (1999); as in E. Hay et al., PLoS "
        "Computational Biology 7, e1002107 (2011)",
    .parameters = na_persistent_parts::parameters,
    .gates = na_persistent_parts::gates,
    .currents = na_persistent_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
