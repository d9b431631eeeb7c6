"""Cells of several shapes beside point neurons with other steps: the same bits, run, saved and killed in any way."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from full_disk import files_limited_to
from killed_saves import check_what_is_left, save_until_killed
from mixed_cells import described, result
from mpi_runs import WHEELS, run_python
from ranvier import _core
from repository import SUPPORT
from thorough_cases import only

WAYS: list[dict[str, Any]] = [
    *({"threads": 1 + each, "instruction_set": name} for each, name in enumerate(_core.instruction_sets())),
    {"threads": 3, "instruction_set": "baseline", "placement": "shuffle"},
]


@functools.cache
def reference() -> str:
    return result(threads=1, instruction_set="baseline")


def test_the_network_can_tell_something() -> None:
    sim = rv.Simulation(described(), progress=False)
    before = sim.connections().weights
    sim.run(6.0)
    for population in sim.network.populations[:3]:
        (recorder,) = (each for each in sim.network.recorders if isinstance(each, rv.SpikeRecorder))
        spikes = sim.spikes(recorder)
        fired = spikes.ids[(spikes.ids >= population.first_id) & (spikes.ids < population.first_id + len(population))]
        assert len(set(fired.tolist())) > len(population) / 2, population.name
    assert (sim.connections().weights != before).sum() > 20


@pytest.mark.parametrize("options", only(WAYS[-2:], WAYS), ids=str)
def test_same_bits_on_threads_and_with_any_instruction_set(options: dict[str, Any]) -> None:
    assert result(**options) == reference()


def test_same_bits_when_it_is_saved_and_loaded(tmp_path: Path) -> None:
    """By other threads, with another instruction set."""
    again = {"threads": 3, "instruction_set": "baseline"}
    assert result(tmp_path / "state.h5", again, threads=2) == reference()


@pytest.mark.thorough
def test_same_bits_on_processes(tmp_path: Path) -> None:
    """With two ways to exchange spikes, cut, saved and loaded."""
    asked = [
        [False, {"threads": 1, "exchange": "alltoallv"}],
        [True, {"threads": 2, "exchange": "allgather", "instruction_set": "baseline"}],
    ]
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    done = run_python(
        WHEELS[0], 3, SUPPORT / "mixed_cells.py", "asked.json", "found.json", folder=tmp_path, timeout=240
    )
    assert done.status == 0, done.errors
    assert json.loads((tmp_path / "found.json").read_text()) == [reference()] * len(asked)


@pytest.mark.thorough
def test_what_a_kill_leaves(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    save_until_killed(path, random.Random(5), described)
    check_what_is_left(path, described)


@pytest.mark.thorough
def test_a_full_disk_leaves_the_state_that_was_saved_before(tmp_path: Path) -> None:
    """And the simulation, which goes on and can be saved where there is room."""
    path = tmp_path / "state.h5"
    sim = rv.Simulation(described(), progress=False)
    sim.run(1.0)
    sim.save(path)
    before, size = path.read_bytes(), path.stat().st_size
    sim.run(0.5)
    for room in (0, 1000, size // 2, size - 4096):
        with files_limited_to(room), pytest.raises(rv.errors.FileError):
            sim.save(path)
        assert list(tmp_path.iterdir()) == [path]
        assert path.read_bytes() == before
    sim.save(path)
    sim.run(2.0)
    loaded = rv.Simulation.load(described(), path, progress=False)
    loaded.run(2.0)
    for recorder, other in zip(sim.network.recorders, loaded.network.recorders, strict=True):
        if isinstance(recorder, rv.StateRecorder) and isinstance(other, rv.StateRecorder):
            found = loaded.state(other).values
            assert (found == sim.state(recorder).values[-len(found) :]).all()
