#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace k_transient_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::logistic;

enum Parameter : std::size_t { gbar, ek };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.01, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ek", "mV", -85.0, reversal_bounds, "Reversal potential of potassium"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double u = (v + 81.0) / 59.0;
        return {logistic((v + 10.0) / 19.0), (0.34 + 0.92 * math::exp(-u * u)) / constants.speed};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double u = (v + 83.0) / 23.0;
        return {logistic(-(v + 76.0) / 10.0), (8.0 + 49.0 * math::exp(-u * u)) / constants.speed};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 4}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ek, powers}};

}  // namespace k_transient_parts
}  // namespace

constinit const MechanismModel k_transient{
    .name = "k_transient",
    .summary = "Transient (A-type) potassium current of cortical pyramidal cells",
    .equations = R"(i = gbar m^4 h (V - ek)
dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
m_inf = 1 / (1 + exp(-(V + 10) / 19))                     h_inf = 1 / (1 + exp((V + 76) / 10))
tau_m = 0.34 + 0.92 exp(-((V + 81) / 59)^2)               tau_h = 8 + 49 exp(-((V + 83) / 23)^2)
At temperature T, rates are multiplied by 2.3^((T - 21) / 10).)",
    .reference =
        "A. Korngreen and B. Sakmann, Journal of Physiology 525, 621-639 (2000); as in E. Hay et al., PLoS "
        "Computational Biology 7, e1002107 (2011)",
    .parameters = k_transient_parts::parameters,
    .gates = k_transient_parts::gates,
    .currents = k_transient_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
