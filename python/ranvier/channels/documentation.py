"""Describes a channel of equations in words."""

from __future__ import annotations

from ranvier.channels.description import ChannelDescription
from ranvier.channels.program import ChannelProgram
from ranvier.equations.documentation import bounds_of, indented, table
from ranvier.equations.program import ProgramParameter

__all__ = ["documented_channel"]


def documented_channel(read: ChannelDescription, program: ChannelProgram) -> str:
    """Return a channel as text."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    rows = []
    for name, parameter in read.parameters.items():
        own = parameter.declared
        bounds = ProgramParameter(
            name, own.unit.text, own.default, own.lower, own.upper, own.lower_open, own.upper_open, own.meaning
        )
        rows.append((name, f"{own.default:g} {own.unit.text}".strip(), bounds_of(bounds), own.meaning))
    parts.append("Parameters\n" + table(rows))
    if program.gates:
        begins = {name: node.place.text for name, node in read.initial.items()}
        gates = [
            (gate.name, f"begins at {begins.get(gate.name, 'its steady state')}", "", gate.meaning)
            for gate in program.gates
        ]
        parts.append("Gates\n" + table(gates))
    parts.append(f"Currents (mA/cm^2): {', '.join(each.name for each in program.currents)}")
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)
