"""Runs of a worker module on several processes, started by an mpiexec that is found here.

The worker gets a JSON text as its only argument, prints lines that begin with ``PROGRESS`` to report its progress, and
writes its report, JSON too, to the file that the text calls ``report``. Only rank 0 does the latter two.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranvier import mpi
from ranvier.base.memory_checks import check_room
from ranvier.base.python_process import python_command
from ranvier.errors import CommunicationError, RemoteError, StateError, ValueOutOfBoundsError
from ranvier.processes import mpi_library
from ranvier.processes.machine import usable_processors
from ranvier.processes.mpi_library import MPICH, OPEN_MPI, Family

__all__ = [
    "BYTES_OF_A_PROCESS",
    "MOST_PROCESSES",
    "PROGRESS",
    "REPORTED",
    "Mpiexec",
    "check_startable",
    "find_mpiexec",
    "is_crowded",
    "run_worker",
]

BYTES_OF_A_PROCESS = 50 << 20
"""Memory of a process that has imported Ranvier and has started MPI, without any network."""
MOST_PROCESSES = 4096
"""More processes than a computer can use."""
PROGRESS = "progress: "
REPORTED = "reported"

_LINES_OF_AN_ERROR = 20
_SECONDS_TO_END = 5.0
_SIGNS = {OPEN_MPI: ("Open MPI", "OpenRTE", "PRRTE", "PRTE"), MPICH: ("HYDRA", "MPICH", "Intel(R) MPI")}


@dataclass(frozen=True)
class Mpiexec:
    """The program that starts processes.

    Attributes
    ----------
    path
        Path of the program.
    family
        Family of its MPI.
    """

    path: Path
    family: Family

    def command(self, ranks: int, crowded: bool) -> list[str]:
        """Return the command line that starts several processes, without the program that they run."""
        # Threads of a process must not share the one processor that it would be bound to.
        command = [str(self.path), "-n", str(ranks), "--bind-to", "none"]
        if self.family == OPEN_MPI and crowded:
            command.append("--oversubscribe")
        return command

    def environment(self, crowded: bool) -> dict[str, str]:
        """Return the environment variables that it needs; variables that the user has set are kept."""
        needed: dict[str, str] = {}
        if self.family == OPEN_MPI and os.geteuid() == 0:
            # Each of two generations asks twice whether root is meant.
            for prefix in ("OMPI", "PRTE"):
                needed |= {f"{prefix}_ALLOW_RUN_AS_ROOT": "1", f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if crowded:
            # Waiting processes yield the processor to those that have work.
            needed |= (
                {"OMPI_MCA_mpi_yield_when_idle": "1"}
                if self.family == OPEN_MPI
                else {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
            )
        return {**needed, **os.environ}


def is_crowded(ranks: int, threads: int) -> bool:
    """Return whether there are more threads than processors."""
    return ranks * threads > usable_processors()


def check_startable(name: str, counts: Iterable[int]) -> None:
    """Check that an mpiexec can start so many processes on this machine.

    Parameters
    ----------
    name
        Option or key that has the numbers.
    counts
        Numbers of processes.

    Raises
    ------
    ValueOutOfBoundsError
        For a number below 1, above that of all benchmarks, or above the limit of the system for this user.
    InsufficientMemoryError
        When so many processes have no room, even without a network.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    most = MOST_PROCESSES if allowed == resource.RLIM_INFINITY else min(MOST_PROCESSES, allowed)
    for count in counts:
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= most:
            raise ValueOutOfBoundsError(
                name, str(count), f"it must be whole numbers from 1 to {most}, those that mpiexec can start here"
            )
        check_room(f"{count} processes", count * BYTES_OF_A_PROCESS, f"give fewer in {name}")


def find_mpiexec(given: Path | None = None) -> Mpiexec:
    """Return the mpiexec to use: `given`, that of the Python environment, or the first one on the PATH.

    Raises
    ------
    CommunicationError
        If no mpiexec belongs to an MPI that Ranvier was built for.
    StateError
        In a process that an mpiexec has started.
    """
    if mpi.launched():
        raise StateError(
            "this benchmark",
            "started by an mpiexec",
            "it starts processes itself, with one for each number of ranks",
            "run it without mpiexec",
        )
    built = mpi_library.plugins()
    if not built:
        raise CommunicationError(
            "Ranvier",
            "built without MPI",
            "the benchmark needs it",
            "install it again where headers of an MPI are found",
        )
    unfit = []
    for path in _places(given):
        family = _family(path)
        if family in built:
            return Mpiexec(path, family)
        unfit.append(f"{path} (of {family.name if family else 'an MPI that is not known'})")
    packages = " or ".join(f"'pip install {family.package}'" for family in built)
    raise CommunicationError(
        "mpiexec",
        " and ".join(unfit) or (str(given) if given else ""),
        f"Ranvier was built for {' and '.join(family.name for family in built)} only"
        if unfit
        else "there is no such program"
        if given
        else "there is none in the Python environment or on the PATH",
        f"{packages}, or the system's package {' or '.join(family.system_packages for family in built)}, brings one; "
        "or name one with --mpiexec",
    )


def run_worker(
    mpiexec: Mpiexec,
    module: str,
    specification: Mapping[str, Any],
    *,
    ranks: int,
    threads: int,
    on_progress: Callable[[str], None],
    on_report: Callable[[Any], None] = lambda report: None,
) -> Any:
    """Start a module of this package on several processes, and return its report.

    `on_report` is called with the results so far, whenever the worker has new ones.

    Raises
    ------
    RemoteError
        When the worker fails; the message has the end of its output.
    """
    crowded = is_crowded(ranks, threads)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        argument = json.dumps({**specification, "threads": threads, "report": str(report)})
        command = [*mpiexec.command(ranks, crowded), *python_command("-m", module, argument)]
        lines: list[str] = []

        def see(line: str) -> None:
            if line.startswith(PROGRESS):
                on_progress(line.removeprefix(PROGRESS).strip())
            elif line.rstrip() == REPORTED:
                on_report(json.loads(report.read_text(encoding="utf-8")))
            else:
                lines.append(line.rstrip())

        status = _watch(command, mpiexec.environment(crowded), see)
        if status != 0 or not report.exists():
            said = [line for line in lines if line.strip()]
            raise RemoteError(
                f"{ranks} rank{'s' if ranks > 1 else ''} of {module}",
                bound="\n".join([f"{mpiexec.path} ended with status {status}:", *said[-_LINES_OF_AN_ERROR:]]),
            )
        return json.loads(report.read_text(encoding="utf-8"))


def _watch(command: Sequence[str], environment: dict[str, str], see: Callable[[str], None]) -> int:
    """Run a command, show each line that it prints, and return its status."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                see(line)
            return process.wait()
        except BaseException:
            # mpiexec ends its processes if it is terminated, but not if it is killed.
            process.terminate()
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


def _places(given: Path | None) -> Iterator[Path]:
    if given is not None:
        found = shutil.which(given)
        if found is not None:
            yield Path(found)
        return
    beside = Path(sys.prefix, "bin", "mpiexec")
    if os.access(beside, os.X_OK):
        yield beside
    for folder in os.get_exec_path():
        found = shutil.which("mpiexec", path=folder)
        if found is not None and Path(found) != beside:
            yield Path(found)


def _family(path: Path) -> Family | None:
    """Return the family of a program, from its output."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=30.0).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    for family, signs in _SIGNS.items():
        if any(sign in said for sign in signs):
            return family
    return None
