"""Finds out that an equation is linear though it does not look so, with SymPy: ``v*(v - E)/v``.

SymPy is asked only where values of the equation look linear. It is given trees, never text, and is loaded only then.
"""

from __future__ import annotations

import random
from typing import Any

from ranvier.equations.beginning import Found, Numbers, Trouble
from ranvier.equations.expressions import CONSTANTS, Affine, unit_number
from ranvier.equations.names import STEP
from ranvier.equations.places import Place
from ranvier.equations.scope import Scope
from ranvier.equations.trees import Node, nodes_of, walked

__all__ = ["linear_form", "quotient"]

_TRIALS = 4
_MOST_NODES = 200
_HIGHEST_POWER = 8
_ARITHMETIC = {"number", "name", "add", "subtract", "multiply", "divide", "negate", "power", "exp", "square_root"}


def linear_form(scope: Scope, variable: str, names: list[str], found: Affine) -> Affine:
    """Return the derivative of a variable as a sum that is linear in some names; `found` if it is not linear."""
    node = _inlined(scope, variable)
    if node is None or _has_exponential(node, names) or not _looks_linear(node, names):
        return found
    simpler = _simplified(node, names)
    if simpler is None:
        return found
    exponent = -scope.stage.exponent(variable)
    made = scope.affine(simpler, names)
    if made.prevented_by is not None:
        return found
    return Affine(
        {name: scope.stage.scaled(each, exponent) for name, each in made.coefficients.items()},
        scope.stage.scaled(made.constant, exponent),
    )


def _inlined(scope: Scope, variable: str) -> Node | None:
    """Return the right side of an equation without subexpressions; None if it is too large or not arithmetic."""
    description = scope.stage.description
    node = description.variables[variable].node
    if node is None:
        return None
    of_names = {name: description.subexpressions[name].node for name in description.needed(node)}
    inlined: dict[str, Node] = {}
    for name, each in [*of_names.items(), ("", node)]:
        assert each is not None
        inlined[name] = walked(each, _Inlining(inlined))
        if sum(1 for _ in nodes_of(inlined[name])) > _MOST_NODES:
            return None
    made = inlined[""]
    if any(part.kind not in _ARITHMETIC or not _has_small_power(part) for part in nodes_of(made)):
        return None
    return made


class _Inlining:
    """Substitutes the trees of subexpressions for their names."""

    def __init__(self, inlined: dict[str, Node]) -> None:
        self.inlined = inlined

    def leaf(self, node: Node) -> Node:
        return self.inlined.get(node.name, node) if node.kind == "name" else node

    def operation(self, node: Node, parts: list[Node]) -> Node:
        return Node(node.kind, node.place, tuple(parts))


def _has_exponential(node: Node, names: list[str]) -> bool:
    """Return whether an exponential depends on one of the names.

    If it saturates, as rates of gates do, its values look linear, and SymPy would search for minutes.
    """
    return any(part.kind == "exp" and any(each.name in names for each in nodes_of(part)) for part in nodes_of(node))


def _has_small_power(node: Node) -> bool:
    if node.kind != "power":
        return True
    exponent = node.parts[1]
    return exponent.kind == "number" and abs(exponent.number) <= _HIGHEST_POWER


def _looks_linear(node: Node, names: list[str]) -> bool:
    """Return whether the value in the middle of two random points is the mean of theirs."""
    source = random.Random(1)
    used = {part.name for part in nodes_of(node) if part.kind == "name"}
    for _ in range(_TRIALS):
        fixed: dict[str, Found] = {n: source.uniform(0.5, 2.0) for n in used if _is_free(n)}
        first = {n: source.uniform(-3.0, 3.0) for n in names}
        second = {n: source.uniform(-3.0, 3.0) for n in names}
        middle = {n: 0.5 * (first[n] + second[n]) for n in names}
        values = [walked(node, Numbers({**fixed, **point})) for point in (first, second, middle)]
        if any(isinstance(value, Trouble) for value in values):
            return False
        a, b, mean = (float(value) for value in values if not isinstance(value, Trouble))
        if abs(0.5 * (a + b) - mean) > 1e-9 * (abs(a) + abs(b) + abs(mean)):
            return False
    return True


def _is_free(name: str) -> bool:
    return name not in CONSTANTS and unit_number(name) is None


def _simplified(node: Node, names: list[str]) -> Node | None:
    """Return the sum of a constant and of names times constants that an expression is, if SymPy finds it."""
    # SymPy takes a third of a second to load.
    import sympy

    symbols: dict[str, Any] = {}
    expression = walked(node, _SymPy(sympy, symbols))
    linear = {name: symbols[name] for name in names if name in symbols}
    made: Node | None = None
    rest = expression
    for name, symbol in linear.items():
        coefficient = sympy.cancel(sympy.diff(expression, symbol))
        if coefficient.free_symbols & set(linear.values()):
            return None
        rest = rest - coefficient * symbol
        factor = _tree(sympy, coefficient, node.place)
        if factor is None:
            return None
        term = Node("multiply", node.place, (factor, Node("name", node.place, name=name)))
        made = term if made is None else Node("add", node.place, (made, term))
    constant = sympy.cancel(rest)
    other = None if constant.free_symbols & set(linear.values()) else _tree(sympy, constant, node.place)
    if other is None:
        return None
    return other if made is None else Node("add", node.place, (made, other))


def quotient(above: Node, below: Node) -> Node | None:
    """Return above/below with common factors cancelled; None if it is too large, not arithmetic, or below is 0."""
    parts = [*nodes_of(above), *nodes_of(below)]
    if len(parts) > _MOST_NODES or any(part.kind not in _ARITHMETIC or not _has_small_power(part) for part in parts):
        return None
    import sympy

    symbols: dict[str, Any] = {}
    algebra = _SymPy(sympy, symbols)
    divisor = sympy.simplify(walked(below, algebra))
    if divisor == 0:
        return None
    return _tree(sympy, sympy.cancel(walked(above, algebra) / divisor), above.place)


class _SymPy:
    """Calculates an expression with SymPy."""

    def __init__(self, sympy: Any, symbols: dict[str, Any]) -> None:
        self.sympy = sympy
        self.symbols = symbols

    def leaf(self, node: Node) -> Any:
        if node.kind == "number":
            return self.sympy.Rational(repr(node.number))
        if node.name not in self.symbols:
            self.symbols[node.name] = self.sympy.Symbol(node.name, positive=_is_positive(node.name))
        return self.symbols[node.name]

    def operation(self, node: Node, parts: list[Any]) -> Any:
        match node.kind:
            case "add":
                return parts[0] + parts[1]
            case "subtract":
                return parts[0] - parts[1]
            case "multiply":
                return parts[0] * parts[1]
            case "divide":
                return parts[0] / parts[1]
            case "negate":
                return -parts[0]
            case "power":
                return parts[0] ** parts[1]
            case "exp":
                return self.sympy.exp(parts[0])
        return self.sympy.sqrt(parts[0])


def _is_positive(name: str) -> bool | None:
    return True if name == STEP or not _is_free(name) else None


def _tree(sympy: Any, expression: Any, place: Place) -> Node | None:
    """Return an expression of SymPy as a tree; None if there is something in it that came from nowhere."""
    if expression.is_Symbol:
        return Node("name", place, name=expression.name)
    if expression.is_Rational:
        return Node("number", place, number=float(expression))
    parts = [_tree(sympy, each, place) for each in expression.args]
    if any(each is None for each in parts):
        return None
    known = [each for each in parts if each is not None]
    if expression.is_Pow and expression.exp == -1:
        return Node("divide", place, (Node("number", place, number=1.0), known[0]))
    if expression.is_Pow:
        return Node("power", place, tuple(known))
    if isinstance(expression, sympy.exp):
        return Node("exp", place, tuple(known))
    if not (expression.is_Add or expression.is_Mul):
        return None
    made = known[0]
    for each in known[1:]:
        made = Node("add" if expression.is_Add else "multiply", place, (made, each))
    return made
