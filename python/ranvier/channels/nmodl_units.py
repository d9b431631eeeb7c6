"""Physical constants that NMODL files take from the table of units: ``F = (faraday) (coulomb)``."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from ranvier.equations.places import Place, refuse

__all__ = ["constant_of_nature"]

# Amounts in powers of the base units: kg, m, s, A, K, mol.
_Powers = tuple[int, int, int, int, int, int]
_NONE: _Powers = (0, 0, 0, 0, 0, 0)

_ELEMENTARY = 1.602176634e-19
_AVOGADRO = 6.02214076e23
_BOLTZMANN = 1.380649e-23

_UNITS: dict[str, tuple[float, _Powers]] = {
    "kg": (1.0, (1, 0, 0, 0, 0, 0)),
    "gram": (1e-3, (1, 0, 0, 0, 0, 0)),
    "g": (1e-3, (1, 0, 0, 0, 0, 0)),
    "m": (1.0, (0, 1, 0, 0, 0, 0)),
    "meter": (1.0, (0, 1, 0, 0, 0, 0)),
    "cm": (1e-2, (0, 1, 0, 0, 0, 0)),
    "um": (1e-6, (0, 1, 0, 0, 0, 0)),
    "micron": (1e-6, (0, 1, 0, 0, 0, 0)),
    "angstrom": (1e-10, (0, 1, 0, 0, 0, 0)),
    "liter": (1e-3, (0, 3, 0, 0, 0, 0)),
    "s": (1.0, (0, 0, 1, 0, 0, 0)),
    "sec": (1.0, (0, 0, 1, 0, 0, 0)),
    "second": (1.0, (0, 0, 1, 0, 0, 0)),
    "ms": (1e-3, (0, 0, 1, 0, 0, 0)),
    "amp": (1.0, (0, 0, 0, 1, 0, 0)),
    "ampere": (1.0, (0, 0, 0, 1, 0, 0)),
    "mA": (1e-3, (0, 0, 0, 1, 0, 0)),
    "nA": (1e-9, (0, 0, 0, 1, 0, 0)),
    "coul": (1.0, (0, 0, 1, 1, 0, 0)),
    "coulomb": (1.0, (0, 0, 1, 1, 0, 0)),
    "kelvin": (1.0, (0, 0, 0, 0, 1, 0)),
    "K": (1.0, (0, 0, 0, 0, 1, 0)),
    "degK": (1.0, (0, 0, 0, 0, 1, 0)),
    "degC": (1.0, (0, 0, 0, 0, 1, 0)),
    "mole": (1.0, (0, 0, 0, 0, 0, 1)),
    "mol": (1.0, (0, 0, 0, 0, 0, 1)),
    "joule": (1.0, (1, 2, -2, 0, 0, 0)),
    "J": (1.0, (1, 2, -2, 0, 0, 0)),
    "calorie": (4.184, (1, 2, -2, 0, 0, 0)),
    "volt": (1.0, (1, 2, -3, -1, 0, 0)),
    "V": (1.0, (1, 2, -3, -1, 0, 0)),
    "mV": (1e-3, (1, 2, -3, -1, 0, 0)),
    "ohm": (1.0, (1, 2, -3, -2, 0, 0)),
    "siemens": (1.0, (-1, -2, 3, 2, 0, 0)),
    "S": (1.0, (-1, -2, 3, 2, 0, 0)),
    "mho": (1.0, (-1, -2, 3, 2, 0, 0)),
    "farad": (1.0, (-1, -2, 4, 2, 0, 0)),
    "newton": (1.0, (1, 1, -2, 0, 0, 0)),
    "molar": (1e3, (0, -3, 0, 0, 0, 1)),
    "M": (1e3, (0, -3, 0, 0, 0, 1)),
    "mM": (1.0, (0, -3, 0, 0, 0, 1)),
    # The table of units treats a mole as a number: faraday is a charge, k-mole an energy per temperature.
    "pi": (math.pi, _NONE),
    "e": (_ELEMENTARY, (0, 0, 1, 1, 0, 0)),
    "faraday": (_ELEMENTARY * _AVOGADRO, (0, 0, 1, 1, 0, 0)),
    "k": (_BOLTZMANN, (1, 2, -2, 0, -1, 0)),
    "avogadro": (_AVOGADRO, _NONE),
}
_PREFIXES = {"mega": 1e6, "kilo": 1e3, "centi": 1e-2, "milli": 1e-3, "micro": 1e-6, "nano": 1e-9, "pico": 1e-12}
_COUNTED = ("mole", "mol")
_FACTOR = re.compile(
    r"\s*(?P<sign>[-/*.]|\s)?\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z]+)(?P<power>\d*))"
)


def constant_of_nature(text: str, unit: str, place: Place) -> float:
    """Return the value of a unit or constant in another unit: ``faraday`` in ``coulomb``.

    Raises
    ------
    EquationError
        For unknown units, and for two of different dimensions.
    """
    amount, powers = _amount(text, place)
    other, other_powers = _amount(unit, place)
    if powers != other_powers:
        refuse(place, f"'{place.text}'", f"{text} is not measured in {unit}", "write the number: F = 96485.3 (coulomb)")
    return amount / other


def _amount(text: str, place: Place) -> tuple[float, _Powers]:
    factor, powers, at, is_below = 1.0, _NONE, 0, False
    text = text.strip()
    while at < len(text):
        found = _FACTOR.match(text, at)
        if found is None:
            _unknown(text[at:], place)
        at = found.end()
        # All factors after "/" divide.
        is_below = is_below or found["sign"] == "/"
        if found["number"]:
            value, unit_powers = float(found["number"]), _NONE
        else:
            value, unit_powers = _unit(found["name"], place)
            power = int(found["power"] or 1)
            value, unit_powers = value**power, _raised(unit_powers, power)
        factor = factor / value if is_below else factor * value
        sign = -1 if is_below else 1
        powers = tuple(a + sign * b for a, b in zip(powers, unit_powers, strict=True))  # type: ignore[assignment]
    return factor, powers


def _raised(powers: _Powers, power: int) -> _Powers:
    return tuple(each * power for each in powers)  # type: ignore[return-value]


def _unit(name: str, place: Place) -> tuple[float, _Powers]:  # noqa: RET503
    for text in (name, name.removesuffix("s")):
        if text in _COUNTED:
            return _AVOGADRO, _NONE
        if text in _UNITS:
            return _UNITS[text]
        for prefix, factor in _PREFIXES.items():
            rest = text.removeprefix(prefix)
            if rest != text and rest in _UNITS:
                value, powers = _UNITS[rest]
                return factor * value, powers
    _unknown(name, place)


def _unknown(name: str, place: Place) -> NoReturn:
    refuse(place, f"'{name}'", "the unit is not known", "write the number: F = 96485.3 (coulomb)")
