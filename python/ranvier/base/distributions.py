"""Distributions from which parameters, weights and delays are drawn.

A drawn value depends on the seed of the network and on its neuron or synapse, never on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Literal

from ranvier import _core
from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import value_class
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["Distribution", "Exponential", "LogNormal", "Normal", "Uniform"]

Mode = Literal["redraw", "clip"]


def _bounded(kind: str, first: float, second: float, low: float, high: float, mode: str) -> _core.Distribution:
    if not isinstance(mode, str) or mode not in ("redraw", "clip"):
        unknown_name("mode of a distribution", mode, ["redraw", "clip"])
    first, second, low, high = (number("parameter of a distribution", value) for value in (first, second, low, high))
    if math.isnan(low) or math.isnan(high):
        mode = "redraw"  # the core refuses bounds that are NaN, but only if there are bounds
    elif low == -math.inf and high == math.inf:
        mode = "none"
    return _core.Distribution(kind, first, second, mode, low, high)


@value_class
class Distribution(NamedAttributes):
    """Base of all distributions."""

    def __post_init__(self) -> None:
        if type(self) is Distribution:
            raise ValueOutOfBoundsError(
                "distribution",
                bound="this is the base of all distributions",
                remedy="make one of Normal, LogNormal, Uniform, Exponential",
            )
        for field in fields(self):
            if field.name != "mode":
                value = number(f"{field.name} of a distribution", getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        self._to_core().check(repr(self))

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
        Mean and standard deviation of the unrestricted distribution; ``std >= 0``.
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

    mean: float
    std: float
    low: float = -math.inf
    high: float = math.inf
    mode: Mode = "redraw"

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

    mu: float
    sigma: float
    low: float = -math.inf
    high: float = math.inf
    mode: Mode = "redraw"

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

    low: float
    high: float

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

    mean: float
    shift: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    mode: Mode = "redraw"

    def _to_core(self) -> _core.Distribution:
        return _bounded("exponential", self.shift, self.mean, self.low, self.high, self.mode)
