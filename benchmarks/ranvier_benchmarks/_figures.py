"""Figures of what benchmarks on many processes measured, in the style of `ranvier.plot`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator

from ranvier.base.paths import save_figure
from ranvier.base.values import FloatArray
from ranvier.figures.style import COLOURS, FAINT, GREY, STYLE, Figure, styled
from ranvier.simulation.predictions import lasting_bytes

__all__ = ["draw_intervals", "highest_shown", "intervals", "run_times", "save", "scaling"]

Summary: TypeAlias = dict[str, Any]

_DARK, _LIGHT, _RED = "#0072B2", "#56B4E9", "#D55E00"
_MARKERS = "osD^vP*X<>"
# One for each method; those of populations are fewer.
_LINES = (*COLOURS, "#7A5195", "#8FB339")
_COLUMNS = 3
_DOTTED = (0, (1, 1.5))


def save(figure: Figure, path: Path) -> None:
    """Write a figure.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    with matplotlib.rc_context(STYLE):
        save_figure(figure, path)


@styled
def intervals(result: Summary, network: str) -> Figure:
    """Plot the times of each interval between exchanges, a panel per method, as Figures 5 to 8 of the paper.

    Parameters
    ----------
    result
        Measurements of `ranvier bench exchange` on one number of processes.
    network
        Description of the network in the title.
    """
    methods = result["methods"]
    columns = min(_COLUMNS, len(methods))
    rows = math.ceil(len(methods) / columns)
    top = highest_shown(methods)
    cut = any((_scaled(method, "total") > top).any() for method in methods)
    note = "Values above the panels are cut off" if cut else ""
    title = f"{result['ranks']} processes, {network}"
    figure = _figure(4.0 * columns, 0.9 + 1.9 * rows, title, result, note=note)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, method in zip(panels, methods, strict=False):
        draw_intervals(axes, method, _variant(method), result["simulated_ms"], top)
    for axes in panels[len(methods) :]:
        axes.set_visible(False)
    for column in range(columns):
        last = max(row for row in range(rows) if row * columns + column < len(methods))
        panels[last * columns + column].set_xlabel("time (ms)")
        panels[last * columns + column].tick_params(labelbottom=True)
    for row in range(rows):
        panels[row * columns].set_ylabel("interval takes (ms)")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=len(names), frameon=False)
    return figure


@styled
def run_times(results: Sequence[Summary], network: str) -> Figure:
    """Plot run times over numbers of processes, as Figure 4 of the paper: a line per method.

    Parameters
    ----------
    results
        Measurements of `ranvier bench exchange` on several numbers of processes.
    network
        Description of the network in the title.
    """
    results = sorted(results, key=lambda result: int(result["ranks"]))
    figure = _figure(8.0, 5.0, network, *results)
    axes = figure.add_subplot()
    measured = [(result["ranks"], method) for result in results for method in result["methods"]]
    methods = list(dict.fromkeys(method["method"] for _, method in measured))
    for name, shown in {_variant(method): method for _, method in measured}.items():
        points = [(ranks, m["total_s"]["rank_0"]) for ranks, m in measured if _variant(m) == name]
        place = methods.index(shown["method"])
        axes.plot(
            *zip(*points, strict=True),
            color=_LINES[place % len(_LINES)],
            # Of the methods with one colour, each has another marker.
            marker=_MARKERS[(place + place // len(_LINES)) % len(_MARKERS)],
            markersize=5,
            markerfacecolor="white" if shown["intervals"] == 2 else None,
            linestyle=_DOTTED if not shown["barrier"] else "--" if shown["intervals"] == 2 else "-",
            linewidth=1.3,
            label=name,
        )
    axes.set(xscale="log", yscale="log", xlabel="processes")
    _tick_ranks(axes, [result["ranks"] for result in results])
    axes.set_title("run time (s)")
    _plain_logarithmic(axes)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


@styled
def scaling(results: Sequence[Summary], title: str) -> Figure:
    """Plot times of build, init and simulation, and memory, over numbers of processes, as Figures 7 to 11 of the paper.

    Parameters
    ----------
    results
        Measurements of `ranvier bench scaling`, one for each number of processes and variant.
    title
        Title of the figure.
    """
    figure = _figure(9.0, 6.4, title, *results)
    panels = figure.subplots(2, 2, sharex=True)
    variants = list(dict.fromkeys((result["method"], result["sorted"]) for result in results))
    methods = list(dict.fromkeys(method for method, _ in variants))
    for method, is_sorted in variants:
        shown = sorted(
            (r for r in results if (r["method"], r["sorted"]) == (method, is_sorted)), key=lambda r: int(r["ranks"])
        )
        name = "sorted" if is_sorted else "unsorted"
        colours = (_DARK, _LIGHT) if len(methods) == 1 else (_LINES[methods.index(method) % len(_LINES)],) * 2
        look = {
            "color": colours[0] if is_sorted else colours[1],
            "marker": "o" if is_sorted else "s",
            "markersize": 5,
            "linewidth": 1.4,
        }
        filled = {} if is_sorted else {"markerfacecolor": "white"}
        legend = name if len(methods) == 1 else f"{method}, {name}"
        ranks = [r["ranks"] for r in shown]
        for axes, phase in zip(panels.flat, ("build", "init", "simulation"), strict=False):
            axes.plot(ranks, [r["times_s"][phase]["greatest"] for r in shown], **look, **filled, label=legend)
        _draw_memory(panels[1, 1], shown, look | filled)
    _explain_memory(panels[1, 1])
    for axes, heading in zip(panels.flat, ("build (s)", "init (s)", "simulation (s)", "memory (MB)"), strict=True):
        axes.set_title(heading)
        axes.set_xscale("log", base=2)
        axes.set_ylim(0.0, 1.08 * axes.dataLim.ymax if axes.dataLim.ymax > 0.0 else 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        _tick_ranks(axes, [r["ranks"] for r in results])
    for axes in panels[1]:
        axes.set_xlabel("processes")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=min(4, len(names)), frameon=False)
    return figure


# ---- parts -----------------------------------------------------------------------------------------------------------


def _figure(width: float, height: float, title: str, *results: Summary, note: str = "") -> Figure:
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    crowded = sorted({str(result["ranks"]) for result in results if result["crowded"]}, key=int)
    notes = [note] if note else []
    if crowded:
        notes.append(f"More threads than processors with {', '.join(crowded)} processes: they take turns")
    if notes:
        figure.supxlabel("\n".join(notes), x=0.99, ha="right", fontsize=8, color=GREY)
    return figure


def _scaled(method: Summary, key: str) -> FloatArray:
    """Milliseconds, of halved intervals two together, so that methods can be compared."""
    seconds: FloatArray = np.asarray(method["per_interval_s"][key], dtype=np.float64)
    milliseconds: FloatArray = seconds * (1e3 * method["intervals"])
    return milliseconds


def highest_shown(methods: Sequence[Summary]) -> float:
    """Return where panels of `draw_intervals` end, ms.

    They show nearly all values, but are not flattened by single ones that dwarf all others.
    """
    highest = [float(np.percentile(_scaled(method, "total"), 95)) for method in methods]
    # A method that is much slower than most must not flatten these.
    return 1.2 * min(max(highest), 3.0 * float(np.median(highest)))


def _variant(method: Summary) -> str:
    intervals = ", 2 intervals" if method["intervals"] == 2 else ""
    return f"{method['method']}{intervals}{'' if method['barrier'] else ', no barrier'}"


def draw_intervals(axes: Axes, method: Summary, title: str, simulated: float, top: float) -> None:
    """Plot the times of each interval of a run of `simulated` ms up to `top` ms: a panel of Figures 5 to 8."""
    total = _scaled(method, "total")
    times = simulated * (np.arange(len(total)) + 0.5) / len(total)
    axes.plot(times, _scaled(method, "rank_0"), color=_LIGHT, linewidth=0.8, zorder=4, label="computation of rank 0")
    axes.plot(times, _scaled(method, "mean"), color=_DARK, linewidth=1.8, zorder=3, label="mean over processes")
    axes.plot(
        times, _scaled(method, "greatest"), color="black", linewidth=0.8, linestyle=(0, (3, 1.5)), zorder=2,
        label="greatest over processes",
    )  # fmt: skip
    axes.plot(times, total, color=_RED, linewidth=0.9, zorder=1, label="total of the interval")
    axes.set_title(title)
    computation, run = method["computation_s"]["rank_0"], method["total_s"]["rank_0"]
    unit, scale = ("ms", 1e3) if run < 1.0 else ("s", 1.0)
    axes.text(
        0.99, 0.97, f"computation {scale * computation:.3g} {unit}, run {scale * run:.3g} {unit}",
        transform=axes.transAxes, ha="right", va="top", fontsize=8, color=GREY, zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
    )  # fmt: skip
    axes.set(xlim=(0.0, simulated), ylim=(0.0, top))
    axes.yaxis.set_major_locator(MaxNLocator(4))


def _draw_memory(axes: Axes, shown: Sequence[Summary], look: dict[str, Any]) -> None:
    ranks = [r["ranks"] for r in shown]
    predicted = [lasting_bytes(r["predicted_bytes"]) / 1e6 for r in shown]
    axes.plot(ranks, predicted, color="#9AA5AD", marker="P", markersize=9, markeredgewidth=0, linestyle="", zorder=1)
    axes.plot(ranks, [r["memory_bytes"]["greatest"] / 1e6 for r in shown], **look)
    dotted = {**look, "linestyle": _DOTTED, "marker": ""}
    axes.plot(ranks, [r["resident_bytes"]["greatest"] / 1e6 for r in shown], **dotted)


def _explain_memory(axes: Axes) -> None:
    axes.legend(
        handles=[
            Line2D([], [], color=GREY, label="account"),
            Line2D([], [], color=GREY, linestyle=_DOTTED, label="resident"),
            Line2D(
                [], [], color="#9AA5AD", marker="P", markersize=7, markeredgewidth=0, linestyle="", label="predicted"
            ),
        ],
        frameon=False,
        fontsize=8,
        ncols=3,
        # Beside the heading, where no line is in its way.
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.1,
        handlelength=1.4,
        columnspacing=1.0,
    )


def _tick_ranks(axes: Axes, ranks: Sequence[int]) -> None:
    ticks = sorted(set(ranks))
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.set_xticklabels([str(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(ticks[0] / 1.15, ticks[-1] * 1.15)


def _plain_logarithmic(axes: Axes) -> None:
    """Label a logarithmic axis of few decades with numbers that people read."""
    low, high = axes.get_ylim()
    steps = [m * 10.0**e for e in range(-6, 5) for m in (1.0, 2.0, 3.0, 5.0, 7.0)]
    ticks = [step for step in steps if low <= step <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.set_yticklabels([f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
