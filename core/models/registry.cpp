#include "models/registry.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "models/source_group.hpp"

namespace ranvier::models {

namespace {

// Lists and no registration by static objects: their order is not known, and a linker may drop them.

constexpr std::array all_neuron_models{
    &iaf_cond_nmda,   &iaf_psc_alpha, &iaf_psc_delta, &iaf_psc_exp,
    &ignore_and_fire, &interval_fire, &parrot_neuron, &spike_generator,
};

constexpr std::array all_stimulator_models{
    &ac_generator,
    &dc_generator,
    &gamma_generator,
    &inhomogeneous_gamma_generator,
    &inhomogeneous_poisson_generator,
    &mip_generator,
    &noise_generator,
    &poisson_generator,
    &pulsepacket_generator,
    &sinusoidal_gamma_generator,
    &sinusoidal_poisson_generator,
    &step_current_generator,
};

constexpr std::array all_synapse_models{
    &bernoulli,      &clopath,      &quantal_stp,      &saturating_nmda,
    &static_synapse, &stdp,         &stdp_dopamine,    &stdp_nn_pre_centered,
    &stdp_nn_restr,  &stdp_nn_symm, &stdp_pl,          &stdp_triplet,
    &tsodyks,        &tsodyks2,     &vogels_sprekeler,
};

template <class Model>
const Model& find(std::string_view kind, std::string_view name, std::span<const Model* const> models) {
    std::vector<std::string_view> names;
    for (const Model* const model : models) {
        if (model->name == name) return *model;
        names.push_back(model->name);
    }
    throw unknown_name(kind, name, names);
}

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
    return find("neuron model", name, std::span<const NeuronModel* const>(models));
}

std::span<const StimulatorModel* const> stimulator_models() { return all_stimulator_models; }

const StimulatorModel& find_stimulator_model(std::string_view name) {
    return find("stimulator", name, stimulator_models());
}

std::span<const SynapseModel* const> synapse_models() { return all_synapse_models; }

const SynapseModel& find_synapse_model(std::string_view name) { return find("synapse model", name, synapse_models()); }

}  // namespace ranvier::models
