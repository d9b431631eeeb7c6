"""Solves simultaneous equations for states, for a general mechanism: LINEAR and NONLINEAR blocks of NMODL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ranvier.channels.general_scope import ProgramScope, is_known
from ranvier.channels.implicit_integration import iterated, slopes_of
from ranvier.equations.builder import Operand
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node, names_in

__all__ = ["Simultaneous"]


@dataclass(frozen=True)
class Simultaneous:
    """Sets states so that expressions are 0.

    Linear equations are solved by Gaussian elimination. Others are solved by Newton's method from the values that the
    states have, until no state changes by more than 1e-12 of itself; if this takes more than 50 iterations, it is an
    error. Both choose pivots by their size.

    Attributes
    ----------
    place
        Place of the block, for errors.
    states
        The unknowns.
    residuals
        As many expressions, which the solution makes 0.

    Raises
    ------
    EquationError
        When the number of equations differs from that of states, and for a state that is not in the equations.
    """

    place: Place
    states: tuple[str, ...]
    residuals: tuple[Node, ...]

    def _check(self) -> None:
        if len(self.states) != len(self.residuals):
            found = f"{len(self.residuals)} equations for {len(self.states)} states"
            refuse(self.place, found, "there must be one equation per state", "add equations, or leave some out")
        used = {name for node in self.residuals for name in names_in(node)}
        for name in self.states:
            if name not in used:
                refuse(self.place, f"'{name}'", "it is in no equation", "add one")

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield from self.residuals

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        self._check()
        begin = [scope.operands[name] for name in self.states]
        if self._is_linear():
            ends = self._newton(scope, [0.0] * len(begin))[0]
        else:
            ends = iterated(scope, begin, lambda old: self._newton(scope, old))
        scope.operands.update(zip(self.states, ends, strict=True))

    def _slopes(self) -> list[dict[str, Node]]:
        place = self.residuals[0].place
        known = {name: {name: Node("number", place, number=1.0)} for name in self.states}
        return [slopes_of(node, known) for node in self.residuals]

    def _is_linear(self) -> bool:
        return not any(names_in(node).keys() & set(self.states) for row in self._slopes() for node in row.values())

    def _newton(self, scope: ProgramScope, now: Sequence[Operand]) -> tuple[list[Operand], list[Operand]]:
        """Return the states after an iteration that starts at `now`, and their changes in it."""
        do = scope.do
        with scope.instead(dict(zip(self.states, now, strict=True))):
            rows = [
                [scope.value(row[name]) if name in row else 0.0 for name in self.states]
                + [do("negate", scope.value(node))]
                for row, node in zip(self._slopes(), self.residuals, strict=True)
            ]
        changes = _solved(scope, rows)
        return [do("add", value, change) for value, change in zip(now, changes, strict=True)], changes


def _solved(scope: ProgramScope, rows: list[list[Operand]]) -> list[Operand]:
    """Return the solution of equations, each a row of factors and the right side, with the largest factor as pivot."""
    do = scope.do
    size = len(rows)
    for k in range(size):
        for i in range(k + 1, size):
            if not is_known(rows[i][k], 0.0):
                rows[k], rows[i] = _ordered(scope, rows[k], rows[i], k)
        for i in range(k + 1, size):
            if is_known(rows[i][k], 0.0):
                continue
            factor = do("divide", rows[i][k], rows[k][k])
            for j in range(k + 1, size + 1):
                if not is_known(rows[k][j], 0.0):
                    rows[i][j] = do("subtract", rows[i][j], do("multiply", factor, rows[k][j]))
    made: list[Operand] = [0.0] * size
    for k in reversed(range(size)):
        total = rows[k][size]
        for j in range(k + 1, size):
            if not is_known(rows[k][j], 0.0):
                total = do("subtract", total, do("multiply", rows[k][j], made[j]))
        made[k] = do("divide", total, rows[k][k])
    return made


def _ordered(
    scope: ProgramScope, one: list[Operand], other: list[Operand], k: int
) -> tuple[list[Operand], list[Operand]]:
    """Return two rows, the one with the larger factor k first."""
    do = scope.do
    if is_known(one[k], 0.0):
        return other, one
    is_larger = do("less", do("absolute", one[k]), do("absolute", other[k]))
    if isinstance(is_larger, bool):
        return (other, one) if is_larger else (one, other)
    first = [do("select", is_larger, b, a) for a, b in zip(one, other, strict=True)]
    second = [do("select", is_larger, a, b) for a, b in zip(one, other, strict=True)]
    return first, second
