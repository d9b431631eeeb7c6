"""What simulations tell of themselves: where their time went, and what their processes exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.recording.data import IntArray

__all__ = ["PARTS", "PHASES", "Bursts", "Crowding", "EpochTimes", "Timers", "Traffic"]

PHASES = ("build", "init", "simulation")
"""What a process does as a whole."""

PARTS = ("update", "collocate", "communicate", "deliver", "wait", "record")
"""Of the simulation phase, by each thread."""


@dataclass(frozen=True)
class Bursts:
    """How many spikes of a network come together at the most, relative to their mean.

    Attributes
    ----------
    in_step
        In a step: the mean, over the places that a step can have in an epoch, of the largest number there was.
    in_epoch
        In an epoch, the time between two exchanges.
    of_late
        In one of the last thirty-two epochs, on average over the run: some buffers become shorter again after a burst.
    """

    in_step: float
    in_epoch: float
    of_late: float

    @staticmethod
    def of(counts: IntArray, epoch_steps: int) -> Bursts | None:
        """Return those of a run; None where it has no spikes, or is shorter than an epoch.

        Parameters
        ----------
        counts
            Spikes of all processes in each step, from the first step of an epoch on; shape ``(steps,)``.
        epoch_steps
            Length of an epoch, steps.
        """
        epochs = counts[: len(counts) // epoch_steps * epoch_steps].reshape(-1, epoch_steps)
        if epochs.sum() == 0:
            return None
        of_epochs = epochs.sum(axis=1)
        stretches = [of_epochs[begin : begin + 32].max() for begin in range(0, len(of_epochs), 32)]
        return Bursts(
            float(epochs.max(axis=0).mean() / epochs.mean()),
            float(of_epochs.max() / of_epochs.mean()),
            float(np.mean(stretches) / of_epochs.mean()),
        )


@dataclass(frozen=True)
class Crowding:
    """How much other programs kept the threads of a process from their processors, while it simulated.

    Where they do, threads are not bound to processors, and as many of them rest as make the simulation faster; the
    others advance their shards. Processes sleep while they wait for each other, and two of one thread each share a
    processor. The spikes are the same.

    Attributes
    ----------
    delayed
        Seconds for which threads were ready to run but waited for a processor, all threads together.
    crowded
        Seconds in which threads were not bound, and some of them may have rested.
    taken_over
        How often a shard was advanced by an epoch for a thread that rested or was put aside.
    asleep
        Seconds for which the process slept while it waited for others, because these or other programs wanted its
        processor. Without that it would have looked for what they send all the time.
    """

    delayed: float
    crowded: float
    taken_over: int
    asleep: float


@dataclass(frozen=True)
class Timers:
    """Seconds of wall-clock time, of all processes and their threads.

    Attributes
    ----------
    phases
        By the name of the phase (`PHASES`) one number for each rank, shape ``(ranks,)``: *build* makes neurons and
        synapses, *init* sorts the tables and makes the presynaptic table and the buffers, *simulation* is all runs
        since the last `Simulation.reset_counts`.
    parts
        Of the simulation, by the name of the part (`PARTS`) one array for each rank, with a number for each of its
        threads: *update* is neurons and stimuli, *collocate* putting spikes where the exchange takes them from,
        *communicate* the exchange itself, *deliver* synapses, *wait* for other threads (and for other processes where
        that is told apart), *record* what recorders do.
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
        """Seconds that each thread of each rank computed: update, collocation, delivery and recording."""
        parts = [self.parts[name] for name in ("update", "collocate", "deliver", "record")]
        return tuple(np.sum(times, axis=0) for times in zip(*parts, strict=True))

    @property
    def imbalance(self) -> float:
        """How much longer the busiest thread computed than all on average: 1.0 when all did as long."""
        busy = np.concatenate(self.busy)
        return float(busy.max() / busy.mean()) if busy.sum() > 0.0 else 1.0

    def of_ranks(self, name: str) -> FloatArray:
        """Return the time of each rank in a phase or a part, shape ``(ranks,)``; of a part, the mean of its threads."""
        if name in self.phases:
            return self.phases[name]
        return np.array([times.mean() for times in self.parts[name]])


@dataclass(frozen=True)
class Traffic:
    """What one process has exchanged with the others since the last `Simulation.reset_counts`.

    Attributes
    ----------
    spikes_sent
        Records of spikes that it sent; a spike that several processes need takes several.
    spikes_received
        Records that it received, needed here or not.
    bytes_sent
        Bytes that it sent, empty places of buffers included.
    messages
        Messages from process to process, or partners of collective calls.
    exchanges
        Epochs: how often spikes were exchanged.
    rounds
        Collective calls, or checks of whether all has arrived.
    buffer_bytes
        Memory that its buffers take now.
    presynaptic_entries, presynaptic_bytes
        Entries and memory of the table that tells which processes need the spikes of its neurons.
    build_rounds
        Collective rounds that it took to build that table.
    """

    spikes_sent: int
    spikes_received: int
    bytes_sent: int
    messages: int
    exchanges: int
    rounds: int
    buffer_bytes: int
    presynaptic_entries: int
    presynaptic_bytes: int
    build_rounds: int


@dataclass(frozen=True)
class EpochTimes:
    """Where the time went on one process from exchange to exchange of spikes, on its first thread.

    Attributes
    ----------
    compute
        Seconds of delivery, update, recording and collocation in each epoch, shape ``(epochs,)``.
    wait
        Seconds of waiting for other threads, and for other processes where that is told apart.
    exchange
        Seconds of the exchange itself.
    spikes_received
        Records of spikes that arrived.
    """

    compute: FloatArray
    wait: FloatArray
    exchange: FloatArray
    spikes_received: IntArray
