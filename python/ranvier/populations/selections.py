"""Indices with which users select neurons. They are kept in ascending order, as a range if possible."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted, there_are
from ranvier.base.numeric import as_array
from ranvier.errors import IndexOutOfBoundsError, ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Index", "Indices", "as_indices", "chosen_positions", "index_text", "merged", "part_of_positions", "pick"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = range | IntArray
"""Ascending indices: a range if they are equally spaced, otherwise a read-only array."""
Index: TypeAlias = SupportsIndex | slice | range | Sequence[int] | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]

_MOST_SHOWN = 6
_ALLOWED = "must be an integer, a slice, a list of indices or a mask"


def as_indices(array: IntArray) -> Indices:
    """Return ascending indices as a range if they are equally spaced, otherwise as a read-only array."""
    if len(array) < 2:
        return range(int(array[0]), int(array[0]) + 1) if len(array) else range(0)
    steps = np.diff(array)
    if np.all(steps == steps[0]):
        return range(int(array[0]), int(array[-1]) + 1, int(steps[0]))
    return locked(array)


def pick(indices: Indices, positions: Indices) -> Indices:
    """Return the indices at some positions."""
    if isinstance(positions, range):
        picked = indices[positions.start : positions.stop : positions.step]
        return picked if isinstance(picked, range) else as_indices(picked)
    if isinstance(indices, range):
        return as_indices(indices.start + indices.step * positions)
    return as_indices(indices[positions])


def part_of_positions(positions: Indices, begin: int, end: int) -> Indices:
    """Return the positions in [begin, end), relative to begin."""
    if isinstance(positions, range):
        step = positions.step
        first = min(len(positions), max(0, -((positions.start - begin) // step)))
        last = min(len(positions), max(0, -((positions.start - end) // step)))
        inner = positions[first:last]
        return range(inner.start - begin, inner.stop - begin, step)
    first, last = np.searchsorted(positions, [begin, end])
    return as_indices(positions[first:last] - begin)


def merged(what: str, one: Indices, other: Indices) -> Indices:
    """Return the union of two disjoint sets of indices of `what`."""
    if len(one) == 0 or len(other) == 0:
        return one if len(other) == 0 else other
    if isinstance(one, range) and isinstance(other, range) and one.step == other.step == 1:
        low, high = sorted((one, other), key=lambda each: each.start)
        if low.stop == high.start:
            return range(low.start, high.stop)
    check_room(f"the indices of {what}", 24 * (len(one) + len(other)), "select fewer neurons")
    both = np.sort(np.concatenate([np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)]))
    repeated = both[1:][both[1:] == both[:-1]]
    if repeated.size:
        raise ValueOutOfBoundsError(
            what,
            f"joined with index {repeated[0]} on both sides",
            "a view has each neuron only once",
            "join other neurons",
        )
    return as_indices(both)


def chosen_positions(what: str, size: int, index: Index) -> Indices:
    """Return the positions that an index in square brackets selects from the `size` neurons of `what`."""
    if isinstance(index, slice):
        return _of_slice(what, size, index)
    if isinstance(index, list | np.ndarray | range):
        return _of_list(what, size, index)
    try:
        if isinstance(index, bool | np.bool_):
            raise TypeError
        position = operator.index(index)  # type: ignore[arg-type]
    except TypeError:
        remedy = "write a list, [[1, 5]]" if isinstance(index, tuple) else ""
        raise WrongTypeError(f"index of {what}", type(index).__name__, _ALLOWED, remedy) from None
    if not -size <= position < size:
        raise IndexOutOfBoundsError(
            f"index of {what}", str(position), f"it has {counted(size, 'neuron')}", "use indices from 0"
        )
    position %= size
    return range(position, position + 1)


def _of_slice(what: str, size: int, index: slice) -> range:
    try:
        positions = range(size)[index]
    except (TypeError, ValueError) as error:
        raise WrongTypeError(f"slice of {what}", str(error), "must be of integers") from None
    if positions.step < 0:
        raise ValueOutOfBoundsError(
            f"stride of a slice of {what}", str(positions.step), "it must be > 0", "neurons stay in ascending order"
        )
    return positions


def _of_list(what: str, size: int, index: list[Any] | npt.NDArray[Any] | range) -> Indices:
    array = as_array(f"indices of {what}", index)
    if array is None or array.ndim != 1:
        shape = "lists of different lengths" if array is None else f"an array of shape {array.shape}"
        raise ShapeError(f"indices of {what}", shape, "it must have one dimension")
    if array.dtype == np.bool_:
        if len(array) != size:
            raise ShapeError(f"mask of {what}", f"of length {len(array)}", there_are(size, "neuron"))
        return as_indices(np.flatnonzero(array).astype(np.int64))
    if array.size and array.dtype.kind not in "iu":
        raise WrongTypeError(f"indices of {what}", f"an array of {array.dtype}", "must be integers or a mask")
    if array.size and (int(array.min()) < -size or int(array.max()) >= size):
        raise IndexOutOfBoundsError(
            f"indices of {what}",
            f"{array.min()} to {array.max()}",
            f"it has {counted(size, 'neuron')}",
            "use indices from 0",
        )
    positions = np.array(array, dtype=np.int64)
    positions[positions < 0] += size
    wrong = np.flatnonzero(np.diff(positions) <= 0)
    if wrong.size:
        raise ValueOutOfBoundsError(
            f"indices of {what}",
            f"{positions[wrong[0] + 1]} after {positions[wrong[0]]}",
            "they must be ascending without repetition: a view keeps its neurons in the order of their ids",
            "give numpy.unique(indices)",
        )
    return as_indices(positions)


def index_text(indices: Indices) -> str:
    """Return indices in Python's notation for square brackets."""
    if isinstance(indices, range):
        if len(indices) == 1:
            return str(indices[0])
        if indices.step == 1 or not indices:
            return f"{indices.start}:{indices.stop}"
        return f"{indices.start}:{indices[-1] + 1}:{indices.step}"
    if len(indices) <= _MOST_SHOWN:
        return f"[{', '.join(map(str, indices))}]"
    return f"[{indices[0]}, {indices[1]}, ..., {indices[-1]}]"
