#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/shard/shard_groups.hpp"
#include "engine/shard/shard_inputs.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/id_sequence.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::engine {

/// A stimulus for its targets of one population on a shard.
struct ShardStimulus {
    explicit ShardStimulus(std::pmr::memory_resource* memory) : places(memory), sums(memory) {}

    std::size_t index = 0;  ///< in the description
    std::unique_ptr<models::Stimulus> stimulus;
    PopulationId population;
    /// Local index of the first target; if neurons have sites, the first input of the population.
    std::uint32_t offset = 0;
    std::uint32_t receptor = 0;  ///< for a current, the electrode
    bool current = false;
    /// For targets with gaps, or with several sites: the positions of their inputs relative to the offset, and
    /// scratch memory for their sums. Otherwise empty.
    std::pmr::vector<std::uint32_t> places;
    std::pmr::vector<double> sums;

    /// Adds the contributions to the targets in one of their steps.
    /// @param out from the offset on
    void add(Step step, double* out);
};

/// The stimuli of the neurons of a shard.
class ShardStimuli {
   public:
    /// All arguments but the network must outlive the stimuli.
    /// @param groups receive the list of stimuli that act on them
    ShardStimuli(const network::LoweredNetwork& network, const connect::ShardLayout& layout, const ShardInputs& inputs,
                 ShardGroups& groups, InstructionSet instruction_set, std::pmr::memory_resource* memory);

    /// Creates a stimulus from its present description, one for each population with targets on this shard.
    std::vector<ShardStimulus> make(const network::LoweredNetwork& network, std::size_t index) const;
    /// Replaces a stimulus by one with the same targets, which takes over its state, between two steps.
    void replace(ShardStimulus& stimulus) noexcept;

    std::span<const ShardStimulus> all() const { return stimuli_; }
    ShardStimulus& operator[](std::size_t stimulus) { return stimuli_[stimulus]; }
    IdSequence targets_of(const ShardStimulus& stimulus, const network::Network& network) const {
        return layout_.share(stimulus.population).ids.among(network.stimuli()[stimulus.index].targets);
    }

   private:
    /// Stores the positions of the inputs of targets of a stimulus if they have gaps.
    /// @param sites of each target; empty: each has one
    void place(ShardStimulus& stimulus, const IdSequence& targets, std::span<const std::uint32_t> sites) const;

    const connect::ShardLayout& layout_;
    const ShardInputs& inputs_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    std::vector<ShardStimulus> stimuli_;
};

}  // namespace ranvier::engine
