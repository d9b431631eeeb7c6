"""Checks of the arguments of figures, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import as_array, number
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.recording.data import SpikeData, StateData

__all__ = [
    "check_window",
    "checked_rates",
    "checked_threshold",
    "chosen_neurons",
    "samples_in_window",
    "time_of_window",
]

# A figure of more neurons could not be written as an image.
_MOST_NEURONS = 256


def check_window(spikes: SpikeData) -> None:
    """Check that the argument is data of spikes, and that its window has a length."""
    if not isinstance(spikes, SpikeData):
        raise WrongTypeError("data of a plot", type(spikes).__name__, "must be the data of a recorder of spikes")
    if spikes.end <= spikes.begin:
        raise StateError(repr(spikes), bound="nothing was recorded in its window", remedy="run the simulation first")


def time_of_window(name: str, given: float | None, otherwise: float) -> float:
    """Return the start or the end of the shown window, ms."""
    if given is None:
        return otherwise
    time = number(f"{name} of a plot", given)
    if np.isnan(time):
        raise ValueOutOfBoundsError(f"{name} of a plot", "nan", "it must be a time in ms")
    return time


def samples_in_window(times: FloatArray, start: float | None, stop: float | None) -> npt.NDArray[np.bool_]:
    """Return which of some times, ms, are in the shown window, whose ends belong to it."""
    begin, end = time_of_window("start", start, -np.inf), time_of_window("stop", stop, np.inf)
    return np.asarray((times >= begin) & (times <= end))


def checked_rates(rates: Mapping[str, float] | None) -> dict[str, float]:
    """Return checked rates to mark, spikes/s, by population."""
    if rates is None:
        return {}
    if not isinstance(rates, Mapping):
        raise WrongTypeError("published rates", type(rates).__name__, "must be a mapping of populations to spikes/s")
    checked = {name: number(f"published rate of {name}", rate) for name, rate in rates.items()}
    for name, rate in checked.items():
        if not 0.0 <= rate < np.inf:
            raise ValueOutOfBoundsError(f"published rate of {name}", f"{rate} spikes/s", "it must be >= 0 and finite")
    return checked


def checked_threshold(threshold: float | None) -> float | None:
    """Return a checked value to mark."""
    if threshold is None:
        return None
    value = number("threshold", threshold)
    if not np.isfinite(value):
        raise ValueOutOfBoundsError("threshold", str(value), "it must be finite")
    return value


def chosen_neurons(ids: Sequence[int] | npt.NDArray[np.int64] | None, data: StateData) -> list[int]:
    """Return the positions of the shown neurons among the recorded neurons."""
    if ids is None:
        ids = data.ids[:8]
    given = as_array("ids", ids)
    if given is None or given.ndim != 1 or not 0 < len(given) <= _MOST_NEURONS:
        shown = "something else" if given is None or given.ndim != 1 else f"a list of {len(given)}"
        raise ShapeError(
            "neurons to show",
            shown,
            f"it must be a list of 1 to {_MOST_NEURONS} ids",
            "choose some of those recorded",
        )
    if given.dtype.kind not in "iu":
        raise WrongTypeError("ids of neurons to show", str(given.dtype), "must be integers")
    places = {neuron: place for place, neuron in enumerate(data.ids.tolist())}
    for neuron in given.tolist():
        if neuron not in places:
            raise ValueOutOfBoundsError(
                "id of a neuron to show", str(neuron), "it was not recorded", "see the `ids` of the data"
            )
    return [places[neuron] for neuron in given.tolist()]
