"""Distributions from which parameters, weights and delays are drawn.

A drawn value depends on the seed of the network and on its neuron or synapse, never on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Literal

from ranvier import _core
from ranvier.base.formulas import Formula, FormulaLike, check_mode, check_not_number, check_order
from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import value_class
from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["Distribution", "Exponential", "LogNormal", "Normal", "Uniform", "is_plain"]

Mode = Literal["redraw", "clip"]


def _bounded(
    kind: str, first: FormulaLike, second: FormulaLike, low: FormulaLike, high: FormulaLike, mode: str
) -> _core.Distribution:
    check_mode(mode)
    first, second, low, high = (number("parameter of a distribution", value) for value in (first, second, low, high))
    if math.isnan(low) or math.isnan(high):
        mode = "redraw"  # the core refuses bounds that are NaN, but only if there are bounds
    elif low == -math.inf and high == math.inf:
        mode = "none"
    return _core.Distribution(kind, first, second, mode, low, high)


def is_plain(value: object) -> bool:
    """Return whether a value is a distribution whose parameters are numbers, which the core knows."""
    return isinstance(value, Distribution) and not any(isinstance(each, str | Formula) for each in value._operands())


@value_class
class Distribution(Formula, NamedAttributes):
    """Base of all distributions.

    Parameters are numbers; or texts and formulas, as `Expression`, which differ from neuron to neuron or from synapse
    to synapse. Distributions can be added, multiplied and so on with each other, with numbers and with an `Expression`.
    """

    def __post_init__(self) -> None:
        if type(self) is Distribution:
            raise ValueOutOfBoundsError(
                "distribution",
                bound="this is the base of all distributions",
                remedy="make one of Normal, LogNormal, Uniform, Exponential",
            )
        for field in fields(self):
            given = getattr(self, field.name)
            if isinstance(given, str) and field.name != "mode":
                check_not_number(f"{field.name} of a distribution", given)
            elif field.name != "mode" and not isinstance(given, Formula):
                value = number(f"{field.name} of a distribution", given)
                object.__setattr__(self, field.name, value)
        if is_plain(self):
            self._to_core().check(repr(self))
        else:
            self._check_numbers()

    def _check_numbers(self) -> None:
        """Check those parameters that are numbers, beside others that are not known yet."""
        check_mode(getattr(self, "mode", "redraw"))
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, float):
                continue
            what = f"{field.name} of a distribution"
            is_bound = field.default in (-math.inf, math.inf) and not math.isnan(value)
            if not math.isfinite(value) and not is_bound:
                raise ValueOutOfBoundsError(what, f"{value}", "it must be finite", "give a number")
            if value < 0.0 and field.name in self._widths():
                raise ValueOutOfBoundsError(what, f"{value:g}", "it must be >= 0", "give its absolute value")
        check_order("a distribution", getattr(self, "low", None), getattr(self, "high", None))

    @classmethod
    def _widths(cls) -> tuple[str, ...]:
        """Return the names of parameters that cannot be negative."""
        return ()

    def _operands(self) -> tuple[FormulaLike, ...]:
        return tuple(getattr(self, field.name) for field in fields(self) if field.name != "mode")

    def _with_operands(self, operands: tuple[FormulaLike, ...]) -> Distribution:
        names = [field.name for field in fields(self) if field.name != "mode"]
        return replace(self, **dict(zip(names, operands, strict=True)))

    def __repr__(self) -> str:
        # As a user would write it: without the values that equal the defaults.
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def _to_core(self) -> _core.Distribution:
        raise NotImplementedError


@value_class
class Normal(Distribution):
    """Normal distribution, optionally restricted to an interval.

    Parameters
    ----------
    mean, std
        Mean and standard deviation of the unrestricted distribution; ``std >= 0``. Numbers, or texts and formulas that
        differ from neuron to neuron or from synapse to synapse: ``rv.Normal("J*exp(-d/l)", 0.1)``.
    low, high
        Values below `low` or above `high` are not used.
    mode
        Treatment of values outside the bounds: ``"redraw"`` draws again, ``"clip"`` takes the nearer bound.

    Raises
    ------
    ValueOutOfBoundsError
        For parameters that are not finite, a negative standard deviation, bounds in the wrong order, and (with
        ``"redraw"``) bounds that accept fewer than one draw in 1000.
    """

    mean: FormulaLike
    std: FormulaLike
    low: FormulaLike = -math.inf
    high: FormulaLike = math.inf
    mode: Mode = "redraw"

    @classmethod
    def _widths(cls) -> tuple[str, ...]:
        return ("std",)

    def _to_core(self) -> _core.Distribution:
        return _bounded("normal", self.mean, self.std, self.low, self.high, self.mode)


@value_class
class LogNormal(Distribution):
    """The exponential of a normal distribution, optionally restricted to an interval.

    Parameters
    ----------
    mu, sigma
        Mean and standard deviation of the logarithm; ``sigma >= 0``.
    low, high, mode
        As for `Normal`.

    Raises
    ------
    ValueOutOfBoundsError
        As for `Normal`.
    """

    mu: FormulaLike
    sigma: FormulaLike
    low: FormulaLike = -math.inf
    high: FormulaLike = math.inf
    mode: Mode = "redraw"

    @classmethod
    def _widths(cls) -> tuple[str, ...]:
        return ("sigma",)

    def _to_core(self) -> _core.Distribution:
        return _bounded("lognormal", self.mu, self.sigma, self.low, self.high, self.mode)


@value_class
class Uniform(Distribution):
    """Uniform distribution on [low, high).

    Raises
    ------
    ValueOutOfBoundsError
        When a bound is not finite, or when the bounds are in the wrong order.
    """

    low: FormulaLike
    high: FormulaLike

    def _to_core(self) -> _core.Distribution:
        return _bounded("uniform", self.low, self.high, -math.inf, math.inf, "redraw")


@value_class
class Exponential(Distribution):
    """Exponential distribution of the given mean, moved by `shift`, optionally restricted to an interval.

    Parameters
    ----------
    mean
        Mean of the value that is added to `shift`; ``mean >= 0``.
    shift
        Smallest value.
    low, high, mode
        As for `Normal`.

    Raises
    ------
    ValueOutOfBoundsError
        As for `Normal`.
    """

    mean: FormulaLike
    shift: FormulaLike = 0.0
    low: FormulaLike = -math.inf
    high: FormulaLike = math.inf
    mode: Mode = "redraw"

    @classmethod
    def _widths(cls) -> tuple[str, ...]:
        return ("mean",)

    def _to_core(self) -> _core.Distribution:
        return _bounded("exponential", self.shift, self.mean, self.low, self.high, self.mode)
