"""The cones of which the neurites of a file consist: what must be read, to the last one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DEEPEST", "Cones"]

DEEPEST = 5000
"""Forks on the way from the soma to an end. Readers go from fork to fork, each in a call of its own; stacks end."""


class Cones(NamedTuple):
    """Points of neurites, and the point before each of them."""

    points: npt.NDArray[np.float64]
    """x, y, z, diameter; shape ``(n, 4)``."""
    parents: npt.NDArray[np.int64]
    """Numbers of points; -1 where a neurite begins."""
    lines: list[int]
    """Lines of the file with the points."""

    def single(self) -> int | None:
        """Return the line of a neurite that is one point, if there is such."""
        alone = self.parents == -1
        alone[self.parents[self.parents >= 0]] = False
        return self.lines[int(np.flatnonzero(alone)[0])] if alone.any() else None

    def counted(self) -> tuple[int, float]:
        """Return the number of those that have a length in single precision, and the sum of their lengths, um."""
        places = self.points[:, :3].astype(np.float32).astype(np.float64)
        ends = np.flatnonzero(self.parents >= 0)
        lengths = np.sqrt(((places[ends] - places[self.parents[ends]]) ** 2).sum(axis=1))
        return int(np.count_nonzero(lengths)), float(lengths.sum())
