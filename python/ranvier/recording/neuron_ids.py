"""The neurons in a recording, if these are not all neurons of the recorder.

A process that records only its neurons has no information about the others: they have no spikes in its recording, but
may have fired.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.errors import WrongTypeError

__all__ = ["IdArray", "IntArray", "NeuronIds"]

IntArray = npt.NDArray[np.int64]


class IdArray(np.ndarray[Any, np.dtype[np.int64]]):
    """Global ids of neurons. Comparing them with a name raises an error; NumPy would return False for each of them."""

    def __eq__(self, other: object) -> Any:
        _check_no_name(other)
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        _check_no_name(other)
        return super().__ne__(other)

    __hash__ = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return results of calculations as plain arrays: they are not ids."""
        plain = np.asarray(array)
        return plain[()] if return_scalar or not plain.shape else plain

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def _check_no_name(other: object) -> None:
    first = other
    if isinstance(other, np.ndarray | np.generic):
        first = other.ravel()[0].item() if other.dtype.kind in "US" and other.size else 0
    elif isinstance(other, Sequence) and not isinstance(other, str | bytes) and len(other):
        first = other[0]
    if isinstance(first, str | bytes):
        raise WrongTypeError(
            "second operand of a comparison with ids of neurons",
            f"the text {first!r}",
            "must be an id, an array of ids, or a neuron such as exc[3]",
            f"write data.of({first!r}) for the spikes of a population",
        )


_NO_GAPS = np.empty(0, dtype=np.uint8)


class NeuronIds:
    """Ascending global ids of neurons: a range if they are equally spaced, otherwise a list.

    Parameters
    ----------
    ids
        A range with a positive stride, or ids in ascending order without repetition.
    """

    def __init__(self, ids: range | npt.ArrayLike) -> None:
        self._ids: range | IntArray
        if isinstance(ids, range):
            if ids.step < 1:
                raise ValueError(f"the stride of ids is {ids.step}")
            self._ids = ids
        else:
            given = np.asarray(ids, dtype=np.int64)
            if (np.diff(given) <= 0).any():
                raise ValueError("ids do not ascend")
            self._ids = locked(given)

    def __len__(self) -> int:
        return len(self._ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NeuronIds):
            return NotImplemented
        if isinstance(self._ids, range) and isinstance(other._ids, range):
            return self._ids == other._ids
        return np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((len(self), *self._ids[:1]))

    @property
    def array(self) -> IntArray:
        """All ids, shape ``(len(self),)``."""
        ids = self._ids
        return locked(np.arange(ids.start, ids.stop, ids.step, dtype=np.int64)) if isinstance(ids, range) else ids

    def within(self, first: int, end: int) -> NeuronIds:
        """Return the ids in [first, end)."""
        begin = self._count_below(first)
        part = NeuronIds.__new__(NeuronIds)
        part._ids = self._ids[begin : max(begin, self._count_below(end))]
        return part

    def positions(self, neurons: IntArray) -> IntArray:
        """Return the positions of some of these neurons among all of them."""
        if isinstance(self._ids, range):
            return (neurons - self._ids.start) // self._ids.step
        return np.searchsorted(self._ids, neurons)

    def first_missing(self, first: int, end: int) -> int | None:
        """Return the smallest id in [first, end) that is not among them, or None."""
        part = self.within(first, end)
        if len(part) == max(0, end - first):
            return None
        others = np.flatnonzero(part.array != np.arange(first, first + len(part)))
        return first + (int(others[0]) if len(others) else len(part))

    def _count_below(self, neuron: int) -> int:
        if isinstance(self._ids, range):
            return bisect.bisect_left(self._ids, neuron)
        return int(np.searchsorted(self._ids, neuron))

    # ---- in files ----------------------------------------------------------------------------------------------------

    def rule(self) -> list[int]:
        """Return the first id, the stride and the number of ids; the stride is 0 if `gaps` has the distances."""
        if isinstance(self._ids, range):
            return [self._ids.start, self._ids.step, len(self)]
        return [int(self._ids[0]) if len(self) else 0, 0, len(self)]

    def gaps(self) -> npt.NDArray[Any]:
        """Return the differences of consecutive ids, in the smallest type that fits; empty if there is a stride."""
        if isinstance(self._ids, range) or len(self) < 2:
            return _NO_GAPS
        differences = np.diff(self._ids)
        return differences.astype(np.min_scalar_type(int(differences.max())))

    @staticmethod
    def of_rule(rule: Sequence[int], gaps: npt.ArrayLike) -> NeuronIds:
        """Return the ids that are described by `rule` and `gaps`.

        Raises
        ------
        ValueError
            When the two are not consistent.
        """
        first, stride, size = map(int, rule)
        if size < 0 or stride < 0:
            raise ValueError(f"a rule of ids is {rule}")
        if stride:
            return NeuronIds(range(first, first + size * stride, stride))
        differences = np.asarray(gaps, dtype=np.int64)
        if differences.shape != (max(0, size - 1),):
            raise ValueError(f"{size} ids have {len(differences)} gaps")
        return NeuronIds(first + np.concatenate([np.zeros(min(size, 1), np.int64), np.cumsum(differences)]))
