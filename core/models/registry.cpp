#include "models/registry.hpp"

#include <span>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "models/source_group.hpp"

namespace ranvier::models {

namespace {

constexpr Registry<StimulatorModel> stimulators("stimulator", all_stimulator_models);
constexpr Registry<SynapseModel> synapses("synapse model", all_synapse_models);

/// The sources that stimulators are.
const std::vector<NeuronModel>& source_models() {
    static const std::vector<NeuronModel> models = [] {
        std::vector<NeuronModel> made;
        for (const StimulatorModel* const stimulator : all_stimulator_models) {
            if (stimulator->emits_spikes()) made.push_back(sources_of(*stimulator));
        }
        return made;
    }();
    return models;
}

}  // namespace

std::span<const NeuronModel* const> neuron_models() { return all_neuron_models; }

const NeuronModel& find_neuron_model(std::string_view name) {
    std::vector<const NeuronModel*> models(all_neuron_models.begin(), all_neuron_models.end());
    for (const NeuronModel& model : source_models()) models.push_back(&model);
    return Registry<NeuronModel>("neuron model", models).find(name);
}

std::span<const StimulatorModel* const> stimulator_models() { return stimulators.items(); }

const StimulatorModel& find_stimulator_model(std::string_view name) { return stimulators.find(name); }

std::span<const SynapseModel* const> synapse_models() { return synapses.items(); }

const SynapseModel& find_synapse_model(std::string_view name) { return synapses.find(name); }

}  // namespace ranvier::models
