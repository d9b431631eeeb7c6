"""What fails on one rank fails on all, which go on if they catch it, or ends the whole run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from mpi_families import any_family
from mpi_runs import SETTINGS, Installation, installation, run_python
from ranvier import _core
from ranvier.processes.mpi_library import MPICH
from repository import SUPPORT
from small_networks import balanced

RANKS = 3
HELPERS = {"PYTHONPATH": str(SUPPORT)}


# What fails on rank 1 alone.
ALONE = {
    "bad option": "UnknownNameError",
    "unknown population": "UnknownNameError",
    "short placement": "ShapeError",
    "no memory": "InsufficientMemoryError",
    "existing file": "FileError",
    "bad weights": "ShapeError",
    "bad duration": "ValueOutOfBoundsError",
    "the past": "ValueOutOfBoundsError",
    "bad shape": "ShapeError",
    "bad ids": "ValueOutOfBoundsError",
    "another network's population": "StateError",
    "another network's recorder": "StateError",
    "exception in a progress function": "ValueError",
    "interrupt": "KeyboardInterrupt",
}


@pytest.mark.usefixtures("interrupts")
def test_all_ranks_catch_it_and_go_on(tmp_path: Path) -> None:
    """`make validate` has both families, more ranks and threads, files in HDF5, and larger ones."""
    check_that_all_ranks_catch_it_and_go_on(installation(MPICH, "wheel"), 2, ["1", "0.4", ".csv"], tmp_path)


def check_that_all_ranks_catch_it_and_go_on(
    where: Installation, ranks: int, arguments: list[str], tmp_path: Path
) -> None:
    program = SUPPORT / "mpi_failures.py"
    done = run_python(where, ranks, program, *arguments, folder=tmp_path, environment=HELPERS, timeout=120)
    assert done.status == 0, done.errors
    assert {path.name: path.read_text() for path in tmp_path.glob("existing*")} == {"existing.rank1.csv": "precious"}
    told: list[dict[str, Any]] = [json.loads(output) for output in done.outputs]
    caught = [each["caught"] for each in told]
    disks = {
        f"full disk, {way}{suffix}{attempt}": rank
        for way, rank in (("local", 1), ("everywhere", 0))
        for suffix in arguments[2:]
        for attempt in ("", ", again")
    }
    for name, who in {**dict.fromkeys(ALONE, 1), **disks}.items():
        for rank in range(ranks):
            kind, message = caught[rank].pop(name)
            if rank == who:
                assert kind == ALONE.get(name, "FileError"), message
            else:
                assert kind == "RemoteError", (name, message)
                assert f"rank {who} failed" in message
    for name in (
        "another method",
        "other recordings",
        "another network",
        "another seed",
        "other positions",
        "one more file",
        "unknown variable",
        "bad value",
        "another duration",
    ):
        for rank in range(ranks):
            kind, message = caught[rank].pop(name)
            assert kind == "RemoteError", (name, message)
            assert name != "other positions" or "population 'pair' is not the same on all ranks" in message
    for name, calls in {
        "another call": ("'steps to run'", "'connections'"),
        "another call for values": ("'getting values of neurons'", "'gathering values of all processes'"),
    }.items():
        for rank in range(ranks):
            kind, message = caught[rank].pop(name)
            assert kind == "RemoteError", (name, message)
            assert f"rank 0 is at {calls[0]}, and rank 1 at {calls[1]}" in message
    for rank in range(ranks):
        mended = {name: error for name, error in caught[rank].items() if name.endswith("mended")}
        assert len(mended) == 2 * len(arguments[2:])
        assert all(error == ["ArithmeticError", "all is there"] for error in mended.values()), mended
        assert caught[rank].keys() == mended.keys()
    net, recorder = balanced(20)
    sim = rv.Simulation(net, threads=1)
    sim.run_until(told[0]["time"])
    expected = sim.spikes(recorder)
    assert len(expected) > 500
    assert {each["digest"] for each in told} == {expected.digest()}


# ---- the end of all --------------------------------------------------------------------------------------------------

ENDING = """
import os, signal, sys, threading, time
import ranvier as rv
from ranvier import mpi
from small_networks import balanced

how = sys.argv[1]
here = mpi.world().rank == 1
net, recorder = balanced(20)
if how == "file" and here:
    net.record_spikes(to="no such folder/spikes.h5")
if how == "network" and here:
    net.create("iaf_psc_exp", 1)

def fail(report):
    raise ValueError("the reason")

def kill():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)

sim = rv.Simulation(net, precision="singel" if how == "option" and here else "single",
                    progress=fail if how == "progress" and here else None)
sim.run(10.0)
if how == "kill" and here:
    threading.Thread(target=kill).start()
if how == "exit" and here:
    sys.exit(1)
if how == "variable":
    sim.get(net["exc"], "V_n" if here else "V_m")
print("running", flush=True)
sim.run(10000000.0)
"""


# How it ends, with what is told. `make validate` tries all with both families; here the one that starts faster has
# some.
ENDS = {
    "kill": "",
    "exit": "",
    "file": "no such folder/spikes.h5",
    "network": "run the same script",
    "option": "precision is 'singel'",
    "progress": "ValueError: the reason",
    "variable": "V_n",
}
SOME = ("kill", "progress")


@pytest.mark.parametrize("how", SOME)
def test_it_ends_the_run_of_all(how: str, tmp_path: Path) -> None:
    where = installation(MPICH, "wheel")
    check_that_it_ends_the_run_of_all(where, how, tmp_path)


def check_that_it_ends_the_run_of_all(where: Installation, how: str, tmp_path: Path) -> None:
    done = run_python(where, RANKS, ENDING, how, folder=tmp_path, environment=HELPERS)
    assert done.status != 0
    assert ENDS[how] in done.errors


KILLED = """
import os, signal, sys, threading, time
import ranvier as rv
from ranvier import mpi
from small_networks import balanced

net, recorder = balanced(20)
sim = rv.Simulation(net, threads=1, processes=rv.Processes(exchange=sys.argv[1]))
sim.run(10.0)
assert sim.exchange.startswith(sys.argv[1])

def kill():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)

if mpi.world().rank == 1:
    threading.Thread(target=kill).start()
sim.run(10000000.0)
"""


@pytest.mark.thorough
@any_family
@pytest.mark.parametrize("method", _core.exchanges())
def test_a_killed_process_ends_all_with_each_method(method: str, where: Installation, tmp_path: Path) -> None:
    done = run_python(where, RANKS, KILLED, method, folder=tmp_path, environment=HELPERS, timeout=60)
    assert done.status != 0
    # It ran until it was killed.
    assert "AssertionError" not in done.errors
    assert "RanvierError" not in done.errors


@pytest.mark.thorough
@pytest.mark.usefixtures("interrupts")
@any_family
def test_interrupting_mpiexec_ends_all(where: Installation, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    # Files, since mpiexec may mix the lines of its processes.
    begun = f"open({str(tmp_path)!r} + f'/running{{mpi.world().rank}}', 'w').write(str(os.getpid()))"
    script.write_text(ENDING.replace('print("running", flush=True)', begun))
    assert begun in script.read_text()
    mpiexec = subprocess.Popen(
        [where.mpiexec, "-n", str(RANKS), sys.executable, script, "interrupted"],
        env={**os.environ, **SETTINGS, **HELPERS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    processes: list[int] = []
    deadline = time.monotonic() + 60.0
    while len(processes) < RANKS:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        told = [path.read_text() for path in tmp_path.glob("running*")]
        processes = [int(text) for text in told if text]
    start = time.monotonic()
    mpiexec.send_signal(signal.SIGINT)
    mpiexec.communicate(timeout=30)
    assert mpiexec.returncode != 0
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() - start < 20.0
        time.sleep(0.1)
