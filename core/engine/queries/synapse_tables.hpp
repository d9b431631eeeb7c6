#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/queries/synapse_handle.hpp"
#include "engine/shard/shard.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

inline ValueOutOfBoundsError unknown_handle(std::uint64_t packed) {
    return ValueOutOfBoundsError({.object = "handle of a synapse",
                                  .value = std::to_string(packed),
                                  .bound = "this simulation has no such synapse",
                                  .remedy = "use the handles of a query of this simulation"});
}

inline connect::SynapseTable& table_of(std::span<const std::unique_ptr<Shard>> shards, SynapseHandle handle) {
    if (handle.kind.value < shards[handle.shard]->synapses().tables().size()) {
        connect::SynapseTable* const table = shards[handle.shard]->synapses().table(handle.kind);
        const connect::StoredSynapses* const synapses = table == nullptr ? nullptr : table->synapses();
        if (synapses != nullptr && handle.position < synapses->size()) return *table;
    }
    throw unknown_handle(handle.pack());
}

inline connect::StoredSynapses& synapses_of(std::span<const std::unique_ptr<Shard>> shards, SynapseHandle handle) {
    return *table_of(shards, handle).synapses();
}

}  // namespace ranvier::engine
