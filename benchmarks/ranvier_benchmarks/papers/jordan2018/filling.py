"""Figure 10: the largest networks that fit the memory of a process, with their times and their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from ranvier.base.sizes import parse_bytes
from ranvier.figures.style import GREY, Figure, new_figure, styled
from ranvier.simulation.predictions import lasting_bytes
from ranvier_benchmarks._kernels_figure import COLOUR_OF_KERNEL, DASHED, finish
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
    Run,
    RunKeys,
    Runs,
    build_of,
    dry_of,
    init_of,
    megabytes_of,
    print_comparison,
    print_table,
    real_of,
    seconds_text,
    sim_of,
)

__all__ = ["FIGURE_10"]


@dataclass(frozen=True, kw_only=True)
class FillingKeys(RunKeys):
    """The largest networks that are predicted to fit the memory of a process, also during the build.

    The paper fills 5g-sort.

    Attributes
    ----------
    memory_per_process
        Memory limit of a process.
    """

    kernels: tuple[str, ...] = ("5g-sort",)
    processes: tuple[int, ...] = (64, 256, 1024, 4096, 16_384, 100_000)
    memory_per_process: str = "100MB"

    def _runs(self) -> Runs:
        size = {"memory_per_rank": self.memory_per_process}
        return self._runs_of("fill", size, size)


def _predicted(run: Run) -> float:
    return lasting_bytes(run["predicted_bytes"]) / 1e6


def _show(measured: Measured, console: Console) -> None:
    for kernel in kernels_in(measured):
        for what, runs in (("this machine", real_of(measured, kernel)), ("dry runs", dry_of(measured, kernel))):
            rows = [
                (
                    f"{run['ranks']:,}",
                    f"{run['network_neurons']:,}",
                    f"{run['network_neurons'] / run['ranks']:,.0f}",
                    seconds_text(build_of(run)),
                    seconds_text(init_of(run)),
                    seconds_text(sim_of(run)),
                    f"{megabytes_of('end')(run):,.1f}",
                    f"{_predicted(run):,.1f}",
                )
                for run in runs
            ]
            headings = ("processes", "neurons", "of a process", "build", "init", "sim, 1 s", "memory (MB)", "predicted")
            print_table(console, f"{kernel}, {what}, {measured['options']['memory_per_process']}", headings, rows)
    ours: dict[str, str] = {}
    runs = dry_of(measured, "5g-sort")
    if runs:
        of_process = {run["ranks"]: run["network_neurons"] / run["ranks"] for run in runs}
        last = max(of_process)
        ours["neurons"] = f"{of_process[last]:,.0f}, {last:,} processes"
        least = min(of_process.values())
        ours["fewer"] = f"up to {min(ranks for ranks in of_process if of_process[ranks] <= 1.01 * least):,} processes"
        times = [sim_of(run) for run in runs]
        ours["sim"] = f"{max(times) / min(times):.2f}"
        deviations = [abs(megabytes_of("end")(run) / _predicted(run) - 1.0) for run in runs]
        ours["deviation"] = f"at most {100.0 * max(deviations):.1f} %"
    print_comparison(console, "10", ours)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    options = first["options"]
    load = f"{options['memory_per_process']} on each process, {options['indegree']:,} synapses of a neuron"
    figure = new_figure(11.0, 4.8, f"Maximum filling: {load}")
    left, right = figure.subplots(1, 2)
    size = left.twinx()
    for kernel in kernels_in(first):
        for value, style in ((build_of, DASHED), (init_of, DOTTED), (sim_of, "-")):
            lines_of(left, first, kernel, value, linestyle=style)
        for runs in (real_of(first, kernel), dry_of(first, kernel)):
            look: dict[str, Any] = {"color": COLOUR_OF_KERNEL[kernel], "markersize": 5, "linestyle": ""}
            line(size, runs, lambda run: float(run["network_neurons"]), marker="^", **look)
            if runs:
                of_process = runs[0]["network_neurons"] / runs[0]["ranks"]
                ideal = [of_process * run["ranks"] for run in runs]
                size.plot([run["ranks"] for run in runs], ideal, color=GREY, linewidth=1.0)
            line(right, runs, _predicted, color="#B9C0C5", marker="s", markersize=7, linewidth=2.5)
        for phase, style in (("nodes", DOTTED), ("connections", DASHED), ("end", "-")):
            lines_of(right, first, kernel, megabytes_of(phase), linestyle=style)
    finish(left, "A  time (s)", logarithmic=True)
    size.set_yscale("log")
    size.set_ylabel("neurons of the network", color=GREY)
    size.spines["right"].set_visible(True)
    finish(right, "B  memory of a process (MB)")
    right.axhline(parse_bytes("memory_per_process", options["memory_per_process"]) / 1e6, color=GREY, linestyle=DOTTED)
    legend_of_kernels(
        figure,
        kernels_in(first),
        ("build, or after connections", {"linestyle": DASHED}),
        ("init, or after nodes", {"linestyle": DOTTED}),
        ("simulation, or at the end", {"linestyle": "-"}),
        ("neurons", {"linestyle": "", "marker": "^"}),
        ("perfect scaling of neurons", {"linewidth": 1.0}),
        ("predicted memory", {"color": "#B9C0C5", "marker": "s", "linewidth": 2.5}),
        note=crowding_note(first),
    )
    return figure


FIGURE_10 = PaperResult(
    kind="figure",
    number="10",
    title="Maximum filling: the largest networks, their times and memory, to 100,000 processes",
    minutes=1.5,
    measure=measure_with(FillingKeys),
    full={
        # The caption of Figure 10, and 100,000; 13 GB as in the memory model (section 3.4).
        "processes": (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 28_672, 100_000),
        "memory_per_process": "13GB",
        "indegree": 11_250,
        "threads": 8,
        "time": 1000.0,
        "real_processes": (1,),
    },
    check=check_with(FillingKeys),
    show=_show,
    draw=_draw,
)
