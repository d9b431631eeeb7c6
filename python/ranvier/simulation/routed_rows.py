"""Rows of a saved state that each process reads a share of, and sends to the processes that need them."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ranvier.mpi import Communicator
from ranvier.processes.agreement import agreed
from ranvier.state.part_files import Array, Column
from ranvier.state.rows import KeptRows, front, ids_of, joined, taken

__all__ = ["route", "supply"]

Rows = list[Column]
Guard = Callable[[], contextlib.AbstractContextManager[None]]

_WHAT = "loading a state"


def route(
    communicator: Communicator,
    pieces: Iterator[Rows],
    ranks_of: Callable[[Array], npt.NDArray[np.integer]],
    take: Callable[[Rows], None],
    limits: tuple[int, int],
    guard: Guard,
) -> None:
    """Send each row to one process, and receive rows, in rounds of bounded size. All processes call it.

    Parameters
    ----------
    pieces
        The rows that this process has read.
    ranks_of
        Function from the ids of rows to the ranks that receive them.
    take
        Function that is called with the rows received in a round.
    limits
        Numbers of rows and of elements of lists that a process receives in a round, up to a factor of two.
    guard
        Function that returns a context for calls of functions and iterators, which handles their errors.
    """
    size = communicator.size
    section = tuple(max(1, 2 * limit // size) for limit in limits)
    waiting: list[Rows | None] = [None] * size
    received: list[Rows] = []
    while True:
        with agreed(communicator, _WHAT), guard():
            if received:
                take(joined(received))
            if not any(waiting):
                waiting = _divided(next(pieces, None), ranks_of, size)
            sections: list[Rows | None] = [None] * size
            for rank, rows in enumerate(waiting):
                if rows is not None:
                    sections[rank], rest = front(rows, *section)
                    waiting[rank] = rest if len(ids_of(rest)) else None
        received = [rows for rows in _exchanged(communicator, sections) if rows is not None]
        if not _any(communicator, any(sections) or bool(received)):
            return


def supply(
    communicator: Communicator,
    kept: KeptRows,
    next_ids: Callable[[], Array | None],
    ranks_of: Callable[[Array], npt.NDArray[np.integer]],
    take: Callable[[Rows], None],
    guard: Guard,
) -> None:
    """Get the rows that this process needs from those that keep them, some at a time. All processes call it.

    Parameters
    ----------
    kept
        Rows that this process keeps for all.
    next_ids
        Function that returns the ids of the next rows that this process needs, or None.
    ranks_of
        Function from ids to the ranks that keep their rows.
    take
        Function that is called with the rows that `next_ids` has requested.
    """
    received: list[Rows] = []
    while True:
        with agreed(communicator, _WHAT), guard():
            if received:
                take(joined(received))
            ids = next_ids()
            asked: list[Rows | None] = _divided(
                None if ids is None else [("id", False, ids)], ranks_of, communicator.size
            )
        wanted = _exchanged(communicator, asked)
        if not _any(communicator, ids is not None):
            return
        with agreed(communicator, _WHAT), guard():
            replies = [None if rows is None else kept.rows(ids_of(rows)) for rows in wanted]
        received = [rows for rows in _exchanged(communicator, replies) if rows is not None]


def _divided(rows: Rows | None, ranks_of: Callable[[Array], npt.NDArray[np.integer]], size: int) -> list[Rows | None]:
    """Return the rows for each process."""
    divided: list[Rows | None] = [None] * size
    if rows is None:
        return divided
    ranks = ranks_of(ids_of(rows))
    order = np.argsort(ranks, kind="stable")
    ends = np.cumsum(np.bincount(ranks, minlength=size))
    for rank, which in enumerate(np.split(order, ends[:-1])):
        if len(which):
            divided[rank] = taken(rows, which)
    return divided


def _exchanged(communicator: Communicator, sent: list[Rows | None]) -> list[Rows | None]:
    """Send an object to each process, and return the objects that they have sent to this one."""
    told = communicator.alltoall([b"" if rows is None else pickle.dumps(rows, protocol=5) for rows in sent])
    return [pickle.loads(data) if data else None for data in told]


def _any(communicator: Communicator, value: bool) -> bool:
    """Whether it is so on any process."""
    return value if communicator.compare(b"+" if value else b"-") is None else True
