"""Distributions of what was computed of each neuron."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from ranvier.base.values import FloatArray
from ranvier.figures.arguments import check_window, checked_rates
from ranvier.figures.style import GREY, Figure, colours_of, new_figure, styled
from ranvier.recording.data import SpikeData
from ranvier.recording.segments import Segment

__all__ = ["density", "irregularity", "mark_published", "rates"]


@styled
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
    """
    check_window(spikes)
    published = checked_rates(published_rates)
    figure, axes = _distribution_figure(len(spikes.covered_segments), title)
    # One spike more or less: finer than that there is no density.
    _draw_distributions(axes, spikes.rates(), spikes.covered_segments, "spikes/s", least_width=600.0 / spikes.duration)
    axes.set_title("rate")
    for i, segment in enumerate(spikes.covered_segments):
        if segment.name in published:
            mark_published(axes, published[segment.name], i)
    return figure


@styled
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
    """
    check_window(spikes)
    figure, axes = _distribution_figure(len(spikes.covered_segments), title)
    axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    _draw_distributions(
        axes, spikes.irregularity(), spikes.covered_segments, "coefficient of variation of inter-spike intervals"
    )
    axes.set_title("irregularity")
    return figure


def mark_published(axes: Axes, rate: float, position: float) -> None:
    """Mark a published mean rate."""
    axes.plot(rate, position, "x", color="black", markersize=4.5, markeredgewidth=1.1, zorder=5)


def _distribution_figure(rows: int, title: str) -> tuple[Figure, Axes]:
    figure = new_figure(7.0, 1.4 + 0.55 * rows, title)
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
    for row, (segment, colour) in enumerate(zip(segments, colours_of(segments), strict=True)):
        sample = values[segment.name]
        if not len(sample):
            axes.text(0.0, row, "  no values", va="center", color=GREY)
            continue
        outline = density(sample, grid, least_width)
        axes.fill_between(grid, row - 0.42 * outline, row + 0.42 * outline, color=colour, alpha=0.45, linewidth=0)
        first, median, third = np.percentile(sample, [25, 50, 75])
        axes.plot([first, third], [row, row], color=colour, linewidth=3.5, solid_capstyle="butt")
        axes.plot([median] * 2, [row - 0.16, row + 0.16], color=colour, linewidth=2.0)
        axes.plot(sample.mean(), row, "o", color="white", markeredgecolor=colour, markersize=5)
    axes.set_yticks(range(len(segments)), [segment.name for segment in segments])
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    axes.set(xlabel=label, xlim=(0.0, grid[-1]), ylim=(len(segments) - 0.4, -0.6))


def density(sample: FloatArray, grid: FloatArray, least_width: float) -> FloatArray:
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
