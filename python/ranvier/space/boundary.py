"""A plane at which the medium of potentials ends."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable
from ranvier.base.numeric import number, three_numbers
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError
from ranvier.space.contacts import MOST_COORDINATE
from ranvier.space.positions import MICROMETRES, check_unit

__all__ = ["BoundaryPlane"]


class BoundaryPlane(Immutable):
    """A plane beyond which the medium has another conductivity, for `Network.record_extracellular`.

    Cells and contacts are on one side of it. Each membrane current has an image on the other side, with the strength
    (*a* - *b*) / (*a* + *b*) for the conductivities *a* of their medium and *b* beyond (the method of images).

    Attributes
    ----------
    point
        A point of the plane, um.
    normal
        The unit vector at right angles to the plane that points away from the cells.
    sigma
        Conductivity beyond the plane, S/m.
    """

    point: tuple[float, float, float]
    normal: tuple[float, float, float]
    sigma: float

    @known_keywords
    def __init__(
        self, point: npt.ArrayLike, normal: npt.ArrayLike, *, sigma: float = 0.0, unit: Literal["um", "mm"] = "um"
    ) -> None:
        """Make a plane.

        Parameters
        ----------
        point
            A point of the plane.
        normal
            A vector of any length that points away from the cells, at right angles to the plane.
        sigma
            Conductivity beyond the plane, S/m: 0 for an insulator such as air or glass, some 1.5 for saline, infinite
            for a grounded conductor.
        unit
            Of the point.

        Raises
        ------
        WrongTypeError, ShapeError, ValueOutOfBoundsError
            For values that are not three finite numbers, a normal of zeros, and a negative conductivity.
        """
        place = three_numbers("point of a plane", point, MOST_COORDINATE) * MICROMETRES[check_unit("unit", unit)]
        direction = three_numbers("normal of a plane", normal, MOST_COORDINATE)
        if not direction.any():
            raise ValueOutOfBoundsError(
                "normal of a plane", repr(normal), "it must not be zero", "point it away from the cells"
            )
        direction /= np.abs(direction).max()
        direction /= math.sqrt(float(direction @ direction))
        conductivity = number("sigma of a plane", sigma)
        if not conductivity >= 0.0:
            raise ValueOutOfBoundsError(
                "sigma of a plane", f"{sigma} S/m", "it must be at least 0", "use 0 for an insulator, inf for metal"
            )
        self._put(point=tuple(place.tolist()), normal=tuple(direction.tolist()), sigma=conductivity)

    def image_strength(self, sigma: float) -> float:
        """Return the strength of images relative to their sources, in a medium of the conductivity `sigma`, S/m."""
        return -1.0 if math.isinf(self.sigma) else (sigma - self.sigma) / (sigma + self.sigma)

    def distances(self, points: FloatArray) -> FloatArray:
        """Return the distances of points from the plane, um: positive on the side of the cells, negative beyond."""
        distances: FloatArray = (np.array(self.point) - points) @ np.array(self.normal)
        return distances

    def mirrored(self, points: FloatArray) -> FloatArray:
        """Return the mirror images of points, um."""
        images: FloatArray = points + 2.0 * self.distances(points)[:, np.newaxis] * np.array(self.normal)
        return images

    def __repr__(self) -> str:
        return f"BoundaryPlane({self.point}, {self.normal}, sigma={self.sigma:g})"

    def __reduce__(self) -> tuple[object, tuple[object, ...], dict[str, object]]:
        # Not by __init__: normalising the normal again might change it by rounding.
        return BoundaryPlane.__new__, (BoundaryPlane,), dict(vars(self))

    def __setstate__(self, state: dict[str, object]) -> None:
        self._put(**state)
