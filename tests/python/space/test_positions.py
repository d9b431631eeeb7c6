"""Positions of populations: given, on grids and random; views, copies, and what is refused."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from fuzz_space import draw_frame, draw_layout
from ranvier.errors import ReadOnlyError, ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError

POINTS = np.array([[0.0, 0.5], [0.1, -0.2], [0.3, 0.4]])


def test_given_positions_are_kept() -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 3, positions=POINTS)
    assert np.array_equal(cells.positions, POINTS)
    assert np.array_equal(cells[[0, 2]].positions, POINTS[[0, 2]])
    assert np.array_equal(cells[1].positions, POINTS[1:2])
    assert cells.layout == rv.positions(POINTS)


def test_an_array_that_changes_later_changes_nothing() -> None:
    net = rv.Network()
    points = POINTS.copy()
    cells = net.create("iaf_psc_exp", positions=points)
    points[:] = 7.0
    assert np.array_equal(cells.positions, POINTS)
    with pytest.raises(ValueError, match="read-only"):
        cells.positions[0, 0] = 1.0


def test_positions_determine_the_size() -> None:
    net = rv.Network()
    assert len(net.create("iaf_psc_exp", positions=rv.grid((4, 5, 2)))) == 40
    assert len(net.create("iaf_psc_exp", positions=POINTS.tolist())) == 3
    assert len(net.create("iaf_psc_exp", positions=rv.random_positions(6, extent=(1, 1)))) == 6
    with pytest.raises(ShapeError, match="size of a population is 5, but there are 40 positions"):
        net.create("iaf_psc_exp", 5, positions=rv.grid((4, 5, 2)))
    with pytest.raises(WrongTypeError, match="size of a population must be an integer"):
        net.create("iaf_psc_exp", positions=rv.random_positions(extent=(1, 1)))


@pytest.mark.parametrize(("shape", "extent", "center"), [((3, 4), (3.0, 2.0), (1.0, -1.0)), ((2, 3, 4), 2.0, 0.5)])
def test_a_grid_has_neurons_in_the_middle_of_cells(shape: Any, extent: Any, center: Any) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", positions=rv.grid(shape, extent, center=center))
    sides, middle = np.broadcast_to(extent, len(shape)), np.broadcast_to(center, len(shape))
    axes = [middle[i] - sides[i] / 2 + sides[i] / count * (np.arange(count) + 0.5) for i, count in enumerate(shape)]
    expected = np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")], axis=1)
    assert np.allclose(cells.positions, expected, rtol=0.0, atol=1e-14)
    spacing = tuple(sides / shape)
    assert rv.grid(shape, spacing=spacing, center=center) == cells.layout


def test_random_positions_depend_on_seed_population_and_index_only() -> None:
    layout = rv.random_positions(extent=(2.0, 3.0))
    net = rv.Network(seed=5)
    a, b = net.create("iaf_psc_exp", 50, positions=layout), net.create("iaf_psc_exp", 50, positions=layout)
    again = rv.Network(seed=5).create("iaf_psc_alpha", 20, positions=layout)
    assert np.array_equal(again.positions, a.positions[:20])
    assert not np.array_equal(a.positions, b.positions)
    assert np.array_equal((a[::7] + b[[3, 8]]).positions, np.concatenate([a.positions[::7], b.positions[[3, 8]]]))
    before = a.positions
    net.seed = 6
    assert not np.array_equal(a.positions, before)


@pytest.mark.parametrize(
    "layout",
    [
        rv.grid((3, 1), periodic=(True, False), unit="um"),
        rv.random_positions(3, extent=(1, 2, 3), shape="ellipsoid", center=(0, 0, 1)),
        rv.positions(POINTS, extent=1.0, periodic=True),
    ],
)
def test_positions_are_copied_with_the_network(layout: rv.Positions) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", positions=layout)
    copy = pickle.loads(pickle.dumps(net))
    assert copy == net
    assert np.array_equal(copy.populations[0].positions, cells.positions)
    assert pickle.loads(pickle.dumps(layout)) == layout
    if not isinstance(layout, rv.GivenPositions):
        assert eval(repr(layout), {name: getattr(rv, name) for name in ("grid", "random_positions")}) == layout


def test_positions_cannot_be_changed() -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", positions=POINTS)
    with pytest.raises(ReadOnlyError, match=r"positions of population .* cannot be changed"):
        net.set(cells, positions=POINTS)
    with pytest.raises(ReadOnlyError, match="positions"):
        cells.positions = POINTS  # type: ignore[misc]
    with pytest.raises(ReadOnlyError, match="make other positions"):
        cells.layout.unit = "um"  # type: ignore[union-attr]


def test_views_need_positions_of_one_kind() -> None:
    net = rv.Network()
    flat = net.create("iaf_psc_exp", positions=POINTS, name="flat")
    deep = net.create("iaf_psc_exp", positions=rv.grid((2, 2, 2)), name="deep")
    small = net.create("iaf_psc_exp", positions=rv.grid((2, 2), unit="um"), name="small")
    nowhere = net.create("iaf_psc_exp", 2, name="nowhere")
    with pytest.raises(StateError, match="population nowhere: its neurons have no positions"):
        _ = nowhere.positions
    with pytest.raises(StateError, match="population nowhere: its neurons have no positions"):
        _ = (flat + nowhere).positions
    with pytest.raises(ShapeError, match=r"positions of flat \+ deep is of 2 and 3 dimensions"):
        _ = (flat + deep).positions
    with pytest.raises(ValueOutOfBoundsError, match=r"positions of flat \+ small is in mm and um"):
        _ = (flat + small).positions


def test_sources_have_positions() -> None:
    net = rv.Network()
    played = net.create_spike_generators([[1.0], [], [2.0]], positions=POINTS)
    drawn = net.create(rv.poisson_generator(rate=5.0), positions=rv.grid((2, 2)))
    assert np.array_equal((played + drawn).positions[:3], POINTS)
    assert pickle.loads(pickle.dumps(net)) == net
    net.set(played, spike_times=[[1.0], [3.0], [2.0]])
    assert np.array_equal(played.positions, POINTS)
    with pytest.raises(ShapeError, match="size of a population is 2, but there are 3 positions"):
        net.create_spike_generators([[1.0], []], positions=POINTS)


@pytest.mark.parametrize("seed", range(40))
def test_random_layouts_hold_what_they_promise(seed: int) -> None:
    chance = random.Random(seed)
    net, frame = rv.Network(seed=seed), draw_frame(chance)
    extent = np.array(frame.extent)
    populations = []
    for _ in range(3):
        size = chance.choice([1, 2, 12, 30])
        layout = draw_layout(frame, size, chance)
        made = net.create("iaf_psc_exp", size, positions=layout)
        assert (layout.dimensions, layout.unit, layout.periodic) == (len(extent), frame.unit, frame.periodic)
        assert made.positions.shape == (size, len(extent))
        assert np.all(np.abs(made.positions) <= 0.5 * extent * (1.0 + 1e-15))
        if isinstance(layout, rv.RandomPositions) and size > 1:
            distances = rv.distance(made, made)[np.triu_indices(size, 1)]
            assert distances.min() >= layout.min_distance
        populations.append(made)
    whole = populations[0] + populations[1] + populations[2]
    chosen = sorted(chance.sample(range(len(whole)), chance.randrange(len(whole) + 1)))
    assert np.array_equal(whole[chosen].positions, whole.positions[chosen])
    assert np.array_equal(rv.displacement(whole, whole[chosen]), -rv.displacement(whole[chosen], whole).swapaxes(0, 1))
    half = np.where(frame.periodic, 0.5 * extent, np.inf)
    assert np.all(np.abs(rv.displacement(whole, whole)) <= half * (1.0 + 1e-15))
    copy = pickle.loads(pickle.dumps(net))
    assert copy == net
    for population, again in zip(populations, copy.populations, strict=True):
        assert np.array_equal(population.positions, again.positions)
        assert {population.layout: 1}[again.layout] == 1


def test_positions_are_shown() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 2, name="nowhere")
    assert "positions" not in net.summary()
    sheet = net.create("iaf_psc_exp", positions=rv.grid((3, 4), periodic=True), name="sheet")
    layout = "grid((3, 4), extent=(1.0, 1.0), periodic=True)"
    assert layout in " ".join(net.summary().split())
    for shown in (net._repr_html_(), sheet._repr_html_(), sheet[2:]._repr_html_()):
        assert layout in shown
    assert "positions" not in net["nowhere"]._repr_html_()


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_neurons_keep_a_least_distance(dimensions: int, periodic: bool) -> None:
    net = rv.Network(seed=4)
    layout = rv.random_positions(extent=(1.0,) * dimensions, min_distance=0.08, periodic=periodic)
    cells = net.create("iaf_psc_exp", 60, positions=layout)
    difference = cells.positions[:, None] - cells.positions
    if periodic:
        difference -= np.round(difference)
    distances = np.linalg.norm(difference, axis=-1)[np.triu_indices(60, 1)]
    assert 0.08 <= distances.min() < 0.12
    assert net.create("iaf_psc_exp", positions=rv.positions(cells.positions, min_distance=0.08)).layout is not None
    # They are drawn again for another seed, and the same for the same.
    before = cells.positions
    net.seed = 5
    assert not np.array_equal(cells.positions, before)
    net.seed = 4
    assert np.array_equal(cells.positions, before)
    assert np.array_equal(pickle.loads(pickle.dumps(net)).populations[0].positions, before)
    net.set(cells, I_e=100.0)
    assert np.array_equal(cells.positions, before)


def test_a_seed_without_space_for_all_neurons_is_refused() -> None:
    # Which seeds leave space for the last neuron is not known before.
    layout = rv.random_positions(extent=(1.0, 1.0), min_distance=0.72)
    made, refused = [], []
    for seed in range(1, 30):
        net = rv.Network(seed=seed)
        try:
            net.create("iaf_psc_exp", 4, positions=layout)
            made.append(net)
        except ValueOutOfBoundsError as error:
            refused.append((seed, str(error), len(net.populations)))
    assert made
    assert refused
    assert "min_distance of population 'iaf_psc_exp_0' is 0.72 mm" in refused[0][1]
    assert {count for _, _, count in refused} == {0}
    before = made[0].seed, made[0].populations[0].positions
    with pytest.raises(ValueOutOfBoundsError, match="no place was found for neuron"):
        made[0].seed = refused[0][0]
    assert made[0].seed == before[0]
    assert np.array_equal(made[0].populations[0].positions, before[1])


def test_neurons_on_a_surface_have_one_distance_from_its_center() -> None:
    net = rv.Network()
    layout = rv.random_positions(extent=(2.0, 2.0, 2.0), center=(0.0, 1.0, 0.0), shape="surface")
    ball = net.create("iaf_psc_exp", 50, positions=layout)
    assert np.allclose(np.linalg.norm(ball.positions - [0.0, 1.0, 0.0], axis=1), 1.0, rtol=0.0, atol=1e-12)


def test_layers_are_one_below_the_other() -> None:
    column = rv.layers({"L1": 0.1, "L23": 0.35, "L4": 0.3}, area=(1.0, 2.0), center=(1.0, 0.0), top=0.05)
    assert list(column) == ["L1", "L23", "L4"]
    bounds = [column.bounds(name) for name in column]
    assert np.allclose(bounds, [(-0.05, 0.05), (-0.4, -0.05), (-0.7, -0.4)], rtol=0.0, atol=1e-15)
    assert [lower for lower, _ in bounds[:-1]] == [upper for _, upper in bounds[1:]]
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 400, positions=column["L23"])
    assert np.all(np.abs(cells.positions - [1.0, 0.0, -0.225]) <= [0.5, 1.0, 0.175])
    assert np.ptp(cells.positions, axis=0) == pytest.approx([1.0, 2.0, 0.35], rel=0.05)
    apart = column.positions("L4", 30, min_distance=0.05)
    assert (apart.min_distance, apart.count, apart.extent) == (0.05, 30, column["L4"].extent)
    copy = pickle.loads(pickle.dumps(column))
    assert copy == column
    assert copy.bounds("L4") == column.bounds("L4")
    assert rv.layers({"a": 1.0}, area=1.0, periodic=(True, False))["a"].periodic == (True, False, False)
    assert "L4: z from -0.7 to -0.4" in repr(column)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: rv.positions([[0.0, np.nan]]), ValueOutOfBoundsError, "y of position 0 is nan"),
    (lambda: rv.positions([[0.0, 1.0], [np.inf, 0.0]]), ValueOutOfBoundsError, "x of position 1 is inf"),
    (lambda: rv.positions([[0.0, 1e200]]), ValueOutOfBoundsError, r"y of position 0 is 1e\+200"),
    (lambda: rv.grid((4, 4), extent=1e-200), ValueOutOfBoundsError, "extent of a grid along x is 1e-200"),
    (lambda: rv.grid((4, 4), center=(0.0, 1e12)), ValueOutOfBoundsError, "center of a grid along y"),
    (lambda: rv.random_positions(extent=(1.0, 1.0), center=1e17), ValueOutOfBoundsError, "numbers of this size differ"),
    (lambda: rv.random_positions(extent=(1.0, 1.0), min_distance=1e300), ValueOutOfBoundsError, "at most 1e"),
    (lambda: rv.positions([[0.0], [1.0]]), ShapeError, "dimensions of positions is 1"),
    (lambda: rv.positions(np.zeros((5, 4))), ShapeError, "dimensions of positions is 4"),
    (lambda: rv.positions([0.0, 1.0]), ShapeError, "one row for each neuron"),
    (lambda: rv.positions(np.zeros((0, 2))), ShapeError, "number of positions is 0"),
    (lambda: rv.positions([["a", "b"]]), WrongTypeError, "positions must be"),
    (lambda: rv.positions([[1j, 0.0]]), WrongTypeError, "positions must be"),
    (lambda: rv.positions([[True, False]]), WrongTypeError, "positions must be"),
    (lambda: rv.positions([[0.0, 1.0], [2.0]]), WrongTypeError, "lists of different lengths"),
    (lambda: rv.positions(POINTS, periodic=True), ShapeError, "periodic positions are in a box"),
    (lambda: rv.positions(POINTS, extent=0.5), ValueOutOfBoundsError, "y of position 0 is 0.5, but the box"),
    (lambda: rv.positions(POINTS, center=1.0), ShapeError, "a center is that of a box"),
    (lambda: rv.positions(POINTS, unit="cm"), rv.errors.UnknownNameError, "cm"),
    (lambda: rv.grid((4,)), ShapeError, "dimensions of shape of a grid is 1"),
    (lambda: rv.grid((4, 4, 4, 4)), ShapeError, "dimensions of shape of a grid is 4"),
    (lambda: rv.grid((4, 0)), ValueOutOfBoundsError, "shape of a grid is 0"),
    (lambda: rv.grid((4, 1.5)), WrongTypeError, "must be an integer"),  # type: ignore[arg-type]
    (lambda: rv.grid("ab"), WrongTypeError, "shape of a grid"),  # type: ignore[arg-type]
    (lambda: rv.grid((2**30, 2**30)), ValueOutOfBoundsError, r"at most 2\^48"),
    (lambda: rv.grid((4, 4), extent=0.0), ValueOutOfBoundsError, "extent of a grid along x is 0.0"),
    (lambda: rv.grid((4, 4), extent=(1.0, -1.0)), ValueOutOfBoundsError, "extent of a grid along y is -1.0"),
    (lambda: rv.grid((4, 4), spacing=np.nan), ValueOutOfBoundsError, "spacing of a grid along x is nan"),
    (lambda: rv.grid((4, 4), spacing=1e308), ValueOutOfBoundsError, "spacing of a grid along x is 1e"),
    (lambda: rv.grid((4, 4), extent=(1.0, 1.0, 1.0)), ShapeError, "there are 2 dimensions"),
    (lambda: rv.grid((4, 4), 1.0, spacing=1.0), WrongTypeError, "either an extent or a spacing"),
    (lambda: rv.grid((4, 4), periodic=(True,)), ShapeError, "there are 2 dimensions"),
    (lambda: rv.grid((4, 4), periodic=1), WrongTypeError, "must be True or False"),  # type: ignore[arg-type]
    (lambda: rv.random_positions(extent=1.0), ShapeError, "two or three dimensions"),
    (lambda: rv.random_positions(extent=(1.0, np.inf)), ValueOutOfBoundsError, "along y is inf"),
    (lambda: rv.random_positions(0, extent=(1.0, 1.0)), ValueOutOfBoundsError, "number of positions is 0"),
    (lambda: rv.random_positions(extent=(1.0, 1.0), shape="cylinder"), ShapeError, "a cylinder has three"),
    (lambda: rv.random_positions(extent=(1.0, 1.0), shape="ball"), rv.errors.UnknownNameError, "ball"),
    (
        lambda: rv.random_positions(extent=(1.0, 1.0), shape="ellipsoid", periodic=True),
        ValueOutOfBoundsError,
        "does not fill the box along x",
    ),
    (
        lambda: rv.random_positions(extent=(1.0, 1.0, 1.0), shape="cylinder", periodic=(False, True, True)),
        ValueOutOfBoundsError,
        "does not fill the box along y",
    ),
    (lambda: rv.random_positions(extent=(1.0, 1.0), min_distance=0.0), ValueOutOfBoundsError, "it must be > 0"),
    (lambda: rv.random_positions(extent=(1.0, 1.0), min_distance="1 mm"), WrongTypeError, "min_distance"),  # type: ignore[arg-type]
    (lambda: rv.random_positions(extent=(1.0, 2.0), shape="surface"), ValueOutOfBoundsError, "lengths must be equal"),
    (
        lambda: rv.positions([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], min_distance=0.1),
        ValueOutOfBoundsError,
        "distance of the positions 0 and 2 is 0 mm, but it must be at least 0.1 mm",
    ),
    (
        lambda: rv.positions([[-0.5, 0.0], [0.45, 0.0]], extent=1.0, periodic=True, min_distance=0.1),
        ValueOutOfBoundsError,
        "distance of the positions 0 and 1 is 0.05 mm",
    ),
    (lambda: rv.layers({}, area=1.0), ShapeError, "number of layers is 0"),
    (lambda: rv.layers([0.1, 0.2], area=1.0), WrongTypeError, "must be a dictionary"),  # type: ignore[arg-type]
    (lambda: rv.layers({"L1": 0.0}, area=1.0), ValueOutOfBoundsError, "thickness of layer L1 is 0.0"),
    (lambda: rv.layers({"L1": 1.0}, area=(1.0, 1.0, 1.0)), ShapeError, "there are 2 dimensions"),
    (lambda: rv.layers({"L1": 1.0}, area=1.0, shape="ball"), rv.errors.UnknownNameError, "ball"),
    (lambda: rv.layers({"L1": 1.0}, area=1.0)["L2"], rv.errors.UnknownNameError, "L2"),
    (lambda: rv.Network().create("iaf_psc_exp", 3, positions="no"), WrongTypeError, "not str"),
    (lambda: rv.Network().create("iaf_psc_exp", 2, positions=POINTS), ShapeError, "there are 3 positions"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_positions_are_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
