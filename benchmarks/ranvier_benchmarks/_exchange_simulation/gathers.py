"""All-gathers in steps: recursive doubling and Bruck's algorithm, by messages or by writes into memory of others.

A step is as in core/comm/exchange/gather_plan.cpp: each process sends blocks to one process, and gets blocks from one.
All processes advance on clocks of their own, so that a process waits for the one that it gets blocks from, and with
"fence" for all. The time of the data is that of LogGP: work of the sender, bytes by the bandwidth, latency. Processes
of a node that send to other nodes share its adapter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

import numpy as np

from ranvier.errors import UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.machines import Machine
from ranvier_benchmarks._exchange_simulation.spikes import Floats, Integers

__all__ = ["Algorithm", "Gathering", "StepCosts", "Synchronization", "gather_steps"]

Algorithm: TypeAlias = Literal["doubling", "bruck"]
Synchronization: TypeAlias = Literal["message", "fence", "pscw", "flush", "counter"]

_NOBODY = -1


@dataclass(frozen=True)
class StepCosts:
    """Costs of a step, seconds.

    Attributes
    ----------
    put
        Work of a process to start a write.
    acknowledgement
        From the arrival of a write until its writer knows that it is complete.
    notification
        From the start of an empty message until the other process has received it.
    poll
        From the arrival of a number that a process polls until it has seen it.
    barrier
        From the last process that enters a barrier of all processes until they leave it.
    """

    put: float
    acknowledgement: float
    notification: float
    poll: float
    barrier: float

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not 0.0 <= value < np.inf:
                raise ValueOutOfBoundsError(f"{each.name} of a step", str(value), "it must be >= 0 s and finite")

    @classmethod
    def of(cls, machine: Machine, ranks: int) -> StepCosts:
        """Return the costs that follow from those of messages.

        A write starts as a message does, and the answer of a network adapter takes the latency.
        """
        latency = machine.mean_latency(ranks)
        return cls(
            put=machine.isend,
            acknowledgement=latency,
            notification=machine.isend + latency + machine.probe_receive,
            poll=0.0,
            barrier=machine.allreduce_time(ranks),
        )


@dataclass(frozen=True)
class Gathering:
    """A way to gather the blocks of all processes on all processes.

    Attributes
    ----------
    algorithm
        "doubling": in step k, processes whose ranks differ in bit k send each other all their blocks; "bruck": in step
        k, a process sends to the one 2^k below it, and receives from the one 2^k above it.
    synchronization
        "message": data are messages, as in MPI_Allgather. In the others, data are writes, and a process knows that they
        have arrived because, "fence": writes are complete on all processes, and all of them meet; "pscw": the
        other process has opened its memory before, and the end of the write follows the data; "flush": the write is
        complete, and an empty message follows; "counter": the write is complete, and a number is written.
    costs
        Costs of a step; None: those that follow from the machine.
    """

    algorithm: Algorithm
    synchronization: Synchronization
    costs: StepCosts | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("algorithm", self.algorithm, get_args(Algorithm)),
            ("synchronization", self.synchronization, get_args(Synchronization)),
        ):
            if value not in known:
                raise UnknownNameError(f"{name} of a gathering", str(value), f"it must be of {', '.join(known)}")

    def finish(self, clock: Floats, blocks: Floats, machine: Machine) -> Floats:
        """Return when each process has all blocks.

        Parameters
        ----------
        clock
            When each process begins, seconds.
        blocks
            Bytes of the block of each process.
        machine
            Latency, bandwidths and the work for messages.
        """
        ranks = len(clock)
        costs = StepCosts.of(machine, ranks) if self.costs is None else self.costs
        for target, origin, data in gather_steps(self.algorithm, blocks):
            clock = self._step(clock, target, origin, data, machine, costs)
        return clock

    def _step(
        self, clock: Floats, target: Integers, origin: Integers, data: Floats, machine: Machine, costs: StepCosts
    ) -> Floats:
        sends, receives = target != _NOBODY, origin != _NOBODY
        latency = machine.mean_latency(len(clock))
        travel = _transfer_times(target, data, machine) + latency
        begin = clock.copy()
        if self.synchronization == "pscw":
            # The other process opens its memory with an empty message.
            begin[sends] = np.maximum(clock[sends], clock[target[sends]] + costs.notification)
        work = machine.isend if self.synchronization == "message" else costs.put
        sent = begin + np.where(sends, work, 0.0)
        arrival = sent + travel
        if self.synchronization == "fence":
            complete = np.where(sends, arrival + costs.acknowledgement, clock)
            return np.full(len(clock), float(complete.max()) + costs.barrier)
        if self.synchronization == "flush":
            sent = np.where(sends, arrival + costs.acknowledgement, sent)
            arrival = sent + costs.notification
        elif self.synchronization == "counter":
            sent = np.where(sends, arrival + costs.acknowledgement + costs.put, sent)
            arrival = sent + latency + costs.poll
        done = sent
        received = machine.probe_receive if self.synchronization in ("message", "pscw") else 0.0
        done[receives] = np.maximum(sent[receives], arrival[origin[receives]]) + received
        return done


def gather_steps(algorithm: Algorithm, blocks: Floats) -> Iterator[tuple[Integers, Integers, Floats]]:
    """Return the steps of an algorithm for blocks of these bytes.

    A step has for each process the one that it sends to, the one that it gets data from (-1: none), and the bytes that
    it sends.
    """
    return _bruck(blocks) if algorithm == "bruck" else _doubling(blocks)


def _bruck(blocks: Floats) -> Iterator[tuple[Integers, Integers, Floats]]:
    ranks = len(blocks)
    place = np.arange(ranks)
    before = np.concatenate([[0.0], np.cumsum(np.tile(blocks, 2))])
    have = 1
    while have < ranks:
        now = min(have, ranks - have)
        yield (place - have) % ranks, (place + have) % ranks, before[place + now] - before[place]
        have *= 2


def _doubling(blocks: Floats) -> Iterator[tuple[Integers, Integers, Floats]]:
    ranks = len(blocks)
    pairs = 1 << (ranks.bit_length() - 1)
    place = np.arange(ranks)
    nobody = np.full(ranks, _NOBODY)
    have = np.array(blocks, dtype=np.float64)
    folded = nobody.copy()
    folded[: ranks - pairs] = place[pairs:]
    folded[pairs:] = place[: ranks - pairs]
    is_folded = folded != _NOBODY
    if pairs < ranks:
        yield folded, folded, np.where(is_folded, have, 0.0)
        have[is_folded] += blocks[folded[is_folded]]
    of_both = have.copy()
    for distance in (1 << k for k in range(pairs.bit_length() - 1)):
        partner = nobody.copy()
        partner[:pairs] = place[:pairs] ^ distance
        yield partner, partner, np.where(place < pairs, have, 0.0)
        have[:pairs] = have[:pairs] + have[partner[:pairs]]
    if pairs < ranks:
        first, rest = place[: ranks - pairs], place[pairs:]
        target, origin, data = nobody.copy(), nobody.copy(), np.zeros(ranks)
        # Both have each other's block.
        target[first], origin[rest], data[first] = rest, first, have[first] - of_both[first]
        yield target, origin, data


def _transfer_times(target: Integers, data: Floats, machine: Machine) -> Floats:
    """Return how long the bytes of each process take: those of its node that leave it share the adapter."""
    times = data / machine.allgather_bandwidth
    nodes = np.arange(len(data)) // machine.processes_per_node
    leaves = (target != _NOBODY) & (target // machine.processes_per_node != nodes)
    messages = np.bincount(nodes, weights=leaves)
    volume = np.bincount(nodes, weights=np.where(leaves, data, 0.0))
    of_adapter = messages * machine.injection_gap + volume / machine.link_bandwidth
    shared: Floats = np.where(leaves, np.maximum(times, of_adapter[nodes]), times)
    return shared
