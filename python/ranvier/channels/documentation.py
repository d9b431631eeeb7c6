"""Describes a channel of equations in words."""

from __future__ import annotations

import math

from ranvier.base.value_texts import indented, table
from ranvier.channels.description import CALCIUM, CALCIUM_REVERSAL, ChannelDescription
from ranvier.channels.general import GeneralDescription
from ranvier.channels.general_program import GeneralProgram
from ranvier.channels.program import ChannelProgram
from ranvier.equations.documentation import bounds_of
from ranvier.equations.program import ProgramParameter

__all__ = ["begin_of", "default_of", "documented_channel", "documented_general", "parameters_of"]


def documented_channel(read: ChannelDescription, program: ChannelProgram) -> str:
    """Return a channel as text."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    rows = [
        (each.name, f"{default_of(each) or 'in'} {each.unit}".strip(), bounds_of(each), each.meaning)
        for each in parameters_of(read)
    ]
    parts.append("Parameters\n" + table(rows))
    if program.gates:
        begins = begin_of(read)
        gates = [
            (gate.name, f"starts at {begins.get(gate.name, 'its steady state')}", "", gate.meaning)
            for gate in program.gates
        ]
        parts.append("Gates\n" + table(gates))
    parts.append(f"Currents (mA/cm^2): {', '.join(each.name for each in program.currents)}")
    parts += _of_calcium(read)
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)


def documented_general(read: GeneralDescription, program: GeneralProgram) -> str:
    """Return a general mechanism as text."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    rows = [
        (each.name, f"{each.default:g} {each.unit}".strip(), bounds_of(each), each.meaning)
        for each in program.parameters
    ]
    if rows:
        parts.append("Parameters\n" + table(rows))
    if read.states:
        states = [(each.name, each.unit.text, "", each.meaning) for each in read.states.values()]
        parts.append("States\n" + table(states))
    # The opposite of an electrode current, which flows out of the cell, has no name of the file.
    currents = [each.name for each in program.currents if each.name.isidentifier()]
    if currents:
        parts.append(f"Currents ({'mA/cm^2' if read.jumps is None else 'nA'}): {', '.join(currents)}")
    carried = [each.name for each in program.currents if each.carries_calcium]
    if carried:
        parts.append(f"Calcium carries {', '.join(carried)}: it fills the pool of calcium at its place")
    if read.calcium:
        parts.append(f"It is a pool of calcium: {read.calcium} is the concentration in the cell (mM)")
    parts.append("General form: its equations are executed in each step")
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)


def _of_calcium(read: ChannelDescription) -> list[str]:
    made = []
    if read.calcium_currents:
        filled = f"it fills the calcium_pool at its place, which gives {CALCIUM_REVERSAL}"
        made.append(f"Calcium carries {', '.join(read.calcium_currents)}: {filled}")
    if read.follows != "potential":
        made.append(f"Gates follow {CALCIUM}, the concentration of the calcium_pool at their place (mM)")
    return made


def default_of(parameter: ProgramParameter) -> str:
    """Return the default of a parameter as text; empty without a default."""
    return "" if math.isnan(parameter.default) else f"{parameter.default:g}"


def parameters_of(read: ChannelDescription | GeneralDescription) -> list[ProgramParameter]:
    """Return the parameters of users, which differ from those of the core."""
    return [
        ProgramParameter(
            name,
            declared.unit.text,
            declared.default,
            declared.lower,
            declared.upper,
            declared.lower_open,
            declared.upper_open,
            declared.meaning,
        )
        for name, declared in ((name, parameter.declared) for name, parameter in read.parameters.items())
    ]


def begin_of(read: ChannelDescription) -> dict[str, str]:
    """Return the initial values of gates that do not start in their steady states, as text."""
    return {name: node.place.text for name, node in read.initial.items()}
