"""Analysis of potentials at contacts of electrodes: current source density, averages around spikes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.conductivity import checked_conductivity
from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice, counted
from ranvier.base.numeric import number_array, positive_number
from ranvier.base.texts import check_flag
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError
from ranvier.recording.correlations import whole_steps

__all__ = [
    "CurrentSourceDensity",
    "SpikeTriggeredAverage",
    "average_around",
    "checked_times",
    "current_source_density",
    "places_on_line",
]

_DIAMETER, _LEAST_DIAMETER, _MOST_DIAMETER = 500.0, 1e-6, 1e12
# mV S/m um^-2 is 1e9 A/m^3, which is 1e6 uA/mm^3.
_UA_PER_MM3 = 1e6
# Deviation of contacts from a line, and of their distances, relative to the distance of neighbours.
_TOLERANCE = 1e-3
# Rounding of potentials, times this, is an error of the density.
_MOST_CONDITION = 1e10


@dataclass(frozen=True, repr=False)
class CurrentSourceDensity:
    """Current source density along a line of contacts, from `ExtracellularData.current_source_density`.

    Attributes
    ----------
    times
        Times of the samples, ms, shape ``(samples,)``.
    values
        Density, uA/mm^3, shape ``(samples, contacts)``. Sinks, where current enters cells, are negative.
    contacts
        Coordinates of the contacts of `values`, um, shape ``(contacts, 3)``.
    method
        ``"standard"`` or ``"delta"``.
    """

    times: FloatArray
    values: FloatArray
    contacts: FloatArray
    method: str

    def __post_init__(self) -> None:
        for name in ("times", "values", "contacts"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    def __repr__(self) -> str:
        return (
            f"<CurrentSourceDensity, {self.method}: {counted(len(self.times), 'sample')} at "
            f"{counted(len(self.contacts), 'contact')}>"
        )


@dataclass(frozen=True, repr=False)
class SpikeTriggeredAverage:
    """Mean potential around spikes, from `ExtracellularData.spike_triggered_average`.

    Attributes
    ----------
    times
        Times relative to the spikes, ms, shape ``(samples,)``.
    potentials
        Mean potential, mV, shape ``(samples, contacts)``.
    count
        Number of averaged spikes.
    skipped
        Number of spikes that were left out, because the recording does not have the whole window around them.
    contacts
        Coordinates of the contacts, um, shape ``(contacts, 3)``.
    """

    times: FloatArray
    potentials: FloatArray
    count: int
    skipped: int
    contacts: FloatArray

    def __post_init__(self) -> None:
        for name in ("times", "potentials", "contacts"):
            object.__setattr__(self, name, locked(getattr(self, name)))

    def __repr__(self) -> str:
        return (
            f"<SpikeTriggeredAverage of {counted(self.count, 'spike')} at {counted(len(self.contacts), 'contact')}, "
            f"{self.skipped} skipped>"
        )


def places_on_line(contacts: FloatArray) -> FloatArray | None:
    """Return the distance of each contact from the first one, um, if they are on a line in their order; None if not."""
    if len(contacts) < 2:
        return None
    steps = np.diff(contacts, axis=0)
    whole = contacts[-1] - contacts[0]
    length = float(np.linalg.norm(whole))
    if length == 0.0:
        return None
    along = steps @ (whole / length)
    beside = np.linalg.norm(steps - along[:, np.newaxis] * (whole / length), axis=1)
    if (along <= 0.0).any() or (beside > _TOLERANCE * along).any():
        return None
    return np.concatenate([[0.0], np.cumsum(along)])


def current_source_density(
    times: FloatArray,
    potentials: FloatArray,
    contacts: FloatArray,
    method: Literal["standard", "delta"],
    sigma: float,
    vaknin: bool | None,
    diameter: float | None,
) -> CurrentSourceDensity:
    """Return the density of potentials (mV) at contacts; see `ExtracellularData.current_source_density`."""
    check_choice("method", method, ["standard", "delta"])
    conductivity = checked_conductivity(sigma)
    least = 2 if method == "delta" else 3
    if len(contacts) < least:
        raise ShapeError(
            "contacts", counted(len(contacts), "contact"), f"the method '{method}' needs at least {least} on a line"
        )
    places = places_on_line(contacts)
    spacing = None if places is None else np.diff(places)
    if places is None or spacing is None or np.ptp(spacing) > _TOLERANCE * spacing.mean():
        raise ValueOutOfBoundsError(
            "contacts",
            bound="they must be on a line, one after the other, with equal distances",
            remedy="select some: data.at_contacts(...)",
        )
    step = float(spacing.mean())
    if method == "standard":
        if diameter is not None:
            raise ValueOutOfBoundsError("diameter", str(diameter), "the method 'standard' has none", "leave it out")
        keeps_ends = vaknin is None or check_flag("vaknin", vaknin)
        wide = np.pad(potentials, ((0, 0), (1, 1)), mode="edge") if keeps_ends else potentials
        density: FloatArray = -conductivity * _UA_PER_MM3 / step**2 * np.diff(wide, n=2, axis=1)
        return CurrentSourceDensity(times, density, contacts if keeps_ends else contacts[1:-1], method)
    if vaknin is not None:
        raise ValueOutOfBoundsError("vaknin", str(vaknin), "the method 'delta' has no such option", "leave it out")
    across = positive_number("diameter", _DIAMETER if diameter is None else diameter, "um")
    if not _LEAST_DIAMETER <= across <= _MOST_DIAMETER:
        bound = f"it must be from {_LEAST_DIAMETER:g} to {_MOST_DIAMETER:g} um"
        raise ValueOutOfBoundsError("diameter", f"{across:g} um", bound)
    radius = 0.5 * across
    apart = np.abs(places[:, np.newaxis] - places)
    forward = step / (2.0 * conductivity) * (np.hypot(apart, radius) - apart)
    # Wide discs have nearly the same potential at all contacts.
    if not np.linalg.cond(forward) < _MOST_CONDITION:
        raise ValueOutOfBoundsError(
            "diameter",
            f"{across:g} um",
            f"potentials do not tell discs apart that are so much wider than the distance of contacts, {step:g} um",
            "choose smaller discs, or method='standard'",
        )
    density = np.asarray(_UA_PER_MM3 * np.linalg.solve(forward, potentials.T).T, dtype=np.float64)
    return CurrentSourceDensity(times, density, contacts, method)


def average_around(
    events: npt.NDArray[np.float64],
    times: FloatArray,
    interval: float,
    potentials: FloatArray,
    contacts: FloatArray,
    window: tuple[float, float],
) -> SpikeTriggeredAverage:
    """Return the mean of samples around events, ms; see `ExtracellularData.spike_triggered_average`."""
    before, after = (
        whole_steps(name, each, interval, 0) for name, each in zip(("before", "after"), window, strict=True)
    )
    if events.ndim != 1:
        raise ShapeError("times of spikes", f"an array of the shape {events.shape}", "it must be one-dimensional")
    if not np.isfinite(events).all():
        raise ValueOutOfBoundsError("times of spikes", bound="they must be finite")
    # Times far away from all samples must be integers, too.
    nearest = np.rint(np.clip((events - times[0]) / interval, -1e15, 1e15)).astype(np.int64)
    inside = (nearest >= before) & (nearest + after < len(times))
    count = int(inside.sum())
    if not count:
        raise StateError(
            f"{counted(len(events), 'spike')} to average around",
            bound=f"none has {window[0]:g} ms before and {window[1]:g} ms after it within the recording",
            remedy="take a shorter window, or run longer",
        )
    samples, weights = np.unique(nearest[inside], return_counts=True)
    check_room(
        f"the samples around {count} spikes",
        8 * (len(samples) + before + after + 1) * potentials.shape[1],
        "take fewer contacts: data.at_contacts(...)",
    )
    means = np.array([weights @ potentials[samples + lag] for lag in range(-before, after + 1)]) / count
    lags: FloatArray = np.arange(-before, after + 1) * np.float64(interval)
    return SpikeTriggeredAverage(lags, means, count, len(events) - count, contacts)


def checked_times(spikes: object) -> npt.NDArray[np.float64]:
    """Return given times of spikes, ms."""
    return number_array("spikes", spikes, "the data of a recorder of spikes, or an array of times")
