#pragma once

#include <array>

#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"
#include "ranvier/models/synapse.hpp"

/// All models, each defined in the file of its name. A new one is declared here and added to the list below.
namespace ranvier::models {

extern const NeuronModel& iaf_cond_nmda;
extern const NeuronModel& iaf_psc_alpha;
extern const NeuronModel& iaf_psc_delta;
extern const NeuronModel& iaf_psc_exp;
extern const NeuronModel& ignore_and_fire;
extern const NeuronModel& interval_fire;
extern const NeuronModel& parrot_neuron;
extern const NeuronModel& spike_generator;

extern const StimulatorModel ac_generator;
extern const StimulatorModel dc_generator;
extern const StimulatorModel gamma_generator;
extern const StimulatorModel inhomogeneous_gamma_generator;
extern const StimulatorModel inhomogeneous_poisson_generator;
extern const StimulatorModel mip_generator;
extern const StimulatorModel noise_generator;
extern const StimulatorModel poisson_generator;
extern const StimulatorModel pulsepacket_generator;
extern const StimulatorModel sinusoidal_gamma_generator;
extern const StimulatorModel sinusoidal_poisson_generator;
extern const StimulatorModel step_current_generator;

extern const SynapseModel bernoulli;
extern const SynapseModel clopath;
extern const SynapseModel quantal_stp;
extern const SynapseModel saturating_nmda;
extern const SynapseModel static_synapse;
extern const SynapseModel stdp;
extern const SynapseModel stdp_dopamine;
extern const SynapseModel stdp_nn_pre_centered;
extern const SynapseModel stdp_nn_restr;
extern const SynapseModel stdp_nn_symm;
extern const SynapseModel stdp_pl;
extern const SynapseModel stdp_triplet;
extern const SynapseModel tsodyks;
extern const SynapseModel tsodyks2;
extern const SynapseModel vogels_sprekeler;

/// By name ascending.
inline auto all_neuron_models() {
    return std::array{
        &iaf_cond_nmda,   &iaf_psc_alpha, &iaf_psc_delta, &iaf_psc_exp,
        &ignore_and_fire, &interval_fire, &parrot_neuron, &spike_generator,
    };
}

inline constexpr std::array all_stimulator_models{
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

inline constexpr std::array all_synapse_models{
    &bernoulli,      &clopath,      &quantal_stp,      &saturating_nmda,
    &static_synapse, &stdp,         &stdp_dopamine,    &stdp_nn_pre_centered,
    &stdp_nn_restr,  &stdp_nn_symm, &stdp_pl,          &stdp_triplet,
    &tsodyks,        &tsodyks2,     &vogels_sprekeler,
};

}  // namespace ranvier::models
