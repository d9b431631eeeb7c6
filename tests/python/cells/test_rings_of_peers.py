"""The ring of branched cells against NEURON and Arbor, in the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier_benchmarks import arbor_ring, neuron_ring
from ranvier_benchmarks._peers import RingKeys

FloatArray = npt.NDArray[np.float64]


def run(keys: RingKeys, time: float, **others: Any) -> tuple[list[FloatArray], FloatArray]:
    """Return the spike times of each cell, and the potential of the first soma after each step."""
    model = rv.networks.ring(
        cells=keys.cells,
        depth=keys.depth,
        compartments=keys.compartments,
        dendrites=keys.dendrites,  # type: ignore[arg-type]
        resolution=keys.resolution,
        **others,
    )
    states = model.net.record_state(model.net.populations[0][:1], ["V_m"], interval=keys.resolution)
    simulation = rv.Simulation(model.net)
    simulation.run(time)
    spikes = simulation.spikes(model.spikes)
    times = [spikes.times[spikes.ids == cell] for cell in range(keys.cells)]
    return times, simulation.state(states).values[:, 0, 0]


def run_in_neuron(keys: RingKeys, time: float) -> tuple[list[FloatArray], FloatArray]:
    """Return the same from NEURON, with rates that are exact."""
    ring = neuron_ring.build(keys)
    ring.h.usetable_hh = 0
    potential = ring.potential(0)
    ring.run(time, keys.resolution)
    return [ring.spikes_of(cell) for cell in range(keys.cells)], np.array(potential)[1:]


@pytest.mark.parametrize("dendrites", ["hh", "pas"])
@pytest.mark.parametrize(("rates", "greatest"), [("exact", 1e-8), ("table", 1e-3)])
def test_potentials_and_spikes_are_those_of_neuron(dendrites: str, rates: str, greatest: float) -> None:
    """The same equations, compartments and steps: what differs is rounding, and with tables their bounded error.

    A potential that rises by 500 mV/ms shows an error of 1e-6 in the rates as some 1e-4 mV.
    """
    keys, time = RingKeys(12, 4, 2, dendrites, 0.025), 40.0
    spikes, potential = run(keys, time, rates=rates)
    expected_spikes, expected = run_in_neuron(keys, time)
    assert sum(map(len, expected_spikes)) > keys.cells
    for times, expected_times in zip(spikes, expected_spikes, strict=True):
        np.testing.assert_allclose(times, expected_times, atol=1e-6)
    assert len(expected) >= len(potential)
    assert np.abs(potential - expected[: len(potential)]).max() < greatest


@pytest.mark.parametrize("dendrites", ["hh", "pas"])
def test_potentials_and_spikes_are_near_those_of_arbor(dendrites: str) -> None:
    """Until the second spike of a cell begins: Arbor finds spike times between steps, and sends from there.

    So each of its spikes is up to one step earlier, and along the ring that adds up; the first ones of the cells that
    are stimulated, and of those after them, are one and two spikes away from the stimulus.
    """
    keys = RingKeys(12, 4, 2, dendrites, 0.025)
    spikes, potential = run(keys, 12.0)
    expected_spikes, expected = arbor_ring.run(keys, 12.0)
    for cell, (times, expected_times) in enumerate(zip(spikes, expected_spikes, strict=True)):
        if cell % 4 > 1:
            continue
        assert abs(times[0] - expected_times[0]) < 0.05
    before_second = round(5.0 / keys.resolution)
    assert np.abs(potential - expected[: len(potential)])[:before_second].max() < 0.1


def test_programs_converge_to_each_other() -> None:
    """With half of the step and twice the compartments, spikes of Arbor and of Ranvier are half as far apart."""
    apart = []
    for compartments, resolution in ((1, 0.05), (2, 0.025), (4, 0.0125)):
        keys = RingKeys(12, 3, compartments, "hh", resolution)
        (spikes, _), (expected, _) = run(keys, 20.0), arbor_ring.run(keys, 20.0)
        assert [len(times) for times in spikes] == [len(times) for times in expected]
        apart.append(max(float(np.abs(a - b).max()) for a, b in zip(spikes, expected, strict=True) if len(a)))
    assert apart[1] < 0.7 * apart[0]
    assert apart[2] < 0.7 * apart[1]
