"""Devices of several ranks give the spikes, states and counts of processors, and fail together."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import mixed_cells
import ranvier as rv
from mpi_devices import METHODS, PIECE, Scene, change, options_of, outcome, scene
from mpi_runs import Installation, installation, run_python
from ranvier.processes.mpi_library import MPICH, OPEN_MPI
from repository import SUPPORT
from test_devices_thorough import outcome as outcome_of_random
from thorough_cases import only

EMULATOR = "cuda-emulator"


def run(where: Installation, ranks: int, folder: Path, *arguments: str) -> list[Any]:
    """Return what each rank tells."""
    done = run_python(where, ranks, SUPPORT / "mpi_devices.py", *arguments, folder=folder)
    assert done.status == 0, (done.outputs, done.errors)
    return [json.loads((folder / f"told.{rank}.json").read_text()) for rank in range(ranks)]


def changed_on_processors(drawn: Scene, before: float = 0.0) -> dict[str, Any]:
    sim = rv.Simulation(drawn.net, **options_of("cpu"))
    sim.run(before)
    change(drawn, sim)
    return outcome(drawn, sim)


# tests/cpp/test_rank_networks.cpp has all methods, with threads as processes.
FEW = ("alltoall", "allgather_overlap")


@pytest.mark.parametrize(
    ("family", "ranks", "methods"),
    only([(OPEN_MPI, 3, FEW)], [(OPEN_MPI, 3, FEW), (OPEN_MPI, 3, tuple(METHODS)), (MPICH, 2, tuple(METHODS))]),
)
def test_changes_have_the_effects_of_those_on_processors(
    family: Any, ranks: int, methods: tuple[str, ...], tmp_path: Path
) -> None:
    told = run(installation(family, "wheel"), ranks, tmp_path, "change", EMULATOR, *methods)
    expected = changed_on_processors(scene())
    assert expected["counts"][0] > 200
    found = [dict(zip(methods, each, strict=True)) for each in told]
    assert [(rank, name) for rank in range(ranks) for name in methods if found[rank][name] != expected] == []


# From one rank to three and back, and from processors to devices and back.
@pytest.mark.parametrize(
    ("saved", "ranks", "loads"),
    only(
        [(EMULATOR, 3, [(EMULATOR, 2)])],
        [(EMULATOR, 3, [(EMULATOR, 2)]), ("cpu", 1, [(EMULATOR, 3)]), (EMULATOR, 3, [("cpu", 2), (EMULATOR, 1)])],
    ),
)
def test_states_go_on_elsewhere(saved: str, ranks: int, loads: list[tuple[str, int]], tmp_path: Path) -> None:
    where = installation(MPICH, "wheel")
    expected = changed_on_processors(scene(), before=PIECE)
    run(where, ranks, tmp_path, "save", saved)
    for loaded, ranks_of_load in loads:
        assert run(where, ranks_of_load, tmp_path, "load", loaded) == [expected] * ranks_of_load, (
            loaded,
            ranks_of_load,
        )


@pytest.mark.thorough
@pytest.mark.parametrize("recordings", ["everywhere", "local"])
def test_recordings_to_files_are_those_of_processors(recordings: str, tmp_path: Path) -> None:
    run(installation(MPICH, "wheel"), 2, tmp_path, "files", EMULATOR, recordings)
    drawn = scene()
    sim = rv.Simulation(drawn.net, **options_of("cpu"))
    change(drawn, sim)
    assert rv.read_spikes(tmp_path / "spikes.csv").digest() == sim.spikes(drawn.spikes).digest()
    written, wanted = rv.read_state(tmp_path / "states.csv"), sim.state(drawn.states)
    assert written.values.tobytes() == wanted.values.tobytes()


def test_detailed_cells_have_the_bits_of_processors(tmp_path: Path) -> None:
    """On three ranks, with point neurons and synapses that learn, and a state that goes on on processors."""
    asked: list[tuple[bool, dict[str, Any]]] = [
        (False, {"device": EMULATOR}),
        (True, {"device": EMULATOR, "again": {}, "exchange": "alltoall"}),
    ]
    given = [[saves, {"point_step": 0.025, **options}] for saves, options in asked]
    (tmp_path / "asked.json").write_text(json.dumps(given))
    where = installation(MPICH, "wheel")
    done = run_python(where, 3, SUPPORT / "mixed_cells.py", "asked.json", "found.json", folder=tmp_path)
    assert done.status == 0, (done.outputs, done.errors)
    assert json.loads((tmp_path / "found.json").read_text()) == [mixed_cells.result(point_step=0.025)] * 2


def test_all_stop_when_one_fails(tmp_path: Path) -> None:
    told = run(installation(MPICH, "wheel"), 2, tmp_path, "fail", EMULATOR)
    others, failed = told
    assert [each["interrupted"][0] for each in told] == ["RemoteError", "KeyboardInterrupt"]
    assert others["step"] == failed["step"] > 153
    for when in ("failed", "again"):
        assert others[when][0] == "RemoteError"
        assert "rank 1 failed" in others[when][1]
        assert failed[when][0] == "StateError"
        assert re.match(r"neuron \d+ of '\w+' on a device is in step \d+", failed[when][1])
    for what in ("save", "get"):
        assert others[what][0] == "RemoteError"
        assert failed[what][0] == "StateError"
        assert "lost when the last run failed" in failed[what][1]
    assert not (tmp_path / "lost.h5").exists()
    before, end = others["before"], others["end"]
    assert end == failed["end"]
    assert before < end < before + 1000, "they stop long before the end of the run"
    # Nothing of what was recorded until then is lost.
    drawn = scene()
    sim = rv.Simulation(drawn.net, **options_of("cpu"))
    sim.run_until(0.1 * before)
    written, wanted = rv.read_spikes(tmp_path / "spikes.csv"), sim.spikes(drawn.spikes)
    until = written.steps <= before
    assert list(zip(written.steps[until], written.ids[until], strict=True)) == list(
        zip(wanted.steps, wanted.ids, strict=True)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 3])
def test_random_networks_have_the_bits_of_processors(ranks: int, tmp_path: Path) -> None:
    first, last = 60 * (ranks - 2), 60 * (ranks - 1)
    told = run(installation(MPICH, "wheel"), ranks, tmp_path, "random", EMULATOR, str(first), str(last))
    firing = refused = 0
    for seed in range(first, last):
        if told[0][seed - first][0] == "refused":
            assert [each[seed - first] for each in told] == [told[0][seed - first]] * ranks, seed
            refused += 1
            continue
        digest, spikes, states = outcome_of_random(seed, 1, threads=2)
        expected = [digest, spikes, hashlib.sha256(states).hexdigest()]
        firing += spikes > 30
        assert [each[seed - first] for each in told] == [expected] * ranks, seed
    assert refused < 6
    assert firing > 30
