#include <algorithm>
#include <string>
#include <utility>

#include "engine/agreement.hpp"
#include "engine/shard/weight_checks.hpp"
#include "engine/simulation/simulation_implementation.hpp"
#include "network/network_checks.hpp"

namespace ranvier::engine {

void Simulation::set(std::span<const network::NeuronChange> changes) {
    implementation_->neurons().set(changes, step());
    for (const network::NeuronChange& change : changes) {
        for (const auto& [name, values] : change.values) implementation_->note_set(change.population, name);
    }
}

void Simulation::Implementation::note_set(PopulationId id, std::string_view name) {
    const models::NeuronModel& model = *network.population(id).model;
    const auto is_it = [&](const auto& info) { return info.name == name; };
    if (std::ranges::any_of(model.parameters, is_it) && std::ranges::none_of(model.variables, is_it)) {
        parameters_set[id.value].emplace(name);
    }
}

void Simulation::set(PopulationId population, std::string_view name, std::span<const std::uint64_t> indices,
                     std::span<const double> values) {
    network::NeuronChange change{.population = population, .indices = {indices.begin(), indices.end()}, .values = {}};
    change.values.emplace(std::string(name), SharedArray(std::vector<double>(values.begin(), values.end())));
    set(std::span(&change, 1));
}

void Simulation::set_stimulus(std::size_t index, std::map<std::string, network::Values, std::less<>> values,
                              std::map<std::string, std::vector<double>, std::less<>> sequences,
                              std::optional<network::Values> weight,
                              const std::map<std::string, Step, std::less<>>& steps) {
    Implementation& self = *implementation_;
    if (index >= self.network.stimuli().size()) {
        throw ValueOutOfBoundsError({.object = "stimulus",
                                     .value = "number " + std::to_string(index),
                                     .bound = "there are " + std::to_string(self.network.stimuli().size()),
                                     .remedy = "use stimuli of the network that was built"});
    }
    // The description has the new values while stimuli are made of it, and keeps them where all processes have made theirs.
    network::StimulusSpec other;
    bool is_swapped = false;
    std::vector<std::pair<Shard*, ShardStimulus>> made;
    try {
        agree(*self.communicator, "setting stimulus " + network::quoted(self.network.stimuli()[index].name), [&] {
            other = self.network.changed_stimulus(index, std::move(values), std::move(sequences), std::move(weight),
                                                  step());
            for (const auto& [name, step] : steps) other.changed_at.insert_or_assign(name, step);
            self.network.swap_stimulus(index, other);
            is_swapped = true;
            for (const auto& shard : self.shards) {
                for (ShardStimulus& own : shard->stimuli().make(self.lowered, index)) {
                    made.emplace_back(shard.get(), std::move(own));
                }
            }
        });
    } catch (...) {
        if (is_swapped) self.network.swap_stimulus(index, other);
        throw;
    }
    for (auto& [shard, stimulus] : made) shard->stimuli().replace(stimulus);
}

void Simulation::set_sequences(PopulationId id, network::Sequences sequences) {
    Implementation& self = *implementation_;
    const std::string name = network::quoted(self.network.population(id).name);
    std::vector<std::unique_ptr<models::ParameterChange>> changes;
    network::Sequences changed;
    agree(*self.communicator, "setting lists of numbers of population " + name, [&] {
        changed = self.network.changed_sequences(id, std::move(sequences));
        const models::NeuronModel& model = *self.network.population(id).model;
        const std::vector<std::vector<double>> lists = network::ordered(model.sequences, changed);
        for (const auto& shard : self.shards) {
            const ShardGroup& group = shard->groups()[id];
            if (!group.neurons) continue;
            // Parameters may be others by now than those of the description.
            if (const auto reason =
                    network::conflict_of_sources(*model.stimulator, group.parameters, group.size, lists)) {
                throw ValueOutOfBoundsError({.object = "parameters of population " + name,
                                             .value = "",
                                             .bound = *reason,
                                             .remedy = "change both"});
            }
            changes.push_back(group.neurons->prepare_sequences(group.parameters, lists));
        }
    });
    for (const auto& change : changes) change->apply();
    self.network.swap_sequences(id, changed);
}

void Simulation::set_spike_times(PopulationId id, std::span<const std::uint64_t> units,
                                 std::span<const std::vector<double>> spike_times) {
    Implementation& self = *implementation_;
    const network::Population& population = self.network.population(id);
    network::SpikeLists lists;
    std::vector<std::unique_ptr<models::ParameterChange>> changes;
    agree(*self.communicator, "setting spike times of population " + network::quoted(population.name), [&] {
        if (!population.model->plays_spikes || spike_times.size() != units.size()) {
            throw ShapeError({.object = "lists of spike times of population " + network::quoted(population.name),
                              .value = std::to_string(spike_times.size()),
                              .bound = "there are " +
                                       std::to_string(population.model->plays_spikes ? units.size() : 0) +
                                       " units that play spikes",
                              .remedy = "give one list for each"});
        }
        lists = self.network.later_spikes(id, units, spike_times, step());
        // More spikes at once make larger sums of inputs, which must stay exact.
        network::Population changed = population;
        changed.spike_steps = lists;
        WeightRanges ranges = self.shards.front()->inputs().weights();
        for (std::uint32_t receptor = 0; receptor < ranges.size(); ++receptor) {
            ranges[receptor].most_inputs *= self.lowered.growth_of_bursts(changed, receptor);
            check_sums(ranges[receptor], "weights of synapses that such spikes reach");
        }
        changes = self.prepare_spikes(id, lists.all());
        for (const auto& shard : self.shards) shard->inputs().fit_sums(ranges);
    });
    self.play(id, std::move(lists), changes);
}

std::vector<std::unique_ptr<models::ParameterChange>> Simulation::Implementation::prepare_spikes(
    PopulationId id, std::span<const std::vector<Step>> lists) {
    std::vector<std::unique_ptr<models::ParameterChange>> changes;
    const std::uint64_t first = network.population(id).first.value;
    for (const auto& shard : shards) {
        std::vector<std::vector<Step>> own;
        const IdSequence& ids = shard->layout().share(id).ids;
        own.reserve(ids.size());
        for (std::uint64_t i = 0; i < ids.size(); ++i) own.push_back(lists[ids[i].value - first]);
        const ShardGroup& group = shard->groups()[id];
        if (!group.neurons) continue;
        changes.push_back(group.neurons->prepare_spikes(own));
        shard->make_room_for_output(changes.back()->largest_output());
    }
    return changes;
}

void Simulation::Implementation::play(PopulationId id, network::SpikeLists lists,
                                      std::span<const std::unique_ptr<models::ParameterChange>> changes) {
    for (const auto& change : changes) change->apply();
    network.swap_spikes(id, lists);
    lowered.count_bursts(id);
    spikes_set[id.value] = true;
}

}  // namespace ranvier::engine
