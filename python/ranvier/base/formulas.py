"""Values of neurons and synapses that are calculated: texts, and arithmetic of texts, distributions and numbers.

`ranvier.equations.formulas` compiles them when their use is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from ranvier.base.immutable import Immutable
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError

__all__ = [
    "Composite",
    "Formula",
    "FormulaLike",
    "Text",
    "as_formula",
    "check_mode",
    "check_not_number",
    "check_order",
    "clip",
    "cos",
    "exp",
    "log",
    "maximum",
    "minimum",
    "parts_of",
    "redraw",
    "sin",
    "sqrt",
    "with_constants",
]

_NAMES_OF_FUNCTIONS = ("maximum", "minimum", "exp", "log", "sqrt", "sin", "cos", "clip", "redraw")
# Operators as they are written, and how tightly they bind.
_OPERATORS = {"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2), "power": ("**", 4)}


class Formula:
    """Base of values that are calculated; they can be added, multiplied and so on, with each other and with numbers."""

    # Without this, NumPy would take one for an array of objects.
    __array_ufunc__ = None

    def __add__(self, other: FormulaLike) -> Composite:
        return Composite("add", self, other)

    def __radd__(self, other: FormulaLike) -> Composite:
        return Composite("add", other, self)

    def __sub__(self, other: FormulaLike) -> Composite:
        return Composite("subtract", self, other)

    def __rsub__(self, other: FormulaLike) -> Composite:
        return Composite("subtract", other, self)

    def __mul__(self, other: FormulaLike) -> Composite:
        return Composite("multiply", self, other)

    def __rmul__(self, other: FormulaLike) -> Composite:
        return Composite("multiply", other, self)

    def __truediv__(self, other: FormulaLike) -> Composite:
        return Composite("divide", self, other)

    def __rtruediv__(self, other: FormulaLike) -> Composite:
        return Composite("divide", other, self)

    def __pow__(self, other: FormulaLike) -> Composite:
        return Composite("power", self, other)

    def __rpow__(self, other: FormulaLike) -> Composite:
        return Composite("power", other, self)

    def __neg__(self) -> Composite:
        return Composite("negate", self)

    def __abs__(self) -> Composite:
        return Composite("absolute", self)

    def _operands(self) -> tuple[FormulaLike, ...]:
        """Return the values of which it is made."""
        return ()

    def _with_operands(self, operands: tuple[FormulaLike, ...]) -> Formula:
        """Return the same formula of other values."""
        assert not operands
        return self


FormulaLike: TypeAlias = float | str | Formula
"""A number, a text as that of an `Expression`, an `Expression`, a distribution, or arithmetic of these."""


class Text(Formula, Immutable):
    """An expression as a text, with the values of further names; it is read when its use is known."""

    text: str
    _constants: tuple[tuple[str, float | str], ...]

    def __init__(self, text: str) -> None:
        self._put(text=text, _constants=())

    @property
    def constants(self) -> dict[str, float | str]:
        """The constants, as they were given."""
        return dict(self._constants)

    def __reduce__(self) -> tuple[Any, ...]:
        return Text, (self.text,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Text):
            return NotImplemented
        return (self.text, self._constants) == (other.text, other._constants)

    def __hash__(self) -> int:
        return hash((self.text, self._constants))

    def __repr__(self) -> str:
        return repr(self.text)


class Composite(Formula, Immutable):
    """An operation on formulas and numbers.

    Each distribution in it draws independently, also where the same object occurs twice.
    """

    operation: str
    operands: tuple[FormulaLike, ...]
    mode: str

    def __init__(self, operation: str, *operands: FormulaLike, mode: str = "") -> None:
        checked = tuple(_checked_operand(operation, each) for each in operands)
        if operation in ("clip", "redraw"):
            check_order(operation, checked[1], checked[2])
        self._put(operation=operation, operands=checked, mode=mode)

    def _operands(self) -> tuple[FormulaLike, ...]:
        return self.operands

    def _with_operands(self, operands: tuple[FormulaLike, ...]) -> Composite:
        return Composite(self.operation, *operands, mode=self.mode)

    def __reduce__(self) -> tuple[Any, ...]:
        return _composite, (self.operation, self.operands, self.mode)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Composite):
            return NotImplemented
        return (self.operation, self.operands, self.mode) == (other.operation, other.operands, other.mode)

    def __hash__(self) -> int:
        return hash((self.operation, self.operands, self.mode))

    def _strength(self) -> int:
        return _OPERATORS[self.operation][1] if self.operation in _OPERATORS else 3 if self.operation == "negate" else 5

    def __repr__(self) -> str:
        if self.operation in _OPERATORS:
            sign, strength = _OPERATORS[self.operation]
            # Powers group from the right, other operators from the left.
            is_power = self.operation == "power"
            left = _shown(self.operands[0], strength + is_power)
            right = _shown(self.operands[1], strength + (not is_power))
            return f"{left}{sign}{right}" if is_power or sign in "*/" else f"{left} {sign} {right}"
        if self.operation == "negate":
            return f"-{_shown(self.operands[0], 3)}"
        name = "abs" if self.operation == "absolute" else self.operation
        return f"{name}({', '.join(repr(each) for each in self.operands)})"


def _composite(operation: str, operands: tuple[FormulaLike, ...], mode: str) -> Composite:
    return Composite(operation, *operands, mode=mode)


def _shown(operand: FormulaLike, strength: int) -> str:
    is_weaker = isinstance(operand, Composite) and operand._strength() < strength
    is_negative = isinstance(operand, float) and math.copysign(1.0, operand) < 0.0 and strength > 1
    return f"({operand!r})" if is_weaker or is_negative else repr(operand)


def _checked_operand(operation: str, operand: object) -> FormulaLike:
    if isinstance(operand, Formula):
        return operand
    if isinstance(operand, str):
        check_not_number("operand of a formula", operand)
        return Text(operand)
    what = f"operand of {operation if operation in _NAMES_OF_FUNCTIONS else f'a formula ({operation})'}"
    try:
        made = number(what, operand)
    except WrongTypeError as error:
        raise WrongTypeError(
            what, error.value, "must be a number, a text, an Expression, a distribution or arithmetic of these"
        ) from None
    is_bound = operation in ("redraw", "clip") and not math.isnan(made)
    if not math.isfinite(made) and not is_bound:
        raise ValueOutOfBoundsError(what, f"{made}", "it must be finite")
    return made


def check_not_number(what: str, text: str) -> None:
    """Raise WrongTypeError for a text that is only a number: it is a mistake more often than an expression."""
    try:
        float(text)
    except ValueError:
        return
    raise WrongTypeError(what, type(text).__name__, "must be a number, or a text with names or units", f"write {text}")


def as_formula(value: object) -> object:
    """Return a text as a formula, and other values as they are."""
    return Text(value) if isinstance(value, str) else value


def parts_of(value: object) -> Iterator[Formula]:
    """Yield a formula and all formulas in it."""
    if isinstance(value, Formula):
        yield value
        for each in value._operands():
            yield from parts_of(as_formula(each))


def with_constants(value: Any, make: Mapping[str, Formula]) -> Any:
    """Return a value in which texts without constants are replaced by the formulas of `make`, by their text."""
    if isinstance(value, str) or type(value) is Text:
        return make.get(value if isinstance(value, str) else value.text, value)
    if isinstance(value, Formula) and value._operands():
        return value._with_operands(tuple(with_constants(each, make) for each in value._operands()))
    return value


def check_order(owner: str, low: object, high: object) -> None:
    """Raise ValueOutOfBoundsError for two bounds that are numbers in the wrong order."""
    if isinstance(low, float) and isinstance(high, float) and low > high:
        raise ValueOutOfBoundsError(f"low of {owner}", f"{low:g}", f"it must be <= high, {high:g}", "swap the two")


def check_mode(mode: object) -> None:
    """Raise UnknownNameError for a treatment of values outside of bounds that does not exist."""
    if not isinstance(mode, str) or mode not in ("redraw", "clip"):
        unknown_name("mode of a distribution", mode, ["redraw", "clip"])


# ---- functions -------------------------------------------------------------------------------------------------------


def maximum(first: FormulaLike, second: FormulaLike, /) -> Composite:
    """Return the greater of two values, for each neuron or synapse.

    Parameters
    ----------
    first, second
        Numbers, texts, an `Expression`, distributions, or arithmetic of these.

    Examples
    --------
    >>> import ranvier as rv
    >>> rv.maximum(rv.Normal(1.5, 0.5), 0.1)
    maximum(Normal(mean=1.5, std=0.5), 0.1)
    """
    return Composite("maximum", first, second)


def minimum(first: FormulaLike, second: FormulaLike, /) -> Composite:
    """Return the smaller of two values, as `maximum`."""
    return Composite("minimum", first, second)


def exp(value: FormulaLike, /) -> Composite:
    """Return the exponential of a value, for each neuron or synapse."""
    return Composite("exp", value)


def log(value: FormulaLike, /) -> Composite:
    """Return the natural logarithm of a value, for each neuron or synapse."""
    return Composite("log", value)


def sqrt(value: FormulaLike, /) -> Composite:
    """Return the square root of a value, for each neuron or synapse."""
    return Composite("sqrt", value)


def sin(value: FormulaLike, /) -> Composite:
    """Return the sine of a value in radians, for each neuron or synapse."""
    return Composite("sin", value)


def cos(value: FormulaLike, /) -> Composite:
    """Return the cosine of a value in radians, for each neuron or synapse."""
    return Composite("cos", value)


def clip(value: FormulaLike, low: FormulaLike = -math.inf, high: FormulaLike = math.inf) -> Composite:
    """Return values that are moved to the nearer bound if they are outside of bounds.

    Parameters
    ----------
    value
        As for `maximum`.
    low, high
        The bounds, which may also differ from neuron to neuron or from synapse to synapse.
    """
    return Composite("clip", value, low, high)


def redraw(value: FormulaLike, low: FormulaLike = -math.inf, high: FormulaLike = math.inf) -> Composite:
    """Return values that are drawn again while they are outside of bounds: all random numbers in them.

    Parameters
    ----------
    value
        As for `maximum`, with at least one random number in it.
    low, high
        As for `clip`.

    Raises
    ------
    ValueOutOfBoundsError
        When it is used, if fewer than one draw in 1000 is within the bounds somewhere.

    Examples
    --------
    >>> import ranvier as rv
    >>> rv.redraw(rv.Normal(0, 1) * rv.Expression("exp(-d)"), low=0)
    redraw(Normal(mean=0.0, std=1.0)*Expression('exp(-d)'), 0.0, inf)
    """
    return Composite("redraw", value, low, high)
