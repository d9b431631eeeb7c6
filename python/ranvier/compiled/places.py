"""Arguments of a step function in the language of LLVM: the members of core/program/step_function.hpp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ranvier.compiled.vectors import Vectors, number
from ranvier.equations.program import NeuronProgram

__all__ = ["ALIGNED", "ONES", "RARELY", "ZEROS", "Places"]

ALIGNED = 64
"""Alignment of arrays in bytes."""

ZEROS, ONES = "@zeros", "@ones"
"""A vector of zeros, and one of ones."""

RARELY = "!0"
"""Says that the first of two branches is taken rarely."""

# Members of StepArguments, by their offset in units of 8 bytes.
_LANES, _VALID, _STATE, _CONSTANTS, _PER_LANE, _INPUTS, _CURRENT, _RELEASE, _CLOCK, _DRAWS, _FIRES, _FAILURES = range(
    12
)
_MASKS = 13


class Places:
    """Addresses and numbers that are equal for all neurons of a call. A vector of neurons is given by its first one, k.

    Attributes
    ----------
    lanes
        How many there are.
    is_shared
        The truth that constants are the same for all neurons.
    state, constants, inputs
        Addresses of arrays.
    fires, failures
        Addresses of the bits to report.
    is_quiet
        The truth that no current flows, if the program takes one; else nothing.
    """

    def __init__(self, to: Vectors, program: NeuronProgram) -> None:
        self.to = to
        draws = sorted({int(each.number) for each in program.step.instructions if each.op.endswith("_draw")})
        # Whether the program has an input for the last refractory step.
        self._has_last = program.step.inputs[-2:] == ("truth", "truth")
        self._current, self._stride, self.is_quiet = "", "", ""
        if program.takes_current:
            given = self._member(_CURRENT, "ptr")
            self.is_quiet = to.make(f"icmp eq ptr {given}, null")
            self._current = to.make(f"select i1 {self.is_quiet}, ptr {ZEROS}, ptr {given}")
            self._stride = to.make(f"select i1 {self.is_quiet}, i64 0, i64 1")
        clock = to.make(f"trunc i64 {self._member(_CLOCK, 'i64')} to i32")
        self.lanes = self._member(_LANES, "i64")
        self.is_shared = to.make(f"icmp eq i64 {self._member(_PER_LANE, 'i64')}, 0")
        self.state = self._pointers(_STATE, range(len(program.variables)))
        self.constants = self._pointers(_CONSTANTS, range(program.constants))
        self._masks = self._member(_MASKS, "ptr")
        self.inputs = self._pointers(_INPUTS, range(len(program.receptors)))
        self.fires = self._member(_FIRES, "ptr")
        self.failures = self._member(_FAILURES, "ptr")
        self._release = self._member(_RELEASE, "ptr")
        self._clock = to.repeated("i32", clock)
        self._valid = self._member(_VALID, "i64")
        self._draws = dict(zip(draws, self._pointers(_DRAWS, draws), strict=True))

    def _member(self, index: int, kind: str) -> str:
        return self.to.make(f"load {kind}, ptr {self.to.element('i64', '%arguments', str(index))}, align 8")

    def _pointers(self, index: int, which: Sequence[int]) -> list[str]:
        array = self._member(index, "ptr")
        return [self.to.make(f"load ptr, ptr {self.to.element('ptr', array, str(each))}, align 8") for each in which]

    def _load(self, array: str, k: str, alignment: int) -> str:
        return self.to.make(f"load {self.to.numbers}, ptr {self.to.element('double', array, k)}, align {alignment}")

    def store(self, value: str, array: str, k: str, alignment: int = ALIGNED) -> None:
        """Write numbers to an array."""
        self.to.do(f"store {self.to.numbers} {value}, ptr {self.to.element('double', array, k)}, align {alignment}")

    def shared_constant(self, constant: int) -> str:
        """Return a constant that is the same for all."""
        value = self.to.make(f"load double, ptr {self.constants[constant]}, align 8")
        return self.to.repeated("double", value)

    def neuron_constant(self, constant: int, k: str) -> str:
        """Return a constant that may differ between neurons, in a call in which some constants differ."""
        return self.masked_constant(constant, self.mask(constant), k)

    def are_shared(self, constants: Iterable[int]) -> str:
        """Return the truth that some constants are the same for all neurons."""
        to = self.to
        any_mask = "0"
        for each in constants:
            any_mask = to.make(f"or i64 {any_mask}, {self.mask(each)}")
        return to.make(f"icmp eq i64 {any_mask}, 0")

    def masked_constant(self, constant: int, mask: str, k: str) -> str:
        """Return a constant that may differ between neurons, with its mask."""
        return self._load(self.constants[constant], self.to.make(f"and i64 {k}, {mask}"), ALIGNED)

    def differs(self, constant: int) -> str:
        """Return the truth that a constant differs between neurons."""
        return self.to.make(f"icmp ne i64 {self.mask(constant)}, 0")

    def mask(self, constant: int) -> str:
        """Return the mask of k for the place of a constant of a neuron: all bits, or none if it is equal for all."""
        return self.to.make(f"load i64, ptr {self.to.element('i64', self._masks, str(constant))}, align 8")

    def old_state(self, k: str) -> list[str]:
        """Return the variables."""
        return [self._load(each, k, ALIGNED) for each in self.state]

    def given(self, k: str, current: str = "") -> list[str]:
        """Return the inputs of a step after its constants, the last of which is a truth, or the last two.

        A current that is known already is not looked for.
        """
        to = self.to
        made = [to.add(self._load(each, k, 8), number(0.0)) for each in self.inputs]
        if current:
            made.append(current)
        elif self._current:
            made.append(self._load(self._current, to.make(f"mul i64 {k}, {self._stride}"), 8))
        address = to.element("i32", self._release, k)
        release = to.make(f"load <{to.lanes} x i32>, ptr {address}, align {4 * to.lanes}")
        made.append(to.negation(to.make(f"icmp slt <{to.lanes} x i32> {release}, {self._clock}")))
        if self._has_last:
            made.append(to.make(f"icmp eq <{to.lanes} x i32> {release}, {self._clock}"))
        return made

    def clear_inputs(self, k: str) -> None:
        """Let no weight have arrived."""
        for array in self.inputs:
            self.store(number(-0.0), array, k, 8)

    def words(self, k: str) -> Callable[[int], str]:
        """Return the source of the random bits of a draw."""
        to = self.to
        return lambda index: to.make(f"load {to.whole}, ptr {to.element('i64', self._draws[index], k)}, align 8")

    def valid(self, k: str) -> str:
        """Return which lanes are neurons."""
        to = self.to
        left = to.repeated("i64", to.make(f"sub i64 {self._valid}, {k}"))
        numbers = ", ".join(f"i64 {lane}" for lane in range(to.lanes))
        return to.make(f"icmp slt {to.whole} <{numbers}>, {left}")

    def report(self, bits: str, array: str, k: str) -> None:
        """Write the bits of a truth."""
        to = self.to
        address = to.element("i8", array, to.make(f"lshr exact i64 {k}, 3"))
        to.do(f"store i{to.lanes} {bits}, ptr {address}, align 1")
