"""Writes the current of a channel as a sum of conductances, times powers of gates, times (v - E)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ranvier.channels.description import CALCIUM_REVERSAL, CARRIED, CURRENT, POTENTIAL, ChannelDescription
from ranvier.equations.description import Equation
from ranvier.equations.places import Place, refuse
from ranvier.equations.simplification import quotient
from ranvier.equations.trees import Node, walked

__all__ = ["NamedCurrent", "Term", "addends", "currents_of"]

_MOST_TERMS = 64
_MOST_GATES = 4
_HIGHEST_POWER = 16
_LINEAR = f"the current must be linear in {POTENTIAL}, with powers of gates as factors"


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a current: a conductance, a reversal potential, and powers of gates that multiply the conductance."""

    conductance: Node
    reversal: Node
    gates: tuple[tuple[str, int], ...]
    carries_calcium: bool = False


@dataclass(frozen=True, slots=True)
class NamedCurrent:
    """A current that can be recorded, by the numbers of its terms."""

    name: str
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Product:
    """A number, times expressions of parameters over others, times powers of gates, times (v + offset) or 1."""

    number: float = 1.0
    above: tuple[Node, ...] = ()
    below: tuple[Node, ...] = ()
    gates: tuple[tuple[str, int], ...] = ()
    has_potential: bool = False
    offset: tuple[_Product, ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.gates and not self.has_potential


_Sum = tuple[_Product, ...]


def currents_of(read: ChannelDescription) -> tuple[list[Term], list[NamedCurrent]]:
    """Return the parts of the current, and the currents that can be recorded: the whole one, and those that it sums.

    Raises
    ------
    EquationError
        When it is not linear in the potential, or not a polynomial of gates; when calcium carries a current with
        another reversal potential, or no gate.
    """
    assert read.current.node is not None
    algebra = _Products(read)
    sums: dict[str, _Sum] = {}
    for name in read.needed([read.current.node]):
        node = read.subexpressions[name].node
        assert node is not None
        sums[name] = algebra.sums[name] = walked(node, algebra)
    parts = addends(read, CURRENT)
    for name in read.calcium_currents:
        if name != CURRENT and name not in (parts or ()):
            place = read.subexpressions[name].place
            remedy = f"write {CURRENT} = {name} + ..., or leave ({CARRIED}) out"
            refuse(place, f"'{name}'", f"calcium carries {CURRENT}, or currents that {CURRENT} is the sum of", remedy)
    rest: _Sum = walked(read.current.node, algebra)
    if not rest:
        refuse(read.current.node.place, f"'{read.current.node.place.text}'", "it is 0", "write g*n*(v - E)")
    if parts is None:
        terms = _with_calcium(read, read.current, _terms(rest, read.current.node))
        return terms, [NamedCurrent(CURRENT, tuple(range(len(terms))))]
    terms, named = [], []
    for name in parts:
        node = read.subexpressions[name].node
        assert node is not None
        made = _with_calcium(read, read.subexpressions[name], _terms(sums[name], node))
        named.append(NamedCurrent(name, tuple(range(len(terms), len(terms) + len(made)))))
        terms += made
    return terms, [NamedCurrent(CURRENT, tuple(range(len(terms)))), *named]


def _with_calcium(read: ChannelDescription, current: Equation, terms: list[Term]) -> list[Term]:
    """Return the parts of a current with their carriers, after a check that calcium can carry them."""
    assert current.node is not None
    place, found = current.node.place, f"'{current.node.place.text}'"
    is_carried = CARRIED in current.flags or CARRIED in read.current.flags
    for term in terms:
        in_conductance = CALCIUM_REVERSAL in read.used([term.conductance])
        if not is_carried:
            if read.has_calcium_reversal and (in_conductance or CALCIUM_REVERSAL in read.used([term.reversal])):
                bound = f"{CALCIUM_REVERSAL} is the reversal potential of currents that calcium carries"
                refuse(place, found, bound, f"write ({CARRIED}) behind the unit, or another potential")
            continue
        is_direct = term.reversal.kind == "name" and term.reversal.name == CALCIUM_REVERSAL
        if not (is_direct and read.has_calcium_reversal) or in_conductance:
            bound = f"calcium carries it, so that its reversal potential is {CALCIUM_REVERSAL}"
            how = f"write g*n*({POTENTIAL} - {CALCIUM_REVERSAL})"
            refuse(place, found, bound, how if read.has_units else f"read {CALCIUM_REVERSAL} of the ion, and {how}")
        if not term.gates:
            refuse(place, found, "a current that calcium carries has gates", "multiply it by one")
    return [replace(term, carries_calcium=is_carried) for term in terms]


def addends(read: ChannelDescription, name: str) -> list[str] | None:
    """Return the names that a current is the sum of; None if it is anything else than their sum."""
    waiting, found = [read.subexpressions[name].node], []
    while waiting:
        node = waiting.pop()
        assert node is not None
        if node.kind == "add":
            waiting += node.parts[::-1]
        elif node.kind == "name" and node.name in read.subexpressions and node.name not in found:
            found.append(node.name)
        else:
            return None
    return found


class _Products:
    """Calculates an expression as a sum of products."""

    def __init__(self, read: ChannelDescription) -> None:
        self.gates = list(read.gates)
        self.sums: dict[str, _Sum] = {}

    def leaf(self, node: Node) -> _Sum:
        """Return the factor of a name or a number."""
        if node.kind == "number":
            return (_Product(node.number),) if node.number else ()
        if node.name == POTENTIAL:
            return (_Product(has_potential=True),)
        if node.name in self.gates:
            return (_Product(gates=((node.name, 1),)),)
        made = self.sums.get(node.name)
        # An expression with neither gates nor the potential keeps its name.
        is_constant = made is None or all(each.is_constant for each in made)
        return (_Product(above=(node,)),) if is_constant or made is None else made

    def operation(self, node: Node, parts: list[_Sum]) -> _Sum:  # noqa: RET503
        """Return the sum that an outcome is."""
        match node.kind:
            case "negate":
                return tuple(replace(each, number=-each.number) for each in parts[0])
            case "multiply":
                return self._multiplied(node, parts[0], parts[1])
        if all(each.is_constant for part in parts for each in part):
            if node.kind == "divide" and len(parts[0]) == 1:
                return (replace(parts[0][0], below=(*parts[0][0].below, node.parts[1])),)
            return (_Product(above=(node,)),)
        match node.kind:
            case "add":
                return self._added(node, parts[0], parts[1])
            case "subtract":
                negative = tuple(replace(each, number=-each.number) for each in parts[1])
                return self._added(node, parts[0], negative)
            case "divide" if all(each.is_constant for each in parts[1]):
                return tuple(replace(each, below=(*each.below, node.parts[1])) for each in parts[0])
            case "power" if node.parts[1].kind == "number":
                return self._power(node, parts[0], node.parts[1].number)
        place = node.place
        refuse(place, f"'{place.text}'", _LINEAR, "write another dependence on v as a gate: dn/dt = (n_inf - n)/tau_n")

    def _added(self, node: Node, left: _Sum, right: _Sum) -> _Sum:
        for one, other in ((left, right), (right, left)):
            # v - E
            if (
                len(one) == 1
                and one[0] == replace(_Product(has_potential=True), number=one[0].number)
                and (abs(one[0].number) == 1.0 and all(each.is_constant for each in other))
            ):
                sign = one[0].number
                offset = tuple(replace(each, number=each.number * sign) for each in other)
                return (replace(one[0], offset=offset),)
        return self._checked(node, (*left, *right))

    def _multiplied(self, node: Node, left: _Sum, right: _Sum) -> _Sum:
        made = []
        for a in left:
            for b in right:
                if a.has_potential and b.has_potential:
                    refuse(node.place, f"'{node.place.text}'", _LINEAR, f"{POTENTIAL} is in both factors")
                powers = dict(a.gates)
                for gate, power in b.gates:
                    powers[gate] = powers.get(gate, 0) + power
                made.append(
                    _Product(
                        a.number * b.number,
                        (*a.above, *b.above),
                        (*a.below, *b.below),
                        tuple((gate, powers[gate]) for gate in self.gates if gate in powers),
                        a.has_potential or b.has_potential,
                        a.offset or b.offset,
                    )
                )
        return self._checked(node, tuple(made))

    def _power(self, node: Node, base: _Sum, exponent: float) -> _Sum:
        if exponent != int(exponent) or not 1 <= exponent <= _HIGHEST_POWER:
            place = node.parts[1].place
            refuse(place, f"'{place.text}'", f"powers of gates are whole numbers from 1 to {_HIGHEST_POWER}")
        made = base
        for _ in range(int(exponent) - 1):
            made = self._multiplied(node, made, base)
        return made

    def _checked(self, node: Node, made: _Sum) -> _Sum:
        if len(made) > _MOST_TERMS:
            refuse(node.place, f"'{node.place.text}'", f"it is a sum of more than {_MOST_TERMS} products of gates")
        for each in made:
            if len(each.gates) > _MOST_GATES or any(power > _HIGHEST_POWER for _, power in each.gates):
                bound = f"a product has at most {_MOST_GATES} gates, with powers up to {_HIGHEST_POWER}"
                refuse(node.place, f"'{node.place.text}'", bound)
        return made


# ---- conductances and reversal potentials ----------------------------------------------------------------------------


def _terms(products: _Sum, whole: Node) -> list[Term]:
    place = whole.place
    groups: dict[tuple[tuple[str, int], ...], list[_Product]] = {}
    for each in products:
        groups.setdefault(each.gates, []).append(each)
    made = []
    for gates, group in groups.items():
        if all(each.has_potential for each in group):
            made += [Term(_node(_factor(each), place), _reversal(each, place), gates) for each in group]
        elif not any(each.has_potential for each in group):
            called = "*".join(f"{gate}**{power}" if power > 1 else gate for gate, power in gates)
            refuse(
                place,
                f"'{place.text}'",
                f"its part with {called or 'no gate'} does not depend on {POTENTIAL}: it has no reversal potential",
                "write g*(v - E); constant currents are injected by electrodes",
            )
        else:
            made.append(_merged(group, gates, place))
    return made


def _factor(product: _Product) -> _Product:
    return replace(product, gates=(), has_potential=False, offset=())


def _reversal(product: _Product, place: Place) -> Node:
    """Return -offset."""
    return _sum([replace(each, number=-each.number) for each in product.offset], place)


def _merged(group: list[_Product], gates: tuple[tuple[str, int], ...], place: Place) -> Term:
    """Return the term of g v - h, with the reversal potential h/g, for which SymPy avoids a division if possible."""
    slopes = [_factor(each) for each in group if each.has_potential]
    constants = [_factor(each) for each in group if not each.has_potential]
    for each in group:
        if each.has_potential:
            constants += [
                _Product(each.number * factor.number, (*each.above, *factor.above), (*each.below, *factor.below))
                for factor in each.offset
            ]
    conductance = _sum(slopes, place)
    negative = _sum([replace(each, number=-each.number) for each in constants], place)
    reversal = quotient(negative, conductance)
    if reversal is None:
        refuse(place, f"'{place.text}'", "its reversal potential cannot be found", "write it as g*(v - E)")
    return Term(conductance, reversal, gates)


def _sum(products: list[_Product], place: Place) -> Node:
    if not products:
        return Node("number", place)
    made = _node(products[0], place)
    for each in products[1:]:
        made = Node("add", place, (made, _node(each, place)))
    return made


def _node(product: _Product, place: Place) -> Node:
    factors = list(product.above)
    if product.number != 1.0 or not factors:
        factors.insert(0, Node("number", place, number=product.number))
    made = factors[0]
    for each in factors[1:]:
        made = Node("multiply", place, (made, each))
    for each in product.below:
        made = Node("divide", place, (made, each))
    return made
