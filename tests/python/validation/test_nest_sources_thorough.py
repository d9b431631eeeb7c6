"""Sources fire as NEST's generators do: as `test_nest_sources.py`, with so many trains that small differences show."""

from __future__ import annotations

import numpy as np
import pytest

import ranvier as rv
from nest_pool import requires_nest
from nest_trains import measures, trains_in_ranvier
from test_nest_sources import PAIRS, SIGMAS, differences

# NEST's gamma processes do not begin in equilibrium, and are a percent more regular than their law in steps of 0.1 ms.
OF_GAMMA = [name for name in PAIRS if "gamma" in name]


@requires_nest
@pytest.mark.parametrize("name", [name for name in PAIRS if name not in OF_GAMMA])
def test_many_trains(name: str) -> None:
    # NEST emits one step, 0.1 ms, later; of a period of 100 ms, that is 0.6 % of a sum of sines.
    distances = differences(name, 3000, 1000.0)
    assert distances["spikes"] < SIGMAS
    assert distances["squared intervals"] < SIGMAS


@pytest.mark.parametrize("shape", [2.0, 4.0])
def test_gamma_trains_have_the_moments_of_their_law(shape: float) -> None:
    rate, duration, trains = 0.15, 1000.0, 3000
    found = measures(trains_in_ranvier(rv.gamma_generator(rate=1000.0 * rate, shape=shape), trains, duration), 100.0)
    # Of an equilibrium process: intervals begin at the rate, and those of length x before duration - x end in time.
    scale = 1.0 / (rate * shape)
    second, third = scale**2 * shape * (shape + 1.0), scale**3 * shape * (shape + 1.0) * (shape + 2.0)
    expected = {"spikes": rate * duration, "squared intervals": rate * (duration * second - third)}
    for name, mean in expected.items():
        assert abs(found[name].mean() - mean) < SIGMAS * found[name].std() / np.sqrt(trains), name
