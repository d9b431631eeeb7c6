"""Sources fire as NEST's generators do: as `test_nest_sources.py`, with so many trains that small differences show."""

from __future__ import annotations

import pytest

from nest_pool import requires_nest
from test_nest_sources import PAIRS, SIGMAS, differences

pytestmark = requires_nest


@pytest.mark.parametrize("name", PAIRS)
def test_many_trains(name: str) -> None:
    # NEST emits one step, 0.1 ms, later; of a period of 100 ms, that is 0.6 % of a sum of sines.
    distances = differences(name, 3000, 1000.0)
    assert distances["spikes"] < SIGMAS
    assert distances["squared intervals"] < SIGMAS
