"""Checks of numbers from users. Anything else is refused, also text that looks like a number."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.memory_checks import check_room
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["as_array", "number", "number_array", "positive_number", "three_numbers", "whole_number"]


def number(name: str, value: object) -> float:
    """Return a number as a float; `name` is its name in error messages.

    Raises
    ------
    TypeError
        When it is not a number.
    ValueOutOfBoundsError
        When it is a whole number too large for floating point.
    """
    array = number_array(name, value, "a number")
    if array.ndim > 0:
        raise WrongTypeError(name, type(value).__name__, "must be a number")
    return float(array)


def positive_number(name: str, value: object, unit: str = "", remedy: str = "") -> float:
    """Return a number that must be > 0 and finite; `unit` is its unit in error messages.

    Raises
    ------
    TypeError
        When it is not a number.
    ValueOutOfBoundsError
        When it is not > 0 and finite.
    """
    given = number(name, value)
    if not 0.0 < given < math.inf:
        raise ValueOutOfBoundsError(name, f"{value} {unit}".rstrip(), "it must be > 0 and finite", remedy)
    return given


def number_array(
    name: str, values: object, wanted: str = "a number, an array of numbers or a distribution"
) -> npt.NDArray[np.float64]:
    """Return a copy of an array of numbers, of any shape; `wanted` is the requirement in error messages.

    Raises
    ------
    TypeError
        When an element is not a number, or is masked.
    ValueOutOfBoundsError
        When an element is a whole number too large for floating point.
    InsufficientMemoryError
        When there is not enough memory for the copy.
    """
    array = as_array(name, values)
    if array is None or not _holds_numbers(array):
        found = type(values).__name__
        if array is None:
            found = "lists of different lengths"
        elif isinstance(values, np.ndarray):
            found = f"an array of {values.dtype}"
        raise WrongTypeError(name, found, f"must be {wanted}")
    check_room(f"a copy of {name}", 8 * array.size, "give fewer values, or a distribution")
    try:
        return np.array(array, dtype=np.float64)
    except OverflowError:
        raise ValueOutOfBoundsError(name, "too large for floating point", "it must be finite") from None


def three_numbers(name: str, values: object, most: float) -> npt.NDArray[np.float64]:
    """Return a copy of three finite numbers within a limit.

    Raises
    ------
    TypeError
        When an element is not a number.
    ShapeError
        When there are not three.
    ValueOutOfBoundsError
        When one is not finite, or exceeds the limit.
    """
    vector = number_array(name, values, "three numbers")
    if vector.shape != (3,):
        raise ShapeError(name, f"an array of the shape {vector.shape}", "it must be three numbers")
    if not (np.abs(vector) <= most).all():
        raise ValueOutOfBoundsError(name, str(tuple(vector.tolist())), f"they must be finite, and at most {most:g}")
    return vector


def as_array(name: str, values: object) -> npt.NDArray[Any] | None:
    """Return the values as an array, or None when they are lists of different lengths.

    Raises
    ------
    WrongTypeError
        When elements are masked, or some are booleans and others numbers: NumPy would take True for 1.
    InsufficientMemoryError
        When there is not enough memory, for example for the numbers of a long range.
    """
    check_unmasked(name, values)
    if isinstance(values, range):
        # A range itself takes no memory; its length may be larger than len() can return.
        count = max(0, -((values.start - values.stop) // values.step))
        check_room(f"an array of {name}", 8 * count, "give fewer values")
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    if array.dtype != np.bool_ and _has_boolean(values):
        raise WrongTypeError(name, "a mix of numbers and booleans", "must be numbers", "write 1 or 0 for a boolean")
    return array


def _has_boolean(values: object) -> bool:
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.bool_)
    if not isinstance(values, list | tuple):
        return False
    kinds = set(map(type, values))
    if bool in kinds or np.bool_ in kinds:
        return True
    nested = any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds)
    return nested and any(map(_has_boolean, values))


def check_unmasked(name: str, values: object) -> None:
    """Refuse arrays with masked elements, whose mask would be lost.

    Raises
    ------
    WrongTypeError
        For a masked array, or a list that contains one.
    """
    # NumPy imports numpy.ma on demand; without it, there are no masked arrays.
    if "numpy.ma" not in sys.modules:
        return
    parts = values if isinstance(values, list | tuple) else [values]
    if any(np.ma.is_masked(part) for part in parts):
        raise WrongTypeError(
            name,
            "an array with masked elements",
            "must be without a mask",
            "use array.filled(value) or array.compressed()",
        )


def whole_number(name: str, value: object, least: int, greatest: int, remedy: str = "") -> int:
    """Return a whole number within bounds.

    Raises
    ------
    TypeError
        When it is not a whole number.
    ValueOutOfBoundsError
        When it is outside the bounds.
    """
    # NumPy counts durations among its integers.
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer):
        raise WrongTypeError(name, type(value).__name__, "must be an integer")
    if value < least:
        raise ValueOutOfBoundsError(name, str(value), f"it must be at least {least}", remedy)
    if value > greatest:
        raise ValueOutOfBoundsError(name, str(value), f"it must be at most {greatest}", remedy)
    return int(value)


def _holds_numbers(array: npt.NDArray[Any]) -> bool:
    if array.dtype.kind == "O":
        return all(isinstance(element, Real) and not isinstance(element, bool) for element in array.flat)
    # True and False are answers, not 1 and 0.
    return array.dtype.kind in "iuf" or (array.dtype.kind == "b" and array.size == 0)
