"""Functions of NESTML as nodes of expressions."""

from __future__ import annotations

import math

from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node

__all__ = ["MATHEMATICS", "mathematics"]

# How many arguments each function takes.
MATHEMATICS = {
    **dict.fromkeys(("abs", "ceil", "cos", "cosh", "exp", "expm1", "floor", "ln", "log10", "round"), 1),
    **dict.fromkeys(("sin", "sinh", "sqrt", "tan", "tanh"), 1),
    **dict.fromkeys(("max", "min"), 2),
    "clip": 3,
}
_KINDS = {"abs": "absolute", "ln": "log", "max": "maximum", "min": "minimum", "sqrt": "square_root"}


def mathematics(name: str, place: Place, parts: list[Node]) -> Node:
    """Return the call of a function of mathematics as a node."""
    if len(parts) != MATHEMATICS[name]:
        refuse(place, f"'{place.text}', with {len(parts)} arguments", f"{name} takes {MATHEMATICS[name]}")

    def made(kind: str, *operands: Node) -> Node:
        return Node(kind, place, operands)

    one = parts[0]
    match name:
        case "clip":
            return made("minimum", made("maximum", one, parts[1]), parts[2])
        case "ceil":
            return made("negate", made("floor", made("negate", one)))
        case "log10":
            return made("divide", made("log", one), Node("number", place, number=math.log(10.0)))
        case "round":
            # Half a unit is rounded away from 0, as in C.
            half = Node("number", place, number=0.5)
            up = made("floor", made("add", one, half))
            down = made("negate", made("floor", made("subtract", half, one)))
            return made("where", made("less", one, Node("number", place)), down, up)
    return made(_KINDS.get(name, name), *parts)
