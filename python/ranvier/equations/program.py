"""Programs: the form of equations that the core executes.

A program is in single-assignment form: its inputs are the values 0 to n - 1, each instruction makes the next value,
and nothing is ever assigned again. It is executed for many *lanes* at once, independent neurons. Values are numbers
in double precision, or truths. Nothing is contracted or reordered, so that every implementation, the interpreter of
the core or compiled code, has the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "OPERATIONS",
    "Instruction",
    "NeuronProgram",
    "Program",
    "ProgramDerived",
    "ProgramParameter",
    "ProgramVariable",
    "Propagator",
    "ReleaseProgram",
    "SynapseProgram",
]

# Operation -> the types of its operands and of its value. `loop` has the types of its body.
OPERATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "constant": ((), "number"),
    **dict.fromkeys(
        ("add", "subtract", "multiply", "divide", "minimum", "maximum", "pow"), (("number",) * 2, "number")
    ),
    **dict.fromkeys(("negate", "absolute", "square_root", "floor"), (("number",), "number")),
    **dict.fromkeys(
        ("exp", "expm1", "expm1_over", "over_expm1", "log", "log1p", "sine_of_cycles"), (("number",), "number")
    ),
    **dict.fromkeys(("less", "less_equal", "equal"), (("number",) * 2, "truth")),
    **dict.fromkeys(("both", "either"), (("truth",) * 2, "truth")),
    "not": (("truth",), "truth"),
    "select": (("truth", "number", "number"), "number"),
    **dict.fromkeys(("uniform_draw", "normal_draw"), ((), "number")),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a program.

    Attributes
    ----------
    op
        One of `OPERATIONS`, or ``"loop"``.
    operands
        Numbers of earlier values. For a loop: the initial values of those that it carries, then those that it
        captures.
    number
        The value of ``constant``, the index of a draw, the largest number of iterations of ``loop``.
    body
        For ``loop``: a program whose inputs are carried and captured values, and whose results are the truth that the
        loop continues, then the next carried values.
    count
        For ``loop``: the number of values that it carries. It makes these, and the truth that it has ended in time.
    """

    op: str
    operands: tuple[int, ...] = ()
    number: float = 0.0
    body: Program | None = None
    count: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions, the types of their inputs (``"number"`` or ``"truth"``), and the values that are the outcome."""

    inputs: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]

    def types(self) -> tuple[str, ...]:
        """Return the type of each value."""
        made = list(self.inputs)
        for instruction in self.instructions:
            if instruction.body is None:
                made.append(OPERATIONS[instruction.op][1])
            else:
                made += [*instruction.body.inputs[: instruction.count], "truth"]
        return tuple(made)

    def all_instructions(self) -> Iterator[Instruction]:
        """Yield its instructions, including those of bodies of loops."""
        for instruction in self.instructions:
            yield instruction
            if instruction.body is not None:
                yield from instruction.body.all_instructions()


@dataclass(frozen=True, slots=True)
class ProgramParameter:
    """A parameter of a model; a bound that is open does not belong to the interval."""

    name: str
    unit: str
    default: float
    lower: float
    upper: float
    lower_open: bool
    upper_open: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class ProgramVariable:
    """A state variable: it can be recorded, read and set.

    `initial_parameter` gives its initial value unless it is empty; else `initial_value` does.
    """

    name: str
    unit: str
    meaning: str
    initial_parameter: str = ""
    initial_value: float = 0.0


@dataclass(frozen=True, slots=True)
class ProgramDerived:
    """A read-only variable that can be recorded: a result of `NeuronProgram.observe`."""

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Propagator:
    """Elements of e^(A h), which the core calculates when it prepares constants.

    Attributes
    ----------
    n
        Rows of A.
    entries
        n * n indices of results of `prepare`, row by row, which are the elements of A (1/ms); -1: the element is 0.
    outputs
        Which elements become constants: row, column, number of the constant.
    """

    n: int
    entries: tuple[int, ...]
    outputs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class NeuronProgram:
    """A neuron model as programs. Units are ms, mV, pA, nS and pF, which are consistent.

    Attributes
    ----------
    receptors, sign_chooses_receptor, weight_unit, takes_current
        As in the description of a model that comes with Ranvier.
    prepare
        Inputs: the parameters, then the length of a step (ms). Results: constants of a step, which are numbers, then
        further numbers and truths.
    conditions
        Truths among the results of `prepare` that must hold, each by its index, with the text of the error if it does
        not.
    propagators
        Further constants.
    constants
        How many a step has: the first results of `prepare`, then the outputs of propagators.
    refractory
        Index of the result of `prepare` that is the refractory period (ms), or -1: none.
    step
        Inputs: variables, constants, of each receptor the sum of the weights that arrive in this step, the injected
        current (pA) if the model takes any, the truth that the neuron is refractory in this step, and, if the program
        wants it, the truth that it is so for the last step. Results: the variables after the step, the truth that the
        neuron fires, then truths that must hold: that loops have ended, that no infinity or NaN is hidden.
    observe
        Inputs: variables, constants. Results: `derived`.
    failure
        The reason of the failure if one of the last truths of `step` does not hold.
    """

    name: str
    summary: str
    equations: str
    reference: str
    parameters: tuple[ProgramParameter, ...]
    variables: tuple[ProgramVariable, ...]
    derived: tuple[ProgramDerived, ...]
    receptors: tuple[str, ...]
    sign_chooses_receptor: bool
    weight_unit: str
    takes_current: bool
    prepare: Program
    conditions: tuple[tuple[int, str], ...]
    propagators: tuple[Propagator, ...]
    constants: int
    refractory: int
    step: Program
    observe: Program
    failure: str = ""


@dataclass(frozen=True, slots=True)
class SynapseProgram:
    """A synapse model as programs, in the same units.

    Attributes
    ----------
    weight_unit
        Empty: the weight has any.
    parameters
        The last one is the axonal part of the delay.
    prepare
        Inputs: the parameters. Results: time constants (ms), then truths.
    conditions
        Truths among the results of `prepare` that must hold, each by its index, with the text of the error.
    time_constants
        Of the trace of presynaptic spikes that postsynaptic spikes read, of the trace of postsynaptic spikes that
        presynaptic spikes read, and of the traces that spikes of the same side read: indices of results of `prepare`;
        None without a trace.
    presynaptic_traces_accumulate, postsynaptic_traces_accumulate
        Whether a spike adds 1 to the traces of its side, or sets them to 1.
    presynaptic, postsynaptic
        Effect of a spike of this side. Inputs: the weight, the trace of the other side, that of the same side before
        this spike, the parameters. Result: the weight.
    """

    name: str
    summary: str
    equations: str
    reference: str
    weight_unit: str
    parameters: tuple[ProgramParameter, ...]
    prepare: Program
    conditions: tuple[tuple[int, str], ...]
    time_constants: tuple[int | None, int | None, int | None, int | None]
    presynaptic_traces_accumulate: bool
    postsynaptic_traces_accumulate: bool
    presynaptic: Program
    postsynaptic: Program


@dataclass(frozen=True, slots=True)
class ReleaseProgram:
    """A synapse model whose spikes add a part of the weight, as programs, in the same units.

    Attributes
    ----------
    weight_unit
        Empty: the weight has any.
    states
        Names of the variables, which all synapses of a source share.
    prepare
        Inputs: the parameters. Results: the variables that the first spike finds, then truths.
    conditions
        Truths among the results of `prepare` that must hold, each by its index, with the text of the error.
    release
        Effect of a spike. Inputs: the variables after the last spike, the time since then (ms; 0 for the first spike),
        the parameters. Results: the variables after this spike, then the part of the weight that it adds.
    """

    name: str
    summary: str
    equations: str
    reference: str
    weight_unit: str
    parameters: tuple[ProgramParameter, ...]
    states: tuple[str, ...]
    prepare: Program
    conditions: tuple[tuple[int, str], ...]
    release: Program
