#pragma once

#include <cstdint>
#include <functional>

#include "engine/shard/shard_groups.hpp"
#include "engine/shard/shard_inputs.hpp"
#include "engine/shard/shard_synapses.hpp"
#include "ranvier/base/ids.hpp"

/// What the inputs of a shard hold between two steps that must be saved: it does not follow from the latest spikes.
namespace ranvier::engine {

/// Steps [begin, end), all of them kept.
struct Steps {
    Step begin = 0;
    Step end = 0;
};

/// Whether synapses that are not static reach a receptor.
bool has_dynamic_inputs(const ShardSynapses& synapses, std::uint32_t receptor);

/// What synapses that are not static have added to inputs in steps after `now`, as numbers whose sum, which may be 0, is
/// exact: visit(step, input, number). @pre Spikes that are under way have been accepted.
void visit_dynamic_inputs(const ShardInputs& inputs, const ShardSynapses& synapses, std::uint32_t receptor, Step now,
                          Steps steps, const std::function<void(Step, std::uint32_t, double)>& visit);

/// What synapses have added to the inputs of neurons until step `now` that these have not read, since they take longer steps.
void visit_unread_inputs(const ShardInputs& inputs, const ShardGroups& groups, std::uint32_t receptor, Step now,
                         const std::function<void(Step, std::uint32_t, double)>& visit);

}  // namespace ranvier::engine
