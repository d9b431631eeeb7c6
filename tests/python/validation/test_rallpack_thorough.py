"""Rallpack 1 to 3 with shorter steps: errors go down as the schemes promise, and all spikes of the axon are in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rallpack_scenes import DURATION, TREE_LENGTH, axon, axon_in_neuron, cable, courses, crossings, expected, tree

ORDERS = [("backward_euler", 1), ("staggered", 2)]


@pytest.mark.parametrize(("scheme", "order"), ORDERS)
def test_a_passive_cable_converges(scheme: Any, order: int) -> None:
    """Rallpack 1, at the end."""
    errors = []
    for step in (0.05, 0.025):
        time, (_, last) = courses(cable(scheme=scheme), DURATION, step, 1.0)
        errors.append(np.abs(last - expected(time, 0.9995, 1.0, 1.0)).max())
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.1)


@pytest.mark.parametrize(("scheme", "bound"), [("backward_euler", 0.003), ("staggered", 2e-5)])
def test_a_branched_cable_converges(scheme: Any, bound: float) -> None:
    """Rallpack 2, at the end, with four compartments in each branch."""
    time, (_, last) = courses(tree(scheme=scheme, compartments=4), DURATION, 0.025, 1.0)
    assert np.abs(last - expected(time, 0.079, TREE_LENGTH, 16.0)).max() < bound


@pytest.fixture(scope="module")
def reference() -> Any:
    """Return the times of spikes at both ends."""
    return axon_in_neuron(DURATION)


@pytest.mark.parametrize(("scheme", "order"), ORDERS)
def test_an_axon_converges(scheme: Any, order: int, reference: Any) -> None:
    """Rallpack 3: 18 spikes at each end. Intervals are within 0.05 and 0.001 ms, times within 0.7 and 0.015."""
    errors = []
    for step in (0.025, 0.0125):
        time, ends = courses(axon(scheme=scheme), DURATION, step)
        apart = [crossings(time, own) - times for own, times in zip(ends, reference, strict=True)]
        assert [len(own) for own in apart] == [18, 18]
        errors.append(np.abs(apart).max())
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.1)
    assert errors[1] < (0.7 if order == 1 else 0.015)
    assert np.abs(np.diff(apart)).max() < (0.05 if order == 1 else 0.001)
