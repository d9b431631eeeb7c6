"""Lines of equations with an index stand for several, and `sum` for the sum of these."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import ranvier as rv

MODEL: dict[str, Any] = {
    "equations": """
        dv/dt = (E_L - v)/tau_m + (sum(I[k]) + I_stimulus)/C_m : mV  # potential (of the membrane
        dI[k]/dt = -I[k]/tau[k] : pA  # current [k]
        dq[s]/dt = -q[s]/ms : mV
    """,
    "threshold": "v >= V_th + sum(q[s])",
    "reset": "v = E_L; q[s] += jump[s]",
    "receptors": {"receptor[k]": "I[k] += w"},
    "initial": {"I[k]": "begin[k]"},
    "parameters": {
        "E_L": "-70 mV",
        "tau_m": "10 ms",
        "C_m": "250 pF",
        "V_th": "-55 mV",
        "tau[k]": ["2 ms", "5 ms"],
        "jump[s]": rv.parameter("1 mV", low=0.0, meaning="Step of [s]"),
        "begin[k]": "3 pA",
    },
}
WRITTEN_OUT: dict[str, Any] = {
    "equations": """\
dv/dt = (E_L - v)/tau_m + ((I_1 + I_2) + I_stimulus)/C_m : mV  # potential (of the membrane
dI_1/dt = -I_1/tau_1 : pA  # current 1
dI_2/dt = -I_2/tau_2 : pA  # current 2
dq_slow/dt = -q_slow/ms : mV""",
    "threshold": "v >= V_th + (q_slow)",
    "reset": "v = E_L; q_slow += jump_slow",
    "receptors": {"receptor_1": "I_1 += w", "receptor_2": "I_2 += w"},
    "initial": {"I_1": "begin_1", "I_2": "begin_2"},
    "parameters": {
        **{name: MODEL["parameters"][name] for name in ("E_L", "tau_m", "C_m", "V_th")},
        "tau_1": "2 ms",
        "tau_2": "5 ms",
        "jump_slow": rv.parameter("1 mV", low=0.0, meaning="Step of slow"),
        "begin_1": "3 pA",
        "begin_2": "3 pA",
    },
}


def test_lines_are_written_out() -> None:
    model = rv.neuron(**MODEL, copies={"k": 2, "s": ["slow"]})
    assert model.program == rv.neuron(**WRITTEN_OUT).program
    assert model.receptors == ("receptor_1", "receptor_2")
    assert pickle.loads(pickle.dumps(model)) == model


def test_there_may_be_none() -> None:
    values = {**MODEL["parameters"], "tau[k]": "2 ms"}
    model = rv.neuron(**{**MODEL, "parameters": values}, copies={"k": 0, "s": 0})
    assert model.variables == ("v",)
    assert model.receptors == ()


def test_terms_of_sums_keep_their_brackets() -> None:
    model = rv.neuron(
        "dv/dt = 2*sum(a[k] - sum(b[j])*a[k])/ms : 1",
        threshold="v > 1000",
        parameters={"a[k]": [3.0, 5.0], "b[j]": [7.0, 11.0]},
        copies={"k": 2, "j": 2},
    )
    net = rv.Network()
    cells = net.create(model, 1)
    sim = rv.Simulation(net)
    sim.run(1.0)
    assert np.isclose(sim.get(cells, "v")[0], 2.0 * (3.0 - 18.0 * 3.0 + 5.0 - 18.0 * 5.0))


@pytest.mark.parametrize(
    ("copies", "error", "text"),
    [
        ({"k": 2}, rv.errors.EquationError, "no copies have this index"),
        ({"k": 2, "s": 1, "z": 1}, rv.errors.UnknownNameError, "'z'"),
        ({"k": 3, "s": 1}, rv.errors.ShapeError, "there are 3 copies"),
        ({"k": -1, "s": 1}, rv.errors.ValueOutOfBoundsError, "at least 0"),
        ({"k": 101, "s": 1}, rv.errors.ValueOutOfBoundsError, "at most 100"),
        ({"k": ["a", "a"], "s": 1}, rv.errors.ValueOutOfBoundsError, "once"),
        ({"k": ["a b", "c"], "s": 1}, rv.errors.WrongTypeError, "letters, digits"),
        ({"k": "ab", "s": 1}, rv.errors.WrongTypeError, "integer"),
        ({"k": 1.5, "s": 1}, rv.errors.WrongTypeError, "integer"),
        (3, rv.errors.WrongTypeError, "mapping"),
        ({1: 1}, rv.errors.WrongTypeError, "must be a name"),
    ],
)
def test_bad_copies_are_errors(copies: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rv.neuron(**MODEL, copies=copies)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"threshold": "sum(v) > 0*mV"}, "nothing in it has an index"),
        ({"threshold": "v > sum(q[s]"}, "bracket is not closed"),
        ({"threshold": "v > sum(q[s]*I[k])/pA"}, "two indices"),
        ({"threshold": "v > q[s]"}, "not part of the language"),
        ({"reset": "v = q[j]"}, "no copies have this index"),
    ],
)
def test_bad_indices_are_errors(changes: dict[str, str], text: str) -> None:
    with pytest.raises(rv.errors.EquationError, match=text):
        rv.neuron(**{**MODEL, **changes}, copies={"k": 2, "s": 1})
