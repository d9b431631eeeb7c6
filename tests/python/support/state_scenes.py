"""Networks whose state is saved, and what shows that nothing of it is lost."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import ranvier as rv
from ranvier.models import STIMULATORS, SYNAPSE_MODELS

__all__ = [
    "HALF",
    "outcome",
    "saved_half_way",
    "second_half",
    "whole",
    "with_neurons",
    "with_sources",
    "with_stimulator",
    "with_synapses",
]

_VARIABLES = {
    "interval_fire": ("m",),
    "ignore_and_fire": ("phase",),
    "parrot_neuron": (),
    "iaf_psc_exp": ("V_m", "I_syn_ex", "I_syn_in"),
}
# Two halves of a run, ms.
HALF = 60.0


def with_neurons(model: str) -> rv.Network:
    """Return a network of neurons of a model that are connected and driven."""
    net = rv.Network(seed=5)
    if model == "spike_generator":
        sources = net.create_spike_generators([[10.0 * i + j for i in range(12)] for j in range(1, 9)])
        neurons = net.create("iaf_psc_exp", 30)
        net.connect(sources, neurons, rv.FixedIndegree(6), weight=400.0, delay=rv.Uniform(0.5, 8.0))
        _record(net, neurons)
        return net
    neurons = net.create(model, 40, name="neurons")
    weight = {"interval_fire": 0.02, "iaf_cond_nmda": 2.0, "iaf_psc_delta": 1.0, "parrot_neuron": 1.0}.get(model, 60.0)
    rate = 200.0 if model == "parrot_neuron" else 9000.0
    receptor = "AMPA" if model == "iaf_cond_nmda" else None
    net.stimulate(neurons, rv.poisson_generator(rate=rate), weight=weight, receptor=receptor)
    # What parrots relay to each other must die out.
    targets: rv.PopulationView = neurons[:20] if model == "parrot_neuron" else neurons
    senders: rv.PopulationView = neurons[20:] if model == "parrot_neuron" else neurons
    net.connect(senders, targets, rv.FixedIndegree(8), weight=weight, delay=rv.Uniform(0.3, 4.0), receptor=receptor)
    _record(net, neurons)
    return net


def with_stimulator(model: str) -> rv.Network:
    """Return a network that a stimulator drives, with values that change in time where it has such."""
    net = rv.Network(seed=6)
    neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 3.0), I_e=370.0), 30, name="neurons")
    values = _values_of(model)
    kind = STIMULATORS[model]
    net.stimulate(neurons, getattr(rv, model)(**values), weight=60.0 if kind.emits_spikes else 1.0, delay=0.7)
    net.connect(neurons, neurons, rv.FixedIndegree(5), weight=40.0, delay=2.0)
    _record(net, neurons)
    return net


def with_sources(model: str) -> rv.Network:
    """Return a network that sources drive, whose trains a stimulator draws."""
    net = rv.Network(seed=8)
    values = {
        name: 0.2 * value if name in ("rate", "amplitude") else value for name, value in _values_of(model).items()
    }
    sources = net.create(getattr(rv, model)(**values), 20, name="sources")
    neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 3.0), I_e=370.0), 30, name="neurons")
    net.connect(sources, neurons, rv.FixedIndegree(5), weight=rv.Uniform(50.0, 70.0), delay=rv.Uniform(0.3, 4.0))
    net.record_spikes([sources, neurons])
    net.record_state(neurons[::7], "V_m", 1.5)
    return net


def _values_of(model: str) -> dict[str, Any]:
    """Return values of a stimulator that change in time where it has such."""
    known = {
        "times": [5.0, 55.0, 80.0],
        "amplitudes": [300.0, -50.0, 600.0],
        "rates": [9000.0, 200.0, 15000.0],
        "rate": 9000.0,
        "amplitude": 300.0,
        "std": 500.0,
        "frequency": 20.0,
        "shape": 2.5,
        "dead_time": 0.02,
        "p_copy": 0.4,
        "pulse_times": [10.0, 59.0, 61.0, 90.0],
        "activity": 40.0,
        "sdev": 2.0,
    }
    values: dict[str, Any] = {name: known[name] for name in STIMULATORS[model].value_names() if name in known}
    assert values, f"nothing of what a {model} does is tested"
    return values


def with_synapses(model: str, *, records_weights: bool = True, **parameters: Any) -> rv.Network:
    """Return a network whose excitatory synapses follow a model, beside static ones that reach the same receptor."""
    net = rv.Network(seed=7)
    # Weights that are jumps of the potential are in mV.
    learner, unit = (rv.aeif_psc_delta_clopath, 1.0 / 150.0) if model == "clopath" else (rv.iaf_psc_exp, 1.0)
    exc = net.create(learner(V_m=rv.Normal(-62.0, 4.0)), 40, name="exc")
    inh = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 4.0)), 10, name="inh")
    for population, size in ((exc, unit), (inh, 1.0)):
        net.stimulate(population, rv.poisson_generator(rate=9000.0), weight=60.0 * size)
    names = SYNAPSE_MODELS[model].value_names()
    given: dict[str, Any] = {"axonal_fraction": 0.4} if "axonal_fraction" in names else {}
    if SYNAPSE_MODELS[model].transmitter_name:
        # Some of its spikes are under way.
        given |= {SYNAPSE_MODELS[model].transmitter_name: inh, "dopamine_delay": 9.0}
    if model == "vogels_sprekeler":
        given["W_max"] = 100.0
    if model == "clopath":
        given |= {"A_LTP": 2e-3, "A_LTD": 1e-3, "W_max": 1.0}
    delay = rv.Uniform(0.5, 6.0)
    net.connect(
        exc, exc, rv.FixedIndegree(6), weight=45.0 * unit, delay=delay, synapse=getattr(rv, model)(**given | parameters)
    )
    net.connect(exc, exc, rv.FixedIndegree(3), weight=30.0 * unit, delay=delay)
    net.connect(exc, inh, rv.FixedIndegree(6), weight=45.0, delay=delay)
    net.connect(inh, exc, rv.FixedIndegree(3), weight=-90.0 * unit, delay=delay)
    _record(net, exc)
    if records_weights:
        net.record_weights(net.projections[0], 7.0)
    return net


def _record(net: rv.Network, neurons: rv.Population) -> None:
    net.record_spikes()
    for variable in _VARIABLES.get(neurons.model, ("V_m",))[:1]:
        net.record_state(neurons[::7], variable, 1.5)


def outcome(sim: rv.Simulation, keeps_sources: bool = True) -> str:
    """Return a digest of all that a simulation has recorded, of its weights and of its neurons."""
    result = hashlib.sha256()
    spikes = 0
    for recorder in sim.network.recorders:
        if isinstance(recorder, rv.SpikeRecorder):
            data = sim.spikes(recorder)
            spikes += len(data)
            result.update(data.digest().encode() + data.steps.tobytes())
        elif isinstance(recorder, rv.StateRecorder):
            state = sim.state(recorder)
            result.update(state.steps.tobytes() + state.ids.tobytes() + state.values.tobytes())
        elif isinstance(recorder, rv.WeightRecorder):
            weights = sim.weights(recorder)
            result.update(weights.steps.tobytes() + weights.weights.tobytes())
    for population in sim.network.populations:
        for name in () if population.is_source else _VARIABLES.get(population.model, ("V_m",)):
            result.update(sim.get(population, name).tobytes())
    if keeps_sources:
        result.update(sim.connections().weights.tobytes())
    counts = sim.counts()
    result.update(str((counts.spikes, counts.synaptic_events, counts.steps, sim.step)).encode())
    assert spikes > 20, "a silent network proves nothing"
    return result.hexdigest()


def saved_half_way(net: rv.Network, path: Path, **options: Any) -> rv.Simulation:
    """Run the first half, save the state, and return the simulation."""
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(HALF)
    sim.save(path)
    return sim


def whole(net: rv.Network, keeps_sources: bool = True) -> str:
    """Return what comes of both halves without a save."""
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run(2.0 * HALF)
    return outcome(sim, keeps_sources)


def second_half(sim: rv.Simulation, keeps_sources: bool = True) -> str:
    """Return what comes of a simulation after the second half."""
    sim.run(HALF)
    return outcome(sim, keeps_sources)
