"""Differentiates expressions."""

from __future__ import annotations

from collections.abc import Mapping

from ranvier.equations.places import Place
from ranvier.equations.trees import TRUTHS, Node, walked

__all__ = ["derivative"]


def derivative(node: Node, names: Mapping[str, Node]) -> Node | None:
    """Return the derivative of an expression; None if it is 0 everywhere.

    `names` has the derivatives of names: 1 for the variable of differentiation. At a kink, and where a condition
    changes, the result is the derivative on one side.
    """
    return walked(node, _Derivative(names))


class _Derivative:
    """Derivatives of expressions, by the rules for their parts."""

    def __init__(self, names: Mapping[str, Node]) -> None:
        self.names = names

    def leaf(self, node: Node) -> Node | None:
        """Return the derivative of a name or a number."""
        return self.names.get(node.name) if node.kind == "name" else None

    def operation(self, node: Node, parts: list[Node | None]) -> Node | None:
        """Return the derivative of an operation."""
        if node.kind in TRUTHS or all(each is None for each in parts):
            return None
        if len(parts) == 1:
            assert parts[0] is not None
            factor = _of_function(node, node.parts[0])
            return None if factor is None else _product(node.place, factor, parts[0])
        return _of_operation(node, parts)


def _of_operation(node: Node, parts: list[Node | None]) -> Node | None:
    place = node.place
    left, right = node.parts[0], node.parts[1]
    match node.kind:
        case "add":
            return _sum(place, parts[0], parts[1])
        case "subtract":
            return _difference(place, parts[0], parts[1])
        case "multiply":
            return _sum(place, _times(place, parts[0], right), _times(place, left, parts[1]))
        case "divide":
            rest = _times(place, node, parts[1])
            above = _difference(place, parts[0], rest)
            return None if above is None else Node("divide", place, (above, right))
        case "power":
            return _of_power(node, parts[0], parts[1])
        case "minimum" | "maximum":
            sides = (left, right) if node.kind == "minimum" else (right, left)
            return _choice(place, Node("less", place, sides), parts[0], parts[1])
        case "where":
            return _choice(place, left, parts[1], parts[2])
    raise AssertionError(node.kind)


def _of_power(node: Node, base: Node | None, exponent: Node | None) -> Node | None:
    place, (left, right) = node.place, node.parts
    made: Node | None = None
    if base is not None:
        less = _number(place, right.number - 1.0) if right.kind == "number" else _minus_one(right)
        made = _product(place, _product(place, right, Node("power", place, (left, less))), base)
    if exponent is not None:
        made = _sum(place, made, _product(place, _product(place, node, Node("log", place, (left,))), exponent))
    return made


def _of_function(node: Node, part: Node) -> Node | None:
    """Return the derivative of a function of one argument; None if it is 0."""
    place = node.place
    one = _number(place, 1.0)

    def over(below: Node) -> Node:
        return Node("divide", place, (one, below))

    def square(of: Node) -> Node:
        return Node("multiply", place, (of, of))

    match node.kind:
        case "floor":
            return None
        case "negate":
            return _number(place, -1.0)
        case "absolute":
            below = Node("less", place, (part, _number(place, 0.0)))
            return Node("where", place, (below, _number(place, -1.0), one))
        case "square_root":
            return Node("divide", place, (_number(place, 0.5), node))
        case "exp":
            return node
        case "expm1":
            return Node("exp", place, (part,))
        case "log":
            return over(part)
        case "log1p":
            return over(Node("add", place, (part, one)))
        case "sin":
            return Node("cos", place, (part,))
        case "cos":
            return Node("negate", place, (Node("sin", place, (part,)),))
        case "tan":
            return Node("add", place, (one, square(node)))
        case "sinh":
            return Node("cosh", place, (part,))
        case "cosh":
            return Node("sinh", place, (part,))
        case "tanh":
            return Node("subtract", place, (one, square(node)))
        case "expm1_over":
            return _of_expm1_over(node, part)
    raise AssertionError(node.kind)


def _of_expm1_over(node: Node, x: Node) -> Node:
    """Return (e^x - (e^x - 1)/x)/x, which is a power series around 0."""
    place = node.place
    series = _number(place, 1.0 / 144.0)
    for factor in (1.0 / 30.0, 1.0 / 8.0, 1.0 / 3.0, 0.5):
        series = Node("add", place, (_number(place, factor), Node("multiply", place, (x, series))))
    is_small = Node("less", place, (Node("absolute", place, (x,)), _number(place, 1e-2)))
    # Both branches are calculated: avoid a division by 0.
    divisor = Node("where", place, (is_small, _number(place, 1.0), x))
    direct = Node("divide", place, (Node("subtract", place, (Node("exp", place, (x,)), node)), divisor))
    return Node("where", place, (is_small, series, direct))


def _number(place: Place, number: float) -> Node:
    return Node("number", place, number=number)


def _minus_one(node: Node) -> Node:
    return Node("subtract", node.place, (node, _number(node.place, 1.0)))


def _is(node: Node, number: float) -> bool:
    return node.kind == "number" and node.number == number


def _product(place: Place, left: Node, right: Node) -> Node:
    if _is(left, 1.0):
        return right
    return left if _is(right, 1.0) else Node("multiply", place, (left, right))


def _times(place: Place, left: Node | None, right: Node | None) -> Node | None:
    return None if left is None or right is None else _product(place, left, right)


def _sum(place: Place, left: Node | None, right: Node | None) -> Node | None:
    if left is None or right is None:
        return left if right is None else right
    return Node("add", place, (left, right))


def _difference(place: Place, left: Node | None, right: Node | None) -> Node | None:
    if right is None:
        return left
    return Node("negate", place, (right,)) if left is None else Node("subtract", place, (left, right))


def _choice(place: Place, condition: Node, left: Node | None, right: Node | None) -> Node:
    zero = _number(place, 0.0)
    return Node("where", place, (condition, left or zero, right or zero))
