#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ranvier/network/network.hpp"

/// Parts of a network that is described with contiguous parts of populations.
namespace ranvier::network {

/// Neurons [begin, end) of a population, as indices within it.
struct Selection {
    PopulationId population;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

inline Selection all_of(const Network& network, PopulationId population) {
    return {population, 0, network.population(population).size};
}

inline IdSequence ids_of(const Network& network, const Selection& selection) {
    const NeuronId first{network.population(selection.population).first.value + selection.begin};
    return {first, 1, selection.end - selection.begin};
}

inline PopulationId add_spike_generators(Network& network, std::string name, SpikeTimes spike_times) {
    const std::uint64_t size = spike_times.size();
    return network.create({.name = std::move(name),
                           .model = registered_model("spike_generator"),
                           .size = size,
                           .spike_times = std::move(spike_times)});
}

inline ProjectionId add_projection(Network& network, const Selection& sources, const Selection& targets,
                                   connect::RuleSpec rule, Values weight, Values delay, std::string name = {},
                                   double weight_bound = 0.0, SynapseSpec synapse = {}) {
    return network.connect({.name = std::move(name),
                            .sources = ids_of(network, sources),
                            .targets = ids_of(network, targets),
                            .rule = std::move(rule),
                            .weight = std::move(weight),
                            .delay = std::move(delay),
                            .weight_bound = weight_bound,
                            .synapse = std::move(synapse)});
}

inline void add_stimulus(Network& network, const Selection& targets, std::string_view stimulator,
                         NamedValues parameters, Sequences sequences = {}, Values weight = 1.0, double delay = 1.0) {
    network.stimulate({.model = &models::find_stimulator_model(stimulator),
                       .targets = ids_of(network, targets),
                       .parameters = std::move(parameters),
                       .sequences = std::move(sequences),
                       .weight = std::move(weight),
                       .delay = delay});
}

inline RecorderIndex add_spike_recorder(Network& network, const std::vector<Selection>& neurons) {
    std::vector<IdSequence> ids;
    ids.reserve(neurons.size());
    for (const Selection& selection : neurons) ids.push_back(ids_of(network, selection));
    return network.record_spikes({std::move(ids)});
}

/// @param indices within the population
inline RecorderIndex add_state_recorder(Network& network, PopulationId population,
                                        const std::vector<std::uint64_t>& indices, std::vector<std::string> variables,
                                        double interval) {
    const NeuronId first = network.population(population).first;
    std::vector<std::uint64_t> ids;
    ids.reserve(indices.size());
    for (const std::uint64_t index : indices) ids.push_back(first.value + index);
    const std::uint64_t size = ids.size();
    IdSequence neurons(std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size);
    if (size == 0) neurons = {first, 1, 0};
    return network.record_state(
        {.neurons = std::move(neurons), .variables = std::move(variables), .interval = interval});
}

}  // namespace ranvier::network
