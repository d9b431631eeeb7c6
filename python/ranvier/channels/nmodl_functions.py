"""Functions of NMODL that files call without declaring them."""

from __future__ import annotations

import math

from ranvier.channels.nmodl_nodes import number_node
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node

__all__ = ["FUNCTIONS", "of_function"]

FUNCTIONS = {
    "exp": ("exp", 1),
    "log": ("log", 1),
    "log10": ("log10", 1),
    "fabs": ("absolute", 1),
    "abs": ("absolute", 1),
    "sqrt": ("square_root", 1),
    "pow": ("power", 2),
    "exprelr": ("exprelr", 1),
    "floor": ("floor", 1),
    "ceil": ("ceil", 1),
    "fmin": ("minimum", 2),
    "fmax": ("maximum", 2),
    **{name: (name, 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
"""By name: the kind of node, or the name that `of_function` expands, and the number of arguments."""


def of_function(name: str, numbers: tuple[Node, ...], place: Place) -> Node:
    """Return the value of a function in `FUNCTIONS`.

    Raises
    ------
    EquationError
        For another number of arguments.
    """
    kind, count = FUNCTIONS[name]
    if len(numbers) != count:
        refuse(place, f"'{place.text}', with {len(numbers)} arguments", f"{name} takes {count}")
    match kind:
        case "log10":
            return Node("divide", place, (Node("log", place, numbers), number_node(place, math.log(10.0))))
        case "exprelr":
            return Node("divide", place, (number_node(place, 1.0), Node("expm1_over", place, numbers)))
        case "ceil":
            below = Node("floor", place, (Node("negate", place, numbers),))
            return Node("negate", place, (below,))
    return Node(kind, place, numbers)
