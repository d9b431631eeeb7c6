#pragma once

#include <cstdint>
#include <memory>

#include "models/neuron.hpp"
#include "models/stimulator.hpp"

/// Populations of sources: neurons that fire the spikes which a stimulator would give a target with a weight of 1 and no
/// delay. So a stimulator is described once, and serves both ways: the trains of a stimulus act on one target each, those of
/// sources on all that are connected to them.
namespace ranvier::models {

/// Spikes of a source in a step that its rate may give on average. The probability of more than `most_spikes_of_sources` is
/// then below 2^-200, beyond what the random numbers of a Poisson process can give.
inline constexpr double greatest_mean_of_sources = 16.0;
inline constexpr std::uint32_t most_spikes_of_sources = 127;

std::unique_ptr<NeuronGroup> create_sources(const GroupArguments& arguments);

/// The sources of a stimulator that emits spikes, as a neuron model.
constexpr NeuronModel sources_of(const StimulatorModel& stimulator) {
    NeuronModel model{.name = stimulator.name,
                      .summary = stimulator.summary,
                      .equations = stimulator.equations,
                      .reference = stimulator.reference,
                      .parameters = stimulator.parameters,
                      .variables = {},
                      .receptors = {},
                      .weight_unit = ""};
    model.is_source = true;
    model.stimulator = &stimulator;
    model.sequences = stimulator.sequences;
    model.most_spikes = stimulator.most_spikes > 0 ? stimulator.most_spikes : most_spikes_of_sources;
    model.takes_current = false;
    model.create = create_sources;
    return model;
}

}  // namespace ranvier::models
