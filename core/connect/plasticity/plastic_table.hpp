#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <tuple>
#include <variant>
#include <vector>

#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learn_visits.hpp"
#include "connect/plasticity/learning_on_device.hpp"
#include "connect/plasticity/learning_rule.hpp"
#include "connect/plasticity/modulated_run.hpp"
#include "connect/plasticity/modulation.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "connect/plasticity/target_neurons.hpp"
#include "connect/plasticity/timed_visit.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/learning_synapses.hpp"
#include "connect/tables/stored_table.hpp"
#include "ranvier/base/buffer.hpp"

namespace ranvier::connect {

/// Synapses that learn from the order of pre- and postsynaptic spikes, by traces that decay exponentially.
///
/// A synapse is visited when a presynaptic spike arrives at it, and then learns from all postsynaptic spikes that have
/// arrived since the last visit. Its changes follow from the times of the spikes alone, in closed form, so that its
/// weight does not depend on the times of visits. Reading a weight computes its current value.
///
/// Spikes that arrive at a synapse in the same step do not see each other, in either direction; without a dendritic
/// delay, a neuron that fires in the step in which a spike arrives counts as fired after it.
///
/// The functions are compiled once, in plastic_table.cpp: rules are given as functions that change arrays of weights.
template <class Target, class Real>
class PlasticTable final : public StoredTable<Target, Real>,
                           public LearningSynapses,
                           public SpikeDrivenSynapses,
                           public ModulatedSynapses,
                           public RowState,
                           public LearningOnDevice {
   public:
    using Base = StoredTable<Target, Real>;

    /// @param columns whose rows are sorted by delay
    PlasticTable(TableColumns<Target, Real> columns, const Learning& learning, LearningRule<Real> rule,
                 const PlasticTableArguments& arguments);

    LearningSynapses* learning() override { return this; }
    SpikeDrivenSynapses* spike_driven() override { return this; }
    ModulatedSynapses* modulated_synapses() override { return modulated_ ? this : nullptr; }
    RowState* row_state() override { return this; }
    LearningOnDevice* on_device() override;
    /// See plastic_table_memory().
    static PlasticTableMemory memory(const Learning& learning, const LearningRule<Real>& rule);

    void modulate(Step step, std::uint64_t spikes) override;
    void postsynaptic_spikes(Step step, std::span<const std::uint32_t> neurons) override;
    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step window_end,
                         const InputRing& inputs) override;
    void arrive(InstructionSet set, Step step, const InputRing& inputs) override;

    void read_weights(std::span<const std::uint64_t> positions, std::span<double> weights) const override;
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step window_end, const InputRing& inputs) override;
    double greatest_added() const override;

    /// Lets all synapses learn from the postsynaptic spikes that have arrived up to the end of a step, so that older
    /// ones can be dropped. Weights that are read do not change by this.
    /// @pre the table has received all presynaptic spikes up to this step
    void settle(InstructionSet set, Step step);

    bool has_synapse_state() const override { return true; }
    void begin_saving(Step now) override;
    void begin_loading(Step now) override;
    void serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) override;
    void serialize_row(RowIndex row, StateColumns& columns) override;
    void serialize_target(std::uint32_t neuron, StateColumns& columns) override {
        history_.serialize(neuron - learning_neurons_.first(), base_, columns);
    }
    void serialize_common(StateColumns& columns) override;
    void end_serialization() override;

    const Learning& plasticity() const override { return learning_; }
    const LearningRule<float>& rule() const override;
    std::span<const float> parameter_of_rule(std::size_t parameter) const override;
    std::span<const float> time_constants(TraceKind kind) const override;
    bool has_timed_trace(TraceKind kind) const override {
        return timed_ && !(*timed_)[static_cast<std::size_t>(kind)].empty();
    }
    std::uint32_t first_learning_neuron() const override { return learning_neurons_.first(); }
    std::uint32_t learning_neurons() const override { return learning_neurons_.size(); }
    void get_state(Step now, LearningState& state) override;
    void set_state(Step now, const LearningState& state) override;

   private:
    using History = SpikeHistory<Real>;
    using Bits = typename History::Bits;
    using Visit = LearnVisit<Real>;

    /// Synapses of one row with the same delay, or all of them if all delays are dendritic.
    struct Run {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        DelaySteps delay = 1;  ///< the shortest
        DelaySteps axonal = 0;

        DelaySteps dendritic() const { return delay - axonal; }
        std::int32_t shift() const {
            return static_cast<std::int32_t>(axonal) - static_cast<std::int32_t>(dendritic());
        }
        /// Without a dendritic delay, a neuron that fires in the step of an arrival counts as later.
        std::int32_t tie() const { return dendritic() == 0 ? 1 : 0; }
    };
    /// A presynaptic spike, and the previous one. Steps are relative to the base.
    struct Spike {
        RowIndex row;
        std::int32_t stamp = 0;
        std::int32_t last = History::never;
        Real trace = 0;  ///< after the previous spike
        std::array<Real, most_same_side_traces> same_side = {};  ///< traces before this one
    };
    struct Waiting {
        Spike spike;
        Run run;
    };
    /// A waiting spike in saved form: for one run of its row.
    struct Saved {
        Spike spike;
        std::uint32_t number = 0;  ///< among those of its source and step

        std::tuple<RowIndex, std::int32_t, std::uint32_t> place() const { return {spike.row, spike.stamp, number}; }
    };

    static double bytes_to_learn_from(std::size_t same_side_traces, const ExpectedSpikes& spikes);
    static double bytes_waiting(double axonal_fraction, const ExpectedSpikes& spikes);
    bool centred() const { return rule_.pairing == Pairing::presynaptic_centred; }
    Spike next_spike(RowIndex row, std::int32_t stamp);

    std::int32_t relative(Step step) const { return static_cast<std::int32_t>(step - base_); }
    std::pmr::vector<Waiting>& waiting_at(Step step) {
        return waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)];
    }

    template <class Call>
    void for_each_run(RowIndex row, Call call) const;
    /// Whether spikes arrive at all synapses of a row at once, although these have different delays.
    bool has_whole_rows() const {
        return !rule_.modulation && !timed_ && this->columns_.least_delay != this->columns_.greatest_delay &&
               learning_.axonal(this->columns_.greatest_delay) == 0;
    }
    /// Delays from one synapse on, relative to the shortest.
    const void* delays_from(std::uint64_t position) const {
        return std::visit([&](const auto& delays) -> const void* { return delays.data() + position; },
                          this->columns_.delays);
    }
    DelaySteps delay_of(const Run& run, std::uint64_t position) const {
        if (!has_whole_rows()) return run.delay;
        return run.delay +
               std::visit([&](const auto& delays) -> DelaySteps { return delays[position]; }, this->columns_.delays);
    }
    Run run_from(std::uint64_t begin, std::uint64_t row_end) const;
    Run run_of(std::uint64_t row_begin, std::uint64_t position, std::uint64_t row_end) const;
    // Inlined before the compiler drops calls that seem to have no effect: see RowStarts::prefetch().
    RANVIER_ALWAYS_INLINE void prefetch_state(RowIndex row) const {
        if (this->columns_.numbering != RowNumbering::unsorted) this->columns_.row_start.prefetch(row.value);
        __builtin_prefetch(last_.data() + row.value, 1, 3);
        __builtin_prefetch(traces_.data() + row.value, 1, 3);
    }
    RANVIER_ALWAYS_INLINE void prefetch(const Run& run) const {
        const std::uint64_t count = std::min(run.end - run.begin, prefetched_first);
        detail::prefetch_span(this->columns_.targets.data() + run.begin, count * sizeof(Target));
        detail::prefetch_span(this->columns_.weights.data() + run.begin, count * sizeof(Real));
        if (has_whole_rows()) detail::prefetch_span(delays_from(run.begin), count);
    }

    Visit visit_of(const Run& run, std::uint64_t first, std::int32_t last, Real trace) const;
    Visit arriving(const Spike& spike, const Run& run, const InputRing& inputs);
    Visit pending(RowIndex row, const Run& run, std::uint64_t first, const std::vector<const Waiting*>& waiting,
                  Step step) const;
    void add_visit(InstructionSet set, const Spike& spike, const Run& run, const InputRing& inputs,
                   const TargetView<Real>* view);
    void learn(InstructionSet set, const TargetView<Real>* view, bool arrives);
    LearnArguments<Real> arguments() const;
    /// The local index of the neuron from which targets of synapses are counted, where neurons are distinguished.
    std::uint32_t first_neuron() const { return neurons_.empty() ? learning_neurons_.first() : 0; }
    // With a transmitter:
    void begin_modulation(std::pmr::memory_resource* synapse_memory, std::pmr::memory_resource* spike_memory);
    ModulatedArguments<Real> modulated(const Visit& visit) const;
    void learn_modulated(InstructionSet set, const LearnArguments<Real>& given, const Visit& visit);
    double followed_weight(std::uint64_t position, const std::vector<const Waiting*>& waiting) const;
    void set_followed(std::uint64_t position, Real weight, const std::vector<const Waiting*>& waiting);
    // With per-synapse time constants:
    void begin_timed(std::pmr::memory_resource* memory);
    TimedArguments<Real> timed(const Visit& visit) const;
    void learn_timed(InstructionSet set, const LearnArguments<Real>& given, const Visit& visit);
    void serialize_traces(std::span<const std::uint64_t> positions, StateColumns& columns);
    std::span<const float> column_in_single(std::optional<std::size_t> column) const;
    const TargetView<Real>* shared_view(InstructionSet set, std::uint64_t events, std::int32_t end, std::int32_t meets);
    std::vector<const Waiting*> first_waiting() const;
    class WeightCopies;
    void bring_up_to_date(std::span<const Visit> visits) const;

    void wait(const Spike& spike);
    void serialize_waiting(Spike& spike, StateColumns& columns) const;
    /// The waiting spikes for the run of each row with the longest axonal delay, by row, then in their order.
    std::vector<Saved> waiting_spikes() const;

    /// Step up to which all presynaptic spikes have reached their synapses, when the table has received those up to
    /// `step`.
    Step told_of(Step step) const { return step - static_cast<Step>(this->columns_.greatest_delay); }
    /// Capacity of the list of visits.
    static constexpr std::size_t most_visits = 128;
    /// Synapses that are prefetched while visits are listed.
    static constexpr std::uint64_t prefetched_first = 512;
    /// Steps stay far below the limit of 32 bits.
    static constexpr Step most_steps = Step{1} << 30;
    void move_base(InstructionSet set, Step step);

    /// The neuron of each input, where neurons have several, counted from the first that learns; otherwise empty.
    Buffer<std::uint32_t> neurons_;
    TargetNeurons learning_neurons_;
    Learning learning_;
    LearningRule<Real> rule_;
    Decay<double> row_decay_;
    std::vector<Decay<double>> same_side_decays_;
    Decay<Real> presynaptic_;
    Decay<Real> postsynaptic_;
    History history_;
    Buffer<std::int32_t> last_;  ///< last presynaptic spike of each row, relative to the base
    Buffer<double> traces_;  ///< after that spike
    Buffer<double> same_side_;  ///< traces read by presynaptic spikes, after that spike, by row, then trace
    Buffer<Real> synapse_traces_;  ///< per synapse, after the last presynaptic spike that has arrived
    /// For synapses modulated by a transmitter.
    struct Modulated {
        Concentration concentration;
        StretchGains gains;
        Decay<double> decay;       ///< of the eligibility
        Buffer<Real> eligibility;  ///< after the last spike that a synapse has learnt from
        Buffer<Real> remainders;   ///< of weights beyond single precision
        std::size_t kept = 0;      ///< pulses still needed when all synapses last learnt
    };
    std::unique_ptr<Modulated> modulated_;  ///< null without a transmitter
    /// For synapses with per-synapse time constants: traces kept per synapse, by TraceKind.
    using Timed = std::array<Buffer<Real>, trace_kinds>;
    std::unique_ptr<Timed> timed_;  ///< null if all synapses share all time constants
    std::pmr::vector<std::pmr::vector<Waiting>> waiting_;  ///< by the step of arrival at the synapses
    std::vector<Saved> saved_;  ///< while the table is saved or loaded
    bool loads_ = false;
    std::size_t kept_ = 0;  ///< older spikes still needed when all synapses last learnt
    std::int32_t settled_ = std::numeric_limits<std::int32_t>::min() / 2;
    Bits greatest_ = 0;  ///< greatest absolute value of an added weight, as bits
    Step base_ = 0;
    Step now_ = 0;
    // State of the targets in a step, computed once if many synapses of one delay use it.
    Buffer<std::int32_t> first_seen_;
    Buffer<std::uint32_t> place_seen_;
    Buffer<Real> trace_seen_;
    TargetView<Real> view_ = {};
    std::pmr::vector<Visit> visits_;  ///< whose synapses learn together
    std::uint64_t listed_ = 0;  ///< synapses of the visits reached by a spike
    InputRing ring_;  ///< to which the visits add
};

}  // namespace ranvier::connect
