#include "engine/simulation/fingerprint.hpp"

#include <algorithm>
#include <string>

#include "base/errors.hpp"
#include "network/fingerprint_mixer.hpp"

namespace ranvier::engine {

namespace {

// Each function names all fields of its struct, so that a new field does not compile until it is mixed in, or is listed
// as one that is not.

void add_synapse(network::Fingerprint& mixed, const network::SynapseSpec& synapse) {
    // Values are mixed in as those of all parameters.
    const auto& [model, parameters, modulators, owner] = synapse;
    mixed.add(synapse.is_static() ? "" : model->name);
    mixed.add(synapse.is_static() ? std::uint64_t{0} : model->own_fingerprint);
    mixed.add(synapse.values());
    for (const std::uint32_t i : synapse.own_parameters()) {
        mixed.add(std::uint64_t{i});
        mixed.add(synapse.own_values(i));
    }
    mixed.add(modulators);
}

void add_population(network::Fingerprint& mixed, const network::Population& population) {
    // The id is the place in the list; a step that was given is the same as an equal one that was not.
    const auto& [id, name, model, owner, first, size, parameters, variables, spike_steps, sequences, stride,
                 has_given_step] = population;
    mixed.add(name);
    mixed.add(model->name);
    mixed.add(model->own_fingerprint);
    mixed.add(first.value);
    mixed.add(size);
    // Cells with equal fingerprints can have different defaults.
    for (const models::ParameterInfo& info : model->parameters) mixed.add(info.default_value);
    mixed.add(parameters);
    mixed.add(variables);
    mixed.add(spike_steps.all());
    mixed.add(sequences);
    mixed.add(stride);
}

void add_projection(network::Fingerprint& mixed, const network::Projection& projection) {
    // The id is the place in the list.
    const auto& [id, name, sources, targets, rule, weight, delay, weight_bound, receptor, synapse, site] = projection;
    mixed.add(name);
    mixed.add(sources);
    mixed.add(targets);
    network::add_rule(mixed, rule);
    mixed.add(weight);
    mixed.add(delay);
    mixed.add(weight_bound);
    mixed.add(receptor);
    add_synapse(mixed, synapse);
    mixed.add(site);
}

void add_stimulus(network::Fingerprint& mixed, const network::StimulusSpec& stimulus) {
    const auto& [name, model, targets, parameters, sequences, weight, delay, receptor, site, changed_at] = stimulus;
    mixed.add(name);
    mixed.add(model->name);
    mixed.add(targets);
    mixed.add(parameters);
    mixed.add(sequences);
    mixed.add(weight);
    mixed.add(delay);
    mixed.add(receptor);
    mixed.add(site);
    mixed.add(changed_at);
}

void add_recorder(network::Fingerprint& mixed, const network::SpikeRecorderSpec& recorder) {
    const auto& [neurons] = recorder;
    mixed.add(neurons);
}

void add_recorder(network::Fingerprint& mixed, const network::StateRecorderSpec& recorder) {
    const auto& [neurons, variables, interval] = recorder;
    mixed.add(neurons);
    mixed.add(variables);
    mixed.add(interval);
}

std::uint64_t of_options(const SimulationOptions& options) {
    return network::fingerprint_of([&](network::Fingerprint& mixed) {
        mixed.add(options.precision);
        mixed.add(options.weight_precision);
        mixed.add(options.placement);
        mixed.add(options.ranks != nullptr);
        if (options.ranks) mixed.add(*options.ranks);
        mixed.add(options.stepping);
        mixed.add(options.exchange);
        mixed.add(options.notifications);
        mixed.add(options.intervals);
        mixed.add(options.spike_buffer);
        mixed.add(options.allgather_spikes);
        mixed.add(options.connection_buffer);
        mixed.add(options.sort_connections.has_value());
        mixed.add(options.sort_connections.value_or(true));
        mixed.add(options.keep_sources);
        mixed.add(options.wait_apart);
    });
}

/// What the n-th number of a fingerprint stands for.
std::string part_name(const network::Network& network, std::size_t part) {
    if (part == 0) return "resolution or seed";
    part -= 1;
    if (part < network.populations().size()) return "population '" + network.populations()[part].name + "'";
    part -= network.populations().size();
    if (part < network.projections().size()) return "projection '" + network.projections()[part].name + "'";
    part -= network.projections().size();
    if (part < network.stimuli().size()) return "stimulus '" + network.stimuli()[part].name + "'";
    part -= network.stimuli().size();
    if (part < network.spike_recorders().size()) return "spike recorder " + std::to_string(part);
    part -= network.spike_recorders().size();
    if (part < network.state_recorders().size()) return "state recorder " + std::to_string(part);
    return "options of the simulation";
}

}  // namespace

std::vector<std::uint64_t> fingerprint(const network::Network& network, const SimulationOptions& options) {
    std::vector<std::uint64_t> parts;
    parts.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) {
        mixed.add(network.resolution());
        mixed.add(network.seed());
    }));
    for (const network::Population& population : network.populations()) {
        parts.push_back(
            network::fingerprint_of([&](network::Fingerprint& mixed) { add_population(mixed, population); }));
    }
    for (const network::Projection& projection : network.projections()) {
        parts.push_back(
            network::fingerprint_of([&](network::Fingerprint& mixed) { add_projection(mixed, projection); }));
    }
    for (const network::StimulusSpec& stimulus : network.stimuli()) {
        parts.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) { add_stimulus(mixed, stimulus); }));
    }
    for (const network::SpikeRecorderSpec& recorder : network.spike_recorders()) {
        parts.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) { add_recorder(mixed, recorder); }));
    }
    for (const network::StateRecorderSpec& recorder : network.state_recorders()) {
        parts.push_back(network::fingerprint_of([&](network::Fingerprint& mixed) { add_recorder(mixed, recorder); }));
    }
    parts.push_back(of_options(options));
    return parts;
}

void compare_descriptions(comm::Communicator& communicator, const network::Network& network,
                          const SimulationOptions& options) {
    if (communicator.size() == 1) return;
    const std::vector<std::uint64_t> own = fingerprint(network, options);
    const auto fail = [&](std::string value, std::string bound) {
        throw RemoteError({.object = "network of rank " + std::to_string(communicator.rank().value),
                           .value = std::move(value),
                           .bound = std::move(bound),
                           .remedy = "let all ranks run the same script with the same input"});
    };
    std::uint64_t counts[6] = {network.populations().size(),     network.projections().size(),
                               network.stimuli().size(),         network.spike_recorders().size(),
                               network.state_recorders().size(), own.size()};
    static constexpr const char* names[6] = {"populations",     "projections",     "stimuli",
                                             "spike recorders", "state recorders", "parts"};
    std::uint64_t least[6];
    std::uint64_t greatest[6];
    std::copy(std::begin(counts), std::end(counts), least);
    std::copy(std::begin(counts), std::end(counts), greatest);
    communicator.reduce(least, comm::Reduction::least);
    communicator.reduce(greatest, comm::Reduction::greatest);
    for (std::size_t i = 0; i < 6; ++i) {
        if (least[i] == greatest[i]) continue;
        fail("one with " + std::to_string(counts[i]) + " " + names[i],
             "ranks have from " + std::to_string(least[i]) + " to " + std::to_string(greatest[i]));
    }
    std::vector<std::uint64_t> lowest = own;
    std::vector<std::uint64_t> highest = own;
    communicator.reduce(lowest, comm::Reduction::least);
    communicator.reduce(highest, comm::Reduction::greatest);
    for (std::size_t part = 0; part < own.size(); ++part) {
        if (lowest[part] == highest[part]) continue;
        fail("", "its " + part_name(network, part) + " is not the same on all ranks");
    }
}

}  // namespace ranvier::engine
