"""Running programs under every mpiexec that tests need: both families, from their wheels and from the system."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ranvier.processes.mpi_library import FAMILIES, Family
from repository import ROOT

__all__ = [
    "INSTALLATIONS",
    "ROOT",
    "SETTINGS",
    "WHEELS",
    "Installation",
    "Run",
    "installation",
    "run_python",
    "run_ranks",
    "started_ranks",
]


# Not for a program's own use: what tells a process that it was started by an mpiexec.
_OF_LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "PRTE_", "HYDI_", "MPI_LOCAL", "SLURM_")

SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""Root may start processes, more than there are processors, on any of these; whoever waits lets others go on."""


@dataclass(frozen=True)
class Installation:
    """One MPI of this machine."""

    family: Family
    origin: str
    mpiexec: Path

    def __str__(self) -> str:
        return f"{self.family.package}-{self.origin}"

    @property
    def library(self) -> str:
        """Its library, for dlopen."""
        below = self.mpiexec.resolve().parent.parent / "lib"
        for name in self.family.libraries:
            for path in [below / name, *below.glob(f"*/{name}")]:
                if path.is_file():
                    return str(path)
        raise FileNotFoundError(f"no library of {self}")


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    status: int
    outputs: list[str]
    """What each rank wrote to its standard output."""
    errors: str
    """What all of them wrote to standard error, and mpiexec to either."""


def _wheels() -> Iterator[Installation]:
    for family in FAMILIES:
        mpiexec = ROOT / "build/mpi" / family.package / "bin/mpiexec"
        if mpiexec.is_file():
            yield Installation(family, "wheel", mpiexec)


def _system() -> Iterator[Installation]:
    for family in FAMILIES:
        found = shutil.which(f"mpiexec.{family.package}", path="/usr/bin:/usr/local/bin")
        if found:
            yield Installation(family, "system", Path(found))


WHEELS = list(_wheels())
"""Those of PyPI, which `make setup` gets."""
INSTALLATIONS = [*WHEELS, *_system()]
"""All of this machine. There are four, which a test watches over."""


def run_python(
    installation: Installation,
    ranks: int,
    script: Path | str,
    *arguments: str,
    folder: Path,
    timeout: float = 180,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run a Python script, as a file or as text, on some ranks, with this Python."""
    if isinstance(script, str):
        path = folder / "script.py"
        path.write_text(script)
        script = path
    command = [sys.executable, str(script), *arguments]
    return run_ranks(installation, ranks, command, folder=folder, timeout=timeout, environment=environment)


def run_ranks(
    installation: Installation,
    ranks: int,
    command: Sequence[str | Path],
    *,
    folder: Path,
    timeout: float = 180,
    environment: Mapping[str, str] | None = None,
) -> Run:
    """Run a command on some ranks, in a folder, which also takes what they write.

    Raises
    ------
    TimeoutError
        If it takes longer than `timeout` seconds. Then all of its processes are killed.
    """
    with started_ranks(installation, ranks, command, folder=folder, environment=environment) as mpiexec:
        outputs = [folder / f"output.{rank}" for rank in range(ranks)]
        errors = folder / "errors"
        try:
            status = mpiexec.wait(timeout)
        except subprocess.TimeoutExpired:
            _kill_tree(mpiexec.pid)
            mpiexec.wait()
            written = "\n".join(path.read_text(errors="replace")[-2000:] for path in outputs if path.is_file())
            raise TimeoutError(f"{installation}, {ranks} ranks: {errors.read_text()[-4000:]}\n{written}") from None
        texts = [path.read_text(errors="replace") if path.is_file() else "" for path in outputs]
        return Run(status, texts, errors.read_text())


@contextlib.contextmanager
def started_ranks(
    installation: Installation,
    ranks: int,
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command as `run_ranks` does, and yield its mpiexec; what is left of it at the end is killed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OF_LAUNCHERS)}
    for rank in range(ranks):
        (folder / f"output.{rank}").unlink(missing_ok=True)
    # mpiexec would mix their lines.
    to_own_file = 'exec "$@" >"output.${OMPI_COMM_WORLD_RANK-$PMI_RANK}"'
    with (folder / "errors").open("w") as errors:
        mpiexec = subprocess.Popen(
            [installation.mpiexec, "-n", str(ranks), "sh", "-c", to_own_file, "sh", *command],
            cwd=folder,
            env={**inherited, **SETTINGS, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
    try:
        yield mpiexec
    finally:
        if mpiexec.poll() is None:
            _kill_tree(mpiexec.pid)
            mpiexec.wait()


def _kill_tree(root: int) -> None:
    """Kill a process and all that descend from it, which may be in sessions of their own."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(stat.parent.name))
    doomed = [root]
    for process in doomed:
        doomed.extend(children.get(process, []))
    for process in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def installation(family: Family, origin: str) -> Installation:
    """Return one of them."""
    (found,) = (each for each in INSTALLATIONS if each.family is family and each.origin == origin)
    return found
