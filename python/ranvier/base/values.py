"""Values from users: one number for all, an array with one number for each, or a formula: drawn, or calculated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from ranvier.base.distributions import Distribution, is_plain
from ranvier.base.formulas import Formula, Text, check_not_number
from ranvier.base.immutable import locked
from ranvier.base.mapped_arrays import MappedArray
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number_array
from ranvier.errors import ShapeError, WrongTypeError

__all__ = ["FloatArray", "Values"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = npt.ArrayLike | Formula
StoredValues: TypeAlias = float | FloatArray | Formula
"""Values in the form in which a network keeps them: arrays are read-only copies."""


def store_array(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return a read-only copy of a one-dimensional array of numbers."""
    if isinstance(values, str | Formula):
        raise WrongTypeError(name, type(values).__name__, "must be an array of numbers")
    stored = store(name, values)
    if not isinstance(stored, np.ndarray):
        raise ShapeError(name, "a single number", "it must be an array of one dimension")
    return stored


def store(name: str, values: Values) -> StoredValues:
    """Return values in the form in which a network keeps them; `name` is their name in error messages."""
    if isinstance(values, Formula) or _is_file(values):
        return values
    if isinstance(values, str):
        check_not_number(name, values)
        return Text(values)
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


def number_or_array(name: str, values: npt.ArrayLike) -> float | FloatArray:
    """Return a number, or a read-only array of one or two dimensions; the connection rule determines the shape."""
    if _is_file(values):
        return values
    array = number_array(name, values)
    if array.ndim == 0:
        return float(array)
    if array.ndim > 2:
        raise ShapeError(name, f"an array of shape {array.shape}", "it must have one or two dimensions")
    return locked(array)


def same_values(some: Mapping[str, StoredValues], others: Mapping[str, StoredValues]) -> bool:
    """Return whether values of parameters are the same."""
    return some.keys() == others.keys() and all(
        np.array_equal(np.asarray(value), np.asarray(others[name])) for name, value in some.items()
    )


def shown(value: StoredValues) -> str:
    """Return values in one line, however many there are."""
    return f"<array of {value.size}>" if isinstance(value, np.ndarray) and value.size > 8 else repr(value)


def ends_of(value: StoredValues) -> tuple[float, float]:
    """Return the least and the greatest of some values."""
    if isinstance(value, Distribution) and is_plain(value):
        return value._to_core().range()
    if isinstance(value, Formula):
        # It is not known before the neurons are.
        return -math.inf, math.inf
    if isinstance(value, np.ndarray):
        return (float(value.min()), float(value.max())) if value.size else (0.0, 0.0)
    return value, value


def _is_file(values: object) -> TypeGuard[MappedArray]:
    """Whether values are numbers of a file, which is neither copied nor changed."""
    return isinstance(values, MappedArray) and values.is_file and values.dtype == np.float64


def to_core(values: StoredValues) -> Any:
    """Return stored values in the form in which the core takes them; a formula that has to be compiled as it is."""
    if (isinstance(values, Distribution) and is_plain(values)) or _is_file(values):
        return values._to_core()
    return values


def flatten(name: str, values: Values, pairs: tuple[int, int] | None) -> Values:
    """Flatten an array with one number per target and source, which is allowed only if the rule connects all pairs."""
    if isinstance(values, str | Formula) or not isinstance(values, Iterable) or _is_file(values):
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
