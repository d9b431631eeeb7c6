"""Figures of recordings.

Every function returns a `Figure` of matplotlib; notebooks show it, and ``figure.savefig("name.png")`` writes it.
Colours can be told apart by the colour-blind (M. Okabe and K. Ito, 2008): where populations are excitatory and
inhibitory, blue and vermilion.
"""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

import matplotlib
import matplotlib.figure
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ranvier.base.paths import checked_path, write_whole
from ranvier.base.times import text_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, WrongTypeError
from ranvier.network.checks import check_text
from ranvier.plot_arguments import check_window, checked_rates, checked_threshold, chosen_traces, time_of_window
from ranvier.recording.data import SpikeData, StateData
from ranvier.recording.neuron_ids import NeuronIds
from ranvier.recording.segments import Segment

__all__ = ["Figure", "irregularity", "raster", "rates", "state"]

_EXCITATORY, _INHIBITORY = "#0072B2", "#D55E00"
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D31", "#000000")
_GREY = "#5F6B75"
_FAINT = "#E3E7EA"

# More markers than this on one raster only darken it.
_MOST_MARKERS = 60_000
# So that a small population beside large ones can still be seen.
_LEAST_SHARE = 0.035

_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _GREY,
    "axes.labelcolor": "#20262B",
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "xtick.labelcolor": "#20262B",
    "ytick.labelcolor": "#20262B",
    "font.size": 9,
    "figure.facecolor": "white",
}


Arguments = ParamSpec("Arguments")


def _styled(function: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Draw in the style of this module, whatever the user's settings are, and leave those alone."""

    @functools.wraps(function)
    def draw(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Figure:
        with matplotlib.rc_context(_STYLE):
            return function(*arguments, **keywords)

    return draw


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks show by themselves."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure, as matplotlib does; but a file of that name is whole at each moment, the old or the new.

        Raises
        ------
        FileError
            When the file cannot be written.
        """
        if not isinstance(fname, str | os.PathLike):
            super().savefig(fname, **options)
            return
        path = checked_path(fname)
        if options.get("format") is None:
            options["format"] = path.suffix[1:].lower() or matplotlib.rcParams["savefig.format"]
            if not path.suffix:
                path = path.with_name(f"{path.name}.{options['format']}")
        drawn = io.BytesIO()
        super().savefig(drawn, **options)
        write_whole(path, drawn.getvalue())


@_styled
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
    figure = _new_figure(11.0, max(5.0, min(8.0, 2.5 + 0.6 * len(bands))), title)
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
    irregularity_axes.axvline(1.0, color=_GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    irregularity_axes.set_title("irregularity (CV)")
    for axes in (rate_axes, irregularity_axes):
        axes.tick_params(left=False, labelleft=False)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    _draw_network_rate(network_axes, shown)
    spike_axes.tick_params(labelbottom=False)
    return figure


@_styled
def rates(spikes: SpikeData, *, published_rates: Mapping[str, float] | None = None, title: str = "") -> Figure:
    """Plot the distribution of the neurons' mean rates in each population.

    Parameters
    ----------
    spikes
        What a spike recorder recorded.
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
    figure, axes = _distribution_figure(len(spikes.covered_segments), title)
    # One spike more or less: finer than that there is no density.
    _draw_distributions(axes, spikes.rates(), spikes.covered_segments, "spikes/s", least_width=600.0 / spikes.duration)
    axes.set_title("rate")
    for i, segment in enumerate(spikes.covered_segments):
        if segment.name in published:
            _mark_published(axes, published[segment.name], i)
    return figure


@_styled
def irregularity(spikes: SpikeData, *, title: str = "") -> Figure:
    """Plot the distribution of the coefficient of variation of the inter-spike intervals in each population.

    Neurons with fewer than three spikes have none. Poisson trains have 1 on average, regular ones 0.

    Parameters
    ----------
    spikes
        What a spike recorder recorded.
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
    figure, axes = _distribution_figure(len(spikes.covered_segments), title)
    axes.axvline(1.0, color=_GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    _draw_distributions(
        axes, spikes.irregularity(), spikes.covered_segments, "coefficient of variation of inter-spike intervals"
    )
    axes.set_title("irregularity")
    return figure


@_styled
def state(
    data: StateData,
    variable: str = "V_m",
    *,
    neurons: Sequence[int] | None = None,
    start: float | None = None,
    stop: float | None = None,
    threshold: float | None = None,
    title: str = "",
) -> Figure:
    """Plot a state variable over time, one neuron below the other.

    Parameters
    ----------
    data
        What a recorder of state variables recorded.
    variable
        Name of the variable.
    neurons
        Which of the recorded neurons (indices in ``data.ids``); None: the first eight.
    start, stop
        The part to show, ms; None: all.
    threshold
        A value to mark with a line, for example that at which neurons fire.
    title
        Title of the figure.

    Raises
    ------
    StateError
        When there is no sample in the window.
    UnknownNameError
        When the variable was not recorded.
    IndexOutOfBoundsError, ShapeError, ValueOutOfBoundsError, WrongTypeError
        For neurons that were not recorded, for none or too many of them, and for arguments that are of another kind.
    """
    if not isinstance(data, StateData):
        raise WrongTypeError(
            "what is plotted", type(data).__name__, "must be the data of a recorder of state variables"
        )
    values, times = data[variable], data.times
    here = (times >= time_of_window("start", start, -np.inf)) & (times <= time_of_window("stop", stop, np.inf))
    level = checked_threshold(threshold)
    if not here.any():
        raise StateError(
            repr(data), bound="there is no sample in the window", remedy="run longer or give another window"
        )
    chosen = chosen_traces(neurons, data)
    figure = _new_figure(9.0, 1.2 + 1.1 * len(chosen), title)
    columns = figure.subplots(len(chosen), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    unit = {"V": "mV", "I": "pA", "g": "nS"}.get(variable[0], "")
    for axes, neuron in zip(columns, chosen, strict=True):
        if level is not None:
            axes.axhline(level, color=_GREY, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.plot(times[here], values[here, neuron], color=_EXCITATORY, linewidth=0.9)
        axes.text(
            1.0, 1.0, f"neuron {data.ids[neuron]}", transform=axes.transAxes, ha="right", va="bottom", color=_GREY
        )
        axes.yaxis.set_major_locator(MaxNLocator(3))
        axes.margins(x=0)
    columns[-1].set_xlabel("time (ms)")
    figure.supylabel(f"{variable} ({unit})" if unit else variable, fontsize=10)
    return figure


# ---- parts -----------------------------------------------------------------------------------------------------------


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
            segments, ids, edges[:-1], edges[1:], _colours(segments), strict=True
        )
    ]


def _colours(segments: Sequence[Segment]) -> list[str]:
    kinds = [_kind(segment.name) for segment in segments]
    if all(kind is not None for kind in kinds):
        return [_EXCITATORY if kind == "E" else _INHIBITORY for kind in kinds]
    return [_COLOURS[i % len(_COLOURS)] for i in range(len(segments))]


def _kind(name: str) -> str | None:
    """Whether a population is excitatory or inhibitory, as far as its name tells."""
    if re.match(r"exc", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ee](xc\w*)?$", name):
        return "E"
    if re.match(r"inh", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ii](nh\w*)?$", name):
        return "I"
    return None


def _new_figure(width: float, height: float, title: str = "") -> Figure:
    title = check_text("title of a figure", title)
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


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
        axes.axhspan(band.bottom, band.top, color=_FAINT, alpha=0.5, linewidth=0, zorder=-1)
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
            _mark_published(axes, published[band.segment.name], band.middle)
            axes.set_xlim(0.0, max(axes.get_xlim()[1], 1.05 * published[band.segment.name]))
    if any(band.segment.name in published for band in bands):
        # Not in the layout, in which it would push the panels apart.
        axes.annotate(
            "\u00d7 published mean", (1.0, 0.0), (0, -20), xycoords="axes fraction", textcoords="offset points",
            ha="right", va="top", fontsize=8, color="#20262B",
        ).set_in_layout(False)  # fmt: skip


def _mark_published(axes: Axes, rate: float, position: float) -> None:
    axes.plot(rate, position, "x", color="black", markersize=4.5, markeredgewidth=1.1, zorder=5)


def _distribution_figure(rows: int, title: str) -> tuple[Figure, Axes]:
    figure = _new_figure(7.0, 1.4 + 0.55 * rows, title)
    return figure, figure.add_subplot()


def _draw_distributions(
    axes: Axes,
    values: Mapping[str, FloatArray],
    segments: Sequence[Segment],
    label: str,
    least_width: float = 0.0,
) -> None:
    """Draw one smooth density per population, the first on top, with quartiles and the mean."""
    farthest = max((float(np.percentile(sample, 99.5)) for sample in values.values() if len(sample)), default=1.0)
    grid = np.linspace(0.0, 1.08 * (farthest or 1.0), 400)
    for row, (segment, colour) in enumerate(zip(segments, _colours(segments), strict=True)):
        sample = values[segment.name]
        if not len(sample):
            axes.text(0.0, row, "  no values", va="center", color=_GREY)
            continue
        density = _density(sample, grid, least_width)
        axes.fill_between(grid, row - 0.42 * density, row + 0.42 * density, color=colour, alpha=0.45, linewidth=0)
        first, median, third = np.percentile(sample, [25, 50, 75])
        axes.plot([first, third], [row, row], color=colour, linewidth=3.5, solid_capstyle="butt")
        axes.plot([median] * 2, [row - 0.16, row + 0.16], color=colour, linewidth=2.0)
        axes.plot(sample.mean(), row, "o", color="white", markeredgecolor=colour, markersize=5)
    axes.set_yticks(range(len(segments)), [segment.name for segment in segments])
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    axes.set(xlabel=label, xlim=(0.0, grid[-1]), ylim=(len(segments) - 0.4, -0.6))


def _density(sample: FloatArray, grid: FloatArray, least_width: float) -> FloatArray:
    """Gaussian kernel density on the grid, its greatest value 1; what lies below zero is folded back."""
    spacing = grid[1] - grid[0]
    spread = min(float(sample.std()), float(np.subtract(*np.percentile(sample, [75, 25]))) / 1.34) or float(
        sample.std()
    )
    width = max(0.9 * spread * len(sample) ** -0.2, 1.5 * spacing, least_width)
    counts, _ = np.histogram(sample, bins=np.append(grid, grid[-1] + spacing) - 0.5 * spacing)
    reach = int(np.ceil(4.0 * width / spacing))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * spacing / width) ** 2)
    smooth = np.convolve(counts.astype(np.float64), kernel)
    result: FloatArray = smooth[reach : reach + len(grid)].copy()
    folded = smooth[:reach][::-1][: len(grid) - 1]
    result[1 : 1 + len(folded)] += folded
    result /= max(float(result.max()), 1e-300)
    return result


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
