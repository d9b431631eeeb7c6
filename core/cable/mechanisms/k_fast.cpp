#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace k_fast_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::logistic;

enum Parameter : std::size_t { gbar, ek };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.1, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ek", "mV", -85.0, reversal_bounds, "Reversal potential of potassium"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        (void)constants;
        return {logistic((v - 18.7) / 9.7), 4.0 * logistic(-(v + 46.56) / 44.14)};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
};
constexpr std::array powers{GatePower{0, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ek, powers}};

}  // namespace k_fast_parts
}  // namespace

constinit const MechanismModel k_fast{
    .name = "k_fast",
    .summary = "Fast potassium current (Kv3.1)",
    .equations = R"(i = gbar m (V - ek)
dm/dt = (m_inf - m) / tau_m, V in mV and times in ms, at any temperature:
m_inf = 1 / (1 + exp(-(V - 18.7) / 9.7))                  tau_m = 4 / (1 + exp((V + 46.56) / 44.14)))",
    .reference =
        "J. Rettig et al., EMBO Journal 11, 2473-2486 (1992); as in E. Hay et al., PLoS Computational Biology 7, "
        "e1002107 (2011)",
    .parameters = k_fast_parts::parameters,
    .gates = k_fast_parts::gates,
    .currents = k_fast_parts::currents,
};

}  // namespace ranvier::cable
