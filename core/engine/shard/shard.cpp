#include "engine/shard/shard.hpp"

#include <algorithm>

#include "base/tight_list.hpp"
#include "engine/shard/input_state.hpp"
#include "ranvier/engine/times.hpp"

namespace ranvier::engine {

Shard::Shard(const network::LoweredNetwork& network, const connect::ShardLayout& layout,
             const SimulationOptions& options, InstructionSet instruction_set, models::SharedParts& shared,
             parallel::MemoryAccount& account, std::uint32_t node, parallel::NodePool* pool)
    : memory_(account, node, pool),
      layout_(layout),
      inputs_(network, layout_, memory_[Component::inputs]),
      groups_(network, layout_, inputs_, options, instruction_set, shared, memory_[Component::neurons]),
      stimuli_(network, layout_, inputs_, groups_, instruction_set, memory_[Component::stimuli]),
      recorders_(network.network(), layout_, groups_, memory_[Component::recordings]),
      synapses_(network, groups_, inputs_, instruction_set, memory_[Component::spikes]),
      outboxes_(memory_[Component::spikes]),
      measure_costs_(options.measure_costs),
      group_inputs_(network.receptors()),
      group_rows_(network.receptors()),
      group_spikes_(memory_[Component::spikes]),
      fired_(groups_.largest_output(), memory_[Component::spikes]),
      fired_in_step_(memory_[Component::spikes]) {
    if (options.invented_rates.empty()) return;
    std::vector<InventedSpikes::Sender> senders;
    for (const ShardGroup& group : groups_) {
        const std::size_t place = options.invented_rates.size() == 1 ? 0 : group.population.value;
        const double spikes_per_step = options.invented_rates[place] * network.network().resolution() / 1000.0;
        if (!group.is_source) senders.push_back({group.population, spikes_per_step, group.stride});
    }
    invented_ =
        std::make_unique<InventedSpikes>(layout_, senders, network.network().seed(), memory_[Component::invention]);
}

void Shard::set_tables(connect::ShardTables tables, const WeightRanges& weights, std::uint32_t window,
                       Step most_steps) {
    synapses_.set_tables(std::move(tables), window);
    stretch_rows_ = groups_.advance_by_stretches() ? Step{window} : 1;
    inputs_.lay_out(synapses_.reach(), weights, window, stretch_rows_, most_steps);
    for (ShardGroup& group : groups_) group.make_currents(stretch_rows_, memory_[Component::inputs]);
}

void Shard::add_static_tables(connect::ShardTables tables, std::uint32_t window, Step most_steps, Step now) {
    struct Input {
        std::uint32_t receptor;
        Step step;
        std::uint32_t number;
        double sum;
    };
    std::vector<Input> kept;
    for (std::uint32_t receptor = 0; receptor < inputs_.receptors(); ++receptor) {
        if (!has_dynamic_inputs(synapses_, receptor)) continue;
        const Steps steps{.begin = now + 1, .end = now + 1 + inputs_.steps_ahead(receptor)};
        visit_dynamic_inputs(
            inputs_, synapses_, receptor, now, steps,
            [&](Step step, std::uint32_t number, double sum) { kept.push_back({receptor, step, number, sum}); });
    }
    synapses_.add_static(std::move(tables));
    inputs_.lay_out(synapses_.reach(), inputs_.weights(), window, stretch_rows_, most_steps);
    for (const Input& input : kept) inputs_.ring(input.receptor).add(input.step, input.number, input.sum);
}

Step Shard::stretch_end(Step first, Step epoch_end) const {
    if (stretch_rows_ == 1) return first;
    return std::min(epoch_end, synapses_.window_end(first) - 1);
}

double Shard::advance(Step first, Step last) {
    recorders_.begin_samples(first, last);
    const std::size_t first_of_step = outboxes_.present().size();
    const bool is_single = first == last;
    // Synapses of a population may learn on other shards only.
    const bool learns = synapses_.learn();
    for (ShardGroup& group : groups_) {
        if (group.neurons && (is_single || !group.learns || !learns)) advance_and_measure(group, first, last);
    }
    if (is_single) {
        if (invented_) invent_spikes(first);
        if (learns) pass_to_learning_synapses(first, first_of_step);
        return recorders_.seconds();
    }
    // Weights that learn depend on the spikes of each previous step.
    for (Step step = first; learns && step <= last; ++step) {
        if (step > first) synapses_.arrive(step);
        const std::size_t begin = outboxes_.present().size();
        for (ShardGroup& group : groups_) {
            if (group.neurons && group.learns) advance_and_measure(group, step, step);
        }
        pass_to_learning_synapses(step, begin);
    }
    for (Step step = first; invented_ && step <= last; ++step) {
        invented_->append(step, outboxes_.lag(step), outboxes_.present());
    }
    outboxes_.put_in_order(first_of_step, first, last);
    return recorders_.seconds();
}

void Shard::advance_and_measure(ShardGroup& group, Step first, Step last) {
    if (!measure_costs_) return advance_group(group, first, last);
    LapTimer timer;
    advance_group(group, first, last);
    group.update_seconds += timer.lap();
}

void Shard::advance_group(ShardGroup& group, Step first_step, Step last_step) {
    const Step first = group.stride == 1 ? first_step : (first_step + group.stride - 1) / group.stride;
    const Step last = group.stride == 1 ? last_step : last_step / group.stride;
    for (Step step = first; step <= last; ++step) prepare_inputs(group, step);
    if (first > last) return;
    if (first == last && !group.fires_repeatedly) return update_group(group, first);
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        group_rows_[receptor] = inputs_.rows(receptor, group.first_inputs[receptor], group.stride);
    }
    group_spikes_.clear();
    ShardRecorders::Observer observer(recorders_, group);
    more_current_rows_.clear();
    for (std::size_t e = 1; e < group.currents.size(); ++e) more_current_rows_.push_back(group.current_rows(e));
    group.neurons->advance({.first = first,
                            .last = last,
                            .size = group.size,
                            .inputs = std::span(group_rows_).first(group.receptors),
                            .current = group.current_rows(0),
                            .more_currents = more_current_rows_,
                            .spikes = &group_spikes_,
                            .room = fired_.data(),
                            .observed = recorders_.observed_steps(group, first, last),
                            .observer = &observer});
    make_room(outboxes_.present(), outboxes_.present().size() + group_spikes_.size());
    for (const models::GroupSpike& spike : group_spikes_) emit(group, spike.step * group.stride, spike.neuron);
    group.spikes += group_spikes_.size();
}

/// All spikes that arrive in this step have been delivered. Stimuli are added afterwards, in the order of the
/// description, so that rounding does not depend on the division of the work.
void Shard::prepare_inputs(ShardGroup& group, Step group_step) {
    const Step step = group_step * group.stride;
    for (std::size_t e = 0; e < group.currents.size(); ++e) {
        if (!group.currents[e].empty()) std::fill_n(group.current(e, step), group.size, 0.0);
    }
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        inputs_.complete(receptor, step, group.stride, group.first_inputs[receptor], group.inputs[receptor]);
    }
    for (const std::size_t index : group.stimuli) {
        ShardStimulus& stimulus = stimuli_[index];
        stimulus.add(group_step, stimulus.current
                                     ? group.current(stimulus.receptor, step) + (stimulus.offset - group.offset)
                                     : inputs_.of_step(stimulus.receptor, step) + stimulus.offset);
    }
}

void Shard::update_group(ShardGroup& group, Step group_step) {
    const Step step = group_step * group.stride;
    for (std::uint32_t receptor = 0; receptor < group.receptors; ++receptor) {
        group_inputs_[receptor] = inputs_.of_step(receptor, step) + group.first_inputs[receptor];
    }
    const auto current = [&](std::size_t electrode) {
        return group.currents[electrode].empty() ? nullptr : group.current(electrode, step);
    };
    more_currents_.clear();
    for (std::size_t e = 1; e < group.currents.size(); ++e) more_currents_.push_back(current(e));
    const std::size_t fired = group.neurons->update({.step = group_step,
                                                     .inputs = group_inputs_.data(),
                                                     .current = current(0),
                                                     .more_currents = more_currents_,
                                                     .spikes = fired_.data()});
    if (!group.recorders.empty()) recorders_.sample(group, step, 0, group.size);
    if (fired == 0) return;
    make_room(outboxes_.present(), outboxes_.present().size() + fired);
    for (std::size_t i = 0; i < fired; ++i) emit(group, step, fired_[i]);
    group.spikes += fired;
}

void Shard::emit(const ShardGroup& group, Step step, std::uint32_t neuron) {
    const NeuronId id = layout_.share(group.population).ids[neuron];
    if (!invented_ || group.is_source) outboxes_.present().push_back({id, group.offset + neuron, outboxes_.lag(step)});
    recorders_.remember(id, step);
}

void Shard::pass_to_learning_synapses(Step step, std::size_t first_of_step) {
    fired_in_step_.clear();
    for (std::size_t i = first_of_step; i < outboxes_.present().size(); ++i) {
        append(fired_in_step_, outboxes_.present()[i].local);
    }
    synapses_.follow(step, fired_in_step_);
}

void Shard::invent_spikes(Step step) {
    Outboxes::Box& outbox = outboxes_.present();
    const std::uint32_t lag = outboxes_.lag(step);
    const auto is_earlier = [lag](const comm::EmittedSpike& spike) { return spike.lag < lag; };
    const auto played = std::partition_point(outbox.begin(), outbox.end(), is_earlier) - outbox.begin();
    const auto invented = static_cast<std::ptrdiff_t>(outbox.size());
    invented_->append(step, lag, outbox);
    std::inplace_merge(outbox.begin() + played, outbox.begin() + invented, outbox.end(),
                       [](const auto& a, const auto& b) { return a.local < b.local; });
}

void Shard::begin_replay(std::vector<std::pair<Step, LocalIndex>> sent) {
    replay_.begin(std::move(sent));
    synapses_.set_static_only(true);
}

void Shard::replay(Step step) {
    synapses_.deliver(step);
    // Neurons have read the inputs of this step.
    inputs_.clear(step);
    replay_.send(step, [&](LocalIndex local) {
        outboxes_.present().push_back({layout_.id_of(local), local.value, outboxes_.lag(step)});
    });
}

void Shard::end_replay() {
    synapses_.set_static_only(false);
    replay_.end();
}

void Shard::reset_counts() {
    synapses_.reset_counts();
    groups_.reset_counts();
    visits_ = 0;
}

bool Shard::set_readout(network::RecorderIndex recorder, NeuronId neuron, std::span<const double> weights) {
    for (const ShardGroup& group : groups_) {
        const auto local = layout_.share(group.population).ids.find(neuron);
        if (!local) continue;
        return recorders_.set_readout(recorder, group, static_cast<std::uint32_t>(*local), weights);
    }
    return false;
}

}  // namespace ranvier::engine
