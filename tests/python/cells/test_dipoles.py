"""Current dipole moments of cells, against LFPykit and the field far away."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from electrodes import STEP, cell, network

# Far away from the cells, um.
DISTANCES = np.array([5e4, 1e5])
DIRECTION = np.array([0.36, 0.48, 0.8])


def neutral() -> tuple[rv.Network, rv.Population]:
    """Return a network of cells without injected currents."""
    net = rv.Network(resolution=STEP, seed=3)
    places = rv.positions([[0.0, 0.0, 0.0], [120.0, 20.0, -40.0], [-60.0, 10.0, 90.0]], unit="um")
    cells = net.create(cell(), positions=places, rotation=rv.random_rotation("y"), name="cells")
    net.stimulate(cells, "poisson_generator", rate=2000.0, weight=4.0, delay=0.5)
    return net, cells


def test_moments_are_those_of_lfpykit() -> None:
    lfpykit = pytest.importorskip("lfpykit")
    net, _, currents = network()
    cells = net.populations[0]
    sum_of_all, of_each = (net.record_dipole(cells, 4 * STEP, per_cell=per_cell) for per_cell in (False, True))
    sim = rv.Simulation(net, progress=False)
    sim.run(5.0)
    recorded, data, each = sim.state(currents), sim.dipole(sum_of_all), sim.dipole(of_each)
    assert isinstance(recorded, rv.CompartmentData)
    for i, one in enumerate(cells):
        matrix = lfpykit.CurrentDipoleMoment(one.cell_geometry()).get_transformation_matrix()
        wanted = recorded.of_cell(one.first_id, "I_m") @ matrix.T * 1e-3
        assert np.abs(wanted).max() > 1.0, "some nA um"
        np.testing.assert_allclose(each.of(cells[i : i + 1]), wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max())
    matrix = lfpykit.CurrentDipoleMoment(cells.cell_geometry()).get_transformation_matrix()
    wanted = recorded["I_m"] @ matrix.T * 1e-3
    np.testing.assert_allclose(data.moments, wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(each.moments, wanted, rtol=0.0, atol=1e-10 * np.abs(wanted).max())
    assert data.values.shape == (25, 3, 1)
    assert each.values.shape == (25, 3, 3)
    np.testing.assert_array_equal(each.of(cells[1:]), each.values[:, :, 1:].sum(axis=2))


def test_the_far_field_is_that_of_the_dipole() -> None:
    """The error of the dipole is that of the quadrupole, which falls as the size of the cells over the distance."""
    net, cells = neutral()
    lfp = net.record_extracellular(DISTANCES[:, None] * DIRECTION, STEP, cells=cells, sigma=0.3, unit="um")
    recorder = net.record_dipole(cells, STEP)
    sim = rv.Simulation(net, progress=False)
    sim.run(5.0)
    # nA um / (S/m um^2) is 1e-3 V.
    along = sim.dipole(recorder).moments @ DIRECTION
    wanted = along[:, None] / (4.0 * math.pi * 0.3 * DISTANCES**2)
    found = sim.extracellular(lfp).potentials
    errors = np.abs(found - wanted).max(axis=0) / np.abs(wanted).max(axis=0)
    assert errors[0] < 300.0 / DISTANCES[0]
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)


def test_lfpykit_computes_the_eeg_of_moments() -> None:
    pytest.importorskip("lfpykit")
    from lfpykit.eegmegcalc import FourSphereVolumeConductor, InfiniteVolumeConductor

    net, cells = neutral()
    recorder = net.record_dipole(cells, STEP)
    sim = rv.Simulation(net, progress=False)
    sim.run(5.0)
    moments = sim.dipole(recorder).moments.T
    at = np.array([[0.0, 0.0, 90000.0], [0.0, 30000.0, 80000.0]])
    location = np.array([0.0, 0.0, 78000.0])
    same = [0.3, 0.3, 0.3, 0.3]
    # In a sphere of one conductivity, the potential at the surface is larger than in an infinite medium.
    sphere = FourSphereVolumeConductor(at, radii=[79000.0, 80000.0, 85000.0, 90000.0], sigmas=same)
    eeg = sphere.get_transformation_matrix(location) @ moments
    infinite = InfiniteVolumeConductor(0.3).get_transformation_matrix(at - location) @ moments
    assert eeg.shape == (2, 100)
    assert np.abs(eeg).max() > 0.0
    ratio = (eeg[0] @ infinite[0]) / (infinite[0] @ infinite[0])
    assert 1.5 < ratio < 3.5


def test_files_have_the_moments(tmp_path: Path) -> None:
    net, cells = neutral()
    recorders = [
        net.record_dipole(cells, 0.5, per_cell=per_cell, to=tmp_path / name)
        for per_cell, name in ((False, "sum.h5"), (True, "each.csv"))
    ]
    sim = rv.Simulation(net, progress=False)
    sim.run(2.0)
    for recorder in recorders:
        assert recorder.to is not None
        read, data = rv.read_state(recorder.to), sim.dipole(recorder)
        assert isinstance(read, rv.DipoleData)
        assert read.per_cell == data.per_cell == recorder.per_cell
        np.testing.assert_array_equal(read.values, data.values)
        np.testing.assert_array_equal(read.ids, data.ids)
    assert recorders[0].description == "dipole moment of 3 cells of cells every 0.5 ms"
    assert "each of 3 cells" in repr(recorders[1])
    assert str(sim.dipole(recorders[1]).to_neo().analogsignals[0].units.dimensionality) == "um*nA"


def test_weights_of_moments_are_in_the_prediction() -> None:
    net, cells = neutral()
    for per_cell in (False, True):
        net.record_dipole(cells, per_cell=per_cell)
    count = len(cells) * len(cells.compartment_lines())
    predicted = rv.predict_memory(net, time=0.0)["recordings"]
    assert predicted == pytest.approx(8 * count * (3 + 4), rel=0.1)


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    net, cells = neutral()
    with pytest.raises(rv.errors.StateError, match="no positions"):
        net.record_dipole(net.create(cell(), 2))
    with pytest.raises(rv.errors.ShapeError, match="at least one cell"):
        net.record_dipole(cells[:0])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="no compartments"):
        net.record_dipole(net.create("iaf_psc_exp", positions=np.zeros((2, 3)), name="points"))
    recorders = [net.record_dipole(cells[:2], STEP, per_cell=per_cell) for per_cell in (False, True)]
    sim = rv.Simulation(net, progress=False)
    sim.run(2 * STEP)
    with pytest.raises(rv.errors.StateError, match="per_cell=True"):
        sim.dipole(recorders[0]).of(cells[:1])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="cell is 2"):
        sim.dipole(recorders[1]).of(cells[1:])
    with pytest.raises(rv.errors.ShapeError, match="at least one"):
        cells[:0].cell_geometry()
    monkeypatch.setitem(sys.modules, "lfpykit", None)
    with pytest.raises(rv.errors.MissingPackageError, match=r"ranvier\[lfpykit\]"):
        cells.cell_geometry()
