#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "engine/shard/invented_spikes.hpp"
#include "engine/shard/outboxes.hpp"
#include "engine/shard/replay.hpp"
#include "engine/shard/shard_groups.hpp"
#include "engine/shard/shard_inputs.hpp"
#include "engine/shard/shard_memory.hpp"
#include "engine/shard/shard_recorders.hpp"
#include "engine/shard/shard_stimuli.hpp"
#include "engine/shard/shard_synapses.hpp"
#include "network/lowering/lowering.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"
#include "ranvier/engine/options.hpp"
#include "ranvier/models/neuron.hpp"

namespace ranvier::engine {

/// The part of a network that one worker thread advances: neurons, their state, their incoming synapses and their
/// inputs.
class Shard {
   public:
    /// @param shared by groups of neurons of all shards; must outlive the shard
    /// @param account of all memory that grows with the network; must outlive the shard
    /// @param node of the worker that will use the shard, or parallel::any_node @note Called by this worker, so that
    ///         memory is placed near it.
    Shard(const network::LoweredNetwork& network, const connect::ShardLayout& layout, const SimulationOptions& options,
          InstructionSet instruction_set, models::SharedParts& shared, parallel::MemoryAccount& account,
          std::uint32_t node, parallel::NodePool* pool);

    const ShardMemory& memory() const { return memory_; }
    const connect::ShardLayout& layout() const { return layout_; }
    ShardInputs& inputs() { return inputs_; }
    const ShardInputs& inputs() const { return inputs_; }
    ShardGroups& groups() { return groups_; }
    const ShardGroups& groups() const { return groups_; }
    ShardStimuli& stimuli() { return stimuli_; }
    const ShardStimuli& stimuli() const { return stimuli_; }
    ShardRecorders& recorders() { return recorders_; }
    /// Sets the weights of a neuron in a readout; see Simulation::set_readout().
    /// @return false if the neuron is on another shard
    bool set_readout(network::RecorderIndex recorder, NeuronId neuron, std::span<const double> weights);
    const ShardRecorders& recorders() const { return recorders_; }
    ShardSynapses& synapses() { return synapses_; }
    const ShardSynapses& synapses() const { return synapses_; }
    Outboxes& outboxes() { return outboxes_; }
    const Outboxes& outboxes() const { return outboxes_; }

    /// Takes the tables and lays out the inputs.
    /// @param window steps of a delivery window, a power of two
    /// @param weights of all processes
    /// @param most_steps maximum number of steps at a time: spikes may be accepted this long before they are emitted
    void set_tables(connect::ShardTables tables, const WeightRanges& weights, std::uint32_t window,
                    Step most_steps = 1);
    /// Adds the static tables of a shard that had none, with the same ranges of weights. @param now the present step
    void add_static_tables(connect::ShardTables tables, std::uint32_t window, Step most_steps, Step now);

    /// Called before neurons advance from this step on: delivers synapses that arrive in it, and in the window if one
    /// starts here.
    void begin_step(Step step) {
        synapses_.arrive(step);
        synapses_.deliver(step);
    }
    /// The last step of an epoch to which the shard can advance at once, `first` being the next one.
    Step stretch_end(Step first, Step epoch_end) const;
    /// Advances all neurons to the end of step `last`; appends their spikes, or those that replace them, to the
    /// outbox, and records state. Returns the seconds that recording took.
    /// @pre last <= stretch_end(first, ...)
    double advance(Step first, Step last);
    /// The last step up to which the shard sends no spikes other than those in its outbox, whatever arrives: the
    /// present step `now` or a later one. Tests few neurons only: many are hardly ever refractory at the same time.
    Step silent_until(Step now) const { return groups_.silent_until(now); }

    /// Makes room for the maximum number of spikes that a group may play in a step.
    void make_room_for_output(std::size_t largest_output) {
        if (largest_output > fired_.size()) fired_.resize(largest_output);
    }

    /// During a replay, neurons do not advance and only static tables accept spikes: those that were sent before the
    /// state was saved, to restore spikes in transit.
    /// @param sent by step, then neuron
    void begin_replay(std::vector<std::pair<Step, LocalIndex>> sent);
    void replay(Step step);
    void end_replay();

    /// Counts a visit of a worker, which loads the neurons into the worker's cache.
    void begin_visit() { ++visits_; }
    std::uint64_t visits() const { return visits_; }
    void reset_counts();

   private:
    void invent_spikes(Step step);
    /// Passes the neurons that fired to synapses that learn.
    /// @param first_of_step in the outbox
    void pass_to_learning_synapses(Step step, std::size_t first_of_step);
    /// Collects the inputs of a group in one of its steps.
    void prepare_inputs(ShardGroup& group, Step group_step);
    void advance_group(ShardGroup& group, Step first, Step last);
    void advance_and_measure(ShardGroup& group, Step first, Step last);
    void update_group(ShardGroup& group, Step group_step);
    void emit(const ShardGroup& group, Step step, std::uint32_t neuron);

    ShardMemory memory_;  ///< for all following members
    connect::ShardLayout layout_;
    ShardInputs inputs_;
    ShardGroups groups_;
    ShardStimuli stimuli_;
    ShardRecorders recorders_;
    ShardSynapses synapses_;
    Outboxes outboxes_;
    Replay replay_;
    std::unique_ptr<InventedSpikes> invented_;  ///< replace the spikes of neurons; null: not replaced
    bool measure_costs_;
    /// Steps by which the shard can advance at once, which have rows of inputs: a power of two, the window or 1,
    /// since most point neurons gain nothing.
    Step stretch_rows_ = 1;
    std::vector<double*> group_inputs_;  ///< of the group that is being updated, by receptor
    std::vector<models::StepRows> group_rows_;
    std::pmr::vector<models::GroupSpike> group_spikes_;
    std::vector<const double*> more_currents_;
    std::vector<models::StepRows> more_current_rows_;
    std::pmr::vector<std::uint32_t> fired_;
    std::pmr::vector<std::uint32_t> fired_in_step_;
    std::uint64_t visits_ = 0;
};

}  // namespace ranvier::engine
