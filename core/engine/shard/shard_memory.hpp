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

/// What the memory of a process is for: the purposes of its account, and the components of Simulation::memory().
enum class Component : std::uint32_t {
    synapses,
    neurons,
    inputs,
    stimuli,
    spikes,
    recordings,
    invention,  ///< what a dry run needs beside the simulation
    presynaptic,
    exchange,
    arrays  ///< that the user gave: the description and all simulations that are made of it share one copy
};
inline constexpr std::array component_names{"synapses",   "neurons",   "inputs",      "stimuli",  "spikes",
                                            "recordings", "invention", "presynaptic", "exchange", "arrays"};

inline parallel::MemoryPurpose purpose_of(Component component) {
    return static_cast<parallel::MemoryPurpose>(component);
}

/// An account whose purposes are the components.
inline parallel::MemoryAccount make_memory_account() {
    return {{component_names.begin(), component_names.end()}, parallel::node_count()};
}

/// The memory of what one worker owns, by component.
class ShardMemory {
   public:
    /// @param account of make_memory_account(), which must outlive the memory
    /// @param node of the worker, or parallel::any_node. Pages are placed by first touch: it is the worker who touches.
    ShardMemory(parallel::MemoryAccount& account, std::uint32_t node) {
        for (std::uint32_t i = 0; i < component_names.size(); ++i) {
            memories_[i] = std::make_unique<parallel::NodeMemory>(account, parallel::MemoryPurpose{i},
                                                                  parallel::NodeMemoryOptions{.node = node});
        }
    }

    parallel::NodeMemory* operator[](Component component) const {
        return memories_[static_cast<std::size_t>(component)].get();
    }
    /// Where all of it really lies; see parallel::NodeMemory::pages.
    parallel::PagesByNode pages(std::size_t most_looked_at) const {
        parallel::PagesByNode sum;
        for (const auto& memory : memories_) sum += memory->pages(most_looked_at);
        return sum;
    }

   private:
    std::array<std::unique_ptr<parallel::NodeMemory>, component_names.size()> memories_;
};

}  // namespace ranvier::engine
