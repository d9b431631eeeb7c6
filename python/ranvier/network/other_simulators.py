"""Names that users know from other simulators, chiefly NEST, and what takes their place here.

The lists of models that are absent stand here and nowhere else: who adds a model takes its name out.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ABSENT_MODELS", "IN_PLACE_OF_CALLS", "IN_PLACE_OF_MODELS"]

_SYNAPSES = (
    "`ranvier models` lists the synapse models: net.connect(..., weight=..., delay=..., synapse=rv.stdp_pl(...))"
)
_LEARNING = "write net.connect(..., weight=..., delay=..., synapse=rv.{}(...))"
_EQUATIONS = (
    'write its equations: rv.neuron("dv/dt = ... : mV", threshold="v >= V_th", reset="v = V_reset", ...); or take one '
    "of the models that `ranvier models` lists, for example iaf_psc_exp"
)
_NOT_EQUATIONS = (
    "take one of the models that `ranvier models` lists, for example iaf_psc_exp, or write equations of a simpler "
    'neuron: rv.neuron("dv/dt = ... : mV", ...)'
)
_CONTINUOUS = (
    "synapses transmit spikes only: neurons cannot be coupled by gap junctions or rates; the compartments of one "
    "rv.Cell are coupled"
)
_WITHOUT_GAPS = "write rv.{}, which has no gap junctions: neurons cannot be coupled by them"
_STIMULATORS = "`ranvier models` lists the stimulators; net.create_spike_generators(times) plays any spikes"

_ABSENT: tuple[tuple[str, str], ...] = (
    # Synapses.
    (
        "stdp_facetshw_synapse_hom "
        "urbanczik_synapse jonke_synapse eprop_synapse "
        "ht_synapse "
        "STDPMechanism SpikePairRule",
        _SYNAPSES,
    ),
    (
        "gap_junction GapJunction rate_connection_instantaneous rate_connection_delayed diffusion_connection",
        _CONTINUOUS,
    ),
    ("hh_psc_alpha_gap", _WITHOUT_GAPS.format("hh_psc_alpha")),
    ("hh_cond_beta_gap_traub", _WITHOUT_GAPS.format("hh_cond_exp_traub")),
    # Neurons that equations can describe.
    (
        "iaf_cond_exp_sfa_rr",
        _EQUATIONS,
    ),
    # Neurons with compartments, times between steps, states instead of spikes, or their own plasticity.
    (
        "iaf_cond_alpha_mc iaf_chxk_2008 iaf_tum_2000 iaf_psc_exp_htum iaf_psc_exp_ps iaf_psc_alpha_ps "
        "iaf_psc_delta_ps iaf_psc_exp_ps_lossless ht_neuron gif_pop_psc_exp pp_cond_exp_mc_urbanczik cm_default "
        "mcculloch_pitts_neuron ginzburg_neuron erfc_neuron lin_rate_ipn tanh_rate_ipn siegert_neuron",
        _NOT_EQUATIONS,
    ),
    # What stimulates.
    (
        "poisson_generator_ps step_rate_generator",
        _STIMULATORS,
    ),
)

ABSENT_MODELS: Mapping[str, str] = {name: remedy for names, remedy in _ABSENT for name in names.split()}
"""What there is, by the name of a model that is absent."""

_RECORDER = "write net.record_spikes(neurons), then sim.spikes(recorder)"
_STATE = 'write net.record_state(neurons, ["V_m"], interval=1.0), then sim.state(recorder)'

IN_PLACE_OF_MODELS: Mapping[str, str] = {
    "spike_recorder": _RECORDER,
    "spike_detector": _RECORDER,
    "SpikeMonitor": _RECORDER,
    "multimeter": _STATE,
    "voltmeter": _STATE,
    "StateMonitor": _STATE,
    "weight_recorder": "write net.record_weights(projection, interval), then sim.weights(recorder)",
    "spike_generator": "write net.create_spike_generators(spike_times), which is connected like neurons",
    "SpikeGeneratorGroup": "write net.create_spike_generators(spike_times), which is connected like neurons",
    "SpikeSourceArray": "write net.create_spike_generators(spike_times), which is connected like neurons",
    "SpikeSourcePoisson": "write net.create(rv.poisson_generator(rate=...), size), which is connected like neurons",
    "SpikeSourceGamma": "write net.create(rv.gamma_generator(rate=..., shape=...), size), connected like neurons",
    "PoissonGroup": "write net.create(rv.poisson_generator(rate=...), size), which is connected like neurons",
    "gamma_sup_generator": "write rv.gamma_generator(rate=..., shape=...), a process for each target or source",
    "ppd_sup_generator": "write rv.gamma_generator(rate=..., dead_time=...), a process for each target or source",
    "spike_train_injector": "write net.create_spike_generators(spike_times), which is connected like neurons",
    "spike_dilutor": "connect sources to parrot_neuron with synapse=rv.bernoulli(p_transmit=...)",
    "parrot_neuron_ps": "write parrot_neuron",
    "PoissonInput": "write net.stimulate(targets, rv.poisson_generator(rate=...), weight=...)",
    "static_synapse_hom_w": "synapses are static: write net.connect(..., weight=..., delay=...)",
    "stdp_synapse": _LEARNING.format("stdp"),
    "stdp_synapse_hom": _LEARNING.format("stdp"),
    "stdp_pl_synapse_hom": _LEARNING.format("stdp_pl"),
    "stdp_nn_symm_synapse": _LEARNING.format("stdp_nn_symm"),
    "stdp_nn_restr_synapse": _LEARNING.format("stdp_nn_restr"),
    "stdp_nn_pre_centered_synapse": _LEARNING.format("stdp_nn_pre_centered"),
    "stdp_triplet_synapse": _LEARNING.format("stdp_triplet"),
    "stdp_dopamine_synapse": "write net.connect(..., synapse=rv.stdp_dopamine(dopamine=population, ...))",
    "volume_transmitter": "write net.connect(..., synapse=rv.stdp_dopamine(dopamine=population, ...))",
    "vogels_sprekeler_synapse": _LEARNING.format("vogels_sprekeler"),
    "iaf_wang_2002_exact": "write rv.iaf_wang_2002, and connect NMDA receptors with synapse=rv.saturating_nmda(...)",
    "clopath_synapse": _LEARNING.format("clopath"),
    "bernoulli_synapse": _LEARNING.format("bernoulli"),
    "quantal_stp_synapse": _LEARNING.format("quantal_stp"),
    "tsodyks_synapse": _LEARNING.format("tsodyks"),
    "tsodyks_synapse_hom": _LEARNING.format("tsodyks"),
    "tsodyks2_synapse": _LEARNING.format("tsodyks2"),
    "TsodyksMarkramSynapse": _LEARNING.format("tsodyks"),
    "NeuronGroup": "write net.create(rv.neuron(equations, threshold=..., reset=..., parameters=...), size)",
    "Equations": "equations are a text: rv.neuron(equations, threshold=..., reset=..., parameters=...)",
    "SpatialNeuron": "write rv.Cell(morphology, ...), then net.create(cell, size)",
    "IF_curr_exp": "write rv.iaf_psc_exp",
    "IF_curr_alpha": "write rv.iaf_psc_alpha",
    "IF_curr_delta": "write rv.iaf_psc_delta",
    "IF_cond_exp": "write rv.iaf_cond_exp",
    "IF_cond_alpha": "write rv.iaf_cond_alpha",
    "EIF_cond_exp_isfa_ista": "write rv.aeif_cond_exp",
    "EIF_cond_alpha_isfa_ista": "write rv.aeif_cond_alpha",
    "GIF_cond_exp": "write rv.gif_cond_exp(stc=3, sfa=3)",
    "HH_cond_exp": "write rv.hh_cond_exp_traub",
    "Hodgkin_Huxley": "write rv.hh_psc_alpha, or rv.hh_cond_exp_traub",
    "Izhikevich": "write rv.izhikevich",
    "AdEx": "write rv.aeif_psc_exp, or rv.aeif_cond_exp",
    "inhomogeneous_poisson": "write rv.inhomogeneous_poisson_generator",
}
"""What to do, by the name of a model or a device for which there is something else here."""

IN_PLACE_OF_CALLS: Mapping[str, str] = {
    "Create": "write net = rv.Network(), then net.create(model, size)",
    "Connect": "write net.connect(sources, targets, rule, weight=..., delay=...)",
    "Disconnect": "synapses cannot be taken away: build a network without them",
    "Simulate": "write sim = rv.Simulation(net), then sim.run(duration)",
    "Run": "write sim.run(duration)",
    "Prepare": "write sim = rv.Simulation(net)",
    "Cleanup": "nothing is to be cleaned up: drop the simulation",
    "ResetKernel": "nothing is global: make another rv.Network()",
    "SetKernelStatus": "write rv.Network(resolution=..., seed=...) and rv.Simulation(net, threads=...)",
    "GetKernelStatus": "ask the network or the simulation: net.resolution, sim.time, sim.threads",
    "set": "write net.set(population, ...) before a simulation is built, sim.set(population, ...) while it runs",
    "SetStatus": "write net.set(population, ...) before a simulation is built, sim.set(population, ...) while it runs",
    "SetDefaults": "give values to each net.create(...), or make a model once: model = rv.iaf_psc_exp(tau_m=...)",
    "CopyModel": "give values to each net.create(...), or make a model once: model = rv.iaf_psc_exp(tau_m=...)",
    "GetStatus": "write sim.get(population, names)",
    "GetDefaults": "write rv.iaf_psc_exp(), or run `ranvier models iaf_psc_exp`",
    "GetConnections": "write sim.connections(sources, targets)",
    "SynapseCollection": "write sim.connections(sources, targets)",
    "NodeCollection": "net.create(...) returns a population; views of it are population[10:20]",
    "Synapses": "write net.connect(sources, targets, rule, weight=..., delay=...)",
    "raster_plot": "write rv.plot.raster(sim.spikes(recorder))",
    "random": "write rv.Normal, rv.LogNormal, rv.Uniform or rv.Exponential as a value",
    "setup": "write rv.Network(resolution=..., seed=...)",
    "run": "write sim = rv.Simulation(net), then sim.run(duration)",
    "simulate": "write sim = rv.Simulation(net), then sim.run(duration)",
    "record": "write net.record_spikes(neurons) or net.record_state(neurons, variables)",
    "record_spike": "write net.record_spikes(neurons)",
    "record_v": 'write net.record_state(neurons, "V_m")',
}
"""What to do, by the name of a function or a method."""
