"""Table 1: cache efficiency of linear and standard containers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import Figure
from ranvier_benchmarks import _containers_figure
from ranvier_benchmarks._counters import COUNTERS, find_counter
from ranvier_benchmarks.containers import KINDS, count_result, measure_kinds
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019 import published
from ranvier_benchmarks.papers.magalhaes2019._runs import print_table

__all__ = ["TABLE_1"]

_STEPS_AT_ONCE = {"bsp": 4, "async": 12}


def _check(*, neurons: tuple[int, ...], steps: int, repetitions: int, counts: bool) -> None:
    for name, values, least, most in (
        ("neurons", neurons, 2, 65536),
        ("steps", (steps,), 12, 2**31),
        ("repetitions", (repetitions,), 1, 1_000_000),
    ):
        for value in values:
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ValueOutOfBoundsError(f"key {name}", str(value), f"it must be from {least} to {most}")
    if not neurons:
        raise ValueOutOfBoundsError("key neurons", "()", "it must have a number", "give numbers of neurons")


def measure_table(
    progress: Progress,
    *,
    neurons: tuple[int, ...] = (128, 256, 512),
    steps: int = 1200,
    repetitions: int = 3,
    counts: bool = True,
) -> Measured:
    """Measure the containers of neurons that get spikes from all others, as `ranvier bench containers`.

    Parameters
    ----------
    neurons
        Numbers of neurons.
    steps
        Steps of a run.
    repetitions
        Runs of each kind, in turn.
    counts
        Count instructions and data, by the counters of the processor, or by valgrind.
    """
    counter = find_counter() if counts else None
    results: list[dict[str, Any]] = []
    whole: Measured = {"counted_by": None if counter is None else COUNTERS[counter], "results": results}
    for model, at_once in _STEPS_AT_ONCE.items():
        for size in neurons:
            progress.step(f"{size:,} neurons, {at_once} steps at a time")
            measured = measure_kinds(list(KINDS), size, steps, at_once, repetitions)
            for result in measured:
                result["model"] = model
                if counter is not None:
                    result["counts"] = count_result(counter, result)
            results += measured
            progress.keep(whole)
    different = {
        (a["neurons"], a["model"])
        for a in results
        for b in results
        if (a["neurons"], a["model"]) == (b["neurons"], b["model"]) and a["checksum"] != b["checksum"]
    }
    return {**whole, "different": sorted(different)}


def _show(measured: Measured, console: Console) -> None:
    for model, at_once in _STEPS_AT_ONCE.items():
        rows = []
        for size in dict.fromkeys(each["neurons"] for each in measured["results"]):
            found = {
                each["kind"]: each for each in measured["results"] if each["neurons"] == size and each["model"] == model
            }
            paper = published.CONTAINERS[model].get(size)
            rows.append(
                (
                    f"{size:,}",
                    *(f"{statistics.median(found[kind]['seconds']):.3f}" for kind in ("linear", "std", "engine")),
                    _ratio(found, lambda each: statistics.median(each["seconds"])),
                    "" if paper is None else _quotient(*paper["seconds"]),
                    _ratio(found, lambda each: each.get("counts", {}).get("instructions")),
                    "" if paper is None else _quotient(*paper["instructions"]),
                    _ratio(found, lambda each: each.get("counts", {}).get("near_bytes")),
                    "" if paper is None else _quotient(*paper["near"]),
                )
            )
        headings = (
            "neurons",
            "linear (s)",
            "std (s)",
            "engine (s)",
            "std/linear: time",
            "paper",
            "instructions",
            "paper",
            "L1 to L2",
            "paper",
        )
        name = "Bulk-synchronous" if model == "bsp" else "Asynchronous"
        print_table(console, f"{name}: {at_once} steps at a time", headings, rows)
    if measured["different"]:
        console.print(f"  Kinds of containers differ in what came out: {measured['different']}", style="bold red")


def _ratio(found: dict[str, Any], value: Any) -> str:
    linear, standard = value(found["linear"]), value(found["std"])
    return _quotient(linear, standard) if linear and standard else ""


def _quotient(linear: float, standard: float) -> str:
    return f"{standard / linear:.2f}"


def _draw(measured: Sequence[Measured]) -> Figure:
    return _containers_figure.draw(measured[0]["results"])


TABLE_1 = PaperResult(
    kind="table",
    number="1",
    title="Linear and standard containers",
    minutes=3.0,
    measure=measure_table,
    full={"neurons": (128, 256, 512, 1024, 2048), "steps": 4000},
    check=_check,
    show=_show,
    draw=_draw,
)
