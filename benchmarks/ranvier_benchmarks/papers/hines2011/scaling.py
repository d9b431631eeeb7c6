"""Tables 1 and 2, and Figure 4: strong and weak scaling with four methods.

The rows of the paper are simulated, with its numbers of processes and cells. Beside them, real processes of one
computer run smaller networks: with strong scaling, the cells of the largest number of processes, with weak scaling a
fixed number of cells in each. On a computer, MPI_Isend is what sends messages, so the columns MPI_ISEND and
DCMF_Multicast are one method.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from rich.console import Console

from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier_benchmarks._exchange_simulation.published import COLUMNS, TABLES, K, Row
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.hines2011 import published
from ranvier_benchmarks.papers.hines2011._runs import (
    KINDS,
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

__all__ = ["FIGURE_4", "TABLE_1", "TABLE_2"]

_TITLES = {"1": "strong scaling", "2": "weak scaling"}
_REAL = {"MPI_Allgather": ("allgather", 1), "MPI_ISEND": ("two_phase", 2), "Record-Replay": ("persistent", 1)}
_VARIANTS = [
    Variant(column, *_REAL.get(column, ("", 1))[:1], simulated, _REAL.get(column, ("", 1))[1])
    for column, simulated in COLUMNS.items()
]
_ALL_ROWS = (8 * K, 16 * K, 32 * K, 64 * K, 128 * K)
_DEFAULT_ROWS = (8 * K, 16 * K)


# ---- measurements ----------------------------------------------------------------------------------------------------


def _rows(tables: Sequence[str], simulated_processes: Sequence[int]) -> list[Row]:
    """Return the rows of the paper with these numbers of processes, each network once."""
    found = {
        (row.ranks, row.cells, row.connections): row
        for table in tables
        for row in TABLES[table]
        if row.ranks in simulated_processes
    }
    return list(found.values())


def _simulated_loads(tables: Sequence[str], simulated_processes: Sequence[int], time: float) -> list[Load]:
    return [
        Load("simulated", row.ranks, row.cells, row.connections, time) for row in _rows(tables, simulated_processes)
    ]


def _real_loads(tables: Sequence[str], processes: Sequence[int], cells_of: dict[int, int], time: float) -> list[Load]:
    """Return real networks, each once: the largest ones are those of both tables."""
    loads = []
    for connections in published.INPUTS:
        for table in tables:
            for count in processes:
                cells = cells_of[connections] * (max(processes) if table == "1" else count)
                load = Load("real", count, cells, connections, time)
                if load not in loads:
                    loads.append(load)
    return loads


def _check(
    tables: Sequence[str],
    *,
    simulated_processes: tuple[int, ...],
    processes: tuple[int, ...],
    cells_per_process: tuple[int, int],
    time: float,
    repetitions: int,
    slots: int,
    seed: int,
) -> None:
    del seed
    for count in simulated_processes:
        if count not in _ALL_ROWS:
            bound = f"the tables have {', '.join(map(str, _ALL_ROWS))}"
            raise ValueOutOfBoundsError("key simulated_processes", str(count), bound)
    if processes:
        check_numbers("processes", processes, 1, 1 << 20)
    cells_of = _cells_of(cells_per_process)
    loads = [
        *_simulated_loads(tables, simulated_processes, time),
        *_real_loads(tables, processes, cells_of, time),
    ]
    check_loads(loads, repetitions=repetitions, slots=slots, least_processes=1)


def _cells_of(cells_per_process: tuple[int, int]) -> dict[int, int]:
    if len(cells_per_process) != len(published.INPUTS):
        bound = f"it must be two numbers, for cells with {' and '.join(map(str, published.INPUTS))} inputs"
        raise ValueOutOfBoundsError("key cells_per_process", str(cells_per_process), bound)
    for count in cells_per_process:
        check_numbers("cells_per_process", [count], 1, 1 << 24)
    return dict(zip(published.INPUTS, cells_per_process, strict=True))


def measure_tables(
    tables: Sequence[str],
    progress: Progress,
    *,
    simulated_processes: tuple[int, ...] = _DEFAULT_ROWS,
    processes: tuple[int, ...] = (1, 2, 4),
    cells_per_process: tuple[int, int] = (1024, 128),
    time: float = 200.0,
    repetitions: int = 3,
    slots: int = 10,
    seed: int = 1,
) -> Measured:
    """Measure the methods of one or two tables.

    Parameters
    ----------
    simulated_processes
        Rows of the paper's tables that are simulated, by their numbers of processes; (): none.
    processes
        Numbers of real processes; (): none.
    cells_per_process
        Cells of a real process with 1,000 and with 10,000 inputs. With strong scaling, the largest number of processes
        has as many in each.
    time
        Simulated time, ms.
    repetitions
        Real runs of each.
    slots
        Times that a simulated process polls in a millisecond.
    seed
        Seed of the networks.
    """
    cells_of = _cells_of(cells_per_process)
    loads = [
        *_simulated_loads(tables, simulated_processes, time),
        *_real_loads(tables, processes, cells_of, time),
    ]
    measured = measure(progress, loads, lambda load: _VARIANTS, repetitions=repetitions, slots=slots, seed=seed)
    return {"tables": list(tables), **measured}


# ---- tables ----------------------------------------------------------------------------------------------------------


def _by_network(measured: Measured, kind: Any) -> dict[tuple[int, int, int], dict[str, Run]]:
    """Return the runs by processes, cells and inputs, and by column."""
    found: dict[tuple[int, int, int], dict[str, Run]] = {}
    for run in of_kind(measured, kind):
        found.setdefault((run["processes"], run["cells"], run["connections"]), {})[run["variant"]] = run
    return found


def _real_rows(measured: Measured, table: str) -> list[tuple[tuple[int, int, int], dict[str, Run]]]:
    """Return the real runs of a table: with strong scaling, those of as many cells as the largest of them."""
    runs = _by_network(measured, "real")
    found = []
    for connections in published.INPUTS:
        networks = [key for key in runs if key[2] == connections]
        most = max((cells for _, cells, _ in networks), default=0)
        ranks = sorted({count for count, _, _ in networks})
        for count in ranks:
            cells = most if table == "1" else most * count // ranks[-1]
            if (count, cells, connections) in runs:
                found.append(((count, cells, connections), runs[count, cells, connections]))
    return found


def _show(measured: Measured, console: Console) -> None:
    for table in measured["tables"]:
        if of_kind(measured, "simulated"):
            show_head(console, measured, "simulated", f"Table {table}, {_TITLES[table]}: simulated")
            _show_simulated(console, measured, table)
    for table in measured["tables"]:
        if rows := _real_rows(measured, table):
            show_head(console, measured, "real", f"Table {table}, {_TITLES[table]}: real processes")
            lines = _empty(_REAL, "ms")
            for key, runs in rows:
                cells = [text for column in _REAL for text in seconds_text(runs.get(column))]
                lines.add_row(*(f"{number:,}" for number in key), *cells)
            print_indented(console, lines)
    if of_kind(measured, "real"):
        methods = ", ".join(f"{column} is {method}" for column, (method, _) in _REAL.items())
        console.print(f"\n  Of real processes, {methods}.", style="dim", soft_wrap=True)


def _empty(columns: Sequence[str] | dict[str, Any], unit: str) -> Any:
    headings = [
        f"{column}\n{which} ({unit})" if first else f"\n{which} ({unit})"
        for column in columns
        for which, first in (("comp", True), ("run", False))
    ]
    return empty_table("processes", "cells", "inputs", *headings, names=0)


def _show_simulated(console: Console, measured: Measured, table: str) -> None:
    simulated = _by_network(measured, "simulated")
    lines = _empty(COLUMNS, "s")
    beside = measured["options"]["time"] == 200.0
    for row in TABLES[table]:
        runs = simulated.get((row.ranks, row.cells, row.connections))
        if runs is None:
            continue
        texts = []
        for column in COLUMNS:
            is_fitted = beside and (row.ranks, row.connections) in published.FITTED.get(column, ())
            texts += [f"{text}{'*' if is_fitted else ' '}" for text in seconds_text(runs.get(column))]
        lines.add_row(f"{row.ranks:,}", f"{row.cells:,}", f"{row.connections:,}", *texts)
        if beside:
            of_paper = [
                "- " if row.seconds[column] is None else f"{number_text(row.seconds[column][place])} "  # type: ignore[index]
                for column in COLUMNS
                for place in (0, 1)
            ]
            lines.add_row("  paper", "", "", *of_paper, style="dim")
    print_indented(console, lines)
    if beside:
        console.print(
            "\n  * Parameters were fitted to numbers of this column and row; all others are predicted from them.",
            style="dim",
            soft_wrap=True,
        )


# ---- figure ----------------------------------------------------------------------------------------------------------

_MARKERS = "osD^"


def _run_time(run: Run) -> float:
    seconds: float = run["total_s"]["rank_0"]
    return seconds


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    """Draw run times over processes: a column for strong and one for weak scaling, and for both numbers of inputs."""
    rows = [(of_machine, kind) for of_machine in measured for kind in KINDS if of_kind(of_machine, kind)]
    figure = new_figure(12.0, 0.6 + 2.9 * len(rows), "")
    panels = figure.subplots(len(rows), 4, sharey="row", squeeze=False)
    for line, (of_machine, kind) in zip(panels, rows, strict=True):
        places = [(connections, table) for connections in published.INPUTS for table in of_machine["tables"]]
        for axes, (connections, table) in zip(line, places, strict=False):
            draw = _draw_simulated if kind == "simulated" else _draw_real
            draw(axes, of_machine, table, connections)
            axes.set_title(f"{_TITLES[table]}, {connections:,} inputs")
            axes.set_xlabel("processes")
        for axes in line[len(places) :]:
            axes.set_visible(False)
        _label_seconds(line[0])
        where = "Blue Gene/P" if kind == "simulated" else of_machine["machine"]["processor"]
        line[0].set_ylabel(f"{kind}: run time (s)\n{where}")
    looks = dict(zip(COLUMNS, zip(COLOURS, _MARKERS, strict=False), strict=True))
    handles = [Line2D([], [], color=colour, marker=marker, markersize=5) for colour, marker in looks.values()]
    names = list(looks)
    if any(kind == "simulated" for _, kind in rows):
        handles.append(Line2D([], [], color=GREY, linestyle=":", marker="o", markerfacecolor="white", markersize=5))
        names.append("measured in the paper")
    notes = "\n".join(dict.fromkeys(note for note in map(note_on_crowding, measured) if note))
    legend = figure.legend(
        handles, names, loc="outside lower left", ncols=len(names), frameon=False, title=notes or None,
        title_fontsize=8, alignment="left",
    )  # fmt: skip
    legend.get_title().set_color(GREY)
    return figure


def _plot(axes: Axes, column: str, points: Sequence[tuple[int, float]], **look: Any) -> None:
    place = list(COLUMNS).index(column)
    shared = {"color": COLOURS[place], "marker": _MARKERS[place], "markersize": 4.5, "linewidth": 1.3}
    if points:
        axes.plot(*zip(*points, strict=True), **{**shared, **look})


def _finish(axes: Axes, ranks: Sequence[int]) -> None:
    axes.set(xscale="log", yscale="log")
    axes.xaxis.set_major_locator(FixedLocator(list(ranks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticklabels([f"{count // K} K" if count >= K else str(count) for count in ranks])


def _label_seconds(axes: Axes) -> None:
    low, high = axes.get_ylim()
    steps = [m * 10.0**e for e in range(-6, 6) for m in (1.0, 2.0, 5.0)]
    ticks = [step for step in steps if low <= step <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticklabels([f"{tick:g}" for tick in ticks])


def _draw_simulated(axes: Axes, measured: Measured, table: str, connections: int) -> None:
    simulated = _by_network(measured, "simulated")
    rows = [row for row in TABLES[table] if row.connections == connections]
    for column in COLUMNS:
        of_paper = [(row.ranks, seconds[1]) for row in rows if (seconds := row.seconds[column]) is not None]
        if measured["options"]["time"] == 200.0:
            _plot(axes, column, of_paper, linestyle=":", markerfacecolor="white")
        networks = [(row.ranks, row.cells, row.connections) for row in rows]
        found = [(key[0], simulated[key][column]) for key in networks if column in simulated.get(key, {})]
        _plot(axes, column, [(count, _run_time(run)) for count, run in found])
    _finish(axes, [row.ranks for row in rows])


def _draw_real(axes: Axes, measured: Measured, table: str, connections: int) -> None:
    rows = [(key, runs) for key, runs in _real_rows(measured, table) if key[2] == connections]
    for column in COLUMNS:
        _plot(axes, column, [(key[0], _run_time(runs[column])) for key, runs in rows if column in runs])
    _finish(axes, [key[0] for key, _ in rows])


def _result(kind: Any, number: str, title: str, tables: Sequence[str], minutes: float, **drawn: Any) -> PaperResult:
    return PaperResult(
        kind,
        number,
        title,
        minutes,
        functools.partial(measure_tables, tables),
        _show,
        full={
            "simulated_processes": _ALL_ROWS,
            "cells_per_process": tuple(published.CELLS_PER_PROCESS[inputs] for inputs in published.INPUTS),
        },
        check=functools.partial(_check, tables),
        **drawn,
    )


TABLE_1 = _result("table", "1", "Strong scaling: computation and run time of four methods", ("1",), 2.0)
TABLE_2 = _result("table", "2", "Weak scaling: computation and run time of four methods", ("2",), 2.0)
FIGURE_4 = _result("figure", "4", "Run times of Tables 1 and 2 over processes", ("1", "2"), 3.0, draw=_draw)
