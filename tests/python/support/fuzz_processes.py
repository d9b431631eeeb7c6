"""Runs very many random inputs in processes of their own: one that ends, or does not end, is a finding.

A module of inputs has a function ``judge(seed, folder)``. It returns what came of the input, and raises a `Fault` for
what should not be.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Fault", "Outcomes", "fuzz"]

PROGRAM = "import fuzz_processes; fuzz_processes.main()"
_MEMORY = 6 * 2**30  # bytes of address space of a process
# s for one input: some cells have millions of compartments.
_LONGEST = 400
_PIECE = 500  # inputs after which results are written
_LARGEST_SHARE = 20_000  # inputs of one process


class Fault(Exception):  # noqa: N818 - it is a finding, no error of a user
    """What should not be; the first argument is the same for all inputs that show the same fault."""


@dataclass
class Outcomes:
    """What came of inputs."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: dict[str, tuple[int, str]] = field(default_factory=dict)
    """A seed and a message of each kind of fault."""

    def add(self, counts: dict[str, int], faults: dict[str, tuple[int, str]]) -> None:
        """Add what came of others."""
        self.counts.update(counts)
        for kind, (seed, message) in faults.items():
            self.faults.setdefault(kind, (seed, message))

    def __str__(self) -> str:
        lines = [f"{kind} (seed {seed}): {message}" for kind, (seed, message) in self.faults.items()]
        return "\n".join([str(dict(self.counts)), *lines])


class _Share:
    """Inputs that one process takes after another: each goes on where one has ended."""

    def __init__(self, module: str, first: int, last: int, folder: Path) -> None:
        self.module, self.next, self.last, self.folder = module, first, last, folder
        folder.mkdir()
        self.start()

    def start(self) -> None:
        (self.folder / "results").write_text("")
        (self.folder / "journal").write_bytes(bytes(8))
        arguments = [self.module, str(self.next), str(self.last), str(self.folder)]
        with (self.folder / "messages").open("wb") as messages:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=messages,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
            )

    def finish(self, outcomes: Outcomes) -> bool:
        """Wait for the process, and return whether all inputs were judged."""
        code = self.process.wait()
        for line in (self.folder / "results").read_text().splitlines():
            found = json.loads(line)
            outcomes.add(found["counts"], {kind: tuple(told) for kind, told in found["faults"].items()})
        if code == 0:
            return True
        (seed,) = struct.unpack("q", (self.folder / "journal").read_bytes())
        message = (self.folder / "messages").read_text(errors="replace")[-1500:]
        outcomes.add({"process ended": 1}, {f"process of {self.module} ended with {code}": (seed, message)})
        # What was judged since the last results were written is judged again.
        self.next = max(seed, self.next) + 1
        if self.next >= self.last:
            return True
        self.start()
        return False


def fuzz(module: str, first: int, count: int, folder: Path, processes: int = 1) -> Outcomes:
    """Judge inputs with the seeds from `first` on."""
    outcomes = Outcomes()
    size = min(_LARGEST_SHARE, -(-count // processes))
    starts = list(range(first, first + count, size))
    running: list[_Share] = []
    while starts or running:
        while starts and len(running) < processes:
            begin = starts.pop(0)
            running.append(_Share(module, begin, min(begin + size, first + count), folder / f"{module}-{begin}"))
        share = running.pop(0)
        if not share.finish(outcomes):
            running.append(share)
    return outcomes


def main() -> None:
    """Judge the inputs from one to before another, and write what came of them to a file."""
    module, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    judge = importlib.import_module(module).judge
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    outcomes = Outcomes()
    with (folder / "journal").open("r+b") as file, mmap.mmap(file.fileno(), 8) as journal:
        for seed in range(first, last):
            journal[:] = struct.pack("q", seed)
            # A process that takes too long ends.
            signal.setitimer(signal.ITIMER_REAL, _LONGEST)
            try:
                outcomes.add({judge(seed, folder): 1}, {})
            except Fault as fault:
                kind, *message = map(str, fault.args)
                outcomes.add(
                    {"fault": 1}, {kind: (seed, " ".join(message)[:2500].encode(errors="backslashreplace").decode())}
                )
            if (seed + 1 - first) % _PIECE == 0 or seed + 1 == last:
                _write(folder / "results", outcomes)
                outcomes = Outcomes()


def _write(path: Path, outcomes: Outcomes) -> None:
    with path.open("a") as file:
        json.dump({"counts": outcomes.counts, "faults": outcomes.faults}, file)
        file.write("\n")
