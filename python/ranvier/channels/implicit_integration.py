"""Advances states by one step of implicit Euler, explicit Euler or Runge-Kutta, for a general mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ranvier.channels.derivatives import derivative
from ranvier.channels.general_scope import Assign, ProgramScope, is_known
from ranvier.equations.builder import Builder, Operand
from ranvier.equations.trees import Node, names_in

__all__ = ["Conserved", "Explicit", "Implicit", "iterated", "slopes_of"]

_SLOPE = "slope of {} by {}"
_MOST_ITERATIONS = 50
_CONVERGED = 1e-12
"""Bound of the last change of a state, relative to the state, or to 1e-3 if it is smaller."""
_SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class Conserved:
    """A sum of states with a known value: its equation replaces that of the state `instead`."""

    instead: str
    factors: Mapping[str, Node]
    total: Node


@dataclass(frozen=True)
class Implicit:
    """Advances states by ``dt`` with implicit Euler: x(t + dt) = x(t) + dt f(x(t + dt)), all other variables constant.

    Equations that are linear in their states are solved by Gaussian elimination. Others are solved by Newton's method,
    until no state changes by more than 1e-12 of itself; a step that has not converged after 50 iterations is an error.

    Attributes
    ----------
    before
        Assignments that derivatives read.
    derivatives
        By the name of the state, 1/ms.
    conserved
        Sums that replace equations.
    volumes
        Factors of the left sides, ``volume dx/dt = f``, if they are not 1.
    steady
        Whether to find the steady state: ``dt`` is then 1e9 ms.
    """

    before: tuple[Assign, ...]
    derivatives: Mapping[str, Node]
    conserved: tuple[Conserved, ...] = ()
    volumes: Mapping[str, Node] | None = None
    steady: bool = False

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield from (each.node for each in self.before)
        yield from self.derivatives.values()
        for each in self.conserved:
            yield from (*each.factors.values(), each.total)
        yield from (self.volumes or {}).values()

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        # Rows of sums are the last: the others are dominated by their diagonals.
        last = {each.instead for each in self.conserved}
        states = sorted(self.derivatives, key=lambda name: name in last)
        begin = [scope.operands[name] for name in states]
        if self._is_linear():
            ends = self._newton(scope, states, begin, begin)[0]
        else:
            ends = self._iterated(scope, states, begin)
        # Later statements read the assignments of `before` with the states at the end.
        scope.operands.update(zip(states, ends, strict=True))
        scope.emit(self.before)
        scope.operands.update(zip(states, ends, strict=True))

    def _differentiated(self) -> tuple[list[tuple[Assign, dict[str, Node]]], dict[str, dict[str, Node]]]:
        """Return the slopes by states, where they are not 0, of assignments and of derivatives.

        A slope of an assignment has a name, which later slopes use.
        """
        place = next(iter(self.derivatives.values())).place
        known = {by: {by: Node("number", place, number=1.0)} for by in self.derivatives}
        before = []
        for each in self.before:
            made = slopes_of(each.node, known)
            for by, names in known.items():
                names.pop(each.name, None)
                if by in made:
                    names[each.name] = Node("name", place, name=_SLOPE.format(each.name, by))
            before.append((each, made))
        return before, {state: slopes_of(node, known) for state, node in self.derivatives.items()}

    def _is_linear(self) -> bool:
        """Return whether no slope depends on a state."""
        before, derivatives = self._differentiated()
        depends = set(self.derivatives)
        for each, slopes in before:
            depends -= {each.name}
            depends |= {_SLOPE.format(each.name, by) for by, node in slopes.items() if names_in(node).keys() & depends}
            if names_in(each.node).keys() & depends:
                depends.add(each.name)
        every = (node for slopes in derivatives.values() for node in slopes.values())
        return not any(names_in(node).keys() & depends for node in every)

    def _iterated(self, scope: ProgramScope, states: list[str], begin: list[Operand]) -> list[Operand]:
        """Return the states after iterations in a loop."""

        def iteration(old: list[Operand]) -> tuple[list[Operand], list[Operand]]:
            with scope.instead(dict(zip(states, old, strict=True))):
                return self._newton(scope, states, begin, old)

        return iterated(scope, begin, iteration)

    def _newton(
        self, scope: ProgramScope, states: list[str], begin: Sequence[Operand], now: Sequence[Operand]
    ) -> tuple[list[Operand], list[Operand]]:
        """Return the states after an iteration that starts at `now`, and their changes in it."""
        do = scope.do
        h: Operand = 1e9 if self.steady else scope.operands["dt"]
        rows = self._evaluated(scope, states)
        matrix: list[list[Operand]] = []
        right: list[Operand] = []
        for k, row in enumerate(rows):
            volume = self._volume(scope, states[k])
            # volume (x - begin)/h = f: scaled by h, so that no step is too short.
            entries = [do("negate", do("multiply", h, slope)) for slope in row[1:]]
            entries[k] = do("add", volume, entries[k])
            matrix.append(entries)
            lack = do("multiply", volume, do("subtract", now[k], begin[k]))
            right.append(do("subtract", do("multiply", h, row[0]), lack))
        for each in self.conserved:
            k = states.index(each.instead)
            total: Operand = scope.value(each.total)
            for j, name in enumerate(states):
                factor = scope.value(each.factors[name]) if name in each.factors else 0.0
                matrix[k][j] = factor
                total = do("subtract", total, do("multiply", factor, now[j]))
            right[k] = total
        changes = _eliminated(scope, matrix, right)
        return [do("add", value, change) for value, change in zip(now, changes, strict=True)], changes

    def _volume(self, scope: ProgramScope, state: str) -> Operand:
        node = (self.volumes or {}).get(state)
        return 1.0 if node is None else scope.value(node)

    def _evaluated(self, scope: ProgramScope, states: list[str]) -> list[list[Operand]]:
        """Return, for each state, its time derivative, then the derivatives of this with respect to all states."""
        before, derivatives = self._differentiated()
        with scope.instead({}):
            for each, slopes in before:
                value = scope.value(each.node)
                for by, node in slopes.items():
                    scope.operands[_SLOPE.format(each.name, by)] = scope.value(node)
                scope.operands[each.name] = value
            made = []
            for state in states:
                slopes = derivatives[state]
                row: list[Operand] = [scope.value(self.derivatives[state])]
                made.append(row + [scope.value(slopes[by]) if by in slopes else 0.0 for by in states])
            return made


@dataclass(frozen=True)
class Explicit:
    """Advances states by ``dt`` with explicit Euler, or with the fourth-order Runge-Kutta method.

    Attributes
    ----------
    before, derivatives
        See `Implicit`.
    stages
        1: Euler; 4: Runge-Kutta.
    """

    before: tuple[Assign, ...]
    derivatives: Mapping[str, Node]
    stages: int = 1

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield from (each.node for each in self.before)
        yield from self.derivatives.values()

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        h, do = scope.operands["dt"], scope.do
        begin = {name: scope.operands[name] for name in self.derivatives}
        parts = [0.0] if self.stages == 1 else [0.0, 0.5, 0.5, 1.0]
        weights = [1.0] if self.stages == 1 else [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0]
        ends = dict(begin)
        rates: dict[str, Operand] = {}
        for part, weight in zip(parts, weights, strict=True):
            moved = {name: do("add", begin[name], _product(scope, (h, part), rates[name])) for name in rates}
            with scope.instead(moved):
                scope.emit(self.before)
                rates = {name: scope.value(node) for name, node in self.derivatives.items()}
            ends = {name: do("add", ends[name], _product(scope, (h, weight), rates[name])) for name in rates}
        # Later statements read the assignments of `before` with the states at the start.
        scope.emit(self.before)
        scope.operands.update(ends)


def iterated(
    scope: ProgramScope,
    begin: Sequence[Operand],
    iteration: Callable[[list[Operand]], tuple[list[Operand], list[Operand]]],
) -> list[Operand]:
    """Return values after iterations in a loop, which ends when they change no more; see `ProgramScope.ended`.

    Parameters
    ----------
    begin
        The values at the start.
    iteration
        Returns new values and their changes, from the old values.
    """
    body = Builder(scope.builder.level + 1, scope.builder)
    goes_on = body.input(0, "truth")
    new, changes = iteration([body.input(1 + i) for i in range(len(begin))])
    # Iterations after convergence leave the values unchanged.
    results = [goes_on, scope.do("not", _has_converged(scope, new, changes)), *new]
    _, *ends, ended = scope.builder.loop([True, *begin], body, results, _MOST_ITERATIONS)
    scope.ended.append(ended)
    return list(ends)


def _has_converged(scope: ProgramScope, values: Sequence[Operand], changes: Sequence[Operand]) -> Operand:
    """Return whether an iteration has changed no value beyond rounding."""
    do = scope.do
    made: Operand = True
    for value, change in zip(values, changes, strict=True):
        scale = do("maximum", do("absolute", value), _SMALLEST)
        made = do("both", made, do("less_equal", do("absolute", change), do("multiply", scale, _CONVERGED)))
    return made


def _product(scope: ProgramScope, factors: tuple[Operand, float], value: Operand) -> Operand:
    return scope.do("multiply", scope.do("multiply", *factors), value)


def _eliminated(scope: ProgramScope, matrix: list[list[Operand]], right: list[Operand]) -> list[Operand]:
    """Solve equations by Gaussian elimination without pivoting; entries known to be 0 emit no instructions.

    Matrices of implicit Euler are dominated by their diagonals if no rate is negative, so that no pivot gets small.
    """
    do = scope.do
    size = len(matrix)
    for k in range(size):
        for i in range(k + 1, size):
            if is_known(matrix[i][k], 0.0):
                continue
            factor = do("divide", matrix[i][k], matrix[k][k])
            for j in range(k + 1, size):
                matrix[i][j] = _without(scope, matrix[i][j], factor, matrix[k][j])
            right[i] = _without(scope, right[i], factor, right[k])
    for k in reversed(range(size)):
        for j in range(k + 1, size):
            right[k] = _without(scope, right[k], matrix[k][j], right[j])
        right[k] = do("divide", right[k], matrix[k][k])
    return right


def slopes_of(node: Node, known: Mapping[str, Mapping[str, Node]]) -> dict[str, Node]:
    """Return the nonzero derivatives of an expression, by variable; `known` has derivatives of names, by variable."""
    names = names_in(node).keys()
    found = {by: derivative(node, of_names) for by, of_names in known.items() if names & of_names.keys()}
    return {by: each for by, each in found.items() if each is not None}


def _without(scope: ProgramScope, value: Operand, factor: Operand, other: Operand) -> Operand:
    if is_known(factor, 0.0) or is_known(other, 0.0):
        return value
    taken = scope.do("multiply", factor, other)
    return scope.do("negate", taken) if is_known(value, 0.0) else scope.do("subtract", value, taken)
