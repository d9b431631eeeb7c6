"""Expressions of neurons and of pairs: units, names and errors, and values against NumPy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranvier as rv
from ranvier.equations.units import UNITS
from ranvier.equations.value_functions import NEURON, NUMBER, PAIR, Context

PAIRS = {**PAIR.lengths, **PAIR.indices}
FloatArray = npt.NDArray[np.float64]


def function(expression: rv.Expression, **context: Any) -> Any:
    """Return the function of an expression whose positions are in millimetres."""
    return expression._to_core(Context("the value", **{"lengths": "mm", **context}))


def values(expression: rv.Expression, names: dict[str, FloatArray], **context: Any) -> FloatArray:
    """Return the values of pairs whose quantities have these values."""
    quantities = {PAIRS[name]: array for name, array in names.items()}
    made: FloatArray = function(expression, **context).evaluate(quantities, [], "baseline")
    return made


def test_a_kernel() -> None:
    kernel = rv.Expression("0.4*exp(-d**2/(2*sigma**2))", sigma=0.3)
    d = np.linspace(0.0, 2.0, 50)
    np.testing.assert_allclose(values(kernel, {"d": d}), 0.4 * np.exp(-(d**2) / 0.18), rtol=1e-14)
    assert function(kernel).is_radial
    assert function(kernel).range({"distance": (0.0, 0.3)}) == pytest.approx((0.4 * np.exp(-0.5), 0.4))


def test_all_quantities_of_a_pair() -> None:
    names = {name: np.arange(3.0) + 10.0 * k for k, name in enumerate(PAIRS)}
    for name, expected in names.items():
        found = rv.Expression(f"2*{name}")
        np.testing.assert_array_equal(values(found, names), 2.0 * expected)
        assert function(found).inputs == [PAIRS[name]]
        assert function(found).is_spatial == (name not in ("i", "j"))


@pytest.mark.parametrize(("lengths", "scale"), [("mm", 1.0), ("um", 1000.0)])
@pytest.mark.parametrize("unit", ["pA", "nA", "uA"])
def test_units_of_lengths_and_values(lengths: str, scale: float, unit: str) -> None:
    expression = rv.Expression("J*exp(-d/lambda) + 0.001*nA", {"lambda": "0.3 mm"}, J="87.8 pA")
    d = np.linspace(0.0, 2.0, 20)
    found = values(expression, {"d": scale * d}, lengths=lengths, unit=UNITS[unit])
    per_unit = {"pA": 1.0, "nA": 1e-3, "uA": 1e-6}[unit]
    np.testing.assert_allclose(found, per_unit * (87.8 * np.exp(-d / 0.3) + 1.0), rtol=1e-14)


def test_without_any_unit_lengths_are_in_the_unit_of_positions() -> None:
    expression = rv.Expression("0.5 + d/v", v=0.3)
    for lengths in ("mm", "um"):
        found = values(expression, {"d": np.array([0.3])}, lengths=lengths, unit=UNITS["ms"])
        assert found == pytest.approx(1.5)


@pytest.mark.parametrize(("text", "expected"), [("0.5 ms", 0.5), ("2 s", 2000.0), ("-3e1 us", -0.03)])
def test_quantities(text: str, expected: float) -> None:
    found = rv.Expression(text)._to_core(Context("delay", unit=UNITS["ms"]))
    assert found.range({}) == pytest.approx((expected, expected))


def test_values_without_unit_where_they_are_taken() -> None:
    expression = rv.Expression("3*exp(-d/l)", l="1 mm")
    assert values(expression, {"d": np.zeros(1)}, unit=UNITS["pA"], takes_plain=True) == 3.0
    with pytest.raises(rv.errors.UnitError, match="a number without unit, but the value must be in pA"):
        function(expression, unit=UNITS["pA"])


def test_names_of_neurons() -> None:
    found = rv.Expression("x + 10*y + 100*z + 1000*i")._to_core(Context("I_e", NEURON, "um"))
    quantities = {f"target_{name}": np.array([value]) for name, value in zip("xyz", (1.0, 2.0, 3.0), strict=True)}
    assert found.evaluate({**quantities, "target_index": np.array([4.0])}, [], "baseline") == 4321.0


def test_random_numbers() -> None:
    found = function(rv.Expression("rand() + 100*rand() + 10000*randn()"), may_draw=True)
    assert found.draws
    words = [np.array([word], np.uint64) for word in (1 << 63, 1 << 62, 1 << 63)]
    # The middle of the uniform and of the normal distribution.
    assert found.evaluate({}, words, "baseline") == pytest.approx(0.5 + 25.0)
    low, high = found.range({})
    assert -9e4 < low < -7e4
    assert 7e4 < high < 9e4


def test_equality_and_pickle() -> None:
    first = rv.Expression("d/lambda + a", {"lambda": "1 mm", "a": 1})
    assert first == rv.Expression("d/lambda + a", {"lambda": "1 mm"}, a=1.0)
    assert first != rv.Expression("d/lambda + a", {"lambda": "1 mm"}, a=2.0)
    assert first != "d/lambda + a"
    for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first), eval(repr(first), vars(rv))):
        assert other == first
        assert hash(other) == hash(first)
    assert first.constants == {"lambda": "1 mm", "a": 1.0}
    with pytest.raises(rv.errors.ReadOnlyError):
        first.text = "d"


# Text, constants, the message.
REFUSED = [
    ("exp(-d/s)", {}, "'s', but no such name exists"),
    ("exp(-d/sgima)", {"sigma": 1.0}, "did you mean 'sigma'"),
    ("exp(-d/lambda)", {}, "'lambda', but no such name exists"),
    ("exp(-d/l", {"l": 1.0}, "not an expression"),
    ("exp(-d)", {"l": 1.0}, "does not use it"),
    ("exp(-d/l)", {"l": "1 xm"}, "no such name exists"),
    ("exp(-d/l)", {"l": float("nan")}, "must be finite"),
    ("exp(-d/l)", {"l": [1.0]}, "must be a number"),
    ("d", {"d": 1.0}, "quantity of neurons or pairs"),
    ("exp*d", {"exp": 1.0}, "shadow a function"),
    ("d < 0.3", {}, r"write int\(...\)"),
    ("before(d)", {}, "leave out before"),
    ("", {}, "an expression is missing"),
    ("0.5 qs", {}, "no such name exists"),
]


@pytest.mark.parametrize(("text", "constants", "message"), REFUSED)
def test_refused_texts(text: str, constants: dict[str, Any], message: str) -> None:
    with pytest.raises(rv.errors.RanvierError, match=message):
        rv.Expression(text, constants)


# Text, constants, the context, the message.
MISUSED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("exp(-d/l)", {"l": "1 ms"}, {}, "exp takes a number without unit"),
    ("d/l", {"l": "1 ms"}, {}, "in um/ms, but the value must be a number without unit"),
    ("d/l", {"l": "1 ms"}, {"unit": UNITS["mV"]}, "in um/ms, but the value must be in mV"),
    ("d + l", {"l": "1 ms"}, {}, "one cannot add them"),
    ("x/l", {"l": 3.0}, {}, "here values are of a pair of neurons"),
    ("d/l", {"l": 3.0}, {"names": NEURON}, "here values are of a neuron; use x, y, z, i"),
    ("d*rand()", {}, {}, "cannot be random"),
    ("d/l", {"l": 0.0}, {}, "it is 0"),
    ("d + 1", {}, {"lengths": "", "without_positions": "population 'E' has none"}, "population 'E' has none"),
]


@pytest.mark.parametrize(("text", "constants", "context", "message"), MISUSED)
def test_refused_uses(text: str, constants: dict[str, Any], context: dict[str, Any], message: str) -> None:
    expression = rv.Expression(text, constants)
    with pytest.raises(rv.errors.EquationError, match=message):
        function(expression, **context)


def test_errors_point_at_the_place() -> None:
    with pytest.raises(rv.errors.UnknownSymbolError) as raised:
        rv.Expression("exp(-d/lambda) + lamda", {"lambda": 1.0})
    assert "column 18" in str(raised.value)
    assert str(raised.value).endswith("    exp(-d/lambda) + lamda\n                     ^^^^^")


# ---- against NumPy ---------------------------------------------------------------------------------------------------

NUMBERS = st.floats(-4.0, 4.0).map(lambda number: round(number, 3))
LEAVES = st.one_of(st.sampled_from(["d", "dx", "x_pre", "y_post", "i", "j"]), NUMBERS.map(lambda each: f"({each!r})"))


def _larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(parts, st.sampled_from("+-*"), parts).map(lambda each: f"({each[0]} {each[1]} {each[2]})"),
        st.tuples(parts, parts).map(lambda each: f"({each[0]} / (1 + abs({each[1]})))"),
        st.tuples(st.sampled_from(["max", "min"]), parts, parts).map(lambda each: f"{each[0]}({each[1]}, {each[2]})"),
        parts.map(lambda part: f"exp(-abs({part}))"),
        parts.map(lambda part: f"log(1.5 + abs({part}))"),
        parts.map(lambda part: f"sqrt(abs({part}))"),
        st.tuples(parts, parts, parts).map(lambda each: f"where({each[0]} < {each[1]}, {each[2]}, 0.5)"),
    )


NUMPY = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "where": np.where}


@given(st.recursive(LEAVES, _larger, max_leaves=12), st.integers(0, 2**32 - 1))
def test_random_expressions_have_the_values_of_numpy(text: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    names = {name: random.uniform(-3.0, 3.0, 5) for name in PAIRS}
    names["d"] = np.abs(names["d"])
    names |= {name: random.integers(0, 9, 5).astype(float) for name in "ij"}
    expected = np.broadcast_to(eval(text, {**NUMPY, "max": np.maximum, "min": np.minimum, **names}), 5)
    expression = rv.Expression(text)
    found = function(expression, unit=NUMBER)
    quantities = {PAIRS[name]: array for name, array in names.items()}
    made = found.evaluate(quantities, [], "baseline")
    scale = np.maximum(1.0, np.abs(expected))
    # A comparison of rounded numbers may have another outcome.
    if "where" not in text:
        assert np.all(np.abs(made - expected) <= 1e-9 * scale)
    low, high = found.range({name: (array.min(), array.max()) for name, array in quantities.items()})
    assert low <= made.min()
    assert made.max() <= high
    assert pickle.loads(pickle.dumps(expression)) == expression


def test_values_at_distances() -> None:
    expression = rv.Expression("p*exp(-d/l)", p=0.4, l="200 um")
    distances = np.array([[0.0, 0.1], [0.2, 0.4]])
    assert expression.at_distances(distances) == pytest.approx(0.4 * np.exp(-distances / 0.2))
    assert expression.at_distances(1000.0 * distances, "um") == pytest.approx(0.4 * np.exp(-distances / 0.2))
    assert float(expression.at_distances(0.0)) == 0.4
    assert rv.Expression("p", p=0.4).at_distances([1.0, 2.0]).tolist() == [0.4, 0.4]
    for text in ("0.1*x_pre", "dx", "0.1*i"):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="distance d only"):
            rv.Expression(text).at_distances(0.1)
    with pytest.raises(rv.errors.UnknownNameError, match="unit of distances"):
        expression.at_distances(0.1, "cm")
