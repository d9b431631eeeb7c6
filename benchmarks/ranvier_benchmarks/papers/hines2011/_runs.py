"""Real and simulated runs of the network of the paper, in one form, and what its figures and tables share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.memory_checks import check_room
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import interval_fire
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._exchange_simulation.engine import METHODS, Simulated
from ranvier_benchmarks._exchange_simulation.machines import BLUE_GENE_P
from ranvier_benchmarks._exchange_simulation.network import check_network, per_interval, simulate_network
from ranvier_benchmarks._mpiexec import BYTES_OF_A_PROCESS, Mpiexec, check_startable, find_mpiexec, run_worker
from ranvier_benchmarks.exchange import check_digests, make_result
from ranvier_benchmarks.papers._paper import Measured, Progress

__all__ = [
    "KINDS",
    "Kind",
    "Load",
    "Run",
    "Topology",
    "Variant",
    "check_loads",
    "check_numbers",
    "empty_table",
    "measure",
    "note_on_crowding",
    "number_text",
    "of_kind",
    "print_indented",
    "seconds_text",
    "show_head",
]

Run = dict[str, Any]
"""A run, real or simulated, in the form of a method of `ranvier bench exchange`, with its `Load`."""
Kind = Literal["simulated", "real"]
KINDS: tuple[Kind, ...] = ("simulated", "real")
"""In the order of tables and figures."""
Topology = Literal["random", "adjacent"]

_BYTES_OF_SYNAPSE = 32  # while the network is built
_FEWEST_INTERVALS = 4  # so that there is a last quarter


@dataclass(frozen=True)
class Variant:
    """A method of exchange.

    Attributes
    ----------
    name
        Name in tables and figures.
    method
        Name in Ranvier; empty: none that a computer has.
    simulated
        Name in the simulation; empty: not simulated.
    intervals
        Intervals of the shortest delay.
    buffer
        With all-gathering: spikes of the first collective.
    """

    name: str
    method: str = ""
    simulated: str = ""
    intervals: int = 1
    buffer: int | None = None


@dataclass(frozen=True)
class Load:
    """A network on some processes, and how long it runs.

    Attributes
    ----------
    kind
        "real" or "simulated".
    processes, cells, connections
        Their numbers; the last of inputs of a cell.
    time
        Simulated time, ms.
    burst, topology, placement
        As for `ranvier.networks.interval_fire`, and the option of a simulation.
    """

    kind: Kind
    processes: int
    cells: int
    connections: int
    time: float
    burst: bool = False
    topology: Topology = "random"
    placement: Literal["round_robin", "consecutive", "shuffle"] = "round_robin"


# ---- checks ----------------------------------------------------------------------------------------------------------


def check_loads(loads: Sequence[Load], *, repetitions: int, slots: int, least_processes: int = 2) -> None:
    """Check runs before any is started.

    Raises
    ------
    ValueOutOfBoundsError, RuleError, InsufficientMemoryError
        For numbers out of bounds, networks that cannot be built or simulated, and runs without room.
    """
    if not loads:
        raise ValueOutOfBoundsError(
            "keys processes and simulated_processes", "0", "nothing is left to measure", "give one of them"
        )
    if isinstance(repetitions, bool) or repetitions < 1:
        raise ValueOutOfBoundsError("key repetitions", str(repetitions), "it must be at least one")
    for load in loads:
        if not _FEWEST_INTERVALS <= load.time <= 1e5 or load.time != round(load.time):
            raise ValueOutOfBoundsError(
                "key time",
                f"{load.time} ms",
                f"it must be a whole number of milliseconds from {_FEWEST_INTERVALS} to 1e5",
            )
        if load.kind == "simulated":
            _check_number("simulated_processes", load.processes, 2)
            check_network(
                cells=load.cells,
                connections=load.connections,
                ranks=load.processes,
                time=load.time,
                slots=slots,
                topology=load.topology,
            )
            continue
        check_startable("key processes", [load.processes])
        _check_number("processes", load.processes, least_processes)
        _check_number("cells_per_process", load.cells, load.processes)
        _network(load, seed=1)
        check_room(
            f"a network of {load.cells:,} cells with {load.connections:,} inputs on {load.processes} processes",
            load.cells * load.connections * _BYTES_OF_SYNAPSE + load.processes * BYTES_OF_A_PROCESS,
            "choose fewer cells or processes",
        )


def check_numbers(key: str, values: Sequence[int], least: int, greatest: int) -> None:
    """Check that a key has whole numbers in bounds, each once.

    Raises
    ------
    ValueOutOfBoundsError
        When it has none, others, or one twice.
    """
    if not values or len(set(values)) < len(values):
        raise ValueOutOfBoundsError(f"key {key}", str(values), "it must have numbers, each once")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= greatest:
            raise ValueOutOfBoundsError(
                f"key {key}", str(value), f"it must be whole numbers from {least} to {greatest:,}"
            )


def _check_number(key: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueOutOfBoundsError(f"key {key}", str(value), f"it must be a whole number of at least {least}")


def _network(load: Load, seed: int) -> dict[str, Any]:
    keys = {
        "cells": load.cells,
        "connections": load.connections,
        "topology": load.topology,
        "burst": load.burst,
        "seed": seed,
    }
    # Mistakes are found before a process is started.
    interval_fire(**keys)  # type: ignore[arg-type]
    return keys


# ---- runs ------------------------------------------------------------------------------------------------------------


def measure(
    progress: Progress,
    loads: Sequence[Load],
    variants: Callable[[Load], Sequence[Variant]],
    *,
    repetitions: int,
    slots: int,
    seed: int,
    traces: bool = False,
) -> Measured:
    """Run all variants of each load.

    Parameters
    ----------
    loads
        Networks on some processes.
    variants
        Function that returns the methods for a load.
    repetitions
        Real runs of each.
    slots
        As for `simulate_network`.
    seed
        Seed of the networks.
    traces
        Whether the times of all intervals are kept.

    Returns
    -------
    dict
        `runs`, and `simulated_machine` and `processors`: where they ran.
    """
    measured: Measured = {"processors": usable_processors(), "simulated_machine": BLUE_GENE_P.name, "runs": []}
    mpiexec = find_mpiexec(progress.mpiexec) if any(load.kind == "real" for load in loads) else None
    for load in loads:
        if load.kind == "simulated":
            for variant in variants(load):
                if variant.simulated:
                    measured["runs"].append(_simulate(progress, load, variant, slots=slots, seed=seed))
                    progress.keep(measured)
        elif mpiexec is not None:
            found = [variant for variant in variants(load) if variant.method]
            # The buffer is an option of the simulation; methods with the same options share processes.
            for buffer in dict.fromkeys(variant.buffer for variant in found):
                together = [variant for variant in found if variant.buffer == buffer]
                measured["runs"] += _run(progress, mpiexec, load, together, repetitions=repetitions, seed=seed)
                progress.keep(measured)
            _check_spikes(of_kind(measured, "real"))
    if not traces:
        for run in measured["runs"]:
            del run["per_interval_s"]
    return measured


def _title(load: Load) -> str:
    return (
        f"{load.kind}: {load.processes:,} processes, {load.cells:,} cells, {load.connections:,} inputs"
        f"{', bursts' if load.burst else ''}"
    )


def _rounded(values: Any) -> list[float]:
    """Return numbers for a file, with the digits that a figure can show."""
    return [float(f"{value:.3g}") for value in values]


def _range(values: Any) -> list[int]:
    """Return the least and the greatest value in the last quarter of the intervals."""
    last = np.asarray(values)[len(values) * 3 // 4 :]
    return [int(last.min()), int(last.max())]


def _run(
    progress: Progress, mpiexec: Mpiexec, load: Load, variants: Sequence[Variant], *, repetitions: int, seed: int
) -> list[Run]:
    title = _title(load)
    progress.step(title)
    contestants = [(variant.method, variant.intervals, True) for variant in variants]
    options: dict[str, Any] = {"placement": load.placement}
    if variants[0].buffer is not None:
        options["allgather_spikes"] = variants[0].buffer
    report = run_worker(
        mpiexec,
        "ranvier_benchmarks._exchange_worker",
        {
            "function": "ranvier.networks:interval_fire",
            "network": _network(load, seed),
            "options": options,
            "time": load.time,
            "contestants": contestants,
            "repetitions": repetitions,
            "once": False,
        },
        ranks=load.processes,
        threads=1,
        on_progress=lambda text: progress.step(f"{title}: {text}"),
    )
    result = make_result(load.processes, 1, load.time, report, contestants)
    return [
        {
            **asdict(load),
            **{key: method[key] for key in ("method", "intervals", "barrier", "digests", "greatest_fan_out")},
            "variant": variant.name,
            **{key: result[key] for key in ("crowded", "transport", "spikes")},
            "computation_s": _seconds_of(method["per_interval_s"]),
            "total_s": {"rank_0": float(f"{method['total_s']['rank_0']:.4g}")},
            "per_interval_s": {key: _rounded(values) for key, values in method["per_interval_s"].items()},
            "messages": method["messages"],
            "collectives": method["rounds"],
            # At the end of the last interval, no message may be on its way.
            "last_quarter": {
                "spikes": _range(method["per_interval"]["spikes"]),
                "sent": _range(method["per_interval"]["messages"]),
                "received": _range(method["per_interval"]["spikes_received"]),
                "iterations": _range(method["per_interval"]["failed_checks"][:-1]),
            },
        }
        for variant, method in zip(variants, result["methods"], strict=True)
    ]


def _simulate(progress: Progress, load: Load, variant: Variant, *, slots: int, seed: int) -> Run:
    title = f"{_title(load)}, {variant.name}"
    method = METHODS[variant.simulated]
    if variant.buffer is not None:
        method = replace(method, buffer=variant.buffer)
    result: Simulated = simulate_network(
        BLUE_GENE_P,
        method,
        cells=load.cells,
        connections=load.connections,
        ranks=load.processes,
        time=load.time,
        slots=slots,
        placement="shuffled" if load.placement == "shuffle" else load.placement,
        topology=load.topology,
        burst=load.burst,
        seed=seed,
        on_interval=lambda index: progress.step(f"{title}: {index} of {load.time:g} ms"),
    )
    traces = per_interval(result)
    return {
        **asdict(load),
        "method": variant.simulated,
        "intervals": method.intervals,
        "greatest_fan_out": {"rank_0": result.greatest_fanout_of_rank_0, "all": result.greatest_fanout},
        "variant": variant.name,
        "crowded": False,
        "spikes": int(result.spikes.sum()),
        "computation_s": _seconds_of(traces),
        "total_s": {"rank_0": float(f"{result.run_time:.4g}")},
        "per_interval_s": {key: _rounded(values) for key, values in traces.items()},
        "messages": int(result.messages.sum()),
        "collectives": int(result.rounds.sum()),
        "last_quarter": {
            "spikes": _range(result.spikes_of_rank_0),
            "sent": _range(result.sent_by_rank_0),
            "received": _range(result.received_by_rank_0),
            "iterations": _range(result.iterations[:-1]),
        },
    }


def _seconds_of(traces: dict[str, list[float]]) -> dict[str, float]:
    return {key: float(f"{sum(traces[key]):.4g}") for key in ("rank_0", "mean", "greatest")}


def _check_spikes(runs: Sequence[Run]) -> None:
    """Check that real runs of a network gave the same spikes, for any processes and methods."""
    networks = {(run["cells"], run["connections"], run["topology"], run["burst"], run["time"]) for run in runs}
    for network in networks:
        check_digests(
            [
                {"ranks": run["processes"], "methods": [run]}
                for run in runs
                if (run["cells"], run["connections"], run["topology"], run["burst"], run["time"]) == network
            ]
        )


# ---- tables ----------------------------------------------------------------------------------------------------------


def of_kind(measured: Measured, kind: Kind) -> list[Run]:
    """Return the runs of a kind."""
    return [run for run in measured["runs"] if run["kind"] == kind]


def note_on_crowding(measured: Measured) -> str:
    """Return a note on real runs with more processes than processors, or an empty text."""
    crowded = sorted({run["processes"] for run in of_kind(measured, "real") if run["crowded"]})
    if not crowded:
        return ""
    counts = ", ".join(map(str, crowded))
    return f"{counts} real processes share {measured['processors']} processors: they take turns"


def show_head(console: Console, measured: Measured, kind: Kind, title: str) -> None:
    """Print a title for the runs of a kind, and where they ran."""
    console.print(f"\n[bold]{title}[/]", soft_wrap=True)
    if kind == "simulated":
        where = f"Simulated: {measured['simulated_machine']}. `ranvier bench exchange_simulation --parameters` lists "
        where += "its parameters with their sources."
    else:
        where = f"Real processes: {measured['machine']['processor']}, {of_kind(measured, 'real')[0]['transport']}, "
        where += f"medians of {measured['options']['repetitions']}."
    console.print(where, style="dim", soft_wrap=True)
    if kind == "real" and (note := note_on_crowding(measured)):
        console.print(f"{note}, so times say little about the methods.", style="yellow", soft_wrap=True)


def empty_table(*headings: str, names: int = 1) -> Table:
    """Return a table whose first columns have names, and whose others have numbers."""
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index < names else "right", no_wrap=True)
    return table


def print_indented(console: Console, table: Table) -> None:
    """Print a table below its title."""
    console.print(Padding(table, (1, 0, 0, 2)))


def seconds_text(run: Run | None, which: str = "rank_0") -> tuple[str, str]:
    """Return computation, by default of process 0, and run time: seconds of simulated runs, milliseconds of real ones.

    `which` may also be "mean" or "greatest" of all processes.
    """
    if run is None:
        return "-", "-"
    scale = 1e3 if run["kind"] == "real" else 1.0
    return number_text(scale * run["computation_s"][which]), number_text(scale * run["total_s"]["rank_0"])


def number_text(value: float) -> str:
    """Return a number with three digits."""
    digits = 3 - len(str(int(abs(value)))) if abs(value) >= 1.0 else 3
    return f"{value:,.{max(0, digits)}f}"
