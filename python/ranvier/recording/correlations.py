"""Relations of spikes in time, to each other and to events. They are computed in whole steps, so no spike is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted
from ranvier.base.numeric import number, number_array
from ranvier.base.times import nearest_steps, text_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError
from ranvier.recording.neuron_ids import IntArray

__all__ = [
    "CrossCorrelogram",
    "PeristimulusHistogram",
    "around_events",
    "binned",
    "correlate",
    "cross_correlate",
    "whole_steps",
]


@dataclass(frozen=True, repr=False)
class PeristimulusHistogram:
    """Peristimulus time histogram (PSTH): spikes around events, summed over the events.

    Attributes
    ----------
    edges
        Edges of the bins relative to the event, ms, shape ``(bins + 1,)``. A spike at the later edge belongs to the
        bin.
    counts
        Number of spikes of all neurons around all events, shape ``(bins,)``.
    events, neurons
        Number of events and of neurons.
    name
        Name of the population.
    """

    edges: FloatArray
    counts: IntArray
    events: int
    neurons: int
    name: str

    @property
    def rates(self) -> FloatArray:
        """Mean rate of a neuron in each bin, spikes/s, shape ``(bins,)``."""
        seconds = np.diff(self.edges) / 1000.0
        result: FloatArray = self.counts / (max(1, self.events * self.neurons) * seconds)
        return result

    def __repr__(self) -> str:
        return (
            f"<PeristimulusHistogram of {counted(self.neurons, 'neuron')} of {self.name}, "
            f"{counted(self.events, 'event')}: "
            f"{counted(int(self.counts.sum()), 'spike')} from {text_of(self.edges[0])} to {text_of(self.edges[-1])} ms>"
        )


@dataclass(frozen=True, repr=False)
class CrossCorrelogram:
    """Cross-correlogram: how often spikes of some neurons follow spikes of others, for each lag.

    Attributes
    ----------
    lags
        Centres of the bins, ms, shape ``(bins,)``. At positive lags the spikes of the second neurons follow the spikes
        of the first.
    counts
        Pairs of spikes in each bin, shape ``(bins,)``. A pair whose lag is on the edge of two bins counts half in each.
    bin_width
        Width of the bins, ms.
    reference_spikes
        Number of spikes of the first neurons that are used: those whose distance from both ends of the window is at
        least the largest lag.
    neurons
        Number of the second neurons.
    mean_rate
        Mean rate of the second neurons over the whole recording, spikes/s: the expected value of `rates` for
        independent spikes at constant rates. If both rates rise and fall together, as at the start of a run or
        with a stimulus that changes, `rates` lie above it at all lags, though no spike depends on another: use a part
        of the recording in which the rates are steady (`SpikeData.between`).
    names
        Name of the population of the first and of the second neurons.
    """

    lags: FloatArray
    counts: FloatArray
    bin_width: float
    reference_spikes: int
    neurons: int
    mean_rate: float
    names: tuple[str, str]

    @property
    def rates(self) -> FloatArray:
        """Mean rate of a second neuron at each lag from a spike of a first neuron, spikes/s."""
        scale = max(1, self.reference_spikes * self.neurons) * self.bin_width / 1000.0
        result: FloatArray = self.counts / scale
        return result

    def __repr__(self) -> str:
        pairs = f"{self.counts.sum():g} pairs of spikes up to {text_of(self.lags[-1])} ms apart"
        return f"<CrossCorrelogram of {self.names[1]} around spikes of {self.names[0]}: {pairs}>"


def whole_steps(name: str, time: float, resolution: float, least: int) -> int:
    """Return a time in steps.

    Raises
    ------
    ValueOutOfBoundsError
        When it is not a whole number of steps, or is less than `least` steps.
    """
    given = number(name, time)
    steps = given / resolution
    whole = round(steps) if abs(steps) < 2.0**53 else 0
    if not math.isfinite(given) or abs(steps - whole) > 1e-6 or whole < least:
        raise ValueOutOfBoundsError(
            name, f"{given:g} ms", f"it must be a whole number of steps of {resolution:g} ms, at least {least}"
        )
    return whole


def binned(steps: IntArray, places: IntArray, neurons: int, begin: int, end: int, width: int) -> IntArray:
    """Return the numbers of spikes in bins of `width` steps from step `begin`, shape ``(neurons, bins)``."""
    bins = (end - begin) // width
    check_room(f"{counted(bins, 'bin')} of {neurons} neurons", 8 * bins * neurons, "take wider bins or fewer neurons")
    bin_of = (steps - begin - 1) // width
    # The rest at the end is shorter than a bin and is left out.
    here = bin_of < bins
    counts = np.bincount(places[here] * bins + bin_of[here], minlength=neurons * bins)
    return counts.reshape(neurons, bins).astype(np.int64, copy=False)


def correlate(first: IntArray, second: IntArray) -> FloatArray:
    """Return Pearson's correlation coefficients of rows of counts; NaN if a row is constant."""
    check_room(
        f"correlations of {len(first)} with {counted(len(second), 'neuron')}",
        8 * len(first) * len(second),
        "take fewer neurons",
    )
    rows = []
    for counts in (first, second):
        deviations = counts - counts.mean(axis=1, keepdims=True) if counts.size else np.zeros(counts.shape)
        norms = np.sqrt((deviations**2).sum(axis=1, keepdims=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            rows.append(np.where(norms > 0.0, deviations / norms, np.nan))
    result: FloatArray = np.clip(rows[0] @ rows[1].T, -1.0, 1.0)
    return result


def cross_correlate(
    first: IntArray, second: IntArray, itself: int, window: tuple[int, int], reach: int, width: int
) -> tuple[FloatArray, int]:
    """Count the pairs of spikes by their lag.

    Parameters
    ----------
    first, second
        Steps of the spikes, ascending.
    itself
        1 if `first` and `second` are the same spikes, so that pairs of a spike with itself are left out; otherwise 0.
    window
        Step before the first and last step of the recording.
    reach
        Largest lag, in bins.
    width
        Width of a bin in steps.

    Returns
    -------
    pairs by bin, number of spikes of `first` that were counted
    """
    half = reach * width + width // 2
    begin, end = window
    first = first[(first > begin + half) & (first <= end - half)]
    by_step = np.bincount(second - begin - 1, minlength=end - begin) if end > begin else np.zeros(0, np.int64)
    references, times = np.unique(first, return_counts=True)
    pairs = np.empty(2 * half + 1)
    for place, lag in enumerate(range(-half, half + 1)):
        pairs[place] = by_step[references + lag - begin - 1] @ times if len(references) else 0
    pairs[half] -= itself * len(first)
    # If a bin has an even number of steps, its edges are at steps, which belong half to each of two bins.
    weights = np.ones(width + 1) if width % 2 == 0 else np.ones(width)
    if width % 2 == 0:
        weights[[0, -1]] = 0.5
    reached = [pairs[place : place + len(weights)] @ weights for place in range(0, 2 * reach * width + 1, width)]
    return np.array(reached), len(first)


def around_events(
    steps: IntArray, events: npt.ArrayLike, window: tuple[int, int], span: tuple[int, int], bins: tuple[int, float]
) -> tuple[FloatArray, IntArray, int]:
    """Count spikes around events.

    Parameters
    ----------
    steps
        Steps of the spikes, ascending.
    events
        Times of the events, ms.
    window
        Step before the first and last step of the recording.
    span
        Steps before and after each event.
    bins
        Width of a bin in steps, and length of a step, ms.

    Returns
    -------
    edges in ms, counts, number of events
    """
    width, resolution = bins
    before, after = span
    given = number_array("events", events).ravel()
    if not np.isfinite(given).all():
        raise ValueOutOfBoundsError("events", "nan or infinite", "each must be a time in ms")
    at = nearest_steps(given, resolution)
    outside = (at - before < window[0]) | (at + after > window[1])
    if outside.any():
        raise ValueOutOfBoundsError(
            "time of an event",
            f"{given[outside][0]:g} ms",
            f"not all of {text_of(before * resolution)} ms before to {text_of(after * resolution)} ms after it was "
            "recorded",
            "leave it out, or look at less around the events",
        )
    edges = np.arange(-before, after + 1, width, dtype=np.int64)
    counts = np.zeros(len(edges) - 1, dtype=np.int64)
    for event in at:
        # A spike of step n fell into (n - 1, n].
        counts += np.diff(np.searchsorted(steps, event + edges, side="right"))
    return times_of(edges, resolution), locked(counts), len(at)
