"""The instructions of programs for some neurons at a time, in the language of LLVM."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable

from ranvier.compiled.elementary import BINARY, UNARY, normal_draw, uniform_draw
from ranvier.compiled.places import ALIGNED, ONES, RARELY, ZEROS
from ranvier.compiled.vectors import Vectors, number
from ranvier.equations.program import Instruction, Program

__all__ = ["Body", "first_values", "needed"]


def first_values(program: Program) -> list[int]:
    """Return of each instruction the number of the first value that it makes, then the number of all values."""
    made = [len(program.inputs)]
    for instruction in program.instructions:
        made.append(made[-1] + (1 if instruction.body is None else instruction.count + 1))
    return made


def needed(program: Program, values: Iterable[int]) -> set[int]:
    """Return which instructions values need, by their place in the program."""
    wanted = set(values)
    firsts = first_values(program)
    places = set()
    for place in reversed(range(len(program.instructions))):
        if not wanted.isdisjoint(range(firsts[place], firsts[place + 1])):
            places.add(place)
            wanted.update(program.instructions[place].operands)
    return places


class Body:
    """Writes the instructions of programs for some neurons.

    Parameters
    ----------
    to
        Text to which instructions are added.
    truths_are_bits
        Whether the processor keeps truths as single bits; otherwise loops keep them as numbers of 64 bits.
    words
        Gives the random bits of a draw.
    valid
        Gives which lanes loops must serve.
    """

    def __init__(
        self, to: Vectors, truths_are_bits: bool, words: Callable[[int], str], valid: Callable[[], str]
    ) -> None:
        self.to = to
        self.truths_are_bits = truths_are_bits
        self.words = words
        self.valid = valid
        # Lanes that continue in the enclosing loops.
        self.masks: list[str] = []

    def write(self, program: Program, values: list[str], places: Collection[int]) -> None:
        """Write the instructions at some places of a program, and add their results to its values."""
        firsts = first_values(program)
        values += [""] * (firsts[-1] - len(values))
        for place in sorted(places):
            instruction = program.instructions[place]
            operands = [values[each] for each in instruction.operands]
            if instruction.body is not None:
                values[firsts[place] : firsts[place + 1]] = self._loop(instruction, instruction.body, operands)
            else:
                values[firsts[place]] = self._value(instruction, operands)

    def _value(self, instruction: Instruction, operands: list[str]) -> str:
        op = instruction.op
        if op == "constant":
            return self.constant(instruction.number)
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
            return self.to.multiply(operands[0], self.constant(1.0))
        return BINARY[op](self.to, *operands)

    def constant(self, value: float) -> str:
        """Return a constant.

        LLVM replaces x * 1 and x + 0 by x, although a subnormal x counts as 0: it must not know that these are 1 and 0.
        """
        if abs(value) < sys.float_info.min:
            value = math.copysign(0.0, value)  # as the core takes subnormal numbers
        if abs(value) not in (0.0, 1.0):
            return number(value)
        known = self.to.make(f"load volatile {self.to.numbers}, ptr {ONES if value else ZEROS}, align {ALIGNED}")
        return self.to.negate(known) if math.copysign(1.0, value) < 0.0 else known

    def chosen(self, truth: str, new: str, old: str, is_truth: bool) -> str:
        """Return numbers or truths: the new ones for lanes in which a truth holds, else the old ones."""
        if not is_truth:
            return self.to.select(truth, new, old)
        truths = self.to.truths
        return self.to.make(f"select {truths} {truth}, {truths} {new}, {truths} {old}")

    # Between blocks, truths are numbers of 64 bits on processors without single bits.
    def _kind(self, is_truth: bool) -> str:
        return self.to.numbers if not is_truth else self.to.truths if self.truths_are_bits else self.to.whole

    def _kept(self, value: str, is_truth: bool) -> str:
        return value if not is_truth or self.truths_are_bits else self.to.widened(value)

    def _again(self, kept: str, is_truth: bool) -> str:
        return kept if not is_truth or self.truths_are_bits else self.to.narrowed(kept)

    def _once(self, loop: Instruction, body: Program, operands: list[str]) -> list[str]:
        """Write a loop of at most one turn: a branch, which few neurons take."""
        to = self.to
        truths = [kind == "truth" for kind in body.inputs]
        values, old = list(operands), operands[: loop.count]
        check_first = needed(body, body.results[:1])
        mask = self.masks[-1] if self.masks else self.valid()
        self.masks.append(mask)
        self.write(body, values, check_first)
        going = to.both(values[body.results[0]], mask)
        kept_mask = self._kept(going, True)
        kept = [self._kept(value, is_truth) for value, is_truth in zip(old, truths, strict=False)]
        some = to.some(going)
        before, work, after = to.block, to.label(), to.label()
        to.do(f"br i1 {some}, label %{work}, label %{after}, !prof {RARELY}")
        to.begin(work)
        self.write(body, values, needed(body, body.results[1:]) - check_first)
        self.masks.pop()
        new = [
            self._kept(self.chosen(going, values[each], held, is_truth), is_truth)
            for each, held, is_truth in zip(body.results[1:], old, truths, strict=False)
        ]
        end = to.block
        to.do(f"br label %{after}")
        to.begin(after)
        made = [
            to.make(f"phi {self._kind(is_truth)} [ {one}, {before} ], [ {other}, {end} ]")
            for one, other, is_truth in zip(kept, new, truths, strict=False)
        ]
        ends = [self._again(value, is_truth) for value, is_truth in zip(made, truths, strict=False)]
        return [*ends, to.negation(self._again(kept_mask, True))]

    def _loop(self, loop: Instruction, body: Program, operands: list[str]) -> list[str]:
        """Write a loop, which ends when all lanes have finished."""
        if loop.number == 1.0:
            return self._once(loop, body, operands)
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
        # The truth that lanes continue is known long before their next values.
        check_first = needed(body, body.results[:1])
        self.masks.append(mask_here)
        self.write(body, values, check_first)
        going = to.both(values[body.results[0]], mask_here)
        kept_mask = self._kept(going, True)
        some = to.some(going)
        check = to.block
        to.do(f"br i1 {some}, label %{work}, label %{after}")
        to.begin(work)
        self.write(body, values, needed(body, body.results[1:]) - check_first)
        self.masks.pop()
        next_kept = [
            self._kept(self.chosen(going, values[each], held, is_truth), is_truth)
            for each, held, is_truth in zip(body.results[1:], old, truths, strict=False)
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
            to.make(f"phi {kind} [ {held}, {check} ], [ {new}, {end} ]")
            for kind, held, new in zip(kinds, carried, next_kept, strict=True)
        ]
        ends = [self._again(value, is_truth) for value, is_truth in zip(last, truths, strict=False)]
        return [*ends, to.negation(self._again(kept_mask, True))]
