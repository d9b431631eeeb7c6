"""Methods of exchanging spikes, compared on a network that was designed for this purpose.

For each number of processes, an mpiexec starts processes that run the test network of Hines, Kumar and Schürmann (2011)
with all methods, one after the other, and in another order in each repetition. The digest of all spikes must be the
same for all methods and numbers of processes.

Times are medians over the repetitions. Computation is the work of the process itself: neurons, delivery of spikes and,
for methods that send at once, starting to send. Each method runs twice: with a barrier before each exchange, and
without. With a barrier, waiting is the time until all processes have synchronized, and exchange is the transport of
spikes after that. But methods that do not synchronize all processes, such as those that write to remote memory, lose
their advantage: without a barrier, only waiting and exchange together are known. `shared_memory` has no separate
transport, and runs only without. For these times, the median over the processes is printed, with the minimum and the
maximum. Total is the run time of rank 0. If a process has several threads, the times are those of its first thread.

Imbalance is the maximum over processes divided by the mean, averaged over the intervals between exchanges: of the
computation, and of the number of arriving spikes. It is 1 if all processes are equal. "2" after a name means two
intervals per shortest delay, so that spikes are sent during one interval while neurons are updated.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.networks import interval_fire
from ranvier.processes.machine import usable_processors
from ranvier.simulation.options import grouped
from ranvier_benchmarks._exchange_worker import TIMES, TRAFFIC, Run
from ranvier_benchmarks._mpiexec import find_mpiexec, is_crowded, run_worker
from ranvier_benchmarks._options import (
    add_shared_arguments,
    check_host_ranks,
    check_positive,
    parse_methods,
    parse_ranks,
)
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "check_digests", "label", "main", "make_contestants", "make_result", "summarize"]

Summary: TypeAlias = dict[str, Any]
"""The measurements of a method on some processes, as in the JSON file."""

_WORKER = "ranvier_benchmarks._exchange_worker"
_INTERVALS = {"1": (1,), "2": (2,), "1,2": (1, 2)}
_BARRIERS = {"with": (True,), "without": (False,), "with,without": (True, False)}
_CELLS, _TIME = 4096, 200.0
_REFUSED = {
    "exchange": "give --methods",
    "intervals": "give --intervals",
    "sort_connections": "leave it out: all methods are compared with the same tables",
    "wait_apart": "give --barrier",
    "recordings": "leave it out: rank 0 gets them all",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_shared_arguments(parser, ranks="2,4", methods="all")
    add_bench_settings(parser, f"cells={_CELLS} time={_TIME:g} threads=1")
    parser.add_argument(
        "--intervals",
        choices=tuple(_INTERVALS),
        default="1,2",
        metavar="N,...",
        help="intervals per shortest delay, for methods that support two (default: %(default)s)",
    )
    parser.add_argument(
        "--barrier",
        choices=tuple(_BARRIERS),
        default="with,without",
        metavar="with,without",
        help="whether processes synchronize before each exchange (default: both)",
    )
    parser.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="number of runs of each (default: %(default)s)"
    )


def main(arguments: argparse.Namespace) -> int:
    """Run all methods on all numbers of processes, and print the results."""
    ranks = parse_ranks(arguments.ranks, 2, ", as one process exchanges nothing")
    contestants = make_contestants(
        parse_methods(arguments.methods), _INTERVALS[arguments.intervals], _BARRIERS[arguments.barrier]
    )
    chosen = _choose(arguments, ranks)
    check_host_ranks([method for method, *_ in contestants], chosen.options)
    mpiexec = find_mpiexec(arguments.mpiexec)
    specification = {
        "function": "ranvier.networks:interval_fire",
        "network": chosen.network,
        "options": chosen.without("threads"),
        "time": chosen.time,
        "repetitions": arguments.repetitions,
        "contestants": contestants,
        "once": len(_INTERVALS[arguments.intervals]) > 1,
    }
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "exchange",
            "options": {**recorded_options(arguments, chosen), "contestants": contestants, "ranks": ranks},
            "machine": info.gather(),
            "mpiexec": str(mpiexec.path),
        },
    )
    results: list[Summary] = []
    for number in ranks:

        def keep(report: Any, number: int = number) -> None:
            so_far = make_result(number, chosen.threads, chosen.time, report, contestants)
            file.update({"results": [*results, so_far]})

        with console.status(f"{number} processes") as status:
            report = run_worker(
                mpiexec,
                _WORKER,
                specification,
                ranks=number,
                threads=chosen.threads,
                on_progress=lambda text, number=number: status.update(f"{number} processes: {text}"),  # type: ignore[misc]
                on_report=keep,
            )
        results.append(make_result(number, chosen.threads, chosen.time, report, contestants))
    digest = check_digests(results)
    for result in results:
        _show(console, result, arguments, chosen)
    console.print(f"\n  All gave the same spikes, with the digest {digest[:16]}…", style="dim", soft_wrap=True)
    file.finish({"digest": digest, "results": results}, console)
    if arguments.plot is not None:
        for path in _draw(results, arguments.plot, chosen):
            console.print(f"  Figure in {path}", style="dim", soft_wrap=True)
    return 0


def make_contestants(
    methods: Sequence[str], intervals: Sequence[int], barriers: Sequence[bool]
) -> list[tuple[str, int, bool]]:
    """Return each method with each number of intervals, with and without a barrier, but those that cannot have one."""
    on_host = {method for method, traits in _core.exchange_traits().items() if traits["on_host"]}
    return list(
        dict.fromkeys(
            (method, number, barrier and method not in on_host)
            for barrier in barriers
            for method in methods
            for number in intervals
        )
    )


def _choose(arguments: argparse.Namespace, ranks: Sequence[int]) -> Chosen:
    """Return the settings of --set. Check them and the network before any process is started."""
    chosen = choose(
        arguments.settings,
        interval_fire,
        time=_TIME,
        network={**signature_keys(interval_fire), "cells": _CELLS},
        options={"threads": 1},
        refused=_REFUSED,
    )
    check_positive(arguments, ("repetitions",))
    if chosen.network["cells"] < max(ranks):
        raise ValueOutOfBoundsError("key cells", str(chosen.network["cells"]), "there must be one for each process")
    grouped(chosen.options)
    interval_fire(**chosen.network).net.to_steps(chosen.time, "key time")
    check_destinations(arguments.json, arguments.plot)
    return chosen


# ---- what comes out --------------------------------------------------------------------------------------------------


def label(method: Summary) -> str:
    """Return the name of a method, with its number of intervals if it has two, and without a barrier if it has none."""
    return _name(method) if method["barrier"] else f"{_name(method)} without a barrier"


def _name(method: Summary) -> str:
    return f"{method['method']} 2" if method["intervals"] == 2 else str(method["method"])


def summarize(name: str, intervals: int, runs: list[Run], *, barrier: bool = True) -> Summary:
    """Return the medians of the repetitions of a method."""

    def over_runs(part: str, key: str) -> Any:
        return np.median([run[part][key] for run in runs], axis=0)  # type: ignore[literal-required]

    summary: Summary = {
        "method": name,
        "intervals": intervals,
        "barrier": barrier,
        "exchange": runs[-1]["exchange"],
        "interval_steps": runs[0]["interval_steps"],
        "interval_count": runs[0]["interval_count"],
        "digests": sorted({run["digest"] for run in runs}),
    }
    times = {key: over_runs("ranks", key) for key in TIMES}
    together = [np.add(run["ranks"]["waiting"], run["ranks"]["exchange"]) for run in runs]
    for key, of_ranks in {**times, "waiting_and_exchange": np.median(together, axis=0)}.items():
        summary[f"{key}_s"] = {
            "rank_0": float(of_ranks[0]),
            "least": float(of_ranks.min()),
            "median": float(np.median(of_ranks)),
            "greatest": float(of_ranks.max()),
        }
    for key in TRAFFIC:
        of_ranks = over_runs("ranks", key)
        # Rounds are the same on all ranks; all other numbers are added.
        summary[key] = int(of_ranks.max() if key == "rounds" else of_ranks.sum())
    summary["rounds_per_interval"] = summary["rounds"] / max(1, summary["interval_count"])
    summary["imbalance"] = {key: float(over_runs("imbalance", key)) for key in runs[0]["imbalance"]}
    summary["greatest_fan_out"] = runs[-1]["greatest_fan_out"]
    # Spikes are the same in each repetition. How many checks fail depends on how fast messages travel.
    summary["per_interval"] = {
        **runs[-1]["interval_counts"],
        "failed_checks": np.max([run["interval_counts"]["failed_checks"] for run in runs], axis=0).tolist(),
    }
    summary["per_interval_s"] = {key: over_runs("intervals", key).tolist() for key in runs[0]["intervals"]}
    summary["total_of_runs_s"] = [run["ranks"]["total"][0] for run in runs]
    return summary


def check_digests(results: list[Summary]) -> str:
    """Return the common digest of all runs.

    Raises
    ------
    StateError
        When there are several; the error names the runs of each.
    """
    who: dict[str, list[str]] = {}
    for result in results:
        for method in result["methods"]:
            for digest in method["digests"]:
                who.setdefault(digest, []).append(f"{label(method)} on {result['ranks']} ranks")
    if len(who) > 1:
        # Assume that the most frequent digest is the right one.
        usual = max(who, key=lambda digest: len(who[digest]))
        others = [name for digest, names in who.items() if digest != usual for name in names]
        raise StateError(
            "spikes of the methods",
            bound=f"{', '.join(others)} did not give those that {len(who[usual])} others gave, such as {who[usual][0]}",
            remedy="please report it",
        )
    return next(iter(who))


def make_result(
    ranks: int, threads: int, time: float, report: dict[str, Any], contestants: list[tuple[str, int, bool]]
) -> Summary:
    """Return the measurements on one number of processes, from the report of the worker."""
    runs: list[Run] = report["runs"]
    methods = []
    for i, (name, intervals, barrier) in enumerate(contestants):
        of_method = [run for run in runs if run["contestant"] == i]
        if of_method:
            methods.append(summarize(name, intervals, of_method, barrier=barrier))
    return {
        "ranks": ranks,
        "simulated_ms": time,
        "threads": threads,
        "crowded": is_crowded(ranks, threads),
        "transport": report["transport"],
        "neurons": runs[0]["neurons"],
        "synapses": runs[0]["synapses"],
        "spikes": runs[0]["spikes"],
        "synaptic_events": runs[0]["events"],
        "build_s": statistics.median(run["build"] for run in runs),
        "methods": methods,
    }


def _show(console: Console, result: Summary, arguments: argparse.Namespace, chosen: Chosen) -> None:
    threads = result["threads"]
    console.print()
    console.print(
        f"[bold]{result['ranks']} processes of {threads} thread{'s' if threads > 1 else ''}[/], {result['transport']}",
        soft_wrap=True,
    )
    console.print(
        f"{result['neurons']:,} cells, {result['synapses']:,} connections ({chosen.network['topology']}, "
        f"{chosen.options.get('placement', 'round_robin')}{', bursts' if chosen.network['burst'] else ''}),\n"
        f"{result['spikes']:,} spikes in {chosen.time:g} ms, medians of {arguments.repetitions}",
        style="dim",
        soft_wrap=True,
    )
    if result["crowded"]:
        console.print(
            f"There are {result['ranks'] * threads} threads on {usable_processors()} processors: they take turns, so "
            "times say little about the methods.",
            style="yellow",
        )
    for barrier in (True, False):
        if methods := [method for method in result["methods"] if method["barrier"] == barrier]:
            console.print(f"\n  {'With' if barrier else 'Without'} a barrier before each exchange", soft_wrap=True)
            console.print(Padding(_times(methods), (0, 0, 0, 2)))
    console.print()
    # It does not depend on the barrier.
    methods = list({_name(method): method for method in result["methods"]}.values())
    console.print(Padding(_traffic(methods), (0, 0, 0, 2)))
    for method in result["methods"]:
        if method["exchange"] != method["method"]:
            console.print(f"\n  {label(method)} ended as {method['exchange']}", style="dim", soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    # Names of methods are long, but have no spaces.
    table.add_column("", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _times(methods: list[Summary]) -> Table:
    best = min(method["total_s"]["rank_0"] for method in methods)
    worst = max(method["total_s"]["rank_0"] for method in methods)
    unit, scale = ("ms", 1e3) if worst < 10.0 else ("s", 1.0)
    digits = 1 if unit == "s" or worst < 0.1 else 0
    shown = TIMES[1:] if methods[0]["barrier"] else ("computation", "waiting_and_exchange")
    table = _table(*(f"{name.replace('_', ' ')}\n({unit})" for name in (*shown, TIMES[0])), "by\nbest")
    for method in methods:
        total = method["total_s"]["rank_0"]
        ratio = "best" if total == best else f"{total / best:.2f}"
        table.add_row(
            _name(method),
            *(_spread(method[f"{key}_s"], scale, digits) for key in shown),
            f"{scale * total:.{digits}f}",
            ratio,
            style="bold green" if total == best else "",
        )
    return table


def _spread(seconds: dict[str, float], scale: float, digits: int) -> str:
    least, median, greatest = (f"{scale * seconds[key]:.{digits}f}" for key in ("least", "median", "greatest"))
    return f"{median} ({least}-{greatest})"


def _traffic(methods: list[Summary]) -> Table:
    table = _table(
        "spikes\nsent",
        "spikes\nreceived",
        "bytes\n(MB)",
        "\nmessages",
        "\nrounds",
        "imbalance:\ncomputation",
        "\nspikes",
    )
    for method in methods:
        table.add_row(
            _name(method),
            f"{method['spikes_sent']:,}",
            f"{method['spikes_received']:,}",
            f"{method['bytes_sent'] / 1e6:.2f}",
            f"{method['messages']:,}",
            f"{method['rounds']:,}",
            f"{method['imbalance']['computation']:.2f}",
            f"{method['imbalance']['spikes_received']:.2f}",
        )
    return table


def _draw(results: list[Summary], plot: Path, chosen: Chosen) -> list[Path]:
    """Draw a figure per number of processes, and one over them if there are several; return the files."""
    from ranvier_benchmarks import _figures

    network = f"{results[0]['neurons']:,} cells, {results[0]['synapses']:,} connections ({chosen.network['topology']})"
    if len(results) == 1:
        _figures.save(_figures.intervals(results[0], network), plot)
        return [plot]
    _figures.save(_figures.run_times(results, network), plot)
    paths = [plot]
    for result in results:
        path = plot.with_name(f"{plot.stem}_{result['ranks']}_ranks{plot.suffix}")
        _figures.save(_figures.intervals(result, network), path)
        paths.append(path)
    return paths
