#include "connect/plasticity/plastic_table.hpp"

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/errors.hpp"
#include "connect/plasticity/plastic_table_modulation.hpp"
#include "connect/plasticity/plastic_table_reading.hpp"
#include "connect/plasticity/plastic_table_state.hpp"
#include "connect/plasticity/plastic_table_timed.hpp"
#include "connect/plasticity/plastic_table_visits.hpp"
#include "connect/tables/delivery_loops.hpp"

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
      history_(learning_neurons_.size(), learning.postsynaptic_steps, learning.own_postsynaptic_steps,
               rule_.postsynaptic_trace_accumulates, arguments.spikes),
      last_(Base::rows(), arguments.synapses),
      traces_(Base::rows(), arguments.synapses),
      own_(Base::rows() * learning.own_presynaptic_steps.size(), arguments.synapses),
      synapse_traces_(centred() && !learning.own_times.any() ? this->size() : 0, arguments.synapses),
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
    for (const double steps : learning.own_presynaptic_steps) own_decays_.emplace_back(steps, arguments.synapses);
    std::fill_n(last_.data(), last_.size(), History::never);
    std::fill_n(traces_.data(), traces_.size(), 0.0);
    std::fill_n(own_.data(), own_.size(), 0.0);
    std::fill_n(synapse_traces_.data(), synapse_traces_.size(), Real{0});
    if (rule_.modulation) begin_modulation(arguments.synapses, arguments.spikes);
    if (learning.own_times.any()) begin_timed(arguments.synapses);
}

template <class Target, class Real>
PlasticTableMemory PlasticTable<Target, Real>::memory(const Learning& learning, const LearningRule<Real>& rule) {
    std::size_t constants = Decay<double>::bytes(learning.presynaptic_steps) +
                            Decay<Real>::bytes(learning.presynaptic_steps, true) +
                            Decay<Real>::bytes(learning.postsynaptic_steps, true);
    for (const double steps : learning.own_presynaptic_steps) constants += Decay<double>::bytes(steps);
    std::size_t of_history = Decay<double>::bytes(learning.postsynaptic_steps) + most_visits * sizeof(Visit);
    for (const double steps : learning.own_postsynaptic_steps) of_history += Decay<double>::bytes(steps);
    const std::size_t own = learning.own_postsynaptic_steps.size();
    std::size_t of_synapse = rule.pairing == Pairing::presynaptic_centred ? sizeof(Real) : 0;
    if (learning.own_times.any()) of_synapse = timed_traces(learning.own_times, rule).count() * sizeof(Real);
    if (rule.modulation) {
        const ModulationConstants& modulation = *rule.modulation;
        of_synapse += sizeof(Real) + (std::is_same_v<Real, float> ? sizeof(Real) : 0);
        constants += Decay<double>::bytes(modulation.tau_eligibility / modulation.resolution) + StretchGains::bytes();
        of_history += Decay<double>::bytes(modulation.tau_transmitter / modulation.resolution);
    }
    return {.synapse_bytes = of_synapse,
            .input_bytes = sizeof(std::uint32_t),
            .row_bytes = sizeof(std::int32_t) + (1 + learning.own_presynaptic_steps.size()) * sizeof(double),
            .constant_bytes = constants,
            .spike_bytes = [of_history, own, fraction = learning.axonal_fraction](const ExpectedSpikes& spikes) {
                const std::size_t of_neuron = TargetNeurons::neuron_bytes() + History::neuron_bytes(own) +
                                              sizeof(std::int32_t) + sizeof(std::uint32_t) + sizeof(Real);
                return static_cast<double>(of_history) + spikes.from_first_to_last * static_cast<double>(of_neuron) +
                       bytes_to_learn_from(own, spikes) + bytes_waiting(fraction, spikes);
            }};
}

/// Spikes beside the newest, and pulses of a transmitter, that are kept until all synapses have learnt from them.
template <class Target, class Real>
double PlasticTable<Target, Real>::bytes_to_learn_from(std::size_t own_traces, const ExpectedSpikes& spikes) {
    const double of_neuron = spikes.of_neuron > 0.0 ? spikes.of_neuron * spikes.steps : 0.0;
    const auto most = static_cast<double>(most_older_spikes(static_cast<std::uint64_t>(spikes.synapses)));
    const double of_step = spikes.targets * spikes.of_neuron;
    double older = std::min(spikes.targets * expected_beyond(of_neuron, History::newest), most + of_step);
    double bytes = 0.0;
    if (spikes.pulses > 0.0) {
        // When there are many of one, all synapses learn from both.
        const double first = most + spikes.targets * static_cast<double>(History::newest);
        const double of_spikes = of_step > 0.0 ? first / of_step * spikes.pulses_per_step : spikes.pulses;
        if (spikes.pulses > most) older = std::min(older, most / spikes.pulses_per_step * of_step);
        bytes += sizeof(Concentration::Pulse) * room_of_appended(std::min({spikes.pulses, most + 1.0, of_spikes}));
    }
    return bytes + static_cast<double>(History::older_spike_bytes(own_traces)) * room_of_list(older, older, 1.0);
}

/// Spikes on their way to the synapses, in lists that take turns from step to step, one for each run.
template <class Target, class Real>
double PlasticTable<Target, Real>::bytes_waiting(double axonal_fraction, const ExpectedSpikes& spikes) {
    const DelaySteps longest = axonal_steps(axonal_fraction, spikes.longest_delay);
    if (longest == 0) return 0.0;
    const DelaySteps shortest_delay = spikes.longest_delay - static_cast<DelaySteps>(spikes.delays) + 1;
    const double delays = longest - axonal_steps(axonal_fraction, shortest_delay) + 1.0;
    // A list has the spikes of as many steps as there are delays.
    const double most = spikes.most_in_step > 0.0 ? (delays - 1.0 + spikes.most_in_step) / delays : 0.0;
    const double list = room_of_list(spikes.of_neuron * spikes.rows * spikes.runs, spikes.of_process * delays, most);
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
    // Those of all rows of a step, if they are of the usual length.
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
    history_.forget_older(settled_ - static_cast<std::int32_t>(longest - learning_.axonal(longest)));
    kept_ = history_.older_spikes();
    if (!modulated_) return;
    modulated_->concentration.forget(settled_);
    modulated_->kept = modulated_->concentration.pulses().size();
}

/// Lists what a spike does to the synapses of a run at which it arrives.
template <class Target, class Real>
void PlasticTable<Target, Real>::add_visit(InstructionSet set, const Spike& spike, const Run& run,
                                           const InputRing& inputs, const TargetView<Real>* view) {
    // A source that fires twice in a step reaches the same synapses twice.
    if (visits_.size() == most_visits || spike.last == spike.stamp) learn(set, view, true);
    // Then, each block of synapses prefetches the next one.
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
    for (std::size_t k = 0; k < rule_.own.parameter_count; ++k) {
        const auto column = rule_.own.parameters[k].column;
        if (column) given.parameters[k] = this->columns_.parameters[*column].data();
    }
    return given;
}

/// What all synapses see of their targets, if it is worth to look at all of these; else null.
template <class Target, class Real>
const TargetView<Real>* PlasticTable<Target, Real>::shared_view(InstructionSet set, std::uint64_t events,
                                                                std::int32_t end, std::int32_t meets) {
    const bool same_delay = this->columns_.least_delay == this->columns_.greatest_delay;
    if (modulated_ || timed_ || !same_delay || rule_.pairing != Pairing::all || events < history_.neurons())
        return nullptr;
    look_at_targets(set, arguments(), end, meets, view_);
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
