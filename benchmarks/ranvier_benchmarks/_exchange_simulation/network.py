"""The simulation of the exchange, for the test network of Hines, Kumar and Schürmann (2011)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.engine import Method, Simulated, simulate
from ranvier_benchmarks._exchange_simulation.machines import Machine
from ranvier_benchmarks._exchange_simulation.spikes import (
    DrawnTargets,
    IntervalFire,
    NeighborTargets,
    Placement,
    Topology,
    check_neighbors,
)

__all__ = ["MOST_RANKS", "check_network", "per_interval", "simulate_network", "summary"]

MOST_RANKS = 1 << 20
"""Largest number of processes that can be simulated."""

_BYTES_OF_CELL: dict[Topology, int] = {"random": 40, "adjacent": 120}
# Spikes in transit, and arrays of the batches.
_BYTES_OF_RANK = 2000


def check_network(
    *, cells: int, connections: int, ranks: int, time: float, slots: int, topology: Topology = "random"
) -> None:
    """Raise for a network or a time that cannot be simulated, or for which there is too little memory."""
    check_choice("topology", topology, ["random", "adjacent"])
    if not 2 <= ranks <= MOST_RANKS:
        raise ValueOutOfBoundsError("ranks", str(ranks), f"there must be from 2 to {MOST_RANKS}")
    if not ranks <= cells <= 1 << 31:
        raise ValueOutOfBoundsError("cells", str(cells), f"there must be from {ranks}, one for each process, to 2^31")
    if not 1 <= connections < cells:
        raise ValueOutOfBoundsError("connections", str(connections), f"they must be from 1 to {cells - 1}")
    if topology == "adjacent":
        check_neighbors(connections, cells)
    if not (math.isfinite(time) and 1.0 <= time <= 1e5 and time == round(time)):
        raise ValueOutOfBoundsError("time", f"{time} ms", "it must be a whole number of delays of 1 ms, up to 1e5")
    if slots < 1 or 40 % slots:
        raise ValueOutOfBoundsError("slots", str(slots), "they must divide the 40 steps of an interval")
    check_room(
        "the simulation of the exchange",
        cells * _BYTES_OF_CELL[topology] + ranks * _BYTES_OF_RANK,
        "choose fewer cells or processes",
    )


def simulate_network(
    machine: Machine,
    method: Method,
    *,
    cells: int,
    connections: int,
    ranks: int,
    time: float = 200.0,
    slots: int = 10,
    placement: Placement = "round_robin",
    topology: Topology = "random",
    burst: bool = False,
    seed: int = 1,
    on_interval: Callable[[int], None] = lambda index: None,
) -> Simulated:
    """Simulate the network with delays of 1 ms and steps of 0.025 ms.

    Parameters
    ----------
    machine, method
        The machine and the method of exchange.
    cells, connections, topology, burst, seed
        As for `ranvier.networks.interval_fire`.
    ranks
        Number of processes.
    time
        Milliseconds, a whole number.
    slots
        Times that a process polls in a delay; a divisor of 40. The paper polls in each of 40 steps.
    placement
        Process of each cell: "round_robin", "consecutive" or "shuffled".
    on_interval
        Called before each delay.
    """
    check_network(cells=cells, connections=connections, ranks=ranks, time=time, slots=slots, topology=topology)
    spikes = IntervalFire(cells, slots=slots, burst=burst, seed=seed)
    kind = NeighborTargets if topology == "adjacent" else DrawnTargets
    targets = kind(cells, ranks, connections=connections, placement=placement, seed=seed)
    return simulate(spikes, targets, machine, method, intervals=round(time), seed=seed, on_interval=on_interval)


def summary(result: Simulated) -> dict[str, Any]:
    """Return the numbers of a result for JSON: sums, and ranges over the last quarter of the intervals."""
    busy = slice(len(result.total) * 3 // 4, None)

    def spread(values: Any) -> list[int]:
        return [int(values[busy].min()), int(values[busy].max())]

    return {
        "computation_s": result.computation,
        "run_s": result.run_time,
        "mean_computation_s": float(result.mean.sum()),
        "greatest_computation_s": float(result.greatest.sum()),
        "messages": int(result.messages.sum()),
        "spikes": int(result.spikes.sum()),
        "greatest_fanout": result.greatest_fanout,
        "greatest_fanout_of_rank_0": result.greatest_fanout_of_rank_0,
        "iterations": spread(result.iterations),
        "spikes_of_rank_0": spread(result.spikes_of_rank_0),
        "sent_by_rank_0": spread(result.sent_by_rank_0),
        "received_by_rank_0": spread(result.received_by_rank_0),
        "rounds": int(result.rounds.sum()),
    }


def per_interval(result: Simulated) -> dict[str, list[float]]:
    """Return the times of each interval, in the form of `ranvier bench exchange`: seconds."""
    return {
        "rank_0": np.asarray(result.rank_0).tolist(),
        "mean": np.asarray(result.mean).tolist(),
        "greatest": np.asarray(result.greatest).tolist(),
        "total": np.asarray(result.total).tolist(),
    }
