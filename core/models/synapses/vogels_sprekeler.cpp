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

class VogelsSprekeler {
    enum Parameter : std::size_t { tau, learning_rate, alpha, W_max, axonal_fraction };

   public:
    static constexpr std::array parameters{
        at_beginning(ParameterInfo{"tau", "ms", 20.0, pair_plasticity::time_constant, "Time constant of both traces"}),
        at_beginning(ParameterInfo{"learning_rate", "", 0.001, not_negative,
                                   "Size of a change, in the unit of weights: eta in the paper"}),
        at_beginning(ParameterInfo{
            "alpha", "", 0.12, not_negative,
            "Depression with each presynaptic spike, in learning rates: twice tau times the rate that is aimed at"}),
        at_beginning(ParameterInfo{"W_max", "", -100.0, any_number,
                                   "The weight stays between 0 and this, which is negative where weights are"}),
        pair_plasticity::axonal_fraction,
    };

    static constexpr std::array<std::uint32_t, 3> rule_parameters{learning_rate, alpha, W_max};
    static constexpr std::array<std::uint32_t, 2> time_constants{tau, tau};
    static constexpr std::uint32_t bound_parameter = W_max;
    template <class Real>
    static connect::PerSynapseRule<Real> per_synapse_rule(std::span<const double> /*p*/,
                                                          std::span<const std::uint32_t> /*per_synapse*/) {
        return connect::make_per_synapse_rule<learning_rules::VogelsSprekeler<Real>>();
    }

    static connect::Learning learning(std::span<const double> p) {
        return {.presynaptic_steps = p[tau], .postsynaptic_steps = p[tau], .axonal_fraction = p[axonal_fraction]};
    }
    template <class Real>
    static connect::LearningRule<Real> rule(std::span<const double> p) {
        return connect::make_learning_rule<learning_rules::VogelsSprekeler<Real>>(
            {static_cast<Real>(p[learning_rate]), static_cast<Real>(p[learning_rate] * p[alpha]),
             static_cast<Real>(p[W_max] < 0.0 ? -1.0 : 1.0), static_cast<Real>(p[W_max] < 0.0 ? -p[W_max] : p[W_max])});
    }
    static std::array<ChangeSize, 2> changes(std::span<const double> p, double /*weight*/) {
        const double size = p[learning_rate] / (p[W_max] < 0.0 ? -p[W_max] : p[W_max]);
        return {{{"learning_rate", size}, {"alpha", size * p[alpha]}}};
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

constinit const SynapseModel vogels_sprekeler{
    .name = "vogels_sprekeler",
    .summary = "Symmetric plasticity of inhibitory synapses, which takes the target to a rate",
    .equations = R"(|w| is the absolute value of the weight, and stays between 0 and |W_max|.
When a postsynaptic spike arrives at the synapse:
    |w| -> min(|w| + learning_rate K_pre, |W_max|)
When a presynaptic spike arrives at the synapse, one after the other:
    |w| -> min(|w| + learning_rate K_post, |W_max|), then |w| -> max(|w| - learning_rate alpha, 0)
dK/dt = -K / tau for both traces, and 1 is added to each with the spikes of its side)",
    .reference = "T. P. Vogels, H. Sprekeler, F. Zenke, C. Clopath and W. Gerstner, Science 334, 1569-1573 (2011)",
    .parameters = VogelsSprekeler::parameters,
    .create = pair_plasticity::create<VogelsSprekeler>,
    .conflict = VogelsSprekeler::conflict,
    .changes = VogelsSprekeler::changes,
};

}  // namespace ranvier::models
