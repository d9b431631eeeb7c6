"""Spikes over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ranvier.base.times import text_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError
from ranvier.figures.arguments import check_window, checked_rates, time_of_window
from ranvier.figures.distributions import mark_published
from ranvier.figures.style import FAINT, GREY, Figure, colours_of, new_figure, styled
from ranvier.recording.data import SpikeData
from ranvier.recording.neuron_ids import NeuronIds
from ranvier.recording.segments import Segment

__all__ = ["raster"]

# More markers than this on one raster only darken it.
_MOST_MARKERS = 60_000
# So that a small population beside large ones can still be seen.
_LEAST_SHARE = 0.035


@styled
def raster(
    spikes: SpikeData,
    *,
    start: float | None = None,
    stop: float | None = None,
    published_rates: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """Plot spikes over time, with the rate of the network below and the distributions by population beside.

    Populations lie one above the other, the first on top, as high as they are large. When there are too many spikes to
    be told apart, only every so many neurons are shown; the title says so. Distributions are of all neurons over the
    whole window of `spikes`.

    Parameters
    ----------
    spikes
        What a spike recorder recorded.
    start, stop
        The part to show as a raster, ms; None: the last 500 ms at most, up to the end of the window.
    published_rates
        Mean rates by population, spikes/s, to mark beside the measured ones.
    title
        Title of the figure.

    Raises
    ------
    StateError
        When the window is empty.
    WrongTypeError, ValueOutOfBoundsError
        For arguments that are of another kind, or not finite.
    """
    check_window(spikes)
    published = checked_rates(published_rates)
    last = min(time_of_window("stop", stop, spikes.stop), spikes.stop)
    first = max(time_of_window("start", start, last - 500.0), spikes.start)
    if not first < last:
        raise StateError(
            f"window of {text_of(first)} to {text_of(last)} ms",
            bound="nothing was recorded in it",
            remedy="give another window",
        )
    shown = spikes.between(first, last)
    bands = _bands(spikes)
    figure = new_figure(11.0, max(5.0, min(8.0, 2.5 + 0.6 * len(bands))), title)
    grid = figure.add_gridspec(2, 3, width_ratios=(5, 1.3, 1.3), height_ratios=(6, 1), wspace=0.02, hspace=0.0)
    spike_axes = figure.add_subplot(grid[0, 0])
    rate_axes = figure.add_subplot(grid[0, 1], sharey=spike_axes)
    irregularity_axes = figure.add_subplot(grid[0, 2], sharey=spike_axes)
    network_axes = figure.add_subplot(grid[1, 0], sharex=spike_axes)
    _draw_spikes(spike_axes, shown, bands)
    _draw_boxes(rate_axes, spikes.rates(), bands)
    _draw_published(rate_axes, published, bands)
    rate_axes.set_title("rate (spikes/s)")
    _draw_boxes(irregularity_axes, spikes.irregularity(), bands)
    irregularity_axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    irregularity_axes.set_title("irregularity (CV)")
    for axes in (rate_axes, irregularity_axes):
        axes.tick_params(left=False, labelleft=False)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    _draw_network_rate(network_axes, shown)
    spike_axes.tick_params(labelbottom=False)
    return figure


class _Band:
    """Where a population lies in a raster: from `bottom` to `top`, its first neuron on top.

    Attributes
    ----------
    ids
        Global ids of its neurons that were recorded.
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
    sizes = np.array([max(1, len(own)) for own in ids], dtype=float)
    shares = np.maximum(sizes / sizes.sum(), min(_LEAST_SHARE, 1.0 / len(sizes)))
    edges = np.concatenate([[0.0], np.cumsum(shares / shares.sum())])
    gap = 0.06 / len(sizes)
    return [
        _Band(segment, own, 1.0 - lower + gap, 1.0 - upper, colour)
        for segment, own, upper, lower, colour in zip(
            segments, ids, edges[:-1], edges[1:], colours_of(segments), strict=True
        )
    ]


def _draw_spikes(axes: Axes, spikes: SpikeData, bands: Sequence[_Band]) -> None:
    stride = max(1, -(-len(spikes) // _MOST_MARKERS))
    height_points = axes.get_position().height * axes.figure.get_figheight() * 72.0  # type: ignore[union-attr]
    times = spikes.times
    for band in bands:
        segment = band.segment
        here = (spikes.ids >= segment.first_id) & (spikes.ids < segment.end_id)
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
    axes.set(xlim=(spikes.start, spikes.stop), ylim=(0.0, 1.0))
    axes.set_yticks([band.middle for band in bands], [band.segment.name for band in bands])
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
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
    axes.set(ylim=(0.0, None), xlabel="time (ms)")
    axes.set_ylabel("spikes/s", rotation=0, ha="right", va="center")
    axes.yaxis.set_major_locator(MaxNLocator(2))


def _draw_boxes(axes: Axes, values: Mapping[str, FloatArray], bands: Sequence[_Band]) -> None:
    """Draw the distribution of each population in its band: box from quartile to quartile, median and mean."""
    farthest = 0.0
    for band in bands:
        sample = values[band.segment.name]
        axes.axhspan(band.bottom, band.top, color=FAINT, alpha=0.5, linewidth=0, zorder=-1)
        if not len(sample):
            continue
        height = min(0.6 * (band.top - band.bottom), 0.05)
        low, first, median, third, high = np.percentile(sample, [5, 25, 50, 75, 95])
        axes.plot([low, high], [band.middle] * 2, color=band.colour, linewidth=1.0, solid_capstyle="butt")
        axes.barh(band.middle, third - first, height, first, color=band.colour, alpha=0.55, linewidth=0)
        axes.plot([median] * 2, band.middle + height * np.array([-0.5, 0.5]), color=band.colour, linewidth=1.8)
        axes.plot(sample.mean(), band.middle, "o", color="white", markeredgecolor=band.colour, markersize=4)
        farthest = max(farthest, high, sample.mean())
    axes.set_xlim(0.0, 1.05 * farthest if farthest > 0.0 else 1.0)


def _draw_published(axes: Axes, published: Mapping[str, float], bands: Sequence[_Band]) -> None:
    for band in bands:
        if band.segment.name in published:
            mark_published(axes, published[band.segment.name], band.middle)
            axes.set_xlim(0.0, max(axes.get_xlim()[1], 1.05 * published[band.segment.name]))
    if any(band.segment.name in published for band in bands):
        # Not in the layout, in which it would push the panels apart.
        axes.annotate(
            "\u00d7 published mean", (1.0, 0.0), (0, -20), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="top", fontsize=8, color="#20262B",
        ).set_in_layout(False)  # fmt: skip


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
