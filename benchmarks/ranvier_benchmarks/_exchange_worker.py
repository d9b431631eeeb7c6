"""The work of each process of `ranvier bench exchange`: run a network with every method, in turn.

`Specification` describes the only argument, and `Run` the report of each run.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, TypedDict

import numpy as np

from ranvier import mpi
from ranvier.base.paths import write_text
from ranvier.networks import NetworkModel
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._mpiexec import PROGRESS, REPORTED
from ranvier_benchmarks._options import method_options

__all__ = ["TIMES", "TRAFFIC", "Run", "Specification", "imbalance", "main"]

TIMES = ("total", "computation", "waiting", "exchange")
TRAFFIC = ("spikes_sent", "spikes_received", "bytes_sent", "messages", "rounds", "buffer_bytes")


class Specification(TypedDict):
    """The work to measure.

    Attributes
    ----------
    function
        Module and name of the function that describes the network: ``"ranvier.networks:interval_fire"``.
    network
        Keywords of the function.
    options
        Options of the simulation, except those that are compared, and `threads`.
    time
        Milliseconds to simulate.
    contestants
        Methods, each with the number of intervals to the shortest delay, and whether all processes synchronize before
        each exchange, so that waiting is measured separately.
    repetitions
        How often each of them runs.
    once
        Whether to leave out contestants with two intervals whose method does not divide the shortest delay: with one
        they are the same.
    """

    function: str
    network: dict[str, Any]
    options: dict[str, Any]
    threads: int
    time: float
    contestants: list[tuple[str, int, bool]]
    repetitions: int
    once: bool
    report: str


class Run(TypedDict):
    """Results of one run; on all ranks, or as lists by rank or by interval.

    Attributes
    ----------
    contestant
        Its index.
    exchange
        Name of the method at the end: with "auto", including the method that it has kept.
    interval_steps, interval_count
        Steps between exchanges, and how many exchanges there were.
    digest
        Digest of all spikes.
    ranks
        By name of a time (s) or a count, the values of all ranks.
    intervals
        Computation of rank 0, mean and greatest of all ranks, and total: the longest that a rank took; seconds.
    interval_counts
        By interval: spikes of cells of rank 0, messages that it sent, spike records that it received, and how many
        checks of conservation found messages in transit.
    greatest_fan_out
        The most processes that the spikes of a cell are sent to: of the cells of rank 0, and of all.
    imbalance
        Of computation, received spikes and synaptic events: the ratio of the greatest and the mean of all ranks, as a
        mean over the intervals, weighted by their content.
    """

    contestant: int
    exchange: str
    interval_steps: int
    interval_count: int
    digest: str
    neurons: int
    synapses: int
    spikes: int
    events: int
    build: float
    ranks: dict[str, list[float]]
    intervals: dict[str, list[float]]
    interval_counts: dict[str, list[int]]
    greatest_fan_out: dict[str, int]
    imbalance: dict[str, float]


def main(text: str) -> None:
    """Run all, and write the report on rank 0."""
    wanted: Specification = json.loads(text)
    count = len(wanted["contestants"])
    runs: list[Run] = []
    left_out = set()
    for repetition in range(wanted["repetitions"]):
        # Each time another one is first, so that what the machine does meanwhile favours none.
        for turn in range(count):
            contestant = (turn + repetition) % count
            method, intervals, barrier = wanted["contestants"][contestant]
            if contestant in left_out:
                continue
            if mpi.world().rank == 0:
                done = repetition * count + turn
                print(f"{PROGRESS}{method}, run {done + 1} of {count * wanted['repetitions']}", flush=True)
            try:
                simulation, model = _build(wanted, method, intervals, barrier)
                if wanted["once"] and intervals > 1 and not _is_divided(simulation, model, wanted["network"]["delay"]):
                    left_out.add(contestant)
                    continue
                run = _measure(simulation, model, contestant, wanted["time"])
            except Exception as error:
                error.add_note(f"This was method {method} with {intervals} interval{'s' if intervals > 1 else ''}.")
                raise
            if run is not None:
                runs.append(run)
            if mpi.world().rank == 0:
                report = json.dumps({"transport": mpi.world().transport, "runs": runs})
                # The starting process reads it after the message that there is something new.
                write_text(wanted["report"], report)
                print(REPORTED, flush=True)


def _build(wanted: Specification, method: str, intervals: int, barrier: bool) -> tuple[Simulation, NetworkModel]:
    module, _, name = wanted["function"].partition(":")
    model: NetworkModel = getattr(importlib.import_module(module), name)(**wanted["network"])
    # Synapses are sorted as some of the methods need them: all are compared with the same tables.
    compared = {**method_options(method, True), "intervals": intervals, "wait_apart": barrier}
    simulation = Simulation(
        model.net,
        recordings="root",
        progress=False,
        **grouped({**wanted["options"], **compared, "threads": wanted["threads"], "trace_epochs": True}),
    )
    return simulation, model


def _is_divided(simulation: Simulation, model: NetworkModel, delay: float) -> bool:
    return simulation.epoch_steps < model.net.to_steps(delay)


def _measure(simulation: Simulation, model: NetworkModel, contestant: int, time: float) -> Run | None:
    """Run the network; return the report of rank 0."""
    simulation.run(time)
    times = simulation.epoch_times()
    phases = simulation.phases
    traffic = simulation.traffic()
    here = {
        "total": phases["simulation"],
        "computation": float(times.compute.sum()),
        "waiting": float(times.wait.sum()),
        "exchange": float(times.exchange.sum()),
        **{name: getattr(traffic, name) for name in TRAFFIC},
    }
    everywhere = _gather(
        {
            "sums": here,
            "build": phases["build"] + phases["init"],
            "computation": times.compute.tolist(),
            "total": (times.compute + times.wait + times.exchange).tolist(),
            "received": times.spikes_received.tolist(),
            "events": times.events.tolist(),
            "fan_out": simulation.greatest_fan_out(),
        }
    )
    counts = simulation.counts()
    spikes = simulation.spikes(model.spikes)
    if mpi.world().rank != 0:
        return None
    of_ranks = np.array([rank["computation"] for rank in everywhere])
    return Run(
        contestant=contestant,
        exchange=simulation.exchange,
        interval_steps=simulation.epoch_steps,
        interval_count=of_ranks.shape[1],
        digest=spikes.digest(),
        neurons=counts.neurons,
        synapses=counts.synapses,
        spikes=counts.spikes,
        events=counts.synaptic_events,
        build=max(rank["build"] for rank in everywhere),
        ranks={name: [rank["sums"][name] for rank in everywhere] for name in here},
        intervals={
            "rank_0": of_ranks[0].tolist(),
            "mean": of_ranks.mean(axis=0).tolist(),
            "greatest": of_ranks.max(axis=0).tolist(),
            "total": np.array([rank["total"] for rank in everywhere]).max(axis=0).tolist(),
        },
        interval_counts={
            "spikes": times.spikes.tolist(),
            "messages": times.messages.tolist(),
            "spikes_received": times.spikes_received.tolist(),
            # The sums that are compared are the same on all ranks.
            "failed_checks": times.failed_checks.tolist(),
        },
        greatest_fan_out={
            "rank_0": everywhere[0]["fan_out"],
            "all": max(rank["fan_out"] for rank in everywhere),
        },
        imbalance={
            "computation": imbalance(of_ranks),
            "synaptic_events": imbalance(np.array([rank["events"] for rank in everywhere], dtype=np.float64)),
            "spikes_received": imbalance(np.array([rank["received"] for rank in everywhere], dtype=np.float64)),
        },
    )


def _gather(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what all ranks have, everywhere."""
    return [json.loads(text) for text in mpi.world().allgather(json.dumps(value).encode())]


def imbalance(by_rank: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Greatest by mean of the ranks (rows) in each interval (columns), weighted with the mean."""
    total = float(by_rank.mean(axis=0).sum())
    return float(by_rank.max(axis=0).sum()) / total if total > 0.0 else 1.0


if __name__ == "__main__":
    main(sys.argv[1])
