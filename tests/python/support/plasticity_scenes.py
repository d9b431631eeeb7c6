"""Neurons with given spikes, and what synapses between them learn: by the equations, in Ranvier and in NEST."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

__all__ = [
    "MODELS",
    "Scene",
    "expected_weights",
    "in_nest",
    "in_nest_with_own",
    "in_ranvier",
    "irregular_scene",
    "network_of",
]

RESOLUTION = 0.1  # ms
Steps = list[list[int]]
FloatArray = npt.NDArray[np.float64]
# Spikes of the driven neurons come this long after those that drive them.
DRIVE_DELAY = 10


@dataclass(frozen=True)
class Scene:
    """All sources are connected to all targets, by each of the delays."""

    pre: Steps
    post: Steps
    delays: list[int]
    last_step: int
    model: str
    weight: float
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def fraction(self) -> float:
        """The axonal part of the delays."""
        return self.parameters.get("axonal_fraction", 0.0)


def _given(**parameters: float) -> dict[str, float]:
    return parameters


MODELS: dict[str, list[tuple[float, dict[str, float]]]] = {
    "stdp": [
        (40.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=1.1, mu_plus=1.0, mu_minus=1.0, W_max=100.0)),
        (40.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=0.9, mu_plus=0.0, mu_minus=0.0, W_max=60.0)),
        (40.0, _given(tau_plus=25.0, learning_rate=0.05, alpha=1.0, mu_plus=0.3, mu_minus=0.7, W_max=80.0)),
        (-30.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=1.1, mu_plus=0.5, mu_minus=0.5, W_max=-50.0)),
    ],
    "stdp_nn_symm": [
        (40.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=1.1, mu_plus=0.4, mu_minus=0.4, W_max=70.0))
    ],
    "stdp_nn_restr": [
        (40.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=1.1, mu_plus=0.4, mu_minus=0.4, W_max=70.0))
    ],
    "stdp_nn_pre_centered": [
        (40.0, _given(tau_plus=15.0, learning_rate=0.02, alpha=1.1, mu_plus=0.4, mu_minus=0.4, W_max=70.0)),
        (40.0, _given(tau_plus=90.0, learning_rate=0.02, alpha=1.5, mu_plus=1.0, mu_minus=1.0, W_max=70.0)),
    ],
    "stdp_pl": [(45.0, _given(tau_plus=15.0, learning_rate=0.1, alpha=0.0513, mu=0.4))],
    "stdp_triplet": [
        (
            40.0,
            _given(
                tau_plus=16.8,
                tau_minus=33.7,
                A_plus=0.3,
                A_minus=0.5,
                A_plus_triplet=0.6,
                A_minus_triplet=0.2,
                W_max=90.0,
            ),
        ),
        (
            -40.0,
            _given(
                tau_plus=9.0,
                tau_minus=15.0,
                A_plus=0.0,
                A_minus=0.8,
                A_plus_triplet=1.6,
                A_minus_triplet=0.4,
                W_max=-60.0,
            ),
        ),
    ],
    "vogels_sprekeler": [
        (-30.0, _given(learning_rate=0.5, alpha=1.5, W_max=-60.0)),
        (30.0, _given(learning_rate=0.5, alpha=1.5, W_max=60.0)),
    ],
}
"""Weights and parameters by synapse model."""


def irregular_scene(model: str, weight: float, parameters: Mapping[str, float], seed: int) -> Scene:
    """Return a scene with bursts of up to 500 spikes/s, long silences and many spikes that meet in the same step."""
    random = np.random.default_rng(seed)
    last = 4000

    def train(rate: float) -> list[int]:
        chance = np.full(last, rate * RESOLUTION / 1000.0)
        for begin in random.integers(0, last - 300, size=3):
            chance[begin : begin + 300] = 500.0 * RESOLUTION / 1000.0
        chance[:20] = chance[-100:] = 0.0
        spikes = np.flatnonzero(random.random(last) < chance) + 1
        return [int(step) for step in spikes]

    pre = [train(rate) for rate in (5.0, 20.0, 60.0, 150.0)]
    post = [train(rate) for rate in (0.0, 10.0, 40.0, 120.0)]
    # The second target fires with the second source, and the third so much later that spikes meet at the synapse.
    post[1] = sorted({*post[1], *pre[1]})
    post[2] = sorted({*post[2], *(step + 15 for step in pre[2] if step < last - 200)})
    # Every synapse sees a last presynaptic spike after all others have arrived.
    return Scene([[*spikes, last] for spikes in pre], post, [1, 15, 40], last + 60, model, weight, parameters)


def expected_weights(scene: Scene) -> FloatArray:
    """Return the weights after the last step, by source, target and delay, straight from the equations."""
    change = _CHANGES[scene.model](scene.parameters)
    weights = np.empty((len(scene.pre), len(scene.post), len(scene.delays)))
    for place in np.ndindex(weights.shape):
        delay = scene.delays[place[2]]
        axonal = math.floor(scene.fraction * delay + 0.5)
        dendritic = delay - axonal
        # Of spikes that meet, that along a dendrite comes first.
        events = [(step + axonal, 1, False) for step in scene.pre[place[0]]]
        events += [(step + dendritic, 0 if dendritic else 2, True) for step in scene.post[place[1]]]
        arrived: dict[bool, list[int]] = {False: [], True: []}
        # Spikes of a side since the last one of the other side.
        since = {False: 0, True: 0}
        weight = scene.weight
        for step, _, is_post in sorted(events):
            if step > scene.last_step:
                continue
            # A spike that arrives in the same step comes before or after this one, but forms no pair with it.
            others = [other for other in arrived[not is_post] if other < step or dendritic == 0]
            paired = _paired(scene.model, others, since[not is_post], is_post)
            trace = _trace(step, paired, _time_constants(scene)[is_post])
            own = _trace(step, arrived[is_post], _own_time_constants(scene)[is_post])
            weight = change(weight, trace, own, is_post)
            arrived[is_post].append(step)
            since[is_post] += 1
            since[not is_post] = 0
        weights[place] = weight
    return weights


def _paired(model: str, others: list[int], came: int, is_post: bool) -> list[int]:
    """Return those of the other side with which a spike forms pairs. came: how many since the last one of its own."""
    if model == "stdp_nn_symm":
        return others[-1:]
    if model == "stdp_nn_restr":
        return others[-1:] if came else []
    if model == "stdp_nn_pre_centered":
        # Only to a presynaptic spike can one come that forms no pair with it.
        return others[len(others) - came :] if is_post else others[-1:]
    return others


def _trace(step: int, others: list[int], tau: float) -> float:
    return sum(math.exp(-(step - other) * RESOLUTION / tau) for other in others)


def _time_constants(scene: Scene) -> tuple[float, float]:
    """Return those of the traces that pre- and postsynaptic spikes read: each reads the other side's."""
    if scene.model == "vogels_sprekeler":
        return (scene.parameters.get("tau", 20.0),) * 2
    return scene.parameters.get("tau_minus", 20.0), scene.parameters.get("tau_plus", 20.0)


def _own_time_constants(scene: Scene) -> tuple[float, float]:
    """Return those of the traces that pre- and postsynaptic spikes read of their own side."""
    return scene.parameters.get("tau_plus_triplet", 101.0), scene.parameters.get("tau_minus_triplet", 125.0)


Change = Callable[[float, float, float, bool], float]
"""From the weight, the trace of the other side, the slow trace of its own, and whether the spike is postsynaptic."""


def _stdp(p: Mapping[str, float]) -> Change:
    def change(weight: float, trace: float, _: float, is_post: bool) -> float:
        part = weight / p["W_max"]
        if is_post:
            return min(part + p["learning_rate"] * math.pow(1.0 - part, p["mu_plus"]) * trace, 1.0) * p["W_max"]
        return max(part - p["learning_rate"] * p["alpha"] * math.pow(part, p["mu_minus"]) * trace, 0.0) * p["W_max"]

    return change


def _stdp_pl(p: Mapping[str, float]) -> Change:
    def change(weight: float, trace: float, _: float, is_post: bool) -> float:
        if is_post:
            return weight + p["learning_rate"] * math.pow(weight, p["mu"]) * trace
        return max(weight - p["learning_rate"] * p["alpha"] * weight * trace, 0.0)

    return change


def _vogels_sprekeler(p: Mapping[str, float]) -> Change:
    def change(weight: float, trace: float, _: float, is_post: bool) -> float:
        size = min(abs(weight) + p["learning_rate"] * trace, abs(p["W_max"]))
        if not is_post:
            size = max(size - p["learning_rate"] * p["alpha"], 0.0)
        return math.copysign(size, p["W_max"])

    return change


def _stdp_triplet(p: Mapping[str, float]) -> Change:
    def change(weight: float, trace: float, own: float, is_post: bool) -> float:
        size = abs(weight)
        if is_post:
            size = min(size + trace * (p["A_plus"] + p["A_plus_triplet"] * own), abs(p["W_max"]))
        else:
            size = max(size - trace * (p["A_minus"] + p["A_minus_triplet"] * own), 0.0)
        return math.copysign(size, p["W_max"])

    return change


_CHANGES: dict[str, Callable[[Mapping[str, float]], Change]] = {
    "stdp": _stdp,
    "stdp_nn_symm": _stdp,
    "stdp_nn_restr": _stdp,
    "stdp_nn_pre_centered": _stdp,
    "stdp_triplet": _stdp_triplet,
    "stdp_pl": _stdp_pl,
    "vogels_sprekeler": _vogels_sprekeler,
}


def _times(trains: Steps, earlier: int = 0) -> list[list[float]]:
    return [[round((step - earlier) * RESOLUTION, 6) for step in train] for train in trains]


def network_of(
    scene: Scene, seed: int = 1, synapse: Any = None
) -> tuple[rv.Network, list[rv.network.projections.Projection]]:
    """Return the scene as a network, and a projection for each delay; `synapse`: another model than the scene's."""
    net = rv.Network(resolution=RESOLUTION, seed=seed)
    sources = net.create_spike_generators(_times(scene.pre), name="sources")
    drivers = net.create_spike_generators(_times(scene.post, DRIVE_DELAY), name="drivers")
    # What learns cannot make them fire, and what drives them always does.
    targets = net.create("iaf_psc_delta", len(scene.post), V_th=1e6, t_ref=0.0, name="targets")
    net.connect(drivers, targets, rv.OneToOne(), weight=1e8, delay=DRIVE_DELAY * RESOLUTION)
    if synapse is None:
        synapse = getattr(rv, scene.model)(**scene.parameters)
    projections = [
        net.connect(
            sources, targets, rv.AllToAll(), weight=scene.weight, delay=round(delay * RESOLUTION, 6), synapse=synapse
        )
        for delay in scene.delays
    ]
    return net, projections


def in_ranvier(scene: Scene, synapse: Any = None, **options: Any) -> FloatArray:
    """Return the weights after the last step, in the order of `expected_weights`."""
    net, projections = network_of(scene, synapse=synapse)
    recorder = net.record_spikes(net["targets"])
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run(scene.last_step * RESOLUTION)
    fired = sim.spikes(recorder)
    for i, train in enumerate(scene.post):
        steps = np.rint(fired.of(net["targets"][i]).times / RESOLUTION).astype(int)
        assert list(steps) == train, "the targets fire when they are driven"
    shape = (len(scene.pre), len(scene.post))
    return np.stack([_by_pair(sim, projection, shape) for projection in projections], axis=-1)


def _by_pair(sim: rv.Simulation, projection: Any, shape: tuple[int, int]) -> FloatArray:
    connections = sim.connections(projection=projection)
    weights = np.empty(shape)
    first = projection.targets.first_id
    weights[np.asarray(connections.sources), np.asarray(connections.targets) - first] = connections.weights
    return weights


def in_nest(scene: Scene) -> FloatArray:
    """Return the weights in NEST, where the whole delay is dendritic. For a process of the pool."""
    return in_nest_with_own(scene, {})


def in_nest_with_own(scene: Scene, own: Mapping[str, FloatArray]) -> FloatArray:
    """Return the same, where synapses have parameters of their own, of the shape (targets, sources)."""
    from nest_pool import fresh_nest

    nest = fresh_nest(resolution=RESOLUTION)
    assert scene.fraction == 0.0
    pre, post = (parrots(nest, trains) for trains in (scene.pre, scene.post))
    post.set(tau_minus=_time_constants(scene)[False], tau_minus_triplet=_own_time_constants(scene)[True])
    of_targets = {"tau": "tau_minus", "tau_minus": "tau_minus", "tau_minus_triplet": "tau_minus_triplet"}
    for name, variable in of_targets.items():
        if name in own:
            assert (own[name] == own[name][:, :1]).all(), "time constants of neurons"
            post.set({variable: own[name][:, 0].tolist()})
    names = {"learning_rate": "eta" if scene.model == "vogels_sprekeler" else "lambda"}
    of_neurons = ("tau_minus", "tau_minus_triplet", "axonal_fraction")

    def nest_name(name: str) -> str:
        return names.get(name, name.replace("W_", "W").replace("A_", "A"))

    values = {nest_name(name): value for name, value in scene.parameters.items() if name not in of_neurons}
    if scene.model == "stdp_triplet":
        values["tau_plus_triplet"] = _own_time_constants(scene)[False]
    nest_model = "stdp_pl_synapse_hom" if scene.model == "stdp_pl" else f"{scene.model}_synapse"
    if scene.model != "stdp_pl":
        # Its sign is that of the bound.
        values["weight"] = scene.weight
    nest.CopyModel(nest_model, "learning", values)
    for delay in scene.delays:
        # Spikes at the port 1 of a parrot are taken but not repeated.
        synapse = {"synapse_model": "learning", "weight": scene.weight, "delay": delay * RESOLUTION, "receptor_type": 1}
        synapse |= {nest_name(name): each for name, each in own.items() if name not in of_neurons}
        nest.Connect(pre, post, "all_to_all", synapse)
    nest.Simulate((scene.last_step + 1) * RESOLUTION)
    return weights_in_nest(nest, scene, pre, post)


def weights_in_nest(nest: Any, scene: Any, pre: Any, post: Any) -> FloatArray:
    """Return the weights in NEST by source, target and delay."""
    found = nest.GetConnections(pre, post)
    weights = np.full((len(scene.pre), len(scene.post), len(scene.delays)), np.nan)
    for source, target, delay, weight in zip(found.source, found.target, found.delay, found.weight, strict=True):
        place = scene.delays.index(round(delay / RESOLUTION))
        weights[source - pre[0].global_id, target - post[0].global_id, place] = weight
    return weights


def parrots(nest: Any, trains: Steps) -> Any:
    """Return neurons that fire in these steps."""
    generators = nest.Create("spike_generator", len(trains))
    for generator, train in zip(generators, trains, strict=True):
        generator.spike_times = [round((step - DRIVE_DELAY) * RESOLUTION, 6) for step in train]
    parrots = nest.Create("parrot_neuron", len(trains))
    nest.Connect(generators, parrots, "one_to_one", {"delay": DRIVE_DELAY * RESOLUTION})
    return parrots
