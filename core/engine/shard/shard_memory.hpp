#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranvier/parallel/memory.hpp"

namespace ranvier::engine {

/// Purposes of the memory of a process: those of its account, and the components of Simulation::memory().
enum class Component : std::uint32_t {
    synapses,
    neurons,
    inputs,
    stimuli,
    spikes,
    recordings,
    invention,  ///< of a dry run in addition to the simulation
    presynaptic,
    exchange,
    arrays,  ///< given by the user: the description and all simulations made from it share one copy
    pools,   ///< unused bytes of the pools of workers
    fields   ///< matrices and solvers of coupled cells
};
inline constexpr std::array component_names{"synapses",  "neurons",     "inputs",   "stimuli", "spikes", "recordings",
                                            "invention", "presynaptic", "exchange", "arrays",  "pools",  "fields"};

inline parallel::MemoryPurpose purpose_of(Component component) {
    return static_cast<parallel::MemoryPurpose>(component);
}

/// An account whose purposes are the components.
inline parallel::MemoryAccount make_memory_account() {
    return {{component_names.begin(), component_names.end()}, parallel::node_count()};
}

/// The memory of a shard, by component.
class ShardMemory {
   public:
    /// @param account of make_memory_account(); must outlive the memory
    /// @param node of the worker, or parallel::any_node. Pages are placed by first touch by the worker.
    /// @param pool of the worker, for small blocks, or null; must outlive the memory
    ShardMemory(parallel::MemoryAccount& account, std::uint32_t node, parallel::NodePool* pool) {
        for (std::uint32_t i = 0; i < component_names.size(); ++i) {
            memories_[i] = std::make_unique<parallel::NodeMemory>(
                account, parallel::MemoryPurpose{i}, parallel::NodeMemoryOptions{.node = node, .pool = pool});
        }
    }

    parallel::NodeMemory* operator[](Component component) const {
        return memories_[static_cast<std::size_t>(component)].get();
    }
    /// The actual location of all memory; see parallel::NodeMemory::pages.
    parallel::PagesByNode pages(std::size_t most_looked_at) const {
        parallel::PagesByNode sum;
        for (const auto& memory : memories_) sum += memory->pages(most_looked_at);
        return sum;
    }

   private:
    std::array<std::unique_ptr<parallel::NodeMemory>, component_names.size()> memories_;
};

}  // namespace ranvier::engine
