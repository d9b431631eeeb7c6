"""Containers of neurons: linear ones, those of the standard library, and those of the engine.

As Table 1 of Magalhães et al. (2019), for neurons that do nothing but use their containers: each gets spikes from all
others, looks in each step for the least of the times of its sources, puts an event into its queue, takes out those that
are due, and sends its time to all others every 600 steps. A neuron takes 4 steps at a time, as in bulk-synchronous
stepping with the shortest delay of the paper, or 12, about as in the paper's asynchronous stepping.

linear  a vector, maps and a queue of circular arrays for each source, each in one piece of memory
std     std::vector, std::map and std::priority_queue
engine  as in the engine of Ranvier: arrays without keys, and a list of events for each of the next steps

Kinds are measured in turn. Instructions, cycles and data that move between caches come from the counters of the
processor where there are any, otherwise from valgrind, in fewer steps, from which those of all steps follow.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.names import unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._counters import COUNTERS, count, find_counter
from ranvier_benchmarks._native import measurements
from ranvier_benchmarks._results import ResultsFile

__all__ = ["KINDS", "add_arguments", "count_result", "main", "measure_kinds"]

KINDS = ("linear", "std", "engine")
_MOST_NEURONS, _MOST_STEPS = 2**16, 2**31
# Values that are gone through where steps are counted by a simulated processor.
_MOST_COUNTED = 2e7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--neurons",
        default="128,256,512,1024,2048",
        metavar="N,...",
        help="numbers of neurons (default: %(default)s)",
    )
    parser.add_argument("--kinds", default="all", metavar="NAME,...", help=f"all, or some of {', '.join(KINDS)}")
    parser.add_argument(
        "--steps-at-once", default="4,12", metavar="N,...", help="steps of a turn (default: %(default)s)"
    )
    parser.add_argument("--steps", type=int, default=4000, metavar="N", help="steps of a run (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    parser.add_argument("--no-counts", action="store_true", help="measure times only")
    add_result_files(parser, "times and instructions")


def main(arguments: argparse.Namespace) -> int:
    """Measure all kinds, and print the results; return 1 if kinds differed in what came out."""
    kinds = _kinds(arguments.kinds)
    sizes = _numbers("--neurons", arguments.neurons, 2, _MOST_NEURONS)
    turns = _numbers("--steps-at-once", arguments.steps_at_once, 1, _MOST_STEPS)
    steps = whole_number("--steps", arguments.steps, 1, _MOST_STEPS, "give a number of steps")
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000, "give a number of runs")
    check_destinations(arguments.json, arguments.plot)
    counter = None if arguments.no_counts else find_counter()
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "containers",
            "options": {key: value for key, value in vars(arguments).items() if isinstance(value, bool | int | str)},
            "machine": info.gather(),
            "counted_by": None if counter is None else COUNTERS[counter],
        },
    )
    results: list[dict[str, Any]] = []
    for at_once in turns:
        for size in sizes:
            with console.status(f"{size:,} neurons, {at_once} steps at a time"):
                results += measure_kinds(kinds, size, steps, at_once, repetitions)
                file.update({"results": results})
                for result in results[-len(kinds) :] if counter is not None else []:
                    result["counts"] = count_result(counter or "", result)
                    file.update({"results": results})
    _show(console, results, counter, repetitions)
    file.finish({"results": results}, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _containers_figure, _figures

        _figures.save(_containers_figure.draw(results), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    return _check_same(console, results)


def _kinds(text: str) -> list[str]:
    known = list(KINDS)
    names = known if text.strip() == "all" else list(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            unknown_name("--kinds", name, [*known, "all"])
    return names


def _numbers(option: str, text: str, least: int, most: int) -> list[int]:
    numbers = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not least <= int(part) <= most:
            raise ValueOutOfBoundsError(option, f"'{text}'", f"must be numbers from {least} to {most}")
        numbers.append(int(part))
    return list(dict.fromkeys(numbers))


def measure_kinds(
    kinds: Sequence[str], neurons: int, steps: int, at_once: int, repetitions: int
) -> list[dict[str, Any]]:
    """Return a result for each kind of containers, which are measured in turn."""
    measure = measurements().measure_containers
    runs: dict[str, list[tuple[float, int, int, int]]] = {kind: [] for kind in kinds}
    for _ in range(repetitions):
        for kind, runs_of_kind in runs.items():
            runs_of_kind.append(measure(kind, neurons, steps, at_once))
    return [
        {
            "kind": kind,
            "neurons": neurons,
            "steps": steps,
            "steps_at_once": at_once,
            "seconds": [seconds for seconds, *_ in runs_of_kind],
            "iterations": runs_of_kind[0][1],
            "events": runs_of_kind[0][2],
            "checksum": runs_of_kind[0][3],
        }
        for kind, runs_of_kind in runs.items()
    ]


def count_result(counter: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of all steps, and of how many steps they were counted."""
    neurons, at_once = result["neurons"], result["steps_at_once"]
    affordable = int(_MOST_COUNTED / neurons**2) if counter == "valgrind" else result["steps"]
    steps = max(1, min(result["steps"], affordable) // at_once) * at_once
    factor = result["steps"] / steps
    counted = asdict(count(counter, result["kind"], neurons, steps, at_once))
    return {
        "counted_steps": steps,
        **{name: None if value is None else factor * value for name, value in counted.items()},
    }


def _show(console: Console, results: Sequence[dict[str, Any]], counter: str | None, repetitions: int) -> None:
    console.print("\nContainers of neurons that get spikes from all others", style="bold")
    source = "not counted here" if counter is None else COUNTERS[counter]
    console.print(f"  {results[0]['steps']:,} steps, medians of {repetitions}; instructions and data {source}\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in (
        "steps\nat once",
        "neurons",
        "kind",
        "time\n(s)",
        "std/kind",
        "iterations\n(10^3)",
        "instructions\n(10^9)",
        "cycles per\ninstruction",
        "L1 to L2\n(GB)",
        "beyond L2\n(GB)",
    ):
        table.add_column(heading, justify="left" if heading == "kind" else "right", no_wrap=True)
    for result in results:
        standard = [r for r in results if _same_load(r, result) and r["kind"] == "std"]
        seconds = statistics.median(result["seconds"])
        counts = result.get("counts", {})
        cycles = counts.get("cycles")
        table.add_row(
            str(result["steps_at_once"]),
            f"{result['neurons']:,}",
            result["kind"],
            f"{seconds:.3f}",
            f"{statistics.median(standard[0]['seconds']) / seconds:.2f}" if standard else "",
            f"{result['iterations'] / 1e3:,.0f}",
            _billions(counts.get("instructions")),
            "" if cycles is None else f"{cycles / counts['instructions']:.2f}",
            _billions(counts.get("near_bytes")),
            _billions(counts.get("far_bytes")),
        )
    console.print(Padding(table, (0, 0, 0, 2)))


def _billions(value: float | None) -> str:
    return "" if value is None else f"{value / 1e9:.3g}"


def _same_load(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(a[key] == b[key] for key in ("neurons", "steps", "steps_at_once"))


def _check_same(console: Console, results: Sequence[dict[str, Any]]) -> int:
    different = {
        (result["neurons"], result["steps_at_once"])
        for result in results
        for other in results
        if _same_load(result, other) and (result["checksum"], result["events"]) != (other["checksum"], other["events"])
    }
    if not different:
        return 0
    console.print(f"Kinds of containers differ in what came out: {sorted(different)}", style="bold red")
    return 1
