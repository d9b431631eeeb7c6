"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from ranvier.errors import ValueOutOfBoundsError

__all__ = ["parse_bytes"]

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}B": 1000 ** (i + 1) for i, prefix in enumerate("KMGT")}
_UNITS |= {f"{prefix}IB": 1024 ** (i + 1) for i, prefix in enumerate("KMGT")}


def parse_bytes(name: str, text: str) -> int:
    """Return a number of bytes that was written with or without a unit.

    Raises
    ------
    ValueOutOfBoundsError
        For any other text.
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", text)
    unit = _UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None or match[1].count(".") > 1 or match[1] == "." or float(match[1]) <= 0.0:
        raise ValueOutOfBoundsError(
            name, f"'{text}'", "it must be a number > 0 with a unit such as 500MB, 1.5GB or 2GiB"
        )
    return int(float(match[1]) * unit)
