"""Figures of a bump of activity on a ring."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.figures.style import EXCITATORY, FAINT, GREY, INHIBITORY, Figure, cover, new_figure, styled
from ranvier.populations.populations import Population
from ranvier.recording.data import SpikeData

__all__ = ["BumpTrace", "bump", "profile", "trace_of"]

# Parts of the window in which the centre is measured, ms.
_WINDOW = 250.0
# A mean direction that is shorter than this is not that of a bump.
_LEAST_LENGTH = 0.3
# Neighbours over which a profile is averaged, as a part of the ring.
_NEIGHBOURS = 1.0 / 48.0
_MOST_DOTS = 40_000


@dataclass(frozen=True)
class BumpTrace:
    """The bump over time.

    Attributes
    ----------
    times
        Middles of the windows, ms, shape ``(windows,)``.
    centres
        Direction of the mean of the spikes in each window, degrees, 0 to 360.
    lengths
        Length of this mean: 0 for equal activity everywhere, 1 for activity at one place.
    """

    times: FloatArray
    centres: FloatArray
    lengths: FloatArray

    @property
    def drift(self) -> FloatArray:
        """Change of the centre since the first window, degrees, without jumps at 360."""
        unwrapped: FloatArray = np.unwrap(self.centres, period=360.0)
        drift: FloatArray = unwrapped - unwrapped[0]
        return drift


def trace_of(spikes: SpikeData, neurons: Population, window: float = _WINDOW) -> BumpTrace:
    """Return the bump over time: the mean of the spikes as unit vectors, in windows of a length in ms.

    Parameters
    ----------
    spikes
        The spikes.
    neurons
        The neurons of the ring, in the order of their angles, at equal distances.
    window
        Length of a window, ms; the rest of the recording is left out.
    """
    seen = spikes.of(neurons)
    count = int(seen.duration / window + 1e-9)
    part = np.minimum((seen.steps - seen.begin - 1) * seen.resolution // window, count).astype(np.int64)
    directions = np.exp(2j * np.pi * (seen.ids - neurons.first_id + 0.5) / len(neurons))
    sums = np.array([directions[part == each].sum() for each in range(count)])
    numbers = np.bincount(part, minlength=count + 1)[:count]
    return BumpTrace(
        times=np.asarray(seen.start + window * (np.arange(count) + 0.5), dtype=np.float64),
        centres=np.degrees(np.angle(sums)) % 360.0,
        lengths=np.abs(sums) / np.maximum(numbers, 1),
    )


def profile(spikes: SpikeData, neurons: Population) -> tuple[FloatArray, float]:
    """Return the rate of each neuron, averaged over its neighbours, and the width at half the height, degrees.

    The height is that above the lowest rate. The width is NaN without spikes.
    """
    rates = spikes.rates(neurons)
    reach = max(1, round(0.5 * _NEIGHBOURS * len(rates)))
    around = np.concatenate([rates[-reach:], rates, rates[:reach]])
    smooth: FloatArray = np.convolve(around, np.full(2 * reach + 1, 1.0 / (2 * reach + 1)), mode="valid")
    low, high = float(smooth.min()), float(smooth.max())
    if not high > low:
        return smooth, np.nan
    return smooth, 360.0 * float(np.mean(smooth > 0.5 * (low + high)))


@styled
def bump(
    spikes: SpikeData, neurons: Population, *, window: tuple[float, float] | None, angle: float, title: str
) -> Figure:
    """Draw the spikes by the angle of their neuron, the centre of the bump, and the rates after the cue.

    Parameters
    ----------
    spikes
        The spikes.
    neurons
        The neurons of the ring.
    window
        Begin and end of the cue, ms, or None.
    angle
        Angle of the cue, degrees.
    title
        Title of the figure.
    """
    seen = spikes.of(neurons)
    stride = max(1, len(seen) // _MOST_DOTS)
    figure = new_figure(10.0, 3.8, title)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3.0, 1.0])
    degrees = 360.0 * (seen.ids - neurons.first_id + 0.5) / len(neurons)
    left.plot(seen.times[::stride], degrees[::stride], ",", color=EXCITATORY, alpha=0.5, rasterized=True, zorder=1)
    if window is not None:
        left.axvspan(*window, color=FAINT, zorder=0)
        left.plot(window, [angle, angle], color="black", linewidth=1.5, solid_capstyle="butt", label="cue")
    if seen.duration >= _WINDOW:
        trace = trace_of(spikes, neurons)
        is_bump = (trace.lengths >= _LEAST_LENGTH) & (window is None or trace.times > window[0])
        left.plot(
            trace.times[is_bump], trace.centres[is_bump], "o-", color=INHIBITORY, markersize=3, linewidth=1.0,
            label="centre of the bump",
        )  # fmt: skip
    left.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=8, borderaxespad=0.1)
    left.set(xlabel="time (ms)", ylabel="angle (degrees)", ylim=(0.0, 360.0), yticks=range(0, 361, 90))
    margin = 0.01 * seen.duration
    left.set_xlim(seen.start - margin, seen.stop + margin)
    left.set_title("spikes" + (f" ({stride} spikes a dot)" if stride > 1 else ""))
    late = spikes.between(min(spikes.stop, window[1]) if window is not None else spikes.start)
    if late.end > late.begin:
        rates, width = profile(late, neurons)
        right.plot(rates, 360.0 * (np.arange(len(rates)) + 0.5) / len(rates), color=EXCITATORY, linewidth=1.4)
        cover(right, "x", 0.0, float(rates.max()), ticks=4)
        if np.isfinite(width):
            right.text(0.97, 0.03, f"width {width:.0f}°", transform=right.transAxes, ha="right", color=GREY)
    right.set_xlabel("spikes/s")
    right.set_title("after the cue" if window is not None else "mean")
    return figure
