"""Trains of NEST's generators of spikes, and what is compared of them. The functions of NEST run in `nest_pool`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from nest_pool import fresh_nest
from ranvier.populations.model_base import Stimulator

__all__ = ["distance", "measures", "trains_in_nest", "trains_in_ranvier"]

Trains = list[npt.NDArray[np.float64]]


def trains_in_nest(model: str, values: dict[str, Any], size: int, duration: float, own_generators: bool) -> Trains:
    """Return the times that parrots relay of one generator, or of a generator each, ms."""
    nest = fresh_nest(seed=7)
    parrots = nest.Create("parrot_neuron", size)
    generators = nest.Create(model, size if own_generators else 1, params=values)
    rule = {"rule": "one_to_one" if own_generators else "all_to_all"}
    nest.Connect(generators, parrots, rule, syn_spec={"delay": 0.1})
    recorder = nest.Create("spike_recorder")
    nest.Connect(parrots, recorder, syn_spec={"delay": 0.1})
    nest.Simulate(duration)
    events = recorder.events
    return [np.sort(events["times"][events["senders"] == parrot]) for parrot in parrots.tolist()]


def trains_in_ranvier(model: Stimulator, size: int, duration: float) -> Trains:
    """Return the times of sources, ms."""
    net = rv.Network(seed=7)
    sources = net.create(model, size)
    recorder = net.record_spikes(sources)
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run(duration)
    data = sim.spikes(recorder)
    return [np.sort(data.times[data.ids == source]) for source in sources.ids]


def measures(trains: Trains, period: float) -> dict[str, npt.NDArray[np.float64]]:
    """Return numbers of each train, which are independent of those of others where trains are.

    They are the number of spikes, the sum of squared intervals, and sums of a sine and a cosine of a period (ms).
    """
    angles = [2.0 * math.pi / period * train for train in trains]
    return {
        "spikes": np.array([float(len(train)) for train in trains]),
        "squared intervals": np.array([float((np.diff(train) ** 2).sum()) for train in trains]),
        "sine": np.array([float(np.sin(angle).sum()) for angle in angles]),
        "cosine": np.array([float(np.cos(angle).sum()) for angle in angles]),
    }


def distance(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Return the distance of two means in standard deviations of it."""
    deviation = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    difference = abs(float(a.mean() - b.mean()))
    if deviation == 0.0:
        return 0.0 if difference == 0.0 else math.inf
    return difference / deviation
