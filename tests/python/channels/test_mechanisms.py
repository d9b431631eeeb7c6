"""Mechanisms of the membrane: gates against their formulas, and currents against the gates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from ranvier import _core

BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
STEP, TIME = 0.025, 4.0


def exponential(x: float, y: float) -> float:
    """Return x / (1 - exp(-x / y))."""
    return float(x / (1.0 - np.exp(-x / y)))


def rates(alpha: float, beta: float) -> tuple[float, float]:
    """Return steady state and time constant."""
    return alpha / (alpha + beta), 1.0 / (alpha + beta)


def m_sodium(v: float) -> tuple[float, float]:
    """Return the rates of the activation of sodium."""
    return 0.182 * exponential(v + 38.0, 6.0), 0.124 * exponential(-v - 38.0, 6.0)


# Steady state and time constant (ms) at the temperature of the measurement; the factor of ten degrees; that temperature
Formula = tuple[Callable[[float], tuple[float, float]], float, float]
FORMULAS: dict[str, dict[str, Formula]] = {
    "hh": {
        "m": (lambda v: rates(0.1 * exponential(v + 40, 10), 4 * np.exp(-(v + 65) / 18)), 3.0, 6.3),
        "h": (lambda v: rates(0.07 * np.exp(-(v + 65) / 20), 1 / (1 + np.exp(-(v + 35) / 10))), 3.0, 6.3),
        "n": (lambda v: rates(0.01 * exponential(v + 55, 10), 0.125 * np.exp(-(v + 65) / 80)), 3.0, 6.3),
    },
    "na_transient": {
        "m": (lambda v: rates(*m_sodium(v)), 2.3, 21.0),
        "h": (lambda v: rates(0.015 * exponential(-v - 66, 6), 0.015 * exponential(v + 66, 6)), 2.3, 21.0),
    },
    "na_persistent": {
        "m": (lambda v: (1 / (1 + np.exp(-(v + 52.6) / 4.6)), 6.0 / sum(m_sodium(v))), 2.3, 21.0),
        "h": (
            lambda v: (
                1 / (1 + np.exp((v + 48.8) / 10)),
                1 / (2.88e-6 * exponential(-v - 17, 4.63) + 6.94e-6 * exponential(v + 64.4, 2.63)),
            ),
            2.3,
            21.0,
        ),
    },
    "k_transient": {
        "m": (lambda v: (1 / (1 + np.exp(-(v + 10) / 19)), 0.34 + 0.92 * np.exp(-(((v + 81) / 59) ** 2))), 2.3, 21.0),
        "h": (lambda v: (1 / (1 + np.exp((v + 76) / 10)), 8 + 49 * np.exp(-(((v + 83) / 23) ** 2))), 2.3, 21.0),
    },
    "k_persistent": {
        "m": (
            lambda v: (
                1 / (1 + np.exp(-(v + 11) / 12)),
                1.25 + (13 * np.exp(0.026 * (v + 110)) if v < -60 else 13 * np.exp(-0.026 * (v + 10))),
            ),
            2.3,
            21.0,
        ),
        "h": (
            lambda v: (
                1 / (1 + np.exp((v + 64) / 11)),
                360 + (1010 + 24 * (v + 65)) * np.exp(-(((v + 85) / 48) ** 2)),
            ),
            2.3,
            21.0,
        ),
    },
    "k_fast": {
        "m": (lambda v: (1 / (1 + np.exp(-(v - 18.7) / 9.7)), 4 / (1 + np.exp((v + 46.56) / 44.14))), 1.0, 0.0),
    },
    "m_current": {
        "m": (lambda v: rates(3.3e-3 * np.exp(0.1 * (v + 35)), 3.3e-3 * np.exp(-0.1 * (v + 35))), 2.3, 21.0),
    },
    "ca_hva": {
        "m": (lambda v: rates(0.055 * exponential(v + 27, 3.8), 0.94 * np.exp(-(75 + v) / 17)), 1.0, 0.0),
        "h": (lambda v: rates(0.000457 * np.exp(-(13 + v) / 50), 0.0065 / (1 + np.exp(-(v + 15) / 28))), 1.0, 0.0),
    },
    "ca_lva": {
        "m": (lambda v: (1 / (1 + np.exp(-(v + 40) / 6)), 5 + 20 / (1 + np.exp((v + 35) / 5))), 2.3, 21.0),
        "h": (lambda v: (1 / (1 + np.exp((v + 90) / 6.4)), 20 + 50 / (1 + np.exp((v + 50) / 7))), 2.3, 21.0),
    },
    "h_current": {
        "m": (lambda v: rates(0.00643 * exponential(-v - 154.9, 11.9), 0.193 * np.exp(v / 33.1)), 1.0, 0.0),
    },
}
# Powers of the gates of each current, its conductance and its reversal potential.
CURRENTS: dict[str, list[tuple[dict[str, int], str, str]]] = {
    "hh": [({"m": 3, "h": 1}, "gnabar", "ena"), ({"n": 4}, "gkbar", "ek"), ({}, "gl", "el")],
    "na_transient": [({"m": 3, "h": 1}, "gbar", "ena")],
    "na_persistent": [({"m": 3, "h": 1}, "gbar", "ena")],
    "k_transient": [({"m": 4, "h": 1}, "gbar", "ek")],
    "k_persistent": [({"m": 2, "h": 1}, "gbar", "ek")],
    "k_fast": [({"m": 1}, "gbar", "ek")],
    "m_current": [({"m": 1}, "gbar", "ek")],
    "h_current": [({"m": 1}, "gbar", "eh")],
    "ca_hva": [({"m": 2, "h": 1}, "gbar", "eca")],
    "ca_lva": [({"m": 2, "h": 1}, "gbar", "eca")],
    "pas": [({}, "g", "e")],
}
# Parameters without a default.
GIVEN: dict[str, dict[str, float]] = {"ca_hva": {"eca": 123.0}, "ca_lva": {"eca": 123.0}}
GATES = [(name, gate) for name, gates in FORMULAS.items() for gate in gates]


def parameters_of(name: str) -> dict[str, float]:
    """Return the parameters of a mechanism."""
    described = next(model for model in _core.mechanism_models() if model.name == name)
    return {parameter.name: parameter.default for parameter in described.parameters} | GIVEN.get(name, {})


def test_all_mechanisms_are_compared() -> None:
    """A mechanism that is added needs its formulas here."""
    described = {model.name: [gate for gate, _ in model.gates] for model in _core.mechanism_models()}
    # What has to do with concentrations is compared in test_calcium.py.
    assert (described.pop("calcium_pool"), described.pop("sk_current")) == ([], ["z"])
    assert described == {**{name: list(gates) for name, gates in FORMULAS.items()}, "pas": []}
    assert set(CURRENTS) == set(described)


@pytest.mark.parametrize(("name", "gate"), GATES, ids=[f"{gate} of {name}" for name, gate in GATES])
@pytest.mark.parametrize("method", ["table", "exact"])
def test_a_gate_relaxes_as_its_formula_says(name: str, gate: str, method: Any) -> None:
    """After a step of a potential that nearly no current changes, at a temperature of 30 degrees.

    Tables may be 1e-6 off in the steady state and in the rate, of which the distance to the steady state shows a part.
    """
    formula, factor, measured = FORMULAS[name][gate]
    cell = rv.Cell(
        BALL,
        membrane=[("all", getattr(rv, name)(**GIVEN.get(name, {}), **{own: 0.0 for _, own, _ in CURRENTS[name]}))],
        C_m=1e6,
        celsius=30.0,
        V_init=-71.3,
        rates=method,
        probes={"x": (rv.at(0), f"{gate} of {name}")},
    )
    ends = [-95.1, -61.2, -44.4, -21.7, 11.3, 38.9]
    net = rv.Network(resolution=STEP)
    cells = net.create(cell, len(ends))
    simulation = rv.Simulation(net)
    begin = formula(-71.3)[0]
    np.testing.assert_allclose(simulation.get(cells, "x"), begin, rtol=1e-6, atol=1e-6)
    simulation.set(cells, V_m=np.array(ends))
    simulation.run(TIME)
    expected = []
    for end in ends:
        steady, tau = formula(end)
        tau *= factor ** (-(30.0 - measured) / 10.0)
        # The value that is read has followed the potential at the end of the last step.
        expected.append(steady + (begin - steady) * np.exp(-(TIME + STEP) / tau))
    np.testing.assert_allclose(simulation.get(cells, "x"), expected, atol=1e-10 if method == "exact" else 3e-6)


@pytest.mark.parametrize("name", CURRENTS)
def test_a_current_is_that_of_its_gates(name: str) -> None:
    """A step of backward Euler: what the capacitance gets is what flows at the potential after the step."""
    mechanism = getattr(rv, name)(**GIVEN.get(name, {}))
    gates = list(FORMULAS.get(name, {}))
    cell = rv.Cell(
        BALL,
        membrane=[("all", mechanism)],
        celsius=30.0,
        V_init=-40.7,
        probes={gate: (rv.at(0), f"{gate} of {name}") for gate in gates},
    )
    net = rv.Network(resolution=STEP)
    cells = net.create(cell, 1)
    simulation = rv.Simulation(net)
    values = {gate: simulation.get(cells, gate)[0] for gate in gates}
    before = simulation.get(cells, "V_m")[0]
    simulation.run(STEP)
    after = simulation.get(cells, "V_m")[0]
    defaults = parameters_of(name)
    current = sum(  # mA/cm^2
        defaults[conductance]
        * np.prod([values[gate] ** power for gate, power in powers.items()])
        * (after - defaults[reversal])
        for powers, conductance, reversal in CURRENTS[name]
    )
    # 1 uF/cm^2 mV/ms is 0.001 mA/cm^2.
    assert -0.001 * (after - before) / STEP == pytest.approx(current, rel=1e-9)


def slope(_: float, state: npt.NDArray[np.float64], name: str, drive: float, celsius: float) -> list[float]:
    """Return the derivatives of V and of the gates, from the formulas above; beside the mechanism there is a leak."""
    values = {gate: state[1 + i] for i, gate in enumerate(FORMULAS.get(name, {}))}
    total = 1e-4 * (state[0] + 70.0)  # mA/cm^2
    for powers, conductance, reversal in CURRENTS[name]:
        parameters = parameters_of(name)
        opened = math.prod(values[gate] ** power for gate, power in powers.items())
        total += parameters[conductance] * opened * (state[0] - parameters[reversal])
    slopes = [1e3 * (drive - total)]
    for gate, (formula, factor, measured) in FORMULAS.get(name, {}).items():
        steady, tau = formula(state[0])
        slopes.append((steady - values[gate]) / (tau * factor ** (-(celsius - measured) / 10.0)))
    return slopes


@pytest.mark.parametrize("name", CURRENTS)
def test_a_mechanism_does_as_its_equations_say(name: str) -> None:
    """One compartment into which a current flows, against SciPy at a tight tolerance.

    Half of the step has a quarter of the error of the staggered scheme; tables add less than a microvolt a step.
    """
    celsius, time, drive = 30.0, 20.0, 2e-3  # mA/cm^2
    area = math.pi * 400.0  # um^2
    gates = FORMULAS.get(name, {})
    begin = [-71.3, *(formula(-71.3)[0] for formula, _, _ in gates.values())]
    grid = np.arange(1.0, time + 1.0)
    solution = solve_ivp(
        slope, (0.0, time), begin, "LSODA", grid, args=(name, drive, celsius), rtol=1e-11, atol=1e-12
    ).y.T
    assert np.ptp(solution[:, 0]) > 1.0
    errors = {}
    for rates, steps in (("exact", 64), ("exact", 128), ("table", 128)):
        cell = rv.Cell(
            BALL,
            membrane=[("all", getattr(rv, name)(**GIVEN.get(name, {}))), ("all", rv.pas(g=1e-4, e=-70.0))],
            celsius=celsius,
            V_init=-71.3,
            rates=rates,  # type: ignore[arg-type]
            scheme="staggered",
        )
        net = rv.Network(resolution=1.0 / steps)
        recorder = net.record_state(net.create(cell, 1, I_e=10.0 * drive * area), ["V_m"], interval=1.0)
        simulation = rv.Simulation(net)
        simulation.run(time)
        errors[rates, steps] = np.abs(simulation.state(recorder).values[:, 0, 0] - solution[:, 0]).max()
    assert errors["exact", 64] / errors["exact", 128] == pytest.approx(4.0, rel=0.15)
    assert errors["exact", 128] < 2e-2
    assert errors["table", 128] == pytest.approx(errors["exact", 128], abs=1e-3)
