"""Time and memory as a function of the number of processes.

For each number of processes and each variant, an mpiexec starts processes that build and run one network:

weak    the same number of neurons for each process, so that the network grows with their number
strong  a network of fixed size
fill    the largest network that fits --memory-per-rank, also during the build and in its largest burst, as predicted
        from the rate and the bursts of a network that is predicted to fill a quarter of this memory. Where the largest
        network of a variant is smaller than that, networks of its size are tried out, and one that fits runs: small
        networks have larger bursts, which differ from size to size

Sorted: synapses are sorted by source, so that a spike is sent once to a process. Unsorted: once for each synapse, which
saves the time for sorting. Both give the same spikes; the benchmark checks this.

Times are those of the slowest process. Memory is that of the largest process: as counted by the simulation itself,
without recordings, and the peak resident memory without that of the interpreter. Compare with Figures 7 to 11 of Jordan
et al. (2018).
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from ranvier import _core
from ranvier.base.names import check_choice
from ranvier.base.paths import check_destinations
from ranvier.base.sizes import parse_bytes
from ranvier.commands import info
from ranvier.errors import InsufficientMemoryError, StateError
from ranvier.simulation.measurements import PARTS, Bursts
from ranvier.simulation.predictions import lasting_bytes
from ranvier_benchmarks._kernel_memory import cumulative_bytes
from ranvier_benchmarks._mpiexec import Mpiexec, check_startable, find_mpiexec, run_worker
from ranvier_benchmarks._networks import NETWORKS
from ranvier_benchmarks._options import (
    Sorting,
    add_shared_arguments,
    check_host_ranks,
    check_positive,
    is_directed,
    method_options,
    method_variants,
    parse_methods,
    parse_ranks,
    sortings_of,
)
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._scaling_plans import (
    UNKNOWN,
    Activity,
    activity_of,
    check_memory,
    plan_run,
    plans_to_fill,
    predict,
)
from ranvier_benchmarks._scaling_tables import PHASES, Summary, show, title, variant
from ranvier_benchmarks._scaling_worker import Report
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["Prepared", "add_arguments", "check_same_spikes", "main", "measure", "prepare"]


_WORKER = "ranvier_benchmarks._scaling_worker"
_TIME, _PRESIM = 1000.0, 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--mode", choices=("weak", "strong", "fill"), default="weak", help="(default: %(default)s)")
    parser.add_argument(
        "--model", default="hpc_benchmark", help=f"{' or '.join(NETWORKS)} (default: %(default)s)", metavar="NAME"
    )
    add_shared_arguments(parser, ranks="1,2,4", methods="alltoall")
    parser.add_argument(
        "--neurons-per-rank",
        type=int,
        default=2250,
        metavar="N",
        help="neurons of a process, with weak (default: %(default)s)",
    )
    parser.add_argument(
        "--neurons",
        type=int,
        default=4500,
        metavar="N",
        help="neurons of the network, with strong (default: %(default)s)",
    )
    parser.add_argument(
        "--memory-per-rank",
        default="100MB",
        metavar="BYTES",
        help="memory of a process, with fill, e.g. 1GB (default: %(default)s)",
    )
    parser.add_argument(
        "--indegree", type=int, default=1125, metavar="N", help="synapses of a neuron (default: %(default)s)"
    )
    add_bench_settings(parser, f"time={_TIME:g} presim={_PRESIM:g} threads=1 sort_connections=true, then false")
    parser.add_argument(
        "--repetitions", type=int, default=1, metavar="N", help="number of runs of each, in turn (default: %(default)s)"
    )


@dataclass(frozen=True)
class Prepared:
    """The runs of a benchmark, before any of them has started.

    Attributes
    ----------
    arguments, chosen
        Arguments of the command, and what ``--set`` chose.
    ranks, variants
        Numbers of processes, and methods of exchange with and without sorting.
    memory
        Memory limit of a process in bytes, with ``--mode fill``.
    plans
        Specifications of the runs; those with ``--mode fill`` change when networks have been tried out.
    """

    arguments: argparse.Namespace
    chosen: Chosen
    ranks: list[int]
    variants: list[tuple[str, Sorting]]
    memory: int
    plans: list[Summary]


def prepare(arguments: argparse.Namespace) -> Prepared:
    """Check the arguments, and return what is to run; no process is started.

    Raises
    ------
    ValueOutOfBoundsError, UnknownNameError
        For values out of bounds, and names that do not exist.
    InsufficientMemoryError
        When the machine has too little memory for all processes of a run.
    """
    ranks = parse_ranks(arguments.ranks, 1, "")
    methods = parse_methods(arguments.methods, kernels=True)
    check_positive(arguments, ("neurons_per_rank", "neurons", "indegree", "repetitions"))
    check_choice("--model", arguments.model, list(NETWORKS))
    chosen = _choose(arguments)
    check_host_ranks(methods, chosen.options)
    check_startable("--ranks", ranks)
    memory = _memory(arguments, max(ranks))
    variants = method_variants(methods, sortings_of(chosen))
    plans = [
        plan_run(arguments, chosen, number, method, is_sorted, memory, UNKNOWN)
        for number in ranks
        for method, is_sorted in variants
    ]
    if arguments.mode != "fill":
        for plan in plans:
            check_memory(arguments, chosen, plan)
    return Prepared(arguments, chosen, ranks, variants, memory, plans)


def measure(
    prepared: Prepared,
    mpiexec: Mpiexec,
    *,
    step: Callable[[str], None],
    keep: Callable[[Mapping[str, Any]], None] = lambda measured: None,
) -> dict[str, Any]:
    """Run all variants on all numbers of processes, and return the results.

    `step` is told what runs, and `keep` gets the results so far.
    """
    arguments, chosen, plans = prepared.arguments, prepared.chosen, prepared.plans
    if arguments.mode == "fill":

        def try_out(plan: Summary) -> Activity:
            step(f"{plan['ranks']} processes, a smaller network")
            return activity_of(_run(plan, arguments, chosen, mpiexec))

        plans = [
            plan
            for number in prepared.ranks
            for plan in plans_to_fill(arguments, chosen, number, prepared.variants, prepared.memory, try_out)
        ]
    results: list[Summary] = []
    transport = ""
    for reports in _run_all(plans, arguments, chosen, mpiexec, step):
        transport = reports[0][0]["transport"]
        results = [
            _summarize(plan, of_plan, arguments, chosen)
            for plan, of_plan in zip(plans, reports, strict=True)
            if of_plan
        ]
        keep({"transport": transport, "results": results})
    check_same_spikes(results)
    return {"transport": transport, "results": results}


def main(arguments: argparse.Namespace) -> int:
    """Run all variants on all numbers of processes, and print the results."""
    prepared = prepare(arguments)
    chosen = prepared.chosen
    check_destinations(arguments.json, arguments.plot)
    mpiexec = find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False)
    for method in dict.fromkeys(method for method, _ in prepared.variants):
        if False in sortings_of(chosen) and not is_directed(method):
            console.print(f"{method} sends ids of sources: only with sorted synapses", style="dim", soft_wrap=True)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "scaling",
            "options": recorded_options(arguments, chosen),
            "machine": info.gather(),
            "mpiexec": str(mpiexec.path),
        },
    )
    with console.status("") as status:
        measured = measure(prepared, mpiexec, step=status.update, keep=file.update)
    results = measured["results"]
    show(console, results, arguments, chosen, measured["transport"])
    file.finish(measured, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _figures

        _figures.save(_figures.scaling(results, title(arguments)), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return 0


def _choose(arguments: argparse.Namespace) -> Chosen:
    network = NETWORKS[arguments.model]
    size = "--neurons-per-rank or --neurons"
    return choose(
        arguments.settings,
        network.function,
        time=_TIME,
        presim=_PRESIM,
        options={"threads": 1},
        refused={
            **network.refused_keys(size),
            "exchange": "give --methods",
            "recordings": "leave it out: each process keeps its recordings",
        },
    )


def _memory(arguments: argparse.Namespace, ranks: int) -> int:
    """Return the memory limit of each process, bytes."""
    memory = parse_bytes("--memory-per-rank", arguments.memory_per_rank)
    if arguments.mode == "fill" and memory * ranks > _core.available_memory():
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{ranks} processes would need more than the {_core.available_memory() / 1e9:.1f} GB available",
            "give less, or fewer processes",
        )
    return memory


# ---- what runs -------------------------------------------------------------------------------------------------------


def _run_all(
    plans: list[Summary],
    arguments: argparse.Namespace,
    chosen: Chosen,
    mpiexec: Mpiexec,
    step: Callable[[str], None],
) -> Iterator[list[list[Report]]]:
    """Return the reports of each plan so far, after each run."""
    reports: list[list[Report]] = [[] for _ in plans]
    for repetition in range(arguments.repetitions):
        for plan, of_plan in zip(plans, reports, strict=True):
            step(f"{plan['ranks']} processes, {variant(plan)}, run {repetition + 1} of {arguments.repetitions}")
            of_plan.append(_run(plan, arguments, chosen, mpiexec))
            yield reports


def _run(plan: Summary, arguments: argparse.Namespace, chosen: Chosen, mpiexec: Mpiexec) -> Report:
    report: Report = run_worker(
        mpiexec,
        _WORKER,
        {
            "model": arguments.model,
            "neurons": plan["neurons"],
            "indegree": arguments.indegree,
            "network": chosen.network,
            "options": {
                **chosen.without("threads"),
                **method_options(plan["method"], plan["sorted"]),
            },
            "time": chosen.time,
            "presim": chosen.presim,
        },
        ranks=plan["ranks"],
        threads=plan["threads"],
        on_progress=lambda text: None,
    )
    return report


# ---- what comes out --------------------------------------------------------------------------------------------------


def check_same_spikes(results: list[Summary]) -> None:
    """Check that runs of the same network gave the same spikes.

    Raises
    ------
    StateError
        When they did not; the error names the runs.
    """
    first: dict[int, Summary] = {}
    for result in results:
        other = first.setdefault(result["neurons"], result)
        if len(result["fingerprints"]) > 1 or result["fingerprints"] != other["fingerprints"]:
            raise StateError(
                "spikes",
                bound=f"{variant(result)} on {result['ranks']} ranks did not give those of {variant(other)} on "
                f"{other['ranks']} ranks",
                remedy="please report it",
            )


def _summarize(plan: Summary, reports: list[Report], arguments: argparse.Namespace, chosen: Chosen) -> Summary:
    last = reports[-1]

    def spread(by_rank: list[float]) -> dict[str, float]:
        return {
            "rank_0": by_rank[0],
            "least": min(by_rank),
            "median": statistics.median(by_rank),
            "greatest": max(by_rank),
        }

    def over_runs(values: list[list[float]]) -> dict[str, float]:
        return spread([statistics.median(of_rank) for of_rank in zip(*values, strict=True)])

    components = {name: spread([float(b) for b in by_rank]) for name, by_rank in last["memory_bytes"].items()}
    account = [
        float(sum(by_rank[rank] for name, by_rank in last["memory_bytes"].items() if name != "recordings"))
        for rank in range(plan["ranks"])
    ]
    measured = activity_of(reports[0])
    activity = measured
    if plan["predicted_from"] is not None:
        bursts = plan["predicted_from"]["bursts"]
        activity = Activity(plan["predicted_from"]["rate"], None if bursts is None else Bursts(**bursts))
    predicted_bytes = predict(
        arguments, chosen, plan["neurons"], plan["ranks"], plan["method"], plan["sorted"], activity
    )
    predicted = lasting_bytes(predicted_bytes)
    return {
        **plan,
        "sorted": last["sorted"],
        "predicted_from": asdict(activity),
        "predicted_bytes": predicted_bytes,
        "activity": asdict(measured),
        "neurons": last["neurons"],
        "synapses": last["synapses"],
        "spikes": last["spikes"],
        "synaptic_events": last["events"],
        "mean_rate_hz": last["spikes"] / last["neurons"] / (chosen.time / 1000.0),
        "fingerprints": sorted({report["fingerprint"] for report in reports}),
        "times_s": {phase: over_runs([report["times_s"][phase] for report in reports]) for phase in PHASES},
        # The mean over processes; each process has that over its threads.
        "parts_s": {
            part: statistics.median(statistics.fmean(report["times_s"][part]) for report in reports) for part in PARTS
        },
        "memory_bytes": spread(account),
        "components_bytes": components,
        "cumulative_bytes": _largest_cumulative(last),
        "resident_bytes": over_runs([[float(b) for b in report["resident_bytes"]] for report in reports]),
        # The prediction is for rank 0; what only construction needs has gone by then.
        "deviation": account[0] / predicted - 1.0,
    }


def _largest_cumulative(report: Report) -> dict[str, int]:
    ranks = range(len(report["resident_bytes"]))

    def of(rank: int, part: dict[str, list[int]]) -> dict[str, int]:
        return {name: by_rank[rank] for name, by_rank in part.items()}

    by_rank = [
        cumulative_bytes(of(rank, report["memory_when_built_bytes"]), of(rank, report["memory_bytes"]))
        for rank in ranks
    ]
    return {name: max(one[name] for one in by_rank) for name in by_rank[0]}
