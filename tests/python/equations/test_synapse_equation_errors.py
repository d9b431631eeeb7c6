"""Mistakes in the equations of synapses: typed errors that point at the place and name the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import ranvier as rv
from ranvier import _core
from ranvier.errors import (
    EquationError,
    RanvierError,
    UnitError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

MODEL: dict[str, Any] = {
    "equations": "dx/dt = -x/tau : 1\ndy/dt = -y/tau : 1",
    "on_pre": "x += 1; w = max(w - A*y, 0)",
    "on_post": "y += 1; w = min(w + A*x, W_max)",
    "parameters": {"tau": "20 ms", "A": "0.5 pA", "W_max": "100 pA"},
}


def marked(error: EquationError) -> str:
    """Return what the marks of an error point at."""
    line, marks = error.place.split("\n")
    return line[marks.index("^") : marks.rindex("^") + 1]


@pytest.mark.parametrize(
    ("change", "kind", "place", "words"),
    [
        # Traces.
        ({"equations": "dx/dt = -x/A : 1\ndy/dt = -y/tau : 1"}, UnitError, "-x/A", "the left side is in 1/ms"),
        ({"equations": "dx/dt = (1 - x)/tau : 1\ndy/dt = -y/tau : 1"}, EquationError, "(1 - x)/tau", "exponentially"),
        ({"equations": "dx/dt = -x*x/tau : 1\ndy/dt = -y/tau : 1"}, EquationError, "-x*x", "write dx/dt = -x/tau"),
        ({"equations": "dx/dt = -y/tau : 1\ndy/dt = -y/tau : 1"}, UnknownSymbolError, "y", "a trace decays by itself"),
        ({"equations": "dx/dt = -w/tau : 1\ndy/dt = -y/tau : 1"}, UnknownSymbolError, "w", "a trace decays by itself"),
        ({"equations": "dx/dt = -x/tau : 1"}, UnknownSymbolError, "y", "the weight w, traces"),
        ({"on_pre": "w = max(w - A*y, 0)"}, EquationError, "x", "no spike raises it"),
        ({"on_pre": "x += 1; x += 1"}, EquationError, "x", "once is enough"),
        ({"on_post": "y += 1; x = 0; w += A*x"}, EquationError, "x", "belongs to the spikes of one side"),
        ({"on_pre": "x *= 2"}, EquationError, "x", "a spike adds to a trace, or sets it"),
        ({"on_pre": "x += 1 - x"}, EquationError, "x", "changes a trace by as much"),
        ({"on_pre": "x += w/pA"}, EquationError, "w", "changes a trace by as much"),
        ({"on_pre": "x += 1*pA"}, UnitError, "1*pA", "it must be a number without unit, as x"),
        ({"on_post": "y += 1"}, EquationError, "x", "no event needs it"),
        (
            {"equations": "dx/dt = -x/tau : 1\ndy/dt = -y/tau : 1\ndz/dt = -z/tau : 1", "on_pre": "x += 1; z += 1"},
            EquationError,
            "y",
            "no event needs it",
        ),
        (
            {
                "equations": "dx/dt = -x/tau : 1\ndy/dt = -y/tau : 1\ndz/dt = -z/tau : 1",
                "on_pre": "x += 1; z += 1; w = max(w - A*y, 0)",
                "on_post": "y += 1; w = min(w + A*x*z, W_max)",
            },
            EquationError,
            "z",
            "an event can read one trace of the other side",
        ),
        (
            {
                "equations": "dx/dt = -x/tau : 1\ndy/dt = -y/tau : 1\ndz/dt = -z/tau : 1",
                "on_pre": "w = max(w - A*y*z, 0); x += 1; z = 1",
            },
            EquationError,
            "z",
            "must do the same with both",
        ),
        ({"equations": "dx/dt = -x/tau : 1 (clock-driven)"}, EquationError, "(clock-driven)", "did you mean"),
        (
            {"equations": "dx/dt = -x/tau : 1 (unless refractory)"},
            EquationError,
            "(unless refractory)",
            "this flag does not exist",
        ),
        ({"equations": "dx/dt = -x/0/ms : 1\ndy/dt = -y/tau : 1"}, EquationError, "0", "by which is divided"),
        # The weight.
        ({"on_pre": "x += 1", "on_post": "y += 1"}, EquationError, "x += 1", "no event changes the weight"),
        ({"on_pre": "x += 1; w = w", "on_post": "y += 1; w = w"}, EquationError, "x += 1; w = w", "no event changes"),
        ({"equations": MODEL["equations"] + "\ndw/dt = -w/tau : pA"}, EquationError, "w", "changes with spikes only"),
        ({"equations": MODEL["equations"] + "\nw = 3*pA : pA"}, EquationError, "w", "changes with spikes only"),
        ({"equations": MODEL["equations"] + "\nw : mV"}, UnitError, "w - A*y", "one cannot subtract"),
        ({"on_pre": "x += 1; w = max(w - y, 0)"}, UnitError, "w + A*x", "give both the same unit"),
        ({"on_pre": "x += 1; w = y > 0.5"}, EquationError, "y > 0.5", "it is a condition"),
        ({"on_pre": "x += 1; w *= A"}, UnitError, "A", "it must be a number without unit, as w"),
        ({"on_pre": "x += 1; g_post += w"}, UnknownSymbolError, "g_post", "reaches its receptor by itself"),
        ({"on_pre": "x += 1; v_post += A"}, UnknownSymbolError, "v_post", "not on the neurons"),
        ({"on_pre": "x += 1; w += A*v_post"}, UnknownSymbolError, "v_post", "not on the neurons"),
        ({"on_pre": "x += 1; A = 2*pA"}, EquationError, "A", "events change the weight w and traces only"),
        ({"on_pre": "x += 1; w == 3"}, EquationError, "w == 3", "this is not an assignment"),
        # Names and expressions.
        ({"on_pre": "x += 1; w += A*taau/ms"}, UnknownSymbolError, "taau", "did you mean 'tau'?"),
        ({"on_pre": "x += 1; w += A*rand()"}, EquationError, "rand()", "draw nothing"),
        ({"on_pre": "x += 1; w += A*xi"}, UnknownSymbolError, "xi", ""),
        ({"on_pre": "x += 1; w += A*before(x)"}, EquationError, "before(x)", "statements are executed in their order"),
        ({"on_pre": "x += 1; w += A*dt/ms"}, UnknownSymbolError, "dt", ""),
        ({"on_pre": "x += 1; w += __import__('os')"}, UnknownSymbolError, "__import__", ""),
        ({"on_pre": "x += 1; w += (1).real"}, EquationError, "(1).real", "not part of the language"),
        ({"on_pre": "x += 1; w += A/0"}, EquationError, "0", "by which is divided"),
        ({"equations": "z = z + 1 : 1\n" + MODEL["equations"]}, EquationError, "z", "it depends on itself"),
        ({"equations": "exp : 1\n" + MODEL["equations"]}, EquationError, "exp", "shadow a function"),
        ({"equations": "axonal_fraction : 1\n" + MODEL["equations"]}, EquationError, "axonal_fraction", "shadow"),
        ({"parameters": {**MODEL["parameters"], "w": 1.0}}, EquationError, "w", "it would shadow the weight"),
        ({"parameters": {**MODEL["parameters"], "x": 1.0}}, EquationError, "x", "it would shadow the variable"),
        ({"parameters": {**MODEL["parameters"], "axonal_fraction": 1.0}}, EquationError, "axonal_fraction", "shadow"),
        ({"parameters": {**MODEL["parameters"], "tau": "20 mV"}}, UnitError, "-x/tau", "the left side"),
    ],
)
def test_mistakes_in_texts(change: dict[str, Any], kind: type[EquationError], place: str, words: str) -> None:
    with pytest.raises(kind) as raised:
        rv.synapse(**{**MODEL, **change})
    assert type(raised.value) is kind
    assert words in str(raised.value)
    assert marked(raised.value) == place


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"equations": 3}, WrongTypeError),
        ({"on_pre": None}, WrongTypeError),
        ({"on_post": ["w += 1"]}, WrongTypeError),
        ({"parameters": [1]}, WrongTypeError),
        ({"parameters": {"tau": None}}, WrongTypeError),
        ({"parameters": {"tau": "20 msec"}}, EquationError),
        ({"name": ""}, WrongTypeError),
        ({"name": 3}, WrongTypeError),
        ({"summary": 3}, WrongTypeError),
        ({"on_pre": "x += 1;" * 20_000}, EquationError),
        ({"on_pre": "x += 1; w = max(w - A*y, -1*pA)"}, EquationError),
    ],
)
def test_other_arguments(change: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        rv.synapse(**{**MODEL, **change})


@pytest.mark.parametrize(
    "values",
    [
        {"tau": 0.0},
        {"tau": "20 mV"},
        {"tau": [1.0, -2.0]},
        {"tau": rv.Normal(20.0, 10.0)},
        {"tau": None},
        {"tau": 1e300},
        {"A": float("nan")},
        {"A": float("inf")},
        {"A": np.zeros((2, 2, 2))},
        {"axonal_fraction": np.array([0.1, 0.2])},
        {"A": True},
        {"A": "no number"},
        {"A": -0.5},
        {"axonal_fraction": 1.5},
        {"axonal_fraction": "2 ms"},
        {"w": 3.0},
    ],
)
def test_values_that_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(RanvierError):
        rv.synapse(**MODEL)(**values)


def test_what_a_projection_refuses() -> None:
    net = rv.Network()
    currents, conductances = net.create("iaf_psc_exp", 3), net.create("iaf_cond_exp", 3)
    s = rv.synapse(**MODEL)
    refused: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (conductances, {}, ValueOutOfBoundsError, "in pA, as the equations|is pA, as the equations"),
        (currents, {"weight": 101.0}, ValueOutOfBoundsError, "weights of synapse are from 0 to 100"),
        (currents, {"weight": -1.0}, ValueOutOfBoundsError, "weights of synapse are from 0 to 100"),
        (currents, {"synapse": s(axonal_fraction=0.5), "delay": 0.1}, rv.errors.DelayError, "one step cannot"),
        (currents, {"synapse": s.program}, WrongTypeError, "must be a synapse model"),
    ]
    for targets, arguments, kind, words in refused:
        with pytest.raises(kind, match=words):
            net.connect(currents, targets, rv.AllToAll(), **{"weight": 50.0, "delay": 1.5, "synapse": s, **arguments})
    assert not net.projections
    fine = rv.Network(resolution=0.001)
    cells = fine.create("iaf_psc_exp", 3)
    with pytest.raises(ValueOutOfBoundsError, match="at most a million steps"):
        fine.connect(cells, cells, rv.AllToAll(), weight=50.0, synapse=s(tau=2000.0))


_PIECES = some.sampled_from(
    [*"xywzA1 +-*/=;()\n,.:#", "tau", "w", "max(", "min(", "+= 1", "-x/tau", "dx/dt = ", " : 1", "rand()", "W_max"]
)


@given(some.lists(_PIECES, max_size=12).map("".join), some.lists(_PIECES, max_size=12).map("".join))
def test_random_texts_give_models_or_errors_of_their_kind(equations: str, event: str) -> None:
    try:
        made = rv.synapse(**{**MODEL, "equations": MODEL["equations"] + "\n" + equations, "on_pre": f"x += 1; {event}"})
    except RanvierError:
        return
    assert isinstance(made.core_model, _core.ProgramSynapse)
    defaults = [each.default for each in made.program.parameters]
    found = made.core_model.weight_range(defaults, defaults)
    assert found is None or found[0] <= found[1]
