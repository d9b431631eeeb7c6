"""The prediction of `ranvier bench stepping` for more processes than it can run: Figure 7 (b) of the paper.

The network is built on one process, so its synapses and delays are those of the real run. Cells are dealt to shards as
the engine does, and `_stepping_events` finds how long both ways of stepping take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from rich.table import Table

from ranvier.cells.kinds import CellKinds
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import NetworkModel, layers
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._stepping_events import Machine, Shards, run_async, run_bsp

__all__ = ["Forecast", "Synapses", "as_shards", "deal", "predict", "synapses_of", "table"]


@dataclass(frozen=True)
class Forecast:
    """A prediction and its conditions.

    Attributes
    ----------
    ranks, threads, jitters
        Numbers of processes and of their threads, and how much the speeds of these differ; see `Machine`.
    machine
        Times of a machine; its threads and its jitter are replaced.
    time
        Biological time, ms.
    """

    ranks: Sequence[int]
    threads: Sequence[int]
    jitters: Sequence[float]
    machine: Machine
    time: float


@dataclass(frozen=True)
class Synapses:
    """A network: ids of both cells of each synapse, its delay in steps, and the compartments of each cell."""

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    delays: npt.NDArray[np.int64]
    compartments: npt.NDArray[np.int64]
    resolution: float


def predict(
    network: Mapping[str, Any], cells: int, dendrites: str, seconds: float, forecast: Forecast
) -> list[dict[str, Any]]:
    """Predict the times of a network on all numbers of processes.

    Parameters
    ----------
    network
        Keys of `layers`, but for those that have parameters here.
    cells, dendrites
        As in `layers`.
    seconds
        Time of a compartment and step.
    forecast
        For which processes.

    Raises
    ------
    ValueOutOfBoundsError
        When a process would have no cell.
    """
    if cells < max(forecast.ranks):
        raise ValueOutOfBoundsError(
            "--predict",
            str(max(forecast.ranks)),
            f"{cells} cells are not one for each process",
            "give fewer processes, or more --cells",
        )
    keys = {key: value for key, value in network.items() if value is not None}
    synapses = synapses_of(layers(**{**keys, "cells": cells, "dendrites": dendrites}))
    steps = max(1, round(forecast.time / synapses.resolution))
    results = []
    for ranks in forecast.ranks:
        for threads in forecast.threads:
            of_process = _shards_of_process(keys, cells // ranks, dendrites, threads)
            shards = as_shards(synapses, ranks, of_process, seconds)
            for jitter in forecast.jitters:
                machine = replace(forecast.machine, threads=threads, jitter=jitter)
                bsp, own_way = run_bsp(shards, machine, steps), run_async(shards, machine, steps)
                results.append(
                    {
                        "cells": cells,
                        "dendrites": dendrites,
                        "ranks": ranks,
                        "threads": threads,
                        "jitter": jitter,
                        "latency_us": 1e6 * machine.latency,
                        "overhead_us": 1e6 * machine.overhead,
                        "ns_per_compartment_step": 1e9 * seconds,
                        "shards": len(shards.ranks),
                        "simulated_ms": steps * synapses.resolution,
                        "speed_up": bsp.seconds / own_way.seconds,
                        "bsp": vars(bsp),
                        "async": vars(own_way),
                    }
                )
    return results


def synapses_of(model: NetworkModel) -> Synapses:
    """Return the synapses of a network with one population of cells of several kinds."""
    (population,) = model.net.populations
    kinds = cast("CellKinds", population.user_model)
    found = Simulation(model.net, threads=1, progress=False).connections()
    each = np.array([cell.compartment_count for cell in kinds.kinds])
    resolution = model.net.resolution
    return Synapses(
        found.sources,
        found.targets,
        np.rint(found.delays / resolution).astype(np.int64),
        each[kinds.kind_of],
        resolution,
    )


def _shards_of_process(keys: Mapping[str, Any], cells: int, dendrites: str, threads: int) -> int:
    """Return how many shards the engine makes on a process with so many cells. Synapses do not matter for that."""
    few = {**keys, "indegree": 2, "cells": max(cells, 3), "dendrites": dendrites}
    return min(Simulation(layers(**few).net, threads=threads, stepping="async", progress=False).shards, cells)


def deal(neurons: int, ranks: int, shards: int) -> npt.NDArray[np.int64]:
    """Return the shard of each neuron: they are dealt to the ranks in turn, and neighbours go to one shard of a rank.

    Parameters
    ----------
    neurons, ranks
        Numbers of neurons and processes; a process has one neuron at least.
    shards
        Number of shards of a process.
    """
    shard = np.empty(neurons, dtype=np.int64)
    for rank in range(ranks):
        of_rank = np.arange(rank, neurons, ranks)
        for index, part in enumerate(np.array_split(of_rank, shards)):
            shard[part] = rank * shards + index
    return shard


def as_shards(synapses: Synapses, ranks: int, shards: int, seconds: float) -> Shards:
    """Return the shards of all processes, each with so many. A compartment and step takes `seconds`."""
    of_cell = deal(len(synapses.compartments), ranks, shards)
    count = ranks * shards
    pairs = of_cell[synapses.sources] * count + of_cell[synapses.targets]
    order = np.lexsort((synapses.delays, pairs))
    unique, first = np.unique(pairs[order], return_index=True)
    return Shards(
        ranks=np.arange(count) // shards,
        seconds=seconds * np.bincount(of_cell, synapses.compartments, count).astype(np.float64),
        sources=unique // count,
        targets=unique % count,
        least=synapses.delays[order][first],
    )


def table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of what is predicted."""
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    shown.add_column("predicted", no_wrap=True)
    for heading in ("jitter\n", "bsp\n(s)", "async\n(s)", "speed-up\n", "steps\n", "waits\n"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for one in results:
        bsp, asynchronous = one["bsp"], one["async"]
        shown.add_row(
            f"{one['cells']:,} {one['dendrites']}, {one['ranks']} x {one['threads']}",
            f"{one['jitter']:.0%}",
            f"{bsp['seconds']:.4g}",
            f"{asynchronous['seconds']:.4g}",
            f"[bold]{one['speed_up']:.3f}[/]",
            f"{bsp['steps_per_visit']:.0f}, {asynchronous['steps_per_visit']:.1f}",
            f"{bsp['wait']:.0%}, {asynchronous['wait']:.0%}",
        )
    return shown
