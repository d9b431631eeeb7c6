"""Tables 1 to 3 and Figures 4, 6 and 7: MPI_Allgather, and the same by writing into memory of other processes.

Each number of processes is started by an mpiexec, and runs the network with each method, `repetitions` times. With a
barrier before each exchange, waiting and exchange are separate; without one, as in the paper, communication is both.
Times are medians of the runs, run times those of rank 0, and other times medians over the processes. All methods and
numbers of processes must give the same spikes.

The networks are those of `networks`, which says what is known of the paper's. Figure 4 shows the numbers of Table 1,
Figure 6 those of Table 2, and Figure 7 those of Table 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.memory_checks import check_room
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, Figure, new_figure, styled
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._mpiexec import check_startable, find_mpiexec, run_worker
from ranvier_benchmarks._options import parse_methods
from ranvier_benchmarks.exchange import check_digests, make_contestants, make_result
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.shehzad2016 import networks
from ranvier_benchmarks.papers.shehzad2016.published import PROCESSES, RUNS, SAVED_PERCENT, TIME

__all__ = ["FIGURE_4", "FIGURE_6", "FIGURE_7", "TABLE_1", "TABLE_2", "TABLE_3"]

_PLAIN = "allgather"
_METHODS = "allgather,rma_allgather,rma_allgather_counter"
_FEW = (2, 3, 4)
_KEPT = (
    "method", "intervals", "barrier", "digests", "interval_count", "total_s", "computation_s", "waiting_s",
    "exchange_s", "waiting_and_exchange_s", "spikes_sent", "bytes_sent", "messages", "rounds",
)  # fmt: skip


# ---- measurements ----------------------------------------------------------------------------------------------------


def _check(
    *,
    processes: tuple[int, ...],
    cells: int | tuple[int, ...],
    time: float | tuple[float, ...],
    repetitions: int,
    methods: str = _PLAIN,
    seed: int,
) -> None:
    for name, values in (("processes", processes), ("cells", cells), ("time", time)):
        if values == ():
            raise ValueOutOfBoundsError(f"key {name}", "()", "it must have at least one value")
    check_startable("key processes", processes)
    if min(processes) < 2:
        raise ValueOutOfBoundsError("key processes", str(min(processes)), "one process exchanges nothing", "give more")
    least = max(networks.LEAST_CELLS, *processes)
    for size in cells if isinstance(cells, tuple) else (cells,):
        if not isinstance(size, int) or not least <= size <= networks.MOST_CELLS:
            bound = f"it must be whole numbers from {least} to {networks.MOST_CELLS}"
            raise ValueOutOfBoundsError("key cells", str(size), bound, "each process needs a cell")
    for duration in time if isinstance(time, tuple) else (time,):
        if not isinstance(duration, int | float) or not 1.0 <= duration <= networks.LONGEST:
            bound = f"it must be from 1 to {networks.LONGEST:g} ms"
            raise ValueOutOfBoundsError("key time", str(duration), bound)
    if repetitions < 1:
        raise ValueOutOfBoundsError("key repetitions", str(repetitions), "it must be at least one")
    if _PLAIN not in parse_methods(methods):
        raise ValueOutOfBoundsError(
            "key methods", f"'{methods}'", f"{_PLAIN}, with which others are compared, is missing"
        )
    most = max(cells) if isinstance(cells, tuple) else cells
    check_room(f"a network of {most:,} cells", most * networks.BYTES_OF_CELL, "choose fewer cells")


def _measure(
    progress: Progress,
    function: str,
    cases: Sequence[tuple[int, int, float]],
    methods: Sequence[str],
    repetitions: int,
    seed: int,
) -> Measured:
    """Run a network with the methods for each case: a number of processes, a number of cells, and a time (ms)."""
    mpiexec = find_mpiexec(progress.mpiexec)
    contestants = make_contestants(methods, (1,), (False, True))
    measured: Measured = {"network": function, "processors": usable_processors(), "rows": []}
    for ranks, cells, time in cases:
        title = f"{ranks} processes, {cells:,} cells, {time:g} ms"
        progress.step(title)
        report = run_worker(
            mpiexec,
            "ranvier_benchmarks._exchange_worker",
            {
                "function": f"{networks.__name__}:{function}",
                "network": {"cells": cells, "seed": seed},
                "options": {},
                "time": time,
                "contestants": contestants,
                "repetitions": repetitions,
                "once": False,
            },
            ranks=ranks,
            threads=1,
            on_progress=lambda text, title=title: progress.step(f"{title}: {text}"),  # type: ignore[misc]
        )
        result = make_result(ranks, 1, time, report, contestants)
        row = {
            **{key: result[key] for key in ("ranks", "crowded", "transport", "synapses", "spikes")},
            "cells": cells,
            "time": time,
            "methods": [{key: method[key] for key in _KEPT} for method in result["methods"]],
        }
        measured["rows"].append(row)
        check_digests([each for each in measured["rows"] if (each["cells"], each["time"]) == (cells, time)])
        progress.keep(measured)
    return measured


def measure_limits(
    progress: Progress,
    *,
    processes: tuple[int, ...] = _FEW,
    cells: int = 500,
    time: float = 500.0,
    repetitions: int = 3,
    seed: int = 1,
) -> Measured:
    """Measure MPI_Allgather on the network like Parscalebush.

    Parameters
    ----------
    processes
        Numbers of processes.
    cells
        Number of cells.
    time
        Simulated time, ms.
    repetitions
        Number of runs.
    seed
        Seed of the network.
    """
    return _measure(progress, "scalebush", [(ranks, cells, time) for ranks in processes], [_PLAIN], repetitions, seed)


def measure_cells(
    progress: Progress,
    *,
    processes: tuple[int, ...] = _FEW,
    cells: tuple[int, ...] = (505, 1010),
    time: float = 200.0,
    methods: str = _METHODS,
    repetitions: int = 3,
    seed: int = 1,
) -> Measured:
    """Compare methods on the network like Parbulbnet, for several numbers of cells.

    Parameters
    ----------
    processes
        Numbers of processes.
    cells
        Numbers of cells; the paper's are not known.
    time
        Simulated time, ms; the paper's is not known.
    methods
        Methods of exchange with commas between, allgather among them.
    repetitions
        Number of runs.
    seed
        Seed of the network.
    """
    cases = [(ranks, size, time) for size in cells for ranks in processes]
    return _measure(progress, "bulbnet", cases, parse_methods(methods), repetitions, seed)


def measure_times(
    progress: Progress,
    *,
    processes: tuple[int, ...] = _FEW,
    cells: int = 500,
    time: tuple[float, ...] = (200.0, 400.0),
    methods: str = _METHODS,
    repetitions: int = 3,
    seed: int = 1,
) -> Measured:
    """Compare methods on the network like Parscalebush, for several simulated times.

    Parameters
    ----------
    processes
        Numbers of processes.
    cells
        Number of cells.
    time
        Simulated times, ms; of the paper's, only that of Table 1 is known.
    methods
        Methods of exchange with commas between, allgather among them.
    repetitions
        Number of runs.
    seed
        Seed of the network.
    """
    cases = [(ranks, cells, duration) for duration in time for ranks in processes]
    return _measure(progress, "scalebush", cases, parse_methods(methods), repetitions, seed)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _methods(row: dict[str, Any], *, barrier: bool) -> dict[str, dict[str, Any]]:
    return {method["method"]: method for method in row["methods"] if method["barrier"] == barrier}


def _communication(method: dict[str, Any]) -> float:
    """Seconds of the exchange, with the waiting for other processes unless a barrier has taken that."""
    seconds: float = method["exchange_s" if method["barrier"] else "waiting_and_exchange_s"]["median"]
    return seconds


def _saved(row: dict[str, Any], name: str, *, barrier: bool) -> float:
    """Return by how many percent a method takes less than allgather."""
    methods = _methods(row, barrier=barrier)
    plain = _communication(methods[_PLAIN])
    return 100.0 * (1.0 - _communication(methods[name]) / plain) if plain > 0.0 else math.nan


def _head(measured: Measured, console: Console) -> None:
    rows = measured["rows"]
    console.print(f"\n[bold]Network {measured['network']}[/], {rows[0]['transport']}", soft_wrap=True)
    console.print(
        f"Medians of {measured['options']['repetitions']} runs of processes with one thread. Sizes and activity of the "
        "network are partly assumed.",
        style="dim",
        soft_wrap=True,
    )
    crowded = [str(count) for count in dict.fromkeys(row["ranks"] for row in rows if row["crowded"])]
    if crowded:
        console.print(
            f"{', '.join(crowded)} processes share {measured['processors']} processors: they take turns, so times say "
            "little about the methods.",
            style="yellow",
            soft_wrap=True,
        )


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _show_limits(measured: Measured, console: Console) -> None:
    _head(measured, console)
    table = _table("processes", "run (s)", "communication (s)", "of the run (%)", "spikes", "exchanges")
    for row in measured["rows"]:
        method = _methods(row, barrier=False)[_PLAIN]
        run, communication = method["total_s"]["rank_0"], _communication(method)
        table.add_row(
            str(row["ranks"]),
            f"{run:.3f}",
            f"{communication:.3f}",
            f"{100.0 * communication / run:.1f}",
            f"{row['spikes']:,}",
            f"{method['interval_count']:,}",
        )
    console.print(Padding(table, (1, 0, 0, 2)))
    console.print(
        "\n  Paper: with more processes, runs become shorter, and communication longer; its text does not repeat the "
        "numbers of the table.",
        soft_wrap=True,
    )


def _show_comparison(measured: Measured, console: Console) -> None:
    _head(measured, console)
    table = _table(
        "processes", "cells", "time\n(ms)", "method", "run\n(s)", "communi-\ncation (s)", "less\n(%)",
        "with a bar-\nrier: waiting", "\nexchange", "less\n(%)",
    )  # fmt: skip
    for row in measured["rows"]:
        apart = _methods(row, barrier=True)
        for name, method in _methods(row, barrier=False).items():
            first = name == _PLAIN
            table.add_row(
                *((str(row["ranks"]), f"{row['cells']:,}", f"{row['time']:g}") if first else ("", "", "")),
                name,
                f"{method['total_s']['rank_0']:.3f}",
                f"{_communication(method):.3f}",
                "" if first else f"{_saved(row, name, barrier=False):.1f}",
                f"{apart[name]['waiting_s']['median']:.3f}" if name in apart else "",
                f"{_communication(apart[name]):.3f}" if name in apart else "",
                "" if first or name not in apart else f"{_saved(row, name, barrier=True):.1f}",
            )
    console.print(Padding(table, (1, 0, 0, 2)))
    names = [name for name in _methods(measured["rows"][0], barrier=False) if name != _PLAIN]
    console.print(
        f"\n  Paper: RMA_Allgather (here rma_allgather) takes almost {SAVED_PERCENT:g} % less than MPI_Allgather.",
        soft_wrap=True,
    )
    for name in names:
        values = [_saved(row, name, barrier=False) for row in measured["rows"]]
        console.print(
            f"  Here: {name} takes from {min(values):.1f} to {max(values):.1f} % less.", soft_wrap=True, markup=False
        )


# ---- figures ---------------------------------------------------------------------------------------------------------


def _where(measured: Measured) -> str:
    return f"{measured['machine']['processor']}, {measured['rows'][0]['transport']}"


def _ranks_axis(axes: Axes, measured: Measured) -> None:
    ranks = sorted({row["ranks"] for row in measured["rows"]})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ranks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticklabels([str(count) for count in ranks])
    axes.set_xlabel("processes")
    axes.set_ylim(bottom=0.0)
    crowded = [count for count in ranks if count > measured["processors"]]
    if crowded:
        axes.axvspan(measured["processors"] * 1.1, ranks[-1] * 1.1, color="#EEEEEE", zorder=0)
        axes.text(
            0.98, 0.02, "more processes than processors", transform=axes.transAxes, ha="right", va="bottom", fontsize=8,
            color="#777777",
        )  # fmt: skip


@styled
def _draw_limits(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(4.6 * len(measured), 3.6, "MPI_Allgather with more processes")
    panels = figure.subplots(1, len(measured), squeeze=False)[0]
    for axes, of_machine in zip(panels, measured, strict=True):
        points = [(row["ranks"], _methods(row, barrier=False)[_PLAIN]) for row in of_machine["rows"]]
        ranks = [count for count, _ in points]
        axes.plot(ranks, [m["total_s"]["rank_0"] for _, m in points], "o-", color=COLOURS[0], label="run")
        axes.plot(ranks, [_communication(m) for _, m in points], "s-", color=COLOURS[1], label="communication")
        axes.set_title(_where(of_machine))
        _ranks_axis(axes, of_machine)
    panels[0].set_ylabel("time (s)")
    panels[0].legend(frameon=False)
    return figure


@styled
def _draw_comparison(measured: Sequence[Measured]) -> Figure:
    widest = max(len(_variants(of_machine)) for of_machine in measured)
    figure = new_figure(
        1.0 + 3.4 * widest, 0.8 + 3.0 * len(measured), f"Communication on {', '.join(map(_where, measured))}"
    )
    panels = figure.subplots(len(measured), widest, squeeze=False)
    for line, of_machine in zip(panels, measured, strict=True):
        variants = _variants(of_machine)
        for axes in line[len(variants) :]:
            axes.set_visible(False)
        for axes, (cells, time) in zip(line, variants, strict=False):
            rows = [row for row in of_machine["rows"] if (row["cells"], row["time"]) == (cells, time)]
            for place, name in enumerate(_methods(rows[0], barrier=False)):
                colour = COLOURS[place % len(COLOURS)]
                for barrier, style in ((False, "o-"), (True, "s:")):
                    points = [
                        (row["ranks"], _communication(_methods(row, barrier=barrier)[name]))
                        for row in rows
                        if name in _methods(row, barrier=barrier)
                    ]
                    if points:
                        label = f"{name}, after a barrier" if barrier else name
                        axes.plot(*zip(*points, strict=True), style, color=colour, markersize=4, label=label)
            axes.set_title(f"{cells:,} cells, {time:g} ms")
            _ranks_axis(axes, of_machine)
        line[0].set_ylabel("communication (s)")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=min(3, widest + 1), frameon=False)
    return figure


def _variants(measured: Measured) -> list[tuple[int, float]]:
    return list(dict.fromkeys((row["cells"], row["time"]) for row in measured["rows"]))


_FULL = {"processes": PROCESSES, "repetitions": RUNS}
_LIMITS: dict[str, Any] = {
    "minutes": 1.0,
    "measure": measure_limits,
    "full": {**_FULL, "time": TIME},
    "check": _check,
    "show": _show_limits,
}
_CELLS: dict[str, Any] = {
    "minutes": 2.0,
    "measure": measure_cells,
    "full": {**_FULL, "cells": (505, 2525, 10_100), "time": 1000.0},
    "check": _check,
    "show": _show_comparison,
}
_TIMES: dict[str, Any] = {
    "minutes": 2.0,
    "measure": measure_times,
    "full": {**_FULL, "time": (1000.0, 2500.0, TIME)},
    "check": _check,
    "show": _show_comparison,
}

TABLE_1 = PaperResult("table", "1", "Run time and communication with MPI_Allgather on 2 to 32 processes", **_LIMITS)
TABLE_2 = PaperResult("table", "2", "MPI_Allgather and RMA_Allgather for more processes and cells", **_CELLS)
TABLE_3 = PaperResult("table", "3", "MPI_Allgather and RMA_Allgather for more processes and longer runs", **_TIMES)
FIGURE_4 = PaperResult("figure", "4", "Table 1 as a figure", **_LIMITS, draw=_draw_limits)
FIGURE_6 = PaperResult("figure", "6", "Table 2 as a figure: communication", **_CELLS, draw=_draw_comparison)
FIGURE_7 = PaperResult("figure", "7", "Table 3 as a figure: communication", **_TIMES, draw=_draw_comparison)
