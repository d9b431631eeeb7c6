#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace ca_hva_parts {

using cortical::Constants;
using cortical::Gate;
using cortical::linear_exponential;
using cortical::logistic;

enum Parameter : std::size_t { gbar, eca };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.0001, density_bounds, "Greatest conductance"},
    calcium_reversal,
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        (void)constants;
        const double alpha = 0.055 * linear_exponential(v + 27.0, 3.8);
        const double beta = 0.94 * math::exp(-(v + 75.0) / 17.0);
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / sum};
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        (void)constants;
        const double alpha = 0.000457 * math::exp(-(v + 13.0) / 50.0);
        const double beta = 0.0065 * logistic((v + 15.0) / 28.0);
        const double sum = alpha + beta;
        return {alpha / sum, 1.0 / sum};
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation", rates_of<GateM>},
    GateInfo{"h", "Inactivation", rates_of<GateH>},
};
constexpr std::array powers{GatePower{0, 2}, GatePower{1, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, eca, powers, true}};

}  // namespace ca_hva_parts
}  // namespace

constinit const MechanismModel ca_hva{
    .name = "ca_hva",
    .summary = "Calcium current that is activated by high voltages",
    .equations = R"(i = gbar m^2 h (V - eca)
dx/dt = alpha_x (1 - x) - beta_x x, V in mV and rates in 1/ms, at any temperature:
alpha_m = 0.055 (V + 27) / (1 - exp(-(V + 27) / 3.8))     beta_m = 0.94 exp(-(V + 75) / 17)
alpha_h = 0.000457 exp(-(V + 13) / 50)                    beta_h = 0.0065 / (1 + exp(-(V + 15) / 28))
eca is that of the calcium_pool there.)",
    .reference =
        "I. Reuveni, A. Friedman, Y. Amitai and M. J. Gutnick, Journal of Neuroscience 13, 4609-4621 (1993); "
        "as in E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)",
    .parameters = ca_hva_parts::parameters,
    .gates = ca_hva_parts::gates,
    .currents = ca_hva_parts::currents,
};

}  // namespace ranvier::cable
