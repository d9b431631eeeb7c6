"""The figure of `ranvier bench kernels`, as Figures 7, 11 and 12 of Jordan et al. (2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ranvier.figures.style import COLOURS, FAINT, GREY, styled
from ranvier_benchmarks._options import FOURTH_GENERATION

__all__ = ["COLOUR_OF_KERNEL", "CONTRIBUTIONS", "DASHED", "finish", "kernels_figure"]

Summary = dict[str, Any]
COLOUR_OF_KERNEL = {"4g": "#E69F00", "5g-sort": "#0072B2", "5g-nosort": "#56B4E9"}
"""Colours as in the paper."""
CONTRIBUTIONS = ("update", "collocate", "communicate", "deliver")
DASHED = (0, (3, 1.5))


@styled
def kernels_figure(measured: Sequence[Summary], played: Sequence[Summary], *, simulated: float, title: str) -> Figure:
    """Plot times and memory of the kernels, and what the time is spent on.

    Parameters
    ----------
    measured
        Results of `ranvier bench scaling`.
    played
        Results of `ranvier bench many_ranks`.
    simulated
        Time that `measured` was simulated for, ms.
    title
        Title of the figure.
    """
    figure = Figure(figsize=(11.0, 7.0), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    panels = figure.subplots(2, 3).ravel()
    for name in COLOUR_OF_KERNEL:
        real = _sorted([each for each in measured if _kernel(each) == name])
        dry = _sorted([each for each in played if _kernel(each) == name])
        look = {"color": COLOUR_OF_KERNEL[name], "linewidth": 1.4, "markersize": 5}
        for panel, phase in zip(panels, ("build", "init"), strict=False):
            panel.plot(_ranks(real), [each["times_s"][phase]["greatest"] for each in real], "o-", label=name, **look)
            panel.plot(_ranks(dry), [each[f"{phase}_s"] for each in dry], "o", linestyle=DASHED, mfc="white", **look)
        seconds = [each["times_s"]["simulation"]["greatest"] * 1000.0 / simulated for each in real]
        panels[2].plot(_ranks(real), seconds, "o-", **look)
        panels[2].plot(
            _ranks(dry), [each["simulation_s_per_s"] for each in dry], "o", linestyle=DASHED, mfc="white", **look
        )
        panels[3].plot(_ranks(real), [each["memory_bytes"]["greatest"] / 1e6 for each in real], "o-", **look)
        megabytes = [sum(each["memory_bytes"].values()) / 1e6 for each in dry]
        panels[3].plot(_ranks(dry), megabytes, "o", linestyle=DASHED, mfc="white", **look)
    for panel, kernel in zip(panels[4:], ("5g-sort", "4g"), strict=True):
        dry = _sorted([each for each in played if _kernel(each) == kernel])
        panel.plot(_ranks(dry), [each["simulation_s_per_s"] for each in dry], "o-", color="black", label="all", ms=4)
        for place, part in enumerate(CONTRIBUTIONS):
            seconds = [each["parts_s_per_s"].get(part, 0.0) for each in dry]
            panel.plot(_ranks(dry), seconds, "s-", color=COLOURS[place % len(COLOURS)], label=part, ms=4)
        panel.legend(frameon=False, fontsize=8)
    headings = [
        "build (s)",
        "init (s)",
        "simulation of a second (s)",
        "memory of a process (MB)",
        "time of 5g-sort in dry runs (s)",
        "time of 4g in dry runs (s)",
    ]
    for panel, heading in zip(panels, headings, strict=True):
        finish(panel, heading)
    handles, labels = panels[0].get_legend_handles_labels()
    handles += [Line2D([], [], color=GREY), Line2D([], [], color=GREY, linestyle=DASHED, marker="o", mfc="white")]
    labels += ["measured", "dry runs"]
    figure.legend(handles, labels, loc="outside lower left", ncols=5, frameon=False, fontsize=9)
    return figure


def _kernel(result: Summary) -> str:
    if result["method"] == FOURTH_GENERATION:
        return "4g"
    return "5g-sort" if result["sorted"] else "5g-nosort"


def _sorted(results: list[Summary]) -> list[Summary]:
    return sorted(results, key=lambda each: int(each["ranks"]))


def _ranks(results: Sequence[Summary]) -> list[int]:
    return [each["ranks"] for each in results]


def finish(panel: Axes, heading: str, *, logarithmic: bool | None = None) -> None:
    """Set the heading and the axes of a panel over numbers of processes.

    Parameters
    ----------
    panel, heading
        The panel, and its title.
    logarithmic
        Whether values have a logarithmic axis; None: where they differ by more than a factor of 20.
    """
    panel.set_title(heading)
    panel.set_xlabel("processes")
    panel.set_xscale("log", base=2)
    lines = panel.get_lines()
    ranks = sorted({int(rank) for line in lines for rank in np.asarray(line.get_xdata(), dtype=np.float64)})
    # Numbers of many processes stand closer than they can be written.
    panel.xaxis.set_major_locator(FixedLocator(ranks))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.tick_params(axis="x", labelrotation=60, labelsize=8)
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in lines] or [np.zeros(0)])
    is_positive = bool(values.size) and values.min() > 0.0
    if is_positive and (values.max() > 20.0 * values.min() if logarithmic is None else logarithmic):
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.set_ylim(0.0, 1.08 * max(values.max(initial=0.0), 1e-9))
    panel.grid(axis="y", color=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
