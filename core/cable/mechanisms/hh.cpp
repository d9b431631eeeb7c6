#include <array>
#include <cstddef>

#include "base/math.hpp"
#include "ranvier/cable/mechanism.hpp"
#include "ranvier/cable/mechanisms/registry.hpp"

namespace ranvier::cable {

namespace {
namespace hh_parts {

enum Parameter : std::size_t { gnabar, gkbar, gl, el, ena, ek };

constexpr std::array parameters{
    models::ParameterInfo{"gnabar", "S/cm^2", 0.12, density_bounds, "Greatest conductance of sodium"},
    models::ParameterInfo{"gkbar", "S/cm^2", 0.036, density_bounds, "Greatest conductance of potassium"},
    models::ParameterInfo{"gl", "S/cm^2", 0.0003, density_bounds, "Conductance of the leak"},
    models::ParameterInfo{"el", "mV", -54.3, reversal_bounds, "Reversal potential of the leak"},
    models::ParameterInfo{"ena", "mV", 50.0, reversal_bounds, "Reversal potential of sodium"},
    models::ParameterInfo{"ek", "mV", -77.0, reversal_bounds, "Reversal potential of potassium"},
};

/// Rates were measured at 6.3 degrees and grow threefold with ten more.
constexpr double measured_celsius = 6.3;

double speed(double celsius) { return math::exp(0.1 * (celsius - measured_celsius) * math::log(3.0)); }

/// x / (e^(x / y) - 1), which is y at x = 0.
RANVIER_ALWAYS_INLINE double linear_exponential(double x, double y) { return y * math::over_expm1(x * (1.0 / y)); }

struct Constants {
    double speed;
};

RANVIER_ALWAYS_INLINE Rates from_rates(double alpha, double beta, const Constants& constants) {
    const double sum = alpha + beta;
    return {alpha / sum, 1.0 / (constants.speed * sum)};
}

struct Gate {
    static Constants constants(double celsius, const double* /*parameters*/) { return {speed(celsius)}; }
};

struct GateM : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        return from_rates(0.1 * linear_exponential(-(v + 40.0), 10.0), 4.0 * math::exp(-(v + 65.0) / 18.0), constants);
    }
};

struct GateH : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        return from_rates(0.07 * math::exp(-(v + 65.0) / 20.0), 1.0 / (math::exp(-(v + 35.0) / 10.0) + 1.0), constants);
    }
};

struct GateN : Gate {
    RANVIER_ALWAYS_INLINE static Rates at(double v, const Constants& constants) {
        return from_rates(0.01 * linear_exponential(-(v + 55.0), 10.0), 0.125 * math::exp(-(v + 65.0) / 80.0),
                          constants);
    }
};

constexpr std::array gates{
    GateInfo{"m", "Activation of sodium", rates_of<GateM>},
    GateInfo{"h", "Inactivation of sodium", rates_of<GateH>},
    GateInfo{"n", "Activation of potassium", rates_of<GateN>},
};
constexpr std::array sodium_gates{GatePower{0, 3}, GatePower{1, 1}};
constexpr std::array potassium_gates{GatePower{2, 4}};
constexpr std::array currents{
    CurrentInfo{"i_Na", gnabar, ena, sodium_gates},
    CurrentInfo{"i_K", gkbar, ek, potassium_gates},
    CurrentInfo{"i_l", gl, el},
};

}  // namespace hh_parts
}  // namespace

constinit const MechanismModel hh{
    .name = "hh",
    .summary = "Sodium, potassium and leak of the squid giant axon, after Hodgkin and Huxley",
    .equations = R"(i = gnabar m^3 h (V - ena) + gkbar n^4 (V - ek) + gl (V - el)
dx/dt = alpha_x (1 - x) - beta_x x, for each gate x of m, h, n, with V in mV and rates in 1/ms at 6.3 degrees:
alpha_m = 0.1 (V + 40) / (1 - exp(-(V + 40) / 10))        beta_m = 4 exp(-(V + 65) / 18)
alpha_h = 0.07 exp(-(V + 65) / 20)                        beta_h = 1 / (1 + exp(-(V + 35) / 10))
alpha_n = 0.01 (V + 55) / (1 - exp(-(V + 55) / 10))       beta_n = 0.125 exp(-(V + 65) / 80)
At other temperatures rates are multiplied by 3^((celsius - 6.3) / 10).)",
    .reference =
        "A. L. Hodgkin and A. F. Huxley, Journal of Physiology 117, 500-544 (1952); potentials as they are "
        "written today, with the rest at -65 mV",
    .parameters = hh_parts::parameters,
    .gates = hh_parts::gates,
    .currents = hh_parts::currents,
    .measured_celsius = hh_parts::measured_celsius,
};

}  // namespace ranvier::cable
