"""The description of a synapse: equations of a user as trees with names and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ranvier.equations.description import Equation, Parameter, Statement, needed_subexpressions, used_names
from ranvier.equations.places import Place
from ranvier.equations.trees import Node
from ranvier.equations.units import Unit

__all__ = ["AXONAL", "EVENTS", "RELEASE", "WEIGHT", "Side", "SynapseDescription", "Trace"]

Side: TypeAlias = Literal["on_pre", "on_post"]
EVENTS: tuple[Side, Side] = ("on_pre", "on_post")
"""The spikes of the two sides."""

WEIGHT = "w"
"""The name of the weight."""

RELEASE = "release"
"""The name of the part of the weight that a spike adds."""

AXONAL = "axonal_fraction"
"""The parameter of all models that learn: the part of the delay that is axonal."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A variable that decays, and that each spike of one side raises.

    Attributes
    ----------
    side
        The spikes that raise it.
    amount
        The increase by a spike, or the value that it sets: an expression of parameters.
    accumulates
        Whether a spike adds.
    """

    equation: Equation
    side: Side
    amount: Node
    accumulates: bool


@dataclass(frozen=True)
class SynapseDescription:
    """A synapse model.

    Attributes
    ----------
    traces, subexpressions, parameters
        By name; each subexpression follows those that it uses.
    variables
        By name, for spikes that add a part of the weight: the variables that they change. There are no traces then.
    events
        The assignments of a spike, by its side.
    weight_unit
        None: the weight has any.
    """

    name: str
    summary: str
    text: str
    reference: str
    traces: Mapping[str, Trace]
    subexpressions: Mapping[str, Equation]
    parameters: Mapping[str, Parameter]
    events: Mapping[Side, tuple[Statement, ...]]
    places: Mapping[Side, Place]
    weight_unit: Unit | None
    variables: Mapping[str, Equation] = field(default_factory=dict)

    @property
    def releases(self) -> bool:
        """Whether spikes of the source add a part of the weight, which stays."""
        return any(each.name == RELEASE for each in self.events["on_pre"])

    def unit(self, name: str) -> Unit:
        """Return the unit of a trace, a variable, a subexpression or a parameter."""
        if name in self.parameters:
            return self.parameters[name].declared.unit
        if name in self.variables:
            return self.variables[name].unit
        return self.traces[name].equation.unit if name in self.traces else self.subexpressions[name].unit

    def nodes(self) -> list[Node]:
        """Return all expressions but those of the derivatives."""
        nodes = [each.node for each in self.subexpressions.values() if each.node is not None]
        return [*nodes, *(each.node for event in self.events.values() for each in event)]

    def used(self, nodes: Iterable[Node]) -> dict[str, Node]:
        """Return all names that expressions use, also by way of subexpressions."""
        return used_names(nodes, self.subexpressions)

    def needed(self, node: Node) -> list[str]:
        """Return the subexpressions that an expression needs, in an order in which they can be calculated."""
        return needed_subexpressions([node], self.subexpressions)
