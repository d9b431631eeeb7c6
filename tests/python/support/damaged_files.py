"""Recordings that were damaged at random, and what must come of reading them: a part of the truth, or a FileError."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from ranvier import errors
from small_networks import balanced

__all__ = ["KINDS", "Truth", "check_reading", "mutated", "record_all"]

Data = rv.SpikeData | rv.StateData | rv.WeightData

KINDS = ("spikes", "state", "weights")
READERS: dict[str, Callable[[Path], Data]] = {
    "spikes": rv.read_spikes,
    "state": rv.read_state,
    "weights": rv.read_weights,
}


@dataclass(frozen=True)
class Truth:
    """What was recorded into a file, and up to which step."""

    path: Path
    kind: str
    data: Data
    end: int


def record_all(folder: Path, suffix: str, pieces: int = 4) -> list[Truth]:
    """Record with all kinds of recorders, piece by piece."""
    net, _ = balanced(100)
    exc = net["exc"]
    paths = [folder / f"{kind}{suffix}" for kind in KINDS]
    spikes = net.record_spikes(to=paths[0])
    state = net.record_state(exc[:3], ["V_m", "I_syn_ex"], 0.5, to=paths[1])
    weights = net.record_weights(net.projections[0], 3.0, targets=exc[:2], to=paths[2])
    sim = rv.Simulation(net, threads=1)
    for piece in range(pieces):
        sim.run(3.0 + piece)
    found: list[Data] = [sim.spikes(spikes), sim.state(state), sim.weights(weights)]
    return [Truth(path, kind, data, sim.step) for path, kind, data in zip(paths, KINDS, found, strict=True)]


def check_reading(path: Path, truth: Truth) -> str:
    """Read what may be damaged, and see that it is true; return what came of it.

    ``"whole"``, ``"part"`` with a warning, ``"refused"``; or ``"shorter"``: all pieces that are there are whole.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = READERS[truth.kind](path)
        except errors.FileError as error:
            str(error).encode()
            return "refused"
    missing = [each.message for each in caught if isinstance(each.message, errors.IncompleteRecordingWarning)]
    # As far as it is said to reach.
    reached = found.end if isinstance(found, rv.SpikeData) else int(found.steps[-1]) if len(found) else 0
    end = missing[0].end if missing else reached
    assert end <= truth.end
    wanted = truth.data
    told = wanted.steps <= end
    for name in ("steps", "ids", "values", "weights", "sources", "targets"):
        if hasattr(wanted, name):
            whole = getattr(wanted, name)
            of_samples = len(whole) == len(told) and not (truth.kind == "state" and name == "ids")
            part = whole[told] if of_samples and name not in ("sources", "targets") else whole
            np.testing.assert_array_equal(getattr(found, name), part, err_msg=name)
    for name in ("resolution", "begin", "segments", "variables", "population", "projection"):
        assert getattr(found, name, None) == getattr(wanted, name, None), name
    if isinstance(found, rv.SpikeData):
        assert found.end == end
    if missing:
        return "part"
    return "whole" if len(found) == len(wanted) and (truth.kind != "spikes" or end == truth.end) else "shorter"


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return bytes that differ from those given as after an accident: a bit, a range, a place, the end."""
    result = bytearray(data)
    begin = chance.randrange(len(data))
    length = min(len(data) - begin, int(2 ** chance.uniform(0.0, 13.0)))
    accident: Any = chance.choice(
        ("bit", "byte", "digit", "cut", "delete", "insert", "zero", "noise", "repeat", "swap", "append")
    )
    if accident == "bit":
        result[begin] ^= 1 << chance.randrange(8)
    elif accident == "byte":
        result[begin] = chance.randrange(256)
    elif accident == "digit":
        digits = [i for i in range(begin, min(begin + 4096, len(data))) if 48 <= data[i] < 58]
        if digits:
            result[chance.choice(digits)] = 48 + chance.randrange(10)
    elif accident == "cut":
        del result[begin:]
    elif accident == "delete":
        del result[begin : begin + length]
    elif accident == "insert":
        result[begin:begin] = chance.randbytes(length)
    elif accident == "zero":
        result[begin : begin + length] = bytes(length)
    elif accident == "noise":
        result[begin : begin + length] = chance.randbytes(length)
    elif accident == "repeat":
        result[begin:begin] = data[begin : begin + length]
    elif accident == "swap":
        other = chance.randrange(len(data))
        result[begin : begin + length] = data[other : other + length].ljust(length, b"\0")
    else:
        result += chance.randbytes(length)
    return bytes(result)
