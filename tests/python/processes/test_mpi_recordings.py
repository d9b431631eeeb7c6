"""Recordings of many processes are those of one, in memory and in files, however they are gathered."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import mpi_recordings
import ranvier as rv
from mpi_families import any_family
from mpi_recordings import PIECES, SUFFIXES
from mpi_runs import WHEELS, Installation, run_python
from ranvier import errors
from ranvier.recording import csv_files, files, hdf5_files
from ranvier.recording.files import path_of_rank, peek
from ranvier.simulation.options import OPTIONS
from repository import SUPPORT
from shared_folders import filled_once
from thorough_cases import only

RANKS = 3
HELPERS = {"PYTHONPATH": str(SUPPORT)}
# By the name of the file.
READERS: dict[str, Any] = {
    "spikes": rv.read_spikes,
    "state": rv.read_state,
    "all": rv.read_state,
    "pair": rv.read_weights,
    "weights": rv.read_weights,
}


# `make validate` looks at files in HDF5, too, which take several times as long.
EACH_SUFFIX = only([".csv"], SUFFIXES)


@pytest.fixture(scope="module", params=EACH_SUFFIX)
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(suffix: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the processes of a run have recorded in every way; `make validate` takes the other family of MPI."""
    return filled_once(tmp_path_factory, f"recordings{suffix}", lambda place: recorded_under(WHEELS[1], suffix, place))


def recorded_under(where: Installation, suffix: str, place: Path) -> Path:
    done = run_python(where, RANKS, SUPPORT / "mpi_recordings.py", suffix, folder=place, environment=HELPERS)
    assert done.status == 0, done.errors
    return place


@pytest.fixture(scope="module")
def expected(suffix: str, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what one process records."""
    return mpi_recordings.record(tmp_path_factory.mktemp("alone"), suffix, "everywhere")


def results(folder: Path, way: str, suffix: str, rank: int) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = pickle.loads((folder / f"{way}{suffix}.{rank}.pickle").read_bytes())
    return loaded


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    for field in fields(wanted):
        one, other = getattr(found, field.name), getattr(wanted, field.name)
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=field.name)
        else:
            assert one == other, field.name


def test_one_process_records_something(expected: list[dict[str, Any]]) -> None:
    last = expected[-1]["kept"]
    assert len(last["spikes"]) > 100
    assert last["state"].values.shape == (120, 2, 3)
    assert last["all"].values.shape == (60, 1, 100)
    assert last["pair"].weights.shape == (6, 60)
    pairs = list(zip(last["pair"].sources.tolist(), last["pair"].targets.tolist(), strict=True))
    assert len(set(pairs)) < len(pairs)
    assert last["weights"].weights.shape[1] > 3


def test_everywhere(folder: Path, suffix: str, expected: list[dict[str, Any]]) -> None:
    for rank in range(RANKS):
        for found, wanted in zip(results(folder, "everywhere", suffix, rank), expected, strict=True):
            for name, data in wanted["kept"].items():
                assert_same(found["kept"][name], data)
                assert_same(found["filed"][name], data)


def test_root(folder: Path, suffix: str, expected: list[dict[str, Any]]) -> None:
    for found, wanted in zip(results(folder, "root", suffix, 0), expected, strict=True):
        for name, data in wanted["kept"].items():
            assert_same(found["kept"][name], data)
            assert_same(found["filed"][name], data)
    for rank in range(1, RANKS):
        for found, wanted in zip(results(folder, "root", suffix, rank), expected, strict=True):
            for here in (found["kept"], found["filed"]):
                assert len(here["spikes"]) == 0
                # It knows nothing of these neurons, not that they were silent.
                assert here["spikes"].segments == ()
                assert here["spikes"].end == wanted["kept"]["spikes"].end
                for name in ("state", "all"):
                    assert here[name].variables == wanted["kept"][name].variables
                    assert here[name].values.shape == (0, len(here[name].variables), 0)
                for name in ("pair", "weights"):
                    assert here[name].weights.shape == (0, 0)


def test_local_in_memory(folder: Path, suffix: str, expected: list[dict[str, Any]]) -> None:
    by_rank = [results(folder, "local", suffix, rank) for rank in range(RANKS)]
    for piece, wanted in enumerate(expected):
        parts = [result[piece]["kept"] for result in by_rank]
        spikes = [part["spikes"] for part in parts]
        if len(expected[piece]["kept"]["spikes"]) > 100:
            # Placement is consecutive.
            assert all(spikes[i].ids.max() < spikes[i + 1].ids.min() for i in range(RANKS - 1))
        together = sorted(pair for part in spikes for pair in zip(part.steps, part.ids, strict=True))
        whole = wanted["kept"]["spikes"]
        assert together == list(zip(whole.steps, whole.ids, strict=True))
        assert [len(part["state"].ids) for part in parts] == [3, 0, 0]
        for name in ("state", "all"):
            whole = wanted["kept"][name]
            assert sum(len(part[name].ids) for part in parts) == len(whole.ids)
            for part in parts:
                here = np.isin(whole.ids, part[name].ids)
                np.testing.assert_array_equal(part[name].values, whole.values[:, :, here])
                np.testing.assert_array_equal(part[name].steps, whole.steps)
        for name in ("pair", "weights"):
            whole = wanted["kept"][name]
            assert sum(len(part[name].targets) for part in parts) == len(whole.targets)
            for part in parts:
                here = np.isin(whole.targets, part[name].targets)
                np.testing.assert_array_equal(part[name].weights, whole.weights[:, here])
                np.testing.assert_array_equal(part[name].sources, whole.sources[here])


def test_local_files_are_read_as_one(folder: Path, suffix: str, expected: list[dict[str, Any]]) -> None:
    for rank in range(RANKS):
        for found, wanted in zip(results(folder, "local", suffix, rank), expected, strict=True):
            for name, data in wanted["kept"].items():
                assert_same(found["filed"][name], data)


@pytest.mark.parametrize("way", OPTIONS["recordings"].choices)
def test_files_are_read_by_one_process(folder: Path, way: str, suffix: str, expected: list[dict[str, Any]]) -> None:
    for name, read in READERS.items():
        assert_same(read(folder / way / f"{name}{suffix}"), expected[-1]["kept"][name])


def test_files_of_all_are_written_by_rank_0_alone_and_others_by_each(folder: Path, suffix: str) -> None:
    names = {f"{name}{suffix}" for name in READERS}
    for way in ("everywhere", "root"):
        assert {path.name for path in (folder / way).iterdir()} == names
    found = {path.name for path in (folder / "local").iterdir()}
    assert found == {path_of_rank(Path(name), rank).name for name in names for rank in range(RANKS)}


def test_files_tell_of_ranks(folder: Path, suffix: str) -> None:
    run_ids = set()
    for rank in range(RANKS):
        path = folder / f"local/state.rank{rank}{suffix}"
        if suffix == ".csv":
            told = json.loads(path.read_text().partition("\n")[0][2:])
        else:
            with h5py.File(path) as file:
                told = dict(file.attrs)
                assert file["places"][()].tolist() == ([0, 1, 2] if rank == 0 else [])
        assert (told["rank"], told["ranks"]) == (rank, RANKS)
        run_ids.add(told["run_id"])
    assert len(run_ids) == 1


def test_the_file_of_one_rank(folder: Path, suffix: str, expected: list[dict[str, Any]]) -> None:
    whole = expected[-1]["kept"]["state"]
    assert_same(rv.read_state(folder / f"local/state.rank0{suffix}"), whole)
    # Without neurons, a table has no rows.
    samples = 0 if suffix == ".csv" else 120
    assert rv.read_state(folder / f"local/state.rank1{suffix}").values.shape == (samples, 2, 0)
    parts = [rv.read_spikes(folder / f"local/spikes.rank{rank}{suffix}") for rank in range(RANKS)]
    assert sum(map(len, parts)) == len(expected[-1]["kept"]["spikes"])
    for rank, part in enumerate(parts):
        assert_same(results(folder, "local", suffix, rank)[-1]["kept"]["spikes"], part)
        rates = part.mean_rates()
        assert min(rates.values()) > 0.0
        assert len(rates) <= 2
    with pytest.raises(errors.ValueOutOfBoundsError, match="neurons were recorded by this process"):
        parts[1].of(rv.Segment("exc", 0, 100))


# ---- files that do not belong together -------------------------------------------------------------------------------


@pytest.fixture
def parts(folder: Path, suffix: str, tmp_path: Path) -> Path:
    """Return the name by which a copy of the files of all ranks is read."""
    for rank in range(RANKS):
        shutil.copy(folder / f"local/spikes.rank{rank}{suffix}", tmp_path)
    return tmp_path / f"spikes{suffix}"


def record_alone(path: Path) -> rv.SpikeData:
    """Record with one process to the same name."""
    net = rv.Network()
    recorder = net.record_spikes(net.create("iaf_psc_exp", 2, I_e=500.0), to=path, overwrite=True)
    sim = rv.Simulation(net)
    sim.run(20.0)
    return sim.spikes(recorder)


def test_a_rank_that_is_missing(parts: Path) -> None:
    path_of_rank(parts, 1).unlink()
    with pytest.raises(errors.FileError, match=r"spikes\.rank1\.(h5|csv): it is missing: .* one of 3 files"):
        rv.read_spikes(parts)


def rewrite(path: Path, end: int | None = None, **metadata: object) -> None:
    """Write a recording of spikes again, up to a step, with something else told of it."""
    recorded = csv_files.read(path) if path.suffix == ".csv" else hdf5_files.read(path)
    told = {**recorded.metadata, **metadata, "end": recorded.metadata["begin"]}
    end = recorded.metadata["end"] if end is None else end
    fixed = {name: recorded.columns[name] for name in told.pop("fixed")}
    columns = {name: recorded.columns[name] for name in told.pop("columns")}
    here = columns["steps"] <= end
    empty = {name: column[:0] for name, column in columns.items()}
    file = files.create(path, "spikes", told, fixed, empty, overwrite=True)
    file.append({name: column[here] for name, column in columns.items()}, end)


def test_a_rank_of_another_run(parts: Path, folder: Path) -> None:
    stale = path_of_rank(parts, 2)
    rewrite(stale, run_id="another", created=0.0)
    with pytest.raises(errors.FileError, match=r"spikes\.rank2\.(h5|csv): it is of another run than .*rank[01]"):
        rv.read_spikes(parts)


def test_a_kind_that_was_not_asked_for(parts: Path) -> None:
    with pytest.raises(errors.FileError, match="a recording of state is needed"):
        rv.read_state(parts)


def test_the_newer_run_counts(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    newer = record_alone(tmp_path / "alone" / parts.name)
    of_ranks = rv.read_spikes(parts)
    shutil.copy(tmp_path / "alone" / parts.name, parts)
    assert_same(rv.read_spikes(parts), newer)
    # The other way round.
    rewrite(parts, created=1.0)
    assert_same(rv.read_spikes(parts), of_ranks)
    parts.write_text("something else")
    assert_same(rv.read_spikes(parts), of_ranks)


def test_a_new_simulation_removes_what_is_left_of_ranks(parts: Path) -> None:
    alien = parts.with_name(f"spikes.rank7{parts.suffix}")
    alien.write_text("not a recording")
    assert peek(path_of_rank(parts, 2)) is not None
    spikes = record_alone(parts)
    assert {path.name for path in parts.parent.iterdir()} == {parts.name, alien.name}
    assert_same(rv.read_spikes(parts), spikes)


def test_files_that_reach_less_far_are_read_as_far(parts: Path) -> None:
    stop = 400
    rewrite(path_of_rank(parts, 1), end=stop)
    with pytest.warns(rv.errors.IncompleteRecordingWarning, match="whole up to 40 ms"):
        before = rv.read_spikes(parts)
    assert before.end == stop < round(sum(PIECES) * 10)
    assert before.steps.max() <= stop


OWN_NEURONS = """
import numpy as np
import ranvier as rv
from ranvier import mpi

world = mpi.world()
net = rv.Network()
first, second, third = (net.create("iaf_psc_exp", n, I_e=500.0, name=f"p{n}") for n in (40, 2, 60))
kept = net.record_spikes([third[5:], first])
files = [net.record_spikes([third[5:], first], to=f"spikes{suffix}", overwrite=True) for suffix in (".h5", ".csv")]
given = np.arange(102) ** 2 % 7 % world.size
given[40:42] = 0
for placement in ("round_robin", "consecutive", "shuffle", given):
    sim = rv.Simulation(net, threads=2, recordings="local", processes=rv.Processes(placement=placement))
    sim.run(50.0)
    own = sim.spikes(kept)
    ids = own.recorded_ids()
    # All neurons do the same.
    for name, count in own.counts().items():
        assert count.tolist() == [3] * len(ids[name])
    here = np.concatenate(list(ids.values()))
    everywhere = [np.frombuffer(data, dtype=np.int64) for data in world.allgather(here.tobytes())]
    assert sorted(np.concatenate(everywhere).tolist()) == [*range(40), *range(47, 102)]
    if not isinstance(placement, str):
        assert (given[here] == world.rank).all()
    for file in files:
        alone = rv.read_spikes(file.to.with_name(f"{file.to.stem}.rank{world.rank}{file.to.suffix}"))
        assert alone.covered == own.covered
        assert alone.digest() == own.digest()
        whole = sim.spikes(file)
        assert whole.covered is None
        assert len(whole) == 3 * 95
        assert whole.of(first[3:9]).mean_rates() == {"p40[3:9]": 60.0}
print("fine")
"""


@pytest.mark.thorough
@any_family
def test_each_process_knows_its_neurons_for_every_placement(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, RANKS, OWN_NEURONS, folder=tmp_path)
    assert done.status == 0, done.errors
    assert all(output.split() == ["fine"] for output in done.outputs)


FEWER_FILES = """
import ranvier as rv
from ranvier import mpi

net = rv.Network()
recorder = net.record_spikes(net.create("iaf_psc_exp", 5, I_e=500.0), to="spikes.h5", overwrite=True)
other = net.record_state(net.populations[0], "V_m", to="state.csv", overwrite=True)
sim = rv.Simulation(net, recordings="local")
sim.run(50.0)
spikes = sim.spikes(recorder)
print(spikes.digest(), len(spikes), sim.state(other).values.sum())
"""


@pytest.mark.parametrize("numbers", [(2, 1), pytest.param((3, 1, 2), marks=pytest.mark.thorough)], ids=str)
def test_the_same_script_on_any_number_of_ranks(numbers: tuple[int, ...], tmp_path: Path) -> None:
    printed = set()
    # From more to fewer, over what the run before has left.
    for ranks in numbers:
        done = run_python(WHEELS[1], ranks, FEWER_FILES, folder=tmp_path)
        assert done.status == 0, done.errors
        printed.update(done.outputs)
        found = {path.name for path in tmp_path.iterdir() if path.suffix in SUFFIXES}
        names = {Path("spikes.h5"), Path("state.csv")}
        apart = {path_of_rank(name, rank).name for name in names for rank in range(ranks)}
        assert found == (apart if ranks > 1 else {name.name for name in names})
    assert len(printed) == 1
    assert int(printed.pop().split()[1]) > 5
