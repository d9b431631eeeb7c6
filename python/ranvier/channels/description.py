"""A channel as trees with names and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ranvier.equations.description import Equation, Parameter, needed_subexpressions, used_names
from ranvier.equations.trees import Node
from ranvier.equations.units import UNITS, Unit

__all__ = ["CURRENT", "POTENTIAL", "TEMPERATURE", "ChannelDescription"]

POTENTIAL, TEMPERATURE, CURRENT = "v", "celsius", "i"
"""Names in equations: the potential of the membrane, the temperature (a number), the current out of the cell."""


@dataclass(frozen=True)
class ChannelDescription:
    """A channel.

    Attributes
    ----------
    text
        The equations, as they were written.
    gates
        Differential equations, by name.
    subexpressions
        By name; each comes after those that it uses. `CURRENT` is one of them.
    parameters
        By name.
    initial
        What gates begin at, as expressions; others begin at their steady states.
    has_units
        Whether expressions have units. If not, all are numbers in mV, ms, S/cm^2 and mA/cm^2.
    """

    name: str
    summary: str
    text: str
    reference: str
    gates: Mapping[str, Equation]
    subexpressions: Mapping[str, Equation]
    parameters: Mapping[str, Parameter]
    initial: Mapping[str, Node]
    has_units: bool = True

    @property
    def current(self) -> Equation:
        """The equation of the current."""
        return self.subexpressions[CURRENT]

    def used(self, nodes: Iterable[Node]) -> dict[str, Node]:
        """Return all names that expressions use, also by way of subexpressions, each with its first place."""
        return used_names(nodes, self.subexpressions)

    def needed(self, nodes: Iterable[Node]) -> list[str]:
        """Return the subexpressions that expressions need, in an order in which they can be calculated."""
        return needed_subexpressions(nodes, self.subexpressions)

    def rate_names(self) -> list[str]:
        """Return the parameters on which rates and initial values of gates depend."""
        nodes = [each.node for each in self.gates.values() if each.node is not None]
        used = self.used([*nodes, *self.initial.values()])
        return [name for name in self.parameters if name in used]

    def exponent(self, unit: str) -> int:
        """Return the power of ten of a unit in calculations: 0 where expressions have none."""
        if not self.has_units:
            return 0
        # Densities in S/cm^2 and mA/cm^2 are ten times those in nS/um^2 and pA/um^2.
        return 1 if unit.endswith("/cm^2") else UNITS[unit].exponent

    def unit(self, name: str) -> Unit:
        """Return the unit of a parameter."""
        return self.parameters[name].declared.unit
