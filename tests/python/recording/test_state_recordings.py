"""Recordings in files go on in the same files where they were when the state was saved."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from state_scenes import HALF, with_synapses
from thorough_cases import only, quick_if

# Files in HDF5 take several times as long.
EACH_SUFFIX = only([".csv"], [".h5", ".csv"])


def recorded(folder: Path, suffix: str, *, overwrite: bool = False) -> rv.Network:
    net = with_synapses("stdp")
    exc = net.populations[0]
    net.record_spikes(exc, to=folder / f"spikes{suffix}", overwrite=overwrite)
    net.record_state(exc[:4], ["V_m", "I_syn_ex"], 0.5, to=folder / f"state{suffix}", overwrite=overwrite)
    net.record_weights(net.projections[0], 3.0, to=folder / f"weights{suffix}", overwrite=overwrite)
    return net


def content(folder: Path, suffix: str) -> list[bytes]:
    """Return all that the files have, which must be complete."""
    spikes = rv.read_spikes(folder / f"spikes{suffix}")
    state = rv.read_state(folder / f"state{suffix}")
    weights = rv.read_weights(folder / f"weights{suffix}")
    assert len(spikes) > 20
    arrays = [spikes.steps, spikes.ids, state.steps, state.values, weights.steps, weights.weights]
    return [*(array.tobytes() for array in arrays), str((spikes.begin, spikes.end)).encode()]


def size_of(path: Path) -> int:
    """Return the size of a file, 0 of one that is not there: it comes and goes while it is found writable."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def folder_in(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


@pytest.mark.parametrize("suffix", EACH_SUFFIX)
def test_recordings_in_files_go_on(suffix: str, tmp_path: Path) -> None:
    whole, cut = folder_in(tmp_path, "whole"), folder_in(tmp_path, "cut")
    plain = rv.Simulation(recorded(whole, suffix), progress=False)
    plain.run(2.0 * HALF)
    sim = rv.Simulation(recorded(cut, suffix), progress=False, threads=2)
    sim.run(HALF)
    sim.save(tmp_path / "state.h5")
    # What comes later is recorded again.
    sim.run(17.0)
    del sim
    net = recorded(cut, suffix)
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False, threads=1)
    loaded.run(HALF)
    assert content(cut, suffix) == content(whole, suffix)
    recorder = net.recorders[-1]
    assert isinstance(recorder, rv.WeightRecorder)
    assert loaded.weights(recorder).weights.tobytes() == content(whole, suffix)[5]


@pytest.mark.parametrize("suffix", EACH_SUFFIX)
def test_recordings_go_on_after_a_kill(suffix: str, tmp_path: Path) -> None:
    whole, cut, state = folder_in(tmp_path, "whole"), folder_in(tmp_path, "cut"), tmp_path / "state.h5"
    process = os.fork()
    if process == 0:
        try:
            sim = rv.Simulation(recorded(cut, suffix), progress=False, threads=1)
            sim.run(1e6, save_every=2.0, to=state)
        finally:
            os._exit(1)
    while size_of(state) == 0:
        time.sleep(0.001)
    time.sleep(random.Random(suffix).uniform(0.0, 0.1))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    loaded = rv.Simulation.load(recorded(cut, suffix), state, progress=False)
    loaded.run(HALF)
    plain = rv.Simulation(recorded(whole, suffix), progress=False)
    plain.run(loaded.time)
    assert content(cut, suffix) == content(whole, suffix)


@pytest.mark.parametrize(
    ("suffix", "harm"),
    quick_if(
        lambda suffix, harm: (suffix == ".h5") == (harm == "changed"),
        itertools.product([".h5", ".csv"], ["missing", "short", "changed", "another"]),
    ),
)
def test_other_files_are_refused_and_kept(suffix: str, harm: str, tmp_path: Path) -> None:
    folder, state = folder_in(tmp_path, "files"), tmp_path / "state.h5"
    sim = rv.Simulation(recorded(folder, suffix), progress=False)
    sim.run(HALF)
    sim.save(state)
    path = folder / f"spikes{suffix}"
    data = path.read_bytes()
    if harm == "missing":
        path.unlink()
    elif harm == "short":
        path.write_bytes(data[: len(data) // 2])
    elif harm == "changed":
        steps = sim.spikes(sim.network.recorders[-3]).steps  # type: ignore[arg-type]
        number = str(steps[-1]).encode() if suffix == ".csv" else np.float64(0.1 * steps[-1]).round(6).tobytes()
        assert number in data
        path.write_bytes(data.replace(number, number[:-1] + bytes([number[-1] ^ 1])))
    else:
        rv.Simulation(recorded(folder, suffix, overwrite=True), progress=False).run(2.0 * HALF)
    before = path.read_bytes() if path.exists() else b""
    with pytest.raises(rv.errors.FileError, match="spikes"):
        rv.Simulation.load(recorded(folder, suffix), state, progress=False)
    assert (path.read_bytes() if path.exists() else b"") == before


def test_a_recorder_in_a_file_is_not_one_in_memory(tmp_path: Path) -> None:
    sim = rv.Simulation(recorded(tmp_path, ".h5"), progress=False)
    sim.save(tmp_path / "saved.h5")
    net = with_synapses("stdp")
    exc = net.populations[0]
    net.record_spikes(exc)
    net.record_state(exc[:4], ["V_m", "I_syn_ex"], 0.5)
    net.record_weights(net.projections[0], 3.0)
    with pytest.raises(rv.errors.StateError, match=r"in memory, and .* in a file in the saved state"):
        rv.Simulation.load(net, tmp_path / "saved.h5", progress=False)
