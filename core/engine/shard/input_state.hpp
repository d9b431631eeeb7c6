#pragma once

#include <cstdint>
#include <functional>

#include "engine/shard/shard_groups.hpp"
#include "engine/shard/shard_inputs.hpp"
#include "engine/shard/shard_synapses.hpp"
#include "ranvier/base/ids.hpp"

/// The part of the inputs of a shard between two steps that must be saved because it does not follow from the latest
/// spikes.
namespace ranvier::engine {

/// Steps [begin, end), all of them buffered.
struct Steps {
    Step begin = 0;
    Step end = 0;
};

/// Whether synapses that are not static reach a receptor.
bool has_dynamic_inputs(const ShardSynapses& synapses, std::uint32_t receptor);

/// Visits the contributions of synapses that are not static to inputs in steps after `now`, as numbers whose sum,
/// which may be 0, is exact: visit(step, input, number).
/// @pre Spikes in transit have been accepted.
void visit_dynamic_inputs(const ShardInputs& inputs, const ShardSynapses& synapses, std::uint32_t receptor, Step now,
                          Steps steps, const std::function<void(Step, std::uint32_t, double)>& visit);

/// Visits the contributions of synapses up to step `now` that neurons with longer steps have not read.
void visit_unread_inputs(const ShardInputs& inputs, const ShardGroups& groups, std::uint32_t receptor, Step now,
                         const std::function<void(Step, std::uint32_t, double)>& visit);

}  // namespace ranvier::engine
