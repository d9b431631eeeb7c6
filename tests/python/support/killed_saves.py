"""Processes that save states again and again until they are killed, and what must be in the files then."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import ranvier as rv
from mpi_runs import Installation, started_ranks
from state_scenes import outcome, with_synapses

__all__ = ["check_what_is_left", "described", "save_until_killed", "save_until_ranks_are_killed"]

EVERY = 2.0  # ms
LONGER = 12.0


def described() -> rv.Network:
    return with_synapses("stdp_triplet")


def save_until_killed(path: Path, chance: random.Random, describe: Callable[[], rv.Network] = described) -> None:
    """Let a process run and save, and kill it at a random moment."""
    process = os.fork()
    if process == 0:
        try:
            sim = rv.Simulation(describe(), progress=False, threads=1)
            sim.run(1e6, save_every=EVERY, to=path)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    while not _is_saved(path):
        ended, status = os.waitpid(process, os.WNOHANG)
        assert not ended, f"the process has ended before its first save, with status {status}"
        time.sleep(0.001)
    # A run of EVERY and a save take some ten milliseconds.
    time.sleep(chance.uniform(0.0, 0.15))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), "the process has ended by itself"


def _is_saved(path: Path) -> bool:
    # A check whether it can be written makes an empty file, and removes it.
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


_SCRIPT = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
import ranvier as rv
from ranvier import mpi
from importlib import import_module
from killed_saves import EVERY

path = Path(sys.argv[1])
sim = rv.Simulation(import_module(sys.argv[2]).described(), progress=False, threads=1)
(path.parent.parent / f"process.{{mpi.world().rank}}").write_text(f"{{os.getpid()}} ")
sim.run(1e6, save_every=EVERY, to=path)
"""


def save_until_ranks_are_killed(
    installation: Installation,
    ranks: int,
    victims: list[int],
    path: Path,
    chance: random.Random,
    describe: Callable[[], rv.Network] = described,
) -> None:
    """Let processes run and save, and kill some of them in the middle of a save."""
    folder = path.parent.parent
    script = folder / "script.py"
    script.write_text(_SCRIPT)
    command = [sys.executable, str(script), str(path), describe.__module__]
    with started_ranks(installation, ranks, command, folder=folder) as mpiexec:
        names = [folder / f"process.{rank}" for rank in range(ranks)]
        while not (_is_saved(path) and all(each.exists() for each in names)):
            assert mpiexec.poll() is None, (folder / "errors").read_text()
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.1))
        before = set(path.parent.iterdir())
        while set(path.parent.iterdir()) <= before:
            time.sleep(0.0002)
        # A save takes some ten milliseconds.
        time.sleep(chance.uniform(0.0, 0.03))
        for rank in victims:
            os.kill(int(names[rank].read_text()), signal.SIGKILL)
        assert mpiexec.wait(60.0) != 0


def check_what_is_left(path: Path, describe: Callable[[], rv.Network] = described) -> bool:
    """Go on from what was saved, and save again; return whether the kill had left something of a state."""
    left = [each for each in path.parent.iterdir() if each != path]
    resumed = rv.Simulation.load(describe(), path, progress=False)
    assert resumed.time >= EVERY
    assert resumed.time % EVERY == 0.0
    resumed.run(LONGER)
    plain = rv.Simulation(describe(), progress=False, threads=1)
    plain.run(resumed.time)
    assert outcome(resumed) == outcome(plain)
    resumed.save(path)
    assert list(path.parent.iterdir()) == [path]
    return bool(left)
