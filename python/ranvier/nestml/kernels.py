"""Kernels of convolutions as differential equations: each spike adds to their variables.

A kernel that is written as a function of time is a sum of terms c*exp(-t/tau) and c*t*exp(-t/tau). The first is the
solution of x' = -x/tau from c on; the second of x' = y - x/tau, y' = -y/tau from y = c on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.equations.places import refuse
from ranvier.equations.trees import Node, nodes_of
from ranvier.nestml.algebra import difference_of, negated, product, total

__all__ = ["Term", "terms_of"]

_MOST_TERMS = 10
_FORMS = "write sums of c*exp(-t/tau) and c*t*exp(-t/tau), delta(t), or differential equations"


@dataclass(frozen=True, slots=True)
class Term:
    """`factor` times the time to a `power` times exp(`rate` times the time); None is a factor or rate of 0."""

    factor: Node
    power: int
    rate: Node | None


def terms_of(node: Node) -> list[Term]:
    """Return the terms of a kernel, a function of the time t.

    Raises
    ------
    EquationError
        For a kernel of another form.
    """
    found = _terms(node)
    _check_number(node, found)
    for term in found:
        if term.rate is None or term.power > 1:
            refuse(node.place, f"'{node.place.text}'", "this form of a kernel is not supported", _FORMS)
    return found


def _terms(node: Node) -> list[Term]:  # noqa: RET503
    one = Node("number", node.place, number=1.0)
    if not any(part.kind == "name" and part.name == "t" for part in nodes_of(node)):
        return [Term(node, 0, None)]
    match node.kind:
        case "name":
            return [Term(one, 1, None)]
        case "negate":
            return [Term(negated(term.factor), term.power, term.rate) for term in _terms(node.parts[0])]
        case "add":
            return [*_terms(node.parts[0]), *_terms(node.parts[1])]
        case "subtract":
            right = _terms(node.parts[1])
            return [*_terms(node.parts[0]), *(Term(negated(each.factor), each.power, each.rate) for each in right)]
        case "multiply":
            left, right = _terms(node.parts[0]), _terms(node.parts[1])
            _check_number(node, left)
            _check_number(node, right)
            return [
                Term(product(a.factor, b.factor), a.power + b.power, total(a.rate, b.rate)) for a in left for b in right
            ]
        case "divide":
            bottom = _terms(node.parts[1])
            if len(bottom) == 1 and bottom[0].power == 0:
                rate = bottom[0].rate
                return [
                    Term(
                        Node("divide", node.place, (each.factor, bottom[0].factor)),
                        each.power,
                        difference_of(each.rate, rate),
                    )
                    for each in _terms(node.parts[0])
                ]
        case "exp":
            return [_exponential(node, _terms(node.parts[0]))]
    refuse(node.place, f"'{node.place.text}'", "this form of a kernel is not supported", _FORMS)


def _check_number(node: Node, found: list[Term]) -> None:
    if len(found) > _MOST_TERMS:
        refuse(node.place, f"{len(found)} terms", f"a kernel has {_MOST_TERMS} at most", "write several kernels")


def _exponential(node: Node, exponents: list[Term]) -> Term:
    factor: Node = Node("number", node.place, number=1.0)
    rate: Node | None = None
    for each in exponents:
        if each.rate is not None or each.power > 1:
            refuse(node.place, f"'{node.place.text}'", "its exponent is not linear in the time", _FORMS)
        if each.power == 1:
            rate = total(rate, each.factor)
        else:
            factor = product(factor, Node("exp", node.place, (each.factor,)))
    return Term(factor, 0, rate)
