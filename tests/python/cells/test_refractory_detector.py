"""The refractory time of the detector of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError

STEP, TIME = 0.025, 60.0
SOMA = rv.Morphology([rv.Section(length=12.6157, diameter=12.6157)])


def make_cell(t_ref: float = 0.0, **keys: Any) -> rv.Cell:
    """Return a cell that fires every few milliseconds when a strong current flows into it."""
    return rv.Cell(SOMA, membrane=[("all", rv.hh())], receptors={"exc": (rv.expsyn(), rv.at(0))}, t_ref=t_ref, **keys)


def firing(t_ref: float, cells: int = 3) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return cells that fire at intervals of about 9 to 13 ms, not connected with each other."""
    net = rv.Network(resolution=STEP)
    population = net.create(make_cell(t_ref), cells, I_e=rv.Uniform(60.0, 150.0))
    net.record_state(population, ["V_m"], interval=STEP)
    return net, net.record_spikes(population)


def steps_by_cell(net: rv.Network, recorder: rv.SpikeRecorder, **options: Any) -> dict[int, list[int]]:
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(TIME)
    spikes = sim.spikes(recorder)
    found: dict[int, list[int]] = {}
    for time, neuron in zip(spikes.times, spikes.ids, strict=True):
        found.setdefault(int(neuron), []).append(round(float(time) / STEP))
    return found


@pytest.mark.parametrize("t_ref", [0.0, 0.01, 5.0, 14.0, 20.01, 30.0])
def test_crossings_after_a_spike_are_no_spikes(t_ref: float) -> None:
    """Of the crossings without a refractory time, those that are at least this time after the last spike remain."""
    crossings = steps_by_cell(*firing(0.0))
    assert min(len(each) for each in crossings.values()) >= 4
    least = int(np.ceil(t_ref / STEP - 1e-6))
    expected: dict[int, list[int]] = {}
    for cell, steps in crossings.items():
        kept = expected.setdefault(cell, [])
        for step in steps:
            if not kept or step >= kept[-1] + least:
                kept.append(step)
    assert steps_by_cell(*firing(t_ref)) == expected
    assert (expected != crossings) == (t_ref >= 14.0)


def test_the_membrane_does_not_change() -> None:
    values = []
    for t_ref in (0.0, 30.0):
        net, _ = firing(t_ref)
        sim = rv.Simulation(net, progress=False)
        sim.run(TIME)
        values.append(sim.state(net.recorders[0]).values)  # type: ignore[arg-type]
    assert np.array_equal(values[0], values[1])


def ring(t_ref: float, cells: int = 10) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return cells that excite each other, driven at random."""
    net = rv.Network(resolution=STEP, seed=7)
    population = net.create(make_cell(t_ref), cells)
    net.connect(population, population, rv.FixedIndegree(3), weight=1.0, delay=rv.Uniform(0.1, 3.0))
    net.stimulate(population, rv.poisson_generator(rate=80.0), weight=12.0)
    return net, net.record_spikes(population)


def test_shards_advance_further_while_their_cells_are_refractory() -> None:
    """With the same spikes as in epochs."""
    steps = []
    for t_ref in (0.0, 8.0):
        digests = []
        for options in (
            {},
            {"threads": 3},
            {"stepping": "async", "tuning": rv.Tuning(shards=10)},
            {"stepping": "async", "tuning": rv.Tuning(shards=10), "threads": 2},
        ):
            net, recorder = ring(t_ref)
            sim = rv.Simulation(net, progress=False, **options)
            sim.run(200.0)
            digests.append(sim.spikes(recorder).digest())
            if options == {"stepping": "async", "tuning": rv.Tuning(shards=10)}:
                assert len(sim.spikes(recorder)) > 50
                counts = np.array(sim.visits)
                steps.append(float(counts @ np.arange(len(counts)) / counts[1:].sum()))
        assert len(set(digests)) == 1
    assert steps[1] > 1.02 * steps[0]


def test_a_saved_cell_stays_refractory(tmp_path: Path) -> None:
    expected = steps_by_cell(*firing(20.01))
    half = 0.4 * TIME
    net, recorder = firing(20.01)
    sim = rv.Simulation(net, progress=False)
    sim.run(half)
    sim.save(tmp_path / "state.h5")
    net, recorder = firing(20.01)
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False, threads=2)
    loaded.run(TIME - half)
    spikes = loaded.spikes(recorder)
    later = {(int(neuron), round(float(time) / STEP)) for time, neuron in zip(spikes.times, spikes.ids, strict=True)}
    assert {each for each in later if each[1] > half / STEP} == {
        (cell, step) for cell, steps in expected.items() for step in steps if step > half / STEP
    }
    other, _ = firing(5.0)
    with pytest.raises(rv.errors.RanvierError, match="population"):
        rv.Simulation.load(other, tmp_path / "state.h5", progress=False)


def test_bad_values_are_refused() -> None:
    for value in (-1.0, float("nan"), 1e7):
        with pytest.raises(ValueOutOfBoundsError, match="t_ref"):
            make_cell(value)
    with pytest.raises(WrongTypeError, match="t_ref"):
        make_cell("2 ms")  # type: ignore[arg-type]
    with pytest.raises(ValueOutOfBoundsError, match="t_ref of cell 1 of a population"):
        rv.Network(resolution=STEP).create([make_cell(2.0), make_cell(3.0)])
    net = rv.Network(resolution=1e-4)
    net.create(make_cell(1e6), 1)
    with pytest.raises(ValueOutOfBoundsError, match="t_ref"):
        rv.Simulation(net, progress=False)
