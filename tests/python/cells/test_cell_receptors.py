"""Receptors of detailed cells against NEURON's, and against SciPy where it has none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from ranvier import _core
from ranvier_benchmarks.neuron_ring import load_neuron

STEP, TIME = 0.025, 20.0
ARRIVALS = [2.0, 3.5, 3.5, 9.0]
TREE = rv.Morphology(
    [rv.Section(length=20.0, diameter=20.0), rv.Section(length=200.0, diameter=2.0, parent=0, tag="basal")]
)


def run(cell: rv.Cell, step: float, weight: float, duration: float = TIME) -> npt.NDArray[np.float64]:
    """Return what variables were after each step, shape (steps, variables)."""
    net = rv.Network(resolution=step)
    cells = net.create(cell, 1)
    net.connect(
        net.create_spike_generators([[t - 1.0 for t in ARRIVALS]]), cells, "all_to_all", weight=weight, delay=1.0
    )
    recorder = net.record_state(cells, list(cell.variables), interval=step)
    simulation = rv.Simulation(net)
    simulation.run(duration)
    return simulation.state(recorder).values[:, :, 0]


def test_all_receptors_are_compared() -> None:
    """A receptor that is added needs a comparison here."""
    assert [model.name for model in _core.receptor_models()] == ["exp2syn", "expsyn", "nmda"]


@pytest.mark.parametrize("kind", ["ExpSyn", "Exp2Syn"])
def test_synapses_do_as_in_neuron(kind: str) -> None:
    """Spikes that arrive at a dendrite with channels, two of them at once, at the same step."""
    h = load_neuron()
    soma, dendrite = h.Section(), h.Section()
    soma.L = soma.diam = 20.0
    dendrite.L, dendrite.diam, dendrite.nseg = 200.0, 2.0, 5
    dendrite.connect(soma(1))
    for section in (soma, dendrite):
        section.insert("hh")
        section.Ra, section.cm = 100.0, 1.0
    place = dendrite(0.7)
    synapse = getattr(h, kind)(place)
    if kind == "ExpSyn":
        synapse.tau, synapse.e = 1.7, -10.0
        receptor: Any = rv.expsyn(tau=1.7, e=-10.0)
    else:
        synapse.tau1, synapse.tau2, synapse.e = 0.7, 4.0, -10.0
        receptor = rv.exp2syn(tau_rise=0.7, tau_decay=4.0, e=-10.0)
    connection = h.NetCon(None, synapse)
    connection.weight[0] = 0.004
    of = [(soma(0.5), "_ref_v"), (place, "_ref_v"), (synapse, "_ref_g"), (synapse, "_ref_i")]
    vectors = [h.Vector().record(getattr(owner, name)) for owner, name in of]
    h.usetable_hh, h.celsius, h.dt, h.secondorder = 0, 6.3, STEP, 0
    h.finitialize(-65.0)
    for time in ARRIVALS:
        connection.event(time)
    for _ in range(round(TIME / STEP)):
        h.fadvance()
    expected = np.array([list(vector) for vector in vectors])[:, 1:].T

    cell = rv.Cell(
        TREE,
        compartments=[1, 5],
        membrane=[("all", rv.hh())],
        receptors={"syn": (receptor, rv.at(1, 0.7))},
        probes={"place": rv.at(1, 0.7), "g": "syn", "i": "i of syn"},
        rates="exact",
    )
    values = run(cell, STEP, 4.0)
    assert np.ptp(expected[:, 0]) > 80.0
    # NEURON keeps forms in single precision.
    assert np.abs(values[:, :2] - expected[:, :2]).max() < 1e-3
    # It counts a spike that arrives at the end of a step in the next one. g of Exp2Syn is that before a step.
    arrived = np.isin(np.arange(1, len(values) + 1), [round(time / STEP) for time in ARRIVALS])
    own, its = (values[~arrived, 2], expected[~arrived, 2]) if kind == "ExpSyn" else (values[:-1, 2], expected[1:, 2])
    np.testing.assert_allclose(own, 1e3 * its, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(values[:, 3], values[:, 2] * (values[:, 1] + 10.0), rtol=1e-12)


@pytest.mark.parametrize(("scheme", "order"), [("backward_euler", 1), ("staggered", 2)])
def test_nmda_receptors_do_as_their_equations_say(scheme: Any, order: int) -> None:
    """One compartment, against SciPy at a tight tolerance; half a step has the error of the scheme's order."""
    rise, decay, magnesium, weight = 2.0, 30.0, 0.7, 20.0
    peak = rise * decay / (decay - rise) * math.log(decay / rise)
    scale = weight / (math.exp(-peak / decay) - math.exp(-peak / rise))
    area = math.pi * 400.0  # um^2

    def slope(_: float, state: npt.NDArray[np.float64]) -> list[float]:
        v, slow, fast = state
        block = 1.0 / (1.0 + math.exp(-0.062 * v) * magnesium / 3.57)
        current = (slow - fast) * block * (v - 5.0) + area * 1e-3 * (v + 70.0)
        return [-current / (0.01 * area), -slow / decay, -fast / rise]

    state = np.array([-70.0, 0.0, 0.0])
    times = [*sorted(set(ARRIVALS)), TIME]
    expected = np.empty(0)
    begin = 0.0
    for end in times:
        grid = np.arange(math.floor(begin) + 1, math.floor(end) + 1, dtype=float)
        solution = solve_ivp(slope, (begin, end), state, "LSODA", np.unique([*grid, end]), rtol=1e-11, atol=1e-12)
        expected = np.concatenate([expected, solution.y[0][np.isin(solution.t, grid)]])
        state = solution.y[:, -1] + [0.0, *2 * [scale * ARRIVALS.count(end)]]
        begin = end
    assert np.ptp(expected) > 30.0
    receptor = rv.nmda(tau_rise=rise, tau_decay=decay, e=5.0, Mg=magnesium)
    cell = rv.Cell(
        rv.Morphology([rv.Section(length=20.0, diameter=20.0)]),
        membrane=[("all", rv.pas(g=1e-4, e=-70.0))],
        receptors={"syn": (receptor, rv.at(0))},
        V_init=-70.0,
        scheme=scheme,
    )
    errors = []
    for steps in (32, 64):
        values = run(cell, 1.0 / steps, weight)[steps - 1 :: steps, 0]
        errors.append(np.abs(values - expected).max())
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.1)
    assert errors[1] < (0.3 if order == 1 else 0.005)
