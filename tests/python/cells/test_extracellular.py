"""Potentials outside of cells, against the formula of Holt and Koch and against LFPykit."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import divided_fields
import ranvier as rv
from electrodes import CONTACTS, STEP, cell, fields, network, population, potentials
from mpi_runs import WHEELS, run_python
from ranvier import _core
from ranvier.simulation import multipole_potentials
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
    model = lfpykit.LineSourcePotential(net.populations[0].cell_geometry(), *CONTACTS.T, sigma=0.3)
    # nA to mV.
    sums = recorded["I_m"] @ model.get_transformation_matrix().T * 1e-3
    np.testing.assert_allclose(sim.extracellular(recorder).potentials, sums, rtol=0.0, atol=1e-10 * np.abs(sums).max())


def test_same_bits_on_threads_with_any_placement_and_stepping(tmp_path: Path) -> None:
    whole = potentials()
    for options in ({"threads": 3}, {"threads": 2, "stepping": "async"}, {"tuning": rv.Tuning(shards=4)}):
        np.testing.assert_array_equal(potentials(**options), whole)
    assert np.abs(whole).min(axis=0).max() > 0.0
    nets = []
    for _ in range(2):
        net, recorder, _ = network()
        nets.append((net, recorder, net.record_dipole(net.populations[0], 4 * STEP)))
    cut = rv.Simulation(nets[0][0], threads=2, progress=False)
    cut.run(2.5)
    cut.save(tmp_path / "state.h5")
    net, recorder, dipole = nets[1]
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False)
    loaded.run(3.5)
    again = np.concatenate([loaded.extracellular(recorder).potentials, loaded.dipole(dipole).moments], axis=1)
    np.testing.assert_array_equal(again, whole[:, : len(CONTACTS) + 3])


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 5])
def test_same_bits_on_processes(ranks: int, tmp_path: Path) -> None:
    """Also where some have no cell."""
    done = run_python(WHEELS[0], ranks, SUPPORT / "electrodes.py", folder=tmp_path)
    assert done.status == 0, done.errors
    whole = potentials().tobytes().hex()[-200:]
    expanded = fields().tobytes().hex()[-200:]
    assert [output.split() for output in done.outputs] == [
        [whole] * 4 + [expanded],
        *[[whole] * 2 + [expanded]] * (ranks - 1),
    ]


@pytest.mark.thorough
def test_a_process_has_the_compartments_of_its_part_of_space(tmp_path: Path) -> None:
    """And of what is near it. With local recordings, each has the potentials of its cells instead."""
    ranks = 3
    done = run_python(WHEELS[0], ranks, SUPPORT / "divided_fields.py", str(ranks), folder=tmp_path)
    assert done.status == 0, done.errors
    whole = divided_fields.held_compartments()
    assert whole == 600 * 71
    outputs = [[float(word) for word in output.split()] for output in done.outputs]
    held = [output[0] for output in outputs]
    assert whole <= sum(held)
    assert max(held) < 0.6 * whole
    alone, predicted = divided_fields.coupling_memory(1)
    assert alone <= predicted < 2 * alone
    of_processes = [output[1] for output in outputs]
    assert sum(of_processes) < 1.2 * alone
    assert max(of_processes) <= min(output[2] for output in outputs) < 1.2 * predicted / ranks
    expected = divided_fields.potentials()
    error = np.sum([output[3:] for output in outputs], axis=0) - expected
    assert np.sqrt(np.mean(error**2) / np.mean(expected**2)) < 1e-4


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4, 1e-5])
def test_fast_multipole_method_reaches_its_accuracy(accuracy: float) -> None:
    net, contacts = population()
    by_method = {
        method: net.record_extracellular(contacts, interval=4 * STEP, method=method, accuracy=accuracy)
        for method in ("matrix", "fmm")
    }
    sim = rv.Simulation(net, progress=False)
    sim.run(4.0)
    exact, computed = (sim.extracellular(by_method[method]).potentials for method in ("matrix", "fmm"))
    assert exact.shape == computed.shape == (20, len(contacts))
    errors = np.sqrt(np.mean((computed - exact) ** 2, axis=1) / np.mean(exact**2, axis=1))
    assert 1e-7 < errors.min() <= errors.max() <= accuracy
    assert (sim.extracellular(by_method["fmm"]).contacts == contacts).all()


def test_fast_multipole_method_gives_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any threads, whatever the blocks of samples and the cuts of runs, from saved states, and in files."""
    whole = fields()
    np.testing.assert_array_equal(fields(threads=3, stepping="async"), whole)
    for samples in (19, 8):
        monkeypatch.setattr(multipole_potentials, "samples_at_once", lambda *_, samples=samples: samples)
        np.testing.assert_array_equal(fields(), whole)
    net, contacts = population()
    records = [
        net.record_extracellular(contacts, interval=2 * STEP, method="fmm", accuracy=1e-2, to=to)
        for to in (None, tmp_path / "lfp.h5")
    ]
    cut = rv.Simulation(net, threads=2, progress=False)
    cut.run(0.75)
    cut.save(tmp_path / "state.h5")
    cut.run(0.35)
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False)
    loaded.run(1.25)
    for recorder in records:
        np.testing.assert_array_equal(loaded.extracellular(recorder).potentials, whole)


def test_each_process_of_a_dry_run_computes_its_part() -> None:
    net, contacts = population()
    recorder = net.record_extracellular(contacts, interval=2 * STEP, method="fmm", accuracy=1e-2)
    sim = rv.Simulation(net, progress=False, dry_run=rv.DryRun(ranks=4))
    sim.run(1.0)
    potentials = sim.extracellular(recorder).potentials
    # Where many cells are, a part of the work is that of fewer contacts.
    assert 0.05 < np.mean(potentials != 0.0) < 0.4


@pytest.mark.parametrize("finer", [1, 9])
def test_an_accuracy_is_checked_when_a_simulation_is_built(finer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finer options are taken while it is not reached, and an error names what was."""
    net, contacts = population()
    net.record_extracellular(contacts, method="fmm", accuracy=3e-4)
    asked = []

    def choose(accuracy: float, _sources: int, _targets: int) -> tuple[int, int, str]:
        asked.append(accuracy)
        return 1 if accuracy > 1e-4 else finer, 40, "float32"

    monkeypatch.setattr(_core, "choose_field_options", choose)
    if finer == 1:
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"0.0003.*0\.\d+ was reached at 64 of them.*matrix"):
            rv.Simulation(net, progress=False)
        assert min(asked) == 1e-7
    else:
        rv.Simulation(net, progress=False)
        assert 5e-5 < min(asked) <= 1e-4


def test_few_weights_are_summed_exactly_and_many_are_expanded() -> None:
    net, _ = population()

    def chosen(contacts: int, accuracy: float = 1e-3) -> str:
        return net.record_extracellular(np.full((contacts, 3), 900.0), interval=100.0, accuracy=accuracy).method

    assert [chosen(50_000), chosen(70_000)] == ["matrix", "fmm"], "the matrix up to some 10^8 weights"
    assert chosen(70_000, 1e-6) == "matrix", "expansions of a higher order take longer"


@pytest.mark.parametrize("sigma", [0.0, 1.5, math.inf])
def test_a_plane_reflects_currents(sigma: float) -> None:
    """The potential is that of the cells and of their images with a scaled current."""
    plane = rv.BoundaryPlane((0.0, 0.3, 0.0), (2.0, 0.0, 0.0), sigma=sigma, unit="mm")
    net, contacts = population(beyond=-200.0)
    contacts[:20, 0] = 0.0
    at = [net.record_extracellular(each, method="matrix") for each in (contacts, contacts * [-1.0, 1.0, 1.0])]
    reflected = {
        method: net.record_extracellular(contacts, method=method, boundary=plane, accuracy=1e-4)
        for method in ("matrix", "fmm")
    }
    sim = rv.Simulation(net, progress=False)
    sim.run(0.5)
    direct, mirrored = (sim.extracellular(each).potentials for each in at)
    image = -1.0 if sigma == math.inf else (0.3 - sigma) / (0.3 + sigma)
    values = {method: sim.extracellular(each).potentials for method, each in reflected.items()}
    size = np.abs(direct).max()
    np.testing.assert_allclose(values["matrix"], direct + image * mirrored, rtol=0.0, atol=1e-12 * size)
    errors = values["fmm"] - values["matrix"]
    assert np.sqrt(np.mean(errors**2) / np.mean(values["matrix"] ** 2)) < 1e-4
    if sigma == math.inf:
        assert np.abs(values["matrix"][:, :20]).max() < 1e-12 * size


def test_points_beyond_a_plane_are_refused() -> None:
    net, contacts = population()
    plane = rv.BoundaryPlane((-100.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact \d+ is .* beyond the boundary"):
        net.record_extracellular(contacts, boundary=plane)
    for method in ("matrix", "fmm"):
        net, contacts = population()
        net.record_extracellular(contacts[contacts[:, 0] < -400.0], boundary=plane, method=method)
        moved = rv.BoundaryPlane((-300.0, 0.0, 0.0), (1.0, 0.0, 0.0))
        net.record_extracellular(contacts[contacts[:, 0] < -400.0], boundary=moved, method=method)
        with pytest.raises(
            rv.errors.ValueOutOfBoundsError, match=r"compartment \d+ of cell \d+ .* beyond the boundary"
        ):
            rv.Simulation(net, progress=False)
    for point, normal, sigma, error in (
        ((0.0, 0.0), (1.0, 0.0, 0.0), 0.0, rv.errors.ShapeError),
        (("0", "0", "0"), (1.0, 0.0, 0.0), 0.0, rv.errors.WrongTypeError),
        ((0.0, 0.0, 1e13), (1.0, 0.0, 0.0), 0.0, rv.errors.ValueOutOfBoundsError),
        ((0.0, 0.0, math.nan), (1.0, 0.0, 0.0), 0.0, rv.errors.ValueOutOfBoundsError),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, rv.errors.ValueOutOfBoundsError),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), -1.0, rv.errors.ValueOutOfBoundsError),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), math.nan, rv.errors.ValueOutOfBoundsError),
    ):
        with pytest.raises(error, match="of a plane"):
            rv.BoundaryPlane(point, normal, sigma=sigma)
    with pytest.raises(rv.errors.WrongTypeError, match="BoundaryPlane"):
        net.record_extracellular(contacts, boundary="saline")  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(plane))
    assert (again.point, again.normal, again.sigma) == (plane.point, plane.normal, 0.0)


def test_memory_of_the_fast_multipole_method_is_predicted() -> None:
    net, contacts = population()
    recorder = net.record_extracellular(contacts, method="fmm", accuracy=1e-3, to=None)
    assert "to an accuracy of 0.001" in recorder.description
    predicted = rv.predict_memory(net, time=0.0)["recordings"]
    with pytest.raises(rv.errors.InsufficientMemoryError, match="memory_limit"):
        rv.Simulation(net, progress=False, memory_limit=predicted // 2)
    counted = rv.Simulation(net, progress=False).memory()["recordings"]
    assert counted <= predicted < 4 * counted


def test_memory_of_a_process_is_that_of_its_part() -> None:
    net, contacts = divided_fields.wide_population()
    net.record_extracellular(contacts, interval=100.0, method="fmm", accuracy=0.1, inside="surface")
    predicted, counted = [], []
    for ranks in (1, 8):
        dry_run = rv.DryRun(ranks=ranks) if ranks > 1 else None
        predicted.append(rv.predict_memory(net, ranks=ranks, time=0.0)["recordings"])
        counted.append(rv.Simulation(net, progress=False, dry_run=dry_run).memory()["recordings"])
        assert counted[-1] <= predicted[-1] < 4 * counted[-1]
    # A process of a dry run has room for the potentials at all contacts.
    assert counted[1] < 0.7 * counted[0]
    assert predicted[1] < 0.6 * predicted[0]


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_files_have_the_contacts(suffix: str, tmp_path: Path) -> None:
    net, recorder, _ = network(to=tmp_path / f"lfp{suffix}")
    on_grid = net.record_extracellular(GRID, cells=net.populations[0], to=tmp_path / f"grid{suffix}")
    sim = rv.Simulation(net, progress=False)
    sim.run(2.0)
    read = rv.read_state(tmp_path / f"lfp{suffix}")
    assert isinstance(read, rv.ExtracellularData)
    np.testing.assert_array_equal(read.contacts, CONTACTS)
    np.testing.assert_array_equal(read.potentials, sim.extracellular(recorder).potentials)
    assert recorder.description == "V_e at 10 contacts of 3 cells of cells every 0.2 ms"
    whole, again = sim.extracellular(on_grid), rv.read_state(tmp_path / f"grid{suffix}")
    assert isinstance(again, rv.ExtracellularData)
    assert (again.grid_shape, again.sigma, again.contact_names) == (whole.grid_shape, 0.3, None)
    np.testing.assert_array_equal(again.contacts, whole.contacts)


GRID = rv.grid((3, 1, 4), spacing=(50.0, 1.0, 40.0), center=(400.0, 7.0, 20.0), unit="um")


def recorded_at(contacts: Any, **keys: Any) -> rv.ExtracellularData:
    """Return potentials at contacts after a step."""
    net, _, _ = network()
    recorder = net.record_extracellular(contacts, STEP, cells=net.populations[0], **keys)
    sim = rv.Simulation(net, progress=False)
    sim.run(2 * STEP)
    return sim.extracellular(recorder)


def test_grids_keep_their_shape() -> None:
    data = recorded_at(GRID)
    assert data.grid_shape == (3, 1, 4)
    assert data.on_grid.shape == (2, 3, 1, 4)
    # The last index is the fastest: along z.
    np.testing.assert_allclose(data.contacts[:5, 2], [-40.0, 0.0, 40.0, 80.0, -40.0])
    np.testing.assert_allclose(data.contacts[[0, 4, 8], 0], [350.0, 400.0, 450.0])
    np.testing.assert_array_equal(data.contacts[:, 1], 7.0)
    array = recorded_at(data.contacts.reshape(3, 4, 3) / 1000.0, unit="mm")
    assert array.on_grid.shape == (2, 3, 4)
    np.testing.assert_allclose(array.on_grid, data.on_grid[:, :, 0], rtol=1e-10)
    some = data.at_contacts([5, 2])
    np.testing.assert_array_equal(some.potentials, data.potentials[:, [5, 2]])
    np.testing.assert_array_equal(some.ids, [5, 2])
    with pytest.raises(rv.errors.StateError, match="not on a grid"):
        _ = some.on_grid
    with pytest.raises(rv.errors.IndexOutOfBoundsError, match="12 contacts"):
        data.at_contacts([12])
    with pytest.raises(rv.errors.ShapeError):
        data.at_contacts(np.zeros(11, dtype=bool))


def test_contacts_have_the_unit_of_the_cells() -> None:
    net = rv.Network()
    cells = net.create(cell(), positions=[[0.0, 0.0, 0.0]])
    for given, unit in (([0.1, 0.0, 0.3], None), ([0.1, 0.0, 0.3], "mm"), ([100.0, 0.0, 300.0], "um")):
        recorder = net.record_extracellular(given, cells=cells, unit=unit)
        np.testing.assert_allclose(recorder.contacts, [[100.0, 0.0, 300.0]])


def test_a_laminar_probe_goes_down_from_its_top() -> None:
    probe = rv.laminar_probe(3, 0.1, x=0.5, top=-0.05, unit="mm")
    data = recorded_at(probe)
    np.testing.assert_allclose(data.contacts, [[500.0, 0.0, z] for z in (-50.0, -150.0, -250.0)])
    for wrong in (0.0, math.nan, math.inf):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="spacing"):
            rv.laminar_probe(3, wrong)


def test_probes_of_probeinterface() -> None:
    probeinterface = pytest.importorskip("probeinterface")
    flat = probeinterface.Probe(ndim=2, si_units="mm")
    flat.set_contacts([[0.3, 0.1], [0.3, 0.2], [0.4, 0.1]])
    probe = flat.to_3d(axes="xz")
    probe.set_contact_ids(["a", "b", "c"])
    probe.set_shank_ids(["left", "left", "right"])
    data = recorded_at(probe)
    np.testing.assert_allclose(data.contacts, [[300.0, 0.0, 100.0], [300.0, 0.0, 200.0], [400.0, 0.0, 100.0]])
    assert data.contact_names == ("a", "b", "c")
    assert data.shanks == ("left", "left", "right")
    signal = data.to_neo().analogsignals[0]
    assert list(signal.array_annotations["channel_names"]) == ["a", "b", "c"]
    assert list(signal.array_annotations["shank"]) == ["left", "left", "right"]
    np.testing.assert_allclose(signal.array_annotations["z_um"], [100.0, 200.0, 100.0])
    assert "neuron" not in signal.array_annotations
    group = probeinterface.ProbeGroup()
    group.add_probe(probe)
    line = probeinterface.generate_linear_probe(2, 20.0).to_3d(axes="yz")
    line.move([-200.0, 0.0, 0.0])
    group.add_probe(line)
    both = recorded_at(group, sigma=0.5)
    np.testing.assert_allclose(both.contacts[2:], [[400.0, 0.0, 100.0], [-200.0, 0.0, 0.0], [-200.0, 0.0, 20.0]])
    assert both.contact_names == ("0:a", "0:b", "0:c", "1:0", "1:1")
    assert both.shanks == ("0:left", "0:left", "0:right", "1", "1")
    assert both.at_contacts(slice(1, 4)).contact_names == ("0:b", "0:c", "1:0")
    with pytest.raises(rv.errors.ShapeError, match=r"2 dimensions.*to_3d"):
        recorded_at(flat)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="its own unit"):
        recorded_at(probe, unit="mm")


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
    with pytest.warns(rv.errors.LargeRecordingWarning, match="1000000 contacts of 3 cells"):
        net.record_extracellular(np.full((1_000_000, 3), 500.0), cells=cells)


@pytest.mark.thorough
def test_ten_million_contacts_are_refused_before_anything_is_built() -> None:
    cases: tuple[tuple[Any, int], ...] = (("matrix", 10**10), ("fmm", 10**9))
    for method, least in cases:
        net, _ = population()
        with pytest.warns(rv.errors.LargeRecordingWarning, match="10000000 contacts of 30 cells"):
            net.record_extracellular(np.full((10_000_000, 3), 900.0), method=method)
        assert least < rv.predict_memory(net, time=0.0)["recordings"] < 20 * least
        with pytest.raises(rv.errors.InsufficientMemoryError, match="memory_limit"):
            rv.Simulation(net, progress=False, memory_limit=10**9)


def test_bad_input() -> None:
    net, _, _ = network()
    cells = net.populations[0]

    def record(contacts: Any = CONTACTS, **keys: Any) -> rv.ExtracellularRecorder:
        return net.record_extracellular(contacts, **{"cells": cells, **keys})

    with pytest.raises(rv.errors.ShapeError, match="contacts"):
        record([[0.0, 1.0]])
    with pytest.raises(rv.errors.WrongTypeError, match="contacts"):
        record([["0.0", "1.0", "2.0"]])
    with pytest.raises(rv.errors.ShapeError, match="grid with one layer"):
        record(rv.grid((3, 4)))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="not periodic"):
        record(rv.grid((3, 4, 2), periodic=True))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="random positions"):
        record(rv.random_positions(5, extent=(1.0, 1.0, 1.0)))
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
    with pytest.raises(rv.errors.UnknownNameError, match="method"):
        record(method="multipole")
    for accuracy in (0.5, 1e-8, math.nan):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"accuracy.*from 1e-07 to 0.1"):
            record(method="fmm", accuracy=accuracy)
    with pytest.raises(rv.errors.StateError, match="no detailed cells with positions"):
        rv.Network().record_extracellular(CONTACTS)
    methods: tuple[Any, ...] = ("matrix", "fmm")
    for method in methods:
        within = rv.Network()
        within.create(cell(), positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"))
        within.record_extracellular([*CONTACTS.tolist(), [0.0, 5.0, 3.0]], method=method)
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 10.*within compartment 0 of cell"):
            rv.Simulation(within, progress=False)
    record([[0.0, 5.0, 3.0]])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 0.*within compartment 0 of cell"):
        rv.Simulation(net, progress=False)
    with pytest.raises(rv.errors.UnknownNameError, match="inside"):
        record(inside="centre")


def test_contacts_within_a_cell_may_have_the_potential_at_its_surface() -> None:
    """The soma has a radius of 10 um. The formula has the distance from the axis, but at least the radius."""
    net = rv.Network(resolution=STEP)
    cells = net.create(cell(), positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"), I_e=200.0)
    contact = np.array([1.0, 5.0, 3.0])
    recorder = net.record_extracellular(contact, STEP, cells=cells, inside="surface")
    currents = net.record_compartments(cells, interval=STEP)
    sim = rv.Simulation(net, progress=False)
    sim.run(1.0)
    wanted = sim.state(currents)["I_m"] @ holt_and_koch(cells.compartment_lines(), contact) * 1e-3
    np.testing.assert_allclose(sim.extracellular(recorder).potentials[:, 0], wanted / (4.0 * math.pi * 0.3), rtol=1e-9)
