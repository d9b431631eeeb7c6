"""The cones of the neurites of a file, to check that all of them have been read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["DEEPEST", "MOST_BRANCHES", "Cones", "depths_of"]

DEEPEST = 5000
"""Most forks between the soma and an end. Readers recurse at each fork, and a stack is finite."""


MOST_BRANCHES = 100_000
"""Most branches from one point. The time of MorphIO is quadratic in their number: 5 s for this one."""


class Cones(NamedTuple):
    """Points of neurites, and the point before each of them."""

    points: npt.NDArray[np.float64]
    """x, y, z, diameter; shape ``(n, 4)``."""
    parents: npt.NDArray[np.int64]
    """Numbers of points; -1 at the start of a neurite."""
    lines: npt.NDArray[np.int64]
    """Lines of the file with the points; empty for formats without lines."""

    def single(self) -> int | None:
        """Return the line of a neurite with a single point, if there is one."""
        alone = self.parents == -1
        alone[self.parents[self.parents >= 0]] = False
        return int(self.lines[np.flatnonzero(alone)[0]]) if alone.any() else None

    def widest(self) -> tuple[int, int]:
        """Return the greatest number of branches that begin at one point or at the soma, and its line."""
        if not len(self.parents):
            return 0, 0
        # The soma is the last one.
        counts = np.bincount(np.where(self.parents < 0, len(self.parents), self.parents))
        at = int(counts.argmax())
        line = int(self.lines[at]) if at < len(self.lines) else 0
        return int(counts[at]), line

    def counted(self) -> tuple[int, float]:
        """Return the number of those that have a length in single precision, and the sum of their lengths, um."""
        places = self.points[:, :3].astype(np.float32).astype(np.float64)
        ends = np.flatnonzero(self.parents >= 0)
        lengths = np.sqrt(((places[ends] - places[self.parents[ends]]) ** 2).sum(axis=1))
        return int(np.count_nonzero(lengths)), float(lengths.sum())


def depths_of(parents: npt.NDArray[np.int64], counts: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], ...]:
    """Return for each node how many on the way to its root count, the node with them, and where this way ends.

    Parameters
    ----------
    parents
        Parent of each node; -1 for a root.
    counts
        Which nodes count.

    Returns
    -------
    depths, ends
        An end is -1, or a node on the loop into which the way leads; a depth is then of no use.
    """
    # Each round doubles the distance to the ancestor: after these, it exceeds the longest path.
    depths = counts.astype(np.int64)
    ends = parents.copy()
    for _ in range(max(len(parents), 1).bit_length()):
        going = np.flatnonzero(ends >= 0)
        if not len(going):
            break
        to = ends[going]
        depths[going] += depths[to]
        ends[going] = ends[to]
    return depths, ends
