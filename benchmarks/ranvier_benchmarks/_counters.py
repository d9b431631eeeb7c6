"""Counts of instructions and of data that move between caches, of a function of the core.

They come from the counters of the processor, by ``perf stat``. Most virtual machines have none; then they come from a
processor that ``valgrind`` simulates. Either counts a whole process; so the process is run twice, and what it does
beside the work is subtracted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ranvier.base.python_process import python_command
from ranvier.errors import StateError
from ranvier_benchmarks._native import measurements

__all__ = ["COUNTERS", "Counted", "count", "find_counter"]

COUNTERS = {
    "perf": "counters of the processor, by perf stat",
    "valgrind": "simulated by valgrind, with a first cache of 48 KiB and a second one of 2 MiB",
}

_LINE = 64  # bytes
_EVENTS = ("instructions:u", "cycles:u", "L1-dcache-load-misses:u", "LLC-load-misses:u")
# Loads the extension module alone: importing the package executes many more instructions than the work.
_PROGRAM = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_measurements", sys.argv[1])
measurements = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measurements)
measurements.measure_containers(sys.argv[2], *map(int, sys.argv[3:]))
"""


@dataclass(frozen=True)
class Counted:
    """Counts; None where the counter does not have one.

    Attributes
    ----------
    instructions, cycles
        Numbers of them.
    near_bytes
        Bytes that moved between the first cache for data and the second one.
    far_bytes
        Bytes that moved between the second cache and what lies behind it; with perf, behind the last one.
    """

    instructions: float
    cycles: float | None
    near_bytes: float | None
    far_bytes: float | None


def find_counter() -> str | None:
    """Return the name of the counter that this machine has, one of `COUNTERS`, or None."""
    if shutil.which("perf") is not None and "instructions:u" in _perf(python_command("-c", "")):
        return "perf"
    return "valgrind" if shutil.which("valgrind") is not None else None


def count(counter: str, kind: str, neurons: int, steps: int, steps_at_once: int) -> Counted:
    """Count what `measure_containers` does in some steps beyond the first visit of each neuron.

    Raises
    ------
    StateError
        When the program that counts fails.
    """
    measure: Callable[[list[str]], Counted] = _with_perf if counter == "perf" else _with_valgrind
    first, all_steps = (
        measure(
            [
                *python_command("-I", "-S", "-c", _PROGRAM, measurements().__file__, kind),
                *map(str, (neurons, number, steps_at_once)),
            ]
        )
        for number in (steps_at_once, steps_at_once + steps)
    )

    def difference(name: str) -> float | None:
        before, after = getattr(first, name), getattr(all_steps, name)
        return None if before is None or after is None else max(0.0, after - before)

    return Counted(
        instructions=all_steps.instructions - first.instructions,
        cycles=difference("cycles"),
        near_bytes=difference("near_bytes"),
        far_bytes=difference("far_bytes"),
    )


def _perf(command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "counts")
        subprocess.run(
            ["perf", "stat", "-x", ",", "-o", str(path), "-e", ",".join(_EVENTS), "--", *command],
            check=False,
            capture_output=True,
        )
        return read_perf(path.read_text(encoding="utf-8")) if path.exists() else {}


def read_perf(text: str) -> dict[str, float]:
    """Return the numbers by event of what ``perf stat -x ,`` writes, without events that are not counted."""
    counts = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[0].strip().isdecimal():
            counts[fields[2]] = float(fields[0])
    return counts


def _with_perf(command: list[str]) -> Counted:
    counts = _perf(command)
    if _EVENTS[0] not in counts:
        raise StateError("perf stat", bound=f"it counted no instructions of {' '.join(command[-4:])}")
    near, far = (counts.get(event) for event in _EVENTS[2:])
    return Counted(
        instructions=counts[_EVENTS[0]],
        cycles=counts.get(_EVENTS[1]),
        near_bytes=None if near is None else near * _LINE,
        far_bytes=None if far is None else far * _LINE,
    )


def _with_valgrind(command: list[str]) -> Counted:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--tool=cachegrind", "--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64"]
        done = subprocess.run(
            ["valgrind", *options, f"--cachegrind-out-file={folder}/counts", *command],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise StateError("valgrind", bound="\n".join(["it failed:", *done.stderr.splitlines()[-10:]]))
    return read_cachegrind(done.stderr)


def read_cachegrind(text: str) -> Counted:
    """Return the counts of the summary that ``valgrind --tool=cachegrind`` prints."""

    def total(name: str) -> float:
        found = re.search(rf"^==\d+== {name.replace(' ', ' +')}:\s+([\d,]+)", text, re.MULTILINE)
        if found is None:
            raise StateError("valgrind", bound=f"it printed no '{name}'")
        return float(found[1].replace(",", ""))

    return Counted(
        instructions=total("I refs"),
        cycles=None,
        near_bytes=total("D1 misses") * _LINE,
        far_bytes=total("LLd misses") * _LINE,
    )
