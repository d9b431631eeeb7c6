"""Neurons with given spikes, some dopaminergic: what synapses learn, by the equations, in Ranvier and in NEST."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from plasticity_scenes import DRIVE_DELAY, RESOLUTION, parrots, weights_in_nest

__all__ = [
    "CASES",
    "DOPAMINE_DELAY",
    "Scene",
    "expected_weights",
    "in_nest",
    "in_ranvier",
    "network_of",
    "scene_of",
    "weights_of",
]

LAST = 4000
"""Step in which every source fires a last time."""
DOPAMINE_DELAY = 7  # steps
Steps = list[list[int]]
FloatArray = npt.NDArray[np.float64]

_DEFAULTS = {
    "A_plus": 1.0,
    "A_minus": 1.5,
    "tau_plus": 20.0,
    "tau_minus": 20.0,
    "tau_c": 1000.0,
    "tau_n": 200.0,
    "b": 0.0,
    "W_min": 0.0,
    "W_max": 200.0,
    "axonal_fraction": 0.0,
}

CASES: list[tuple[float, dict[str, float]]] = [
    (100.0, {"A_plus": 0.006, "A_minus": 0.008}),
    (100.0, {"A_plus": 0.06, "A_minus": 0.03, "tau_plus": 15.0, "tau_minus": 30.0, "tau_c": 400.0, "tau_n": 90.0}),
    # Weights meet both bounds, and go down and up again between spikes.
    (45.0, {"A_plus": 0.4, "A_minus": 0.4, "b": 0.04, "W_min": 30.0, "W_max": 60.0, "tau_c": 60.0, "tau_n": 10.0}),
    (
        -90.0,
        {"A_plus": -0.01, "A_minus": -0.012, "b": 0.01, "W_min": -150.0, "W_max": -20.0, "tau_c": 50.0, "tau_n": 50.0},
    ),
]
"""Weights and parameters."""


@dataclass(frozen=True)
class Scene:
    """All sources are connected to all targets, by each of the delays (in steps)."""

    pre: Steps
    post: Steps
    dopamine: Steps
    delays: list[int]
    last_step: int
    weight: float
    parameters: Mapping[str, float]


def scene_of(case: int, fraction: float = 0.0, seed: int = 1) -> Scene:
    """Return a scene with bursts of up to 500 spikes/s, silences, and spikes of all kinds that meet in a step."""
    weight, parameters = CASES[case]
    random = np.random.default_rng(seed)

    def train(rate: float) -> list[int]:
        chance = np.full(LAST, rate * RESOLUTION / 1000.0)
        for begin in random.integers(0, LAST - 300, size=3):
            chance[begin : begin + 300] = 500.0 * RESOLUTION / 1000.0
        chance[:20] = chance[-100:] = 0.0
        return [int(step) + 1 for step in np.flatnonzero(random.random(LAST) < chance)]

    pre = [train(rate) for rate in (5.0, 20.0, 60.0, 150.0)]
    post = [train(rate) for rate in (0.0, 10.0, 40.0, 120.0)]
    post[1] = sorted({*post[1], *pre[1]})
    post[2] = sorted({*post[2], *(step + 15 for step in pre[2] if step < LAST - 200)})
    dopamine = [train(20.0), train(5.0)]
    # Arrives with spikes of the last source, some of them together with one of the other neuron.
    dopamine[1] = sorted({*dopamine[1], *dopamine[0][::3], *(step - DOPAMINE_DELAY for step in pre[3] if step > 50)})
    delays = [1, 15, 40] if fraction in (0.0, 1.0) else [2, 15, 40]
    values = {**parameters, "axonal_fraction": fraction}
    return Scene([[*spikes, LAST] for spikes in pre], post, dopamine, delays, LAST, weight, values)


def expected_weights(scene: Scene, given: Mapping[int, float] | None = None) -> FloatArray:
    """Return the weights after the last step, by source, target and delay, straight from the equations.

    given: weights that all synapses are given, by the step after which they are.
    """
    weights = np.empty((len(scene.pre), len(scene.post), len(scene.delays)))
    for source, target, delay in np.ndindex(weights.shape):
        trains = scene.pre[source], scene.post[target]
        weights[source, target, delay] = _weight(scene, *trains, scene.delays[delay], given or {})
    return weights


def _weight(scene: Scene, pre: list[int], post: list[int], delay: int, given: Mapping[int, float]) -> float:
    p = {**_DEFAULTS, **scene.parameters}
    axonal = math.floor(p["axonal_fraction"] * delay + 0.5)
    dendritic = delay - axonal
    # Of spikes that meet, that along a dendrite comes first, unless there is no dendrite.
    events = [(step + axonal, 1, "pre") for step in pre]
    events += [(step + dendritic, 0 if dendritic else 2, "post") for step in post]
    events += [(step + DOPAMINE_DELAY, 3, "dopamine") for train in scene.dopamine for step in train]
    events += [(step, 4, "given") for step in given]
    both = 1.0 / (1.0 / p["tau_c"] + 1.0 / p["tau_n"])
    w, c, n, now = scene.weight, 0.0, 0.0, 0
    arrived: dict[str, list[int]] = {"pre": [], "post": []}
    for step, _, kind in [*sorted(event for event in events if event[0] <= scene.last_step), (scene.last_step, 5, "")]:
        time = (step - now) * RESOLUTION
        w += c * n * both * -math.expm1(-time / both) - c * p["b"] * p["tau_c"] * -math.expm1(-time / p["tau_c"])
        w = min(max(w, p["W_min"]), p["W_max"])
        c, n, now = c * math.exp(-time / p["tau_c"]), n * math.exp(-time / p["tau_n"]), step
        if kind == "given":
            w = given[step]
        elif kind == "dopamine":
            n += 1.0 / p["tau_n"]
        elif kind:
            other, tau = ("post", p["tau_minus"]) if kind == "pre" else ("pre", p["tau_plus"])
            paired = [each for each in arrived[other] if each < step or dendritic == 0]
            trace = sum(math.exp(-(step - each) * RESOLUTION / tau) for each in paired)
            c += p["A_plus"] * trace if kind == "post" else -p["A_minus"] * trace
            arrived[kind].append(step)
    return w


def _times(trains: Steps, earlier: int = 0) -> list[list[float]]:
    return [[round((step - earlier) * RESOLUTION, 6) for step in train] for train in trains]


def network_of(scene: Scene, seed: int = 1) -> tuple[rv.Network, list[Any]]:
    """Return the scene as a network, and a projection for each delay."""
    net = rv.Network(resolution=RESOLUTION, seed=seed)
    sources = net.create_spike_generators(_times(scene.pre), name="sources")
    drivers = net.create_spike_generators(_times(scene.post, DRIVE_DELAY), name="drivers")
    # What learns cannot make them fire, and what drives them always does.
    targets = net.create("iaf_psc_delta", len(scene.post), V_th=1e6, t_ref=0.0, name="targets")
    net.connect(drivers, targets, rv.OneToOne(), weight=1e8, delay=DRIVE_DELAY * RESOLUTION)
    dopaminergic = net.create_spike_generators(_times(scene.dopamine), name="dopaminergic")
    synapse = rv.stdp_dopamine(
        dopamine=dopaminergic, dopamine_delay=round(DOPAMINE_DELAY * RESOLUTION, 6), **scene.parameters
    )
    projections = [
        net.connect(
            sources, targets, rv.AllToAll(), weight=scene.weight, delay=round(delay * RESOLUTION, 6), synapse=synapse
        )
        for delay in scene.delays
    ]
    return net, projections


def in_ranvier(scene: Scene, **options: Any) -> FloatArray:
    """Return the weights after the last step, in the order of `expected_weights`."""
    net, projections = network_of(scene)
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run(scene.last_step * RESOLUTION)
    return weights_of(sim, projections)


def weights_of(sim: rv.Simulation, projections: list[Any]) -> FloatArray:
    """Return the weights by source, target and projection."""
    weights = np.empty((len(projections[0].sources), len(projections[0].targets), len(projections)))
    for place, projection in enumerate(projections):
        found = sim.connections(projection=projection)
        first = projection.targets.first_id
        weights[np.asarray(found.sources), np.asarray(found.targets) - first, place] = found.weights
    return weights


def in_nest(scene: Scene) -> FloatArray:
    """Return the weights in NEST, where the whole delay is dendritic. For a process of the pool."""
    from nest_pool import fresh_nest

    nest = fresh_nest(resolution=RESOLUTION)
    p = {**_DEFAULTS, **scene.parameters}
    assert p["axonal_fraction"] == 0.0
    pre, post, dopamine = (parrots(nest, trains) for trains in (scene.pre, scene.post, scene.dopamine))
    post.set(tau_minus=p["tau_minus"])
    # It has all synapses follow after so many intervals; without that, they do so when a presynaptic spike arrives.
    transmitter = nest.Create("volume_transmitter", 1, {"deliver_interval": 1000000})
    nest.Connect(dopamine, transmitter, "all_to_all", {"delay": DOPAMINE_DELAY * RESOLUTION})
    names = ("A_plus", "A_minus", "tau_plus", "tau_c", "tau_n", "b")
    values = {name: p[name] for name in names} | {"Wmin": p["W_min"], "Wmax": p["W_max"], "weight": scene.weight}
    nest.CopyModel("stdp_dopamine_synapse", "learning", {"volume_transmitter": transmitter, **values})
    for delay in scene.delays:
        # Spikes at the port 1 of a parrot are taken but not repeated.
        synapse = {"synapse_model": "learning", "weight": scene.weight, "delay": delay * RESOLUTION, "receptor_type": 1}
        nest.Connect(pre, post, "all_to_all", synapse)
    nest.Simulate((scene.last_step + 60) * RESOLUTION)
    return weights_in_nest(nest, scene, pre, post)
