"""Potentials outside of cells, against the formula of Holt and Koch and against LFPykit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from electrodes import CONTACTS, cell, network, potentials
from mpi_runs import WHEELS, run_python
from repository import SUPPORT

FloatArray = npt.NDArray[np.float64]


def holt_and_koch(lines: Any, contact: FloatArray) -> FloatArray:
    """Return the potential at a contact of unit currents of lines, 1/um, as the publication writes it."""
    values = []
    for begin, end, diameter in zip(lines.begin, lines.end, lines.diameter, strict=True):
        length = np.linalg.norm(end - begin)
        along = (end - begin) / length
        h = np.dot(contact - end, along)
        r = max(math.sqrt(max(np.dot(contact - end, contact - end) - h * h, 0.0)), 0.5 * diameter)
        s = h + length
        if h < 0.0 < s:
            ratio = (math.sqrt(h * h + r * r) - h) * (math.sqrt(s * s + r * r) + s) / r**2
        elif s <= 0.0:
            ratio = (math.sqrt(h * h + r * r) - h) / (math.sqrt(s * s + r * r) - s)
        else:
            ratio = (math.sqrt(s * s + r * r) + s) / (math.sqrt(h * h + r * r) + h)
        values.append(math.log(ratio) / length)
    return np.array(values)


def expected(net: rv.Network, currents: rv.CompartmentData) -> FloatArray:
    """Return the potentials of recorded membrane currents, mV."""
    cells = net.populations[0]
    sums = np.zeros((len(currents), len(CONTACTS)))
    for i in range(len(cells)):
        lines = cells.compartment_lines(i)
        weights = np.array([holt_and_koch(lines, contact) for contact in CONTACTS])
        sums += currents.of_cell(cells.first_id + i, "I_m") @ weights.T * 1e-3 / (4.0 * math.pi * 0.3)
    return sums


def test_potentials_are_those_of_line_sources() -> None:
    net, recorder, currents = network()
    sim = rv.Simulation(net, progress=False)
    sim.run(20.0)
    data, recorded = sim.extracellular(recorder), sim.state(currents)
    assert isinstance(recorded, rv.CompartmentData)
    assert data.potentials.shape == (100, len(CONTACTS))
    wanted = expected(net, recorded)
    assert np.abs(wanted).max() > 1e-3, "some uV"
    np.testing.assert_allclose(data.potentials, wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max())


def test_lfpykit_computes_the_same() -> None:
    lfpykit = pytest.importorskip("lfpykit")
    net, recorder, currents = network()
    sim = rv.Simulation(net, progress=False)
    sim.run(5.0)
    recorded = sim.state(currents)
    assert isinstance(recorded, rv.CompartmentData)
    cells = net.populations[0]
    sums = np.zeros((len(recorded), len(CONTACTS)))
    for i in range(len(cells)):
        lines = cells.compartment_lines(i)
        ends = [np.stack([lines.begin[:, axis], lines.end[:, axis]], axis=1) for axis in range(3)]
        geometry = lfpykit.CellGeometry(*ends, d=lines.diameter)
        model = lfpykit.LineSourcePotential(geometry, *CONTACTS.T, sigma=0.3)
        # nA to mV.
        sums += recorded.of_cell(cells.first_id + i, "I_m") @ model.get_transformation_matrix().T * 1e-3
    np.testing.assert_allclose(sim.extracellular(recorder).potentials, sums, rtol=0.0, atol=1e-10 * np.abs(sums).max())


def test_same_bits_on_threads_with_any_placement_and_stepping(tmp_path: Path) -> None:
    whole = potentials()
    for options in ({"threads": 3}, {"threads": 2, "stepping": "async"}, {"tuning": rv.Tuning(shards=4)}):
        np.testing.assert_array_equal(potentials(**options), whole)
    net, _, _ = network()
    cut = rv.Simulation(net, threads=2, progress=False)
    cut.run(2.5)
    cut.save(tmp_path / "state.h5")
    net, recorder, _ = network()
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False)
    loaded.run(3.5)
    np.testing.assert_array_equal(loaded.extracellular(recorder).potentials, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 5])
def test_same_bits_on_processes(ranks: int, tmp_path: Path) -> None:
    """Also where some have no cell."""
    done = run_python(WHEELS[0], ranks, SUPPORT / "electrodes.py", folder=tmp_path)
    assert done.status == 0, done.errors
    whole = potentials().tobytes().hex()[-200:]
    assert [output.split() for output in done.outputs] == [[whole] * 4, *[[whole] * 2] * (ranks - 1)]


def test_files_have_the_contacts(tmp_path: Path) -> None:
    net, recorder, _ = network(to=tmp_path / "lfp.h5")
    sim = rv.Simulation(net, progress=False)
    sim.run(2.0)
    read = rv.read_state(tmp_path / "lfp.h5")
    assert isinstance(read, rv.ExtracellularData)
    np.testing.assert_array_equal(read.contacts, CONTACTS)
    np.testing.assert_array_equal(read.potentials, sim.extracellular(recorder).potentials)
    assert recorder.description == "V_e at 10 contacts of 3 cells of cells every 0.2 ms"


def test_weights_are_in_the_account_and_the_prediction() -> None:
    net, _, _ = network()
    cells = net.populations[0]
    net.record_extracellular(np.full((2000, 3), 500.0), cells=cells)
    weights = 8 * len(cells) * len(cells.compartment_lines()) * 2000
    sim = rv.Simulation(net, progress=False)
    predicted = rv.predict_memory(net, time=0.0)["recordings"]
    assert weights <= predicted == pytest.approx(sim.memory()["recordings"], rel=0.01)
    with pytest.raises(rv.errors.InsufficientMemoryError, match="memory_limit"):
        rv.Simulation(net, progress=False, memory_limit=weights // 2)
    with pytest.warns(rv.errors.LargeRecordingWarning, match="10000000 contacts of 3 cells"):
        net.record_extracellular(np.full((10_000_000, 3), 500.0), cells=cells)


def test_bad_input() -> None:
    net, _, _ = network()
    cells = net.populations[0]

    def record(contacts: Any = CONTACTS, **keys: Any) -> rv.ExtracellularRecorder:
        return net.record_extracellular(contacts, **{"cells": cells, **keys})

    with pytest.raises(rv.errors.ShapeError, match="contacts"):
        record([[0.0, 1.0]])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 1.*finite"):
        record([[0.0, 1.0, 2.0], [0.0, math.nan, 2.0]])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 0.*at most 1e\+12 um"):
        record([[0.0, 1.0, 1e13]])
    for sigma in (0.0, -0.3, math.inf):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="sigma"):
            record(sigma=sigma)
    with pytest.raises(rv.errors.ShapeError, match="at least one cell"):
        record(cells=cells[:0])
    with pytest.raises(rv.errors.StateError, match="positions"):
        record(cells=net.create(cell(), 2))
    record([[0.0, 5.0, 3.0]])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 0.*within compartment 0 of cell"):
        rv.Simulation(net, progress=False)
