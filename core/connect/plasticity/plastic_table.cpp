#include "connect/plasticity/plastic_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "connect/tables/delivery_loops.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::connect {

template <class Target, class Real>
PlasticTable<Target, Real>::PlasticTable(TableColumns<Target, Real> columns, const Learning& learning,
                                         LearningRule<Real> rule, const PlasticTableArguments& arguments)
    : Base(std::move(columns)),
      neurons_(arguments.neurons_of_inputs()),
      learning_neurons_(std::span<const Target>(this->columns_.targets.span()), neurons_.span(),
                        arguments.local_neurons, arguments.spikes),
      learning_(learning),
      rule_(std::move(rule)),
      row_decay_(learning.presynaptic_steps, arguments.synapses),
      presynaptic_(learning.presynaptic_steps, arguments.synapses, true),
      postsynaptic_(learning.postsynaptic_steps, arguments.synapses, true),
      history_(learning_neurons_.size(), learning.postsynaptic_steps, learning.same_side_postsynaptic_steps,
               rule_.postsynaptic_trace_accumulates, arguments.spikes),
      last_(Base::rows(), arguments.synapses),
      traces_(Base::rows(), arguments.synapses),
      same_side_(Base::rows() * learning.same_side_presynaptic_steps.size(), arguments.synapses),
      synapse_traces_(centred() && !learning.per_synapse_times.any() ? this->size() : 0, arguments.synapses),
      waiting_(lists_of_waiting(learning.axonal(this->columns_.greatest_delay)), arguments.spikes),
      first_seen_(learning_neurons_.size(), arguments.spikes),
      place_seen_(learning_neurons_.size(), arguments.spikes),
      trace_seen_(learning_neurons_.size(), arguments.spikes),
      view_{first_seen_.data(), place_seen_.data(), trace_seen_.data()},
      visits_(arguments.spikes) {
    if (learning_neurons_.size() > History::most_neurons) {
        throw ValueOutOfBoundsError({.object = "number of neurons of one shard with synapses that learn",
                                     .value = std::to_string(learning_neurons_.size()),
                                     .bound = "must be at most " + std::to_string(History::most_neurons),
                                     .remedy = "use more threads or processes"});
    }
    for (std::uint32_t& neuron : neurons_.span()) neuron -= learning_neurons_.first();
    visits_.reserve(most_visits);
    for (const double steps : learning.same_side_presynaptic_steps)
        same_side_decays_.emplace_back(steps, arguments.synapses);
    std::fill_n(last_.data(), last_.size(), History::never);
    std::fill_n(traces_.data(), traces_.size(), 0.0);
    std::fill_n(same_side_.data(), same_side_.size(), 0.0);
    std::fill_n(synapse_traces_.data(), synapse_traces_.size(), Real{0});
    if (rule_.modulation) begin_modulation(arguments.synapses, arguments.spikes);
    if (learning.per_synapse_times.any()) begin_timed(arguments.synapses);
}

template <class Target, class Real>
PlasticTableMemory PlasticTable<Target, Real>::memory(const Learning& learning, const LearningRule<Real>& rule) {
    std::size_t constants = Decay<double>::bytes(learning.presynaptic_steps) +
                            Decay<Real>::bytes(learning.presynaptic_steps, true) +
                            Decay<Real>::bytes(learning.postsynaptic_steps, true);
    for (const double steps : learning.same_side_presynaptic_steps) constants += Decay<double>::bytes(steps);
    std::size_t of_history = Decay<double>::bytes(learning.postsynaptic_steps) + most_visits * sizeof(Visit);
    for (const double steps : learning.same_side_postsynaptic_steps) of_history += Decay<double>::bytes(steps);
    const std::size_t same_side = learning.same_side_postsynaptic_steps.size();
    std::size_t of_synapse = rule.pairing == Pairing::presynaptic_centred ? sizeof(Real) : 0;
    if (learning.per_synapse_times.any())
        of_synapse = timed_traces(learning.per_synapse_times, rule).count() * sizeof(Real);
    if (rule.modulation) {
        const ModulationConstants& modulation = *rule.modulation;
        of_synapse += sizeof(Real) + (std::is_same_v<Real, float> ? sizeof(Real) : 0);
        constants += Decay<double>::bytes(modulation.tau_eligibility / modulation.resolution) + StretchGains::bytes();
        of_history += Decay<double>::bytes(modulation.tau_transmitter / modulation.resolution);
    }
    return {.synapse_bytes = of_synapse,
            .input_bytes = sizeof(std::uint32_t),
            .row_bytes = sizeof(std::int32_t) + (1 + learning.same_side_presynaptic_steps.size()) * sizeof(double),
            .constant_bytes = constants,
            .spike_bytes = [of_history, same_side, fraction = learning.axonal_fraction](const ExpectedSpikes& spikes) {
                const std::size_t of_neuron = TargetNeurons::neuron_bytes() + History::neuron_bytes(same_side) +
                                              sizeof(std::int32_t) + sizeof(std::uint32_t) + sizeof(Real);
                return static_cast<double>(of_history) + spikes.from_first_to_last * static_cast<double>(of_neuron) +
                       bytes_to_learn_from(same_side, spikes) + bytes_waiting(fraction, spikes);
            }};
}

/// Memory of older spikes, and of pulses of a transmitter, that are kept until all synapses have learnt from them.
template <class Target, class Real>
double PlasticTable<Target, Real>::bytes_to_learn_from(std::size_t same_side_traces, const ExpectedSpikes& spikes) {
    const double of_neuron = spikes.of_neuron > 0.0 ? spikes.of_neuron * spikes.steps : 0.0;
    const auto most = static_cast<double>(most_older_spikes(static_cast<std::uint64_t>(spikes.synapses)));
    const double of_step = spikes.targets * spikes.of_neuron;
    double older = std::min(spikes.targets * expected_beyond(of_neuron, History::newest), most + of_step);
    double bytes = 0.0;
    if (spikes.pulses > 0.0) {
        // With many of either, all synapses learn from both.
        const double first = most + spikes.targets * static_cast<double>(History::newest);
        const double of_spikes = of_step > 0.0 ? first / of_step * spikes.pulses_per_step : spikes.pulses;
        if (spikes.pulses > most) older = std::min(older, most / spikes.pulses_per_step * of_step);
        bytes += sizeof(Concentration::Pulse) * std::min({spikes.pulses, most + 1.0, of_spikes});
    }
    return bytes + static_cast<double>(History::older_spike_bytes(same_side_traces)) * older;
}

/// Memory of spikes in transit to synapses, in lists used in turn by step, one for each run.
template <class Target, class Real>
double PlasticTable<Target, Real>::bytes_waiting(double axonal_fraction, const ExpectedSpikes& spikes) {
    const DelaySteps longest = axonal_steps(axonal_fraction, spikes.longest_delay);
    if (longest == 0) return 0.0;
    const DelaySteps shortest_delay = spikes.longest_delay - static_cast<DelaySteps>(spikes.delays) + 1;
    const double delays = longest - axonal_steps(axonal_fraction, shortest_delay) + 1.0;
    // A list holds the spikes of as many steps as there are delays.
    const double most = spikes.most_in_step > 0.0 ? (delays - 1.0 + spikes.most_in_step) / delays : 0.0;
    const double list = largest_list(spikes.of_neuron * spikes.rows * spikes.runs, spikes.of_process * delays, most);
    return static_cast<double>(sizeof(Waiting) * lists_of_waiting(longest)) * list;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::postsynaptic_spikes(Step step, std::span<const std::uint32_t> neurons) {
    now_ = step;
    for (const std::uint32_t neuron : neurons) {
        if (learning_neurons_.contains(neuron)) history_.add(neuron - learning_neurons_.first(), relative(step));
    }
}

template <class Target, class Real>
std::uint64_t PlasticTable<Target, Real>::accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows,
                                                 Step now, Step /*window_end*/, const InputRing& inputs) {
    std::uint64_t events = 0;
    // Estimate from the average row length.
    const double expected = static_cast<double>(rows.size()) * static_cast<double>(this->size()) /
                            static_cast<double>(std::max<std::size_t>(last_.size(), 1));
    const Run any = run_from(0, 0);
    const std::int32_t meets = relative(stamp) + any.shift();
    const TargetView<Real>* const view =
        stamp + any.axonal <= now ? shared_view(set, static_cast<std::uint64_t>(expected), meets - any.tie(), meets)
                                  : nullptr;
    constexpr std::size_t ahead = 32;
    for (const RowIndex row : rows.first(std::min(ahead, rows.size()))) prefetch_state(row);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size()) prefetch_state(rows[i + ahead]);
        const RowIndex row = rows[i];
        const Spike spike = next_spike(row, relative(stamp));
        for_each_run(row, [&](const Run& run) {
            events += run.end - run.begin;
            if (stamp + run.axonal <= now) {
                add_visit(set, spike, run, inputs, view);
            } else {
                append(waiting_at(stamp + run.axonal), {spike, run});
            }
        });
    }
    learn(set, view, true);
    return events;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::arrive(InstructionSet set, Step step, const InputRing& inputs) {
    auto& due = waiting_at(step);
    if (!due.empty()) {
        std::uint64_t events = 0;
        for (const Waiting& waiting : due) events += waiting.run.end - waiting.run.begin;
        const Run& any = due.front().run;
        const std::int32_t meets = due.front().spike.stamp + any.shift();
        const TargetView<Real>* const view = shared_view(set, events, meets - any.tie(), meets);
        for (const Waiting& waiting : due) add_visit(set, waiting.spike, waiting.run, inputs, view);
        learn(set, view, true);
        due.clear();
    }
    const bool has_many_pulses =
        modulated_ && modulated_->concentration.pulses().size() > modulated_->kept + most_older_spikes(this->size());
    if (has_many_pulses || history_.older_spikes() > kept_ + most_older_spikes(this->size()))
        settle(set, told_of(step));
    if (step - base_ > most_steps) move_base(set, step);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights,
                                             Step now, Step window_end, const InputRing& inputs) {
    settle(InstructionSet::baseline, now);
    if (!modulated_) return Base::set_weights(positions, weights, now, window_end, inputs);
    const auto waiting = first_waiting();
    for (std::size_t i = 0; i < positions.size(); ++i) {
        set_followed(positions[i], static_cast<Real>(weights[i]), waiting);
    }
}

template <class Target, class Real>
double PlasticTable<Target, Real>::greatest_added() const {
    return static_cast<double>(std::bit_cast<Real>(greatest_));
}

template <class Target, class Real>
void PlasticTable<Target, Real>::settle(InstructionSet set, Step step) {
    if (relative(step) <= settled_) return;
    const auto waiting = first_waiting();
    const std::int32_t end = relative(step) - static_cast<std::int32_t>(run_from(0, 0).dendritic());
    const TargetView<Real>* const view = shared_view(set, this->size(), end, end + 1);
    for (std::uint32_t row = 0; row < last_.size(); ++row) {
        for_each_run(RowIndex{row}, [&](const Run& run) {
            if (visits_.size() == most_visits) learn(set, view, false);
            visits_.push_back(pending(RowIndex{row}, run, run.begin, waiting, step));
            visits_.back().weights = this->columns_.weights.data() + run.begin;
            visits_.back().count = run.end - run.begin;
        });
    }
    learn(set, view, false);
    settled_ = relative(step);
    const DelaySteps longest = this->columns_.greatest_delay;
    history_.drop_older(settled_ - static_cast<std::int32_t>(longest - learning_.axonal(longest)));
    kept_ = history_.older_spikes();
    if (!modulated_) return;
    modulated_->concentration.drop_until(settled_);
    modulated_->kept = modulated_->concentration.pulses().size();
}

/// Adds a visit for a spike that arrives at the synapses of a run.
template <class Target, class Real>
void PlasticTable<Target, Real>::add_visit(InstructionSet set, const Spike& spike, const Run& run,
                                           const InputRing& inputs, const TargetView<Real>* view) {
    // A source that fires twice in a step reaches the same synapses twice.
    if (visits_.size() == most_visits || spike.last == spike.stamp) learn(set, view, true);
    // Later visits are prefetched by the previous block.
    if (listed_ < prefetched_first) prefetch(run);
    listed_ += run.end - run.begin;
    ring_ = inputs;
    visits_.push_back(arriving(spike, run, inputs));
    if (inputs.wide == nullptr) return;
    learn(set, view, true);
    const double to_grid = 0x1.8p52 * learning_.quantum;
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
        const double weight = (static_cast<double>(this->columns_.weights[i]) + to_grid) - to_grid;
        inputs.add(base_ + spike.stamp + delay_of(run, i), this->columns_.targets[i], weight);
    }
}

/// Lets the synapses of all listed visits learn.
template <class Target, class Real>
void PlasticTable<Target, Real>::learn(InstructionSet set, const TargetView<Real>* view, bool arrives) {
    LearnArguments<Real> given = arguments();
    given.visits = visits_;
    given.arrives = arrives;
    given.view = view;
    given.to_grid = 0x1.8p52 * learning_.quantum;
    if (arrives) given.greatest = &greatest_;
    if (modulated_) {
        for (const Visit& visit : visits_) learn_modulated(set, given, visit);
    } else if (timed_) {
        for (const Visit& visit : visits_) learn_timed(set, given, visit);
    } else {
        learn_visits(set, given);
    }
    visits_.clear();
    listed_ = 0;
}

template <class Target, class Real>
LearnArguments<Real> PlasticTable<Target, Real>::arguments() const {
    LearnArguments<Real> given;
    given.wide_targets = std::is_same_v<Target, std::uint32_t>;
    if (!neurons_.empty()) given.neurons = neurons_.data();
    given.first_neuron = first_neuron();
    given.wide_delays = std::holds_alternative<Buffer<std::uint16_t>>(this->columns_.delays);
    given.slot_stride = ring_.slot_stride;
    given.slot_mask = ring_.slot_mask;
    given.history = &history_;
    given.presynaptic = presynaptic_.view();
    given.postsynaptic = postsynaptic_.view();
    given.rule = &rule_;
    given.first_target = this->columns_.targets.data();
    for (std::size_t k = 0; k < rule_.per_synapse.parameter_count; ++k) {
        const auto column = rule_.per_synapse.parameters[k].column;
        if (column) given.parameters[k] = this->columns_.parameters[*column].data();
    }
    return given;
}

/// The shared view of targets, if computing it for all neurons pays off; otherwise null.
template <class Target, class Real>
const TargetView<Real>* PlasticTable<Target, Real>::shared_view(InstructionSet set, std::uint64_t events,
                                                                std::int32_t end, std::int32_t meets) {
    const bool same_delay = this->columns_.least_delay == this->columns_.greatest_delay;
    if (modulated_ || timed_ || !same_delay || rule_.pairing != Pairing::all || events < history_.neurons())
        return nullptr;
    look_up_targets(set, arguments(), end, meets, view_);
    return &view_;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::move_base(InstructionSet set, Step step) {
    settle(set, told_of(step));
    const Step by = told_of(step) - base_;
    history_.move_base(by);
    if (modulated_) modulated_->concentration.move_base(by);
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

// Runs of synapses that spikes reach together, and their pending changes.

/// Updates the traces of a row whose source has fired.
template <class Target, class Real>
auto PlasticTable<Target, Real>::next_spike(RowIndex row, std::int32_t stamp) -> Spike {
    const std::int32_t last = last_[row.value];
    double& trace = traces_[row.value];
    Spike spike{.row = row, .stamp = stamp, .last = last, .trace = static_cast<Real>(trace)};
    const auto after = [&](double before) { return rule_.presynaptic_trace_accumulates ? before + 1.0 : 1.0; };
    trace = after(last == History::never ? 0.0 : trace * row_decay_(std::int64_t{stamp} - last));
    for (std::size_t k = 0; k < same_side_decays_.size(); ++k) {
        double& same_side_trace = same_side_[row.value * same_side_decays_.size() + k];
        const double before =
            last == History::never ? 0.0 : same_side_trace * same_side_decays_[k](std::int64_t{stamp} - last);
        spike.same_side[k] = static_cast<Real>(before);
        same_side_trace = after(before);
    }
    last_[row.value] = stamp;
    return spike;
}

/// The synapses of a row from a position on with the same delay.
template <class Target, class Real>
auto PlasticTable<Target, Real>::run_from(std::uint64_t begin, std::uint64_t row_end) const -> Run {
    std::uint64_t end = row_end;
    DelaySteps delay = this->columns_.least_delay;
    if (delay != this->columns_.greatest_delay && begin < end && !has_whole_rows()) {
        std::visit(
            [&](const auto& delays) {
                const auto relative = delays[begin];
                for (end = begin + 1; end < row_end && delays[end] == relative;) ++end;
                delay += relative;
            },
            this->columns_.delays);
    }
    return {begin, end, delay, learning_.axonal(delay)};
}

/// The run of a synapse in the middle of a row.
template <class Target, class Real>
auto PlasticTable<Target, Real>::run_of(std::uint64_t row_begin, std::uint64_t position, std::uint64_t row_end) const
    -> Run {
    if (this->columns_.least_delay == this->columns_.greatest_delay || has_whole_rows())
        return run_from(row_begin, row_end);
    return std::visit(
        [&](const auto& delays) -> Run {
            const auto relative = delays[position];
            const auto* const first = delays.data() + row_begin;
            const auto [begin, end] = std::equal_range(first, delays.data() + row_end, relative);
            const DelaySteps delay = this->columns_.least_delay + relative;
            return {row_begin + static_cast<std::uint64_t>(begin - first),
                    row_begin + static_cast<std::uint64_t>(end - first), delay, learning_.axonal(delay)};
        },
        this->columns_.delays);
}

template <class Target, class Real>
template <class Call>
void PlasticTable<Target, Real>::for_each_run(RowIndex row, Call call) const {
    const std::uint64_t end = this->row_end(row);
    for (std::uint64_t begin = this->row_begin(row); begin < end;) {
        const Run run = run_from(begin, end);
        call(run);
        begin = run.end;
    }
}

/// Visit of the synapses of a run, from one on, by a presynaptic spike.
/// @param last previous spike of the source @param trace after that spike
template <class Target, class Real>
auto PlasticTable<Target, Real>::visit_of(const Run& run, std::uint64_t first, std::int32_t last, Real trace) const
    -> Visit {
    Visit visit{.targets = this->columns_.targets.data() + first, .trace = trace};
    if (centred() && !timed_) visit.synapse_traces = synapse_traces_.data() + first;
    if (has_whole_rows()) visit.delays = delays_from(first);
    visit.dendritic = static_cast<std::int32_t>(run.dendritic());
    visit.learnt = settled_ - visit.dendritic;
    visit.since = History::never;
    if (last == History::never) {
        // Learning starts with the first presynaptic spike.
        visit.learnt = std::numeric_limits<std::int32_t>::max();
    } else {
        visit.last = last + run.shift();
        visit.since = visit.last - run.tie();
        visit.learnt = std::max(visit.learnt, visit.since);
    }
    return visit;
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::arriving(const Spike& spike, const Run& run, const InputRing& inputs) -> Visit {
    Visit visit = visit_of(run, run.begin, spike.last, spike.trace);
    visit.weights = this->columns_.weights.data() + run.begin;
    visit.count = run.end - run.begin;
    visit.meets = spike.stamp + run.shift();
    visit.end = visit.meets - run.tie();
    visit.same_side = spike.same_side;
    if (centred() && !timed_) {
        visit.new_synapse_traces = synapse_traces_.data() + run.begin;
        if (spike.last != History::never) visit.left = presynaptic_(std::int64_t{spike.stamp} - spike.last);
    }
    if (inputs.wide != nullptr) return visit;
    const Step step = base_ + spike.stamp + run.delay;
    visit.inputs = (visit.delays == nullptr ? inputs.slot(step) : inputs.data) + first_neuron();
    visit.slot = static_cast<std::uint32_t>(step) & inputs.slot_mask;
    return visit;
}

/// Visit for the pending changes of the synapses of a run, from one on, by postsynaptic spikes that arrive up to the
/// end of a step.
/// @param waiting the first waiting spike of each run
template <class Target, class Real>
auto PlasticTable<Target, Real>::pending(RowIndex row, const Run& run, std::uint64_t first,
                                         const std::vector<const Waiting*>& waiting, Step step) const -> Visit {
    std::int32_t last = last_[row.value];
    auto trace = static_cast<Real>(traces_[row.value]);
    const auto found = std::lower_bound(waiting.begin(), waiting.end(), run.begin,
                                        [](const Waiting* one, std::uint64_t begin) { return one->run.begin < begin; });
    if (found != waiting.end() && (*found)->run.begin == run.begin) {
        last = (*found)->spike.last;
        trace = (*found)->spike.trace;
    }
    Visit visit = visit_of(run, first, last, trace);
    visit.end = relative(step) - static_cast<std::int32_t>(run.dendritic());
    visit.meets = visit.end + 1;
    return visit;
}

/// The first waiting spike of each run that has any, by position of the run.
template <class Target, class Real>
auto PlasticTable<Target, Real>::first_waiting() const -> std::vector<const Waiting*> {
    std::vector<const Waiting*> found;
    for (Step step = now_ + 1; step <= now_ + static_cast<Step>(waiting_.size()); ++step) {
        for (const Waiting& one : waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)]) {
            found.push_back(&one);
        }
    }
    // Spikes of one run and step are in one list, in order of arrival.
    std::sort(found.begin(), found.end(), [](const Waiting* a, const Waiting* b) {
        return std::tie(a->run.begin, a->spike.stamp, a) < std::tie(b->run.begin, b->spike.stamp, b);
    });
    found.erase(std::unique(found.begin(), found.end(),
                            [](const Waiting* a, const Waiting* b) { return a->run.begin == b->run.begin; }),
                found.end());
    return found;
}

// Tables with synapses modulated by a transmitter.

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_modulation(std::pmr::memory_resource* synapse_memory,
                                                  std::pmr::memory_resource* spike_memory) {
    const ModulationConstants& constants = *rule_.modulation;
    modulated_ = std::make_unique<Modulated>(
        Modulated{.concentration = Concentration(constants.tau_transmitter, constants.resolution, spike_memory),
                  .gains = StretchGains(constants, synapse_memory),
                  .decay = Decay<double>(constants.tau_eligibility / constants.resolution, synapse_memory),
                  .eligibility = Buffer<Real>(this->size(), synapse_memory),
                  .remainders = Buffer<Real>(std::is_same_v<Real, float> ? this->size() : 0, synapse_memory)});
    std::fill_n(modulated_->eligibility.data(), modulated_->eligibility.size(), Real{0});
    std::fill_n(modulated_->remainders.data(), modulated_->remainders.size(), Real{0});
}

template <class Target, class Real>
void PlasticTable<Target, Real>::modulate(Step step, std::uint64_t spikes) {
    modulated_->concentration.add(relative(step), spikes);
}

/// Additional arguments for a transmitter.
template <class Target, class Real>
auto PlasticTable<Target, Real>::modulated(const Visit& visit) const -> ModulatedArguments<Real> {
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    ModulatedArguments<Real> modulated{.constants = rule_.modulation.get(),
                                       .concentration = &modulated_->concentration,
                                       .gains = &modulated_->gains,
                                       .decay = modulated_->decay.view(),
                                       .eligibility = modulated_->eligibility.data() + first};
    if (!modulated_->remainders.empty()) modulated.remainders = modulated_->remainders.data() + first;
    modulated.first = visit.learnt == std::numeric_limits<std::int32_t>::max();
    modulated.seen = std::max(settled_ - visit.dendritic, visit.last);
    return modulated;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::learn_modulated(InstructionSet set, const LearnArguments<Real>& given,
                                                 const Visit& visit) {
    ModulatedArguments<Real> of_transmitter = modulated(visit);
    const auto first = of_transmitter.eligibility - modulated_->eligibility.data();
    of_transmitter.new_eligibility = modulated_->eligibility.data() + first;
    if (!modulated_->remainders.empty()) of_transmitter.new_remainders = modulated_->remainders.data() + first;
    modulated_run(set, given, visit, of_transmitter);
}

/// The current weight of a modulated synapse, without its bounds, in full precision.
template <class Target, class Real>
double PlasticTable<Target, Real>::followed_weight(std::uint64_t position,
                                                   const std::vector<const Waiting*>& waiting) const {
    const RowIndex row = this->row_of(position);
    Real weight = this->columns_.weights[position];
    Real remainder = 0;
    const Run run = run_of(this->row_begin(row), position, this->row_end(row));
    Visit visit = pending(row, run, position, waiting, now_);
    visit.weights = &weight;
    visit.count = 1;
    LearnArguments<Real> given = arguments();
    given.arrives = false;
    ModulatedArguments<Real> of_transmitter = modulated(visit);
    of_transmitter.new_remainders = of_transmitter.remainders == nullptr ? nullptr : &remainder;
    of_transmitter.to_end = true;
    of_transmitter.bounded = false;
    modulated_run(InstructionSet::baseline, given, visit, of_transmitter);
    return static_cast<double>(weight) + static_cast<double>(remainder);
}

/// Modulated tables store the weight after the last spike or pulse: subtract the change since then from the given
/// weight.
template <class Target, class Real>
void PlasticTable<Target, Real>::set_followed(std::uint64_t position, Real weight,
                                              const std::vector<const Waiting*>& waiting) {
    auto stored = static_cast<double>(weight);
    for (int attempt = 0; attempt < 3; ++attempt) {
        this->columns_.weights[position] = static_cast<Real>(stored);
        if (!modulated_->remainders.empty()) {
            modulated_->remainders[position] =
                static_cast<Real>(stored - static_cast<double>(this->columns_.weights[position]));
        }
        stored += static_cast<double>(weight) - followed_weight(position, waiting);
    }
}

// Tables with per-synapse time constants.

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_timed(std::pmr::memory_resource* memory) {
    timed_ = std::make_unique<Timed>();
    const auto kept = timed_traces(learning_.per_synapse_times, rule_);
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        Buffer<Real>& traces = (*timed_)[kind];
        traces = Buffer<Real>(kept[kind] ? this->size() : 0, memory);
        std::fill_n(traces.data(), traces.size(), Real{0});
    }
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::timed(const Visit& visit) const -> TimedArguments<Real> {
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    TimedArguments<Real> timed{.resolution = learning_.per_synapse_times.resolution};
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        const auto column = learning_.per_synapse_times.columns[kind];
        if (column) timed.time_constants[kind] = this->columns_.parameters[*column].data() + first;
        if (!(*timed_)[kind].empty()) timed.traces[kind] = (*timed_)[kind].data() + first;
    }
    timed.first = visit.learnt == std::numeric_limits<std::int32_t>::max();
    timed.counted = settled_ - visit.dendritic;
    if (!timed.first) timed.counted = std::max(timed.counted, visit.last - 1);
    return timed;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::learn_timed(InstructionSet set, const LearnArguments<Real>& given,
                                             const Visit& visit) {
    TimedArguments<Real> arguments = timed(visit);
    const auto first = static_cast<const Target*>(visit.targets) - this->columns_.targets.data();
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        if (!(*timed_)[kind].empty()) arguments.new_traces[kind] = (*timed_)[kind].data() + first;
    }
    learn_timed_visit(set, given, visit, arguments);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::serialize_traces(std::span<const std::uint64_t> positions, StateColumns& columns) {
    constexpr std::array<std::string_view, trace_kinds> names{
        "presynaptic_trace", "postsynaptic_trace", "same_side_presynaptic_trace", "same_side_postsynaptic_trace"};
    for (std::size_t kind = 0; kind < trace_kinds; ++kind) {
        if (!(*timed_)[kind].empty()) Base::serialize_column(columns, names[kind], positions, (*timed_)[kind]);
    }
}

// Reading weights of synapses that learn.

/// Copies of weights; the pending changes of their synapses are applied to many copies at a time.
template <class Target, class Real>
class PlasticTable<Target, Real>::WeightCopies {
   public:
    /// @param weights output, in the order of the requested positions
    WeightCopies(const PlasticTable& table, std::span<double> weights) : table_(table), weights_(weights) {
        // No reallocation: visits point into the copies.
        copies_.reserve(most);
        visits_.reserve(most_visits);
    }

    /// Adds consecutive synapses of a row; flushes the previous ones if the capacity is exceeded.
    void add_visit(Visit visit, std::uint64_t first, std::size_t count) {
        if (copies_.size() + count > most || visits_.size() == most_visits) give();
        visit.weights = copies_.data() + copies_.size();
        visit.count = count;
        visits_.push_back(visit);
        first_copy_ = copies_.size();
        first_ = first;
        const Real* const stored = table_.columns_.weights.data() + first;
        copies_.insert(copies_.end(), stored, stored + count);
    }
    /// Requests one of the synapses of the last visit. @param place index among the requested positions
    void add(std::uint64_t position, std::size_t place) {
        wanted_.push_back({place, first_copy_ + static_cast<std::size_t>(position - first_)});
    }
    void give() {
        table_.bring_up_to_date(visits_);
        for (const Wanted& one : wanted_) weights_[one.place] = static_cast<double>(copies_[one.copy]);
        visits_.clear();
        copies_.clear();
        wanted_.clear();
    }

    static constexpr std::size_t most = std::size_t{1} << 14;

   private:
    struct Wanted {
        std::size_t place;
        std::size_t copy;
    };
    const PlasticTable& table_;
    std::span<double> weights_;
    std::vector<Real> copies_;
    std::vector<Visit> visits_;
    std::vector<Wanted> wanted_;
    std::size_t first_copy_ = 0;  ///< of the last visit
    std::uint64_t first_ = 0;  ///< its first synapse
};

template <class Target, class Real>
void PlasticTable<Target, Real>::read_weights(std::span<const std::uint64_t> positions,
                                              std::span<double> weights) const {
    std::vector<std::size_t> order(positions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto position_of = [&](std::size_t place) { return positions[place]; };
    if (!std::ranges::is_sorted(positions)) std::ranges::sort(order, {}, position_of);
    const auto waiting = first_waiting();
    WeightCopies copies(*this, weights);
    for (std::size_t i = 0; i < order.size();) {
        const std::uint64_t first = positions[order[i]];
        const RowIndex row = this->row_of(first);
        const Run run = run_of(this->row_begin(row), first, this->row_end(row));
        const std::uint64_t most_end = std::min(run.end, first + WeightCopies::most);
        std::uint64_t end = first + 1;
        std::size_t next = i + 1;
        for (; next < order.size() && positions[order[next]] <= end && positions[order[next]] < most_end; ++next) {
            end = positions[order[next]] + 1;
        }
        copies.add_visit(pending(row, run, first, waiting, now_), first, static_cast<std::size_t>(end - first));
        for (; i < next; ++i) copies.add(positions[order[i]], order[i]);
    }
    copies.give();
}

/// Applies the pending changes to copies of weights.
template <class Target, class Real>
void PlasticTable<Target, Real>::bring_up_to_date(std::span<const Visit> visits) const {
    LearnArguments<Real> given = arguments();
    given.visits = visits;
    given.arrives = false;
    if (!modulated_ && !timed_) return learn_visits(InstructionSet::baseline, given);
    for (const Visit& visit : visits) {
        if (timed_) {
            learn_timed_visit(InstructionSet::baseline, given, visit, timed(visit));
            continue;
        }
        ModulatedArguments<Real> of_transmitter = modulated(visit);
        of_transmitter.to_end = true;
        modulated_run(InstructionSet::baseline, given, visit, of_transmitter);
    }
}

// Saving and loading the state of synapses that learn.

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_saving(Step now) {
    settle(InstructionSet::baseline, now);
    saved_ = waiting_spikes();
}

template <class Target, class Real>
void PlasticTable<Target, Real>::begin_loading(Step now) {
    base_ = now > most_steps ? now : 0;
    now_ = now;
    settled_ = relative(now);
    loads_ = true;
}

template <class Target, class Real>
void PlasticTable<Target, Real>::serialize_synapses(std::span<const std::uint64_t> positions, StateColumns& columns) {
    Base::serialize_synapses(positions, columns);
    if (timed_) serialize_traces(positions, columns);
    if (centred() && !timed_) {
        columns.serialize_list<Real>("presynaptic_trace", positions.size(),
                                     [&](std::size_t i) -> Real& { return synapse_traces_[positions[i]]; });
    }
    if (!modulated_) return;
    columns.serialize_list<Real>("eligibility", positions.size(),
                                 [&](std::size_t i) -> Real& { return modulated_->eligibility[positions[i]]; });
    if (modulated_->remainders.empty()) return;
    columns.serialize_list<Real>("weight_remainder", positions.size(),
                                 [&](std::size_t i) -> Real& { return modulated_->remainders[positions[i]]; });
}

template <class Target, class Real>
void PlasticTable<Target, Real>::serialize_row(RowIndex row, StateColumns& columns) {
    std::int64_t last = History::absolute(last_[row.value], base_);
    columns.serialize("last_spike", last);
    last_[row.value] = History::relative(last, base_);
    columns.serialize("trace", traces_[row.value]);
    for (std::size_t k = 0; k < same_side_decays_.size(); ++k) {
        columns.serialize("same_side_trace" + std::to_string(k), same_side_[row.value * same_side_decays_.size() + k]);
    }
    if (columns.loads()) {
        const std::size_t size = columns.serialize_size(0);
        for (std::size_t i = 0; i < size; ++i) {
            Saved one;
            one.spike.row = row;
            serialize_waiting(one.spike, columns);
            if (i > 0 && saved_.back().spike.stamp == one.spike.stamp) one.number = saved_.back().number + 1;
            saved_.push_back(one);
        }
        return;
    }
    const auto row_of_saved = [](const Saved& one) { return one.spike.row; };
    const auto spikes_of_row = std::ranges::equal_range(saved_, row, {}, row_of_saved);
    columns.serialize_size(spikes_of_row.size());
    for (Saved one : spikes_of_row) serialize_waiting(one.spike, columns);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::serialize_common(StateColumns& columns) {
    auto greatest = std::bit_cast<Real>(greatest_);
    columns.serialize("greatest_weight", greatest);
    greatest_ = std::max(greatest_, std::bit_cast<Bits>(greatest));
    // The same for all rows.
    if (modulated_) modulated_->concentration.serialize(base_, columns);
}

template <class Target, class Real>
void PlasticTable<Target, Real>::end_serialization() {
    if (!std::exchange(loads_, false)) {
        saved_ = {};
        return;
    }
    // A row may have been loaded several times, each time with the waiting spikes of some of its synapses.
    std::sort(saved_.begin(), saved_.end(), [](const Saved& a, const Saved& b) { return a.place() < b.place(); });
    const auto same = [](const Saved& a, const Saved& b) { return a.place() == b.place(); };
    saved_.erase(std::unique(saved_.begin(), saved_.end(), same), saved_.end());
    for (const Saved& one : saved_) wait(one.spike);
    saved_ = {};
    kept_ = history_.older_spikes();
    if (modulated_) modulated_->kept = modulated_->concentration.pulses().size();
}

/// A spike that has been sent waits for the runs that it has not reached.
template <class Target, class Real>
void PlasticTable<Target, Real>::wait(const Spike& spike) {
    for_each_run(spike.row, [&](const Run& run) {
        const Step arrival = base_ + spike.stamp + run.axonal;
        if (arrival > now_) append(waiting_at(arrival), {spike, run});
    });
}

template <class Target, class Real>
void PlasticTable<Target, Real>::serialize_waiting(Spike& spike, StateColumns& columns) const {
    std::int64_t stamp = History::absolute(spike.stamp, base_);
    std::int64_t last = History::absolute(spike.last, base_);
    columns.serialize_element("waiting_spike", stamp);
    columns.serialize_element("spike_before", last);
    columns.serialize_element("trace_before", spike.trace);
    for (std::size_t k = 0; k < same_side_decays_.size(); ++k) {
        columns.serialize_element("waiting_same_side_trace" + std::to_string(k), spike.same_side[k]);
    }
    spike.stamp = History::relative(stamp, base_);
    spike.last = History::relative(last, base_);
}

template <class Target, class Real>
auto PlasticTable<Target, Real>::waiting_spikes() const -> std::vector<Saved> {
    std::vector<Saved> found;
    for (Step step = now_ + 1; step <= now_ + static_cast<Step>(waiting_.size()); ++step) {
        for (const Waiting& one : waiting_[static_cast<std::uint64_t>(step) & (waiting_.size() - 1)]) {
            if (one.run.end == this->row_end(one.spike.row)) found.push_back({.spike = one.spike});
        }
    }
    std::ranges::stable_sort(found, {}, [](const Saved& one) { return one.spike.row; });
    return found;
}

// Learning on a device.

template <class Target, class Real>
LearningOnDevice* PlasticTable<Target, Real>::on_device() {
    const bool is_able =
        std::is_same_v<Real, float> && neurons_.empty() && this->columns_.numbering != RowNumbering::unsorted;
    return is_able ? this : nullptr;
}

template <class Target, class Real>
const LearningRule<float>& PlasticTable<Target, Real>::rule() const {
    if constexpr (std::is_same_v<Real, float>) {
        return rule_;
    } else {
        throw InternalError("a table in double precision on a device");
    }
}

template <class Target, class Real>
std::span<const float> PlasticTable<Target, Real>::parameter_of_rule(std::size_t parameter) const {
    return column_in_single(rule_.per_synapse.parameters[parameter].column);
}

template <class Target, class Real>
std::span<const float> PlasticTable<Target, Real>::time_constants(TraceKind kind) const {
    return column_in_single(learning_.per_synapse_times.of(kind));
}

template <class Target, class Real>
std::span<const float> PlasticTable<Target, Real>::column_in_single(
    [[maybe_unused]] std::optional<std::size_t> column) const {
    if constexpr (std::is_same_v<Real, float>) {
        if (column) return this->columns_.parameters[*column].span();
    }
    return {};
}

template <class Target, class Real>
void PlasticTable<Target, Real>::get_state(Step now, LearningState& state) {
    const auto never_fired = [](std::int32_t last) { return last == History::never; };
    if (std::ranges::all_of(last_.span(), never_fired)) settled_ = std::max(settled_, relative(now));
    settle(InstructionSet::baseline, now);
    const auto copy = [](const auto& from, auto& to) { to.assign(from.data(), from.data() + from.size()); };
    copy(this->columns_.weights, state.weights);
    copy(synapse_traces_, state.synapse_traces);
    for (std::size_t kind = 0; timed_ && kind < trace_kinds; ++kind) copy((*timed_)[kind], state.timed_traces[kind]);
    copy(traces_, state.traces);
    copy(same_side_, state.same_side);
    state.last.clear();
    for (const std::int32_t last : last_.span()) state.last.push_back(History::absolute(last, base_));
    state.waiting.clear();
    for (const Saved& one : waiting_spikes()) {
        state.waiting.push_back({.row = one.spike.row.value,
                                 .stamp = History::absolute(one.spike.stamp, base_),
                                 .last = History::absolute(one.spike.last, base_),
                                 .trace = static_cast<float>(one.spike.trace),
                                 .same_side = static_cast<float>(one.spike.same_side[0])});
    }
    if (modulated_) {
        copy(modulated_->eligibility, state.eligibility);
        copy(modulated_->remainders, state.remainders);
        state.pulses.clear();
        for (const Concentration::Pulse& pulse : modulated_->concentration.pulses()) {
            state.pulses.push_back({pulse.step + base_, pulse.after});
        }
    }
    state.greatest = static_cast<float>(std::bit_cast<Real>(greatest_));
    state.last_traces.clear();
    state.last_same_side.clear();
    state.spike_begin.assign(1, 0);
    state.steps.clear();
    state.after.clear();
    state.before.clear();
    const std::int32_t arrived = settled_ - static_cast<std::int32_t>(this->columns_.greatest_delay);
    for (std::uint32_t neuron = 0; neuron < learning_neurons_.size(); ++neuron) {
        state.last_traces.push_back(history_.last_trace(neuron));
        state.last_same_side.push_back(history_.last_same_side(neuron));
        history_.visit_newest(neuron, arrived, [&](std::int32_t step, Real after, Real before) {
            state.steps.push_back(History::absolute(step, base_));
            state.after.push_back(static_cast<float>(after));
            state.before.push_back(static_cast<float>(before));
        });
        state.spike_begin.push_back(static_cast<std::uint32_t>(state.steps.size()));
    }
}

template <class Target, class Real>
void PlasticTable<Target, Real>::set_state(Step now, const LearningState& state) {
    base_ = now > most_steps ? now : 0;
    now_ = now;
    settled_ = relative(now);
    std::ranges::copy(state.weights, this->columns_.weights.data());
    std::ranges::copy(state.synapse_traces, synapse_traces_.data());
    for (std::size_t kind = 0; timed_ && kind < trace_kinds; ++kind) {
        std::ranges::copy(state.timed_traces[kind], (*timed_)[kind].data());
    }
    std::ranges::copy(state.traces, traces_.data());
    std::ranges::copy(state.same_side, same_side_.data());
    for (std::size_t row = 0; row < last_.size(); ++row) last_[row] = History::relative(state.last[row], base_);
    if (modulated_) {
        std::ranges::copy(state.eligibility, modulated_->eligibility.data());
        std::ranges::copy(state.remainders, modulated_->remainders.data());
        std::vector<Concentration::Pulse> pulses;
        pulses.reserve(state.pulses.size());
        for (const LearningState::Pulse& pulse : state.pulses) pulses.push_back({relative(pulse.step), pulse.after});
        modulated_->concentration.set(pulses);
        modulated_->kept = pulses.size();
    }
    for (auto& some : waiting_) some.clear();
    for (const LearningState::Waiting& one : state.waiting) {
        const Spike spike{.row = RowIndex{one.row},
                          .stamp = relative(one.stamp),
                          .last = History::relative(one.last, base_),
                          .trace = static_cast<Real>(one.trace),
                          .same_side = {static_cast<Real>(one.same_side)}};
        wait(spike);
    }
    greatest_ = std::bit_cast<Bits>(static_cast<Real>(state.greatest));
    history_.clear();
    for (std::uint32_t neuron = 0; neuron < learning_neurons_.size(); ++neuron) {
        // Spikes of neurons that do not learn are not kept here.
        if (!learning_neurons_.contains(neuron + learning_neurons_.first())) continue;
        history_.set_last_traces(neuron, state.last_traces[neuron], state.last_same_side[neuron]);
        for (std::uint32_t i = state.spike_begin[neuron]; i < state.spike_begin[neuron + 1]; ++i) {
            const auto before = static_cast<Real>(state.before[i]);
            history_.add_older(
                neuron, i - state.spike_begin[neuron],
                {.step = History::relative(state.steps[i], base_), .after = static_cast<Real>(state.after[i])},
                std::span(&before, 1));
        }
    }
    kept_ = history_.older_spikes();
}

template <class Target, class Real>
std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<Target, Real> columns, const Learning& learning,
                                                 LearningRule<Real> rule, const PlasticTableArguments& arguments) {
    return std::make_unique<PlasticTable<Target, Real>>(std::move(columns), learning, std::move(rule), arguments);
}

template <class Real>
PlasticTableMemory plastic_table_memory(const Learning& learning, const LearningRule<Real>& rule) {
    return PlasticTable<std::uint16_t, Real>::memory(learning, rule);
}

template PlasticTableMemory plastic_table_memory(const Learning&, const LearningRule<float>&);
template PlasticTableMemory plastic_table_memory(const Learning&, const LearningRule<double>&);
template class PlasticTable<std::uint16_t, float>;
template class PlasticTable<std::uint32_t, float>;
template class PlasticTable<std::uint16_t, double>;
template class PlasticTable<std::uint32_t, double>;
template std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<std::uint16_t, float>, const Learning&,
                                                          LearningRule<float>, const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<std::uint32_t, float>, const Learning&,
                                                          LearningRule<float>, const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<std::uint16_t, double>, const Learning&,
                                                          LearningRule<double>, const PlasticTableArguments&);
template std::unique_ptr<SynapseTable> make_plastic_table(TableColumns<std::uint32_t, double>, const Learning&,
                                                          LearningRule<double>, const PlasticTableArguments&);

}  // namespace ranvier::connect
