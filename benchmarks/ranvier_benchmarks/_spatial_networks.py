"""Networks whose rules depend on positions, one for each kind of positions, rule, value and synapse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import ranvier as rv
from ranvier.network.network import Network

__all__ = ["SPATIAL_NETWORKS"]

Describe: TypeAlias = Callable[[], Network]

_BOX: dict[str, Any] = {"extent": (1.0, 1.0), "periodic": True}
_MASK = rv.circle(0.12)


def _network(positions: Any, rule: Any, size: int | None = 10_000, **synapses: Any) -> Network:
    net = rv.Network(seed=3)
    cells = net.create("iaf_psc_exp", size, positions=positions)
    net.connect(cells, cells, rule, **{"weight": 0.1, **synapses})
    return net


def _flat(rule: Any, size: int = 10_000, **synapses: Any) -> Network:
    return _network(rv.random_positions(**_BOX), rule, size, **synapses)


def _clusters() -> Network:
    random = np.random.default_rng(5)
    points = random.random((20, 2))[random.integers(20, size=8000)] + random.normal(0.0, 0.01, (8000, 2))
    return _network(points, rv.PairwiseBernoulli("0.6*exp(-d/l)", l=0.05, mask=rv.circle(0.2)), None)


def _two_populations() -> Network:
    net = rv.Network(seed=3)
    exc = net.create("iaf_psc_exp", 8000, positions=rv.random_positions(**_BOX))
    inh = net.create("iaf_psc_exp", positions=rv.grid((45, 45), **_BOX))
    for sources, weight in ((exc, 0.1), (inh, -0.4)):
        for targets in (exc, inh):
            rule = rv.FixedIndegree(60, mask=rv.circle(0.2), probability="exp(-d/l)", l=0.05)
            net.connect(sources, targets, rule, weight=weight, delay="0.5*ms + d/(0.3*mm/ms)")
    return net


SPATIAL_NETWORKS: dict[str, Describe] = {
    "Bernoulli in a mask": lambda: _flat(rv.PairwiseBernoulli("0.5*exp(-d/l)", l=0.05, mask=_MASK)),
    "Bernoulli without a mask": lambda: _flat(rv.PairwiseBernoulli("0.5*exp(-d/l)", l=0.03)),
    "Bernoulli with one probability": lambda: _flat(rv.PairwiseBernoulli(0.2, mask=_MASK)),
    "Poisson": lambda: _flat(rv.PairwisePoisson("0.5*exp(-(dx/0.1)**2)", mask=rv.rectangle((-0.1, -0.1), (0.2, 0.1)))),
    "in-degree": lambda: _flat(rv.FixedIndegree(100, mask=_MASK, probability="exp(-d/l)", l=0.05)),
    "in-degree without a mask": lambda: _flat(rv.FixedIndegree(100, probability="exp(-d/l)", l=0.05)),
    "out-degree": lambda: _flat(rv.FixedOutdegree(100, mask=_MASK, probability="exp(-d/l)", l=0.05)),
    "total number": lambda: _flat(
        rv.FixedTotalNumber(1_000_000, mask=rv.circle(0.08), probability="exp(-d/l)", l=0.05)
    ),
    "all in a mask": lambda: _flat(rv.AllToAll(mask=rv.circle(0.05))),
    "uniform in-degree": lambda: _flat(rv.UniformIndegree(50, 150, mask=_MASK)),
    "three dimensions": lambda: _network(
        rv.random_positions(extent=(1.0, 1.0, 1.0), periodic=True), rv.PairwiseBernoulli(0.5, mask=rv.ball(0.15))
    ),
    "grid": lambda: _network(rv.grid((100, 100), **_BOX), rv.FixedIndegree(100, mask=_MASK), None),
    "grid in three dimensions": lambda: _network(
        rv.grid((22, 22, 22), extent=(1.0, 1.0, 1.0)), rv.PairwiseBernoulli(0.5, mask=rv.ball(0.15)), None
    ),
    "min_distance": lambda: _network(
        rv.random_positions(extent=(1.0, 1.0), min_distance=0.005), rv.FixedIndegree(100, mask=_MASK)
    ),
    "clusters": _clusters,
    "two populations": _two_populations,
    "weights and delays by distance": lambda: _flat(
        rv.FixedIndegree(100, mask=_MASK), weight=rv.Normal("0.1*exp(-d/0.1)", 0.01), delay="0.5 + 10*d"
    ),
    "learning": lambda: _flat(rv.FixedIndegree(100, mask=_MASK), synapse=rv.stdp_pl(), delay="0.5 + 10*d"),
}
"""By name; about a million synapses each."""
