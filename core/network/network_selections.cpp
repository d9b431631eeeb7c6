#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/counted.hpp"
#include "base/errors.hpp"
#include "network/network.hpp"
#include "network/network_checks.hpp"
#include "network/value_checks.hpp"

/// Parts of populations that are connected, stimulated and recorded, as ids.
namespace ranvier::network {

ProjectionId Network::connect(Selection sources, Selection targets, connect::RuleSpec rule, Values weight, Values delay,
                              std::string name, double weight_bound, std::string receptor, SynapseSpec synapse,
                              SiteSpec site) {
    IdSequence from = ids_of(sources, "sources");
    IdSequence to = ids_of(targets, "targets");
    if (name.empty()) name = population(sources.population).name + " to " + population(targets.population).name;
    return connect(std::move(from), std::move(to), std::move(rule), std::move(weight), std::move(delay),
                   std::move(name), weight_bound, std::move(receptor), std::move(synapse), std::move(site));
}

void Network::stimulate(Selection targets, std::string_view stimulator, NamedValues values,
                        std::map<std::string, std::vector<double>, std::less<>> sequences, Values weight, double delay,
                        std::string name, std::string receptor, SiteSpec site) {
    stimulate(ids_of(targets, "targets"), stimulator, std::move(values), std::move(sequences), std::move(weight), delay,
              std::move(name), std::move(receptor), std::move(site));
}

RecorderIndex Network::record_spikes(const std::vector<Selection>& neurons) {
    std::vector<IdSequence> ids;
    ids.reserve(neurons.size());
    for (const Selection& selection : neurons) ids.push_back(ids_of(selection, "recorded neurons"));
    return record_spikes(std::move(ids));
}

RecorderIndex Network::record_state(PopulationId id, const std::vector<std::uint64_t>& indices,
                                    std::vector<std::string> variables, double interval) {
    const Population& recorded = population(id);
    std::vector<std::uint64_t> ids;
    ids.reserve(indices.size());
    for (const std::uint64_t index : indices) {
        if (index >= recorded.size) {
            throw ValueOutOfBoundsError({.object = "index of a recorder of " + quoted(recorded.name),
                                         .value = std::to_string(index),
                                         .bound = there_are(recorded.size, "neuron"),
                                         .remedy = "use indices from 0"});
        }
        ids.push_back(recorded.first.value + index);
    }
    const std::uint64_t size = ids.size();
    IdSequence neurons(std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size);
    if (size == 0) neurons = {recorded.first, 1, 0};
    return record_state(std::move(neurons), std::move(variables), interval);
}

IdSequence Network::ids_of(const Selection& selection, std::string_view object) const {
    const Population& whole = population(selection.population);
    if (selection.begin <= selection.end && selection.end <= whole.size) {
        return {NeuronId{whole.first.value + selection.begin}, 1, selection.size()};
    }
    throw ValueOutOfBoundsError(
        {.object = std::string(object) + " in population " + quoted(whole.name),
         .value = "[" + std::to_string(selection.begin) + ", " + std::to_string(selection.end) + ")",
         .bound = "it has " + std::to_string(whole.size) + " units",
         .remedy = "select a range within [0, " + std::to_string(whole.size) + ")"});
}

void Network::check_ids(const IdSequence& ids, std::string_view object) const {
    if (ids.empty()) return;
    const std::uint64_t last = ids.back().value;
    const auto fail = [&](std::string value, std::string bound) {
        throw ValueOutOfBoundsError({.object = "ids of " + std::string(object),
                                     .value = std::move(value),
                                     .bound = std::move(bound),
                                     .remedy = "use populations of the same network"});
    };
    if (!ids.is_progression()) {
        const std::span<const std::uint64_t> list = ids.list();
        const auto place = std::ranges::adjacent_find(list, std::greater_equal<>());
        if (place != list.end()) fail(std::to_string(*place), "they must ascend, each once");
    } else if (ids.stride() == 0 || ids.size() > most_units || ids.stride() > most_units) {
        fail(std::to_string(ids.size()), "there are fewer units");
    }
    if (last >= unit_count()) fail(std::to_string(last), "there are " + std::to_string(unit_count()) + " units");
}

void Network::check_takes_input(const IdSequence& targets) const {
    for (const PopulationId id : populations_of(targets)) {
        const Population& population = this->population(id);
        if (!population.model->is_source) continue;
        throw ValueOutOfBoundsError({.object = "target population " + quoted(population.name),
                                     .value = "of the model " + quoted(population.model->name),
                                     .bound = "this model takes no input",
                                     .remedy = "use it as a source only"});
    }
}

std::vector<PopulationId> Network::populations_of(const IdSequence& neurons) const {
    std::vector<PopulationId> found;
    if (neurons.empty() && !neurons.is_progression()) return found;
    const NeuronId first = neurons[0];
    auto population = std::ranges::partition_point(
        populations_, [&](const Population& earlier) { return earlier.first.value + earlier.size <= first.value; });
    for (; population != populations_.end(); ++population) {
        if (population->first > (neurons.empty() ? first : neurons.back())) break;
        if (neurons.empty() || !part_of(population->id, neurons).empty()) found.push_back(population->id);
    }
    return found;
}

IdSequence Network::part_of(PopulationId id, const IdSequence& neurons) const {
    const Population& whole = population(id);
    return neurons.within(whole.first, whole.size);
}

std::string Network::name_of(const IdSequence& neurons) const {
    std::string name;
    for (const PopulationId id : populations_of(neurons)) name += (name.empty() ? "" : " + ") + population(id).name;
    return name.empty() ? "nothing" : name;
}

}  // namespace ranvier::network
