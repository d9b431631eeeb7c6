"""The figure of `ranvier bench containers`: rows of Table 1 of Magalhães et al. (2019), over the number of neurons."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from ranvier.figures.style import COLOURS, FAINT, Figure, new_figure, styled

__all__ = ["draw"]

_MARKERS = "osD"
# The paper's time of std relative to linear containers, with 4 steps at a time.
_PAPER = ((128, 256, 512, 1024, 2048), (6.77, 5.14, 4.36, 4.10, 3.99))


@styled
def draw(results: Sequence[dict[str, Any]]) -> Figure:
    """Plot times, instructions and data of each kind, for each neuron and step, and the times relative to std."""
    rows: list[tuple[str, Callable[[dict[str, Any]], float | None]]] = [
        ("time (ns)", lambda result: 1e9 * statistics.median(result["seconds"])),
        ("instructions", lambda result: result.get("counts", {}).get("instructions")),
        ("bytes from L2 to L1", lambda result: result.get("counts", {}).get("near_bytes")),
    ]
    figure = new_figure(11.0, 6.2, "Containers, for each neuron and step")
    panels = figure.subplots(2, 2).ravel()
    at_once = min(result["steps_at_once"] for result in results)
    shown = [result for result in results if result["steps_at_once"] == at_once]
    for axes, (title, value) in zip(panels, rows, strict=False):
        _draw_row(axes, shown, value)
        axes.set_title(title)
        axes.set_yscale("log")
    _draw_ratios(panels[3], results)
    for axes in panels:
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set(xscale="log", xlabel="neurons")
        ticks = sorted({result["neurons"] for result in results})
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.set_xticklabels([f"{tick:,}" for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    panels[0].legend(frameon=False)
    return figure


def _draw_row(axes: Axes, results: Sequence[dict[str, Any]], value: Callable[[dict[str, Any]], float | None]) -> None:
    for place, kind in enumerate(dict.fromkeys(result["kind"] for result in results)):
        points = [
            (result["neurons"], found / (result["neurons"] * result["steps"]))
            for result in results
            if result["kind"] == kind and (found := value(result))
        ]
        if points:
            axes.plot(
                *zip(*points, strict=True), color=COLOURS[place], marker=_MARKERS[place], markersize=5, label=kind
            )


def _draw_ratios(axes: Axes, results: Sequence[dict[str, Any]]) -> None:
    kinds = list(dict.fromkeys(result["kind"] for result in results))
    times = {(r["kind"], r["steps_at_once"], r["neurons"]): statistics.median(r["seconds"]) for r in results}
    for place, kind in enumerate(kinds):
        for line, at_once in zip(("-", "--", ":"), sorted({r["steps_at_once"] for r in results}), strict=False):
            points = [
                (neurons, times["std", at_once, neurons] / seconds)
                for (name, steps, neurons), seconds in times.items()
                if (name, steps) == (kind, at_once) and kind != "std" and ("std", at_once, neurons) in times
            ]
            if points:
                axes.plot(
                    *zip(*points, strict=True),
                    color=COLOURS[place],
                    linestyle=line,
                    marker=_MARKERS[place],
                    markersize=4,
                    label=f"{kind}, {at_once} steps at once",
                )
    axes.plot(*_PAPER, color="#5F6B75", linestyle=(0, (1, 1.5)), marker="x", label="paper, linear, 4 steps")
    axes.set_title("time of std / time")
    axes.set_ylim(0.0, None)
    axes.legend(frameon=False, fontsize=8)
