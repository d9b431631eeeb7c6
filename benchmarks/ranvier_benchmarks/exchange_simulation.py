"""The exchange of spikes on 8 K to 128 K processes, simulated, beside the measurements of Hines and others (2011).

The rows are those of Tables 1 (strong scaling) and 2 (weak scaling) of the paper: cells that fire at random intervals
of 20 to 40 ms, with 1,000 or 10,000 random inputs each. The spikes of all cells, the processes that need them, and the
messages that each process gets are drawn; the costs of processors and the network are parameters of a machine, which
--parameters lists, each with its source. Some costs of the Blue Gene/P follow from cells of these tables and of Table
3, so that those cells agree by construction.

Comp is the time for which process 0 computes, Run the time of the whole run. Iterations are reductions after the first,
in the last quarter of the intervals: how often spikes were still on their way. The columns of the paper are only shown
for its machine.

--against-real compares the simulation with real runs on this computer instead. The costs of its processors are fitted
to runs of four networks (least squares of relative errors, no cost below 0), and runs of three others are predicted, on
other numbers of processes, and with a method whose runs were not fitted. The output has medians and quartiles of the
measured times, the predictions, and how many of them are within 25 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.names import unknown_name
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier_benchmarks._exchange_simulation.engine import METHODS
from ranvier_benchmarks._exchange_simulation.machines import MACHINES, Machine
from ranvier_benchmarks._exchange_simulation.network import check_network, simulate_network, summary
from ranvier_benchmarks._exchange_simulation.published import COLUMNS, TABLES, Row, agreement
from ranvier_benchmarks._exchange_simulation.real_runs import compare_with_real_runs, show_comparison
from ranvier_benchmarks._mpiexec import find_mpiexec
from ranvier_benchmarks._options import check_positive, parse_ranks
from ranvier_benchmarks._results import ResultsFile

__all__ = ["add_arguments", "main"]

_DEFAULT = "8192,16384"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ranks",
        default=_DEFAULT,
        metavar="N,...",
        help="simulate the rows of the tables with these numbers of processes (default: %(default)s; the tables have "
        "8192, 16384, 32768, 65536 and 131072)",
    )
    parser.add_argument("--tables", default="1,2", metavar="N,...", help="tables of the paper (default: %(default)s)")
    parser.add_argument(
        "--methods",
        default=",".join(COLUMNS.values()),
        metavar="NAME,...",
        help=f"methods, of {', '.join(METHODS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--machine", default="blue_gene_p", metavar="NAME", help=f"of {', '.join(MACHINES)} (default: %(default)s)"
    )
    parser.add_argument("--time", type=float, default=200.0, metavar="MS", help="(default: %(default)s)")
    parser.add_argument(
        "--slots",
        type=int,
        default=10,
        metavar="N",
        help="how often a process polls in each millisecond, a divisor of 40; the paper's polls 40 times (default: "
        "%(default)s)",
    )
    parser.add_argument("--parameters", action="store_true", help="list the parameters of the machine, and stop")
    parser.add_argument(
        "--against-real",
        action="store_true",
        help="compare with real runs of networks on this computer; uses --time and the following arguments only",
    )
    parser.add_argument(
        "--fitted-ranks",
        default="2,4,16",
        metavar="N,...",
        help="numbers of real processes to whose runs costs are fitted (default: %(default)s)",
    )
    parser.add_argument(
        "--predicted-ranks",
        default="2,8",
        metavar="N,...",
        help="numbers of real processes whose runs are predicted (default: %(default)s)",
    )
    parser.add_argument(
        "--repetitions", type=int, default=5, metavar="N", help="real runs of each (default: %(default)s)"
    )
    parser.add_argument("--mpiexec", type=Path, metavar="FILE", help="program that starts real processes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file of all results")


def main(arguments: argparse.Namespace) -> int:
    """Simulate all rows with all methods, and print the results."""
    if arguments.against_real:
        return _compare(arguments)
    if arguments.machine not in MACHINES:
        unknown_name("machine", arguments.machine, list(MACHINES))
    machine = MACHINES[arguments.machine]
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    if arguments.parameters:
        _show_parameters(console, machine)
        return 0
    methods = _parse(arguments.methods, METHODS, "method")
    tables = _parse(arguments.tables, TABLES, "table")
    rows = _rows(tables, arguments.ranks)
    for row in rows:
        check_network(
            cells=row.cells,
            connections=row.connections,
            ranks=row.ranks,
            time=arguments.time,
            slots=arguments.slots,
        )
    check_destinations(arguments.json, None)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "exchange_simulation",
            "options": {
                "machine": arguments.machine,
                "methods": methods,
                "tables": tables,
                "ranks": sorted({row.ranks for row in rows}),
                "time": arguments.time,
                "slots": arguments.slots,
            },
            "parameters": {name: getattr(machine, name) for name in Machine.parameters()},
            "machine": info.gather(),
        },
    )
    results: list[dict[str, Any]] = []
    for row in rows:
        of_row: dict[str, Any] = {"ranks": row.ranks, "cells": row.cells, "connections": row.connections, "methods": {}}
        results.append(of_row)
        for name in methods:
            with console.status(f"{row.ranks:,} processes, {row.cells:,} cells: {name}"):
                begin = perf_counter()
                result = simulate_network(
                    machine,
                    METHODS[name],
                    cells=row.cells,
                    connections=row.connections,
                    ranks=row.ranks,
                    time=arguments.time,
                    slots=arguments.slots,
                )
                of_row["methods"][name] = {**summary(result), "took_s": perf_counter() - begin}
            file.update({"results": results})
    for table in tables:
        _show(console, table, results, methods, arguments)
    compared = agreement(results) if _is_of_paper(arguments) else {}
    for quantity, ratios in compared.items():
        console.print(
            f"\n  Simulated by published {quantity} time, {ratios['count']} of them: {ratios['least']:.2f} to "
            f"{ratios['greatest']:.2f}, median {ratios['median']:.2f}",
            soft_wrap=True,
        )
    file.finish({"results": results, "agreement": compared}, console)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    """Compare the simulation with real runs on this computer."""
    fitted = parse_ranks(arguments.fitted_ranks, 2, ", as one process exchanges nothing")
    predicted = parse_ranks(arguments.predicted_ranks, 2, ", as one process exchanges nothing")
    check_positive(arguments, ("repetitions",))
    for count in (*fitted, *predicted):
        check_network(cells=512, connections=50, ranks=count, time=arguments.time, slots=1)
    check_destinations(arguments.json, None)
    mpiexec = find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "exchange_simulation",
            "options": {
                "against_real": True,
                "fitted_ranks": fitted,
                "predicted_ranks": predicted,
                "time": arguments.time,
                "repetitions": arguments.repetitions,
            },
            "machine": info.gather(),
            "mpiexec": str(mpiexec.path),
        },
    )
    with console.status("real runs") as status:
        results = compare_with_real_runs(
            mpiexec,
            fitted_ranks=fitted,
            predicted_ranks=predicted,
            time=round(arguments.time),
            repetitions=arguments.repetitions,
            on_progress=status.update,
            on_results=file.update,
        )
    show_comparison(console, results)
    file.finish(results, console)
    return 0


def _parse(text: str, known: Mapping[str, Any], kind: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            unknown_name(kind, name, list(known))
    return list(dict.fromkeys(names))


def _is_of_paper(arguments: argparse.Namespace) -> bool:
    """Return whether the machine and the simulated time are those of the paper."""
    return str(arguments.machine) == "blue_gene_p" and float(arguments.time) == 200.0


def _rows(tables: Sequence[str], ranks: str) -> list[Row]:
    """Return the rows with these numbers of processes, each once."""
    rows = [row for table in tables for row in TABLES[table]]
    wanted = _parse(ranks, {str(row.ranks): row for row in rows}, "number of processes in these tables")
    found = {(row.ranks, row.cells, row.connections): row for row in rows if str(row.ranks) in wanted}
    return list(found.values())


def _show(
    console: Console,
    table: str,
    results: Sequence[Mapping[str, Any]],
    methods: Sequence[str],
    arguments: argparse.Namespace,
) -> None:
    simulated = {(one["ranks"], one["cells"], one["connections"]): one["methods"] for one in results}
    machine = MACHINES[arguments.machine]
    columns = {method: column for column, method in COLUMNS.items()}
    beside = _is_of_paper(arguments)
    lines = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    for heading in ("processes", "cells", "inputs"):
        lines.add_column(heading, justify="right", no_wrap=True)
    for heading in ("method", "Comp", "Run", *(("paper:\nComp", "\nRun") if beside else ()), "iterations"):
        lines.add_column(heading, justify="left" if heading == "method" else "right", no_wrap=True)
    for row in TABLES[table]:
        found = simulated.get((row.ranks, row.cells, row.connections))
        if found is None:
            continue
        head = [f"{row.ranks:,}", f"{row.cells:,}", f"{row.connections:,}"]
        for method in methods:
            one = found[method]
            published = row.seconds[columns[method]] if method in columns else None
            of_paper = ["-", "-"] if published is None else [f"{seconds:.3g}" for seconds in published]
            least, most = one["iterations"]
            lines.add_row(
                *head,
                method,
                f"{one['computation_s']:.3g}",
                f"{one['run_s']:.3g}",
                *(of_paper if beside else ()),
                f"{least}-{most}",
            )
            head = ["", "", ""]
    what = "strong" if table == "1" else "weak"
    console.print(
        f"\n[bold]Table {table}, {what} scaling[/]: seconds of {arguments.time:g} ms, simulated", soft_wrap=True
    )
    console.print(f"{machine.name}; --parameters lists its parameters and their sources", style="dim", soft_wrap=True)
    console.print()
    console.print(Padding(lines, (0, 0, 0, 2)))


def _show_parameters(console: Console, machine: Machine) -> None:
    lines = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("parameter", "value", "source"):
        lines.add_column(heading)
    for name in Machine.parameters():
        lines.add_row(name, f"{getattr(machine, name):g}", (machine.sources or {}).get(name, ""))
    console.print(f"\n[bold]{machine.name}[/], {machine.topology}; seconds, bytes, and numbers", soft_wrap=True)
    console.print(Padding(lines, (0, 0, 0, 2)))
