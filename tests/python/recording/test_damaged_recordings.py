"""What is read from a file is what was recorded: nothing else if it is damaged, all that is whole if it was cut."""

from __future__ import annotations

import pickle
import random
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import ranvier as rv
from damaged_files import KINDS, Truth, check_reading, mutated, record_all
from full_disk import files_limited_to
from killed_writers import truth_after, write_until_killed
from ranvier import errors
from repository import SUPPORT
from small_networks import balanced
from thorough_cases import only

SUFFIXES = [".h5", ".csv"]
EACH_SUFFIX = only([".h5"], SUFFIXES)


@pytest.fixture(scope="module", params=SUFFIXES)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Truth]:
    folder = tmp_path_factory.mktemp("recorded")
    return {truth.kind: truth for truth in record_all(folder, request.param)}


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_give_a_part_of_the_truth_or_are_refused(
    recorded: dict[str, Truth], kind: str, tmp_path: Path
) -> None:
    truth = recorded[kind]
    whole = truth.path.read_bytes()
    path = tmp_path / truth.path.name
    path.write_bytes(whole)
    assert check_reading(path, truth) == "whole"
    outcomes = set()
    # More seeds are in tests/python/validation.
    for seed in range(20):
        damaged = mutated(whole, random.Random(seed))
        path.write_bytes(damaged)
        outcome = check_reading(path, truth)
        assert outcome != "shorter"
        outcomes.add(outcome)
    assert "refused" in outcomes


@pytest.mark.parametrize("stride", [311, pytest.param(31, marks=pytest.mark.thorough)])
def test_lines_that_end_anywhere(tmp_path: Path, stride: int) -> None:
    for truth in record_all(tmp_path, ".csv"):
        whole = truth.path.read_bytes()
        # After the lines that close pieces.
        closings = [match.end() for match in re.finditer(rb"# end=.*\n", whole)]
        assert len(closings) >= 5
        assert whole[closings[-1] :].startswith(b"# complete ")
        near = [end + shift for end in closings[:-1] for shift in (-1, 0, 1)]
        for size in [*range(0, len(whole), stride), *near]:
            truth.path.write_bytes(whole[:size])
            outcome = check_reading(truth.path, truth)
            # Where all pieces are there, the mark at the end is absent.
            assert outcome == ("refused" if size < closings[0] else "part")


@pytest.mark.parametrize("digit", [b"0", b"1", b"5"])
def test_a_line_that_was_cut_does_not_shorten_the_window(tmp_path: Path, digit: bytes) -> None:
    truth, *_ = record_all(tmp_path, ".csv")
    lines = truth.path.read_bytes().splitlines(keepends=True)
    assert lines[-2].startswith(b"# end=")
    # "# end=180 ..." as it stood when the disk was full.
    truth.path.write_bytes(b"".join([*lines[:-2], b"# end=", digit]))
    assert check_reading(truth.path, truth) == "part"


@pytest.mark.parametrize("suffix", EACH_SUFFIX)
def test_killed_while_writing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    chance = random.Random(1)
    for _ in range(12):
        pieces = write_until_killed(path, chance)
        # The last one may be whole before it is told of.
        truth = truth_after(path, pieces + 1)
        before = path.read_bytes()
        assert check_reading(path, truth) == "part"
        assert read_quietly(path).end >= 100 * pieces
        assert path.read_bytes() == before


RUN = """
import sys
import ranvier as rv
from ranvier.recording import pace
from small_networks import balanced

pace._LEAST_S = 0.05
net, _ = balanced()
recorder = net.record_spikes(to=sys.argv[1])
sim = rv.Simulation(net, threads=1, progress=lambda report: print(report.done, flush=True))
sim.run(20.0)
sim.run(1e7)
"""


@pytest.mark.parametrize("suffix", EACH_SUFFIX)
def test_a_killed_run_leaves_an_incomplete_recording(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    with subprocess.Popen([sys.executable, "-c", RUN, path], stdout=subprocess.PIPE, text=True, cwd=SUPPORT) as process:
        assert process.stdout is not None
        reached = 0.0
        for line in process.stdout:
            if float(line) > 500.0:
                # Written every 50 ms of wall-clock time.
                if reached and float(line) > 4.0 * reached:
                    break
                reached = reached or float(line)
        process.kill()
    with pytest.warns(errors.IncompleteRecordingWarning, match="whole up to"):
        data = rv.read_spikes(path)
    # More than the first run, though on a busy machine maybe less than was reported.
    assert data.stop > 20.0
    sim = rv.Simulation((whole := balanced())[0], threads=1)
    sim.run(data.stop)
    assert sim.spikes(whole[1]).digest() == data.digest()


@pytest.mark.parametrize("suffix", EACH_SUFFIX)
def test_a_recording_is_complete_between_runs_only(tmp_path: Path, suffix: str) -> None:
    path, copy = tmp_path / f"spikes{suffix}", tmp_path / f"copy{suffix}"
    net, _ = balanced()
    net.record_spikes(to=path)
    seen = []

    def look(report: rv.ProgressReport) -> None:
        if report.phase == "run":
            shutil.copy(path, copy)
            with pytest.warns(errors.IncompleteRecordingWarning):
                seen.append(rv.read_spikes(copy).end)

    sim = rv.Simulation(net, threads=1, progress=look)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rv.read_spikes(path).end == 0
    # Progress is told of after some time: on a fast machine, runs must be longer.
    for time in [3000.0 * 2**number for number in range(10)]:
        if seen and sim.step > 60_000:
            break
        sim.run(time)
        sim.save(tmp_path / "state.h5")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert rv.read_spikes(path).end == sim.step
    assert seen
    later = rv.Simulation.load(net, tmp_path / "state.h5", threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rv.read_spikes(path).end == later.step


def read_quietly(path: Path) -> rv.SpikeData:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.IncompleteRecordingWarning)
        return rv.read_spikes(path)


def test_on_a_full_disk_what_was_written_can_be_read(tmp_path: Path) -> None:
    net, _ = balanced()
    path = tmp_path / "state.csv"
    recorder = net.record_state(net["inh"], "V_m", to=path)
    sim = rv.Simulation(net)
    sim.run(1.0)
    whole = rv.read_state(path)
    for room in (0, 10, 60, 5000):
        with files_limited_to(path.stat().st_size + room), pytest.raises(errors.FileError, match="cannot be written"):
            sim.run(1.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = rv.read_state(path)
        assert found.steps.tolist() == whole.steps.tolist()
        np.testing.assert_array_equal(found.values, whole.values)
        # Where there is space for a line, it says that something is missing.
        if room >= 60:
            (warning,) = [each.message for each in caught]
            assert isinstance(warning, errors.IncompleteRecordingWarning)
            assert (warning.path, warning.end) == (path, 10)
            assert "whole up to 1 ms" in str(warning)
    sim.run(1.0)
    assert len(sim.state(recorder)) == 60


# ---- strangers -------------------------------------------------------------------------------------------------------


def text(path: Path, _: Path) -> None:
    path.write_text("a text of somebody else's\n" * 1000)


def nothing(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def another_hdf5(path: Path, _: Path) -> None:
    path.unlink()
    with h5py.File(path, "w") as file:
        file["steps"] = np.arange(5)


def older_copy(path: Path, copy: Path) -> None:
    shutil.copy(copy, path)


def another_recording(path: Path, _: Path) -> None:
    net = balanced()[0]
    net.record_spikes(to=path, overwrite=True)
    rv.Simulation(net).run(5.0)


def without_a_dataset(path: Path, _: Path) -> None:
    if path.suffix == ".csv":
        path.write_text(path.read_text().partition("\n")[2])
    else:
        with h5py.File(path, "r+") as file:
            del file["times"]


STRANGERS: list[Callable[[Path, Path], None]] = [
    text,
    nothing,
    another_hdf5,
    older_copy,
    another_recording,
    without_a_dataset,
]


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_of_others_are_left_alone(tmp_path: Path, suffix: str, stranger: Callable[[Path, Path], None]) -> None:
    net, _ = balanced()
    path, copy = tmp_path / f"spikes{suffix}", tmp_path / "copy"
    recorder = net.record_spikes(to=path)
    sim = rv.Simulation(net)
    sim.run(3.0)
    shutil.copy(path, copy)
    sim.run(2.0)
    shutil.copy(path, tmp_path / "ours")
    stranger(path, copy)
    before, stamp = path.read_bytes(), path.stat()
    for _ in range(3):
        with pytest.raises(errors.FileError, match="replaced or changed"):
            sim.run(2.0)
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stamp.st_mtime_ns
    # What was recorded meanwhile was kept.
    (tmp_path / "ours").replace(path)
    sim.run(2.0)
    whole = rv.Simulation(balanced()[0])
    whole.run(sim.time)
    assert sim.spikes(recorder).digest() == whole.spikes(whole.network.recorders[0]).digest()  # type: ignore[arg-type]


def test_a_dataset_that_was_deleted(tmp_path: Path) -> None:
    for truth in record_all(tmp_path, ".h5"):
        with h5py.File(truth.path) as file:
            names = list(file)
        for name in names:
            copy = tmp_path / "copy.h5"
            shutil.copy(truth.path, copy)
            with h5py.File(copy, "r+") as file:
                del file[name]
            with pytest.raises(errors.FileError, match=f"no dataset '{name}'"):
                {"spikes": rv.read_spikes, "state": rv.read_state, "weights": rv.read_weights}[truth.kind](copy)


@pytest.mark.thorough
def test_very_many_populations(tmp_path: Path) -> None:
    # What describes them takes more than an attribute of HDF5 once could hold.
    for suffix in SUFFIXES:
        net = rv.Network()
        views = [
            net.create("iaf_psc_exp", 1, name=f"a population with a long name, of number {i}") for i in range(2000)
        ]
        net.record_spikes(views, to=tmp_path / f"spikes{suffix}")
        rv.Simulation(net, threads=1).run(1.0)
        assert len(rv.read_spikes(tmp_path / f"spikes{suffix}").segments) == 2000


def test_a_warning_can_be_pickled(tmp_path: Path) -> None:
    warning = errors.IncompleteRecordingWarning(tmp_path, 5, "0.5")
    copy = pickle.loads(pickle.dumps(warning))
    assert (copy.path, copy.end, str(copy)) == (tmp_path, 5, str(warning))
