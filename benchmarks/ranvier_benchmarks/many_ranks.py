"""Time and memory of one process as a function of the number of processes, also for very large numbers.

The benchmark makes dry runs of the network of Jordan et al. (2018): one process builds and runs the part of rank 0, and
gets the spikes that the others would send at an assumed rate. Each rank has the same number of neurons with the same
in-degree, so the size of the network is proportional to the number of ranks. Predictions are printed for comparison.

Sorted: synapses are sorted by source, so that a spike is sent once to a process. Unsorted: once for each synapse. With
--set sort_connections=auto: the choice of a simulation on so many processes.
Memory is the memory counted by the simulation itself, after the build and at the end, and the peak resident memory
without that of the interpreter. Times do not include the network between machines. Compare with Figures 7 and 10 of the
paper.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.paths import check_destinations, save_figure
from ranvier.base.python_process import python_command
from ranvier.base.sizes import parse_bytes
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.forecast import calibration
from ranvier.forecast.prediction import expect_load, expect_times
from ranvier.networks import hpc_benchmark
from ranvier.simulation.options import MOST_RANKS, grouped
from ranvier.simulation.predictions import lasting_bytes, predict_memory
from ranvier_benchmarks._networks import NETWORKS, describe
from ranvier_benchmarks._options import (
    SORTING_NAMES,
    Sorting,
    check_positive,
    method_options,
    method_variants,
    parse_methods,
    sortings_of,
)
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "main", "parse_ranks"]

Summary: TypeAlias = dict[str, Any]
Case: TypeAlias = tuple[str, Sorting, int]
"""A method of exchange, whether synapses are sorted, and the number of processes."""

_NETWORK = "hpc_benchmark"
_TIME, _PRESIM = 100.0, 10.0
_PHASES = ("build", "init", "simulation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--ranks",
        default="32,128,512,2048,8192,32768,100000",
        metavar="N,...",
        help="numbers of processes (default: %(default)s)",
    )
    parser.add_argument(
        "--methods",
        default="alltoall,allgather",
        metavar="NAME,...",
        help="methods of exchange; 4g: the kernel before the two-tier one (default: %(default)s)",
    )
    parser.add_argument(
        "--neurons-per-rank",
        type=int,
        default=1800,
        metavar="N",
        help="neurons of a rank; 18000 in the paper (default: %(default)s)",
    )
    parser.add_argument(
        "--indegree",
        type=int,
        default=1125,
        metavar="N",
        help="synapses of a neuron; 11250 in the paper (default: %(default)s)",
    )
    parser.add_argument(
        "--rate", type=float, default=10.0, metavar="HZ", help="rate of all neurons, spikes/s (default: %(default)s)"
    )
    add_bench_settings(parser, f"time={_TIME:g} presim={_PRESIM:g} threads=1 sort_connections=true, then false")
    parser.add_argument(
        "--repetitions", type=int, default=1, metavar="N", help="number of runs of each, in turn (default: %(default)s)"
    )
    parser.add_argument(
        "--memory-per-rank", metavar="SIZE", help="memory limit to draw as a line: 16GB, 500MiB, or bytes"
    )
    add_result_files(parser, "the results")


def main(arguments: argparse.Namespace, *, is_part: bool = False) -> int:
    """Run all variants on all numbers of processes in turn, and print the results.

    As a part of another benchmark, it does not print the path of its file.
    """
    ranks = parse_ranks(arguments.ranks)
    check_positive(arguments, ("neurons_per_rank", "indegree", "rate", "repetitions"))
    limit = None if arguments.memory_per_rank is None else parse_bytes("--memory-per-rank", arguments.memory_per_rank)
    chosen = choose(
        arguments.settings,
        hpc_benchmark,
        time=_TIME,
        presim=_PRESIM,
        options={"threads": 1},
        refused={
            **NETWORKS[_NETWORK].refused_keys("--neurons-per-rank"),
            "exchange": "give --methods",
            "recordings": "leave it out: what is recorded stays where it is",
        },
    )
    check_destinations(arguments.json, arguments.plot)
    methods = parse_methods(arguments.methods, kernels=True, dry=True)
    variants = method_variants(methods, sortings_of(chosen))
    cases = [(method, sorting, count) for method, sorting in variants for count in ranks]
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "many_ranks",
            "options": recorded_options(arguments, chosen),
            "machine": info.gather(),
        },
    )
    runs: dict[Case, list[Summary]] = {}
    results: dict[Case, Summary] = {}
    with tempfile.TemporaryDirectory() as folder:
        for repetition in range(arguments.repetitions):
            for case in cases:
                name = f"{case[0]}, {SORTING_NAMES[case[1]]}, {case[2]:,} ranks"
                with console.status(f"{name} ({repetition + 1} of {arguments.repetitions})"):
                    runs.setdefault(case, []).append(_play(arguments, chosen, *case, Path(folder)))
                    results[case] = _summarize(arguments, chosen, case, runs[case])
                    file.update({"results": list(results.values())})
    _show(console, arguments, chosen, list(results.values()))
    file.finish({"results": list(results.values())}, None if is_part else console)
    if arguments.plot is not None:
        from ranvier.forecast.figure import many_ranks_figure

        load = f"{arguments.neurons_per_rank:,} neurons a rank, in-degree {arguments.indegree:,}"
        title = f"{load}, {arguments.rate:g} spikes/s"
        save_figure(many_ranks_figure(list(results.values()), limit=limit, title=title), arguments.plot)
        console.print(f"Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return 0


def parse_ranks(text: str, name: str = "--ranks") -> list[int]:
    """Return a list of numbers >= 1, written with commas between them, in ascending order."""
    ranks = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not 1 <= int(part) <= MOST_RANKS:
            raise ValueOutOfBoundsError(
                name, f"'{text}'", f"it must be numbers from 1 to {MOST_RANKS} with commas between"
            )
        ranks.append(int(part))
    return sorted(set(ranks))


def _play(
    arguments: argparse.Namespace, chosen: Chosen, method: str, sorting: Sorting, ranks: int, folder: Path
) -> Summary:
    """Make a dry run in a separate process, so that the resident memory is that of this run only."""
    size = NETWORKS[_NETWORK].size(arguments.neurons_per_rank * ranks, arguments.indegree)
    settings = {**size, **chosen.as_json(), **method_options(method, sorting)}
    path = folder / "played.json"
    command = python_command("-m", "ranvier.command_line", "run", _NETWORK, "--json", str(path))
    command += ["--dry-run", str(ranks), "--rate", str(arguments.rate)]
    command += ["--set", *(f"{name}={value}" for name, value in settings.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StateError(
            f"dry run of {ranks} ranks",
            f"status {done.returncode}",
            done.stderr.strip().removeprefix("ranvier: error: "),
        )
    played: Summary = json.loads(path.read_text())
    return played


def _summarize(arguments: argparse.Namespace, chosen: Chosen, case: Case, runs: list[Summary]) -> Summary:
    method, sorting, ranks = case
    options = {**chosen.without("costs", "memory_limit"), **method_options(method, sorting)}
    first = runs[0]
    is_sorted = first["sorts_connections"]
    net = describe(_NETWORK, arguments.neurons_per_rank * ranks, arguments.indegree, chosen.network).net
    costs = calibration.measure(
        net,
        options,
        ranks=ranks,
        threads=chosen.threads,
        rates={},
        rate=arguments.rate,
        sorted_by_source=is_sorted,
    )
    load = expect_load(
        net,
        ranks=ranks,
        threads=chosen.threads,
        rates={},
        rate=arguments.rate,
        sorted_by_source=is_sorted,
        directed=costs.directed,
        exchanges_per_delay=costs.exchanges_per_delay,
    )
    times = expect_times(load, costs)
    of_time = chosen.presim + chosen.time
    predicted = predict_memory(net, ranks=ranks, rate=arguments.rate, time=of_time, **grouped(options))
    parts = [name for name in first["phases"] if name not in _PHASES]
    a_second = 1000.0 / first["simulated"]

    def median(name: str) -> float:
        return float(statistics.median(run["phases"][name] for run in runs))

    return {
        "method": method,
        "sorted": is_sorted,
        "ranks": ranks,
        "neurons": first["neurons"],
        "synapses": first["synapses"],
        "events": first["events"],
        "traffic": first["traffic"],
        "build_s": median("build"),
        "init_s": median("init"),
        "simulation_s_per_s": median("simulation") * a_second,
        "parts_s_per_s": {name: median(name) * a_second for name in parts},
        "all_simulations_s_per_s": [run["phases"]["simulation"] * a_second for run in runs],
        # Without the memory of the dry run itself, and without recordings.
        "memory_bytes": {
            name: size for name, size in first["memory"].items() if name not in ("invention", "recordings")
        },
        "resident_bytes": statistics.median(run["resident"] - run["resident_before"] for run in runs),
        "predicted_bytes": {name: size for name, size in predicted.items() if name != "recordings"},
        "predicted_build_and_init_s": times.build,
        "predicted_simulation_s_per_s": times.simulation,
    }


def _show(console: Console, arguments: argparse.Namespace, chosen: Chosen, results: list[Summary]) -> None:
    first = results[0]
    console.print(
        f"{first['neurons']:,} neurons and {first['synapses']:,} synapses a rank, {arguments.rate:g} spikes/s, "
        f"{chosen.threads} thread{'s' if chosen.threads > 1 else ''}, Ranvier {_core.version}",
        soft_wrap=True,
    )
    for method, is_sorted in dict.fromkeys((result["method"], result["sorted"]) for result in results):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        heads = ("ranks", "build", "init", "a second", "predicted", "memory", "predicted", "resident", "received")
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for result in results:
            if (result["method"], result["sorted"]) != (method, is_sorted):
                continue
            predicted = lasting_bytes(result["predicted_bytes"])
            table.add_row(
                f"{result['ranks']:,}",
                f"{result['build_s']:.2f} s",
                f"{result['init_s']:.2f} s",
                f"{result['simulation_s_per_s']:.2f} s",
                f"{result['predicted_simulation_s_per_s']:.2f} s",
                f"{sum(result['memory_bytes'].values()) / 1e6:,.1f} MB",
                f"{predicted / 1e6:,.1f} MB",
                f"{result['resident_bytes'] / 1e6:,.1f} MB",
                f"{result['traffic']['spikes_received']:,}",
            )
        console.print()
        console.print(f"[bold]{method}, {SORTING_NAMES[is_sorted]}[/]")
        console.print(Padding(table, (0, 0, 0, 2)))
