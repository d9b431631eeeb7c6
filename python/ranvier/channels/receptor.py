"""Receptors of detailed cells that are general mechanisms: point processes of equations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.immutable import Settings
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.cells.membrane import OwnMechanism, OwnValue, Receptor
from ranvier.cells.per_cell import PerCell
from ranvier.channels.channel import check_values
from ranvier.channels.documentation import documented_general
from ranvier.channels.general import GeneralDescription
from ranvier.channels.general_lowering import lower_general
from ranvier.channels.general_program import GeneralProgram
from ranvier.equations.parameters import value_in
from ranvier.errors import ShapeError

__all__ = ["EquationReceptor", "ReceptorMechanism"]


class EquationReceptor(OwnMechanism):
    """A receptor of equations: states with any equations, and currents of any form. It cannot be changed.

    Call it for a receptor that is placed on a cell: ``receptors={"exc": (syn(tau=3.0), rv.at(1, 0.5))}``. Values are
    numbers in the units of their parameters, texts with a unit, and `per_cell`. A spike adds its weight (nS) times a
    factor to states; each site of the receptor has states of its own.

    Attributes
    ----------
    name
        Name of the receptor.
    states, currents
        Names of its states, and of its currents.
    program
        What the core carries out.
    """

    name: str
    states: tuple[str, ...]
    currents: tuple[str, ...]
    program: GeneralProgram
    core_model: _core.GeneralMechanism
    _description: GeneralDescription

    def __init__(self, description: GeneralDescription) -> None:
        if description.jumps is None:
            raise ShapeError(f"receptor '{description.name}'", "a mechanism of the membrane", "spikes add to no state")
        program = lower_general(description)
        self._put(
            name=description.name,
            states=tuple(description.states),
            currents=tuple(each.name for each in program.currents),
            program=program,
            core_model=_core.GeneralMechanism(program),
            _description=description,
        )

    def __call__(self, **values: OwnValue | str) -> ReceptorMechanism:
        """Return the receptor with these values of parameters.

        Raises
        ------
        UnknownNameError
            For a name that is no parameter.
        UnitError, ValueOutOfBoundsError, WrongTypeError
            For values in another unit or outside their bounds, and for what is none.
        """
        known = self._description.parameters
        for name in values:
            if name not in known:
                unknown_name(f"parameter of {self.name}", name, list(known))
        return ReceptorMechanism(self, {name: self._stored(name, value) for name, value in values.items()})

    def _stored(self, name: str, value: OwnValue | str) -> OwnValue:
        what = f"parameter {name} of {self.name}"
        declared = self._description.parameters[name].declared
        if isinstance(value, PerCell):
            return value
        made = value_in(what, value, declared.unit) if isinstance(value, str) else number(what, value)
        check_values(what, declared, np.array([made]))
        return made

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(self._description.parameters)

    @property
    def equations(self) -> str:
        """Its equations, as they were written."""
        return self._description.text

    def describe(self) -> str:
        """Return the receptor in words: equations, parameters with units, defaults and bounds, states and currents."""
        return documented_general(self._description, self.program)

    @property
    def __signature__(self) -> inspect.Signature:
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(name, keyword, default=each.declared.default)
            for name, each in self._description.parameters.items()
        ]
        return inspect.Signature(parameters, return_annotation=ReceptorMechanism)

    def _called(self) -> str:
        return f"a receptor {self.name}"

    def _way_to(self, name: str) -> str:
        if name in self._description.parameters:
            return f"write r({name}=...), where r is the receptor"
        return "make another one"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EquationReceptor) and self.program == other.program

    def __hash__(self) -> int:
        return hash((self.name, self._description.text))

    def __repr__(self) -> str:
        return f"<receptor '{self.name}': {', '.join(self.states) or 'no states'}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return type(self), (self._description,)


class ReceptorMechanism(Receptor):
    """A receptor of equations with values for its parameters, made by a call of the receptor.

    Attributes
    ----------
    receptor
        The receptor.
    """

    receptor: EquationReceptor

    def __new__(cls, receptor: EquationReceptor, values: Mapping[str, Any]) -> ReceptorMechanism:
        """Make one; the receptor has checked the values."""
        return object.__new__(cls)

    def __init__(self, receptor: EquationReceptor, values: Mapping[str, Any]) -> None:
        self._put(receptor=receptor, name=receptor.name, _values=dict(values))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return ReceptorMechanism, (self.receptor, self._values)

    @property
    def values(self) -> Mapping[str, Any]:
        """The values that were given in place of the defaults, by the name of the parameter."""
        return Settings(self._values, f"a receptor {self.name}", f"{self.name}(")

    def _own(self) -> OwnMechanism:
        return self.receptor

    def _parameters(self) -> list[OwnValue]:
        known = self.receptor._description.parameters
        values: dict[str, Any] = dict(self._values)
        return [values.get(name, each.declared.default) for name, each in known.items()]

    def _way_to(self, name: str) -> str:
        if name in self.receptor.parameters:
            return f"write r({name}=...), where r is the receptor, and make another rv.Cell"
        return "make another receptor"

    def _instead_of(self, name: str) -> str:
        return f'read what was set with .values["{name}"]' if name in self._values else ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReceptorMechanism):
            return NotImplemented
        return self.receptor == other.receptor and self._values == other._values

    __hash__ = None  # type: ignore[assignment]
