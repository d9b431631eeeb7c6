#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace ca_lva_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::logistic;

enum Parameter : std::size_t { gbar, eca };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.0001, density_bounds, "Greatest conductance"},
    calcium_reversal,
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        return {logistic((v + 40.0) / 6.0), (5.0 + 20.0 * logistic(-(v + 35.0) / 5.0)) / constants.speed};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        return {logistic(-(v + 90.0) / 6.4), (20.0 + 50.0 * logistic(-(v + 50.0) / 7.0)) / constants.speed};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 2}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, eca, powers, true}};

}  // namespace ca_lva_parts
}  // namespace

constinit const MechanismModel ca_lva{
    .name = "ca_lva",
    .summary = "Calcium current that is activated by low voltages",
    .equations = R"(i = gbar m^2 h (V - eca)
dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
m_inf = 1 / (1 + exp(-(V + 40) / 6))                      h_inf = 1 / (1 + exp((V + 90) / 6.4))
tau_m = 5 + 20 / (1 + exp((V + 35) / 5))                  tau_h = 20 + 50 / (1 + exp((V + 50) / 7))
At temperature T, rates are multiplied by 2.3^((T - 21) / 10). eca is that of the calcium_pool there.)",
    .reference =
        "R. B. Avery and D. Johnston, Journal of Neuroscience 16, 5567-5582 (1996), and A. D. Randall and "
        "R. W. Tsien, Neuropharmacology 36, 879-893 (1997); as in E. Hay et al., PLoS Computational Biology 7, "
        "e1002107 (2011)",
    .parameters = ca_lva_parts::parameters,
    .gates = ca_lva_parts::gates,
    .currents = ca_lva_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
