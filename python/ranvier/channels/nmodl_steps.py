"""Finds the derivative of a state from its value after a step, also for steps that files write out themselves.

Old files advance states in a PROCEDURE, ``m = m + (1 - exp(-dt/tau))*(m_inf - m)``: this is the step of
``METHOD cnexp`` for ``m' = (m_inf - m)/tau``.
"""

from __future__ import annotations

from ranvier.channels.nmodl_nodes import ADVANCED, advanced_rate, depends_on, is_same, number_node, signed_terms
from ranvier.equations.trees import Node

__all__ = ["derivative_of_step", "proportional"]

_MOST_TERMS = 16
_Product = tuple[float, tuple[Node, ...]]


def derivative_of_step(node: Node, state: str) -> Node | None:
    """Return the derivative that a step solves exactly; None for other steps.

    Parameters
    ----------
    node
        The state after a step, as an expression of its name, which represents the value before.
    """
    if node.kind == "name" and node.name == state:
        return number_node(node.place, 0.0)
    if node.kind == ADVANCED:
        before = node.parts[0]
        is_first = before.kind == "name" and before.name == state
        return advanced_rate(node) if is_first else None
    if node.kind == "where" and not depends_on(node.parts[0], (state, "dt")):
        one, other = (derivative_of_step(each, state) for each in node.parts[1:])
        return None if one is None or other is None else Node("where", node.place, (node.parts[0], one, other))
    products = _products(node, state)
    return None if products is None else _from_products(node, products, state)


def _products(node: Node, state: str) -> list[_Product] | None:
    """Return an expression as a sum of products, with or without the state as a factor; None if it is not one."""
    if not depends_on(node, (state,)):
        return [(1.0, (node,))]
    match node.kind:
        case "name":
            return [(1.0, (node,))]
        case "negate":
            inner = _products(node.parts[0], state)
            return None if inner is None else [(-sign, factors) for sign, factors in inner]
        case "add" | "subtract":
            left, right = (_products(each, state) for each in node.parts)
            if left is None or right is None or len(left) + len(right) > _MOST_TERMS:
                return None
            other = 1.0 if node.kind == "add" else -1.0
            return [*left, *((sign * other, factors) for sign, factors in right)]
        case "multiply":
            left, right = (_products(each, state) for each in node.parts)
            if left is None or right is None or len(left) * len(right) > _MOST_TERMS:
                return None
            return [(s * t, (*f, *g)) for s, f in left for t, g in right]
    return None


def _from_products(node: Node, products: list[_Product], state: str) -> Node | None:
    """Return the derivative of x + E (X - x) with E = 1 - exp(u), or X + e (x - X) with e = exp(u)."""
    constants: list[_Product] = []
    slope: list[tuple[float, Node]] = []
    for sign, factors in products:
        states = [each for each in factors if each.kind == "name" and each.name == state]
        rest = [each for each in factors if each not in states]
        if not states:
            constants.append((sign, tuple(rest)))
        elif len(states) > 1 or len(rest) > 1:
            return None
        else:
            slope.append((sign, rest[0] if rest else number_node(node.place, 1.0)))
    total = _sum(node, slope)
    kept = signed_terms(total)
    if len(kept) != 1 or kept[0][0] != 1.0 or kept[0][1].kind != "exp":
        return None
    factor = proportional(kept[0][1].parts[0], "dt")
    if factor is None:
        return None
    steady = _steady(node, constants, kept[0][1])
    if steady is None or depends_on(steady, ("dt",)):
        return None
    one = number_node(node.place, 1.0)
    tau = Node("divide", node.place, (one, Node("negate", node.place, (factor,))))
    difference = Node("subtract", node.place, (steady, Node("name", node.place, name=state)))
    return Node("divide", node.place, (difference, tau))


def _sum(node: Node, terms: list[tuple[float, Node]]) -> Node:
    made = number_node(node.place, 0.0)
    for sign, each in terms:
        made = Node("add" if sign > 0 else "subtract", node.place, (made, each))
    return made


def _steady(node: Node, constants: list[_Product], left: Node) -> Node | None:
    """Return X of E X with E = 1 - left, or of X - X left."""
    if len(constants) == 1:
        sign, factors = constants[0]
        for each in factors:
            # The product of E and X is one expression if neither depends on the state.
            for part, other in _pairs(each, factors):
                if _is_rest(part, left):
                    return other if sign > 0 else Node("negate", node.place, (other,))
        return None
    if len(constants) == 2:
        for (s, alone), (t, with_left) in (constants, constants[::-1]):
            if len(alone) != 1 or s != 1.0 or t != -1.0:
                continue
            parts = list(with_left)
            if len(parts) == 1 and parts[0].kind == "multiply":
                parts = list(parts[0].parts)
            others = [each for each in parts if not is_same(each, left)]
            if len(parts) == 2 and len(others) == 1 and is_same(others[0], alone[0]):
                return alone[0]
    return None


def _pairs(each: Node, factors: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    if len(factors) == 2:
        other = factors[1] if each is factors[0] else factors[0]
        return [(each, other)]
    if len(factors) == 1 and each.kind == "multiply":
        left, right = each.parts
        return [(left, right), (right, left)]
    return []


def _is_rest(part: Node, left: Node) -> bool:
    """Return whether an expression is 1 - left."""
    terms = signed_terms(
        Node("subtract", part.place, (Node("add", part.place, (part, left)), number_node(part.place, 1)))
    )
    return not terms


def proportional(node: Node, name: str) -> Node | None:
    """Return k of an expression k x, where x is a name; None if it is not proportional to it."""
    if not depends_on(node, (name,)):
        return None
    match node.kind:
        case "name":
            return number_node(node.place, 1.0)
        case "negate":
            inner = proportional(node.parts[0], name)
            return None if inner is None else Node("negate", node.place, (inner,))
        case "add" | "subtract":
            one, other = (proportional(each, name) for each in node.parts)
            return None if one is None or other is None else Node(node.kind, node.place, (one, other))
        case "multiply" | "divide":
            left, right = node.parts
            if not depends_on(right, (name,)):
                inner = proportional(left, name)
                return None if inner is None else Node(node.kind, node.place, (inner, right))
            if node.kind == "multiply" and not depends_on(left, (name,)):
                inner = proportional(right, name)
                return None if inner is None else Node("multiply", node.place, (left, inner))
    return None
