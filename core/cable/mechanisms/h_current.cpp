#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace h_current_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::linear_exponential;

enum Parameter : std::size_t { gbar, eh };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.0001, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"eh", "mV", -45.0, reversal_bounds, "Reversal potential of the current"},
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        (void)constants;
        const double alpha = 0.00643 * linear_exponential(-(v + 154.9), 11.9);
        const double beta = 0.193 * math::exp(v / 33.1);
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / sum};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
};
constexpr std::array powers{GatePower{0, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, eh, powers}};

}  // namespace h_current_parts
}  // namespace

constinit const MechanismModel h_current{
    .name = "h_current",
    .summary = "Current of cations that hyperpolarisation activates (h current)",
    .equations = R"(i = gbar m (V - eh)
dm/dt = alpha (1 - m) - beta m, V in mV and rates in 1/ms, as measured at 34 degrees, at any temperature:
alpha = 0.00643 (V + 154.9) / (exp((V + 154.9) / 11.9) - 1)   beta = 0.193 exp(V / 33.1))",
    .reference = "M. H. P. Kole, S. Hallermann and G. J. Stuart, Journal of Neuroscience 26, 1677-1687 (2006)",
    .parameters = h_current_parts::parameters,
    .gates = h_current_parts::gates,
    .currents = h_current_parts::currents,
};

}  // namespace ranvier::cable
