#include <algorithm>
#include <array>
#include <cmath>
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

class StdpTriplet {
    enum Parameter : std::size_t {
        tau_plus,
        tau_minus,
        tau_plus_triplet,
        tau_minus_triplet,
        A_plus,
        A_minus,
        A_plus_triplet,
        A_minus_triplet,
        W_max,
        axonal_fraction,
    };

   public:
    static constexpr std::array parameters{
        at_beginning(ParameterInfo{"tau_plus", "ms", 16.8, pair_plasticity::time_constant,
                                   "Time constant of the presynaptic trace"}),
        at_beginning(ParameterInfo{"tau_minus", "ms", 33.7, pair_plasticity::time_constant,
                                   "Time constant of the postsynaptic trace"}),
        at_beginning(ParameterInfo{"tau_plus_triplet", "ms", 101.0, pair_plasticity::time_constant,
                                   "Time constant of the slow presynaptic trace: tau_x in the paper"}),
        at_beginning(ParameterInfo{"tau_minus_triplet", "ms", 125.0, pair_plasticity::time_constant,
                                   "Time constant of the slow postsynaptic trace: tau_y in the paper"}),
        at_beginning(ParameterInfo{"A_plus", "", 5e-10, not_negative, "Potentiation by pairs, in the unit of weights"}),
        at_beginning(ParameterInfo{"A_minus", "", 7e-3, not_negative, "Depression by pairs, in the unit of weights"}),
        at_beginning(
            ParameterInfo{"A_plus_triplet", "", 6.2e-3, not_negative,
                          "Potentiation by triplets of two post- and one presynaptic spike, in the unit of weights"}),
        at_beginning(
            ParameterInfo{"A_minus_triplet", "", 2.3e-4, not_negative,
                          "Depression by triplets of two pre- and one postsynaptic spike, in the unit of weights"}),
        at_beginning(ParameterInfo{"W_max", "", 100.0, any_number,
                                   "The weight stays between 0 and this, which is negative where weights are"}),
        pair_plasticity::axonal_fraction,
    };

    static constexpr std::array<std::uint32_t, 5> rule_parameters{A_plus, A_plus_triplet, A_minus, A_minus_triplet,
                                                                  W_max};
    static constexpr std::array<std::uint32_t, 4> time_constants{tau_plus, tau_minus, tau_plus_triplet,
                                                                 tau_minus_triplet};
    static constexpr std::uint32_t bound_parameter = W_max;
    template <class Real>
    static connect::PerSynapseRule<Real> per_synapse_rule(std::span<const double> /*p*/,
                                                          std::span<const std::uint32_t> /*per_synapse*/) {
        return connect::make_per_synapse_rule<learning_rules::StdpTriplet<Real>>();
    }

    static connect::Learning learning(std::span<const double> p) {
        return {.presynaptic_steps = p[tau_plus],
                .postsynaptic_steps = p[tau_minus],
                .same_side_presynaptic_steps = {p[tau_plus_triplet]},
                .same_side_postsynaptic_steps = {p[tau_minus_triplet]},
                .axonal_fraction = p[axonal_fraction]};
    }
    template <class Real>
    static connect::LearningRule<Real> rule(std::span<const double> p) {
        return connect::make_learning_rule<learning_rules::StdpTriplet<Real>>(
            {static_cast<Real>(p[A_plus]), static_cast<Real>(p[A_plus_triplet]), static_cast<Real>(p[A_minus]),
             static_cast<Real>(p[A_minus_triplet]), static_cast<Real>(p[W_max] < 0.0 ? -1.0 : 1.0),
             static_cast<Real>(std::abs(p[W_max]))});
    }
    static std::array<ChangeSize, 2> changes(std::span<const double> p, double /*weight*/) {
        const auto greater = [&](std::size_t pairs, std::size_t triplets) -> ChangeSize {
            const std::size_t one = p[pairs] > p[triplets] ? pairs : triplets;
            return {parameters[one].name, p[one] / std::abs(p[W_max])};
        };
        return {greater(A_plus, A_plus_triplet), greater(A_minus, A_minus_triplet)};
    }
    static std::pair<double, double> weight_bounds(std::span<const double> p) {
        return {std::min(p[W_max], 0.0), std::max(p[W_max], 0.0)};
    }
    static std::optional<std::string> conflict(std::span<const double> p) {
        if (p[W_max] == 0.0) return "W_max is 0: then all weights stay 0";
        return std::nullopt;
    }
};

}  // namespace

constinit const SynapseModel stdp_triplet{
    .name = "stdp_triplet",
    .summary = "Spike-timing dependent plasticity of triplets of spikes",
    .equations = R"(|w| is the absolute value of the weight, and stays between 0 and |W_max|.
When a postsynaptic spike arrives at the synapse:  |w| -> |w| + r_1 (A_plus + A_plus_triplet o_2)
When a presynaptic spike arrives at the synapse:   |w| -> |w| - o_1 (A_minus + A_minus_triplet r_2)
o_2 and r_2 are read just before the spike adds to them.
dr_1/dt = -r_1 / tau_plus,   dr_2/dt = -r_2 / tau_plus_triplet,   and 1 is added to both with each presynaptic spike
do_1/dt = -o_1 / tau_minus,  do_2/dt = -o_2 / tau_minus_triplet,  and 1 is added to both with each postsynaptic spike)",
    .reference = "J.-P. Pfister and W. Gerstner, Journal of Neuroscience 26, 9673-9682 (2006)",
    .parameters = StdpTriplet::parameters,
    .create = pair_plasticity::create<StdpTriplet>,
    .conflict = StdpTriplet::conflict,
    .changes = StdpTriplet::changes,
};

}  // namespace ranvier::models
