"""Values of stimuli that were changed while a simulation ran, in types of JSON and arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from ranvier.base import distributions
from ranvier.base.distributions import Distribution
from ranvier.base.values import StoredValues

__all__ = ["from_saved", "to_saved"]

_KINDS = {name: getattr(distributions, name) for name in distributions.__all__ if name != "Distribution"}


def to_saved(value: StoredValues, keep_array: Callable[[np.ndarray[Any, Any]], str]) -> dict[str, Any]:
    """Return a value in types of JSON; `keep_array` stores an array and returns its name."""
    if isinstance(value, Distribution):
        return {
            "distribution": type(value).__name__,
            "values": {field.name: getattr(value, field.name) for field in fields(value)},
        }
    if isinstance(value, np.ndarray):
        return {"array": keep_array(value)}
    return {"number": float(value)}


def from_saved(saved: dict[str, Any], array: Callable[[str], np.ndarray[Any, Any]]) -> StoredValues:
    """Return the value; `array` returns an array by its name.

    Raises
    ------
    KeyError, TypeError
        When it is not a saved value.
    """
    if "distribution" in saved:
        made: StoredValues = _KINDS[saved["distribution"]](**saved["values"])
        return made
    return array(saved["array"]) if "array" in saved else float(saved["number"])
