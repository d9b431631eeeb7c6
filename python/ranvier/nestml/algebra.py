"""Operations on expressions of NESTML: conversion to text, numerical values, proportional parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ranvier.equations.places import refuse
from ranvier.equations.trees import Node, nodes_of, with_parts

__all__ = ["difference_of", "negated", "number_of", "product", "rendered", "replaced", "split", "total"]

_OPERATORS = {"add": (" + ", 5), "subtract": (" - ", 5), "multiply": ("*", 6), "divide": ("/", 6), "power": ("**", 8)}
_COMPARISONS = {"less": " < ", "less_equal": " <= ", "equal": " == "}
_NAMES = {"absolute": "abs", "square_root": "sqrt", "minimum": "min", "maximum": "max", "expm1_over": "exprel"}


def rendered(node: Node) -> str:
    """Return an expression in the notation of `ranvier.neuron`."""
    return _text(node)[0]


def _text(node: Node) -> tuple[str, int]:
    """Return a text and how strongly its outermost operator binds: 10 if no brackets are needed."""
    parts = [_text(part) for part in node.parts]
    match node.kind:
        case "number":
            # A number below 0 is a negation.
            return (_number(node.number), 10) if node.number >= 0 else (_number(node.number), 7)
        case "name":
            return node.name, 10
        case "draw":
            return f"{node.name}()", 10
        case "negate":
            return f"-{_within(parts[0], 7)}", 7
        case "not":
            return f"not {_within(parts[0], 3)}", 3
        case "both":
            return f"{_within(parts[0], 2)} and {_within(parts[1], 3)}", 2
        case "either":
            return f"{_within(parts[0], 1)} or {_within(parts[1], 2)}", 1
        case "where":
            return f"({_within(parts[1], 1)} if {_within(parts[0], 1)} else {_within(parts[2], 1)})", 10
    if node.kind in _COMPARISONS:
        sign, sides = _COMPARISONS[node.kind], [_within(part, 5) for part in parts]
        if node.parts[0].place.begin > node.parts[1].place.begin:
            # As it is written.
            sign, sides = sign.replace("<", ">"), sides[::-1]
        return sign.join(sides), 4
    if node.kind in _OPERATORS:
        sign, strength = _OPERATORS[node.kind]
        is_power = node.kind == "power"
        left = _within(parts[0], strength + is_power)
        return f"{left}{sign}{_within(parts[1], strength + (not is_power))}", strength
    return f"{_NAMES.get(node.kind, node.kind)}({', '.join(text for text, _ in parts)})", 10


def _within(part: tuple[str, int], least: int) -> str:
    return part[0] if part[1] >= least else f"({part[0]})"


def _number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _raised(base: float, exponent: float) -> float:
    made: float | complex = base**exponent
    if isinstance(made, complex):
        raise ValueError
    return made


_VALUES: dict[str, Callable[..., float | bool]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "power": _raised,
    "absolute": abs,
    "square_root": math.sqrt,
    "minimum": min,
    "maximum": max,
    "floor": math.floor,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "both": lambda a, b: a and b,
    "either": lambda a, b: a or b,
    "not": lambda a: not a,
    "where": lambda a, b, c: b if a else c,
    **{name: getattr(math, name) for name in ("cos", "cosh", "exp", "expm1", "log", "sin", "sinh", "tan", "tanh")},
}


def number_of(node: Node, names: Mapping[str, float]) -> float | None:
    """Return the value of an expression, in mV, ms, pA and so on, or None if a name in it has no value.

    Raises
    ------
    EquationError
        For a division by 0, or a function outside its domain.
    """
    if node.kind in ("number", "truth"):
        return node.number
    if node.kind == "name":
        return names.get(node.name)
    parts = [number_of(part, names) for part in node.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or node.kind not in _VALUES:
        return None
    try:
        value = float(_VALUES[node.kind](*known))
    except (ArithmeticError, ValueError):
        refuse(
            node.place,
            f"'{node.place.text}'",
            "it has no value",
            "avoid divisions by 0 and arguments outside the domain of functions",
        )
    if math.isnan(value) or (math.isinf(value) and not any(math.isinf(part) for part in known)):
        refuse(node.place, f"'{node.place.text}'", "it is too large for floating point", "write smaller numbers")
    return value


# ---- trees -----------------------------------------------------------------------------------------------------------


def replaced(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """Return a tree in which `change` has replaced nodes, the outer ones first; its results are not changed again."""
    new = change(node)
    if new is not None:
        return new
    return with_parts(node, [replaced(part, change) for part in node.parts])


def product(left: Node, right: Node) -> Node:
    """Return a product; a factor of 1 is left out."""
    for one, other in ((left, right), (right, left)):
        if one.kind == "number" and one.number == 1.0:
            return other
    return Node("multiply", left.place, (left, right))


def negated(node: Node) -> Node:
    """Return the negative of an expression."""
    return node.parts[0] if node.kind == "negate" else Node("negate", node.place, (node,))


def total(left: Node | None, right: Node | None) -> Node | None:
    """Return a sum, where None is 0."""
    if left is None or right is None:
        return left if right is None else right
    if right.kind == "negate":
        return Node("subtract", left.place, (left, right.parts[0]))
    return Node("add", left.place, (left, right))


def difference_of(left: Node | None, right: Node | None) -> Node | None:
    """Return a difference, where None is 0."""
    return total(left, None if right is None else negated(right))


def split(node: Node, name: str) -> tuple[Node | None, Node | None]:  # noqa: RET503
    """Return the factor of a name in an expression that is linear in it, and the rest; None is 0.

    Raises
    ------
    EquationError
        When it is not linear.
    """
    if not any(part.kind == "name" and part.name == name for part in nodes_of(node)):
        return None, node
    if node.kind == "name":
        return Node("number", node.place, number=1.0), None
    if node.kind == "negate":
        factor, rest = split(node.parts[0], name)
        return (None if factor is None else negated(factor)), (None if rest is None else negated(rest))
    if node.kind in ("add", "subtract"):
        join = total if node.kind == "add" else difference_of
        (f_left, r_left), (f_right, r_right) = (split(part, name) for part in node.parts)
        return join(f_left, f_right), join(r_left, r_right)
    if node.kind in ("multiply", "divide"):
        sides = [split(part, name) for part in node.parts]
        if node.kind == "divide" and sides[1][0] is None:
            bottom = node.parts[1]
            factor, rest = (None if each is None else Node("divide", node.place, (each, bottom)) for each in sides[0])
            return factor, rest
        for (factor, rest), (among_other, other) in (sides, sides[::-1]):
            if node.kind == "multiply" and among_other is None and other is not None:
                return (
                    None if factor is None else product(factor, other),
                    None if rest is None else product(rest, other),
                )
    refuse(node.place, f"'{node.place.text}'", "spikes act in proportion to their weight", "write a factor times them")
