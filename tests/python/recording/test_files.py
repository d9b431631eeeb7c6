"""Recordings in files are those in memory, written piece by piece."""

from __future__ import annotations

import csv
import json
import pickle
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest

import ranvier as rv
from full_disk import files_limited_to
from ranvier import errors
from ranvier.recording import files
from ranvier.recording.files import check_new, path_of_rank
from ranvier.simulation import recording_memory
from ranvier.simulation.recordings import RecordingStore
from small_networks import balanced
from thorough_cases import one_of_each, only

SUFFIXES = [".h5", ".hdf5", ".csv"]


def same(one: rv.SpikeData, other: rv.SpikeData) -> bool:
    return one.digest() == other.digest() and (one.begin, one.end, one.segments, one.resolution) == (
        other.begin,
        other.end,
        other.segments,
        other.resolution,
    )


@pytest.mark.parametrize(("suffix", "budget"), one_of_each(SUFFIXES, [20_000, 1 << 26]))
def test_all_recorders(tmp_path: Path, suffix: str, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_memory, "BUDGET", budget)
    net, in_memory = balanced()
    exc = net["exc"]
    projection = net.projections[0]
    state_in_memory = net.record_state(exc[:3], ["V_m", "I_syn_ex"], 0.5)
    weights_in_memory = net.record_weights(projection, 10.0, targets=exc[:2])
    spikes = net.record_spikes(to=tmp_path / f"spikes{suffix}")
    state = net.record_state(exc[:3], ["V_m", "I_syn_ex"], 0.5, to=tmp_path / f"state{suffix}")
    weights = net.record_weights(projection, 10.0, targets=exc[:2], to=str(tmp_path / f"weights{suffix}"))
    sim = rv.Simulation(net, threads=2)
    for duration in (0.0, 12.3, 27.7, 20.0):
        sim.run(duration)
        found = rv.read_spikes(tmp_path / f"spikes{suffix}")
        assert same(found, sim.spikes(in_memory))
        assert same(sim.spikes(spikes), found)
        state_read, expected = rv.read_state(tmp_path / f"state{suffix}"), sim.state(state_in_memory)
        assert (state_read.values == expected.values).all()
        assert (state_read.steps == expected.steps).all()
        assert (state_read.ids == expected.ids).all()
        assert (state_read.variables, state_read.population, state_read.resolution) == (("V_m", "I_syn_ex"), "exc", 0.1)
        assert (sim.state(state).values == expected.values).all()
        weight, wanted = rv.read_weights(tmp_path / f"weights{suffix}"), sim.weights(weights_in_memory)
        assert (weight.weights == wanted.weights).all()
        assert (weight.steps == wanted.steps).all()
        assert (weight.sources == wanted.sources).all()
        assert (weight.targets == wanted.targets).all()
        assert weight.projection == projection.name
        assert (sim.weights(weights).weights == wanted.weights).all()
    assert len(found) > 100


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_recordings_of_nothing(tmp_path: Path, suffix: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    projection = net.connect(neurons, neurons, rv.FixedTotalNumber(0))
    spikes = net.record_spikes(to=tmp_path / f"spikes{suffix}")
    state = net.record_state(neurons[:0], "V_m", to=tmp_path / f"state{suffix}")
    weights = net.record_weights(projection, 1.0, to=tmp_path / f"weights{suffix}")
    sim = rv.Simulation(net)
    sim.run(2.0)
    assert len(sim.spikes(spikes)) == 0
    assert sim.spikes(spikes).stop == 2.0
    assert sim.state(state).values.shape[1:] == (1, 0)
    assert sim.weights(weights).weights.shape[1] == 0


@pytest.mark.parametrize(
    ("budget", "time"), only([(1 << 24, 60.0)], [(1 << 24, 60.0), (recording_memory.BUDGET, 200.0)])
)
def test_little_memory_is_taken(budget: int, time: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net, _ = balanced(1000)
    net.record_spikes(to=tmp_path / "spikes.h5")
    net.record_state(net["exc"], ["V_m", "I_syn_ex"], to=tmp_path / "state.h5")
    sim = rv.Simulation(net, threads=2)
    largest = 0

    def watch(write: RecordingStore) -> None:
        nonlocal largest
        largest = max(largest, sim._built.core.recorded_bytes)
        original(write)

    original = RecordingStore.write
    monkeypatch.setattr(RecordingStore, "write", watch)
    monkeypatch.setattr(recording_memory, "BUDGET", budget)
    sim.run(time)
    assert (tmp_path / "state.h5").stat().st_size > 6e5 * time
    assert 0 < largest < 2 * recording_memory.BUDGET


def test_hdf5_tells_what_it_holds(tmp_path: Path) -> None:
    net, kept = balanced(seed=7)
    net.record_spikes(net["inh"], to=tmp_path / "spikes.h5")
    state = net.record_state(net["exc"][:3], "V_m", 0.3)
    net.record_state(net["exc"][:3], "V_m", 0.3, to=tmp_path / "state.h5")
    sim = rv.Simulation(net)
    sim.run(50.0)
    with h5py.File(tmp_path / "spikes.h5") as file:
        assert file.attrs["kind"] == "spikes"
        assert file.attrs["network"] == "balanced"
        assert file.attrs["seed"] == "7"
        assert file.attrs["resolution"] == 0.1
        assert json.loads(file.attrs["segments"]) == [["inh", 400, 100]]
        assert file["times"][:].tolist() == sim.spikes(kept).of("inh").times.tolist()
        assert file["times"].attrs["unit"] == "ms"
        assert file["ids"][:].tolist() == sim.spikes(kept).of("inh").ids.tolist()
    with h5py.File(tmp_path / "state.h5") as file:
        # Each is the double that somebody writes: 0.3, 0.6, 0.9 and so on.
        assert file["times"][:].tolist() == [round(0.3 * i, 1) for i in range(1, 167)]
        assert (file["V_m"][:] == sim.state(state)["V_m"]).all()


def test_csv_can_be_read_by_others(tmp_path: Path) -> None:
    net, recorder = balanced()
    net.record_spikes(to=tmp_path / "spikes.csv")
    sim = rv.Simulation(net)
    sim.run(50.0)
    with (tmp_path / "spikes.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    spikes = sim.spikes(recorder)
    assert [int(row["step"]) for row in rows] == spikes.steps.tolist()
    assert [int(row["neuron"]) for row in rows] == spikes.ids.tolist()
    assert [float(row["time_ms"]) for row in rows] == spikes.times.tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_was_there_is_kept_until_the_network_was_built(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    path.write_text("precious")
    net, _ = balanced()
    net.record_spikes(to=path, overwrite=True)
    with pytest.raises(errors.InsufficientMemoryError):
        rv.Simulation(net, memory_limit=1)
    assert path.read_text() == "precious"
    rv.Simulation(net).run(1.0)
    assert rv.read_spikes(path).stop == 1.0


@pytest.mark.parametrize(("suffix", "kind"), one_of_each(SUFFIXES, ["spikes", "state", "weights"]))
def test_a_file_that_exists_is_not_replaced(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"file{suffix}"

    def describe(overwrite: bool = False) -> rv.Network:
        net, _ = balanced(20)
        if kind == "spikes":
            net.record_spikes(to=path, overwrite=overwrite)
        elif kind == "state":
            net.record_state(net["exc"][:2], "V_m", to=path, overwrite=overwrite)
        else:
            net.record_weights(net.projections[0], 1.0, to=path, overwrite=overwrite)
        return net

    net = describe()
    first = rv.Simulation(net, threads=1)
    first.run(5.0)
    before = path.read_bytes()
    for another in (net, describe()):
        with pytest.raises(errors.FileError, match=rf"file{suffix}: it exists.*overwrite=True"):
            rv.Simulation(another, threads=1, progress=lambda report: pytest.fail("it was built"))
        assert path.read_bytes() == before
    first.run(5.0)
    assert path.read_bytes() != before
    second = rv.Simulation(describe(overwrite=True), threads=1)
    second.run(1.0)
    with pytest.raises(errors.FileError, match="replaced"):
        first.run(1.0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_comes_while_a_network_is_built_is_not_replaced(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    path.write_text("precious")
    nothing = {"steps": np.empty(0, dtype=np.int64), "ids": np.empty(0, dtype=np.int64)}
    with pytest.raises(errors.FileError, match="exists"):
        files.create(path, "spikes", {"resolution": 0.1, "begin": 0, "end": 0, "segments": []}, {}, nothing)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_ranks_are_not_replaced_by_that_of_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    part = path_of_rank(path, 3)
    nothing = {"steps": np.empty(0, dtype=np.int64), "ids": np.empty(0, dtype=np.int64)}
    told = {"resolution": 0.1, "begin": 0, "end": 0, "segments": [], "rank": 3, "ranks": 4, "created": 1.0}
    files.create(part, "spikes", told, {}, nothing)
    net, _ = balanced(20)
    net.record_spikes(to=path)
    with pytest.raises(errors.FileError, match=rf"spikes\.rank3{suffix}: it exists"):
        rv.Simulation(net, threads=1)
    assert list(tmp_path.iterdir()) == [part]
    net, _ = balanced(20)
    net.record_spikes(to=path, overwrite=True)
    rv.Simulation(net, threads=1)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_written_to(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    path.touch()
    net, _ = balanced(20)
    net.record_spikes(to=path)
    rv.Simulation(net, threads=1).run(1.0)
    assert rv.read_spikes(path).stop == 1.0


def test_whether_files_are_replaced_is_part_of_the_description(tmp_path: Path) -> None:
    net, _ = balanced(20)
    recorder = net.record_spikes(to=tmp_path / "spikes.h5", overwrite=np.True_)  # type: ignore[arg-type]
    assert recorder.overwrite is True
    assert pickle.loads(pickle.dumps(net)) == net
    assert pickle.loads(pickle.dumps(net)).recorders[-1].overwrite is True
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"overwrite is True.*writes to no file"):
        net.record_spikes(overwrite=True)
    with pytest.raises(errors.WrongTypeError, match="overwrite"):
        net.record_spikes(to=tmp_path / "more.h5", overwrite="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_checking_leaves_no_file_behind(tmp_path: Path, suffix: str) -> None:
    net, _ = balanced()
    net.record_spikes(to=tmp_path / f"spikes{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_another_simulation_has_taken(tmp_path: Path, suffix: str) -> None:
    net, _ = balanced()
    recorder = net.record_spikes(to=tmp_path / f"spikes{suffix}", overwrite=True)
    first = rv.Simulation(net)
    first.run(5.0)
    second = rv.Simulation(net)
    second.run(5.0)
    with pytest.raises(errors.FileError, match="replaced"):
        first.run(5.0)
    second.run(5.0)
    assert second.spikes(recorder).stop == 10.0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_lost_when_a_file_cannot_be_written_for_a_while(tmp_path: Path, suffix: str) -> None:
    net, in_memory = balanced()
    path = tmp_path / f"spikes{suffix}"
    recorder = net.record_spikes(to=path)
    sim = rv.Simulation(net)
    sim.run(20.0)
    path.rename(tmp_path / "away")
    with pytest.raises(errors.FileError):
        sim.run(20.0)
    assert sim.time == 20.0  # nothing is simulated that cannot be written
    (tmp_path / "away").rename(path)
    sim.run(20.0)
    assert same(sim.spikes(recorder), sim.spikes(in_memory))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reading_what_is_not_a_recording(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    with pytest.raises(errors.FileError, match="cannot be read"):
        rv.read_spikes(path)
    path.write_text("step,neuron\n1,2\n")
    with pytest.raises(errors.FileError):
        rv.read_spikes(path)
    net, _ = balanced()
    net.record_state(net["exc"][0], "V_m", to=path, overwrite=True)
    rv.Simulation(net).run(1.0)
    with pytest.raises(errors.FileError, match="spikes"):
        rv.read_spikes(path)
    assert len(rv.read_state(path)) == 10


def test_checking_leaves_links_alone(tmp_path: Path) -> None:
    link, path = tmp_path / "link.csv", tmp_path / "spikes.csv"
    link.symlink_to(path)
    net, recorder = balanced()
    linked = net.record_spikes(to=link)
    assert link.is_symlink()
    assert not path.exists()
    sim = rv.Simulation(net)
    sim.run(50.0)
    assert link.is_symlink()
    assert same(rv.read_spikes(path), sim.spikes(linked))
    assert sim.spikes(linked).digest() == sim.spikes(recorder).digest()


@pytest.mark.parametrize("time", only([60.0], [60.0, 200.0]))
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_full_disk(tmp_path: Path, suffix: str, time: float) -> None:
    # HDF5 must not find out by itself: after a write that fails it crashes the process, at once or later.
    net, _ = balanced()
    written = net.record_state(net["inh"], "V_m", to=tmp_path / f"state{suffix}")
    kept = net.record_state(net["inh"], "V_m")
    sim = rv.Simulation(net)
    with files_limited_to(400_000):
        for _ in range(2):
            with pytest.raises(errors.FileError, match="cannot be written"):
                sim.run(time)
    sim.run(20.0)
    assert len(sim.state(written)) == sim.step >= 200
    np.testing.assert_array_equal(sim.state(written).values, sim.state(kept).values)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_disk_that_is_full_from_the_beginning(tmp_path: Path, suffix: str) -> None:
    net, _ = balanced()
    net.record_spikes(to=tmp_path / f"spikes{suffix}")
    with files_limited_to(0), pytest.raises(errors.FileError, match="cannot be written"):
        rv.Simulation(net)
    rv.Simulation(net).run(1.0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_weights_in_double_precision_are_those_that_were_given(tmp_path: Path, suffix: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 30)
    given = np.random.default_rng(1).lognormal(0.0, 2.0, (30, 30))
    given[0] = 0.1
    projection = net.connect(neurons, neurons, rv.AllToAll(), weight=given)
    recorders = [net.record_weights(projection, 0.5), net.record_weights(projection, 0.5, to=tmp_path / f"w{suffix}")]
    sim = rv.Simulation(net, threads=2, weight_precision="double")
    sim.run(1.0)
    synapses = sim.connections()
    assert (synapses.weights == given[synapses.targets, synapses.sources]).all()
    for recorder in recorders:
        data = sim.weights(recorder)
        assert (data.weights == given[data.targets, data.sources]).all()
    synapses.weights = 0.3
    assert (sim.connections().weights == 0.3).all()
    # In single precision the nearest of its numbers is kept.
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 30)
    net.connect(neurons, neurons, rv.AllToAll(), weight=given)
    sim = rv.Simulation(net, threads=2)
    synapses = sim.connections()
    assert (synapses.weights == given.astype(np.float32)[synapses.targets, synapses.sources]).all()


def test_a_file_that_another_process_tries_out_is_no_error(tmp_path: Path) -> None:
    """Who looks whether it could write makes an empty file and removes it, while others look as well."""
    path = tmp_path / "spikes.h5"
    going_on = threading.Event()
    ended = threading.Event()

    def try_out() -> None:
        while not ended.is_set():
            path.touch()
            path.unlink()
            going_on.set()

    other = threading.Thread(target=try_out)
    other.start()
    try:
        assert going_on.wait(10.0)
        for _ in range(3000):
            check_new(path)
    finally:
        ended.set()
        other.join()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_disappears_during_a_run_stops_it_and_nothing_is_lost(tmp_path: Path, suffix: str) -> None:
    net, in_memory = balanced()
    path, away = tmp_path / f"spikes{suffix}", tmp_path / "away"
    recorder = net.record_spikes(to=path)

    def move(report: rv.ProgressReport) -> None:
        if report.phase == "run" and path.exists():
            path.rename(away)

    sim = rv.Simulation(net, progress=move)
    with pytest.raises(errors.FileError):
        sim.run(10_000.0)
    assert 0.0 < sim.time < 10_000.0
    away.rename(path)
    sim._progress = False
    sim.run(20.0)
    assert same(sim.spikes(recorder), sim.spikes(in_memory))
