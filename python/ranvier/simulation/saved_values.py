"""Values of stimuli that were changed while a simulation ran, in types of JSON and arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from ranvier.base.distributions import Distribution, Exponential, LogNormal, Normal, Uniform
from ranvier.base.formulas import Composite, FormulaLike, Text
from ranvier.base.values import StoredValues
from ranvier.equations.expression import Expression

__all__ = ["from_saved", "to_saved"]

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Exponential, LogNormal, Normal, Uniform)}


def to_saved(value: StoredValues, keep_array: Callable[[np.ndarray[Any, Any]], str]) -> dict[str, Any]:
    """Return a value in types of JSON; `keep_array` stores an array and returns its name."""
    return {"array": keep_array(value)} if isinstance(value, np.ndarray) else _saved(value)


def _saved(value: FormulaLike) -> dict[str, Any]:
    if isinstance(value, Distribution):
        values = {field.name: getattr(value, field.name) for field in fields(value)}
        return {
            "distribution": type(value).__name__,
            "values": {name: each if name == "mode" else _saved(each) for name, each in values.items()},
        }
    if isinstance(value, Composite):
        return {"operation": value.operation, "operands": [_saved(each) for each in value.operands], "mode": value.mode}
    if isinstance(value, Expression):
        return {"expression": value.text, "constants": value.constants}
    if isinstance(value, Text | str):
        return {"text": value if isinstance(value, str) else value.text}
    return {"number": float(value)}  # type: ignore[arg-type]


def from_saved(saved: dict[str, Any], array: Callable[[str], np.ndarray[Any, Any]]) -> StoredValues:
    """Return the value; `array` returns an array by its name.

    Raises
    ------
    KeyError, TypeError
        When it is not a saved value.
    """
    if "array" in saved:
        return array(saved["array"])
    made = _value(saved)
    return Text(made) if isinstance(made, str) else made


def _value(saved: dict[str, Any]) -> FormulaLike:
    if "distribution" in saved:
        values = {name: _value(each) if isinstance(each, dict) else each for name, each in saved["values"].items()}
        made: Distribution = _KINDS[saved["distribution"]](**values)
        return made
    if "operation" in saved:
        return Composite(saved["operation"], *map(_value, saved["operands"]), mode=saved["mode"])
    if "expression" in saved:
        return Expression(saved["expression"], saved["constants"])
    return str(saved["text"]) if "text" in saved else float(saved["number"])
