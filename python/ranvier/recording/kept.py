"""Recordings that are kept in memory until they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.memory_checks import check_room

__all__ = ["Pieces"]


class Pieces:
    """Arrays that arrive piece by piece and are joined when they are read."""

    def __init__(self) -> None:
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []

    def append(self, part: tuple[npt.NDArray[Any], ...]) -> None:
        """Add a piece, unless it is empty."""
        if len(part[0]):
            self._parts.append(part)

    @property
    def nbytes(self) -> int:
        """Bytes of all pieces."""
        return sum(column.nbytes for part in self._parts for column in part)

    def joined(self, empty: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
        """Return all pieces, joined, or `empty` if there are no pieces."""
        if not self._parts:
            return empty
        if len(self._parts) > 1:
            # Each piece is freed as soon as it has been copied, so that the data are not in memory twice.
            largest = max(sum(column.nbytes for column in part) for part in self._parts)
            check_room("joining the recorded data", 2 * largest, "record less, or record to a file")
            rows = sum(len(part[0]) for part in self._parts)
            columns = tuple(np.empty((rows, *column.shape[1:]), dtype=column.dtype) for column in self._parts[0])
            parts, self._parts = self._parts[::-1], [columns]
            begin = 0
            while parts:
                part = parts.pop()
                for column, values in zip(columns, part, strict=True):
                    column[begin : begin + len(values)] = values
                begin += len(part[0])
                del part, values
        return self._parts[0]

    def clear(self) -> None:
        """Forget all pieces."""
        self._parts = []
