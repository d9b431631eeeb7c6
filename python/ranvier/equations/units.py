"""Units of the field, and the dimensions of expressions.

All calculations are in one consistent system of units: mV, ms, pA, and so nS = pA/mV, pF = pA ms/mV, GOhm and
kHz; beside these um, mM and kelvin. A unit is a dimension and a power of ten. The table is written here: libraries of
units have thousands of names, among them `a`, `g`, `h`, `m` and `w`, which are variables here, and take longer to load
than this package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ranvier.equations.places import Place, Source, refuse, refuse_name, refuse_unit
from ranvier.equations.trees import TOO_SMALL, Node, is_too_small, parse

__all__ = ["NONE", "TIME", "UNITS", "Dimension", "Quantity", "Unit", "read_quantity", "read_unit", "scaled"]

_BASES = ("mV", "ms", "pA", "um", "mM", "kelvin")


@dataclass(frozen=True, slots=True)
class Dimension:
    """Exponents of mV, ms, pA, um, mM and kelvin."""

    exponents: tuple[Fraction, ...]

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a - b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __pow__(self, exponent: Fraction) -> Dimension:
        return Dimension(tuple(a * exponent for a in self.exponents))

    def __str__(self) -> str:
        """Return a unit of this dimension, for example ``pA/ms``; of numbers ``1``."""
        for divisor in ("", "/ms"):
            for name in ("mV", "ms", "pA", "nS", "pF", "GOhm", "fC", "mM", "um", "kelvin"):
                if not divisor and self == UNITS[name].dimension:
                    return name
                if divisor and self == UNITS[name].dimension / TIME and name != "ms":
                    return name + divisor
        above = [_power(name, each) for name, each in zip(_BASES, self.exponents, strict=True) if each > 0]
        below = [_power(name, -each) for name, each in zip(_BASES, self.exponents, strict=True) if each < 0]
        return "/".join(["*".join(above) or "1", *below])


def _power(name: str, exponent: Fraction) -> str:
    if exponent == 1:
        return name
    return f"{name}**{exponent}" if exponent.denominator == 1 else f"{name}**({exponent})"


def _dimension(*exponents: int) -> Dimension:
    return Dimension(tuple(Fraction(each) for each in (*exponents, *(0,) * (len(_BASES) - len(exponents)))))


NONE = _dimension()
TIME = _dimension(0, 1)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: 10**`exponent` of the unit of its dimension that calculations use, and how it is written."""

    dimension: Dimension
    exponent: int
    text: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    number: float
    unit: Unit


def scaled(number: float, exponent: int) -> float:
    """Return a number times a power of ten, rounded once."""
    return number * 10.0**exponent if exponent >= 0 else number / 10.0**-exponent


# Symbol, other names, dimension, power of ten of the unit without prefix, prefixes.
_FAMILIES: tuple[tuple[str, tuple[str, ...], Dimension, int, str], ...] = (
    ("V", ("volt",), _dimension(1), 3, "numk"),
    ("s", ("second",), TIME, 3, "num"),
    ("A", ("amp", "ampere"), _dimension(0, 0, 1), 12, "fpnum"),
    ("S", ("siemens",), _dimension(-1, 0, 1), 9, "pnum"),
    ("F", ("farad",), _dimension(-1, 1, 1), 12, "fpnum"),
    ("Ohm", ("ohm",), _dimension(1, 0, -1), -9, "kMG"),
    ("Hz", ("hertz",), _dimension(0, -1), -3, "kM"),
    ("C", ("coulomb",), _dimension(0, 1, 1), 15, "fpnu"),
    ("m", ("metre", "meter"), _dimension(0, 0, 0, 1), 6, "numc"),
    ("M", ("molar",), _dimension(0, 0, 0, 0, 1), 3, "num"),
)
_PREFIXES = {"f": -15, "p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "k": 3, "M": 6, "G": 9}


def _all_units() -> dict[str, Unit]:
    units = {name: Unit(_dimension(0, 0, 0, 0, 0, 1), 0, name) for name in ("kelvin", "K")}
    for symbol, names, dimension, exponent, prefixes in _FAMILIES:
        for prefix, power in [("", 0), *((each, _PREFIXES[each]) for each in prefixes)]:
            for name in (symbol, *names):
                units[prefix + name] = Unit(dimension, exponent + power, prefix + name)
    return units


UNITS: Mapping[str, Unit] = _all_units()
"""Units by name. In expressions, those of one letter are not units: they are common names of variables."""

_NUMBER = re.compile(r"[ \t]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*")


def _unit_of(node: Node) -> Unit:
    """Return the unit that an expression like ``nS/mV**2`` means."""
    if node.kind == "name":
        if node.name not in UNITS:
            refuse_name(node.place, node.name, list(UNITS), f"units are {', '.join(UNITS)}")
        return UNITS[node.name]
    if node.kind == "number" and node.number == 1.0:
        return Unit(NONE, 0, "")
    if node.kind == "square_root":
        return _raised(node, _unit_of(node.parts[0]), Fraction(1, 2))
    if node.kind == "power":
        base, exponent = node.parts
        if exponent.kind != "number" or abs(exponent.number) > 12:
            refuse(exponent.place, f"'{exponent.place.text}'", "an exponent of a unit is a number from -12 to 12")
        return _raised(node, _unit_of(base), Fraction(exponent.number).limit_denominator(12))
    if node.kind not in ("multiply", "divide"):
        refuse(node.place, f"'{node.place.text}'", "this is not a unit", "write a unit such as mV, 1/ms or nS/mV")
    left, right = map(_unit_of, node.parts)
    if node.kind == "multiply":
        return Unit(left.dimension * right.dimension, left.exponent + right.exponent, "")
    return Unit(left.dimension / right.dimension, left.exponent - right.exponent, "")


def _raised(node: Node, unit: Unit, power: Fraction) -> Unit:
    exponent = unit.exponent * power
    if exponent.denominator != 1:
        refuse_unit(node.place, node.place.text, "this is not a power of ten of a unit", "write it in mV, ms and pA")
    return Unit(unit.dimension**power, int(exponent), "")


def read_unit(source: Source, begin: int, end: int) -> Unit:
    """Return the unit between two places of a text; ``1`` is no unit."""
    unit = _unit_of(parse(source, begin, end))
    text = " ".join(source.text[begin:end].split())
    return Unit(unit.dimension, unit.exponent, "" if text == "1" else text)


def read_quantity(what: str, text: str) -> Quantity:
    """Return the quantity of a text like ``-70 mV``; `what` is its name in errors.

    Raises
    ------
    EquationError
        When it is not a quantity.
    """
    source = Source(what, text)
    found = _NUMBER.match(text)
    if found is None:
        refuse(
            Place(source, 0, max(1, len(text))), f"'{text[:80]}'", "it must be a number with its unit", "write '2 ms'"
        )
    begin = found.end()
    rest = text[begin:].lstrip()
    number = float(found[1])
    if number in (float("inf"), float("-inf")):
        refuse(Place(source, *found.span(1)), found[1], "it is too large for floating point", "write a smaller number")
    if is_too_small(number, found[1]):
        refuse(Place(source, *found.span(1)), found[1], "it is too small for floating point", TOO_SMALL)
    if not rest:
        return Quantity(number, Unit(NONE, 0, ""))
    if rest.startswith("*") and not rest.startswith("**"):
        begin = text.index("*", begin) + 1
    elif rest.startswith("/"):
        # A number over a unit.
        over = read_unit(source, text.index("/", begin) + 1, len(text))
        return Quantity(number, Unit(NONE / over.dimension, -over.exponent, f"1/{over.text}"))
    return Quantity(number, read_unit(source, begin, len(text)))
