"""Lowered equations of a channel: programs of its gates, and currents with conductances and powers of gates."""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.equations.program import Program, ProgramParameter

__all__ = ["ChannelProgram", "CurrentProgram", "GateProgram", "TermProgram"]


@dataclass(frozen=True, slots=True)
class GateProgram:
    """A gate.

    Attributes
    ----------
    rates
        Inputs: the variable of the gates of the channel, the temperature (degrees Celsius), the parameters of the
        channel. Results: the value that the gate tends to, and its time constant (ms).
    initial
        From the same inputs to its initial value; None: its steady state.
    """

    name: str
    meaning: str
    rates: Program
    initial: Program | None


@dataclass(frozen=True, slots=True)
class TermProgram:
    """A part g (V - E) of the current: numbers of parameters, and pairs of a gate and its power that multiply g.

    Calcium that carries it fills the pool at its place, which gives E then.
    """

    conductance: int
    reversal: int
    gates: tuple[tuple[int, int], ...]
    carries_calcium: bool = False


@dataclass(frozen=True, slots=True)
class CurrentProgram:
    """A current that can be recorded: the sum of some parts."""

    name: str
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChannelProgram:
    """A channel as the core takes it.

    Attributes
    ----------
    parameters
        Those on which rates depend, then a conductance (S/cm^2) and a reversal potential (mV) for each part.
    follows
        Variable of the gates: "potential" (mV), "calcium", the logarithm of its concentration in mM, or "both", two
        inputs.
    derive
        Inputs: the parameters of users, then the temperature (degrees Celsius). Results: the parameters of the core.
    """

    name: str
    summary: str
    equations: str
    reference: str
    parameters: tuple[ProgramParameter, ...]
    gates: tuple[GateProgram, ...]
    terms: tuple[TermProgram, ...]
    currents: tuple[CurrentProgram, ...]
    derive: Program
    follows: str = "potential"
