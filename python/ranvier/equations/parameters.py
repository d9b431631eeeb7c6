"""Parameters of models of equations: their defaults, units and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ranvier.base.hints import known_keywords
from ranvier.base.numeric import number
from ranvier.base.texts import check_text, name_type
from ranvier.equations.description import Declared, Parameter
from ranvier.equations.names import check_new_name
from ranvier.equations.places import Place, Source, refuse, refuse_unit
from ranvier.equations.trees import Node, nodes_of
from ranvier.equations.units import NONE, TIME, UNITS, Dimension, Unit, read_quantity, scaled
from ranvier.errors import UnitError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["declare", "declared_parameters", "parameter", "value_in", "with_positive_divisors"]

_POSITIVE = (TIME, *(UNITS[name].dimension for name in ("pF", "nS", "GOhm")))
"""Dimensions of divisors that must be positive: time, capacitance, conductance and resistance."""


@known_keywords
def parameter(
    default: str | float | bool,
    *,
    low: str | float | None = None,
    high: str | float | None = None,
    low_open: bool = False,
    high_open: bool = False,
    meaning: str = "",
) -> Declared:
    """Declare a parameter of equations, with bounds and a meaning.

    Parameters
    ----------
    default
        Its value and unit, ``"10 ms"``; a number has no unit. True or False: a switch, which is 1 or 0 in equations.
    low, high
        Bounds: numbers in the unit of the default, or ``"0.1 ms"``; None: no bound.
    low_open, high_open
        Whether the bound itself is excluded.
    meaning
        Meaning of the parameter, for the documentation of the model.

    Raises
    ------
    EquationError, UnitError
        For a text that is not a quantity, and for bounds in another unit.
    ValueOutOfBoundsError
        For a default outside of the bounds.

    Examples
    --------
    >>> import ranvier as rv
    >>> tau = rv.parameter("10 ms", low=0.0, low_open=True, meaning="Time constant of the membrane")
    """
    return declare("default of rv.parameter()", default, low, high, low_open, high_open, meaning)


def declare(
    what: str,
    default: object,
    low: object = None,
    high: object = None,
    low_open: bool = False,
    high_open: bool = False,
    meaning: str = "",
) -> Declared:
    """Return a parameter as `parameter` does; `what` is the name of the default in errors."""
    if isinstance(default, str):
        quantity = read_quantity(what, default)
        value, unit = quantity.number, quantity.unit
    elif isinstance(default, bool):
        if low is not None or high is not None:
            raise WrongTypeError("bounds of a switch", "a number", "a switch is True or False")
        value, unit, low, high = float(default), Unit(NONE, 0, ""), 0.0, 1.0
    else:
        value, unit = number(what, default), Unit(NONE, 0, "")
    for flag, given in (("low_open", low_open), ("high_open", high_open)):
        if not isinstance(given, bool):
            raise WrongTypeError(flag, name_type(given), "must be True or False")
    made = Declared(
        value,
        unit,
        -math.inf if low is None else value_in("low", low, unit),
        math.inf if high is None else value_in("high", high, unit),
        low_open,
        high_open,
        check_text("meaning", meaning),
        isinstance(default, bool),
    )
    _check_default(what, made)
    return made


def _check_default(what: str, declared: Declared) -> None:
    if not declared.contains(declared.default):
        lower = f"{'>' if declared.lower_open else '>='} {declared.lower:g}" if math.isfinite(declared.lower) else ""
        upper = f"{'<' if declared.upper_open else '<='} {declared.upper:g}" if math.isfinite(declared.upper) else ""
        bound = " and ".join(each for each in (lower, upper) if each) or "finite"
        raise ValueOutOfBoundsError(what, f"{declared.default:g} {declared.unit.text}".strip(), f"it must be {bound}")


def value_in(what: str, value: object, unit: Unit) -> float:
    """Return a number, or a text like ``"400 pA"``, as a number in a unit.

    Raises
    ------
    UnitError, EquationError, WrongTypeError
        For another unit, and for other types.
    """
    if not isinstance(value, str):
        return number(what, value)
    quantity = read_quantity(what, value)
    if quantity.unit.dimension != unit.dimension:
        raise UnitError(
            what,
            f"'{value}', which is in {quantity.unit.dimension}",
            f"it must be in {unit.text or 'numbers without unit'}",
            f"write '{quantity.number:g} {unit.text}'" if unit.text else f"write {quantity.number:g}",
        )
    return scaled(quantity.number, quantity.unit.exponent - unit.exponent)


def declared_parameters(
    given: Mapping[str, object] | None, taken: Mapping[str, str], expected: Mapping[str, Unit]
) -> dict[str, Parameter]:
    """Return the parameters of a user; `taken` are other names, with their meanings.

    `expected` are the units of those that the equations declare.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise WrongTypeError("parameters", name_type(given), "must be a mapping from names", 'write dict(tau="10 ms")')
    made = {}
    for name, value in given.items():
        check_text("name of a parameter", name)
        place = Place(Source("the parameters", name), 0, max(1, len(name)))
        check_new_name(place, name, "a parameter")
        if name in taken:
            refuse(place, f"'{name}', the name of a parameter", f"it would shadow {taken[name]}", "choose another name")
        declared = value if isinstance(value, Declared) else declare(f"parameter {name}", value)
        if name in expected and expected[name].dimension != declared.unit.dimension:
            refuse_unit(
                place,
                f"in {declared.unit.dimension}",
                f"the equations declare it in {expected[name].dimension}",
                f"write '{declared.default:g} {expected[name].dimension}'",
            )
        made[name] = Parameter(name, declared)
    return made


def with_positive_divisors(
    parameters: Mapping[str, Parameter], nodes: Iterable[Node], period: Node | None
) -> dict[str, Parameter]:
    """Return parameters with bounds that follow from their use: time constants by which is divided are positive."""
    made = dict(parameters)
    for node in nodes:
        for part in nodes_of(node):
            if part.kind == "divide":
                for name in _factors(part.parts[1]):
                    if name in made and _is_positive(made[name].declared):
                        declared = made[name].declared
                        if declared.lower < 0.0 or (declared.lower == 0.0 and not declared.lower_open):
                            made[name] = Parameter(name, replace(declared, lower=0.0, lower_open=True))
    if period is not None and period.kind == "name" and period.name in made:
        declared = made[period.name].declared
        longest = scaled(1e6, -declared.unit.exponent)
        declared = replace(declared, lower=max(declared.lower, 0.0), upper=min(declared.upper, longest))
        _check_default(f"parameter {period.name}", declared)
        made[period.name] = Parameter(period.name, declared)
    return made


def _is_positive(declared: Declared) -> bool:
    dimension: Dimension = declared.unit.dimension
    return declared.default > 0.0 and dimension in _POSITIVE


def _factors(node: Node) -> list[str]:
    if node.kind == "name":
        return [node.name]
    if node.kind in ("multiply", "divide"):
        return [name for part in node.parts for name in _factors(part)]
    if node.kind in ("power", "square_root"):
        return _factors(node.parts[0])
    return []
