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
    /// Local index of the first target; where neurons have sites, first input of the population.
    std::uint32_t offset = 0;
    std::uint32_t receptor = 0;  ///< of a current the electrode
    bool current = false;
    /// Of targets with gaps between them, or with several sites: where their inputs are, from the offset on, and room for
    /// what they get. Else empty.
    std::pmr::vector<std::uint32_t> places;
    std::pmr::vector<double> sums;

    /// Adds what the targets get in one of their steps. @param out from the offset on
    void add(Step step, double* out);
};

/// What stimulates the neurons of a shard.
class ShardStimuli {
   public:
    /// All of these must outlive the stimuli, but the network. @param groups are told which stimuli act on them
    ShardStimuli(const network::LoweredNetwork& network, const connect::ShardLayout& layout, const ShardInputs& inputs,
                 ShardGroups& groups, InstructionSet instruction_set, std::pmr::memory_resource* memory);

    /// Makes a stimulus as its description is now, one for each population that has targets on this shard.
    std::vector<ShardStimulus> make(const network::LoweredNetwork& network, std::size_t index) const;
    /// Replaces a stimulus by one with the same targets, which goes on from where it is, between two steps.
    void replace(ShardStimulus& stimulus) noexcept;

    std::span<const ShardStimulus> all() const { return stimuli_; }
    ShardStimulus& operator[](std::size_t stimulus) { return stimuli_[stimulus]; }
    IdSequence targets_of(const ShardStimulus& stimulus, const network::Network& network) const {
        return layout_.share(stimulus.population).ids.among(network.stimuli()[stimulus.index].targets);
    }

   private:
    /// Notes where the inputs of targets of a stimulus are if there are gaps between them. @param sites of each target; empty:
    /// each has one
    void place(ShardStimulus& stimulus, const IdSequence& targets, std::span<const std::uint32_t> sites) const;

    const connect::ShardLayout& layout_;
    const ShardInputs& inputs_;
    InstructionSet instruction_set_;
    std::pmr::memory_resource* memory_;
    std::vector<ShardStimulus> stimuli_;
};

}  // namespace ranvier::engine
