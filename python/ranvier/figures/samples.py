"""State variables over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator

from ranvier.errors import StateError, WrongTypeError
from ranvier.figures.arguments import checked_threshold, chosen_traces, time_of_window
from ranvier.figures.style import EXCITATORY, GREY, Figure, new_figure, styled
from ranvier.recording.data import StateData

__all__ = ["state"]


@styled
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
    figure = new_figure(9.0, 1.2 + 1.1 * len(chosen), title)
    columns = figure.subplots(len(chosen), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    unit = {"V": "mV", "I": "pA", "g": "nS"}.get(variable[0], "")
    for axes, neuron in zip(columns, chosen, strict=True):
        if level is not None:
            axes.axhline(level, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.plot(times[here], values[here, neuron], color=EXCITATORY, linewidth=0.9)
        axes.text(1.0, 1.0, f"neuron {data.ids[neuron]}", transform=axes.transAxes, ha="right", va="bottom", color=GREY)
        axes.yaxis.set_major_locator(MaxNLocator(3))
        axes.margins(x=0)
    columns[-1].set_xlabel("time (ms)")
    figure.supylabel(f"{variable} ({unit})" if unit else variable, fontsize=10)
    return figure
