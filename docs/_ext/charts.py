"""Charts of the measurements in docs/measurements, drawn when the site is made.

Each chart is an SVG file in two versions, for light and for dark pages.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

__all__ = ["CHARTS", "THEMES", "draw_charts", "time_ratios"]

DOCS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Theme:
    """Colours of a page, and of the series that are drawn on it."""

    name: str
    text: str
    faint: str
    series: tuple[str, ...]
    ours: str


LIGHT = Theme("light", "#323842", "#d9dde1", ("#0072B2", "#D55E00", "#009E73", "#8C6D31"), "#0072B2")
DARK = Theme("dark", "#ced6dd", "#3c454e", ("#56B4E9", "#F08C4A", "#3CCB9B", "#CDB06A"), "#56B4E9")
THEMES = (LIGHT, DARK)


def draw_charts(folder: Path) -> None:
    """Draw all charts in both versions."""
    for name, draw in CHARTS.items():
        for theme in THEMES:
            with matplotlib.rc_context(_style(theme)):
                figure = draw(theme)
                # Without a date, equal charts are equal files.
                figure.savefig(folder / f"{name}_{theme.name}.svg", transparent=True, metadata={"Date": None})


# ---- charts ----------------------------------------------------------------------------------------------------------


def _load(name: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((DOCS / f"measurements/{name}.json").read_text())
    return whole


def _median(reports: Sequence[dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> float:
    return statistics.median(map(value, reports))


def time_ratios() -> list[tuple[str, str, float]]:
    """Return networks, other programs, and their time of simulation as a multiple of Ranvier's."""
    rows = []
    for name, network in (("microcircuit_nest", "microcircuit"), ("hpc_benchmark_nest", "hpc_benchmark, learns")):
        ours, nest = (contestant["reports"] for contestant in _load(name)["contestants"])
        ratios = [b["real_time_factor"] / a["real_time_factor"] for a, b in zip(ours, nest, strict=True)]
        rows.append((network, "NEST", statistics.median(ratios)))
    for name, network in (("bench_cuba_40000", "CUBA, 40,000 neurons"), ("bench_coba_4000", "COBA, 4,000 neurons")):
        best: dict[str, float] = {}
        for contestant in _load(name)["contestants"]:
            program = contestant["name"].partition(",")[0]
            seconds = _median(contestant["reports"], lambda report: report["real_time_factor"])
            best[program] = min(best.get(program, math.inf), seconds)
        rows += [(network, program, best[program] / best["Ranvier"]) for program in ("NEST", "Brian2")]
    programs = _load("ring_hh")["programs"]
    for program in programs[1:]:
        ratio = program["ns_per_compartment_step"] / programs[0]["ns_per_compartment_step"]
        rows.append(("Hodgkin-Huxley cells", program["name"], ratio))
    return rows


def _networks(theme: Theme) -> Figure:
    rows = time_ratios()
    figure, axes = _horizontal(len(rows), theme)
    names = []
    for place, (network, program, ratio) in enumerate(rows):
        first = place == 0 or rows[place - 1][0] != network
        names.append(f"{network}   {program}" if first else program)
        axes.barh(place, ratio, height=0.62, color=theme.ours)
        axes.annotate(f" {ratio:.2g}", (ratio, place), va="center", color=theme.text)
        if first and place:
            axes.axhline(place - 0.5, color=theme.faint, linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), names)
    axes.set_xlim(0.0, 1.1 * max(ratio for _, _, ratio in rows))
    axes.set_xlabel("time of the other simulator / time of Ranvier")
    return figure


def _models(theme: Theme) -> Figure:
    results = [result for result in _load("bench_models")["results"] if result.get("nest")]
    results.sort(key=lambda result: float(result["ns_per_neuron_and_step"]))
    figure, axes = _horizontal(len(results), theme, step=0.2)
    for name, values, colour, marker in (
        ("Ranvier", [result["ns_per_neuron_and_step"] for result in results], theme.ours, "o"),
        ("NEST", [result["nest"]["ns_per_neuron_and_step"] for result in results], theme.series[1], "s"),
    ):
        axes.plot(values, range(len(results)), marker, color=colour, markersize=5, label=name)
    axes.set_yticks(range(len(results)), [result["model"] for result in results])
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.grid(axis="y", color=theme.faint, linewidth=0.5)
    axes.set_xscale("log")
    _logarithmic(axes.xaxis)
    axes.set_xlabel("time of a thread per neuron and step (ns)")
    _legend(figure, axes)
    return figure


def _equations(theme: Theme) -> Figure:
    whole = _load("bench_equations")
    learning = [each for each in whole["learning"] if each["precision"] == "double"]
    figure = Figure(figsize=(7.4, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(3, 4))
    ways = ("built_in", "compiled", "interpreted")
    for axes, rows, title in (
        (panels[0], whole["steps"], "neuron and step (ns)"),
        (panels[1], learning, "spike at a synapse (ns)"),
    ):
        for place, way in enumerate(ways):
            ys = [row + 0.27 * (place - 1) for row in range(len(rows))]
            axes.barh(
                ys, [each[f"{way}_ns"] for each in rows], 0.24, color=theme.series[place], label=way.replace("_", " ")
            )
        axes.set_yticks(range(len(rows)), [each["model"] for each in rows])
        axes.set_xlabel(title)
        _finish_bars(axes, theme)
    _legend(figure, panels[0])
    return figure


def _plasticity(theme: Theme) -> Figure:
    results = _load("plasticity")["results"]
    keys = list(dict.fromkeys((each["model"], each["row"]) for each in results if each["model"] != "stdp_dopamine"))
    figure, axes = _horizontal(len(keys), theme, step=0.4)
    for place, precision in enumerate(("single", "double")):
        found = {
            (each["model"], each["row"]): each["ns_per_event"] for each in results if each["precision"] == precision
        }
        ys = [row + 0.38 * (place - 0.5) for row in range(len(keys))]
        axes.barh(ys, [found[key] for key in keys], 0.34, color=theme.series[place], label=f"{precision} precision")
    axes.set_yticks(range(len(keys)), [f"{model}, rows of {row:,}" for model, row in keys])
    axes.set_xlabel("time of one spike at one synapse (ns)")
    _legend(figure, axes)
    return figure


def _cells(theme: Theme) -> Figure:
    figure = Figure(figsize=(7.4, 2.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, dendrites, title in zip(
        panels, ("hh", "pas"), ("Hodgkin-Huxley everywhere", "passive dendrites"), strict=True
    ):
        programs = _load(f"ring_{dendrites}")["programs"]
        times = [program["ns_per_compartment_step"] for program in programs]
        colours = [theme.ours, *[theme.series[1]] * (len(programs) - 1)]
        axes.barh(range(len(programs)), times, height=0.62, color=colours)
        for place, time in enumerate(times):
            axes.annotate(f" {time:.1f}", (time, place), va="center", color=theme.text)
        axes.set_yticks(range(len(programs)), [program["name"] for program in programs])
        axes.set_xlim(0.0, 1.18 * max(times))
        axes.set_title(title)
        axes.set_xlabel("compartment and step (ns)")
        _finish_bars(axes, theme)
    return figure


_KERNELS = ("4g", "5g, sorted", "5g, unsorted")


def _kernel_of(result: dict[str, Any]) -> str:
    if result["method"] == "4g":
        return "4g"
    return "5g, sorted" if result["sorted"] else "5g, unsorted"


def _kernels(theme: Theme) -> Figure:
    whole = _load("kernels")
    figure = Figure(figsize=(7.4, 3.5), layout="constrained")
    times, memory = figure.subplots(1, 2)
    for colour, marker, name in zip(theme.series[1::-1] + theme.series[2:3], "sod", _KERNELS, strict=True):
        dry = sorted(
            (each for each in whole["dry"] if _kernel_of(each) == name),
            key=lambda each: int(each["ranks"]),
        )
        ranks = [each["ranks"] for each in dry]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.5, "label": name}
        times.plot(ranks, [each["simulation_s_per_s"] for each in dry], **look)
        memory.plot(ranks, [sum(each["memory_bytes"].values()) / 1e6 for each in dry], **look)
    for axes, title in ((times, "time of a simulated second (s)"), (memory, "memory of a process (MB)")):
        axes.set(xscale="log", yscale="log", xlabel="processes", title=title)
        _logarithmic(axes.yaxis)
        _logarithmic(axes.xaxis)
        axes.grid(color=theme.faint, linewidth=0.6)
        axes.set_axisbelow(True)
    _legend(figure, times)
    return figure


# By name.
CHARTS: dict[str, Callable[[Theme], Figure]] = {
    "networks": _networks,
    "models": _models,
    "equations": _equations,
    "plasticity": _plasticity,
    "cells": _cells,
    "kernels": _kernels,
}


# ---- parts -----------------------------------------------------------------------------------------------------------


def _style(theme: Theme) -> dict[Any, Any]:
    return {
        "axes.edgecolor": theme.faint,
        "axes.labelcolor": theme.text,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": theme.text,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "font.size": 9.5,
        "legend.labelcolor": theme.text,
        "svg.hashsalt": theme.name,
        "text.color": theme.text,
        "xtick.color": theme.text,
        "ytick.color": theme.text,
    }


def _horizontal(rows: int, theme: Theme, step: float = 0.3) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.4, 0.9 + step * rows), layout="constrained")
    axes = figure.subplots()
    _finish_bars(axes, theme)
    return figure, axes


def _finish_bars(axes: Axes, theme: Theme) -> None:
    axes.yaxis.set_inverted(True)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)


def _logarithmic(axis: Axis) -> None:
    axis.set_major_locator(FixedLocator([10.0**power for power in range(-2, 7)]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(NullLocator())


def _legend(figure: Figure, axes: Axes) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=4, frameon=False)
