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

    def joined(self, empty: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
        """Return all pieces as one, or `empty` when there are none."""
        if not self._parts:
            return empty
        if len(self._parts) > 1:
            size = sum(column.nbytes for part in self._parts for column in part)
            check_room("joining the recorded data", size, "record less, or record to a file")
            self._parts = [tuple(np.concatenate(column) for column in zip(*self._parts, strict=True))]
        return self._parts[0]

    def clear(self) -> None:
        """Forget all pieces."""
        self._parts = []
