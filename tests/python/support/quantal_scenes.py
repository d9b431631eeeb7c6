"""Synapses with release sites of one source: what each spike releases, by the equations, in Ranvier and in NEST."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

__all__ = ["CASES", "STEPS", "SYNAPSES", "in_nest", "in_ranvier", "laws", "own_values"]

RESOLUTION = 0.1  # ms
STEPS = [50, 60, 90, 91, 190, 490, 520, 560, 2060, 2110]
"""When the source fires."""
SYNAPSES = 3000
_TAU_SYN = 2.0  # ms
FloatArray = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

CASES: list[dict[str, float]] = [
    {"n": 1.0},
    {"n": 5.0, "U": 0.3, "u": 0.7, "tau_rec": 30.0, "tau_fac": 50.0, "depleted": 2.0},
    {"n": 40.0, "U": 0.6, "u": 0.6, "tau_rec": 100.0},
    {"n": 3.0, "U": 0.05, "u": 1.0, "tau_rec": 800.0, "tau_fac": 1000.0},
]
_DEFAULTS = {"n": 1.0, "U": 0.5, "u": 0.5, "tau_rec": 800.0, "tau_fac": 0.0, "depleted": 0.0}


def laws(parameters: Mapping[str, float]) -> tuple[list[FloatArray], FloatArray]:
    """Return the law of what each spike releases, and that of the sum of all, straight from the equations."""
    p = {**_DEFAULTS, "u": parameters.get("U", 0.5), **parameters}
    sites = int(p["n"])
    # By the number of sites with a vesicle, and what was released so far.
    state = np.zeros((sites + 1, 1))
    state[sites - int(p["depleted"]), 0] = 1.0
    u = p["u"]
    each = []
    for i, step in enumerate(STEPS):
        if i > 0:
            time = (step - STEPS[i - 1]) * RESOLUTION
            u = p["U"] + u * (1.0 - p["U"]) * (math.exp(-time / p["tau_fac"]) if p["tau_fac"] else 0.0)
            refilled = np.zeros_like(state)
            for full in range(sites + 1):
                for more, chance in enumerate(_binomial(sites - full, 1.0 - math.exp(-time / p["tau_rec"]))):
                    refilled[full + more] += chance * state[full]
            state = refilled
        released = np.zeros((sites + 1, state.shape[1] + sites))
        law = np.zeros(sites + 1)
        for full in range(sites + 1):
            for quanta, chance in enumerate(_binomial(full, u)):
                released[full - quanta, quanta : quanta + state.shape[1]] += chance * state[full]
                law[quanta] += chance * state[full].sum()
        state = released
        each.append(law)
    return each, state.sum(axis=0)


def _binomial(trials: int, chance: float) -> list[float]:
    return [math.comb(trials, k) * chance**k * (1.0 - chance) ** (trials - k) for k in range(trials + 1)]


def _by_target(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.reshape(each, (-1, 1)) if np.ndim(each) else each for name, each in parameters.items()}


def in_ranvier(parameters: Mapping[str, Any], seed: int = 1, **options: Any) -> Counts:
    """Return how many quanta each synapse releases, by spike and synapse."""
    net = rv.Network(resolution=RESOLUTION, seed=seed)
    source = net.create_spike_generators([[round(step * RESOLUTION, 6) for step in STEPS]])
    targets = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=_TAU_SYN), SYNAPSES)
    net.connect(source, targets, rv.AllToAll(), weight=1.0, delay=1.0, synapse=rv.quantal_stp(**_by_target(parameters)))
    recorder = net.record_state(targets, "I_syn_ex", interval=RESOLUTION)
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run((STEPS[-1] + 20) * RESOLUTION)
    currents = np.asarray(sim.state(recorder)["I_syn_ex"])
    before = np.vstack([np.zeros(currents.shape[1]), currents[:-1]])
    inputs = currents - before * math.exp(-RESOLUTION / _TAU_SYN)
    places = [step + 10 - 1 for step in STEPS]
    assert np.abs(np.delete(inputs, places, axis=0)).max() < 1e-9
    found = inputs[places]
    np.testing.assert_allclose(found, np.rint(found), atol=1e-9)
    return np.rint(found).astype(np.int64)


def own_values(kinds: list[dict[str, float]]) -> dict[str, FloatArray]:
    """Return parameters of each synapse: the kinds take turns."""
    sets = [{**_DEFAULTS, **each} for each in kinds]
    return {name: np.array([sets[i % len(sets)][name] for i in range(SYNAPSES)]) for name in _DEFAULTS}


def in_nest(parameters: Mapping[str, Any], seed: int = 1) -> Counts:
    """Return the same from NEST. For a process of the pool."""
    from nest_pool import fresh_nest

    p = {name: np.broadcast_to(value, SYNAPSES) for name, value in {**_DEFAULTS, **parameters}.items()}
    nest = fresh_nest(resolution=RESOLUTION, seed=seed)
    generator = nest.Create("spike_generator")
    generator.spike_times = [round((step - 10) * RESOLUTION, 6) for step in STEPS]
    source, targets = nest.Create("parrot_neuron"), nest.Create("parrot_neuron", SYNAPSES)
    nest.Connect(generator, source, "one_to_one", {"delay": 1.0})
    recorder = nest.Create("weight_recorder")
    values = {name: p[name].reshape(-1, 1) for name in ("U", "u", "tau_rec", "tau_fac")}
    sites = p["n"].astype(int).reshape(-1, 1)
    values |= {"n": sites, "a": sites - p["depleted"].astype(int).reshape(-1, 1)}
    nest.CopyModel("quantal_stp_synapse", "quantal", {"weight_recorder": recorder})
    nest.Connect(source, targets, "all_to_all", {"synapse_model": "quantal", "receptor_type": 1, **values})
    nest.Simulate((STEPS[-1] + 20) * RESOLUTION)
    events = recorder.events
    found = np.zeros((len(STEPS), SYNAPSES), dtype=np.int64)
    steps = np.rint(np.asarray(events["times"]) / RESOLUTION).astype(int)
    places = np.asarray(events["targets"]) - targets[0].global_id
    for step, place, weight in zip(steps, places, events["weights"], strict=True):
        found[STEPS.index(int(step)), place] += round(float(weight))
    return found
