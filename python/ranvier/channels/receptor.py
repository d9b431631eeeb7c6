"""Receptors of detailed cells that are general mechanisms: point processes of equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.numeric import number
from ranvier.cells.membrane import PerCellValue, Receptor
from ranvier.cells.per_cell import PerCell
from ranvier.channels.equation_mechanism import EquationMechanism, PlacedEquations, check_values
from ranvier.channels.general import GeneralDescription
from ranvier.channels.general_lowering import lower_general
from ranvier.channels.general_program import GeneralProgram
from ranvier.equations.parameters import value_in
from ranvier.errors import ShapeError

__all__ = ["EquationReceptor", "ReceptorMechanism"]


class EquationReceptor(EquationMechanism):
    """A receptor of equations: states with any equations, and currents of any form. It cannot be changed.

    Call it to make a receptor that can be placed on a cell: ``receptors={"exc": (syn(tau=3.0), rv.at(1, 0.5))}``.
    Values are numbers in the units of their parameters, texts with a unit, and `per_cell`. A spike adds its weight (nS)
    times a factor to states; each site of the receptor has separate states.

    Attributes
    ----------
    name
        Name of the receptor.
    states, currents
        Names of its states, and of its currents.
    program
        The programs that the core runs.
    """

    name: str
    states: tuple[str, ...]
    currents: tuple[str, ...]
    program: GeneralProgram
    core_model: _core.GeneralMechanism
    _description: GeneralDescription
    _kind = "receptor"
    _remade_by = "make another one"

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

    @property
    def takes_spikes(self) -> bool:
        """Whether spikes change it. If not, it follows the potential and the time alone."""
        return bool(self._description.jumps)

    def __call__(self, **values: PerCellValue | str) -> ReceptorMechanism:
        """Return the receptor with these values of parameters.

        Raises
        ------
        UnknownNameError
            For a name that is not a parameter.
        UnitError, ValueOutOfBoundsError, WrongTypeError
            For values in another unit or outside their bounds, and for other types.
        """
        return ReceptorMechanism(self, self._given(values))

    def _stored(self, name: str, value: PerCellValue | str) -> PerCellValue:
        what = f"parameter {name} of {self.name}"
        declared = self._description.parameters[name].declared
        if isinstance(value, PerCell):
            return value
        made = value_in(what, value, declared.unit) if isinstance(value, str) else number(what, value)
        check_values(what, declared, np.array([made]))
        return made

    @staticmethod
    def _placed() -> type:
        return ReceptorMechanism

    def __repr__(self) -> str:
        return f"<receptor '{self.name}': {', '.join(self.states) or 'no states'}>"


class ReceptorMechanism(PlacedEquations, Receptor):
    """A receptor of equations with values for its parameters, made by a call of the receptor.

    Attributes
    ----------
    receptor
        The receptor.
    """

    receptor: EquationReceptor
    _kind = "receptor"

    def __new__(cls, receptor: EquationReceptor, values: Mapping[str, Any]) -> ReceptorMechanism:
        """Make one; the receptor has checked the values."""
        return object.__new__(cls)

    def __init__(self, receptor: EquationReceptor, values: Mapping[str, Any]) -> None:
        self._put(receptor=receptor, name=receptor.name, _values=dict(values))

    def _equations(self) -> EquationReceptor:
        return self.receptor

    def _follows_temperature(self) -> str | None:
        return f"the equations of {self.name} depend on it" if self.receptor.follows_temperature else None

    def _parameters(self) -> list[PerCellValue]:
        known = self.receptor._description.parameters
        values: dict[str, Any] = dict(self._values)
        return [values.get(name, each.declared.default) for name, each in known.items()]
