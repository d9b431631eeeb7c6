"""CUBA and COBA of Brette et al. (2007), compared with NEST and Brian2: what both benchmarks share."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._brian2 import add_brian2_python, python_of_brian2, refuse_brian2_python
from ranvier_benchmarks._in_turn import Comparison, Contestant, Measure, run_in_turn
from ranvier_benchmarks._nest import require_nest
from ranvier_benchmarks._options import parse_peers
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, choose, recorded_options

__all__ = ["add_arguments", "run"]

_TIME, _PRESIM = 1000.0, 100.0  # ms
_PEERS = ("nest", "brian2")
# Keys that all programs take; each has a delay of one step, and its method of integration.
_SHARED = ("neurons", "connection_probability", "resolution", "seed")
_SCRIPT = Path(__file__).with_name("_brian2_brette.py")

_MEASURES = (
    Measure("s per simulated second", lambda report: report["real_time_factor"]),
    Measure("rate of excitatory (spikes/s)", lambda report: report["mean_rate_hz"]["excitatory"], compared=False),
    Measure("rate of inhibitory (spikes/s)", lambda report: report["mean_rate_hz"]["inhibitory"], compared=False),
    Measure("peak memory (MB)", lambda report: report["peak_rss_bytes"] / 1e6),
)


def add_arguments(parser: argparse.ArgumentParser, network: str) -> None:
    """Declare the arguments."""
    parser.add_argument("--against", default="", metavar="NAME,...", help="programs to compare with: nest, brian2")
    both = ",".join(str(count) for count in range(1, min(2, usable_processors()) + 1))
    parser.add_argument(
        "--threads", default=both, metavar="N,...", help="each program runs with each number (default: %(default)s)"
    )
    add_brian2_python(parser)
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_settings(
        parser,
        f"keys of ranvier run {network}, by default time={_TIME:g} presim={_PRESIM:g}; other programs get neurons, "
        "connection_probability, resolution, seed and the times, Ranvier alone the options",
    )
    add_result_files(parser)


def run(arguments: argparse.Namespace, network: str, describe: Callable[..., object]) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000)
    chosen = choose(arguments.settings, describe, time=_TIME, presim=_PRESIM, network=signature_keys(describe))
    if "threads" in chosen.options:
        raise ValueOutOfBoundsError(
            "key threads", str(chosen.options["threads"]), "this benchmark sets it itself", "give --threads"
        )
    describe(**chosen.network)
    contestants = _contestants(arguments, chosen, network, describe)
    if arguments.json is not None:
        check_writable(arguments.json)
    console = Console(highlight=False)
    machine = info.gather()

    def as_json(comparison: Comparison) -> dict[str, Any]:
        return comparison.as_json(network, recorded_options(arguments, chosen), _MEASURES, machine)

    file = ResultsFile(arguments.json, {})
    comparison = run_in_turn(contestants, repetitions, console, lambda comparison: file.update(as_json(comparison)))
    title = f"{network.upper()}: {chosen.network['neurons']:,} neurons"
    times = f"{chosen.time:g} ms after {chosen.presim:g} ms, medians of {repetitions}"
    _show(console, f"{title}\n{times}", comparison)
    file.finish(as_json(comparison), console)
    return _check_same_work(console, comparison)


# ---- who runs --------------------------------------------------------------------------------------------------------


def _contestants(
    arguments: argparse.Namespace, chosen: Chosen, network: str, describe: Callable[..., object]
) -> list[Contestant]:
    peers = parse_peers(arguments.against, _PEERS)
    counts = []
    for text in arguments.threads.split(","):
        if not text.strip().isdecimal() or not 1 <= int(text) <= 4096:
            raise ValueOutOfBoundsError("--threads", f"'{text}'", "must be numbers from 1 to 4096")
        counts.append(int(text))
    if peers:
        _check_shared(chosen, signature_keys(describe))
    work = {"time": chosen.time, "presim": chosen.presim, **chosen.network}
    keys_of_ranvier = {**work, **chosen.options}
    shared = {key: value for key, value in work.items() if key in (*_SHARED, "time", "presim")}
    contestants = [
        Contestant(
            f"Ranvier, threads={count}", ("run", network, "--set", *_settings({**keys_of_ranvier, "threads": count}))
        )
        for count in counts
    ]
    if "nest" in peers:
        require_nest()
        begin = ("bench", "nest_brette", f"--network={network}", "--set")
        contestants += [
            Contestant(f"NEST, threads={count}", (*begin, *_settings({**shared, "threads": count}))) for count in counts
        ]
    if "brian2" in peers:
        python = python_of_brian2(arguments.brian2_python)
        contestants += [
            Contestant(f"Brian2, threads={count}", _of_brian2(network, chosen, count), program=(*python, str(_SCRIPT)))
            for count in counts
        ]
    else:
        refuse_brian2_python(arguments.brian2_python)
    return contestants


def _settings(values: dict[str, Any]) -> list[str]:
    return [f"{key}={value}" for key, value in values.items() if value is not None]


def _check_shared(chosen: Chosen, defaults: dict[str, Any]) -> None:
    """Other programs have the numbers of the paper."""
    for setting in chosen.network:
        if setting not in (*_SHARED, "delay", "method") and chosen.network[setting] != defaults[setting]:
            raise ValueOutOfBoundsError(
                f"key {setting}",
                str(chosen.network[setting]),
                "other programs have the number of the paper",
                "leave it out, or leave out --against",
            )
    if chosen.network["delay"] not in (None, chosen.network["resolution"]):
        raise ValueOutOfBoundsError(
            "key delay", f"{chosen.network['delay']} ms", "other programs have one step", "leave it out"
        )


def _of_brian2(network: str, chosen: Chosen, threads: int) -> tuple[str, ...]:
    keys = chosen.network
    probability = keys["connection_probability"]
    values = {
        "network": network,
        "neurons": keys["neurons"],
        "probability": min(1.0, 80.0 / keys["neurons"]) if probability is None else probability,
        "delay": keys["resolution"],
        "resolution": keys["resolution"],
        "seed": keys["seed"],
        "time": chosen.time,
        "presim": chosen.presim,
        "threads": threads,
    }
    return tuple(f"--{key}={value}" for key, value in values.items())


# ---- the report ------------------------------------------------------------------------------------------------------


def _show(console: Console, title: str, comparison: Comparison) -> None:
    """Print the medians of each contestant, and for each program the time of its best number of threads."""
    console.print()
    console.print(title, style="bold", soft_wrap=True)
    console.print()
    table = Table(box=None, padding=(0, 2), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for column in ("a simulated\nsecond takes", "ratio", "rates (spikes/s)\nexc.  inh.", "memory\n(MB)"):
        table.add_column(column, justify="right", no_wrap=True)
    best: dict[str, float] = {}
    for i, contestant in enumerate(comparison.contestants):
        seconds, rate_ex, rate_in, memory = (
            statistics.median(values) for values in (comparison.values(each, i) or [0.0] for each in _MEASURES[:4])
        )
        ratios = comparison.ratios(_MEASURES[0], i)
        program = contestant.name.partition(",")[0]
        best[program] = min(best.get(program, seconds), seconds)
        table.add_row(
            contestant.name,
            f"{seconds:.3g} s",
            f"{statistics.median(ratios):.3g}" if ratios else "",
            f"{rate_ex:.2f}  {rate_in:.2f}",
            f"{memory:.0f}",
        )
    console.print(Padding(table, (0, 0, 0, 2)))
    if len(best) > 1:
        ours = best.pop("Ranvier")
        texts = [f"{seconds / ours:.3g} times as long in {program}" for program, seconds in best.items()]
        console.print(f"\nWith the best number of threads of each: {', '.join(texts)} as in Ranvier", soft_wrap=True)


def _check_same_work(console: Console, comparison: Comparison) -> int:
    """Numbers of synapses are random: those of two programs may differ by five standard deviations."""
    reports = [report for of_one in comparison.reports for report in of_one]
    expected = statistics.median(report["synapses"] for report in reports)
    bound = 5.0 * math.sqrt(2.0 * expected)
    wrong = {report["synapses"] for report in reports if abs(report["synapses"] - expected) > bound}
    if not wrong and len({report["neurons"] for report in reports}) == 1:
        return 0
    console.print(f"\nThe networks were not the same: numbers of synapses were {sorted(wrong)}", style="bold red")
    return 1
