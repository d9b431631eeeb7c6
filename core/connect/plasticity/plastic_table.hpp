#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/buffer.hpp"
#include "base/tight_list.hpp"
#include "connect/plasticity/decay.hpp"
#include "connect/plasticity/learn_run.hpp"
#include "connect/plasticity/spike_history.hpp"
#include "connect/tables/delivery_loops.hpp"
#include "connect/tables/row_sort.hpp"
#include "connect/tables/stored_table.hpp"

namespace ranvier::connect {

/// How the synapses of a table learn, beside the constants of its rule.
struct Learning {
    double presynaptic_steps = 1.0;   ///< time constants of the traces, in steps of the resolution
    double postsynaptic_steps = 1.0;
    /// The same of the traces that spikes of their own side read, as many as the rule has.
    std::vector<double> own_presynaptic_steps = {};
    std::vector<double> own_postsynaptic_steps = {};
    /// Which part of the delay is axonal: the rest is dendritic, which postsynaptic spikes take to the synapse too.
    double axonal_fraction = 0.0;
    /// What weights are rounded to when they are added to the inputs: a power of two.
    double quantum = 0x1p-32;

    /// Steps of a delay that the presynaptic spike takes to the synapse.
    DelaySteps axonal(DelaySteps delay) const {
        return static_cast<DelaySteps>(std::floor(axonal_fraction * static_cast<double>(delay) + 0.5));
    }
};

/// Synapses that learn from the order of pre- and postsynaptic spikes, by traces that decay exponentially.
///
/// A synapse is visited when a presynaptic spike arrives at it, and learns then from all postsynaptic spikes that have
/// arrived since the last visit. What it does follows from the times of the spikes alone, by closed formulas, so that its
/// weight does not depend on when it is visited. Where a read asks for the weight, it is computed as it is then.
///
/// Of spikes that arrive at a synapse in the same step, the presynaptic one does not count for the postsynaptic one, nor the
/// other way round; without a dendritic delay a neuron that fires in the step in which a spike arrives counts as fired
/// after it.
template <class Rule, class Target>
class PlasticTable final : public StoredTable<Target, typename Rule::Real> {
   public:
    using Real = typename Rule::Real;
    using Base = StoredTable<Target, Real>;

    /// @param columns whose rows are sorted by delay
    PlasticTable(TableColumns<Target, Real> columns, std::uint32_t local_neurons, const Learning& learning,
                 typename Rule::Constants constants, std::pmr::memory_resource* synapse_memory,
                 std::pmr::memory_resource* spike_memory)
        : Base(std::move(columns)),
          learning_(learning),
          constants_(constants),
          row_decay_(learning.presynaptic_steps),
          own_decays_(decays(learning.own_presynaptic_steps)),
          presynaptic_(learning.presynaptic_steps),
          postsynaptic_(learning.postsynaptic_steps),
          history_(local_neurons, learning.postsynaptic_steps,
                   own_steps<own_postsynaptic_traces<Rule>>(learning.own_postsynaptic_steps),
                   Rule::postsynaptic_trace_accumulates, spike_memory),
          last_(Base::rows(), synapse_memory),
          traces_(Base::rows(), synapse_memory),
          own_(Base::rows() * own_traces, synapse_memory),
          synapse_traces_(centred ? this->size() : 0, synapse_memory),
          waiting_(std::bit_ceil(std::size_t{learning.axonal(this->columns_.greatest_delay)} + 1)) {
        std::fill_n(last_.data(), last_.size(), History::never);
        std::fill_n(traces_.data(), traces_.size(), 0.0);
        std::fill_n(own_.data(), own_.size(), 0.0);
        std::fill_n(synapse_traces_.data(), synapse_traces_.size(), Real{0});
        for (auto& some : waiting_) some = std::pmr::vector<Waiting>(spike_memory);
    }

    std::string_view layout() const override { return "ring"; }
    DelaySteps reach() const override { return this->columns_.greatest_delay; }
    bool learns() const override { return true; }

    void postsynaptic_spikes(Step step, std::span<const std::uint32_t> neurons) override {
        now_ = step;
        for (const std::uint32_t neuron : neurons) history_.add(neuron, relative(step));
    }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step /*window_end*/,
                         const InputRing& inputs) override {
        std::uint64_t events = 0;
        constexpr std::size_t ahead = 4;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + ahead < rows.size()) prefetch(rows[i + ahead]);
            const RowIndex row = rows[i];
            const Spike spike = next_spike(row, relative(stamp));
            for_each_run(row, [&](const Run& run) {
                events += run.end - run.begin;
                if (stamp + run.axonal <= now) {
                    visit(set, spike, run, inputs);
                } else {
                    append(waiting_at(stamp + run.axonal), {spike, run});
                }
            });
        }
        return events;
    }

    void arrive(InstructionSet set, Step step, const InputRing& inputs) override {
        auto& due = waiting_at(step);
        for (const Waiting& waiting : due) visit(set, waiting.spike, waiting.run, inputs);
        due.clear();
        if (history_.older_spikes() > kept_ + most_older_spikes()) settle(set, step - 1);
        if (step - base_ > most_steps) move_base(set, step);
    }

    void deliver(InstructionSet, Step, Step, const InputRing&) override {}

    double weight(std::uint64_t position) const override {
        Real weight = this->columns_.weights[position];
        const RowIndex row = this->row_of(position);
        for_each_run(row, [&](const Run& run) {
            if (run.begin <= position && position < run.end) bring_up_to_date(row, run, position, &weight, 1);
        });
        return static_cast<double>(weight);
    }

    void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        std::vector<Real> weights(this->columns_.weights.data() + begin, this->columns_.weights.data() + end);
        for_each_run(row, [&](const Run& run) {
            const std::uint64_t first = std::max(begin, run.begin);
            const std::uint64_t last = std::min(end, run.end);
            if (first >= last) return;
            bring_up_to_date(row, run, first, weights.data() + (first - begin), last - first);
            for (std::uint64_t position = first; position < last; ++position) {
                out.push_back({position, this->target(position), run.delay,
                               static_cast<double>(weights[position - begin]), this->tag(position)});
            }
        });
    }

    /// What spikes that have arrived at the synapses will add stays as it is.
    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step /*window_end*/, const InputRing& /*inputs*/) override {
        settle(InstructionSet::baseline, now);
        for (std::size_t i = 0; i < positions.size(); ++i) {
            this->columns_.weights[positions[i]] = static_cast<Real>(weights[i]);
        }
    }

    double greatest_added() const override { return static_cast<double>(std::bit_cast<Real>(greatest_)); }

    /// All synapses learn from the postsynaptic spikes that have arrived up to the end of a step, so that older ones can be
    /// forgotten. Weights that are read are the same before and after.
    void settle(InstructionSet set, Step step) {
        const auto waiting = first_waiting();
        for (std::uint32_t row = 0; row < last_.size(); ++row) {
            for_each_run(RowIndex{row}, [&](const Run& run) {
                Arguments arguments = pending(RowIndex{row}, run, waiting, step);
                arguments.targets = this->columns_.targets.data() + run.begin;
                arguments.weights = this->columns_.weights.data() + run.begin;
                arguments.count = run.end - run.begin;
                if constexpr (centred) arguments.synapse_traces = synapse_traces_.data() + run.begin;
                call(set, arguments);
            });
        }
        settled_ = relative(step);
        const DelaySteps longest = this->columns_.greatest_delay;
        history_.forget_older(settled_ - static_cast<std::int32_t>(longest - learning_.axonal(longest)));
        kept_ = history_.older_spikes();
    }

   private:
    using History = HistoryOf<Rule>;
    static constexpr std::size_t own_traces = own_presynaptic_traces<Rule>;
    static constexpr bool centred = pairing_of<Rule> == Pairing::presynaptic_centred;
    using Bits = typename History::Bits;
    using Arguments = LearnArguments<Rule, Target>;

    /// Synapses of one row that have the same delay.
    struct Run {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        DelaySteps delay = 1;
        DelaySteps axonal = 0;

        DelaySteps dendritic() const { return delay - axonal; }
        std::int32_t shift() const {
            return static_cast<std::int32_t>(axonal) - static_cast<std::int32_t>(dendritic());
        }
        /// Without a dendritic delay, a neuron that fires in the step of an arrival counts as later.
        std::int32_t tie() const { return dendritic() == 0 ? 1 : 0; }
    };
    /// A presynaptic spike, and the one before it. Steps are relative to the base.
    struct Spike {
        RowIndex row;
        std::int32_t stamp = 0;
        std::int32_t last = History::never;
        Real trace = 0;  ///< after the last one
        [[no_unique_address]] std::conditional_t<own_traces == 0, typename History::NoTraces,
                                                 std::array<Real, own_traces>> own = {};  ///< traces before this one
    };
    struct Waiting {
        Spike spike;
        Run run;
    };

    template <std::size_t count>
    static std::array<double, count> own_steps(const std::vector<double>& steps) {
        std::array<double, count> given;
        for (std::size_t k = 0; k < count; ++k) given[k] = steps.at(k);
        return given;
    }
    static std::array<Decay<double>, own_traces> decays(const std::vector<double>& steps) {
        std::array<Decay<double>, own_traces> given;
        for (std::size_t k = 0; k < own_traces; ++k) given[k] = Decay<double>(steps.at(k));
        return given;
    }

    /// The source of a row has fired: its traces go on.
    Spike next_spike(RowIndex row, std::int32_t stamp) {
        const std::int32_t last = last_[row.value];
        double& trace = traces_[row.value];
        Spike spike{.row = row, .stamp = stamp, .last = last, .trace = static_cast<Real>(trace)};
        const auto after = [&](double before) { return Rule::presynaptic_trace_accumulates ? before + 1.0 : 1.0; };
        trace = after(last == History::never ? 0.0 : trace * row_decay_(std::int64_t{stamp} - last));
        for (std::size_t k = 0; k < own_traces; ++k) {
            double& own = own_[row.value * own_traces + k];
            const double before = last == History::never ? 0.0 : own * own_decays_[k](std::int64_t{stamp} - last);
            if constexpr (own_traces > 0) spike.own[k] = static_cast<Real>(before);
            own = after(before);
        }
        last_[row.value] = stamp;
        return spike;
    }

    std::int32_t relative(Step step) const { return static_cast<std::int32_t>(step - base_); }
    std::pmr::vector<Waiting>& waiting_at(Step step) {
        return waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)];
    }

    template <class Visit>
    void for_each_run(RowIndex row, Visit visit) const {
        const std::uint64_t end = this->row_end(row);
        std::uint64_t begin = this->row_begin(row);
        if (begin == end) return;
        if (this->columns_.least_delay == this->columns_.greatest_delay) {
            visit(make_run(begin, end, this->columns_.least_delay));
            return;
        }
        std::visit(
            [&](const auto& delays) {
                while (begin < end) {
                    const auto delay = delays[begin];
                    std::uint64_t next = begin + 1;
                    while (next < end && delays[next] == delay) ++next;
                    visit(make_run(begin, next, this->columns_.least_delay + delay));
                    begin = next;
                }
            },
            this->columns_.delays);
    }
    Run make_run(std::uint64_t begin, std::uint64_t end, DelaySteps delay) const {
        return {begin, end, delay, learning_.axonal(delay)};
    }

    void prefetch(RowIndex row) const {
        const std::uint64_t begin = this->row_begin(row);
        const std::size_t count = std::min<std::size_t>(this->row_end(row) - begin, LearnRun<Rule, Target>::block);
        detail::prefetch_span(this->columns_.targets.data() + begin, count * sizeof(Target));
        detail::prefetch_span(this->columns_.weights.data() + begin, count * sizeof(Real));
    }

    Arguments arguments_of(const Run& run, std::int32_t last, Real trace) const {
        Arguments arguments;
        arguments.history = &history_;
        arguments.presynaptic = presynaptic_.view();
        arguments.postsynaptic = postsynaptic_.view();
        arguments.constants = &constants_;
        arguments.trace = trace;
        const auto dendritic = static_cast<std::int32_t>(run.dendritic());
        arguments.learnt = settled_ - dendritic;
        arguments.since = History::never;
        if (last == History::never) {
            // Nothing is learnt before the first presynaptic spike.
            arguments.learnt = std::numeric_limits<std::int32_t>::max();
        } else {
            arguments.last = last + run.shift();
            arguments.since = arguments.last - run.tie();
            arguments.learnt = std::max(arguments.learnt, arguments.since);
        }
        return arguments;
    }

    void visit(InstructionSet set, const Spike& spike, const Run& run, const InputRing& inputs) {
        Arguments arguments = arguments_of(run, spike.last, spike.trace);
        arguments.targets = this->columns_.targets.data() + run.begin;
        arguments.weights = this->columns_.weights.data() + run.begin;
        arguments.count = run.end - run.begin;
        arguments.meets = spike.stamp + run.shift();
        arguments.end = arguments.meets - run.tie();
        if constexpr (own_traces > 0) arguments.own = spike.own;
        if constexpr (centred) {
            arguments.synapse_traces = synapse_traces_.data() + run.begin;
            arguments.new_synapse_traces = synapse_traces_.data() + run.begin;
            if (spike.last != History::never) arguments.left = presynaptic_(std::int64_t{spike.stamp} - spike.last);
        }
        const Step arrival = base_ + spike.stamp + run.delay;
        if (inputs.wide == nullptr) {
            arguments.inputs = inputs.slot(arrival);
            arguments.greatest = &greatest_;
            arguments.to_grid = 0x1.8p52 * learning_.quantum;
        }
        call(set, arguments);
        if (inputs.wide == nullptr) return;
        WideSum* const sums = inputs.wide_slot(arrival);
        const double to_grid = 0x1.8p52 * learning_.quantum;
        for (std::uint64_t i = run.begin; i < run.end; ++i) {
            const double weight = (static_cast<double>(this->columns_.weights[i]) + to_grid) - to_grid;
            greatest_ =
                std::max(greatest_, std::bit_cast<Bits>(static_cast<Real>(std::abs(this->columns_.weights[i]))));
            add_wide(sums[this->columns_.targets[i]], weight, inputs.exponent);
        }
    }

    /// What the synapses of a run have still to learn from postsynaptic spikes that arrive up to the end of a step.
    /// @param waiting the first spike that waits for each run
    Arguments pending(RowIndex row, const Run& run, const std::vector<const Waiting*>& waiting, Step step) const {
        std::int32_t last = last_[row.value];
        auto trace = static_cast<Real>(traces_[row.value]);
        const auto found =
            std::lower_bound(waiting.begin(), waiting.end(), run.begin,
                             [](const Waiting* one, std::uint64_t begin) { return one->run.begin < begin; });
        if (found != waiting.end() && (*found)->run.begin == run.begin) {
            last = (*found)->spike.last;
            trace = (*found)->spike.trace;
        }
        Arguments arguments = arguments_of(run, last, trace);
        arguments.arrives = false;
        arguments.end = relative(step) - static_cast<std::int32_t>(run.dendritic());
        return arguments;
    }

    /// The first spike that waits for each run for which any does, by the place of the run.
    std::vector<const Waiting*> first_waiting() const {
        std::vector<const Waiting*> found;
        for (Step step = now_ + 1; step <= now_ + static_cast<Step>(waiting_.size()); ++step) {
            for (const Waiting& one : waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)]) {
                found.push_back(&one);
            }
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Waiting* a, const Waiting* b) { return a->run.begin < b->run.begin; });
        found.erase(std::unique(found.begin(), found.end(),
                                [](const Waiting* a, const Waiting* b) { return a->run.begin == b->run.begin; }),
                    found.end());
        return found;
    }

    /// Applies to copies of weights what their synapses have still to learn.
    void bring_up_to_date(RowIndex row, const Run& run, std::uint64_t first, Real* weights, std::uint64_t count) const {
        Arguments arguments = pending(row, run, first_waiting(), now_);
        arguments.targets = this->columns_.targets.data() + first;
        arguments.weights = weights;
        arguments.count = count;
        if constexpr (centred) arguments.synapse_traces = synapse_traces_.data() + first;
        call(InstructionSet::baseline, arguments);
    }

    static void call(InstructionSet set, const Arguments& arguments) {
        Dispatched<LearnRun<Rule, Target>>::call(set, &arguments);
    }

    std::size_t most_older_spikes() const {
        // They may take about as much as a sixteenth of the synapses, and are not looked for too often.
        constexpr std::size_t least = 1 << 16;
        return std::max(least, static_cast<std::size_t>(this->size() / 32));
    }

    /// Steps stay far from the end of 32 bits.
    static constexpr Step most_steps = Step{1} << 30;
    void move_base(InstructionSet set, Step step) {
        settle(set, step - 1);
        const Step by = step - 1 - base_;
        history_.move_base(by);
        const auto moved = [by](std::int32_t relative_step) {
            constexpr std::int64_t least = std::int64_t{History::never} / 2;
            if (relative_step == History::never) return relative_step;
            return static_cast<std::int32_t>(std::max<std::int64_t>(std::int64_t{relative_step} - by, least));
        };
        for (std::int32_t& last : last_.span()) last = moved(last);
        for (auto& some : waiting_) {
            for (Waiting& one : some) {
                one.spike.stamp = moved(one.spike.stamp);
                one.spike.last = moved(one.spike.last);
            }
        }
        settled_ = moved(settled_);
        base_ += by;
    }

    Learning learning_;
    typename Rule::Constants constants_;
    Decay<double> row_decay_;
    std::array<Decay<double>, own_traces> own_decays_;
    Decay<Real> presynaptic_;
    Decay<Real> postsynaptic_;
    History history_;
    Buffer<std::int32_t> last_;  ///< presynaptic spike of each row, relative to the base
    Buffer<double> traces_;      ///< after that
    Buffer<double> own_;         ///< traces that presynaptic spikes read, after that, by row, then trace
    Buffer<Real> synapse_traces_;  ///< of each synapse, after the last presynaptic spike that has arrived at it
    std::vector<std::pmr::vector<Waiting>> waiting_;  ///< by the step in which they arrive at the synapses
    std::size_t kept_ = 0;  ///< older spikes that were still needed when all synapses learnt last
    std::int32_t settled_ = std::numeric_limits<std::int32_t>::min() / 2;
    Bits greatest_ = 0;  ///< absolute value of a weight that was added, as bits
    Step base_ = 0;
    Step now_ = 0;
};

}  // namespace ranvier::connect
