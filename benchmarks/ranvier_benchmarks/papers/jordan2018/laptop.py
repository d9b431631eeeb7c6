"""Figure 11: the kernels on a laptop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console

from ranvier.figures.style import FAINT, GREY, Figure, new_figure, styled
from ranvier_benchmarks._kernels_figure import COLOUR_OF_KERNEL
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.jordan2018._draw import crowding_note, kernels_in
from ranvier_benchmarks.papers.jordan2018._runs import (
    KERNELS,
    Run,
    Runs,
    build_of,
    init_of,
    megabytes_of,
    print_comparison,
    ratio_at,
    real_of,
    show_phases,
    sim_of,
)

__all__ = ["FIGURE_11"]

_PANELS: tuple[tuple[str, Callable[[Run], float]], ...] = (
    ("A  build (s)", build_of),
    ("B  init (s)", init_of),
    ("C  simulation of a second (s)", sim_of),
    ("D  memory of a process (MB)", megabytes_of("end")),
)


def _runs(
    *,
    kernels: tuple[str, ...],
    processes: int,
    threads: int,
    neurons: int,
    indegree: int,
    time: float,
    presim: float,
    repetitions: int,
) -> Runs:
    size = {"neurons": neurons, "repetitions": repetitions}
    return Runs("strong", kernels, (processes,), (), threads, indegree, 10.0, time, presim, real=size)


def measure_laptop(
    progress: Progress,
    *,
    kernels: tuple[str, ...] = tuple(KERNELS),
    processes: int = 2,
    threads: int = 2,
    neurons: int = 11_255,
    indegree: int = 3750,
    time: float = 100.0,
    presim: float = 10.0,
    repetitions: int = 1,
) -> Measured:
    """Run each kernel on some processes of this machine.

    Parameters
    ----------
    kernels
        Kernels to compare.
    processes, threads
        Number of processes, and of threads of each.
    neurons, indegree
        Neurons of the network, and synapses of each.
    time, presim
        Simulated time, and simulated time before that, ms.
    repetitions
        Number of runs of each kernel; times are their medians.
    """
    return _runs(
        kernels=kernels,
        processes=processes,
        threads=threads,
        neurons=neurons,
        indegree=indegree,
        time=time,
        presim=presim,
        repetitions=repetitions,
    ).measure(progress)


def _check(**values: Any) -> None:
    _runs(**values).check()


def _construction(run: Run) -> float:
    return build_of(run) + init_of(run)


def _show(measured: Measured, console: Console) -> None:
    show_phases(measured, console)
    runs = {kernel: real_of(measured, kernel) for kernel in KERNELS}
    ratios = {
        "build": ("5g-sort", "4g", build_of),
        "construction": ("5g-sort", "4g", _construction),
        "sim": ("5g-sort", "4g", sim_of),
        "nosort": ("5g-nosort", "5g-sort", sim_of),
        "memory": ("5g-sort", "4g", megabytes_of("end")),
    }
    ours = {}
    for name, (first, second, value) in ratios.items():
        found = ratio_at(runs[first], runs[second], value, last=True)
        if found is not None:
            ours[name] = f"{found[1]:.2f}"
    print_comparison(console, "11", ours)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    options = first["options"]
    size = f"{options['neurons']:,} neurons of {options['indegree']:,} synapses"
    placed = f"{options['processes']} processes of {options['threads']} threads"
    figure = new_figure(11.5, 3.8, f"{size}, {placed}, {first['machine']['processor']}")
    kernels = kernels_in(first)
    for panel, (heading, value) in zip(figure.subplots(1, 4), _PANELS, strict=True):
        heights = [value(real_of(first, kernel)[0]) for kernel in kernels]
        bars = panel.bar(kernels, heights, color=[COLOUR_OF_KERNEL[kernel] for kernel in kernels], width=0.7)
        panel.bar_label(bars, labels=[f"{height:.3g}" for height in heights], fontsize=8)
        panel.set_title(heading)
        panel.tick_params(axis="x", labelsize=8, length=0)
        panel.grid(axis="y", color=FAINT, linewidth=0.8)
        panel.set_axisbelow(True)
    figure.supxlabel(crowding_note(first), x=0.99, ha="right", fontsize=8, color=GREY)
    return figure


FIGURE_11 = PaperResult(
    kind="figure",
    number="11",
    title="The laptop: 2 processes of 2 threads, build, init, simulation and memory of 4g and 5g",
    minutes=1.0,
    measure=measure_laptop,
    full={"time": 1000.0},
    check=_check,
    show=_show,
    draw=_draw,
)
