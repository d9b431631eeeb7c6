"""Frames: rows of numbers, with an element for each lane, in which neurons wait between the turns of a loop."""

from __future__ import annotations

from ranvier.compiled.bodies import Body, first_values, needed
from ranvier.compiled.places import ALIGNED
from ranvier.compiled.vectors import Vectors
from ranvier.equations.program import NeuronProgram

__all__ = ["Frame", "Rows"]


class Rows:
    """Values with a row in a frame.

    Attributes
    ----------
    constants
        Values of the step that are its constants; they are the first rows.
    kept
        Other values of the step, from before the loop.
    first_carried
        Row of the first carried value.
    count
        How many rows there are.
    before, after
        Places of the instructions before and after the loop. All draws are before it.
    """

    def __init__(self, program: NeuronProgram, loop: int) -> None:
        step = program.step
        self.step = step
        instructions = step.instructions
        firsts = first_values(step)
        self.first_of_loop, self.end_of_loop = firsts[loop], firsts[loop + 1]
        numbers = {firsts[place]: each.number for place, each in enumerate(instructions) if each.op == "constant"}
        draws = {place for place, each in enumerate(instructions) if each.op.endswith("_draw")}
        wanted = needed(step, step.results)
        self.after = {place for place in wanted if place > loop} - draws
        self.numbers = numbers
        carried = instructions[loop].count
        self.initial = instructions[loop].operands[:carried]
        self.captured = instructions[loop].operands[carried:]
        made_after = {firsts[place] + i for place in self.after for i in range(firsts[place + 1] - firsts[place])}
        read = {each for place in self.after for each in instructions[place].operands}
        read.update(self.captured, step.results)
        read -= made_after | set(range(self.first_of_loop, self.end_of_loop)) | set(numbers)
        of_constants = range(len(program.variables), len(program.variables) + program.constants)
        self.constants = sorted(read & set(of_constants))
        self.kept = sorted(read - set(of_constants))
        self.before = needed(step, [*self.initial, *self.kept]) - {loop}
        self._row = {value: row for row, value in enumerate([*self.constants, *self.kept])}
        self.first_carried = len(self._row)
        self.count = self.first_carried + carried
        self._types = step.types()

    def row(self, value: int) -> int | None:
        """Return the row of a value of the step; None where no row has it."""
        if self.first_of_loop <= value < self.end_of_loop - 1:
            return self.first_carried + value - self.first_of_loop
        return self._row.get(value)

    def is_truth(self, value: int) -> bool:
        """Return whether a value of the step is a truth."""
        return self._types[value] == "truth"


class Frame:
    """Reads and writes the rows of a frame at an address."""

    def __init__(self, to: Vectors, rows: Rows, address: str) -> None:
        self.to = to
        self.rows = rows
        self.address = address

    def address_of(self, row: int) -> str:
        """Return the address of a row."""
        return self.to.element("double", self.address, str(row * self.to.lanes))

    def load(self, row: int, is_truth: bool) -> str:
        """Return the content of a row."""
        to = self.to
        kind = to.whole if is_truth else to.numbers
        made = to.make(f"load {kind}, ptr {self.address_of(row)}, align {ALIGNED}")
        return to.narrowed(made) if is_truth else made

    def store(self, value: str, row: int, is_truth: bool) -> None:
        """Write a row."""
        to = self.to
        kind, stored = (to.whole, to.widened(value)) if is_truth else (to.numbers, value)
        to.do(f"store {kind} {stored}, ptr {self.address_of(row)}, align {ALIGNED}")

    def values(self, body: Body) -> list[str]:
        """Return the values of the step that are in rows or known; others are empty."""
        rows = self.rows
        made = [""] * first_values(rows.step)[-1]
        for value in range(len(made)):
            row = rows.row(value)
            if row is not None:
                made[value] = self.load(row, rows.is_truth(value))
            elif value in rows.numbers:
                made[value] = body.constant(rows.numbers[value])
        return made
