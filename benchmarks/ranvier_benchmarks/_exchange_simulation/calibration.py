"""Costs of the processors of this computer, fitted to real runs, and predictions of other real runs with them.

The time of a run is a sum of costs times counts: of steps of an interval, synaptic events, spikes, messages, and
collectives. The cores do the work of all processes. If there is a core for each process, an interval takes as long as
the process with the most work; otherwise, processes take turns. So the counts of a run are

- of what processes do for their cells: the mean over the processes, times `Machine.turns`; with a core for each, times
  the measured imbalance of the synaptic events or of the received spikes as well;
- of collectives: their number; and if processes share cores, that times `turns`, for the turn of each process in them.

The costs are those, of at least 0, with the least sum of squares of relative errors (Lawson and Hanson, Solving Least
Squares Problems, 1974, chapter 23). The event simulation with these costs then predicts runs of other sizes, on other
numbers of processes, and of a method that was not among those that were fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ranvier.errors import StateError
from ranvier_benchmarks._exchange_simulation.engine import Method, Simulated, simulate
from ranvier_benchmarks._exchange_simulation.machines import Machine
from ranvier_benchmarks._exchange_simulation.spikes import DrawnTargets, Floats, IntervalFire

__all__ = [
    "COSTS",
    "REAL_METHODS",
    "Counts",
    "Network",
    "Quantity",
    "computer",
    "counts_of_simulation",
    "fit",
    "non_negative",
    "predict",
]

Quantity: TypeAlias = Literal["run", "computation"]

COSTS = {
    "step": "an interval of the shortest delay",
    "event": "a synaptic event",
    "spike": "a spike of a cell",
    "message": "a spike that arrives from another process",
    "isend": "half of a message: to send or to receive it",
    "send_target": "half of a persistent message: to start or to receive it",
    "allreduce": "a reduction, apart from the work of each process",
    "allgather": "an all-gather, apart from the work of each process",
    "allreduce_turn": "turn of each process in a reduction, where they share processors",
    "allgather_turn": "turn of each process in an all-gather, where they share processors",
    "scan_process": "the block of a process that is read after an all-gather",
}
"""Names in `Machine`, and what they are the time of."""

REAL_METHODS: Mapping[str, Method] = {
    "allgather": Method("allgather"),
    "multisend": Method("isend"),
    "persistent": Method("multisend"),
    "two_phase": Method("isend", phases=2),
}
"""Methods of Ranvier, and the methods of the simulation that they are on a computer without multicasts."""

_SLOTS = 10


@dataclass(frozen=True)
class Network:
    """A network that runs for some time.

    Attributes
    ----------
    cells, connections
        Number of cells, and mean number of inputs of a cell.
    time
        Milliseconds, one delay each.
    """

    cells: int
    connections: int
    time: int


@dataclass(frozen=True)
class Counts:
    """What a run has done, on all processes together.

    Attributes
    ----------
    method
        Name in `REAL_METHODS`.
    processes
        Their number.
    intervals
        Number of shortest delays.
    events, spikes
        Synaptic events, and spikes of cells.
    messages
        Messages from process to process; with an all-gather, spikes that arrive at other processes.
    collectives
        Reductions or all-gathers.
    imbalance
        Greatest by mean of the processes: of synaptic events, and of received spikes.
    """

    method: str
    processes: int
    intervals: int
    events: float
    spikes: float
    messages: float
    collectives: float
    imbalance: tuple[float, float] = (1.0, 1.0)

    def of_costs(self, quantity: Quantity, cores: float) -> Floats:
        """Return how often each of the costs is in the time of the run, or in the mean computation of its processes."""
        gathers = self.method == "allgather"
        turns = max(1.0, self.processes / cores) if quantity == "run" else 1.0
        of_events, of_messages = self.imbalance if quantity == "run" and turns == 1.0 else (1.0, 1.0)
        shared_turns = turns if turns > 1.0 else 0.0
        each = turns / self.processes
        halves = 2.0 * self.messages * each * of_messages
        collectives = self.collectives if quantity == "run" else 0.0
        counts = {
            "step": self.intervals * turns,
            "event": self.events * each * of_events,
            "spike": self.spikes * each,
            "message": self.messages * each * of_messages,
            "isend": halves if self.method in ("multisend", "two_phase") else 0.0,
            "send_target": halves if self.method == "persistent" else 0.0,
            "allreduce": 0.0 if gathers else collectives,
            "allgather": collectives if gathers else 0.0,
            "allreduce_turn": 0.0 if gathers else collectives * shared_turns,
            "allgather_turn": collectives * shared_turns if gathers else 0.0,
            "scan_process": self.intervals * self.processes * turns if gathers else 0.0,
        }
        return np.array([counts[name] for name in COSTS])


def counts_of_simulation(method: str, network: Network, result: Simulated) -> Counts:
    """Return the counts of a simulated run."""
    spikes = float(result.spikes.sum())
    return Counts(
        method=method,
        processes=result.ranks,
        intervals=network.time,
        events=spikes * network.connections,
        spikes=spikes,
        messages=float(result.messages.sum()) * (result.ranks - 1 if method == "allgather" else 1),
        collectives=float(result.rounds.sum()),
    )


def fit(measured: Sequence[tuple[Counts, Quantity, float]], cores: float) -> dict[str, float]:
    """Return the costs with the least relative errors.

    Parameters
    ----------
    measured
        Counts of runs, which time it is, and seconds.
    cores
        Cores that the processes share.

    Raises
    ------
    StateError
        When there are fewer times than costs, or one of them is 0.
    """
    if len(measured) < len(COSTS) or not all(seconds > 0.0 for _, _, seconds in measured):
        raise StateError(
            "fitted costs",
            f"{len(measured)} times",
            f"{len(COSTS)} costs need as many times, all above 0",
            "measure more runs, or longer ones",
        )
    rows = np.array([counts.of_costs(quantity, cores) / seconds for counts, quantity, seconds in measured])
    found = non_negative(rows, np.ones(len(measured)))
    return dict(zip(COSTS, found.tolist(), strict=True))


def non_negative(rows: Floats, values: Floats) -> Floats:
    """Return the coefficients, none below 0, with the least squares of ``rows @ coefficients - values``."""
    # Columns of one size, so that one tolerance is for all.
    sizes = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(sizes > 0.0, sizes, 1.0)
    count = rows.shape[1]
    found = np.zeros(count)
    chosen = np.zeros(count, dtype=bool)
    tolerance = 1e-12 * max(1.0, float(np.linalg.norm(values)))
    # A coefficient that has left and would come back at once adds nothing: the number of steps is limited.
    for _ in range(10 * count):
        gradient = scaled.T @ (values - scaled @ found)
        gradient[chosen] = -np.inf
        best = int(np.argmax(gradient))
        if gradient[best] <= tolerance:
            break
        chosen[best] = True
        while True:
            trial = np.zeros(count)
            trial[chosen] = np.linalg.lstsq(scaled[:, chosen], values, rcond=None)[0]
            below = chosen & (trial <= 0.0)
            if not below.any():
                break
            share = float((found[below] / (found[below] - trial[below])).min())
            found += share * (trial - found)
            chosen &= found > 1e-15
            found[~chosen] = 0.0
        found = trial
    return found / np.where(sizes > 0.0, sizes, 1.0)


def computer(costs: Mapping[str, float], processes: int, cores: float) -> Machine:
    """Return a computer on which all processes share the cores; messages take no time but that of the processors."""
    nothing: dict[str, Any] = {
        name: float("inf") if name.endswith("bandwidth") else 0.0 for name in Machine.parameters()
    }
    own: dict[str, Any] = {
        **costs,
        "step": costs["step"] / _SLOTS,
        "probe_receive": costs["isend"],
        "receive": costs["send_target"],
        "processes_per_node": processes,
        "cores_per_node": cores,
    }
    return Machine(name="this computer", topology="fat_tree", **{**nothing, **own})


def predict(costs: Mapping[str, float], cores: float, method: str, network: Network, processes: int) -> Simulated:
    """Simulate the run of a network on this computer.

    Parameters
    ----------
    costs, cores
        Costs of `fit`, and cores that the processes share.
    method
        Name in `REAL_METHODS`.
    network, processes
        The network, and the number of processes.
    """
    return simulate(
        IntervalFire(network.cells, slots=_SLOTS),
        DrawnTargets(network.cells, processes, connections=network.connections),
        computer(costs, processes, cores),
        REAL_METHODS[method],
        intervals=network.time,
    )
