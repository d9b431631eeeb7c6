#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace k_persistent_parts {

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
        // The published 175.03 is 13 exp(2.6), rounded; without rounding the two branches meet at -60 mV.
        const double low = 1.25 + 13.0 * math::exp(0.026 * (v + 10.0) + 2.6);
        const double high = 1.25 + 13.0 * math::exp(-0.026 * (v + 10.0));
        return {logistic((v + 11.0) / 12.0), (v < -60.0 ? low : high) / constants.speed};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double u = (v + 85.0) / 48.0;
        const double tau = 360.0 + (1010.0 + 24.0 * (v + 65.0)) * math::exp(-u * u);
        return {logistic(-(v + 64.0) / 11.0), tau / constants.speed};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 2}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ek, powers}};

}  // namespace k_persistent_parts
}  // namespace

constinit const MechanismModel k_persistent{
    .name = "k_persistent",
    .summary = "Slow potassium current of cortical pyramidal cells",
    .equations = R"(i = gbar m^2 h (V - ek)
dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
m_inf = 1 / (1 + exp(-(V + 11) / 12))                     h_inf = 1 / (1 + exp((V + 64) / 11))
tau_m = 1.25 + 13 exp(0.026 (V + 110)) below -60 mV, 1.25 + 13 exp(-0.026 (V + 10)) above
tau_h = 360 + (1010 + 24 (V + 65)) exp(-((V + 85) / 48)^2)
At temperature T, rates are multiplied by 2.3^((T - 21) / 10).)",
    .reference =
        "A. Korngreen and B. Sakmann, Journal of Physiology 525, 621-639 (2000); as in E. Hay et al., PLoS "
        "Computational Biology 7, e1002107 (2011)",
    .parameters = k_persistent_parts::parameters,
    .gates = k_persistent_parts::gates,
    .currents = k_persistent_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
