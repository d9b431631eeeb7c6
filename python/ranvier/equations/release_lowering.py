"""Makes the programs of a synapse model whose spikes add a part of the weight."""

from __future__ import annotations

from ranvier.equations.assembly import program_parameters
from ranvier.equations.builder import Builder, Operand, Value, operate
from ranvier.equations.description import Equation
from ranvier.equations.expressions import Affine, AffineSums, Instructions
from ranvier.equations.places import refuse
from ranvier.equations.program import ReleaseProgram
from ranvier.equations.synapse_description import RELEASE, SynapseDescription
from ranvier.equations.synapse_lowering import EventBuilder, Prepare
from ranvier.equations.trees import walked

__all__ = ["lower_release"]


def lower_release(description: SynapseDescription) -> ReleaseProgram:
    """Return the programs of a model.

    Raises
    ------
    EquationError
        For a variable that has no value at rest which it returns to, or that nothing needs, pointing at it.
    """
    event = EventBuilder(description)
    before = {name: event.builder.input(("variable", name)) for name in description.variables}
    interval = event.builder.input("interval")
    names = dict(event.parameters)
    instructions = Instructions(event.builder, dict(event.parameters))
    for name, equation in description.variables.items():
        rest, rate = _relaxation(event.builder, instructions, equation)
        passed = event.do("exp", event.do("multiply", rate, interval))
        away = event.do("multiply", event.do("subtract", before[name], rest), passed)
        names[name] = event.do("add", rest, away)
    for statement in description.events["on_pre"]:
        value = event.value(statement.node, names)
        names[statement.name] = (
            event.do(statement.operation, names[statement.name], value) if statement.operation else value
        )
    after = {name: event.builder.take(names[name]) for name in description.variables}
    released = event.builder.take(names[RELEASE])
    _check_needed(description, event.builder, before, after, released)
    prepare = Prepare(description, ())
    for equation in description.variables.values():
        rest, rate = _relaxation(prepare.builder, prepare.instructions, equation)
        prepare.result(rest)
        returns = operate(prepare.builder, "less", rate, 0.0)
        prepare.truths.append((returns, f"between spikes, {equation.name} must return to its value at rest"))
    conditions = prepare.conditions()
    inputs = [*before.values(), interval, *event.inputs.values()]
    return ReleaseProgram(
        name=description.name,
        summary=description.summary,
        equations=description.text,
        reference=description.reference,
        weight_unit=description.weight_unit.text if description.weight_unit is not None else "",
        parameters=program_parameters(description.parameters),
        states=tuple(description.variables),
        prepare=prepare.program(),
        conditions=conditions,
        release=event.builder.finished([each.place for each in inputs], [*after.values(), released]),
    )


def _relaxation(builder: Builder, instructions: Instructions, equation: Equation) -> tuple[Operand, Operand]:
    """Return the value at rest of a variable, and the rate with which it returns there, 1/ms, which is negative."""
    name = equation.name
    assert equation.node is not None
    found = walked(equation.node, AffineSums(instructions, {name: Affine({name: 1.0})}))
    if found.prevented_by is not None or not found.coefficients:
        place = equation.node.place if found.prevented_by is None else found.prevented_by.place
        refuse(
            place,
            f"'{place.text}'",
            "between spikes, a variable returns to its value at rest exponentially",
            f"write d{name}/dt = (1 - {name})/tau : {equation.unit.text or 1}",
        )
    rate = found.coefficients[name]
    if found.constant == 0.0:
        return 0.0, rate
    return operate(builder, "negate", operate(builder, "divide", found.constant, rate)), rate


def _check_needed(
    description: SynapseDescription,
    builder: Builder,
    before: dict[str, Value],
    after: dict[str, Value],
    released: Value,
) -> None:
    """Refuse variables that nothing that is ever released depends on."""
    needed: set[str] = set()
    waiting = [released]
    while waiting:
        live = builder.live([waiting.pop().place])
        found = {name for name, value in before.items() if value.place in live} - needed
        needed |= found
        waiting += [after[name] for name in found]
    for name, equation in description.variables.items():
        if name not in needed:
            refuse(equation.place, f"'{name}'", "nothing that is released depends on it", "leave it out")
