"""Displacements of points in space that may be periodic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import number_array
from ranvier.errors import ShapeError, ValueOutOfBoundsError
from ranvier.space.positions import Positions

__all__ = ["displacements", "lengths", "period_of", "point_in"]

FloatArray = npt.NDArray[np.float64]


def period_of(layout: Positions) -> FloatArray:
    """Return for each dimension the length after which space repeats itself; infinity: it does not."""
    if layout.extent is None:
        return np.full(layout.dimensions, np.inf)
    return np.where(layout.periodic, layout.extent, np.inf)


def displacements(begin: FloatArray, end: FloatArray, period: FloatArray) -> FloatArray:
    """Return end minus begin, whose last axes are coordinates; on periodic axes the shortest of all images."""
    difference: FloatArray = end - begin
    repeats = np.isfinite(period)
    if repeats.any():
        # As the core rounds, so that distances are those that rules see.
        length = period[repeats]
        difference[..., repeats] -= length * np.rint(difference[..., repeats] / length)
    return difference


def lengths(vectors: FloatArray) -> FloatArray:
    """Return Euclidean lengths of vectors, whose last axis is that of coordinates."""
    squares = vectors * vectors
    total = squares[..., 0].copy()
    # In the order in which the core adds.
    for axis in range(1, vectors.shape[-1]):
        total += squares[..., axis]
    return np.sqrt(total)


def point_in(what: str, point: npt.ArrayLike, layout: Positions) -> FloatArray:
    """Return the checked coordinates of a point, one for each dimension of a layout."""
    array = number_array(what, point, "a number for each dimension")
    if array.shape != (layout.dimensions,):
        raise ShapeError(
            what,
            f"an array of shape {array.shape}",
            f"the positions have {layout.dimensions} dimensions",
            "give one number for each dimension",
        )
    if not np.isfinite(array).all():
        raise ValueOutOfBoundsError(what, str(tuple(array.tolist())), "coordinates must be finite")
    return array
