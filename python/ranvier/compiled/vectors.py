"""Writes instructions of LLVM over vectors of eight lanes, one for each neuron.

Vectors have eight lanes for every instruction set: LLVM divides those that are wider than the registers. No operation
has a flag of fast mathematics, so that each is rounded as IEEE 754 tells, whatever surrounds it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["INTEGERS", "LANES", "NUMBERS", "TRUTHS", "Vectors", "integer", "number"]

LANES = 8
NUMBERS = f"<{LANES} x double>"
INTEGERS = f"<{LANES} x i64>"
TRUTHS = f"<{LANES} x i1>"


def number(value: float) -> str:
    """Return a number that is the same in all lanes."""
    return f"splat (double 0x{struct.pack('>d', value).hex().upper()})"


def integer(value: int) -> str:
    """Return a whole number that is the same in all lanes."""
    return f"splat (i64 {value})"


class Vectors:
    """Instructions that have been written so far. Values are texts: names, or constants."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = ""
        self._names = 0

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
        """Write an instruction that makes none."""
        self.lines.append(f"  {instruction}")

    def label(self) -> str:
        """Return a name of a block that is not there yet."""
        return self.name()[1:]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = f"%{label}"

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def add(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.make(f"fadd {NUMBERS} {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        """Return a - b."""
        return self.make(f"fsub {NUMBERS} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        """Return a * b."""
        return self.make(f"fmul {NUMBERS} {a}, {b}")

    def divide(self, a: str, b: str) -> str:
        """Return a / b."""
        return self.make(f"fdiv {NUMBERS} {a}, {b}")

    def negate(self, a: str) -> str:
        """Return -a."""
        return self.make(f"fneg {NUMBERS} {a}")

    def absolute(self, a: str) -> str:
        """Return a without its sign."""
        return self.make(f"call {NUMBERS} @llvm.fabs.v{LANES}f64({NUMBERS} {a})")

    def square_root(self, a: str) -> str:
        """Return the square root, rounded correctly."""
        return self.make(f"call {NUMBERS} @llvm.sqrt.v{LANES}f64({NUMBERS} {a})")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Return a polynomial by Horner's scheme, the highest power first."""
        made = number(coefficients[0])
        for each in coefficients[1:]:
            made = self.add(self.multiply(made, x), number(each))
        return made

    # ---- truths ------------------------------------------------------------------------------------------------------

    def compare(self, how: str, a: str, b: str) -> str:
        """Return a truth: `how` is olt, ole, ogt, oge, oeq or ord; all are false where a or b is not a number."""
        return self.make(f"fcmp {how} {NUMBERS} {a}, {b}")

    def select(self, truth: str, a: str, b: str) -> str:
        """Return a where the truth holds, else b."""
        return self.make(f"select {TRUTHS} {truth}, {NUMBERS} {a}, {NUMBERS} {b}")

    def both(self, a: str, b: str) -> str:
        """Return whether both hold."""
        return self.make(f"and {TRUTHS} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Return whether one holds, or both."""
        return self.make(f"or {TRUTHS} {a}, {b}")

    def negation(self, a: str) -> str:
        """Return whether it does not hold."""
        return self.make(f"xor {TRUTHS} {a}, splat (i1 true)")

    # ---- bits --------------------------------------------------------------------------------------------------------

    def bits(self, a: str) -> str:
        """Return the bits of a number as a whole number."""
        return self.make(f"bitcast {NUMBERS} {a} to {INTEGERS}")

    def from_bits(self, a: str) -> str:
        """Return the number that has these bits."""
        return self.make(f"bitcast {INTEGERS} {a} to {NUMBERS}")

    def integers(self, operation: str, a: str, b: str) -> str:
        """Return the outcome of an operation on whole numbers: add, sub, and, or, shl or lshr."""
        return self.make(f"{operation} {INTEGERS} {a}, {b}")
