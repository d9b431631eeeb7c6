"""The work of each process of `ranvier bench scaling`: build and run one network in one way.

One run only, so that what is resident is what that one needed.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from ranvier import mpi
from ranvier.processes.machine import peak_resident_bytes
from ranvier.recording.data import IntArray
from ranvier.simulation.measurements import PARTS, PHASES, Bursts
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._networks import describe

__all__ = ["Report", "Specification", "main"]


class Specification(TypedDict):
    """The work: the arguments of `describe`, options of the simulation, and for how long (ms)."""

    model: str
    neurons: int
    indegree: int
    network: dict[str, Any]
    options: dict[str, Any]
    threads: int
    time: float
    presim: float
    report: str


class Report(TypedDict):
    """Results of a run; lists are by rank.

    Attributes
    ----------
    sorted
        Whether synapses are sorted by source.
    fingerprint
        Sum of a hash of each spike, which does not depend on the distribution over processes.
    times_s
        By phase, and by part of the simulation.
    memory_bytes, memory_when_built_bytes
        By component, as Ranvier counts it, at the end and before the first step.
    rate
        Mean rate of the neurons, spikes/s, from the beginning on.
    bursts
        The values of `ranvier.simulation.measurements.Bursts`; None where there are no spikes.
    resident_bytes
        The most that each process has had resident in addition to what it had before it built anything.
    """

    transport: str
    sorted: bool
    neurons: int
    synapses: int
    spikes: int
    events: int
    fingerprint: str
    times_s: dict[str, list[float]]
    memory_bytes: dict[str, list[int]]
    memory_when_built_bytes: dict[str, list[int]]
    rate: float
    bursts: dict[str, Any] | None
    resident_bytes: list[int]


def main(text: str) -> None:
    """Build and run, and write the report on rank 0."""
    wanted: Specification = json.loads(text)
    world = mpi.world()
    before = peak_resident_bytes()
    model = describe(wanted["model"], wanted["neurons"], wanted["indegree"], wanted["network"])
    simulation = Simulation(
        model.net,
        # If rank 0 gathered recordings, its memory would seem to grow with the number of processes.
        recordings="local",
        progress=False,
        **grouped({**wanted["options"], "threads": wanted["threads"]}),
    )
    built = simulation.memory()
    simulation.run(wanted["presim"])
    simulation.reset_counts()
    simulation.run(wanted["time"])
    phases = simulation.phases
    spikes = simulation.spikes(model.spikes)
    here = {
        "times_s": {name: phases[name] for name in (*PHASES, *PARTS)},
        "memory_bytes": simulation.memory(),
        "memory_when_built_bytes": built,
        "resident_bytes": peak_resident_bytes() - before,
        "fingerprint": fingerprint(spikes.steps, spikes.ids),
    }
    # Buffers are as large as the largest burst since the beginning has made them.
    counted = np.bincount(spikes.steps, minlength=simulation.step + 1)[1:].astype(np.int64)
    by_step = np.sum([np.frombuffer(data, dtype=np.int64) for data in world.allgather(counted.tobytes())], axis=0)
    bursts = Bursts.of(by_step, simulation.epoch_steps)
    everywhere = [json.loads(data) for data in world.allgather(json.dumps(here).encode())]
    counts = simulation.counts()
    if world.rank != 0:
        return
    report = Report(
        transport=world.transport,
        sorted=simulation.sorts_connections,
        neurons=counts.neurons,
        synapses=counts.synapses,
        spikes=counts.spikes,
        events=counts.synaptic_events,
        fingerprint=f"{sum(rank['fingerprint'] for rank in everywhere) % 2**64:016x}",
        times_s=_by_name(everywhere, "times_s"),
        memory_bytes=_by_name(everywhere, "memory_bytes"),
        memory_when_built_bytes=_by_name(everywhere, "memory_when_built_bytes"),
        rate=float(by_step.sum()) / counts.neurons * 1000.0 / simulation.time,
        bursts=None if bursts is None else asdict(bursts),
        resident_bytes=[rank["resident_bytes"] for rank in everywhere],
    )
    Path(wanted["report"]).write_text(json.dumps(report), encoding="utf-8")


def fingerprint(steps: IntArray, neurons: IntArray) -> int:
    """Return a sum over spikes that parts of a recording can be added up to, modulo 2^64."""
    # The mixing function of splitmix64, so that sums of different spikes differ.
    word = steps.astype(np.uint64) << np.uint64(32) | neurons.astype(np.uint64)
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return int(word.sum(dtype=np.uint64))


def _by_name(everywhere: list[dict[str, Any]], part: str) -> dict[str, Any]:
    names = sorted({name for rank in everywhere for name in rank[part]})
    return {name: [rank[part].get(name, 0) for rank in everywhere] for name in names}


if __name__ == "__main__":
    main(sys.argv[1])
