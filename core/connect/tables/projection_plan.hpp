#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "connect/tables/site_choice.hpp"
#include "connect/tables/synapse_values.hpp"
#include "connect/tables/table_kind.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/step_rounding.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// The grid of delays: steps of the targets of a projection, which are whole multiples of the resolution.
struct DelayGrid {
    double steps_per_millisecond = 10.0;  ///< of the targets
    DelaySteps stride = 1;  ///< steps of the resolution per target step
};

/// A projection, checked and lowered to the data from which its synapses are built.
struct ProjectionPlan {
    ProjectionId id;
    PairSpace pairs;  ///< the ranges of ids that contain sources and targets
    std::uint64_t sources = 0;  ///< number of sources; smaller than the range if there are gaps
    std::vector<PopulationId> target_populations;
    std::shared_ptr<const RuleSampler> sampler;
    PairNeurons neurons;  ///< of expressions
    SynapseValues weights;  ///< mV or pA
    SynapseValues delays;   ///< ms
    DelayGrid delay_grid;
    /// Of each per-synapse parameter (SynapseDynamics::per_synapse_parameters).
    std::vector<SynapseValues> parameters;
    /// If targets have several sites at the receptor; null for one site each.
    std::shared_ptr<const SiteChoice> sites = nullptr;
    /// Of synapses with weights >= 0 and of those with weights < 0; equal if the sign does not matter, or if all
    /// weights have the same sign (NetworkPlan).
    KindIndex positive_kind;
    KindIndex negative_kind;
    double weight_bound = 0.0;  ///< as given by the user; 0 without a bound
    std::uint32_t most_spikes = 1;  ///< greatest number of simultaneous spikes of one source at a target

    /// What the expressions among these values need of synapses; nothing if there is no expression.
    std::optional<SynapseQuantities> quantities(InstructionSet set, const DrawnSynapses& synapses, bool with_weights,
                                                bool with_delays, bool with_parameters) const {
        const std::vector<const SynapseExpression*> used = expressions(with_weights, with_delays, with_parameters);
        if (used.empty()) return std::nullopt;
        SynapseQuantities made = SynapseQuantities::of(set, neurons, sampler->major(), synapses);
        for (const SynapseExpression* const each : used) made.need(*each);
        return made;
    }
    std::vector<const SynapseExpression*> expressions(bool of_weights, bool of_delays, bool of_parameters) const {
        std::vector<const SynapseExpression*> found;
        const auto add = [&](const SynapseValues& values) {
            if (values.expression() != nullptr) found.push_back(values.expression());
        };
        if (of_weights) add(weights);
        if (of_delays) add(delays);
        if (of_parameters) std::ranges::for_each(parameters, add);
        return found;
    }

    bool reaches(PopulationId population) const {
        return std::ranges::find(target_populations, population) != target_populations.end();
    }
    /// Whether synapses of this projection can be of a kind.
    bool feeds(KindIndex kind) const { return kind == positive_kind || kind == negative_kind; }
    /// Whether the kind depends on the drawn weight.
    bool kind_varies() const { return positive_kind != negative_kind; }
    KindIndex kind_of(double weight) const { return weight < 0.0 ? negative_kind : positive_kind; }
};

/// Delay in ms to steps: the nearest step in decimal, half a step rounded up, at least one.
RANVIER_ALWAYS_INLINE DelaySteps round_delay(double milliseconds, double steps_per_millisecond) {
    const double steps = half_up(milliseconds, steps_per_millisecond);
    return steps < 1.0 ? 1 : static_cast<DelaySteps>(static_cast<std::int32_t>(steps));
}
/// The same for the steps of the targets, in steps of the resolution.
RANVIER_ALWAYS_INLINE DelaySteps round_delay(double milliseconds, const DelayGrid& grid) {
    return round_delay(milliseconds, grid.steps_per_millisecond) * grid.stride;
}

}  // namespace ranvier::connect
