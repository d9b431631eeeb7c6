"""Sources with given spikes, and what their synapses add to neurons: by the equations, in Ranvier and in NEST."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from ranvier import _core

__all__ = [
    "CASES",
    "LINKS",
    "NEST_NAMES",
    "TRAINS",
    "expected_factors",
    "in_nest",
    "in_ranvier",
    "inputs_of",
    "network_of",
]

RESOLUTION = 0.1  # ms
LAST_STEP = 4000
_TAU_SYN = 2.0  # ms
_SOURCE_DELAY = 10
FloatArray = npt.NDArray[np.float64]

CASES: list[tuple[str, dict[str, float]]] = [
    ("tsodyks2", {}),
    ("tsodyks2", {"U": 0.3, "tau_rec": 120.0, "tau_fac": 60.0, "u": 0.3}),
    ("tsodyks2", {"U": 0.05, "tau_rec": 20.0, "tau_fac": 1500.0, "u": 0.7, "x": 0.4}),
    ("tsodyks2", {"U": 1.0, "tau_rec": 500.0}),
    ("tsodyks2", {"U": 0.05, "tau_rec": 130.0, "tau_fac": 530.0}),
    ("tsodyks", {}),
    ("tsodyks", {"U": 0.04, "tau_psc": 2.0, "tau_rec": 100.0, "tau_fac": 1000.0}),
    ("tsodyks", {"U": 0.3, "tau_psc": 40.0, "tau_rec": 15.0, "tau_fac": 60.0, "x": 0.5, "y": 0.3, "u": 0.2}),
    ("tsodyks", {"U": 1.0, "tau_psc": 3.0, "tau_rec": 500.0, "x": 0.2, "y": 0.8}),
]
NEST_NAMES = {"tsodyks": "tsodyks_synapse", "tsodyks2": "tsodyks2_synapse"}
LINKS = [(3.5, 1), (-120.25, 15), (1000.0, 40)]
"""Weights and delays (steps) of the synapses of each source."""


def _trains() -> list[list[int]]:
    random = np.random.default_rng(12)
    trains = []
    for rate in (2.0, 20.0, 60.0, 150.0):
        chance = np.full(LAST_STEP, rate * RESOLUTION / 1000.0)
        for begin in random.integers(0, LAST_STEP - 300, size=3):
            chance[begin : begin + 300] = 500.0 * RESOLUTION / 1000.0
        # NEST's sources repeat spikes that must have been sent before.
        chance[: 2 * _SOURCE_DELAY] = 0.0
        trains.append([int(step) + 1 for step in np.flatnonzero(random.random(LAST_STEP) < chance)])
    return [*trains, [20, 21, 22, LAST_STEP], []]


TRAINS = _trains()
"""Steps of irregular spikes with bursts of 500 spikes/s, by source."""


def expected_factors(model: str, parameters: Mapping[str, float], train: list[int]) -> list[float]:
    """Return the part of the weight that each spike adds, straight from the published equations."""
    (described,) = [each for each in _core.synapse_models() if each.name == model]
    values = {**{parameter.name: parameter.default for parameter in described.parameters}, **parameters}
    for parameter in described.parameters:
        if parameter.default_parameter and parameter.name not in parameters:
            values[parameter.name] = values[parameter.default_parameter]
    return _FACTORS[model](values, train)


def _decay(time: float, tau: float) -> float:
    return math.exp(-time / tau) if tau > 0.0 else 0.0


def _tsodyks2(p: Mapping[str, float], train: list[int]) -> list[float]:
    factors = []
    u, x = p["u"], p["x"]
    for i, step in enumerate(train):
        if i > 0:
            time = (step - train[i - 1]) * RESOLUTION
            x = 1.0 - (1.0 - x + u * x) * math.exp(-time / p["tau_rec"])
            u = p["U"] + u * (1.0 - p["U"]) * _decay(time, p["tau_fac"])
        factors.append(u * x)
    return factors


def _tsodyks(p: Mapping[str, float], train: list[int]) -> list[float]:
    # The matrix exponential of dy/dt = -y/tau_psc, dz/dt = y/tau_psc - z/tau_rec.
    rates = np.array([[-1.0 / p["tau_psc"], 0.0], [1.0 / p["tau_psc"], -1.0 / p["tau_rec"]]])
    values, vectors = np.linalg.eig(rates)
    inverse = np.linalg.inv(vectors)
    factors = []
    state = np.array([p["y"], 1.0 - p["x"] - p["y"]])
    u, last = p["u"], 0
    for step in train:
        time = (step - last) * RESOLUTION
        state = vectors @ (np.exp(values * time) * (inverse @ state))
        u *= _decay(time, p["tau_fac"])
        u += p["U"] * (1.0 - u)
        released = u * (1.0 - state.sum())
        state[0] += released
        factors.append(released)
        last = step
    return factors


_FACTORS: dict[str, Callable[[Mapping[str, float], list[int]], list[float]]] = {
    "tsodyks": _tsodyks,
    "tsodyks2": _tsodyks2,
}


def network_of(synapse: Any, delays: list[int] | None = None, seed: int = 1) -> tuple[rv.Network, list[Any]]:
    """Return a network in which each source has one target of its own for each link, and its recorders."""
    net = rv.Network(resolution=RESOLUTION, seed=seed)
    sources = net.create_spike_generators([[round(step * RESOLUTION, 6) for step in train] for train in TRAINS])
    recorders = []
    for i, (weight, delay) in enumerate(LINKS):
        neuron = rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=_TAU_SYN, tau_syn_in=_TAU_SYN)
        targets = net.create(neuron, len(TRAINS))
        steps = delay if delays is None else delays[i]
        net.connect(sources, targets, rv.OneToOne(), weight=weight, delay=round(steps * RESOLUTION, 6), synapse=synapse)
        current = "I_syn_ex" if weight >= 0.0 else "I_syn_in"
        recorders.append((net.record_state(targets, current, interval=RESOLUTION), current))
    return net, recorders


def in_ranvier(synapse: Any, **options: Any) -> list[FloatArray]:
    """Return by link what arrives at the targets, by source and step (from step 1 on)."""
    net, recorders = network_of(synapse)
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run((LAST_STEP + 60) * RESOLUTION)
    return [inputs_of(sim.state(recorder)[current]) for recorder, current in recorders]


def inputs_of(currents: Any) -> FloatArray:
    """Return what was added in each step to currents that decay, by neuron and step (from step 1 on)."""
    currents = np.asarray(currents).T
    before = np.zeros_like(currents)
    before[:, 1:] = currents[:, :-1]
    return np.asarray(currents - before * math.exp(-RESOLUTION / _TAU_SYN))


def in_nest(model: str, parameters: Mapping[str, float]) -> list[list[float]]:
    """Return the weights that NEST sends with each spike, by source; the weight is 1. For a process of the pool."""
    from nest_pool import fresh_nest

    nest = fresh_nest(resolution=RESOLUTION)
    generators = nest.Create("spike_generator", len(TRAINS))
    for generator, train in zip(generators, TRAINS, strict=True):
        generator.spike_times = [round((step - _SOURCE_DELAY) * RESOLUTION, 6) for step in train]
    sources, target = nest.Create("parrot_neuron", len(TRAINS)), nest.Create("parrot_neuron")
    nest.Connect(generators, sources, "one_to_one", {"delay": _SOURCE_DELAY * RESOLUTION})
    recorder = nest.Create("weight_recorder")
    # In NEST, u is 0.5 unless it is given, whatever U is.
    first = {"u": parameters["U"]} if model == "tsodyks2" and "U" in parameters else {}
    nest.CopyModel(NEST_NAMES[model], "released", {"weight_recorder": recorder, **first, **parameters})
    nest.Connect(sources, target, "all_to_all", {"synapse_model": "released", "receptor_type": 1})
    nest.Simulate((LAST_STEP + 20) * RESOLUTION)
    events = recorder.events
    first = sources[0].global_id
    found: list[list[float]] = [[] for _ in TRAINS]
    for source, weight in zip(events["senders"], events["weights"], strict=True):
        found[source - first].append(float(weight))
    return found
