"""The step function of a neuron model as a text in the language of LLVM.

What it reads and writes is described in core/program/step_function.hpp. Eight neurons at a time go through the whole
program, so that only variables and inputs touch memory.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ranvier.compiled.elementary import BINARY, UNARY, normal_draw, uniform_draw
from ranvier.compiled.vectors import INTEGERS, LANES, NUMBERS, TRUTHS, Vectors, number
from ranvier.equations.program import Instruction, NeuronProgram, Program

__all__ = ["ENTRY", "step_function"]

ENTRY = "ranvier_step"
"""Name of the function."""

_ZEROS, _ONES = "@zeros", "@ones"
# Members of StepArguments, by their offset in units of 8 bytes.
_LANES, _VALID, _STATE, _CONSTANTS, _PER_LANE, _INPUTS, _CURRENT, _RELEASE, _CLOCK, _DRAWS, _FIRES, _FAILURES = range(
    12
)
_ALIGNED = 64


@dataclass(frozen=True)
class _Places:
    """Addresses and numbers that are the same for all neurons of a call."""

    lanes: str
    valid: str
    state: list[str]
    constants: list[str]
    inputs: list[str]
    current: str
    current_stride: str
    release: str
    clock: str
    draws: dict[int, str]
    fires: str
    failures: str


def step_function(program: NeuronProgram, attributes: str, truths_are_bits: bool) -> str:
    """Return the text of a module with one function, `ENTRY`.

    Parameters
    ----------
    program
        The neurons.
    attributes
        Of the function, in the language of LLVM: which instructions there are.
    truths_are_bits
        Whether the processor keeps truths as single bits; otherwise loops keep them as numbers of 64 bits.
    """
    to = Vectors()
    step = _Step(to, program, truths_are_bits)
    step.write()
    body = "\n".join(to.lines)
    return f"""
{_ZEROS} = private unnamed_addr constant [{LANES} x double] zeroinitializer, align {_ALIGNED}
{_ONES} = private unnamed_addr constant {NUMBERS} {number(1.0)}, align {_ALIGNED}
declare {NUMBERS} @llvm.fabs.v{LANES}f64({NUMBERS})
declare {NUMBERS} @llvm.sqrt.v{LANES}f64({NUMBERS})
define i32 @{ENTRY}(ptr noalias readonly %arguments) #0 {{
{body}
}}
attributes #0 = {{ nounwind "denormal-fp-math"="preserve-sign,preserve-sign" {attributes} }}
"""


class _Step:
    """Writes the function."""

    def __init__(self, to: Vectors, program: NeuronProgram, truths_are_bits: bool) -> None:
        self.to = to
        self.program = program
        self.truths_are_bits = truths_are_bits

    def write(self) -> None:
        """Write all of it: a loop over the neurons with constants that are the same for all, and one with own ones."""
        to = self.to
        to.begin("entry")
        places = self._places()
        is_shared = to.make(f"icmp eq i64 {self._member(_PER_LANE, 'i64')}, 0")
        if any(each.body is not None for each in self.program.step.instructions):
            # Loops take so long that it does not matter where constants come from, and long to compile.
            self._loop(places, lambda k: self._either_constants(places, is_shared, k))
            return
        shared, own = to.label(), to.label()
        to.do(f"br i1 {is_shared}, label %{shared}, label %{own}")
        to.begin(shared)
        constants = [self._repeated(each) for each in places.constants]
        self._loop(places, lambda _: constants)
        to.begin(own)
        self._loop(places, lambda k: self._own_constants(places, k))

    def _own_constants(self, places: _Places, k: str) -> list[str]:
        return [self._load(NUMBERS, "double", each, k, _ALIGNED) for each in places.constants]

    def _either_constants(self, places: _Places, is_shared: str, k: str) -> list[str]:
        to = self.to
        shared, own, both = to.label(), to.label(), to.label()
        to.do(f"br i1 {is_shared}, label %{shared}, label %{own}")
        to.begin(shared)
        of_all = [self._repeated(each) for each in places.constants]
        to.do(f"br label %{both}")
        to.begin(own)
        of_each = self._own_constants(places, k)
        to.do(f"br label %{both}")
        to.begin(both)
        return [
            to.make(f"phi {NUMBERS} [ {a}, %{shared} ], [ {b}, %{own} ]") for a, b in zip(of_all, of_each, strict=True)
        ]

    def _member(self, index: int, kind: str) -> str:
        address = self.to.make(f"getelementptr i64, ptr %arguments, i64 {index}")
        return self.to.make(f"load {kind}, ptr {address}, align 8")

    def _pointers(self, index: int, which: Sequence[int]) -> list[str]:
        array = self._member(index, "ptr")
        return [
            self.to.make(f"load ptr, ptr {self.to.make(f'getelementptr ptr, ptr {array}, i64 {each}')}, align 8")
            for each in which
        ]

    def _places(self) -> _Places:
        to, program = self.to, self.program
        draws = sorted({int(each.number) for each in program.step.instructions if each.op.endswith("_draw")})
        current, stride = _ZEROS, "0"
        if program.takes_current:
            given = self._member(_CURRENT, "ptr")
            is_null = to.make(f"icmp eq ptr {given}, null")
            current = to.make(f"select i1 {is_null}, ptr {_ZEROS}, ptr {given}")
            stride = to.make(f"select i1 {is_null}, i64 0, i64 1")
        clock = to.make(f"trunc i64 {self._member(_CLOCK, 'i64')} to i32")
        first = to.make(f"insertelement <{LANES} x i32> poison, i32 {clock}, i64 0")
        return _Places(
            lanes=self._member(_LANES, "i64"),
            valid=self._member(_VALID, "i64"),
            state=self._pointers(_STATE, range(len(program.variables))),
            constants=self._pointers(_CONSTANTS, range(program.constants)),
            inputs=self._pointers(_INPUTS, range(len(program.receptors))),
            current=current,
            current_stride=stride,
            release=self._member(_RELEASE, "ptr"),
            clock=to.make(
                f"shufflevector <{LANES} x i32> {first}, <{LANES} x i32> poison, <{LANES} x i32> zeroinitializer"
            ),
            draws=dict(zip(draws, self._pointers(_DRAWS, draws), strict=True)),
            fires=self._member(_FIRES, "ptr"),
            failures=self._member(_FAILURES, "ptr"),
        )

    def _repeated(self, address: str) -> str:
        """Return a number in memory as one that is the same in all lanes."""
        value = self.to.make(f"load double, ptr {address}, align 8")
        first = self.to.make(f"insertelement {NUMBERS} poison, double {value}, i64 0")
        return self.to.make(f"shufflevector {NUMBERS} {first}, {NUMBERS} poison, <{LANES} x i32> zeroinitializer")

    def _load(self, kind: str, element: str, array: str, k: str, alignment: int) -> str:
        address = self.to.make(f"getelementptr {element}, ptr {array}, i64 {k}")
        return self.to.make(f"load {kind}, ptr {address}, align {alignment}")

    def _loop(self, places: _Places, constants: Callable[[str], list[str]]) -> None:
        to = self.to
        before, label, after = to.block, to.label(), to.label()
        to.do(f"br label %{label}")
        to.begin(label)
        k, flags, next_k, next_flags = to.name(), to.name(), to.name(), to.name()
        # The last block of an iteration is only known when the iteration has been written.
        head = len(to.lines)
        made = self._iteration(places, constants(k), k, flags)
        end = to.block
        to.lines[head:head] = [
            f"  {k} = phi i64 [ 0, {before} ], [ {next_k}, {end} ]",
            f"  {flags} = phi i32 [ 0, {before} ], [ {next_flags}, {end} ]",
        ]
        to.do(f"{next_k} = add nuw i64 {k}, {LANES}")
        to.do(f"{next_flags} = or i32 {made}, 0")
        more = to.make(f"icmp ult i64 {next_k}, {places.lanes}")
        to.do(f"br i1 {more}, label %{label}, label %{after}")
        to.begin(after)
        to.do(f"ret i32 {next_flags}")

    def _iteration(self, places: _Places, constants: list[str], k: str, flags: str) -> str:
        """Write the step of some neurons. All is read before anything is written. Returns the flags."""
        to, program = self.to, self.program
        state = [self._load(NUMBERS, "double", each, k, _ALIGNED) for each in places.state]
        weights = [to.add(self._load(NUMBERS, "double", each, k, 8), number(0.0)) for each in places.inputs]
        inputs = [*state, *constants, *weights]
        if program.takes_current:
            place = to.make(f"mul i64 {k}, {places.current_stride}")
            inputs.append(self._load(NUMBERS, "double", places.current, place, 8))
        release = self._load(f"<{LANES} x i32>", "i32", places.release, k, 4 * LANES)
        inputs.append(to.make(f"icmp sge <{LANES} x i32> {release}, {places.clock}"))
        body = _Body(to, self.truths_are_bits, self._words(places, k), lambda: self._valid(places, k))
        results = body.results(program.step, inputs)
        count = len(program.variables)
        for old, new, array in zip(state, results[:count], places.state, strict=True):
            if new != old:
                self._store(NUMBERS, "double", new, array, k, _ALIGNED)
        for array in places.inputs:
            self._store(NUMBERS, "double", number(-0.0), array, k, 8)
        flags = self._report(results[count], places.fires, k, flags, 1)
        if len(results) > count + 1:
            ended = results[count + 1]
            for each in results[count + 2 :]:
                ended = to.both(ended, each)
            flags = self._report(to.negation(ended), places.failures, k, flags, 2)
        return flags

    def _store(self, kind: str, element: str, value: str, array: str, k: str, alignment: int) -> None:
        address = self.to.make(f"getelementptr {element}, ptr {array}, i64 {k}")
        self.to.do(f"store {kind} {value}, ptr {address}, align {alignment}")

    def _words(self, places: _Places, k: str) -> Callable[[int], str]:
        return lambda index: self._load(INTEGERS, "i64", places.draws[index], k, 8)

    def _valid(self, places: _Places, k: str) -> str:
        """Return which lanes are neurons."""
        to = self.to
        left = to.make(f"sub i64 {places.valid}, {k}")
        first = to.make(f"insertelement {INTEGERS} poison, i64 {left}, i64 0")
        all_left = to.make(f"shufflevector {INTEGERS} {first}, {INTEGERS} poison, <{LANES} x i32> zeroinitializer")
        numbers = ", ".join(f"i64 {lane}" for lane in range(LANES))
        return to.make(f"icmp slt {INTEGERS} <{numbers}>, {all_left}")

    def _report(self, truth: str, array: str, k: str, flags: str, flag: int) -> str:
        """Write a truth as bits, and return the flags with one more if it holds in a lane."""
        to = self.to
        byte = to.make(f"bitcast {TRUTHS} {truth} to i{LANES}")
        place = to.make(f"lshr exact i64 {k}, 3")
        address = to.make(f"getelementptr i8, ptr {array}, i64 {place}")
        to.do(f"store i8 {byte}, ptr {address}, align 1")
        some = to.make(f"icmp ne i8 {byte}, 0")
        return to.make(f"or i32 {flags}, {to.make(f'select i1 {some}, i32 {flag}, i32 0')}")


class _Body:
    """Writes what a program does with some neurons."""

    def __init__(
        self, to: Vectors, truths_are_bits: bool, words: Callable[[int], str], valid: Callable[[], str]
    ) -> None:
        self.to = to
        self.truths_are_bits = truths_are_bits
        self.words = words
        self.valid = valid
        # Which lanes go on in the loops around.
        self.masks: list[str] = []

    def results(self, program: Program, inputs: Sequence[str]) -> list[str]:
        """Return the results of a program."""
        values = list(inputs)
        self._extend(values, program.instructions)
        return [values[each] for each in program.results]

    def _extend(self, values: list[str], instructions: Sequence[Instruction]) -> None:
        """Append what instructions make to the values that there are."""
        for instruction in instructions:
            operands = [values[each] for each in instruction.operands]
            if instruction.body is not None:
                values += self._loop(instruction, instruction.body, operands)
            else:
                values.append(self._value(instruction, operands))

    def _value(self, instruction: Instruction, operands: list[str]) -> str:
        op = instruction.op
        if op == "constant":
            return self._constant(instruction.number)
        if op == "select":
            return self.to.select(*operands)
        if op == "uniform_draw":
            return uniform_draw(self.to, self.words(int(instruction.number)))
        if op == "normal_draw":
            return normal_draw(self.to, self.words(int(instruction.number)))
        if len(operands) == 1:
            return UNARY[op](self.to, operands[0])
        if op in ("minimum", "maximum") and operands[0] == operands[1]:
            # LLVM would take the number as it is, and the processor a subnormal one as 0.
            return self.to.multiply(operands[0], self._constant(1.0))
        return BINARY[op](self.to, *operands)

    def _constant(self, value: float) -> str:
        """Return a constant.

        LLVM takes x * 1 and x + 0 for x, although a subnormal x counts as 0: it must not know that these are 1 and 0.
        """
        if abs(value) < sys.float_info.min:
            value = math.copysign(0.0, value)  # as the core takes subnormal numbers
        if abs(value) not in (0.0, 1.0):
            return number(value)
        known = self.to.make(f"load volatile {NUMBERS}, ptr {_ONES if value else _ZEROS}, align {_ALIGNED}")
        return self.to.negate(known) if math.copysign(1.0, value) < 0.0 else known

    # Between blocks, truths are numbers of 64 bits where processors have no single ones.
    def _kind(self, is_truth: bool) -> str:
        return NUMBERS if not is_truth else TRUTHS if self.truths_are_bits else INTEGERS

    def _kept(self, value: str, is_truth: bool) -> str:
        if not is_truth or self.truths_are_bits:
            return value
        return self.to.make(f"sext {TRUTHS} {value} to {INTEGERS}")

    def _again(self, kept: str, is_truth: bool) -> str:
        if not is_truth or self.truths_are_bits:
            return kept
        return self.to.make(f"icmp slt {INTEGERS} {kept}, zeroinitializer")

    def _loop(self, loop: Instruction, body: Program, operands: list[str]) -> list[str]:
        """Write a loop, in which each lane goes on for as long as it has to; it ends when none does."""
        to = self.to
        truths = [kind == "truth" for kind in body.inputs]
        first = [self._kept(value, is_truth) for value, is_truth in zip(operands, truths, strict=True)]
        begin_mask = self._kept(self.masks[-1] if self.masks else self.valid(), True)
        before, head, work, after = to.block, to.label(), to.label(), to.label()
        to.do(f"br label %{head}")
        to.begin(head)
        carried = [to.name() for _ in range(loop.count)]
        mask, turn, next_turn = to.name(), to.name(), to.name()
        place = len(to.lines)

        mask_here = self._again(mask, True)
        inside = [*carried, *first[loop.count :]]
        values = [self._again(value, is_truth) for value, is_truth in zip(inside, truths, strict=True)]
        old = values[: loop.count]
        # Whether lanes go on is known long before what they would go on with.
        known = _place_of(body, body.results[0])
        self.masks.append(mask_here)
        self._extend(values, body.instructions[:known])
        going = to.both(values[body.results[0]], mask_here)
        kept_mask = self._kept(going, True)
        some = to.make(f"icmp ne i{LANES} {to.make(f'bitcast {TRUTHS} {going} to i{LANES}')}, 0")
        check = to.block
        to.do(f"br i1 {some}, label %{work}, label %{after}")
        to.begin(work)
        self._extend(values, body.instructions[known:])
        self.masks.pop()
        next_kept = [
            self._kept(self._chosen(going, values[each], own, is_truth), is_truth)
            for each, own, is_truth in zip(body.results[1:], old, truths, strict=False)
        ]
        to.do(f"{next_turn} = add i32 {turn}, 1")
        again = to.make(f"icmp ult i32 {next_turn}, {int(loop.number)}")
        end = to.block
        to.do(f"br i1 {again}, label %{head}, label %{after}")
        kinds = [self._kind(is_truth) for is_truth in truths[: loop.count]]
        phis = [
            f"  {name} = phi {kind} [ {begin}, {before} ], [ {new}, {end} ]"
            for name, kind, begin, new in zip(
                [*carried, mask],
                [*kinds, self._kind(True)],
                [*first[: loop.count], begin_mask],
                [*next_kept, kept_mask],
                strict=True,
            )
        ]
        to.lines[place:place] = [*phis, f"  {turn} = phi i32 [ 0, {before} ], [ {next_turn}, {end} ]"]
        to.begin(after)
        last = [
            to.make(f"phi {kind} [ {own}, {check} ], [ {new}, {end} ]")
            for kind, own, new in zip(kinds, carried, next_kept, strict=True)
        ]
        ends = [self._again(value, is_truth) for value, is_truth in zip(last, truths, strict=False)]
        return [*ends, to.negation(self._again(kept_mask, True))]

    def _chosen(self, truth: str, new: str, old: str, is_truth: bool) -> str:
        if not is_truth:
            return self.to.select(truth, new, old)
        return self.to.make(f"select {TRUTHS} {truth}, {TRUTHS} {new}, {TRUTHS} {old}")


def _place_of(program: Program, value: int) -> int:
    """Return how many instructions it takes until a value is known."""
    known = len(program.inputs)
    for count, instruction in enumerate(program.instructions):
        if value < known:
            return count
        known += 1 if instruction.body is None else instruction.count + 1
    return len(program.instructions)
