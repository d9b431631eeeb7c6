"""Writes instructions of LLVM over vectors of some lanes, one for each neuron.

There may be more lanes than registers of an instruction set have: LLVM divides such vectors. No operation has a flag
of fast mathematics, so that each is rounded by IEEE 754, independent of its context.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["Vectors", "integer", "number"]


def number(value: float) -> str:
    """Return a number that is the same in all lanes."""
    return f"splat (double 0x{struct.pack('>d', value).hex().upper()})"


def integer(value: int) -> str:
    """Return a whole number that is the same in all lanes."""
    return f"splat (i64 {value})"


class Vectors:
    """Instructions of a function that have been written so far. Values are texts: names, or constants.

    Attributes
    ----------
    lanes
        Lanes of a vector.
    numbers, whole, truths
        The types of vectors; whole numbers have 64 bits.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.numbers = f"<{lanes} x double>"
        self.whole = f"<{lanes} x i64>"
        self.truths = f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.block = ""
        self._names = 0
        self._negations: dict[str, str] = {}

    def name(self) -> str:
        """Return a name that nothing has yet."""
        self._names += 1
        return f"%v{self._names}"

    def make(self, instruction: str) -> str:
        """Write an instruction that makes a value, and return this."""
        name = self.name()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self) -> str:
        """Return a name of a block that is not there yet."""
        return self.name()[1:]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = f"%{label}"

    def repeated(self, kind: str, value: str) -> str:
        """Return a vector with the same value of a type in all lanes."""
        of = f"<{self.lanes} x {kind}>"
        first = self.make(f"insertelement {of} poison, {kind} {value}, i64 0")
        return self.make(f"shufflevector {of} {first}, {of} poison, <{self.lanes} x i32> zeroinitializer")

    def element(self, kind: str, array: str, index: str) -> str:
        """Return the address of an element of an array."""
        return self.make(f"getelementptr {kind}, ptr {array}, i64 {index}")

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.make(f"fadd {self.numbers} {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        """Return a - b."""
        return self.make(f"fsub {self.numbers} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        """Return a * b."""
        return self.make(f"fmul {self.numbers} {a}, {b}")

    def divide(self, a: str, b: str) -> str:
        """Return a / b."""
        return self.make(f"fdiv {self.numbers} {a}, {b}")

    def negate(self, a: str) -> str:
        """Return -a."""
        return self.make(f"fneg {self.numbers} {a}")

    def absolute(self, a: str) -> str:
        """Return a without its sign."""
        return self.make(f"call {self.numbers} @llvm.fabs.v{self.lanes}f64({self.numbers} {a})")

    def square_root(self, a: str) -> str:
        """Return the square root, rounded correctly."""
        return self.make(f"call {self.numbers} @llvm.sqrt.v{self.lanes}f64({self.numbers} {a})")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Return a polynomial by Horner's scheme, the highest power first."""
        made = number(coefficients[0])
        for each in coefficients[1:]:
            made = self.add(self.multiply(made, x), number(each))
        return made

    # ---- truths ------------------------------------------------------------------------------------------------------

    def compare(self, how: str, a: str, b: str) -> str:
        """Return a truth: `how` is olt, ole, ogt, oge, oeq or ord; all are false where a or b is not a number."""
        return self.make(f"fcmp {how} {self.numbers} {a}, {b}")

    def select(self, truth: str, a: str, b: str) -> str:
        """Return a for lanes in which the truth holds, else b."""
        # LLVM would compare numbers a second time for a negation.
        if truth in self._negations:
            truth, a, b = self._negations[truth], b, a
        return self.make(f"select {self.truths} {truth}, {self.numbers} {a}, {self.numbers} {b}")

    def both(self, a: str, b: str) -> str:
        """Return whether both hold."""
        return self.make(f"and {self.truths} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Return whether one holds, or both."""
        return self.make(f"or {self.truths} {a}, {b}")

    def negation(self, a: str) -> str:
        """Return whether it does not hold."""
        if a not in self._negations:
            made = self.make(f"xor {self.truths} {a}, splat (i1 true)")
            self._negations[made] = a
            return made
        return self._negations[a]

    def some(self, truth: str) -> str:
        """Return a single truth: whether it holds in a lane."""
        return self.make(f"icmp ne i{self.lanes} {self.packed(truth)}, 0")

    def widened(self, truth: str) -> str:
        """Return a truth as whole numbers of 64 bits."""
        return self.make(f"sext {self.truths} {truth} to {self.whole}")

    def narrowed(self, wide: str) -> str:
        """Return a truth from its representation as integers of 64 bits."""
        return self.make(f"icmp slt {self.whole} {wide}, zeroinitializer")

    def packed(self, truth: str) -> str:
        """Return a whole number of as many bits as there are lanes, the first lane in the lowest one."""
        return self.make(f"bitcast {self.truths} {truth} to i{self.lanes}")

    def unpacked(self, bits: str) -> str:
        """Return the truth whose bits a whole number is."""
        return self.make(f"bitcast i{self.lanes} {bits} to {self.truths}")

    # ---- bits --------------------------------------------------------------------------------------------------------

    def bits(self, a: str) -> str:
        """Return the bits of a number as a whole number."""
        return self.make(f"bitcast {self.numbers} {a} to {self.whole}")

    def from_bits(self, a: str) -> str:
        """Return the number that has these bits."""
        return self.make(f"bitcast {self.whole} {a} to {self.numbers}")

    def integers(self, operation: str, a: str, b: str) -> str:
        """Return the outcome of an operation on whole numbers: add, sub, and, or, shl or lshr."""
        return self.make(f"{operation} {self.whole} {a}, {b}")
