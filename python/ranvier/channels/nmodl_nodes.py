"""Expressions of NMODL files: numbers and truths, substitution, comparison and constant folding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import TRUTHS, Node, names_in, walked, with_parts

__all__ = [
    "ADVANCED",
    "UNDEFINED",
    "advanced_rate",
    "array_size",
    "as_number",
    "as_truth",
    "constant_value",
    "depends_on",
    "element_name",
    "is_same",
    "merged",
    "name_in_own_equation",
    "new_nodes",
    "number_node",
    "rate_name",
    "signed_terms",
    "substituted",
    "undone",
]

ADVANCED = "advanced"
"""The kind of a node for the value of a state after a step: its parts are the value before it and the derivative.

In the derivative, the state has the name of `name_in_own_equation` if it is in the equation itself. In expressions that
the equation uses, such as names that were assigned before, it is a constant for METHOD cnexp.
"""
UNDEFINED = "undefined"
"""The kind of a node for a value that is not defined: its name is the reason."""
_LARGEST_ARRAY = 1000


def number_node(place: Place, number: float) -> Node:
    """Return a number as an expression."""
    return Node("number", place, number=number)


def element_name(name: str, index: int) -> str:
    """Return the name of an element of an array."""
    return f"{name}[{index}]"


def array_size(size: Any, constants: Mapping[str, float], place: Place) -> int:
    """Return the size of an array from its declaration: a number, or the name of one.

    Raises
    ------
    EquationError
        For anything but a whole number from 1 to 1000.
    """
    token = size.children[0]
    number = constants.get(str(token)) if token.type == "NAME" else float(token)
    if number is None or number != math.floor(number) or not 1 <= number <= _LARGEST_ARRAY:
        refuse(place, f"'{token}'", f"sizes are whole numbers from 1 to {_LARGEST_ARRAY}", f"write DEFINE {token} 2")
    return int(number)


def rate_name(state: str) -> str:
    """Return the name of the derivative of a state."""
    return f"{state}'"


def name_in_own_equation(state: str) -> str:
    """Return the name of a state in its equation."""
    return f"{state} before the solution"


def advanced_rate(node: Node) -> Node | None:
    """Return the derivative of an ADVANCED node; None if METHOD cnexp takes a part with the state as a constant."""
    before, rate = node.parts
    if before.kind != "name" or depends_on(rate, (before.name,)):
        return None
    return substituted(rate, {name_in_own_equation(node.name): before})


def as_number(node: Node) -> Node:
    """Return an expression as a number: truths are 1 or 0."""
    if node.kind not in TRUTHS:
        return node
    return Node("where", node.place, (node, number_node(node.place, 1.0), number_node(node.place, 0.0)))


def as_truth(node: Node) -> Node:
    """Return an expression as a truth: numbers are true where they are not 0."""
    if node.kind in TRUTHS:
        return node
    return Node("not", node.place, (Node("equal", node.place, (node, number_node(node.place, 0.0))),))


def depends_on(node: Node, names: Iterable[str]) -> bool:
    """Return whether an expression uses one of some names."""
    return not names_in(node).keys().isdisjoint(names)


# ---- numbers that are known ------------------------------------------------------------------------------------------

_FOLDED: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "less": lambda a, b: float(a < b),
    "less_equal": lambda a, b: float(a <= b),
    "equal": lambda a, b: float(a == b),
    "not": lambda a: float(not a),
    "floor": math.floor,
    "absolute": abs,
}


class _Constants:
    """Calculates expressions without names."""

    def leaf(self, node: Node) -> float | None:
        return node.number if node.kind == "number" else None

    def operation(self, node: Node, parts: list[float | None]) -> float | None:
        match node.kind:
            case "both" if 0.0 in parts:
                return 0.0
            case "both":
                return None if None in parts else 1.0
            case "either" if any(parts):
                return 1.0
            case "either":
                return None if None in parts else 0.0
            case "where" if parts[0] is not None:
                return parts[1] if parts[0] else parts[2]
        if node.kind not in _FOLDED or None in parts:
            return None
        try:
            return float(_FOLDED[node.kind](*parts))
        except (ArithmeticError, ValueError):
            return None


def constant_value(node: Node) -> float | None:
    """Return the number that an expression is, 1 or 0 for a truth; None if it is not known."""
    return walked(node, _Constants())


# ---- substitution and comparison -------------------------------------------------------------------------------------


class _Substitution:
    """Substitutes expressions for names."""

    def __init__(self, values: Mapping[str, Node]) -> None:
        self.values = values

    def leaf(self, node: Node) -> Node:
        return self.values.get(node.name, node) if node.kind == "name" else node

    def operation(self, node: Node, parts: list[Node]) -> Node:
        return with_parts(node, parts)


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    """Return an expression with others substituted for names."""
    return walked(node, _Substitution(values)) if depends_on(node, values) else node


def is_same(one: Node | None, other: Node | None) -> bool:
    """Return whether two expressions are structurally equal."""
    seen: set[tuple[int, int]] = set()
    waiting = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if a is None or b is None:
            if a is not b:
                return False
            continue
        if (a.kind, a.number, a.name, len(a.parts)) != (b.kind, b.number, b.name, len(b.parts)):
            return False
        if a is not b and (id(a), id(b)) not in seen:
            seen.add((id(a), id(b)))
            waiting += zip(a.parts, b.parts, strict=True)
    return True


def signed_terms(node: Node) -> list[tuple[float, Node]]:
    """Return the terms of a sum that are not numbers, with their signs, without those that cancel; numbers are last."""
    terms: list[tuple[float, Node]] = []
    number = 0.0
    waiting = [(1.0, node)]
    while waiting:
        sign, part = waiting.pop()
        match part.kind:
            case "add":
                waiting += [(sign, part.parts[1]), (sign, part.parts[0])]
            case "subtract":
                waiting += [(-sign, part.parts[1]), (sign, part.parts[0])]
            case "negate":
                waiting.append((-sign, part.parts[0]))
            case "number":
                number += sign * part.number
            case _:
                opposite = next((k for k, (s, n) in enumerate(terms) if s == -sign and is_same(n, part)), None)
                if opposite is None:
                    terms.append((sign, part))
                else:
                    terms.pop(opposite)
    return [*terms, *([(1.0, number_node(node.place, number))] if number else [])]


def undone(value: Node, name: str) -> Node:
    """Return the name itself if all that was added to it is subtracted again: ``(v + a) - a``."""
    if value.kind not in ("add", "subtract"):
        return value
    terms = signed_terms(value)
    is_back = len(terms) == 1 and terms[0][0] == 1.0 and terms[0][1].kind == "name" and terms[0][1].name == name
    return Node("name", value.place, name=name) if is_back else value


# ---- conditions ------------------------------------------------------------------------------------------------------


def merged(
    condition: Node, chosen: Mapping[str, Node | None], other: Mapping[str, Node | None], place: Place
) -> dict[str, Any]:
    """Return values that depend on a condition; None where one side has no value."""
    made: dict[str, Node | None] = {}
    for name, one in chosen.items():
        two = other[name]
        if one is two:
            made[name] = one
        elif one is None or two is None:
            made[name] = None
        elif UNDEFINED in (one.kind, two.kind):
            made[name] = one if one.kind == UNDEFINED else two
        else:
            made[name] = Node("where", place, (condition, one, two))
    return made


def new_nodes(made: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[Node]:
    """Return the values that differ from those before."""
    pairs = [(value, old.get(name)) for new, old in zip(made, before, strict=True) for name, value in new.items()]
    return [value for value, old in pairs if value is not None and value is not old]
