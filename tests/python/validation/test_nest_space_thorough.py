"""Rules by distance draw from the same laws as NEST's spatial module.

Both programs connect neurons at the same positions. Two distributions are compared: that of the distances of connected
pairs, and that of the in-degrees (out-degrees where the rule fixes in-degrees). Each by a Kolmogorov-Smirnov test of
two samples, which is conservative for in-degrees since they are whole numbers. All cases together raise a false alarm
with a probability of 1 %: each of the tests is at the level 0.01 / (2 x number of cases).

That the tests can fail: `test_that_other_laws_are_found` changes the width of a kernel by 10 % and must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import ranvier as rv
from nest_pool import fresh_nest, nest_pool, requires_nest

pytestmark = [pytest.mark.thorough, requires_nest, pytest.mark.timeout(1200)]

Array = npt.NDArray[np.float64]
Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Indices of sources and of targets."""

SOURCES, TARGETS = 1500, 1200


@dataclass(frozen=True)
class Case:
    """A rule in both programs."""

    nest: dict[str, Any]
    """The dictionary of NEST; texts under "p" are expressions of `nest`."""
    ranvier: Callable[[], Any]
    """Makes the rule of Ranvier."""
    extent: tuple[float, ...] = (1.0, 1.0)
    periodic: bool = False
    fixed: str = ""
    """The side whose degrees the rule fixes."""


def circle(radius: float) -> dict[str, Any]:
    """Return a circular mask of NEST."""
    return {"circular": {"radius": radius}}


CASES: dict[str, Case] = {
    "exponential within a circle": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": "0.4 * nest.spatial_distributions.exponential(nest.spatial.distance, beta=0.2)",
            "mask": circle(0.45),
        },
        lambda: rv.PairwiseBernoulli("0.4*exp(-d/beta)", mask=rv.circle(0.45), beta=0.2),
    ),
    "Gaussian, periodic": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": "0.8 * nest.spatial_distributions.gaussian(nest.spatial.distance, std=0.15)",
            "mask": circle(0.5),
        },
        lambda: rv.PairwiseBernoulli("0.8*exp(-d**2/(2*sigma**2))", mask=rv.circle(0.5), sigma=0.15),
        periodic=True,
    ),
    "donut, linear": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": "0.9 - 1.5 * nest.spatial.distance",
            "mask": {"doughnut": {"inner_radius": 0.1, "outer_radius": 0.4}},
        },
        lambda: rv.PairwiseBernoulli("0.9 - 1.5*d", mask=rv.donut(0.1, 0.4)),
    ),
    "rectangle beside the neuron": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": 0.5,
            "mask": {"rectangular": {"lower_left": [-0.1, 0.0], "upper_right": [0.4, 0.2]}},
        },
        lambda: rv.PairwiseBernoulli(0.5, mask=rv.rectangle((-0.1, 0.0), (0.4, 0.2))),
    ),
    "turned ellipse": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": 0.7,
            "mask": {"elliptical": {"major_axis": 0.8, "minor_axis": 0.3, "azimuth_angle": 30.0}},
        },
        lambda: rv.PairwiseBernoulli(0.7, mask=rv.ellipse((0.4, 0.15), angle=30.0)),
    ),
    "displacement": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": "0.5 * nest.spatial_distributions.gaussian2D(nest.spatial.distance.x, nest.spatial.distance.y, "
            "std_x=0.1, std_y=0.25)",
            "mask": circle(0.6),
        },
        lambda: rv.PairwiseBernoulli("0.5*exp(-(dx/0.1)**2/2 - (dy/0.25)**2/2)", mask=rv.circle(0.6)),
    ),
    "in-degrees": Case(
        {
            "rule": "fixed_indegree",
            "indegree": 40,
            "p": "nest.spatial_distributions.gaussian(nest.spatial.distance, std=0.2)",
            "mask": circle(0.5),
        },
        lambda: rv.FixedIndegree(40, probability="exp(-d**2/(2*sigma**2))", mask=rv.circle(0.5), sigma=0.2),
        fixed="targets",
    ),
    "in-degrees without multapses": Case(
        {
            "rule": "fixed_indegree",
            "indegree": 60,
            "p": "nest.spatial_distributions.gaussian(nest.spatial.distance, std=0.1)",
            "mask": circle(0.3),
            "allow_multapses": False,
        },
        lambda: rv.FixedIndegree(
            60, probability="exp(-d**2/(2*sigma**2))", mask=rv.circle(0.3), sigma=0.1, allow_multapses=False
        ),
        fixed="targets",
        periodic=True,
    ),
    "out-degrees": Case(
        {
            "rule": "fixed_outdegree",
            "outdegree": 30,
            "p": "nest.spatial_distributions.exponential(nest.spatial.distance, beta=0.1)",
            "mask": circle(0.5),
        },
        lambda: rv.FixedOutdegree(30, probability="exp(-d/beta)", mask=rv.circle(0.5), beta=0.1),
        fixed="sources",
    ),
    "Poisson": Case(
        {
            "rule": "pairwise_poisson",
            "pairwise_avg_num_conns": "2.5 * nest.spatial_distributions.exponential(nest.spatial.distance, beta=0.1)",
        },
        lambda: rv.PairwisePoisson("2.5*exp(-d/beta)", beta=0.1),
    ),
    "ball": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": "0.6 * nest.spatial_distributions.gaussian(nest.spatial.distance, std=0.3)",
            "mask": {"spherical": {"radius": 0.6}},
        },
        lambda: rv.PairwiseBernoulli("0.6*exp(-d**2/(2*sigma**2))", mask=rv.ball(0.6), sigma=0.3),
        extent=(1.0, 1.0, 1.0),
    ),
    "box, periodic": Case(
        {
            "rule": "pairwise_bernoulli",
            "p": 0.3,
            "mask": {"box": {"lower_left": [-0.1, -0.2, -0.3], "upper_right": [0.1, 0.2, 0.3]}},
        },
        lambda: rv.PairwiseBernoulli(0.3, mask=rv.box((-0.1, -0.2, -0.3), (0.1, 0.2, 0.3))),
        extent=(1.0, 1.0, 1.0),
        periodic=True,
    ),
}


def positions(case: Case, count: int, seed: int) -> Array:
    """Return positions within the extent of a case."""
    extent = np.array(case.extent)
    return np.random.default_rng(seed).uniform(-extent / 2, extent / 2, (count, len(extent)))


def in_nest(rule: dict[str, Any], extent: tuple[float, ...], periodic: bool, sources: Array, targets: Array) -> Pairs:
    """Return the pairs that NEST connects."""
    nest = fresh_nest(seed=3)

    def read(value: Any) -> Any:
        return eval(value, {"nest": nest}) if isinstance(value, str) and "nest." in value else value

    made = [
        nest.Create(
            "parrot_neuron",
            positions=nest.spatial.free(places.tolist(), extent=list(extent), edge_wrap=periodic),
        )
        for places in (sources, targets)
    ]
    nest.Connect(*made, {key: read(value) for key, value in rule.items()}, {"weight": 1.0, "delay": 1.0})
    found = nest.GetConnections()
    first = [min(each.global_id) for each in made]
    return (
        np.array(found.get("source"), dtype=np.int64) - first[0],
        np.array(found.get("target"), dtype=np.int64) - first[1],
    )


def in_ranvier(case: Case, sources: Array, targets: Array) -> Pairs:
    """Return the pairs that Ranvier connects."""
    net = rv.Network(seed=11)
    made = [
        net.create(
            "iaf_psc_delta", len(places), positions=rv.positions(places, extent=case.extent, periodic=case.periodic)
        )
        for places in (sources, targets)
    ]
    projection = net.connect(made[0], made[1], case.ranvier(), weight=0.1, delay=1.0)
    sim = rv.Simulation(net, threads=1)
    found = sim.connections(projection=projection)
    return found.sources - made[0].first_id, found.targets - made[1].first_id


def distances(case: Case, pairs: Pairs, sources: Array, targets: Array) -> Array:
    """Return the distances of connected pairs."""
    difference = targets[pairs[1]] - sources[pairs[0]]
    if case.periodic:
        extent = np.array(case.extent)
        difference -= extent * np.round(difference / extent)
    found: Array = np.sqrt((difference**2).sum(axis=1))
    return found


def p_values(case: Case, nest: Pairs, ranvier: Pairs, sources: Array, targets: Array) -> dict[str, float]:
    """Return the levels at which the distributions differ."""
    side, count = (0, SOURCES) if case.fixed == "targets" else (1, TARGETS)
    degrees = [np.bincount(pairs[side], minlength=count) for pairs in (nest, ranvier)]
    far = [distances(case, pairs, sources, targets) for pairs in (nest, ranvier)]
    return {
        "degrees": float(stats.ks_2samp(*degrees).pvalue),
        "distances": float(stats.ks_2samp(*far).pvalue),
    }


LEVEL = 0.01 / (2 * len(CASES))


@pytest.fixture(scope="module")
def nest_pairs() -> dict[str, Any]:
    """Start all cases in NEST."""
    return {
        name: nest_pool().submit(
            in_nest, case.nest, case.extent, case.periodic, positions(case, SOURCES, 1), positions(case, TARGETS, 2)
        )
        for name, case in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_laws(name: str, nest_pairs: dict[str, Any]) -> None:
    case = CASES[name]
    sources, targets = positions(case, SOURCES, 1), positions(case, TARGETS, 2)
    nest, ranvier = nest_pairs[name].result(), in_ranvier(case, sources, targets)
    found = p_values(case, nest, ranvier, sources, targets)
    print(name, len(nest[0]), len(ranvier[0]), found)
    assert min(found.values()) > LEVEL, found
    if case.fixed:
        assert len(nest[0]) == len(ranvier[0])
    else:
        # The numbers of synapses are sums of independent ones; 5 standard deviations of the difference, at most.
        assert abs(len(nest[0]) - len(ranvier[0])) < 5 * np.sqrt(2 * len(nest[0]))


def test_that_other_laws_are_found(nest_pairs: dict[str, Any]) -> None:
    name = "exponential within a circle"
    wider = replace(
        CASES[name],
        ranvier=lambda: rv.PairwiseBernoulli("0.4*exp(-d/beta)", mask=rv.circle(0.45), beta=0.22),
    )
    sources, targets = positions(wider, SOURCES, 1), positions(wider, TARGETS, 2)
    found = p_values(wider, nest_pairs[name].result(), in_ranvier(wider, sources, targets), sources, targets)
    assert min(found.values()) <= LEVEL, found
