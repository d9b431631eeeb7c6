"""Figures of distributions over neurons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from matplotlib.axes import Axes

from ranvier.base.values import FloatArray
from ranvier.figures.arguments import check_window, checked_rates
from ranvier.figures.style import GREY, Figure, colours_of, cover, hide_left, panel, styled
from ranvier.recording.data import SpikeData
from ranvier.recording.segments import Segment

__all__ = [
    *("BEYOND_ONE", "density", "draw_dots", "has_density", "irregularities", "irregularity", "mark_published", "rates"),
]


# Fewer values than this have no density.
_FEW = 30
# Smallest end of the axis of coefficients of variation, such that it contains 1.
BEYOND_ONE = 1.1
# Largest number of dots for equal values that are drawn beside each other.
_MOST_BESIDE = 21


@overload
def rates(
    spikes: SpikeData, *, published_rates: Mapping[str, float] | None = None, title: str = "", ax: None = None
) -> Figure: ...
@overload
def rates(
    spikes: SpikeData, *, published_rates: Mapping[str, float] | None = None, title: str = "", ax: Axes
) -> Axes: ...
@styled
def rates(
    spikes: SpikeData,
    *,
    published_rates: Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot the distribution of the neurons' mean rates in each population.

    The figure shows a smooth density, with the quartiles as a bar, the median as a line and the mean as a circle. If
    there are few values, or all are equal, it shows a dot for each value.

    Parameters
    ----------
    spikes
        Data of a spike recorder.
    published_rates
        Mean rates by population, spikes/s, to mark beside the measured rates.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When the window is empty.
    """
    check_window(spikes)
    segments = spikes.covered_segments
    drawn, axes = panel(ax, _size(len(segments)), title)
    published = {name: rate for name, rate in checked_rates(published_rates).items() if name in spikes.rates()}
    # The resolution of rates is one spike.
    _draw_distributions(
        axes, spikes.rates(), segments, "spikes/s", 600.0 / spikes.duration, reach=max(published.values(), default=0.0)
    )
    axes.set_title(title if title and ax is not None else "rate")
    for place, segment in enumerate(segments):
        if segment.name in published:
            mark_published(axes, published[segment.name], place)
    if published:
        axes.plot([], [], "x", color="black", markersize=4.5, markeredgewidth=1.1, label="published mean")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, borderaxespad=0.1)
    return drawn


@overload
def irregularity(spikes: SpikeData, *, title: str = "", ax: None = None) -> Figure: ...
@overload
def irregularity(spikes: SpikeData, *, title: str = "", ax: Axes) -> Axes: ...
@styled
def irregularity(spikes: SpikeData, *, title: str = "", ax: Axes | None = None) -> Figure | Axes:
    """Plot the distribution of the coefficient of variation of the inter-spike intervals in each population.

    Neurons with fewer than three spikes have no value. The mean is 1 for Poisson trains and 0 for regular trains.
    The style is that of `rates`.

    Parameters
    ----------
    spikes
        Data of a spike recorder.
    title, ax
        As for `rates`.

    Raises
    ------
    StateError
        When the window is empty.
    """
    check_window(spikes)
    drawn, axes = panel(ax, _size(len(spikes.covered_segments)), title)
    axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    label = "coefficient of variation of inter-spike intervals"
    _draw_distributions(axes, irregularities(spikes), spikes.covered_segments, label, reach=BEYOND_ONE)
    axes.set_title(title if title and ax is not None else "irregularity")
    return drawn


def irregularities(spikes: SpikeData) -> dict[str, FloatArray]:
    """Return the coefficients of variation of each population, without neurons that have too few spikes."""
    return {name: values[~np.isnan(values)] for name, values in spikes.irregularity().items()}


def mark_published(axes: Axes, rate: float, position: float) -> None:
    """Mark a published mean rate."""
    axes.plot(rate, position, "x", color="black", markersize=4.5, markeredgewidth=1.1, zorder=5)


def has_density(sample: FloatArray) -> bool:
    """Return whether there are enough different values to show a density."""
    return len(sample) >= _FEW and bool(np.ptp(sample) > 0.0)


def draw_dots(axes: Axes, sample: FloatArray, middle: float, height: float, colour: str) -> None:
    """Draw a dot for each value; dots of equal values are stacked within `height`."""
    values, counts = np.unique(sample, return_counts=True)
    places = [middle + _beside(count) * height for count in counts.tolist()]
    axes.plot(
        np.repeat(values, [len(place) for place in places]),
        np.concatenate(places),
        "o",
        color=colour,
        alpha=0.7,
        markersize=3.5,
        markeredgewidth=0,
    )


def _beside(count: int) -> FloatArray:
    shown = min(count, _MOST_BESIDE)
    return (np.arange(shown) - 0.5 * (shown - 1)) / _MOST_BESIDE


def _size(rows: int) -> tuple[float, float]:
    return 7.0, 1.4 + 0.55 * max(1, rows)


def _draw_distributions(
    axes: Axes,
    values: Mapping[str, FloatArray],
    segments: Sequence[Segment],
    label: str,
    least_width: float = 0.0,
    reach: float = 0.0,
) -> None:
    """Draw the distribution of each population in a row, the first on top; the axis extends to `reach` at least."""
    farthest = max([reach, *(float(sample.max()) for sample in values.values() if len(sample))])
    grid = np.linspace(0.0, 1.02 * (farthest or 1.0), 400)
    for row, (segment, colour) in enumerate(zip(segments, colours_of(segments), strict=True)):
        sample = values[segment.name]
        if not len(sample):
            axes.text(0.0, row, "  no values", va="center", color=GREY)
        elif not has_density(sample):
            draw_dots(axes, sample, row, 0.8, colour)
        else:
            outline = density(sample, grid, least_width)
            axes.fill_between(grid, row - 0.42 * outline, row + 0.42 * outline, color=colour, alpha=0.45, linewidth=0)
            first, median, third = np.percentile(sample, [25, 50, 75])
            axes.plot([first, third], [row, row], color=colour, linewidth=3.5, solid_capstyle="butt")
            axes.plot([median] * 2, [row - 0.16, row + 0.16], color=colour, linewidth=2.0)
            axes.plot(sample.mean(), row, "o", color="white", markeredgecolor=colour, markersize=5)
    axes.set_yticks(range(len(segments)), [segment.name for segment in segments])
    hide_left(axes)
    axes.set(xlabel=label, ylim=(len(segments) - 0.4, -0.6))
    cover(axes, "x", 0.0, farthest)


def density(sample: FloatArray, grid: FloatArray, least_width: float) -> FloatArray:
    """Return a Gaussian kernel density on the grid, with maximum 1; the part below zero is reflected."""
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
