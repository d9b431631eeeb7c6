"""Checks of conductivities."""

from __future__ import annotations

from ranvier.base.numeric import positive_number
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["checked_conductivity"]

# Potentials of other media overflow, or are 0; those of tissue have some 0.3 S/m.
_LEAST, _MOST = 1e-12, 1e12


def checked_conductivity(sigma: object) -> float:
    """Return the conductivity of a medium, S/m.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For anything but a number, and one that is not positive and finite, or out of all proportion.
    """
    conductivity = positive_number("sigma", sigma, "S/m", "write sigma=0.3")
    if not _LEAST <= conductivity <= _MOST:
        raise ValueOutOfBoundsError(
            "sigma", f"{sigma} S/m", f"it must be from {_LEAST:g} to {_MOST:g} S/m", "write sigma=0.3"
        )
    return conductivity
