"""Ranges of the values of programs, for any values of variables: often wider than necessary, never narrower."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ranvier.equations.builder import Builder, Operand, Value

__all__ = ["LAST_EXPONENT", "Range", "Ranges"]

Range: TypeAlias = tuple[float, float]

_ANY: Range = (-math.inf, math.inf)
LAST_EXPONENT = 700.0
"""Larger arguments of exponentials count as this one, and those below its negative as the negative."""
# Exponentials may be rounded by a few units in the last place.
_ROUNDED = 1e-12


def _hull(ends: list[float]) -> Range:
    return _ANY if any(math.isnan(each) for each in ends) else (min(ends), max(ends))


def _product(a: float, b: float) -> float:
    # An infinite end represents arbitrarily large finite numbers.
    return 0.0 if a == 0.0 or b == 0.0 else a * b


def _multiply(a: Range, b: Range) -> Range:
    return _hull([_product(x, y) for x in a for y in b])


def _divide(a: Range, b: Range) -> Range:
    if b[0] <= 0.0 <= b[1]:
        return _ANY
    return _hull([0.0 if math.isinf(y) else x / y for x in a for y in b])


def _absolute(a: Range) -> Range:
    far = max(abs(a[0]), abs(a[1]))
    return (0.0 if a[0] <= 0.0 <= a[1] else min(abs(a[0]), abs(a[1])), far)


def _floor(x: float) -> float:
    return x if math.isinf(x) else float(math.floor(x))


def _exp(a: Range) -> Range:
    low, high = (math.exp(min(max(each, -LAST_EXPONENT), LAST_EXPONENT)) for each in a)
    return low * (1.0 - _ROUNDED), high * (1.0 + _ROUNDED)


def _expm1(a: Range) -> Range:
    low, high = _exp(a)
    return low - 1.0 - _ROUNDED, high - 1.0 + _ROUNDED


_OPERATIONS: dict[str, Callable[..., Range]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "multiply": _multiply,
    "divide": _divide,
    "negate": lambda a: (-a[1], -a[0]),
    "absolute": _absolute,
    "square_root": lambda a: (math.sqrt(max(a[0], 0.0)), math.sqrt(max(a[1], 0.0))),
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "floor": lambda a: (_floor(a[0]), _floor(a[1])),
    "exp": _exp,
    "expm1": _expm1,
    "expm1_over": lambda a: (0.0, math.inf),
    "over_expm1": lambda a: (0.0, math.inf),
    "sine_of_cycles": lambda a: (-1.0 - _ROUNDED, 1.0 + _ROUNDED),
    "select": lambda truth, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "uniform_draw": lambda: (2.0**-54, 1.0),
}


class Ranges:
    """The ranges of values; `parameters` are the bounds of parameters by name, others are not known.

    The result of an undefined operation is in no range: this is checked at the operation.
    """

    def __init__(self, parameters: Mapping[str, Range]) -> None:
        self.parameters = parameters
        self._found: dict[tuple[Builder, int], Range] = {}

    def of(self, operand: Operand) -> Range:
        """Return the least and the greatest number that a value can be."""
        if not isinstance(operand, Value):
            return float(operand), float(operand)
        waiting = [operand]
        while waiting:
            value = waiting[-1]
            if self._key(value) in self._found:
                waiting.pop()
                continue
            needed = [each for each in self._needed(value) if self._key(each) not in self._found]
            if needed:
                waiting += needed
                continue
            self._found[self._key(value)] = self._range(value)
            waiting.pop()
        return self._found[self._key(operand)]

    def _key(self, value: Value) -> tuple[Builder, int]:
        return value.builder, value.place

    def _needed(self, value: Value) -> list[Value]:
        op, operands = value.builder.made_by(value)
        if op == "input":
            above = value.builder.above(value)
            return [] if above is None else [above]
        return list(operands) if op in _OPERATIONS else []

    def _range(self, value: Value) -> Range:
        op, operands = value.builder.made_by(value)
        if op == "input":
            above = value.builder.above(value)
            if above is not None:
                return self._found[self._key(above)]
            name = value.builder.given(value)
            return self.parameters.get(name[1], _ANY) if isinstance(name, tuple) and name[0] == "parameter" else _ANY
        if op == "constant":
            number = value.builder.known_before(value.place)
            assert isinstance(number, float)
            return number, number
        if op == "multiply" and operands[0] == operands[1]:
            low, high = _absolute(self._found[self._key(operands[0])])
            return _product(low, low), _product(high, high)
        if op not in _OPERATIONS:
            return _ANY
        ranges = [self._found[self._key(each)] for each in operands]
        low, high = _OPERATIONS[op](*ranges)
        return _ANY if math.isnan(low) or math.isnan(high) else (low, high)
