"""Figures 9 and A5: strong scaling of the simulation, and of build, init and memory.

Both are one measurement of a network of fixed size on a growing number of processes. A network that fits one process
of this machine is small for many thousand, and one for these is large for a single one. So real runs and dry runs have
networks of two sizes, each with its own line of perfect scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from rich.console import Console

from ranvier.figures.style import Figure, new_figure, styled
from ranvier_benchmarks._kernels_figure import DASHED, finish
from ranvier_benchmarks.papers._paper import Measured, PaperResult, check_with, measure_with
from ranvier_benchmarks.papers.jordan2018._draw import (
    DOTTED,
    crowding_note,
    ideal_line,
    kernels_in,
    legend_of_kernels,
    lines_of,
)
from ranvier_benchmarks.papers.jordan2018._runs import (
    Run,
    RunKeys,
    Runs,
    build_of,
    dry_of,
    init_of,
    megabytes_of,
    print_comparison,
    real_of,
    seconds_text,
    show_phases,
    sim_of,
)

__all__ = ["FIGURE_9", "FIGURE_A5"]

# The caption of Figure 9, and beyond it to 100,000 processes.
_FULL = {
    "processes": (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 100_000),
    "neurons": 1_152_000,
    "indegree": 11_250,
    "threads": 8,
    "time": 1000.0,
}


_LAST = 16_384
"""The last number of processes in the paper."""


@dataclass(frozen=True, kw_only=True)
class StrongKeys(RunKeys):
    """One network on a growing number of processes.

    Attributes
    ----------
    real_neurons, neurons
        Neurons of the network of real runs, and of that of dry runs.
    """

    processes: tuple[int, ...] = (64, 256, 1024, 4096, 16_384, 100_000)
    real_neurons: int = 4500
    neurons: int = 115_200

    def _runs(self) -> Runs:
        return self._runs_of("strong", {"neurons": self.real_neurons}, {"neurons": self.neurons})


def _fastest(runs: Sequence[Run]) -> str:
    if not runs:
        return "not measured"
    best = min(runs, key=sim_of)
    return f"at {best['ranks']:,} processes"


def _show_simulation(measured: Measured, console: Console) -> None:
    show_phases(measured, console)
    of_4g, of_5g = dry_of(measured, "4g"), dry_of(measured, "5g-sort")
    ours = {"minimum_4g": _fastest(of_4g), "minimum_5g": _fastest(of_5g)}
    if of_5g:
        shortest = seconds_text(min(map(sim_of, of_5g)))
        ours["shortest"] = f"{shortest}, {of_5g[0]['network_neurons']:,} neurons, without a network"
    print_comparison(console, "9", ours)


def _against_ideal(runs: Sequence[Run], value: Callable[[Run], float]) -> str:
    """Say how much longer the last run of the paper's range takes than perfect scaling from the first one."""
    runs = [run for run in runs if run["ranks"] <= _LAST]
    if len(runs) < 2:
        return "not measured"
    first, last = runs[0], runs[-1]
    ideal = value(first) * first["ranks"] / last["ranks"]
    return (
        f"{value(last) / ideal:.2g} times that of perfect scaling ({first['ranks']:,} to {last['ranks']:,} processes)"
    )


def _show_construction(measured: Measured, console: Console) -> None:
    show_phases(measured, console)
    runs = dry_of(measured, "5g-sort")
    print_comparison(console, "A5", {"build": _against_ideal(runs, build_of), "init": _against_ideal(runs, init_of)})


def _title(measured: Measured) -> str:
    options = measured["options"]
    size = f"{options['neurons']:,} neurons in dry runs, {options['real_neurons']:,} in real ones"
    return f"Strong scaling: {size}, {options['indegree']:,} synapses each"


def _scaled(panel: Axes, measured: Measured, value: Callable[[Run], float]) -> None:
    for kernel in kernels_in(measured):
        lines_of(panel, measured, kernel, value)
        for runs in (real_of(measured, kernel), dry_of(measured, kernel)):
            ideal_line(panel, runs, value)


@styled
def _draw_simulation(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    figure = new_figure(9.0, 5.2, _title(first))
    panel = figure.add_subplot()
    _scaled(panel, first, sim_of)
    finish(panel, "simulation of a second (s)", logarithmic=True)
    legend_of_kernels(figure, kernels_in(first), ("perfect scaling", {"linestyle": DOTTED}), note=crowding_note(first))
    return figure


@styled
def _draw_construction(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    figure = new_figure(11.0, 4.6, _title(first))
    panels = figure.subplots(1, 3)
    _scaled(panels[0], first, build_of)
    _scaled(panels[1], first, init_of)
    for kernel in kernels_in(first):
        for phase, style in (("nodes", DOTTED), ("connections", DASHED), ("end", "-")):
            lines_of(panels[2], first, kernel, megabytes_of(phase), linestyle=style)
    headings = ("A  build (s)", "B  init (s)", "C  memory of a process (MB)")
    for panel, heading in zip(panels, headings, strict=True):
        finish(panel, heading, logarithmic=True)
    legend_of_kernels(
        figure,
        kernels_in(first),
        ("perfect scaling", {"linestyle": DOTTED}),
        ("after nodes", {"linestyle": DOTTED}),
        ("after connections", {"linestyle": DASHED}),
        ("at the end", {"linestyle": "-"}),
        note=crowding_note(first),
    )
    return figure


FIGURE_9 = PaperResult(
    kind="figure",
    number="9",
    title="Strong scaling of the time of the simulation, to 100,000 processes",
    minutes=1.0,
    measure=measure_with(StrongKeys),
    full=_FULL,
    check=check_with(StrongKeys),
    show=_show_simulation,
    draw=_draw_simulation,
    same_as=("A5",),
)
FIGURE_A5 = PaperResult(
    kind="figure",
    number="A5",
    title="Strong scaling of build and init, and of memory",
    minutes=1.0,
    measure=measure_with(StrongKeys),
    full=_FULL,
    check=check_with(StrongKeys),
    show=_show_construction,
    draw=_draw_construction,
    same_as=("9",),
)
