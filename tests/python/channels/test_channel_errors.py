"""Mistakes in equations of channels: typed errors that point at the place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ranvier as rv
from channel_models import k_slow
from ranvier import _core
from ranvier.errors import (
    EquationError,
    RanvierError,
    ShapeError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

GOOD: dict[str, Any] = {
    "equations": "i = g*n*(v - E) : mA/cm**2\ndn/dt = (0.5 - n)/tau : 1",
    "parameters": {"g": "1 S/cm**2", "E": "-80 mV", "tau": "2 ms"},
}
CURRENT = GOOD["equations"].partition("\n")[0]


def marked(error: EquationError) -> str:
    """Return what the marks of an error point at."""
    line, marks = error.place.split("\n")
    return line[marks.index("^") : marks.rindex("^") + 1]


@pytest.mark.parametrize(
    ("gate", "kind", "place", "words"),
    [
        ("dn/dt = 0.5/tau : 1", EquationError, "0.5/tau", "n has no steady state"),
        ("dn/dt = (0.5 - n)/mV : 1", UnitError, "(0.5 - n)/mV", "the left side is in 1/ms"),
        ("dn/dt = (0.5*mV - n)/tau : mV", UnitError, "g*n*(v - E)", "the left side is in"),
        ("dn/dt = (0.5 - n)/tau_n : 1", UnknownSymbolError, "tau_n", "no such name exists"),
        ("dn/dt = (0.5 - n)/tau*t/ms : 1", UnknownSymbolError, "t", ""),
        ("dn/dt = (rand() - n)/tau : 1", EquationError, "rand()", "no random numbers"),
        ("dn/dt = (before(n) - n)/tau : 1", EquationError, "before(n)", "no reset"),
        (
            "dn/dt = (0.5 - n)/tau : 1 (unless refractory)",
            EquationError,
            "(unless refractory)",
            "this flag does not exist",
        ),
        ("dn/dt = (0.5 - n)/tau : 1\nv = 3*mV : mV", EquationError, "v", "the potential of the membrane"),
        ("dn/dt = (0.5 - n)/tau : 1\ncelsius : 1", EquationError, "celsius", "the temperature"),
    ],
)
def test_mistakes_in_gates_are_refused(gate: str, kind: type[EquationError], place: str, words: str) -> None:
    with pytest.raises(kind) as caught:
        rv.channel(f"{CURRENT}\n{gate}", parameters=GOOD["parameters"])
    assert words in str(caught.value)
    assert marked(caught.value) == place


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"equations": "dn/dt = (0.5 - n)/tau : 1"}, EquationError, "it has no current"),
        ({"equations": "i : mA/cm**2"}, EquationError, "it has no current"),
        ({"equations": "i = g*(v - E)*um : mA/cm"}, UnitError, "the current is a density"),
        ({"equations": "di/dt = -i/tau : mA/cm**2"}, EquationError, "it is the name of the current"),
        ({"equations": 3}, WrongTypeError, "the equations"),
        ({"parameters": {"v": "3 mV", "g": "1 S/cm**2"}}, EquationError, "it would shadow the potential"),
        ({"parameters": {"g": "1 S", "E": "-80 mV", "tau": "2 ms"}}, UnitError, "the left side is in"),
        ({"initial": {"m": 1.0}}, UnknownNameError, "gates? in initial|gate in initial"),
        ({"initial": {"n": "tau"}}, UnitError, "n has no unit"),
        ({"initial": {"n": "n + 1"}}, EquationError, "not on gates"),
        ({"initial": {"n": None}}, WrongTypeError, "initial value of n"),
        ({"initial": "n = 1"}, WrongTypeError, "mapping"),
        ({"name": "a b"}, WrongTypeError, "name of a channel"),
        ({"summary": 3}, WrongTypeError, "summary"),
        ({"nam": "x"}, RanvierError, "did you mean 'name'"),
    ],
)
def test_other_arguments_are_checked(change: dict[str, Any], kind: type[RanvierError], words: str) -> None:
    with pytest.raises(kind, match=words):
        rv.channel(**{**GOOD, **change})


def test_the_core_refuses_what_does_not_fit_together() -> None:
    """Whoever makes programs by hand."""
    program = k_slow().program
    gate, term = program.gates[0], program.terms[0]
    wrong = [
        replace(program, gates=(replace(gate, rates=replace(gate.rates, results=gate.rates.results[:1])),)),
        replace(program, gates=(replace(gate, rates=replace(gate.rates, inputs=("truth",) * 7)),)),
        replace(program, terms=(replace(term, conductance=99),)),
        replace(program, terms=(replace(term, gates=((9, 1),)),)),
        replace(program, terms=(replace(term, gates=((0, 1),) * 5),)),
        replace(program, currents=(replace(program.currents[0], terms=(7,)),)),
        replace(program, derive=replace(program.derive, results=program.derive.results[1:])),
    ]
    for each in wrong:
        with pytest.raises((ShapeError, ValueOutOfBoundsError)):
            _core.Channel(each)
    with pytest.raises(ShapeError, match="given values"):
        _core.Channel(program).derive([1.0])
