"""Contacts of electrodes outside of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, ValueOutOfBoundsError

__all__ = ["checked_contacts"]

_UM = {"um": 1.0, "mm": 1000.0}
# Squares of distances must not overflow.
_MOST = 1e12


def checked_contacts(contacts: Any, unit: str) -> FloatArray:
    """Return the coordinates of contacts in um, shape ``(contacts, 3)``.

    Parameters
    ----------
    contacts
        An array, or a probe of probeinterface, whose coordinates are in um.
    unit
        Of an array: ``"mm"`` or ``"um"``.
    """
    given = getattr(contacts, "contact_positions", None)
    if given is not None:
        contacts, unit = given, "um"
    try:
        points: npt.NDArray[np.float64] = np.array(contacts, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError("contacts", type(contacts).__name__, "they must be an array of numbers") from None
    if points.ndim == 1:
        points = points[np.newaxis, :]
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        remedy = "give x, y and z of each contact"
        if given is not None and points.ndim == 2 and points.shape[1] == 2:
            remedy = "place the probe in space: probe.to_3d(axes='xz')"
        raise ShapeError("contacts", f"an array of the shape {points.shape}", "it must be (contacts, 3)", remedy)
    points *= _UM[unit]
    wrong = np.flatnonzero(~(np.abs(points) <= _MOST).all(axis=1))
    if len(wrong):
        raise ValueOutOfBoundsError(
            f"contact {wrong[0]}",
            f"{tuple(points[wrong[0]].tolist())} um",
            f"coordinates must be finite, and at most {_MOST:g} um",
        )
    return locked(points)
