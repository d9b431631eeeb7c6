#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace m_current_parts {

using cortical::Constants;
using cortical::Gate;

enum Parameter : std::size_t { gbar, ek };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.0001, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ek", "mV", -85.0, reversal_bounds, "Reversal potential of potassium"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        const double alpha = 3.3e-3 * math::exp(0.1 * (v + 35.0));
        const double beta = 3.3e-3 * math::exp(-0.1 * (v + 35.0));
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / (constants.speed * sum)};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
};
constexpr std::array powers{GatePower{0, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ek, powers}};

}  // namespace m_current_parts
}  // namespace

constinit const MechanismModel m_current{
    .name = "m_current",
    .summary = "M current: potassium channels that muscarinic receptors close",
    .equations = R"(i = gbar m (V - ek)
dm/dt = alpha (1 - m) - beta m, V in mV and rates in 1/ms at 21 degrees:
alpha = 0.0033 exp(0.1 (V + 35))                          beta = 0.0033 exp(-0.1 (V + 35))
At temperature T, rates are multiplied by 2.3^((T - 21) / 10).)",
    .reference =
        "P. R. Adams, D. A. Brown and A. Constanti, Journal of Physiology 330, 537-572 (1982); as in E. Hay et al., "
        "PLoS Computational Biology 7, e1002107 (2011)",
    .parameters = m_current_parts::parameters,
    .gates = m_current_parts::gates,
    .currents = m_current_parts::currents,
    .measured_celsius = cortical::measured_celsius,
};

}  // namespace ranvier::cable
