"""A channel as trees with names and units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ranvier.channels.packing import packed, unpacked
from ranvier.equations.description import Declared, Equation, Parameter, needed_subexpressions, used_names
from ranvier.equations.trees import FlatNode, Node
from ranvier.equations.units import UNITS, Unit

__all__ = [
    "CALCIUM",
    "CALCIUM_REVERSAL",
    "CARRIED",
    "CURRENT",
    "POTENTIAL",
    "TEMPERATURE",
    "ChannelDescription",
    "reversal_of_calcium",
]

POTENTIAL, TEMPERATURE, CURRENT = "v", "celsius", "i"
"""Names in equations: the potential of the membrane, the temperature (a number), the current out of the cell."""
CALCIUM, CALCIUM_REVERSAL = "cai", "eca"
"""The concentration of calcium in the cell (mM), and its reversal potential (mV), of the `calcium_pool` there."""
CARRIED = "calcium"
"""The flag of currents that calcium carries."""


def reversal_of_calcium() -> Parameter:
    """Return `CALCIUM_REVERSAL`: a parameter without a default, which is needed only without a pool."""
    meaning = "Reversal potential of calcium, without a calcium_pool"
    return Parameter(CALCIUM_REVERSAL, Declared(math.nan, UNITS["mV"], meaning=meaning))


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
        By name; each follows those that it uses. `CURRENT` is one of them.
    parameters
        By name.
    initial
        Initial values of gates, as expressions; other gates start in their steady states.
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

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _from_parts, packed({each.name: getattr(self, each.name) for each in fields(self)})

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
        used = self._used_by_gates()
        return [name for name in self.parameters if name in used]

    def _used_by_gates(self) -> dict[str, Node]:
        nodes = [each.node for each in self.gates.values() if each.node is not None]
        return self.used([*nodes, *self.initial.values()])

    @property
    def follows(self) -> str:
        """Variables of gates: "potential", "calcium" (the logarithm of its concentration in mM) or "both"."""
        used = self._used_by_gates()
        # A name of NMODL that is not read from the ion is a parameter.
        if CALCIUM not in used or CALCIUM in self.parameters:
            return "potential"
        return "both" if POTENTIAL in used else "calcium"

    @property
    def follows_temperature(self) -> bool:
        """Whether the temperature of the cell is in rates, initial values or the current."""
        current = [self.current.node] if self.current.node is not None else []
        used = {**self._used_by_gates(), **self.used(current)}
        return TEMPERATURE in used and TEMPERATURE not in self.parameters

    @property
    def calcium_currents(self) -> list[str]:
        """Names of currents that calcium carries."""
        return [name for name, each in self.subexpressions.items() if CARRIED in each.flags]

    @property
    def has_calcium_reversal(self) -> bool:
        """Whether `CALCIUM_REVERSAL` is determined by the calcium at the place, and not a parameter with a number."""
        reversal = self.parameters.get(CALCIUM_REVERSAL)
        return reversal is not None and math.isnan(reversal.declared.default)

    def exponent(self, unit: str) -> int:
        """Return the power of ten of a unit in calculations: 0 for expressions without one."""
        if not self.has_units:
            return 0
        # Densities in S/cm^2 and mA/cm^2 are ten times those in nS/um^2 and pA/um^2.
        return 1 if unit.endswith("/cm^2") else UNITS[unit].exponent

    def unit(self, name: str) -> Unit:
        """Return the unit of a parameter."""
        return self.parameters[name].declared.unit


def _from_parts(values: dict[str, Any], table: list[FlatNode]) -> ChannelDescription:
    return ChannelDescription(**unpacked(values, table))
