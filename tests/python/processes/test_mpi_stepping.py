"""Asynchronous stepping on several processes: the same bits as in epochs on one, and the same end for all."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from mpi_families import any_family
from mpi_runs import WHEELS, Installation, run_python, started_ranks
from mpi_stepping import SCENES, TIME, outcome, simulate
from ranvier.simulation.options import grouped
from repository import SUPPORT

HELPERS = {"PYTHONPATH": str(SUPPORT)}

# A step at the beginning, and the rest in two pieces.
PIECES = [0.1, 4.9, TIME - 5.0]

WAYS: list[dict[str, Any]] = [
    {"scene": "cells", "threads": 1},
    {"scene": "cells", "threads": 1, "shards": 6, "notifications": "single", "placement": "shuffle"},
    {"scene": "learning", "threads": 1, "shards": 3, "recordings": "everywhere"},
    {"scene": "learning", "threads": 2, "shards": 5, "placement": "consecutive", "saves": True},
    {"scene": "mixed", "threads": 1, "shards": 2, "row_numbering": "compact"},
    {"scene": "mixed", "threads": 1, "shards": 4, "notifications": "single", "saves": True},
    {"scene": "one_cell", "threads": 1, "shards": 2},
    {"scene": "no_slack", "threads": 1, "shards": 2},
    {"scene": "no_slack", "threads": 1, "shards": 3, "connection_buffer": 1},
]


@functools.cache
def expected(scene: str) -> str:
    return outcome(simulate(scene, PIECES, threads=1))


def check_ways(where: Installation, ranks: int, chosen: list[dict[str, Any]], folder: Path) -> None:
    """Run in some ways, and see that all give what one process gives with epochs."""
    ways = [{"pieces": PIECES, "stepping": "async", **way} for way in chosen]
    (folder / "ways.json").write_text(json.dumps(ways))
    done = run_python(where, ranks, SUPPORT / "mpi_stepping.py", "ways.json", "found.json", folder=folder)
    assert done.status == 0, f"{done.outputs[0].splitlines()[-1:]} {done.errors}"
    found = json.loads((folder / "found.json").read_text())
    pairs = list(zip(chosen, found, strict=True))
    assert [way for way, result in pairs if result["outcome"] != expected(way["scene"])] == []
    for way, result in pairs:
        if way.get("saves"):
            continue
        assert result["exchange"] == way.get("notifications", "packed") + " notifications", way
        assert result["visits"] > 0, way
        if way["scene"] != "one_cell":
            assert result["messages"] > 10, way
            assert result["notifications"] > 10, way
        if way.get("notifications") == "single":
            assert result["messages"] >= result["notifications"]


@pytest.mark.parametrize(
    ("where", "ranks", "chosen"),
    [
        pytest.param(WHEELS[0], 3, WAYS[::2], marks=pytest.mark.thorough, id="half"),
        pytest.param(WHEELS[1], 2, [WAYS[1], WAYS[3]], id="two"),
        pytest.param(WHEELS[1], 2, [WAYS[5], WAYS[7]], marks=pytest.mark.thorough, id="others"),
    ],
)
def test_same_bits(where: Installation, ranks: int, chosen: list[dict[str, Any]], tmp_path: Path) -> None:
    """Each way once; all with all families are in tests/python/validation."""
    check_ways(where, ranks, chosen, tmp_path)


def test_scenes_are_active() -> None:
    for scene in SCENES:
        sim = simulate(scene, PIECES, threads=1)
        spikes = next(each for each in sim.network.recorders if isinstance(each, rv.SpikeRecorder))
        assert len(sim.spikes(spikes)) > (0 if scene == "one_cell" else 5), scene


STOPPED = """
import signal

import ranvier as rv
from mpi_stepping import SCENES
from ranvier import mpi

net = SCENES["learning"]()
rank = mpi.world().rank
sim = rv.Simulation(net, progress=False, threads=1, stepping="async", tuning=rv.Tuning(shards=3), recordings="root")
try:
    if rank == 1:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
    sim.run(1e7)
except KeyboardInterrupt:
    print("interrupted", sim.step)
except rv.errors.RemoteError as error:
    print("told", sim.step, "" if "rank 1" in str(error) or "interrupted" in str(error) else error)
signal.setitimer(signal.ITIMER_REAL, 0.0)
sim.run(2.0)
spikes = net.recorders[0]
print(sim.step, sim.spikes(spikes).digest())
"""


@pytest.mark.usefixtures("interrupts")
@any_family
def test_all_stop_at_one_step_and_go_on(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 2, STOPPED, folder=tmp_path, environment=HELPERS, timeout=120)
    assert done.status == 0, done.errors
    (told, own, after), (interrupted, step, _) = (
        (lines[0].split()[0], int(lines[0].split()[1]), lines[1].split())
        for lines in (output.splitlines() for output in done.outputs)
    )
    assert (told, interrupted) == ("told", "interrupted")
    assert own == step
    net = SCENES["learning"]()
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run_until(step * net.resolution + 2.0)
    recorder = net.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    assert after == [str(sim.step), sim.spikes(recorder).digest()]


KILLED = """
from pathlib import Path
import os

import ranvier as rv
from mpi_stepping import SCENES
from ranvier import mpi

sim = rv.Simulation(SCENES["cells"](), progress=False, threads=1, stepping="async", tuning=rv.Tuning(shards=4))
sim.run(1.0)
Path(f"pid.{mpi.world().rank}").write_text(str(os.getpid()))
sim.run(1e7)
"""


@any_family
def test_a_rank_that_dies_ends_all(where: Installation, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(KILLED)
    command = [sys.executable, str(tmp_path / "script.py")]
    pids = [tmp_path / f"pid.{rank}" for rank in range(3)]
    with started_ranks(where, 3, command, folder=tmp_path, environment=HELPERS) as mpiexec:
        deadline = time.monotonic() + 100.0
        while not all(path.is_file() and path.read_text() for path in pids):
            assert time.monotonic() < deadline
            assert mpiexec.poll() is None, (tmp_path / "errors").read_text()
            time.sleep(0.05)
        os.kill(int(pids[1].read_text()), signal.SIGKILL)
        assert mpiexec.wait(60) != 0


REFUSED = """
import ranvier as rv
from mpi_stepping import SCENES
from ranvier.simulation.options import grouped

net = SCENES["learning"]()
for options in ({"exchange": "alltoall"}, {"keep_sources": False}, {"wait_apart": True}, {"sort_connections": False}):
    try:
        rv.Simulation(net, progress=False, threads=1, stepping="async", **grouped(options))
    except rv.errors.StateError as error:
        print(error)
"""


@any_family
def test_epoch_methods_are_refused(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 2, REFUSED, folder=tmp_path, environment=HELPERS)
    assert done.status == 0, done.errors
    for output in done.outputs:
        exchange, sources, apart, unsorted = output.splitlines()
        assert "exchange=alltoall" in exchange
        assert "leave out the exchange" in exchange
        assert "keep sources" in sources
        assert "leave out wait_apart" in apart
        assert "sort connections" in unsorted


PREDICTED = """
import ranvier as rv
from ranvier.networks import layers
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory

for notifications in ("packed", "single"):
    model = layers(cells=400, compartments=1)
    options = grouped({"stepping": "async", "threads": 1, "shards": 8, "notifications": notifications})
    sim = rv.Simulation(model.net, progress=False, recordings="everywhere", **options)
    sim.run(50.0)
    rate = len(sim.spikes(model.spikes)) / 400 / 0.05
    predicted = predict_memory(model.net, ranks=2, rate=rate, time=50.0, **options)
    print(sim.memory()["exchange"], predicted["exchange"])
"""


@pytest.mark.thorough
@any_family
def test_memory_of_notifications_is_predicted(where: Installation, tmp_path: Path) -> None:
    """And not that of an exchange in epochs, which takes many times as much."""
    done = run_python(where, 2, PREDICTED, folder=tmp_path, environment=HELPERS)
    assert done.status == 0, done.errors
    for output in done.outputs:
        for line in output.splitlines():
            taken, predicted = map(int, line.split())
            assert predicted == pytest.approx(taken, rel=0.25)


def test_single_notifications_need_asynchronous_stepping() -> None:
    with pytest.raises(rv.errors.StateError, match=r"notifications.*stepping=async"):
        rv.Simulation(SCENES["one_cell"](), progress=False, **grouped({"notifications": "single"}))
