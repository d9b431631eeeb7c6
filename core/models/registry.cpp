#include "models/registry.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/errors.hpp"

namespace ranvier::models {

namespace {

// Lists and no registration by static objects: their order is not known, and a linker may drop them.

constexpr std::array all_neuron_models{
    &iaf_cond_nmda, &iaf_psc_alpha, &iaf_psc_delta, &iaf_psc_exp, &interval_fire, &spike_generator,
};

constexpr std::array all_stimulator_models{
    &ac_generator,    &dc_generator,      &inhomogeneous_poisson_generator,
    &noise_generator, &poisson_generator, &step_current_generator,
};

constexpr std::array all_synapse_models{
    &bernoulli,    &quantal_stp, &static_synapse, &stdp,    &stdp_dopamine, &stdp_nn_pre_centered, &stdp_nn_restr,
    &stdp_nn_symm, &stdp_pl,     &stdp_triplet,   &tsodyks, &tsodyks2,      &vogels_sprekeler,
};

template <class Model, std::size_t count>
const Model& find(std::string_view kind, std::string_view name, const std::array<const Model*, count>& models) {
    std::array<std::string_view, count> names;
    for (std::size_t i = 0; i < count; ++i) {
        if (models[i]->name == name) return *models[i];
        names[i] = models[i]->name;
    }
    throw unknown_name(kind, name, names);
}

}  // namespace

std::span<const NeuronModel* const> neuron_models() { return all_neuron_models; }

const NeuronModel& find_neuron_model(std::string_view name) { return find("neuron model", name, all_neuron_models); }

std::span<const StimulatorModel* const> stimulator_models() { return all_stimulator_models; }

const StimulatorModel& find_stimulator_model(std::string_view name) {
    return find("stimulator", name, all_stimulator_models);
}

std::span<const SynapseModel* const> synapse_models() { return all_synapse_models; }

const SynapseModel& find_synapse_model(std::string_view name) {
    return find("synapse model", name, all_synapse_models);
}

}  // namespace ranvier::models
