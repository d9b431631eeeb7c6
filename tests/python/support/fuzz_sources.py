"""Random trains of spikes, for random networks."""

from __future__ import annotations

import contextlib
import math
import random
from typing import Any

import ranvier as rv
from ranvier.base.times import time_of

__all__ = ["create_sources", "stimulate_with_trains"]


def _train(chance: random.Random) -> rv.populations.model_base.Stimulator:
    """Return trains of one of the stimulators that emit spikes."""
    rate: Any = chance.choice([50.0, 800.0, rv.Uniform(10.0, 2000.0)])
    window: dict[str, Any] = {"start": chance.choice([0.0, 0.0, 3.0]), "stop": chance.choice([math.inf, 60.0])}
    renewal: dict[str, Any] = {
        "shape": chance.choice([0.3, 1.0, 3.0, rv.Uniform(0.5, 9.0)]),
        "dead_time": chance.choice([0.0, 0.2]),
    }
    changing: dict[str, Any] = {"times": [0.0, 7.0, 30.0], "rates": [chance.uniform(0.0, 2000.0), 0.0, 900.0]}
    sine: dict[str, Any] = {
        "amplitude": chance.choice([0.0, 300.0, rv.Uniform(-400.0, 900.0)]),
        "frequency": chance.choice([0.0, 30.0, 5000.0]),
        "phase": chance.choice([0.0, rv.Uniform(0.0, 360.0)]),
    }
    kind = chance.randrange(8)
    if kind == 0:
        return rv.inhomogeneous_poisson_generator(**changing, **window)
    if kind == 1:
        return rv.inhomogeneous_gamma_generator(**changing, **renewal, **window)
    if kind == 2:
        return rv.sinusoidal_poisson_generator(rate=rate, **sine, **window)
    if kind == 3:
        return rv.sinusoidal_gamma_generator(rate=rate, **sine, **renewal, **window)
    if kind == 4:
        p_copy: Any = chance.choice([1.0, 0.3, rv.Uniform(0.0, 1.0)])
        return rv.mip_generator(rate=rate, p_copy=p_copy, **window)
    if kind == 5:
        pulses = [chance.uniform(0.0, 10.0), 11.0, 11.5, 40.0]
        activity, sdev = chance.choice([0, 1, 30]), chance.choice([0.0, 0.5, 4.0])
        return rv.pulsepacket_generator(pulse_times=pulses, activity=activity, sdev=sdev, **window)
    if kind == 6:
        return rv.gamma_generator(rate=rate, **renewal, **window)
    return rv.poisson_generator(rate=rate, **window)


def create_sources(net: rv.Network, chance: random.Random) -> None:
    """Create sources of random trains."""
    # Times of some trains are not on the grids of all networks.
    with contextlib.suppress(rv.errors.GridError):
        net.create(_train(chance), chance.choice([1, 3, 50]))


def stimulate_with_trains(
    net: rv.Network, population: rv.Population, receptor: str | None, chance: random.Random
) -> None:
    """Stimulate neurons with random trains, in some networks."""
    if chance.random() < 0.7:
        return
    weight = (
        1.0
        if population.model == "parrot_neuron"
        else 0.01
        if population.model in ("iaf_cond_nmda", "interval_fire") or population.cell is not None
        else 20.0
    )
    delay = time_of(chance.choice([1, 1, 7]) * round(population.step / net.resolution), net.resolution)
    with contextlib.suppress(rv.errors.GridError):
        net.stimulate(population, _train(chance), weight=weight, receptor=receptor, delay=delay)
