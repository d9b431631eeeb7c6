"""The figure of `ranvier bench placement`: what is sent, and how evenly work is divided, over numbers of processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from ranvier.figures.style import COLOURS, FAINT, Figure, styled

__all__ = ["draw"]

_LINES = {"even": "-", "bump": "--"}
_PANELS = {
    "messages": "Messages per spike",
    "partners": "Partners of a process",
    "events": "Imbalance of synaptic events",
}


@styled
def draw(counted: Sequence[dict[str, Any]]) -> Figure:
    """Plot counts of `ranvier bench placement`, a line per placement and activity."""
    figure = Figure(figsize=(11.0, 3.8), dpi=150, layout="constrained")
    figure.suptitle("A sheet, divided among processes", x=0.01, ha="left", fontsize=12, fontweight="bold")
    ranks = sorted({row["ranks"] for row in counted})
    placements = list(dict.fromkeys(row["placement"] for row in counted))
    for axes, (key, title) in zip(figure.subplots(1, len(_PANELS)), _PANELS.items(), strict=True):
        for i, placement in enumerate(placements):
            for activity, line in _LINES.items():
                rows = [row for row in counted if (row["placement"], row["activity"]) == (placement, activity)]
                scale = [row["spikes_of_run"] or 1 if key == "messages" else 1 for row in rows]
                axes.plot(
                    [row["ranks"] for row in rows],
                    [row[key] / of_row for row, of_row in zip(rows, scale, strict=True)],
                    color=COLOURS[i],
                    linestyle=line,
                    marker="o",
                    markersize=4,
                    linewidth=1.2,
                    label=f"{placement}, {activity}",
                )
        axes.set_title(title)
        axes.set_xlabel("processes")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(FixedLocator(ranks))
        axes.set_xticklabels([f"{number:,}" for number in ranks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=3, frameon=False)
    return figure
