"""The sections of a cell as arrays, so that a cell may have very many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import locked

__all__ = ["Form", "distances_along", "sums_of_parts"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Parts with more values are added up one by one; those with fewer all at once, value after value.
_LONG = 64


class Form(NamedTuple):
    """Sections in their order. The points of section i are those from ``offsets[i]`` to before ``offsets[i + 1]``."""

    parents: IntArray
    """-1: the root."""
    positions: FloatArray
    """Positions of their starts on their parents."""
    tags: IntArray
    offsets: IntArray
    """One more than there are sections."""
    distances: FloatArray
    """Distances of all points from the starts of their sections along them, um."""
    radii: FloatArray
    points: FloatArray
    """Coordinates, um, shape ``(n, 3)``; NaN for sections without coordinates."""

    @classmethod
    def of_sections(
        cls,
        parents: list[int],
        positions: list[float],
        tags: list[int],
        numbers: list[tuple[FloatArray, FloatArray, FloatArray | None]],
    ) -> Form:
        """Return the form of sections with these distances, radii and coordinates."""
        counts = np.array([len(distances) for distances, _, _ in numbers], dtype=np.int64)
        offsets = np.concatenate([[0], counts.cumsum()]).astype(np.int64)
        points = np.full((int(offsets[-1]), 3), np.nan)
        for begin, (_, _, given) in zip(offsets.tolist(), numbers, strict=False):
            if given is not None:
                points[begin : begin + len(given)] = given
        empty = np.empty(0)
        return cls(
            np.array(parents, dtype=np.int64),
            np.array(positions, dtype=np.float64),
            np.array(tags, dtype=np.int64),
            offsets,
            np.concatenate([empty, *(distances for distances, _, _ in numbers)]),
            np.concatenate([empty, *(radii for _, radii, _ in numbers)]),
            points,
        )

    def read_only(self) -> Form:
        """Return the same, of arrays that cannot be written to."""
        return Form(
            locked(self.parents),
            locked(self.positions),
            locked(self.tags),
            locked(self.offsets),
            locked(self.distances),
            locked(self.radii),
            locked(self.points),
        )

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the sections, um."""
        return self.distances[self.offsets[1:] - 1]

    def has_points(self, section: int) -> bool:
        """Whether a section has coordinates."""
        return not np.isnan(self.points[self.offsets[section], 0])

    def begins(self) -> FloatArray:
        """Return the distance of the start of each section from the start of the root along the neurites, um."""
        begins: list[float] = []
        lengths = self.lengths.tolist()
        for parent, position in zip(self.parents.tolist(), self.positions.tolist(), strict=True):
            begins.append(0.0 if parent < 0 else begins[parent] + position * lengths[parent])
        return np.array(begins)

    def cut(self, counts: npt.ArrayLike) -> _core.Compartments:
        """Return it, cut into compartments: one number for all sections, or one for each."""
        return _core.Compartments(
            parents=self.parents,
            positions=self.positions,
            tags=self.tags,
            point_counts=np.diff(self.offsets),
            distances=self.distances,
            radii=self.radii,
            counts=np.ascontiguousarray(counts, dtype=np.int64),
        )


def distances_along(places: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the distances of points, with coordinates of shape ``(n, 3)``, from the starts of their sections."""
    distances = np.zeros(len(places))
    # Lengths without bound are refused where the cell is made.
    with np.errstate(over="ignore"):
        steps = places[1:] - places[:-1]
        np.sqrt((steps * steps).sum(axis=1), out=distances[1:])
    distances[offsets[:-1]] = 0.0
    return sums_of_parts(distances, offsets)


def sums_of_parts(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Return cumulative sums that start anew in each part, bit-identical to those of `numpy.cumsum` of the part."""
    sums = values.copy()
    counts = np.diff(offsets)
    for begin, count in zip(offsets[:-1][counts > _LONG].tolist(), counts[counts > _LONG].tolist(), strict=True):
        sums[begin : begin + count].cumsum(out=sums[begin : begin + count])
    short = counts <= _LONG
    begins, counts = offsets[:-1][short], counts[short]
    for step in range(1, int(counts.max(initial=0))):
        reaching = counts > step
        begins, counts = begins[reaching], counts[reaching]
        sums[begins + step] += sums[begins + step - 1]
    return sums
