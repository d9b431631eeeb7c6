"""One process plays one of many: what a machine would have to do, before it is asked for.

>>> import ranvier as rv
>>> from ranvier.forecast.dry_run import play
>>> model = rv.networks.hpc_benchmark(scale=20.0, indegree_scale=0.1)
>>> played = play(model.net, 1000, duration=100.0)
>>> sum(played.memory.values()), played.phases["simulation"], played.traffic["spikes_received"]

The part of rank 0 is built, of the network as it is, and run. All other processes are taken to do what this one does:
what it sends to one of them is what arrives from there. So tables, buffers and numbers of spikes are those of so many
processes, and the exchange is that of a real run but for the network between machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ranvier import _core
from ranvier.base.numeric import whole_number
from ranvier.base.times import time_of
from ranvier.errors import StateError
from ranvier.network.network import Network
from ranvier.processes.machine import peak_resident_bytes, resident_bytes
from ranvier.simulation.options import MOST_RANKS, DryRun
from ranvier.simulation.simulation import Simulation

__all__ = ["PlayedProcess", "play"]


@dataclass(frozen=True)
class PlayedProcess:
    """What the process that was played has done, without its pre-simulation.

    Attributes
    ----------
    ranks, threads
        Processes, and threads of each.
    instruction_set, exchange
        Those in use.
    sorts_connections
        Whether synapses are sorted by source.
    rate
        Spikes/s of the neurons: those that were invented, or of the neurons of this process.
    invented
        Whether spikes were invented.
    neurons, synapses
        Of this process.
    memory
        Bytes by component, by the program's own account, at the end.
    memory_when_built
        The same before the first step.
    resident, resident_before
        The most bytes that this process had resident, and those before anything was built.
    phases
        Seconds by phase, as `Simulation.phases`.
    simulated
        Biological time, ms.
    spikes, events
        Spikes of the neurons of this process, and synapses here that a spike reached.
    traffic
        What this process would have exchanged: spikes sent and received, bytes, messages, rounds, and so on.
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
    spikes: int
    events: int
    traffic: dict[str, int]

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second; not a number if nothing was simulated."""
        return self.phases["simulation"] * 1000.0 / self.simulated if self.simulated else float("nan")

    def as_json(self) -> dict[str, Any]:
        """Return what is written as JSON."""
        return {
            "version": _core.version,
            "source_revision": _core.source_revision,
            **asdict(self),
            "real_time_factor": self.real_time_factor,
        }


def _mean(network: Network, rate: float | Mapping[str, float]) -> float:
    if not isinstance(rate, Mapping):
        return rate
    return sum(rate[name] * len(network[name]) for name in rate) / max(1, network.neuron_count)


def play(
    network: Network,
    ranks: int,
    *,
    duration: float,
    presim: float = 0.0,
    rate: float | Mapping[str, float] | None = None,
    **options: Any,
) -> PlayedProcess:
    """Build and run the part of one process of many.

    Parameters
    ----------
    network
        The whole network.
    ranks
        Number of processes that would share it.
    duration, presim
        Milliseconds to simulate and report on, and to simulate before that.
    rate
        Spikes/s at which neurons, here and elsewhere, are said to fire: then spikes are invented (a Poisson process for
        each neuron). A number, or one for each population by its name: the rates of a real run, say, which a network
        whose processes all do the same need not have. None: the other processes send what this one does.
    **options
        Those of `Simulation`, grouped as there; what was recorded stays where it is.

    Raises
    ------
    StateError
        For a placement other than round-robin: only with that all processes are alike.
    """
    whole_number("ranks of a dry run", ranks, 1, MOST_RANKS, "give the number of processes that the run would have")
    if "dry_run" in options:
        raise StateError("dry_run", bound="its ranks and rate are arguments of play", remedy="leave it out")
    before = resident_bytes()
    sim = Simulation(
        network,
        dry_run=DryRun(ranks=ranks, invented_rate=rate),
        **{**options, "recordings": "local"},
    )
    built = sim.memory()
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
        # Sums over processes that all do what this one does.
        synapses=counts.synapses // ranks,
        memory=sim.memory(),
        memory_when_built=built,
        resident=peak_resident_bytes(),
        resident_before=before,
        phases=sim.phases,
        simulated=simulated,
        spikes=spikes,
        events=counts.synaptic_events // ranks,
        traffic=asdict(sim.traffic()),
    )
