"""Finds operations whose infinities and NaN would be hidden, and makes a condition that fails if there are any.

A division by 0, and an undefined root or logarithm, is an error where it arises. Mostly no check is needed: a variable
becomes infinite or NaN, which is detected. But `max(sqrt(u), 0)` with u < 0 is 0, a comparison of a threshold with NaN
never holds, and an infinite potential may be removed by the reset of a neuron that it makes fire.

Only operations whose operands may be outside of their domain, and whose result is used in such a place, are checked:
all others cost nothing. Branches that a condition does not choose are not checked, since they have no effect, and
neither are overflows: a potential that diverges within a step ends as a spike. Exponentials are limited to exp(700),
which is hidden if a logarithm or a root makes a moderate number of it: `log(1 + exp(u))` would be 700 for all larger u,
so their arguments are checked there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ranvier.equations.builder import Builder, Operand, Value, operate
from ranvier.equations.ranges import LAST_EXPONENT, Ranges
from ranvier.equations.trees import Node

__all__ = ["Finiteness"]

_Guards: TypeAlias = frozenset[tuple[Value, bool]]
_When: TypeAlias = frozenset[_Guards]
"""A value is used if all truths of one of these sets have the given values."""

_NEVER: _When = frozenset()
_ALWAYS: _When = frozenset([frozenset()])
_MOST = 8
"""Number of sets of guards; with more, a use counts as unguarded."""

# Operations whose result can be finite, or a truth, although an operand is not finite.
_HIDES = frozenset(
    ("minimum", "maximum", "less", "less_equal", "equal", "exp", "expm1", "expm1_over", "over_expm1", "pow")
)
_RISKY = frozenset(("divide", "square_root", "log", "log1p", "pow"))
_SATURATES = frozenset(("exp", "expm1", "expm1_over"))
# Operations that map huge numbers to moderate ones, and operations whose outcome does not depend on how huge one was.
_COMPRESSES = frozenset(("square_root", "log", "log1p", "pow"))
_FORGETS = frozenset(("less", "less_equal", "equal", "exp", "expm1", "expm1_over", "over_expm1"))


def _joined(one: _When, other: _When) -> _When:
    made = one | other
    # A superset of a sufficient set of truths is redundant.
    made = frozenset(each for each in made if not any(fewer < each for fewer in made))
    return made if len(made) <= _MOST else _ALWAYS


def _position(guard: tuple[Value, bool]) -> tuple[int, int, bool]:
    truth, holds = guard
    return truth.level, truth.place, holds


def _in_order(guards: _Guards) -> list[tuple[Value, bool]]:
    return sorted(guards, key=_position)


def _positions(guards: list[tuple[Value, bool]]) -> list[tuple[int, int, bool]]:
    return list(map(_position, guards))


def _guarded(when: _When, truth: Value, holds: bool) -> _When:
    return frozenset(each | {(truth, holds)} for each in when if (truth, not holds) not in each)


@dataclass
class _Use:
    """How a value is used.

    At all, in places that hide infinities and NaN, whether a variable shows it anyway, and in places that make a
    moderate number of a huge one.
    """

    at_all: _When = _NEVER
    hidden: _When = _NEVER
    is_shown: bool = False
    compressed: _When = _NEVER


class _Uses:
    """The uses of values; users come before the values that they use."""

    def __init__(self) -> None:
        self._found: dict[Value, _Use] = {}
        self._waiting: list[tuple[int, int, Value]] = []

    def __getitem__(self, value: Value) -> _Use:
        return self._found[value]

    def add(self, value: Value, at_all: _When, hidden: _When, is_shown: bool, compressed: _When = _NEVER) -> None:
        """Note a use."""
        use = self._found.get(value)
        if use is None:
            use = self._found[value] = _Use()
            heapq.heappush(self._waiting, (-value.level, -value.place, value))
        use.at_all = _joined(use.at_all, at_all)
        use.hidden = _joined(use.hidden, hidden)
        use.is_shown |= is_shown
        use.compressed = _joined(use.compressed, compressed)

    def latest_first(self) -> Iterator[Value]:
        """Yield each value after all values that use it; more may be added during the iteration."""
        while self._waiting:
            yield heapq.heappop(self._waiting)[2]


@dataclass
class Finiteness:
    """Makes the truths for the programs of a step, and remembers their expressions.

    Attributes
    ----------
    earliest
        The builder of values that are known before a step.
    ranges
        The ranges of values.
    nodes
        The expressions that the truths of `sound` check.
    saturates
        Whether some of them are exponentials.
    """

    earliest: Builder
    ranges: Ranges
    nodes: list[Node] = field(default_factory=list)
    saturates: bool = False

    def sound(
        self,
        shown: Iterable[Operand],
        others: Iterable[Operand],
        chosen: Iterable[tuple[Operand, Operand]] = (),
    ) -> Operand:
        """Return whether no infinity or NaN is hidden in the calculation of some values.

        `shown` are variables that are checked after the step: infinities and NaN are not hidden there. `chosen` are
        truths, each with a value that is used only if it holds.
        """
        uses = _Uses()
        roots: list[tuple[Operand, Operand, bool]] = [(True, each, True) for each in shown]
        roots += [(True, each, False) for each in others]
        roots += [(truth, each, False) for truth, each in chosen]
        for truth, value, is_shown in roots:
            if truth is False or not isinstance(value, Value) or value.level <= self.earliest.level:
                continue
            when = frozenset([frozenset([(truth, True)])]) if isinstance(truth, Value) else _ALWAYS
            uses.add(value, when, _NEVER, is_shown)
        made: Operand = True
        for value in uses.latest_first():
            made = self._do("both", made, self._looked_at(value, uses))
        return made

    def _do(self, op: str, *operands: Operand) -> Operand:
        return operate(self.earliest, op, *operands)

    def _looked_at(self, value: Value, uses: _Uses) -> Operand:
        """Pass the uses of a value on to its operands; return the truth that it is not hidden."""
        use = uses[value]
        op, operands = value.builder.made_by(value)
        if op == "input":
            above = value.builder.above(value)
            if above is not None and above.level > self.earliest.level:
                uses.add(above, use.at_all, use.hidden, use.is_shown, use.compressed)
            return True
        if op == "select":
            truth, *choices = operands
            uses.add(truth, use.at_all, use.at_all, False)
            for choice, holds in zip(choices, (True, False), strict=True):
                chosen = (_guarded(when, truth, holds) for when in (use.at_all, use.hidden, use.compressed))
                at_all, hidden, compressed = chosen
                uses.add(choice, at_all, hidden, False, compressed)
        else:
            compressed = use.at_all if op in _COMPRESSES else _NEVER if op in _FORGETS else use.compressed
            if op == "divide" and compressed and self._saturate_together(*operands):
                compressed = _NEVER
            for i, operand in enumerate(operands):
                hides = op in _HIDES or (op == "divide" and i == 1)
                hidden = use.at_all if hides else use.hidden
                uses.add(operand, use.at_all, hidden, use.is_shown and not hides, compressed)
        if op in _SATURATES and use.compressed:
            self.saturates = True
            return self._sound_where(value, self._saturates(operands[0]), use.compressed)
        if op not in _RISKY or use.is_shown or not use.hidden:
            return True
        return self._sound_where(value, self._fails(op, operands), use.hidden)

    def _sound_where(self, value: Value, fails: Operand, when: _When) -> Operand:
        """Return the truth that an operation does not fail, or that its outcome is not used."""
        if fails is False:
            return True
        used: Operand = False
        # Sorted: a program must be the same whenever it is made, since saved states and processes compare it.
        for guards in sorted(map(_in_order, when), key=_positions):
            all_hold: Operand = True
            for truth, holds in guards:
                all_hold = self._do("both", all_hold, truth if holds else self._do("not", truth))
            used = self._do("either", used, all_hold)
        node = value.builder.node_of(value)
        if node is not None and not any(node.place == each.place for each in self.nodes):
            self.nodes.append(node)
        return self._do("not", self._do("both", fails, used))

    def _saturate_together(self, dividend: Value, divisor: Value) -> bool:
        """Return whether both have the same exponentials, as in sigmoids and tanh, whose limit is correct."""
        found = self._exponentials(dividend)
        return bool(found) and found == self._exponentials(divisor)

    def _exponentials(self, value: Value) -> set[Value]:
        """Return the exponentials on whose size a value depends."""
        found: set[Value] = set()
        seen: set[Value] = set()
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if each in seen or each.level <= self.earliest.level:
                continue
            seen.add(each)
            op, operands = each.builder.made_by(each)
            if op in _SATURATES:
                found.add(each)
            elif op == "input":
                above = each.builder.above(each)
                waiting += [] if above is None else [above]
            elif op not in _FORGETS:
                waiting += operands
        return found

    def _saturates(self, argument: Value) -> Operand:
        if self.ranges.of(argument)[1] <= LAST_EXPONENT:
            return False
        return self._do("less", LAST_EXPONENT, argument.builder.known_before(argument.place))

    def _fails(self, op: str, operands: Sequence[Value]) -> Operand:
        known = [each.builder.known_before(each.place) for each in operands]
        first, last = known[0], known[-1]
        low, high = self.ranges.of(last if op == "divide" else first)
        match op:
            case "divide":
                return False if low > 0.0 or high < 0.0 else self._do("equal", last, 0.0)
            case "square_root":
                return False if low >= 0.0 else self._do("less", first, 0.0)
            case "log":
                return False if low > 0.0 else self._do("less_equal", first, 0.0)
            case "log1p":
                return False if low > -1.0 else self._do("less_equal", first, -1.0)
        return self._power_fails(first, last, low)

    def _power_fails(self, base: Operand, exponent: Operand, low: float) -> Operand:
        divides: Operand = False
        if low <= 0.0 and self.ranges.of(exponent)[0] < 0.0:
            divides = self._do("both", self._do("equal", base, 0.0), self._do("less", exponent, 0.0))
        if low >= 0.0:
            return divides
        is_whole = self._do("equal", exponent, self._do("floor", exponent))
        has_none = self._do("both", self._do("less", base, 0.0), self._do("not", is_whole))
        return self._do("either", divides, has_none)

    def text(self) -> str:
        """Return the reason of the failure if one of the truths does not hold."""
        names = [f"'{each.place.text}' ({each.place.called()})" for each in self.nodes]
        if not names:
            return "a comparison, a maximum or a minimum has hidden a number that is not finite"
        state = "not a finite number, or above exp(700)" if self.saturates else "not a finite number"
        if len(names) == 1:
            return f"{names[0]} is {state}"
        return f"one of these is {state}: {', '.join(names[:_MOST])}"
