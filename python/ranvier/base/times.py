"""Conversion between steps and times: the double nearest to the decimal time, so that step 3 of 0.1 ms is at 0.3 ms."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.values import FloatArray

__all__ = ["nearest_step", "nearest_steps", "step_before", "text_of", "time_of", "times_of"]

# Larger than the number of steps of any run; sums with it do not overflow 64 bits.
_MOST_STEPS = 2.0**61


def time_of(step: int, resolution: float) -> float:
    """Return the time of a step, in the unit of the resolution.

    The resolution is a double. It represents the simplest fraction, such as a tenth or a third, or the decimal number
    of at most 15 digits whose nearest double it is; if there is none, its exact binary value. The time is the
    double nearest to the product of this number and the step, for any 64-bit step.
    """
    return _core.step_time(int(step), resolution)


def times_of(steps: npt.ArrayLike, resolution: float) -> FloatArray:
    """Return the times of many steps, of the same shape; see `time_of`."""
    whole = np.ascontiguousarray(steps, dtype=np.int64)
    return _core.step_times(whole.reshape(-1), resolution).reshape(whole.shape)


def nearest_step(milliseconds: float, step: float) -> int:
    """Return the number of steps nearest to a time, as the core rounds delays: in decimal, half a step up."""
    return int(nearest_steps(milliseconds, step))


def nearest_steps(milliseconds: npt.ArrayLike, step: float) -> npt.NDArray[np.int64]:
    """Return the numbers of steps nearest to many times; see `nearest_step`."""
    with np.errstate(over="ignore"):
        steps = np.asarray(milliseconds, dtype=np.float64) * ((1.0 / step) * (1.0 + 2.0**-50)) + 0.5
    # The conversion to integers would wrap around for values outside their range.
    return np.floor(np.clip(steps, -_MOST_STEPS, _MOST_STEPS)).astype(np.int64)


def step_before(milliseconds: float, step: float) -> int:
    """Return the last step that ends at or before a time; a time within rounding of a step counts as this step."""
    steps = milliseconds / step
    nearest = round(steps)
    return nearest if abs(steps - nearest) <= max(1e-6, abs(steps) * 1e-15) else math.floor(steps)


def text_of(milliseconds: float) -> str:
    """Return the shortest text that represents a time exactly."""
    return repr(float(milliseconds)).removesuffix(".0")
