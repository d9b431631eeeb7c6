"""Time of each model of neurons: per neuron and step, and per spike that arrives.

Neurons without synapses get a constant current, so strong that they fire at the rate that is asked for; for each
neuron it is drawn within 5 percent, so that they do not fire together. The current is searched for with Ranvier, and
the other program gets the same. Models without a parameter I_e, which fire by themselves or not at all, have no
current. Time per neuron and step is that of the whole run, times the threads, divided by neurons and steps.

For the time of an event, sources that ignore their input and fire at 20 spikes/s project to the same neurons, with
weights of 0, so that these do as before. In Ranvier it is the time of the delivery; in the other program, which tells
no such part, what the run with synapses takes longer than the run without, the sources included.

Each program runs with each model in turn, and ratios are medians of the ratios of consecutive runs.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import models
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number, whole_number
from ranvier.base.paths import check_writable
from ranvier.bench._in_turn import Contestant, run_once
from ranvier.bench._model_loads import DELAY, Load, current_for, events_of, time_of
from ranvier.bench._nest import require_nest
from ranvier.bench._results import ResultsFile
from ranvier.bench._settings import Chosen, add_bench_settings, choose, recorded_options
from ranvier.bench.nest_models import node_models
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.equations.definitions import DEFINITIONS
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes.machine import usable_processors
from ranvier.simulation.options import grouped

__all__ = ["add_arguments", "main"]

# Adaptation takes some 100 ms to settle.
_TIME, _PRESIM = 100.0, 300.0
_MOST = 2**31 - 1
# By which programs may differ, beside 10 percent, before it is told.
_FEW_SPIKES = 30


@dataclass
class _Rows:
    """What was measured of a model, one number for each turn; of the other program, if it has the model."""

    load: Load
    in_nest: bool
    ours: list[dict[str, float]] = field(default_factory=list)
    theirs: list[dict[str, float]] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--models", metavar="NAME,...", help="models of neurons (default: all that do not play spikes)")
    parser.add_argument("--against", choices=("nest",), help="program to compare with")
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_bench_settings(
        parser,
        f"time={_TIME:g} presim={_PRESIM:g} threads={usable_processors()}; keys neurons, rate, indegree, which is 0 "
        "for no events",
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all models in turn, and print the results."""
    chosen = choose(
        arguments.settings,
        _describe,
        time=_TIME,
        presim=_PRESIM,
        network=signature_keys(_describe),
        options={"threads": usable_processors()},
    )
    keys = _describe(**chosen.network)
    if not 0.1 <= keys["rate"] <= 500.0:
        raise ValueOutOfBoundsError("key rate", f"{keys['rate']:g} spikes/s", "must be from 0.1 to 500 spikes/s")
    _check_resolution(keys["resolution"])
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000)
    names = _names(arguments.models)
    grouped(chosen.options)
    if arguments.against == "nest":
        require_nest()
        theirs = set(node_models())
    else:
        theirs = set()
    if arguments.json is not None:
        check_writable(arguments.json)
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {"benchmark": "models", "options": recorded_options(arguments, chosen), "machine": info.gather()},
    )
    with console.status("") as status:
        rows = []
        for name in names:
            status.update(f"{name}: looks for a current")
            load = Load(name, current_for(name, keys["rate"], keys["resolution"]), **keys)
            rows.append(_Rows(load, name in theirs))
        for turn in range(repetitions):
            for row in rows:
                status.update(f"turn {turn + 1} of {repetitions}: {row.load.model}")
                _measure(row, chosen)
                file.update({"results": _results(rows)})
    results = _results(rows)
    _show(console, results, chosen, repetitions)
    file.finish({"results": results}, console)
    return 0


def _describe(
    *,
    neurons: int = 10_000,
    rate: float = 10.0,
    indegree: int = 100,
    resolution: float = 0.1,
    seed: int = 1,
) -> dict[str, Any]:
    """Return the keys of the network: neurons, their rate in spikes/s, and synapses of each in the run with events."""
    return {
        "neurons": whole_number("key neurons", neurons, 1, _MOST),
        "rate": number("key rate", rate),
        "indegree": whole_number("key indegree", indegree, 0, _MOST),
        "resolution": resolution,
        "seed": seed,
    }


def _check_resolution(resolution: float) -> None:
    """All networks of the benchmark have the same delay, in both programs."""
    if not 0.0 < resolution <= DELAY or abs(DELAY / resolution - round(DELAY / resolution)) > 1e-9:
        raise ValueOutOfBoundsError(
            "key resolution", f"{resolution:g} ms", f"must divide {DELAY:g} ms, the delay of this benchmark"
        )


def _names(text: str | None) -> list[str]:
    known = sorted([*(name for name in models.NEURON_MODELS if name != "parrot_neuron"), *DEFINITIONS])
    if text is None:
        return known
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            unknown_name("--models", name, known)
    return names


# ---- what is measured ------------------------------------------------------------------------------------------------


def _measure(row: _Rows, chosen: Chosen) -> None:
    ours = time_of(row.load, chosen)
    if row.load.indegree > 0:
        ours |= events_of(row.load, chosen)
    row.ours.append(ours)
    if row.in_nest:
        settings = {
            **{key: chosen.network[key] for key in ("neurons", "indegree", "resolution", "seed")},
            "time": chosen.time,
            "presim": chosen.presim,
            "threads": chosen.threads,
        }
        given = [f"{key}={value}" for key, value in settings.items()]
        current = [] if row.load.current is None else [f"--current={row.load.current!r}"]
        report = run_once(
            Contestant("NEST", ("bench", "nest_models", f"--model={row.load.model}", *current, "--set", *given))
        )
        row.theirs.append(
            {key: report[key] for key in ("ns_per_neuron_and_step", "ns_per_event", "spikes") if key in report}
        )


# ---- what comes out --------------------------------------------------------------------------------------------------


def _results(rows: list[_Rows]) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        if not row.ours:
            continue
        result: dict[str, Any] = {"model": row.load.model, "current_pA": row.load.current, "runs": row.ours}
        result |= _medians(row.ours)
        if row.theirs:
            # While they run in turn, the first ones may be one run ahead.
            pairs = list(zip(row.ours, row.theirs, strict=False))
            result["nest"] = {"runs": row.theirs, **_medians(row.theirs)}
            result["ratio"] = statistics.median(
                their["ns_per_neuron_and_step"] / own["ns_per_neuron_and_step"] for own, their in pairs
            )
        found.append(result)
    return found


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def _show(console: Console, results: list[dict[str, Any]], chosen: Chosen, repetitions: int) -> None:
    console.print(
        f"\n[bold]Models of neurons[/], per neuron: {chosen.network['neurons']:,} at about {chosen.network['rate']:g} "
        f"spikes/s\n{chosen.time:g} ms after {chosen.presim:g} ms on {chosen.threads} threads, "
        f"medians of {repetitions}\n",
        soft_wrap=True,
    )
    compared = any("nest" in result for result in results)
    table = Table(box=None, padding=(0, 2), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    columns = ["ns per\nstep", "ns per\nevent"]
    columns += ["NEST: ns\nper step", "ratio\n", "NEST: ns\nper event"] if compared else []
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        cells = _cells(result)
        if compared:
            nest = result.get("nest")
            step, event = ("", "") if nest is None else _cells(nest)
            cells += [step, "" if nest is None else _shown(result["ratio"]), event]
        table.add_row(result["model"], *cells)
    console.print(Padding(table, (0, 0, 0, 2)))
    for result in results:
        own, other = result["spikes"], result.get("nest", result)["spikes"]
        # Neurons of both have currents of their own, so that a few spikes more or fewer are in the time.
        if abs(own - other) > 0.1 * max(own, other) + _FEW_SPIKES:
            console.print(f"  {result['model']} fired {own:,.0f} spikes, in NEST {other:,.0f}", soft_wrap=True)


def _cells(result: dict[str, Any]) -> list[str]:
    event = result.get("ns_per_event")
    return [_shown(result["ns_per_neuron_and_step"]), "" if event is None else _shown(event)]


def _shown(value: float) -> str:
    """Return a number with three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"
