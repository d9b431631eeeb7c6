"""Recordings that are kept in memory, as tables of the saved state of a simulation.

Spikes are rows with the global id of the neuron and the step. Samples are lists, one for each neuron or synapse, with
the values of all steps; ``id`` is its position in the recorder. The steps are a separate table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.recording.data import IntArray

__all__ = ["Column", "Columns", "load_samples", "load_spikes", "save_samples", "save_spikes"]

Column: TypeAlias = tuple[str, bool, npt.NDArray[Any]]
Columns: TypeAlias = list[Column]

_VALUES_AT_ONCE = 1 << 20


def save_spikes(steps: IntArray, ids: IntArray) -> Iterator[Columns]:
    """Yield the rows of some spikes in pieces."""
    for begin in range(0, len(steps), _VALUES_AT_ONCE):
        piece = slice(begin, begin + _VALUES_AT_ONCE)
        yield [("id", False, ids[piece]), ("step", False, steps[piece])]


def load_spikes(
    pieces: Iterable[Columns], keeps: Callable[[IntArray], npt.NDArray[np.bool_]]
) -> tuple[IntArray, IntArray]:
    """Return the steps and ids of those spikes that a process keeps, in the order (step, id)."""
    all_steps, all_ids = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for columns in pieces:
        named = {name: values for name, _, values in columns}
        kept = keeps(named["id"])
        all_steps.append(named["step"][kept])
        all_ids.append(named["id"][kept])
    steps, ids = np.concatenate(all_steps), np.concatenate(all_ids)
    order = np.lexsort((ids, steps))
    return steps[order], ids[order]


def save_samples(places: IntArray, values: npt.NDArray[np.float64]) -> Iterator[Columns]:
    """Yield the lists of some neurons or synapses in pieces; `values` has the shape (samples, ..., places)."""
    lists = np.moveaxis(values, -1, 0)
    length = int(np.prod(lists.shape[1:], dtype=np.int64))
    if length == 0:
        return
    at_once = max(1, _VALUES_AT_ONCE // length)
    for begin in range(0, len(places), at_once):
        some = places[begin : begin + at_once]
        sizes = np.full(len(some), length, dtype=np.int64)
        rows = np.ascontiguousarray(lists[begin : begin + at_once]).reshape(-1)
        yield [("id", False, some), ("size", False, sizes), ("value", True, rows)]


def load_samples(pieces: Iterable[Columns], places: IntArray, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return the values of the neurons or synapses at some places, ascending, in an array of a shape.

    Raises
    ------
    ValueError
        When a list is missing or has another length.
    """
    values = np.empty(shape)
    lists = np.moveaxis(values, -1, 0)
    found = np.zeros(len(places), dtype=np.bool_)
    for columns in pieces:
        named = {name: array for name, _, array in columns}
        at = np.searchsorted(places, named["id"])
        wanted = at < len(places)
        wanted[wanted] = places[at[wanted]] == named["id"][wanted]
        rows = named["value"].reshape(len(named["id"]), *lists.shape[1:])
        lists[at[wanted]] = rows[wanted]
        found[at[wanted]] = True
    if values.size and not found.all():
        raise ValueError("values of a recording are missing")
    return values
