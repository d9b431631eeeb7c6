"""Adaptive exponential neurons with a slope factor that is small against the distance of the peak."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv

CURRENT = 1000.0
PARAMETERS: dict[str, Any] = {
    "E_L": -70.6,
    "C_m": 281.0,
    "g_L": 30.0,
    "V_th": -50.4,
    "V_reset": -60.0,
    "tau_w": 144.0,
    "a": 4.0,
    "b": 80.5,
}


def spikes(model: Any, duration: float, resolution: float = 0.1) -> npt.NDArray[np.float64]:
    net = rv.Network(resolution=resolution)
    recorder = net.record_spikes(net.create(model, 1))
    sim = rv.Simulation(net, threads=1)
    sim.run(duration)
    return np.asarray(sim.spikes(recorder).times)


def reference(slope: float, duration: float) -> list[float]:
    """Return the times of spikes, by SciPy; after 14 slope factors an upstroke has a millionth of its time left."""
    p = PARAMETERS

    def rates(_: float, y: npt.NDArray[np.float64]) -> list[float]:
        grown = slope * np.exp(min((y[0] - p["V_th"]) / slope, 30.0))
        dv = (p["g_L"] * (p["E_L"] - y[0] + grown) - y[1] + CURRENT) / p["C_m"]
        return [dv, (p["a"] * (y[0] - p["E_L"]) - y[1]) / p["tau_w"]]

    def peak(_: float, y: npt.NDArray[np.float64]) -> float:
        return float(y[0] - p["V_th"] - 14.0 * slope)

    peak.terminal = True  # type: ignore[attr-defined]
    found: list[float] = []
    time, state = 0.0, [p["E_L"], 0.0]
    while True:
        made = solve_ivp(rates, (time, duration), state, method="DOP853", rtol=1e-9, atol=1e-9, events=peak)
        if made.status != 1:
            return found
        time, state = float(made.t[-1]), [p["V_reset"], float(made.y[1, -1]) + p["b"]]
        found.append(time)


@pytest.mark.parametrize("slope", [0.5, 0.3, 0.2, 0.1, 50.4 / 690.0, 0.01])
def test_spikes_of_steep_upstrokes_have_the_times_of_scipy(slope: float) -> None:
    found = spikes(rv.aeif_cond_exp(Delta_T=slope, V_peak=0.0, I_e=CURRENT, **PARAMETERS), 150.0)
    late = found - reference(slope, 150.0)
    assert len(found) >= 5
    # At the end of the step.
    assert (late > -1e-4).all()
    assert (late < 0.1 + 1e-4).all()


@pytest.mark.parametrize("name", ["aeif_cond_alpha", "aeif_psc_exp", "aeif_psc_alpha", "aeif_psc_delta"])
def test_all_adaptive_exponential_neurons_take_a_small_slope(name: str) -> None:
    model = getattr(rv, name)
    steep, expected = (spikes(model(Delta_T=slope, V_peak=0.0, I_e=CURRENT), 100.0) for slope in (0.08, 0.12))
    assert abs(len(steep) - len(expected)) <= 1


@pytest.mark.parametrize(("current", "resolution"), [(1e4, 1.0), (1e5, 1.0), (1e6, 1.0), (1e5, 0.1)])
def test_several_resets_in_a_step_make_one_spike(current: float, resolution: float) -> None:
    found = spikes(rv.aeif_cond_exp(I_e=current, t_ref=0.0), 20.0, resolution)
    assert 15 <= len(found) == len(np.unique(found))


def test_a_neuron_that_is_reset_in_each_part_of_a_step_does_not_fail() -> None:
    """Its dynamics within the step are left out where there are too many resets."""
    model = rv.neuron(
        "dv/dt = (v*v + I)/ms : 1", threshold="v > 1", reset="v = 0", parameters={"I": 1e9}, method="adaptive"
    )
    assert len(spikes(model, 1.0)) == 10


def first_spike(slope: float, current: float) -> float:
    """Return the time of the first spike of the aeif defaults without adaptation, by quadrature over the potential."""
    v = np.concatenate([np.linspace(-70.6, -50.4 - 25 * slope, 20_000), -50.4 + slope * np.linspace(-25, 40, 20_000)])
    rate = (30.0 * (-70.6 - v + slope * np.exp((v + 50.4) / slope)) + current) / 281.0
    return float(np.trapezoid(1.0 / rate, v))


@pytest.mark.parametrize(("slope", "resolution"), [(0.2, 1.0), (0.1, 1.0), (0.02, 1.0), (0.02, 0.1), (0.01, 0.1)])
def test_an_upstroke_within_a_step_is_seen_from_its_beginning(slope: float, resolution: float) -> None:
    """A series at the beginning of a step knew nothing of an upstroke later in it: the spike was a step late."""
    currents = np.linspace(700.0, 3000.0, 60)
    net = rv.Network(resolution=resolution)
    model = rv.aeif_psc_delta(Delta_T=slope, V_peak=0.0, a=0.0, t_ref=100.0, I_e=currents)
    recorder = net.record_spikes(net.create(model, len(currents)))
    sim = rv.Simulation(net, threads=1)
    sim.run(80.0)
    found = sim.spikes(recorder)
    times = found.times[np.argsort(np.asarray(found.ids))]
    late = times - np.array([first_spike(slope, current) for current in currents])
    assert (late > -1e-3 * resolution).all()
    assert (late < 1.001 * resolution).all()


@pytest.mark.parametrize(
    "curve", ["tanh((x - 1)/k)", "1/(1 + exp((1 - x)/k))", "exp(-1/k*(1 - x))/(1 + exp((x - 1)/k))"]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_steep_sigmoids_are_seen_within_a_step(curve: str, sign: int) -> None:
    """While x moves evenly, y follows a curve of it, whose area is known."""
    model = rv.neuron(
        f"dx/dt = rate : 1\ndy/dt = {curve}/ms : 1",
        threshold="x > 99",
        reset="x = 0",
        parameters={"rate": f"{sign}/ms", "k": 0.01},
        initial={"x": 0.55 if sign > 0 else 1.45},
        method="adaptive",
    )
    net = rv.Network(resolution=1.0)
    neurons = net.create(model, 1)
    sim = rv.Simulation(net, threads=1)
    sim.run(1.0)
    area = (0.55 if "tanh" not in curve else 0.1) if sign > 0 else (0.45 if "tanh" not in curve else -0.1)
    assert float(sim.get(neurons, "y")[0]) == pytest.approx(area, abs=2e-5)
