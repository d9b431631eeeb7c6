"""Checks of the parameters of networks."""

from __future__ import annotations

import math

from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["LARGEST_NUMBER", "POSITIVE", "bounded"]

# Number of neurons.
LARGEST_NUMBER = 2**63 - 1
# The lowest value of parameters that must be > 0.
POSITIVE = math.ulp(0.0)


def bounded(name: str, value: float, lowest: float = 0.0, highest: float = math.inf) -> float:
    """Return a parameter of a network as a number, which must be finite and within its bounds.

    Parameters
    ----------
    name
        Name of the parameter and of the network, for errors.
    value
        The parameter.
    lowest, highest
        Bounds; `POSITIVE` as the lowest value means > 0.

    Raises
    ------
    WrongTypeError
        When it is not a number.
    ValueOutOfBoundsError
        When it is not finite, or outside its bounds.
    """
    value = number(name, value)
    if not (lowest <= value <= highest and math.isfinite(value)):
        raise ValueOutOfBoundsError(name, str(value), f"it must be {_bounds(lowest, highest)}")
    return value


def _bounds(lowest: float, highest: float) -> str:
    parts = []
    if lowest > -math.inf:
        parts.append("> 0" if lowest == POSITIVE else f">= {lowest:g}")
    if highest < math.inf:
        parts.append(f"<= {highest:g}")
    return " and ".join(parts if len(parts) == 2 else [*parts, "finite"])
