"""Connections of matrices, dense and sparse: the same synapses as those of the list of their elements."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import ranvier as rv
from ranvier import errors

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def population_pair(sources: int, targets: int) -> tuple[rv.Network, rv.Population, rv.Population]:
    net = rv.Network()
    return net, net.create("iaf_psc_exp", sources, name="a"), net.create("iaf_psc_exp", targets, name="b")


def synapses(net: rv.Network, threads: int = 1) -> list[tuple[int, int, float, float]]:
    found = rv.Simulation(net, threads=threads).connections()
    columns = (found.sources, found.targets, found.weights, found.delays)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def elements(weights: Any, delays: Any) -> list[tuple[int, int, float, float]]:
    targets, sources = np.nonzero(weights)
    first_target = weights.shape[1]
    return sorted(
        (int(j), first_target + int(i), float(weights[i, j]), float(delays[i, j]))
        for i, j in zip(targets, sources, strict=True)
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32), st.sampled_from(["dense", "masked", *FORMATS]))
def test_synapses_are_the_elements(sources: int, targets: int, seed: int, kind: str) -> None:
    random = np.random.default_rng(seed)
    weights = np.where(random.random((targets, sources)) < 0.4, random.integers(1, 90, (targets, sources)), 0.0)
    delays = random.integers(1, 40, (targets, sources)) / 8.0
    matrix: Any = weights
    if kind == "masked":
        matrix = np.ma.masked_equal(np.where(weights == 0.0, 777.0, weights), 777.0)
    elif kind != "dense":
        matrix = getattr(scipy.sparse, f"{kind}_array")(weights)
        delays = np.where(weights == 0.0, 0.0, delays)
    net, a, b = population_pair(sources, targets)
    net.resolution = 0.125
    net.connect(a, b, rv.FromMatrix(matrix, delay=delays if kind == "dense" else scipy.sparse.csc_matrix(delays)))
    assert synapses(net, threads=1 + seed % 3) == elements(weights, delays)


def test_orientation() -> None:
    weights = np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 0.0]])
    delays = np.full((2, 3), 2.0)
    expected = elements(weights, delays)
    for make in (np.asarray, scipy.sparse.csr_matrix):
        for rule in (rv.FromMatrix(make(weights)), rv.FromMatrix(make(weights.T), rows="sources")):
            net, a, b = population_pair(3, 2)
            net.connect(a, b, rule, delay=2.0)
            assert synapses(net) == expected
    with pytest.raises(errors.ShapeError, match=r'\(3, 2\).*\(targets, sources\), \(2, 3\); write rows="sources"'):
        net.connect(a, b, rv.FromMatrix(weights.T))
    with pytest.raises(errors.ShapeError, match=r"\(2, 3\).*\(sources, targets\), \(3, 2\)"):
        net.connect(a, b, rv.FromMatrix(weights, rows="sources"))


def test_missing_elements() -> None:
    """NaN and masked elements are no connections, and a stored 0 of a sparse matrix is one."""
    net, a, b = population_pair(3, 1)
    net.connect(a, b, rv.FromMatrix([[np.nan, 0.0, -1.0]]))
    assert synapses(net) == [(2, 3, -1.0, 1.0)]
    stored = scipy.sparse.coo_array(([0.0, 5.0], ([0, 0], [1, 2])), shape=(1, 3))
    net, a, b = population_pair(3, 1)
    net.connect(a, b, rv.FromMatrix(stored))
    assert synapses(net) == [(1, 3, 0.0, 1.0), (2, 3, 5.0, 1.0)]
    nothing = net.connect(a, b, rv.FromMatrix(np.zeros((1, 3))))
    assert nothing.expected_synapses == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_boolean_matrices_have_no_weights(sparse: bool) -> None:
    given_matrix: Any = np.array([[True, False, True]])
    rule = rv.FromMatrix(scipy.sparse.csr_array(given_matrix) if sparse else given_matrix)
    net, a, b = population_pair(3, 1)
    net.connect(a, b, rule, weight=rv.Uniform(2.0, 3.0), delay=1.5)
    assert [(source, target) for source, target, _, _ in synapses(net)] == [(0, 3), (2, 3)]
    net.connect(a, b, rule, weight=[7.0, 8.0])
    assert [weight for _, _, weight, _ in synapses(net) if weight > 3.0] == [7.0, 8.0]


def test_both_weights_are_refused() -> None:
    net, a, b = population_pair(3, 1)
    rule = rv.FromMatrix([[1.0, 0.0, 2.0]], delay=[[1.0, 1.0, 2.0]])
    with pytest.raises(errors.RuleError, match=r"weight of a projection.*leave out weight="):
        net.connect(a, b, rule, weight=1.0)
    with pytest.raises(errors.RuleError, match=r"delay of a projection.*leave out delay="):
        net.connect(a, b, rule, delay=1.0)
    projection = net.connect(a, b, rv.AllToAll(), weight=3.0)
    with pytest.raises(errors.RuleError, match="leave out delay="):
        net.set(projection, rule=rule, delay=2.0)
    net.set(projection, rule=rule)
    assert synapses(net) == [(0, 3, 1.0, 1.0), (2, 3, 2.0, 2.0)]
    net.set(projection, weight=9.0)
    assert synapses(net) == [(0, 3, 9.0, 1.0), (2, 3, 9.0, 2.0)]


def test_other_values_in_the_order_of_the_connections() -> None:
    weights = np.array([[0.0, 20.0], [30.0, 40.0], [0.0, 0.0]])
    rule = rv.FromMatrix(weights)
    assert rule.sources.tolist() == [1, 0, 1]
    assert rule.targets.tolist() == [0, 1, 1]
    utilization = np.array([[0.125, 0.25], [0.5, 0.75], [0.0, 1.0]])
    assert rule.values(utilization).tolist() == [0.25, 0.5, 0.75]
    net, a, b = population_pair(2, 3)
    net.connect(a, b, rule, synapse=rv.tsodyks2(U=rule.values(utilization)))
    found = rv.Simulation(net).connections()
    assert dict(zip(found.weights.tolist(), found.get("U").tolist(), strict=True)) == {
        20.0: 0.25,
        30.0: 0.5,
        40.0: 0.75,
    }


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: rv.FromMatrix([1.0, 2.0]), errors.ShapeError, "two dimensions"),
        (lambda: rv.FromMatrix([[1.0], [2.0, 3.0]]), errors.ShapeError, "different lengths"),
        (lambda: rv.FromMatrix([["a"]]), errors.WrongTypeError, "numbers"),
        (lambda: rv.FromMatrix(np.array([[1j]])), errors.WrongTypeError, "complex"),
        (
            lambda: rv.FromMatrix([[0.0, np.inf]]),
            errors.ValueOutOfBoundsError,
            r"element \(0, 1\) of the matrix is inf",
        ),
        (
            lambda: rv.FromMatrix(scipy.sparse.coo_array([[0.0, np.nan], [1.0, 0.0]]).T, rows="sources"),
            errors.ValueOutOfBoundsError,
            r"element \(1, 0\) of the matrix is nan",
        ),
        (
            lambda: rv.FromMatrix(scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))),
            errors.RuleError,
            "2 stored elements.*1 place",
        ),
        (
            lambda: rv.FromMatrix(scipy.sparse.csc_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))),
            errors.RuleError,
            "2 stored elements.*1 place",
        ),
        (lambda: rv.FromMatrix([[1.0]], delay=[[1.0, 2.0]]), errors.ShapeError, r"delay is \(1, 2\).*\(1, 1\)"),
        (
            lambda: rv.FromMatrix([[0.0, 1.0]], delay=[[1.0, np.nan]]),
            errors.ValueOutOfBoundsError,
            r"element \(0, 1\) of the delay is missing",
        ),
        (
            lambda: rv.FromMatrix([[0.0], [1.0]], delay=scipy.sparse.csr_array([[1.0, 0.0]]), rows="sources"),
            errors.ShapeError,
            r"delay is \(1, 2\).*\(2, 1\)",
        ),
        (lambda: rv.FromMatrix([[1.0]], rows="columns"), errors.UnknownNameError, "columns"),  # type: ignore[arg-type]
        (
            lambda: rv.FromMatrix([[1.0]], delays=1.0),  # type: ignore[call-arg]
            errors.UnknownNameError,
            "did you mean 'delay'",
        ),
    ],
)
def test_bad_matrices(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()


def test_bad_delays_of_a_matrix_are_those_of_a_projection() -> None:
    net, a, b = population_pair(2, 1)
    with pytest.raises(errors.DelayError, match="element 1 of delay"):
        net.connect(a, b, rv.FromMatrix([[1.0, 1.0]], delay=[[1.0, 0.01]]))


def test_copies_and_texts() -> None:
    weights = np.arange(6.0).reshape(2, 3)
    rule = rv.FromMatrix(weights, delay=1.0 + weights)
    assert repr(rule) == "FromMatrix(<2 x 3, 5 connections>)"
    assert repr(rv.FromMatrix(weights, rows="sources")) == 'FromMatrix(<2 x 3, 5 connections>, rows="sources")'
    assert rule == copy.deepcopy(rule) == pickle.loads(pickle.dumps(rule))
    assert rule != rv.FromMatrix(weights)
    with pytest.raises(errors.ReadOnlyError):
        rule.shape = (3, 2)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        rule.sources[0] = 1
    net, a, b = population_pair(3, 2)
    net.connect(a, b, rule)
    assert "FromMatrix(<2 x 3, 5 connections>)" in net.summary()
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert synapses(again) == synapses(net)
    weights[:] = 0.0
    assert net.expected_synapses == 5


def test_rows_in_compressed_form() -> None:
    net, a, b = population_pair(3, 2)
    projection = net.connect(a, b, rv.ExplicitRows([0, 1, 3], [2, 0, 0]), weight=[1.0, 2.0, 3.0])
    assert synapses(net) == [(0, 4, 2.0, 1.0), (0, 4, 3.0, 1.0), (2, 3, 1.0, 1.0)]
    assert repr(projection.rule) == "ExplicitRows(3 connections)"
