"""Makes the programs of a general mechanism from its description."""

from __future__ import annotations

import math

from ranvier.channels.derivatives import derivative
from ranvier.channels.description import CURRENT
from ranvier.channels.general import GeneralCurrent, GeneralDescription
from ranvier.channels.general_program import GeneralProgram
from ranvier.channels.general_scope import Assign, ProgramScope
from ranvier.equations.builder import Operand
from ranvier.equations.program import Program, ProgramParameter
from ranvier.equations.trees import Node

__all__ = ["lower_general"]

_SLOPE = "slope of {}"
_OUTSIDE = "cao"


def lower_general(read: GeneralDescription) -> GeneralProgram:
    """Return the programs of a general mechanism.

    Raises
    ------
    EquationError
        For an expression that is not finite, pointing at it.
    """
    parameters = [_as_parameter(read, name) for name in read.parameters]
    return GeneralProgram(
        name=read.name,
        summary=read.summary,
        equations=read.text,
        reference=read.reference,
        parameters=tuple(parameters),
        states=tuple(read.states.values()),
        currents=_recorded(read),
        calcium=list(read.states).index(read.calcium) if read.calcium else -1,
        outside=list(read.parameters).index(read.outside) if read.outside else -1,
        initial=_of_initial(read),
        step=_of_step(read),
        current=_of_currents(read),
        jumps=_of_jumps(read),
    )


def _as_parameter(read: GeneralDescription, name: str) -> ProgramParameter:
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


def _scope(read: GeneralDescription) -> ProgramScope:
    scope = ProgramScope(read.states, read.parameters, read.exponents)
    if read.calcium:
        scope.operands["cai"] = scope.operands[read.calcium]
    if read.outside:
        scope.operands["cao"] = scope.operands[read.outside]
    return scope


def _of_step(read: GeneralDescription) -> Program:
    scope = _scope(read)
    scope.emit(read.step)
    return scope.finished((scope.operands[name], read.exponents.get(name, 0)) for name in read.states)


def _of_initial(read: GeneralDescription) -> Program:
    """Return the program of initial states: NaN, which the core refuses, if a loop has not converged."""
    scope = _scope(read)
    scope.operands.update(dict.fromkeys(read.states, 0.0))
    scope.emit(read.initial)
    values = [scope.operands[name] for name in read.states]
    for has_ended in scope.ended:
        values = [scope.do("select", has_ended, each, math.nan) for each in values]
    scope.ended.clear()
    return scope.finished((each, read.exponents.get(name, 0)) for name, each in zip(read.states, values, strict=True))


def _of_currents(read: GeneralDescription) -> Program:
    """Return the program of currents and of their derivatives with respect to the potential."""
    scope = _scope(read)
    for each in read.current:
        _add_with_slope(scope, each)
    results: list[tuple[Operand, int]] = []
    flowing = [each.name for each in read.currents if each.flows]
    for current in _recorded(read):
        summed = [current.name] if current in read.currents else flowing
        for names in (summed, [_SLOPE.format(name) for name in summed]):
            value: Operand = 0.0
            for name in names:
                value = scope.do("add", value, scope.operands.get(name, 0.0))
            results.append((value, read.exponent_of_density))
    return scope.finished(results)


def _recorded(read: GeneralDescription) -> tuple[GeneralCurrent, ...]:
    """Return the currents, preceded by their sum unless one of them has its name."""
    has_sum = not read.currents or any(each.name == CURRENT for each in read.currents)
    return read.currents if has_sum else (GeneralCurrent(CURRENT, flows=False), *read.currents)


def _of_jumps(read: GeneralDescription) -> Program | None:
    if read.jumps is None:
        return None
    scope = _scope(read)
    made = {name: scope.value(node) for name, node in read.jumps.items()}
    return scope.finished((made.get(name, 0.0), 0) for name in read.states)


def _add_with_slope(scope: ProgramScope, statement: Assign) -> None:
    """Set a name, and another name for its derivative with respect to the potential."""
    place = statement.node.place
    slopes = {
        name: Node("name", place, name=_SLOPE.format(name))
        for name in scope.operands
        if _SLOPE.format(name) in scope.operands
    }
    slopes["v"] = slopes.get("v", Node("number", place, number=1.0))
    slope = derivative(statement.node, slopes)
    value = scope.value(statement.node)
    scope.operands[_SLOPE.format(statement.name)] = 0.0 if slope is None else scope.value(slope)
    scope.operands[statement.name] = value
