"""Pools of calcium, the currents that fill them, and the gates that follow them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from ranvier import _core

FARADAY, GAS = 96485.33212, 8.314462618
RADIUS = 10.0
BALL = rv.Morphology([rv.Section(length=2 * RADIUS, diameter=2 * RADIUS)])
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=20.0),
        rv.Section(length=300.0, diameter=2.0, parent=0, tag="basal"),
        rv.Section(length=150.0, diameter=1.0, parent=1, tag="apical"),
    ]
)
CALCIUM: list[Any] = [
    ("all", rv.calcium_pool(gamma=0.05, decay=20.0, depth=0.1)),
    ("all", rv.ca_hva(gbar=0.002)),
    ("all", rv.ca_lva(gbar=0.003)),
    ("all", rv.sk_current(gbar=0.004)),
    ("all", rv.pas(g=1e-4, e=-70.0)),
]
PROBES: dict[str, Any] = {
    "Ca": (rv.at(0), "Ca of calcium_pool"),
    "E_Ca": (rv.at(0), "E_Ca of calcium_pool"),
    "z": (rv.at(0), "z of sk_current"),
    "i_hva": (rv.at(0), "i of ca_hva"),
    "i_lva": (rv.at(0), "i of ca_lva"),
    "i_sk": (rv.at(0), "i of sk_current"),
}


def linear_exponential(x: float, y: float) -> float:
    """Return x / (1 - exp(-x / y))."""
    return float(x / -np.expm1(-x / y))


def slopes(_: float, state: npt.NDArray[np.float64], drive: float, celsius: float) -> list[float]:
    """Return the derivatives of V, Ca, and the gates (m, h of ca_hva; m, h of ca_lva; z), as they are published."""
    v, ca, m, h, m_low, h_low, z = state
    reversal = 1e3 * GAS * (celsius + 273.15) / (2 * FARADAY) * math.log(2.0 / ca)
    high = 0.002 * m**2 * h * (v - reversal)
    low = 0.003 * m_low**2 * h_low * (v - reversal)
    total = high + low + 0.004 * z * (v + 85.0) + 1e-4 * (v + 70.0)  # mA/cm^2
    alpha_m, beta_m = 0.055 * linear_exponential(v + 27, 3.8), 0.94 * np.exp(-(75 + v) / 17)
    alpha_h, beta_h = 0.000457 * np.exp(-(13 + v) / 50), 0.0065 / (1 + np.exp(-(v + 15) / 28))
    speed = 2.3 ** ((celsius - 21.0) / 10.0)
    return [
        1e3 * (drive - total),
        -1e4 * 0.05 * (high + low) / (2 * FARADAY * 0.1) - (ca - 1e-4) / 20.0,
        alpha_m * (1 - m) - beta_m * m,
        alpha_h * (1 - h) - beta_h * h,
        speed * (1 / (1 + np.exp(-(v + 40) / 6)) - m_low) / (5 + 20 / (1 + np.exp((v + 35) / 5))),
        speed * (1 / (1 + np.exp((v + 90) / 6.4)) - h_low) / (20 + 50 / (1 + np.exp((v + 50) / 7))),
        1 / (1 + (0.00043 / ca) ** 4.8) - z,
    ]


def steady(v: float, celsius: float) -> list[float]:
    """Return the state in which a cell begins: gates are where they tend to at the potential."""
    state = [v, 1e-4, 0.0, 0.0, 0.0, 0.0, 0.0]
    # Slopes are linear in each gate.
    at_zero = slopes(0.0, np.array(state), 0.0, celsius)
    at_one = slopes(0.0, np.array([*state[:2], 1.0, 1.0, 1.0, 1.0, 1.0]), 0.0, celsius)
    for i in range(2, 7):
        state[i] = at_zero[i] / (at_zero[i] - at_one[i])
    return state


def ball(**keys: Any) -> rv.Cell:
    """Return a cell of one compartment."""
    return rv.Cell(**{"morphology": BALL, "membrane": CALCIUM, "celsius": 34.0, "V_init": -80.0, **keys})


def courses(cell: rv.Cell, time: float, steps: int, **values: Any) -> npt.NDArray[np.float64]:
    """Return variables at whole milliseconds, shape (time, variables); there are `steps` in one."""
    net = rv.Network(resolution=1.0 / steps)
    recorder = net.record_state(net.create(cell, 1, **values), list(cell.variables), interval=1.0)
    simulation = rv.Simulation(net)
    simulation.run(time)
    return simulation.state(recorder).values[:, :, 0]


@pytest.mark.parametrize(("scheme", "order"), [("backward_euler", 1), ("staggered", 2)])
def test_calcium_goes_as_its_equations_say(scheme: Any, order: int) -> None:
    """A spike of calcium, against SciPy at a tight tolerance: errors go down with the step as the scheme promises."""
    drive = 0.004  # mA/cm^2
    current = drive * 4 * math.pi * RADIUS**2 * 10.0  # pA
    solution = solve_ivp(
        slopes, (0, 60), steady(-80.0, 34.0), "LSODA", np.arange(1, 61), args=(drive, 34.0), rtol=1e-11, atol=1e-13
    )
    assert np.ptp(solution.y[0]) > 20.0
    assert solution.y[1].max() > 4e-4
    assert np.ptp(solution.y[6]) > 0.5
    cell = ball(scheme=scheme, rates="exact", probes={name: PROBES[name] for name in ("Ca", "z")})
    errors = []
    for steps in (32, 64):
        values = courses(cell, 60.0, steps, I_e=current)
        errors.append([np.abs(values[:, i] - solution.y[k]).max() for i, k in enumerate((0, 1, 6))])
    ratios = np.array(errors[0]) / np.array(errors[1])
    np.testing.assert_allclose(ratios, 2.0**order, rtol=0.1)
    assert errors[1][0] < (0.5 if order == 1 else 0.01)


def test_tables_are_as_the_formulas() -> None:
    """Rates from tables over the logarithm of the concentration."""
    keys: dict[str, Any] = {"probes": PROBES}
    tables, exact = (courses(ball(rates=rates, **keys), 60.0, 40, I_e=500.0) for rates in ("table", "exact"))
    scales = np.abs(exact).max(axis=0)
    assert 0.0 < (np.abs(tables - exact) / scales).max() < 1e-4


def test_probes_of_calcium_agree() -> None:
    """Currents are those of gates and potentials; the reversal potential is that of Nernst."""
    probes = {**PROBES, "m": (rv.at(0), "m of ca_hva"), "h": (rv.at(0), "h of ca_hva"), "i": (rv.at(0), "i of pas")}
    values = courses(ball(probes=probes), 60.0, 40, I_e=500.0)
    v, calcium, reversal, z, high, _, potassium, m, h, leak = values.T
    assert calcium.max() > 2e-4
    np.testing.assert_allclose(reversal, 1e3 * GAS * 307.15 / (2 * FARADAY) * np.log(2.0 / calcium), rtol=1e-12)
    np.testing.assert_allclose(high, 0.002 * m**2 * h * (v - reversal), rtol=1e-12)
    np.testing.assert_allclose(potassium, 0.004 * z * (v + 85.0), rtol=1e-12)
    np.testing.assert_allclose(leak, 1e-4 * (v + 70.0), rtol=1e-12)


def test_a_given_reversal_needs_no_pool() -> None:
    """With the Nernst potential of a pool that nothing fills, currents are the same."""
    reversal = 1e3 * GAS * 307.15 / (2 * FARADAY) * math.log(2.0 / 1e-4)
    pool = [("all", rv.calcium_pool(gamma=1e-12)), ("all", rv.ca_hva(gbar=0.001)), ("all", rv.pas(g=1e-4))]
    fixed = [("all", rv.ca_hva(gbar=0.001, eca=reversal)), ("all", rv.pas(g=1e-4))]
    first, second = (courses(ball(membrane=membrane), 50.0, 40, I_e=100.0) for membrane in (pool, fixed))
    assert np.ptp(first) > 10.0
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_a_pool_in_a_part_of_a_compartment() -> None:
    """Channels and pool on half of the membrane: the concentration there is that of a whole compartment."""
    half = rv.within_distance(0.0, RADIUS)
    membrane: list[Any] = [
        (half, rv.calcium_pool()),
        (half, rv.ca_hva(gbar=0.0001)),
        ("all", rv.pas(g=1.0, e=-30.0)),
    ]
    whole = [("all", mechanism) for _, mechanism in membrane]
    ends = [courses(ball(membrane=each, probes={"Ca": PROBES["Ca"]}), 30.0, 40)[-1] for each in (membrane, whole)]
    assert ends[0][1] > 1e-3
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-3)


def build(threads: int = 1, instruction_set: Any = "auto", **keys: Any) -> tuple[rv.Simulation, Any]:
    """Return a simulation of cells with pools of their own in three regions, and a recorder."""
    membrane: list[Any] = [
        ("soma", rv.calcium_pool(decay=200.0)),
        ("basal", rv.calcium_pool(gamma=0.02, Ca_rest=lambda distance: 1e-4 * (1.0 + distance / 1000.0))),
        ("soma", rv.hh()),
        (rv.tagged("soma", "basal"), rv.ca_hva(gbar=0.001)),
        (rv.tagged("soma", "basal"), rv.sk_current(gbar=0.002)),
        ("apical", rv.ca_lva(gbar=0.001, eca=120.0)),
        ("all", rv.pas(g=1e-4)),
    ]
    hold = rv.voltage_clamp(level=-40.0, duration=5.0, start=20.0, resistance=20.0)
    other: Any = rv.current_clamp(amplitude=300.0, duration=5.0, start=20.0)
    cell = rv.Cell(
        TREE,
        **{
            "compartments": [1, 5, 3],
            "membrane": membrane,
            "celsius": 20.0,
            "receptors": {"exc": (rv.expsyn(), rv.at(1, 0.7))},
            "clamps": {
                "pulse": (rv.current_clamp(amplitude=[200.0, -50.0], duration=[3.01, 6.0], start=12.003), rv.at(2)),
                "hold": (other if keys.get("scheme") == "staggered" else hold, rv.at(1)),
            },
            "probes": {
                "Ca": (rv.at(1, 0.3), "Ca of calcium_pool"),
                "soma": (rv.at(0), "Ca of calcium_pool"),
                "i": "i of hold",
            },
            **keys,
        },
    )
    net = rv.Network(resolution=0.025, seed=4)
    cells = net.create(cell, 11, V_m=rv.Uniform(-75.0, -60.0))
    net.connect(cells, cells, rv.FixedIndegree(3), weight=5.0, delay=1.0)
    net.stimulate(cells, rv.poisson_generator(rate=500.0), weight=4.0)
    recorder = net.record_state(cells, list(cell.variables), interval=0.5)
    return rv.Simulation(net, threads=threads, tuning=rv.Tuning(instruction_set=instruction_set)), recorder


@pytest.mark.parametrize("keys", [{}, {"rates": "exact"}, {"scheme": "staggered"}], ids=["table", "exact", "staggered"])
def test_bits_do_not_depend_on_the_machine(keys: dict[str, Any]) -> None:
    """Threads and instruction sets."""
    simulation, recorder = build(**keys)
    simulation.run(30.0)
    expected = simulation.state(recorder).values
    assert len(np.unique(expected[-1, 1])) == 11
    assert np.abs(expected[:, 3]).max() > 1.0
    for threads, instruction_set in ((3, "auto"), (2, _core.instruction_sets()[:2][-1]), (1, "baseline")):
        other, recorder = build(threads, instruction_set, **keys)
        other.run(30.0)
        np.testing.assert_array_equal(other.state(recorder).values, expected)


def test_a_saved_state_goes_on_with_its_calcium(tmp_path: Path) -> None:
    """In the middle of what clamps do, with other threads."""
    simulation, recorder = build()
    simulation.run(21.0)
    simulation.save(tmp_path / "state.h5")
    cells = simulation.network.populations[0]
    before = [simulation.get(cells, name) for name in ("Ca", "soma", "i")]
    simulation.run(9.0)
    expected = simulation.state(recorder).values
    other = rv.Simulation.load(build(2)[0].network, tmp_path / "state.h5", threads=2)
    for name, values in zip(("Ca", "soma", "i"), before, strict=True):
        np.testing.assert_array_equal(other.get(other.network.populations[0], name), values)
    assert np.abs(before[2]).min() > 0.0
    other.run(9.0)
    again = other.network.recorders[0]
    assert isinstance(again, rv.StateRecorder)
    np.testing.assert_array_equal(other.state(again).values[-18:], expected[-18:])


def test_too_much_calcium_is_told() -> None:
    """A shell that a step empties or fills beyond all bounds."""
    pump = [("all", rv.calcium_pool(depth=1e-5, decay=1e6, gamma=1.0)), ("all", rv.ca_lva(gbar=1.0)), ("all", rv.pas())]
    with pytest.raises(rv.errors.StateError, match="calcium"):
        courses(ball(membrane=pump), 20.0, 40, I_e=1000.0)


POOL = ("all", rv.calcium_pool())
PASSIVE = ("all", rv.pas())
BAD: dict[str, Any] = {
    "no pool for a current": [("all", rv.ca_hva())],
    "no pool at a place": [("soma", rv.calcium_pool()), ("all", rv.ca_lva())],
    "no pool for a gate": [("all", rv.sk_current())],
    "no pool for a gate at a place": [("soma", rv.calcium_pool()), ("all", rv.sk_current())],
    "a reversal potential beside a pool": [POOL, ("all", rv.ca_hva(eca=120.0))],
    "a reversal potential beside a pool at a place": [("soma", rv.calcium_pool()), ("all", rv.ca_hva(eca=120.0))],
    "two pools": [POOL, POOL],
    "two pools at a place": [POOL, ("soma", rv.calcium_pool(depth=1.0))],
    "depth": [("all", rv.calcium_pool(depth=-0.1))],
    "depth 0": [("all", rv.calcium_pool(depth=0.0))],
    "decay 0": [("all", rv.calcium_pool(decay=0.0))],
    "infinite decay": [("all", rv.calcium_pool(decay=math.inf))],
    "rest 0": [("all", rv.calcium_pool(Ca_rest=0.0))],
    "negative rest": [("all", rv.calcium_pool(Ca_rest=lambda distance: distance - 100.0))],
    "outside 0": [("all", rv.calcium_pool(Ca_out=0.0))],
    "share above 1": [("all", rv.calcium_pool(gamma=1.1))],
    "share of 0": [("all", rv.calcium_pool(gamma=0.0))],
    "nan": [("all", rv.calcium_pool(gamma=math.nan))],
    "reversal nan": [("all", rv.ca_hva(eca=math.nan))],
    "reversal of nan by a function": [("all", rv.ca_hva(eca=lambda distance: distance * math.nan))],
    "reversal by place": [("all", rv.ca_hva(eca=[120.0, 121.0, 122.0]))],
    "reversal beyond bounds": [("all", rv.ca_hva(eca=1e5))],
}


@pytest.mark.parametrize("membrane", BAD.values(), ids=BAD)
def test_bad_calcium_is_refused(membrane: Any) -> None:
    """With a typed error."""
    with pytest.raises(rv.errors.RanvierError):
        rv.Cell(TREE, membrane=[PASSIVE, *membrane])


def test_errors_of_calcium_name_mechanism_and_place() -> None:
    """And what to do."""
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"ca_lva.*section 1.*calcium_pool.*eca"):
        rv.Cell(TREE, membrane=[("soma", rv.calcium_pool()), ("all", rv.ca_lva())])
    with pytest.raises(rv.errors.UnknownNameError, match="Ca of calcium_pool"):
        rv.Cell(TREE, membrane=[PASSIVE, POOL], probes={"x": (rv.at(0), "calcium of calcium_pool")})
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="calcium_pool"):
        rv.Cell(
            TREE,
            membrane=[PASSIVE, ("soma", rv.calcium_pool())],
            probes={"x": (rv.at(1), "Ca of calcium_pool")},
        )
