#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "engine/shard/shard_inputs.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/buffer.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/parallel/memory.hpp"

namespace ranvier::engine {

/// The neurons of one population on a shard.
struct ShardGroup {
    PopulationId population;
    const models::NeuronModel* model = nullptr;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t receptors = 0;
    /// By receptor: the first input, and the number of inputs.
    std::vector<std::uint32_t> first_inputs;
    std::vector<std::uint32_t> inputs;
    std::unique_ptr<models::NeuronGroup> neurons;  ///< null if the shard has no neuron of the population
    std::vector<models::GroupValues> parameters;
    std::vector<std::size_t> stimuli;               ///< that act on the group, in the order of the description
    std::vector<network::RecorderIndex> recorders;  ///< of its state
    std::vector<bool> stimulated_electrodes;
    /// pA, by electrode: rows of steps with a number for each neuron; empty if no stimulus injects current.
    std::vector<Buffer<double>> currents;
    Step current_row_count = 1;  ///< a power of two
    std::uint64_t spikes = 0;
    bool is_source = false;
    bool fires_repeatedly = false;  ///< some neurons may fire several times in a step
    bool learns = false;            ///< has synapses that change with its spikes
    Step stride = 1;                ///< steps of the resolution in a step of the group
    bool advances_by_stretches = false;
    double update_seconds = 0.0;  ///< if costs are measured
    double step_bytes = 0.0;      ///< accessed by a step of all neurons

    /// Makes rows of currents for this number of steps.
    void make_currents(Step row_count, std::pmr::memory_resource* memory);
    /// The currents that an electrode injects in a step.
    double* current(std::size_t electrode, Step step) {
        return currents[electrode].data() + static_cast<std::size_t>(step & (current_row_count - 1)) * size;
    }
    models::StepRows current_rows(std::size_t electrode);
};

/// The neurons of a shard, by population.
class ShardGroups {
   public:
    /// @param shared by groups of neurons of all shards; must outlive these
    ShardGroups(const network::LoweredNetwork& network, const connect::ShardLayout& layout, const ShardInputs& inputs,
                const SimulationOptions& options, InstructionSet instruction_set, models::SharedParts& shared,
                parallel::NodeMemory* memory);

    auto begin() { return groups_.begin(); }
    auto end() { return groups_.end(); }
    auto begin() const { return groups_.begin(); }
    auto end() const { return groups_.end(); }
    std::size_t size() const { return groups_.size(); }
    ShardGroup& operator[](PopulationId population) { return groups_[population.value]; }
    const ShardGroup& operator[](PopulationId population) const { return groups_[population.value]; }

    /// Whether neurons have found that they cannot continue.
    bool has_failed() const;
    /// See Shard::silent_until().
    Step silent_until(Step now) const;
    /// The first step whose inputs the neurons of a population have not read after step `now`.
    Step first_unread(PopulationId population, Step now) const {
        const Step stride = groups_[population.value].stride;
        return now / stride * stride + 1;
    }
    /// Approximate bytes that a step of all of the neurons accesses.
    double step_bytes() const;
    /// The maximum number of neurons of a group that can fire in a step, if each fires once.
    std::size_t largest_output() const { return largest_output_; }
    /// Whether any group gains from taking several steps at once.
    bool advance_by_stretches() const;
    void reset_counts();

   private:
    std::vector<ShardGroup> groups_;
    std::size_t largest_output_ = 0;
};

}  // namespace ranvier::engine
