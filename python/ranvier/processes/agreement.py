"""Agreement between the processes of a run: either all of them do the same, or all of them fail."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

import numpy as np

from ranvier import _core
from ranvier.base.names import counted
from ranvier.errors import RemoteError

__all__ = ["agree", "agree_on", "agreed", "from_root", "reporting_rank", "summary_of", "values_of_all"]

Result = TypeVar("Result")

_CALL = b"="
"""Mark at the beginning of a message that is the name of a call; others are errors."""

SECONDS_UNTIL_NOTICE = 60.0
"""Seconds after which a waiting process prints a notice."""


@contextlib.contextmanager
def agreed(communicator: _core.Communicator, what: str, call: str = "") -> Iterator[None]:
    """If the block fails on some processes, raise an error on all of them at the end of the block.

    The block must not contain collective calls, unless these fail on all processes together.

    Raises
    ------
    RemoteError
        On a process where the block did not fail, when it failed on another one; the error names that process and the
        cause. Also on a process where it failed only because another process failed, and on all processes when they
        make different calls. `call` identifies the call; it is needed if `what` differs between processes.
    """
    if communicator.size == 1:
        yield
        return
    try:
        yield
    except RemoteError as error:
        messages = communicator.allgather(_as_message(error))
        _raise_cause(communicator, what, messages, b"+")
        _note_reporting_rank(error, _first_of_kind(messages, error))
        raise
    except BaseException as error:
        messages = communicator.allgather(_as_message(error))
        _note_reporting_rank(error, _first_of_kind(messages, error))
        raise
    # Usually no process has failed; this check avoids looking at a message of each process.
    with _notice_of_waiting(communicator, call or what):
        differing = communicator.compare(_CALL + (call or what).encode(errors="backslashreplace"))
    if differing is None:
        return
    for mark in (b"+", b"-"):
        _raise_cause(communicator, what, differing, mark)
    _raise_difference(differing)


@contextlib.contextmanager
def _notice_of_waiting(communicator: _core.Communicator, call: str) -> Iterator[None]:
    """Print a notice if the block takes long: MPI does not detect that some processes do not make a call."""
    seconds = SECONDS_UNTIL_NOTICE
    notice = (
        f"ranvier: rank {communicator.rank} of {communicator.size} has waited for {seconds:g} s at {call!r}, which "
        "goes on when all ranks make this call"
    )
    timer = threading.Timer(seconds, lambda: print(notice, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def reporting_rank(error: BaseException) -> int | None:
    """Return the rank that reports an error with which all processes have failed.

    It is the lowest rank that has failed with an error of the same type, whose details may differ. None if this process
    may have failed alone.
    """
    rank: int | None = getattr(error, "_reporting_rank", None)
    return rank


def _note_reporting_rank(error: BaseException, rank: int) -> None:
    error._reporting_rank = rank  # type: ignore[attr-defined]


def agree(communicator: _core.Communicator, what: str, action: Callable[[], Result], call: str = "") -> Result:
    """Call `action`. If it fails on some processes, raise an error on all of them, as `agreed` does."""
    with agreed(communicator, what, call):
        return action()


def agree_on(communicator: _core.Communicator, what: str, action: Callable[[], Result]) -> Result:
    """Return the result of `action`, which must be the same on all processes; it may fail on some, as in `agree`.

    Raises
    ------
    RemoteError
        Also when the result differs between processes.
    """
    if communicator.size == 1:
        return action()
    with agreed(communicator, what):
        result = action()
    # Equal results usually have equal pickles, which can be compared without looking at each of many processes.
    every = communicator.compare(pickle.dumps(result, protocol=5))
    if every is None:
        return result
    results = [_unpickle(data) for data in every]
    for rank, other in enumerate(results):
        if other != results[0]:
            error = RemoteError(
                what,
                bound=f"it is {results[0]} on rank 0, and {other} on rank {rank}",
                remedy="make the same call with the same arguments on all ranks",
            )
            _note_reporting_rank(error, 0)
            raise error
    return result


class _SomethingElse:
    """Stands for the result of a process that has no result, because it makes another call."""

    def __str__(self) -> str:
        return "the result of another call"


def _unpickle(data: bytes) -> object:
    # A process that makes another call may have sent nothing or an error here.
    return pickle.loads(data) if data.startswith(pickle.PROTO) else _SomethingElse()


def summary_of(value: object) -> str:
    """Return a text that differs for different arrays."""
    if not isinstance(value, np.ndarray):
        return "all" if value is None else str(value)
    return (
        f"{counted(value.size, 'number')} with the hash {hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()}"
    )


def from_root(communicator: _core.Communicator, what: str, action: Callable[[], Result], call: str = "") -> Result:
    """Call `action` on rank 0 only, and return its (picklable) result on all ranks. If it fails, all ranks raise."""
    if communicator.size == 1:
        return action()
    if communicator.rank == 0:
        result = agree(communicator, what, action, call)
        communicator.broadcast(pickle.dumps(result, protocol=5))
        return result
    agree(communicator, what, lambda: None, call)
    received: Result = pickle.loads(communicator.broadcast(None))
    return received


def values_of_all(communicator: _core.Communicator, value: Result) -> list[Result]:
    """Return the (picklable) values of all processes, by rank, on all processes."""
    if communicator.size == 1:
        return [value]
    with agreed(communicator, "gathering values of all processes"):
        data = pickle.dumps(value, protocol=5)
    return [pickle.loads(each) for each in communicator.allgather(data)]


def _raise_difference(messages: list[bytes]) -> NoReturn:
    """Raise the error of processes that make different calls; it names the first two of them."""
    calls = [text[1:].decode() if text.startswith(_CALL) else "something else" for text in messages]
    other = next(rank for rank, call in enumerate(calls) if call != calls[0])
    error = RemoteError(
        "calls of the processes",
        bound=f"rank 0 is at {calls[0]!r}, and rank {other} at {calls[other]!r}",
        remedy="let all ranks make the same calls in the same order",
    )
    _note_reporting_rank(error, 0)
    raise error


def _first_of_kind(messages: list[bytes], error: BaseException) -> int:
    kind = _as_message(error).partition(b":")[0]
    return [text.partition(b":")[0] for text in messages].index(kind)


def _as_message(error: BaseException) -> bytes:
    # A process that failed because of another one is not the cause.
    mark = b"-" if isinstance(error, RemoteError) else b"+"
    return mark + f"{type(error).__name__}: {error}".encode(errors="backslashreplace")


def _raise_cause(communicator: _core.Communicator, what: str, messages: list[bytes], mark: bytes) -> None:
    """Raise the error of the first of the other processes whose message has this mark."""
    for rank, text in enumerate(messages):
        if rank != communicator.rank and text.startswith(mark):
            error = RemoteError(
                what, bound=f"rank {rank} failed ({text[1:].decode()})", remedy="see the message of that rank"
            )
            _note_reporting_rank(error, rank)
            raise error from None
