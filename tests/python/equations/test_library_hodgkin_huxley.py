"""Hodgkin-Huxley neurons that come with Ranvier solve their equations, and fire at peaks of the potential."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv

FloatArray = npt.NDArray[np.float64]
DURATION = 30.0  # ms


def squid(y: FloatArray, current: float) -> list[float]:
    """Return the derivatives of `hh_psc_alpha`, as they are printed."""
    v, m, h, n = y
    a_m, b_m = 0.1 * (v + 40.0) / (1.0 - np.exp(-(v + 40.0) / 10.0)), 4.0 * np.exp(-(v + 65.0) / 18.0)
    a_h, b_h = 0.07 * np.exp(-(v + 65.0) / 20.0), 1.0 / (1.0 + np.exp(-(v + 35.0) / 10.0))
    a_n, b_n = 0.01 * (v + 55.0) / (1.0 - np.exp(-(v + 55.0) / 10.0)), 0.125 * np.exp(-(v + 65.0) / 80.0)
    ionic = 12000.0 * m**3 * h * (50.0 - v) + 3600.0 * n**4 * (-77.0 - v) + 30.0 * (-54.402 - v)
    return [(ionic + current) / 100.0, a_m * (1 - m) - b_m * m, a_h * (1 - h) - b_h * h, a_n * (1 - n) - b_n * n]


def hippocampus(y: FloatArray, current: float) -> list[float]:
    """Return the derivatives of `hh_cond_exp_traub`, as they are printed."""
    v, m, h, n = y
    u = v + 63.0
    a_m, b_m = (
        0.32 * (13.0 - u) / (np.exp((13.0 - u) / 4.0) - 1.0),
        0.28 * (u - 40.0) / (np.exp((u - 40.0) / 5.0) - 1.0),
    )
    a_h, b_h = 0.128 * np.exp((17.0 - u) / 18.0), 4.0 / (1.0 + np.exp((40.0 - u) / 5.0))
    a_n, b_n = 0.032 * (15.0 - u) / (np.exp((15.0 - u) / 5.0) - 1.0), 0.5 * np.exp((10.0 - u) / 40.0)
    ionic = 20000.0 * m**3 * h * (50.0 - v) + 6000.0 * n**4 * (-90.0 - v) + 10.0 * (-60.0 - v)
    return [(ionic + current) / 200.0, a_m * (1 - m) - b_m * m, a_h * (1 - h) - b_h * h, a_n * (1 - n) - b_n * n]


@pytest.mark.parametrize(
    ("model", "rates", "least"), [(rv.hh_psc_alpha(), squid, 0.0), (rv.hh_cond_exp_traub(), hippocampus, -33.0)]
)
def test_they_solve_their_equations_and_fire_at_peaks(model: rv.EquationNeuron, rates: Any, least: float) -> None:
    currents = np.array([0.0, 700.0, 1500.0])
    net = rv.Network()
    cells = net.create(model, 3, I_e=currents)
    names = ["V_m", "Act_m", "Inact_h", "Act_n"]
    states, spikes = net.record_state(cells, names, 0.1), net.record_spikes(cells)
    sim = rv.Simulation(net)
    begin = [sim.get(cells[0], [name])[name][0] for name in names]
    sim.run(DURATION)
    own = np.stack([sim.state(states)[name] for name in names])
    steps = np.arange(1, own.shape[1] + 1)
    for number, current in enumerate(currents):
        solution = solve_ivp(
            lambda _, y, current=current: rates(y, current),
            (0.0, DURATION),
            begin,
            method="LSODA",
            rtol=1e-10,
            atol=1e-11,
            t_eval=0.1 * steps,
        )
        # The error of a step is at most 1e-6 of a value; in the upstroke of a spike it grows a thousandfold.
        assert np.abs(own[0, :, number] - solution.y[0]).max() < 2e-2
        assert np.abs(own[1:, :, number] - solution.y[1:]).max() < 1e-3
        v = np.concatenate([[begin[0]], solution.y[0]])
        falls = np.flatnonzero((v[1:] < v[:-1]) & (v[1:] >= least)) + 1
        peaks = [step for step in falls if not np.any((falls < step) & (falls >= step - 20))]
        assert sim.spikes(spikes).steps[sim.spikes(spikes).ids == cells.first_id + number].tolist() == peaks
    assert len(sim.spikes(spikes)) >= 3


@pytest.mark.parametrize(
    ("name", "potential"),
    [("hh_psc_alpha", v) for v in (-40.0, -55.0)] + [("hh_cond_exp_traub", v) for v in (-50.0, -23.0, -48.0)],
)
def test_rates_are_numbers_where_their_formulas_are_not(name: str, potential: float) -> None:
    """At these potentials a rate as it is printed is 0/0."""
    net = rv.Network()
    at, beside = (net.create(name, 1, V_m=potential + shift) for shift in (0.0, 1e-9))
    rates = ["alpha_m", "beta_m", "alpha_n"]
    sim = rv.Simulation(net)
    for rate in rates:
        here, there = (float(sim.get(cells, [rate])[rate][0]) for cells in (at, beside))
        assert here == pytest.approx(there, rel=1e-8)
    sim.run(1.0)
