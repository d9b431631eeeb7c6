"""Costs of threads: barriers, rounds and tasks, for each policy of pinning and of stealing work.

For each number of threads, these are measured:

barrier  all threads synchronize
rounds   rounds of shared items, with one empty item for each thread
job      the threads are woken, do nothing, and return
task     an empty task is created and done; many at once on each thread
tree     a tree of tasks that grows from one thread to one side, so that the others have to steal
sum      numbers are summed along a binary tree by tasks that wait for events, each level divided among the NUMA nodes:
         the upward half of Figure 1 in Morgenstern et al. (2020)
uneven   the same along a tree whose boxes have different numbers, divided level by level as in the paper, and divided
         by counted cost, with the cost of the node that has most, relative to the mean

The policies are measured in turn. The table has medians, and for the sum also the 75 % quantile t(n), as in the paper.
Performance portability, as defined in the paper, is the harmonic mean over platforms of an efficiency of the sum, at
the number n of threads that was fastest; it is 0 if a platform does not support the policy. There are two efficiencies,
also those of the paper. The architectural one compares the floating-point operations of the sum per second with the
peak of the platform, measured with fused multiply-adds on all processors, or stated with --peak. The scaling efficiency
is t(1) / (n t(n)). Brackets show the minimum and the maximum over the turns.

Distances between NUMA nodes, by which prefer_local orders the nodes, are measured first: latencies of pointers that are
followed from each node through memory of each node.

A platform is this machine, or another machine whose results were written with --json (--platforms). A synthetic
topology, in hwloc's syntax, uses the processors of this machine: it shows the behaviour of policies on other trees, but
it is not another machine, and is left out of the portability unless --with-synthetic is set.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
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
from ranvier.commands import info, latencies
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

__all__ = [
    "DETECTED",
    "TURNS",
    "Subject",
    "add_arguments",
    "bounded_text",
    "check_peak",
    "find_peak",
    "in_millions",
    "main",
    "measure_all",
    "measure_platform",
    "order_nodes",
    "peak_text",
    "read_topology",
]

Measured: TypeAlias = dict[str, Any]
"""The measurements of one pinning, stealing and number of threads, as in the JSON file."""

_PINNINGS = ("equal", "compact", "none")
DETECTED = "detected"
_MOST_THREADS = 1024
TURNS = 5
_ROUNDS = 2000
_ROUNDS_WHERE_THREADS_SLEEP = 50
_JOBS = 20
_EMPTY_TASKS = 2000
_PEAK_SECONDS = 0.1
_DEPTH = 15
_LOADS = ("reduction", "step")  # what runs repeat: a sum up a tree, a time step of the fast multipole method


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
        help=f"{DETECTED}, or a synthetic one such as 'node:2 core:12 pu:2'; may be given several times "
        f"(default: {DETECTED})",
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
    parser.add_argument(
        "--distances",
        choices=("measured", "reported"),
        default="measured",
        help="distances between the NUMA nodes of this machine: measured, or those of the firmware (default: measured)",
    )
    parser.add_argument(
        "--peak",
        type=float,
        metavar="GFLOPS",
        help="peak of this machine in 10^9 double-precision operations per second: processors x frequency x operations "
        "per cycle (default: measured)",
    )
    add_result_files(parser, "the results")


def main(arguments: argparse.Namespace) -> int:
    """Measure all policies on all platforms, and print the results."""
    threads = _parse_threads(arguments.threads)
    pinnings = _parse_names("--pinning", arguments.pinning, _PINNINGS)
    stealings = _parse_names("--stealing", arguments.stealing, _core.stealing_policies())
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000, "give a number of runs")
    levels = whole_number("--levels", arguments.levels, 1, 20, "give a number of levels")
    check_peak("--peak", arguments.peak)
    topologies = [(text, read_topology(text)) for text in dict.fromkeys(arguments.topology or [DETECTED])]
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
    peak = find_peak(arguments.peak)
    for text, topology in topologies:
        platform: Platform = {}
        with Progress(console=console, transient=True) as progress:
            turns = min(TURNS, repetitions)
            task = progress.add_task(f"Measuring {text}", total=turns * len(policies) * len(threads))
            for platform in measure_platform(
                Subject(text, *order_nodes(topology, arguments.distances), peak),
                threads,
                policies,
                runs=repetitions,
                measure=partial(measure_all, levels=levels),
                advance=lambda: progress.advance(task),  # noqa: B023
            ):
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


def read_topology(text: str) -> _core.Topology:
    """Return the machine that a text names: this one, or a synthetic one."""
    return _core.Topology.detect() if text == DETECTED else _core.Topology.synthetic(text)


def _lay_over(topology: _core.Topology, threads: int, pinning: str) -> list[tuple[int, int]]:
    """Return the places of threads; those of a synthetic topology use the processors of this machine in turn."""
    places = _core.place_threads(topology, threads, pinning)
    if not topology.describe()["synthetic"]:
        return places
    there = _core.Topology.detect().processors()
    numbers = {processor: there[i % len(there)] for i, processor in enumerate(topology.processors())}
    return [(numbers.get(processor, -1), node) for processor, node in places]


# ---- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A platform to be measured."""

    text: str
    """Its name as an argument."""
    topology: _core.Topology
    latencies: list[list[float]] | None
    """Measured latencies (ns) between its NUMA nodes."""
    peak: dict[str, Any]
    """Result of `find_peak`."""


def order_nodes(topology: _core.Topology, distances: str) -> tuple[_core.Topology, list[list[float]] | None]:
    """Return a topology with measured or reported distances, and the latencies if they were measured."""
    if distances == "reported" or topology.describe()["synthetic"]:
        return topology, None
    return latencies.measure(topology)


def check_peak(name: str, peak: float | None) -> None:
    """Check a stated peak in 10^9 operations per second."""
    if peak is not None and not 1e-3 <= peak <= 1e9:
        raise ValueOutOfBoundsError(name, str(peak), "it must be from 0.001 to 10^9", "state it in 10^9 per second")


def find_peak(stated: float | None) -> dict[str, Any]:
    """Return the peak of this machine in double-precision operations per second, stated or measured."""
    if stated is not None:
        return {"flops_per_second": 1e9 * stated, "source": "stated"}
    processors = _core.Topology.detect().processors()
    peaks = [measurements().measure_peak(processors, _PEAK_SECONDS) for _ in range(3)]
    per_second, instruction_set, per_instruction = max(peaks)
    return {
        "flops_per_second": per_second,
        "source": "measured",
        "instruction_set": instruction_set,
        "operations_per_instruction": per_instruction,
        "processors": len(processors),
    }


def measure_platform(
    subject: Subject,
    threads: Sequence[int],
    policies: Sequence[Policies],
    *,
    runs: int,
    measure: Callable[[Any, int], Measured],
    advance: Callable[[], None],
) -> Iterator[Platform]:
    """Measure a platform in several turns, and return what has been measured after each of them.

    Parameters
    ----------
    subject
        The platform.
    threads
        Numbers of threads.
    policies
        Policies of pinning and of stealing.
    runs
        Runs for each policy and number of threads, over all turns.
    measure
        Function that measures a team in a turn, with a number of runs: of a sum up a tree as ``"reduction"``, or of a
        time step as ``"step"``.
    advance
        Called after each policy and number of threads.
    """
    turns = min(TURNS, runs)
    collected: dict[tuple[str, str, int], list[Measured]] = {}
    distances = subject.topology.describe()["distances"]
    for _ in range(turns):
        for number in threads:
            for pinning, stealing in policies:
                places = _lay_over(subject.topology, number, pinning)
                team = measurements().ParallelMeasurement(places, stealing, distances)
                measured = {
                    "places": team.places(),
                    "spins": team.spins(),
                    **measure(team, -(-runs // turns)),
                }
                collected.setdefault((pinning, stealing, number), []).append(measured)
                advance()
        yield _platform(subject, collected)


def _platform(subject: Subject, collected: Mapping[tuple[str, str, int], list[Measured]]) -> Platform:
    processors = machine.usable_processors()
    description = subject.topology.describe()
    first = next(iter(collected.values()))[0]
    synthetic = description["synthetic"]
    return {
        "name": subject.text if synthetic else machine.processor_name(),
        "synthetic": synthetic,
        "note": f"laid over the {_counted(processors, 'processor')} of this machine" if synthetic else "",
        "units": len(subject.topology.processors()),
        "cores_of_nodes": [len(node["cores"]) for node in description["nodes"] if node["cores"]],
        "nodes": len(description["nodes"]),
        "node_numbers": [node["os_index"] for node in description["nodes"]],
        "distances": description["distances"],
        "distance_source": description["distance_source"],
        "latencies_ns": subject.latencies,
        "processors": processors,
        "peak": subject.peak,
        "operations": next(first[load]["operations"] for load in _LOADS if load in first),
        "results": [
            {"pinning": pinning, "stealing": stealing, "threads": number, **_summarize(turns_of)}
            for (pinning, stealing, number), turns_of in collected.items()
        ],
    }


def measure_all(team: Any, runs: int, levels: int) -> Measured:
    """Measure everything."""
    rounds = _ROUNDS if team.spins() else _ROUNDS_WHERE_THREADS_SLEEP
    return {
        "barrier_s": team.barrier(rounds, 3),
        "round_s": team.rounds(rounds, 3),
        "job_s": team.job(_JOBS),
        "empty": team.empty_tasks(_EMPTY_TASKS, 3),
        "unbalanced": team.unbalanced_tree(_DEPTH, max(1, runs // 4)),
        "reduction": team.tree_reduction(levels, runs),
        "uneven_by_level": team.tree_reduction(levels, max(1, runs // 4), uneven=True),
        "uneven_by_cost": team.tree_reduction(levels, max(1, runs // 4), uneven=True, by_cost=True),
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

    def imbalance(name: str) -> float:
        """Return the operations of the node that has most, relative to the mean of the nodes."""
        of_nodes = turns[0][name]["node_operations"]
        return float(max(of_nodes) * len(of_nodes) / sum(of_nodes))

    summary = {
        "places": turns[0]["places"],
        "spins": turns[0]["spins"],
        **{
            f"{load}_{key}": value
            for load in _LOADS
            if load in turns[0]
            for key, value in (("s", times(load)), ("tasks", steals(load)))
        },
    }
    if "empty" not in turns[0]:
        return summary
    return {
        **summary,
        "barrier_s": median("barrier_s"),
        "round_s": median("round_s"),
        "job_s": median("job_s"),
        # Tasks of a thread: all threads do as many at once.
        "task_s": times("empty")["median"] / (_EMPTY_TASKS + 1),
        "unbalanced_s": times("unbalanced"),
        "unbalanced_tasks": steals("unbalanced"),
        **{
            f"{name}_{key}": value
            for name in ("uneven_by_level", "uneven_by_cost")
            for key, value in (("s", times(name)), ("tasks", steals(name)), ("imbalance", imbalance(name)))
        },
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
    if platform["latencies_ns"] is not None:
        console.print(Padding(latencies.table(platform["node_numbers"], platform["latencies_ns"]), (0, 0, 0, 2)))
    costs = _table("threads", "pinning", "stealing", "barrier (us)", "round (ns)", "job (us)", "task (ns)")
    sums = _table("threads", "pinning", "stealing", "median (ms)", "75 % (ms)", "near", "far")
    trees = _table("threads", "pinning", "stealing", "median (ms)", "75 % (ms)", "near", "far")
    uneven = _table("threads", "pinning", "stealing", "level (ms)", "/ mean", "cost (ms)", "/ mean")
    for result in platform["results"]:
        head = (str(result["threads"]), result["pinning"], result["stealing"])
        costs.add_row(
            *head,
            f"{1e6 * result['barrier_s']:.2f}",
            f"{1e9 * result['round_s']:.0f}",
            f"{1e6 * result['job_s']:.1f}",
            f"{1e9 * result['task_s']:.0f}",
        )
        uneven.add_row(
            *head,
            *(
                text
                for name in ("uneven_by_level", "uneven_by_cost")
                for text in (f"{1e3 * result[f'{name}_s']['median']:.3f}", f"{result[f'{name}_imbalance']:.3f}")
            ),
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
        ("A sum up an uneven tree, divided by level or by cost; operations of the greatest node / mean", uneven),
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


def bounded_text(number: Bounded | None) -> str:
    """Return an efficiency in percent, with its bounds."""
    return (
        "-" if number is None else f"{_percent(number.value)} % ({_percent(number.least)}-{_percent(number.greatest)})"
    )


def _percent(value: float) -> str:
    return f"{100.0 * value:.0f}" if value >= 0.1 else f"{100.0 * value:.2g}"


def in_millions(operations: float) -> str:
    """Return a number of operations in millions, as text."""
    millions = operations / 1e6
    return f"{millions:,.0f} million" if millions >= 1000.0 else f"{millions:.3g} million"


def peak_text(platform: Platform) -> str:
    """Return the operations of a run and the peak, as text."""
    peak = platform["peak"]
    return (
        f"{in_millions(platform['operations'])} operations, peak {peak['flops_per_second'] / 1e9:.1f} GFLOP/s "
        f"({peak['source']})"
    )


def _show_portability(
    console: Console, everywhere: Sequence[Platform], over: Sequence[Platform], policies: Sequence[Policies]
) -> None:
    console.print("\nPerformance portability of the sum", style="bold")
    for platform in everywhere:
        kind = "synthetic" if platform["synthetic"] else _counted(platform["processors"], "processor")
        kind += f", {peak_text(platform)}"
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
                table.add_row(*pair, str(one.threads), bounded_text(one.architectural), bounded_text(one.scaling))
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
            bounded_text(portability([None if one is None else one.architectural for one in found])),
            bounded_text(portability([None if one is None else one.scaling for one in found])),
        )
    console.print(f"\n  Phi over {_counted(len(over), 'platform')}", style="bold")
    console.print(Padding(table, (0, 0, 0, 2)))
    if len(over) < 2:
        console.print("  With fewer than two machines, it does not measure portability", style="dim")
