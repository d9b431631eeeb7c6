"""Describes a channel of equations in words."""

from __future__ import annotations

from ranvier.channels.description import ChannelDescription
from ranvier.channels.program import ChannelProgram
from ranvier.equations.documentation import bounds_of, indented, table
from ranvier.equations.program import ProgramParameter

__all__ = ["begin_of", "documented_channel", "parameters_of"]


def documented_channel(read: ChannelDescription, program: ChannelProgram) -> str:
    """Return a channel as text."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    rows = [
        (each.name, f"{each.default:g} {each.unit}".strip(), bounds_of(each), each.meaning)
        for each in parameters_of(read)
    ]
    parts.append("Parameters\n" + table(rows))
    if program.gates:
        begins = begin_of(read)
        gates = [
            (gate.name, f"begins at {begins.get(gate.name, 'its steady state')}", "", gate.meaning)
            for gate in program.gates
        ]
        parts.append("Gates\n" + table(gates))
    parts.append(f"Currents (mA/cm^2): {', '.join(each.name for each in program.currents)}")
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)


def parameters_of(read: ChannelDescription) -> list[ProgramParameter]:
    """Return the parameters as users give them, which are not those of the core."""
    return [
        ProgramParameter(
            name, own.unit.text, own.default, own.lower, own.upper, own.lower_open, own.upper_open, own.meaning
        )
        for name, own in ((name, parameter.declared) for name, parameter in read.parameters.items())
    ]


def begin_of(read: ChannelDescription) -> dict[str, str]:
    """Return what gates begin at that do not begin at their steady states, as it was written."""
    return {name: node.place.text for name, node in read.initial.items()}
