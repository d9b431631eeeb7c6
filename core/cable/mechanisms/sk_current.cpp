#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "cable/mechanisms/cortical.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace sk_current_parts {

using cortical::logistic;

/// The concentration that opens half of the channels (mM), the Hill coefficient, and the time constant (ms).
constexpr double half_open = 0.00043;
constexpr double steepness = 4.8;
constexpr double tau = 1.0;

enum Parameter : std::size_t { gbar, ek };

constexpr std::array parameters{
    models::ParameterInfo{"gbar", "S/cm^2", 0.001, density_bounds, "Greatest conductance"},
    models::ParameterInfo{"ek", "mV", -85.0, reversal_bounds, "Reversal potential of potassium"},
};

struct Constants {
    double log_half;
};

struct GateZ {
    static Constants constants(double /*celsius*/, const double* /*parameters*/) { return {math::log(half_open)}; }

    RANVIER_ALWAYS_INLINE static Rates at(double log_calcium, const Constants& constants) {
        return {logistic(steepness * (log_calcium - constants.log_half)), tau};
    }
};

constexpr std::array gates{
    GateInfo{"z", "Activation by calcium", rates_of<GateZ>, Follows::calcium},
};
constexpr std::array powers{GatePower{0, 1}};
constexpr std::array currents{CurrentInfo{"i", gbar, ek, powers}};

}  // namespace sk_current_parts
}  // namespace

constinit const MechanismModel sk_current{
    .name = "sk_current",
    .summary = "Potassium current of small conductance that calcium activates",
    .equations = R"(i = gbar z (V - ek)
dz/dt = (z_inf - z) / tau_z, with the concentration Ca of the calcium_pool there, at any temperature:
z_inf = 1 / (1 + (0.00043 mM / Ca)^4.8)                   tau_z = 1 ms)",
    .reference =
        "M. Koehler, B. Hirschberg, C. T. Bond, J. M. Kinzie, N. V. Marrion, J. Maylie and J. P. Adelman, Science "
        "273, 1709-1714 (1996); as in E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)",
    .parameters = sk_current_parts::parameters,
    .gates = sk_current_parts::gates,
    .currents = sk_current_parts::currents,
};

}  // namespace ranvier::cable
