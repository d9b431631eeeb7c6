"""Time and memory of one process as a function of the number of processes, also for very large numbers.

The benchmark makes dry runs of the network of Jordan et al. (2018): one process builds and runs the part of rank 0, and
gets the spikes that the others would send at an assumed rate. Predictions are printed for comparison.

weak    the same number of neurons on each rank, so that the network grows with their number (Figure 7 of the paper)
strong  a network of fixed size (Figure 9)
fill    the largest network that is predicted to fit --memory-per-rank, also during the build (Figure 10)

Sorted: synapses are sorted by source, so that a spike is sent once to a process. Unsorted: once for each synapse. With
--set sort_connections=auto: the choice of a simulation on so many processes.
Memory is the memory counted by the simulation itself, after the build and at the end, and the peak resident memory
without that of the interpreter. Times do not include the network between machines.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.memory_checks import check_room
from ranvier.base.paths import check_destinations, save_figure
from ranvier.base.python_process import python_command
from ranvier.base.sizes import parse_bytes
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import InsufficientMemoryError, StateError, ValueOutOfBoundsError
from ranvier.forecast import calibration
from ranvier.forecast.prediction import Times, expect_load, expect_times
from ranvier.networks import hpc_benchmark
from ranvier.simulation.options import MOST_RANKS, grouped
from ranvier.simulation.predictions import lasting_bytes, predict_memory
from ranvier_benchmarks._kernel_memory import cumulative_bytes, lasting_account
from ranvier_benchmarks._mpiexec import BYTES_OF_A_PROCESS
from ranvier_benchmarks._networks import NETWORKS, describe
from ranvier_benchmarks._options import (
    SORTING_NAMES,
    Sorting,
    check_host_ranks,
    check_positive,
    method_options,
    method_variants,
    parse_methods,
    sortings_of,
)
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._scaling_plans import largest_fitting, least_neurons
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = [
    "Prepared",
    "add_arguments",
    "main",
    "measure",
    "network_size",
    "parse_ranks",
    "predicted_bytes",
    "prepare",
    "show",
]

Summary: TypeAlias = dict[str, Any]
Case: TypeAlias = tuple[str, Sorting, int]
"""A method of exchange, whether synapses are sorted, and the number of processes."""

_NETWORK = "hpc_benchmark"
_TIME, _PRESIM = 100.0, 10.0
_MEMORY_TO_FILL = "100MB"
_PHASES = ("build", "init", "simulation")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--mode", choices=("weak", "strong", "fill"), default="weak", help="(default: %(default)s)")
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
        help="methods of exchange; default: the one that a simulation chooses; 4g: the kernel before the two-tier one "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--neurons-per-rank",
        type=int,
        default=1800,
        metavar="N",
        help="neurons of a rank, with weak; 18000 in the paper (default: %(default)s)",
    )
    parser.add_argument(
        "--neurons",
        type=int,
        default=115_200,
        metavar="N",
        help="neurons of the network, with strong; 1152000 in the paper (default: %(default)s)",
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
        "--memory-per-rank",
        metavar="SIZE",
        help="memory limit of a rank: 16GB, 500MiB, or bytes; with fill, networks are as large as it allows (default: "
        "100MB); it is drawn as a line",
    )
    add_result_files(parser, "the results")


@dataclass(frozen=True)
class Prepared:
    """The dry runs of a benchmark, before any of them has started.

    Attributes
    ----------
    arguments, chosen
        Arguments of the command, and what ``--set`` chose.
    limit
        Memory limit of a rank in bytes, if one was given.
    cases
        Methods of exchange, sorting, and numbers of ranks.
    sizes
        Numbers of neurons of the networks by number of ranks, where the mode does not determine them.
    """

    arguments: argparse.Namespace
    chosen: Chosen
    limit: int | None
    cases: list[Case]
    sizes: Mapping[int, int] | None = None


def prepare(arguments: argparse.Namespace, *, sizes: Mapping[int, int] | None = None) -> Prepared:
    """Check the arguments, and return what is to be played.

    Parameters
    ----------
    arguments
        Arguments of the command.
    sizes
        Numbers of neurons of the networks by number of ranks; None: the mode determines them.

    Raises
    ------
    ValueOutOfBoundsError, UnknownNameError
        For values out of bounds, and names that do not exist.
    InsufficientMemoryError
        When the machine has too little memory for one rank.
    """
    ranks = parse_ranks(arguments.ranks)
    check_positive(arguments, ("neurons_per_rank", "neurons", "indegree", "rate", "repetitions"))
    if arguments.memory_per_rank is None and arguments.mode == "fill":
        arguments.memory_per_rank = _MEMORY_TO_FILL
    limit = None if arguments.memory_per_rank is None else parse_bytes("--memory-per-rank", arguments.memory_per_rank)
    chosen = choose(
        arguments.settings,
        hpc_benchmark,
        time=_TIME,
        presim=_PRESIM,
        options={"threads": 1},
        refused={
            **NETWORKS[_NETWORK].refused_keys("--neurons-per-rank or --neurons"),
            "exchange": "give --methods",
            "recordings": "leave it out: what is recorded stays where it is",
        },
    )
    methods = parse_methods(arguments.methods, kernels=True, dry=True)
    check_host_ranks(methods, chosen.options)
    variants = method_variants(methods, sortings_of(chosen))
    cases = [(method, sorting, count) for method, sorting in variants for count in ranks]
    prepared = Prepared(arguments, chosen, limit, cases, sizes)
    if arguments.mode == "strong" and arguments.neurons < max(ranks):
        raise ValueOutOfBoundsError(
            "--neurons", str(arguments.neurons), f"it must be at least {max(ranks)}, one for each rank"
        )
    # Memory grows or shrinks with the number of ranks.
    for method, sorting in variants:
        for count in {min(ranks), max(ranks)}:
            _check_memory(prepared, (method, sorting, count))
    return prepared


def measure(
    prepared: Prepared,
    *,
    step: Callable[[str], None],
    keep: Callable[[Mapping[str, Any]], None] = lambda measured: None,
    predicts_times: bool = True,
) -> dict[str, Any]:
    """Play all cases in turn, and return the results.

    Parameters
    ----------
    step, keep
        They are told what is played, and get the results so far.
    predicts_times
        Whether times are predicted too, for which the costs of a synapse and a neuron are measured.
    """
    runs: dict[Case, list[Summary]] = {}
    results: dict[Case, Summary] = {}
    sizes: dict[Case, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for repetition in range(prepared.arguments.repetitions):
            for case in prepared.cases:
                name = f"{case[0]}, {SORTING_NAMES[case[1]]}, {case[2]:,} ranks in a dry run"
                step(f"{name}, {repetition + 1} of {prepared.arguments.repetitions}")
                if case not in sizes:
                    sizes[case] = network_size(prepared, case)
                runs.setdefault(case, []).append(_play(prepared, case, sizes[case], Path(folder)))
                results[case] = _summarize(prepared, case, sizes[case], runs[case], predicts_times)
                keep({"results": list(results.values())})
    return {"results": list(results.values())}


def main(arguments: argparse.Namespace) -> int:
    """Run all variants on all numbers of processes in turn, and print the results."""
    prepared = prepare(arguments)
    chosen = prepared.chosen
    check_destinations(arguments.json, arguments.plot)
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
    with console.status("") as status:
        measured = measure(prepared, step=status.update, keep=file.update)
    show(console, arguments, chosen, measured["results"])
    file.finish(measured, console)
    if arguments.plot is not None:
        from ranvier.forecast.figure import many_ranks_figure

        load = {
            "weak": f"{arguments.neurons_per_rank:,} neurons a rank",
            "strong": f"{arguments.neurons:,} neurons",
            "fill": f"{arguments.memory_per_rank} a rank",
        }[arguments.mode]
        title = f"{load}, in-degree {arguments.indegree:,}, {arguments.rate:g} spikes/s"
        save_figure(many_ranks_figure(measured["results"], limit=prepared.limit, title=title), arguments.plot)
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


def network_size(prepared: Prepared, case: Case) -> int:
    """Return the number of neurons of the network of a case."""
    arguments = prepared.arguments
    if prepared.sizes is not None:
        return prepared.sizes[case[2]]
    if arguments.mode == "weak":
        return int(arguments.neurons_per_rank * case[2])
    if arguments.mode == "strong":
        return int(arguments.neurons)
    assert prepared.limit is not None

    def needed(per_rank: int) -> float:
        try:
            return sum(predicted_bytes(prepared, case, per_rank * case[2]).values())
        except ValueOutOfBoundsError:
            # Tables have bounds, too: one holds fewer than 2^32 rows.
            if per_rank == least:
                raise
            return math.inf

    least = least_neurons(_NETWORK, arguments.indegree, prepared.chosen, case[2])
    if needed(least) > prepared.limit:
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{least} neurons on each of {case[2]:,} ranks, with {arguments.indegree:,} synapses each, take more",
            "give more memory, or fewer synapses",
        )
    return largest_fitting(needed, least, prepared.limit) * case[2]


def predicted_bytes(prepared: Prepared, case: Case, neurons: int) -> dict[str, int]:
    """Return the predicted bytes of rank 0 by component, without recordings."""
    method, sorting, ranks = case
    arguments, chosen = prepared.arguments, prepared.chosen
    options = {**chosen.without("costs", "memory_limit"), **method_options(method, sorting)}
    predicted = predict_memory(
        describe(_NETWORK, neurons, arguments.indegree, chosen.network).net,
        ranks=ranks,
        rate=arguments.rate,
        time=chosen.presim + chosen.time,
        **grouped(options),
    )
    return {name: size for name, size in predicted.items() if name != "recordings"}


def _check_memory(prepared: Prepared, case: Case) -> None:
    ranks = case[2]
    if prepared.arguments.mode == "fill":
        assert prepared.limit is not None
        needed, what = prepared.limit, f"a dry run that fills {prepared.arguments.memory_per_rank}"
    else:
        neurons = network_size(prepared, case)
        needed = sum(predicted_bytes(prepared, case, neurons).values())
        what = f"one of {ranks:,} ranks with {neurons:,} neurons of {prepared.arguments.indegree:,} synapses each"
    check_room(what, needed + BYTES_OF_A_PROCESS, "choose fewer neurons or synapses")


def _play(prepared: Prepared, case: Case, neurons: int, folder: Path) -> Summary:
    """Make a dry run in a separate process, so that the resident memory is that of this run only."""
    method, sorting, ranks = case
    arguments = prepared.arguments
    size = NETWORKS[_NETWORK].size(neurons, arguments.indegree)
    settings = {**size, **prepared.chosen.as_json(), **method_options(method, sorting)}
    path = folder / "played.json"
    command = python_command("-m", "ranvier.command_line", "run", _NETWORK, "--json", str(path))
    command += ["--dry-run", str(ranks), "--rate", str(arguments.rate)]
    command += ["--set", *(f"{name}={value}" for name, value in settings.items() if value is not None)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StateError(
            f"dry run of {ranks} ranks",
            f"status {done.returncode}",
            done.stderr.strip().removeprefix("ranvier: error: "),
        )
    played: Summary = json.loads(path.read_text())
    return played


def _predicted_times(prepared: Prepared, case: Case, neurons: int, *, is_sorted: bool) -> Times:
    method, sorting, ranks = case
    arguments, chosen = prepared.arguments, prepared.chosen
    options = {**chosen.without("costs", "memory_limit"), **method_options(method, sorting)}
    net = describe(_NETWORK, neurons, arguments.indegree, chosen.network).net
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
    return expect_times(load, costs)


def _summarize(prepared: Prepared, case: Case, neurons: int, runs: list[Summary], predicts_times: bool) -> Summary:
    method, _, ranks = case
    first = runs[0]
    is_sorted = first["sorts_connections"]
    parts = [name for name in first["phases"] if name not in _PHASES]
    a_second = 1000.0 / first["simulated"]

    def median(name: str) -> float:
        return float(statistics.median(run["phases"][name] for run in runs))

    summary = {
        "method": method,
        "sorted": is_sorted,
        "ranks": ranks,
        "threads": first["threads"],
        "network_neurons": neurons,
        "neurons": first["neurons"],
        "synapses": first["synapses"],
        "events": first["events"],
        "traffic": first["traffic"],
        "build_s": median("build"),
        "init_s": median("init"),
        "simulation_s_per_s": median("simulation") * a_second,
        "parts_s_per_s": {name: median(name) * a_second for name in parts},
        "all_simulations_s_per_s": [run["phases"]["simulation"] * a_second for run in runs],
        "memory_bytes": lasting_account(first["memory"]),
        "cumulative_bytes": cumulative_bytes(first["memory_when_built"], first["memory"]),
        "resident_bytes": statistics.median(run["resident"] - run["resident_before"] for run in runs),
        "predicted_bytes": predicted_bytes(prepared, case, neurons),
    }
    if predicts_times:
        times = _predicted_times(prepared, case, neurons, is_sorted=is_sorted)
        summary |= {"predicted_build_and_init_s": times.build, "predicted_simulation_s_per_s": times.simulation}
    return summary


def show(console: Console, arguments: argparse.Namespace, chosen: Chosen, results: list[Summary]) -> None:
    """Print a table for each method of exchange."""
    console.print(
        f"In-degree {arguments.indegree:,}, {arguments.rate:g} spikes/s, "
        f"{chosen.threads} thread{'s' if chosen.threads > 1 else ''}, Ranvier {_core.version}",
        soft_wrap=True,
    )
    for method, is_sorted in dict.fromkeys((result["method"], result["sorted"]) for result in results):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        heads = (
            "ranks",
            "neurons",
            "build",
            "init",
            "a second",
            "predicted",
            "memory",
            "predicted",
            "resident",
            "received",
        )
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for result in results:
            if (result["method"], result["sorted"]) != (method, is_sorted):
                continue
            predicted = lasting_bytes(result["predicted_bytes"])
            table.add_row(
                f"{result['ranks']:,}",
                f"{result['neurons']:,}",
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
