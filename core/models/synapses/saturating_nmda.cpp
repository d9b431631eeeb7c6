#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/math.hpp"
#include "models/synapses/release_rules.hpp"
#include "models/synapses/short_term.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class SaturatingNmda {
    enum Parameter : std::size_t { alpha, tau_rise, tau_decay };

    /// The fraction that the first spike opens, x^(1 - a) gamma(a, x) with x = alpha tau_rise and
    /// a = 1 - tau_rise / tau_decay. The lower incomplete gamma function is a series of positive terms:
    /// x e^-x (1 / a + x / (a (a + 1)) + ...).
    static double first_opened(const double* p) {
        const double x = p[alpha] * p[tau_rise];
        double a = 1.0 - p[tau_rise] / p[tau_decay];
        double term = x * math::exp(-x) / a;
        double sum = 0.0;
        while (sum + term != sum) {
            sum += term;
            a += 1.0;
            term *= x / a;
        }
        return sum;
    }

   public:
    static constexpr std::array parameters{
        ParameterInfo{"alpha", "1/ms", 0.5, {.lower = 1e-6, .upper = 50.0}, "Rate at which transmitter opens channels"},
        ParameterInfo{
            "tau_rise", "ms", 2.0, {.lower = 1e-3, .upper = 100.0}, "Time constant of the decay of transmitter"},
        ParameterInfo{
            "tau_decay", "ms", 100.0, {.lower = 1e-3, .upper = 1e5}, "Time constant of the closing of channels"},
    };

    struct Rule : release_rules::SaturatingNmda {
        using OnDevice = release_rules::SaturatingNmda;
        static constexpr std::array<std::string_view, states> state_names{"open"};

        static Constants constants(const double* p, double resolution) {
            return {first_opened(p), -math::expm1(-p[alpha] * p[tau_rise]), p[tau_decay], resolution};
        }
        static State initial(const Constants& /*constants*/) { return {}; }
    };

    static std::optional<std::string> conflict(std::span<const double> p) {
        if (p[tau_rise] >= p[tau_decay]) return "tau_rise must be shorter than tau_decay";
        const double first = first_opened(p.data());
        if (first <= 1.0) return std::nullopt;
        return "one spike would open the fraction " + to_text(first) +
               " of the channels: the approximation needs a tau_rise that is short compared with tau_decay";
    }
};

}  // namespace

constinit const SynapseModel saturating_nmda{
    .name = "saturating_nmda",
    .summary = "NMDA synapse that saturates: each spike opens a fraction of the channels that are still closed",
    .equations =
        R"(A spike adds w (k_0 - k_1 s) to the input of the target when it arrives, where s is the fraction of open channels
of the source when it fires. At each spike of the source,
    s -> s + k_0 - k_1 s
and between spikes ds/dt = -s / tau_decay. If tau_decay is the time constant of the conductance of the target, this
conductance is the sum of w s over its sources. The factors
    k_1 = 1 - exp(-alpha tau_rise)
    k_0 = (alpha tau_rise)^(tau_rise / tau_decay) gamma(1 - tau_rise / tau_decay, alpha tau_rise)
with the lower incomplete gamma function follow from the kinetics
    ds/dt = -s / tau_decay + alpha x (1 - s),  dx/dt = -x / tau_rise,  x -> x + 1 with each spike
for spikes further apart than tau_rise, which is short compared with tau_decay; the rise itself is neglected.
All synapses with the same source share s. The weight w does not change.)",
    .reference =
        "X.-J. Wang, Neuron 36, 955-968 (2002); N. Brunel and X.-J. Wang, Journal of Computational Neuroscience 11, "
        "63-85 (2001)",
    .parameters = SaturatingNmda::parameters,
    .create = short_term::create<SaturatingNmda>,
    .conflict = SaturatingNmda::conflict,
    .keeps_weights = true,
};

}  // namespace ranvier::models
