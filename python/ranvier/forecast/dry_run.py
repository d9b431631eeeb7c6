"""Dry runs: one process simulates one of many, and measures the work of each of them.

>>> import ranvier as rv
>>> from ranvier.forecast.dry_run import play
>>> model = rv.networks.hpc_benchmark(scale=20.0, indegree_scale=0.1)
>>> played = play(model.net, 1000, duration=100.0)
>>> sum(played.memory.values()), played.phases["simulation"], played.traffic["spikes_received"]

The part of rank 0 of the real network is built and run. All other processes are assumed to do the same as this one: the
data that it sends to another process are the data that arrive from there. So tables, buffers and numbers of spikes are
those of a run on many processes, and the exchange is that of a real run, except for the network between machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.numeric import whole_number
from ranvier.base.times import time_of
from ranvier.errors import StateError
from ranvier.network.network import Network
from ranvier.processes.machine import peak_resident_bytes, resident_bytes
from ranvier.simulation.options import MOST_RANKS, DryRun
from ranvier.simulation.simulation import Simulation
from ranvier.simulation.trace import Trace

__all__ = ["PlayedProcess", "play"]


@dataclass(frozen=True)
class PlayedProcess:
    """Results of a dry run, without the pre-simulation.

    Attributes
    ----------
    ranks, threads
        Number of processes, and of threads of each.
    instruction_set, exchange
        The instruction set and the method of exchange.
    sorts_connections
        Whether synapses are sorted by source.
    rate
        Mean rate of the neurons, spikes/s: the assumed rate, or without one the rate of the neurons of this process.
    invented
        Whether spikes were sent at an assumed rate.
    neurons, synapses
        Numbers on this process.
    memory
        Bytes by component at the end, as counted by the simulation itself.
    memory_when_built
        The same before the first step.
    resident, resident_before
        Peak resident memory of this process, and its resident memory before the build, in bytes.
    phases
        Seconds by phase, as in `Simulation.phases`.
    simulated, steps
        Simulated time, ms, and number of steps.
    spikes, events
        Number of spikes of this process's neurons, and of spikes delivered to its synapses.
    traffic
        Traffic of this process: spikes sent and received, bytes, messages, rounds, and so on.
    trace
        The latest work of each thread; None without the option ``trace``.
    """

    ranks: int
    threads: int
    instruction_set: str
    exchange: str
    sorts_connections: bool
    rate: float
    invented: bool
    neurons: int
    synapses: int
    memory: dict[str, int]
    memory_when_built: dict[str, int]
    resident: int
    resident_before: int
    phases: dict[str, float]
    simulated: float
    steps: int
    spikes: int
    events: int
    traffic: dict[str, int]
    trace: Trace | None = None

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second; NaN if nothing was simulated."""
        return self.phases["simulation"] * 1000.0 / self.simulated if self.simulated else float("nan")

    def as_json(self) -> dict[str, Any]:
        """Return the results for JSON, with the account of the trace."""
        values = asdict(replace(self, trace=None))
        del values["trace"]
        if self.trace is not None:
            values["trace"] = self.trace.account().as_json()
        return {
            "version": _core.version,
            "source_revision": _core.source_revision,
            **values,
            "real_time_factor": self.real_time_factor,
        }


def _mean(network: Network, rate: float | Mapping[str, float]) -> float:
    if not isinstance(rate, Mapping):
        return rate
    return sum(rate[name] * len(network[name]) for name in rate) / max(1, network.neuron_count)


@known_keywords
def play(
    network: Network,
    ranks: int,
    *,
    duration: float,
    presim: float = 0.0,
    rate: float | Mapping[str, float] | None = None,
    **options: Any,
) -> PlayedProcess:
    """Make a dry run: build and run the part of one process of many.

    Parameters
    ----------
    network
        The whole network.
    ranks
        Number of processes that would share it.
    duration, presim
        Simulated time to report on, and simulated time before that, ms.
    rate
        Assumed rate, spikes/s, of the neurons of all processes; then each neuron sends a Poisson process instead of its
        simulated spikes. A number, or one for each population by its name, for example the rates of a real run, which
        may differ from those of a dry run. None: the other processes send the same spikes as this one.
    **options
        Options of `Simulation`, with the same groups; recordings are local.

    Raises
    ------
    StateError
        For a placement other than round-robin: only with round-robin placement, all processes are alike.
    """
    whole_number("ranks of a dry run", ranks, 1, MOST_RANKS, "use the number of processes of the real run")
    if "dry_run" in options:
        raise StateError("dry_run", bound="its ranks and rate are arguments of play", remedy="leave it out")
    before = resident_bytes()
    sim = Simulation(
        network,
        dry_run=DryRun(ranks=ranks, invented_rate=rate),
        **{**options, "recordings": "local"},
    )
    built = sim.memory()
    tuning = options.get("tuning")
    sim.run(presim)
    sim.reset_counts()
    sim.run(duration)
    counts, neurons = sim.counts(), -(-network.neuron_count // ranks)
    spikes = counts.spikes // ranks
    simulated = time_of(counts.steps, sim.resolution)
    measured_rate = spikes / neurons / (simulated / 1000.0) if simulated and neurons else 0.0
    return PlayedProcess(
        ranks=ranks,
        threads=sim.threads,
        instruction_set=sim.instruction_set,
        exchange=sim.exchange,
        sorts_connections=sim.sorts_connections,
        rate=measured_rate if rate is None else _mean(network, rate),
        invented=rate is not None,
        neurons=neurons,
        # Sums over processes, all of which do the same as this one.
        synapses=counts.synapses // ranks,
        memory=sim.memory(),
        memory_when_built=built,
        resident=peak_resident_bytes(),
        resident_before=before,
        phases=sim.phases,
        simulated=simulated,
        steps=counts.steps,
        spikes=spikes,
        events=counts.synaptic_events // ranks,
        traffic=asdict(sim.traffic()),
        trace=sim.trace() if tuning is not None and tuning.trace else None,
    )
