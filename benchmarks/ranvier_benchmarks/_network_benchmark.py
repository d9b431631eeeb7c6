"""A network that ships with Ranvier: with different options, or compared with NEST; what such benchmarks share."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._in_turn import Comparison, Contestant, Measure, Report, run_in_turn, show
from ranvier_benchmarks._nest import require_nest
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, choose, recorded_options

__all__ = ["NetworkBenchmark", "add_arguments", "run"]


@dataclass(frozen=True)
class NetworkBenchmark:
    """A network, in Ranvier and in NEST."""

    name: str
    """Name of the network, as for ``ranvier run``; NEST's side is ``ranvier bench nest_NAME``."""
    describe: Callable[..., object]
    """Describes it in Ranvier; its arguments are the keys of the network."""
    time: float
    """To simulate, ms, unless chosen."""
    presim: float
    """To leave out before, ms, unless chosen."""
    title: Callable[[Chosen], str]
    """Title of the table."""
    complete: Callable[[Chosen], None] = lambda chosen: None
    """Completes keys of the network that depend on each other."""
    is_drawn: bool = False
    """Whether the number of synapses is drawn, so that two programs have different ones."""


def add_arguments(parser: argparse.ArgumentParser, benchmark: NetworkBenchmark) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--against",
        choices=("nest", "ranvier"),
        help="program to compare with; ranvier: with itself, which shows the noise",
    )
    parser.add_argument(
        "--nest-threads",
        type=int,
        help="threads of NEST (default: one for each processor, or the multiple that its tables need)",
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_settings(
        parser,
        f"keys of ranvier run {benchmark.name}, by default time={benchmark.time:g} presim={benchmark.presim:g}; NEST "
        "gets those of the network and the times, Ranvier alone the options",
    )
    parser.add_argument(
        "--compare",
        metavar="KEY=VALUE,VALUE...",
        action="append",
        default=[],
        help="run Ranvier with each value of a key of `ranvier run`, e.g. instruction_set=avx2,avx512",
    )
    add_result_files(parser)


def run(arguments: argparse.Namespace, benchmark: NetworkBenchmark) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    chosen = choose(
        arguments.settings,
        benchmark.describe,
        time=benchmark.time,
        presim=benchmark.presim,
        network=signature_keys(benchmark.describe),
    )
    benchmark.complete(chosen)
    if arguments.json is not None:
        check_writable(arguments.json)
    contestants = _contestants(arguments, chosen, benchmark.name)
    console = Console(highlight=False)
    machine = info.gather()

    def as_json(comparison: Comparison) -> dict[str, Any]:
        measures = [*_MEASURES, *_rates(comparison)]
        return comparison.as_json(benchmark.name, recorded_options(arguments, chosen), measures, machine)

    file = ResultsFile(arguments.json, {})
    comparison = run_in_turn(
        contestants, arguments.repetitions, console, lambda comparison: file.update(as_json(comparison))
    )
    measures = [*_MEASURES, *_rates(comparison)]
    show(console, _title(comparison, arguments.repetitions, chosen, benchmark), comparison, measures)
    file.finish(as_json(comparison), console)
    return _check_same_work(comparison, console, is_drawn=benchmark.is_drawn)


# ---- who runs --------------------------------------------------------------------------------------------------------


def _contestants(arguments: argparse.Namespace, chosen: Chosen, network: str) -> list[Contestant]:
    compared = {text.partition("=")[0] for text in arguments.compare}
    for setting in arguments.settings:
        key = setting.partition("=")[0]
        if key in compared:
            raise ValueOutOfBoundsError(
                f"key {key}", f"'{setting}'", "its values are compared", "give it to --compare only"
            )
    work = {"time": chosen.time, "presim": chosen.presim, **chosen.network}
    shared = {key: f"{key}={value}" for key, value in work.items() if value is not None}
    options = [setting for setting in arguments.settings if setting.partition("=")[0] in chosen.options]
    given = [*(text for key, text in shared.items() if key not in compared), *options]
    contestants = []
    for varied in itertools.product(*(_variants(text) for text in arguments.compare)):
        name = ", ".join(("Ranvier", *varied))
        contestants.append(Contestant(name, ("run", network, "--set", *given, *varied)))
    if arguments.against == "ranvier":
        contestants.append(Contestant("Ranvier again", contestants[0].arguments))
    if arguments.against == "nest":
        require_nest()
        threads = [] if arguments.nest_threads is None else [f"threads={arguments.nest_threads}"]
        contestants.append(Contestant("NEST", ("bench", f"nest_{network}", "--set", *shared.values(), *threads)))
    return contestants


def _variants(text: str) -> list[str]:
    key, equals, values = text.partition("=")
    if not equals or not values:
        raise ValueOutOfBoundsError("--compare", f"'{text}'", "it must be key=value,value...")
    return [f"{key}={value}" for value in values.split(",")]


# ---- the report ------------------------------------------------------------------------------------------------------


def _title(comparison: Comparison, repetitions: int, chosen: Chosen, benchmark: NetworkBenchmark) -> str:
    report = comparison.reports[0][0]
    threads = ", ".join(
        f"{name} {reports[0]['threads']}"
        for name, reports in zip(comparison.short_names(), comparison.reports, strict=True)
    )
    return (
        f"{benchmark.title(chosen)}: {report['neurons']:,} neurons, {report['synapses']:,} synapses\n"
        f"{chosen.time:g} ms after {chosen.presim:g} ms, medians of {repetitions}\n"
        f"Threads on {usable_processors()} processors: {threads}"
    )


def _check_same_work(comparison: Comparison, console: Console, *, is_drawn: bool) -> int:
    sizes = {(report["neurons"], report["synapses"]) for reports in comparison.reports for report in reports}
    synapses = [of_network for _, of_network in sizes]
    # Numbers of many independent draws differ by less.
    is_alike = is_drawn and max(synapses) - min(synapses) <= 0.01 * max(synapses)
    if len(sizes) == 1 or (is_alike and len({neurons for neurons, _ in sizes}) == 1):
        return 0
    console.print(f"\nThe networks were not the same: neurons and synapses were {sorted(sizes)}", style="bold red")
    return 1


def _worker_seconds(report: Report, phase: str | None = None) -> float | None:
    """Return the time of the simulation or of a part of it, summed over threads that ran at the same time."""
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
    Measure("  bytes per synapse, as counted", lambda report: report.get("bytes_per_synapse"), ".2f", compared=False),
    Measure("spikes", lambda report: report["spikes"], ",.0f", compared=False),
    Measure("synaptic events (million)", lambda report: report["synaptic_events"] / 1e6, ",.3f", compared=False),
)
