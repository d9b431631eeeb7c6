#include <algorithm>
#include <numeric>
#include <span>

#include "base/tight_list.hpp"
#include "engine/shard/shard.hpp"
#include "engine/times.hpp"

namespace ranvier::engine {

Step Shard::stretch_end(Step first, Step epoch_end) const {
    if (stretch_rows_ == 1) return first;
    return std::min(epoch_end, window_end(first) - 1);
}

double Shard::advance(Step first, Step last) {
    begin_samples(first, last);
    record_seconds_ = 0.0;
    const std::size_t first_of_step = outbox_->size();
    const bool is_single = first == last;
    // A population may have synapses that learn on other shards only.
    const bool learns = !learning_.empty();
    for (Group& group : groups_) {
        if (group.neurons && (is_single || !group.learns || !learns)) advance_and_measure(group, first, last);
    }
    if (is_single) {
        if (invented_) invent_spikes(first);
        if (learns) tell_learning_tables(first, first_of_step);
        return record_seconds_;
    }
    // Weights that learn depend on the spikes of each step before.
    for (Step step = first; learns && step <= last; ++step) {
        if (step > first) arrive(step);
        const std::size_t begin = outbox_->size();
        for (Group& group : groups_) {
            if (group.neurons && group.learns) advance_and_measure(group, step, step);
        }
        tell_learning_tables(step, begin);
    }
    for (Step step = first; invented_ && step <= last; ++step) {
        invented_->append(step, static_cast<std::uint32_t>(step - epoch_begin_), *outbox_);
    }
    put_in_order(std::span(*outbox_).subspan(first_of_step), first, last);
    return record_seconds_;
}

/// Populations come one after the other, and blocks of their neurons too, each with its spikes in order: to count those of
/// each step takes a part of the time of sorting.
void Shard::put_in_order(std::span<comm::EmittedSpike> spikes, Step first, Step last) {
    if (spikes.size() < 2) return;
    const auto first_lag = static_cast<std::uint32_t>(first - epoch_begin_);
    lag_places_.assign(static_cast<std::size_t>(last - first) + 2, 0);
    for (const comm::EmittedSpike& spike : spikes) ++lag_places_[spike.lag - first_lag + 1];
    std::partial_sum(lag_places_.begin(), lag_places_.end(), lag_places_.begin());
    unordered_.clear();
    append(unordered_, std::span<const comm::EmittedSpike>(spikes));
    // Afterwards each place is where those of its lag end.
    for (const comm::EmittedSpike& spike : unordered_) spikes[lag_places_[spike.lag - first_lag]++] = spike;
    std::size_t begin = 0;
    for (const std::size_t end : std::span(lag_places_).first(lag_places_.size() - 1)) {
        const std::span<comm::EmittedSpike> of_lag = spikes.subspan(begin, end - begin);
        if (!std::ranges::is_sorted(of_lag, {}, &comm::EmittedSpike::local)) {
            std::ranges::stable_sort(of_lag, {}, &comm::EmittedSpike::local);
        }
        begin = end;
    }
}

Step Shard::silent_until(Step now) const {
    constexpr std::uint32_t few = 16;
    constexpr Step far_away = Step{1} << 60;
    Step last = far_away;
    for (const Group& group : groups_) {
        if (!group.neurons) continue;
        const Step own = now / group.stride;
        const bool may_be_silent = group.is_source || group.size <= few;
        const Step silent = may_be_silent ? group.neurons->silent_until(own) : own;
        // It fires at the ends of its own steps only.
        if (silent < far_away / group.stride) last = std::min(last, (silent + 1) * group.stride - 1);
    }
    return last;
}

void Shard::advance_and_measure(Group& group, Step first, Step last) {
    if (!measure_costs_) return advance_group(group, first, last);
    LapTimer timer;
    advance_group(group, first, last);
    group.update_seconds += timer.lap();
}

void Shard::advance_group(Group& group, Step first_step, Step last_step) {
    const Step first = group.stride == 1 ? first_step : (first_step + group.stride - 1) / group.stride;
    const Step last = group.stride == 1 ? last_step : last_step / group.stride;
    for (Step step = first; step <= last; ++step) prepare_inputs(group, step);
    if (first > last) return;
    if (first == last && !group.fires_repeatedly) return update_group(group, first);
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        const ReceptorInputs& inputs = receptors_[receptor];
        group_rows_[receptor] = {.data = inputs.of_step(0) + group.first_inputs[receptor],
                                 .stride = inputs.ring.slot_stride,
                                 .mask = inputs.ring.wide == nullptr ? inputs.ring.slot_mask : inputs.row_mask,
                                 .step_rows = group.stride};
    }
    group_spikes_.clear();
    find_observed_steps(group, first, last);
    Observer observer(*this, group);
    more_current_rows_.clear();
    for (std::size_t e = 1; e < group.currents.size(); ++e) more_current_rows_.push_back(current_rows(group, e));
    group.neurons->advance({.first = first,
                            .last = last,
                            .size = group.size,
                            .inputs = std::span(group_rows_).first(group.receptors),
                            .current = current_rows(group, 0),
                            .more_currents = more_current_rows_,
                            .spikes = &group_spikes_,
                            .room = fired_.data(),
                            .observed = observed_steps_,
                            .observer = &observer});
    make_room(*outbox_, outbox_->size() + group_spikes_.size());
    for (const models::GroupSpike& spike : group_spikes_) emit(group, spike.step * group.stride, spike.neuron);
    group.spikes += group_spikes_.size();
}

/// All spikes that arrive in this step have been delivered. What stimuli add comes after them, in the order of the
/// description, so that its rounding is the same however the work is cut.
void Shard::prepare_inputs(Group& group, Step own_step) {
    const Step step = own_step * group.stride;
    for (std::size_t e = 0; e < group.currents.size(); ++e) {
        if (!group.currents[e].empty()) std::fill_n(current_of(group, e, step), group.size, 0.0);
    }
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        ReceptorInputs& inputs = receptors_[receptor];
        const std::uint32_t first = group.first_inputs[receptor];
        const std::uint32_t count = group.inputs[receptor];
        if (group.stride > 1 && inputs.has_tables) inputs.gather(step, group.stride, first, count);
        if (inputs.ring.wide != nullptr) inputs.round_sums(step, first, count);
    }
    for (const std::size_t stimulus : group.stimuli) add_stimulus(group, stimuli_[stimulus], own_step, step);
}

models::StepRows Shard::current_rows(Group& group, std::size_t electrode) const {
    if (group.currents[electrode].empty()) return {};
    return {.data = group.currents[electrode].data(),
            .stride = group.size,
            .mask = static_cast<std::uint64_t>(stretch_rows_ - 1),
            .step_rows = group.stride};
}

void Shard::add_stimulus(Group& group, ShardStimulus& stimulus, Step own_step, Step step) {
    double* const out = stimulus.current ? current_of(group, stimulus.receptor, step) + (stimulus.offset - group.offset)
                                         : receptors_[stimulus.receptor].of_step(step) + stimulus.offset;
    if (stimulus.places.empty()) return stimulus.stimulus->add(own_step, out);
    // Adding -0.0 changes nothing, so that targets get the same bits as if they had no gaps between them.
    std::fill(stimulus.sums.begin(), stimulus.sums.end(), -0.0);
    stimulus.stimulus->add(own_step, stimulus.sums.data());
    for (std::size_t i = 0; i < stimulus.places.size(); ++i) out[stimulus.places[i]] += stimulus.sums[i];
}

void Shard::update_group(Group& group, Step own_step) {
    const Step step = own_step * group.stride;
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        group_inputs_[receptor] = receptors_[receptor].of_step(step) + group.first_inputs[receptor];
    }
    const auto current = [&](std::size_t electrode) {
        return group.currents[electrode].empty() ? nullptr : current_of(group, electrode, step);
    };
    more_currents_.clear();
    for (std::size_t e = 1; e < group.currents.size(); ++e) more_currents_.push_back(current(e));
    const std::size_t fired = group.neurons->update({.step = own_step,
                                                     .inputs = group_inputs_.data(),
                                                     .current = current(0),
                                                     .more_currents = more_currents_,
                                                     .spikes = fired_.data()});
    if (!group.recorders.empty()) sample(group, step, 0, group.size);
    if (fired == 0) return;
    make_room(*outbox_, outbox_->size() + fired);
    for (std::size_t i = 0; i < fired; ++i) emit(group, step, fired_[i]);
    group.spikes += fired;
}

void Shard::emit(const Group& group, Step step, std::uint32_t neuron) {
    const NeuronId id = layout_.share(group.population).ids[neuron];
    const auto lag = static_cast<std::uint32_t>(step - epoch_begin_);
    if (!invented_ || group.is_source) outbox_->push_back({id, group.offset + neuron, lag});
    remember(id, step);
}

void Shard::tell_learning_tables(Step step, std::size_t first_of_step) {
    fired_in_step_.clear();
    for (std::size_t i = first_of_step; i < outbox_->size(); ++i) {
        append(fired_in_step_, (*outbox_)[i].local);
    }
    for (connect::SpikeFollower* const synapses : spike_followers_) synapses->postsynaptic_spikes(step, fired_in_step_);
    for (const Follower& follower : followers_) follower.synapses->follow(step, reader_of(follower));
}

void Shard::invent_spikes(Step step) {
    const auto lag = static_cast<std::uint32_t>(step - epoch_begin_);
    const auto is_earlier = [lag](const comm::EmittedSpike& spike) { return spike.lag < lag; };
    const auto played = std::partition_point(outbox_->begin(), outbox_->end(), is_earlier) - outbox_->begin();
    const auto invented = static_cast<std::ptrdiff_t>(outbox_->size());
    invented_->append(step, lag, *outbox_);
    std::inplace_merge(outbox_->begin() + played, outbox_->begin() + invented, outbox_->end(),
                       [](const auto& a, const auto& b) { return a.local < b.local; });
}

void Shard::remember(NeuronId neuron, Step step) {
    for (SpikeRecorder& recorder : spike_recorders_) {
        const auto after = std::upper_bound(recorder.ranges.begin(), recorder.ranges.end(), neuron,
                                            [](NeuronId id, const auto& range) { return id < range.first; });
        const bool within = after != recorder.ranges.begin() && neuron < (after - 1)->second;
        const auto has = [neuron](const IdSequence& ids) { return ids.find(neuron).has_value(); };
        if (!within && std::ranges::none_of(recorder.sparse, has)) continue;
        recorder.spikes.push_back({step, neuron});
    }
}

void Shard::begin_samples(Step first, Step last) {
    for (StateRecorder& recorder : state_recorders_) {
        recorder.stretch_samples = recorder.steps.size();
        const Step first_sample = (first + recorder.interval - 1) / recorder.interval * recorder.interval;
        for (Step step = first_sample; step <= last; step += recorder.interval) recorder.steps.push_back(step);
        recorder.values.resize(recorder.steps.size() * recorder.variables * recorder.places.size());
    }
}

void Shard::find_observed_steps(const Group& group, Step first_own, Step last_own) {
    observed_steps_.clear();
    for (Step step = first_own; !group.recorders.empty() && step <= last_own; ++step) {
        const auto samples = [&](network::RecorderIndex recorder) {
            return step * group.stride % state_recorders_[recorder].interval == 0;
        };
        if (std::ranges::any_of(group.recorders, samples)) observed_steps_.push_back(step);
    }
}

void Shard::sample(const Group& group, Step step, std::size_t begin, std::size_t end) {
    LapTimer timer;
    for (const network::RecorderIndex index : group.recorders) {
        StateRecorder& recorder = state_recorders_[index];
        if (step % recorder.interval != 0) continue;
        const Step first = recorder.steps[recorder.stretch_samples];
        const std::size_t sample =
            recorder.stretch_samples + static_cast<std::size_t>((step - first) / recorder.interval);
        for (const StateRecorder::RecordedGroup& part : recorder.parts) {
            if (part.population != group.population) continue;
            const auto from = std::ranges::lower_bound(part.local, begin);
            const auto to = std::lower_bound(from, part.local.end(), end);
            for (std::size_t variable = 0; variable < recorder.variables; ++variable) {
                const std::size_t row = (sample * recorder.variables + variable) * recorder.places.size();
                const std::size_t place = part.first_place + static_cast<std::size_t>(from - part.local.begin());
                group.neurons->read(part.variables[variable], std::span(from, to),
                                    recorder.values.data() + row + place);
            }
        }
    }
    record_seconds_ += timer.lap();
}

}  // namespace ranvier::engine
