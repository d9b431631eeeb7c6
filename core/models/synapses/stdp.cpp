#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "models/synapses/learning_rules.hpp"
#include "models/synapses/pair_plasticity.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

enum Parameter : std::size_t {
    tau_plus,
    tau_minus,
    learning_rate,
    alpha,
    mu_plus,
    mu_minus,
    W_max,
    axonal_fraction,
};

using connect::Pairing;
using learning_rules::Exponent;

/// With separate loops for the short forms of exponents.
template <class Real>
connect::LearningRule<Real> rule_of_pairs(std::span<const double> p) {
    auto rule = connect::make_learning_rule<learning_rules::Stdp<Real, Exponent::any, Exponent::any>>(
        {static_cast<Real>(p[learning_rate]), static_cast<Real>(p[learning_rate] * p[alpha]),
         static_cast<Real>(p[mu_plus]), static_cast<Real>(p[mu_minus]), static_cast<Real>(p[W_max])});
    pair_plasticity::with_exponent(p[mu_plus], [&](auto exponent) {
        rule.postsynaptic = connect::postsynaptic_change<learning_rules::Stdp<Real, exponent(), Exponent::any>>;
    });
    pair_plasticity::with_exponent(p[mu_minus], [&](auto exponent) {
        rule.presynaptic = connect::presynaptic_change<learning_rules::Stdp<Real, Exponent::any, exponent()>>;
    });
    return rule;
}

/// The common base of all variants; traces and pairing say which pairs of spikes they learn from.
template <bool all_pairs, Pairing paired = Pairing::all>
class Stdp {
   public:
    static constexpr std::array parameters{
        at_beginning(ParameterInfo{"tau_plus", "ms", 20.0, pair_plasticity::time_constant,
                                   "Time constant of the presynaptic trace"}),
        at_beginning(ParameterInfo{"tau_minus", "ms", 20.0, pair_plasticity::time_constant,
                                   "Time constant of the postsynaptic trace"}),
        at_beginning(
            ParameterInfo{"learning_rate", "", 0.01, not_negative, "Size of a change, in W_max: lambda in the paper"}),
        at_beginning(
            ParameterInfo{"alpha", "", 1.0, not_negative, "How much stronger a depression is than a potentiation"}),
        at_beginning(
            ParameterInfo{"mu_plus",
                          "",
                          1.0,
                          {.lower = 0.0, .upper = 10.0},
                          "Exponent of the distance to W_max in a potentiation: 0 is additive, 1 multiplicative"}),
        at_beginning(ParameterInfo{"mu_minus",
                                   "",
                                   1.0,
                                   {.lower = 0.0, .upper = 10.0},
                                   "Exponent of the weight in a depression: 0 is additive, 1 multiplicative"}),
        at_beginning(ParameterInfo{"W_max", "", 100.0, any_number,
                                   "The weight stays between 0 and this, which is negative where weights are"}),
        pair_plasticity::axonal_fraction,
    };

    static constexpr std::array<std::uint32_t, 5> rule_parameters{learning_rate, alpha, mu_plus, mu_minus, W_max};
    static constexpr std::array<std::uint32_t, 2> time_constants{tau_plus, tau_minus};
    static constexpr std::uint32_t bound_parameter = W_max;
    template <class Real>
    static connect::PerSynapseRule<Real> per_synapse_rule(std::span<const double> p,
                                                          std::span<const std::uint32_t> per_synapse) {
        constexpr auto drawn = Exponent::of_synapse;
        auto rule = connect::make_per_synapse_rule<learning_rules::Stdp<Real, drawn, drawn>>();
        if (!std::ranges::count(per_synapse, std::uint32_t{mu_plus})) {
            pair_plasticity::with_exponent(p[mu_plus], [&](auto exponent) {
                rule.postsynaptic =
                    connect::postsynaptic_change_per_synapse<learning_rules::Stdp<Real, exponent(), drawn>>;
            });
        }
        if (!std::ranges::count(per_synapse, std::uint32_t{mu_minus})) {
            pair_plasticity::with_exponent(p[mu_minus], [&](auto exponent) {
                rule.presynaptic =
                    connect::presynaptic_change_per_synapse<learning_rules::Stdp<Real, drawn, exponent()>>;
            });
        }
        return rule;
    }

    static connect::Learning learning(std::span<const double> p) {
        return {.presynaptic_steps = p[tau_plus],
                .postsynaptic_steps = p[tau_minus],
                .axonal_fraction = p[axonal_fraction]};
    }
    template <class Real>
    static connect::LearningRule<Real> rule(std::span<const double> p) {
        auto rule = rule_of_pairs<Real>(p);
        rule.pairing = paired;
        rule.presynaptic_trace_accumulates = all_pairs;
        rule.postsynaptic_trace_accumulates = all_pairs;
        return rule;
    }
    static std::array<ChangeSize, 2> changes(std::span<const double> p, double /*weight*/) {
        return {{{"learning_rate", p[learning_rate]}, {"alpha", p[learning_rate] * p[alpha]}}};
    }
    static std::pair<double, double> weight_bounds(std::span<const double> p) {
        return {std::min(p[W_max], 0.0), std::max(p[W_max], 0.0)};
    }
    static std::optional<std::string> conflict(std::span<const double> p) {
        if (p[W_max] == 0.0) return "W_max is 0: then all weights stay 0";
        return std::nullopt;
    }
};

constexpr std::string_view reference =
    "R. Guetig, R. Aharonov, S. Rotter and H. Sompolinsky, Journal of Neuroscience 23, 3697-3714 (2003); "
    "A. Morrison, M. Diesmann and W. Gerstner, Biological Cybernetics 98, 459-478 (2008)";

}  // namespace

constinit const SynapseModel stdp{
    .name = "stdp",
    .summary = "Spike-timing dependent plasticity of all pairs of spikes, additive to multiplicative",
    .equations = R"(When a postsynaptic spike arrives at the synapse:
    w -> min(w + learning_rate W_max (1 - w/W_max)^mu_plus K_plus, W_max)
When a presynaptic spike arrives at the synapse:
    w -> max(w - learning_rate alpha W_max (w/W_max)^mu_minus K_minus, 0)
dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike)",
    .reference = reference,
    .parameters = Stdp<true>::parameters,
    .create = pair_plasticity::create<Stdp<true>>,
    .conflict = Stdp<true>::conflict,
    .changes = Stdp<true>::changes,
};

constinit const SynapseModel stdp_nn_symm{
    .name = "stdp_nn_symm",
    .summary = "Spike-timing dependent plasticity of the nearest spikes, symmetric",
    .equations = R"(As stdp, but each spike is paired with the last one of the other side only:
K_plus is set to 1 with each presynaptic spike, and K_minus with each postsynaptic spike.)",
    .reference = reference,
    .parameters = Stdp<false>::parameters,
    .create = pair_plasticity::create<Stdp<false>>,
    .conflict = Stdp<false>::conflict,
    .changes = Stdp<false>::changes,
};

constinit const SynapseModel stdp_nn_restr{
    .name = "stdp_nn_restr",
    .summary = "Spike-timing dependent plasticity of the nearest spikes, restricted to those that follow each other",
    .equations = R"(As stdp, but only spikes that follow each other form a pair:
K_plus is that of the last presynaptic spike, and 0 if another postsynaptic spike has come since then.
K_minus is that of the last postsynaptic spike, and 0 if another presynaptic spike has come since then.
If both spikes arrive at the synapse in the same step, the presynaptic one is paired with the postsynaptic one before.)",
    .reference = reference,
    .parameters = Stdp<false, Pairing::restricted>::parameters,
    .create = pair_plasticity::create<Stdp<false, Pairing::restricted>>,
    .conflict = Stdp<false, Pairing::restricted>::conflict,
    .changes = Stdp<false, Pairing::restricted>::changes,
};

constinit const SynapseModel stdp_nn_pre_centered{
    .name = "stdp_nn_pre_centered",
    .summary = "Spike-timing dependent plasticity of the nearest spikes, centred on presynaptic spikes",
    .equations =
        R"(As stdp, but each presynaptic spike is paired with the last postsynaptic one before it and the first after it:
K_plus has 1 added with each presynaptic spike, and is set to 0 after a postsynaptic spike has read it.
K_minus is set to 1 with each postsynaptic spike.
Each synapse has a separate K_plus.)",
    .reference = reference,
    .parameters = Stdp<false, Pairing::presynaptic_centred>::parameters,
    .create = pair_plasticity::create<Stdp<false, Pairing::presynaptic_centred>>,
    .conflict = Stdp<false, Pairing::presynaptic_centred>::conflict,
    .changes = Stdp<false, Pairing::presynaptic_centred>::changes,
};

}  // namespace ranvier::models
