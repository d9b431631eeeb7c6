#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "connect/rules/rule.hpp"
#include "connect/tables/synapse_values.hpp"

namespace ranvier::connect {

/// A projection, checked and lowered to what building its synapses takes.
struct ProjectionPlan {
    ProjectionId id;
    PairSpace pairs;  ///< the ranges of ids in which sources and targets lie
    std::vector<PopulationId> target_populations;
    std::shared_ptr<const RuleSampler> sampler;
    SynapseValues weights;  ///< mV or pA
    SynapseValues delays;   ///< ms
    std::uint32_t receptors = 1;  ///< of the target model: with two, the sign of the weight chooses
    std::uint32_t most_spikes = 1;  ///< of one source in one step

    bool reaches(PopulationId population) const {
        return std::ranges::find(target_populations, population) != target_populations.end();
    }
    /// Whether synapses of this projection can go to a receptor.
    bool feeds(std::uint32_t receptor) const {
        if (receptors == 1) return receptor == 0;
        return receptor == 0 ? weights.greatest() >= 0.0 : weights.least() < 0.0;
    }
    /// Whether the receptor depends on the weight that is drawn.
    bool receptor_varies() const { return feeds(0) && feeds(1); }
    std::uint32_t receptor_of(double weight) const { return receptors == 2 && weight < 0.0 ? 1 : 0; }
};

/// Delay in ms to steps: to the nearest point of the grid, at least one step.
RANVIER_ALWAYS_INLINE DelaySteps round_delay(double milliseconds, double steps_per_millisecond) {
    const double steps = milliseconds * steps_per_millisecond + 0.5;
    return steps < 1.0 ? 1 : static_cast<DelaySteps>(static_cast<std::int32_t>(steps));
}

}  // namespace ranvier::connect
