"""Random expressions: what the core makes of their text is what NumPy makes of the same operations.

Each is calculated from parameters (before a step), from variables (in what is recorded), and in a reset (in a step).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import ranvier as rv

Array = npt.NDArray[np.float64]
Point = Mapping[str, Array]

LANES = 67
# A few units in the last place of what an operation makes, or of terms of it that are added in another order.
ROUNDING = 16 * float(np.finfo(float).eps)


class Bounded(NamedTuple):
    """What NumPy finds, and how far the rounding of all operations may lead away from it."""

    value: Array
    error: Array


class Expression(NamedTuple):
    """The text of an expression, and what it is."""

    text: str
    of: Callable[[Point], Bounded]


def rounded(value: Array, error: Array) -> Bounded:
    return Bounded(value, error + ROUNDING * np.abs(value))


def variable(name: str) -> Expression:
    return Expression(name, lambda point: Bounded(point[name], np.zeros(LANES)))


def number(value: float) -> Expression:
    return Expression(f"{value!r}", lambda _: Bounded(np.full(LANES, value), np.zeros(LANES)))


def _divided(a: Bounded, b: Bounded) -> Bounded:
    """By 1.5 + |b|."""
    divisor = 1.5 + np.abs(b.value)
    error = b.error + ROUNDING * divisor
    value = a.value / divisor
    return rounded(value, (a.error + np.abs(value) * error) / (divisor - np.minimum(error, 1.0)))


def _product(a: Bounded, b: Bounded) -> Bounded:
    error = np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error
    return rounded(a.value * b.value, error)


BINARY: dict[str, Callable[[Bounded, Bounded], Bounded]] = {
    "({} + {})": lambda a, b: rounded(a.value + b.value, a.error + b.error + ROUNDING * np.abs(a.value)),
    "({} - {})": lambda a, b: rounded(a.value - b.value, a.error + b.error + ROUNDING * np.abs(a.value)),
    "{}*{}": _product,
    "({}/(1.5 + abs({})))": _divided,
    "min({}, {})": lambda a, b: Bounded(np.minimum(a.value, b.value), np.maximum(a.error, b.error)),
    "max({}, {})": lambda a, b: Bounded(np.maximum(a.value, b.value), np.maximum(a.error, b.error)),
}


def _smooth(function: Callable[[Array], Array], slope: float) -> Callable[[Bounded], Bounded]:
    """Of a function that is nowhere steeper; its argument may be rounded once more."""
    return lambda a: rounded(function(a.value), slope * (a.error + ROUNDING * (1.0 + np.abs(a.value))))


UNARY: dict[str, Callable[[Bounded], Bounded]] = {
    "(-{})": lambda a: Bounded(-a.value, a.error),
    "abs({})": lambda a: Bounded(np.abs(a.value), a.error),
    "clip({}, -2.5, 2.5)": lambda a: Bounded(np.clip(a.value, -2.5, 2.5), a.error),
    "({})**2": lambda a: _product(a, a),
    "({})**3": lambda a: _product(_product(a, a), a),
    "sin({})": _smooth(np.sin, 1.0),
    "cos({})": _smooth(np.cos, 1.0),
    "tanh(clip({}, -9, 9))": _smooth(lambda x: np.tanh(np.clip(x, -9.0, 9.0)), 1.0),
    "exp(min({}, 3))": _smooth(lambda x: np.exp(np.minimum(x, 3.0)), 32.0),
    "expm1(min({}, 3))": _smooth(lambda x: np.expm1(np.minimum(x, 3.0)), 32.0),
    "exprel(clip({}, -3, 3))": _smooth(
        lambda x: np.where(x == 0.0, 1.0, np.expm1(np.clip(x, -3.0, 3.0)) / np.where(x == 0.0, 1.0, np.clip(x, -3, 3))),
        8.0,
    ),
    "sqrt(0.25 + abs({}))": _smooth(lambda x: np.sqrt(0.25 + np.abs(x)), 1.0),
    "log(0.25 + abs({}))": _smooth(lambda x: np.log(0.25 + np.abs(x)), 4.0),
    "log1p(abs({}))": _smooth(lambda x: np.log1p(np.abs(x)), 1.0),
    "(0.25 + abs({}))**0.7": _smooth(lambda x: (0.25 + np.abs(x)) ** 0.7, 2.0),
    "(0.25 + abs({}))**(-1.5)": _smooth(lambda x: (0.25 + np.abs(x)) ** -1.5, 64.0),
}


def chosen(condition: str, a: Expression, b: Expression) -> Expression:
    """One of two, by a condition on variables, which are not rounded."""
    conditions: dict[str, Callable[[Point], npt.NDArray[np.bool_]]] = {
        "x < p": lambda point: point["x"] < point["p"],
        "x >= y and not y > q": lambda point: (point["x"] >= point["y"]) & ~(point["y"] > point["q"]),
        "floor(y) == 0 or p <= 1": lambda point: (np.floor(point["y"]) == 0.0) | (point["p"] <= 1.0),
    }

    def of(point: Point) -> Bounded:
        first, second = a.of(point), b.of(point)
        truth = conditions[condition](point)
        return Bounded(np.where(truth, first.value, second.value), np.where(truth, first.error, second.error))

    return Expression(f"({a.text} if {condition} else {b.text})", of)


def with_two(form: str, a: Expression, b: Expression) -> Expression:
    return Expression(form.format(a.text, b.text), lambda point: BINARY[form](a.of(point), b.of(point)))


def with_one(form: str, a: Expression) -> Expression:
    return Expression(form.format(a.text), lambda point: UNARY[form](a.of(point)))


LEAVES = some.one_of(
    some.sampled_from(["x", "y", "p", "q"]).map(variable),
    some.floats(-3.0, 3.0, allow_subnormal=False).map(lambda x: abs(round(x, 3))).map(number),
)
EXPRESSIONS: some.SearchStrategy[Expression] = some.recursive(
    LEAVES,
    lambda parts: some.one_of(
        some.builds(with_two, some.sampled_from(list(BINARY)), parts, parts),
        some.builds(with_one, some.sampled_from(list(UNARY)), parts),
        some.builds(
            chosen, some.sampled_from(["x < p", "x >= y and not y > q", "floor(y) == 0 or p <= 1"]), parts, parts
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=25, deadline=None)
@given(some.lists(EXPRESSIONS, min_size=1, max_size=6), some.integers(0, 2**32 - 1))
def test_random_expressions_are_what_numpy_makes_of_them(expressions: list[Expression], seed: int) -> None:
    generator = np.random.default_rng(seed)
    point = {name: np.round(generator.uniform(-3.0, 3.0, LANES), 2) for name in "xypq"}
    lines = ["dx/dt = 0 : 1", "dy/dt = 0 : 1"]
    for i, each in enumerate(expressions):
        lines += [f"seen{i} = {each.text} : 1", f"du{i}/dt = 0 : 1"]
    model = rv.neuron(
        "\n".join(lines),
        threshold="x > -100",
        reset="; ".join(f"u{i} = {each.text}" for i, each in enumerate(expressions)),
        parameters={"p": 1.0, "q": -1.0},
    )
    net = rv.Network()
    values: dict[str, Any] = dict(point)
    used = {name: value for name, value in values.items() if name in (*model.parameters, *model.variables)}
    cells = net.create(model, LANES, **used)
    sim = rv.Simulation(net, threads=1)
    sim.run(0.1)
    names = [name for i in range(len(expressions)) for name in (f"u{i}", f"seen{i}")]
    found = sim.get(cells, names)
    for i, each in enumerate(expressions):
        expected = each.of(point)
        assert np.isfinite(expected.error).all()
        assert np.array_equal(found[f"u{i}"], found[f"seen{i}"])
        assert (np.abs(found[f"u{i}"] - expected.value) <= expected.error).all(), each.text


POWER = """
dx/dt = 0 : 1
dy/dt = 0 : 1
z = (-2.5)**k : 1
k : 1
seen = x**k : 1
"""


@pytest.mark.parametrize("programs", ["interpreted", "compiled"])
def test_negative_numbers_have_whole_powers(programs: Any) -> None:
    """With an exponent that is a parameter, as with one that is a number in the text."""
    model = rv.neuron(POWER, threshold="x > 1e9", reset="y = x**k", parameters={"k": 2.0}, initial={"x": -3.0})
    exponents = np.array([2.0, 3.0, 0.0, 1.0, -1.0, -2.0, 17.0, -8.0])
    base = np.array([-3.0, -3.0, -3.0, -2.5, -0.5, 2.0, -1.5, -1.0])
    net = rv.Network()
    cells = net.create(model, len(exponents), k=exponents, x=base)
    sim = rv.Simulation(net, threads=1, tuning=rv.Tuning(programs=programs))
    sim.run(0.1)
    assert sim.get(cells, "seen") == pytest.approx(base**exponents, rel=1e-14)
    assert sim.get(cells, "z") == pytest.approx((-2.5) ** exponents, rel=1e-14)


def test_powers_in_a_step_are_the_same_compiled_and_interpreted() -> None:
    generator = np.random.default_rng(1)
    model = rv.neuron(
        "dx/dt = 0 : 1\ndy/dt = 0 : 1\ndz/dt = 0 : 1\nk : 1",
        threshold="x < 1e9",
        reset="y = x**k; z = x**(k + floor(x/4))",
        parameters={"k": 2.0},
    )
    values: dict[str, Any] = {"k": generator.integers(-9, 10, 500).astype(float), "x": generator.normal(0.0, 3.0, 500)}
    found = []
    choices: list[Any] = ["interpreted", "compiled"]
    for programs in choices:
        net = rv.Network()
        cells = net.create(model, 500, **values)
        sim = rv.Simulation(net, threads=1, tuning=rv.Tuning(programs=programs))
        sim.run(0.1)
        found.append(sim.get(cells, ["y", "z"]))
    for name, power in (("y", values["k"]), ("z", values["k"] + np.floor(values["x"] / 4.0))):
        assert np.array_equal(found[0][name], found[1][name])
        assert found[0][name] == pytest.approx(values["x"] ** power, rel=1e-13)


@pytest.mark.parametrize(
    ("base", "power", "reason"),
    [(-3.0, 0.5, "negative numbers have only whole powers"), (0.0, -1.0, "divides by 0")],
)
def test_powers_of_parameters_that_are_not_numbers_are_named(base: float, power: float, reason: str) -> None:
    model = rv.neuron(
        "dv/dt = -v/ms + p**k/ms : 1", threshold="v > 1e9", reset="v = 0", parameters={"p": 2.0, "k": 2.0}
    )
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=reason):
        model(p=base, k=power)
    synapse = rv.synapse(
        "dx/dt = -x/tau : 1",
        on_pre="w = clip(w + p**k, 0, 100); x += 1",
        on_post="w = clip(w - x, 0, 100)",
        parameters={"tau": "20 ms", "p": 2.0, "k": 2.0},
    )
    with pytest.raises(rv.errors.RanvierError, match=reason):
        synapse(p=base, k=power)
