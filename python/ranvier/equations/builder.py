"""Builds programs. Constants of a step are calculated before it, and common subexpressions once.

There is a builder for each time at which something can be calculated: when constants are prepared, in a step, in a loop
of a step. An operation is added to the earliest builder that has its operands; if a later one uses its value, it
becomes an input there: a constant of the step, or a captured value of the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from ranvier.equations.program import OPERATIONS, Instruction, Program
from ranvier.equations.trees import Node

__all__ = ["Builder", "Operand", "Value", "operate"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a builder, by its place among the values that this builder has made."""

    builder: Builder
    place: int
    type: str = "number"

    @property
    def level(self) -> int:
        """How late it is known."""
        return self.builder.level


Operand: TypeAlias = Value | float | bool
"""A value, or a number or truth that is known when the program is made."""

_FOLDED: dict[str, Callable[..., float | bool]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
    "absolute": abs,
    "square_root": math.sqrt,
    "minimum": lambda a, b: a if a < b else b,
    "maximum": lambda a, b: a if a > b else b,
    "floor": lambda a: float(math.floor(a)),
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "both": lambda a, b: a and b,
    "either": lambda a, b: a or b,
    "not": lambda a: not a,
    "select": lambda a, b, c: b if a else c,
}
"""Operations with the same outcome on every machine, which may be calculated here."""

_COMMUTATIVE = {"add", "multiply", "both", "either", "equal"}


@dataclass(slots=True, eq=False)
class _Entry:
    """How a value is made: by an instruction on values of the same builder, as an input, or by a loop before it."""

    op: str
    operands: tuple[int, ...] = ()
    number: float = 0.0
    type: str = "number"
    input: object = None
    body: Program | None = None
    count: int = 0


@dataclass(eq=False)
class Builder:
    """A program that is being made.

    Attributes
    ----------
    level
        0 for the earliest.
    parent
        The builder of earlier calculations, if there is one.
    """

    level: int
    parent: Builder | None = None
    _entries: list[_Entry] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)
    _later: Builder | None = None
    _nodes: dict[int, Node] = field(default_factory=dict)

    def input(self, key: object, kind: str = "number") -> Value:
        """Return an input, the same for the same key, which is not a value of the parent."""
        return self._input(("given", key), kind)

    def constant_of_parent(self, place: int) -> Value:
        """Return the input that a value of the parent is here."""
        assert self.parent is not None
        return self._input(("taken", place), self.parent.value(place).type)

    def value(self, place: int) -> Value:
        """Return the value at a place."""
        return Value(self, place, self._entries[place].type)

    def _input(self, key: object, kind: str) -> Value:
        place = self._known.get(key)
        if place is None:
            place = self._add(_Entry("input", type=kind, input=key))
            self._known[key] = place
        return Value(self, place, kind)

    def _add(self, entry: _Entry) -> int:
        self._entries.append(entry)
        return len(self._entries) - 1

    def take(self, operand: Operand) -> Value:
        """Return an operand that is known at this time or earlier as a value of this builder."""
        if isinstance(operand, Value):
            if operand.builder is self:
                return operand
            assert self.parent is not None
            above = self.parent.take(operand)
            if above.builder is self:
                # The parent defers operations whose operands it does not have yet.
                return above
            if above.type == "truth" and self.parent.level == 0:
                # Constants of a step are numbers.
                number = self.parent.emit("select", (above, 1.0, 0.0))
                return self.emit("less", (0.0, self._input(("taken", number.place), "number")))
            return self._input(("taken", above.place), above.type)
        if isinstance(operand, bool):
            return self.emit("less", (self.take(0.0), self.take(1.0 if operand else -1.0)))
        return self._once(_Entry("constant", number=float(operand)))

    def _key(self, entry: _Entry) -> object:
        operands = tuple(sorted(entry.operands)) if entry.op in _COMMUTATIVE else entry.operands
        # 0 and -0 are equal, and differ.
        return entry.op, operands, entry.number, math.copysign(1.0, entry.number)

    def _once(self, entry: _Entry) -> Value:
        key = self._key(entry)
        place = self._known.get(key)
        if place is None:
            place = self._add(entry)
            self._known[key] = place
        return Value(self, place, self._entries[place].type)

    def emit(self, op: str, operands: Sequence[Operand], number: float = 0.0) -> Value:
        """Return the outcome of an operation that is executed at this time."""
        places = tuple(self.take(each).place for each in operands)
        entry = _Entry(op, places, number, OPERATIONS[op][1])
        if self._later is not None and self._key(entry) not in self._known:
            return self._later.emit(op, operands, number)
        return self._once(entry)

    @contextmanager
    def deferring(self, later: Builder) -> Iterator[None]:
        """Let a builder whose parent is this one calculate values that are not calculated here yet."""
        self._later = later
        try:
            yield
        finally:
            self._later = None

    def draw(self, op: str, index: int) -> Value:
        """Return a random number: the same for the same index."""
        return self.emit(op, (), float(index))

    def loop(self, initial: Sequence[Operand], body: Builder, results: Sequence[Operand], most: int) -> list[Value]:
        """Repeat the program of another builder.

        `body` has the carried values as inputs with the keys 0, 1, ...; `results` are the truth that it continues, then
        the next carried values. Returns the carried values at the end, and the truth that it has ended in time.
        """
        kinds = [self.take(each).type for each in initial]
        carried = [body.input(i, kind) for i, kind in enumerate(kinds)]
        made = [body.take(each) for each in results]
        live = body.live([each.place for each in made])
        captured = body.taken(live)
        program = body.finished([*(each.place for each in carried), *captured], made)
        first = tuple(self.take(each).place for each in initial)
        parents = tuple(place for place, _ in (body.origin(each) for each in captured))
        place = self._add(_Entry("loop", (*first, *parents), float(most), kinds[0], body=program, count=len(kinds)))
        for kind in (*kinds[1:], "truth"):
            self._add(_Entry("of loop", (place,), type=kind))
        return [Value(self, place + i, kind) for i, kind in enumerate((*kinds, "truth"))]

    # ---- the program -------------------------------------------------------------------------------------------------

    def live(self, results: Sequence[int]) -> set[int]:
        """Return the places of some values and of all values on which they depend."""
        live: set[int] = set()
        waiting = list(results)
        while waiting:
            place = waiting.pop()
            if place not in live:
                live.add(place)
                waiting += self._entries[place].operands
        return live

    def taken(self, live: set[int]) -> list[int]:
        """Return the places of inputs from the parent among some values, in the order of their first use."""
        return [place for place in sorted(live) if self.origin(place)[1]]

    def made_by(self, value: Value) -> tuple[str, tuple[Value, ...]]:
        """Return the operation of a value of this builder, and its operands; None for a result of a loop."""
        entry = self._entries[value.place]
        is_loop = entry.op in ("loop", "of loop")
        return entry.op, () if is_loop else tuple(self.value(each) for each in entry.operands)

    def above(self, value: Value) -> Value | None:
        """Return the value of the parent for an input of this builder; None for other inputs."""
        place, is_taken = self.origin(value.place)
        return self.parent.value(place) if is_taken and self.parent is not None else None

    def given(self, value: Value) -> object:
        """Return the key of an input that is not a value of the parent."""
        key = self._entries[value.place].input
        return key[1] if isinstance(key, tuple) and key[0] == "given" else None

    def note(self, value: Value, node: Node) -> None:
        """Remember the expression of a value, unless one is known already."""
        self._nodes.setdefault(value.place, node)

    def node_of(self, value: Value) -> Node | None:
        """Return the expression of a value, if it is known."""
        return self._nodes.get(value.place)

    def origin(self, place: int) -> tuple[int, bool]:
        """Return the place in the parent of an input, and whether it is a value of the parent."""
        key = self._entries[place].input
        is_taken = isinstance(key, tuple) and key[0] == "taken"
        return (key[1], True) if is_taken and isinstance(key, tuple) else (-1, False)

    def known_before(self, place: int) -> Operand:
        """Return the value of the builder from which a value of this one was taken."""
        entry = self._entries[place]
        if entry.op == "constant":
            return entry.number
        above, is_taken = self.origin(place)
        if is_taken and self.parent is not None:
            return self.parent.known_before(above)
        return Value(self, place, entry.type)

    def finished(self, inputs: Sequence[int], results: Sequence[Value]) -> Program:
        """Return the program with these inputs, by their places, and nothing that no result needs."""
        live = self.live([each.place for each in results])
        number = {place: i for i, place in enumerate(inputs)}
        kinds = tuple(self._entries[place].type for place in inputs)
        instructions: list[Instruction] = []
        count = len(inputs)
        for place, entry in enumerate(self._entries):
            if entry.op == "of loop" and entry.operands[0] in live:
                number[place] = count
            elif place not in live or entry.op == "input":
                continue
            else:
                number[place] = count
                operands = tuple(number[each] for each in entry.operands)
                instructions.append(Instruction(entry.op, operands, entry.number, entry.body, entry.count))
            count += 1
        return Program(kinds, tuple(instructions), tuple(number[each.place] for each in results))


def operate(builder: Builder, op: str, *operands: Operand) -> Operand:
    """Return the outcome of an operation, calculated as early as possible.

    `builder` is the earliest one; it calculates constants that differ between machines, such as an exponential.
    """
    values = [each for each in operands if isinstance(each, Value)]
    if not values:
        folded = _folded(op, operands)
        return builder.emit(op, operands) if folded is None else folded
    simple = _simplified(builder, op, operands)
    if simple is not None:
        return simple
    return max(values, key=lambda value: value.level).builder.emit(op, operands)


def _folded(op: str, operands: Sequence[Operand]) -> float | bool | None:
    fold = _FOLDED.get(op)
    if fold is None:
        return None
    try:
        return fold(*operands)
    except (ArithmeticError, ValueError):
        # Errors of constants are found when the expression is read; the core checks the others.
        return None


def _level(operand: Operand) -> int:
    return operand.level if isinstance(operand, Value) else -1


def _simplified(builder: Builder, op: str, operands: Sequence[Operand]) -> Operand | None:
    """Return a simpler form of an operation, or None. Sums keep their order."""
    match op:
        case "add":
            return _sum(builder, operands[0], operands[1])
        case "subtract":
            if _is(operands[1], 0.0):
                return operands[0]
            if _is(operands[0], 0.0):
                return operate(builder, "negate", operands[1])
            negated = _negated(operands[1])
            return None if negated is None else operate(builder, "add", operands[0], negated)
        case "multiply":
            return _product(builder, operands[0], operands[1])
        case "divide" if _level(operands[1]) < _level(operands[0]):
            # Dividing takes many times as long as multiplying.
            inverse = operate(builder, "divide", 1.0, operands[1])
            return operate(builder, "multiply", operands[0], inverse)
        case "divide" if (exponent := _operand_of("expm1_over", operands[1])) is not None:
            # That would be two divisions.
            return operate(builder, "multiply", operands[0], operate(builder, "over_expm1", exponent))
        case "negate":
            return _negated(operands[0])
        case "less" | "less_equal" | "equal" if operands[0] == operands[1]:
            return op != "less"
        case "both" | "either":
            for one, other in (operands, operands[::-1]):
                if isinstance(one, bool):
                    return other if one == (op == "both") else one
        case "select" if isinstance(operands[0], bool):
            return operands[1] if operands[0] else operands[2]
        case "select" if operands[1] == operands[2]:
            return operands[1]
        case "select" if (chosen := _chosen_before(operands[0], operands[1])) is not None:
            return operate(builder, "select", operands[0], chosen, operands[2])
    return None


def _chosen_before(truth: Operand, operand: Operand) -> Operand | None:
    """Return the chosen operand of a choice by a truth that holds; None for other operands."""
    if isinstance(operand, Value):
        entry = operand.builder._entries[operand.place]
        if entry.op == "select" and operand.builder.value(entry.operands[0]) == truth:
            return operand.builder.known_before(entry.operands[1])
    return None


def _is(operand: Operand, number: float) -> bool:
    return not isinstance(operand, Value) and operand == number


def _negated(operand: Operand) -> Operand | None:
    """Return the operand of a negation; None for other operands."""
    return _operand_of("negate", operand) if isinstance(operand, Value) else -operand


def _operand_of(op: str, operand: Operand) -> Value | None:
    """Return the operand of an operation of one, if its outcome is this value."""
    if not isinstance(operand, Value):
        return None
    entry = operand.builder._entries[operand.place]
    return operand.builder.value(entry.operands[0]) if entry.op == op else None


def _sum(builder: Builder, left: Operand, right: Operand) -> Operand | None:
    if _is(left, 0.0):
        return right
    if _is(right, 0.0):
        return left
    if isinstance(right, Value) and (negated := _negated(right)) is not None:
        return operate(builder, "subtract", left, negated)
    if isinstance(left, Value) and (negated := _negated(left)) is not None:
        return operate(builder, "subtract", right, negated)
    return None


def _product(builder: Builder, left: Operand, right: Operand) -> Operand | None:
    if _level(left) < _level(right):
        left, right = right, left
    if _is(right, 1.0):
        return left
    if _is(right, -1.0):
        return operate(builder, "negate", left)
    if isinstance(left, Value) and _level(right) < left.level:
        # Factors that are known earlier are multiplied first.
        entry = left.builder._entries[left.place]
        if entry.op == "negate":
            inner = Value(left.builder, entry.operands[0])
            return operate(builder, "multiply", inner, operate(builder, "negate", right))
        # The operand of a multiplication by a number is often also used without it.
        if entry.op == "multiply" and isinstance(right, Value):
            parts = [left.builder.known_before(place) for place in entry.operands]
            for one, other in (parts, parts[::-1]):
                if _level(other) < left.level <= _level(one):
                    return operate(builder, "multiply", one, operate(builder, "multiply", other, right))
    return None
