"""Symmetric pairs: a projection and its reverse have the same pairs, and the same weights unless others are given."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ranvier as rv
from ranvier import errors

WEIGHT = rv.Normal(10.0, 2.0, low=1.0)
DELAY = rv.Uniform(0.5, 4.0)

RULES: list[tuple[Any, tuple[int, int]]] = [
    (rv.AllToAll(), (6, 9)),
    (rv.OneToOne(), (9, 9)),
    (rv.FixedIndegree(4), (20, 30)),
    (rv.FixedOutdegree(4, allow_multapses=False), (20, 30)),
    (rv.FixedTotalNumber(70), (20, 30)),
    (rv.UniformIndegree(2, 5), (20, 30)),
    (rv.PairwiseBernoulli(0.2), (20, 30)),
    (rv.Explicit([0, 3, 3, 1], [2, 1, 0, 2]), (4, 3)),
    (rv.FromMatrix([[0.0, 1.0], [2.0, 3.0], [0.0, 4.0]]), (2, 3)),
    (rv.UnorderedBernoulli(0.3), (20, 0)),
    (rv.SmallWorld(4, 0.3), (20, 0)),
]


def populations(sizes: tuple[int, int]) -> tuple[rv.Network, rv.Population, rv.Population]:
    """Return two populations; one, connected to itself, if the second has no size."""
    net = rv.Network(seed=5)
    a = net.create("iaf_psc_exp", sizes[0], name="a")
    return net, a, net.create("iaf_psc_exp", sizes[1], name="b") if sizes[1] else a


def synapses(sim: rv.Simulation, projection: rv.Projection, *, turned: bool = False) -> list[tuple[float, ...]]:
    found = sim.connections(projection=projection)
    ends = (found.targets, found.sources) if turned else (found.sources, found.targets)
    return sorted(zip(*(column.tolist() for column in (*ends, found.weights, found.delays)), strict=True))


@pytest.mark.parametrize(("rule", "sizes"), RULES, ids=[repr(rule) for rule, _ in RULES])
def test_both_directions_of_any_rule(rule: rv.Rule, sizes: tuple[int, int]) -> None:
    net, a, b = populations(sizes)
    given: dict[str, Any] = {} if isinstance(rule, rv.FromMatrix) else {"weight": WEIGHT}
    forward = net.connect(a, b, rule, delay=DELAY, **given)
    back = net.connect(b, a, rv.Reversed(forward))
    assert back.weight is forward.weight
    assert back.expected_synapses == forward.expected_synapses
    for threads in (1, 3):
        sim = rv.Simulation(net, threads=threads)
        found = synapses(sim, forward)
        assert found
        assert synapses(sim, back, turned=True) == found


def test_parts_of_populations() -> None:
    net, a, b = populations((20, 30))
    forward = net.connect([a[::3], b[5:7]], b[1::2], rv.FixedIndegree(3), weight=WEIGHT, delay=DELAY)
    back = net.connect(b[1::2], [a[::3], b[5:7]], rv.Reversed(forward))
    sim = rv.Simulation(net, threads=2)
    assert synapses(sim, back, turned=True) == synapses(sim, forward)


def test_rules_by_distance() -> None:
    """The expression is of the pairs of the other direction, whose displacement is not symmetric."""
    net = rv.Network(seed=5)
    a = net.create("iaf_psc_exp", 49, name="a", positions=rv.grid((7, 7), extent=1.0))
    b = net.create("iaf_psc_exp", 36, name="b", positions=rv.grid((6, 6), extent=1.0))
    forward = net.connect(a, b, rv.PairwiseBernoulli("0.5 + 0.4*dx", mask=rv.circle(0.4)), weight=WEIGHT)
    back = net.connect(b, a, rv.Reversed(forward))
    sim = rv.Simulation(net, threads=2)
    assert synapses(sim, forward)
    assert synapses(sim, back, turned=True) == synapses(sim, forward)


def test_given_weights_are_drawn_independently() -> None:
    net, a, b = populations((100, 100))
    forward = net.connect(a, b, rv.OneToOne(), weight=WEIGHT, delay=DELAY)
    back = net.connect(b, a, rv.Reversed(forward), weight=WEIGHT)
    sim = rv.Simulation(net)
    columns = [np.array(synapses(sim, each, turned=each is back)).T for each in (forward, back)]
    assert (columns[0][[0, 1, 3]] == columns[1][[0, 1, 3]]).all()
    # Significance 1e-6.
    assert scipy.stats.pearsonr(columns[0][2], columns[1][2]).pvalue > 1e-6
    net.set(back, delay=2.0)
    assert (np.array(synapses(rv.Simulation(net), back))[:, 3] == 2.0).all()


def test_arrays_keep_the_order_of_the_other_direction() -> None:
    net, a, b = populations((3, 3))
    forward = net.connect(a, b, rv.Explicit([0, 1, 1], [2, 0, 2]), weight=[1.0, 2.0, 3.0])
    back = net.connect(b, a, rv.Reversed(forward), weight=[4.0, 5.0, 6.0], delay=[1.0, 2.0, 3.0])
    assert synapses(rv.Simulation(net), back) == [(3, 1, 5.0, 2.0), (5, 0, 4.0, 1.0), (5, 1, 6.0, 3.0)]


def test_pairs_of_one_population_are_symmetric() -> None:
    net, a, _ = populations((200, 0))
    half = net.connect(a, a, rv.UnorderedBernoulli(0.1), weight=WEIGHT)
    net.connect(a, a, rv.Reversed(half))
    found = rv.Simulation(net, threads=3).connections()
    matrix = np.zeros((200, 200))
    matrix[found.targets, found.sources] = found.weights
    assert np.count_nonzero(matrix) == len(found)
    assert (matrix == matrix.T).all()
    assert not matrix.diagonal().any()
    # 19,900 pairs; significance 1e-6.
    assert scipy.stats.binomtest(len(found) // 2, 19_900, 0.1).pvalue > 1e-6


def test_changes() -> None:
    net, a, b = populations((20, 30))
    forward = net.connect(a, b, rv.FixedIndegree(3), weight=WEIGHT, name="forward")
    back = net.connect(b, a, rv.Reversed(forward), delay=2.0, name="back")
    for values, name in (({"indegree": 4}, "indegree"), ({"rule": rv.AllToAll()}, "rule"), ({"weight": 1.0}, "weight")):
        with pytest.raises(errors.StateError, match=f"{name} of projection forward.*projection back has it"):
            net.set(forward, **values)
    net.set(forward, delay=3.0)
    assert (forward.delay, back.delay) == (3.0, 2.0)
    net.set(back, weight=5.0)
    net.set(forward, weight=7.0)
    assert (forward.weight, back.weight) == (7.0, 5.0)
    sim = rv.Simulation(net)
    assert [each[:2] for each in synapses(sim, back, turned=True)] == [each[:2] for each in synapses(sim, forward)]
    net.set(back, rule=rv.Reversed(forward))
    assert (back.weight, back.delay) == (7.0, 3.0)
    net.seed = 8
    sim = rv.Simulation(net)
    assert synapses(sim, back, turned=True) == synapses(sim, forward)


def test_what_cannot_be_reversed() -> None:
    net, a, b = populations((20, 30))
    forward = net.connect(a, b, rv.FixedIndegree(3))
    for sources, targets in ((a, b), (b, a[1:]), (a, a)):
        with pytest.raises(errors.RuleError, match="connects a to b; connect its targets to its sources"):
            net.connect(sources, targets, rv.Reversed(forward))
    with pytest.raises(errors.WrongTypeError, match="must be a projection"):
        rv.Reversed(rv.FixedIndegree(3))  # type: ignore[arg-type]
    back = net.connect(b, a, rv.Reversed(forward))
    with pytest.raises(errors.RuleError, match="reversed itself"):
        rv.Reversed(back)
    other, c, d = populations((20, 30))
    with pytest.raises(errors.StateError, match="another network"):
        other.connect(d, c, rv.Reversed(forward))
    rule = rv.Reversed(other.connect(c, d, rv.AllToAll()))
    other.set(other.projections[0], rule=rv.OneToOne() if len(c) == len(d) else rv.FixedIndegree(1))
    with pytest.raises(errors.StateError, match="another rule now"):
        other.connect(d, c, rule)


def test_copies_and_texts() -> None:
    net, a, b = populations((20, 30))
    forward = net.connect(a, b, rv.FixedIndegree(3), weight=WEIGHT)
    rule = rv.Reversed(forward)
    assert repr(rule) == "Reversed('a to b')"
    back = net.connect(b, a, rule)
    assert repr(back) == "<Projection b to a: Reversed('a to b')>"
    assert "Reversed('a to b')" in net.summary()
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert again == net
        sims = rv.Simulation(net), rv.Simulation(again)
        assert synapses(sims[0], back) == synapses(sims[1], again.projections[1])
        assert again.projections[1].rule == back.rule
    net.set(back, weight=1.0)
    assert again != net
