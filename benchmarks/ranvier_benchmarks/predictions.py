"""Predicted times compared with measured ones: of dry runs, and of real runs on this process.

Each repetition makes a new prediction and then measures. Dry runs are those of `ranvier bench many_ranks`, for each
number of processes and method of exchange. Real runs are those of --networks, on one process with the same number of
threads, predicted from their real rates. A ratio above 1 means that the predicted time is too long. Single times depend
on other work of the machine, so the spread of the ratios matters: the factor by which the ratio of two predicted times
may differ from that of the measured ones.
Neither times include the network between machines.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

from ranvier import _core
from ranvier.base.paths import check_destinations
from ranvier.base.times import time_of
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import UnknownNameError
from ranvier.forecast import calibration
from ranvier.forecast.prediction import Times, expect_load, expect_times
from ranvier.network.network import Network
from ranvier.networks import brunel, hpc_benchmark, interval_fire, microcircuit
from ranvier.simulation.options import DryRun, grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._networks import describe
from ranvier_benchmarks._options import SORTING_NAMES, Sorting, check_positive, method_variants, parse_methods
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options
from ranvier_benchmarks.many_ranks import parse_ranks

__all__ = ["add_arguments", "main", "spread"]

Summary: TypeAlias = dict[str, Any]

_NETWORKS: dict[str, Callable[[], Network]] = {
    "microcircuit": lambda: microcircuit(scale=0.2, drive="poisson").net,
    "brunel": lambda: brunel(order=1500).net,
    "hpc_benchmark": lambda: hpc_benchmark(scale=0.5, indegree_scale=0.1).net,
    "interval_fire": lambda: interval_fire(cells=4096).net,
}
_TIME = 60.0
_REFUSED = {
    "threads": "give --threads",
    "exchange": "give --methods",
    "sort_connections": "leave it out: synapses are sorted, and then not",
    "recordings": "leave it out",
}
# Slices of a run: what else the machine does makes some of them longer.
_SLICES, _MOST_SLICES = 5, 100
_LEAST = 0.1  # seconds


@dataclass(frozen=True)
class _Case:
    network: str
    method: str
    is_sorted: Sorting
    ranks: int
    threads: int

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        name = self.network or f"{self.method}, {SORTING_NAMES[self.is_sorted]}, {self.ranks:,} ranks"
        return f"{name}, {threads}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--ranks", default="64,2048,16384,100000", metavar="N,...", help="(default: %(default)s)")
    parser.add_argument(
        "--methods", default="all", metavar="NAME,...", help="methods of exchange (default: %(default)s)"
    )
    parser.add_argument(
        "--networks",
        default="microcircuit,brunel,hpc_benchmark",
        metavar="NAME,...",
        help=f"networks for real runs on one process, of {', '.join(_NETWORKS)}, or none (default: %(default)s)",
    )
    parser.add_argument("--threads", default="1,2", metavar="N,...", help="(default: %(default)s)")
    parser.add_argument("--neurons-per-rank", type=int, default=1800, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--indegree", type=int, default=1125, metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--rate",
        type=float,
        default=10.0,
        metavar="HZ",
        help="rate of the neurons in dry runs, spikes/s (default: %(default)s)",
    )
    parser.add_argument(
        "--most-received",
        type=float,
        default=1e8,
        metavar="N",
        help="leave out variants that would receive more spikes per second (default: %(default)g)",
    )
    add_bench_settings(parser, f"time={_TIME:g}; no parameters of networks")
    parser.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="number of repetitions (default: %(default)s)"
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Predict and measure all configurations in turn, and print the results."""
    check_positive(arguments, ("neurons_per_rank", "indegree", "rate", "most_received", "repetitions"))
    chosen = choose(arguments.settings, time=_TIME, refused=_REFUSED)
    cases = _cases(arguments)
    check_destinations(arguments.json, None)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "predictions",
            "options": recorded_options(arguments, chosen),
            "machine": info.gather(),
        },
    )
    results: dict[_Case, Summary] = {}
    for repetition in range(arguments.repetitions):
        for case in cases:
            with console.status(f"{case} ({repetition + 1} of {arguments.repetitions})"):
                _add(results, case, *(_run if case.network else _play)(arguments, chosen, case))
            file.update({"results": list(results.values())})
    _show(console, results)
    file.finish({"results": list(results.values())}, console)
    return 0


def spread(results: Sequence[Summary], kind: str = "simulation") -> float:
    """Return the largest factor between the ratio of two predicted times and that of the measured times."""
    ratios = [float(result[f"{kind}_ratio"]) for result in results]
    return max(ratios) / min(ratios)


def _cases(arguments: argparse.Namespace) -> list[_Case]:
    threads = parse_ranks(arguments.threads, "--threads")
    ranks = parse_ranks(arguments.ranks)
    names = [] if arguments.networks in ("", "none") else [name.strip() for name in arguments.networks.split(",")]
    for name in names:
        if name not in _NETWORKS:
            raise UnknownNameError("--networks", name, f"it must be of {', '.join(_NETWORKS)}")
    methods = [method for method in parse_methods(arguments.methods, dry=True) if method != "auto"]
    cases = []
    for number in threads:
        for method, is_sorted in method_variants(methods, (True, False)):
            for count in ranks:
                received = arguments.neurons_per_rank * count * arguments.rate
                if "allgather" not in method or received <= arguments.most_received:
                    cases.append(_Case("", method, is_sorted, count, number))
        cases += [_Case(name, "alltoall", True, 1, number) for name in names]
    return cases


def _play(arguments: argparse.Namespace, chosen: Chosen, case: _Case) -> tuple[Times, Summary]:
    net = describe("hpc_benchmark", arguments.neurons_per_rank * case.ranks, arguments.indegree, {}).net
    times = _predict(net, case, chosen, {}, arguments.rate)
    sim = Simulation(
        net,
        threads=case.threads,
        recordings="local",
        progress=False,
        **grouped({**chosen.options, "exchange": case.method, "sort_connections": case.is_sorted}),
        dry_run=DryRun(ranks=case.ranks, invented_rate=arguments.rate),
    )
    # Persistent messages are set up when a neuron fires for the first time, and synapses learn nothing before that.
    sim.run(3000.0 / arguments.rate)
    return times, _measure(sim, chosen.time)


def _run(arguments: argparse.Namespace, chosen: Chosen, case: _Case) -> tuple[Times, Summary]:
    net = _NETWORKS[case.network]()
    sim = Simulation(
        net,
        threads=case.threads,
        progress=False,
        **grouped({**chosen.options, "sort_connections": True, "communicator": _core.Communicator.local()}),
    )
    sim.run(100.0)
    sim.reset_counts()
    measured = _measure(sim, 5.0 * chosen.time)
    counts = sim.counts()
    spikes, seconds = counts.population_spikes, time_of(counts.steps, sim.resolution) / 1000.0
    rates = {name: spikes[name] / len(net[name]) / seconds for name in spikes}
    return _predict(net, case, chosen, rates, 0.0), measured


def _predict(net: Network, case: _Case, chosen: Chosen, rates: Mapping[str, float], rate: float) -> Times:
    load: dict[str, Any] = {
        "ranks": case.ranks,
        "threads": case.threads,
        "rates": rates,
        "rate": rate,
        "sorted_by_source": case.is_sorted,
    }
    costs = calibration.measure(net, {**chosen.options, "exchange": case.method}, recalibrate=True, **load)
    expected = expect_load(net, directed=costs.directed, exchanges_per_delay=costs.exchanges_per_delay, **load)
    return expect_times(expected, costs)


def _measure(sim: Simulation, duration: float) -> Summary:
    """Return the times of a run per simulated second, from its fastest slice."""
    slices: list[dict[str, float]] = []
    steps = max(1, round(duration / _SLICES / sim.resolution))
    begin = time.perf_counter()
    # If a slice takes about a millisecond, many are needed for a stable minimum.
    while len(slices) < _SLICES or (time.perf_counter() - begin < _LEAST and len(slices) < _MOST_SLICES):
        before = sim.phases
        sim.run(time_of(steps, sim.resolution))
        after = sim.phases
        seconds = time_of(steps, sim.resolution) / 1000.0
        slices.append({name: (after[name] - before[name]) / seconds for name in after})
    least = min(slices, key=lambda one: one["simulation"])
    build = sim.phases["build"] + sim.phases["init"]
    return {"build": build, **{name: least[name] for name in least if name not in ("build", "init")}}


def _add(results: dict[_Case, Summary], case: _Case, times: Times, measured: Summary) -> None:
    of_network = results.setdefault(
        case,
        {
            "network": case.network or "played",
            "method": case.method,
            "sorted": case.is_sorted,
            "ranks": case.ranks,
            "threads": case.threads,
            "measured": [],
            "predicted": [],
        },
    )
    of_network["measured"].append(measured)
    of_network["predicted"].append({"build": times.build, "simulation": times.simulation, **times.parts})
    for kind in ("simulation", "build"):
        pairs = zip(of_network["predicted"], of_network["measured"], strict=True)
        of_network[f"{kind}_ratio"] = statistics.median(
            predicted[kind] / measured[kind] for predicted, measured in pairs
        )


def _show(console: Console, results: Mapping[_Case, Summary]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("configuration", no_wrap=True)
    for head in ("a second", "predicted", "ratio", "build", "predicted", "ratio"):
        table.add_column(head, justify="right", no_wrap=True)
    for case, result in results.items():
        cells = []
        for kind in ("simulation", "build"):
            medians = [statistics.median(one[kind] for one in result[name]) for name in ("measured", "predicted")]
            cells += [f"{median:.3f} s" for median in medians]
            cells.append(f"{result[f'{kind}_ratio']:.2f}")
        table.add_row(str(case), *cells)
    console.print(table)
    all_of_them = list(results.values())
    console.print(
        f"Predicted times of two of these relate otherwise than measured ones by a factor of at most "
        f"{spread(all_of_them):.2f}, of building {spread(all_of_them, 'build'):.2f}",
        soft_wrap=True,
    )
