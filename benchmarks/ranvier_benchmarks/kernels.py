"""The simulation kernels of Jordan et al. (2018) on few real and on many simulated processes, with one figure.

4g            the kernel before the two-tier infrastructure: all spikes are sent to all processes, each of which has an
              index over all neurons of the network
5g, sorted    the two-tier infrastructure: a spike is sent once to a process that has targets of it
5g, unsorted  the same, but a spike is sent once for each synapse, and sorting is saved

Both 5g kernels exchange spikes by the default method: alltoall up to 4,096 processes, as in the paper, and grid beyond.

The network is hpc_benchmark, which learns, with the same load on each process (weak scaling). First `ranvier bench
scaling` measures it on the processes of --ranks, then `ranvier bench many_ranks` makes dry runs for --dry-ranks, in
which one process does the work of rank 0. The figure has the times of build, init and simulation and the memory of a
process over their number, as Figures 7 and 11 of the paper, and what the time of the simulation is spent on, as
Figure 12. Times of dry runs do not include the network between machines; in those of real processes, processes that
share a processor take turns.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from ranvier.base.paths import check_destinations, save_figure
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import StateError
from ranvier_benchmarks import many_ranks, scaling
from ranvier_benchmarks._mpiexec import find_mpiexec
from ranvier_benchmarks._options import DEFAULT_METHOD, FOURTH_GENERATION, check_positive, parse_ranks, with_defaults
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._scaling_tables import show as show_real
from ranvier_benchmarks._settings import add_bench_settings

__all__ = ["add_arguments", "main"]

_TIMES = {"time": 100.0, "presim": 10.0}  # ms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ranks", default="1,2,4", metavar="N,...", help="numbers of real processes (default: %(default)s)"
    )
    parser.add_argument(
        "--dry-ranks",
        default="32,128,512,2048,8192,32768,100000",
        metavar="N,...",
        help="numbers of processes in dry runs (default: %(default)s)",
    )
    parser.add_argument(
        "--neurons-per-rank",
        type=int,
        default=1125,
        metavar="N",
        help="neurons of a process; 18000 in the paper (default: %(default)s)",
    )
    parser.add_argument(
        "--indegree",
        type=int,
        default=1125,
        metavar="N",
        help="synapses of a neuron; 11250 in the paper (default: %(default)s)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=10.0,
        metavar="HZ",
        help="rate of all neurons in dry runs, spikes/s (default: %(default)s)",
    )
    add_bench_settings(parser, "time=100 presim=10 threads=1")
    parser.add_argument("--mpiexec", type=Path, metavar="PATH", help="as for ranvier bench scaling")
    add_result_files(parser, "the results")


def main(arguments: argparse.Namespace) -> int:
    """Run all kernels on all numbers of processes, and print the results."""
    check_positive(arguments, ("neurons_per_rank", "indegree", "rate"))
    for setting in arguments.settings:
        if setting.partition("=")[0] == "sort_connections":
            raise StateError("key sort_connections", f"'{setting}'", "sorted and unsorted are compared", "leave it out")
    given = {setting.partition("=")[0] for setting in arguments.settings}
    times = [f"{name}={value:g}" for name, value in _TIMES.items() if name not in given]
    shared = {
        "mode": "weak",
        "neurons_per_rank": arguments.neurons_per_rank,
        "indegree": arguments.indegree,
        "methods": f"{FOURTH_GENERATION},{DEFAULT_METHOD}",
        "settings": [*times, *arguments.settings],
    }
    parse_ranks(arguments.ranks, 1, "")
    many_ranks.parse_ranks(arguments.dry_ranks, "--dry-ranks")
    real = scaling.prepare(with_defaults(scaling, ranks=arguments.ranks, **shared))
    dry = many_ranks.prepare(with_defaults(many_ranks, ranks=arguments.dry_ranks, rate=arguments.rate, **shared))
    check_destinations(arguments.json, arguments.plot)
    mpiexec = find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    flags = {name: value for name, value in vars(arguments).items() if isinstance(value, int | float | str)}
    file = ResultsFile(
        arguments.json,
        {"benchmark": "kernels", "options": {**flags, "set": arguments.settings}, "machine": info.gather()},
    )
    with console.status("") as status:
        measured = scaling.measure(real, mpiexec, step=status.update)
        results = {"measured": measured["results"], "dry": [], "time": real.chosen.time}
        file.update(results)
        results["dry"] = many_ranks.measure(dry, step=status.update)["results"]
    show_real(console, results["measured"], real.arguments, real.chosen, measured["transport"])
    many_ranks.show(console, dry.arguments, dry.chosen, results["dry"])
    file.finish(results, console)
    if arguments.plot is not None:
        from ranvier_benchmarks._kernels_figure import kernels_figure

        title = f"hpc_benchmark, {arguments.neurons_per_rank:,} neurons a process, in-degree {arguments.indegree:,}"
        figure = kernels_figure(results["measured"], results["dry"], simulated=results["time"], title=title)
        save_figure(figure, arguments.plot)
        console.print(f"Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return 0
