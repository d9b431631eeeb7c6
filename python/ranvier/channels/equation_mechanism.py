"""Common base classes of channels and receptors of equations, and of their mechanisms with values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ranvier.base.immutable import Settings
from ranvier.base.names import unknown_name
from ranvier.base.values import FloatArray, StoredValues
from ranvier.cells.membrane import UserMechanism
from ranvier.channels.description import ChannelDescription
from ranvier.channels.documentation import documented_channel, documented_general
from ranvier.channels.general import GeneralDescription
from ranvier.equations.description import Declared
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["EquationMechanism", "PlacedEquations", "check_values"]


class EquationMechanism(UserMechanism):
    """A mechanism of equations: a description and its program. It cannot be changed."""

    name: str
    currents: tuple[str, ...]
    program: Any
    _description: ChannelDescription | GeneralDescription
    _kind: ClassVar[str]
    _remade_by: ClassVar[str]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(self._description.parameters)

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of each parameter; empty without a unit."""
        return {name: each.declared.unit.text for name, each in self._description.parameters.items()}

    @property
    def equations(self) -> str:
        """Its equations, as they were written."""
        return self._description.text

    @property
    def follows_temperature(self) -> bool:
        """Whether its equations depend on the temperature of the cell."""
        return self._description.follows_temperature

    def describe(self) -> str:
        """Return it as text: equations, parameters with units, defaults and bounds, gates or states, and currents."""
        if isinstance(self._description, GeneralDescription):
            return documented_general(self._description, self.program)
        return documented_channel(self._description, self.program)

    def _given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return checked values by name, without None where a parameter has no default.

        Raises
        ------
        UnknownNameError
            For a name that is not a parameter.
        """
        known = self._description.parameters
        for name in values:
            if name not in known:
                unknown_name(f"parameter of {self.name}", name, list(known))
        given = {n: value for n, value in values.items() if not (value is None and _has_no_default(known[n].declared))}
        return {name: self._stored(name, value) for name, value in given.items()}

    def _stored(self, name: str, value: Any) -> Any:
        """Return a checked value of a parameter."""
        raise NotImplementedError

    @staticmethod
    def _placed() -> type:
        """Return the class of the mechanism with values."""
        raise NotImplementedError

    @property
    def __signature__(self) -> inspect.Signature:
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(name, keyword, default=None if _has_no_default(each.declared) else each.declared.default)
            for name, each in self._description.parameters.items()
        ]
        return inspect.Signature(parameters, return_annotation=self._placed())

    def _title(self) -> str:
        return f"a {self._kind} {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in self._description.parameters:
            return f"write {self._kind[0]}({name}=...), where {self._kind[0]} is the {self._kind}"
        return self._remade_by

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.program == other.program

    def __hash__(self) -> int:
        return hash((self.name, self._description.text))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return type(self), (self._description,)


class PlacedEquations:
    """A mechanism of equations with values for its parameters, made by a call of the mechanism."""

    name: str
    _values: dict[str, StoredValues]
    _kind: ClassVar[str]

    def _equations(self) -> EquationMechanism:
        """Return the mechanism."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return type(self), (self._equations(), self._values)

    @property
    def values(self) -> Mapping[str, Any]:
        """The values that differ from the defaults, by the name of the parameter."""
        return Settings(self._values, f"a {self._kind} {self.name}", f"{self.name}(")

    def _user_mechanism(self) -> UserMechanism:
        return self._equations()

    def _how_to_change(self, name: str) -> str:
        made = self._equations()
        if name in made.parameters:
            return f"{made._how_to_change(name)}, and make another rv.Cell"
        return f"make another {self._kind}"

    def _hint(self, name: str) -> str:
        return f'read the value that was set with .values["{name}"]' if name in self._values else ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlacedEquations):
            return NotImplemented
        return (
            self._equations() == other._equations()
            and self._values.keys() == other._values.keys()
            and all(
                np.array_equal(np.asarray(value), np.asarray(other._values[name]))
                for name, value in self._values.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]  # values may be arrays


def _has_no_default(declared: Declared) -> bool:
    return math.isnan(declared.default)


def check_values(what: str, declared: Declared, values: FloatArray) -> None:
    """Check values of a parameter.

    Raises
    ------
    ValueOutOfBoundsError
        When one is outside the bounds.
    """
    for value in np.unique(values).tolist():
        if declared.contains(value):
            continue
        lower = f"{'>' if declared.lower_open else '>='} {declared.lower:g}" if declared.lower > -math.inf else ""
        upper = f"{'<' if declared.upper_open else '<='} {declared.upper:g}" if declared.upper < math.inf else ""
        bound = " and ".join(each for each in (lower, upper) if each and math.isfinite(value)) or "finite"
        raise ValueOutOfBoundsError(what, f"{value:g} {declared.unit.text}".strip(), f"it must be {bound}")
