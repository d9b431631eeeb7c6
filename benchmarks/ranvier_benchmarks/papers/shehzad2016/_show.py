"""Tables 1 to 3 on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier_benchmarks.papers._paper import Measured
from ranvier_benchmarks.papers.shehzad2016._rows import (
    PLAIN,
    change,
    communication,
    is_simulated,
    methods_of,
    simulated_rows,
)
from ranvier_benchmarks.papers.shehzad2016.published import SAVED_PERCENT

__all__ = ["show_comparison", "show_limits"]


def show_limits(measured: Measured, console: Console) -> None:
    """Print run times and communication with MPI_Allgather."""
    _head(measured, console)
    for rows in (measured["rows"], simulated_rows(measured)):
        if not rows:
            continue
        table = _table("processes", "run\n(s)", "communication\n(s)", "of the run\n(%)", "spikes", "exchanges")
        for row in rows:
            method = methods_of(row, barrier=False)[PLAIN]
            run, seconds = method["total_s"]["rank_0"], communication(method)
            table.add_row(
                str(row["ranks"]),
                _seconds(run),
                _seconds(seconds),
                f"{100.0 * seconds / run:.1f}",
                f"{row['spikes']:,}",
                f"{method['interval_count']:,}",
            )
        _print(table, measured, rows, console)
    console.print(
        "\n  Paper: with more processes, runs become shorter, and communication longer; its text does not repeat the "
        "numbers of the table.",
        soft_wrap=True,
    )


def show_comparison(measured: Measured, console: Console) -> None:
    """Print communication with each method, and how it differs from that with MPI_Allgather."""
    _head(measured, console)
    for rows in (measured["rows"], simulated_rows(measured)):
        if not rows:
            continue
        parts = not is_simulated(rows[0])
        table = _table(
            "processes", "cells", "time\n(ms)", "method", "run\n(s)", "communication\n(s)", "change\n(%)",
            *(("after a barrier:\nwaiting (s)", "exchange\n(s)", "change\n(%)") if parts else ()),
        )  # fmt: skip
        for row in rows:
            _add_methods(table, row, parts=parts)
        _print(table, measured, rows, console)
    console.print(
        f"\n  Paper: RMA_Allgather (here rma_allgather) takes almost {SAVED_PERCENT:g} % less than MPI_Allgather.",
        soft_wrap=True,
    )
    crowded = [row for row in measured["rows"] if row["crowded"]]
    roomy = [row for row in measured["rows"] if not row["crowded"]]
    for what, rows in (
        ("With a processor for each process", roomy),
        ("With more processes than processors", crowded),
        ("Simulated", simulated_rows(measured)),
    ):
        for name in methods_of(rows[0], barrier=False) if rows else ():
            if name == PLAIN:
                continue
            values = [change(row, name, barrier=False) for row in rows]
            span = f"{min(values):+.1f}"
            if len(values) > 1:
                span = f"from {span} to {max(values):+.1f}"
            console.print(f"  {what}: {name} {span} %.", soft_wrap=True, markup=False)


def _add_methods(table: Table, row: dict[str, Any], *, parts: bool) -> None:
    apart = methods_of(row, barrier=True)
    for name, method in methods_of(row, barrier=False).items():
        first = name == PLAIN
        cells = [
            *((str(row["ranks"]), f"{row['cells']:,}", f"{row['time']:g}") if first else ("", "", "")),
            name,
            _seconds(method["total_s"]["rank_0"]),
            _seconds(communication(method)),
            "" if first else f"{change(row, name, barrier=False):+.1f}",
        ]
        if parts and name in apart:
            cells += [
                _seconds(apart[name]["waiting_s"]["median"]),
                _seconds(communication(apart[name])),
                "" if first else f"{change(row, name, barrier=True):+.1f}",
            ]
        table.add_row(*cells)


def _seconds(value: float) -> str:
    """Return a number with four digits after the point, as the simulated communication of short runs needs."""
    return f"{value:.4f}"


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
        table.add_column(column, justify="left" if column == "method" else "right", vertical="bottom", no_wrap=True)
    return table


def _print(table: Table, measured: Measured, rows: Sequence[dict[str, Any]], console: Console) -> None:
    if is_simulated(rows[0]):
        console.print(
            f"\n  Simulated: {measured['simulated']['machine']}, whose costs are partly assumed; computation as on one "
            "process here",
            style="dim",
            soft_wrap=True,
        )
    console.print(Padding(table, (1, 0, 0, 2)))
