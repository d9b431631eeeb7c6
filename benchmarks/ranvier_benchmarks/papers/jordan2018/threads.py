"""Figure A4: the time of the simulation over the threads of a process, one of very many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import GREY, Figure, new_figure, styled
from ranvier_benchmarks._kernels_figure import finish
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.jordan2018._draw import (
    DOTTED,
    KERNEL_LOOKS,
    ideal_line,
    kernels_in,
    legend_of_kernels,
    line,
)
from ranvier_benchmarks.papers.jordan2018._runs import (
    KERNELS,
    Run,
    Runs,
    build_of,
    dry_of,
    init_of,
    print_comparison,
    print_table,
    seconds_text,
    sim_of,
)

__all__ = ["FIGURE_A4"]


def _runs(
    *,
    kernels: tuple[str, ...],
    processes: int,
    threads: tuple[int, ...],
    neurons_per_process: int,
    indegree: int,
    rate: float,
    time: float,
    presim: float,
) -> list[Runs]:
    if not threads:
        raise ValueOutOfBoundsError("key threads", "()", "there is nothing to run", "give some numbers")
    size = {"neurons_per_rank": neurons_per_process}
    return [Runs("weak", kernels, (), (processes,), count, indegree, rate, time, presim, dry=size) for count in threads]


def measure_threads(
    progress: Progress,
    *,
    kernels: tuple[str, ...] = tuple(KERNELS),
    processes: int = 28_672,
    threads: tuple[int, ...] = (1, 2, 4, 8),
    neurons_per_process: int = 1125,
    indegree: int = 1125,
    rate: float = 10.0,
    time: float = 100.0,
    presim: float = 10.0,
) -> Measured:
    """Make dry runs of one of many processes with several numbers of threads.

    Parameters
    ----------
    kernels
        Kernels to compare.
    processes
        Number of processes, of which the dry run simulates one.
    threads
        Numbers of threads of a process. Those beyond the processors of this machine take turns.
    neurons_per_process, indegree
        Neurons of a process, and synapses of a neuron.
    rate
        Rate of all neurons, spikes/s.
    time, presim
        Simulated time, and simulated time before that, ms.
    """
    done: Measured = {"real": [], "dry": []}
    for runs in _runs(
        kernels=kernels,
        processes=processes,
        threads=threads,
        neurons_per_process=neurons_per_process,
        indegree=indegree,
        rate=rate,
        time=time,
        presim=presim,
    ):
        done["dry"] += runs.measure(progress)["dry"]
        progress.keep(done)
    return done


def _check(**values: Any) -> None:
    # Memory differs little between them.
    for runs in _runs(**values)[:1]:
        runs.check()
    for runs in _runs(**values):
        runs.check_keys()


def _by_threads(measured: Measured, kernel: str) -> list[Run]:
    return sorted(dry_of(measured, kernel), key=lambda run: int(run["threads"]))


def _show(measured: Measured, console: Console) -> None:
    found: dict[str, Mapping[int, float]] = {}
    for kernel in kernels_in(measured):
        runs = _by_threads(measured, kernel)
        found[kernel] = {run["threads"]: sim_of(run) for run in runs}
        rows = [
            (
                f"{run['threads']}",
                seconds_text(build_of(run)),
                seconds_text(init_of(run)),
                seconds_text(sim_of(run)),
                f"{sim_of(runs[0]) / sim_of(run):.2f}",
            )
            for run in runs
        ]
        title = f"{kernel}, one of {measured['options']['processes']:,} processes"
        print_table(console, title, ("threads", "build", "init", "sim, 1 s", "speed-up"), rows)
    console.print(
        f"This machine had {measured['machine']['usable_processors']} processors: more threads take turns.",
        style="dim",
        soft_wrap=True,
    )
    ours = {}
    for name, (first, threads, second, other) in {
        "eight": ("5g-sort", 8, "4g", 8),
        "doubled": ("4g", 16, "4g", 8),
        "many": ("5g-sort", 64, "5g-sort", 8),
        "both": ("5g-sort", 64, "4g", 8),
    }.items():
        times = found.get(first, {}).get(threads), found.get(second, {}).get(other)
        if times[0] is not None and times[1] is not None:
            ours[name] = f"{times[0] / times[1]:.2f}"
    print_comparison(console, "A4", ours)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    options = first["options"]
    load = f"{options['neurons_per_process']:,} neurons of {options['indegree']:,} synapses on each"
    figure = new_figure(8.5, 5.0, f"Threads of one of {options['processes']:,} processes: {load}")
    panel = figure.add_subplot()
    for kernel in kernels_in(first):
        runs = _by_threads(first, kernel)
        line(panel, runs, sim_of, over="threads", **KERNEL_LOOKS[kernel])
        ideal_line(panel, runs, sim_of, over="threads")
    finish(panel, "simulation of a second (s)", logarithmic=True)
    panel.set_xlabel("threads of a process")
    processors = first["machine"]["usable_processors"]
    note = ""
    if max(run["threads"] for run in first["dry"]) > processors:
        panel.axvline(processors, color=GREY, linewidth=0.8)
        note = f"Right of the line there are more threads than the {processors} processors: they take turns"
    legend_of_kernels(
        figure, kernels_in(first), ("perfect scaling", {"linestyle": DOTTED}), marks_dry_runs=False, note=note
    )
    return figure


FIGURE_A4 = PaperResult(
    kind="figure",
    number="A4",
    title="Scaling over the threads of one of 28,672 processes",
    minutes=1.5,
    measure=measure_threads,
    full={"threads": (8, 16, 32, 64), "neurons_per_process": 18_000, "indegree": 11_250, "time": 1000.0},
    check=_check,
    show=_show,
    draw=_draw,
)
