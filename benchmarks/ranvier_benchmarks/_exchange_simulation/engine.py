"""Simulation of the exchange of spikes.

Each process advances through the slots of an interval on a clock of its own: it receives what has arrived, relays,
delivers, computes, fires, and starts to send. Messages wait in a first-in, first-out queue of the adapter of their
node, travel, share the links of the whole network, and wait in a queue of the adapter that they reach. At the end of an
interval, processes synchronize as the method does.

An event for each message is out of reach: SimPy 4.1.2 took 46 us of processor time for a message with two queues (one
core of the machine on which this was written, 200,000 messages of 512 processes), which is two weeks for 131,072
processes, 200 intervals and 1,000 messages of each. So events are those of processes, as arrays over all of them:

- The spikes of each process, the lists of processes that need them, and the messages that each process gets are drawn
  one by one. So loads differ between processes as in a real network.
- The messages that start in one slot, on all processes, are a batch. The times at which they leave are known exactly,
  from cumulative maxima over the queues of the nodes, and are kept as a cumulative distribution over `_GRID` points.
  Since the targets are random, the messages for each process are a sample of it. A batch of n messages for a process
  has brought floor(n F(t) + u) of them at time t, with a random u of the process: the last of them arrives at the time
  of the last message of the batch, if n is large.
- The queue of all links has the rate of the links that cross the middle of the network.
- A message takes the mean latency. Differences of distance are not simulated.

A process uses its clock in the order of slots. It does not see messages that another process, which is ahead of it by
more than a slot, sends in a later slot, until it has come to that slot itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ranvier.errors import StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.gathers import Algorithm, Gathering, Synchronization
from ranvier_benchmarks._exchange_simulation.machines import Machine
from ranvier_benchmarks._exchange_simulation.spikes import Calendar, Flags, Floats, Integers, Targets, relays_of

__all__ = ["METHODS", "Method", "Simulated", "simulate"]

Transport: TypeAlias = Literal["allgather", "isend", "multisend", "replay"]

_GRID = 129
# Of the number of spikes in a block of an all-gather.
_COUNT_BYTES = 4.0
# Nodes times points of the grid of the queues at receiving adapters.
_MOST_OF_QUEUES = 1 << 23


@dataclass(frozen=True)
class Method:
    """A method of exchange.

    Attributes
    ----------
    transport
        "allgather": all spikes to all processes at the end of an interval; "isend": a message for each process that
        needs a spike, at once; "multisend": the same by a call that takes a list; "replay": by a call that repeats a
        list that was recorded when the cell fired for the first time.
    phases
        2: some processes relay a spike to the others.
    intervals
        2: the shortest delay has two intervals, and messages of one may arrive until the end of the next.
    relay
        With two phases and two intervals: "next" interval, or "any": as soon as a process gets a spike.
    completion
        "allreduce": the numbers of sent and received messages are reduced until they are equal; "reduce_scatter": each
        process gets the number of messages that it must receive.
    buffer
        With "allgather": spikes of a process in the first collective. If a process has more, another one follows.
    spike_bytes
        With "allgather": bytes of a spike.
    gathering
        With "allgather": steps in which blocks are gathered. None: one collective, whose costs are those of the
        machine. By messages, blocks are as in one collective; by writes, they are as long as their spikes, so that none
        follows.
    """

    transport: Transport
    phases: int = 1
    intervals: int = 1
    relay: Literal["next", "any"] = "next"
    completion: Literal["allreduce", "reduce_scatter"] = "allreduce"
    buffer: int = 10
    spike_bytes: float = 2.0
    gathering: Gathering | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("transport", self.transport, ("allgather", "isend", "multisend", "replay")),
            ("relay", self.relay, ("next", "any")),
            ("completion", self.completion, ("allreduce", "reduce_scatter")),
        ):
            if value not in known:
                raise UnknownNameError(f"{name} of a method", str(value), f"it must be of {', '.join(known)}")
        for name, number in (("phases", self.phases), ("intervals", self.intervals)):
            if number not in (1, 2):
                raise ValueOutOfBoundsError(f"{name} of a method", str(number), "they must be 1 or 2")
        if self.buffer < 0 or not self.spike_bytes > 0.0:
            raise ValueOutOfBoundsError(
                "buffer of a method", f"{self.buffer} spikes of {self.spike_bytes} bytes", "it must not be negative"
            )
        if self.transport in ("allgather", "replay") and self.phases == 2:
            raise StateError("phases of a method", "2", f"{self.transport} has one", "choose isend or multisend")
        if self.transport == "allgather" and (self.intervals == 2 or self.completion != "allreduce"):
            raise StateError(
                "method allgather",
                bound="it synchronizes by itself, at the end of one interval",
                remedy="leave out intervals and completion",
            )
        if self.gathering is not None and self.transport != "allgather":
            raise StateError(
                "gathering of a method",
                self.gathering.algorithm,
                f"{self.transport} gathers nothing",
                "choose transport='allgather'",
            )
        if self.completion == "reduce_scatter" and self.phases == 2:
            raise StateError(
                "completion reduce_scatter",
                bound="relayed messages are not known when it is called",
                remedy="choose phases=1 or completion='allreduce'",
            )


_ALGORITHMS: dict[str, Algorithm] = {"rma_allgather": "doubling", "rma_bruck": "bruck"}
_SYNCHRONIZATIONS: dict[str, Synchronization] = {
    "": "fence",
    "_pscw": "pscw",
    "_flush": "flush",
    "_counter": "counter",
}

METHODS = {
    "allgather": Method("allgather"),
    "allgather doubling": Method("allgather", gathering=Gathering("doubling", "message")),
    "allgather bruck": Method("allgather", gathering=Gathering("bruck", "message")),
    **{
        name + suffix: Method("allgather", gathering=Gathering(algorithm, synchronization))
        for name, algorithm in _ALGORITHMS.items()
        for suffix, synchronization in _SYNCHRONIZATIONS.items()
    },
    "isend": Method("isend", phases=2, intervals=2),
    "isend one-phase": Method("isend"),
    "multisend": Method("multisend"),
    "multisend 2": Method("multisend", intervals=2),
    "two-phase": Method("multisend", phases=2),
    "two-phase 2": Method("multisend", phases=2, intervals=2),
    "two-phase 2 any": Method("multisend", phases=2, intervals=2, relay="any"),
    "replay": Method("replay"),
    "replay 2": Method("replay", intervals=2),
    "multisend reduce_scatter": Method("multisend", completion="reduce_scatter"),
}
"""Methods by name. "2" means two intervals per shortest delay; those that begin with rma_ are called as in Ranvier."""


@dataclass(frozen=True)
class Simulated:
    """Results of a simulation; arrays have an entry for each interval between synchronizations.

    Attributes
    ----------
    ranks
        Number of processes.
    total
        Seconds from the start to the end, by interval.
    rank_0, mean, greatest
        Computation, seconds: of process 0, mean and greatest of all.
    exchange
        Total less the computation of process 0.
    rounds
        Reductions, or all-gathers.
    iterations
        Reductions after the first: how often messages were still missing.
    spikes_of_rank_0, sent_by_rank_0, received_by_rank_0
        Spikes, and messages. Received ones count for the interval in which the spike was sent first.
    messages
        On all processes, relayed ones included.
    spikes
        On all processes.
    late
        Messages that had not been received when the first process had finished its computation.
    greatest_fanout, greatest_fanout_of_rank_0
        Of all cells, and of those of process 0: number of other processes that need the spikes of a cell.
    """

    ranks: int
    total: Floats
    rank_0: Floats
    mean: Floats
    greatest: Floats
    rounds: Integers
    spikes_of_rank_0: Integers
    sent_by_rank_0: Integers
    received_by_rank_0: Integers
    messages: Integers
    spikes: Integers
    late: Integers
    greatest_fanout: int
    greatest_fanout_of_rank_0: int

    @property
    def exchange(self) -> Floats:
        """Total less the computation of process 0, by interval."""
        return self.total - self.rank_0

    @property
    def iterations(self) -> Integers:
        """Reductions after the first, by interval."""
        return np.maximum(self.rounds - 1, 0)

    @property
    def run_time(self) -> float:
        """Seconds of the whole run."""
        return float(self.total.sum())

    @property
    def computation(self) -> float:
        """Seconds that process 0 computes."""
        return float(self.rank_0.sum())


def simulate(
    spikes: Calendar,
    targets: Targets,
    machine: Machine,
    method: Method,
    *,
    intervals: int,
    seed: int = 1,
    work_of_cells: Floats | None = None,
    on_interval: Callable[[int], None] = lambda index: None,
) -> Simulated:
    """Simulate a run.

    Parameters
    ----------
    spikes, targets
        Spikes of each cell, and processes that need them.
    machine, method
        Parameters of the machine, and the method of exchange.
    intervals
        Number of shortest delays.
    seed
        Seed of what arrives at which process.
    work_of_cells
        Seconds for which each process computes in a shortest delay, besides what follows from spikes; None: 0.
    on_interval
        Called before each shortest delay.

    Returns
    -------
    Simulated
        Times and counts.

    Raises
    ------
    ValueOutOfBoundsError
        When the slots of an interval cannot be divided by the intervals of the method, or there is nothing to simulate.
    """
    if spikes.slots % method.intervals:
        raise ValueOutOfBoundsError(
            "slots", str(spikes.slots), f"they must be a multiple of the {method.intervals} intervals of the method"
        )
    if intervals < 1:
        raise ValueOutOfBoundsError("intervals", str(intervals), "there must be at least one")
    if spikes.cells != len(targets.rank_of):
        raise ValueOutOfBoundsError("cells", str(spikes.cells), f"the targets are those of {len(targets.rank_of)}")
    if work_of_cells is not None and np.shape(work_of_cells) != (targets.ranks,):
        raise ValueOutOfBoundsError(
            "work_of_cells", f"an array of shape {np.shape(work_of_cells)}", f"there are {targets.ranks} processes"
        )
    run = _Run(spikes, targets, machine, method, np.random.default_rng([seed, 3]), work_of_cells)
    return run.run(intervals, on_interval)


# ---- messages --------------------------------------------------------------------------------------------------------


def serve(ready: Floats, work: Floats, free: Floats) -> tuple[Floats, Floats]:
    """Return when a first-in, first-out server begins and ends each job; servers are rows, jobs sorted by `ready`."""
    done = np.cumsum(work, axis=1)
    begin = np.maximum.accumulate(np.maximum(ready, free[:, None]) - (done - work), axis=1) + (done - work)
    return begin, begin + work


class _Batch:
    """Messages that have started in one slot."""

    def __init__(
        self,
        counts: Integers,
        tag: int,
        share: Floats,
        grid: tuple[float, float],
        rng: np.random.Generator,
        on_arrival: _Relayed | None = None,
    ) -> None:
        self.counts = counts
        self.tag = tag
        self.on_arrival = on_arrival
        self.handled = np.zeros_like(counts)
        self.left = int(counts.sum())
        self.begin, self.end = grid
        self._share = share
        self._scale = (_GRID - 1) / max(self.end - self.begin, 1e-300)
        self._rounding = rng.random(len(counts))
        self._queues: tuple[Integers, Floats, float] | None = None

    def wait_at_nodes(self, machine: Machine, free: Floats) -> None:
        """Let the messages queue at the adapters that they reach, of nodes whose adapters are free from then on."""
        gap, per_node = machine.reception_gap, machine.processes_per_node
        if gap == 0.0 or self.left == 0:
            return
        node_counts = np.add.reduceat(self.counts, np.arange(0, len(self.counts), per_node)).astype(np.float64)
        steepest = float(np.diff(self._share).max()) * self._scale
        waits = (node_counts > 0.0) & ((node_counts * gap * steepest > 1.0) | (free > self.begin))
        nodes = np.flatnonzero(waits)
        idle = np.flatnonzero(~waits & (node_counts > 0.0))
        free[idle] = np.maximum(free[idle], self.begin)
        if len(nodes) == 0:
            return
        if len(nodes) * _GRID > _MOST_OF_QUEUES:
            # Only the busiest are looked at one by one.
            busiest = np.argsort(node_counts[nodes])[-(_MOST_OF_QUEUES // _GRID) :]
            nodes = np.sort(nodes[busiest])
        counts = node_counts[nodes]
        # Long enough for the last of them.
        end = max(self.end, float((np.maximum(free[nodes], self.begin) + counts * gap).max()) + (self.end - self.begin))
        times = np.linspace(self.begin, end, _GRID)
        arrived = counts[:, None] * self._share_at(times)[None, :]
        served = times[None, :] / gap
        slack = arrived - served
        slack[:, 0] = np.minimum(slack[:, 0], 0.0 - np.maximum(free[nodes], self.begin) / gap)
        left = np.clip(served + np.minimum.accumulate(slack, axis=1), 0.0, counts[:, None])
        finished = np.argmax(left >= counts[:, None] - 1e-6, axis=1)
        free[nodes] = np.maximum(free[nodes], times[finished])
        place = np.full(len(node_counts), -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        self._queues = (place[np.arange(len(self.counts)) // per_node], left / counts[:, None], end)

    def arrive(self, clock: Floats) -> Integers:
        """Return the messages of each process that it finds now, at the time of its clock."""
        if self._queues is None:
            if float(clock.min()) >= self.end:
                arrived = self.counts
            elif float(clock.max()) < self.begin:
                return np.zeros_like(self.counts)
            else:
                share = self._share_at(clock)
                arrived = np.floor(self.counts * share + self._rounding).astype(np.int64)
        else:
            arrived = np.floor(self.counts * self._share_after_queue(clock) + self._rounding).astype(np.int64)
        # Rounding must not bring messages that do not exist, nor take back some.
        found = np.maximum(np.minimum(arrived, self.counts) - self.handled, 0)
        self.handled += found
        self.left -= int(found.sum())
        return found

    def first_after(self, clock: float) -> float:
        """Return a time before which none of the messages that are left arrives, if none has arrived yet."""
        return max(clock, self.begin)

    def last_arrivals(self) -> Floats:
        """Return when the last message of each process arrives."""
        ends = np.full(len(self.counts), -np.inf)
        some = self.counts > 0
        needed = np.clip((self.counts[some] - self._rounding[some]) / self.counts[some], 0.0, 1.0)
        if self._queues is None:
            ends[some] = self.begin + np.interp(needed, self._share, np.arange(_GRID)) / self._scale
            return ends
        place, left, end = self._queues
        times = np.linspace(self.begin, end, _GRID)
        for number, rank in enumerate(np.flatnonzero(some)):
            share = self._share_at(times) if place[rank] < 0 else left[place[rank]]
            ends[rank] = np.interp(needed[number], share, times)
        return ends

    def _share_at(self, times: Floats) -> Floats:
        position = np.clip((times - self.begin) * self._scale, 0.0, _GRID - 1)
        index = np.minimum(position.astype(np.int64), _GRID - 2)
        share = self._share[index] + (self._share[index + 1] - self._share[index]) * (position - index)
        return np.where(times < self.begin, 0.0, share)

    def _share_after_queue(self, clock: Floats) -> Floats:
        assert self._queues is not None
        place, left, end = self._queues
        share = self._share_at(clock)
        waiting = np.flatnonzero(place >= 0)
        position = np.clip((clock[waiting] - self.begin) * ((_GRID - 1) / (end - self.begin)), 0.0, _GRID - 1)
        index = np.minimum(position.astype(np.int64), _GRID - 2)
        lower, upper = left[place[waiting], index], left[place[waiting], index + 1]
        share[waiting] = lower + (upper - lower) * (position - index)
        return share


class _Relayed:
    """Spikes of one slot, on their way to the processes that relay them."""

    def __init__(self, first: Integers, second: Integers, tag: int, rng: np.random.Generator) -> None:
        self.tag = tag
        self.waiting = np.zeros_like(first)
        self._second = second
        self._per_message = float(second.sum()) / max(1, int(first.sum()))
        self._most = int(first.sum())
        self._taken = np.zeros_like(first)
        self._sent = np.zeros_like(first)
        self._senders_rounding = rng.random(len(first))
        self._receivers_rounding = rng.random(len(first))
        self._received = np.zeros_like(first)

    def take(self) -> tuple[Integers, Integers, Integers]:
        """Return, by process: spikes that are relayed now, messages that this sends, and messages for the process."""
        calls, self.waiting = self.waiting, np.zeros_like(self.waiting)
        self._taken += calls
        sent = np.floor(self._taken * self._per_message + self._senders_rounding).astype(np.int64)
        sent[self._taken == 0] = 0
        share = int(self._taken.sum()) / max(1, self._most)
        received = np.minimum(np.floor(self._second * share + self._receivers_rounding).astype(np.int64), self._second)
        now, arriving = sent - self._sent, received - self._received
        self._sent, self._received = sent, received
        if arriving.any() and not now.any():
            # Rounding must not leave messages without a sender.
            now[np.argmax(calls)] = 1
        return calls, now, arriving


# ---- the run ---------------------------------------------------------------------------------------------------------


class _Run:
    def __init__(
        self,
        spikes: Calendar,
        targets: Targets,
        machine: Machine,
        method: Method,
        rng: np.random.Generator,
        work_of_cells: Floats | None,
    ) -> None:
        self._spikes, self._targets, self._method, self._rng = spikes, targets, method, rng
        self._machine = machine
        ranks = targets.ranks
        self._ranks = ranks
        self._clock = np.zeros(ranks)
        # The clocks after the last collective.
        self._begun = np.zeros(ranks)
        self._are_crowded = machine.turns(ranks) > 1.0
        self._work_of_slot = np.zeros(ranks) if work_of_cells is None else work_of_cells / spikes.slots
        self._batches: list[_Batch] = []
        self._relayed: list[_Relayed] = []
        self._latency = machine.mean_latency(ranks)
        self._rate = machine.message_rate(ranks)
        self._links_free = 0.0
        nodes = machine.nodes(ranks)
        self._leaving_free, self._arriving_free = np.zeros(nodes), np.zeros(nodes)
        self._record_free = np.zeros(ranks)
        self._events: list[Floats] = [np.zeros(ranks) for _ in range(spikes.slots)]
        self._sent, self._received = np.zeros(ranks, dtype=np.int64), np.zeros(ranks, dtype=np.int64)
        self._messages = 0
        self._tag = 0
        self._lists: dict[str, list[float]] = {
            name: []
            for name in (
                "total",
                "rank_0",
                "mean",
                "greatest",
                "rounds",
                "spikes_of_rank_0",
                "sent_by_rank_0",
                "received_by_rank_0",
                "messages",
                "spikes",
                "late",
            )
        }

    def run(self, intervals: int, on_interval: Callable[[int], None]) -> Simulated:
        method, slots = self._method, self._spikes.slots
        per_part = slots // method.intervals
        for index in range(intervals):
            on_interval(index)
            cells, of_slot, first = self._spikes.interval(index)
            order = np.argsort(of_slot, kind="stable")
            cells, first = cells[order], first[order]
            borders = np.searchsorted(of_slot[order], np.arange(slots + 1))
            coming: list[Floats] = []
            for part in range(method.intervals):
                begin = float(self._clock.max())
                started = self._clock.copy()
                self._sent[:], self._received[:], self._messages = 0, 0, 0
                spikes_of_part = cells[borders[part * per_part] : borders[(part + 1) * per_part]]
                for slot in range(part * per_part, (part + 1) * per_part):
                    fired = slice(borders[slot], borders[slot + 1])
                    coming.append(self._advance(self._events[slot], cells[fired], first[fired]))
                last = index == intervals - 1 and part == method.intervals - 1
                self._finish(begin, started, spikes_of_part, last)
                self._tag += 1
            self._events = coming
        counts = ("rounds", "spikes_of_rank_0", "sent_by_rank_0", "received_by_rank_0", "messages", "spikes", "late")
        arrays: dict[str, Any] = {
            name: np.array(values, dtype=np.int64 if name in counts else np.float64)
            for name, values in self._lists.items()
        }
        fanout, here = self._targets.fanout, self._targets.rank_of == 0
        return Simulated(
            ranks=self._ranks,
            greatest_fanout=int(fanout.max(initial=0)),
            greatest_fanout_of_rank_0=int(fanout[here].max(initial=0)),
            **arrays,
        )

    # ---- one slot ----------------------------------------------------------------------------------------------------

    def _advance(self, events: Floats, cells: Integers, first: Flags) -> Floats:
        """Let all processes compute a slot; return the synaptic events of its spikes, a delay later."""
        machine, method = self._machine, self._method
        relays = method.phases == 2
        if method.transport != "allgather":
            self._receive()
            self._relay()
        fired = np.bincount(self._targets.rank_of[cells], minlength=self._ranks)
        self._clock += self._work_of_slot + machine.step + events * machine.event + fired * machine.spike
        direct, relayed, synapses = self._targets.draw(cells, relays)
        if method.transport == "allgather":
            # What arrives at a process is what cells on it need.
            self._received += direct
            return synapses
        if len(cells) == 0:
            return synapses
        fanout = self._targets.fanout[cells].astype(np.int64)
        length = relays_of(fanout) if relays else fanout
        ranks = self._targets.rank_of[cells]
        messages = np.bincount(ranks, weights=length, minlength=self._ranks)
        calls = np.bincount(ranks[length > 0], minlength=self._ranks)
        begin = self._clock.copy()
        if method.transport == "multisend":
            # No message leaves before the end of the work for the first call.
            begin += (calls > 0) * machine.send_call
        if method.transport == "isend":
            self._clock += messages * machine.isend
        elif method.transport == "multisend":
            self._clock += calls * machine.send_call + messages * machine.send_target
        else:
            recorded = np.bincount(ranks, weights=first * length, minlength=self._ranks)
            calls_of_first = np.bincount(ranks[first & (length > 0)], minlength=self._ranks)
            self._clock += calls_of_first * machine.send_call + recorded * machine.send_target
            self._clock += calls * machine.replay_call
        whole = messages.astype(np.int64)
        spikes = _Relayed(direct, relayed, self._tag, self._rng) if relayed.any() else None
        self._send(whole, direct, begin, self._tag, spikes, calls if method.transport == "replay" else None)
        if method.completion == "reduce_scatter":
            self._clock += messages * machine.count_target
        if spikes is not None:
            self._relayed.append(spikes)
        return synapses

    def _receive(self) -> None:
        """Receive what has arrived at each process."""
        machine = self._machine
        overhead = machine.message + (machine.probe_receive if self._method.transport == "isend" else machine.receive)
        now = self._clock.copy()
        for batch in self._batches:
            found = batch.arrive(now)
            if batch.on_arrival is not None:
                batch.on_arrival.waiting += found
            self._count_received(batch, found)
            self._clock += found * overhead
        self._batches = [batch for batch in self._batches if batch.left > 0]

    def _count_received(self, batch: _Batch, found: Integers) -> None:
        """Count messages for the interval of their spikes, which may be the one before the present one."""
        if batch.tag == self._tag:
            self._received += found
        else:
            self._lists["received_by_rank_0"][batch.tag] += int(found[0])

    def _relay(self, all_of: int | None = None) -> None:
        """Relay spikes that may be relayed: of this interval only if `all_of` is its tag, or without a rule."""
        machine, method = self._machine, self._method
        waits = method.intervals == 2 and method.relay == "next"
        for spikes in self._relayed:
            if (waits and spikes.tag == self._tag and all_of != self._tag) or not spikes.waiting.any():
                continue
            calls, sent, counts = spikes.take()
            begin = self._clock.copy()
            if method.transport == "isend":
                self._clock += sent * machine.isend
            else:
                begin += (sent > 0) * machine.send_call
                self._clock += np.minimum(calls, sent) * machine.send_call + sent * machine.send_target
            self._send(sent, counts, begin, spikes.tag, None, None)

    def _send(
        self,
        messages: Integers,
        counts: Integers,
        begin: Floats,
        tag: int,
        on_arrival: _Relayed | None,
        replayed: Integers | None,
    ) -> None:
        """Let messages of each process leave, from `begin` to its present time, and make them a batch."""
        self._sent += messages
        self._messages += int(counts.sum())
        if not messages.any() or not counts.any():
            return
        machine = self._machine
        senders = np.flatnonzero(messages)
        ready = begin[senders]
        work = messages[senders].astype(np.float64) * machine.injection_gap
        # A process cannot start messages faster than by its own work.
        span = np.maximum(work, self._clock[senders] - ready)
        if replayed is not None:
            # The next message list can be given to the adapter when the process has noticed the end of the last one.
            notice = self._rng.random(len(senders)) * machine.replay_poll
            ready = np.maximum(ready, self._record_free[senders])
            span = work + (replayed[senders] - 1.0) * notice
            self._record_free[senders] = ready + span + notice
        starts, ends = self._leave(senders, messages[senders], ready, span, work)
        times, share, last = self._through_links(starts, ends, messages[senders].astype(np.float64))
        batch = _Batch(
            counts, tag, share, (times[0] + self._latency, last + self._latency), self._rng, on_arrival=on_arrival
        )
        batch.wait_at_nodes(machine, self._arriving_free)
        self._batches.append(batch)

    def _leave(
        self, senders: Integers, messages: Integers, ready: Floats, span: Floats, work: Floats
    ) -> tuple[Floats, Floats]:
        """Return when the first and the last messages of processes leave their nodes; adapters serve one by one."""
        per_node = self._machine.processes_per_node
        # Senders are sorted by their nodes; in a row, they are sorted by the time at which they begin.
        nodes = senders // per_node
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        present, count = nodes[first], np.diff(first, append=len(nodes))
        column = np.arange(len(nodes)) - np.repeat(first, count)
        row = np.repeat(np.arange(len(present)), count)
        ready_of = np.full((len(present), int(count.max())), np.inf)
        work_of = np.zeros_like(ready_of)
        ready_of[row, column], work_of[row, column] = ready, work
        order = np.argsort(ready_of, axis=1, kind="stable")
        ready_of, work_of = (np.take_along_axis(of, order, axis=1) for of in (ready_of, work_of))
        ready_of[np.isinf(ready_of)] = -np.inf
        begin, end = serve(ready_of, work_of, self._leaving_free[present])
        # A process that is ahead may send in its next slot before another one sends in this slot, so that the adapter
        # is not kept for the latter.
        earliest = ready_of[:, 0]
        self._leaving_free[present] = np.maximum(self._leaving_free[present], earliest) + work_of.sum(axis=1)
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
        column = place[row, column]
        starts, ends = begin[row, column], end[row, column]
        ends = np.maximum(ends, ready + span)
        # The first message leaves after its own share of the time.
        return starts + (ends - starts) / messages, ends

    def _through_links(self, starts: Floats, ends: Floats, messages: Floats) -> tuple[Floats, Floats, float]:
        """Return when the messages of all processes have crossed the network: times, their share, and the last time."""
        begin, end = float(starts.min()), float(ends.max())
        total = float(messages.sum())
        if np.isfinite(self._rate):
            # Long enough for what waits.
            end = max(end, max(begin, self._links_free) + total / self._rate)
        end = max(end, begin + 1e-12)
        times = np.linspace(begin, end, _GRID)
        share = _cumulated(times, starts, ends, messages) / total
        share[-1] = 1.0
        if np.isfinite(self._rate):
            served = self._rate * times / total
            slack = share - served
            slack[0] = min(slack[0], -max(begin, self._links_free) * self._rate / total)
            share = np.clip(served + np.minimum.accumulate(slack), 0.0, 1.0)
            share[-1] = 1.0
            self._links_free = max(self._links_free, begin) + total / self._rate
        return times, share, end

    # ---- the end of an interval --------------------------------------------------------------------------------------

    def _finish(self, begin: float, started: Floats, cells: Integers, last: bool) -> None:
        method = self._method
        if method.transport == "allgather":
            rounds, computation = self._gather(started, cells)
            late = 0
        else:
            computation = self._clock - started
            late = sum(batch.left for batch in self._batches)
            needed = self._tag if method.intervals == 1 or last else self._tag - 1
            complete = self._reduce_scatter if method.completion == "reduce_scatter" else self._conserve
            rounds = complete(needed)
        spikes_of_rank_0 = int(np.count_nonzero(self._targets.rank_of[cells] == 0))
        values = {
            "total": float(self._clock.max()) - begin,
            "rank_0": float(computation[0]),
            "mean": float(computation.mean()),
            "greatest": float(computation.max()),
            "rounds": rounds,
            "spikes_of_rank_0": spikes_of_rank_0,
            "sent_by_rank_0": int(self._sent[0]),
            "received_by_rank_0": int(self._received[0]),
            "messages": self._messages,
            "spikes": len(cells),
            "late": late,
        }
        for name, value in values.items():
            self._lists[name].append(value)

    def _synchronize(self, duration: float) -> None:
        """Let all processes wait for the last one, and for a collective that lasts some time after that."""
        self._wait_for_cores()
        self._clock[:] = float(self._clock.max()) + duration
        self._begun[:] = self._clock

    def _wait_for_cores(self) -> None:
        """Let processes that share cores wait until these have done all work since the last collective."""
        if not self._are_crowded:
            return
        nodes = np.arange(0, self._ranks, self._machine.processes_per_node)
        work = np.add.reduceat(self._clock - self._begun, nodes)
        done = np.minimum.reduceat(self._begun, nodes) + work / self._machine.cores_per_node
        sizes = np.diff(np.append(nodes, self._ranks))
        self._clock = np.maximum(self._clock, np.repeat(done, sizes))
        self._begun[:] = self._clock

    def _conserve(self, needed: int) -> int:
        """Reduce until all messages of intervals up to `needed` have been received; return the number of reductions."""
        reduction = self._machine.allreduce_time(self._ranks)
        rounds = 0
        while True:
            self._receive()
            self._relay(all_of=needed)
            missing = [batch for batch in self._batches if batch.tag <= needed]
            relays = any(spikes.waiting.any() for spikes in self._relayed if spikes.tag <= needed)
            self._synchronize(reduction)
            rounds += 1
            if not missing and not relays:
                break
            if not relays and reduction > 0.0:
                # Nothing changes until a message arrives.
                now = float(self._clock[0])
                idle = int((min(batch.first_after(now) for batch in missing) - now) / reduction)
                rounds += idle
                self._synchronize(idle * reduction)
            elif not relays:
                self._synchronize(max(0.0, min(batch.end for batch in missing) - float(self._clock[0])))
        self._relayed = [spikes for spikes in self._relayed if spikes.tag > needed]
        return rounds

    def _reduce_scatter(self, needed: int) -> int:
        """Tell each process how many messages come, and let it receive them."""
        machine = self._machine
        vector = 4.0 * self._ranks
        self._synchronize(machine.allreduce_time(self._ranks) + vector / machine.reduce_scatter_bandwidth)
        self._receive()
        for batch in [batch for batch in self._batches if batch.tag <= needed]:
            rest = batch.counts - batch.handled
            waits = rest > 0
            arrivals = batch.last_arrivals()
            self._clock[waits] = np.maximum(self._clock[waits], arrivals[waits]) + rest[waits] * (
                machine.message + machine.receive
            )
            self._count_received(batch, rest)
            self._batches.remove(batch)
        return 1

    def _gather(self, started: Floats, cells: Integers) -> tuple[int, Floats]:
        """Gather all spikes everywhere; return the number of collectives, and the computation of each process."""
        machine, method, ranks = self._machine, self._method, self._ranks
        computation = self._clock - started
        fired = np.bincount(self._targets.rank_of[cells], minlength=ranks)
        self._sent += fired
        self._messages = len(cells)
        rounds = self._gather_at_once(fired) if method.gathering is None else self._gather_in_steps(fired)
        self._begun[:] = self._clock
        work = ranks * machine.scan_process + self._received * machine.message
        work += (len(cells) - fired - self._received) * machine.search
        self._clock += work
        return rounds, computation + work

    def _gather_at_once(self, fired: Integers) -> int:
        machine, method, ranks = self._machine, self._method, self._ranks
        block = _COUNT_BYTES + method.buffer * method.spike_bytes
        gather = machine.allgather_time(ranks)
        self._synchronize(gather + ranks * block / machine.allgather_bandwidth)
        rest = int(np.maximum(fired - method.buffer, 0).sum())
        if rest == 0:
            return 1
        rest_time = rest * method.spike_bytes / machine.allgather_bandwidth
        self._synchronize(gather + ranks * machine.allgatherv_process + rest_time)
        return 2

    def _gather_in_steps(self, fired: Integers) -> int:
        gathering, method = self._method.gathering, self._method
        assert gathering is not None
        self._wait_for_cores()
        if gathering.synchronization != "message":
            blocks = _COUNT_BYTES + fired.astype(np.float64) * method.spike_bytes
            self._clock = gathering.finish(self._clock, blocks, self._machine)
            return 1
        block = _COUNT_BYTES + method.buffer * method.spike_bytes
        self._clock = gathering.finish(self._clock, np.full(self._ranks, block), self._machine)
        rest = np.maximum(fired - method.buffer, 0)
        if not rest.any():
            return 1
        self._clock = gathering.finish(self._clock, rest.astype(np.float64) * method.spike_bytes, self._machine)
        return 2


def _cumulated(times: Floats, starts: Floats, ends: Floats, messages: Floats) -> Floats:
    """Return how many messages have left at times on a uniform grid, if those of a process leave at an even rate."""
    lengths = np.maximum(ends - starts, 1e-12)
    rates = messages / lengths
    step = times[1] - times[0]
    total = np.zeros(len(times))
    for borders, sign in ((starts, 1.0), (starts + lengths, -1.0)):
        # At each point, only those borders count that lie before it.
        place = np.clip(np.ceil((borders - times[0]) / step).astype(np.int64), 0, len(times))
        rate = np.cumsum(np.bincount(place, weights=rates, minlength=len(times) + 1))[: len(times)]
        moment = np.cumsum(np.bincount(place, weights=rates * (borders - times[0]), minlength=len(times) + 1))
        total += sign * (rate * (times - times[0]) - moment[: len(times)])
    return np.clip(total, 0.0, float(messages.sum()))
