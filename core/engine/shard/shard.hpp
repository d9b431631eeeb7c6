#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "comm/exchange/exchange.hpp"
#include "connect/placement/input_layout.hpp"
#include "connect/placement/layout.hpp"
#include "connect/tables/learning_synapses.hpp"
#include "connect/tables/recent_rows.hpp"
#include "connect/tables/stored_synapses.hpp"
#include "connect/tables/table_builder.hpp"
#include "connect/tables/table_kind.hpp"
#include "engine/shard/invented_spikes.hpp"
#include "engine/shard/shard_memory.hpp"
#include "engine/shard/weight_checks.hpp"
#include "engine/simulation.hpp"
#include "engine/times.hpp"
#include "models/neuron.hpp"
#include "models/stimulator.hpp"
#include "network/lowering/lowering.hpp"

namespace ranvier::engine {

/// Steps that the inputs of a receptor are kept for, a power of two.
/// @param reach of a table, see SynapseTable::reach() @param waiting steps whose inputs have not been read yet
/// @param most_steps that the shard takes at a time
inline std::uint32_t input_slots(std::uint32_t window, DelaySteps reach, std::uint32_t waiting, Step most_steps) {
    const std::uint32_t ahead = reach == 0 ? 0 : reach + static_cast<std::uint32_t>(most_steps);
    return std::bit_ceil(std::max(window, ahead) + waiting);
}

/// What one worker thread owns: neurons, their state, their incoming synapses and their inputs.
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

    /// Takes the tables and lays out the ring of inputs. @param window steps that runs are delivered ahead, a power of two
    /// @param weights of all processes
    /// @param most_steps that the shard takes at a time: spikes may be accepted so long before they are emitted
    void set_tables(connect::ShardTables tables, const WeightRanges& weights, std::uint32_t window,
                    Step most_steps = 1);

    /// Lets the tables forget which sources their rows belong to, where they store that.
    void forget_sources();

    /// Before neurons advance from this step on: synapses that arrive in the window that begins here, if one does.
    void begin_step(Step step);
    /// The last step of an epoch that the shard can advance to in one go, `first` being the next one.
    Step stretch_end(Step first, Step epoch_end) const;
    /// Advances all neurons to the end of step `last`; their spikes are appended to the outbox, or those that are invented
    /// for them, and state is recorded. Returns how many seconds recording took. @pre last <= stretch_end(first, ...)
    double advance(Step first, Step last);
    /// The last step up to which the shard sends no spike that its outbox has not got yet, whatever arrives: `now`, which it
    /// has come to, or later. Asked of few neurons only: hardly ever are many of them refractory at the same time.
    Step silent_until(Step now) const;
    /// Takes in the spikes of one step, from any shard, after the neurons of step `now` have been updated.
    void accept(Step stamp, std::span<const NeuronId> sources, Step now);
    /// The same for spikes that come with the rows of one kind that they reach.
    void accept(Step stamp, connect::KindIndex kind, std::span<const RowIndex> rows, Step now);

    /// A stimulus for its targets of one population on this shard.
    struct ShardStimulus {
        explicit ShardStimulus(std::pmr::memory_resource* memory) : places(memory), sums(memory) {}

        std::size_t index = 0;  ///< in the description
        std::unique_ptr<models::Stimulus> stimulus;
        PopulationId population;
        std::uint32_t offset =
            0;  ///< local index of the first target; where neurons have sites, first input of the population
        std::uint32_t receptor = 0;  ///< of a current the electrode
        bool current = false;
        /// Of targets with gaps between them, or with several sites: where their inputs are, from the offset on, and room for
        /// what they get. Else empty.
        std::pmr::vector<std::uint32_t> places;
        std::pmr::vector<double> sums;
    };
    /// Makes a stimulus as its description is now, one for each population that has targets on this shard.
    std::vector<ShardStimulus> make_stimuli(const network::LoweredNetwork& network, std::size_t index) const;
    /// Replaces a stimulus by one with the same targets, which goes on from where it is, between two steps.
    void replace_stimulus(ShardStimulus& stimulus) noexcept;
    std::span<const ShardStimulus> stimuli() const { return stimuli_; }
    IdSequence targets_of(const ShardStimulus& stimulus, const network::Network& network) const {
        return layout_.share(stimulus.population).ids.among(network.stimuli()[stimulus.index].targets);
    }
    /// Makes room for the spikes that a group may play in a step.
    void make_room_for_output(std::size_t largest_output) {
        if (largest_output > fired_.size()) fired_.resize(largest_output);
    }

    /// Changes weights between two steps, of synapses of one kind; see SynapseTable::set_weights.
    void set_weights(connect::KindIndex kind, std::span<const std::uint64_t> positions, std::span<const double> weights,
                     Step now);
    /// Of all weights that there have been.
    WeightRanges weights() const;
    /// Lets the sums hold weights of these ranges, which contain those before: sums that are under way are kept. Between two
    /// steps. @throws std::bad_alloc
    void fit_sums(const WeightRanges& ranges);

    const connect::ShardLayout& layout() const { return layout_; }
    const connect::ShardTables& tables() const { return tables_; }
    const connect::SynapseTable* table(connect::KindIndex kind) const { return tables_[kind.value].get(); }
    /// How the inputs at a receptor are numbered, and those that synapses of a kind reach.
    const connect::InputLayout& inputs(std::uint32_t receptor) const { return input_layouts_[receptor]; }
    std::uint32_t inputs_of(std::uint32_t receptor) const {
        return receptor < receptors_.size() ? receptors_[receptor].size : 0;
    }
    const connect::InputLayout& inputs(connect::KindIndex kind) const {
        return input_layouts_[kinds_[kind.value].receptor];
    }

    /// Spikes of an epoch, ascending by (step, neuron); one of two boxes, so that others may still read the last epoch's
    /// while this shard fills the next one's.
    std::pmr::vector<comm::EmittedSpike>& outbox(std::uint64_t epoch) { return outboxes_[epoch % 2]; }
    /// Begins an epoch with an empty box.
    void begin_epoch(std::uint64_t epoch, Step first_step) {
        if (sent_steps_ > 0) note_sent(first_step);
        outbox_ = &outboxes_[epoch % 2];
        outbox_->clear();
        epoch_begin_ = first_step;
    }

    // The state between two steps, beside that of neurons and tables.

    /// Lets the shard remember, from the present step on, what its neurons have sent in the latest steps: as long as static
    /// synapses may have it under way.
    void keep_sent(Step steps) { sent_steps_ = steps; }
    template <class Visit>
    void visit_sent(Visit visit) const {
        sent_.for_each(visit);
    }
    bool is_static(connect::KindIndex kind) const { return static_kinds_[kind.value]; }
    connect::SynapseTable* table(connect::KindIndex kind) { return tables_[kind.value].get(); }
    /// The same as what a table offers; null where there is none, or no table.
    connect::StoredSynapses* synapses(connect::KindIndex kind) const {
        return tables_[kind.value] ? tables_[kind.value]->synapses() : nullptr;
    }
    connect::LearningSynapses* learning(connect::KindIndex kind) const {
        return tables_[kind.value] ? tables_[kind.value]->learning() : nullptr;
    }
    std::uint32_t receptors() const { return static_cast<std::uint32_t>(receptors_.size()); }
    /// Whether synapses that are not static reach a receptor, and how many steps ahead of the present one inputs are kept.
    bool has_dynamic_inputs(std::uint32_t receptor) const;
    Step input_steps(std::uint32_t receptor) const {
        return Step{receptors_[receptor].ring.slot_mask} + 1 - (longest_stride_ - 1);
    }
    /// Whether synapses reach a receptor, and the first step whose inputs a neuron has not read after step `now`.
    bool has_inputs(std::uint32_t receptor) const { return receptors_[receptor].has_tables; }
    Step first_unread(PopulationId population, Step now) const {
        const Step stride = groups_[population.value].stride;
        return now / stride * stride + 1;
    }
    /// Steps [begin, end), all of them kept.
    struct Steps {
        Step begin = 0;
        Step end = 0;
    };
    /// What synapses that are not static have added to inputs in steps after `now`, as numbers whose sum, which may be 0, is
    /// exact: visit(step, input, number). @pre Spikes that are under way have been accepted.
    void visit_dynamic_inputs(std::uint32_t receptor, Step now, Steps steps,
                              const std::function<void(Step, std::uint32_t, double)>& visit) const;
    /// What synapses have added to the inputs of neurons until step `now` that these have not read, since they take longer
    /// steps.
    void visit_unread_inputs(std::uint32_t receptor, Step now,
                             const std::function<void(Step, std::uint32_t, double)>& visit) const;
    void add_input(std::uint32_t receptor, Step step, std::uint32_t input, double number);

    /// While a shard replays, its neurons stand still and only static tables take in spikes: those that were sent before the
    /// state was saved, so that what is under way is as it was. @param sent by step, then neuron
    void begin_replay(std::vector<std::pair<Step, LocalIndex>> sent);
    void replay(Step step);
    void end_replay();
    /// Counts that were saved.
    void add_synaptic_events(std::uint64_t events) { synaptic_events_ += events; }

    struct Group {
        PopulationId population;
        const models::NeuronModel* model = nullptr;
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
        std::uint32_t receptors = 0;
        /// By receptor: its first input, and how many there are.
        std::vector<std::uint32_t> first_inputs;
        std::vector<std::uint32_t> inputs;
        std::unique_ptr<models::NeuronGroup> neurons;  ///< null where the shard has none of the population
        std::vector<models::GroupValues> parameters;
        std::vector<std::size_t> stimuli;         ///< that act on it, in the order of the description
        std::vector<network::RecorderIndex> recorders;     ///< of its state
        std::vector<bool> stimulated_electrodes;
        /// pA, by electrode: rows of steps with a number for each neuron; empty where no stimulus injects current.
        std::vector<Buffer<double>> currents;
        std::uint64_t spikes = 0;
        bool is_source = false;
        bool fires_repeatedly = false;  ///< may have neurons that fire several times in a step
        bool learns = false;  ///< has synapses that change with its spikes
        Step stride = 1;      ///< steps of the resolution in one of its own
        bool advances_by_stretches = false;
        double update_seconds = 0.0;  ///< if costs are measured
        double step_bytes = 0.0;      ///< that a step goes through, of all of its neurons
    };
    /// Whether neurons have noticed that they cannot go on.
    bool has_failed() const {
        return std::ranges::any_of(
            groups_, [](const Group& group) { return group.neurons != nullptr && group.neurons->has_failed(); });
    }
    Group& group(PopulationId population) { return groups_[population.value]; }
    std::span<const Group> groups() const { return groups_; }

    /// Notes that a worker begins to advance the shard: what its neurons go through comes into the worker's cache.
    void begin_visit() { ++visits_; }
    std::uint64_t visits() const { return visits_; }
    /// Bytes that a step of all of its neurons goes through, about.
    double step_bytes() const;

    std::uint64_t synapses() const;
    std::uint64_t synaptic_events() const { return synaptic_events_; }
    void reset_counts();

    struct RecordedSpike {
        Step step = 0;
        NeuronId neuron;

        friend auto operator<=>(const RecordedSpike&, const RecordedSpike&) = default;
    };
    std::pmr::vector<RecordedSpike>& recorded_spikes(network::RecorderIndex recorder) {
        return spike_recorders_[recorder].spikes;
    }
    struct StateRecorder {
        /// Neurons of one population.
        struct RecordedGroup {
            explicit RecordedGroup(std::pmr::memory_resource* memory) : local(memory) {}

            PopulationId population;
            std::vector<std::size_t> variables;     ///< indices into the model's variables
            std::pmr::vector<std::uint32_t> local;  ///< indices within the group, ascending
            std::size_t first_place = 0;            ///< of its neurons among those of all parts
        };
        explicit StateRecorder(std::pmr::memory_resource* memory) : places(memory), steps(memory), values(memory) {}

        Step interval = 1;
        std::size_t variables = 0;
        std::vector<RecordedGroup> parts;
        std::pmr::vector<std::size_t> places;   ///< of the neurons of all parts among all of the recorder
        std::pmr::vector<Step> steps;
        std::pmr::vector<double> values;  ///< [sample][variable][local neuron]
        std::size_t stretch_samples = 0;  ///< samples before those of the steps that the shard advances by now
    };
    StateRecorder& state_recorder(network::RecorderIndex recorder) { return state_recorders_[recorder]; }
    std::uint64_t recorded_bytes() const;
    /// Publishes recorded_bytes() to other threads.
    void publish_recorded_bytes() { published_bytes_.store(recorded_bytes(), std::memory_order_relaxed); }
    std::uint64_t published_recorded_bytes() const { return published_bytes_.load(std::memory_order_relaxed); }

   private:
    struct SpikeRecorder {
        std::vector<std::pair<NeuronId, NeuronId>> ranges;  ///< [first, last) ids, ascending, disjoint
        std::vector<IdSequence> sparse;                     ///< with gaps between them
        std::pmr::vector<RecordedSpike> spikes;
    };

    void create_groups(const network::LoweredNetwork& network, const SimulationOptions& options,
                       models::SharedParts& shared);
    void create_stimuli(const network::LoweredNetwork& network);
    /// Notes where the inputs of targets of a stimulus are if there are gaps between them. @param sites of each target; empty:
    /// each has one
    void place(ShardStimulus& stimulus, const IdSequence& targets, std::span<const std::uint32_t> sites) const;
    void create_recorders(const network::Network& network);
    /// What arrives at one receptor of all neurons, through the tables of all kinds that reach it.
    struct ReceptorInputs {
        bool has_tables = false;
        std::uint32_t size = 0;  ///< inputs
        connect::WeightRange weights;
        Buffer<double> inputs;  ///< where sums are wide: only of the steps that neurons advance by at once
        Buffer<connect::WideSum> wide_sums;
        connect::InputRing ring;
        std::uint64_t row_mask = 0;  ///< of these steps

        /// What neurons read in a step.
        double* of_step(Step step) const {
            if (ring.wide == nullptr) return ring.slot(step);
            return ring.data + (static_cast<std::uint64_t>(step) & row_mask) * ring.slot_stride;
        }
        /// Adds the inputs of the steps (step - stride, step) of some neurons to those of `step`, and clears them.
        void gather(Step step, Step stride, std::uint32_t first, std::uint32_t count);
        /// Rounds the sums of a step to what some neurons read, and clears them.
        void round_sums(Step step, std::uint32_t first, std::uint32_t count);
    };
    const connect::InputRing& ring(connect::KindIndex kind) const {
        return receptors_[kinds_[kind.value].receptor].ring;
    }
    void fit_sums(ReceptorInputs& receptor, const connect::WeightRange& range);
    /// Spikes that arrive at synapses that learn.
    void arrive(Step step);
    /// Deferred deliveries of the window that begins in a step.
    void deliver_window(Step step);
    void invent_spikes(Step step);
    /// Notes the spikes of the epoch that has ended.
    void note_sent(Step next_step);
    /// What static tables have added to the inputs of a receptor in some steps after `now`, step by step.
    template <class Sum, class Add>
    std::vector<Sum> static_inputs(std::uint32_t receptor, Step now, Steps steps, Sum nothing, Add add) const;
    /// A kind of synapses that follow variables of their targets.
    struct Follower {
        connect::PotentialFollower* synapses = nullptr;
        std::vector<std::vector<std::size_t>> variables;  ///< of each group, by number; empty: it has none
    };
    void add_follower(connect::PotentialFollower& synapses);
    /// See connect::PotentialReader.
    void read_followed(const Follower& follower, std::size_t variable, std::uint32_t first,
                       std::span<double> values) const;
    connect::PotentialReader reader_of(const Follower& follower) const;
    /// Tells tables of synapses that learn which neurons have fired, and how their variables are.
    void tell_learning_tables(Step step, std::size_t first_of_step);
    void add_stimulus(Group& group, ShardStimulus& stimulus, Step own_step, Step step);
    /// What acts on a group in one of its steps.
    void prepare_inputs(Group& group, Step own_step);
    double* current_of(Group& group, std::size_t electrode, Step step) const {
        return group.currents[electrode].data() + static_cast<std::size_t>(step & (stretch_rows_ - 1)) * group.size;
    }
    void make_currents(Group& group);
    models::StepRows current_rows(Group& group, std::size_t electrode) const;
    void advance_group(Group& group, Step first, Step last);
    void advance_and_measure(Group& group, Step first, Step last);
    void update_group(Group& group, Step own_step);
    void emit(const Group& group, Step step, std::uint32_t neuron);
    /// Puts what was emitted in some steps into the order of steps, and in each step into that of neurons.
    void put_in_order(std::span<comm::EmittedSpike> spikes, Step first, Step last);
    void remember(NeuronId neuron, Step step);
    /// Makes room for the samples of these steps.
    void begin_samples(Step first, Step last);
    void find_observed_steps(const Group& group, Step first_own, Step last_own);
    /// Records the state of some neurons of a group after a step, if any recorder takes it then.
    void sample(const Group& group, Step step, std::size_t begin, std::size_t end);
    class Observer final : public models::StateObserver {
       public:
        Observer(Shard& shard, const Group& group) : shard_(shard), group_(group) {}
        void observe(Step own_step, std::size_t begin, std::size_t end) override {
            shard_.sample(group_, own_step * group_.stride, begin, end);
        }

       private:
        Shard& shard_;
        const Group& group_;
    };
    /// The first step whose inputs are not complete after step `now`.
    Step window_end(Step now) const { return (now / window_ + 1) * window_; }

    ShardMemory memory_;  ///< of all that follows
    connect::ShardLayout layout_;
    bool measure_costs_;
    InstructionSet instruction_set_;
    std::vector<Group> groups_;
    std::vector<ShardStimulus> stimuli_;
    connect::ShardTables tables_;
    std::vector<connect::KindIndex> deferred_;  ///< kinds of tables whose delivery is deferred
    std::vector<connect::KindIndex> learning_;  ///< kinds of tables of synapses that learn
    std::vector<connect::SpikeFollower*> spike_followers_;  ///< among these
    std::vector<Follower> followers_;
    std::pmr::vector<std::uint32_t> fired_in_step_;
    Step window_ = 1;
    /// Steps by which the shard can advance at once, so that there are rows of inputs for them: a power of two, the window or
    /// 1, since most point neurons gain nothing.
    Step stretch_rows_ = 1;
    Step longest_stride_ = 1;  ///< of all populations
    std::vector<connect::TableKind> kinds_;
    std::vector<bool> stimulated_;  ///< by receptor
    std::vector<connect::InputLayout> input_layouts_;  ///< by receptor
    std::vector<ReceptorInputs> receptors_;
    /// -0.0 for each input, if there are receptors that nothing ever reaches: they all read this.
    Buffer<double> no_inputs_;
    std::vector<double*> group_inputs_;  ///< of the group that is being updated, by receptor
    std::vector<models::StepRows> group_rows_;
    std::pmr::vector<models::GroupSpike> group_spikes_;
    std::vector<Step> observed_steps_;
    double record_seconds_ = 0.0;  ///< since the shard began to advance
    std::vector<const double*> more_currents_;      ///< of the group that is being updated
    std::vector<models::StepRows> more_current_rows_;
    std::pmr::vector<std::uint32_t> fired_;
    std::array<std::pmr::vector<comm::EmittedSpike>, 2> outboxes_;
    std::pmr::vector<comm::EmittedSpike>* outbox_ = &outboxes_[0];
    std::pmr::vector<comm::EmittedSpike> unordered_;  ///< what was emitted in some steps
    std::vector<std::size_t> lag_places_;
    Step epoch_begin_ = 1;
    std::unique_ptr<InventedSpikes> invented_;  ///< in place of what neurons send; null: they send their own
    std::pmr::vector<RowIndex> rows_;
    std::vector<bool> static_kinds_;
    Step sent_steps_ = 0;
    connect::RecentSpikes<LocalIndex> sent_;
    std::vector<std::pair<Step, LocalIndex>> replayed_;
    std::size_t next_replayed_ = 0;
    bool replays_ = false;
    std::vector<SpikeRecorder> spike_recorders_;
    std::vector<StateRecorder> state_recorders_;
    std::uint64_t synaptic_events_ = 0;
    std::uint64_t visits_ = 0;
    std::atomic<std::uint64_t> published_bytes_{0};
};

}  // namespace ranvier::engine
