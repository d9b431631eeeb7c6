"""Rallpack 1 to 3 at the steps of the benchmark; validation/test_rallpack_thorough.py looks at shorter ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rallpack_scenes import DURATION, TREE_LENGTH, axon, axon_in_neuron, cable, courses, crossings, expected, tree

STEP = 0.05


@pytest.mark.parametrize(
    ("scheme", "begin", "end"), [("backward_euler", 0.2, 0.05), ("staggered", 0.3, 2e-4)], ids=["euler", "staggered"]
)
def test_a_passive_cable(scheme: Any, begin: float, end: float) -> None:
    """Rallpack 1. Potentials go up by 162 and 108 mV; they may be that many mV off.

    At whole milliseconds: a current that begins at once has a slope without end there.
    """
    time, (first, last) = courses(cable(scheme=scheme), DURATION, STEP, 1.0)
    assert np.abs(first - expected(time, 0.0005, 1.0, 1.0)).max() < begin
    assert np.abs(last - expected(time, 0.9995, 1.0, 1.0)).max() < end


@pytest.mark.parametrize(
    ("scheme", "begin", "end"), [("backward_euler", 0.01, 0.01), ("staggered", 1e-3, 1e-4)], ids=["euler", "staggered"]
)
def test_a_branched_cable(scheme: Any, begin: float, end: float) -> None:
    """Rallpack 2. Potentials go up by 25 mV."""
    time, (first, last) = courses(tree(scheme=scheme), DURATION, STEP, 1.0)
    assert np.abs(first - expected(time, 0.004, TREE_LENGTH, 16.0)).max() < begin
    assert np.abs(last - expected(time, 0.076, TREE_LENGTH, 16.0)).max() < end


def test_an_axon() -> None:
    """The begin of Rallpack 3: spikes at both ends, to 0.02 ms."""
    time, ends = courses(axon(scheme="staggered"), 25.0, 0.025)
    for potential, times in zip(ends, axon_in_neuron(25.0), strict=True):
        own = crossings(time, potential)
        assert len(times) > 1
        assert len(own) == len(times)
        assert np.abs(own - times).max() < 0.02
