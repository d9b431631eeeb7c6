"""Processes that write a recording until they are killed, and what must be in the file then."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import numpy as np
import numpy.typing as npt

import ranvier as rv
from damaged_files import Truth
from ranvier.recording import files

__all__ = ["truth_after", "write_until_killed"]

NEURONS = 300
STEPS = 100


def piece(number: int) -> dict[str, npt.NDArray[np.int64]]:
    """Return the spikes that the piece of that number has, a few to some ten thousand."""
    generator = np.random.default_rng(number)
    count = int(2 ** generator.uniform(0.0, 14.0))
    steps = np.sort(generator.integers(number * STEPS, (number + 1) * STEPS, count)) + 1
    return {"steps": steps, "ids": generator.integers(0, NEURONS, count)}


def truth_after(path: Path, pieces: int) -> Truth:
    """Return what so many pieces have told."""
    parts = [piece(number) for number in range(pieces)]
    empty = np.empty(0, dtype=np.int64)
    steps, neurons = (np.concatenate([empty, *(part[name] for part in parts)]) for name in ("steps", "ids"))
    segment = rv.Segment("all", 0, NEURONS)
    data = rv.SpikeData(steps, neurons, 0.1, 0, pieces * STEPS, (segment,))
    return Truth(path, "spikes", data, pieces * STEPS)


def write_pieces(path: Path, told: int) -> None:
    """Write piece after piece, and tell of each one that is written."""
    empty = np.empty(0, dtype=np.int64)
    metadata = {"resolution": 0.1, "begin": 0, "end": 0, "segments": [("all", 0, NEURONS)]}
    file = files.create(path, "spikes", metadata, {}, {"steps": empty, "ids": empty}, overwrite=True)
    file.begin_run()
    number = 0
    while True:
        os.write(told, b".")
        file.append(piece(number), (number + 1) * STEPS)
        number += 1


def write_until_killed(path: Path, chance: random.Random) -> int:
    """Let a process write, kill it after some pieces and some microseconds; return how many pieces are whole."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(reading)
            write_pieces(path, writing)
        finally:
            os._exit(1)
    os.close(writing)
    wanted = chance.randrange(1, 5)
    told = 0
    while told < wanted:
        rest = os.read(reading, wanted - told)
        assert rest, "the process has ended by itself"
        told += len(rest)
    # Anywhere within a piece, which takes a millisecond or a few.
    for _ in range(int(10 ** chance.uniform(0.0, 4.5))):
        pass
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    while rest := os.read(reading, 1000):
        told += len(rest)
    os.close(reading)
    # It tells of its start, and of each piece that it has written.
    return told - 1
