"""Potentials outside that act on cells, against cable theory; coupled cells, against potentials of their currents."""

from __future__ import annotations

import itertools
import math
import os
import pickle
import signal
import threading
from pathlib import Path
from time import process_time
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pytest

import coupled_cells
import ranvier as rv
from electrodes import cell
from mpi_runs import WHEELS, run_python
from ranvier import _core
from ranvier.simulation import building
from ranvier.simulation.field_setup import set_fields
from repository import SUPPORT

FloatArray = npt.NDArray[np.float64]

LENGTH, DIAMETER, RESISTIVITY, LEAK = 1000.0, 2.0, 100.0, 1e-4
LAMBDA = 1e4 * math.sqrt(1e-4 * DIAMETER / (4.0 * LEAK * RESISTIVITY))
ALONG_Z = rv.uniform_field((0.0, 0.0, 1.0))


def cable(compartments: int = 20, **keys: Any) -> rv.Cell:
    """Return a passive cable along z, 1.4 length constants long."""
    points = [(0.0, 0.0, -LENGTH / 2, DIAMETER), (0.0, 0.0, LENGTH / 2, DIAMETER)]
    given = {"C_m": 1.0, "R_a": RESISTIVITY, "membrane": [("all", rv.pas(g=LEAK, e=0.0))], "V_init": 0.0}
    return rv.Cell(rv.Morphology([rv.Section(points=points)]), compartments=[compartments], **{**given, **keys})


def courses(
    field: Any, time: float, step: float = 1.0, count: int = 20, variables: Any = "V_m", **keys: Any
) -> tuple[FloatArray, FloatArray]:
    """Return where the compartments of a cable are, um, and what they have in a field, by time and compartment."""
    net = rv.Network(resolution=step)
    cells = net.create(cable(count, **keys), 1, positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"))
    net.apply_field(cells, field)
    recorder = net.record_compartments(cells, variables)
    sim = rv.Simulation(net, progress=False)
    sim.run(time)
    lines = cells.compartment_lines()
    return 0.5 * (lines.begin + lines.end)[:, 2], sim.state(recorder).values[:, 0]


def test_a_uniform_field_polarises_a_cable() -> None:
    """V = E lambda sinh(x / lambda) / cosh(L / 2 lambda); compartments of length h have an error of order h^2."""
    errors = []
    for count in (10, 20, 40):
        z, potentials = courses(ALONG_Z, 300.0, count=count)
        exact = 1e-3 * LAMBDA * np.sinh(z / LAMBDA) / math.cosh(LENGTH / 2 / LAMBDA)
        errors.append(np.abs(potentials[-1] - exact).max())
    assert errors[0] < 1e-3 * np.abs(exact).max()
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_alternating_fields_polarise_less() -> None:
    """At the end, E |lambda' tanh(L / 2 lambda')| with lambda' = lambda / sqrt(1 + i omega tau)."""
    amplitudes = []
    for frequency in (5.0, 50.0, 200.0):
        period = 1000.0 / frequency
        end = 60.0 + 2.0 * period
        z, potentials = courses(
            rv.uniform_field((0.0, 0.0, 1.0), rv.sine_wave(frequency)), end, period / 200, scheme="staggered"
        )
        amplitudes.append(potentials[-200:, -1].max())
        complex_lambda = LAMBDA / np.sqrt(1.0 + 2j * math.pi * frequency * 1e-3 * 1e-3 / LEAK)
        exact = abs(1e-3 * complex_lambda * np.sinh(z[-1] / complex_lambda) / np.cosh(LENGTH / 2 / complex_lambda))
        assert amplitudes[-1] == pytest.approx(exact, rel=3e-3)
    assert amplitudes[0] > amplitudes[1] > 1.5 * amplitudes[2]


def test_membrane_currents_contain_those_of_the_field() -> None:
    """In the steady state they are those of the leak; their sum over the cell stays 0."""
    _, currents = courses(ALONG_Z, 300.0, variables="I_m")
    _, potentials = courses(ALONG_Z, 300.0)
    area = math.pi * DIAMETER * LENGTH / 20
    np.testing.assert_allclose(currents[-1], 10.0 * LEAK * area * potentials[-1], rtol=0.0, atol=1e-9)
    assert np.abs(currents.sum(axis=1)).max() < 1e-9 * np.abs(currents).max()


def test_the_same_potentials_in_any_form(tmp_path: Path) -> None:
    wave = rv.pulse_train(3.0, 2.0, 5.0, start=1.0, count=2)
    z, expected = courses(rv.uniform_field((0.0, 0.0, 1.0), wave), 12.0)
    # The middles of steps, and both ends.
    times = [0.0, *np.arange(0.5, 12.0), 12.0]
    on = np.array([1.0 <= t < 3.0 or 6.0 <= t < 8.0 for t in times])
    axis = np.array([-600.0, 50.0, 600.0])
    grid = np.zeros((14, 1, 2, 3)) - 3e-3 * on[:, np.newaxis, np.newaxis, np.newaxis] * axis
    with h5py.File(tmp_path / "field.h5", "w") as file:
        for name, values in (("times", times), ("x", [0.0]), ("y", [-1.0, 1.0]), ("z", axis)):
            file[name] = values
        file["potentials"] = grid
    forms = {
        "function": rv.given_field(lambda points: -1e-3 * points[:, 2], wave),
        "array": rv.given_field(-1e-3 * z, wave),
        "samples": rv.sampled_field(times, -3e-3 * np.outer(on, z)),
        "file": rv.read_field(tmp_path / "field.h5"),
        "two": [rv.uniform_field((0.0, 0.0, 0.5), wave), rv.uniform_field((7.0, 0.0, 0.5), wave)],
        "points": rv.uniform_field((0.0, 0.0, 3.0), rv.waveform(times, on.astype(float))),
    }
    assert np.abs(expected).max() > 0.1
    for name, field in forms.items():
        np.testing.assert_allclose(courses(field, 12.0)[1], expected, rtol=0.0, atol=1e-12, err_msg=name)


def test_samples_are_interpolated_in_time() -> None:
    """Between times that are not the middles of steps, as by NumPy."""
    times, factors = [0.0, 5.2, 12.0], [0.0, 1.0, -0.5]
    z, _ = courses(ALONG_Z, 1.0)
    middles = np.arange(0.5, 12.0)
    fine = np.concatenate([[0.0], np.interp(middles, times, factors), [-0.5]])
    expected = courses(rv.sampled_field([0.0, *middles, 12.0], np.outer(fine, z)), 12.0)[1]
    assert np.abs(expected).max() > 1.0
    for field in (
        rv.sampled_field(times, np.outer(factors, z)),
        rv.given_field(z, rv.waveform(times, factors)),
    ):
        np.testing.assert_allclose(courses(field, 12.0)[1], expected, rtol=0.0, atol=1e-9)


def test_fields_with_courses_are_added() -> None:
    """The cable is linear, so it has the sum of what it has in each field."""
    fields = [
        rv.uniform_field((0.0, 0.0, 3.0), rv.pulse_train(1.0, 2.0, 5.0, start=1.0)),
        rv.point_source((50.0, 0.0, 100.0), rv.sine_wave(60.0, 2.0)),
        rv.given_field(lambda points: 1e-5 * points[:, 2] ** 2, rv.waveform([0.0, 20.0], [0.0, 1.0])),
    ]
    each = [courses(field, 12.0)[1] for field in fields]
    assert min(np.abs(potentials).max() for potentials in each) > 0.1
    np.testing.assert_allclose(courses(fields, 12.0)[1], sum(each), rtol=0.0, atol=1e-9)


def test_each_cell_has_its_potentials_of_an_array() -> None:
    """Cells of several populations, in the order of their ids."""
    net = rv.Network(resolution=1.0)
    first = net.create(cable(4), positions=rv.positions([[0.0, 0.0, 0.0]], unit="um"))
    others = net.create(cable(3), positions=rv.positions([[90.0 * i, 0.0, 0.0] for i in range(1, 4)], unit="um"))
    net.apply_field([others[1:], first], rv.given_field([0.0, 1.0, 2.0, 4.0, 0.0, 0.0, 0.0, 3.0, 0.0, -3.0]))
    recorders = [net.record_compartments(cells, interval=20.0) for cells in (first, others)]
    sim = rv.Simulation(net, progress=False)
    sim.run(20.0)
    four, three = (sim.state(recorder) for recorder in recorders)
    assert isinstance(three, rv.CompartmentData)
    assert isinstance(four, rv.CompartmentData)
    found = [four.of_cell(first.first_id, "I_m")[-1], *(three.of_cell(cell, "I_m")[-1] for cell in others.ids.tolist())]
    for values, potentials in zip(found, ([0.0, 1.0, 2.0, 4.0], [0.0] * 3, [0.0] * 3, [3.0, 0.0, -3.0]), strict=True):
        alone = courses(rv.given_field(potentials), 20.0, count=len(potentials), variables="I_m")[1][-1]
        np.testing.assert_allclose(values, alone, rtol=0.0, atol=1e-9)
    assert np.abs(found[3]).max() > 1.0


def test_a_point_source_depolarises_what_is_near_a_cathode() -> None:
    """Its potential is I / (4 pi sigma r)."""
    source = rv.point_source((50.0, 0.0, 0.0), -10.0, sigma=0.2)
    z, potentials = courses(source, 20.0, count=40)
    given = 1e3 * -10.0 / (4.0 * math.pi * 0.2 * np.hypot(50.0, z))
    np.testing.assert_allclose(potentials, courses(rv.given_field(given), 20.0, count=40)[1], rtol=0.0, atol=1e-12)
    assert potentials[-1, 19] > 1.0
    assert potentials[-1].min() < 0.0, "virtual anodes beside it"


def test_changed_parameters_keep_the_field() -> None:
    """Cells are arranged again when constants of their steps change."""

    def built(resistivity: float) -> tuple[rv.Simulation, rv.Population, rv.CompartmentRecorder]:
        net = rv.Network(resolution=1.0)
        positions = rv.positions([[30.0 * i, 0.0, 0.0] for i in range(9)], unit="um")
        cells = net.create(cable(R_a=rv.per_cell("R_a", resistivity)), positions=positions)
        net.apply_field(cells[1:], ALONG_Z, interval=4.0)
        recorder = net.record_compartments(cells, ["V_m", "I_m"], interval=100.0)
        return rv.Simulation(net, progress=False), cells, recorder

    sim, cells, recorder = built(100.0)
    sim.run(102.0)
    sim.set(cells[2:4], R_a=300.0)
    sim.run(298.0)
    reference, _, other = built(300.0)
    reference.run(400.0)
    changed, expected = sim.state(recorder), reference.state(other)
    assert isinstance(changed, rv.CompartmentData)
    assert isinstance(expected, rv.CompartmentData)
    for name in ("V_m", "I_m"):
        ends = [changed.of_cell(cells.first_id + i, name)[-1] for i in range(4)]
        np.testing.assert_allclose(ends[2], expected.of_cell(cells.first_id + 2, name)[-1], rtol=0.0, atol=1e-9)
        np.testing.assert_array_equal(ends[2], ends[3])
        assert np.abs(ends[1] - ends[2]).max() > 1e-3
        assert np.abs(ends[0]).max() == 0.0, "without a field"


def test_coupled_cells_have_the_potentials_of_their_currents() -> None:
    """The potentials of recorded currents, given back as a field, do the same."""
    step, interval, sigma = 0.05, 0.2, 0.02

    def network(field: Any = None) -> tuple[rv.Network, rv.CompartmentRecorder, rv.Population]:
        net = rv.Network(resolution=step)
        positions = rv.positions([[0.0, 0.0, 0.0], [25.0, 5.0, 0.0]], unit="um")
        cells = net.create(cell(), positions=positions, I_e=[500.0, 100.0])
        if field is None:
            net.couple_extracellular(cells, interval, sigma=sigma)
        else:
            net.apply_field(cells, field, interval=interval)
        return net, net.record_compartments(cells, ["I_m", "V_m"], interval=step), cells

    net, recorder, cells = network()
    sim = rv.Simulation(net, progress=False)
    sim.run(6.0)
    data = sim.state(recorder)
    lines = [cells.compartment_lines(i) for i in range(2)]
    begin, end = (np.concatenate([getattr(each, name) for each in lines]) for name in ("begin", "end"))
    radius = 0.5 * np.concatenate([each.diameter for each in lines])
    weights, _ = _core.line_potentials(begin, end, radius, 0.5 * (begin + end))
    matrix = weights.reshape(len(radius), -1) * 1e-3 / (4.0 * math.pi * sigma)
    currents = np.vstack([np.zeros(len(radius)), data.values[:, 0][3::4]])[:-1]
    # Potentials of an interval, in its middle.
    times = (np.arange(len(currents)) + 0.5) * interval
    outside = currents @ matrix
    assert np.abs(outside).max() > 0.2
    # The first and the last interval are constant, too.
    field = rv.sampled_field([0.0, *times, 6.0], np.vstack([outside[0], outside, outside[-1]]))
    net, recorder, _ = network(field)
    again = rv.Simulation(net, progress=False)
    again.run(6.0)
    np.testing.assert_allclose(again.state(recorder).values, data.values, rtol=0.0, atol=1e-7)


def test_half_the_interval_has_half_the_error() -> None:
    ends = []
    for interval in (0.4, 0.2, 0.1, 0.05):
        net = rv.Network(resolution=0.05)
        positions = rv.positions([[0.0, 0.0, 0.0], [10.0, 0.0, 100.0]], unit="um")
        cells = net.create(cable(), positions=positions, I_e=[200.0, 0.0])
        net.couple_extracellular(cells, interval, sigma=0.005)
        recorder = net.record_compartments(cells, "V_m", interval=4.0)
        sim = rv.Simulation(net, progress=False)
        sim.run(8.0)
        ends.append(sim.state(recorder).values[-1])
    changes = [np.abs(b - a).max() for a, b in itertools.pairwise(ends)]
    assert changes[0] / changes[1] == pytest.approx(2.0, rel=0.15)
    assert changes[1] / changes[2] == pytest.approx(2.0, rel=0.1)


def test_same_bits_with_any_threads_stepping_and_shards() -> None:
    digest, currents = coupled_cells.run()
    assert digest != coupled_cells.run({"sigma": 1e9})[0]
    for options in ({"threads": 2, "stepping": "async"}, {"tuning": rv.Tuning(shards=5, instruction_set="baseline")}):
        other, same = coupled_cells.run(**options)
        assert other == digest
        np.testing.assert_array_equal(same, currents)


def test_same_bits_after_cuts_and_loading(tmp_path: Path) -> None:
    """Also with the fast multipole method, which is as accurate as asked."""
    exact = coupled_cells.run()
    digest, currents = coupled_cells.run({"method": "fmm", "accuracy": 1e-6})
    assert digest == exact[0]
    assert 0.0 < np.abs(currents - exact[1]).max() < 1e-6 * np.abs(exact[1]).max()
    net, _, _ = coupled_cells.network(method="fmm", accuracy=1e-6)
    sim = rv.Simulation(net, threads=2, progress=False)
    sim.run(7.0)
    for time in (0.15, 0.05):
        sim.run(time)
        sim.save(tmp_path / "state.h5")
        net, spikes, recorder = coupled_cells.network(method="fmm", accuracy=1e-6)
        loaded = rv.Simulation.load(net, tmp_path / "state.h5", stepping="async", progress=False)
        loaded.run(30.0 - loaded.time)
        assert loaded.spikes(spikes).digest() == digest
        np.testing.assert_array_equal(loaded.state(recorder).values, currents)
    net, _, _ = coupled_cells.network(method="fmm", accuracy=1e-5)
    with pytest.raises(rv.errors.StateError, match="accuracy"):
        rv.Simulation.load(net, tmp_path / "state.h5", progress=False)


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 5])
def test_same_bits_on_processes(ranks: int, tmp_path: Path) -> None:
    done = run_python(WHEELS[0], ranks, SUPPORT / "coupled_cells.py", folder=tmp_path)
    assert done.status == 0, done.errors
    whole = [word for method in ("matrix", "fmm") for word in coupled_cells.words({"method": method})]
    assert [output.split() for output in done.outputs] == [whole * 2] * ranks


def test_handles_and_memory() -> None:
    net, _, _ = coupled_cells.network()
    applied, coupling = net.fields
    assert applied.description == "uniform_field((0.0, 40.0, 0.0), sine_wave(50, 1)) on 6 cells of equal every 0.1 ms"
    assert coupling.description == "13 cells of equal + packed act on each other in 0.05 S/m every 0.2 ms (matrix)"
    assert "CellCoupling" in net.summary()
    again = pickle.loads(pickle.dumps(net))
    assert isinstance(applied, rv.AppliedField)
    assert isinstance(again.fields[0], rv.AppliedField)
    assert again.fields[0].fields == applied.fields
    assert again.fields[1].description == coupling.description
    assert applied in net
    assert applied not in again
    sim = rv.Simulation(net, progress=False)
    predicted = rv.predict_memory(net, time=0.0)["fields"]
    assert 8 * 163**2 <= predicted == pytest.approx(sim.memory()["fields"], rel=0.1)


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4, 1e-6])
def test_memory_of_the_fast_multipole_method_is_predicted(accuracy: float) -> None:
    net = rv.Network()
    places = np.random.default_rng(1).uniform(-300.0, 300.0, (100, 3))
    cells = net.create(cell(), positions=rv.positions(places, unit="um"))
    net.couple_extracellular(cells, method="fmm", accuracy=accuracy)
    predicted = rv.predict_memory(net, time=0.0)["fields"]
    assert predicted / 3.0 < rv.Simulation(net, progress=False).memory()["fields"] < predicted


def test_bad_input(tmp_path: Path) -> None:
    net, _, _ = coupled_cells.network()
    cells = net.populations[0]
    errors = rv.errors
    with pytest.raises(errors.StateError, match="positions"):
        net.apply_field(net.create(cell(), 2), ALONG_Z)
    with pytest.raises(errors.ShapeError, match="at least one"):
        net.couple_extracellular(cells[:0])
    points = net.create(rv.iaf_psc_exp(), 2, positions=rv.positions([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], unit="um"))
    with pytest.raises(errors.ValueOutOfBoundsError, match="no compartments"):
        net.apply_field(points, ALONG_Z)
    with pytest.raises(errors.ValueOutOfBoundsError, match="already coupled"):
        net.couple_extracellular(cells[:2])
    with pytest.raises(errors.GridError, match="interval"):
        net.apply_field(cells, ALONG_Z, interval=0.07)
    with pytest.raises(errors.ValueOutOfBoundsError, match="at least one step"):
        net.apply_field(cells, ALONG_Z, interval=0.0)
    bad_keys: list[dict[str, Any]] = [{"sigma": 0.0}, {"sigma": math.inf}, {"accuracy": 1e-9}, {"accuracy": math.nan}]
    for keys in bad_keys:
        with pytest.raises(errors.ValueOutOfBoundsError, match=next(iter(keys))):
            net.couple_extracellular(cells, **keys)
    with pytest.raises(errors.UnknownNameError, match="method"):
        net.couple_extracellular(cells, method="tree")  # type: ignore[arg-type]
    with pytest.raises(errors.WrongTypeError, match="field"):
        net.apply_field(cells, 3.0)  # type: ignore[arg-type]
    for bad in ([1.0, 2.0], [0.0, 0.0, math.nan]):
        with pytest.raises((errors.ShapeError, errors.ValueOutOfBoundsError), match="field"):
            rv.uniform_field(bad)
    with pytest.raises(errors.ValueOutOfBoundsError, match="sigma"):
        rv.point_source((0.0, 0.0, 0.0), 1.0, sigma=-0.3)
    with pytest.raises(errors.ValueOutOfBoundsError, match="ascend"):
        rv.sampled_field([0.0, 0.0], np.zeros((2, 5)))
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"\[1, 2\].*finite"):
        rv.sampled_field([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, math.inf]])
    with pytest.raises(errors.ShapeError, match="for 5 compartments"):
        net.apply_field(cells, rv.sampled_field([0.0, 1.0], np.zeros((2, 5))))
    with pytest.raises(errors.ShapeError, match="in a call of its own"):
        net.apply_field(cells, [ALONG_Z, rv.sampled_field([0.0], np.zeros((1, 117)))])
    with pytest.raises(errors.FileError):
        rv.read_field(tmp_path / "nothing.h5")
    for arguments in ((1.0, 0.0), (1.0, 2.0, 1.0)):
        with pytest.raises(errors.ValueOutOfBoundsError):
            rv.pulse_train(*arguments)
    with pytest.raises(errors.ValueOutOfBoundsError, match="frequency"):
        rv.sine_wave(-1.0)
    with pytest.raises(errors.ReadOnlyError):
        net.fields[0].interval = 3.0
    with pytest.raises(errors.ReadOnlyError, match=r"field on 6 cells of equal.*make another network"):
        net.set(net.fields[0], interval=3.0)  # type: ignore[arg-type]


AXES: FloatArray = np.array([-1.0, 1.0])
GOOD = {"times": np.array([0.0, 1.0]), "x": AXES, "y": AXES, "z": AXES, "potentials": np.zeros((2, 2, 2, 2))}


def write(path: Path, name: str = "", write_it: Any = None) -> Path:
    """Write a file of a field, of which one dataset is another one."""
    with h5py.File(path, "w") as file:
        for each, values in GOOD.items():
            if each != name:
                file[each] = values
        if write_it is not None:
            write_it(file, name)
    return path


BAD_DATASETS: dict[str, Any] = {
    "missing": None,
    "a group": lambda file, name: file.create_group(name),
    "empty": lambda file, name: file.create_dataset(name, data=h5py.Empty("f8")),
    "nowhere": lambda file, name: file.__setitem__(name, h5py.SoftLink("/nowhere")),
    "in no file": lambda file, name: file.__setitem__(name, h5py.ExternalLink("no.h5", "/x")),
    "texts": lambda file, name: file.create_dataset(name, data=np.array([b"a", b"b"])),
    "complex": lambda file, name: file.create_dataset(name, data=np.zeros(2, dtype=complex)),
    "of another shape": lambda file, name: file.create_dataset(name, data=np.zeros((3, 1))),
    "huge": lambda file, name: file.create_dataset(name, (10**5,) * 3, "f8", chunks=(10,) * 3),
}


@pytest.mark.parametrize("kind", list(BAD_DATASETS))
def test_files_of_other_content(kind: str, tmp_path: Path) -> None:
    for name in ("x", "potentials"):
        path = write(tmp_path / "field.h5", name, BAD_DATASETS[kind])
        with pytest.raises(rv.errors.RanvierError, match=name):
            rv.read_field(path)


def test_damaged_files(tmp_path: Path) -> None:
    """A changed byte gives a typed error, or other numbers."""
    path = write(tmp_path / "field.h5")
    whole = path.read_bytes()
    assert rv.read_field(path).span == (0.0, 1.0)
    refused = 0
    generator = np.random.default_rng(1)
    for i in range(300):
        data = bytearray(whole)
        for place in generator.integers(0, len(data), 1 + i % 10):
            data[place] = generator.integers(0, 256)
        path.write_bytes(data if i % 10 else data[: generator.integers(1, len(data))])
        try:
            rv.read_field(path)
        except rv.errors.RanvierError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("field", "match"),
    [
        (rv.point_source((0.0, 0.5, 2.0), 1.0), "within compartment"),
        (rv.sampled_field([0.0, 1.0], np.zeros((2, 2, 2, 2)), grid=([-1, 1], [-1, 1], [-10, 10])), "z = -475"),
        (rv.given_field(lambda points: np.zeros(3)), "20 points"),
        (rv.given_field(lambda points: points[:, 0] / 0.0), "finite"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_found_when_a_simulation_is_built(field: Any, match: str) -> None:
    with pytest.raises((rv.errors.ValueOutOfBoundsError, rv.errors.ShapeError), match=match):
        courses(field, 1.0)


def test_runs_beyond_the_times_of_a_field() -> None:
    for field in (
        rv.sampled_field([0.0, 5.0], np.zeros((2, 20))),
        rv.uniform_field((1, 0, 0), rv.waveform([0, 5], [0, 1])),
    ):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="from 0 to 6 ms"):
            courses(field, 6.0)


@pytest.mark.usefixtures("interrupts")
def test_interrupts_end_the_calculation_of_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    net = rv.Network(resolution=0.1)
    places = 1000.0 * np.arange(20)[:, np.newaxis] * np.ones(3)
    cells = net.create(cable(200), 20, positions=rv.positions(places, unit="um"))
    net.couple_extracellular(cells, method="matrix")
    # Of all threads, so that other programs do not matter.
    seconds = []

    def measured(*arguments: Any) -> None:
        begin = process_time()
        set_fields(*arguments)
        seconds.append(process_time() - begin)

    monkeypatch.setattr(building, "set_fields", measured)
    rv.Simulation(net, threads=1, progress=False)

    def interrupted(core: _core.Simulation, *others: Any) -> None:
        timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begin = process_time()
        try:
            set_fields(core, *others)
        except KeyboardInterrupt:
            seconds.append(process_time() - begin)
            assert core.memory().get("fields", 0) == 0
            raise
        finally:
            timer.join()

    monkeypatch.setattr(building, "set_fields", interrupted)
    # On a busy machine, the interrupt may come late.
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            rv.Simulation(net, threads=1, progress=False)
    assert min(seconds[1:]) < 0.3 * seconds[0], "it was finished"
