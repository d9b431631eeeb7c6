"""Neurons whose programs are written by hand: the equations of iaf_psc_exp, and neurons that draw."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from ranvier import _core
from ranvier.base.user_model import UserModel
from ranvier.equations.program import Instruction, Program


@dataclass(frozen=True)
class Parameter:
    """A parameter, positive or any number."""

    name: str
    unit: str
    default: float
    lower: float = -math.inf
    upper: float = math.inf
    lower_open: bool = False
    upper_open: bool = False
    meaning: str = "A parameter"


@dataclass(frozen=True)
class Variable:
    """A state variable."""

    name: str
    unit: str
    meaning: str = "A variable"
    initial_parameter: str = ""
    initial_value: float = 0.0


@dataclass(frozen=True)
class Propagator:
    """Entries of an exponential of a matrix."""

    n: int
    entries: tuple[int, ...]
    outputs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Description:
    """The attributes of a NeuronProgram."""

    name: str
    prepare: Program
    step: Program
    observe: Program
    parameters: tuple[Parameter, ...] = ()
    variables: tuple[Variable, ...] = ()
    derived: tuple[Variable, ...] = ()
    receptors: tuple[str, ...] = ()
    sign_chooses_receptor: bool = False
    weight_unit: str = "pA"
    takes_current: bool = True
    conditions: tuple[tuple[int, str], ...] = ()
    propagators: tuple[Propagator, ...] = ()
    constants: int = 0
    refractory: int = -1
    summary: str = "Neurons of a test"
    equations: str = ""
    reference: str = ""
    failure: str = ""


class Writer:
    """Writes a program; values are their numbers."""

    def __init__(self, inputs: tuple[str, ...]) -> None:
        self.inputs = inputs
        self.instructions: list[Instruction] = []

    def __call__(self, op: str, *operands: int, number: float = 0.0) -> int:
        self.instructions.append(Instruction(op, operands, number))
        return len(self.inputs) + len(self.instructions) - 1

    def finish(self, *results: int) -> Program:
        """Return the program."""
        return Program(self.inputs, tuple(self.instructions), results)


@dataclass(frozen=True)
class _Positive(Parameter):
    lower: float = 0.0
    lower_open: bool = field(default=True)


def iaf_psc_exp() -> Description:
    """Return the equations of the built-in model of this name."""
    do = Writer(("number",) * 10)
    one = do("constant", number=1.0)
    leak, per_capacitance = do("negate", do("divide", one, 2)), do("divide", one, 1)
    leak_ex, leak_in = do("negate", do("divide", one, 7)), do("negate", do("divide", one, 8))
    fits = do("less", 5, 4)
    prepare = do.finish(0, 6, 4, 5, 3, leak, per_capacitance, leak_ex, leak_in, fits)
    do = Writer(("number",) * 16 + ("truth",))
    v, ex, inh, rest, drive, threshold, reset, decay, gain_ex, gain_in, gain, decay_ex, decay_in = range(13)
    left = do("add", do("multiply", decay, do("subtract", v, rest)), do("multiply", gain_ex, ex))
    left = do("add", left, do("multiply", gain_in, inh))
    moved = do("add", rest, do("add", left, do("multiply", gain, do("add", drive, 15))))
    potential = do("select", 16, v, moved)
    next_ex = do("add", do("multiply", decay_ex, ex), 13)
    next_in = do("add", do("multiply", decay_in, inh), 14)
    fires = do("both", do("less_equal", threshold, potential), do("not", 16))
    step = do.finish(do("select", fires, reset, potential), next_ex, next_in, fires)
    do = Writer(("number",) * 13)
    observe = do.finish(do("add", 1, 2))
    return Description(
        name="described",
        parameters=(
            Parameter("E_L", "mV", -70.0),
            _Positive("C_m", "pF", 250.0),
            _Positive("tau_m", "ms", 10.0),
            Parameter("t_ref", "ms", 2.0, lower=0.0),
            Parameter("V_th", "mV", -55.0),
            Parameter("V_reset", "mV", -70.0),
            Parameter("I_e", "pA", 0.0),
            _Positive("tau_syn_ex", "ms", 2.0),
            _Positive("tau_syn_in", "ms", 2.0),
        ),
        variables=(
            Variable("V_m", "mV", initial_parameter="E_L"),
            Variable("I_syn_ex", "pA"),
            Variable("I_syn_in", "pA"),
        ),
        derived=(Variable("I_syn", "pA"),),
        receptors=("excitatory", "inhibitory"),
        sign_chooses_receptor=True,
        prepare=prepare,
        conditions=((9, "V_reset must be below V_th"),),
        propagators=(
            Propagator(
                4,
                (5, 6, 6, 6, -1, 7, -1, -1, -1, -1, 8, -1, -1, -1, -1, -1),
                ((0, 0, 4), (0, 1, 5), (0, 2, 6), (0, 3, 7), (1, 1, 8), (2, 2, 9)),
            ),
        ),
        constants=10,
        refractory=4,
        step=step,
        observe=observe,
    )


class Described(UserModel):
    """A model made of a description."""

    description: Description

    def __init__(self, description: Description) -> None:
        self._put(name=description.name, description=description, core_model=_core.ProgramModel(description))

    def __reduce__(self) -> tuple[object, ...]:
        return Described, (self.description,)

    def _how_to_change(self, name: str) -> str:
        return "make another model"


def changed(**values: Any) -> Description:
    """Return the description with other attributes."""
    return replace(iaf_psc_exp(), **values)
