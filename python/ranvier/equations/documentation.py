"""Describes models of equations as text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ranvier.base.value_texts import indented, table
from ranvier.equations.program import NeuronProgram, ProgramParameter, ReleaseProgram, SynapseProgram

__all__ = ["METHOD_WORDS", "bounds_of", "documented", "documented_synapse"]

METHOD_WORDS = {
    "exact": "solved exactly",
    "exponential_euler": "exponential Euler method",
    "euler": "Euler method (Euler-Maruyama with noise)",
    "rk4": "Runge-Kutta method of fourth order",
    "adaptive": "adaptive method of Taylor, or of Cash and Karp where functions have no simple series",
}


def documented(program: NeuronProgram, method: str, held: Iterable[str] | None = None) -> str:
    """Return a model as text; `held` are the variables that are held while a neuron is refractory."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    parts.append(_parameters(program.parameters))
    rows = [
        (v.name, v.initial_parameter or f"{v.initial_value:g} {v.unit}".strip(), f"in {v.unit or '1'}", v.meaning)
        for v in program.variables
    ]
    parts.append("Variables, with initial values\n" + table(rows))
    if held is not None and program.refractory >= 0:
        parts.append(_while_refractory([v.name for v in program.variables], set(held)))
    if program.derived:
        parts.append(
            "Recorded only\n" + table([(d.name, f"in {d.unit or '1'}", "", d.meaning) for d in program.derived])
        )
    if program.receptors:
        sign = "; the sign of a weight chooses between the first two" if program.sign_chooses_receptor else ""
        parts.append(f"Receptors: {', '.join(program.receptors)}; weights in {program.weight_unit or '1'}{sign}")
    parts.append(f"Method: {METHOD_WORDS[method]}")
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)


def _while_refractory(variables: Iterable[str], held: set[str]) -> str:
    still = [name for name in variables if name in held]
    going = [name for name in variables if name not in held]
    if not still:
        return "While refractory: nothing is held"
    others = f"; {', '.join(going)} go{'es' if len(going) == 1 else ''} on" if going else ""
    return f"While refractory: {', '.join(still)} {'is' if len(still) == 1 else 'are'} held{others}"


def documented_synapse(program: SynapseProgram | ReleaseProgram) -> str:
    """Return a synapse model as text."""
    parts = [f"{program.name}: {program.summary}", indented(program.equations.split("\n"))]
    parts.append(_parameters(program.parameters))
    if program.weight_unit:
        parts.append(f"Weights in {program.weight_unit}")
    if program.reference:
        parts.append(program.reference)
    return "\n\n".join(parts)


def _parameters(parameters: Iterable[ProgramParameter]) -> str:
    rows = [(each.name, f"{each.default:g} {each.unit}".strip(), bounds_of(each), each.meaning) for each in parameters]
    return "Parameters\n" + table(rows)


def bounds_of(parameter: ProgramParameter) -> str:
    """Return the bounds of a parameter in words; empty without bounds."""
    lower = f"{'>' if parameter.lower_open else '>='} {parameter.lower:g}" if math.isfinite(parameter.lower) else ""
    upper = f"{'<' if parameter.upper_open else '<='} {parameter.upper:g}" if math.isfinite(parameter.upper) else ""
    return " and ".join(each for each in (lower, upper) if each)
