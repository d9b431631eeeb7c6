"""The description of a model: equations of a user as trees with names and units."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ranvier.equations.places import Place
from ranvier.equations.trees import Node, names_in, nodes_of
from ranvier.equations.units import Dimension, Unit

__all__ = ["Declared", "Description", "Equation", "Parameter", "Statement", "needed_subexpressions", "used_names"]


@dataclass(frozen=True, slots=True)
class Equation:
    """A line of the equations.

    Attributes
    ----------
    node
        The right side; None for a name that is only declared.
    is_differential
        Whether it is the derivative.
    flags
        Its flags, such as ``unless refractory``.
    """

    name: str
    place: Place
    node: Node | None
    unit: Unit
    is_differential: bool
    meaning: str
    flags: frozenset[str] = frozenset()

    @property
    def is_flagged(self) -> bool:
        """Whether its flag holds it while the neuron is refractory."""
        return "unless refractory" in self.flags

    @property
    def goes_on(self) -> bool:
        """Whether its flag prevents that it is held."""
        return "always" in self.flags


@dataclass(frozen=True, slots=True)
class Statement:
    """An assignment; `operation` is "" or one of "add", "subtract", "multiply", "divide", for ``+=`` and so on."""

    name: str
    operation: str
    node: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter as users declare it: `default` in the unit, and bounds; a switch is 0 or 1."""

    default: float
    unit: Unit
    lower: float = -float("inf")
    upper: float = float("inf")
    lower_open: bool = False
    upper_open: bool = False
    meaning: str = ""
    is_switch: bool = False

    def contains(self, value: float) -> bool:
        """Return whether a value is finite and within the bounds, and of a switch whether it is 0 or 1."""
        if self.is_switch and value not in (0.0, 1.0):
            return False
        above = value > self.lower if self.lower_open else value >= self.lower
        below = value < self.upper if self.upper_open else value <= self.upper
        return above and below and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its name."""

    name: str
    declared: Declared


@dataclass(frozen=True)
class Description:
    """A model.

    Attributes
    ----------
    variables
        By name, in the order of the text. Those without an equation change in resets only.
    subexpressions
        By name; each follows those that it uses.
    parameters
        By name.
    refractory
        The refractory period, if there is one.
    receptors
        Effects of spikes, by the name of the receptor.
    held
        Variables that do not change while the neuron is refractory.
    after_refractory
        Assignments at the end of the last step in which it is refractory.
    initial
        By variable: the name of the parameter for its initial value, or a number in its unit.
    """

    name: str
    summary: str
    text: str
    reference: str
    variables: Mapping[str, Equation]
    subexpressions: Mapping[str, Equation]
    parameters: Mapping[str, Parameter]
    threshold: Node
    reset: tuple[Statement, ...]
    refractory: Node | None
    receptors: Mapping[str, tuple[Statement, ...]]
    weight_unit: Unit
    sign_chooses_receptor: bool
    held: frozenset[str]
    initial: Mapping[str, str | float]
    weight_name: str = "w"
    after_refractory: tuple[Statement, ...] = ()
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)

    def unit(self, name: str) -> Unit:
        """Return the unit in which a variable, a subexpression or a parameter is given."""
        if name in self.parameters:
            return self.parameters[name].declared.unit
        return (self.variables.get(name) or self.subexpressions[name]).unit

    @property
    def assigned(self) -> frozenset[str]:
        """The variables that spikes of the neuron set, at once or at the end of the refractory period."""
        return frozenset(each.name for each in (*self.reset, *self.after_refractory))

    @property
    def roots(self) -> list[Node]:
        """The expressions of equations, assignments, the threshold and the refractory period."""
        arriving = [each for some in self.receptors.values() for each in some]
        nodes = [each.node for each in self.variables.values()]
        nodes += [each.node for each in (*self.reset, *self.after_refractory, *arriving)]
        return [each for each in (*nodes, self.threshold, self.refractory) if each is not None]

    @property
    def fires_at_ends(self) -> bool:
        """Whether the threshold is defined only for whole steps: it reads values before them, or is drawn for them."""
        return any(part.kind in ("before", "draw") for part in nodes_of(self.threshold))

    def used(self, nodes: Iterable[Node]) -> dict[str, Node]:
        """Return all names that expressions use, also by way of subexpressions; places are in the expressions."""
        return used_names(nodes, self.subexpressions)

    def needed(self, node: Node) -> list[str]:
        """Return the subexpressions that an expression needs, in an order in which they can be calculated."""
        return needed_subexpressions([node], self.subexpressions)


def used_names(nodes: Iterable[Node], subexpressions: Mapping[str, Equation]) -> dict[str, Node]:
    """Return all names that expressions use, also by way of subexpressions, each with its first place."""
    found: dict[str, Node] = {}
    waiting = deque(nodes)
    while waiting:
        for name, node in names_in(waiting.popleft()).items():
            if name not in found:
                found[name] = node
                used = subexpressions.get(name)
                if used is not None and used.node is not None:
                    waiting.append(used.node)
    return found


def needed_subexpressions(nodes: Iterable[Node], subexpressions: Mapping[str, Equation]) -> list[str]:
    """Return the subexpressions that expressions need, in the order in which they are given."""
    used = used_names(nodes, subexpressions)
    return [name for name in subexpressions if name in used]
