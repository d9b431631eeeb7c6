"""Random scripts of calls, and what must be true of each call: it succeeds, or it is refused as the documentation says.

A call that is refused raises an error of `ranvier.errors`, or a TypeError, and changes nothing: neither the description
of the network nor the state of the simulation, nor what that does later. Nothing takes what is not a number, or what is
masked. `main` is what processes of their own do.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import decimal
import faulthandler
import fractions
import functools
import inspect
import json
import math
import os
import pathlib
import pickle
import random
import re
import resource
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fuzz_calls
import ranvier as rv
from ranvier.forecast import dry_run, prediction

__all__ = ["Finding", "fuzz", "run_lines", "run_seed"]

CALLS_OF_SCRIPT = 40
PROGRAM = "import fuzz_scripts; fuzz_scripts.main()"
_MEMORY = 6 * 2**30  # bytes of address space of a process that runs scripts
_LONGEST_LINE = 60  # s
_SCRIPT = "<script>"
# What is not a number, and elements that are masked: nothing can be done with them.
_NEVER_TAKEN = re.compile(r"\bnan\b|np\.ma\.masked\b|mask=")
# Whatever may be compared, or asked whether it is in a network.
_ASKS = re.compile(r" == | in net$")

# Handles name parts of the network, and hold nothing.
_NEVER_ASSIGNED = re.compile(r"^[pcs]\d+\.[\w.'\[\]]+ = ")


@dataclass(frozen=True)
class Finding:
    """What should not be."""

    kind: str
    """What happened and where; the same for all scripts that show the same fault."""
    message: str
    seed: int
    lines: tuple[str, ...]
    """A script that shows it."""

    def __str__(self) -> str:
        return f"{self.kind} (seed {self.seed}): {self.message}\n    " + "\n    ".join(self.lines)


# ---- judging calls ---------------------------------------------------------------------------------------------------


class Session:
    """Runs lines one after another, and notes what should not be."""

    def __init__(self, seed: int) -> None:
        other = rv.Network()
        modules = (copy, decimal, fractions, pathlib, pickle)
        self.names: dict[str, Any] = {module.__name__: module for module in modules}
        self.names |= {"rv": rv, "np": np, "nan": math.nan, "inf": math.inf, "prediction": prediction, "sim": None}
        self.names |= {"dry_run": dry_run, "describe": _describe}
        self.names |= {"net": rv.Network(0.1, seed), "other": other, "foreign": other.create("iaf_psc_exp", 3)}
        self.accepted: list[str] = []
        self.faults: list[tuple[str, str]] = []
        self.refused = 0
        self._unknown: set[str] = set()
        self._state = self.state()

    def execute(self, line: str) -> None:
        """Run a line, and judge what comes of it."""
        callee = _callee(line)
        try:
            exec(compile(line, _SCRIPT, "exec"), self.names)
        except Exception as error:
            self.refused += 1
            where = _raised_unmeant(error)
            if where:
                self.faults.append((where, f"{type(error).__name__}: {error}"[:300]))
            if self.state() != self._state:
                self.faults.append((f"changed by a refused {callee}", f"{type(error).__name__}: {error}"[:300]))
                self._state = self.state()
            return
        self.accepted.append(line)
        if (_NEVER_TAKEN.search(line) and not _ASKS.search(line)) or _NEVER_ASSIGNED.search(line):
            self.faults.append((f"taken by {callee}", "neither refused nor used"))
        self._state = self.state()
        unknown = {name for name in self._state if name.startswith("not a number")}
        self.faults += [(name, f"after {callee}") for name in sorted(unknown - self._unknown)]
        self._unknown |= unknown

    def state(self) -> dict[str, object]:
        """Return all that a refused call must not change."""
        state: dict[str, object] = {name: _plain(self.names[name].__getstate__()) for name in ("net", "other")}
        state["files"] = sorted(os.listdir())  # noqa: PTH208
        if isinstance(self.names["sim"], rv.Simulation):
            state.update(_state_of(self.names["sim"]))
        return state

    def finish(self) -> dict[str, object]:
        """Simulate on, and return what there is then."""
        sim = self.names["sim"]
        if isinstance(sim, rv.Simulation):
            with contextlib.suppress(rv.errors.RanvierError):
                sim.run(300 * sim.resolution)
        return self.state()


def _describe(size: float) -> rv.Network:
    """Return a network that grows with a number."""
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", max(1, int(size)), name="a")
    net.connect(neurons, neurons, rv.FixedIndegree(10))
    return net


def _callee(line: str) -> str:
    found = re.search(r"(?:^|= )([\w.]+)(?:\(|\[| = )", line)
    name = found.group(1) if found else line
    last = re.search(r"\.(\w+) = ", line)
    return f"{name}.{last.group(1)}" if last else name


_DECORATORS = (("style.py", "draw"),)


def _raised_unmeant(error: BaseException) -> str:
    """Return where an error was raised that is none of those that users should see; nothing for one that is."""
    if isinstance(error, rv.errors.RanvierError):
        return ""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    frame, file = frames[-1], Path(frames[-1].f_code.co_filename)
    # The script's own mistakes: an earlier line was refused, so that there is no such thing; an array of its own.
    if str(file) == _SCRIPT and (isinstance(error, NameError) or "'NoneType' object has no attribute" in str(error)):
        return ""
    if isinstance(error, MemoryError) and not any(frame.f_globals.get("__package__") == "ranvier" for frame in frames):
        return ""
    # Arguments that do not fit a signature.
    if isinstance(error, TypeError) and str(file) == _SCRIPT:
        return ""
    # The same, where a decorator hands them on.
    if isinstance(error, TypeError) and (file.name, frame.f_code.co_name) in _DECORATORS and "argument" in str(error):
        return ""
    return f"{type(error).__name__} from {frame.f_code.co_name} of {file.name}"


def _plain(value: object) -> object:
    """Return what can be compared, also where there are arrays and numbers that are none."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, _plain(element)) for key, element in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, tuple(_plain(getattr(value, field.name)) for field in dataclasses.fields(value))
    return repr(value)


@functools.cache
def _values_of(model: str) -> tuple[str, ...]:
    known = rv.models.NEURON_MODELS.get(model)
    return tuple(inspect.signature(known.__init__).parameters)[1:] if known else ()


def _state_of(sim: rv.Simulation) -> dict[str, object]:
    state: dict[str, object] = {"step": sim.step, "spikes": sim.counts().spikes}
    for population in sim.network.populations:
        with contextlib.suppress(rv.errors.StateError):  # created after the simulation was built
            for name in _values_of(population.model):
                values = sim.get(population, name)
                state[f"{name} of population {population.index}"] = values.tobytes()
                if np.isnan(values).any():
                    state[f"not a number: {name} of {population.model}"] = True
    with contextlib.suppress(rv.errors.StateError):  # sources were not kept
        synapses = sim.connections()
        state["weights"] = synapses.weights.tobytes()
    for recorder in sim.network.recorders:
        if isinstance(recorder, rv.SpikeRecorder) and recorder.to is None:
            with contextlib.suppress(rv.errors.StateError):
                state[f"recorder {recorder.index}"] = sim.spikes(recorder).digest()
    return state


# ---- scripts ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _own_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # meant for users
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run_lines(seed: int, lines: list[str]) -> Session:
    """Run a script, and its twin without what was refused."""
    with _own_folder():
        session = Session(seed)
        for line in lines:
            session.execute(line)
        _compare_with_twin(seed, session)
    return session


def _compare_with_twin(seed: int, session: Session) -> None:
    if not session.refused:
        return
    end = session.finish()
    with _own_folder():
        twin = Session(seed)
        for line in session.accepted:
            twin.execute(line)
        if twin.refused:
            session.faults.append(("refused without the calls that were refused", str(twin.faults)[:300]))
            return
        twin_end = twin.finish()
    differing = [name for name in end.keys() | twin_end.keys() if end.get(name) != twin_end.get(name)]
    if differing:
        session.faults.append(("later changed by refused calls", ", ".join(sorted(differing))))


def run_seed(seed: int, journal: Path | None = None) -> tuple[Session, list[str]]:
    """Draw a script and run it; the journal gets each line before it is run."""
    chance = random.Random(seed)
    lines: list[str] = []
    with _own_folder(), open(journal or os.devnull, "w") as written:  # noqa: PTH123
        session = Session(seed)
        for _ in range(CALLS_OF_SCRIPT):
            line = fuzz_calls.draw_line(chance, session.names)
            lines.append(line)
            print(line, file=written, flush=True)
            faulthandler.dump_traceback_later(_LONGEST_LINE, exit=True)
            session.execute(line)
        _compare_with_twin(seed, session)
        faulthandler.cancel_dump_traceback_later()
    return session, lines


def shrunk(seed: int, lines: list[str], kind: str) -> list[str]:
    """Return the script without the lines that it does not need to show a fault."""
    for number in reversed(range(len(lines))):
        fewer = lines[:number] + lines[number + 1 :]
        if any(found == kind for found, _ in run_lines(seed, fewer).faults):
            lines = fewer
    return lines


# ---- processes -------------------------------------------------------------------------------------------------------


def fuzz(first_seed: int, calls: int, folder: Path) -> tuple[int, list[Finding]]:
    """Run scripts in processes of their own, and return how many calls were accepted and one finding of each kind."""
    findings: dict[str, Finding] = {}
    accepted, seed, end = 0, first_seed, first_seed + math.ceil(calls / CALLS_OF_SCRIPT)
    while seed < end:
        results, journal = folder / "results.json", folder / "journal"
        results.unlink(missing_ok=True)
        arguments = [str(seed), str(min(end, seed + 100)), str(results), str(journal)]
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        )
        found = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        for each in found:
            accepted += each.pop("accepted")
            seed = each.pop("next")
            for finding in each["findings"]:
                findings.setdefault(finding["kind"], Finding(**{**finding, "lines": tuple(finding["lines"])}))
        if run.returncode != 0:
            lines = tuple(journal.read_text().splitlines()) if journal.exists() else ()
            kind = f"process ended with {run.returncode} in {_callee(lines[-1]) if lines else 'nothing'}"
            findings.setdefault(kind, Finding(kind, run.stderr[-1500:], seed, lines))
            seed += 1
    return accepted, list(findings.values())


def main() -> None:
    """Run scripts with the seeds from one to before another, and write what was found to a file."""
    seed, end = int(sys.argv[1]), int(sys.argv[2])
    results, journal = Path(sys.argv[3]), Path(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    known: set[str] = set()
    for number in range(seed, end):
        session, lines = run_seed(number, journal)
        findings = []
        for kind, message in session.faults:
            if kind not in known:
                known.add(kind)
                findings.append(
                    {"kind": kind, "message": message, "seed": number, "lines": shrunk(number, lines, kind)}
                )
        with results.open("a") as written:
            json.dump({"accepted": len(session.accepted), "next": number + 1, "findings": findings}, written)
            written.write("\n")
