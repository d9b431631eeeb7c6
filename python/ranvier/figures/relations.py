"""Figures of relations of spikes in time, to each other and to events."""

from __future__ import annotations

from typing import overload

import numpy as np
from matplotlib.axes import Axes

from ranvier.base.names import counted
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, WrongTypeError
from ranvier.figures.arguments import check_window
from ranvier.figures.style import EXCITATORY, GREY, Figure, colours_of, cover, fit, panel, styled
from ranvier.recording.correlations import CrossCorrelogram, PeristimulusHistogram, correlate
from ranvier.recording.data import SpikeData
from ranvier.recording.segments import Segment

__all__ = ["correlations", "cross_correlogram", "peristimulus_histogram"]

# Pairs of more neurons of a population would take long and show the same.
_MOST_NEURONS = 300
_BAR = "#9AA5AD"
# Percent of the pairs outside the axis of a figure of correlations: a few outliers would compress the rest.
_BEYOND = 0.2


@overload
def peristimulus_histogram(histogram: PeristimulusHistogram, *, title: str = "", ax: None = None) -> Figure: ...
@overload
def peristimulus_histogram(histogram: PeristimulusHistogram, *, title: str = "", ax: Axes) -> Axes: ...
@styled
def peristimulus_histogram(
    histogram: PeristimulusHistogram, *, title: str = "", ax: Axes | None = None
) -> Figure | Axes:
    """Plot the rate of neurons around events.

    Parameters
    ----------
    histogram
        Result of `SpikeData.peristimulus_histogram`.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.
    """
    if not isinstance(histogram, PeristimulusHistogram):
        raise WrongTypeError(
            "data of a plot", type(histogram).__name__, "must be the result of SpikeData.peristimulus_histogram()"
        )
    drawn, axes = panel(ax, (6.0, 3.2), title)
    axes.stairs(histogram.rates, histogram.edges, fill=True, color=_BAR)
    axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set(xlabel="time from the event (ms)", ylabel="spikes/s")
    events = f"{histogram.events:,} event" + ("s" if histogram.events != 1 else "")
    neurons = f"{histogram.neurons:,} neuron" + ("s" if histogram.neurons != 1 else "")
    axes.set_title(title if title and ax is not None else f"{histogram.name}: {neurons}, {events}")
    cover(axes, "x", float(histogram.edges[0]), float(histogram.edges[-1]), ticks=6)
    cover(axes, "y", 0.0, float(histogram.rates.max()), ticks=4)
    axes.set_ylim(bottom=0.0)
    return drawn


@overload
def cross_correlogram(correlogram: CrossCorrelogram, *, title: str = "", ax: None = None) -> Figure: ...
@overload
def cross_correlogram(correlogram: CrossCorrelogram, *, title: str = "", ax: Axes) -> Axes: ...
@styled
def cross_correlogram(correlogram: CrossCorrelogram, *, title: str = "", ax: Axes | None = None) -> Figure | Axes:
    """Plot the rate of neurons before and after spikes of others, with a line at the mean rate.

    The line is the expectation for independent neurons of constant rates: see `CrossCorrelogram.mean_rate`.

    Parameters
    ----------
    correlogram
        Result of `SpikeData.cross_correlogram`.
    title, ax
        As for `peristimulus_histogram`.
    """
    if not isinstance(correlogram, CrossCorrelogram):
        raise WrongTypeError(
            "data of a plot", type(correlogram).__name__, "must be the result of SpikeData.cross_correlogram()"
        )
    drawn, axes = panel(ax, (6.0, 3.2), title)
    first, second = correlogram.names
    half = 0.5 * correlogram.bin_width
    edges = np.append(correlogram.lags - half, correlogram.lags[-1] + half)
    axes.stairs(correlogram.rates, edges, fill=True, color=_BAR)
    axes.axhline(correlogram.mean_rate, color=EXCITATORY, linewidth=1.0, label=f"mean rate of {second}")
    axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set(xlabel=f"time from a spike of {first} (ms)", ylabel=f"{second} (spikes/s)")
    around = f"{second} around {counted(correlogram.reference_spikes, 'spike', ',')} of {first}"
    axes.set_title(title if title and ax is not None else around)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, borderaxespad=0.1)
    cover(axes, "x", float(correlogram.lags[0]), float(correlogram.lags[-1]), ticks=6)
    cover(axes, "y", 0.0, max(float(correlogram.rates.max()), correlogram.mean_rate), ticks=4)
    axes.set_ylim(bottom=0.0)
    return drawn


@overload
def correlations(spikes: SpikeData, *, bin_width: float = 5.0, title: str = "", ax: None = None) -> Figure: ...
@overload
def correlations(spikes: SpikeData, *, bin_width: float = 5.0, title: str = "", ax: Axes) -> Axes: ...
@styled
def correlations(
    spikes: SpikeData, *, bin_width: float = 5.0, title: str = "", ax: Axes | None = None
) -> Figure | Axes:
    """Plot the distribution of the correlation coefficients of spike counts over pairs of neurons, by population.

    If more than 300 neurons of a population fired, a regular selection of these is used. The axis covers 99.8 % of the
    pairs; the figure has a note of the number and range of the others.

    Parameters
    ----------
    spikes
        Data of a spike recorder.
    bin_width
        Width of the bins in which spikes are counted, ms, a whole number of steps.
    title, ax
        As for `peristimulus_histogram`.

    Raises
    ------
    StateError
        When the window is empty or has fewer than two bins, and when no population has two neurons that fired.
    """
    check_window(spikes)
    segments = spikes.covered_segments
    found = [_coefficients(spikes, segment, bin_width) for segment in segments]
    if not any(len(pairs) for pairs in found):
        raise StateError(repr(spikes), bound="no population has two neurons that fired", remedy="record longer")
    drawn, axes = panel(ax, (6.0, 3.6), title)
    joined = np.concatenate(found)
    low, high = np.percentile(joined, [0.5 * _BEYOND, 100.0 - 0.5 * _BEYOND])
    low, high = (low, high) if low < high else (low - 0.01, high + 0.01)
    edges = np.linspace(low - 1e-9, high + 1e-9, 61)
    tallest = 0.0
    for segment, pairs, colour in zip(segments, found, colours_of(segments), strict=True):
        if len(pairs):
            # Density with respect to all pairs, including those outside the edges.
            heights = np.histogram(pairs, bins=edges)[0] / (len(pairs) * np.diff(edges))
            axes.stairs(heights, edges, color=colour, linewidth=1.3, label=f"{segment.name}, mean {pairs.mean():.3f}")
            tallest = max(tallest, float(heights.max()))
    beyond = int(np.count_nonzero((joined < edges[0]) | (joined > edges[-1])))
    if beyond:
        reach = f"{joined.min():.2f} to {joined.max():.2f}"
        note = f"{100.0 * beyond / len(joined):.1g} % of the pairs lie outside (all: {reach})"
        axes.text(1.0, 1.01, note, transform=axes.transAxes, ha="right", va="bottom", color=GREY, fontsize=8)
    axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set(xlabel=f"correlation of spike counts in {bin_width:g} ms", ylabel="density of pairs")
    axes.set_title(title if title and ax is not None else "correlations")
    axes.legend(loc="upper right", frameon=False, fontsize=8)
    fit(axes, "x", float(edges[0]), float(edges[-1]), ticks=8)
    cover(axes, "y", 0.0, tallest, ticks=4)
    axes.set_ylim(bottom=0.0)
    return drawn


def _coefficients(spikes: SpikeData, segment: Segment, bin_width: float) -> FloatArray:
    """Return the coefficients of pairs of those neurons of a population that fired, or of a selection of them."""
    places = np.flatnonzero(spikes.counts(segment))
    if len(places) > _MOST_NEURONS:
        places = places[np.linspace(0, len(places) - 1, _MOST_NEURONS).astype(np.int64)]
    counts = spikes.binned_counts(segment, bin_width)[places]
    if counts.shape[1] < 2:
        raise StateError(
            repr(spikes),
            bound=f"it has fewer than two bins of {bin_width:g} ms",
            remedy="record longer, or use smaller bins",
        )
    pairs = correlate(counts, counts)[np.triu_indices(len(places), 1)]
    found: FloatArray = pairs[np.isfinite(pairs)]
    return found
