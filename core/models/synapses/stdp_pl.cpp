#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "models/synapses/learning_rules.hpp"
#include "models/synapses/pair_plasticity.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

class StdpPl {
    enum Parameter : std::size_t { tau_plus, tau_minus, learning_rate, alpha, mu, axonal_fraction };

   public:
    static constexpr std::array parameters{
        ParameterInfo{"tau_plus", "ms", 20.0, pair_plasticity::time_constant, "Time constant of the presynaptic trace"},
        ParameterInfo{"tau_minus", "ms", 20.0, pair_plasticity::time_constant,
                      "Time constant of the postsynaptic trace"},
        ParameterInfo{"learning_rate", "", 0.1, not_negative, "Size of a change, lambda in the paper"},
        ParameterInfo{"alpha", "", 1.0, not_negative, "How much stronger a depression is than a potentiation"},
        ParameterInfo{"mu", "", 0.4, {.lower = 0.0, .upper = 10.0}, "Exponent of the weight in a potentiation"},
        pair_plasticity::axonal_fraction,
    };

    static connect::Learning learning(std::span<const double> p) {
        return {.presynaptic_steps = p[tau_plus],
                .postsynaptic_steps = p[tau_minus],
                .axonal_fraction = p[axonal_fraction]};
    }
    template <class Real>
    static connect::LearningRule<Real> rule(std::span<const double> p) {
        using learning_rules::Exponent;
        const auto make = [&]<class Rule>() {
            return connect::make_learning_rule<Rule>({static_cast<Real>(p[learning_rate]),
                                                      static_cast<Real>(p[learning_rate] * p[alpha]),
                                                      static_cast<Real>(p[mu])});
        };
        return pair_plasticity::with_exponent(p[mu], [&](auto exponent) {
            if constexpr (exponent() == Exponent::any) {
                return make.template operator()<learning_rules::StagedStdpPl<Real>>();
            } else {
                return make.template operator()<learning_rules::StdpPl<Real, exponent()>>();
            }
        });
    }
    static std::array<ChangeSize, 2> changes(std::span<const double> p, double weight) {
        return {
            {{"learning_rate", weight > 0.0 ? p[learning_rate] * math::exp((p[mu] - 1.0) * math::log(weight)) : 0.0},
             {"alpha", p[learning_rate] * p[alpha]}}};
    }
    static std::pair<double, double> weight_bounds(std::span<const double>) {
        return {0.0, std::numeric_limits<double>::infinity()};
    }
};

}  // namespace

constinit const SynapseModel stdp_pl{
    .name = "stdp_pl",
    .summary = "Spike-timing dependent plasticity with potentiation by a power law, of all pairs of spikes",
    .equations = R"(When a postsynaptic spike arrives at the synapse:  w -> w + learning_rate w^mu K_plus
When a presynaptic spike arrives at the synapse:   w -> max(w - learning_rate alpha w K_minus, 0)
dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike
w counts in units of 1 pA (or what the unit of weights is).)",
    .reference = "A. Morrison, A. Aertsen and M. Diesmann, Neural Computation 19, 1437-1467 (2007)",
    .parameters = StdpPl::parameters,
    .create = pair_plasticity::create<StdpPl>,
    .changes = StdpPl::changes,
};

}  // namespace ranvier::models
