"""Detailed cells that act on each other through the medium, beside the same cells that do not.

The cells are those of `ranvier bench lfp`, in a cylinder. They are simulated uncoupled, and coupled at each interval
with each method, in turn, in one process. Seconds are medians, per simulated millisecond.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import ranvier as rv
from ranvier.base.numeric import number, whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError
from ranvier.processes import machine
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks.lfp import cells_in_space

__all__ = ["add_arguments", "main"]

_NETWORKS = ("ring", "column")
_LEAST_CELLS = 11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--network", default="ring", metavar="NAME", help="ring or column (default: %(default)s)")
    parser.add_argument("--cells", type=int, default=1000, metavar="N", help="number of cells (default: %(default)s)")
    parser.add_argument(
        "--accuracies",
        default="1e-3,1e-4",
        metavar="X,...",
        help="accuracies of the fast multipole method; 0: the matrix (default: %(default)s)",
    )
    parser.add_argument("--interval", type=float, default=0.1, metavar="MS", help="ms (default: %(default)s)")
    parser.add_argument("--time", type=float, default=2.0, metavar="MS", help="simulated ms (default: %(default)s)")
    parser.add_argument("--threads", type=int, metavar="N", help="threads (default: all processors)")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="runs of each (default: %(default)s)")
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all, and print the table."""
    if arguments.network not in _NETWORKS:
        raise UnknownNameError("--network", repr(arguments.network), f"there are {', '.join(_NETWORKS)}")
    cells = whole_number("--cells", arguments.cells, _LEAST_CELLS, 1_000_000)
    accuracies = _accuracies(arguments.accuracies)
    duration, interval = number("--time", arguments.time), number("--interval", arguments.interval)
    for name, value in (("--time", duration), ("--interval", interval)):
        if not 0.0 < value <= 1e6:
            raise ValueOutOfBoundsError(name, f"{value} ms", "it must be positive, and at most 1e6")
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 10_000)
    threads = machine.usable_processors() if arguments.threads is None else arguments.threads
    whole_number("--threads", threads, 1, 1024)
    if arguments.json is not None:
        check_writable(arguments.json)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    options = {
        "network": arguments.network,
        "cells": cells,
        "accuracies": accuracies,
        "interval": interval,
        "time": duration,
        "threads": threads,
        "repetitions": repetitions,
    }
    file = ResultsFile(arguments.json, {"benchmark": "coupling", "options": options, "machine": info.gather()})
    simulations: dict[float | None, rv.Simulation] = {}
    builds: dict[float | None, float] = {}
    # All are described, and their arguments checked, before anything is measured.
    networks: dict[float | None, rv.Network] = {}
    for accuracy in (None, *accuracies):
        networks[accuracy], population = cells_in_space(arguments.network, cells)
        if accuracy == 0.0:
            networks[accuracy].couple_extracellular(population, interval, method="matrix")
        elif accuracy is not None:
            networks[accuracy].couple_extracellular(population, interval, method="fmm", accuracy=accuracy)
    with console.status("") as status:
        for accuracy, net in networks.items():
            status.update("building")
            begin = time.perf_counter()
            simulations[accuracy] = rv.Simulation(net, threads=threads, progress=False)
            builds[accuracy] = time.perf_counter() - begin
            # The first evaluation makes buffers.
            simulations[accuracy].run(interval)
        seconds: dict[float | None, list[float]] = {accuracy: [] for accuracy in simulations}
        for _ in range(repetitions):
            for accuracy, sim in simulations.items():
                status.update("running")
                begin = time.perf_counter()
                sim.run(duration)
                seconds[accuracy].append((time.perf_counter() - begin) / duration)
    plain = statistics.median(seconds[None])
    rows = [
        {
            "accuracy": accuracy,
            "method": "none" if accuracy is None else "fmm" if accuracy > 0.0 else "matrix",
            "cells": cells,
            "compartments": population.compartment_count,
            "build_s": builds[accuracy],
            "seconds_per_ms": seconds[accuracy],
            "ratio": statistics.median(seconds[accuracy]) / plain,
            "field_bytes": sim.memory().get("fields", 0),
        }
        for accuracy, sim in simulations.items()
    ]
    console.print(f"\n[bold]{arguments.network}[/]: {cells:,} cells, {population.compartment_count:,} compartments\n")
    console.print(Padding(_table(rows), (0, 0, 0, 2)))
    file.finish({"coupling": rows}, console)
    return 0


def _accuracies(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueOutOfBoundsError(
            "--accuracies", f"'{text}'", "they must be numbers with commas between", "write --accuracies 0,1e-3"
        ) from None


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("method", "accuracy", "build, s", "s per ms", "coupled / uncoupled", "memory, MB"):
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["method"],
            f"{row['accuracy']:g}" if row["accuracy"] else "",
            f"{row['build_s']:.3g}",
            f"{statistics.median(row['seconds_per_ms']):.3g}",
            f"{row['ratio']:.3g}" if row["accuracy"] is not None else "",
            f"{row['field_bytes'] / 1e6:,.0f}" if row["accuracy"] is not None else "",
        )
    return table
