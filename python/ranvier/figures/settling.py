"""Rates that settle over time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from ranvier.base.times import times_of
from ranvier.figures.rasters import raster
from ranvier.figures.style import GREY, Figure, colours_of, new_figure, styled
from ranvier.recording.data import SpikeData

__all__ = ["rates_over_time", "settling"]

_BINS = 100
_SHOWN = 300.0  # ms


def rates_over_time(spikes: SpikeData) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
    """Return the edges of about a hundred bins of whole steps, ms, and the rate of each population in each, spikes/s.

    An incomplete bin at the end is left out.
    """
    width = max(1, (spikes.end - spikes.begin) // _BINS)
    edges = np.arange(spikes.begin, spikes.end + 1, width)
    seconds = width * spikes.resolution / 1000.0
    rates = {}
    for segment in spikes.covered_segments:
        # A spike of step n fell into (n - 1, n].
        counts, _ = np.histogram(spikes.steps[segment.holds(spikes.ids)] - 0.5, bins=edges)
        rates[segment.name] = counts / (len(spikes.ids_of(segment)) * seconds)
    return times_of(edges, spikes.resolution), rates


@styled
def settling(spikes: SpikeData, target_rate: float, *, title: str = "") -> Figure:
    """Draw the rate of each population over time, and the last spikes.

    Parameters
    ----------
    spikes
        The spikes.
    target_rate
        The rate that they should settle at, spikes/s.
    title
        Title of the figure.
    """
    figure = new_figure(11.0, 5.0, title)
    rate_axes, spike_axes = figure.subplots(1, 2, width_ratios=(1.0, 1.2))
    _draw_rates(rate_axes, spikes, target_rate)
    raster(spikes, start=max(spikes.start, spikes.stop - _SHOWN), ax=spike_axes)
    return figure


def _draw_rates(axes: Axes, spikes: SpikeData, target_rate: float) -> None:
    edges, rates = rates_over_time(spikes)
    for (name, values), colour in zip(rates.items(), colours_of(spikes.covered_segments), strict=True):
        axes.stairs(values, edges / 1000.0, baseline=None, color=colour, linewidth=1.4, label=name)
    axes.axhline(target_rate, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label="target")
    axes.legend(frameon=False)
    # Rates at the start are many times the rates at the end.
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.set_ylim(bottom=0.5 * target_rate)
    axes.set_title("mean rate")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("spikes/s")
