"""Makes the programs of a channel from its description."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ranvier.channels.currents import Term, currents_of
from ranvier.channels.description import CALCIUM, POTENTIAL, TEMPERATURE, ChannelDescription
from ranvier.channels.program import ChannelProgram, CurrentProgram, GateProgram, TermProgram
from ranvier.equations.builder import Builder, Operand, operate
from ranvier.equations.description import Equation
from ranvier.equations.expressions import Affine, AffineSums, Instructions
from ranvier.equations.places import refuse
from ranvier.equations.program import Program, ProgramParameter
from ranvier.equations.trees import Node, walked

__all__ = ["direct_parameter", "lower_channel"]

_CONDUCTANCE, _REVERSAL = "S/cm^2", "mV"
_BOUNDS = {_CONDUCTANCE: (0.0, 1e6), _REVERSAL: (-1000.0, 1000.0)}
"""Those of built-in mechanisms."""
_FOR_EVER = 1e300
"""The time constant (ms) of a gate that does not change."""


def lower_channel(read: ChannelDescription) -> ChannelProgram:
    """Return the programs of a channel.

    Raises
    ------
    EquationError
        When an equation of a gate or the current does not have a form that can be solved; the error shows the place.
    """
    terms, named = currents_of(read)
    rates = read.rate_names()
    numbers = {name: k for k, name in enumerate(read.gates)}
    parameters = [_as_parameter(read, name) for name in rates]
    parameters += [_of_term(read, node, unit) for node, unit in _nodes(terms)]
    first = len(rates)
    return ChannelProgram(
        name=read.name,
        summary=read.summary,
        equations=read.text,
        reference=read.reference,
        parameters=tuple(parameters),
        gates=tuple(_Gate(read, equation, len(parameters)).program() for equation in read.gates.values()),
        terms=tuple(
            TermProgram(
                first + 2 * k,
                first + 2 * k + 1,
                tuple((numbers[gate], power) for gate, power in term.gates),
                term.carries_calcium,
            )
            for k, term in enumerate(terms)
        ),
        currents=tuple(CurrentProgram(each.name, each.terms) for each in named),
        derive=_derive(read, rates, terms),
        follows=read.follows,
    )


def direct_parameter(read: ChannelDescription, node: Node, unit: str) -> str | None:
    """Return the parameter that a conductance or reversal potential is, in the same unit; None if it is calculated."""
    if node.kind != "name" or node.name not in read.parameters:
        return None
    is_same = not read.has_units or read.unit(node.name).exponent == read.exponent(unit)
    return node.name if is_same else None


def derived_nodes(read: ChannelDescription) -> list[tuple[Node, str]]:
    """Return the expressions of the parameters after those of rates, with their units."""
    terms, _ = currents_of(read)
    return _nodes(terms)


def _nodes(terms: Sequence[Term]) -> list[tuple[Node, str]]:
    return [pair for term in terms for pair in ((term.conductance, _CONDUCTANCE), (term.reversal, _REVERSAL))]


def _as_parameter(read: ChannelDescription, name: str) -> ProgramParameter:
    declared = read.parameters[name].declared
    return ProgramParameter(
        name,
        declared.unit.text,
        declared.default,
        declared.lower,
        declared.upper,
        declared.lower_open,
        declared.upper_open,
        declared.meaning,
    )


def _of_term(read: ChannelDescription, node: Node, unit: str) -> ProgramParameter:
    lower, upper = _BOUNDS[unit]
    kind = "conductance" if unit == _CONDUCTANCE else "reversal potential"
    name = direct_parameter(read, node, unit)
    if name is None:
        return ProgramParameter(f"{kind} '{node.place.text}'", unit, 0.0, lower, upper, False, False, "")
    declared = read.parameters[name].declared
    return ProgramParameter(
        name,
        unit,
        # NaN, for a parameter without a default, would make a channel differ from itself.
        0.0 if math.isnan(declared.default) else declared.default,
        max(lower, declared.lower),
        min(upper, declared.upper),
        declared.lower_open and declared.lower >= lower,
        declared.upper_open and declared.upper <= upper,
        declared.meaning,
    )


class _Names:
    """Values of names in a builder, in the units of calculations."""

    def __init__(self, read: ChannelDescription) -> None:
        self.read = read
        self.builder = Builder(0)
        self.celsius = self.builder.input(TEMPERATURE)
        self.operands: dict[str, Operand] = {TEMPERATURE: self.celsius}
        self.instructions = Instructions(self.builder, self.operands)

    def add_parameter(self, name: str) -> int:
        """Add a parameter; return the place of its input."""
        given = self.builder.input(("parameter", name))
        self.operands[name] = self.scaled(given, self.read.unit(name).exponent if self.read.has_units else 0)
        return given.place

    def scaled(self, value: Operand, exponent: int) -> Operand:
        """Return a value times a power of ten."""
        if exponent == 0:
            return value
        return operate(self.builder, "multiply" if exponent > 0 else "divide", value, 10.0 ** abs(exponent))

    def value(self, node: Node) -> Operand:
        """Return the value of an expression."""
        for name in self.read.needed([node]):
            node_of_name = self.read.subexpressions[name].node
            if name not in self.operands and node_of_name is not None:
                self.operands[name] = walked(node_of_name, self.instructions)
        return walked(node, self.instructions)


# ---- gates -----------------------------------------------------------------------------------------------------------


class _Gate:
    """The programs of a gate: dx/dt = (steady - x)/tau."""

    def __init__(self, read: ChannelDescription, equation: Equation, parameters: int) -> None:
        self.read = read
        self.equation = equation
        self.names = _Names(read)
        followed = []
        if read.follows != "calcium":
            potential = self.names.builder.input(POTENTIAL)
            self.names.operands[POTENTIAL] = potential
            followed.append(potential.place)
        if read.follows != "potential":
            logarithm = self.names.builder.input(f"logarithm of {CALCIUM}")
            self.names.operands[CALCIUM] = operate(self.names.builder, "exp", logarithm)
            followed.append(logarithm.place)
        places = [self.names.add_parameter(name) for name in read.rate_names()]
        # Rates depend on no parameter of a term.
        places += [self.names.builder.input(("of term", k)).place for k in range(parameters - len(places))]
        self.inputs = [*followed, self.names.celsius.place, *places]

    def program(self) -> GateProgram:
        """Return them."""
        equation = self.equation
        assert equation.node is not None
        begin = self.read.initial.get(equation.name)
        initial = None if begin is None else self._finished([self.names.value(begin)])
        return GateProgram(equation.name, equation.meaning, self._finished(list(self._rates(equation.node))), initial)

    def _finished(self, results: list[Operand]) -> Program:
        return self.names.builder.finished(self.inputs, [self.names.builder.take(each) for each in results])

    def _rates(self, node: Node) -> tuple[Operand, Operand]:
        """Return the value that the gate tends to, and its time constant (ms)."""
        builder, gate = self.names.builder, self.equation.name
        if node.kind == "number" and node.number == 0.0:
            return 0.0, _FOR_EVER
        if node.kind == "where" and gate not in self.read.used([node.parts[0]]):
            condition = self.names.value(node.parts[0])
            one, other = self._rates(node.parts[1]), self._rates(node.parts[2])
            steady, tau = (operate(builder, "select", condition, *each) for each in zip(one, other, strict=True))
            return steady, tau
        if node.kind == "divide" and gate not in self.read.used([node.parts[1]]):
            # (n_inf - n)/tau_n: a division at the end avoids a rounding.
            sums = self._affine(node.parts[0])
            tau = self.names.value(node.parts[1])
            factor = operate(builder, "negate", sums.coefficients[gate])
            steady = operate(builder, "divide", sums.constant, factor)
            return steady, operate(builder, "divide", tau, factor)
        sums = self._affine(node)
        factor = operate(builder, "negate", sums.coefficients[gate])
        return operate(builder, "divide", sums.constant, factor), operate(builder, "divide", 1.0, factor)

    def _affine(self, node: Node) -> Affine:
        gate = self.equation.name
        sums = AffineSums(self.names.instructions, {gate: Affine({gate: 1.0})})
        known = dict(sums.names)
        for name in self.read.needed([node]):
            node_of_name = self.read.subexpressions[name].node
            assert node_of_name is not None
            if gate in self.read.used([node_of_name]):
                known[name] = walked(node_of_name, AffineSums(self.names.instructions, known))
            else:
                self.names.value(Node("name", node_of_name.place, name=name))
        found = walked(node, AffineSums(self.names.instructions, known))
        remedy = f"write d{gate}/dt = ({gate}_inf - {gate})/tau, or alpha*(1 - {gate}) - beta*{gate}"
        if found.prevented_by is not None:
            place = found.prevented_by.place
            refuse(place, f"'{place.text}'", f"d{gate}/dt must be linear in {gate}", remedy)
        if found.coefficients.get(gate, 0.0) == 0.0:
            refuse(node.place, f"'{node.place.text}'", f"{gate} does not return to a steady state", remedy)
        return found


# ---- parameters ------------------------------------------------------------------------------------------------------


def _derive(read: ChannelDescription, rates: Sequence[str], terms: Sequence[Term]) -> Program:
    names = _Names(read)
    places = {name: names.add_parameter(name) for name in read.parameters}
    results = [names.builder.value(places[name]) for name in rates]
    for node, unit in _nodes(terms):
        direct = direct_parameter(read, node, unit)
        if direct is not None:
            results.append(names.builder.value(places[direct]))
            continue
        made = names.value(node)
        if not (isinstance(made, float) and not math.isfinite(made)):
            made = names.scaled(made, -read.exponent(unit))
        results.append(names.builder.take(made))
    return names.builder.finished([*places.values(), names.celsius.place], results)
