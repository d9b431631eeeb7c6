"""Processes that save states again and again until they are killed, and what must be in the files then."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import ranvier as rv
from state_scenes import outcome, with_synapses

__all__ = ["check_what_is_left", "described", "save_until_killed"]

EVERY = 2.0  # ms
LONGER = 12.0


def described() -> rv.Network:
    return with_synapses("stdp_triplet")


def save_until_killed(path: Path, chance: random.Random) -> None:
    """Let a process run and save, and kill it at a random moment."""
    process = os.fork()
    if process == 0:
        try:
            sim = rv.Simulation(described(), progress=False, threads=1)
            sim.run(1e6, save_every=EVERY, to=path)
        finally:
            os._exit(1)
    # A check whether it can be written makes an empty file.
    while not path.exists() or path.stat().st_size == 0:
        time.sleep(0.001)
    # A run of EVERY and a save take some ten milliseconds.
    time.sleep(chance.uniform(0.0, 0.15))
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), "the process has ended by itself"


def check_what_is_left(path: Path) -> bool:
    """Go on from what was saved, and save again; return whether the kill had left something of a state."""
    left = [each for each in path.parent.iterdir() if each != path]
    resumed = rv.Simulation.load(described(), path, progress=False)
    assert resumed.time >= EVERY
    assert resumed.time % EVERY == 0.0
    resumed.run(LONGER)
    plain = rv.Simulation(described(), progress=False, threads=1)
    plain.run(resumed.time)
    assert outcome(resumed) == outcome(plain)
    resumed.save(path)
    assert list(path.parent.iterdir()) == [path]
    return bool(left)
