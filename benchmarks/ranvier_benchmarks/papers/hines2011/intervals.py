"""Figures 5 to 8: the time that each interval takes, by method.

A process has as many cells as in the paper: 256 with 1,000 inputs, or 32 with 10,000. The simulated Blue Gene/P has as
many processes as the paper's, or fewer; the real processes are those that a computer can start, so that their spikes go
to few others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import SubFigure
from rich.console import Console

from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import GREY, Figure, new_figure, styled
from ranvier_benchmarks._figures import draw_intervals, highest_shown
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.hines2011 import published
from ranvier_benchmarks.papers.hines2011._runs import (
    KINDS,
    Kind,
    Load,
    Run,
    Variant,
    check_loads,
    check_numbers,
    empty_table,
    measure,
    note_on_crowding,
    number_text,
    of_kind,
    print_indented,
    seconds_text,
    show_head,
)

__all__ = ["FIGURE_5", "FIGURE_6", "FIGURE_7", "FIGURE_8"]

_K = 1024
_COLUMNS = 4  # of panels in a figure
_QUIET = 20  # intervals before the first spike
_PHASES = (
    Variant("one phase, two intervals", "multisend", "multisend 2", 2),
    Variant("one phase, one interval", "multisend", "multisend", 1),
    Variant("two phases, two intervals", "two_phase", "two-phase 2", 2),
    Variant("two phases, one interval", "two_phase", "two-phase", 1),
)
_DISCUSSED = (
    Variant("two phases, relays at once", "two_phase_any", "two-phase 2 any", 2),
    Variant("one phase, Reduce_scatter", "multisend_reduce_scatter", "multisend reduce_scatter", 1),
)
_REPLAY = (
    Variant("Record-Replay, one interval", "persistent", "replay", 1),
    Variant("Record-Replay, two intervals", "persistent", "replay 2", 2),
)


# ---- measurements ----------------------------------------------------------------------------------------------------


def _loads(inputs: Sequence[int], simulated_processes: Sequence[int], processes: int, time: float) -> list[Load]:
    """Return a simulated and a real network for each number of inputs, but those with 0 processes."""
    kinds: list[tuple[Kind, Sequence[int]]] = [
        ("simulated", simulated_processes),
        ("real", (processes,) * len(inputs)),
    ]
    return [
        Load(kind, count, count * published.CELLS_PER_PROCESS[connections], connections, time)
        for kind, counts in kinds
        for connections, count in zip(inputs, counts, strict=True)
        if count != 0
    ]


def _check(
    inputs: Sequence[int],
    *,
    simulated_processes: int | tuple[int, ...],
    processes: int,
    time: float,
    repetitions: int,
    slots: int,
    seed: int,
    buffers: tuple[int, ...] = published.BUFFERS,
    discussed: bool = False,
) -> None:
    del seed, discussed
    counts = _each(inputs, simulated_processes)
    _variants_of_buffers(buffers)
    check_loads(_loads(inputs, counts, processes, time), repetitions=repetitions, slots=slots)


def _each(inputs: Sequence[int], simulated_processes: int | tuple[int, ...]) -> tuple[int, ...]:
    counts = simulated_processes if isinstance(simulated_processes, tuple) else (simulated_processes,)
    if len(counts) != len(inputs):
        bound = f"it must be {len(inputs)} numbers, for cells with {' and '.join(map(str, inputs))} inputs"
        raise ValueOutOfBoundsError("key simulated_processes", str(counts), bound)
    return counts


def _variants_of_buffers(buffers: Sequence[int]) -> list[Variant]:
    check_numbers("buffers", buffers, 0, 1 << 16)
    return [Variant(f"allgather, {count} spikes", "allgather", "allgather", 1, count) for count in buffers]


def measure_buffers(
    progress: Progress,
    *,
    simulated_processes: int = 8 * _K,
    processes: int = 4,
    buffers: tuple[int, ...] = published.BUFFERS,
    time: float = 200.0,
    repetitions: int = 3,
    slots: int = 10,
    seed: int = 1,
) -> Measured:
    """Measure all-gathering with different numbers of spikes in the first collective.

    Parameters
    ----------
    simulated_processes, processes
        Processes of the simulated machine, and real ones; 0: none.
    buffers
        Spikes of a process in the first collective; a second one sends the others.
    time
        Simulated time, ms.
    repetitions
        Real runs of each.
    slots
        Times that a simulated process polls in a millisecond.
    seed
        Seed of the network.
    """
    loads = _loads((1000,), (simulated_processes,), processes, time)
    variants = _variants_of_buffers(buffers)
    return measure(progress, loads, lambda load: variants, repetitions=repetitions, slots=slots, seed=seed, traces=True)


def measure_phases(
    connections: int,
    progress: Progress,
    *,
    simulated_processes: int = 16 * _K,
    processes: int = 4,
    discussed: bool = False,
    time: float = 200.0,
    repetitions: int = 3,
    slots: int = 10,
    seed: int = 1,
) -> Measured:
    """Measure sending in one or two phases, with one or two intervals, for cells with so many inputs.

    With `discussed`, methods are added that the paper discusses without a panel: relays in both intervals, and
    MPI_Reduce_scatter in place of repeated reductions. The other parameters are those of `measure_buffers`.
    """
    loads = _loads((connections,), (simulated_processes,), processes, time)
    variants = (*_PHASES, *(_DISCUSSED if discussed else ()))
    return measure(progress, loads, lambda load: variants, repetitions=repetitions, slots=slots, seed=seed, traces=True)


def measure_replay(
    progress: Progress,
    *,
    simulated_processes: tuple[int, ...] = (16 * _K, 16 * _K),
    processes: int = 4,
    time: float = 200.0,
    repetitions: int = 3,
    slots: int = 10,
    seed: int = 1,
) -> Measured:
    """Measure messages that are set up once; parameters as of `measure_buffers`.

    The simulated machine has its first number of processes for cells with 1,000 inputs, its second for 10,000.
    """
    loads = _loads(published.INPUTS, simulated_processes, processes, time)
    return measure(progress, loads, lambda load: _REPLAY, repetitions=repetitions, slots=slots, seed=seed, traces=True)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _range_text(values: Sequence[int] | None) -> str:
    if values is None:
        return ""
    least, greatest = values
    return f"{least:,}" if least == greatest else f"{least:,}-{greatest:,}"


def _networks(measured: Measured, kind: Kind) -> dict[tuple[int, int, int], list[Run]]:
    """Return the runs by number of processes, cells and inputs."""
    found: dict[tuple[int, int, int], list[Run]] = {}
    for run in of_kind(measured, kind):
        found.setdefault((run["connections"], run["processes"], run["cells"]), []).append(run)
    return found


def _show(number: str, measured: Measured, console: Console) -> None:
    for kind in KINDS:
        for (connections, processes, cells), runs in _networks(measured, kind).items():
            title = (
                f"{processes:,} processes, {cells:,} cells, {connections:,} inputs of a cell, {runs[0]['time']:g} ms"
            )
            show_head(console, measured, kind, title)
            of_paper = published.FIGURES[number, connections]
            _show_network(console, runs, of_paper if kind == "simulated" else None)
            if kind == "simulated":
                _say_what_differs(console, runs[0], of_paper)
    console.print(
        "\n  Spikes and messages are those of process 0, least and greatest in an interval of the last quarter. "
        "Iterations are checks after the first, without those of the very last interval.",
        style="dim",
        soft_wrap=True,
    )


def _show_network(console: Console, runs: Sequence[Run], of_paper: published.Figure | None) -> None:
    unit = "ms" if runs[0]["kind"] == "real" else "s"
    gathers = runs[0]["method"] == "allgather"
    last = ("over-\nflows", "first 20 ms:\nexchange (ms)") if gathers else ("itera-\ntions",)
    times = (f"{name}\n({unit})" for name in ("comp", "mean", "greatest", "run"))
    table = empty_table("", *times, "spikes", "sent", "received", *last)
    for run in runs:
        computation, total = seconds_text(run)
        of_all = [seconds_text(run, key)[0] for key in ("mean", "greatest")]
        quarter = run["last_quarter"]
        ranges = [_range_text(quarter[key]) for key in ("spikes", "sent", "received")]
        # Each of the whole milliseconds has a collective.
        ends = [f"{run['collectives'] - round(run['time']):,}", _quiet_text(run)] if gathers else []
        table.add_row(
            run["variant"], computation, *of_all, total, *ranges, *(ends or [_range_text(quarter["iterations"])])
        )
        said = None if of_paper is None else of_paper.panels.get(run["variant"])
        if said is not None:
            seconds = ["", ""] if said.seconds is None else [f"{value:.3g}" for value in said.seconds]
            ranges = [_range_text(each) for each in (said.spikes, said.sent, said.received, said.iterations)]
            where = f" (Table {said.table})" if said.table else ""
            table.add_row(f"  paper{where}", seconds[0], "", "", seconds[1], *ranges, style="dim")
    print_indented(console, table)
    if not gathers:
        here, everywhere = (runs[0]["greatest_fan_out"][key] for key in ("rank_0", "all"))
        text = f"Spikes go to at most {here:,} processes from process 0, {everywhere:,} from any"
        if of_paper is not None and of_paper.fan_out is not None:
            text += f"; paper: {of_paper.fan_out[0]:,} and {of_paper.fan_out[1]:,}"
        console.print(f"\n  {text}.", soft_wrap=True)


def _quiet_text(run: Run) -> str:
    """Return the mean time of an exchange while no cell has fired yet, in milliseconds."""
    traces = run["per_interval_s"]
    quiet = slice(0, _QUIET)
    exchange = [total - mean for total, mean in zip(traces["total"][quiet], traces["mean"][quiet], strict=True)]
    return number_text(1e3 * sum(exchange) / len(exchange))


def _say_what_differs(console: Console, run: Run, of_paper: published.Figure) -> None:
    if (run["processes"], run["cells"]) != (of_paper.processes, of_paper.cells):
        console.print(
            f"  The paper's have {of_paper.processes:,} processes and {of_paper.cells:,} cells (--full).",
            style="dim",
            soft_wrap=True,
        )


# ---- figures ---------------------------------------------------------------------------------------------------------


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    """Draw the networks of each machine and kind in a row, with a panel for each variant."""
    rows = [
        (of_machine, kind, networks)
        for of_machine in measured
        for kind in KINDS
        if (networks := list(_networks(of_machine, kind).values()))
    ]
    most = max(len(networks) for _, _, networks in rows)
    columns = min(_COLUMNS // most, max(len(runs) for _, _, networks in rows for runs in networks))
    lines = [math.ceil(len(networks[0]) / columns) for _, _, networks in rows]
    figure = new_figure(0.8 + 3.1 * columns * most, 0.5 + sum(0.4 + 2.1 * count for count in lines), "")
    parts = figure.subfigures(len(rows), most, squeeze=False, height_ratios=[0.4 + 2.1 * count for count in lines])
    for line, (of_machine, kind, networks) in zip(parts, rows, strict=True):
        for part, runs in zip(line, networks, strict=False):
            _draw_network(part, of_machine, kind, runs, columns)
    handles, names = parts[0, 0].axes[0].get_legend_handles_labels()
    notes = "\n".join(dict.fromkeys(note for note in map(note_on_crowding, measured) if note))
    legend = figure.legend(
        handles,
        names,
        loc="outside lower left",
        ncols=len(names),
        frameon=False,
        title=notes or None,
        title_fontsize=8,
        alignment="left",
    )
    legend.get_title().set_color(GREY)
    return figure


def _draw_network(part: SubFigure, measured: Measured, kind: Kind, runs: Sequence[Run], columns: int) -> None:
    lines = math.ceil(len(runs) / columns)
    panels = part.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    first = runs[0]
    where = "Blue Gene/P" if kind == "simulated" else measured["machine"]["processor"]
    part.suptitle(
        f"{kind.capitalize()}, {where}: {first['processes']:,} processes, {first['cells']:,} cells, "
        f"{first['connections']:,} inputs",
        x=0.01,
        ha="left",
        fontsize=10,
    )
    top = highest_shown(runs)
    for axes, run in zip(panels.flat, runs, strict=False):
        draw_intervals(axes, run, run["variant"], run["time"], top)
        axes.tick_params(labelbottom=True)
    for axes in list(panels.flat)[len(runs) :]:
        axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("time (ms)")
    for axes in panels[:, 0]:
        axes.set_ylabel("interval takes (ms)")


def _figure(number: str, title: str, minutes: float, function: Any, inputs: Sequence[int], **full: Any) -> PaperResult:
    return PaperResult(
        "figure",
        number,
        title,
        minutes,
        function,
        functools.partial(_show, number),
        draw=_draw,
        full=full,
        check=functools.partial(_check, inputs),
    )


FIGURE_5 = _figure("5", "Time of each interval: all-gathering with three buffers", 0.5, measure_buffers, (1000,))
FIGURE_6 = _figure(
    "6",
    "Time of each interval: one or two phases and intervals, 1,000 inputs of a cell",
    1.0,
    functools.partial(measure_phases, 1000),
    (1000,),
)
FIGURE_7 = _figure(
    "7",
    "Time of each interval: one or two phases and intervals, 10,000 inputs of a cell",
    1.0,
    functools.partial(measure_phases, 10_000),
    (10_000,),
    simulated_processes=64 * _K,
)
FIGURE_8 = _figure(
    "8",
    "Time of each interval: Record-Replay",
    1.0,
    measure_replay,
    published.INPUTS,
    simulated_processes=(16 * _K, 64 * _K),
)
