"""Connections and pairs by distance, and kernels that are fitted to them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors
from ranvier.space.histograms import FINE, count_pairs, displacements
from ranvier.space.kernels import KERNELS, DistanceCounts, fit_kernel

SIDES = (2.0, 1.0)
Points = np.ndarray[Any, np.dtype[np.float64]]


def distances(sources: Points, targets: Points, period: tuple[float, ...]) -> Points:
    """Return the distances of all pairs, shape (targets, sources), by a search over the neighbouring images."""
    found = np.full((len(targets), len(sources)), np.inf)
    for shifts in itertools.product((-1, 0, 1), repeat=len(period)):
        shift = np.array(shifts) * np.array(period)
        difference = targets[:, np.newaxis] - sources + shift
        found = np.minimum(found, np.sqrt((difference**2).sum(axis=-1)))
    return found


@pytest.mark.parametrize("period", [(0.0, 0.0), (2.0, 1.0), (2.0, 0.0), (0.0, 1.0, 0.5)])
def test_pairs_are_those_of_all_images(period: tuple[float, ...]) -> None:
    generator = np.random.default_rng(1)
    box = np.where(np.array(period) > 0.0, period, 0.8)
    sources, targets = generator.random((70, len(box))) * box, generator.random((40, len(box))) * box
    expected = distances(sources, targets, period)
    counts, means = count_pairs(sources, targets, np.array(period), 0.6, 12)
    edges = np.linspace(0.0, 0.6, 13)
    assert counts.tolist() == np.histogram(expected, edges)[0].tolist()
    within = expected[expected < 0.6]
    assert (counts * means).sum() == pytest.approx(within.sum())
    found = displacements(sources[np.newaxis], targets[:, np.newaxis], np.array(period))
    assert np.sqrt((found**2).sum(axis=-1)) == pytest.approx(expected)


def connected(
    kernel: Any, *, periodic: bool = True, size: int = 300, seed: int = 1
) -> tuple[rv.Simulation, rv.Projection, Points]:
    """Return a network whose connections were drawn by NumPy from a kernel, and the distances of all pairs."""
    net = rv.Network(seed=seed)
    layout = rv.random_positions(extent=SIDES, periodic=periodic)
    sources = net.create("iaf_psc_exp", size, positions=layout, name="sources")
    targets = net.create("iaf_psc_exp", size, positions=layout, name="targets")
    apart = distances(sources.positions, targets.positions, SIDES if periodic else (0.0, 0.0))
    drawn = np.random.default_rng(seed).random(apart.shape) < kernel(apart)
    to, of = np.nonzero(drawn)
    projection = net.connect(
        sources, targets, rv.Explicit(of, to, allow_multapses=False), weight=1.0, delay=1.0, name="local"
    )
    return rv.Simulation(net, progress=False), projection, apart


@pytest.mark.parametrize("periodic", [True, False])
def test_histogram_of_a_projection(periodic: bool) -> None:
    sim, projection, apart = connected(lambda d: 0.5 * (d < 0.4), periodic=periodic)
    found = sim.distance_histogram(projection, bins=8, max_distance=0.8)
    edges = np.linspace(0.0, 0.8, 9)
    assert found.edges == pytest.approx(edges)
    assert found.pairs.tolist() == np.histogram(apart, edges)[0].tolist()
    assert found.connections.sum() == sim.count_connections(projection=projection)
    assert found.probabilities[:4] == pytest.approx(0.5, abs=0.06)
    assert found.probabilities[4:].tolist() == [0.0] * 4
    p, pairs = found.probabilities[0], found.pairs[0]
    assert found.errors[0] == pytest.approx(math.sqrt(p * (1.0 - p) / pairs))
    assert (found.unit, found.targets, found.repeats, found.name) == ("mm", 300, False, "local")
    assert "8 bins up to 0.8 mm" in repr(found)
    farthest = sim.distance_histogram(projection)
    assert 0.3 < farthest.edges[-1] < 0.4
    assert farthest.connections.sum() == found.connections.sum()


def test_some_targets_stand_for_all() -> None:
    sim, projection, apart = connected(lambda d: 0.5 * (d < 0.4))
    found = sim.distance_histogram(projection, bins=4, max_distance=0.8, most_pairs=30_000)
    assert found.targets == 100
    assert found.pairs.tolist() == np.histogram(apart[::3], np.linspace(0.0, 0.8, 5))[0].tolist()
    assert found.connections.sum() == sim.count_connections(targets=projection.targets[::3])


def test_autapses_count_if_the_rule_draws_them() -> None:
    for allowed in (True, False):
        net = rv.Network()
        neurons = net.create("iaf_psc_exp", positions=rv.grid((4, 4), periodic=True), name="neurons")
        rule = rv.AllToAll(allow_autapses=allowed)
        projection = net.connect(neurons, neurons, rule, weight=1.0, delay=1.0)
        found = rv.Simulation(net, progress=False).distance_histogram(projection, bins=5, max_distance=1.0)
        assert found.connections.tolist() == found.pairs.tolist()
        assert found.pairs.sum() == 256 - (0 if allowed else 16)


def exponential(d: Points) -> Points:
    return 0.8 * np.exp(-d / 0.15)


def gaussian(d: Points) -> Points:
    return 0.6 * np.exp(-0.5 * (d / 0.2) ** 2)


def linear(d: Points) -> Points:
    return np.maximum(0.5 * (1.0 - d / 0.4), 0.0)


def constant(d: Points) -> Points:
    return np.full_like(d, 0.1)


TRUE: dict[str, tuple[Any, dict[str, float]]] = {
    "exponential": (exponential, {"p": 0.8, "decay": 0.15}),
    "gaussian": (gaussian, {"p": 0.6, "sigma": 0.2}),
    "linear": (linear, {"p": 0.5, "reach": 0.4}),
    "constant": (constant, {"p": 0.1}),
}


@pytest.mark.parametrize("name", list(TRUE))
def test_fits_find_the_parameters(name: str) -> None:
    """Errors are normal, so one of seven parameters is 4.5 standard errors off in 1 of 20,000 tests."""
    kernel, parameters = TRUE[name]
    sim, projection, _ = connected(kernel)
    fit = sim.distance_histogram(projection).fit(name)
    assert list(fit.parameters) == list(parameters)
    for each, value in parameters.items():
        assert 0.0 < fit.errors[each] < 0.05 * value
        assert fit.parameters[each] == pytest.approx(value, abs=4.5 * fit.errors[each])
    # The mean of chi-squared is the number of degrees of freedom, and its variance twice that.
    assert abs(fit.chi_squared - fit.degrees_of_freedom) < 4.5 * math.sqrt(2.0 * fit.degrees_of_freedom)
    assert fit(np.array([0.1, 0.2])) == pytest.approx(kernel(np.array([0.1, 0.2])), rel=0.1)
    # The same in the notation of expressions.
    expression = rv.Expression(fit.expression, **fit.parameters)
    assert dict(expression.constants) == fit.parameters
    assert f"p = {fit.parameters['p']:.2}"[:6] in repr(fit)


def test_standard_errors_are_those_of_repeated_draws() -> None:
    """The standard deviation of 60 values is within 30 % of its expectation with a probability of 99.9 %."""
    distances_, pairs = np.linspace(0.005, 0.795, 80), np.full(80, 500.0)
    generator = np.random.default_rng(7)
    scores = []
    for _ in range(60):
        drawn = generator.binomial(500, gaussian(distances_)).astype(np.float64)
        fit = fit_kernel(KERNELS["gaussian"], DistanceCounts(distances_, drawn, pairs, 0.01, False), "mm", "local")
        scores.append(
            [(fit.parameters["p"] - 0.6) / fit.errors["p"], (fit.parameters["sigma"] - 0.2) / fit.errors["sigma"]]
        )
    assert np.std(scores, axis=0) == pytest.approx([1.0, 1.0], rel=0.3)
    assert np.abs(np.mean(scores, axis=0)).max() < 4.0 / math.sqrt(60.0)


def test_the_right_kernel_is_likeliest() -> None:
    for name, (kernel, _) in TRUE.items():
        sim, projection, _ = connected(kernel)
        found = sim.distance_histogram(projection, max_distance=0.5)
        fits = [found.fit(each) for each in ("exponential", "gaussian")] if name != "constant" else []
        fits += [found.fit("linear")] if name in ("linear", "gaussian") else []
        if fits and name in [fit.kernel for fit in fits]:
            assert max(fits, key=lambda fit: fit.log_likelihood).kernel == name


def test_repeated_pairs_have_a_poisson_distribution() -> None:
    net = rv.Network(seed=3)
    neurons = net.create("iaf_psc_exp", 100, positions=rv.random_positions(extent=SIDES, periodic=True))
    projection = net.connect(neurons, neurons, rv.FixedIndegree(150), weight=1.0, delay=1.0)
    found = rv.Simulation(net, progress=False).distance_histogram(projection)
    assert found.repeats
    fit = found.fit("constant")
    assert fit.parameters["p"] == pytest.approx(15_000 / found.pairs.sum())
    assert fit.errors["p"] == pytest.approx(math.sqrt(15_000) / found.pairs.sum())


def test_impossible_fits_are_refused() -> None:
    sim, projection, _ = connected(lambda d: np.full_like(d, 0.1))
    found = sim.distance_histogram(projection)
    all_to_all, everything, _ = connected(np.ones_like)
    complete = all_to_all.distance_histogram(everything)
    with pytest.raises(errors.StateError, match="no maximum"):
        complete.fit("linear")
    with pytest.raises(errors.UnknownNameError, match=r"gausian.*gaussian"):
        found.fit("gausian")
    with pytest.raises(errors.WrongTypeError):
        found.fit(3)  # type: ignore[arg-type]
    none = sim.distance_histogram(projection, bins=2, max_distance=1e-6)
    with pytest.raises(errors.StateError, match="needs more"):
        none.fit("gaussian")


def test_bad_arguments_are_refused() -> None:
    sim, projection, _ = connected(lambda d: 0.1 * (d < 0.2), size=30)
    for arguments in ({"bins": 0}, {"max_distance": 0.0}, {"max_distance": math.inf}, {"most_pairs": 0}):
        with pytest.raises(errors.ValueOutOfBoundsError, match=next(iter(arguments))):
            sim.distance_histogram(projection, **arguments)
    with pytest.raises(errors.WrongTypeError, match="projection"):
        sim.distance_histogram("local")  # type: ignore[arg-type]
    net = rv.Network()
    placed = net.create("iaf_psc_exp", positions=rv.grid((3, 3)), name="placed")
    other = net.create("iaf_psc_exp", positions=rv.grid((3, 3), unit="um"), name="other")
    absent = net.create("iaf_psc_exp", 9, name="absent")
    space = net.create("iaf_psc_exp", positions=rv.grid((3, 3, 1)), name="space")
    round_ = net.create("iaf_psc_exp", positions=rv.grid((3, 3), periodic=True), name="round")
    made = [net.connect(placed, each, rv.OneToOne(), weight=1.0, delay=1.0) for each in (absent, other, space, round_)]
    itself = net.connect(placed, placed, rv.OneToOne(), weight=1.0, delay=1.0)
    sim = rv.Simulation(net, progress=False)
    with pytest.raises(errors.StateError, match=r"absent.*no positions"):
        sim.distance_histogram(made[0])
    with pytest.raises(errors.ValueOutOfBoundsError, match="in mm and um"):
        sim.distance_histogram(made[1])
    with pytest.raises(errors.ShapeError, match="2 and 3 dimensions"):
        sim.distance_histogram(made[2])
    with pytest.raises(errors.ValueOutOfBoundsError, match="periods differ"):
        sim.distance_histogram(made[3])
    with pytest.raises(errors.StateError, match="max_distance"):
        sim.distance_histogram(itself)


def test_fine_bins_are_parts_of_bins() -> None:
    sim, projection, _ = connected(gaussian)
    found = sim.distance_histogram(projection, bins=5)
    assert len(found.fine_distances) == 5 * FINE
    assert found.expected(np.ones(5 * FINE)).tolist() == found.pairs.tolist()
    assert found.expected(gaussian(found.fine_distances)) == pytest.approx(found.connections, rel=0.25, abs=40)
