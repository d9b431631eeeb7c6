"""Potentials at the contacts of a laminar probe, beside the layers of the tissue."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ranvier.errors import StateError
from ranvier.figures.fields import extracellular
from ranvier.figures.style import EXCITATORY, GREY, Figure, fit, new_figure, styled
from ranvier.recording.data import ExtracellularData

__all__ = ["laminar"]


@styled
def laminar(
    data: ExtracellularData,
    layers: Mapping[str, tuple[float, float]],
    *,
    start: float = 0.0,
    shown: float = 400.0,
    title: str = "",
) -> Figure:
    """Draw the end of the traces over depth beside the layers, and the standard deviation at each contact.

    Parameters
    ----------
    data
        Potentials at contacts on a line along z.
    layers
        Upper and lower end of each layer, z in um.
    start
        End of the pre-simulation, ms: later samples count.
    shown
        Length of the traces, ms.
    title
        Title of the figure.

    Raises
    ------
    StateError
        When there are no samples after `start`.
    """
    counts = data.times > start
    if not counts.any():
        raise StateError(repr(data), bound="there is no sample to draw", remedy="run longer")
    figure = new_figure(9.5, float(np.clip(1.6 + 0.28 * len(data.contacts), 3.0, 9.0)), title)
    traces, spread = figure.subplots(1, 2, width_ratios=(3.2, 1.0), sharey=True)
    end = float(data.times[-1])
    extracellular(data, start=max(start, end - shown), stop=end, ax=traces)
    depth = data.contacts[:, 2]
    deviation = 1e3 * data.potentials[counts].std(axis=0)
    spread.plot(deviation, depth, color=EXCITATORY, marker="o", markersize=3.0, linewidth=1.2)
    fit(spread, "x", 0.0, float(deviation.max()) or 1.0, ticks=4)
    spread.set(xlabel="SD (µV)")
    spread.tick_params(labelleft=False)
    lowest, highest = traces.get_ylim()
    for name, (upper, lower) in layers.items():
        for axes in (traces, spread):
            if lowest < lower < highest:
                axes.axhline(lower, color=GREY, linewidth=0.6, linestyle=(0, (2, 3)), zorder=0)
        middle = 0.5 * (min(upper, highest) + max(lower, lowest))
        if lowest < middle < highest:
            spread.text(1.04, middle, name, transform=spread.get_yaxis_transform(), va="center", color=GREY)
    return figure
