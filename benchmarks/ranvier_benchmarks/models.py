"""Time of each model of neurons: per neuron and step, and per spike that arrives.

Neurons without synapses get a constant current, so strong that they fire at the rate that is asked for; for each
neuron it is drawn within 5 percent, so that they do not fire together. The current is searched for with Ranvier, and
other programs get the same. Models without a parameter I_e, which fire by themselves or not at all, have no
current. Time per neuron and step is that of the whole run, times the threads, divided by neurons and steps.

For the time of an event, sources that ignore their input and fire at 20 spikes/s project to the same neurons, with
weights of 0, so that these do as before. In Ranvier it is the time of the delivery; in other programs, which tell
no such part, what the run with synapses takes longer than the run without, the sources included.

Each program runs with each model in turn, and ratios are medians of the ratios of consecutive runs. Brian2 runs as a
compiled C++ program (standalone mode) with the equations of `_brian2_equations`; compilation, up to a minute for each
model in the first turn, is in no time. The table names its method of integration. "-" stands for a model that a program
does not have, null in the JSON file.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from ranvier import models
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number, whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.equations.neurons import NAMES
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes.machine import usable_processors
from ranvier.simulation.options import grouped
from ranvier_benchmarks._model_loads import DELAY, Load, current_for, events_of, time_of
from ranvier_benchmarks._model_peers import Peer, add_peer_arguments, chosen_peers
from ranvier_benchmarks._model_tables import show
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "main"]

# Adaptation takes some 100 ms to settle.
_TIME, _PRESIM = 100.0, 300.0
_MOST = 2**31 - 1


@dataclass
class _Rows:
    """The measurements of a model, one number for each turn; those of other programs by their keys."""

    load: Load
    ours: list[dict[str, float]] = field(default_factory=list)
    theirs: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--models", metavar="NAME,...", help="models of neurons (default: all that do not play spikes)")
    add_peer_arguments(parser)
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
    if arguments.json is not None:
        check_writable(arguments.json)
    with tempfile.TemporaryDirectory() as folder:
        peers = chosen_peers(arguments, Path(folder))
        return _run(arguments, chosen, names, peers, repetitions)


def _run(
    arguments: argparse.Namespace, chosen: Chosen, names: Sequence[str], peers: Sequence[Peer], repetitions: int
) -> int:
    keys = _describe(**chosen.network)
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {"benchmark": "models", "options": recorded_options(arguments, chosen), "machine": info.gather()},
    )
    with console.status("") as status:
        rows = []
        for name in names:
            status.update(f"{name}: looks for a current")
            rows.append(_Rows(Load(name, current_for(name, keys["rate"], keys["resolution"]), **keys)))
        for turn in range(repetitions):
            for row in rows:
                status.update(f"turn {turn + 1} of {repetitions}: {row.load.model}")
                _measure(row, peers, chosen)
                file.update({"results": _results(rows, peers)})
    results = _results(rows, peers)
    show(console, results, [peer.key for peer in peers], chosen, repetitions)
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
    known = sorted([*(name for name in models.NEURON_MODELS if name != "parrot_neuron"), *NAMES])
    if text is None:
        return known
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            unknown_name("--models", name, known)
    return names


# ---- what is measured ------------------------------------------------------------------------------------------------


def _measure(row: _Rows, peers: Sequence[Peer], chosen: Chosen) -> None:
    ours = time_of(row.load, chosen)
    if row.load.indegree > 0:
        ours |= events_of(row.load, chosen)
    row.ours.append(ours)
    for peer in peers:
        if peer.has(row.load.model):
            row.theirs[peer.key].append(peer.run(row.load, chosen))


# ---- what comes out --------------------------------------------------------------------------------------------------


def _results(rows: Sequence[_Rows], peers: Sequence[Peer]) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        if not row.ours:
            continue
        result: dict[str, Any] = {"model": row.load.model, "current_pA": row.load.current, "runs": row.ours}
        result |= _medians(row.ours)
        for peer in peers:
            result[peer.key] = _result_of(peer, row)
        found.append(result)
    return found


def _result_of(peer: Peer, row: _Rows) -> dict[str, Any] | None:
    """Return what another program measured; None if it does not have the model."""
    if not peer.has(row.load.model):
        return None
    theirs = row.theirs[peer.key]
    # The ratio is of consecutive runs, since other programs may use the machine.
    ratios = [
        their["ns_per_neuron_and_step"] / our["ns_per_neuron_and_step"]
        for our, their in zip(row.ours, theirs, strict=True)
    ]
    method = peer.method(row.load.model)
    return {
        **({} if method is None else {"method": method}),
        "runs": theirs,
        **_medians(theirs),
        "ratio": statistics.median(ratios),
    }


def _medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}
