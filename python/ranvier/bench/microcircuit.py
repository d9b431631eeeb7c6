"""The cortical microcircuit: Ranvier alone, with different options, or side by side with NEST.

Each run has a process of its own, and they take turns (A B A B ...). The ratio is the median of the ratios of runs that
followed each other, other by first. Both programs record all spikes; what they simulate before the time that is
measured is left out. Times per event (a spike at one synapse) and per neuron and step are those of one thread.

NEST gets as many threads as there are processors, but at full scale at least four: its tables hold 2^27 connections of
a kind on each thread. It does not count events: they are its spikes by the mean out-degree of their population.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from ranvier.base.paths import check_writable
from ranvier.bench._in_turn import Comparison, Contestant, Measure, Report, run_in_turn, show
from ranvier.bench._nest import require_nest
from ranvier.bench._results import ResultsFile
from ranvier.commands import info
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks.microcircuit import choose_drive
from ranvier.processes.machine import usable_processors

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--against", choices=("nest", "ranvier"), help="what to compare with; ranvier: itself, which shows the noise"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of neurons and in-degrees (default: %(default)s)")
    parser.add_argument("--time", type=float, default=1000.0, metavar="MS", help="to measure (default: %(default)s)")
    parser.add_argument("--presim", type=float, default=100.0, metavar="MS", help="to leave out (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="of Ranvier; default: one for each processor")
    parser.add_argument(
        "--nest-threads", type=int, help="default: one for each processor, or as many times that as its tables need"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument(
        "--drive", choices=("dc", "poisson"), help="default: dc, or poisson where constant drive would leave it silent"
    )
    parser.add_argument("--resolution", type=float, default=0.1, metavar="MS", help="resolution (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument(
        "--set", metavar="KEY=VALUE", nargs="+", default=[], help="more keys of `ranvier run`, for Ranvier alone"
    )
    parser.add_argument(
        "--compare",
        metavar="KEY=VALUE,VALUE...",
        action="append",
        default=[],
        help="run Ranvier with each value of a key of `ranvier run`, e.g. instruction_set=avx2,avx512",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn and tell the results; 1 when they did not do the same work."""
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    if arguments.drive is None:
        arguments.drive = choose_drive(arguments.scale)
    if arguments.json is not None:
        check_writable(arguments.json)
    contestants = _contestants(arguments)
    console = Console(highlight=False)
    machine = info.gather()

    def as_json(comparison: Comparison) -> dict[str, Any]:
        measures = [*_MEASURES, *_rates(comparison)]
        return comparison.as_json("microcircuit", vars(arguments), measures, machine)

    file = ResultsFile(arguments.json, {})
    comparison = run_in_turn(
        contestants, arguments.repetitions, console, lambda comparison: file.update(as_json(comparison))
    )
    measures = [*_MEASURES, *_rates(comparison)]
    show(console, _title(comparison, arguments), comparison, measures)
    file.finish(as_json(comparison), console)
    return _check_same_work(comparison, console)


# ---- who runs --------------------------------------------------------------------------------------------------------


def _contestants(arguments: argparse.Namespace) -> list[Contestant]:
    settings = {
        "scale": arguments.scale,
        "time": arguments.time,
        "presim": arguments.presim,
        "drive": arguments.drive,
        "resolution": arguments.resolution,
        "seed": arguments.seed,
    }
    if arguments.threads is not None:
        settings["threads"] = arguments.threads
    given = [f"{key}={value}" for key, value in settings.items()] + list(arguments.set)
    contestants = []
    for varied in itertools.product(*(_variants(text) for text in arguments.compare)):
        name = ", ".join(("Ranvier", *varied))
        contestants.append(Contestant(name, ("run", "microcircuit", "--set", *given, *varied)))
    if arguments.against == "ranvier":
        contestants.append(Contestant("Ranvier again", contestants[0].arguments))
    if arguments.against == "nest":
        require_nest()
        options = [f"--{key}={value}" for key, value in settings.items() if key != "threads"]
        if arguments.nest_threads is not None:
            options.append(f"--threads={arguments.nest_threads}")
        contestants.append(Contestant("NEST", ("bench", "nest_microcircuit", *options)))
    return contestants


def _variants(text: str) -> list[str]:
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise ValueOutOfBoundsError("--compare", f"'{text}'", "it must be key=value,value...")
    return [f"{key}={value}" for value in values.split(",")]


# ---- what is told ----------------------------------------------------------------------------------------------------


def _title(comparison: Comparison, arguments: argparse.Namespace) -> str:
    report = comparison.reports[0][0]
    threads = ", ".join(
        f"{name} {reports[0]['threads']}"
        for name, reports in zip(comparison.short_names(), comparison.reports, strict=True)
    )
    return (
        f"Cortical microcircuit: {report['neurons']:,} neurons, {report['synapses']:,} synapses\n"
        f"drive {arguments.drive}, {arguments.time:g} ms after {arguments.presim:g} ms, "
        f"medians of {arguments.repetitions}\n"
        f"Threads on {usable_processors()} processors: {threads}"
    )


def _check_same_work(comparison: Comparison, console: Console) -> int:
    sizes = {(report["neurons"], report["synapses"]) for reports in comparison.reports for report in reports}
    if len(sizes) == 1:
        return 0
    console.print(f"\nThe networks were not the same: neurons and synapses were {sorted(sizes)}", style="bold red")
    return 1


def _worker_seconds(report: Report, phase: str | None = None) -> float | None:
    """Return the time of the simulation or of a part of it, summed over the threads that ran at one time."""
    seconds = report["sim_s"] if phase is None else report.get("phases_s", {}).get(phase)
    return None if seconds is None else float(seconds) * min(report["threads"], usable_processors())


def _per_event(phase: str | None = None) -> Callable[[Report], float | None]:
    def value(report: Report) -> float | None:
        seconds, events = _worker_seconds(report, phase), report["synaptic_events"]
        return None if seconds is None or events == 0 else 1e9 * seconds / events

    return value


def _per_neuron_and_step(phase: str | None = None) -> Callable[[Report], float | None]:
    def value(report: Report) -> float | None:
        steps = report["simulated_ms"] / report["parameters"]["resolution"]
        seconds, updates = _worker_seconds(report, phase), report["neurons"] * steps
        return None if seconds is None else 1e9 * seconds / updates

    return value


def _rates(comparison: Comparison) -> list[Measure]:
    def of_population(name: str) -> Callable[[Report], float]:
        return lambda report: float(report["mean_rate_hz"][name])

    names = comparison.reports[0][0]["mean_rate_hz"]
    return [Measure(f"rate of {name} (spikes/s)", of_population(name), ".3f", compared=False) for name in names]


_MEASURES = (
    Measure("build (s)", lambda report: report["build_s"]),
    Measure("init (s)", lambda report: report["init_s"], ".3f", compared=False),
    Measure("build and init (s)", lambda report: report["build_s"] + report["init_s"]),
    Measure("simulation (s)", lambda report: report["sim_s"]),
    Measure("  per simulated second (s)", lambda report: report["real_time_factor"]),
    Measure("  ns per event", _per_event()),
    Measure("  ns per neuron and step", _per_neuron_and_step()),
    Measure("  delivery, ns per event", _per_event("deliver")),
    Measure("  update, ns per neuron and step", _per_neuron_and_step("update")),
    Measure("peak memory (GB)", lambda report: report["peak_rss_bytes"] / 1e9),
    Measure("  bytes per synapse", lambda report: report["peak_rss_bytes"] / report["synapses"], ".1f"),
    Measure("  bytes per synapse, own account", lambda report: report.get("bytes_per_synapse"), ".2f", compared=False),
    Measure("spikes", lambda report: report["spikes"], ",.0f", compared=False),
    Measure("synaptic events (million)", lambda report: report["synaptic_events"] / 1e6, ",.3f", compared=False),
)
