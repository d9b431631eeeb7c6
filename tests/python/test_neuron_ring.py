"""The ring of branched cells against NEURON, in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from neuron_ring import run_ring

CELLS, DEPTH, COMPARTMENTS, TIME = 12, 4, 2, 40.0


def run(dendrites: Any, **keys: Any) -> tuple[rv.SpikeData, npt.NDArray[np.float64]]:
    """Return spikes, and the potential of the first soma after each step."""
    model = rv.networks.ring(cells=CELLS, depth=DEPTH, compartments=COMPARTMENTS, dendrites=dendrites, **keys)
    states = model.net.record_state(model.net.populations[0][:1], ["V_m"], interval=model.net.resolution)
    simulation = rv.Simulation(model.net)
    simulation.run(TIME)
    return simulation.spikes(model.spikes), simulation.state(states).values[:, 0, 0]


@pytest.mark.parametrize("dendrites", ["hh", "pas"])
@pytest.mark.parametrize(("rates", "greatest"), [("exact", 1e-8), ("table", 1e-3)])
def test_potentials_and_spikes_are_those_of_neuron(dendrites: str, rates: str, greatest: float) -> None:
    """The same equations, compartments and steps: what differs is rounding, and with tables their bounded error.

    A potential that rises by 500 mV/ms shows an error of 1e-6 in the rates as some 1e-4 mV.
    """
    spikes, potential = run(dendrites, rates=rates)
    expected = run_ring(cells=CELLS, depth=DEPTH, compartments=COMPARTMENTS, dendrites=dendrites, time=TIME)
    assert sum(map(len, expected.spikes)) > CELLS
    for cell, times in enumerate(expected.spikes):
        np.testing.assert_allclose(spikes.times[spikes.ids == cell], times, atol=1e-6)
    assert np.abs(potential - expected.potential).max() < greatest
