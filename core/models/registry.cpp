#include "ranvier/models/registry.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "models/source_group.hpp"

namespace ranvier::models {

namespace {

constexpr Registry<StimulatorModel> stimulators("stimulator", all_stimulator_models);
constexpr Registry<SynapseModel> synapses("synapse model", all_synapse_models);

/// The sources of stimulators.
std::span<const std::unique_ptr<const SourceModel>> source_models() {
    static const std::vector<std::unique_ptr<const SourceModel>> models = [] {
        std::vector<std::unique_ptr<const SourceModel>> made;
        for (const StimulatorModel* const stimulator : all_stimulator_models) {
            if (stimulator->emits_spikes()) made.push_back(std::make_unique<const SourceModel>(*stimulator));
        }
        return made;
    }();
    return models;
}

}  // namespace

std::span<const NeuronModel* const> neuron_models() {
    static const auto models = all_neuron_models();
    return models;
}

const NeuronModel& find_neuron_model(std::string_view name) {
    const auto built_in = neuron_models();
    std::vector<const NeuronModel*> models(built_in.begin(), built_in.end());
    for (const auto& source : source_models()) models.push_back(source.get());
    return Registry<NeuronModel>("neuron model", models).find(name);
}

std::span<const StimulatorModel* const> stimulator_models() { return stimulators.items(); }

const StimulatorModel& find_stimulator_model(std::string_view name) { return stimulators.find(name); }

std::span<const SynapseModel* const> synapse_models() { return synapses.items(); }

const SynapseModel& find_synapse_model(std::string_view name) { return synapses.find(name); }

}  // namespace ranvier::models
