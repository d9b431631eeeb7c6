"""Values of parameters as short texts, and tables of them as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ranvier.base.formulas import Formula

__all__ = ["describe_settings", "describe_values", "indented", "table"]


def describe_values(values: object) -> str:
    """Return values as a user would write them; for an array, only its size and range."""
    if isinstance(values, np.ndarray):
        if not values.size:
            return "array of 0"
        return f"array of {values.size:,}, {values.min():g} to {values.max():g}"
    if isinstance(values, Formula):
        return repr(values)
    return f"{values:g}" if isinstance(values, float) else str(values)


def describe_settings(values: Mapping[str, object]) -> str:
    """Return named values in one line."""
    return ", ".join(f"{name}={describe_values(value)}" for name, value in values.items())


def indented(lines: Iterable[str]) -> str:
    """Return lines, indented by four spaces."""
    return "\n".join(f"    {line}".rstrip() for line in lines)


def table(rows: list[tuple[str, str, str, str]]) -> str:
    """Return indented rows with columns of equal width."""
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    return indented("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
