"""Mistakes in equations: typed errors that point at the place. Nothing of a text is evaluated as Python."""

from __future__ import annotations

import copy
import pickle
import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from equation_models import AEIF_COND_EXP, FIRING, IAF_PSC_EXP, LEAKY, LEAKY_PARAMETERS, lowered
from ranvier.equations.places import Source
from ranvier.equations.statements import read_equations, read_statements
from ranvier.equations.trees import parse
from ranvier.equations.units import read_quantity
from ranvier.errors import (
    EquationError,
    RanvierError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

MODEL: dict[str, Any] = {"equations": LEAKY, **FIRING, "parameters": LEAKY_PARAMETERS}


def marked(error: EquationError) -> str:
    """Return what the marks of an error point at."""
    line, marks = error.place.split("\n")
    return line[marks.index("^") : marks.rindex("^") + 1]


@pytest.mark.parametrize(
    ("change", "kind", "place", "words"),
    [
        ({"equations": "dv/dt = (E_L - v)/tau_m + I_e : mV"}, UnitError, "(E_L - v)/tau_m + I_e", "mV/ms"),
        ({"equations": "dv/dt = E_L - v : mV"}, UnitError, "E_L - v", "the left side is in mV/ms"),
        ({"equations": "dv/dt = exp(v)*mV/ms : mV"}, UnitError, "v", "exp takes a number without unit"),
        ({"threshold": "v > 1"}, UnitError, "v > 1", "'v' is in mV, and '1' is a number without unit"),
        (
            {"equations": "dv/dt = (E_L - v)/tau : mV", "parameters": {**LEAKY_PARAMETERS, "tau": 10}},
            UnitError,
            "tau",
            'give it one: tau="10 ms"',
        ),
        (
            {"equations": "dv/dt = (E_L - v)/tau_m + I/C_m : mV", "parameters": {**LEAKY_PARAMETERS, "I": 500}},
            UnitError,
            "I",
            'I="500 pA"',
        ),
        (
            {"equations": "s = r*(E_L - v) : mV/ms\ndv/dt = s : mV", "parameters": {**LEAKY_PARAMETERS, "r": 0.5}},
            UnitError,
            "r",
            'r="0.5/ms"',
        ),
        ({"equations": "dv/dt = v^2/mV/ms : mV"}, EquationError, "v^2/mV/ms", "use ** for powers"),
        ({"threshold": "v > 0 & v < V_th"}, EquationError, "0 & v", "write (...) and (...)"),
        ({"threshold": "v > 0 && v < V_th"}, EquationError, "&", "write and, or, not"),
        ({"threshold": "~(v > 0)"}, EquationError, "~(v > 0)", "write not (...)"),
        ({"equations": "dv/dt = (E - v)/tau_m : mV"}, UnknownSymbolError, "E", "give it in parameters="),
        ({"equations": "dv/dt = -v/tau_m + 1e-999*mV/ms : mV"}, EquationError, "1e-999", "too small"),
        ({"parameters": {**LEAKY_PARAMETERS, "tau_m": "1e-400 ms"}}, EquationError, "1e-400", "too small"),
        ({"threshold": "v"}, EquationError, "v", "a threshold is a condition"),
        ({"threshold": "v > 0 and v"}, EquationError, "v", "it is a number, not a condition"),
        ({"reset": "v = 1"}, UnitError, "1", "it must be in mV, as v"),
        ({"reset": "v *= V_th"}, UnitError, "V_th", "a number without unit"),
        ({"refractory": "2*mV"}, UnitError, "2*mV", "a refractory period is in ms"),
        ({"equations": "dv/dt = (v/mV)**v*mV/ms : mV"}, UnitError, "v", "an exponent has no unit"),
        ({"equations": "dv/dt = v**(v/mV)/ms : mV"}, UnitError, "v", "is a number from -12 to 12"),
        ({"equations": "dv/dt = (E_L - v)/tau_n : mV"}, UnknownSymbolError, "tau_n", "did you mean 'tau_m'?"),
        ({"equations": "dv/dt = expp(v/mV)*mV/ms : mV"}, UnknownSymbolError, "expp", "did you mean 'exp'?"),
        ({"equations": "dv/dt = -v/tau_m : mvv"}, UnknownSymbolError, "mvv", "did you mean"),
        ({"equations": "dv/dt = -v/tau_m + mV*t/tau_m**2 : mV"}, UnknownSymbolError, "t", "the time cannot be used"),
        ({"equations": "dv/dt = -v/V : mV"}, UnknownSymbolError, "V", ""),
        ({"reset": "x = 0"}, UnknownSymbolError, "x", "variables are v"),
        ({"reset": "tau_m = 2*ms"}, EquationError, "tau_m", "only variables can be assigned"),
        ({"reset": "v == 2*mV"}, EquationError, "v == 2*mV", "this is not an assignment"),
        ({"equations": "dv/dt = (a - v)/tau_m : mV\na = b : mV\nb = a + v : mV"}, EquationError, "b", "a -> b -> a"),
        ({"equations": "a = a + v : mV\ndv/dt = (a - v)/tau_m : mV"}, EquationError, "a", "it depends on itself"),
        ({"equations": "dv/dt = -v/tau_m : mV\nv = 3*mV : mV"}, EquationError, "v", "line 1 has the same name"),
        ({"equations": "dv/dt = -v/tau_m"}, EquationError, "dv/dt = -v/tau_m", "its unit is missing"),
        ({"equations": "dv/dt : mV"}, EquationError, "dv/dt : mV", "its right side is missing"),
        ({"equations": "voltage"}, EquationError, "voltage", "its unit is missing"),
        ({"equations": "a = 2 : 1"}, EquationError, "a = 2 : 1", "a differential equation is missing"),
        (
            {"equations": "dv/dt = -v/tau_m : mV (unless refractor)"},
            EquationError,
            "(unless refractor)",
            "did you mean",
        ),
        ({"equations": "dv/dt = -v/0/ms : mV"}, EquationError, "0", "something is divided by it"),
        ({"equations": "dv/dt = -v/(2 - 2)/ms : mV"}, EquationError, "2 - 2", ""),
        ({"equations": "dv/dt = 9**9**9*mV/ms : mV"}, EquationError, "9**9**9", "not a finite number"),
        ({"equations": "dv/dt = 1e999*mV/ms : mV"}, EquationError, "1e999", "too large"),
        ({"equations": "dv/dt = (v + xi*mV*ms**0.5 : mV"}, EquationError, "(", "it is not an expression"),
        ({"threshold": "v > V_th + xi*mV*ms**0.5"}, EquationError, "xi", "white noise has values in equations only"),
        ({"equations": "dv/dt = rand()*mV/ms : mV"}, EquationError, "rand()", "drawn in each step"),
        ({"receptors": {"a": "v = w"}}, EquationError, "v", "a spike only adds to a variable"),
        ({"receptors": {"a": "v += V_th"}}, EquationError, "V_th", "proportional to the weight"),
        ({"receptors": {"a": "v += w*w/V_th"}}, EquationError, "w*w/V_th", "proportional to the weight"),
        ({"receptors": {"a": "v += w", "b": "v += w*tau_m/ms**2"}}, UnitError, "w*tau_m/ms**2", "receptors before"),
        ({"receptors": {"a b": "v += w"}}, EquationError, "a b", "cannot be the name of a receptor"),
        ({"reset": "v = V_th"}, EquationError, "v >= V_th", "it holds always"),
        (
            {"reset": "", "equations": f"{LEAKY} (unless refractory)", "refractory": None},
            EquationError,
            "v",
            "no refrac",
        ),
    ],
)
def test_a_mistake_is_an_error_that_points_at_its_place(
    change: dict[str, Any], kind: type[EquationError], place: str, words: str
) -> None:
    with pytest.raises(kind) as caught:
        lowered({**MODEL, **change})
    assert marked(caught.value) == place
    assert words in str(caught.value)
    assert caught.value.remedy or "in mV/ms" in caught.value.bound


@pytest.mark.parametrize("threshold", [None, "", "  \n"])
def test_a_threshold_must_be_given(threshold: str | None) -> None:
    with pytest.raises(EquationError, match="the threshold is missing"):
        lowered({**MODEL, "threshold": threshold})


@pytest.mark.parametrize(
    ("name", "shadowed"),
    [
        ("v", "the variable of line 1"),
        ("exp", "a function"),
        ("mV", "a unit"),
        ("pamp", "a unit"),
        ("xi_2", "white noise"),
        ("dt", "the length of a step"),
        ("t", "the time"),
        ("pi", "a constant"),
        ("I_stimulus", "the current of stimulators"),
        ("size", "a keyword of net.create()"),
    ],
)
def test_a_name_must_not_shadow_another(name: str, shadowed: str) -> None:
    with pytest.raises(EquationError, match=f"it would shadow {shadowed}"):
        lowered({**MODEL, "parameters": {**LEAKY_PARAMETERS, name: "1 mV"}})
    if name != "v":
        with pytest.raises(EquationError, match=f"it would shadow {shadowed}"):
            lowered({**MODEL, "equations": f"{LEAKY}\n{name} = 2 : 1"})


@pytest.mark.parametrize("name", ["_a", "__class__", "lambda", "2a", "a-b", ""])
def test_what_cannot_be_a_name(name: str) -> None:
    with pytest.raises(EquationError, match=r"cannot be a name|are reserved"):
        lowered({**MODEL, "parameters": {**LEAKY_PARAMETERS, name: "1 mV"}})


def test_a_division_by_0_is_found_before_a_run() -> None:
    model = {
        "equations": "dv/dt = mV**2/v/ms : mV",
        "threshold": "v > 1*mV",
        "initial": {"v": 0.0},
    }
    with pytest.raises(EquationError, match="it is 0 at the beginning with v = 0 mV, and something is divided by it"):
        lowered(model)
    lowered({**model, "initial": {"v": 0.5}})
    # What is not chosen is not calculated.
    lowered({**model, "equations": "dv/dt = (mV**2/v if v > 0 else 1*mV)/ms : mV"})
    with pytest.raises(EquationError, match="it is not a finite number at the beginning"):
        lowered({**model, "equations": "dv/dt = mV*exp(800 - v/mV)/ms : mV"})
    # Parameters that differ are conditions, for whoever changes them.
    model["equations"] = "dv/dt = -v/(tau_a - tau_b) : mV"
    with pytest.raises(EquationError, match="'tau_a - tau_b'"):
        lowered({**model, "parameters": {"tau_a": "2 ms", "tau_b": "2 ms"}})
    made = lowered({**model, "parameters": {"tau_a": "3 ms", "tau_b": "2 ms"}})
    assert any("'tau_a - tau_b', by which" in reason for _, reason in made.program.conditions)


def test_divisors_that_are_positive_have_bounds() -> None:
    made = lowered({**MODEL, "parameters": {**LEAKY_PARAMETERS, "Delta": "2 mV"}})
    bounds = {each.name: (each.lower, each.lower_open, each.upper) for each in made.program.parameters}
    assert bounds["tau_m"] == bounds["C_m"] == (0.0, True, float("inf"))
    assert bounds["t_ref"] == (0.0, False, 1e6)
    assert bounds["E_L"] == (-float("inf"), False, float("inf"))
    assert "Delta" not in bounds, "nothing uses it"


PYTHON = [
    "__import__('os').system('true')",
    "(lambda: 1)()",
    "[x for x in (1,)]",
    "{v: v}",
    "{v}",
    "(v, v)",
    "v.real",
    "v.__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "v[0]",
    "'text'",
    "b'text'",
    "f'{v}'",
    "(v := 2)",
    "True",
    "None",
    "...",
    "1j",
    "await v",
    "print(v)",
    "eval('1')",
    "exp(*v)",
    "exp(x=v)",
    "v @ v",
    "v << 2",
    "~v",
    "v is v",
    "v in v",
    "not v",
    "v; v",
    "v = 3",
    "import os",
    "yield v",
    "exec",
]


@pytest.mark.parametrize("text", PYTHON)
def test_python_is_not_a_part_of_the_language(text: str) -> None:
    with pytest.raises(EquationError):
        lowered({**MODEL, "equations": f"dv/dt = {text} : mV"})
    with pytest.raises(EquationError):
        lowered({**MODEL, "threshold": text})


@pytest.mark.parametrize(
    "text",
    [
        "-" * 3500 + "v",
        "(" * 250 + "v" + ")" * 250,
        "v" + "+v" * 1500,
        "9" * 3900,
        "a" * 5000,
        "v**" * 1000 + "v",
        "not " * 900 + "v",
    ],
    ids=["signs", "brackets", "terms", "digits", "long", "powers", "nots"],
)
def test_what_is_too_long_or_too_deep_is_refused(text: str) -> None:
    with pytest.raises(EquationError):
        parse(Source("an expression", text), 0, len(text))


def test_chains_of_subexpressions_are_calculated_once() -> None:
    """Each doubles the one before it: written out, there would be 2^200 of them."""
    lines = ["a0 = v/mV : 1", *(f"a{i} = (a{i - 1} + a{i - 1})*0.5 : 1" for i in range(1, 200))]
    made = lowered({**MODEL, "equations": "\n".join(["dv/dt = -a199*mV/tau_m : mV", *lines])})
    assert made.method == "exact"
    assert len(made.program.step.instructions) < 20


def test_errors_can_be_pickled_and_are_of_pythons_own_types() -> None:
    with pytest.raises(UnknownSymbolError, match="tau_n") as caught:
        lowered({**MODEL, "equations": "dv/dt = (E_L - v)/tau_n : mV"})
    error = caught.value
    assert {ValueError, KeyError, UnknownNameError} <= set(type(error).__mro__)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(other) == str(error)
        assert other.place == error.place


def test_places_are_right_in_texts_of_several_lines_and_letters() -> None:
    equations = """
        # Eine Zeile mit Größen
        dv/dt = (E_L - v)/tau_m \\
                + (I_e
                   + größe*I_x)/C_m : mV  # potential
        größe = 2 : 1
    """
    with pytest.raises(UnknownSymbolError, match="line 5, column 28") as caught:
        lowered({**MODEL, "equations": equations})
    assert marked(caught.value) == "I_x"
    made = lowered({**MODEL, "equations": equations.replace("I_x", "I_e")})
    assert made.program.variables[0].meaning == "potential"


@pytest.mark.parametrize(
    ("argument", "value", "kind"),
    [
        ("parameters", ["tau"], WrongTypeError),
        ("parameters", {"E_L": "-70 mV mV"}, EquationError),
        ("parameters", {"E_L": "minus 70"}, EquationError),
        ("parameters", {"E_L": "-70 mW"}, UnknownSymbolError),
        ("parameters", {"E_L": [1.0]}, WrongTypeError),
        ("parameters", {"E_L": "1e999 mV"}, EquationError),
        ("parameters", {"E_L": float("nan")}, ValueOutOfBoundsError),
        ("parameters", {**LEAKY_PARAMETERS, "tau_m": "0 ms"}, RanvierError),
        ("parameters", {**LEAKY_PARAMETERS, "t_ref": "-1 ms"}, ValueOutOfBoundsError),
        ("receptors", "v += w", WrongTypeError),
        ("receptors", {"a": ""}, EquationError),
        ("receptors", {"a": 3}, WrongTypeError),
        ("initial", {"V_m": "E_L"}, UnknownNameError),
        ("initial", {"v": "E_l"}, UnknownNameError),
        ("initial", {"v": "tau_m"}, ValueOutOfBoundsError),
        ("initial", {"v": "2 ms"}, UnitError),
        ("refractory", 2.0, WrongTypeError),
        ("equations", 3, WrongTypeError),
        ("equations", "dv/dt = -v/tau_m : mV\0", ValueOutOfBoundsError),
        ("equations", "\n" * 600 + LEAKY, EquationError),
        ("name", "", WrongTypeError),
        ("sign_chooses_receptor", True, ValueOutOfBoundsError),
    ],
)
def test_other_arguments_are_checked(argument: str, value: Any, kind: type[RanvierError]) -> None:
    with pytest.raises(kind):
        lowered({**MODEL, argument: value})


def test_a_weight_has_another_name_where_a_variable_is_called_w() -> None:
    assert lowered(AEIF_COND_EXP).program.weight_unit == "nS"
    with pytest.raises(EquationError, match="proportional to the weight weight"):
        lowered({**AEIF_COND_EXP, "receptors": {"excitatory": "w += w"}})
    with pytest.raises(UnknownSymbolError):
        lowered({**IAF_PSC_EXP, "receptors": {"excitatory": "I_ex += weight"}})


ALPHABET = "vwxI_e0123456789.+-*/%()<>=!&|~^@,:;#\\'\"\n \tandornotiflambd[]{}…ü\0"
PIECES = some.sampled_from(
    [
        "dv/dt",
        "=",
        ":",
        "mV",
        "v",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "**",
        "\n",
        "exp",
        "if",
        "else",
        "and",
        "<",
        "1e3",
        " ",
        "#",
        "xi",
        "\\\n",
        "w",
        ";",
        "+=",
    ]
)
TEXTS = some.one_of(
    some.text(max_size=60), some.text(ALPHABET, max_size=60), some.lists(PIECES, max_size=25).map("".join)
)


@given(TEXTS)
@example("dv/dt = v\\")
@example("(\n")
@example("v\\\n\\\n")
def test_no_text_raises_another_error(text: str) -> None:
    for read in (
        lambda: parse(Source("an expression", text), 0, len(text)),
        lambda: read_equations(Source("the equations", text)),
        lambda: read_statements(Source("the reset", text)),
        lambda: read_quantity("a parameter", text),
        lambda: lowered({**MODEL, "equations": f"dv/dt = {text} : mV"}),
        lambda: lowered({**MODEL, "threshold": text}),
        lambda: lowered({**MODEL, "reset": text}),
    ):
        try:
            read()
        except RanvierError:
            continue


@given(some.text(string.printable, max_size=20))
def test_units_of_any_text(text: str) -> None:
    try:
        made = lowered({**MODEL, "equations": f"dv/dt = 0 : {text}", "threshold": "v > 0", "reset": "v = 0"})
    except RanvierError:
        return
    assert made.program.variables[0].name == "v"


def test_kelvin_has_two_names_and_0_any_form() -> None:
    assert read_quantity("T", "310 K").unit.dimension == read_quantity("T", "310 kelvin").unit.dimension
    for text in ("0", "0.0e-999", "-0.000", "0e5"):
        assert read_quantity("x", text).number == 0.0
        assert parse(Source("the equations", text), 0, len(text)).number == 0.0
