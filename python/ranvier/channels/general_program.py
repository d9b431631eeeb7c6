"""The programs of a general mechanism, which the core runs for all of its places."""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.channels.general import GeneralCurrent, GeneralState
from ranvier.equations.program import Program, ProgramParameter

__all__ = ["GeneralProgram"]


@dataclass(frozen=True, slots=True)
class GeneralProgram:
    """A general mechanism as the core takes it.

    Inputs of all programs are the states, then the values that `EXTERNAL` names, in its order, then the parameters.

    Attributes
    ----------
    calcium, outside
        Indices of the state for the concentration of calcium in the cell and of the parameter outside; -1: none.
    initial
        Results: the states.
    step
        Results: the states, then for each loop whether it has converged.
    jumps
        For a point process, whose currents are in nA and uS. Results: the change of each state by a weight of 1 nS,
        which depends on parameters, the temperature and the geometry alone. None for a mechanism of the membrane.
    current
        Results: for each current its density (mA/cm^2), then its derivative with respect to the potential (S/cm^2).
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
