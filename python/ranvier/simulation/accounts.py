"""Information about a simulation: its size, counts of events, times and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ranvier.base.attributes import NamedAttributes
from ranvier.base.html import card
from ranvier.base.times import text_of, time_of
from ranvier.errors import StateError
from ranvier.mpi import Communicator
from ranvier.network.network import Network
from ranvier.network.other_simulators import IN_PLACE_OF_CALLS
from ranvier.processes.agreement import values_of_all
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.measurements import PARTS, PHASES, Crowding, EpochTimes, Stepping, Timers, Traffic
from ranvier.simulation.recordings import RecordingStore

__all__ = ["Accounts", "Counts"]


@dataclass(frozen=True)
class Counts:
    """Sizes of a simulation, and counts of events.

    Events are counted since the start or the last `Simulation.reset_counts`.

    Attributes
    ----------
    neurons, synapses
        Number of neurons and of synapses.
    spikes
        Number of spikes of neurons.
    synaptic_events
        Number of spikes that were delivered, counted at each synapse.
    steps
        Number of steps.
    population_spikes
        Number of spikes by the name of the population.
    """

    neurons: int
    synapses: int
    spikes: int
    synaptic_events: int
    steps: int
    population_spikes: dict[str, int]


_OF_THE_NETWORK = (
    *("create", "create_spike_generators", "connect", "stimulate", "record_spikes", "record_state", "record_weights"),
)


class Accounts(NamedAttributes):
    """Base of `Simulation`: its methods that give information about it."""

    _built: BuiltNetwork
    _store: RecordingStore
    _instead: ClassVar[Mapping[str, str]] = {
        **IN_PLACE_OF_CALLS,
        **dict.fromkeys(("Simulate", "simulate", "Run"), "write sim.run(duration)"),
        **{
            name: f"write net.{name}(...) before the simulation is built: it has what was in the network then"
            for name in _OF_THE_NETWORK
        },
        **dict.fromkeys(
            ("save", "load", "store", "restore", "save_state", "load_state"),
            "saving and loading the state of a simulation is absent so far",
        ),
        "reset": "build another simulation; reset_counts() only sets counters to zero",
    }

    def _repr_html_(self) -> str:
        """Return a table for notebooks; on several processes without counts, which are a collective call."""
        counts = self.counts() if self._built.communicator.size == 1 else None
        rows = {
            "time": f"{text_of(self.time)} ms",
            "neurons": f"{self.network.neuron_count:,}",
            "synapses": f"{counts.synapses:,}" if counts else None,
            "spikes": f"{counts.spikes:,}" if counts else None,
            "threads": self.threads,
            "processes": self.ranks if self.ranks > 1 else None,
        }
        return card(f"Simulation of {self.network.name}", rows)

    @property
    def network(self) -> Network:
        """The network that was built."""
        return self._built.network

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self._built.core.step

    @property
    def time(self) -> float:
        """Milliseconds since the start."""
        return time_of(self.step, self.resolution)

    @property
    def resolution(self) -> float:
        """Length of a step, ms."""
        return self._built.core.resolution

    @property
    def threads(self) -> int:
        """Number of worker threads."""
        return self._built.core.threads

    def costs(self) -> dict[str, float]:
        """Return the mean cost of a neuron of each population since the last `reset_counts`, in nanoseconds per step.

        It is the time for updating the neuron and its stimuli, and for delivering spikes to it. The time of delivery is
        divided among neurons on the assumption that all synapses cost the same, and that all neurons of a population
        have the same number of synapses.

        Raises
        ------
        StateError
            When the simulation was made without ``measure_costs``, or has not run.
        """
        with self._built.exclusive():
            costs = self._built.core.costs()
        return {population.name: 1e9 * cost for population, cost in zip(self._built.populations, costs, strict=True)}

    @property
    def shards(self) -> int:
        """Number of parts into which the neurons of this process are divided."""
        return self._built.core.shards

    @property
    def processors(self) -> list[int | None]:
        """The processor to which each thread of this process is bound; None for a thread that the system may move."""
        return [processor if processor >= 0 else None for processor, _ in self._built.core.places]

    @property
    def oversubscribed(self) -> bool:
        """Whether a processor has more than one thread of this run, so that threads wait for each other."""
        return self._built.core.is_crowded

    @property
    def stolen_shards(self) -> int:
        """How often a thread of this process has updated a shard of another thread: for an epoch, or for a visit.

        See `visits`.
        """
        with self._built.exclusive():
            return sum(local + remote for _, local, remote in self._built.core.stealing_counts())

    @property
    def stepping(self) -> Stepping:
        """How the shards of this process advanced since the last `reset_counts`."""
        with self._built.exclusive():
            is_asynchronous, visits, moved = self._built.core.stepping()
            steps, shards = self._built.core.timed_steps, self._built.core.shards
        return Stepping(
            mode="async" if is_asynchronous else "bsp",
            visits=visits,
            steps_per_visit=steps * shards / visits if visits else float("nan"),
            bytes_per_step=moved / steps if steps else float("nan"),
        )

    @property
    def visits(self) -> npt.NDArray[np.int64]:
        """How often a shard of this process advanced by 0, 1, 2, ... steps at a time with ``stepping="async"``.

        Counted since the last `reset_counts`. Empty if all shards advance together: with ``stepping="bsp"``, and where
        delays leave nothing to choose (see `stepping`).
        """
        with self._built.exclusive():
            return np.array(self._built.core.visits(), dtype=np.int64)

    @property
    def crowding(self) -> Crowding:
        """How much other programs kept the threads of this process from their processors while it simulated."""
        return Crowding(*self._built.core.crowding())

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self._built.core.ranks

    @property
    def communicator(self) -> Communicator:
        """The processes that simulate the network together."""
        return self._built.communicator

    @property
    def exchange(self) -> str:
        """Method by which processes exchange spikes: for ``"auto"`` the chosen one, for one process ``"none"``."""
        with self._built.exclusive():
            return self._built.core.exchange

    @property
    def sorts_connections(self) -> bool:
        """Whether synapses are sorted by source, as set or as ``"auto"`` has chosen; the same on all processes."""
        return self._built.core.sorts_connections

    @property
    def epoch_steps(self) -> int:
        """Steps from one exchange of spikes to the next."""
        return self._built.core.epoch_steps

    @property
    def instruction_set(self) -> str:
        """The instruction set in use."""
        return self._built.core.instruction_set

    @property
    def programs(self) -> str:
        """How neurons and synapses of equations are carried out: ``"compiled"`` or ``"interpreted"``; else ``"none"``.

        Very long programs are interpreted in any case, unless ``programs="compiled"`` was chosen.
        """
        return self._built.programs

    # ---- counts and times --------------------------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Return sizes of the simulation, and counts since the start or the last `reset_counts`."""
        with self._built.exclusive():
            counts = self._built.core.counts()
        return Counts(
            neurons=counts.neurons,
            synapses=counts.synapses,
            spikes=counts.spikes,
            synaptic_events=counts.synaptic_events,
            steps=counts.steps,
            population_spikes={
                population.name: spikes
                for population, spikes in zip(self._built.populations, counts.population_spikes, strict=True)
                if not population.is_source
            },
        )

    def reset_counts(self) -> None:
        """Start counting spikes, events, steps and times anew, for example after a transient."""
        with self._built.exclusive():
            self._built.core.reset_counts()

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of wall-clock time by phase.

        *build* makes neurons and synapses, *init* sorts the tables and makes the presynaptic table and the buffers,
        *simulation* is the total of all runs since the last `reset_counts`. *update*, *collocate*, *communicate*,
        *deliver*, *wait* and *record* are parts of *simulation*, averaged over the threads of this process.
        """
        with self._built.exclusive():
            times = self._built.core.times()
        return {name: getattr(times, name) for name in (*PHASES, *PARTS)}

    def timers(self) -> Timers:
        """Return the times of all parts of the simulation, on all processes and threads. All processes must call it.

        Raises
        ------
        StateError
            While the simulation is busy.
        """
        with self._built.exclusive():
            phases, parts = self._built.core.times(), self._built.core.worker_times()
            all_phases = values_of_all(self._built.communicator, {name: getattr(phases, name) for name in PHASES})
            all_parts = values_of_all(self._built.communicator, parts)
        return Timers(
            phases={name: np.array([one[name] for one in all_phases]) for name in PHASES},
            parts={name: tuple(np.array(one[name]) for one in all_parts) for name in PARTS},
        )

    def traffic(self) -> Traffic:
        """Return how much this process has exchanged with the others; all zero for a single process."""
        with self._built.exclusive():
            return Traffic(**self._built.core.traffic())

    def epoch_times(self) -> EpochTimes:
        """Return the times of each epoch on this process since the last `reset_counts`.

        Raises
        ------
        StateError
            When the simulation was built without ``trace_epochs``.
        """
        if not self._built.traces_epochs:
            raise StateError(
                "times of epochs",
                bound="they were not kept",
                remedy="build it with tuning=rv.Tuning(trace_epochs=True)",
            )
        with self._built.exclusive():
            return EpochTimes(*self._built.core.epoch_times())

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second since the last `reset_counts`; NaN before a run.

        If a state was loaded, it is that since then.
        """
        simulated = time_of(self._built.core.timed_steps, self.resolution) / 1000.0
        return self.phases["simulation"] / simulated if simulated else float("nan")

    def memory(self) -> dict[str, int]:
        """Return the bytes that the simulation uses, by component, as counted by the simulation itself."""
        with self._built.exclusive():
            items = dict(self._built.core.memory())
            # Recordings that were taken from the core are arrays of NumPy.
            items["recordings"] += self._store.taken_bytes
        return items

    def memory_by_node(self) -> dict[str, dict[str, int]]:
        """Return the bytes that the simulation uses, by NUMA node and component, as counted by the simulation itself.

        Each thread has its own memory, which is counted for the node to which the thread is bound. Nodes have the
        numbers of the operating system. If there are several nodes and threads are not bound to one, their memory is
        counted as ``"any"``.
        """
        with self._built.exclusive():
            return {node: dict(parts) for node, parts in self._built.core.memory_by_node().items()}

    def memory_pages(self) -> dict[str, int]:
        """Return the real location of the simulation's arrays: bytes by NUMA node, from a sample of their pages.

        Small arrays are left out. Bytes that have no physical memory yet are counted as ``"untouched"``. If the system
        does not report locations, as in some containers, bytes are counted as ``"unknown"``.
        """
        with self._built.exclusive():
            return dict(self._built.core.memory_pages())
