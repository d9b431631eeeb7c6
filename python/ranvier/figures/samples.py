"""Figures of state variables over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from ranvier.base.values import FloatArray
from ranvier.errors import StateError, WrongTypeError
from ranvier.figures.arguments import checked_threshold, chosen_neurons, samples_in_window
from ranvier.figures.style import COLOURS, EXCITATORY, GREY, INHIBITORY, Figure, fit, new_figure, panel, styled
from ranvier.recording.data import SpikeData, StateData

__all__ = ["state"]


@overload
def state(
    data: StateData,
    variable: str = "V_m",
    *,
    ids: Sequence[int] | npt.NDArray[np.int64] | None = None,
    start: float | None = None,
    stop: float | None = None,
    threshold: float | None = None,
    spikes: SpikeData | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def state(
    data: StateData,
    variable: str = "V_m",
    *,
    ids: Sequence[int] | npt.NDArray[np.int64] | None = None,
    start: float | None = None,
    stop: float | None = None,
    threshold: float | None = None,
    spikes: SpikeData | None = None,
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def state(
    data: StateData,
    variable: str = "V_m",
    *,
    ids: Sequence[int] | npt.NDArray[np.int64] | None = None,
    start: float | None = None,
    stop: float | None = None,
    threshold: float | None = None,
    spikes: SpikeData | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot a state variable over time, one neuron below the other.

    Parameters
    ----------
    data
        Data of a state recorder.
    variable
        Name of the variable.
    ids
        Global ids of the neurons to show, for example ``exc[:3].ids``; None: the first eight recorded neurons.
    start, stop
        Window to show, ms; None: everything.
    threshold
        A value to mark with a line, for example the firing threshold.
    spikes
        Data of a spike recorder of the same neurons: each spike is marked above. A membrane potential is reset
        when the neuron fires, so that its samples do not show the times of the spikes.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib in which all neurons are drawn, and which are then returned; None: draw in a new figure and
        return it.

    Raises
    ------
    StateError
        When there is no sample in the window.
    UnknownNameError
        When the variable was not recorded.
    ShapeError, ValueOutOfBoundsError, WrongTypeError
        For neurons that were not recorded, nor their spikes, for no neurons or too many, and for arguments of a wrong
        type.
    """
    if not isinstance(data, StateData):
        raise WrongTypeError("data of a plot", type(data).__name__, "must be the data of a recorder of state variables")
    values, times = data[variable], data.times
    here = samples_in_window(times, start, stop)
    level = checked_threshold(threshold)
    chosen = chosen_neurons(ids, data)
    if not here.any():
        raise StateError(
            repr(data), bound="there is no sample in the window", remedy="run longer or choose another window"
        )
    shown = values[here][:, chosen]
    trains = _trains(spikes, data.ids[chosen].tolist(), times[here])
    low, high = _range(shown, level)
    names = [f"neuron {data.ids[place]}" for place in chosen]
    if ax is not None:
        _, axes = panel(ax, (0.0, 0.0), title)
        columns = [axes] * len(chosen)
        colours = [COLOURS[place % len(COLOURS)] for place in range(len(chosen))]
        drawn: Figure | Axes = axes
        axes.set(ylabel=_label(variable), title=title)
    else:
        figure = drawn = new_figure(9.0, 1.2 + 1.1 * len(chosen), title)
        columns = list(figure.subplots(len(chosen), 1, sharex=True, sharey=True, squeeze=False)[:, 0])
        colours = [EXCITATORY] * len(chosen)
        figure.supylabel(_label(variable), fontsize=10)
        for axes, name in zip(columns, names, strict=True):
            axes.text(1.0, 1.0, name, transform=axes.transAxes, ha="right", va="bottom", color=GREY)
    for axes, colour, name, line in zip(columns, colours, names, shown.T, strict=True):
        axes.plot(times[here], line, color=colour, linewidth=0.9, label=name)
    _mark_spikes(columns, colours if ax is not None else [INHIBITORY] * len(chosen), trains, (low, high))
    top = high if spikes is None else high + _height_of_mark(max(map(columns.count, columns))) * (high - low)
    _finish(list(dict.fromkeys(columns)), times[here], (low, top), level)
    columns[-1].set_xlabel("time (ms)")
    if ax is not None and len(chosen) > 1:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    return drawn


def _label(variable: str) -> str:
    unit = {"V": "mV", "I": "pA", "g": "nS"}.get(variable[0], "")
    return f"{variable} ({unit})" if unit else variable


def _range(values: FloatArray, threshold: float | None) -> tuple[float, float]:
    seen = [float(values.min()), float(values.max()), *([] if threshold is None else [threshold])]
    low, high = min(seen), max(seen)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _trains(spikes: SpikeData | None, ids: Sequence[int], times: FloatArray) -> list[FloatArray]:
    """Return the times of the spikes to mark, of each neuron that is shown."""
    if spikes is None:
        return [np.zeros(0)] * len(ids)
    if not isinstance(spikes, SpikeData):
        raise WrongTypeError("spikes to mark", type(spikes).__name__, "must be the data of a recorder of spikes")
    trains = [spikes.train(neuron) for neuron in ids]
    return [train[(train >= times[0]) & (train <= times[-1])] for train in trains]


def _height_of_mark(row: int) -> float:
    """Return how far above all values the marks of a row are, from 1 on, as a part of the range of the values."""
    return 0.07 * row


def _mark_spikes(
    columns: Sequence[Axes], colours: Sequence[str], trains: Sequence[FloatArray], span: tuple[float, float]
) -> None:
    """Mark spikes above all values, with one row for each neuron of the axes."""
    low, high = span
    for place, (axes, colour, train) in enumerate(zip(columns, colours, trains, strict=True)):
        row = 1 + columns[:place].count(axes)
        heights = np.full(len(train), high + _height_of_mark(row) * (high - low))
        axes.plot(train, heights, "|", color=colour, markersize=6, markeredgewidth=1.1)


def _finish(columns: Sequence[Axes], times: FloatArray, span: tuple[float, float], threshold: float | None) -> None:
    for axes in columns:
        fit(axes, "y", *span, ticks=4)
        margin = 0.003 * (times[-1] - times[0]) or 0.5
        axes.set_xlim(times[0] - margin, times[-1] + margin)
        if threshold is not None:
            axes.axhline(threshold, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=0)
    if threshold is not None:
        _name_threshold(columns[0], threshold)


def _name_threshold(axes: Axes, level: float) -> None:
    axes.annotate(
        "threshold", (0.0, level), (4, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
        ha="left", va="bottom", fontsize=8, color=GREY,
    ).set_in_layout(False)  # fmt: skip
