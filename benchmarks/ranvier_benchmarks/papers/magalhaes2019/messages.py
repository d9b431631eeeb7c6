"""Table 2: messages with and without the communication reduce, bulk-synchronous and asynchronous."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from rich.console import Console

import ranvier as rv
from ranvier.base.numeric import number, whole_number
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._in_turn import run_in_turn
from ranvier_benchmarks._mpiexec import check_startable, find_mpiexec
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019 import published
from ranvier_benchmarks.papers.magalhaes2019._runs import check_cells, contestant, make_column, print_table

__all__ = ["TABLE_2", "bulk_synchronous_messages"]

_SMALL = {"compartment_length": 100.0, "separate_sites": False, "morphologies": "drawn"}
_SHORTEST = 0.1  # ms


def _check(
    *,
    cells: tuple[int, ...],
    ranks: int,
    probability: float,
    synapses: int,
    time: float,
    repetitions: int,
    seed: int,
) -> None:
    check_startable("key ranks", (ranks,))
    whole_number("key ranks", ranks, 2, min(cells, default=2))
    check_cells(cells, {**_SMALL, "probability": probability, "synapses": synapses, "seed": seed})
    whole_number("key repetitions", repetitions, 1, 1_000_000)
    if not number("key time", time) > 0.0:
        raise ValueOutOfBoundsError("key time", f"{time} ms", "it must be > 0")


def measure_messages(
    progress: Progress,
    *,
    cells: tuple[int, ...] = (16, 32, 64),
    ranks: int = 4,
    probability: float = 0.1,
    synapses: int = 250,
    time: float = 30.0,
    repetitions: int = 2,
    seed: int = 1,
) -> Measured:
    """Count messages of asynchronous processes, and those that bulk-synchronous ones need for the same spikes.

    Asynchronous processes send packed notifications (the reduce) or one for each pair of shards ("simple"); each cell
    is a shard. The bulk-synchronous numbers follow from the spikes and the synapses: a spike is a message to each
    process, or to each cell of another process, and a reduction each 0.1 ms is one for a process or one for each cell.

    Parameters
    ----------
    cells
        Numbers of cells.
    ranks
        Number of processes.
    probability, synapses, seed
        As in `ranvier.networks.column`.
    time
        Biological time, ms.
    repetitions
        Runs of each, in turn.
    """
    mpiexec = find_mpiexec(progress.mpiexec)
    keys = {**_SMALL, "probability": probability, "synapses": synapses, "seed": seed}
    networks: list[dict[str, Any]] = []
    for count in cells:
        progress.step(f"{count:,} cells on {ranks} processes")
        of_network = {**keys, "cells": count}
        shards = -(-count // ranks)
        ways: dict[str, dict[str, Any]] = {
            "reduce": {"stepping": "async", "shards": shards, "notifications": "packed"},
            "simple": {"stepping": "async", "shards": shards, "notifications": "single"},
            "bsp": {"stepping": "bsp"},
        }
        runs = [
            contestant(name, of_network, time=time, options={"threads": 1, **way}, mpiexec=mpiexec, ranks=ranks)
            for name, way in ways.items()
        ]
        reports = run_in_turn(runs, repetitions, Console(quiet=True)).reports
        networks.append(
            {
                "cells": count,
                "spikes": reports[0][0]["spikes"],
                "same_spikes": len({each["spike_digest"] for runs in reports for each in runs}) == 1,
                "async": {
                    name: {
                        "seconds": [each["sim_s"] for each in found],
                        **{
                            kind: [sum(traffic[kind] for traffic in each["traffic_by_rank"]) for each in found]
                            for kind in ("messages", "notifications", "bytes_sent")
                        },
                    }
                    for name, found in zip(("reduce", "simple"), reports, strict=False)
                },
                "bsp": {
                    "seconds": [each["sim_s"] for each in reports[2]],
                    **bulk_synchronous_messages(of_network, ranks, time),
                },
            }
        )
        progress.keep({"networks": networks})
    return {"networks": networks}


def bulk_synchronous_messages(keys: dict[str, Any], ranks: int, time: float) -> dict[str, Any]:
    """Return the messages of spikes to processes ("reduce") or to cells ("simple"), and the reductions.

    Cells are dealt to processes in turn, as in a simulation.
    """
    model = make_column(keys)
    sim = rv.Simulation(model.net, threads=1, progress=False)
    synapses = sim.connections()
    sim.run(time)
    count = model.net.neuron_count
    spikes = np.bincount(sim.spikes(model.spikes).ids, minlength=count)
    pairs = np.unique(np.column_stack([synapses.sources, synapses.targets]), axis=0)
    remote = pairs[pairs[:, 0] % ranks != pairs[:, 1] % ranks]
    processes = np.unique(np.column_stack([remote[:, 0], remote[:, 1] % ranks]), axis=0)
    epochs = -(-round(time / model.net.resolution) // round(_SHORTEST / model.net.resolution))
    return {
        "messages": {
            "reduce": int(spikes @ np.bincount(processes[:, 0], minlength=count)),
            "simple": int(spikes @ np.bincount(remote[:, 0], minlength=count)),
        },
        "reductions": {"reduce": epochs, "simple": epochs * -(-count // ranks)},
    }


def _show(measured: Measured, console: Console) -> None:
    ranks = measured["options"]["ranks"]
    rows = [
        (
            f"{each['cells']:,}",
            f"{each['spikes']:,}",
            *(f"{each['bsp']['messages'][way]:,}" for way in ("reduce", "simple")),
            _quotient(*each["bsp"]["messages"].values()),
            *(f"{each['bsp']['reductions'][way]:,}" for way in ("reduce", "simple")),
        )
        for each in measured["networks"]
    ]
    headings = ("cells", "spikes", "messages: reduce", "simple", "simple/reduce", "reductions: reduce", "simple")
    print_table(console, f"Bulk-synchronous, {ranks} processes, counted from spikes and synapses", headings, rows)
    rows = [_async_row(each) for each in measured["networks"]]
    headings = ("cells", "time (s): reduce", "simple", "bsp", "messages: reduce", "simple", "simple/reduce")
    print_table(console, f"Asynchronous, {ranks} processes, as sent", headings, rows)
    rows = [
        (
            f"{neurons:,}",
            *(_quotient(*published.MESSAGES[model][neurons]["messages"]) for model in ("bsp", "async")),
            *(f"{count:,.0f}" for count in published.MESSAGES["bsp"][neurons]["messages"]),
            *(f"{count:,.0f}" for count in published.MESSAGES["async"][neurons]["messages"]),
        )
        for neurons in published.MESSAGES["bsp"]
    ]
    headings = ("neurons", "bsp: simple/reduce", "async", "bsp: reduce", "simple", "async: reduce", "simple")
    print_table(console, f"Paper, {published.NODES} nodes", headings, rows)
    for each in measured["networks"]:
        if not each["same_spikes"]:
            console.print(f"  Spikes of {each['cells']} cells differ between ways of stepping", style="bold red")


def _quotient(reduced: float, simple: float) -> str:
    return f"{simple / max(reduced, 1):.2f}"


def _async_row(each: dict[str, Any]) -> tuple[str, ...]:
    messages = {way: statistics.median(each["async"][way]["messages"]) for way in ("reduce", "simple")}
    return (
        f"{each['cells']:,}",
        *(f"{statistics.median(each['async'][way]['seconds']):.3f}" for way in ("reduce", "simple")),
        f"{statistics.median(each['bsp']['seconds']):.3f}",
        *(f"{count:,.0f}" for count in messages.values()),
        _quotient(*messages.values()),
    )


TABLE_2 = PaperResult(
    kind="table",
    number="2",
    title="Messages with and without the communication reduce",
    minutes=1.0,
    measure=measure_messages,
    full={"cells": (512, 1024, 2048), "ranks": 32, "synapses": 1000},
    check=_check,
    show=_show,
)
