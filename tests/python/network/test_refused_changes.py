"""A change of a running simulation that is refused leaves no trace: not in state, nor parameters, nor later spikes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from thorough_cases import one_of_each

# So fine that a period of refractoriness within its bounds can take too many steps.
RESOLUTION = 0.0005
NEURONS = 7
# What the last one refuses, those before it on its shard and on the other must not keep.
LAST = NEURONS - 1
HOSTILE = (
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    1e39,
    -1e39,
    5e-324,
    0.0,
    -1.0,
    0.5,
    1e6,
    -70.0,
    -55.0,
    2.0**63,
)
MODELS: dict[str, dict[str, Any]] = {
    "iaf_psc_exp": {"I_e": 900.0, "V_m": rv.Normal(-65.0, 3.0)},
    "iaf_psc_alpha": {"I_e": 900.0, "V_m": rv.Normal(-65.0, 3.0)},
    "iaf_psc_delta": {"I_e": 900.0, "V_m": rv.Normal(-65.0, 3.0)},
    "interval_fire": {"interval_min": 1.0, "interval_max": 3.0, "burst_groups": 2.0, "burst_duration": 4.0},
}


class Pair:
    """Two simulations of the same network, of which only one is asked for what may be refused."""

    def __init__(self, model: str, precision: str) -> None:
        self.net = rv.Network(resolution=RESOLUTION)
        self.neurons = self.net.create(model, NEURONS, **MODELS[model])
        weight = 0.02 if model == "interval_fire" else 1.0
        self.net.connect(self.neurons, self.neurons, rv.AllToAll(), weight=weight, delay=1.0)
        self.recorder = self.net.record_spikes()
        self.sims = [
            rv.Simulation(self.net, threads=2, precision=precision, tuning=rv.Tuning(pinning="none"))  # type: ignore[arg-type]
            for _ in range(2)
        ]
        for sim in self.sims:
            sim.run(2.0)

    def state(self, sim: rv.Simulation) -> dict[str, bytes]:
        return {name: sim.get(self.neurons, name).tobytes() for name in getattr(rv, self.neurons.model)._defaults()}


def attempts(now: np.ndarray) -> Iterator[float | np.ndarray]:
    for value in HOSTILE:
        yield value
        one = now.copy()
        one[LAST] = value
        yield one


def refused(attacked: rv.Simulation, neurons: rv.Population, name: str, value: float | np.ndarray) -> bool:
    try:
        attacked.set(neurons, **{name: value})
    except rv.errors.RanvierError:
        return True
    return False


@pytest.mark.parametrize(("model", "precision"), one_of_each(MODELS, ["double", "single"]))
def test_what_is_refused_changes_nothing(model: str, precision: str) -> None:
    scratch = Pair(model, precision)
    for name in getattr(rv, model)._defaults():
        pair = Pair(model, precision)
        now = pair.sims[0].get(pair.neurons, name)
        count = 0
        for value in attempts(now):
            # What is accepted would change too much to go on with.
            if not refused(scratch.sims[0], scratch.neurons, name, value):
                scratch.sims[0].set(scratch.neurons, **{name: now})
                continue
            count += refused(pair.sims[0], pair.neurons, name, value)
            # Constants that follow from parameters only show in a step.
            for sim in pair.sims:
                sim.run(RESOLUTION)
            assert pair.state(pair.sims[0]) == pair.state(pair.sims[1]), (name, value)
        # All that are not finite, but for the limit that may be infinite, of all neurons and of one.
        assert count >= (4 if name == "V_min" else 6)
        for sim in pair.sims:
            sim.run(5.0)
        attacked, untouched = (sim.spikes(pair.recorder) for sim in pair.sims)
        assert len(untouched) >= NEURONS
        assert attacked.digest() == untouched.digest()
        assert pair.state(pair.sims[0]) == pair.state(pair.sims[1])


def test_too_long_refractory_period_is_named() -> None:
    pair = Pair("iaf_psc_exp", "double")
    with pytest.raises(
        rv.errors.ValueOutOfBoundsError, match=r"t_ref is 1e\+06, but it must be shorter than 2\^30 steps"
    ):
        pair.sims[0].set(pair.neurons, t_ref=1e6)


@pytest.mark.parametrize("layout", ["runs", "ring", "blocks"])
def test_refused_weights_change_nothing(layout: str) -> None:
    net = rv.Network()
    exc = net.create("iaf_psc_exp", 20, I_e=900.0, V_m=rv.Normal(-65.0, 3.0))
    net.connect(exc, exc, rv.FixedIndegree(5), weight=rv.Uniform(10.0, 20.0), delay=rv.Uniform(0.5, 3.0))
    recorder = net.record_spikes()
    sims = [rv.Simulation(net, threads=2, tuning=rv.Tuning(pinning="none", table_layout=layout)) for _ in range(2)]  # type: ignore[arg-type]
    for sim in sims:
        sim.run(20.0)
    synapses = sims[0].connections()
    for value in (math.nan, math.inf, -math.inf, -1.0, 1e39, 1e308, 1e-39, -5e-324):
        changed = synapses.weights.copy()
        changed[:] = 15.0
        changed[-1] = value
        for weights in (value, changed):
            with pytest.raises(rv.errors.ValueOutOfBoundsError):
                synapses.weights = weights
    with pytest.raises(rv.errors.ShapeError):
        synapses.weights = np.ones(len(synapses) + 1)
    for sim in sims:
        sim.run(50.0)
    weights_now = [sim.connections().weights.tobytes() for sim in sims]
    assert weights_now[0] == weights_now[1]
    assert sims[0].spikes(recorder).digest() == sims[1].spikes(recorder).digest()
    assert len(sims[0].spikes(recorder)) > 20
