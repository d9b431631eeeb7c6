"""What the processes of a run do together in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ranvier import _core
from ranvier.errors import RemoteError

__all__ = ["agree", "on_root"]

Result = TypeVar("Result")


def agree(communicator: _core.Communicator, what: str, action: Callable[[], Result]) -> Result:
    """Do something that may fail on some processes only, and fail on all together.

    Raises
    ------
    RemoteError
        Where it did not fail, but did on another process; it tells which, and why.
    """
    if communicator.size == 1:
        return action()
    try:
        result = action()
    except BaseException as error:
        communicator.allgather(f"{type(error).__name__}: {error}".encode())
        raise
    failures = {rank: text.decode() for rank, text in enumerate(communicator.allgather(b"")) if text}
    for rank, reason in failures.items():
        raise RemoteError(what, bound=f"rank {rank} failed ({reason})", remedy="see the message of that rank")
    return result


def on_root(communicator: _core.Communicator, what: str, action: Callable[[], None]) -> None:
    """Do something on rank 0 only, such as writing a file; when it fails, all fail."""
    agree(communicator, what, action if communicator.rank == 0 else lambda: None)
