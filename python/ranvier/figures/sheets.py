"""Figures of the activity of a sheet of neurons: maps at some times, and rates over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from ranvier.figures.movie_frames import Pixels, SpikeFrames
from ranvier.figures.movies import pixels_of
from ranvier.figures.space_axes import box_of
from ranvier.figures.style import EXCITATORY, FAINT, GREY, INHIBITORY, Figure, colours_of, cover, new_figure, styled
from ranvier.populations.populations import Population
from ranvier.recording.data import SpikeData

__all__ = ["sheet"]

_MAPS, _BIN, _BIN_AFTER_EVENT = 5, 5.0, 3.0  # maps, ms, ms
# Of a map: neurons in a pixel on average, and pixels along a side.
_NEURONS_OF_PIXEL, _FEWEST_PIXELS = 40, 8


@styled
def sheet(spikes: SpikeData, shown: Population, *, events: Sequence[float], title: str) -> Figure:
    """Draw five maps of the rates of a population, and the mean rates of excitatory and inhibitory neurons.

    Parameters
    ----------
    spikes
        The spikes.
    shown
        The population of the maps, with positions in two dimensions.
    events
        Times of equal events, ms. The maps are means over those in the window, in bins of 3 ms after them. Without
        events in the window, the maps show bins of 5 ms, spread over the window.
    title
        Title of the figure.
    """
    box = box_of([shown])
    along = max(_FEWEST_PIXELS, round(math.sqrt(len(shown) / _NEURONS_OF_PIXEL)))
    pixels = pixels_of([shown], box, along)
    length = (_MAPS + 1) * _BIN_AFTER_EVENT
    seen = [event for event in events if spikes.start <= event and event + length <= spikes.stop]
    if seen:
        bin_width = _BIN_AFTER_EVENT
        windows = [_frames(spikes, shown, pixels, bin_width, event, event + length) for event in seen]
        # In the first bin, spikes are on their way.
        chosen = [np.mean([each.shown(frame) for each in windows], axis=0) for frame in range(1, _MAPS + 1)]
        after = "after pulses" if len(seen) > 1 else "after the pulse"
        titles = [f"{frame * bin_width:g} to {(frame + 1) * bin_width:g} ms {after}" for frame in range(1, _MAPS + 1)]
        bands = [(event + bin_width, event + length) for event in seen]
    else:
        bin_width = min(_BIN, spikes.duration)
        frames = _frames(spikes, shown, pixels, bin_width, None, None)
        numbers = np.unique(np.linspace(0, len(frames.times) - 1, _MAPS).astype(np.int64)).tolist()
        chosen, titles = [frames.shown(each) for each in numbers], [frames.label(each) for each in numbers]
        bands = [(float(frames.times[each]) - bin_width, float(frames.times[each])) for each in numbers]
    figure = new_figure(11.0, 5.2, title)
    grid = figure.add_gridspec(2, len(chosen), height_ratios=[1.0, 1.0])
    scale = Normalize(0.0, max(1.0, float(np.nanpercentile(chosen, 99.5))))
    maps = []
    for place, (values, name) in enumerate(zip(chosen, titles, strict=True)):
        axes = figure.add_subplot(grid[0, place])
        image = axes.imshow(
            values, norm=scale, cmap=colormaps["viridis"].with_extremes(bad=FAINT), origin="lower",
            extent=(box.lower[0], box.upper[0], box.lower[1], box.upper[1]),
        )  # fmt: skip
        axes.set_title(name, fontsize=9)
        axes.set_xlabel(f"x ({box.unit})")
        if place:
            axes.set_yticklabels([])
        else:
            axes.set_ylabel(f"{shown.name}: y ({box.unit})")
        maps.append(axes)
    figure.colorbar(image, ax=maps, label="spikes/s", shrink=0.8, aspect=25)
    below = figure.add_subplot(grid[1, :])
    _draw_rates(below, spikes, bin_width)
    for band in bands:
        below.axvspan(*band, color=FAINT, zorder=0)
    for event in seen:
        below.axvline(event, color=GREY, linewidth=0.9, linestyle=(0, (4, 2)))
    if seen:
        below.annotate(
            "pulse", (seen[0], 1.0), (-4, -2), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="right", va="top", fontsize=8, color=GREY,
        )  # fmt: skip
    return figure


def _frames(
    spikes: SpikeData, shown: Population, pixels: Pixels, bin_width: float, start: float | None, stop: float | None
) -> SpikeFrames:
    frames = SpikeFrames(spikes, shown.ids, bin_width, None, start, stop)
    frames.average(pixels)
    return frames


def _draw_rates(axes: Axes, spikes: SpikeData, bin_width: float) -> None:
    """Draw the mean rates of neurons in excitatory and in inhibitory populations, or of all if that is not known."""
    segments = spikes.covered_segments
    colours = colours_of(segments)
    names = {EXCITATORY: "excitatory", INHIBITORY: "inhibitory"}
    if not set(colours) <= set(names):
        colours, names = [EXCITATORY] * len(segments), {EXCITATORY: "all"}
    found = spikes.rate(bin=bin_width)
    greatest = 0.0
    for colour, name in names.items():
        rates = [found[each.name] for each, own in zip(segments, colours, strict=True) if own == colour]
        if rates:
            mean = np.average([each.rates for each in rates], axis=0, weights=[each.neurons for each in rates])
            axes.stairs(mean, rates[0].edges, color=colour, linewidth=1.2, label=name, baseline=None)
            greatest = max(greatest, float(mean.max(initial=0.0)))
    margin = 0.01 * spikes.duration
    axes.set(xlabel="time (ms)", ylabel="spikes/s", xlim=(spikes.start - margin, spikes.stop + margin))
    axes.set_title(f"rate in bins of {bin_width:g} ms")
    cover(axes, "y", 0.0, greatest, ticks=4)
    axes.set_ylim(bottom=0.0)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=8, borderaxespad=0.1)
