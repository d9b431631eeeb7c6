"""Advances states by differential equations of any form, for a general mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ranvier.channels.derivatives import derivative
from ranvier.channels.general_scope import Assign, ProgramScope, is_known
from ranvier.equations.builder import Operand
from ranvier.equations.trees import Node, names_in

__all__ = ["Advance"]

_GAMMA = 1.0 - 1.0 / math.sqrt(2.0)
_SLOPE = "derivative of {} by {}"


@dataclass(frozen=True)
class Advance:
    """Advances states by ``dt``: dx/dt = derivatives[x], with the potential and all other variables constant.

    A state that is not coupled with another one of `derivatives` takes x + h f (e^(h J) - 1)/(h J), with J = df/dx at
    the start: the exact solution if f is linear in x, otherwise of second order in h (D. A. Pope,
    Communications of the ACM 6, 491-493, 1963). Others take the two stages of the L-stable Rosenbrock method ROS2, of
    second order (J. G. Verwer et al., SIAM Journal on Scientific Computing 20, 1456-1480, 1999).

    Attributes
    ----------
    before
        Assignments that derivatives read, which are executed with the states of each stage.
    derivatives
        By the name of the state, 1/ms.
    """

    before: tuple[Assign, ...]
    derivatives: Mapping[str, Node]

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield from (each.node for each in self.before)
        yield from self.derivatives.values()

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        made: dict[str, Operand] = {}
        for group in self._coupled():
            if len(group) == 1:
                made |= self._exponential(scope, group[0])
            else:
                made |= self._rosenbrock(scope, group)
        # Later statements read the assignments of `before` with the states at the start.
        scope.emit(self.before)
        scope.operands.update(made)

    def is_coupled(self, state: str) -> bool:
        """Return whether the derivative of a state reads another one of `derivatives`."""
        return self._states_read()[state] - {state} != set()

    def steady_state(self, scope: ProgramScope, state: str) -> Operand | None:
        """Return the steady state of a state; None unless its derivative is linear in it and reads no other state."""
        if self.is_coupled(state):
            return None
        with scope.instead({state: 0.0}):
            [[rate, slope]] = self._evaluated(scope, [state], [state])
        with scope.instead({state: scope.builder.input(("any", state))}):
            [[_, other]] = self._evaluated(scope, [state], [state])
        if is_known(slope, 0.0) or other != slope:
            return None
        return scope.do("negate", scope.do("divide", rate, slope))

    def _coupled(self) -> list[list[str]]:
        """Return states in groups that do not read each other."""
        reads = self._states_read()
        groups: list[set[str]] = []
        for name in self.derivatives:
            coupled = {name, *reads[name]}
            joined = [each for each in groups if each & coupled]
            groups = [each for each in groups if not each & coupled]
            groups.append(coupled.union(*joined))
        return [[name for name in self.derivatives if name in group] for group in groups]

    def _states_read(self) -> dict[str, set[str]]:
        """Return, for each state, the states of `derivatives` that its derivative reads."""
        known: dict[str, set[str]] = {name: {name} for name in self.derivatives}
        for each in self.before:
            known[each.name] = {state for name in names_in(each.node) for state in known.get(name, ())}
        return {
            state: {other for name in names_in(node) for other in known.get(name, ())}
            for state, node in self.derivatives.items()
        }

    def _evaluated(self, scope: ProgramScope, states: Sequence[str], slopes: Sequence[str]) -> list[list[Operand]]:
        """Return, for each state, its time derivative, then the derivatives of this with respect to some states."""
        with scope.instead({}):
            known: dict[str, dict[str, Node]] = {}
            place = next(iter(self.derivatives.values())).place
            for by in slopes:
                known[by] = {by: Node("number", place, number=1.0)}
            for each in self.before:
                found = {by: derivative(each.node, known[by]) for by in slopes}
                value = scope.value(each.node)
                for by, node in found.items():
                    known[by].pop(each.name, None)
                    if node is not None:
                        called = _SLOPE.format(each.name, by)
                        scope.operands[called] = scope.value(node)
                        known[by][each.name] = Node("name", place, name=called)
                scope.operands[each.name] = value
            made = []
            for state in states:
                node = self.derivatives[state]
                row = [scope.value(node)]
                for by in slopes:
                    slope = derivative(node, known[by])
                    row.append(0.0 if slope is None else scope.value(slope))
                made.append(row)
            return made

    def _exponential(self, scope: ProgramScope, state: str) -> dict[str, Operand]:
        [[rate, slope]] = self._evaluated(scope, [state], [state])
        h, do = scope.operands["dt"], scope.do
        change = do("multiply", h, rate)
        if not is_known(slope, 0.0):
            change = do("multiply", change, do("expm1_over", do("multiply", h, slope)))
        return {state: do("add", scope.operands[state], change)}

    def _rosenbrock(self, scope: ProgramScope, states: list[str]) -> dict[str, Operand]:
        h, do = scope.operands["dt"], scope.do
        rows = self._evaluated(scope, states, states)
        factor = do("multiply", h, -_GAMMA)
        matrix = [[do("multiply", factor, slope) for slope in row[1:]] for row in rows]
        for k, row in enumerate(matrix):
            row[k] = do("add", 1.0, row[k])
        solve = _Elimination(scope, matrix)
        first = solve([row[0] for row in rows])
        now = [scope.operands[name] for name in states]
        moved = {
            name: do("add", value, do("multiply", h, k)) for name, value, k in zip(states, now, first, strict=True)
        }
        with scope.instead(moved):
            rates = [row[0] for row in self._evaluated(scope, states, [])]
        second = solve([do("subtract", f, do("multiply", 2.0, k)) for f, k in zip(rates, first, strict=True)])
        made = {}
        for name, value, a, b in zip(states, now, first, second, strict=True):
            change = do("add", do("multiply", 1.5, a), do("multiply", 0.5, b))
            made[name] = do("add", value, do("multiply", h, change))
        return made


class _Elimination:
    """Gaussian elimination of a few equations, without pivoting; entries known to be 0 emit no instructions."""

    def __init__(self, scope: ProgramScope, matrix: list[list[Operand]]) -> None:
        self.do = scope.do
        self.rows = matrix
        self.size = len(matrix)
        self.factors: list[tuple[int, int, Operand]] = []
        self.inverses: list[Operand] = []
        for k in range(self.size):
            self.inverses.append(self.do("divide", 1.0, matrix[k][k]))
            for i in range(k + 1, self.size):
                if is_known(matrix[i][k], 0.0):
                    continue
                factor = self.do("multiply", matrix[i][k], self.inverses[k])
                self.factors.append((i, k, factor))
                for j in range(k + 1, self.size):
                    matrix[i][j] = self._without(matrix[i][j], factor, matrix[k][j])

    def __call__(self, right: Sequence[Operand]) -> list[Operand]:
        """Return the solution for a right side."""
        made = list(right)
        for i, k, factor in self.factors:
            made[i] = self._without(made[i], factor, made[k])
        for k in reversed(range(self.size)):
            for j in range(k + 1, self.size):
                made[k] = self._without(made[k], self.rows[k][j], made[j])
            made[k] = self.do("multiply", made[k], self.inverses[k])
        return made

    def _without(self, value: Operand, factor: Operand, other: Operand) -> Operand:
        if is_known(factor, 0.0) or is_known(other, 0.0):
            return value
        return self.do("subtract", value, self.do("multiply", factor, other))
