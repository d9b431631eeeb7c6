"""Figures of the activity of populations over time."""

from __future__ import annotations

from typing import overload

from matplotlib.axes import Axes

from ranvier.figures.arguments import check_window
from ranvier.figures.rasters import shown_window
from ranvier.figures.style import Figure, colours_of, cover, panel, styled
from ranvier.recording.data import SpikeData

__all__ = ["rate"]


@overload
def rate(
    spikes: SpikeData,
    *,
    bin: float = 5.0,
    smooth: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def rate(
    spikes: SpikeData,
    *,
    bin: float = 5.0,
    smooth: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def rate(
    spikes: SpikeData,
    *,
    bin: float = 5.0,  # noqa: A002
    smooth: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot the rate of each population over time.

    Parameters
    ----------
    spikes
        Data of a spike recorder; ``spikes.of(exc)`` for some of the populations.
    bin, smooth
        Width of the bins and standard deviation of the Gaussian, ms, as for `SpikeData.rate`.
    start, stop
        The window, ms; None: the window of the data. Rates are smoothed before the window is cut out.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When the window is empty, or shorter than a bin.
    ValueOutOfBoundsError
        For a bin that is not a whole number of steps, and for `smooth` that is not > 0.
    """
    check_window(spikes)
    first, last = shown_window(spikes, start, stop)
    rates = spikes.rate(bin=bin, smooth=smooth)
    drawn, axes = panel(ax, (8.0, 3.2), title)
    greatest = 0.0
    for segment, colour in zip(spikes.covered_segments, colours_of(spikes.covered_segments), strict=True):
        found = rates[segment.name]
        here = (found.edges[:-1] >= first - 1e-9) & (found.edges[1:] <= last + 1e-9)
        values = found.rates[here]
        if smooth is None:
            edges = [*found.edges[:-1][here], *found.edges[1:][here][-1:]]
            if len(values):
                axes.stairs(values, edges, color=colour, linewidth=1.2, label=segment.name, baseline=None)
        else:
            axes.plot(found.times[here], values, color=colour, linewidth=1.4, label=segment.name)
        greatest = max(greatest, float(values.max(initial=0.0)))
    margin = 0.01 * (last - first)
    axes.set(xlabel="time (ms)", ylabel="spikes/s", xlim=(first - margin, last + margin))
    how = f"in bins of {bin:g} ms" + ("" if smooth is None else f", smoothed over {smooth:g} ms")
    axes.set_title(title if title and ax is not None else f"rate {how}")
    cover(axes, "y", 0.0, greatest, ticks=4)
    axes.set_ylim(bottom=0.0)
    if len(rates) > 1 or ax is not None:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, frameon=False, fontsize=8, borderaxespad=0.1)
    elif rates:
        axes.set_title(f"{next(iter(rates))}: rate {how}")
    return drawn
