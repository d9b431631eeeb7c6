"""Values from users: one number for all, an array with one number for each, or a distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.distributions import Distribution
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number_array
from ranvier.errors import ShapeError

__all__ = ["FloatArray", "Values"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = npt.ArrayLike | Distribution
StoredValues: TypeAlias = float | FloatArray | Distribution
"""Values in the form in which a network keeps them: arrays are read-only copies."""


def store_array(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return a read-only copy of a one-dimensional array of numbers."""
    stored = store(name, values)
    if not isinstance(stored, np.ndarray):
        raise ShapeError(name, "a single number", "it must be an array of one dimension")
    return stored


def store(name: str, values: Values) -> StoredValues:
    """Return values in the form in which a network keeps them; `name` is their name in error messages."""
    if isinstance(values, Distribution):
        return values
    if isinstance(values, np.ndarray):
        # Check the memory for the copy, which the core shares; a broadcast array may have taken no memory so far.
        check_room(name, 8 * values.size, "give fewer values, or a distribution")
    # Always a copy: if the user later writes to the array, the network must not change.
    array = number_array(name, values)
    if array.ndim == 0:
        return float(array)
    if array.ndim != 1:
        raise ShapeError(name, f"an array of shape {array.shape}", "it must have one dimension")
    array.flags.writeable = False
    return array


def to_core(values: StoredValues) -> float | FloatArray | _core.Distribution:
    """Return stored values in the form in which the core takes them."""
    return values._to_core() if isinstance(values, Distribution) else values


def flatten(name: str, values: Values, pairs: tuple[int, int] | None) -> Values:
    """Flatten an array with one number per target and source, which is allowed only if the rule connects all pairs."""
    if not isinstance(values, Iterable):
        return values
    array = number_array(name, values)
    shape = array.shape
    if len(shape) != 2:
        return array
    if pairs is None or shape != pairs:
        wanted = (
            "it must have one dimension" if pairs is None else f"it must have the shape (targets, sources), {pairs}"
        )
        raise ShapeError(name, f"an array of shape {shape}", wanted)
    return array.ravel()
