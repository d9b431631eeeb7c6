"""Rules that are functions of blocks of targets."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier import errors

Indices = npt.NDArray[np.int64]


def network(rule: rv.Rule, sources: int = 20, targets: int = 30, **arguments: Any) -> rv.Network:
    net = rv.Network()
    a, b = net.create("iaf_psc_exp", sources, name="a"), net.create("iaf_psc_exp", targets, name="b")
    net.connect(a, b, rule, **arguments)
    return net


def synapses(net: rv.Network, threads: int = 1) -> list[tuple[float, ...]]:
    found = rv.Simulation(net, threads=threads).connections()
    first_target = len(net["a"])
    columns = (found.sources, found.targets - first_target, found.weights, found.delays)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def drawn(targets: Indices, sources: int, generator: np.random.Generator) -> tuple[Indices, Indices]:
    """Three sources for each target, which are returned from the last target to the first."""
    return generator.integers(0, sources, 3 * len(targets)), np.repeat(targets[::-1], 3)


def valued(targets: Indices, sources: int, generator: np.random.Generator) -> tuple[Any, ...]:
    return targets % sources, targets, 1.0 + targets, (1 + targets % 9) / 10


def test_connections_are_those_that_the_function_returns() -> None:
    net = network(rv.FunctionRule(valued, block=7))
    expected = sorted((i % 20, i, 1.0 + i, (1 + i % 9) / 10) for i in range(30))
    assert synapses(net) == synapses(net, threads=3) == expected


def test_arguments_of_the_function() -> None:
    calls = []

    def noted(targets: Indices, sources: int, generator: np.random.Generator) -> tuple[Indices, Indices]:
        calls.append((targets.tolist(), sources, generator.random()))
        return targets % sources, targets

    network(rv.FunctionRule(noted, seed=5, block=20))
    blocks = [list(range(20)), list(range(20, 30))]
    # Each block is drawn twice, with the same random numbers.
    draws = [np.random.Generator(np.random.Philox(key=np.array([5, i], dtype=np.uint64))).random() for i in range(2)]
    assert calls == [(block, 20, draw) for block, draw in zip(blocks, draws, strict=True) for _ in range(2)]


def test_draws_depend_on_the_seed_and_the_block() -> None:
    rules = [
        rv.FunctionRule(drawn),
        rv.FunctionRule(drawn, seed=1),
        rv.FunctionRule(drawn, seed=2**64 - 1),
        rv.FunctionRule(drawn, block=8),
    ]
    found = [synapses(network(rule)) for rule in rules]
    assert len(found[0]) == 90
    assert found[0] == found[1]
    assert all(one != other for one, other in itertools.combinations(found[1:], 2))


def test_weights_and_delays() -> None:
    """Those of the function or those of the call, but not both."""
    assert {synapse[2:] for synapse in synapses(network(rv.FunctionRule(drawn), weight=7.0, delay=2.0))} == {(7.0, 2.0)}
    with pytest.raises(
        errors.RuleError, match=r"leave out weight=\.\.\., or make FunctionRule\(valued\) without a weight"
    ):
        network(rv.FunctionRule(valued), weight=7.0)

    def with_delays(targets: Indices, sources: int, generator: np.random.Generator) -> tuple[Any, ...]:
        return targets % sources, targets, None, (1.0 + targets) / 10

    net = network(rv.FunctionRule(with_delays), weight=rv.Normal(5.0, 1.0))
    assert sorted(synapse[3] for synapse in synapses(net)) == [(1.0 + i) / 10 for i in range(30)]


def test_order_of_arrays() -> None:
    """By target, and then as the function returns them."""

    def backwards(targets: Indices, sources: int, generator: np.random.Generator) -> tuple[Any, ...]:
        return [5, 3, 4], [2, 0, 2]

    net = network(rv.FunctionRule(backwards), 6, 3, weight=[1.0, 2.0, 3.0])
    assert synapses(net) == [(3, 0, 1.0, 1.0), (4, 2, 3.0, 1.0), (5, 2, 2.0, 1.0)]


def test_networks_do_not_keep_the_function() -> None:
    net = network(rv.FunctionRule(lambda targets, sources, generator: (targets % sources, targets)))
    again = pickle.loads(pickle.dumps(net))
    assert again == net
    assert synapses(again) == synapses(net)
    rule = net.projections[0].rule
    assert isinstance(rule, rv.MadeRule)
    assert repr(rule) == "FunctionRule(<lambda>, 30 connections)"
    assert "FunctionRule(<lambda>, 30 connections)" in net.summary()
    assert repr(rv.FunctionRule(drawn, seed=3, block=9)) == "FunctionRule(drawn, seed=3, block=9)"
    assert rv.FunctionRule(drawn) == rv.FunctionRule(drawn) != rv.FunctionRule(drawn, seed=3)
    net.set(net.projections[0], rule=rv.FunctionRule(valued))
    assert net.projections[0].expected_synapses == 30
    assert synapses(net) != synapses(again)


def test_functions_that_depend_on_something_else() -> None:
    generator = np.random.default_rng(1)
    with pytest.raises(errors.RuleError, match=r"result of <lambda> for targets 0 to 29.*another one.*called again"):
        network(rv.FunctionRule(lambda targets, sources, _: (generator.integers(0, sources, len(targets)), targets)))


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda t, s, g: t, errors.ShapeError, "targets 0 to 19 is ndarray.*sources and targets"),
        (lambda t, s, g: (t,), errors.ShapeError, "is 1 arrays"),
        (lambda t, s, g: (t % s, t, t, t, t), errors.ShapeError, "is 5 arrays"),
        (lambda t, s, g: (t[:1] % s, t), errors.ShapeError, r"targets in .* shape \(20,\).*sources have shape \(1,\)"),
        (lambda t, s, g: (t[None] % s, t[None]), errors.ShapeError, r"sources in .* shape \(1, 20\)"),
        (lambda t, s, g: (t % s, t + 1), errors.ValueOutOfBoundsError, "targets in .* is 20.*from 0 to 19"),
        (lambda t, s, g: (t - 1, t), errors.ValueOutOfBoundsError, "sources in .* is -1.*from 0 to 19"),
        (lambda t, s, g: (0 * t + s, t), errors.ValueOutOfBoundsError, "sources in .* is 20.*from 0 to 19"),
        (lambda t, s, g: (t / 2, t), errors.WrongTypeError, "sources in .* must be integers, not float64"),
        (lambda t, s, g: (t % s, t, t / 0.0), errors.ValueOutOfBoundsError, "weights in .* must be finite"),
        (lambda t, s, g: (t % s, t, ["a"]), errors.WrongTypeError, "weights in"),
        (lambda t, s, g: (t % s, t, t) if t[0] else (t % s, t), errors.ShapeError, "weights in results.*or none"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_bad_results(function: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        network(rv.FunctionRule(function, block=20))


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: rv.FunctionRule("f"), errors.WrongTypeError, "must be a function"),  # type: ignore[arg-type]
        (lambda: rv.FunctionRule(drawn, seed=-1), errors.ValueOutOfBoundsError, "seed of FunctionRule"),
        (lambda: rv.FunctionRule(drawn, block=0), errors.ValueOutOfBoundsError, "block of FunctionRule"),
    ],
)
def test_bad_arguments(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()
