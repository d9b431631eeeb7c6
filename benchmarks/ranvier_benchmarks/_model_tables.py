"""Tables of `ranvier bench models`, which fit into 80 columns: the names of models take 30 of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier_benchmarks._model_peers import PEER_NAMES
from ranvier_benchmarks._settings import Chosen

__all__ = ["show"]

Result: TypeAlias = Mapping[str, Any]
Column: TypeAlias = tuple[str, Callable[[Result], str]]

# Text of a table for a model that a program lacks.
_NOTHING = "-"
_METHODS = {"exact": "exact", "exponential_euler": "exp. Euler", "euler": "Euler"}
# Difference in spikes, beside 10 percent, above which it is reported.
_FEW_SPIKES = 30


def show(console: Console, results: Sequence[Result], peers: Sequence[str], chosen: Chosen, repetitions: int) -> None:
    """Print the medians of all models, and of which of them programs have not fired alike; `peers` has their keys."""
    console.print(
        f"\n[bold]Models of neurons[/], per neuron: {chosen.network['neurons']:,} at about {chosen.network['rate']:g} "
        f"spikes/s\n{chosen.time:g} ms after {chosen.presim:g} ms on {chosen.threads} threads, "
        f"medians of {repetitions}\n",
        soft_wrap=True,
    )
    with_events = chosen.network["indegree"] > 0
    if not peers:
        events = [("ns per\nevent", _value("ns_per_event"))] if with_events else []
        _print(console, results, [("ns per\nstep", _value("ns_per_neuron_and_step")), *events])
        return
    console.print("Time per neuron and step (ns)", style="bold")
    _print(console, results, _columns_of_steps(peers))
    if with_events:
        console.print("\nTime per event (ns)", style="bold")
        of_peers = [(PEER_NAMES[peer], _of_peer(peer, _value("ns_per_event"))) for peer in peers]
        _print(console, results, [("Ranvier", _value("ns_per_event")), *of_peers])
    for result in results:
        for peer in peers:
            if result.get(peer) is not None:
                _compare_spikes(console, result, peer)


def _columns_of_steps(peers: Sequence[str]) -> list[Column]:
    columns: list[Column] = [("Ranvier", _value("ns_per_neuron_and_step"))]
    for peer in peers:
        columns.append((PEER_NAMES[peer], _of_peer(peer, _value("ns_per_neuron_and_step"))))
        columns.append(("ratio", _of_peer(peer, _value("ratio"))))
        if peer == "brian2":
            columns.append(("method", _of_peer(peer, lambda result: _METHODS[result["method"]])))
    return columns


def _print(console: Console, results: Sequence[Result], columns: Sequence[Column]) -> None:
    # Seven columns need every place.
    gap = 2 if len(columns) <= 5 else 1
    table = Table(box=None, padding=(0, gap), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for title, _ in columns:
        table.add_column(title, justify="left" if title == "method" else "right", no_wrap=True)
    for result in results:
        table.add_row(result["model"], *(cell(result) for _, cell in columns))
    console.print(Padding(table, (0, 0, 0, 2)))


def _compare_spikes(console: Console, result: Result, peer: str) -> None:
    """Print a note where the numbers of spikes differ: they explain a part of the times."""
    ours, other = result["spikes"], result[peer]["spikes"]
    # Neurons of both programs have currents that differ.
    if abs(ours - other) > 0.1 * max(ours, other) + _FEW_SPIKES:
        console.print(
            f"  {result['model']} fired {ours:,.0f} spikes, in {PEER_NAMES[peer]} {other:,.0f}", soft_wrap=True
        )


def _value(key: str) -> Callable[[Result], str]:
    return lambda result: _shown(result[key])


def _of_peer(peer: str, cell: Callable[[Result], str]) -> Callable[[Result], str]:
    """Return the same cell of what a program measured, or what says that it lacks the model."""
    return lambda result: _NOTHING if result[peer] is None else cell(result[peer])


def _shown(value: float) -> str:
    """Return a number with three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"
