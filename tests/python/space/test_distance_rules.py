"""Rules by distance: masks and probabilities of pairs, against all pairs one by one."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.errors import (
    DelayError,
    EquationError,
    RuleError,
    ShapeError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

BOX = (1.0, 0.8)
# For arguments that type checkers refuse.
untyped: Any = rv
MASKS = [
    (rv.circle(0.2), lambda x, y: np.hypot(x, y) <= 0.2),
    (rv.circle(0.2, center=(0.1, 0.0)), lambda x, y: np.hypot(x - 0.1, y) <= 0.2),
    (rv.donut(0.1, 0.3), lambda x, y: (np.hypot(x, y) > 0.1) & (np.hypot(x, y) <= 0.3)),
    (rv.rectangle((-0.1, 0.0), (0.3, 0.2)), lambda x, y: (x >= -0.1) & (x <= 0.3) & (y >= 0.0) & (y <= 0.2)),
    (rv.rectangle((-0.2, -0.05), (0.2, 0.05), angle=90), lambda x, y: (abs(x) <= 0.05) & (abs(y) <= 0.2)),
    (rv.ellipse((0.3, 0.1)), lambda x, y: (x / 0.3) ** 2 + (y / 0.1) ** 2 <= 1.0),
    (
        rv.ellipse((0.3, 0.1), angle=30, center=(0.1, -0.1)),
        lambda x, y: (
            ((np.cos(np.pi / 6) * (x - 0.1) + np.sin(np.pi / 6) * (y + 0.1)) / 0.3) ** 2
            + ((np.cos(np.pi / 6) * (y + 0.1) - np.sin(np.pi / 6) * (x - 0.1)) / 0.1) ** 2
            <= 1.0
        ),
    ),
    (rv.circle(0.3) & rv.rectangle((0, -1), (1, 1)), lambda x, y: (np.hypot(x, y) <= 0.3) & (x >= 0)),
    (
        rv.circle(0.1) | rv.circle(0.1, center=(0.3, 0)),
        lambda x, y: np.minimum(np.hypot(x, y), np.hypot(x - 0.3, y)) <= 0.1,
    ),
]
Shape = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.bool_]]


def displacements(sources: Any, targets: Any, periodic: bool = False) -> npt.NDArray[np.float64]:
    """Return target minus source, by target and source."""
    found: npt.NDArray[np.float64] = targets.positions[:, None, :] - sources.positions[None, :, :]
    if periodic:
        sides = np.array(BOX)
        found -= sides * np.round(found / sides)
    return found


def pairs_of(sources: Any, targets: Any, threads: int = 1) -> set[tuple[int, int]]:
    """Return the connected pairs, as indices, of a network with one projection."""
    found = rv.Simulation(sources.network, threads=threads).connections()
    pairs = list(
        zip(np.searchsorted(sources.ids, found.sources), np.searchsorted(targets.ids, found.targets), strict=True)
    )
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("mask", "inside"), MASKS, ids=[repr(mask) for mask, _ in MASKS])
def test_all_pairs_within_a_mask(mask: rv.Mask, inside: Shape, periodic: bool) -> None:
    net = rv.Network(seed=2)
    sources = net.create("iaf_psc_exp", 90, positions=rv.random_positions(extent=BOX, periodic=periodic))
    targets = net.create("iaf_psc_exp", positions=rv.grid((8, 6), BOX, periodic=periodic))
    net.connect(sources, targets, rv.AllToAll(mask=mask))
    apart = displacements(sources, targets, periodic)
    expected = {(source, target) for target, source in np.argwhere(inside(apart[..., 0], apart[..., 1]))}
    assert pairs_of(sources, targets) == expected
    assert net.projections[0].expected_synapses == pytest.approx(len(expected))
    assert np.array_equal(mask.contains(apart.reshape(-1, 2)), inside(apart[..., 0], apart[..., 1]).ravel())


def test_masks_of_three_dimensions() -> None:
    net = rv.Network(seed=2)
    cells = net.create("iaf_psc_exp", 200, positions=rv.random_positions(extent=(1, 1, 1)))
    net.connect(cells, cells, rv.AllToAll(mask=rv.ball(0.5) & rv.box((-1, -1, 0), (1, 1, 1)), allow_autapses=False))
    apart = displacements(cells, cells)
    inside = (np.linalg.norm(apart, axis=-1) <= 0.5) & (apart[..., 2] >= 0.0)
    np.fill_diagonal(inside, val=False)
    assert pairs_of(cells, cells) == {(source, target) for target, source in np.argwhere(inside)}


def test_a_body_is_turned_about_its_axis() -> None:
    stick = rv.box((-1, -0.1, -0.1), (1, 0.1, 0.1), axis=(0, 0, 1), angle=90)
    assert stick.contains([[0, 0.9, 0], [0.9, 0, 0]]).tolist() == [True, False]
    stick = rv.ellipsoid((1, 0.1, 0.1), axis=(0, 2, 0), angle=90)
    assert stick.contains([[0, 0, -0.9], [0, 0, 0.9], [0.9, 0, 0]]).tolist() == [True, True, False]
    # About the diagonal, x becomes y, y becomes z.
    stick = rv.box((0, -0.1, -0.1), (1, 0.1, 0.1), axis=(1, 1, 1), angle=120)
    assert stick.contains([[0.5, 0.45, 0.0], [0.5, -0.45, 0.0], [0, 0.9, 0]]).tolist() == [True, True, False]


def test_a_circle_is_a_cylinder_in_three_dimensions() -> None:
    net = rv.Network(seed=2)
    cells = net.create("iaf_psc_exp", 100, positions=rv.random_positions(extent=(1, 1, 5)))
    net.connect(cells, cells, rv.AllToAll(mask=rv.circle(0.3)))
    inside = np.linalg.norm(displacements(cells, cells)[..., :2], axis=-1) <= 0.3
    assert pairs_of(cells, cells) == {(source, target) for target, source in np.argwhere(inside)}


@pytest.mark.parametrize(
    ("mask", "first", "shape"),
    [
        (rv.grid_mask((3, 3)), (-1, -1), (3, 3)),
        (rv.grid_mask((2, 4)), (-1, -2), (2, 4)),
        (rv.grid_mask((2, 1), first=(0, 3)), (0, 3), (2, 1)),
    ],
)
def test_places_on_a_grid(mask: rv.Mask, first: tuple[int, int], shape: tuple[int, int]) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", positions=rv.grid((9, 7), BOX, periodic=True))
    net.connect(cells, cells, rv.AllToAll(mask=mask))
    expected = set()
    for x, y in np.ndindex(9, 7):
        for right, up in np.ndindex(shape):
            to = (x + first[0] + right) % 9, (y + first[1] + up) % 7
            expected.add((x * 7 + y, to[0] * 7 + to[1]))
    assert pairs_of(cells, cells) == expected


def test_units_of_positions_and_of_expressions() -> None:
    found = []
    for unit, scale, text in [
        ("mm", 1.0, "exp(-d/l)"),
        ("um", 1000.0, "exp(-d/l)"),
        ("mm", 1.0, "exp(-(d/l)**2)**0.5"),
    ]:
        net = rv.Network(seed=4)
        points = np.random.default_rng(1).uniform(size=(200, 2)) * scale
        cells = net.create("iaf_psc_exp", positions=rv.positions(points, unit=unit))
        net.connect(cells, cells, rv.PairwiseBernoulli(text, l="100 um"))
        found.append(pairs_of(cells, cells))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("threads", [2, 5])
def test_same_synapses_for_any_number_of_threads(threads: int) -> None:
    def draw(threads: int) -> list[Any]:
        net = rv.Network(seed=8)
        cells = net.create("iaf_psc_exp", 400, positions=rv.random_positions(extent=BOX, periodic=True))
        others = net.create("iaf_psc_exp", positions=rv.grid((12, 9), BOX, periodic=True))
        everyone = cells + others
        net.connect(cells, others, rv.PairwiseBernoulli("0.5*exp(-d**2/(2*sigma**2))", sigma=0.2))
        net.connect(everyone[3:480:2], cells[50:], rv.PairwiseBernoulli(0.2, mask=rv.circle(0.3), allow_autapses=False))
        net.connect(others, everyone, rv.PairwisePoisson("1.5*exp(-(dx/0.1)**2)", mask=rv.circle(0.4)))
        net.connect(cells, cells, "pairwise_bernoulli", probability="a*exp(-abs(i - j)/20)", a=0.4)
        net.connect(cells, everyone, rv.FixedIndegree(11, probability="exp(-d/l)", l=0.1))
        net.connect(everyone, cells[::3], rv.FixedOutdegree(7, mask=rv.circle(0.3), allow_multapses=False))
        found = rv.Simulation(net, threads=threads).connections()
        return sorted(zip(found.projections, found.sources, found.targets, strict=True))

    assert draw(threads) == draw(1)


def test_a_view_draws_among_its_neurons() -> None:
    net = rv.Network(seed=8)
    cells = net.create("iaf_psc_exp", 300, positions=rv.random_positions(extent=BOX))
    sources, targets = cells[10:200:3], cells[np.array([0, 5, 7, 150, 299])]
    net.connect(sources, targets, rv.AllToAll(mask=rv.circle(0.4)))
    inside = np.linalg.norm(displacements(sources, targets), axis=-1) <= 0.4
    assert pairs_of(sources, targets) == {(source, target) for target, source in np.argwhere(inside)}


@pytest.mark.parametrize("multapses", [True, False])
def test_degrees_within_a_mask(multapses: bool) -> None:
    net = rv.Network(seed=8)
    cells = net.create("iaf_psc_exp", 300, positions=rv.random_positions(extent=BOX, periodic=True))
    others = net.create("iaf_psc_exp", positions=rv.grid((8, 6), BOX, periodic=True))
    mask = rv.donut(0.05, 0.3)
    net.connect(cells, others, rv.FixedIndegree(30, mask=mask, allow_multapses=multapses))
    net.connect(
        others, cells, rv.FixedOutdegree(20, probability="exp(-d/l)", l=0.1, mask=mask, allow_multapses=multapses)
    )
    found = rv.Simulation(net, threads=2).connections()
    for number, (sources, targets) in enumerate([(cells, others), (others, cells)]):
        of_rule = found.projections == number
        source = np.searchsorted(sources.ids, found.sources[of_rule])
        target = np.searchsorted(targets.ids, found.targets[of_rule])
        apart = np.linalg.norm(displacements(sources, targets, periodic=True)[target, source], axis=1)
        assert (apart > 0.05).all()
        assert (apart <= 0.3).all()
        degrees = np.bincount(target, minlength=len(others)) if number == 0 else np.bincount(source)
        assert (degrees == (30 if number == 0 else 20)).all()
        pairs = set(zip(source, target, strict=True))
        assert (len(pairs) < len(source)) == multapses


def test_rules_of_lists_and_totals_within_a_mask() -> None:
    net = rv.Network(seed=8)
    cells = net.create("iaf_psc_exp", 300, positions=rv.random_positions(extent=BOX))
    mask = rv.circle(0.3)
    chance = np.random.default_rng(5)
    sources, targets = chance.integers(300, size=(2, 2000))
    weights = np.arange(2000.0)
    net.connect(cells, cells, rv.FixedTotalNumber(4000, probability="exp(-d/l)", l=0.1, mask=mask))
    net.connect(cells, cells, rv.FixedTotalNumber(500, mask=mask, allow_multapses=False))
    net.connect(cells, cells, rv.NearestNeighbors(20, mask=mask))
    net.connect(cells[:150], cells[150:], rv.OneToOne(mask=mask), weight=np.arange(150.0))
    net.connect(cells, cells, rv.Explicit(sources, targets, mask=mask), weight=weights)
    apart = np.linalg.norm(displacements(cells, cells), axis=-1)
    found = rv.Simulation(net, threads=2).connections()
    assert (apart[found.targets, found.sources] <= 0.3).all()
    counts = np.bincount(found.projections)
    assert counts[:2].tolist() == [4000, 500]
    first = np.arange(300)
    shifts = [k for k in range(-10, 11) if k]
    assert counts[2] == sum((apart[first, (first + shift) % 300] <= 0.3).sum() for shift in shifts)
    # Arrays have a number for each pair, also for those that are left out.
    ones = found.projections == 3
    assert counts[3] == (apart[first[150:], first[:150]] <= 0.3).sum()
    assert np.array_equal(found.weights[ones], found.sources[ones])
    listed = found.projections == 4
    inside = apart[targets, sources] <= 0.3
    assert sorted(found.weights[listed]) == weights[inside].tolist()


def test_a_neuron_with_too_few_candidates_is_named() -> None:
    net = rv.Network(seed=8)
    cells = net.create("iaf_psc_exp", positions=rv.grid((20, 20), (1.0, 1.0)))
    # In the corners there are 13 within this distance, themselves included, and in the middle 37.
    mask = rv.circle(0.17)
    net.connect(cells, cells, rv.FixedIndegree(13, mask=mask, allow_multapses=False))
    with pytest.raises(RuleError, match=r"target \d+ of 400 .* has 13 sources within the mask"):
        net.connect(cells, cells, rv.FixedIndegree(14, mask=mask, allow_multapses=False))
    with pytest.raises(RuleError, match=r"has 0 targets within the mask"):
        net.connect(cells, cells, rv.FixedOutdegree(1, mask=rv.circle(0.01, center=(0.2, 0.0))))
    with pytest.raises(RuleError, match=r"has 0 sources .* probability above 0"):
        net.connect(cells, cells, rv.FixedIndegree(1, probability=0.0))


def test_copies_and_texts() -> None:
    rule = rv.PairwiseBernoulli("0.4*exp(-d/l)", l=0.3, mask=rv.circle(0.5) - rv.donut(0.1, 0.2))
    assert rule == rv.PairwiseBernoulli(rv.Expression("0.4*exp(-d/l)", l=0.3), mask=rv.circle(0.5) - rv.donut(0.1, 0.2))
    assert rule != rv.PairwiseBernoulli("0.4*exp(-d/l)", l=0.31, mask=rule.mask)
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert hash(pickle.loads(pickle.dumps(rule))) == hash(rule)
    names = {
        name: getattr(rv, name) for name in dir(rv) if name[0].islower() or name in ("Expression", "PairwiseBernoulli")
    }
    assert eval(repr(rule), names) == rule
    for mask, _ in MASKS:
        assert eval(repr(mask), names) == mask
        assert pickle.loads(pickle.dumps(mask)) == mask
    assert repr(rv.box((0, 0, 0), (1, 1, 1), angle=3)) == "box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), angle=3.0)"


def spaced(*, unit: str = "mm", dimensions: int = 2, positions: bool = True) -> tuple[rv.Network, Any]:
    """Return a network and a population of 50 neurons."""
    net = rv.Network(seed=1)
    layout = rv.random_positions(extent=(1,) * dimensions, unit=unit) if positions else None
    return net, net.create("iaf_psc_exp", 50, positions=layout, name="E")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: untyped.circle(0), ValueOutOfBoundsError, "radius of circle"),
        (lambda: untyped.circle(np.nan), ValueOutOfBoundsError, "radius of circle"),
        (lambda: untyped.circle(np.inf), ValueOutOfBoundsError, "radius of circle"),
        (lambda: untyped.circle("1"), WrongTypeError, "must be a number"),
        (lambda: untyped.circle(1, center=(1, 2, 3)), ShapeError, "center of circle"),
        (lambda: untyped.circle(1, center=(1, np.inf)), ValueOutOfBoundsError, "center of a mask"),
        (lambda: untyped.circle(1, centre=(0, 0)), UnknownNameError, "did you mean 'center'"),
        (lambda: untyped.donut(0.3, 0.1), ValueOutOfBoundsError, "outer radius"),
        (lambda: untyped.rectangle((0, 0), (1, 0)), ValueOutOfBoundsError, "upper corner"),
        (lambda: untyped.rectangle((0, 0), (1,)), ShapeError, "upper corner"),
        (lambda: untyped.rectangle((0, 0), (1, 1j)), WrongTypeError, "upper corner"),
        (lambda: untyped.ellipsoid((1, 1, 1), axis=(0, 0, 0), angle=3), ValueOutOfBoundsError, "axis of ellipsoid"),
        (lambda: untyped.circle(1) & untyped.ball(1), ValueOutOfBoundsError, "dimensions of combined masks"),
        (lambda: untyped.circle(1) & 3, WrongTypeError, "combine masks"),
        (lambda: untyped.grid_mask((0, 2)), ValueOutOfBoundsError, "shape of grid_mask"),
        (lambda: untyped.grid_mask((2.5, 2)), WrongTypeError, "shape of grid_mask"),
        (lambda: untyped.grid_mask(3), WrongTypeError, "shape of grid_mask"),
        (lambda: untyped.grid_mask((3, 3), first=(1,)), ShapeError, "first place"),
        (lambda: untyped.grid_mask((3, 3)).contains([[0, 0]]), RuleError, "grid of the neurons"),
        (lambda: untyped.circle(1).contains([1, 2]), ShapeError, "displacements"),
        (lambda: untyped.PairwiseBernoulli(0.2, mask=0.3), WrongTypeError, "must be a mask"),
        (lambda: untyped.PairwiseBernoulli(1.2), ValueOutOfBoundsError, "from 0 to 1"),
        (lambda: untyped.PairwiseBernoulli([0.2]), WrongTypeError, "must be a number"),
        (lambda: untyped.PairwiseBernoulli("exp(-d"), EquationError, ""),
        (lambda: untyped.PairwiseBernoulli("exp(-d/s)"), UnknownSymbolError, "'s'"),
        (lambda: untyped.PairwiseBernoulli("exp(-d)", s=1), UnknownNameError, "does not use it"),
        (lambda: untyped.PairwiseBernoulli("d if 1 else 0"), EquationError, "'1', but it is a number, not a condition"),
        (lambda: untyped.PairwiseBernoulli("d + (d > 0)"), EquationError, "'d > 0', but it is a condition"),
        (lambda: untyped.PairwiseBernoulli("d/s", s=0), EquationError, "'s', by which is divided, but it is 0"),
        (lambda: untyped.PairwiseBernoulli("d", allow_multapses=False), UnknownNameError, "allow_multapses"),
        (lambda: untyped.PairwiseBernoulli(0.1, s=1), UnknownNameError, "keyword of PairwiseBernoulli"),
        (lambda: untyped.PairwiseBernoulli("rand()"), EquationError, "cannot be random"),
        (lambda: untyped.PairwiseBernoulli("d/(1*ms)"), UnitError, ""),
        (lambda: untyped.PairwisePoisson(-1), ValueOutOfBoundsError, "mean of rule"),
    ],
)
def test_what_is_refused_when_it_is_made(make: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("rule", "error", "text"),
    [
        (
            rv.PairwiseBernoulli("1.5 - d"),
            ValueOutOfBoundsError,
            r"at the distance .* mm \('1.5 - d'\), but it must be from 0 to 1",
        ),
        (rv.PairwiseBernoulli("0.4 - d"), ValueOutOfBoundsError, "probability of rule 'pairwise_bernoulli' is -0"),
        (rv.PairwiseBernoulli("0.01/d"), ValueOutOfBoundsError, "inf at the distance 0 mm"),
        (rv.PairwiseBernoulli("dz"), RuleError, "two dimensions"),
        (rv.PairwiseBernoulli(0.2, mask=rv.ball(0.3)), RuleError, "two dimensions"),
        (rv.PairwiseBernoulli(0.2, mask=rv.grid_mask((2, 2))), RuleError, "grid of the neurons"),
        (rv.PairwisePoisson("1e5*exp(-d)"), ValueOutOfBoundsError, "from 0 to 1000"),
    ],
)
def test_what_is_refused_for_neurons(rule: Any, error: type[Exception], text: str) -> None:
    net, cells = spaced()
    with pytest.raises(error, match=text):
        net.connect(cells, cells, rule)
    assert not net.projections


def test_positions_are_needed() -> None:
    net, cells = spaced(positions=False)
    with pytest.raises(ValueOutOfBoundsError, match="population 'E' have no positions"):
        net.connect(cells, cells, rv.AllToAll(mask=rv.circle(1)))
    with pytest.raises(EquationError, match="no positions"):
        net.connect(cells, cells, rv.PairwiseBernoulli("exp(-d)"))
    net.connect(cells, cells, rv.PairwiseBernoulli("exp(-abs(i - j))"))
    others = net.create("iaf_psc_exp", 10, positions=rv.random_positions(extent=(1, 1)))
    with pytest.raises(ValueOutOfBoundsError, match="population 'E' have no positions"):
        net.connect(others, cells, rv.AllToAll(mask=rv.circle(1)))


def test_positions_must_be_alike_only_where_they_are_used() -> None:
    net, cells = spaced()
    others = net.create("iaf_psc_exp", 10, positions=rv.random_positions(extent=(1, 1), unit="um"))
    with pytest.raises(ValueOutOfBoundsError, match="unit of the positions"):
        net.connect(others, cells, rv.AllToAll(mask=rv.circle(1)))
    net.connect(others, cells, rv.AllToAll())


def test_another_network_with_other_masks_is_another_network() -> None:
    net, cells = spaced()
    projection = net.connect(cells, cells, rv.PairwiseBernoulli("0.5*exp(-d/l)", l=0.1, mask=rv.circle(0.3)))
    before = len(pairs_of(cells, cells))
    net.set(projection, mask=None)
    assert "mask" not in repr(projection.rule)
    assert len(pairs_of(cells, cells)) > before
    net.set(projection, probability=0.0)
    assert not pairs_of(cells, cells)


def test_one_neuron_with_too_few_candidates_among_many_is_found_at_once() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 3000)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points[1234] = [0.0, 0.95]
    net = rv.Network()
    ring = net.create("iaf_psc_exp", positions=points)
    net.connect(ring, ring, rv.FixedIndegree(60, mask=rv.circle(0.1), allow_multapses=False, allow_autapses=False))
    for rule in (
        rv.FixedIndegree(3, mask=rv.circle(0.04), allow_autapses=False),
        rv.FixedOutdegree(50, mask=rv.circle(0.06), allow_multapses=False),
    ):
        with pytest.raises(
            RuleError, match=r"(target|source) 1234 of 3000 .* has \d+ (sources|targets) within the mask"
        ):
            net.connect(ring, ring, rule)


# ---- unordered pairs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [299, 300])
def test_unordered_pairs_within_a_mask(size: int) -> None:
    """Each pair is decided once; the number is within 4 standard deviations (a level of 6e-5 for each size)."""
    net = rv.Network(seed=4)
    sheet = net.create("iaf_psc_exp", size, positions=rv.random_positions(extent=BOX, periodic=True))
    distance = np.hypot(*np.moveaxis(displacements(sheet, sheet, periodic=True), -1, 0))
    near = (distance <= 0.3) & ~np.eye(size, dtype=bool)
    all_of_them = net.connect(sheet, sheet, rv.UnorderedBernoulli(1.0, mask=rv.circle(0.3)))
    some = net.connect(sheet, sheet, rv.UnorderedBernoulli("0.4*exp(-d/l)", mask=rv.circle(0.3), l=0.2))
    back = net.connect(sheet, sheet, rv.Reversed(some))
    sim = rv.Simulation(net, threads=2)

    def matrix(projection: rv.Projection) -> npt.NDArray[np.int64]:
        found = sim.connections(projection=projection)
        counts = np.zeros((size, size), dtype=np.int64)
        np.add.at(counts, (found.targets, found.sources), 1)
        return counts

    every = matrix(all_of_them)
    np.testing.assert_array_equal(every + every.T, near)
    assert all_of_them.expected_synapses == every.sum()
    # Both directions of pairs occur as often.
    assert np.ptp(every.sum(axis=0) - every.sum(axis=1)) < size / 4
    drawn = matrix(some)
    np.testing.assert_array_equal(matrix(back), drawn.T)
    assert (drawn + drawn.T <= near).all()
    p = np.where(near, 0.4 * np.exp(-distance / 0.2), 0.0)
    assert some.expected_synapses == pytest.approx(0.5 * p.sum(), rel=1e-9)
    assert abs(drawn.sum() - 0.5 * p.sum()) < 4.0 * np.sqrt(0.5 * (p * (1.0 - p)).sum())


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda: untyped.SmallWorld(4, 0.1, mask=rv.circle(0.1)), "use a rule by distance"),
        (lambda: untyped.SmallWorld(4, 0.1, probability="exp(-d)"), "use a rule by distance"),
        (lambda: untyped.FromMatrix(np.eye(3), mask=rv.circle(0.1)), "to Explicit, which takes both"),
    ],
)
def test_rules_without_masks_name_others(make: Callable[[], object], remedy: str) -> None:
    with pytest.raises(UnknownNameError, match=rf"keyword of \w+\(\) is '.*', but it has none; .*{remedy}"):
        make()


# ---- time ------------------------------------------------------------------------------------------------------------


def test_a_rule_with_useless_bounds_is_refused_with_its_time() -> None:
    """About 1.2e9 pairs are evaluated: the bound is 20 times the value, which neither the mask nor a table tells."""
    net = rv.Network()
    sheet = net.create("iaf_psc_exp", 110_000, positions=rv.random_positions(extent=(4.0, 4.0)))
    text = "0.005*exp(1.5*(sin(1e4*x_pre) - sin(1e4*x_pre)))"
    with pytest.raises(RuleError, match=r"about 12\d{8} pairs .* for 60\d{6} synapses, in \d\d s of one thread"):
        net.connect(sheet, sheet, rv.PairwiseBernoulli(text))
    net.connect(sheet[:1000], sheet[:1000], rv.PairwiseBernoulli(text))
    # Many pairs with few in vain.
    projection = net.connect(sheet, sheet, rv.PairwiseBernoulli("0.005*exp(-d)"))
    assert projection.expected_synapses == pytest.approx(0.005 * 0.21 * 110_000**2, rel=0.1)


# ---- bounds of values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mask", "shape"), MASKS, ids=[repr(mask) for mask, _ in MASKS])
def test_a_mask_narrows_the_bounds_of_values(mask: rv.Mask, shape: Shape) -> None:
    """Bounds contain all displacements within the mask, and are not wider than 3 % of 0.5 mm at either end."""
    net = rv.Network()
    sheet = net.create("iaf_psc_exp", 10, positions=rv.random_positions(extent=(4.0, 4.0)))
    side = np.linspace(-0.5, 0.5, 201)
    x, y = (each[shape(*np.meshgrid(side, side))] for each in np.meshgrid(side, side))
    for text, values in {"d": np.hypot(x, y), "dx": x, "d - dx - 2*dy": np.hypot(x, y) - x - 2.0 * y}.items():
        forth = net.connect(sheet, sheet, rv.PairwiseBernoulli(0.5, mask=mask), weight=text)
        back = net.connect(sheet, sheet, rv.Reversed(forth), weight=text.replace("dx", "(-dx)").replace("dy", "(-dy)"))
        for projection in (forth, back):
            low, high = projection.weight_range
            assert low - 1e-9 <= values.min() <= low + 0.015
            assert high - 0.015 <= values.max() <= high + 1e-9


def test_a_mask_narrows_the_bounds_of_values_in_three_dimensions() -> None:
    net = rv.Network()
    block = net.create("iaf_psc_exp", 10, positions=rv.random_positions(extent=(4.0, 4.0, 0.3), periodic=True))

    def bounds(mask: rv.Mask, delay: str) -> tuple[float, float]:
        return net.connect(block, block, rv.FixedIndegree(0, mask=mask), delay=delay).delay_range

    assert bounds(rv.ball(0.5), "1 - d") == pytest.approx((0.5, 1.0))
    assert bounds(rv.ball(0.5) - rv.ball(0.3), "1 - d") == pytest.approx((0.5, 0.7))
    # A circle limits x and y, and half the period limits z.
    assert bounds(rv.circle(0.5), "1 - d") == pytest.approx((1.0 - np.hypot(0.5, 0.15), 1.0), abs=0.02)
    assert bounds(rv.box((0.2, 0.0, 0.0), (0.4, 0.1, 0.1)), "d") == pytest.approx((0.2, np.sqrt(0.18)), abs=0.001)
    assert bounds(rv.ball(0.5, center=(0.6, 0.0, 0.0)), "d + dz + 1") == pytest.approx((1.044, 2.238), abs=0.02)
    with pytest.raises(DelayError, match=r"at d from 0\.\d+ to 0\.6 mm.*'0\.5 - d' rounds to less"):
        bounds(rv.ball(0.6), "0.5 - d")
