"""What a general mechanism becomes: programs that the core carries out for all of its places."""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.channels.general import GeneralCurrent, GeneralState
from ranvier.equations.program import Program, ProgramParameter

__all__ = ["GeneralProgram"]


@dataclass(frozen=True, slots=True)
class GeneralProgram:
    """A general mechanism as the core takes it.

    Inputs of all programs are the states, then what `EXTERNAL` names, in its order, then the parameters.

    Attributes
    ----------
    calcium, outside
        The state that is the concentration of calcium in the cell, and the parameter that is the one outside; -1: none.
    initial
        Results: the states.
    step
        Results: the states, then of each loop the truth that it has ended in time.
    jumps
        Of a point process, whose currents are in nA and uS. Results: what a weight of 1 nS adds to each state, which
        depends on parameters, the temperature and the geometry alone. None: it is spread over membrane.
    current
        Results: of each current its density (mA/cm^2), then the derivative of this by the potential (S/cm^2).
    """

    name: str
    summary: str
    equations: str
    reference: str
    parameters: tuple[ProgramParameter, ...]
    states: tuple[GeneralState, ...]
    currents: tuple[GeneralCurrent, ...]
    calcium: int
    outside: int
    initial: Program
    step: Program
    current: Program
    jumps: Program | None = None
