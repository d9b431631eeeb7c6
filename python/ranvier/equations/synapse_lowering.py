"""Makes the programs of a synapse model from its description."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ranvier.equations.assembly import program_parameters
from ranvier.equations.builder import Builder, Operand, Value, operate
from ranvier.equations.description import Declared, Parameter, Statement
from ranvier.equations.expressions import CONSTANTS, Affine, AffineSums, Instructions
from ranvier.equations.guards import Guards
from ranvier.equations.names import is_unit
from ranvier.equations.places import refuse
from ranvier.equations.program import Instruction, Program, SynapseProgram
from ranvier.equations.synapse_description import AXONAL, EVENTS, WEIGHT, Side, SynapseDescription
from ranvier.equations.trees import Node, names_in, nodes_of, walked
from ranvier.equations.units import NONE, Unit
from ranvier.errors import EquationError

__all__ = ["EventBuilder", "Prepare", "keeping_weights", "lower_synapse"]

_AXONAL = Declared(
    0.0,
    Unit(NONE, 0, ""),
    0.0,
    1.0,
    meaning="Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take "
    "it to the synapse, too",
)
_CHECKED = {"divide": (1,), "square_root": (0,), "log": (0,), "log1p": (0,), "power": (0, 1)}
"""Operations that are not defined for all numbers, with the operands that decide."""


def lower_synapse(description: SynapseDescription) -> SynapseProgram:
    """Return the programs of a model.

    Raises
    ------
    EquationError
        For expressions that tables of synapses do not support; the error shows the place.
    """
    made = {side: _event(description, side) for side in EVENTS}
    if all(each.keeps_weights for each in made.values()):
        refuse(description.places["on_pre"], "", "no event changes the weight", 'use synapse="static_synapse"')
    read = {trace for each in made.values() for trace in (each.other, each.same) if trace is not None}
    for name, trace in description.traces.items():
        if name not in read:
            refuse(trace.equation.place, f"'{name}'", "no event needs it to change the weight", "leave it out")
    prepare = Prepare(description)
    pre, post = made["on_pre"], made["on_post"]
    times = tuple(prepare.time_constant(name) for name in (post.other, pre.other, pre.same, post.same))
    conditions = prepare.conditions()
    parameters = {**description.parameters, AXONAL: Parameter(AXONAL, _AXONAL)}
    return SynapseProgram(
        name=description.name,
        summary=description.summary,
        equations=description.text,
        reference=description.reference,
        weight_unit=description.weight_unit.text if description.weight_unit is not None else "",
        parameters=program_parameters(parameters),
        prepare=prepare.program(),
        conditions=conditions,
        time_constants=(times[0], times[1], times[2], times[3]),
        presynaptic_traces_accumulate=_accumulate(description, (post.other, pre.same)),
        postsynaptic_traces_accumulate=_accumulate(description, (pre.other, post.same)),
        presynaptic=pre.program,
        postsynaptic=post.program,
    )


def _accumulate(description: SynapseDescription, names: tuple[str | None, str | None]) -> bool:
    """Return whether spikes of a side add to its traces, which must be the same for all of them."""
    traces = [description.traces[name] for name in names if name is not None]
    if len({each.accumulates for each in traces}) > 1:
        refuse(
            traces[1].equation.place,
            f"'{traces[1].equation.name}'",
            f"{traces[0].side} adds to one of its traces, and sets another one: it must do the same with both",
            "write += in both places, or =",
        )
    return not traces or traces[0].accumulates


def keeping_weights(program: SynapseProgram) -> SynapseProgram:
    """Return a model that calculates as much, and then takes 0 times the change of the weight."""

    def keeping(event: Program) -> Program:
        weight, first = 0, len(event.inputs) + len(event.instructions)
        more = (
            Instruction("constant", number=0.0),
            Instruction("subtract", (event.results[0], weight)),
            Instruction("multiply", (first, first + 1)),
            Instruction("add", (weight, first + 2)),
        )
        return replace(event, instructions=(*event.instructions, *more), results=(first + 3,))

    return replace(program, presynaptic=keeping(program.presynaptic), postsynaptic=keeping(program.postsynaptic))


# ---- events ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """The program of an event, and the names of the traces that it reads: of the other side, and of the same side."""

    program: Program
    other: str | None
    same: str | None
    keeps_weights: bool


class EventBuilder:
    """Lowers the expressions of events to one program.

    All instructions are executed at one time, in the order of the text, so that results have its rounding.

    Attributes
    ----------
    inputs
        Parameters as they are stored, by name.
    parameters
        The same as expressions have them.
    """

    def __init__(self, description: SynapseDescription) -> None:
        self.description = description
        self.builder = Builder(0)
        self.inputs = {name: self.builder.input(("parameter", name)) for name in description.parameters}
        self.parameters: dict[str, Operand] = {
            name: self.scaled(value, description.unit(name).exponent) for name, value in self.inputs.items()
        }

    def do(self, op: str, *operands: Operand) -> Operand:
        """Return the outcome of an operation."""
        return operate(self.builder, op, *operands)

    def scaled(self, value: Operand, exponent: int) -> Operand:
        """Return a value times a power of ten."""
        if exponent == 0:
            return value
        return self.do("multiply" if exponent > 0 else "divide", value, 10.0 ** abs(exponent))

    def value(self, node: Node, names: dict[str, Operand]) -> Operand:
        """Return the value of an expression, with these values of names."""
        known = dict(names)
        instructions = Instructions(self.builder, known)
        for name in self.description.needed(node):
            found = self.description.subexpressions[name].node
            assert found is not None
            known[name] = walked(found, instructions)
        return walked(node, instructions)


class _Event(EventBuilder):
    """The effect of a spike of one side on the weight, statement by statement."""

    def __init__(self, description: SynapseDescription, side: Side) -> None:
        super().__init__(description)
        self.weight = self.builder.input("weight")
        self.axonal = self.builder.input(("parameter", AXONAL))
        self.read = {name: self.builder.input(("trace", name)) for name in description.traces}
        exponent = 0 if description.weight_unit is None else description.weight_unit.exponent
        names = dict(self.parameters)
        for name, trace in description.traces.items():
            names[name] = self.do("multiply", self.read[name], self.value(trace.amount, self.parameters))
        names[WEIGHT] = self.scaled(self.weight, exponent)
        for statement in description.events[side]:
            names[statement.name] = self.assigned(statement, names)
        self.result = self.builder.take(self.scaled(names[WEIGHT], -exponent))

    def assigned(self, statement: Statement, names: dict[str, Operand]) -> Operand:
        """Return the value of a name after an assignment."""
        value = self.value(statement.node, names)
        trace = self.description.traces.get(statement.name)
        if trace is not None and not trace.accumulates:
            return value
        return self.do(statement.operation, names[statement.name], value) if statement.operation else value


def _event(description: SynapseDescription, side: Side) -> _Made:
    event = _Event(description, side)
    live = event.builder.live([event.result.place])
    found: dict[bool, list[str]] = {True: [], False: []}
    for name, trace in description.traces.items():
        if event.read[name].place in live:
            found[trace.side == side].append(name)
    for is_same_side, names in found.items():
        if len(names) > 1:
            whose = "the same side" if is_same_side else "the other side"
            place = description.used([each.node for each in description.events[side]])[names[1]].place
            refuse(
                place,
                f"'{names[1]}'",
                f"{side} reads '{names[0]}', too: an event can read one trace of {whose}",
                "write a rule with one trace of each kind",
            )
    other, same = (names[0] if names else None for names in (found[False], found[True]))
    inputs = [
        event.weight,
        event.builder.input("other") if other is None else event.read[other],
        event.builder.input("same") if same is None else event.read[same],
        *event.inputs.values(),
        event.axonal,
    ]
    program = event.builder.finished([each.place for each in inputs], [event.result])
    return _Made(program, other, same, event.result == event.weight)


# ---- before all events -----------------------------------------------------------------------------------------------


class Prepare:
    """Values that depend on parameters only: time constants, and truths that must hold.

    `more` are names of parameters beside those of the description.
    """

    def __init__(self, description: SynapseDescription, more: tuple[str, ...] = (AXONAL,)) -> None:
        self.description = description
        self.builder = Builder(0)
        self.inputs = [self.builder.input(("parameter", name)) for name in (*description.parameters, *more)]
        names: dict[str, Operand] = {}
        for name, value in zip(description.parameters, self.inputs, strict=False):
            exponent = description.unit(name).exponent
            names[name] = value
            if exponent:
                op = "multiply" if exponent > 0 else "divide"
                names[name] = operate(self.builder, op, value, 10.0 ** abs(exponent))
        self.truths: list[tuple[Operand, str]] = []
        positive = frozenset(
            name for name, each in description.parameters.items() if each.declared.lower == 0.0 and _is_open(each)
        )
        guards = Guards(
            description.nodes(),
            {},
            lambda name: name in description.parameters or name in CONSTANTS or is_unit(name),
            lambda node: walked(node, self.instructions),
        )
        self.instructions = Instructions(
            self.builder,
            names,
            None,
            self.truths,
            positive,
            lambda node: guards.used(node, lambda op, *operands: operate(self.builder, op, *operands)),
        )
        self.results: list[Value] = []

    def time_constant(self, name: str | None) -> int | None:
        """Return the result that the time constant of a trace is, ms."""
        if name is None:
            return None
        equation = self.description.traces[name].equation
        assert equation.node is not None
        node = _divisor_of_decay(equation.node, name)
        if node is not None:
            return self.result(walked(node, self.instructions))
        sums = AffineSums(self.instructions, {name: Affine({name: 1.0})})
        found = walked(equation.node, sums)
        if found.prevented_by is not None or found.constant != 0.0 or not found.coefficients:
            place = equation.node.place if found.prevented_by is None else found.prevented_by.place
            refuse(
                place,
                f"'{place.text}'",
                "between spikes, a trace decays exponentially to 0",
                f"write d{name}/dt = -{name}/tau : {equation.unit.text or 1}",
            )
        return self.result(operate(self.builder, "divide", -1.0, found.coefficients[name]))

    def result(self, value: Operand) -> int:
        """Return the number of a result that is a value."""
        self.results.append(self.builder.take(value))
        return len(self.results) - 1

    def conditions(self) -> tuple[tuple[int, str], ...]:
        """Return the truths that must hold for parameters, with the reasons of failures."""
        known = {*self.description.parameters, *CONSTANTS}
        for node in self.description.nodes():
            for part in nodes_of(node):
                checked = _CHECKED.get(part.kind, ())
                names = {name for i in checked for name in names_in(part.parts[i])}
                if not checked or any(name not in known and not is_unit(name) for name in names):
                    continue
                self.instructions.operation(
                    part,
                    [walked(each, self.instructions) if i in checked else 1.0 for i, each in enumerate(part.parts)],
                )
        made: dict[int, str] = {}
        for truth, reason in self.truths:
            if truth is False:
                raise EquationError("the equations", "", reason, "change them")
            if isinstance(truth, Value):
                made[self.result(truth)] = reason
        return tuple(made.items())

    def program(self) -> Program:
        """Return the program of all results."""
        return self.builder.finished([each.place for each in self.inputs], self.results)


def _is_open(parameter: Parameter) -> bool:
    return parameter.declared.lower_open


def _divisor_of_decay(node: Node, name: str) -> Node | None:
    """Return the time constant of an expression ``-x/tau``, as it is written."""
    if node.kind == "negate":
        inner = node.parts[0]
        is_decay = inner.kind == "divide" and inner.parts[0].kind == "name" and inner.parts[0].name == name
    else:
        inner = node
        above = node.parts[0] if node.kind == "divide" else node
        is_decay = above.kind == "negate" and above.parts[0].kind == "name" and above.parts[0].name == name
    return inner.parts[1] if is_decay and name not in names_in(inner.parts[1]) else None
