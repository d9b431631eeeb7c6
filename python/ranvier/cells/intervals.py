"""Pieces of sections, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Intervals"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Intervals(NamedTuple):
    """Pieces [begin, end) of sections, by section and begin; between those of one section there are gaps."""

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
        """Return what lies in at least so many of some pieces."""
        section = np.concatenate([each.section for each in parts for _ in range(2)])
        place = np.concatenate([ends for each in parts for ends in (each.begin, each.end)])
        change = np.concatenate([np.full(len(each.section), sign) for each in parts for sign in (1, -1)])
        # Where one ends and another one begins, both count for the smallest number, so that they become one piece.
        order = np.lexsort((-change if least == 1 else change, place, section))
        section, place, change = section[order], place[order], change[order]
        inside = np.cumsum(change)
        begins = np.flatnonzero((inside == least) & (change > 0))
        ends = np.flatnonzero((inside == least - 1) & (change < 0))
        return cls(section[begins], place[begins], place[ends])

    @classmethod
    def union(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return what lies in any of some pieces."""
        return cls.at_least(1, parts)

    @classmethod
    def intersection(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return what lies in all of some pieces."""
        return cls.at_least(len(parts), parts)

    def complement(self, count: int) -> Intervals:
        """Return the rest of `count` sections."""
        # A section with n pieces has n + 1 between and beside them, some of which are empty.
        pieces = np.bincount(self.section, minlength=count)
        number = np.arange(len(self.section))
        low, high = np.zeros(len(self.section) + count), np.ones(len(self.section) + count)
        low[number + self.section + 1] = self.end
        high[number + self.section] = self.begin
        section = np.repeat(np.arange(count), pieces + 1)
        kept = low < high
        return Intervals(section[kept], low[kept], high[kept])
