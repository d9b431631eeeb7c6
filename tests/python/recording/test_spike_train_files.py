"""Spike trains from files of any origin are read, checked, and played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors

IDS = np.array([7, 3, 7, 3, 9])
TIMES = np.array([5.0, 2.5, 1.0, 30.25, 8.0])
TRAINS = [[2.5, 30.25], [1.0, 5.0], [8.0]]


def lists(trains: list[Any]) -> list[list[float]]:
    return [train.tolist() for train in trains]


@pytest.mark.parametrize(
    "text",
    [
        "7,5\n3,2.5\n7,1.0\n3,30.25\n9,8\n",
        "neuron,time_ms\n7,5\n3,2.5\n\n7,1.0\n3,30.25\n9,8",
        "# of an experiment\nt,i\n5,7\n2.5,3\n1e0,7\n30.25,3\n8,9\n",
        "step,time_ms,neuron\n50,5,7\n25,2.5,3\n10,1.0,7\n302,30.25,3\n80,8,9\n",
    ],
)
def test_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spikes.csv"
    path.write_text(text)
    assert lists(rv.read_spike_trains(path)) == TRAINS
    assert lists(rv.read_spike_trains(path, neurons=[9, 4, 3])) == [TRAINS[2], [], TRAINS[0]]


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "spikes.npz", ids=IDS, times=TIMES)
    np.save(tmp_path / "spikes.npy", np.stack([IDS, TIMES], axis=1))
    for name in ("spikes.npz", "spikes.npy"):
        assert lists(rv.read_spike_trains(tmp_path / name)) == TRAINS
    on_grid = rv.read_spike_trains(tmp_path / "spikes.npy", resolution=0.1, shift=-2.0)
    assert lists(on_grid) == [pytest.approx([0.5, 28.3]), pytest.approx([3.0]), pytest.approx([6.0])]
    assert len(rv.Network().create_spike_generators(on_grid)) == 3


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_a_recording_is_played_again(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"spikes{suffix}"
    net = rv.Network(seed=1)
    sources = net.create(rv.gamma_generator(rate=60.0, shape=2.0), 20)
    recorder = net.record_spikes(sources[::2], to=path)
    sim = rv.Simulation(net, progress=False)
    sim.run(100.0)
    trains = rv.read_spike_trains(path)
    assert len(trains) == 10
    again = rv.Network(seed=2)
    played = again.create_spike_generators(trains)
    second = again.record_spikes(played)
    later = rv.Simulation(again, progress=False, threads=2)
    later.run(100.0)
    first, repeated = sim.spikes(recorder), later.spikes(second)
    assert len(first) > 30
    assert np.array_equal(repeated.steps, first.steps)
    assert np.array_equal(2 * repeated.ids, first.ids)
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"1.*not recorded"):
        rv.read_spike_trains(path, neurons=[0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2.0\n1,x\n", "line 2 of file"),
        ("1,2.0\n1\n", "line 2 of file"),
        ("neuron,time_ms\n1,2.0\n-1,3.0\n", "line 3 of file"),
        ("1,2.0\n1.5,3.0\n", "line 2 of file"),
        ("1,0.0\n", "line 1 of file"),
        ("1,nan\n", "line 1 of file"),
        ("1,1e999\n", "line 1 of file"),
        ("a,b\n1,2\n", "line 1 of file.*neuron"),
        ("neuron,id,time\n1,1,2\n", "line 1 of file"),
    ],
)
def test_bad_lines(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spikes.csv"
    path.write_text(text)
    with pytest.raises(errors.FileError, match=message):
        rv.read_spike_trains(path)


@pytest.mark.parametrize(
    ("save", "message"),
    [
        (lambda path: np.save(path, np.ones((3, 3))), "two columns"),
        (lambda path: np.save(path, np.array([[1.5, 2.0]])), "spike 0 of file"),
        (lambda path: np.save(path, np.array([[1.0, 2.0], [1.0, np.nan]])), "spike 1 of file"),
        (lambda path: np.save(path, np.array(["a"])), "it must have numbers"),
        (lambda path: np.save(path, np.array([{}], dtype=object), allow_pickle=True), "not a file of NumPy"),
        (lambda path: path.write_bytes(b"nothing"), "not a file of NumPy"),
        (lambda path: path.write_bytes(b""), "not a file of NumPy"),
    ],
)
def test_bad_arrays(save: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spikes.npy"
    save(path)
    with pytest.raises(errors.FileError, match=message):
        rv.read_spike_trains(path)


def test_bad_archives(tmp_path: Path) -> None:
    path = tmp_path / "spikes.npz"
    np.savez(path, ids=IDS, time=TIMES)
    with pytest.raises(errors.FileError, match="no array times"):
        rv.read_spike_trains(path)
    np.savez(path, ids=IDS[:-1], times=TIMES)
    with pytest.raises(errors.FileError, match="each spike"):
        rv.read_spike_trains(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(errors.FileError, match="not a file of NumPy"):
        rv.read_spike_trains(path)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match="cannot be read"):
        rv.read_spike_trains(tmp_path / "absent.csv")
    (tmp_path / "spikes.txt").write_text("1,2\n")
    with pytest.raises(errors.FileError, match="end in"):
        rv.read_spike_trains(tmp_path / "spikes.txt")
    np.savez(tmp_path / "empty.npz", ids=np.empty(0), times=np.empty(0))
    assert rv.read_spike_trains(tmp_path / "empty.npz") == []
    for resolution in (0.0, -1.0, np.inf):
        with pytest.raises(errors.ValueOutOfBoundsError, match="resolution"):
            rv.read_spike_trains(tmp_path / "empty.npz", resolution=resolution)
