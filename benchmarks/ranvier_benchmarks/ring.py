"""Rings of branched cells with Hodgkin-Huxley channels: Ranvier, or compared with NEURON, CoreNEURON and Arbor.

Each run is a separate process, and contestants take turns (A B A B ...). All programs get the same cells, compartments,
steps and threads. Ranvier can be compared with itself, too: with cells of different shapes, or with two threads. The
time of a run is that of the simulation alone, without building. Ratios are medians of the ratios of consecutive runs,
of the other contestant to the first.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from ranvier.base.names import unknown_name
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._in_turn import Comparison, Contestant, Measure, run_in_turn, show
from ranvier_benchmarks._peers import RING_TIME, require_peer, ring_keys
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, choose, recorded_options

__all__ = ["add_arguments", "main"]

_PEERS = {
    "neuron": ("NEURON", "neuron", ("bench", "neuron_ring")),
    "coreneuron": ("CoreNEURON", "neuron", ("bench", "neuron_ring", "--coreneuron")),
    "arbor": ("Arbor", "arbor", ("bench", "arbor_ring")),
}
# Ranvier with other settings.
_VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "ranvier": ("Ranvier again", {}),
    "different": ("Different shapes", {"shapes": "different"}),
    "two_threads": ("Two threads", {"threads": 2}),
}
# Keys that mean the same to all programs.
_SHARED = ("cells", "depth", "compartments", "dendrites", "resolution")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--against",
        default="",
        metavar="NAME,...",
        help=f"programs to compare with: {', '.join(_PEERS)}; or Ranvier itself: ranvier, which shows the noise, "
        "different: with cells of different shapes, two_threads",
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_settings(
        parser,
        f"keys of ranvier run ring, by default time={RING_TIME:g} threads=1; other programs get cells, depth, "
        "compartments, dendrites, resolution, time and threads, Ranvier alone the options",
    )
    add_result_files(parser, "the time of each program")


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn, and print the results; return 1 if they did not do the same work."""
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    chosen = choose(
        arguments.settings,
        ring_keys,
        time=RING_TIME,
        network=signature_keys(ring_keys),
        options={"threads": 1},
    )
    for path in (arguments.json, arguments.plot):
        if path is not None:
            check_writable(path)
    contestants = _contestants(arguments.against, chosen)
    console = Console(highlight=False)
    machine = info.gather()

    def as_json(comparison: Comparison) -> dict[str, Any]:
        result = comparison.as_json("ring", recorded_options(arguments, chosen), _MEASURES, machine)
        return {**result, "programs": _programs(comparison)}

    file = ResultsFile(arguments.json, {})
    comparison = run_in_turn(
        contestants, arguments.repetitions, console, lambda comparison: file.update(as_json(comparison))
    )
    report = comparison.reports[0][0]
    title = (
        f"Ring of {chosen.network['cells']:,} cells, {report['compartments']:,} compartments, "
        f"dendrites {chosen.network['dendrites']}\n"
        f"{chosen.time:g} ms in steps of {chosen.network['resolution']:g} ms on {chosen.threads} threads, "
        f"medians of {arguments.repetitions}"
    )
    show(console, title, comparison, _MEASURES)
    result = as_json(comparison)
    file.finish(result, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _ring_figure

        _ring_figure.save(result, arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return _check_same_work(comparison, console)


def _contestants(against: str, chosen: Chosen) -> list[Contestant]:
    network = {key: chosen.network[key] for key in _SHARED}
    shared = {**network, "time": chosen.time, "threads": chosen.threads}
    keys_of_ranvier = {**shared, **chosen.without("threads")}
    contestants = [Contestant("Ranvier", ("run", "ring", "--set", *_settings(keys_of_ranvier)))]
    for name in dict.fromkeys(part.strip() for part in against.split(",") if part.strip()):
        if name in _VARIANTS:
            title, other = _VARIANTS[name]
            contestants.append(Contestant(title, ("run", "ring", "--set", *_settings({**keys_of_ranvier, **other}))))
            continue
        if name not in _PEERS:
            unknown_name("--against", name, [*_PEERS, *_VARIANTS])
        program, module, command = _PEERS[name]
        require_peer(program, module)
        contestants.append(Contestant(program, (*command, "--set", *_settings(shared))))
    return contestants


def _settings(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}={value}" for key, value in values.items()]


def _programs(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "name": contestant.name,
            "seconds": statistics.median(report["sim_s"] for report in reports),
            "ns_per_compartment_step": statistics.median(report["ns_per_compartment_step"] for report in reports),
            "spikes": reports[0]["spikes"],
        }
        for contestant, reports in zip(comparison.contestants, comparison.reports, strict=True)
        if reports
    ]


def _check_same_work(comparison: Comparison, console: Console) -> int:
    """Return 1 if cells were not the same, or a program fired another number of spikes than the others.

    Cells of different shapes have as many compartments, and fire different spikes.
    """
    work = {
        (report["compartments"], None if contestant.name == _VARIANTS["different"][0] else report["spikes"])
        for contestant, reports in zip(comparison.contestants, comparison.reports, strict=True)
        for report in reports
    }
    if len({compartments for compartments, _ in work}) == 1 and len({spikes for _, spikes in work} - {None}) <= 1:
        return 0
    console.print(f"\nPrograms differ: compartments and spikes were {sorted(work, key=str)}", style="bold red")
    return 1


_MEASURES = (
    Measure("simulation (s)", lambda report: report["sim_s"], ".3f"),
    Measure("  ns per compartment and step", lambda report: report["ns_per_compartment_step"]),
    Measure("build (s)", lambda report: report["build_s"], ".3f"),
    Measure("peak memory (MB)", lambda report: report["peak_rss_bytes"] / 1e6, ".0f"),
    Measure("spikes", lambda report: report["spikes"], ",.0f", compared=False),
)
