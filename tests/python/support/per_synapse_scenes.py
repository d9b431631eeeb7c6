"""Synapses of the same sources whose parameters differ: what spikes add, by the equations, in Ranvier and in NEST."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from short_term_scenes import LAST_STEP, NEST_NAMES, RESOLUTION, TRAINS, FloatArray, inputs_of

__all__ = ["COPIES", "PROBABILITIES", "in_nest", "in_ranvier", "transmissions_of_nest", "values_of"]

COPIES = 4
"""Synapses of each source."""
PROBABILITIES = np.linspace(0.05, 0.95, 19)
"""Of synapses of one source."""
VOLLEYS = 1500
_WEIGHTS = [30.0, 100.0, 1000.0, 250.0]
_DELAYS = [40, 1, 15, 1]
_TAU_SYN = 2.0  # ms
_SOURCE_DELAY = 10

_BOUNDS: dict[str, dict[str, tuple[float, float]]] = {
    "tsodyks": {
        "U": (0.04, 0.9),
        "tau_psc": (1.0, 40.0),
        "tau_rec": (10.0, 500.0),
        "tau_fac": (0.0, 1000.0),
        "x": (0.2, 0.5),
        "y": (0.0, 0.5),
        "u": (0.0, 0.4),
    },
    "tsodyks2": {
        "U": (0.04, 0.9),
        "tau_rec": (10.0, 500.0),
        "tau_fac": (0.0, 1000.0),
        "u": (0.1, 0.9),
        "x": (0.3, 1.0),
    },
}


def values_of(model: str, *names: str) -> dict[str, FloatArray]:
    """Return values of some parameters, or of all, for each synapse: by source, and then by copy."""
    random = np.random.default_rng(5)
    values = {name: random.uniform(*bounds, len(TRAINS) * COPIES) for name, bounds in _BOUNDS[model].items()}
    return {name: values[name] for name in names or values}


def in_ranvier(synapse: rv.populations.model_base.SynapseModel, **options: Any) -> list[list[float]]:
    """Return the factor of each spike, by synapse; delays are different, so that rows are sorted."""
    net = rv.Network(resolution=RESOLUTION)
    sources = net.create_spike_generators([[round(step * RESOLUTION, 6) for step in train] for train in TRAINS])
    synapses = len(TRAINS) * COPIES
    targets = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=_TAU_SYN), synapses)
    rule = rv.Explicit([i // COPIES for i in range(synapses)], list(range(synapses)))
    weights, delays = np.tile(_WEIGHTS, len(TRAINS)), np.tile(_DELAYS, len(TRAINS))
    net.connect(sources, targets, rule, weight=weights, delay=delays * RESOLUTION, synapse=synapse)
    recorder = net.record_state(targets, "I_syn_ex", interval=RESOLUTION)
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run((LAST_STEP + 60) * RESOLUTION)
    inputs = inputs_of(sim.state(recorder)["I_syn_ex"])
    found = []
    for i in range(synapses):
        steps = np.array(TRAINS[i // COPIES], dtype=int) + delays[i] - 1
        assert np.abs(np.delete(inputs[i], steps)).max() < 1e-9 * weights[i]
        found.append(list(inputs[i][steps] / weights[i]))
    return found


def in_nest(model: str, values: dict[str, FloatArray]) -> list[list[float]]:
    """Return the same from NEST, where each synapse is given its parameters. For a process of the pool."""
    from nest_pool import fresh_nest

    nest = fresh_nest(resolution=RESOLUTION)
    generators = nest.Create("spike_generator", len(TRAINS))
    for generator, train in zip(generators, TRAINS, strict=True):
        generator.spike_times = [round((step - _SOURCE_DELAY) * RESOLUTION, 6) for step in train]
    sources = nest.Create("parrot_neuron", len(TRAINS))
    targets = nest.Create("parrot_neuron", len(TRAINS) * COPIES)
    nest.Connect(generators, sources, "one_to_one", {"delay": _SOURCE_DELAY * RESOLUTION})
    recorder = nest.Create("weight_recorder")
    nest.CopyModel(NEST_NAMES[model], "released", {"weight_recorder": recorder})
    for i in range(len(TRAINS)):
        part = slice(i * COPIES, (i + 1) * COPIES)
        own = {name: each[part].reshape(COPIES, 1) for name, each in values.items()}
        nest.Connect(sources[i], targets[part], "all_to_all", {"synapse_model": "released", "receptor_type": 1, **own})
    nest.Simulate((LAST_STEP + 20) * RESOLUTION)
    events = recorder.events
    found: list[list[float]] = [[] for _ in range(len(TRAINS) * COPIES)]
    for target, weight in zip(events["targets"], events["weights"], strict=True):
        found[target - targets[0].global_id].append(float(weight))
    return found


def transmissions_of_nest(seed: int = 1) -> npt.NDArray[np.int64]:
    """Return how many of the volleys each synapse transmits in NEST. For a process of the pool."""
    from nest_pool import fresh_nest

    nest = fresh_nest(resolution=1.0, seed=seed)
    generator = nest.Create("spike_generator")
    generator.spike_times = [float(step) for step in range(1, VOLLEYS + 1)]
    source, targets = nest.Create("parrot_neuron"), nest.Create("parrot_neuron", len(PROBABILITIES))
    nest.Connect(generator, source, "one_to_one", {"delay": 1.0})
    own = {"p_transmit": PROBABILITIES.reshape(-1, 1)}
    nest.Connect(source, targets, "all_to_all", {"synapse_model": "bernoulli_synapse", "delay": 1.0, **own})
    recorder = nest.Create("spike_recorder")
    nest.Connect(targets, recorder)
    nest.Simulate(VOLLEYS + 5.0)
    senders = np.asarray(recorder.events["senders"]) - targets[0].global_id
    return np.bincount(senders, minlength=len(PROBABILITIES))
