"""Measurements of simulations: times, exchange between processes, load by other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ranvier.base.names import counted
from ranvier.base.values import FloatArray
from ranvier.recording.data import IntArray

__all__ = [
    "PARTS",
    "PHASES",
    "Bursts",
    "Counts",
    "Crowding",
    "EpochTimes",
    "SteppingCounts",
    "ThreadChoice",
    "Timers",
    "Traffic",
]

PHASES = ("build", "init", "simulation")
"""The phases of a process."""

# Few delays are longer than this many epochs.
_MOST_EPOCHS = 2**12

PARTS = ("update", "collocate", "communicate", "deliver", "wait", "record")
"""The parts of the simulation phase, measured on each thread."""


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


@dataclass(frozen=True)
class Bursts:
    """The largest numbers of spikes of a network, relative to the mean numbers.

    Attributes
    ----------
    in_step
        In one step: the largest number for each position of a step within an epoch, averaged over these positions.
    in_epoch
        In one epoch, the time between two exchanges of spikes.
    """

    in_step: float
    in_epoch: float

    @staticmethod
    def of(counts: IntArray, epoch_steps: int) -> Bursts | None:
        """Return the bursts of a run, or None if it has no spikes.

        Parameters
        ----------
        counts
            Number of spikes of all processes in each step, beginning with the first step of an epoch; shape
            ``(steps,)``. The last epoch may be unfinished.
        epoch_steps
            Length of an epoch, steps.
        """
        if counts.sum() == 0:
            return None
        missing = -len(counts) % epoch_steps
        epochs = np.concatenate([counts, np.zeros(missing, dtype=counts.dtype)]).reshape(-1, epoch_steps)
        mean = float(counts.mean())
        return Bursts(
            float(epochs.max(axis=0).mean() / mean),
            float(epochs.sum(axis=1).max() / (epoch_steps * mean)),
        )


@dataclass(frozen=True)
class Crowding:
    """How much other programs used the processors of a process while it simulated.

    When other programs use these processors, threads are not bound to processors, and some of them rest if that makes
    the simulation faster; the other threads then advance their shards. Processes sleep while they wait for each other,
    and two processes with one thread each share a processor. The spikes are the same.

    Attributes
    ----------
    delayed
        Seconds for which threads were ready to run but waited for a processor, summed over all threads.
    crowded
        Seconds for which threads were not bound; some of them may have rested.
    taken_over
        How often another thread advanced a shard by an epoch, because the thread of that shard rested or was suspended.
    asleep
        Seconds for which the process slept while it waited for other processes, because these or other programs needed
        its processor. Otherwise it would have polled for messages all the time.
    """

    delayed: float
    crowded: float
    taken_over: int
    asleep: float


@dataclass(frozen=True)
class ThreadChoice:
    """How the number of threads was chosen with ``threads="auto"``.

    Attributes
    ----------
    threads
        The number of threads of each process.
    most
        The largest number that was possible: that of the processors that each process may use, or of `shards`.
    step_seconds
        Seconds of wall-clock time of a step with each number of threads that was tried, in this order. Empty if nothing
        was measured, because each of the `most` threads has enough work, or because there is only one.
    """

    threads: int
    most: int
    step_seconds: Mapping[int, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.step_seconds:
            why = "each has enough work" if self.most > 1 else "no more are possible"
            return f"{self.threads} of {self.most}, chosen without a trial: {why}"
        tried = [f"{counted(threads, 'thread')} {1e6 * each:,.1f}" for threads, each in self.step_seconds.items()]
        return f"{self.threads} of {self.most}, chosen by measuring: {', '.join(tried)} \u00b5s a step"


@dataclass(frozen=True)
class SteppingCounts:
    """How the shards of a process advanced.

    Attributes
    ----------
    mode
        ``"async"``: independently; ``"bsp"``: all together. It is ``"bsp"`` with ``stepping="async"``, too, if no
        shard could ever be more than two steps ahead of another, because of delays of one step in both directions.
    visits
        How often one shard was advanced by some steps.
    steps_per_visit
        Mean number of these steps; NaN before a run.
    bytes_per_step
        Bytes of neurons and inputs that these visits processed, divided by the number of steps: the traffic into the
        caches of the processors if all shards together do not fit into them. NaN before a run.
    """

    mode: str
    visits: int
    steps_per_visit: float
    bytes_per_step: float


@dataclass(frozen=True)
class Timers:
    """Seconds of wall-clock time, of all processes and their threads.

    Attributes
    ----------
    phases
        For each phase (`PHASES`) an array with one number for each rank, shape ``(ranks,)``: *build* makes neurons and
        synapses, *init* sorts the tables and makes the presynaptic table and the buffers, *simulation* is the total of
        all runs since the last `Simulation.reset_counts`.
    parts
        For each part of the simulation (`PARTS`) one array for each rank, with a number for each of its threads:
        *update* of neurons and stimuli, *collocate* (copying spikes to the buffers of the exchange), *communicate* (the
        exchange itself), *deliver* (of spikes to synapses), *wait* for other threads (and for other processes if this
        is measured separately), *record* (recorders).
    """

    phases: dict[str, FloatArray]
    parts: dict[str, tuple[FloatArray, ...]]

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return len(self.phases["simulation"])

    @property
    def threads(self) -> IntArray:
        """Number of threads of each rank, shape ``(ranks,)``."""
        return np.array([len(times) for times in self.parts["update"]], dtype=np.int64)

    @property
    def busy(self) -> tuple[FloatArray, ...]:
        """Seconds for which each thread of each rank computed: update, collocation, delivery and recording."""
        parts = [self.parts[name] for name in ("update", "collocate", "deliver", "record")]
        return tuple(np.sum(times, axis=0) for times in zip(*parts, strict=True))

    @property
    def imbalance(self) -> float:
        """Computing time of the busiest thread relative to the mean of all threads; 1.0 if all are equal."""
        busy = np.concatenate(self.busy)
        return float(busy.max() / busy.mean()) if busy.sum() > 0.0 else 1.0

    def of_ranks(self, name: str) -> FloatArray:
        """Return the time of each rank in a phase or part, shape ``(ranks,)``; for a part, the mean of its threads."""
        if name in self.phases:
            return self.phases[name]
        return np.array([times.mean() for times in self.parts[name]])


@dataclass(frozen=True)
class Traffic:
    """Spikes and bytes that one process has exchanged with the others since the last `Simulation.reset_counts`.

    Attributes
    ----------
    spikes_sent
        Number of spike records that it sent; a spike that several processes need has several records.
    spikes_received
        Number of spike records that it received, whether or not this process needed them.
    bytes_sent
        Bytes that it sent, including unused space in buffers.
    messages
        Number of messages between two processes, or of partners in collective calls.
    notifications
        Clocks of shards that it sent to other processes, with ``stepping="async"``; a message may have several.
    exchanges
        Number of epochs, which is the number of exchanges of spikes.
    rounds
        Number of collective calls, or of checks whether all messages have arrived.
    failed_checks
        Number of checks that found messages in transit, so that there was another one.
    buffer_bytes
        Present size of its buffers.
    presynaptic_entries, presynaptic_bytes
        Entries and memory of the table of the processes that need the spikes of its neurons.
    build_rounds
        Number of collective rounds for building that table.
    """

    spikes_sent: int
    spikes_received: int
    bytes_sent: int
    messages: int
    notifications: int
    exchanges: int
    rounds: int
    failed_checks: int
    buffer_bytes: int
    presynaptic_entries: int
    presynaptic_bytes: int
    build_rounds: int


@dataclass(frozen=True)
class EpochTimes:
    """Times and counts of one process in each epoch, from one exchange of spikes to the next.

    Attributes
    ----------
    compute
        Seconds of delivery, update, recording and collocation in each epoch, mean of the threads, shape ``(epochs,)``.
    wait
        Seconds of waiting for other threads, and for other processes if this is measured separately.
    exchange
        Seconds of the exchange itself.
    spikes_received
        Number of spike records that arrived.
    spikes
        Number of spikes of this process's neurons.
    spikes_sent, messages
        Number of spike records, and of messages or partners in collective calls, as in `Traffic`. A method that sends
        at once counts them when a neuron fires, others in the exchange that ends the epoch.
    failed_checks
        Number of checks at the end of the epoch that found messages in transit; 0 if all had arrived.
    events
        Number of spikes that reached synapses in this epoch, most of them of the epoch before.
    """

    compute: FloatArray
    wait: FloatArray
    exchange: FloatArray
    spikes_received: IntArray
    spikes: IntArray
    spikes_sent: IntArray
    messages: IntArray
    failed_checks: IntArray
    events: IntArray
