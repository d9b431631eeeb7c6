"""Pulse packets on their way through groups of neurons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ranvier.figures.rasters import raster
from ranvier.figures.style import EXCITATORY, GREY, INHIBITORY, Figure, cover, new_figure, styled
from ranvier.recording.data import SpikeData

__all__ = ["packet_of", "packets"]

_WINDOW = 10.0  # ms
_QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations


def packet_of(spikes: SpikeData, name: str, begin: float) -> tuple[int, float]:
    """Return the number of spikes of a packet and the standard deviation of their times, ms.

    The packet is the window of 10 ms that has the most spikes, also if a population fires at random. The standard
    deviation is that of a normal distribution with the same quartiles, which a few random spikes hardly change.

    Parameters
    ----------
    spikes
        The spikes.
    name
        Name of the population.
    begin
        Earliest start of the window, ms.
    """
    segment = next(each for each in spikes.segments if each.name == name)
    times = spikes.times[segment.holds(spikes.ids)]
    times = np.sort(times[times >= begin])
    if not len(times):
        return 0, 0.0
    counts = np.searchsorted(times, times + _WINDOW, side="right") - np.arange(len(times))
    first = int(counts.argmax())
    count = int(counts[first])
    lower, upper = np.percentile(times[first : first + count], [25, 75])
    return count, float(upper - lower) / _QUARTILES


@styled
def packets(spikes: SpikeData, given: tuple[float, float], begins: Sequence[float], *, title: str = "") -> Figure:
    """Draw the spikes, and the size and the spread of the packet in each population.

    Parameters
    ----------
    spikes
        The spikes; the packet travels through the populations in their order.
    given
        Size and spread (ms) of the packet that the first population receives.
    begins
        For each population, the time from which the packet may be there, ms.
    title
        Title of the figure.
    """
    figure = new_figure(11.0, 5.0, title)
    spike_axes, plane = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    raster(spikes, start=spikes.start, ax=spike_axes)
    found = [packet_of(spikes, segment.name, begin) for segment, begin in zip(spikes.segments, begins, strict=True)]
    _draw_plane(plane, [given, *found])
    return figure


def _draw_plane(axes: Axes, found: Sequence[tuple[float, float]]) -> None:
    """Draw the way of a packet in the plane of its spread and its size."""
    sizes = np.array([size for size, _ in found], dtype=float)
    spreads = np.array([spread for _, spread in found])
    axes.plot(spreads, sizes, color=GREY, linewidth=1.0, zorder=1)
    axes.scatter(spreads[1:], sizes[1:], s=26.0, c=EXCITATORY, zorder=2)
    axes.scatter(spreads[:1], sizes[:1], s=40.0, c=INHIBITORY, marker="s", zorder=3)
    # Those between may lie on each other.
    for number, text in {len(found) - 1: str(len(found) - 1), 1: "1", 0: "input"}.items():
        size, spread = found[number]
        axes.annotate(text, (spread, size), (5, 4), textcoords="offset points", fontsize=8, color=GREY)
    cover(axes, "x", 0.0, max(1.0, float(spreads.max())))
    cover(axes, "y", 0.0, max(10.0, float(sizes.max())))
    axes.set_title("packet in each group")
    axes.set_xlabel("spread of its spikes (ms)")
    axes.set_ylabel("number of its spikes")
