"""General mechanisms: states with any equations, and currents of any form, described by statements.

A channel whose gates have a steady state and a time constant, and whose currents are linear in the potential, is a
`ChannelDescription`, which takes far less time in a step. All others are a `GeneralDescription`. It has three blocks of
statements, which are executed in this order at every place of the mechanism:

- ``initial`` sets states when the cell is made; a state that it does not set is 0;
- ``current`` sets currents from the states and the potential at the beginning of a step;
- ``step`` advances states by ``dt``, with the potential at the end of the step.

So states are recorded at the time of the potential, and a step consists of ``current``, potentials and ``step``: the
order of NEURON's BREAKPOINT and SOLVE. With ``scheme="staggered"`` the core
calls ``step`` twice, with half a step each: before ``current``, with the old potential, and after it, with the new one.

Names are the variables of the mechanism, its parameters, and those in `EXTERNAL`. A name that a statement sets and that
is not a state or a current is local to its block. A statement may set a name again. Only states
persist from block to block: a variable that a file keeps from step to step is a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ranvier.channels.general_scope import EXTERNAL, Assign, Statement
from ranvier.channels.packing import packed, unpacked
from ranvier.equations.description import Parameter
from ranvier.equations.trees import FlatNode, Node, names_in
from ranvier.equations.units import NONE, UNITS, Unit

__all__ = ["EXTERNAL", "Assign", "GeneralCurrent", "GeneralDescription", "GeneralState", "Statement"]

_NO_UNIT = Unit(NONE, 0, "")


@dataclass(frozen=True, slots=True)
class GeneralState:
    """A state, which may be any number, in its unit."""

    name: str
    unit: Unit = _NO_UNIT
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class GeneralCurrent:
    """A current out of the cell, mA/cm^2, which `current` sets. Calcium that carries it fills the pool at its place.

    A current that does not flow, such as a sum of others, is only recorded.
    """

    name: str
    carries_calcium: bool = False
    flows: bool = True


@dataclass(frozen=True)
class GeneralDescription:
    """A mechanism with any equations.

    Attributes
    ----------
    text
        The text of the user.
    parameters
        By name. Each may differ from compartment to compartment and from cell to cell.
    states
        By name.
    initial, step
        Set states.
    current
        Sets all `currents`. Assignments only, since they are differentiated with respect to the potential.
    currents
        All currents through the membrane. Unless one of them is named ``i``, their sum is recorded by this name.
    calcium
        The state that is the concentration of calcium in the cell (mM), if the mechanism is a pool; otherwise empty.
        In its blocks ``cai`` is another name of this state.
    jumps
        For a point process, which is a receptor at places of a cell: the change of states by a spike of weight 1 nS, by
        their names, as expressions of parameters, ``celsius``, ``diam`` and ``area``. Its currents are in nA. None
        for a mechanism of the membrane.
    outside
        The parameter for the concentration outside (mM) of this pool; empty: it is 2 mM.
    has_units
        Whether expressions have units. If not, all are numbers in mV, ms, mM, um, S/cm^2 and mA/cm^2.
    """

    name: str
    summary: str
    text: str
    reference: str
    parameters: Mapping[str, Parameter]
    states: Mapping[str, GeneralState]
    initial: tuple[Statement, ...]
    step: tuple[Statement, ...]
    current: tuple[Assign, ...]
    currents: tuple[GeneralCurrent, ...]
    calcium: str = ""
    outside: str = ""
    has_units: bool = False
    jumps: Mapping[str, Node] | None = None

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _from_parts, packed({each.name: getattr(self, each.name) for each in fields(self)})

    @property
    def follows_temperature(self) -> bool:
        """Whether the temperature of the cell is in one of its blocks."""
        nodes = [node for each in (*self.initial, *self.step, *self.current) for node in each.names()]
        return "celsius" not in self.parameters and any("celsius" in names_in(node) for node in nodes)

    @property
    def exponents(self) -> dict[str, int]:
        """The powers of ten of the units of states, parameters and `EXTERNAL` in calculations, where they are not 0."""
        if not self.has_units:
            return {}
        made = {name: UNITS[unit].exponent for name, unit in EXTERNAL.items() if unit in UNITS}
        made |= {name: each.unit.exponent for name, each in self.states.items()}
        made |= {name: each.declared.unit.exponent for name, each in self.parameters.items()}
        made["ica"] = self.exponent_of_density
        return {name: each for name, each in made.items() if each}

    @property
    def exponent_of_density(self) -> int:
        """The power of ten of current densities, and of their derivatives with respect to the potential."""
        # mA/cm^2 is ten times pA/um^2.
        return 1 if self.has_units else 0


def _from_parts(values: dict[str, Any], table: list[FlatNode]) -> GeneralDescription:
    return GeneralDescription(**unpacked(values, table))
