"""Values of expressions: units, instructions of programs, and sums that are linear in some names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from ranvier.equations.builder import Builder, Operand, Value, operate
from ranvier.equations.places import refuse, refuse_unit
from ranvier.equations.trees import Node
from ranvier.equations.units import NONE, UNITS, Dimension, scaled

__all__ = [
    "CONSTANTS",
    "STEP",
    "Affine",
    "AffineSums",
    "Instructions",
    "Units",
    "before",
    "constant_of",
    "in_unit",
    "unit_number",
]

CONSTANTS = {"pi": math.pi, "e": math.e}
"""Numbers with names."""

STEP = "dt"
"""The length of a step, ms."""


def before(variable: str) -> str:
    """Return the name that the value of a variable at the beginning of a step has in expressions."""
    return f"before({variable})"


_ZERO = "zero"
_TRUTH = "truth"
Kind: TypeAlias = Dimension | str
"""The dimension of a number; of 0, which fits any; of a truth."""

_WORDS = {"add": "add", "subtract": "subtract", "minimum": "compare", "maximum": "compare", "where": "choose between"}


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negate": lambda a: -a,
}


def constant_of(node: Node) -> float | None:
    """Return the number that a node without names is, if it is made by + - * / of others; else None."""
    if node.kind == "number":
        return node.number
    parts = [constant_of(part) for part in node.parts]
    if node.kind not in _ARITHMETIC or None in parts:
        return None
    try:
        return _ARITHMETIC[node.kind](*parts)
    except ArithmeticError:
        return None


def unit_number(name: str) -> float | None:
    """Return the value of a unit in an expression, as a number; None for other names."""
    # Those of one letter are names that variables like to have.
    return scaled(1.0, UNITS[name].exponent) if len(name) > 1 and name in UNITS else None


def in_unit(kind: Kind) -> str:
    """Return a dimension in words."""
    return "a number without unit" if kind in (NONE, _ZERO) else f"in {kind}"


class Units:
    """Finds the dimension of an expression, and checks that the units of all parts match."""

    def __init__(self, names: Mapping[str, Dimension]) -> None:
        self.names = names

    def leaf(self, node: Node) -> Kind:
        """Return the dimension of a number or a name."""
        if node.kind != "name":
            return _ZERO if node.kind == "number" and node.number == 0.0 else NONE
        if node.name in self.names:
            return self.names[node.name]
        return NONE if node.name in CONSTANTS else UNITS[node.name].dimension

    def operation(self, node: Node, parts: list[Kind]) -> Kind:
        """Return the dimension of an outcome."""
        if node.kind in ("both", "either", "not"):
            for part, kind in zip(node.parts, parts, strict=True):
                if kind != _TRUTH:
                    refuse(part.place, f"'{part.place.text}'", "it is a number, not a condition", "compare it: x > 0")
            return _TRUTH
        if node.kind == "where":
            if parts[0] != _TRUTH:
                place = node.parts[0].place
                refuse(place, f"'{place.text}'", "it is a number, not a condition", "compare it: x > 0")
            return self._same(node, parts[1], parts[2], node.parts[1:])
        for part, kind in zip(node.parts, parts, strict=True):
            if kind == _TRUTH:
                refuse(part.place, f"'{part.place.text}'", "it is a condition, not a number", "write int(...)")
        return self._of_numbers(node, parts)

    def _of_numbers(self, node: Node, parts: list[Kind]) -> Kind:
        match node.kind:
            case "multiply" | "divide":
                left, right = parts
                if isinstance(left, str) or isinstance(right, str):
                    # A division by 0 is found by other checks.
                    return _ZERO if node.kind == "multiply" else left
                return left * right if node.kind == "multiply" else left / right
            case "negate" | "absolute" | "before":
                return parts[0]
            case "square_root":
                return parts[0] if isinstance(parts[0], str) else parts[0] ** Fraction(1, 2)
            case "power":
                return self._power(node, parts)
            case "add" | "subtract" | "minimum" | "maximum":
                return self._same(node, parts[0], parts[1], node.parts)
            case "less" | "less_equal" | "equal":
                self._same(node, parts[0], parts[1], node.parts)
                return _TRUTH
        if parts[0] not in (NONE, _ZERO):
            place = node.parts[0].place
            refuse_unit(
                place,
                in_unit(parts[0]),
                f"{node.kind.replace('expm1_over', 'exprel')} takes a number without unit",
                f"divide by a unit or a parameter: ({place.text})/{parts[0]}",
            )
        return NONE

    def _same(self, node: Node, left: Kind, right: Kind, sides: tuple[Node, ...]) -> Kind:  # noqa: RET503
        if left in (_ZERO, right):
            return right
        if right == _ZERO:
            return left
        # In the order of the text.
        shown = sorted(zip(sides, (left, right), strict=True), key=lambda pair: pair[0].place.begin)
        first, second = (f"'{side.place.text}' is {in_unit(kind)}" for side, kind in shown)
        refuse_unit(
            node.place,
            f"'{node.place.text}'",
            f"{first}, and {second}: one cannot {_WORDS.get(node.kind, 'compare')} them",
            "give both the same unit" + (", or multiply a number by its unit: 5*mV" if NONE in (left, right) else ""),
        )

    def _power(self, node: Node, parts: list[Kind]) -> Kind:
        base, exponent = parts
        if exponent not in (NONE, _ZERO):
            place = node.parts[1].place
            refuse_unit(place, f"in {exponent}", "an exponent has no unit", "divide it by its unit")
        if base in (NONE, _ZERO):
            return NONE
        number = constant_of(node.parts[1])
        if number is None or abs(number) > 12 or not isinstance(base, Dimension):
            place = node.parts[0].place
            refuse_unit(
                place,
                f"in {base}",
                "the exponent of a value with a unit is a number from -12 to 12",
                "divide it by its unit",
            )
        return base ** Fraction(number).limit_denominator(12)


@dataclass
class Instructions:
    """Makes the instructions that calculate an expression.

    Attributes
    ----------
    earliest
        The builder of calculations before a step.
    names
        Values of names.
    draws
        Gives the random number of a draw, by its node; None where there cannot be any.
    conditions
        Truths that must hold for finite constants, each with the reason of a failure; more are appended.
    positive
        Names of parameters whose bounds keep them above 0.
    used
        Returns the truth that an expression is used, where this depends on parameters; None: it always is.
    """

    earliest: Builder
    names: Mapping[str, Operand]
    draws: Callable[[Node], Operand] | None = None
    conditions: list[tuple[Operand, str]] = field(default_factory=list)
    positive: frozenset[str] = frozenset()
    used: Callable[[Node], Operand] | None = None

    def leaf(self, node: Node) -> Operand:
        """Return a number, or the value of a name."""
        if node.kind == "number":
            return node.number
        if node.kind == "draw":
            assert self.draws is not None
            return self.draws(node)
        if node.name in self.names:
            return self.names[node.name]
        number = CONSTANTS.get(node.name) or unit_number(node.name)
        assert number is not None, node.name
        return number

    def operation(self, node: Node, parts: list[Operand]) -> Operand:
        """Return the outcome of an operation."""
        made = self._operation(node, parts)
        if isinstance(made, float) and not math.isfinite(made):
            refuse(node.place, f"'{node.place.text}'", "it is too large for floating point", "write smaller numbers")
        if isinstance(made, Value):
            made.builder.note(made, node)
        return made

    def _do(self, op: str, *operands: Operand) -> Operand:
        return operate(self.earliest, op, *operands)

    def _operation(self, node: Node, parts: list[Operand]) -> Operand:
        match node.kind:
            case "divide":
                return self._do("divide", parts[0], self.checked_divisor(node, parts[1]))
            case "square_root" | "log" | "log1p":
                return self._do(node.kind, self._checked_argument(node, parts[0]))
            case "power":
                return self._power(node, parts[0], parts[1])
            case "where":
                return self._do("select", *parts)
            case "before":
                return self.names[before(node.parts[0].name)]
            case "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh":
                return getattr(self, f"_{node.kind}")(parts[0])  # type: ignore[no-any-return]
        return self._do(node.kind, *parts)

    def checked_divisor(self, node: Node, divisor: Operand) -> Operand:
        """Refuse to divide by 0, or note that a divisor which is known before a step must not be 0.

        Returns the divisor, with 1 in its place where the quotient is not used.
        """
        place = node.parts[1].place
        if not isinstance(divisor, Value):
            if divisor == 0.0:
                refuse(place, f"'{place.text}', by which is divided", "it is 0", "write another divisor")
        elif divisor.builder is self.earliest and not self._is_positive(node.parts[1]):
            reason = f"'{place.text}', by which '{node.place.text}' is divided ({place.called()}), is 0"
            return self._required(node, divisor, (self._do("not", self._do("equal", divisor, 0.0)), reason))
        return divisor

    def _required(self, node: Node, operand: Operand, *conditions: tuple[Operand, str]) -> Operand:
        """Add a condition of an expression for where it is used; return its operand, replaced by 1 elsewhere."""
        used = True if self.used is None else self.used(node)
        if used is not False:
            unused = self._do("not", used)
            self.conditions += [(self._do("either", unused, truth), reason) for truth, reason in conditions]
        return self._do("select", used, operand, 1.0)

    def _is_positive(self, node: Node) -> bool:
        if node.kind == "number":
            return node.number > 0.0
        if node.kind == "name":
            return node.name in self.positive or node.name == STEP or (unit_number(node.name) or 0.0) > 0.0
        is_product = node.kind in ("multiply", "divide", "power", "square_root", "exp", "add")
        return is_product and all(self._is_positive(part) for part in node.parts[: 1 if node.kind == "power" else 2])

    def _checked_argument(self, node: Node, argument: Operand) -> Operand:
        least = {"square_root": 0.0, "log": 0.0, "log1p": -1.0}[node.kind]
        name = {"square_root": "sqrt"}.get(node.kind, node.kind)
        place, sign = node.parts[0].place, ">=" if node.kind == "square_root" else ">"
        if not isinstance(argument, Value):
            if argument < least or (argument == least and sign == ">"):
                refuse(place, f"{argument:g}", f"{name} takes numbers {sign} {least:g}", "write another one")
        elif argument.builder is self.earliest and not self._is_positive(node.parts[0]):
            reason = f"{name} takes numbers {sign} {least:g}, and '{place.text}' ({place.called()}) is not one of them"
            op = "less_equal" if sign == ">=" else "less"
            return self._required(node, argument, (self._do(op, least, argument), reason))
        return argument

    # ---- functions that are made of others ---------------------------------------------------------------------------

    def _power(self, node: Node, base: Operand, exponent: Operand) -> Operand:
        if not isinstance(exponent, Value):
            if exponent == 0.5:
                return self._do("square_root", base)
            if exponent == math.floor(exponent) and abs(exponent) <= 64:
                if exponent < 0 and base == 0.0:
                    refuse(node.place, f"'{node.place.text}'", "it divides by 0", "write another base")
                if exponent < 0:
                    base = self._checked_base(node, base, exponent)
                power = self._whole_power(base, int(abs(exponent)))
                return power if exponent >= 0 else self._do("divide", 1.0, power)
            if not isinstance(base, Value):
                try:
                    found = base**exponent
                except ArithmeticError:
                    found = math.inf
                if isinstance(found, complex) or not abs(found) < 1e300:
                    refuse(node.place, f"'{node.place.text}'", "it is not a number in the range of floating point")
        return self._do("pow", self._checked_base(node, base, exponent), exponent)

    def _checked_base(self, node: Node, base: Operand, exponent: Operand) -> Operand:
        """Note that a power of parameters must be a finite number; return its base, with 1 where it is not used."""
        known = [each for each in (base, exponent) if isinstance(each, Value)]
        if not known or any(each.builder is not self.earliest for each in known) or self._is_positive(node.parts[0]):
            return base
        text = f"'{node.place.text}' ({node.place.called()})"
        is_negative, is_whole = self._do("less", base, 0.0), self._do("equal", exponent, self._do("floor", exponent))
        divides = self._do("both", self._do("equal", base, 0.0), self._do("less", exponent, 0.0))
        is_real = self._do("either", self._do("not", is_negative), is_whole)
        return self._required(
            node,
            base,
            (is_real, f"{text} is not a number: negative numbers have only whole powers"),
            (self._do("not", divides), f"{text} divides by 0"),
        )

    def _whole_power(self, base: Operand, exponent: int) -> Operand:
        made: Operand = 1.0
        square = base
        while exponent:
            if exponent & 1:
                made = self._do("multiply", made, square)
            exponent >>= 1
            if exponent:
                square = self._do("multiply", square, square)
        return made

    def _sin(self, x: Operand) -> Operand:
        return self._do("sine_of_cycles", self._do("multiply", x, 0.5 / math.pi))

    def _cos(self, x: Operand) -> Operand:
        return self._do("sine_of_cycles", self._do("add", self._do("multiply", x, 0.5 / math.pi), 0.25))

    def _tan(self, x: Operand) -> Operand:
        return self._do("divide", self._sin(x), self._cos(x))

    def _sinh(self, x: Operand) -> Operand:
        other = self._do("expm1", self._do("negate", x))
        return self._do("multiply", self._do("subtract", self._do("expm1", x), other), 0.5)

    def _cosh(self, x: Operand) -> Operand:
        other = self._do("exp", self._do("negate", x))
        return self._do("multiply", self._do("add", self._do("exp", x), other), 0.5)

    def _tanh(self, x: Operand) -> Operand:
        grown = self._do("expm1", self._do("multiply", x, 2.0))
        return self._do("divide", grown, self._do("add", grown, 2.0))


@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of names times coefficients and of a constant; or, for other expressions, the part that is not linear."""

    coefficients: Mapping[str, Operand]
    constant: Operand = 0.0
    prevented_by: Node | None = None


class AffineSums:
    """Writes an expression as a sum that is linear in some names, with coefficients that may depend on others."""

    def __init__(self, instructions: Instructions, names: Mapping[str, Affine]) -> None:
        self.instructions = instructions
        self.names = names

    def leaf(self, node: Node) -> Affine:
        """Return a name that sums are linear in, or a constant."""
        if node.kind == "name" and node.name in self.names:
            return self.names[node.name]
        return Affine({}, self.instructions.leaf(node))

    def operation(self, node: Node, parts: list[Affine]) -> Affine:
        """Return the sum that an outcome is."""
        for part in parts:
            if part.prevented_by is not None:
                return part
        if not any(part.coefficients for part in parts):
            return Affine({}, self.instructions.operation(node, [part.constant for part in parts]))
        left, right = parts[0], parts[-1]
        match node.kind:
            case "negate":
                return self._times(left, -1.0)
            case "add":
                return self._added(left, right)
            case "subtract":
                return self._added(left, self._times(right, -1.0))
            case "multiply" if not right.coefficients:
                return self._times(left, right.constant)
            case "multiply" if not left.coefficients:
                return self._times(right, left.constant)
            case "divide" if not right.coefficients:
                divisor = self.instructions.checked_divisor(node, right.constant)
                return self._mapped(left, lambda each: self._do("divide", each, divisor))
            case "power" if right.constant == 1.0:
                return left
        return Affine({}, prevented_by=node)

    def _do(self, op: str, *operands: Operand) -> Operand:
        return operate(self.instructions.earliest, op, *operands)

    def _mapped(self, affine: Affine, change: Callable[[Operand], Operand]) -> Affine:
        return Affine(
            {name: change(each) for name, each in affine.coefficients.items()},
            0.0 if affine.constant == 0.0 else change(affine.constant),
        )

    def _times(self, affine: Affine, factor: Operand) -> Affine:
        if factor == 0.0:
            return Affine({})
        return self._mapped(affine, lambda each: self._do("multiply", each, factor))

    def _added(self, left: Affine, right: Affine) -> Affine:
        made = dict(left.coefficients)
        for name, each in right.coefficients.items():
            made[name] = self._do("add", made[name], each) if name in made else each
        made = {name: each for name, each in made.items() if each != 0.0}
        return Affine(made, self._do("add", left.constant, right.constant))
