"""Receptors of equations: against built-in ones, SciPy and themselves in other arrangements."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import command_lines
import ranvier as rv
from general_forms import advanced, point
from ranvier.channels.receptor import EquationReceptor
from ranvier.errors import ShapeError, StateError, UnknownNameError, ValueOutOfBoundsError
from repository import SUPPORT

FloatArray = npt.NDArray[np.float64]
TREE = rv.Morphology([rv.Section(length=20.0, diameter=15.0), rv.Section(length=150.0, diameter=2.0, parent=0)])
SITES = [rv.at(1, 0.1), rv.at(1, 0.9), rv.at(1, 0.92), rv.at(0, 0.5)]


def single() -> EquationReceptor:
    """Return what `rv.expsyn` is."""
    return point(
        "g",
        ["i = g*(v - e)"],
        step=[advanced([], {"g": "-g/tau"})],
        jumps={"g": "1e-3"},
        parameters={"tau": 2.0, "e": 0.0},
        name="single",
    )


def double() -> EquationReceptor:
    """Return what `rv.exp2syn` is."""
    peak = "(tau1*tau2/(tau2 - tau1)*log(tau2/tau1))"
    factor = f"1e-3/(exp(-{peak}/tau2) - exp(-{peak}/tau1))"
    return point(
        "ab",
        ["i = (b - a)*(v - e)"],
        step=[advanced([], {"a": "-a/tau1", "b": "-b/tau2"})],
        jumps={"a": factor, "b": factor},
        parameters={"tau1": 0.5, "tau2": 5.0, "e": -10.0},
        name="double",
    )


def saturating() -> EquationReceptor:
    """Return one with coupled states that are not linear, and a block that depends on the potential."""
    return point(
        "xs",
        ["i = 2e-3*s*(v - e)/(1 + exp(-0.062*v)/3.57)"],
        step=[advanced([], {"x": "-x/2", "s": "a*x*(1 - s) - s/50"})],
        jumps={"x": "1"},
        parameters={"a": 0.5, "e": 0.0},
        name="saturating",
    )


def cell(receptor: Any, scheme: Any = "backward_euler") -> rv.Cell:
    probes = {"i": "i of exc"}
    membrane = [("all", rv.hh())]
    return rv.Cell(
        TREE, compartments=[1, 5], membrane=membrane, receptors={"exc": (receptor, SITES)}, probes=probes, scheme=scheme
    )


def network(model: Any, count: int, **values: Any) -> tuple[rv.Network, rv.StateRecorder]:
    """Return cells that get spikes at all sites."""
    net = rv.Network(resolution=0.025)
    cells = net.create(model, count, **values)
    for site in range(4):
        source = net.create_spike_generators([sorted([1.0 + site, 3.5, 3.5, 7.0 + 0.3 * site])])
        net.connect(source, cells, rv.AllToAll(), receptor="exc", site=site, weight=1.0 + 2.0 * site, delay=0.5)
    first = model[0] if isinstance(model, list) else model
    return net, net.record_state(cells, list(first.variables), interval=0.025)


def run(model: Any, count: int = 3, time: float = 20.0, **values: Any) -> FloatArray:
    net, states = network(model, count, **values)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return np.asarray(sim.state(states).values)


@pytest.mark.parametrize("count", [3, 8])
@pytest.mark.parametrize(
    ("own", "built_in"),
    [(single()(), rv.expsyn(tau=2.0)), (double()(), rv.exp2syn(tau_rise=0.5, tau_decay=5.0, e=-10.0))],
)
def test_linear_receptors_do_what_built_in_ones_do(own: Any, built_in: Any, count: int) -> None:
    values = [run(cell(each), count, I_e=np.linspace(0, 50, count)) for each in (own, built_in)]
    assert np.ptp(values[1][:, 0]) > 20.0
    np.testing.assert_allclose(values[0], values[1], rtol=1e-7, atol=1e-7)


def test_a_receptor_with_coupled_states_goes_as_its_equations_say() -> None:
    ball = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
    model = rv.Cell(
        ball,
        compartments=1,
        membrane=[("all", rv.pas(g=1e-4, e=-60.0))],
        receptors={"exc": (saturating()(), rv.at(0, 0.5))},
        probes={"i": "i of exc"},
        scheme="staggered",
        V_init=-60.0,
    )
    net = rv.Network(resolution=0.025)
    cells = net.create(model, 1)
    net.connect(net.create_spike_generators([[1.0]]), cells, rv.AllToAll(), receptor="exc", weight=0.8, delay=0.5)
    states = net.record_state(cells, ["V_m", "i"], interval=0.025)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(21.5)
    found = np.asarray(sim.state(states).values)[-1, :, 0]

    def current(v: float, s: float) -> float:
        return float(2e-3 * s * v / (1 + np.exp(-0.062 * v) / 3.57))

    def right(_: float, y: Any) -> list[float]:
        v, x, s = y
        density = current(v, s) / (np.pi * 400.0) * 100.0
        return [1e3 * (-density - 1e-4 * (v + 60.0)), -x / 2, 0.5 * x * (1 - s) - s / 50]

    solved = solve_ivp(right, (1.5, 21.5), [-60.0, 0.8, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
    assert found[0] > -58.0
    assert found[0] == pytest.approx(solved[0], abs=5e-3)
    assert found[1] == pytest.approx(1e3 * current(solved[0], solved[2]), rel=1e-3)


def kinds(scheme: Any) -> list[rv.Cell]:
    """Return two cells that differ in their compartments and parameters."""
    e = rv.per_cell("e", 5.0)
    other = rv.Cell(
        TREE,
        compartments=[1, 2],
        membrane=[("all", rv.hh())],
        receptors={"exc": (saturating()(a=0.2, e=e), SITES)},
        probes={"i": "i of exc"},
        scheme=scheme,
    )
    return [cell(saturating()(e=e), scheme=scheme), other]


@pytest.mark.parametrize("scheme", ["backward_euler", "staggered"])
def test_threads_arrangements_instruction_sets_and_saving_leave_all_bits(scheme: Any, tmp_path: Path) -> None:
    models = kinds(scheme)
    given = [models[0] if i < 9 else models[i % 2] for i in range(14)]
    found = []
    for threads, instruction_set in ((1, "auto"), (3, "baseline")):
        net, states = network(given, 14, e=np.where(np.arange(14) < 9, 0.0, 8.0))
        tuning = rv.Tuning(instruction_set=instruction_set)  # type: ignore[arg-type]
        sim = rv.Simulation(net, threads=threads, tuning=tuning, progress=False)
        sim.run(4.0)
        if threads == 1:
            sim.save(tmp_path / "state.h5")
        sim.run(6.0)
        found.append(np.asarray(sim.state(states).values))
    net, states = network(given, 14, e=np.where(np.arange(14) < 9, 0.0, 8.0))
    again = rv.Simulation.load(net, tmp_path / "state.h5", threads=2, progress=False)
    again.run(6.0)
    assert np.abs(found[0][:, 1]).max() > 1.0
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(np.asarray(again.state(states).values), found[0])


def test_mistakes_are_errors() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'tau'"):
        single()(tua=3.0)
    with pytest.raises(ValueOutOfBoundsError, match="i of exc"):
        rv.Cell(TREE, membrane=[], receptors={"exc": (single()(), rv.at(0, 0.5))}, probes={"g": "exc"})
    with pytest.raises(ShapeError, match="depend on parameters"):
        point("g", ["i = g*v"], step=[advanced([], {"g": "-g"})], jumps={"g": "1 - g"})
    with pytest.raises(ShapeError, match="point process"):
        rv.EquationChannel(single()._description)
    wild = point("g", ["i = g*v"], step=[advanced([], {"g": "g**2"})], jumps={"g": "1"}, name="wild")
    with pytest.raises(StateError, match="state g of receptor 'exc'"):
        run(cell(wild()), 1)


def test_receptors_and_their_cells_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(single()))
    assert again == single()
    model = pickle.loads(pickle.dumps(cell(again(tau=3.0))))
    np.testing.assert_array_equal(run(model), run(cell(single()(tau=3.0))))


def test_the_command_lists_receptors_of_a_module(tmp_path: Path) -> None:
    lines = (
        "import sys",
        f"sys.path.insert(0, {str(SUPPORT)!r})",
        "from test_point_processes import single",
    )
    (tmp_path / "mine.py").write_text("\n".join([*lines, "slow = single()(tau=9.0)"]))
    shown = command_lines.run("models", tmp_path / "mine.py", "slow")
    assert "receptor, weights in nS" in shown
    assert re.search(r"tau\s+9\b", shown)
