"""Connection rules: exact constraints for any sizes, and that names and parameters are those of the core."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranvier as rv
from ranvier import _core, errors
from ranvier.network import rules
from ranvier.simulation.connections import Connections

ALLOWED = st.booleans()
SIZES = st.integers(0, 12)


@dataclasses.dataclass(frozen=True)
class Pairs:
    """A population of 20 neurons, of which some are sources and some are targets; they may overlap."""

    source_begin: int
    sources: int
    target_begin: int
    targets: int
    seed: int
    threads: int

    def connect(self, rule: rv.AllToAll | Any, **keywords: Any) -> Connections:
        net = rv.Network(seed=self.seed)
        neurons = net.create("iaf_psc_exp", 20)
        sources = neurons[self.source_begin : self.source_begin + self.sources]
        targets = neurons[self.target_begin : self.target_begin + self.targets]
        net.connect(sources, targets, rule, **keywords)
        sim = rv.Simulation(net, threads=self.threads)
        connections = sim.connections()
        assert sim.counts().synapses == len(connections) == sim.count_connections()
        assert np.isin(connections.sources, sources.ids).all()
        assert np.isin(connections.targets, targets.ids).all()
        return connections

    @property
    def common(self) -> int:
        """Neurons that are both a source and a target."""
        begin = max(self.source_begin, self.target_begin)
        return max(0, min(self.source_begin + self.sources, self.target_begin + self.targets) - begin)

    def allowed_sources(self, autapses: bool) -> int:
        """Return the fewest sources that any target may choose from."""
        return self.sources - (0 if autapses or not self.common else 1)


PAIRS = st.builds(
    Pairs,
    source_begin=st.integers(0, 8),
    sources=SIZES,
    target_begin=st.integers(0, 8),
    targets=SIZES,
    seed=st.integers(0, 2**64 - 1),
    threads=st.integers(1, 4),
)


def count(ids: Any) -> Counter[int]:
    return Counter(ids.tolist())


def pairs_of(connections: Connections) -> list[tuple[int, int]]:
    return list(zip(connections.sources.tolist(), connections.targets.tolist(), strict=True))


def check_allowed(connections: Connections, autapses: bool, multapses: bool) -> None:
    if not autapses:
        assert (connections.sources != connections.targets).all()
    if not multapses:
        assert len(set(pairs_of(connections))) == len(connections)


@settings(deadline=None, max_examples=60)
@given(PAIRS, st.integers(0, 12), ALLOWED, ALLOWED)
def test_fixed_indegree(pairs: Pairs, indegree: int, autapses: bool, multapses: bool) -> None:
    rule = rv.FixedIndegree(indegree, allow_autapses=autapses, allow_multapses=multapses)
    allowed = pairs.allowed_sources(autapses)
    if pairs.targets and indegree and (allowed <= 0 or (not multapses and indegree > allowed)):
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    connections = pairs.connect(rule)
    degrees = count(connections.targets)
    assert len(connections) == pairs.targets * indegree
    assert all(degrees[target] == indegree for target in degrees)
    check_allowed(connections, autapses, multapses)


@settings(deadline=None, max_examples=60)
@given(PAIRS, st.integers(0, 12), st.integers(0, 5), ALLOWED, ALLOWED)
def test_uniform_indegree(pairs: Pairs, least: int, more: int, autapses: bool, multapses: bool) -> None:
    rule = rv.UniformIndegree(least, least + more, allow_autapses=autapses, allow_multapses=multapses)
    allowed = pairs.allowed_sources(autapses)
    if pairs.targets and least + more and (allowed <= 0 or (not multapses and least + more > allowed)):
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    connections = pairs.connect(rule)
    degrees = count(connections.targets)
    targets = range(pairs.target_begin, pairs.target_begin + pairs.targets)
    assert all(least <= degrees[target] <= least + more for target in targets)
    check_allowed(connections, autapses, multapses)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 8), SIZES, st.integers(0, 12), st.integers(1, 4))
def test_nearest_neighbors(begin: int, size: int, indegree: int, threads: int) -> None:
    pairs = Pairs(begin, size, begin, size, 1, threads)
    if indegree % 2:
        with pytest.raises(errors.RuleError):
            rv.NearestNeighbors(indegree)
        return
    rule = rv.NearestNeighbors(indegree)
    if indegree and size and indegree >= size:
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    weights = 1.0 + np.arange(size * indegree)
    connections = pairs.connect(rule, weight=weights)
    places = [-k for k in range(indegree // 2, 0, -1)] + list(range(1, indegree // 2 + 1))
    expected = {
        (begin + (target + place) % size, begin + target): 1.0 + target * indegree + ordinal
        for target in range(size)
        for ordinal, place in enumerate(places)
    }
    assert dict(zip(pairs_of(connections), connections.weights.tolist(), strict=True)) == expected


def test_small_world() -> None:
    connections = Pairs(3, 12, 3, 12, seed=1, threads=2).connect(rv.SmallWorld(6, 0.5), weight=1.0 + np.arange(72))
    check_allowed(connections, autapses=False, multapses=False)
    assert set(count(connections.targets).values()) == {6}
    # The weight of a connection tells its target and the place of the neighbor whose connection it was.
    targets, places = np.divmod(connections.weights.astype(int) - 1, 6)
    assert (targets == connections.targets - 3).all()
    neighbors = (targets + np.array([-3, -2, -1, 1, 2, 3])[places]) % 12
    assert 0 < np.count_nonzero(neighbors == connections.sources - 3) < 72


def test_nearest_neighbors_need_one_population() -> None:
    net = rv.Network()
    one, other = net.create("iaf_psc_exp", 10), net.create("iaf_psc_exp", 10)
    for sources, targets in ((one, other), (one[:5], one[5:]), (one, one[:9])):
        with pytest.raises(errors.RuleError, match="they must be the targets"):
            net.connect(sources, targets, rv.NearestNeighbors(2))
        with pytest.raises(errors.RuleError, match="they must be the targets"):
            net.connect(sources, targets, rv.SmallWorld(2, 0.1))
        with pytest.raises(errors.RuleError, match="they must be the targets"):
            net.connect(sources, targets, rv.UnorderedBernoulli(0.1))


@settings(deadline=None, max_examples=60)
@given(PAIRS, st.integers(0, 12), ALLOWED, ALLOWED)
def test_fixed_outdegree(pairs: Pairs, outdegree: int, autapses: bool, multapses: bool) -> None:
    rule = rv.FixedOutdegree(outdegree, allow_autapses=autapses, allow_multapses=multapses)
    allowed = pairs.targets - (0 if autapses or not pairs.common else 1)
    if pairs.sources and outdegree and (allowed <= 0 or (not multapses and outdegree > allowed)):
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    connections = pairs.connect(rule)
    degrees = count(connections.sources)
    assert len(connections) == pairs.sources * outdegree
    assert all(degrees[source] == outdegree for source in degrees)
    check_allowed(connections, autapses, multapses)


@settings(deadline=None, max_examples=60)
@given(PAIRS, st.integers(0, 150), ALLOWED, ALLOWED)
def test_fixed_total_number(pairs: Pairs, number: int, autapses: bool, multapses: bool) -> None:
    rule = rv.FixedTotalNumber(number, allow_autapses=autapses, allow_multapses=multapses)
    possible = pairs.sources * pairs.targets - (0 if autapses else pairs.common)
    if number and (possible == 0 or (not multapses and number > possible)):
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    connections = pairs.connect(rule)
    assert len(connections) == number
    check_allowed(connections, autapses, multapses)


@settings(deadline=None, max_examples=60)
@given(PAIRS, st.sampled_from([0.0, 1e-9, 0.3, 0.999, 1.0]), ALLOWED)
def test_pairwise_bernoulli(pairs: Pairs, probability: float, autapses: bool) -> None:
    connections = pairs.connect(rv.PairwiseBernoulli(probability, allow_autapses=autapses))
    check_allowed(connections, autapses, multapses=False)
    possible = pairs.sources * pairs.targets - (0 if autapses else pairs.common)
    assert len(connections) <= possible
    if probability == 1.0:
        assert len(connections) == possible
    if probability == 0.0:
        assert len(connections) == 0


@settings(deadline=None, max_examples=40)
@given(PAIRS, ALLOWED)
def test_all_to_all(pairs: Pairs, autapses: bool) -> None:
    connections = pairs.connect(rv.AllToAll(allow_autapses=autapses))
    assert len(connections) == pairs.sources * pairs.targets - (0 if autapses else pairs.common)
    check_allowed(connections, autapses, multapses=False)


@settings(deadline=None, max_examples=40)
@given(PAIRS, ALLOWED)
def test_one_to_one(pairs: Pairs, autapses: bool) -> None:
    rule = rv.OneToOne(allow_autapses=autapses)
    if pairs.sources != pairs.targets:
        with pytest.raises(errors.RuleError):
            pairs.connect(rule)
        return
    connections = pairs.connect(rule)
    expected = {
        (pairs.source_begin + i, pairs.target_begin + i)
        for i in range(pairs.sources)
        if autapses or pairs.source_begin != pairs.target_begin
    }
    assert set(pairs_of(connections)) == expected
    assert len(connections) == len(expected)


@settings(deadline=None, max_examples=40)
@given(PAIRS, st.data())
def test_explicit(pairs: Pairs, data: st.DataObject) -> None:
    possible = pairs.sources > 0 and pairs.targets > 0
    one = st.tuples(st.integers(0, max(0, pairs.sources - 1)), st.integers(0, max(0, pairs.targets - 1)))
    chosen = data.draw(st.lists(one, max_size=30)) if possible else []
    sources = np.array([source for source, _ in chosen], dtype=np.int64)
    targets = np.array([target for _, target in chosen], dtype=np.int64)
    weights = 1.0 + np.arange(len(chosen))
    delays = 0.1 * (1 + np.arange(len(chosen)) % 7)
    connections = pairs.connect(rv.Explicit(sources, targets), weight=weights, delay=delays)
    found = sorted(
        zip(
            connections.sources.tolist(),
            connections.targets.tolist(),
            connections.weights.tolist(),
            np.rint(connections.delays * 10).astype(int).tolist(),
            strict=True,
        )
    )
    expected = sorted(
        zip(
            (sources + pairs.source_begin).tolist(),
            (targets + pairs.target_begin).tolist(),
            weights.tolist(),
            np.rint(delays * 10).astype(int).tolist(),
            strict=True,
        )
    )
    assert found == expected


@pytest.mark.parametrize(
    "rule",
    [
        rv.FixedIndegree(7),
        rv.FixedIndegree(7, allow_multapses=False, allow_autapses=False),
        rv.UniformIndegree(3, 11),
        rv.UniformIndegree(3, 11, allow_multapses=False, allow_autapses=False),
        rv.NearestNeighbors(8),
        rv.SmallWorld(8, 0.3),
        rv.FixedOutdegree(7, allow_multapses=False),
        rv.FixedTotalNumber(500),
        rv.PairwiseBernoulli(0.2),
        rv.UnorderedBernoulli(0.2),
    ],
    ids=repr,
)
def test_same_synapses_for_any_number_of_threads(rule: rv.Rule) -> None:
    net = rv.Network(seed=3)
    neurons = net.create("iaf_psc_exp", 60)
    net.connect(neurons, neurons, rule, weight=rv.Normal(1.0, 0.5, low=0.0), delay=rv.Exponential(1.0, shift=0.1))
    found = []
    for threads in (1, 2, 5):
        connections = rv.Simulation(net, threads=threads).connections()
        columns = (connections.sources, connections.targets, connections.delays, connections.weights)
        # Synapses of one pair with one delay may be stored in any order.
        found.append(sorted(zip(*(column.tolist() for column in columns), strict=True)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("rule", "keywords"), [("fixed_indegree", {"indegree": 3}), ("all_to_all", {})])
def test_by_name(rule: str, keywords: dict[str, Any]) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 5)
    projection = net.connect(neurons, neurons, rule, allow_autapses=False, **keywords)
    assert projection.rule == {"fixed_indegree": rv.FixedIndegree(3, False), "all_to_all": rv.AllToAll(False)}[rule]


def test_all_to_all_takes_a_matrix_of_weights() -> None:
    net = rv.Network()
    sources, targets = net.create("iaf_psc_exp", 3), net.create("iaf_psc_exp", 2)
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    net.connect(sources, targets, rv.AllToAll(), weight=matrix)
    connections = rv.Simulation(net).connections()
    found = np.zeros((2, 3))
    found[connections.targets - 3, connections.sources] = connections.weights
    assert (found == matrix).all()
    with pytest.raises(errors.ShapeError, match=r"\(2, 3\)"):
        net.connect(sources, targets, rv.AllToAll(), weight=matrix.T)


def test_rules_of_python_are_those_of_the_core() -> None:
    in_core = {rule.name: [parameter.name for parameter in rule.parameters] for rule in _core.rules()}
    in_python = {rule.name: [field.name for field in dataclasses.fields(rule)] for rule in rules.RULES.values()}
    assert in_python == in_core


def test_expected_synapses() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 10)
    assert net.connect(neurons, neurons, rv.AllToAll(allow_autapses=False)).expected_synapses == 90
    assert net.connect(neurons, neurons, rv.PairwiseBernoulli(0.25)).expected_synapses == 25
    assert net.expected_synapses == 115
    assert net.connect(neurons, neurons, rv.UniformIndegree(2, 5)).expected_synapses == 35
    assert net.connect(neurons, neurons, rv.NearestNeighbors(6)).expected_synapses == 60
    assert net.connect(neurons, neurons, rv.UnorderedBernoulli(0.2)).expected_synapses == 9
    with pytest.raises(errors.RuleError, match="indegree_min"):
        net.connect(neurons, neurons, rv.UniformIndegree(6, 5))
    with pytest.raises(errors.RuleError, match="it needs indegree_min and indegree_max"):
        net.connect(neurons, neurons, "uniform_indegree")
