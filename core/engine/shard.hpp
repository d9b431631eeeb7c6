#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "comm/exchange.hpp"
#include "connect/layout.hpp"
#include "connect/table_builder.hpp"
#include "engine/lowering.hpp"
#include "engine/simulation.hpp"
#include "models/neuron.hpp"
#include "models/stimulator.hpp"

namespace ranvier::engine {

/// Seconds that one worker spent, by what it did.
struct WorkerTimes {
    double update = 0.0;
    double deliver = 0.0;
    double communicate = 0.0;
    double record = 0.0;
};

/// Measures what lies between two calls, for loops whose parts take microseconds.
class LapTimer {
   public:
    /// Seconds since the last call, or since construction.
    double lap() {
        const Clock::time_point now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        return seconds;
    }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point last_ = Clock::now();
};

/// What one worker thread owns: neurons, their state, their incoming synapses and their inputs.
class Shard {
   public:
    /// @note Called by the worker that will use the shard, so that memory is placed near it.
    Shard(const LoweredNetwork& network, const connect::ShardLayout& layout, const SimulationOptions& options,
          InstructionSet instruction_set);

    /// Takes the tables and lays out the ring of inputs. @param window steps that runs are delivered ahead, a power of two
    void set_tables(connect::ShardTables tables, std::uint32_t window);

    /// Before the neurons of a step are updated: synapses that arrive in the window that begins here, if one does.
    void begin_step(Step step);
    /// Updates all neurons by one step; their spikes are appended to the outbox.
    void update(Step step);
    void record(Step step);
    /// Takes in the spikes of one step, from any shard, after the neurons of step `now` have been updated.
    void accept(Step stamp, std::span<const NeuronId> sources, Step now);

    /// Changes weights between two steps, of synapses of one receptor; see SynapseTable::set_weights.
    void set_weights(std::uint32_t receptor, std::span<const std::uint64_t> positions, std::span<const double> weights,
                     Step now);

    const connect::ShardLayout& layout() const { return layout_; }
    const connect::ShardTables& tables() const { return tables_; }

    /// Spikes of the present epoch, ascending by (step, neuron); one of two boxes, so that others may still read the last
    /// epoch's while this shard fills the next one's.
    std::vector<comm::SpikeRecord>& outbox(std::uint64_t epoch) { return outboxes_[epoch % 2]; }
    void use_outbox(std::uint64_t epoch) { outbox_ = &outboxes_[epoch % 2]; }

    struct Group {
        PopulationId population;
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        std::unique_ptr<models::NeuronGroup> neurons;  ///< null where the shard has none of the population
        std::vector<models::GroupValues> parameters;
        std::uint64_t spikes = 0;
        bool plays_spikes = false;
    };
    Group& group(PopulationId population) { return groups_[population.value]; }
    std::span<const Group> groups() const { return groups_; }

    std::uint64_t synapses() const;
    std::uint64_t synaptic_events() const { return synaptic_events_; }
    void reset_counts();

    std::vector<comm::SpikeRecord>& recorded_spikes(RecorderIndex recorder) {
        return spike_recorders_[recorder].spikes;
    }
    struct StateRecorder {
        PopulationId population;
        Step interval = 1;
        std::vector<std::size_t> variables;       ///< indices into the model's variables
        std::vector<std::uint32_t> local;         ///< indices within the group
        std::vector<std::size_t> places;          ///< of these neurons among all of the recorder
        std::vector<Step> steps;
        std::vector<double> values;               ///< [sample][variable][local neuron]
    };
    StateRecorder& state_recorder(RecorderIndex recorder) { return state_recorders_[recorder]; }
    std::uint64_t recorded_bytes() const;
    /// Publishes recorded_bytes() to other threads.
    void publish_recorded_bytes() { published_bytes_.store(recorded_bytes(), std::memory_order_relaxed); }
    std::uint64_t published_recorded_bytes() const { return published_bytes_.load(std::memory_order_relaxed); }

    std::uint64_t synapse_bytes() const;
    std::uint64_t neuron_bytes() const;
    std::uint64_t input_bytes() const;
    std::uint64_t stimulus_bytes() const;
    std::uint64_t spike_bytes() const;

    WorkerTimes times;

   private:
    struct ShardStimulus {
        std::unique_ptr<models::Stimulus> stimulus;
        std::uint32_t offset = 0;   ///< local index of the first target
        std::uint32_t receptor = 0;
        bool current = false;
    };
    struct SpikeRecorder {
        std::vector<std::pair<NeuronId, NeuronId>> ranges;  ///< [first, last) ids, ascending, disjoint
        std::vector<comm::SpikeRecord> spikes;
    };

    void create_groups(const LoweredNetwork& network, const SimulationOptions& options);
    void create_stimuli(const LoweredNetwork& network);
    void create_recorders(const Network& network);
    void update_group(Group& group, Step step);
    void remember(NeuronId neuron, Step step);
    /// The first step whose inputs are not complete after step `now`.
    Step window_end(Step now) const { return (now / window_ + 1) * window_; }

    connect::ShardLayout layout_;
    InstructionSet instruction_set_;
    std::vector<Group> groups_;
    std::vector<ShardStimulus> stimuli_;
    connect::ShardTables tables_;
    Step window_ = 1;
    std::array<Buffer<double>, 2> inputs_;
    std::array<connect::InputRing, 2> rings_;
    Buffer<double> currents_;  ///< pA, by local index; empty when no stimulus injects current
    std::vector<std::uint32_t> fired_;
    std::array<std::vector<comm::SpikeRecord>, 2> outboxes_;
    std::vector<comm::SpikeRecord>* outbox_ = &outboxes_[0];
    std::vector<SpikeRecorder> spike_recorders_;
    std::vector<StateRecorder> state_recorders_;
    std::uint64_t synaptic_events_ = 0;
    std::atomic<std::uint64_t> published_bytes_{0};
};

}  // namespace ranvier::engine
