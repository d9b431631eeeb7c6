"""Courses over time of potentials outside of cells."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable, locked
from ranvier.base.numeric import number, number_array
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Waveform", "WaveformLike", "as_waveform", "pulse_train", "sine_wave", "waveform"]

# The shapes of FieldCourses in the core.
_CONSTANT, _SINE, _PULSES, _POINTS = range(4)


class Waveform(Immutable):
    """A course over time, for ``waveform=`` of `uniform_field` and others.

    Made by `sine_wave`, `pulse_train` or `waveform`. Its values are currents in uA for `point_source`, and factors for
    other fields.

    Attributes
    ----------
    span
        Times between which it is defined, ms.
    """

    span: tuple[float, float]
    _numbers: npt.NDArray[np.float64]
    _text: str

    def __init__(self, numbers: list[float], text: str, span: tuple[float, float] = (0.0, math.inf)) -> None:
        self._put(_numbers=locked(np.array(numbers, dtype=np.float64)), _text=text, span=span)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waveform) and np.array_equal(self._numbers, other._numbers)

    def __hash__(self) -> int:
        return hash(self._numbers.tobytes())

    def __repr__(self) -> str:
        return self._text


WaveformLike: TypeAlias = float | Waveform


def as_waveform(what: str, given: object) -> Waveform:
    """Return a waveform, or a number as a constant one.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For something else, and a number that is not finite.
    """
    if isinstance(given, Waveform):
        return given
    if isinstance(given, int | float | np.number) and not isinstance(given, bool):
        value = _finite(what, number(what, given))
        return Waveform([_CONSTANT, value], f"{value:g}")
    raise WrongTypeError(
        what, type(given).__name__, "must be a number or a waveform", "write rv.sine_wave(...) or rv.pulse_train(...)"
    )


def sine_wave(
    frequency: float,
    amplitude: float = 1.0,
    *,
    phase: float = 0.0,
    offset: float = 0.0,
    start: float = 0.0,
    stop: float = math.inf,
) -> Waveform:
    """Return offset + amplitude sin(2 pi (frequency t + phase / 360)) for start <= t < stop, and 0 outside.

    Parameters
    ----------
    frequency
        Hz, >= 0.
    amplitude, offset
        Amplitude and mean: uA for `point_source`, factors for other fields.
    phase
        Phase at time 0, degrees.
    start, stop
        Beginning and end, ms.

    Raises
    ------
    ValueOutOfBoundsError
        For numbers that are not finite (but ``stop``), and a negative frequency.
    """
    values = [
        _finite(name, number(name, value))
        for name, value in (("amplitude", amplitude), ("offset", offset), ("frequency", frequency), ("phase", phase))
    ]
    if values[2] < 0.0:
        raise ValueOutOfBoundsError("frequency", f"{frequency} Hz", "it must be >= 0")
    begin, end = _finite("start", number("start", start)), number("stop", stop)
    if not end >= begin:
        raise ValueOutOfBoundsError("stop", f"{stop} ms", f"it must be at least the start, {start} ms")
    return Waveform([_SINE, *values, begin, end], f"sine_wave({values[2]:g}, {values[0]:g})")


def pulse_train(
    amplitude: float, width: float, period: float = math.inf, *, start: float = 0.0, count: float | None = None
) -> Waveform:
    """Return rectangular pulses.

    Parameters
    ----------
    amplitude
        Value during a pulse: uA for `point_source`, a factor for other fields.
    width
        Duration of a pulse, ms.
    period
        Time from the beginning of a pulse to that of the next one, ms; infinite: there is one pulse.
    start
        Beginning of the first pulse, ms.
    count
        Number of pulses; None: they do not end.

    Raises
    ------
    ValueOutOfBoundsError
        For a width that is not positive, a period shorter than the width, and a count below 1.
    """
    size = _finite("amplitude", number("amplitude", amplitude))
    begin = _finite("start", number("start", start))
    length = _finite("width", number("width", width))
    if length <= 0.0:
        raise ValueOutOfBoundsError("width", f"{width} ms", "it must be > 0")
    every = number("period", period)
    if not every >= length:
        raise ValueOutOfBoundsError("period", f"{period} ms", f"it must be at least the width, {width} ms")
    number_of = math.inf if count is None else number("count", count)
    if not number_of >= 1:
        raise ValueOutOfBoundsError("count", repr(count), "it must be at least 1")
    if math.isinf(every):
        every, number_of = max(length, 1.0), 1.0
    return Waveform([_PULSES, size, begin, length, every, number_of], f"pulse_train({size:g}, {length:g})")


def waveform(times: npt.ArrayLike, values: npt.ArrayLike) -> Waveform:
    """Return a course through given points, linear between them.

    Parameters
    ----------
    times
        ms, ascending. A simulation cannot run beyond the last one, nor begin before the first one.
    values
        One for each time: uA for `point_source`, factors for other fields.

    Raises
    ------
    ShapeError, ValueOutOfBoundsError
        For different numbers of times and values, times that do not ascend, and numbers that are not finite.
    """
    at = checked_times("times of a waveform", times)
    given = number_array("values of a waveform", values, "an array of numbers")
    if given.shape != at.shape:
        raise ShapeError("values of a waveform", f"an array of the shape {given.shape}", f"there are {len(at)} times")
    check_finite("values of a waveform", given)
    return Waveform([_POINTS, *at.tolist(), *given.tolist()], f"waveform of {len(at)} points", (at[0], at[-1]))


def checked_times(what: str, times: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return times, ms: at least one, finite, ascending."""
    at: npt.NDArray[np.float64] = np.atleast_1d(number_array(what, times, "an array of numbers"))
    if at.ndim != 1 or not len(at):
        raise ShapeError(what, f"an array of the shape {at.shape}", "it must have one dimension, and at least one time")
    check_finite(what, at)
    wrong = np.flatnonzero(np.diff(at) <= 0.0)
    if len(wrong):
        raise ValueOutOfBoundsError(what, f"{at[wrong[0] + 1]} ms after {at[wrong[0]]} ms", "they must ascend")
    return at


def check_finite(what: str, values: npt.NDArray[np.float64]) -> None:
    """Refuse values that are not finite."""
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        place = ", ".join(map(str, wrong[0]))
        raise ValueOutOfBoundsError(f"{what}[{place}]", str(values[tuple(wrong[0])]), "it must be finite")


def _finite(what: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueOutOfBoundsError(what, str(value), "it must be finite")
    return value
