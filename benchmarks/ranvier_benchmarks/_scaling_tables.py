"""The tables that `ranvier bench scaling` prints."""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.processes.machine import usable_processors
from ranvier.simulation.predictions import lasting_bytes
from ranvier_benchmarks._options import SORTING_NAMES
from ranvier_benchmarks._settings import Chosen

__all__ = ["PHASES", "Summary", "show", "title", "variant"]

Summary: TypeAlias = dict[str, Any]
"""The measurements of one variant on some processes, as in the JSON file."""

PHASES = ("build", "init", "simulation")


def title(arguments: argparse.Namespace) -> str:
    size = {
        "weak": f"{arguments.neurons_per_rank:,} neurons to each process",
        "strong": f"{arguments.neurons:,} neurons",
        "fill": f"{arguments.memory_per_rank} to each process",
    }[arguments.mode]
    return f"{arguments.model}, {arguments.mode} scaling: {size}, in-degree {arguments.indegree:,}"


def variant(result: Summary) -> str:
    return f"{result['method']}, {SORTING_NAMES[result['sorted']]}"


def show(
    console: Console, results: list[Summary], arguments: argparse.Namespace, chosen: Chosen, transport: str
) -> None:
    threads = f"{chosen.threads} thread{'s' if chosen.threads > 1 else ''} to each process"
    console.print()
    console.print(title(arguments), style="bold", soft_wrap=True)
    console.print(f"{threads}, {chosen.time:g} ms after {chosen.presim:g} ms, {transport}", style="dim", soft_wrap=True)
    crowded = sorted({result["ranks"] for result in results if result["crowded"]})
    if crowded:
        console.print(
            f"With {', '.join(map(str, crowded))} processes there are more threads than the {usable_processors()} "
            "processors: they take turns, so times grow with their number.",
            style="yellow",
        )
    groups = [
        [result for result in results if (result["method"], result["sorted"]) == variant]
        for variant in dict.fromkeys((result["method"], result["sorted"]) for result in results)
    ]
    for group in groups:
        console.print(f"\n  [bold]{variant(group[0])}[/]")
        console.print(Padding(_overview(group), (0, 0, 0, 2)))
    for group in groups:
        console.print(f"\n  [bold]{variant(group[0])}[/]: memory of the largest process by component (MB)")
        console.print(Padding(_components(group, arguments.mode), (0, 0, 0, 2)))


def _overview(results: list[Summary]) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    names = {"pro-\ncesses": 6, "\nneurons": 8, "synapses\n(million)": 9}
    names |= {"build\n(s)": 5, "init\n(s)": 5, "sim\n(s)": 5, "account\n(MB)": 7, "resident\n(MB)": 8}
    names |= {"predicted\n(MB)": 9, "off by\n(%)": 6}
    for name, width in names.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for result in results:
        cells = [
            str(result["ranks"]),
            f"{result['neurons']:,}",
            f"{result['synapses'] / 1e6:.2f}",
            *(f"{result['times_s'][phase]['greatest']:.2f}" for phase in PHASES),
            f"{result['memory_bytes']['greatest'] / 1e6:.1f}",
            f"{result['resident_bytes']['greatest'] / 1e6:.1f}",
        ]
        cells += [f"{lasting_bytes(result['predicted_bytes']) / 1e6:.1f}", f"{100.0 * result['deviation']:+.1f}"]
        table.add_row(*cells)
    return table


def _components(results: list[Summary], mode: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("processes", no_wrap=True, min_width=12)
    for result in results:
        table.add_column(str(result["ranks"]), justify="right", no_wrap=True, min_width=9)
    names = sorted({name for result in results for name in result["components_bytes"]})
    for name in names:
        values = [result["components_bytes"].get(name, {"greatest": 0.0})["greatest"] for result in results]
        if max(values) > 0.0:
            table.add_row(name, *(f"{value / 1e6:.3f}" for value in values))
    if mode == "fill":
        # It is part of what must fit, but has gone when the account is taken.
        construction = [result["predicted_bytes"].get("construction", 0) for result in results]
        table.add_row("while built, predicted", *(f"{value / 1e6:.3f}" for value in construction), style="dim")
    return table
