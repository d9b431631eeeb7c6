"""Many threads: time of a step with several numbers of threads, its parts, and a model for other numbers.

Runs with --threads are measured in turn, and traced: each step is divided into the work of the threads and into
waiting, for slower threads (imbalance) and for cache lines that travel. For the numbers of --predict, a dry run of
one thread measures what one of so many does, and a model adds imbalance and travel. The model leaves out what threads
share, such as memory bandwidth, and changes of frequency: the ratio of measured and predicted time shows it, where
there are as many processors.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import ranvier as rv
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.forecast.dry_run import play
from ranvier.networks import NetworkModel, brunel, hpc_benchmark, microcircuit
from ranvier.processes.machine import usable_processors
from ranvier.simulation.options import grouped
from ranvier_benchmarks._in_turn import Comparison, Contestant, Report, run_in_turn
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options
from ranvier_benchmarks._threads_model import Journeys, PredictedStep, ShareOfWork, predict_step, share_of_work

__all__ = ["add_arguments", "main"]

_NETWORKS: dict[str, Callable[..., NetworkModel]] = {
    "microcircuit": microcircuit,
    "hpc_benchmark": hpc_benchmark,
    "brunel": brunel,
}
_TIME, _PRESIM = 1000.0, 100.0
_MOST_THREADS = 4096
_TRACED_ROUNDS = 20_000
_REFUSED = {
    "threads": "give --threads",
    "stepping": "leave it out: the model is one of epochs",
    "exchange": "leave it out: there is one process",
    "recordings": "leave it out",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    processors = usable_processors()
    few = ",".join(str(2**power) for power in range(processors.bit_length()))
    parser.add_argument("--network", default="microcircuit", choices=_NETWORKS, help="(default: %(default)s)")
    parser.add_argument("--threads", default=few, metavar="N,...", help="numbers to measure (default: %(default)s)")
    parser.add_argument(
        "--predict", default="1,2,4,8,16,64,128", metavar="N,...", help="numbers to predict (default: %(default)s)"
    )
    parser.add_argument(
        "--journeys",
        default="100,250",
        metavar="NEAR,FAR",
        help="nanoseconds of a cache line between processors of one socket and of two (default: %(default)s)",
    )
    parser.add_argument(
        "--socket", type=int, default=64, metavar="N", help="processors of a socket (default: %(default)s)"
    )
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="(default: %(default)s)")
    add_bench_settings(parser, f"time={_TIME:g} presim={_PRESIM:g}; no threads")
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure and predict, and print the results; return 1 if runs differ in their spikes."""
    measured = _numbers(arguments.threads, "--threads")
    predicted = _numbers(arguments.predict, "--predict") if arguments.predict not in ("", "none") else []
    journeys = _journeys(arguments)
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    chosen = choose(arguments.settings, _NETWORKS[arguments.network], time=_TIME, presim=_PRESIM, refused=_REFUSED)
    check_destinations(arguments.json, None)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "threads",
            "machine": info.gather(),
            "options": {
                **recorded_options(arguments, chosen),
                "network": arguments.network,
                "journeys_ns": arguments.journeys,
                "socket": arguments.socket,
            },
        },
    )
    comparison = _measure(arguments, chosen, measured, console, file)
    results = [_result(threads, reports) for threads, reports in zip(measured, comparison.reports, strict=True)]
    predictions = []
    if predicted:
        rates, epoch_steps = _activity(arguments, chosen, max(measured), console)
        for threads in predicted:
            share = _play_share(arguments, chosen, threads, rates, console)
            step = predict_step(share, threads, epoch_steps, journeys)
            predictions.append(_prediction(share, step, results))
            file.update({"results": results, "predictions": predictions})
    _show(console, results, predictions)
    file.finish({"results": results, "predictions": predictions}, console)
    digests = {report["spike_digest"] for reports in comparison.reports for report in reports}
    if len(digests) > 1:
        console.print("Runs had different spikes", style="bold red")
    return 1 if len(digests) > 1 else 0


def _numbers(text: str, argument: str) -> list[int]:
    numbers = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not 1 <= int(part) <= _MOST_THREADS:
            raise ValueOutOfBoundsError(argument, f"'{text}'", f"must be numbers from 1 to {_MOST_THREADS}")
        if int(part) not in numbers:
            numbers.append(int(part))
    return numbers


def _journeys(arguments: argparse.Namespace) -> Journeys:
    parts = arguments.journeys.split(",")
    try:
        near, far = (1e-9 * float(part) for part in parts)
        possible = 0.0 < near <= far < 1e-3
    except ValueError:
        possible = False
    if not possible:
        raise ValueOutOfBoundsError(
            "--journeys", f"'{arguments.journeys}'", "must be two times in ns, the shorter one first, such as 100,250"
        )
    if arguments.socket < 1:
        raise ValueOutOfBoundsError("--socket", str(arguments.socket), "must be at least 1")
    return Journeys(near=near, far=far, socket=arguments.socket)


def _measure(
    arguments: argparse.Namespace, chosen: Chosen, numbers: Sequence[int], console: Console, file: ResultsFile
) -> Comparison:
    given = [setting for setting in arguments.settings if setting.partition("=")[0] not in ("time", "presim")]
    keys = [f"time={chosen.time}", f"presim={chosen.presim}", *given]
    with tempfile.TemporaryDirectory() as folder:
        contestants = [
            Contestant(
                f"{arguments.network}, {threads} threads",
                (
                    *("run", arguments.network, "--trace", str(Path(folder) / f"{threads}.json")),
                    *("--set", *keys, f"threads={threads}"),
                ),
            )
            for threads in numbers
        ]

        def keep(comparison: Comparison) -> None:
            found = zip(numbers, comparison.reports, strict=True)
            file.update({"results": [_result(threads, reports) for threads, reports in found if reports]})

        return run_in_turn(contestants, arguments.repetitions, console, keep)


def _result(threads: int, reports: Sequence[Report]) -> dict[str, Any]:
    """Return the medians of the runs with a number of threads."""

    def median(value: Callable[[Report], float]) -> float:
        return statistics.median(value(report) for report in reports)

    traces = [report["trace_by_rank"][0] for report in reports]
    return {
        "threads": threads,
        "build_and_init_s": median(lambda report: report["build_s"] + report["init_s"]),
        "real_time_factors": [report["real_time_factor"] for report in reports],
        "real_time_factor": median(lambda report: report["real_time_factor"]),
        "parts_of_step_s": {
            name: statistics.median(trace["parts_of_step_s"][name] for trace in traces)
            for name in traces[0]["parts_of_step_s"]
        },
        "step_s": statistics.median(trace["step_s"] for trace in traces),
        "median_step_s": statistics.median(trace["step_quantiles_s"]["0.5"] for trace in traces),
        "wait_of_slowest_percent": statistics.median(trace["wait_of_slowest_percent"] for trace in traces),
        "synaptic_events": reports[0]["synaptic_events"],
        "spike_digest": reports[0]["spike_digest"],
    }


def _activity(
    arguments: argparse.Namespace, chosen: Chosen, threads: int, console: Console
) -> tuple[dict[str, float], float]:
    """Return the rates of the populations, and the mean number of steps of an epoch."""
    with console.status("rates of the populations"):
        model = _NETWORKS[arguments.network](**chosen.network)
        options = grouped({**chosen.options, "threads": threads, "trace": _TRACED_ROUNDS})
        sim = rv.Simulation(model.net, progress=False, **options)
        sim.run(chosen.presim)
        sim.reset_counts()
        sim.run(chosen.time)
        counts = sim.counts()
        account = sim.trace().account()
    rates = {
        population.name: counts.population_spikes[population.name] / len(population) / (1e-3 * chosen.time)
        for population in model.net.populations
        if not population.is_source
    }
    return rates, account.steps / account.epochs


def _play_share(
    arguments: argparse.Namespace, chosen: Chosen, threads: int, rates: dict[str, float], console: Console
) -> ShareOfWork:
    with console.status(f"one of {threads} threads"):
        model = _NETWORKS[arguments.network](**chosen.network)
        options = grouped({**chosen.options, "threads": 1, "trace": _TRACED_ROUNDS})
        if threads == 1:
            sim = rv.Simulation(model.net, progress=False, **options)
            sim.run(chosen.presim)
            sim.reset_counts()
            sim.run(chosen.time)
            return share_of_work(sim.trace())
        played = play(model.net, threads, duration=chosen.time, presim=chosen.presim, rate=rates, **options)
        assert played.trace is not None
        return share_of_work(played.trace)


def _prediction(share: ShareOfWork, step: PredictedStep, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = [result for result in results if result["threads"] == step.threads]
    return {
        "threads": step.threads,
        "read_s": share.read,
        "deliver_s": share.deliver,
        "update_s": share.update,
        "other_s": share.other,
        "events": share.events,
        "imbalance_s": step.imbalance,
        "travel_s": step.travel,
        "step_s": step.step,
        "measured_over_predicted": found[0]["step_s"] / step.step if found else None,
    }


def _show(console: Console, results: Sequence[dict[str, Any]], predictions: Sequence[dict[str, Any]]) -> None:
    def table(*headings: str) -> Table:
        made = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in headings:
            made.add_column(heading, justify="right", no_wrap=True)
        return made

    def microseconds(seconds: float) -> str:
        return f"{1e6 * seconds:.2f}"

    measured = table(
        "threads", "build\n(s)", "(s/s)", "step\n(us)", "read", "deliver", "update", "imbalance", "travel", "speedup"
    )
    fewest = min(results, key=lambda result: int(result["threads"]))
    for result in results:
        parts = result["parts_of_step_s"]
        measured.add_row(
            str(result["threads"]),
            f"{result['build_and_init_s']:.2f}",
            f"[bold]{result['real_time_factor']:.3f}[/]",
            *(microseconds(seconds) for seconds in (result["step_s"], parts["read"], parts["deliver"])),
            microseconds(parts["update"] + parts["record"] + parts["other"]),
            *(microseconds(parts[name]) for name in ("imbalance", "travel")),
            f"{fewest['real_time_factor'] / result['real_time_factor']:.2f}",
        )
    console.print("\n  Measured, parts of a step in microseconds\n", style="bold")
    console.print(measured)
    if not predictions:
        return
    predicted = table(
        "threads", "step\n(us)", "work", "deliver", "update", "imbalance", "travel", "measured\n/ predicted"
    )
    for found in predictions:
        ratio = found["measured_over_predicted"]
        work = found["read_s"] + found["deliver_s"] + found["update_s"] + found["other_s"]
        predicted.add_row(
            str(found["threads"]),
            f"[bold]{microseconds(found['step_s'])}[/]",
            *(microseconds(seconds) for seconds in (work, found["deliver_s"], found["update_s"])),
            *(microseconds(found[name]) for name in ("imbalance_s", "travel_s")),
            "" if ratio is None else f"{ratio:.2f}",
        )
    console.print("\n  Predicted: one of so many threads, alone on its processor\n", style="bold")
    console.print(predicted)
