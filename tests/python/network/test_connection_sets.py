"""Connection sets of the package csa."""

from __future__ import annotations

import pickle
import random
from typing import Any

import csa
import numpy as np
import pytest

import ranvier as rv
from ranvier import errors


def network(rule: rv.Rule, **arguments: Any) -> rv.Network:
    net = rv.Network()
    a, b = net.create("iaf_psc_exp", 20, name="a"), net.create("iaf_psc_exp", 30, name="b")
    net.connect(a, b, rule, **arguments)
    return net


def synapses(net: rv.Network) -> list[tuple[float, ...]]:
    found = rv.Simulation(net).connections()
    columns = (found.sources, found.targets - 20, found.weights, found.delays)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def connections(net: rv.Network) -> set[tuple[float, ...]]:
    return {synapse[:2] for synapse in synapses(net)}


def test_masks() -> None:
    assert connections(network(rv.ConnectionSet(csa.oneToOne))) == {(i, i) for i in range(20)}
    assert len(connections(network(rv.ConnectionSet(csa.full - csa.oneToOne)))) == 20 * 30 - 20
    assert connections(network(rv.ConnectionSet(csa.empty))) == set()
    finite = csa.random(fanIn=3) * csa.cross(range(20), range(30))
    found = network(rv.ConnectionSet(finite))
    assert np.bincount([int(target) for _, target, _, _ in synapses(found)]).tolist() == [3] * 30


def test_random_sets_are_those_of_csa() -> None:
    random.seed(3)
    mask = csa.random(0.3)
    before = random.getstate()
    net = network(rv.ConnectionSet(mask))
    assert random.getstate() == before
    expected = set(csa.cross(range(20), range(30)) * mask)
    assert connections(net) == connections(network(rv.ConnectionSet(mask))) == expected
    random.seed(3)
    assert connections(network(rv.ConnectionSet(csa.random(0.3)))) == expected
    random.seed(4)
    assert connections(network(rv.ConnectionSet(csa.random(0.3)))) != expected


def test_values_of_connection_sets() -> None:
    shift = csa.cset(csa.oneToOne, lambda i, j: 1.0 + i, 1.5)
    net = network(rv.ConnectionSet(shift, weight=0, delay=1))
    assert synapses(net) == [(i, i, 1.0 + i, 1.5) for i in range(20)]
    net = network(rv.ConnectionSet(shift, weight=1, delay=0))
    assert synapses(net) == [(i, i, 1.5, 1.0 + i) for i in range(20)]
    only_delays = csa.cset(csa.oneToOne, 2.5)
    net = network(rv.ConnectionSet(only_delays, delay=0), weight=3.0)
    assert synapses(net) == [(i, i, 3.0, 2.5) for i in range(20)]
    with pytest.raises(errors.RuleError, match="without a delay"):
        network(rv.ConnectionSet(only_delays, delay=0), delay=3.0)
    assert repr(net.projections[0].rule) == "ConnectionSet(<ConnectionSet>, delay=0, 20 connections)"
    assert pickle.loads(pickle.dumps(net)) == net


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: rv.ConnectionSet(3), errors.WrongTypeError, "a mask or a connection set of csa"),
        (lambda: rv.ConnectionSet(csa.full, weight=0), errors.RuleError, "weight of .* is 0.*0 value sets"),
        (
            lambda: rv.ConnectionSet(csa.cset(csa.full, 1.0, 2.0), weight=0),
            errors.RuleError,
            "value set 1 of ConnectionSet.*not used; write weight=1 or delay=1",
        ),
        (
            lambda: rv.ConnectionSet(csa.cset(csa.full, 1.0), weight=0.0),  # type: ignore[arg-type]
            errors.WrongTypeError,
            "must be an integer",
        ),
    ],
)
def test_bad_arguments(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()
