"""`ranvier run MODEL --dry-run RANKS`: make a dry run, which simulates one of many processes, and report on it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import mpi
from ranvier.base.encodings import decoded
from ranvier.base.names import counted
from ranvier.commands.report import UNSORTED, _bar, _seconds, _size, show_steps
from ranvier.errors import FileError, StateError, ValueOutOfBoundsError
from ranvier.forecast import dry_run
from ranvier.forecast.dry_run import PlayedProcess
from ranvier.networks import NetworkModel
from ranvier.simulation.measurements import PARTS
from ranvier.simulation.options import grouped

__all__ = ["add_arguments", "check_arguments", "memory_table", "play", "show"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of dry runs to the parser of `ranvier run`."""
    parser.add_argument(
        "--dry-run",
        metavar="RANKS",
        type=int,
        help="dry run: build and run only the part of one of this many processes, with simulated spikes of the others",
    )
    parser.add_argument(
        "--rate",
        metavar="HZ",
        help="in a dry run, the assumed rate of the neurons of all processes, spikes/s, or a file of ranvier run "
        "--json with the rates; by default, the other processes send the same spikes as this one",
    )


def check_arguments(options: argparse.Namespace) -> None:
    """Refuse arguments that cannot be combined with a dry run, or that need one."""
    if options.dry_run is None:
        if options.rate is not None:
            raise ValueOutOfBoundsError(
                "--rate", str(options.rate), "spikes are invented in dry runs only", "add --dry-run"
            )
        return
    if options.plot is not None:
        raise ValueOutOfBoundsError("--plot", str(options.plot), "a dry run has no spikes of the network to draw")
    if mpi.launched():
        raise StateError("dry run", bound="it plays many processes with one", remedy="start it without mpiexec")


def play(options: argparse.Namespace, model: NetworkModel, keys: dict[str, Any]) -> PlayedProcess:
    """Make the dry run of the command line."""
    chosen = {name: value for name, value in keys.items() if name not in ("time", "presim", "save_every", "recordings")}
    return dry_run.play(
        model.net,
        options.dry_run,
        duration=keys["time"],
        presim=keys["presim"],
        rate=_rate(options.rate),
        **grouped(chosen),
    )


def _rate(text: str | None) -> float | dict[str, float] | None:
    """Return the rate of the command line: a number, or the rate of each population in the results of a run."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        results = json.loads(decoded(Path(text).read_bytes()))
        return {name: float(rate) for name, rate in results["mean_rate_hz"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(
            f"--rate {text}",
            bound=f"it is neither a number nor a file of results ({type(error).__name__})",
            remedy="write a rate in spikes/s, or a file of ranvier run --json",
        ) from error


def show(console: Console, played: PlayedProcess, model: NetworkModel) -> None:
    """Print the results of a dry run as text."""
    net = model.net
    console.print()
    console.print(Text(net.name, style="bold"), soft_wrap=True)
    if model.source:
        console.print(Text(model.source, style="dim"), soft_wrap=True)
    console.print(
        f"Dry run: rank 0 of [bold]{played.ranks:,}[/], {played.threads} thread{'s' if played.threads > 1 else ''}, "
        f"{played.instruction_set}, exchange by {played.exchange}",
        soft_wrap=True,
    )
    console.print(
        f"[bold]{played.neurons:,}[/] of {net.neuron_count:,} neurons, [bold]{played.synapses:,}[/] of "
        f"{counted(net.expected_synapses, 'synapse', ',.0f')}",
        soft_wrap=True,
    )
    source = "the assumed rate" if played.invented else "the other processes send the same spikes as this one"
    console.print(f"{played.rate:.3g} spikes/s: {source}", soft_wrap=True)
    if not played.sorts_connections:
        console.print(UNSORTED, style="dim", soft_wrap=True)
    console.print()
    console.print(Padding(memory_table(played.memory), (0, 0, 0, 2)))
    console.print(
        f"  at most {_size(played.resident)} resident, {_size(played.resident_before)} of it before the "
        "network was built",
        style="dim",
        soft_wrap=True,
    )
    console.print()
    console.print(Padding(_times(played), (0, 0, 0, 2)))
    console.print("  communicate does not include the network between machines", style="dim", soft_wrap=True)
    console.print()
    if played.trace is not None:
        show_steps(console, [played.trace.account()], played.steps)
    traffic = played.traffic
    console.print(
        f"Spikes    [bold]{played.spikes:,}[/] of its neurons, [bold]{played.events:,}[/] synaptic events",
        soft_wrap=True,
    )
    console.print(
        f"Exchange  [bold]{traffic['spikes_sent']:,}[/] sent, [bold]{traffic['spikes_received']:,}[/] received, "
        f"{_size(traffic['bytes_sent'])} in {traffic['exchanges']:,} exchanges and {traffic['rounds']:,} rounds",
        soft_wrap=True,
    )


def memory_table(memory: dict[str, int], of_all: str = "memory") -> Table:
    """Return bytes by component as a table, with their sum under the name `of_all`."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    total = sum(memory.values())
    for name, size in sorted(memory.items(), key=lambda item: -item[1]):
        if size > 0:
            table.add_row(name, _size(size), _bar(size / total, "magenta"))
    table.add_row(Text(of_all, style="bold"), Text(_size(total), style="bold"), "")
    return table


def _times(played: PlayedProcess) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    phases = played.phases
    table.add_row("build", _seconds(phases["build"]), "")
    table.add_row("init", _seconds(phases["init"]), "")
    whole = phases["simulation"]
    pace = f"for {played.simulated:,g} ms: real-time factor {played.real_time_factor:.2f}"
    table.add_row(Text("simulation", style="bold"), Text(_seconds(whole), style="bold"), pace)
    for name in PARTS:
        share = phases[name] / whole if whole > 0.0 else 0.0
        table.add_row(Text(f"  {name}", style="dim"), _seconds(phases[name]), _bar(share, "cyan"))
    return table
