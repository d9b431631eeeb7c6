"""NMDA receptors that saturate, against the kinetics of X.-J. Wang (2002), and the neuron that has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp
from scipy.special import gamma, gammainc

import ranvier as rv
from ranvier.errors import ValueOutOfBoundsError
from thorough_cases import only

FloatArray = npt.NDArray[np.float64]
STEP = 0.1


def train(rate: float, duration: float, seed: int = 1) -> list[float]:
    """Return a Poisson train on the grid, ms."""
    random = np.random.default_rng(seed)
    steps = np.unique(random.integers(1, round(duration / STEP), random.poisson(rate * duration / 1000.0)))
    return [round(float(step) * STEP, 6) for step in steps]


def conductance(
    trains: list[list[float]], duration: float, synapse: Any = "saturating_nmda", **values: Any
) -> FloatArray:
    """Return the NMDA conductance of a neuron to which each train comes with a weight of 1 nS, after each step."""
    net = rv.Network(resolution=STEP)
    sources = net.create_spike_generators(trains)
    target = net.create(rv.iaf_wang_2002(V_th=1e6, **values), 1)
    net.connect(sources, target, rv.AllToAll(), weight=1.0, delay=STEP, receptor="NMDA", synapse=synapse)
    recorder = net.record_state(target, ["s_NMDA"], interval=STEP)
    sim = rv.Simulation(net, threads=1)
    sim.run(duration)
    return sim.state(recorder).values.ravel()


def expected(spikes: list[float], times: FloatArray, alpha: float, rise: float, decay: float) -> FloatArray:
    """Return the open part after each time by the published factors."""
    x, share = alpha * rise, rise / decay
    first = x**share * gamma(1.0 - share) * gammainc(1.0 - share, x)
    s, last, found, k = 0.0, 0.0, np.zeros(len(times)), 0
    for i, time in enumerate(times):
        while k < len(spikes) and spikes[k] + STEP <= time + 1e-9:
            s *= np.exp(-(spikes[k] - last) / decay)
            s += first - (1.0 - np.exp(-x)) * s
            last, k = spikes[k], k + 1
        found[i] = s * np.exp(-(time - STEP - last) / decay)
    return found


@pytest.mark.parametrize(("alpha", "rise", "decay"), [(0.5, 2.0, 100.0), (1.0, 0.5, 40.0), (0.05, 1.0, 300.0)])
def test_a_spike_opens_what_the_equations_say(alpha: float, rise: float, decay: float) -> None:
    spikes = train(60.0, 400.0)
    synapse = rv.saturating_nmda(alpha=alpha, tau_rise=rise, tau_decay=decay)
    found = conductance([spikes], 400.0, synapse, tau_decay_NMDA=decay)
    ends = np.linspace(STEP, STEP * len(found), len(found))
    np.testing.assert_allclose(found, expected(spikes, ends, alpha, rise, decay), atol=1e-6)


@pytest.mark.parametrize("rate", only([40.0], [5.0, 40.0, 100.0]))
def test_the_mean_is_that_of_the_kinetics(rate: float) -> None:
    """Of the two differential equations for each synapse, within two percent."""
    spikes = train(rate, 2000.0, 3)

    def slopes(_: float, y: FloatArray) -> list[float]:
        return [-y[0] / 100.0 + 0.5 * y[1] * (1.0 - y[0]), -y[1] / 2.0]

    state, last, area = np.zeros(2), 0.0, 0.0
    for spike in [*spikes, 2000.0]:
        solved = solve_ivp(slopes, (last, spike), state, rtol=1e-8, atol=1e-10, max_step=1.0)
        area += float(np.sum(0.5 * (solved.y[0, 1:] + solved.y[0, :-1]) * np.diff(solved.t)))
        state, last = solved.y[:, -1] + np.array([0.0, 1.0]), spike
    found = conductance([spikes], 2000.0).sum() * STEP
    assert found == pytest.approx(area, rel=0.03)


def test_at_high_rates_the_conductance_stays_below_the_sum_of_weights() -> None:
    trains = [train(100.0, 1000.0, seed) for seed in range(5)]
    saturating = conductance(trains, 1000.0)[3000:].mean()
    adding = conductance(trains, 1000.0, "static_synapse")[3000:].mean()
    assert saturating < 5.0
    assert adding / saturating == pytest.approx(11.0, rel=0.15)


def test_the_current_is_blocked_by_magnesium() -> None:
    """The membrane against an integration of its own at a tight tolerance."""
    net = rv.Network(resolution=STEP)
    source = net.create_spike_generators([[1.0, 4.0, 9.0]])
    target = net.create("iaf_wang_2002", 1, V_th=1e6)
    for receptor, weight in (("AMPA", 8.0), ("NMDA", 12.0), ("GABA", 5.0)):
        net.connect(source, target, rv.OneToOne(), weight=weight, delay=1.0, receptor=receptor)
    sim = rv.Simulation(net, threads=1)
    sim.run(40.0)

    def slopes(_: float, y: FloatArray) -> list[float]:
        v, ampa, nmda, gaba = y
        block = 1.0 / (1.0 + np.exp(-0.062 * v) / 3.57)
        return [
            (25.0 * (-70.0 - v) - (ampa + block * nmda) * v + gaba * (-70.0 - v)) / 500.0,
            -ampa / 2.0,
            -nmda / 100.0,
            -gaba / 5.0,
        ]

    y, last = np.array([-70.0, 0.0, 0.0, 0.0]), 0.0
    for time in (2.0, 5.0, 10.0, 40.0):
        y = solve_ivp(slopes, (last, time), y, "DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
        y, last = y + np.array([0.0, 8.0, 12.0, 5.0]), time
    np.testing.assert_allclose(sim.get(target, "V_m"), y[0], atol=1e-2)
    assert y[0] > -69.0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tau_rise": 100.0}, "tau_rise must be shorter than tau_decay"),
        ({"tau_rise": 60.0, "alpha": 5.0}, "one spike would open"),
        ({"alpha": 0.0}, "alpha of saturating_nmda"),
    ],
)
def test_what_has_no_meaning_is_refused(values: dict[str, float], words: str) -> None:
    net = rv.Network()
    sources = net.create_spike_generators([[1.0]])
    target = net.create("iaf_wang_2002", 1)
    with pytest.raises(ValueOutOfBoundsError, match=words):
        net.connect(sources, target, rv.OneToOne(), receptor="NMDA", synapse=rv.saturating_nmda(**values))
