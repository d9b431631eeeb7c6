"""Currents of stimulators flow from start + delay on, and carry their whole charge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv

STEP = 0.1
PICOAMPERE: dict[str, Callable[[float], Any]] = {
    "dc": lambda start: rv.dc_generator(amplitude=3.0, start=start, stop=2.0),
    "step": lambda start: rv.step_current_generator(times=[0.0], amplitudes=[3.0], start=start, stop=2.0),
    "ac": lambda start: rv.ac_generator(offset=3.0, start=start, stop=2.0),
    "noise": lambda start: rv.noise_generator(mean=3.0, interval=0.5, start=start, stop=2.0),
}


def potentials(stimulator: Any, delay: float) -> Any:
    """Return the potential of a neuron without a leak that adds up charges, at the end of each step."""
    net = rv.Network(resolution=STEP)
    neurons = net.create(rv.iaf_psc_exp(E_L=0.0, V_m=0.0, V_th=1e9, V_reset=0.0, tau_m=1e12, C_m=1.0), 1)
    net.stimulate(neurons, stimulator, delay=delay)
    recorder = net.record_state(neurons, ["V_m"], interval=STEP)
    sim = rv.Simulation(net, threads=1)
    sim.run(5.0)
    return sim.state(recorder).values.ravel()


@pytest.mark.parametrize("delay", [0.1, 1.0])
@pytest.mark.parametrize("start", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("kind", PICOAMPERE)
def test_a_current_carries_its_whole_charge(kind: str, start: float, delay: float) -> None:
    found = potentials(PICOAMPERE[kind](start), delay)
    ends = STEP * np.arange(1, len(found) + 1)
    expected = 3.0 * np.clip(ends - start - delay, 0.0, 2.0 - start)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_sine_begins_with_its_phase() -> None:
    found = np.diff(potentials(rv.ac_generator(amplitude=2.0, frequency=50.0, phase=90.0), 1.0), prepend=0.0)
    times = STEP * np.arange(len(found)) - 1.0
    expected = np.where(times > -1e-9, 2.0 * STEP * np.cos(2.0 * np.pi * 0.05 * times), 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-6)
