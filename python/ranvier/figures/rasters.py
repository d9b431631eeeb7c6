"""Spikes over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from matplotlib.axes import Axes

from ranvier.base.times import text_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import RuleError, StateError
from ranvier.figures.arguments import check_window, checked_rates, time_of_window
from ranvier.figures.distributions import BEYOND_ONE, draw_dots, has_density, irregularities, mark_published
from ranvier.figures.style import (
    FAINT,
    GREY,
    Figure,
    colours_of,
    cover,
    hide_left,
    new_figure,
    panel,
    styled,
)
from ranvier.recording.data import SpikeData
from ranvier.recording.neuron_ids import NeuronIds
from ranvier.recording.segments import Segment

__all__ = ["raster", "shown_window"]

# More markers than this on one raster only darken it.
_MOST_MARKERS = 60_000
# Smallest height, so that a small population is visible beside large populations.
_LEAST_SHARE = 0.035


@overload
def raster(
    spikes: SpikeData,
    *,
    start: float | None = None,
    stop: float | None = None,
    published_rates: Mapping[str, float] | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def raster(
    spikes: SpikeData, *, start: float | None = None, stop: float | None = None, title: str = "", ax: Axes
) -> Axes: ...
@styled
def raster(
    spikes: SpikeData,
    *,
    start: float | None = None,
    stop: float | None = None,
    published_rates: Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot spikes over time, with the rate of the network below and distributions for each population on the right.

    The raster shows one population above the other, the first on top; heights are proportional to sizes. If there are
    too many spikes to distinguish, only every n-th neuron is shown, as the title says. Distributions are of all neurons
    over the whole window of `spikes`: boxes from the first to the third quartile with a line at the median, a circle at
    the mean and lines from the 5th to the 95th percentile. If there are few values, or all are equal, there is a dot
    for each value.

    Parameters
    ----------
    spikes
        Data of a spike recorder.
    start, stop
        Window of the raster, ms; None: at most the last 500 ms, up to the end of the data.
    published_rates
        Mean rates by population, spikes/s, to mark beside the measured rates.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib in which only the spikes are drawn, and which are then returned; None: draw everything in a
        new figure and return it.

    Raises
    ------
    StateError
        When the window is empty.
    WrongTypeError, ValueOutOfBoundsError
        For arguments of a wrong type, or not finite.
    RuleError
        When published rates and `ax`, which shows no rates, are both passed.
    """
    check_window(spikes)
    published = checked_rates(published_rates)
    shown = _shown(spikes, start, stop)
    bands = _bands(spikes)
    if ax is not None:
        if published_rates is not None:
            raise RuleError(
                "published_rates",
                bound="with ax=, only the raster is drawn",
                remedy="draw them with rv.plot.rates(...)",
            )
        _, axes = panel(ax, (0.0, 0.0), title)
        _draw_spikes(axes, shown, bands)
        axes.set_xlabel("time (ms)")
        if title:
            axes.set_title(title)
        return axes
    figure = new_figure(11.0, max(5.0, min(8.0, 2.5 + 0.6 * len(bands))), title)
    grid = figure.add_gridspec(2, 3, width_ratios=(5, 1.3, 1.3), height_ratios=(6, 1), wspace=0.02, hspace=0.0)
    spike_axes = figure.add_subplot(grid[0, 0])
    rate_axes = figure.add_subplot(grid[0, 1], sharey=spike_axes)
    irregularity_axes = figure.add_subplot(grid[0, 2], sharey=spike_axes)
    network_axes = figure.add_subplot(grid[1, 0], sharex=spike_axes)
    _draw_spikes(spike_axes, shown, bands)
    if shown.duration < spikes.duration:
        # Rates and irregularity are of the whole window.
        spike_axes.set_title(f"{shown.start:g} to {shown.stop:g} of {spikes.start:g} to {spikes.stop:g} ms", loc="left")
    published = {name: rate for name, rate in published.items() if name in spikes.rates()}
    _draw_boxes(rate_axes, spikes.rates(), bands, max(published.values(), default=0.0))
    _draw_published(rate_axes, published, bands)
    rate_axes.set_title("rate (spikes/s)")
    irregularity_axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    _draw_boxes(irregularity_axes, irregularities(spikes), bands, BEYOND_ONE)
    irregularity_axes.set_title("irregularity (CV)")
    for axes in (rate_axes, irregularity_axes):
        hide_left(axes)
        axes.tick_params(labelleft=False)
    _draw_network_rate(network_axes, shown)
    spike_axes.tick_params(labelbottom=False)
    return figure


def _shown(spikes: SpikeData, start: float | None, stop: float | None) -> SpikeData:
    """Return the spikes in the window to show."""
    return spikes.between(*shown_window(spikes, start, stop, 500.0))


def shown_window(
    spikes: SpikeData, start: float | None, stop: float | None, longest: float = np.inf
) -> tuple[float, float]:
    """Return the window to show, ms; without a start, at most the last `longest` ms."""
    last = min(time_of_window("stop", stop, spikes.stop), spikes.stop)
    first = max(time_of_window("start", start, last - longest), spikes.start)
    if not first < last:
        raise StateError(
            f"window of {text_of(first)} to {text_of(last)} ms",
            bound="nothing was recorded in it",
            remedy="choose another window",
        )
    return first, last


class _Band:
    """The band of a population in a raster: from `bottom` to `top`, with its first neuron on top.

    Attributes
    ----------
    ids
        Global ids of its recorded neurons.
    """

    def __init__(self, segment: Segment, ids: NeuronIds, bottom: float, top: float, colour: str) -> None:
        self.segment = segment
        self.ids = ids
        self.bottom = bottom
        self.top = top
        self.colour = colour

    @property
    def middle(self) -> float:
        return 0.5 * (self.bottom + self.top)


def _bands(spikes: SpikeData) -> list[_Band]:
    segments = spikes.covered_segments
    if not segments:
        return []
    ids = [spikes.ids_of(segment) for segment in segments]
    sizes = np.array([max(1, len(each)) for each in ids], dtype=float)
    shares = np.maximum(sizes / sizes.sum(), min(_LEAST_SHARE, 1.0 / len(sizes)))
    edges = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    gap = 0.06 / len(sizes)
    return [
        _Band(segment, covered, 1.0 - lower + gap, 1.0 - upper, colour)
        for segment, covered, upper, lower, colour in zip(
            segments, ids, edges[:-1], edges[1:], colours_of(segments), strict=True
        )
    ]


def _draw_spikes(axes: Axes, spikes: SpikeData, bands: Sequence[_Band]) -> None:
    stride = max(1, -(-len(spikes) // _MOST_MARKERS))
    height_points = axes.get_position().height * axes.figure.get_figheight() * 72.0  # type: ignore[union-attr]
    times = spikes.times
    for band in bands:
        segment = band.segment
        here = segment.holds(spikes.ids)
        index = band.ids.positions(spikes.ids[here])
        shown = index % stride == 0
        rows = max(1, -(-len(band.ids) // stride))
        depth = (index[shown] // stride + 0.5) / rows
        row_points = (band.top - band.bottom) * height_points / rows
        axes.scatter(
            times[here][shown],
            band.top - depth * (band.top - band.bottom),
            s=float(np.clip(0.8 * row_points, 1.15, 3.0)) ** 2,
            c=band.colour,
            marker="o",
            linewidths=0,
            rasterized=True,
        )
    # Do not cut markers at the edges.
    margin = 0.006 * spikes.duration
    axes.set(xlim=(spikes.start - margin, spikes.stop + margin), ylim=(-0.006, 1.006))
    axes.set_yticks([band.middle for band in bands], [band.segment.name for band in bands])
    hide_left(axes)
    for label, band in zip(axes.get_yticklabels(), bands, strict=True):
        label.set_color(band.colour)
        label.set_fontweight("bold")
    axes.set_title("spikes" if stride == 1 else f"spikes of every {_ordinal(stride)} neuron")


def _draw_network_rate(axes: Axes, spikes: SpikeData) -> None:
    # Bins of whole steps, about 300 of them.
    steps = spikes.end - spikes.begin
    width = max(1, round(max(1.0 / spikes.resolution, steps / 300)))
    edges = np.arange(spikes.begin, spikes.end + 1, width)
    if len(edges) < 2:
        edges = np.array([spikes.begin, spikes.end])
    # A spike of step n fell into (n - 1, n].
    counts, _ = np.histogram(spikes.steps - 0.5, bins=edges)
    neurons = sum(len(spikes.ids_of(segment)) for segment in spikes.segments)
    rate = counts / (max(1, neurons) * np.diff(edges) * spikes.resolution / 1000.0)
    axes.stairs(rate, times_of(edges, spikes.resolution), fill=True, color="#9AA5AD")
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("spikes/s", rotation=0, ha="right", va="center")
    cover(axes, "y", 0.0, float(rate.max()), ticks=2)


def _draw_boxes(axes: Axes, values: Mapping[str, FloatArray], bands: Sequence[_Band], reach: float) -> None:
    """Draw the distribution of each population in its band, on an axis that extends at least to `reach`."""
    farthest = reach
    for band in bands:
        sample = values[band.segment.name]
        axes.axhspan(band.bottom, band.top, color=FAINT, alpha=0.5, linewidth=0, zorder=-1)
        if not len(sample):
            continue
        if not has_density(sample):
            draw_dots(axes, sample, band.middle, 0.8 * (band.top - band.bottom), band.colour)
            farthest = max(farthest, float(sample.max()))
            continue
        height = min(0.6 * (band.top - band.bottom), 0.05)
        low, first, median, third, high = np.percentile(sample, [5, 25, 50, 75, 95])
        axes.plot([low, high], [band.middle] * 2, color=band.colour, linewidth=1.0, solid_capstyle="butt")
        axes.barh(band.middle, third - first, height, first, color=band.colour, alpha=0.55, linewidth=0)
        axes.plot([median] * 2, band.middle + height * np.array([-0.5, 0.5]), color=band.colour, linewidth=1.8)
        axes.plot(sample.mean(), band.middle, "o", color="white", markeredgecolor=band.colour, markersize=4)
        farthest = max(farthest, high, sample.mean())
    cover(axes, "x", 0.0, farthest, ticks=4)


def _draw_published(axes: Axes, published: Mapping[str, float], bands: Sequence[_Band]) -> None:
    for band in bands:
        if band.segment.name in published:
            mark_published(axes, published[band.segment.name], band.middle)
    if any(band.segment.name in published for band in bands):
        # Not part of the layout, where it would move the panels apart.
        axes.annotate(
            "\u00d7 published mean", (1.0, 0.0), (0, -20), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="top", fontsize=8, color="#20262B",
        ).set_in_layout(False)  # fmt: skip


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
