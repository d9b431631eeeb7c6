"""Agreement between the processes of a run: they do the same, or fail together."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ranvier import _core
from ranvier.errors import RemoteError

__all__ = ["agree", "agree_on", "agreed", "from_root", "on_root", "reporting_rank", "summary_of", "values_of_all"]

Result = TypeVar("Result")


@contextlib.contextmanager
def agreed(communicator: _core.Communicator, what: str) -> Iterator[None]:
    """Let what may fail on some processes only fail on all together, at the end of the block.

    In the block, either nothing is collective, or all that is fails on all processes.

    Raises
    ------
    RemoteError
        Where it did not fail, but did on another process; it tells which, and why. Also where it failed only because
        another process did, which then tells the cause.
    """
    if communicator.size == 1:
        yield
        return
    try:
        yield
    except RemoteError as error:
        told = communicator.allgather(_as_message(error))
        _raise_cause(communicator, what, told, b"+")
        _note_reporting_rank(error, _first_of_kind(told, error))
        raise
    except BaseException as error:
        told = communicator.allgather(_as_message(error))
        _note_reporting_rank(error, _first_of_kind(told, error))
        raise
    # Mostly nobody has anything to tell, and of many processes each would have to be looked at.
    complaints = communicator.compare(b"")
    if complaints is None:
        return
    for mark in (b"+", b"-"):
        _raise_cause(communicator, what, complaints, mark)


def reporting_rank(error: BaseException) -> int | None:
    """Return the rank that tells the user of an error with which all processes have failed together.

    It is the lowest of those that have failed with an error of the same kind, whose details may differ. None where this
    process may have failed alone.
    """
    rank: int | None = getattr(error, "_reporting_rank", None)
    return rank


def _note_reporting_rank(error: BaseException, rank: int) -> None:
    error._reporting_rank = rank  # type: ignore[attr-defined]


def agree(communicator: _core.Communicator, what: str, action: Callable[[], Result]) -> Result:
    """Do something that may fail on some processes only, and fail on all together; as `agreed`."""
    with agreed(communicator, what):
        return action()


def agree_on(communicator: _core.Communicator, what: str, action: Callable[[], Result]) -> Result:
    """Return what an action returns, which must be the same on all processes; it may fail on some, as in `agree`.

    Raises
    ------
    RemoteError
        Also where another process got something else.
    """
    if communicator.size == 1:
        return action()
    with agreed(communicator, what):
        result = action()
    # What is the same is mostly pickled alike, which is told without looking at each of many processes.
    own = pickle.dumps(result, protocol=5)
    told = communicator.compare(own)
    if told is None:
        return result
    results = [_unpickle(data) for data in told]
    for rank, other in enumerate(results):
        if other != results[0]:
            error = RemoteError(
                what,
                bound=f"it is {results[0]} on rank 0, and {other} on rank {rank}",
                remedy="let all ranks do the same",
            )
            _note_reporting_rank(error, 0)
            raise error
    return result


class _SomethingElse:
    """Stands for the result of a process that has none, since it does something else."""

    def __str__(self) -> str:
        return "nothing of the kind"


def _unpickle(data: bytes) -> object:
    # Who calls another method may be at a point where nothing or an error is told.
    return pickle.loads(data) if data.startswith(pickle.PROTO) else _SomethingElse()


def summary_of(value: object) -> str:
    """Return a text in which two arrays differ if they do."""
    if not isinstance(value, np.ndarray):
        return "all" if value is None else str(value)
    return f"{value.size} numbers with the hash {hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()}"


def on_root(communicator: _core.Communicator, what: str, action: Callable[[], None]) -> None:
    """Do something on rank 0 only, such as writing a file; when it fails, all fail."""
    agree(communicator, what, action if communicator.rank == 0 else lambda: None)


def from_root(communicator: _core.Communicator, what: str, action: Callable[[], Result]) -> Result:
    """Do something on rank 0 only, and return its result, which can be pickled, everywhere; when it fails, all fail."""
    if communicator.size == 1:
        return action()
    if communicator.rank == 0:
        result = agree(communicator, what, action)
        communicator.broadcast(pickle.dumps(result, protocol=5))
        return result
    agree(communicator, what, lambda: None)
    received: Result = pickle.loads(communicator.broadcast(None))
    return received


def values_of_all(communicator: _core.Communicator, value: Result) -> list[Result]:
    """Return the values of all processes, by rank, everywhere; they can be pickled."""
    if communicator.size == 1:
        return [value]
    return [pickle.loads(data) for data in communicator.allgather(pickle.dumps(value, protocol=5))]


def _first_of_kind(told: list[bytes], error: BaseException) -> int:
    kind = _as_message(error).partition(b":")[0]
    return [text.partition(b":")[0] for text in told].index(kind)


def _as_message(error: BaseException) -> bytes:
    # Who failed because of another one does not count.
    mark = b"-" if isinstance(error, RemoteError) else b"+"
    return mark + f"{type(error).__name__}: {error}".encode(errors="backslashreplace")


def _raise_cause(communicator: _core.Communicator, what: str, told: list[bytes], mark: bytes) -> None:
    """Raise what the first of the other processes tells that has told something with this mark."""
    for rank, text in enumerate(told):
        if rank != communicator.rank and text.startswith(mark):
            error = RemoteError(
                what, bound=f"rank {rank} failed ({text[1:].decode()})", remedy="see the message of that rank"
            )
            _note_reporting_rank(error, rank)
            raise error from None
