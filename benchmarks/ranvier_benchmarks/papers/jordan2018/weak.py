"""Figures 7, 8 and 12: weak scaling, on one machine, on several machines, and what the time is spent on.

All three are one measurement: the time of build, init and simulation, the memory of a process after each of them, and
the contributions to the time of the simulation, for the same load on each of a growing number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from rich.console import Console

from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier_benchmarks._kernels_figure import CONTRIBUTIONS, DASHED, finish
from ranvier_benchmarks.papers._paper import Measured, PaperResult, check_with, measure_with
from ranvier_benchmarks.papers.jordan2018._draw import (
    DOTTED,
    crowding_note,
    kernels_in,
    legend_of_kernels,
    line,
    lines_of,
)
from ranvier_benchmarks.papers.jordan2018._runs import (
    KERNELS,
    Run,
    RunKeys,
    Runs,
    build_of,
    compared,
    dry_of,
    init_of,
    megabytes_of,
    print_comparison,
    print_table,
    ratio_at,
    real_of,
    seconds_text,
    show_phases,
    sim_of,
)

__all__ = ["FIGURE_7", "FIGURE_8", "FIGURE_12"]

# Of the paper: the caption of Figure 7, and that of Figure 8 for the last number.
_JUQUEEN = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 28_672)
_BOTH_MACHINES = (32, 64, 128, 256, 512, 1152, 2048, 16_384, 28_672, 82_944)
_FULL = {"neurons_per_process": 18_000, "indegree": 11_250, "threads": 8, "time": 1000.0}


@dataclass(frozen=True, kw_only=True)
class WeakKeys(RunKeys):
    """The same load on each process of a growing number of them.

    Attributes
    ----------
    neurons_per_process
        Neurons of a process.
    """

    processes: tuple[int, ...] = (32, 128, 512, 2048, 8192, 28_672)
    neurons_per_process: int = 1125

    def _runs(self) -> Runs:
        size = {"neurons_per_rank": self.neurons_per_process}
        return self._runs_of("weak", size, size)


@dataclass(frozen=True, kw_only=True)
class OneKernelKeys(WeakKeys):
    """The same with one kernel, on the processes of both machines of the paper."""

    kernels: tuple[str, ...] = ("5g-sort",)
    processes: tuple[int, ...] = (32, 128, 512, 2048, 16_384, 82_944)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _show_weak(measured: Measured, console: Console) -> None:
    show_phases(measured, console)
    dry = {kernel: dry_of(measured, kernel) for kernel in KERNELS}
    real = {kernel: real_of(measured, kernel) for kernel in KERNELS}
    ours = {
        "build": compared(ratio_at(real["5g-sort"], real["4g"], build_of, last=True)),
        "sim_4g": compared(ratio_at(dry["5g-sort"], dry["4g"], sim_of, last=True)),
        "sim_equal": compared(ratio_at(_up_to(dry["4g"], 2048), _up_to(dry["5g-sort"], 2048), sim_of, last=True)),
        "init": _first_below(dry["5g-nosort"], dry["5g-sort"], init_of, 1.0),
        "nosort": _first_below(dry["5g-nosort"], dry["5g-sort"], sim_of, 1.1),
        "memory": compared(ratio_at(dry["5g-sort"], dry["5g-nosort"], megabytes_of("end"), last=False)),
        "constant": _growth(dry["5g-sort"], 2048),
    }
    if dry["5g-sort"]:
        first = dry["5g-sort"][0]
        ours["nodes"] = f"{megabytes_of('nodes')(first):.1f} MB for {first['neurons']:,}"
    print_comparison(console, "7", ours)


def _up_to(runs: Sequence[Run], ranks: int) -> list[Run]:
    return [run for run in runs if run["ranks"] <= ranks]


def _first_below(first: Sequence[Run], second: Sequence[Run], value: Callable[[Run], float], limit: float) -> str:
    """Say from which number of processes on a value of one kernel is at most `limit` times that of the other."""
    ratios = {run["ranks"]: value(run) for run in second}
    ratios = {run["ranks"]: value(run) / ratios[run["ranks"]] for run in first if run["ranks"] in ratios}
    if not ratios:
        return "not measured"
    above = [ranks for ranks, ratio in ratios.items() if ratio > limit]
    below = [ranks for ranks in ratios if ranks > max(above, default=0)]
    return f"from {min(below):,} processes on" if below else f"nowhere up to {max(ratios):,} processes"


def _growth(runs: Sequence[Run], start: int) -> str:
    later = [run for run in runs if run["ranks"] >= start]
    if len(later) < 2:
        return "not measured"
    grown = megabytes_of("end")(later[-1]) / megabytes_of("end")(later[0]) - 1.0
    return f"{100.0 * grown:+.1f} % from {later[0]['ranks']:,} to {later[-1]['ranks']:,} processes"


def _show_machines(measured: Measured, console: Console) -> None:
    console.print(f"\n[bold]{measured['machine']['processor']}[/]", soft_wrap=True)
    show_phases(measured, console)
    largest = max(dry_of(measured, "5g-sort"), key=lambda run: int(run["network_neurons"]), default=None)
    ours = {}
    if largest is not None:
        synapses = largest["network_neurons"] * measured["options"]["indegree"]
        ours["neurons"] = f"{largest['network_neurons'] / 1e6:,.1f} million, {largest['ranks']:,} processes, dry run"
        ours["synapses"] = f"{synapses / 1e9:,.1f} billion"
    print_comparison(console, "8", ours)


def _show_contributions(measured: Measured, console: Console) -> None:
    parts = (*CONTRIBUTIONS, "wait")
    for kernel in kernels_in(measured):
        for what, runs in (("this machine", real_of(measured, kernel)), ("dry runs", dry_of(measured, kernel))):
            rows = [
                (
                    f"{run['ranks']:,}",
                    seconds_text(sim_of(run)),
                    *(seconds_text(run["parts_s_per_s"].get(part, 0.0)) for part in parts),
                )
                for run in runs
            ]
            print_table(console, f"{kernel}, {what}, a simulated second", ("processes", "sim", *parts), rows)
    ours = {}
    runs = dry_of(measured, "5g-sort")
    if runs:
        last = runs[-1]
        spent = last["parts_s_per_s"]
        order = sorted(CONTRIBUTIONS, key=lambda part: spent.get(part, 0.0), reverse=True)
        ours = {
            "deliver": f"{order[0]} ({last['ranks']:,} processes)",
            "update": f"{order[1]}",
            "communicate": f"{100.0 * spent['communicate'] / sim_of(last):.1f} %, without a network",
        }
    print_comparison(console, "12", ours)


# ---- figures ---------------------------------------------------------------------------------------------------------


def _part_of(part: str, run: Run) -> float:
    return float(run["parts_s_per_s"].get(part, 0.0))


def _load(measured: Measured) -> str:
    options = measured["options"]
    return (
        f"{options['neurons_per_process']:,} neurons of {options['indegree']:,} synapses on each process, "
        f"{options['threads']} thread{'s' if options['threads'] > 1 else ''}"
    )


def _draw_memory(panel: Axes, measured: Measured, kernel: str, colour: str = "") -> None:
    for phase, style in (("nodes", DOTTED), ("connections", DASHED), ("end", "-")):
        lines_of(panel, measured, kernel, megabytes_of(phase), colour=colour, linestyle=style)


@styled
def _draw_weak(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    figure = new_figure(9.0, 7.0, f"Weak scaling: {_load(first)}")
    panels = figure.subplots(2, 2).ravel()
    kernels = kernels_in(first)
    for kernel in kernels:
        for panel, value in zip(panels, (build_of, init_of, sim_of), strict=False):
            lines_of(panel, first, kernel, value)
        _draw_memory(panels[3], first, kernel)
    headings = ("A  build (s)", "B  init (s)", "C  simulation of a second (s)", "D  memory of a process (MB)")
    for panel, heading in zip(panels, headings, strict=True):
        finish(panel, heading)
    size = panels[0].twinx()
    runs = sorted(
        {run["ranks"]: run for kernel in kernels for run in (*real_of(first, kernel), *dry_of(first, kernel))}.values(),
        key=lambda run: int(run["ranks"]),
    )
    line(size, runs, lambda run: float(run["network_neurons"]), color=GREY, linestyle="--", marker="^", markersize=4)
    size.set_yscale("log")
    size.set_ylabel("neurons of the network", color=GREY)
    size.spines["right"].set_visible(True)
    legend_of_kernels(
        figure,
        kernels,
        ("after nodes", {"linestyle": DOTTED}),
        ("after connections", {"linestyle": DASHED}),
        ("at the end", {"linestyle": "-"}),
        ("neurons of the network", {"linestyle": "--", "marker": "^"}),
        note=crowding_note(first),
    )
    return figure


@styled
def _draw_machines(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(9.0, 7.0, "Weak scaling of 5g-sort on several machines")
    panels = figure.subplots(2, 2).ravel()
    names: list[tuple[str, dict[str, Any]]] = []
    for place, each in enumerate(measured):
        colour = COLOURS[place % len(COLOURS)]
        for panel, value in zip(panels, (build_of, init_of, sim_of), strict=False):
            lines_of(panel, each, "5g-sort", value, colour=colour)
        _draw_memory(panels[3], each, "5g-sort", colour)
        names.append((f"{each['machine']['processor']}: {_load(each)}", {"color": colour, "marker": "o"}))
    headings = ("A  build (s)", "B  init (s)", "C  simulation of a second (s)", "D  memory of a process (MB)")
    for panel, heading in zip(panels, headings, strict=True):
        finish(panel, heading)
    legend_of_kernels(
        figure,
        [],
        ("after nodes", {"linestyle": DOTTED}),
        ("after connections", {"linestyle": DASHED}),
        ("at the end", {"linestyle": "-"}),
        *names,
        columns=2,
    )
    return figure


@styled
def _draw_contributions(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    kernels = kernels_in(first)
    figure = new_figure(max(5.0, 4.2 * len(kernels)), 4.4, f"Contributions to the time: {_load(first)}")
    panels = figure.subplots(1, len(kernels), squeeze=False)[0]
    colours = dict(zip(CONTRIBUTIONS, ("#D55E00", "#0072B2", "#009E73", "#7A5195"), strict=True))
    for panel, kernel in zip(panels, kernels, strict=True):
        lines_of(panel, first, kernel, sim_of, colour="black", marker="o")
        for part, colour in colours.items():
            lines_of(panel, first, kernel, partial(_part_of, part), colour=colour, marker="s")
        finish(panel, f"{kernel}: simulation of a second (s)")
    legend_of_kernels(
        figure,
        [],
        ("total", {"color": "black"}),
        *((part, {"color": colour}) for part, colour in colours.items()),
        note=crowding_note(first),
    )
    return figure


FIGURE_7 = PaperResult(
    kind="figure",
    number="7",
    title="Weak scaling: time of build, init and simulation, and memory, of 4g and 5g",
    minutes=1.0,
    measure=measure_with(WeakKeys),
    full={**_FULL, "processes": _JUQUEEN},
    check=check_with(WeakKeys),
    show=_show_weak,
    draw=_draw_weak,
    same_as=("12",),
)
FIGURE_8 = PaperResult(
    kind="figure",
    number="8",
    title="Weak scaling of 5g-sort on several machines: --from has a file of each",
    minutes=1.0,
    measure=measure_with(OneKernelKeys),
    full={**_FULL, "processes": _BOTH_MACHINES},
    check=check_with(WeakKeys),
    show=_show_machines,
    draw=_draw_machines,
    same_as=("7", "12"),
)
FIGURE_12 = PaperResult(
    kind="figure",
    number="12",
    title="Contributions to the time of the simulation: update, collocate, communicate, deliver",
    minutes=1.0,
    measure=measure_with(WeakKeys),
    full={**_FULL, "processes": _JUQUEEN},
    check=check_with(WeakKeys),
    show=_show_contributions,
    draw=_draw_contributions,
    same_as=("7",),
)
