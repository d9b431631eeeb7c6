"""Distances between neurons, and neurons near a point or in a region."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError

FloatArray = npt.NDArray[np.float64]


def shortest(begin: FloatArray, end: FloatArray, period: list[float]) -> FloatArray:
    """Return displacements by trying all images."""
    steps = itertools.product(*[(-1.0, 0.0, 1.0) if length else (0.0,) for length in period])
    images = np.stack([end - begin + np.array(step) * period for step in steps])
    nearest = np.argmin(np.linalg.norm(images, axis=-1), axis=0)
    found: FloatArray = np.take_along_axis(images, nearest[None, ..., None], axis=0)[0]
    return found


def populations(dimensions: int, periodic: tuple[bool, ...]) -> tuple[rv.Population, rv.Population]:
    net = rv.Network(seed=2)
    extent = (1.0, 2.0, 0.5)[:dimensions]
    layout = rv.random_positions(extent=extent, periodic=periodic)
    return net.create("iaf_psc_exp", 20, positions=layout), net.create("iaf_psc_exp", 30, positions=layout)


@pytest.mark.parametrize("periodic", [(False, False), (True, False), (True, True), (False, True, True)])
def test_displacements_are_the_shortest_of_all_images(periodic: tuple[bool, ...]) -> None:
    a, b = populations(len(periodic), periodic)
    period = [length if repeats else 0.0 for length, repeats in zip((1.0, 2.0, 0.5), periodic, strict=False)]
    expected = shortest(a.positions[None], b.positions[:, None], period)
    assert np.allclose(rv.displacement(a, b), expected, rtol=0.0, atol=1e-15)
    assert np.allclose(rv.distance(a, b), np.linalg.norm(expected, axis=-1), rtol=0.0, atol=1e-15)
    assert np.array_equal(rv.distance(a[::3], a + b), rv.distance(a, a + b)[:, ::3])
    # Rules see the same distances: there is a connection below a bound, and none above it.
    bound = float(np.median(rv.distance(a, b)))
    mask = rv.circle(bound) if len(periodic) == 2 else rv.ball(bound)
    a.network.connect(a, b, rv.PairwiseBernoulli(1.0, mask=mask))
    connections = rv.Simulation(a.network, threads=2, progress=False).connections(a, b)
    made = np.zeros((30, 20), dtype=int)
    made[np.asarray(connections.targets) - b.first_id, np.asarray(connections.sources) - a.first_id] = 1
    assert np.array_equal(made, rv.distance(a, b) <= bound)


def test_nearest_neurons_are_those_of_the_least_distances() -> None:
    a, b = populations(2, (True, True))
    both, point = a + b, np.array([0.45, -0.95])
    distances = np.linalg.norm(shortest(point, both.positions, [1.0, 2.0]), axis=-1)
    for count in (1, 7, 50):
        near = both.nearest(point, count)
        assert set(near.ids) == set(both.ids[np.argsort(distances)[:count]])
    ring = rv.Network().create("iaf_psc_exp", positions=rv.grid((4, 1)))
    assert list(ring.nearest((0.0, 0.0), 1).indices) == [1]
    assert list(ring[2:].nearest((0.0, 0.0), 1).indices) == [2]


def test_neurons_in_a_region() -> None:
    a, b = populations(2, (True, False))
    displaced = shortest(np.array([0.5, 0.25]), (a + b).positions, [1.0, 0.0])
    expected = (a + b).ids[np.linalg.norm(displaced, axis=-1) <= 0.4]
    assert 0 < len(expected) < 50
    assert np.array_equal((a + b).within(rv.circle(0.4), (0.5, 0.25)).ids, expected)
    box = rv.rectangle((0.0, -1.0), (0.5, 0.0))
    inside = np.all((a.positions >= [0.0, -1.0]) & (a.positions <= [0.5, 0.0]), axis=1)
    assert np.array_equal(a.within(box).indices, np.flatnonzero(inside))
    none = a.within(rv.circle(1e-9), (10.3, 10.0))
    assert len(none) == 0
    assert none.positions.shape == (0, 2)


def bad_views() -> dict[str, rv.Population]:
    net = rv.Network()
    return {
        "flat": net.create("iaf_psc_exp", positions=rv.grid((2, 2))),
        "deep": net.create("iaf_psc_exp", positions=rv.grid((2, 2, 2))),
        "um": net.create("iaf_psc_exp", positions=rv.grid((2, 2), unit="um")),
        "ring": net.create("iaf_psc_exp", positions=rv.grid((2, 2), periodic=True)),
        "nowhere": net.create("iaf_psc_exp", 2),
        "apart": rv.Network().create("iaf_psc_exp", positions=rv.grid((2, 2))),
    }


BAD: list[tuple[Callable[[dict[str, Any]], Any], type[Exception], str]] = [
    (lambda at: rv.distance(at["flat"], at["deep"]), ShapeError, "2 and 3 dimensions"),
    (lambda at: rv.distance(at["flat"], at["um"]), ValueOutOfBoundsError, "in mm and um"),
    (lambda at: rv.distance(at["flat"], at["ring"]), ValueOutOfBoundsError, r"\(inf, inf\) and \(1.0, 1.0\)"),
    (lambda at: rv.distance(at["flat"], at["nowhere"]), StateError, "its neurons have no positions"),
    (lambda at: rv.distance(at["flat"], at["apart"]), StateError, "another network"),
    (lambda at: rv.distance(at["flat"], cast(Any, [[0.0, 0.0]])), WrongTypeError, "targets must be a population"),
    (lambda at: at["nowhere"].nearest((0.0, 0.0)), StateError, "its neurons have no positions"),
    (lambda at: at["flat"].nearest((0.0, 0.0, 0.0)), ShapeError, "the positions have 2 dimensions"),
    (lambda at: at["flat"].nearest((0.0, np.nan)), ValueOutOfBoundsError, "coordinates must be finite"),
    (lambda at: at["flat"].nearest((0.0, 0.0), 5), ValueOutOfBoundsError, "it must be at most 4"),
    (lambda at: at["flat"].nearest((0.0, 0.0), 0), ValueOutOfBoundsError, "it must be at least 1"),
    (lambda at: at["flat"].within("circle"), WrongTypeError, "must be a mask"),
    (lambda at: at["flat"].within(rv.ball(1.0)), ShapeError, r"dimensions of ball\(1.0\) is 3, but positions of"),
    (lambda at: at["flat"].within(rv.grid_mask((3, 3))), rv.errors.RuleError, "grid"),
    (lambda at: (at["flat"] + at["ring"]).within(rv.circle(1.0)), ValueOutOfBoundsError, "periods"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_queries_are_refused(call: Callable[[dict[str, Any]], Any], error: type[Exception], message: str) -> None:
    views = bad_views()
    with pytest.raises(error, match=message):
        call(views)
