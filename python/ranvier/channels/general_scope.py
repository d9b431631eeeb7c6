"""Statements of general mechanisms, and the values of names while they are lowered to a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ranvier.equations.builder import Builder, Operand, Value, operate
from ranvier.equations.expressions import Instructions
from ranvier.equations.program import Program
from ranvier.equations.trees import Node, walked

__all__ = ["EXTERNAL", "Assign", "ProgramScope", "Statement", "is_known"]

EXTERNAL: Mapping[str, str] = {
    "v": "mV",
    "celsius": "",
    "dt": "ms",
    "cai": "mM",
    "cao": "mM",
    "eca": "mV",
    "ica": "mA/cm^2",
    "diam": "um",
    "area": "um^2",
    "t": "ms",
}
"""Variables that blocks may read, with units: the potential; the temperature (degrees Celsius); the time by which
`step` advances states; the concentrations of calcium in the cell and outside and its reversal potential, of the pool
at the place, which is required; the density of all currents that calcium carries at the place, in `step` only; the
diameter and the surface of the compartment; the time, in `current` in the middle of the step, in `step` at its end.
``cai``, ``cao`` and ``eca`` are variables of the mechanism if it is a pool or has a parameter with this name."""


class Statement(Protocol):
    """A statement of a block."""

    def emit(self, scope: ProgramScope) -> None:
        """Add the instructions to the program of the block: read names from the scope, and set others there."""

    def names(self) -> Iterator[Node]:
        """Yield the expressions in it, whose names are checked."""


@dataclass(frozen=True, slots=True)
class Assign:
    """Sets a name to the value of an expression. A condition is an expression, too: ``where`` or a comparison."""

    name: str
    node: Node

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        scope.assign(self.name, self.node)

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield self.node


class ProgramScope:
    """The program of a block while it is built.

    Attributes
    ----------
    builder
        Makes the program: a statement may emit any operations and loops.
    operands
        The present values of names.
    ended
        For each loop that must converge, whether it has: a statement with a loop appends its last value.
    """

    def __init__(self, states: Iterable[str], parameters: Iterable[str], exponents: Mapping[str, int]) -> None:
        self.builder = Builder(0)
        self.operands: dict[str, Operand] = {}
        self.ended: list[Operand] = []
        self._instructions = Instructions(self.builder, self.operands)
        self._inputs = []
        named: dict[str, dict[str, Operand]] = {}
        for kind, names in (("state", states), ("external", EXTERNAL), ("parameter", parameters)):
            named[kind] = {}
            for name in names:
                value = self.builder.input((kind, name))
                self._inputs.append(value.place)
                named[kind][name] = self._scaled(value, exponents.get(name, 0))
        # Names of the mechanism have precedence over those of the place.
        self.operands.update(named["external"] | named["state"] | named["parameter"])

    def value(self, node: Node) -> Operand:
        """Return the value of an expression of the names that are known."""
        return walked(node, self._instructions)

    def assign(self, name: str, node: Node) -> None:
        """Set the value of a name to that of an expression."""
        self.operands[name] = self.value(node)

    def do(self, operation: str, *operands: Operand) -> Operand:
        """Return the outcome of an operation of programs."""
        return operate(self.builder, operation, *operands)

    def emit(self, statements: Iterable[Statement]) -> None:
        """Carry out statements in their order."""
        for each in statements:
            each.emit(self)

    @contextmanager
    def instead(self, operands: Mapping[str, Operand]) -> Iterator[None]:
        """Bind names to other values within the context; all previous bindings are restored at its end."""
        before = dict(self.operands)
        self.operands.update(operands)
        try:
            yield
        finally:
            self.operands.clear()
            self.operands.update(before)

    def finished(self, results: Iterable[tuple[Operand, int]]) -> Program:
        """Return the program with these results and the results of `ended`.

        Each result has the power of ten of its unit in calculations, by which it is divided.
        """
        taken = [self.builder.take(self._scaled(value, -exponent)) for value, exponent in results]
        taken += [self.builder.take(each) for each in self.ended]
        return self.builder.finished(self._inputs, taken)

    def _scaled(self, value: Operand, exponent: int) -> Operand:
        if exponent == 0:
            return value
        return self.do("multiply" if exponent > 0 else "divide", value, 10.0 ** abs(exponent))


def is_known(operand: Operand, number: float) -> bool:
    """Return whether an operand is this number when the program is built."""
    return not isinstance(operand, Value) and operand == number
