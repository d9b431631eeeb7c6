"""Unions and intersections of pieces of sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Intervals"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Intervals(NamedTuple):
    """Pieces [begin, end) of sections, sorted by section and begin, with gaps between those of one section."""

    section: IntArray
    begin: FloatArray
    """Fractions of the length of the section."""
    end: FloatArray

    @classmethod
    def whole(cls, sections: IntArray) -> Intervals:
        """Return whole sections, whose numbers ascend."""
        return cls(sections, np.zeros(len(sections)), np.ones(len(sections)))

    @classmethod
    def at_least(cls, least: int, parts: Sequence[Intervals]) -> Intervals:
        """Return the parts of sections that are in at least a number of some pieces."""
        section = np.concatenate([each.section for each in parts for _ in range(2)])
        place = np.concatenate([ends for each in parts for ends in (each.begin, each.end)])
        change = np.concatenate([np.full(len(each.section), sign) for each in parts for sign in (1, -1)])
        # Adjacent pieces overlap in one representable number, so that they become one piece.
        order = np.lexsort((-change if least == 1 else change, place, section))
        section, place, change = section[order], place[order], change[order]
        inside = np.cumsum(change)
        begins = np.flatnonzero((inside == least) & (change > 0))
        ends = np.flatnonzero((inside == least - 1) & (change < 0))
        return cls(section[begins], place[begins], place[ends])

    @classmethod
    def union(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return the union of pieces."""
        return cls.at_least(1, parts)

    @classmethod
    def intersection(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return the intersection of pieces."""
        return cls.at_least(len(parts), parts)

    def complement(self, count: int) -> Intervals:
        """Return the rest of `count` sections."""
        # A section with n pieces has n + 1 gaps between and beside them, some of which are empty.
        pieces = np.bincount(self.section, minlength=count)
        number = np.arange(len(self.section))
        low, high = np.zeros(len(self.section) + count), np.ones(len(self.section) + count)
        low[number + self.section + 1] = self.end
        high[number + self.section] = self.begin
        section = np.repeat(np.arange(count), pieces + 1)
        kept = low < high
        return Intervals(section[kept], low[kept], high[kept])
