"""Decides whether a second execution of statements has an effect.

NEURON takes the slope of a current from a second execution of BREAKPOINT, at the potential + 0.001 mV. So names that
BREAKPOINT reads and changes, a counter for example, change twice. Bounds and switches do not: ``if (m > 1) { m = 1 }``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ranvier.channels.nmodl_nodes import constant_value, depends_on, is_same, substituted
from ranvier.equations.trees import Node, walked

__all__ = ["hidden", "is_settled"]


class _Hiding:
    """Replaces whole expressions by a number."""

    def __init__(self, given: Iterable[Node]) -> None:
        self.given = [each for each in given if each.kind not in ("number", "name")]

    def leaf(self, node: Node) -> Node:
        return node

    def operation(self, node: Node, parts: list[Node]) -> Node:
        if any(is_same(node, each) for each in self.given):
            return Node("number", node.place)
        same = all(one is other for one, other in zip(node.parts, parts, strict=True))
        return node if same else Node(node.kind, node.place, tuple(parts), node.number, node.name)


def hidden(node: Node, given: Iterable[Node]) -> Node:
    """Return an expression in which some of its parts are numbers, so that it does not depend on their names."""
    return walked(node, _Hiding(given))


def is_settled(node: Node, name: str, potential: str) -> bool:
    """Return whether an expression of a name keeps its value if the name takes this value.

    Its branches must be the name itself or independent of it. Then it does if no condition depends on the name; or if
    all other branches are one expression that is independent of the potential; or if they are numbers for which the
    conditions choose these numbers again.
    """
    conditions, values = _branches(node)
    others = [each for each in values if not (each.kind == "name" and each.name == name)]
    if any(depends_on(each, (name,)) for each in others):
        return False
    if not any(depends_on(each, (name,)) for each in conditions):
        return True
    if any(depends_on(each, (potential,)) for each in others):
        return False
    if all(is_same(each, others[0]) for each in others):
        return True
    numbers = [constant_value(each) for each in others]
    return all(
        number is not None and constant_value(substituted(node, {name: each})) == number
        for number, each in zip(numbers, others, strict=True)
    )


def _branches(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the conditions of an expression, and the values between which they choose."""
    conditions: list[Node] = []
    values: list[Node] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.kind == "where":
            conditions.append(each.parts[0])
            waiting += each.parts[1:]
        else:
            values.append(each)
    return conditions, values
