"""Names in equations: which are taken, and which a user may give."""

from __future__ import annotations

import re
from keyword import iskeyword

from ranvier.equations.expressions import CONSTANTS, STEP
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import FUNCTIONS
from ranvier.equations.units import UNITS

__all__ = ["CURRENT", "STEP", "check_new_name", "is_noise", "is_unit"]

CURRENT = "I_stimulus"
"""The current of stimulators, pA."""
_OF_CALLS = ("self", "model", "size", "name", "step")
_TAKEN = {
    CURRENT: "the current of stimulators",
    STEP: "the length of a step",
    "t": "the time, which equations cannot use",
    "inf": "infinity",
    **dict.fromkeys(CONSTANTS, "a constant"),
    **dict.fromkeys(_OF_CALLS, "a keyword of net.create()"),
}
_NOISE = re.compile(r"xi(_\w+)?")


def is_noise(name: str) -> bool:
    """Return whether a name is white noise."""
    return _NOISE.fullmatch(name) is not None


def is_unit(name: str) -> bool:
    """Return whether a name is a unit in expressions: units of one letter are not."""
    return len(name) > 1 and name in UNITS


def check_new_name(place: Place, name: str, kind: str) -> None:
    """Raise an error for a name that has another meaning; `kind` describes the object to be named.

    Raises
    ------
    EquationError
        Pointing at the place.
    """
    what = f"'{name}', the name of {kind}"
    remedy = "choose another name"
    if not name.isidentifier() or iskeyword(name):
        refuse(place, f"'{name[:80]}'", "it cannot be a name", "names have letters, digits and _")
    if name.startswith("_"):
        refuse(place, what, "names that start with _ are reserved", remedy)
    if name in FUNCTIONS:
        refuse(place, what, "it would shadow a function", remedy)
    if is_unit(name):
        refuse(place, what, "it would shadow a unit", remedy)
    if is_noise(name):
        refuse(place, what, "it would shadow white noise, xi", remedy)
    if name in _TAKEN:
        refuse(place, what, f"it would shadow {_TAKEN[name]}", remedy)
