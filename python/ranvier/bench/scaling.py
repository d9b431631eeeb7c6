"""How time and memory grow with the number of processes.

An mpiexec is started for each number of processes and variant, whose processes build and run one network:

weak    the same number of neurons to each process, so that the network grows with them
strong  one network, shared by all
fill    the largest network that fits --memory-per-rank, also while it is built, by what is predicted from the rate
        and the bursts of one that is predicted to fill a quarter of that

Sorted: synapses are sorted by source, so that a spike is sent once to a process. Unsorted: once for each synapse, which
spares sorting them. Both give the same spikes, which is checked.

Times are of the slowest process, memory is of the largest: by the program's own account, without what was recorded,
and what was resident at most in addition to the interpreter. Jordan et al. (2018) show the same in Figures 7 to 11.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.names import check_choice
from ranvier.base.paths import check_destinations
from ranvier.bench._mpiexec import Mpiexec, find_mpiexec, is_crowded, run_worker
from ranvier.bench._networks import NETWORKS, describe
from ranvier.bench._options import (
    add_shared_arguments,
    check_positive,
    is_directed,
    method_variants,
    parse_methods,
    parse_ranks,
)
from ranvier.bench._results import ResultsFile
from ranvier.bench._scaling_worker import Report
from ranvier.commands import info
from ranvier.errors import InsufficientMemoryError, RanvierError, StateError, ValueOutOfBoundsError
from ranvier.forecast.prediction import DEFAULT_RATE
from ranvier.processes.machine import usable_processors
from ranvier.simulation.measurements import Bursts
from ranvier.simulation.options import Processes
from ranvier.simulation.predictions import predict_memory

__all__ = ["add_arguments", "check_same_spikes", "largest_network", "main", "parse_bytes"]

Summary: TypeAlias = dict[str, Any]
"""What was measured of one variant on some processes, as it stands in the JSON file."""


@dataclass(frozen=True)
class Activity:
    """What buffers of spikes depend on: the mean rate, spikes/s, and how bursts exceed the mean (None: not at all)."""

    rate: float
    bursts: Bursts | None = None


_UNKNOWN = Activity(DEFAULT_RATE)
_WORKER = "ranvier.bench._scaling_worker"
# Memory is predicted within 5 %, and a limit that was given is kept.
_FILLED = 0.95
_PHASES = ("build", "init", "simulation")
_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}B": 1000 ** (i + 1) for i, prefix in enumerate("KMGT")}
_UNITS |= {f"{prefix}IB": 1024 ** (i + 1) for i, prefix in enumerate("KMGT")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--mode", choices=("weak", "strong", "fill"), default="weak", help="(default: %(default)s)")
    parser.add_argument(
        "--model", default="hpc_benchmark", help=f"{' or '.join(NETWORKS)} (default: %(default)s)", metavar="NAME"
    )
    add_shared_arguments(parser, ranks="1,2,4", methods="alltoall")
    parser.add_argument(
        "--neurons-per-rank", type=int, default=2250, metavar="N", help="with weak (default: %(default)s)"
    )
    parser.add_argument("--neurons", type=int, default=4500, metavar="N", help="with strong (default: %(default)s)")
    parser.add_argument(
        "--memory-per-rank", default="100MB", metavar="BYTES", help="with fill, e.g. 1GB (default: %(default)s)"
    )
    parser.add_argument(
        "--indegree", type=int, default=1125, metavar="N", help="synapses of a neuron (default: %(default)s)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sorted", dest="sorted", action="store_const", const=(True,), help="only with sorted synapses")
    which.add_argument("--unsorted", dest="sorted", action="store_const", const=(False,), help="only without")
    parser.set_defaults(sorted=(True, False))
    parser.add_argument("--time", type=float, default=1000.0, metavar="MS", help="to measure (default: %(default)s)")
    parser.add_argument("--presim", type=float, default=10.0, metavar="MS", help="to leave out (default: %(default)s)")
    parser.add_argument("--resolution", type=float, default=0.1, metavar="MS", help="resolution (default: %(default)s)")
    parser.add_argument(
        "--repetitions", type=int, default=1, metavar="N", help="runs of each, in turn (default: %(default)s)"
    )


def main(arguments: argparse.Namespace) -> int:
    """Run all variants on all numbers of processes, and tell the results."""
    ranks = parse_ranks(arguments.ranks, 1, "")
    methods = parse_methods(arguments.methods)
    check_positive(
        arguments, ("threads", "neurons_per_rank", "neurons", "indegree", "time", "resolution", "repetitions")
    )
    check_choice("--model", arguments.model, list(NETWORKS))
    memory = _memory(arguments, max(ranks))
    variants = method_variants(methods, arguments.sorted)
    # What is wrong with them is told before any process is started.
    plans = [
        _plan(arguments, number, method, is_sorted, memory, _UNKNOWN)
        for number in ranks
        for method, is_sorted in variants
    ]
    check_destinations(arguments.json, arguments.plot)
    mpiexec = find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False)
    if arguments.mode == "fill":
        activities = {
            number: _try_out(arguments, number, variants[0], memory // 4, mpiexec, console) for number in ranks
        }
        plans = [
            _plan(arguments, plan["ranks"], plan["method"], plan["sorted"], memory, activities[plan["ranks"]])
            for plan in plans
        ]
    for method in methods:
        if False in arguments.sorted and not is_directed(method):
            console.print(f"{method} sends ids of sources: only with sorted synapses", style="dim", soft_wrap=True)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "scaling",
            "options": {
                key: value
                for key, value in vars(arguments).items()
                if isinstance(value, bool | int | float | str | list | tuple)
            },
            "machine": info.gather(),
            "mpiexec": str(mpiexec.path),
        },
    )
    results: list[Summary] = []
    transport = ""
    for reports in _run_all(plans, arguments, mpiexec, console):
        transport = reports[0][0]["transport"]
        results = [_summarize(plan, own, arguments) for plan, own in zip(plans, reports, strict=True) if own]
        file.update({"transport": transport, "results": results})
    check_same_spikes(results)
    _show(console, results, arguments, transport)
    file.finish({"transport": transport, "results": results}, console)
    if arguments.plot is not None:
        from ranvier.bench import _figures

        _figures.save(_figures.scaling(results, _title(arguments)), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return 0


def _memory(arguments: argparse.Namespace, ranks: int) -> int:
    """Return the bytes that each process may take."""
    memory = parse_bytes("--memory-per-rank", arguments.memory_per_rank)
    if arguments.mode == "fill" and memory * ranks > _core.available_memory():
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{ranks} processes would need more than the {_core.available_memory() / 1e9:.1f} GB available",
            "give less, or fewer processes",
        )
    return memory


def parse_bytes(name: str, text: str) -> int:
    """Return a number of bytes that was written with or without a unit.

    Raises
    ------
    ValueOutOfBoundsError
        For what is not one.
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", text)
    unit = _UNITS.get(match[2].upper()) if match else None
    if match is None or unit is None or match[1].count(".") > 1 or match[1] == "." or float(match[1]) <= 0.0:
        raise ValueOutOfBoundsError(
            name, f"'{text}'", "it must be a number > 0 with a unit such as 500MB, 1.5GB or 2GiB"
        )
    return int(float(match[1]) * unit)


# ---- what runs -------------------------------------------------------------------------------------------------------


def largest_network(
    arguments: argparse.Namespace,
    ranks: int,
    method: str,
    is_sorted: bool,
    memory: int,
    activity: Activity = _UNKNOWN,
) -> int:
    """Return the number of neurons of the largest network of which each process takes at most so many bytes.

    Raises
    ------
    InsufficientMemoryError
        When one neuron to a process is too much already.
    """

    def fits(per_rank: int) -> bool:
        return sum(_predict(arguments, per_rank * ranks, ranks, method, is_sorted, activity).values()) <= memory

    least = _least_neurons(arguments, ranks)
    if not fits(least):
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{least} neurons to each of {ranks} processes, with {arguments.indegree} synapses each, take more",
            "give more memory, or fewer synapses",
        )
    fitting, too_many = least, 2 * least
    while fits(too_many):
        fitting, too_many = too_many, 2 * too_many
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if fits(middle):
            fitting = middle
        else:
            too_many = middle
    return fitting * ranks


def _least_neurons(arguments: argparse.Namespace, ranks: int) -> int:
    """Return the smallest number of neurons to a process of which the model can be made."""
    per_rank = 1
    while True:
        try:
            describe(arguments.model, per_rank * ranks, arguments.indegree, arguments.resolution, arguments.seed)
        except RanvierError:
            if per_rank > 1024:
                raise
            per_rank *= 2
            continue
        return per_rank


def _predict(
    arguments: argparse.Namespace, neurons: int, ranks: int, method: str, is_sorted: bool, activity: Activity
) -> dict[str, int]:
    net = describe(arguments.model, neurons, arguments.indegree, arguments.resolution, arguments.seed).net
    return predict_memory(
        net,
        ranks=ranks,
        rank=0,
        rate=activity.rate,
        bursts=activity.bursts,
        threads=arguments.threads,
        processes=Processes(exchange=method, sort_connections=is_sorted),  # type: ignore[arg-type]
    )


def _plan(
    arguments: argparse.Namespace, ranks: int, method: str, is_sorted: bool, memory: int, activity: Activity
) -> Summary:
    """Return what to run on so many processes."""
    if arguments.mode == "weak":
        neurons = arguments.neurons_per_rank * ranks
    elif arguments.mode == "strong":
        neurons = arguments.neurons
    else:
        neurons = largest_network(arguments, ranks, method, is_sorted, int(_FILLED * memory), activity)
    model = describe(arguments.model, neurons, arguments.indegree, arguments.resolution, arguments.seed)
    if model.net.to_steps(arguments.time, "--time") < 1 or model.net.to_steps(arguments.presim, "--presim") < 0:
        raise ValueOutOfBoundsError("--time and --presim", f"{arguments.time} and {arguments.presim} ms", "too short")
    return {
        "ranks": ranks,
        "threads": arguments.threads,
        "method": method,
        "sorted": is_sorted,
        "crowded": is_crowded(ranks, arguments.threads),
        "neurons": neurons,
        # None: what is predicted is predicted from what the run will tell.
        "predicted_from": None if activity is _UNKNOWN else asdict(activity),
    }


def _try_out(
    arguments: argparse.Namespace,
    ranks: int,
    variant: tuple[str, bool],
    memory: int,
    mpiexec: Mpiexec,
    console: Console,
) -> Activity:
    """Return the activity of a network that is predicted to take so much memory."""
    try:
        plan = _plan(arguments, ranks, *variant, memory, _UNKNOWN)
    except InsufficientMemoryError:
        return _UNKNOWN
    with console.status(f"{ranks} processes, a smaller network"):
        return _activity(_run(plan, arguments, mpiexec))


def _activity(report: Report) -> Activity:
    bursts = report["bursts"]
    return Activity(report["rate"], None if bursts is None else Bursts(**bursts))


def _run_all(
    plans: list[Summary], arguments: argparse.Namespace, mpiexec: Mpiexec, console: Console
) -> Iterator[list[list[Report]]]:
    """Return the reports of each plan so far, after each run."""
    reports: list[list[Report]] = [[] for _ in plans]
    for repetition in range(arguments.repetitions):
        for plan, own in zip(plans, reports, strict=True):
            variant = f"{plan['ranks']} processes, {_variant(plan)}, run {repetition + 1} of {arguments.repetitions}"
            with console.status(variant):
                own.append(_run(plan, arguments, mpiexec))
            yield reports


def _run(plan: Summary, arguments: argparse.Namespace, mpiexec: Mpiexec) -> Report:
    report: Report = run_worker(
        mpiexec,
        _WORKER,
        {
            "model": arguments.model,
            "neurons": plan["neurons"],
            "indegree": arguments.indegree,
            "resolution": arguments.resolution,
            "seed": arguments.seed,
            "exchange": plan["method"],
            "sort_connections": plan["sorted"],
            "time": arguments.time,
            "presim": arguments.presim,
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
        When they did not; tells which runs.
    """
    first: dict[int, Summary] = {}
    for result in results:
        other = first.setdefault(result["neurons"], result)
        if len(result["fingerprints"]) > 1 or result["fingerprints"] != other["fingerprints"]:
            raise StateError(
                "spikes",
                bound=f"{_variant(result)} on {result['ranks']} ranks did not give those of {_variant(other)} on "
                f"{other['ranks']} ranks",
                remedy="please report it",
            )


def _summarize(plan: Summary, reports: list[Report], arguments: argparse.Namespace) -> Summary:
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
    measured = _activity(reports[0])
    activity = measured
    if plan["predicted_from"] is not None:
        bursts = plan["predicted_from"]["bursts"]
        activity = Activity(plan["predicted_from"]["rate"], None if bursts is None else Bursts(**bursts))
    predicted_bytes = _predict(arguments, plan["neurons"], plan["ranks"], plan["method"], plan["sorted"], activity)
    predicted = _kept(predicted_bytes)
    return {
        **plan,
        "predicted_from": asdict(activity),
        "predicted_bytes": predicted_bytes,
        "activity": asdict(measured),
        "neurons": last["neurons"],
        "synapses": last["synapses"],
        "spikes": last["spikes"],
        "synaptic_events": last["events"],
        "mean_rate_hz": last["spikes"] / last["neurons"] / (arguments.time / 1000.0),
        "fingerprints": sorted({report["fingerprint"] for report in reports}),
        "times_s": {phase: over_runs([report["times_s"][phase] for report in reports]) for phase in _PHASES},
        "memory_bytes": spread(account),
        "components_bytes": components,
        "resident_bytes": over_runs([[float(b) for b in report["resident_bytes"]] for report in reports]),
        # The prediction is for rank 0; what only construction needs has gone by then.
        "deviation": account[0] / predicted - 1.0,
    }


def _kept(predicted: dict[str, int]) -> int:
    """Return what is predicted to be there after the build, in bytes, as the account tells it."""
    return sum(size for name, size in predicted.items() if name != "construction")


def _title(arguments: argparse.Namespace) -> str:
    size = {
        "weak": f"{arguments.neurons_per_rank:,} neurons to each process",
        "strong": f"{arguments.neurons:,} neurons",
        "fill": f"{arguments.memory_per_rank} to each process",
    }[arguments.mode]
    return f"{arguments.model}, {arguments.mode} scaling: {size}, in-degree {arguments.indegree:,}"


def _variant(result: Summary) -> str:
    return f"{result['method']}, {'sorted' if result['sorted'] else 'unsorted'}"


def _show(console: Console, results: list[Summary], arguments: argparse.Namespace, transport: str) -> None:
    threads = f"{arguments.threads} thread{'s' if arguments.threads > 1 else ''} to each process"
    console.print()
    console.print(_title(arguments), style="bold", soft_wrap=True)
    console.print(
        f"{threads}, {arguments.time:g} ms after {arguments.presim:g} ms, {transport}", style="dim", soft_wrap=True
    )
    crowded = sorted({result["ranks"] for result in results if result["crowded"]})
    if crowded:
        console.print(
            f"With {', '.join(map(str, crowded))} processes there are more threads than the {usable_processors()} "
            "processors: they take turns, so times grow with their number.",
            style="yellow",
        )
    groups = [
        [result for result in results if (result["method"], result["sorted"]) == variant]
        for variant in dict.fromkeys((result["method"], result["sorted"]) for result in results)
    ]
    for own in groups:
        console.print(f"\n  [bold]{_variant(own[0])}[/]")
        console.print(Padding(_overview(own), (0, 0, 0, 2)))
    for own in groups:
        console.print(f"\n  [bold]{_variant(own[0])}[/]: memory of the largest process by component (MB)")
        console.print(Padding(_components(own, arguments.mode), (0, 0, 0, 2)))


def _overview(results: list[Summary]) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    names = {"pro-\ncesses": 6, "\nneurons": 8, "synapses\n(million)": 9}
    names |= {"build\n(s)": 5, "init\n(s)": 5, "sim\n(s)": 5, "account\n(MB)": 7, "resident\n(MB)": 8}
    names |= {"predicted\n(MB)": 9, "off by\n(%)": 6}
    for name, width in names.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for result in results:
        cells = [
            str(result["ranks"]),
            f"{result['neurons']:,}",
            f"{result['synapses'] / 1e6:.2f}",
            *(f"{result['times_s'][phase]['greatest']:.2f}" for phase in _PHASES),
            f"{result['memory_bytes']['greatest'] / 1e6:.1f}",
            f"{result['resident_bytes']['greatest'] / 1e6:.1f}",
        ]
        cells += [f"{_kept(result['predicted_bytes']) / 1e6:.1f}", f"{100.0 * result['deviation']:+.1f}"]
        table.add_row(*cells)
    return table


def _components(results: list[Summary], mode: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("processes", no_wrap=True, min_width=12)
    for result in results:
        table.add_column(str(result["ranks"]), justify="right", no_wrap=True, min_width=9)
    names = sorted({name for result in results for name in result["components_bytes"]})
    for name in names:
        values = [result["components_bytes"].get(name, {"greatest": 0.0})["greatest"] for result in results]
        if max(values) > 0.0:
            table.add_row(name, *(f"{value / 1e6:.3f}" for value in values))
    if mode == "fill":
        # It is part of what must fit, but has gone when the account is taken.
        construction = [result["predicted_bytes"].get("construction", 0) for result in results]
        table.add_row("while built, predicted", *(f"{value / 1e6:.3f}" for value in construction), style="dim")
    return table
