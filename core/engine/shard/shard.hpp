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

/// What one worker thread owns: neurons, their state, their incoming synapses and their inputs. It advances its parts.
class Shard {
   public:
    /// @param shared what groups of neurons of all shards have in common, which must outlive the shard
    /// @param account of all that grows with the network, which must outlive the shard
    /// @param node of the worker that will use the shard, or parallel::any_node
    /// @note Called by this worker, so that memory is placed near it.
    Shard(const network::LoweredNetwork& network, const connect::ShardLayout& layout, const SimulationOptions& options,
          InstructionSet instruction_set, models::SharedParts& shared, parallel::MemoryAccount& account,
          std::uint32_t node);

    const ShardMemory& memory() const { return memory_; }
    const connect::ShardLayout& layout() const { return layout_; }
    ShardInputs& inputs() { return inputs_; }
    const ShardInputs& inputs() const { return inputs_; }
    ShardGroups& groups() { return groups_; }
    const ShardGroups& groups() const { return groups_; }
    ShardStimuli& stimuli() { return stimuli_; }
    const ShardStimuli& stimuli() const { return stimuli_; }
    ShardRecorders& recorders() { return recorders_; }
    const ShardRecorders& recorders() const { return recorders_; }
    ShardSynapses& synapses() { return synapses_; }
    const ShardSynapses& synapses() const { return synapses_; }
    Outboxes& outboxes() { return outboxes_; }
    const Outboxes& outboxes() const { return outboxes_; }

    /// Takes the tables and lays out the inputs. @param window steps that runs are delivered ahead, a power of two
    /// @param weights of all processes
    /// @param most_steps that the shard takes at a time: spikes may be accepted so long before they are emitted
    void set_tables(connect::ShardTables tables, const WeightRanges& weights, std::uint32_t window,
                    Step most_steps = 1);

    /// Before neurons advance from this step on: synapses that arrive in it, and in the window that begins here, if one does.
    void begin_step(Step step) {
        synapses_.arrive(step);
        synapses_.deliver(step);
    }
    /// The last step of an epoch that the shard can advance to in one go, `first` being the next one.
    Step stretch_end(Step first, Step epoch_end) const;
    /// Advances all neurons to the end of step `last`; their spikes are appended to the outbox, or those that are invented
    /// for them, and state is recorded. Returns how many seconds recording took. @pre last <= stretch_end(first, ...)
    double advance(Step first, Step last);
    /// The last step up to which the shard sends no spike that its outbox has not got yet, whatever arrives: `now`, which it
    /// has come to, or later. Asked of few neurons only: hardly ever are many of them refractory at the same time.
    Step silent_until(Step now) const { return groups_.silent_until(now); }

    /// Makes room for the spikes that a group may play in a step.
    void make_room_for_output(std::size_t largest_output) {
        if (largest_output > fired_.size()) fired_.resize(largest_output);
    }

    /// While a shard replays, its neurons stand still and only static tables take in spikes: those that were sent before the
    /// state was saved, so that what is under way is as it was. @param sent by step, then neuron
    void begin_replay(std::vector<std::pair<Step, LocalIndex>> sent);
    void replay(Step step);
    void end_replay();

    /// Notes that a worker begins to advance the shard: what its neurons go through comes into the worker's cache.
    void begin_visit() { ++visits_; }
    std::uint64_t visits() const { return visits_; }
    void reset_counts();

   private:
    void invent_spikes(Step step);
    /// Tells synapses that learn which neurons have fired. @param first_of_step in the outbox
    void tell_synapses(Step step, std::size_t first_of_step);
    /// What acts on a group in one of its steps.
    void prepare_inputs(ShardGroup& group, Step own_step);
    void advance_group(ShardGroup& group, Step first, Step last);
    void advance_and_measure(ShardGroup& group, Step first, Step last);
    void update_group(ShardGroup& group, Step own_step);
    void emit(const ShardGroup& group, Step step, std::uint32_t neuron);

    ShardMemory memory_;  ///< of all that follows
    connect::ShardLayout layout_;
    ShardInputs inputs_;
    ShardGroups groups_;
    ShardStimuli stimuli_;
    ShardRecorders recorders_;
    ShardSynapses synapses_;
    Outboxes outboxes_;
    Replay replay_;
    std::unique_ptr<InventedSpikes> invented_;  ///< in place of what neurons send; null: they send their own
    bool measure_costs_;
    /// Steps by which the shard can advance at once, so that there are rows of inputs for them: a power of two, the window or
    /// 1, since most point neurons gain nothing.
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
