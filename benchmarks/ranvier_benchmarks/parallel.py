"""Costs of threads: barriers, rounds and tasks, for each policy of pinning and of stealing work.

For each number of threads, these are measured:

barrier  all threads synchronize
rounds   rounds of shared items, with one empty item for each thread
job      the threads are woken, do nothing, and return
task     an empty task is created and done; many at once on each thread
tree     a tree of tasks that grows from one thread to one side, so that the others have to steal
sum      numbers are summed along a binary tree by tasks that wait for events, each level divided among the NUMA nodes:
         the upward half of Figure 1 in Morgenstern et al. (2020)

The policies are measured in turn. The table has medians, and for the sum also the 75 % quantile t(n), as in the paper.
Performance portability, as defined in the paper, is the harmonic mean over platforms of an efficiency of the sum, at
the number n of threads that was fastest; it is 0 if a platform does not support the policy. There are two efficiencies.
The architectural one, t1 / (p t(n)), compares with the peak, at which each of p processors is as fast as a single one,
which takes t1 with the best policy. The scaling efficiency is t1 / (n t(n)). Brackets show the minimum and the maximum
over the turns.

A platform is this machine, or another machine whose results were written with --json (--platforms). A synthetic
topology, in hwloc's syntax, uses the processors of this machine: it shows the behaviour of policies on other trees, but
it is not another machine, and is left out of the portability unless --with-synthetic is set.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.progress import Progress
from rich.table import Table

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes import machine
from ranvier_benchmarks._native import measurements
from ranvier_benchmarks._portability import (
    Bounded,
    Platform,
    Policies,
    counted,
    efficiency,
    portability,
    read_platforms,
)
from ranvier_benchmarks._results import ResultsFile

__all__ = ["add_arguments", "main"]

Measured: TypeAlias = dict[str, Any]
"""The measurements of one pinning, stealing and number of threads, as in the JSON file."""

_PINNINGS = ("equal", "compact", "none")
_DETECTED = "detected"
_MOST_THREADS = 1024
_TURNS = 5
_ROUNDS = 2000
_ROUNDS_WHERE_THREADS_SLEEP = 50
_JOBS = 20
_EMPTY_TASKS = 2000
_DEPTH = 15


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--threads", metavar="N,...", help="numbers of threads; 1 is added (default: powers of 2, and all processors)"
    )
    parser.add_argument(
        "--pinning", default="all", metavar="NAME,...", help=f"all, or some of {', '.join(_PINNINGS)} (default: all)"
    )
    parser.add_argument(
        "--stealing",
        default="all",
        metavar="NAME,...",
        help=f"all, or some of {', '.join(_core.stealing_policies())} (default: all)",
    )
    parser.add_argument(
        "--topology",
        action="append",
        metavar="TEXT",
        help=f"{_DETECTED}, or a synthetic one such as 'node:2 core:12 pu:2'; may be given several times "
        f"(default: {_DETECTED})",
    )
    parser.add_argument(
        "--platforms", type=Path, nargs="+", default=[], metavar="FILE", help="results of other machines (JSON)"
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=200,
        metavar="N",
        help="repetitions of the sum for each policy (default: %(default)s)",
    )
    parser.add_argument(
        "--levels", type=int, default=11, metavar="N", help="levels of the tree of the sum (default: %(default)s)"
    )
    parser.add_argument(
        "--with-synthetic", action="store_true", help="include synthetic topologies as platforms in the portability"
    )
    add_result_files(parser, "the results")


def main(arguments: argparse.Namespace) -> int:
    """Measure all policies on all platforms, and print the results."""
    threads = _parse_threads(arguments.threads)
    pinnings = _parse_names("--pinning", arguments.pinning, _PINNINGS)
    stealings = _parse_names("--stealing", arguments.stealing, _core.stealing_policies())
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000, "give a number of runs")
    levels = whole_number("--levels", arguments.levels, 1, 20, "give a number of levels")
    topologies = [(text, _read_topology(text)) for text in dict.fromkeys(arguments.topology or [_DETECTED])]
    elsewhere = [platform for path in arguments.platforms for platform in read_platforms(path)]
    check_destinations(arguments.json, arguments.plot)
    console = Console(highlight=False)
    policies = [(pinning, stealing) for pinning in pinnings for stealing in stealings]
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "parallel",
            "options": {"threads": threads, "repetitions": repetitions, "levels": levels},
            "machine": info.gather(),
        },
    )
    platforms: list[Platform] = []
    for text, topology in topologies:
        platform: Platform = {}
        for platform in _measure_platform(console, text, topology, threads, policies, repetitions, levels):
            file.update({"platforms": [*platforms, platform]})
        platforms.append(platform)
        _show_platform(console, platform)
    everywhere = [*platforms, *elsewhere]
    over = counted(everywhere, with_synthetic=arguments.with_synthetic)
    _show_portability(console, everywhere, over, policies)
    file.finish({"platforms": platforms, "portability": _portability(everywhere, over, policies)}, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _figures, _parallel_figure

        _figures.save(_parallel_figure.draw(everywhere), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return 0


# ---- what is asked for -----------------------------------------------------------------------------------------------


def _parse_threads(text: str | None) -> list[int]:
    if text is None:
        processors = machine.usable_processors()
        return sorted({1 << i for i in range(processors.bit_length())} | {processors})
    numbers = {1}
    for part in text.split(","):
        if not part.strip().isdecimal() or not 1 <= int(part) <= _MOST_THREADS:
            raise ValueOutOfBoundsError(
                "--threads", f"'{text}'", f"it must be numbers from 1 to {_MOST_THREADS} with commas between"
            )
        numbers.add(int(part))
    return sorted(numbers)


def _parse_names(option: str, text: str, known: Sequence[str]) -> list[str]:
    if text.strip() == "all":
        return list(known)
    names = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            unknown_name(option, name, [*known, "all"])
    return names


def _read_topology(text: str) -> _core.Topology:
    return _core.Topology.detect() if text == _DETECTED else _core.Topology.synthetic(text)


def _lay_over(topology: _core.Topology, threads: int, pinning: str) -> list[tuple[int, int]]:
    """Return the places of threads; those of a synthetic topology use the processors of this machine in turn."""
    places = _core.place_threads(topology, threads, pinning)
    if not topology.describe()["synthetic"]:
        return places
    there = _core.Topology.detect().processors()
    numbers = {processor: there[i % len(there)] for i, processor in enumerate(topology.processors())}
    return [(numbers.get(processor, -1), node) for processor, node in places]


# ---- measuring -------------------------------------------------------------------------------------------------------


def _measure_platform(
    console: Console,
    text: str,
    topology: _core.Topology,
    threads: Sequence[int],
    policies: Sequence[Policies],
    repetitions: int,
    levels: int,
) -> Iterator[Platform]:
    """Return what has been measured, after each turn."""
    description = topology.describe()
    turns = min(_TURNS, repetitions)
    runs = -(-repetitions // turns)
    collected: dict[tuple[str, str, int], list[Measured]] = {}
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(f"Measuring {text}", total=turns * len(policies) * len(threads))
        for _ in range(turns):
            for number in threads:
                for pinning, stealing in policies:
                    places = _lay_over(topology, number, pinning)
                    measured = _measure(places, stealing, runs, levels)
                    collected.setdefault((pinning, stealing, number), []).append(measured)
                    progress.advance(task)
            yield _platform(text, topology, description, collected)


def _platform(
    text: str,
    topology: _core.Topology,
    description: dict[str, Any],
    collected: Mapping[tuple[str, str, int], list[Measured]],
) -> Platform:
    processors = machine.usable_processors()
    synthetic = description["synthetic"]
    return {
        "name": text if synthetic else machine.processor_name(),
        "synthetic": synthetic,
        "note": f"laid over the {_counted(processors, 'processor')} of this machine" if synthetic else "",
        "units": len(topology.processors()),
        "nodes": len(description["nodes"]),
        "processors": processors,
        "results": [
            {"pinning": pinning, "stealing": stealing, "threads": number, **_summarize(turns_of)}
            for (pinning, stealing, number), turns_of in collected.items()
        ],
    }


def _measure(places: list[tuple[int, int]], stealing: str, runs: int, levels: int) -> Measured:
    team = measurements().ParallelMeasurement(places, stealing)
    rounds = _ROUNDS if team.spins() else _ROUNDS_WHERE_THREADS_SLEEP
    return {
        "places": team.places(),
        "spins": team.spins(),
        "barrier_s": team.barrier(rounds, 3),
        "round_s": team.rounds(rounds, 3),
        "job_s": team.job(_JOBS),
        "empty": team.empty_tasks(_EMPTY_TASKS, 3),
        "unbalanced": team.unbalanced_tree(_DEPTH, max(1, runs // 4)),
        "reduction": team.tree_reduction(levels, runs),
    }


def _summarize(turns: Sequence[Measured]) -> Measured:
    def median(name: str) -> float:
        return float(statistics.median(value for turn in turns for value in turn[name]))

    def times(name: str) -> dict[str, Any]:
        seconds = [value for turn in turns for value in turn[name]["seconds"]]
        return {
            "median": statistics.median(seconds),
            "quantile_75": float(np.quantile(seconds, 0.75)),
            "turns": [float(np.quantile(turn[name]["seconds"], 0.75)) for turn in turns],
        }

    def steals(name: str) -> dict[str, float]:
        """Return means over runs of the tree, summed over all threads."""
        runs = sum(len(turn[name]["seconds"]) for turn in turns)
        workers = [worker for turn in turns for worker in turn[name]["workers"]]
        counts = ("executed", "stolen_locally", "stolen_remotely", "failed_searches", "sleeps")
        return {count: sum(worker[count] for worker in workers) / runs for count in counts}

    return {
        "places": turns[0]["places"],
        "spins": turns[0]["spins"],
        "barrier_s": median("barrier_s"),
        "round_s": median("round_s"),
        "job_s": median("job_s"),
        # Tasks of a thread: all threads do as many at once.
        "task_s": times("empty")["median"] / (_EMPTY_TASKS + 1),
        "unbalanced_s": times("unbalanced"),
        "unbalanced_tasks": steals("unbalanced"),
        "reduction_s": times("reduction"),
        "reduction_tasks": steals("reduction"),
    }


# ---- telling ---------------------------------------------------------------------------------------------------------


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i in (1, 2) else "right", no_wrap=True)
    return table


def _show_platform(console: Console, platform: Platform) -> None:
    nodes = _counted(platform["nodes"], "NUMA node")
    console.print(f"\n{platform['name']}: {nodes}, {_counted(platform['units'], 'processor')}", style="bold")
    if platform["note"]:
        console.print(f"  Synthetic: {platform['note']}", style="dim")
    crowded = sorted({result["threads"] for result in platform["results"] if not result["spins"]})
    if crowded:
        console.print(
            f"  With {', '.join(map(str, crowded))} threads, some share a processor: waiting threads sleep at once",
            style="dim",
        )
    costs = _table("threads", "pinning", "stealing", "barrier (us)", "round (ns)", "job (us)", "task (ns)")
    sums = _table("threads", "pinning", "stealing", "median (ms)", "75 % (ms)", "near", "far")
    trees = _table("threads", "pinning", "stealing", "median (ms)", "75 % (ms)", "near", "far")
    for result in platform["results"]:
        head = (str(result["threads"]), result["pinning"], result["stealing"])
        costs.add_row(
            *head,
            f"{1e6 * result['barrier_s']:.2f}",
            f"{1e9 * result['round_s']:.0f}",
            f"{1e6 * result['job_s']:.1f}",
            f"{1e9 * result['task_s']:.0f}",
        )
        for table, name in ((sums, "reduction"), (trees, "unbalanced")):
            times, tasks = result[f"{name}_s"], result[f"{name}_tasks"]
            table.add_row(
                *head,
                f"{1e3 * times['median']:.3f}",
                f"{1e3 * times['quantile_75']:.3f}",
                f"{tasks['stolen_locally'] / tasks['executed']:.1%}",
                f"{tasks['stolen_remotely'] / tasks['executed']:.1%}",
            )
    for heading, table in (
        ("Costs of threads", costs),
        ("A tree that grows to one side; near, far: tasks stolen on the same and from other NUMA nodes", trees),
        ("A sum up a tree", sums),
    ):
        console.print(f"\n  {heading}", soft_wrap=True)
        console.print(Padding(table, (0, 0, 0, 2)))


def _portability(
    everywhere: Sequence[Platform], over: Sequence[Platform], policies: Sequence[Policies]
) -> dict[str, Any]:
    """Return the portability of all policies, in the form of the JSON file."""

    def results(pair: Policies) -> dict[str, Any]:
        found = [efficiency(platform, pair) for platform in over]
        kinds = {
            "phi_architectural": portability([None if one is None else one.architectural for one in found]),
            "phi_scaling": portability([None if one is None else one.scaling for one in found]),
        }
        return {
            "pinning": pair[0],
            "stealing": pair[1],
            **{name: None if phi is None else asdict(phi) for name, phi in kinds.items()},
            "efficiencies": [None if one is None else asdict(one) for one in found],
        }

    return {
        "over": [platform["name"] for platform in over],
        "left_out": [platform["name"] for platform in everywhere if platform not in over],
        "results": [results(pair) for pair in policies],
    }


def _bounded(number: Bounded | None) -> str:
    return "-" if number is None else f"{number.value:.2f} ({number.least:.2f}-{number.greatest:.2f})"


def _show_portability(
    console: Console, everywhere: Sequence[Platform], over: Sequence[Platform], policies: Sequence[Policies]
) -> None:
    console.print("\nPerformance portability of the sum", style="bold")
    for platform in everywhere:
        kind = "synthetic" if platform["synthetic"] else _counted(platform["processors"], "processor")
        note = "" if platform in over else ": not part of Phi, since it is not another machine"
        console.print(f"  {platform['name']}, {kind}{note}", soft_wrap=True, style=None if platform in over else "dim")
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in ("pinning", "stealing"):
            table.add_column(column, no_wrap=True)
        for column in ("threads", "architectural", "scaling"):
            table.add_column(column, justify="right", no_wrap=True)
        for pair in policies:
            one = efficiency(platform, pair)
            if one is None:
                table.add_row(*pair, "not there", "", "")
            else:
                table.add_row(*pair, str(one.threads), _bounded(one.architectural), _bounded(one.scaling))
        console.print(Padding(table, (0, 0, 0, 2)))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("pinning", "stealing"):
        table.add_column(column, no_wrap=True)
    for column in ("Phi, architectural", "Phi, scaling"):
        table.add_column(column, justify="right", style="bold", no_wrap=True)
    for pair in policies:
        found = [efficiency(platform, pair) for platform in over]
        table.add_row(
            *pair,
            _bounded(portability([None if one is None else one.architectural for one in found])),
            _bounded(portability([None if one is None else one.scaling for one in found])),
        )
    console.print(f"\n  Phi over {_counted(len(over), 'platform')}", style="bold")
    console.print(Padding(table, (0, 0, 0, 2)))
    if len(over) < 2:
        console.print("  With fewer than two machines, it does not measure portability", style="dim")
