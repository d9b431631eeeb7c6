"""How long a network takes in `bsp` and `async` stepping on more processes than there are, from events.

Shards, their delays and the rules by which they advance are those of the engine; only what takes time is replaced: the
steps of a shard, a visit, and a message take as long as they are said to. A message takes the time of the LogP model:
D. Culler et al., LogP: towards a realistic model of parallel computation, PPoPP (1993). The threads of all processes
become slower and faster at random, as those of machines do.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["Machine", "Outcome", "Shards", "run_async", "run_bsp"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# The engine's limit of steps that a shard of cells takes at a time.
_MOST_STEPS = 128


@dataclass(frozen=True)
class Machine:
    """Times of a machine.

    Attributes
    ----------
    threads
        Threads of a process.
    visit
        Seconds that a visit takes beside the steps of the shard.
    latency
        Seconds that a message is under way.
    overhead
        Seconds that it takes the sender to send it, and the receiver to receive it.
    jitter
        Standard deviation of the speed of a thread, relative to its mean.
    jitter_period
        Seconds after which a thread gets another speed.
    seed
        Seed of the speeds.
    """

    threads: int
    visit: float
    latency: float
    overhead: float
    jitter: float = 0.0
    jitter_period: float = 1e-3
    seed: int = 1


@dataclass(frozen=True)
class Shards:
    """The shards of all processes, and the pairs between which spikes go.

    Attributes
    ----------
    ranks
        Rank of each shard, ascending, shape ``(shards,)``.
    seconds
        That a step takes, shape ``(shards,)``.
    sources, targets, least
        The shards of each pair, and the least delay in steps of the synapses from one to the other; shape ``(pairs,)``.
    """

    ranks: IntArray
    seconds: FloatArray
    sources: IntArray
    targets: IntArray
    least: IntArray

    @property
    def processes(self) -> int:
        """Number of processes."""
        return int(self.ranks[-1]) + 1


@dataclass(frozen=True)
class Outcome:
    """Results of a simulated run.

    Attributes
    ----------
    seconds
        Time of the run.
    wait
        Part of the time of all threads in which they advanced no shard.
    steps_per_visit
        Mean number of steps that a shard took at a time.
    messages
        Number of messages of all processes.
    """

    seconds: float
    wait: float
    steps_per_visit: float
    messages: int


class _Pace:
    """Tells when a thread has done some work. Its speed is 1 on average, and another one in each period."""

    def __init__(self, machine: Machine, workers: int) -> None:
        self._period = machine.jitter_period
        self._is_even = machine.jitter == 0.0
        self._spread = math.sqrt(math.log1p(machine.jitter**2))
        self._chance = [np.random.default_rng([machine.seed, worker]) for worker in range(workers)]
        # Work that each thread can have done at the end of each period.
        self._done = [np.zeros(1) for _ in range(workers)]

    def end(self, worker: int, begin: float, work: float) -> float:
        if self._is_even:
            return begin + work
        target = self._at(worker, begin) + work
        while self._done[worker][-1] < target:
            self._draw(worker)
        done = self._done[worker]
        place = int(np.searchsorted(done, target)) - 1
        return float(place + (target - done[place]) / (done[place + 1] - done[place])) * self._period

    def _at(self, worker: int, time: float) -> float:
        place, part = divmod(time / self._period, 1.0)
        while len(self._done[worker]) < place + 2:
            self._draw(worker)
        done = self._done[worker]
        return float(done[int(place)] + part * (done[int(place) + 1] - done[int(place)]))

    def _draw(self, worker: int) -> None:
        done = self._done[worker]
        speeds = np.exp(self._chance[worker].normal(-(self._spread**2) / 2.0, self._spread, len(done) + 64))
        self._done[worker] = np.concatenate([done, done[-1] + np.cumsum(speeds) * self._period])


def run_bsp(shards: Shards, machine: Machine, steps: int) -> Outcome:
    """Run epochs of the least of all delays.

    The cells of a process are dealt evenly to its threads. An exchange takes as many rounds as processes can be doubled
    in, as in an all-to-all of short messages (J. Bruck et al., IEEE Transactions on Parallel and Distributed Systems 8,
    1143 (1997)).
    """
    processes, threads = shards.processes, machine.threads
    pace = _Pace(machine, processes * threads)
    work = np.bincount(shards.ranks, shards.seconds, processes) / threads
    rounds = math.ceil(math.log2(processes))
    exchange = rounds * (machine.latency + 2.0 * machine.overhead)
    delay = int(shards.least.min())
    now, busy, epochs = 0.0, 0.0, 0
    for first in range(0, steps, delay):
        taken = min(delay, steps - first)
        ends = [
            pace.end(rank * threads + thread, now, machine.visit + taken * work[rank])
            for rank in range(processes)
            for thread in range(threads)
        ]
        busy += sum(ends) - now * len(ends)
        now = max(ends) + exchange
        epochs += 1
    return Outcome(now, 1.0 - busy / (now * processes * threads), min(delay, steps), processes * rounds * epochs)


def run_async(shards: Shards, machine: Machine, steps: int) -> Outcome:
    """Run without epochs: each shard as far as what it knows of others lets it, the earliest one first."""
    return _AsyncRun(shards, machine, steps).run()


@dataclass
class _Outlet:
    """That a shard is read by another process."""

    shard: int
    period: int
    told: int = 0
    is_due: bool = False


@dataclass
class _Route:
    """All that one process sends to another one."""

    outlets: list[_Outlet] = field(default_factory=list)
    due: int = 0
    waited: int = 0


class _Process:
    def __init__(self, threads: range) -> None:
        # Threads that have nothing to do, and since when.
        self.idle = [(worker, 0.0) for worker in threads]
        # Shards by their clocks.
        self.ready: list[tuple[int, int]] = []
        self.routes: dict[int, _Route] = {}
        # Messages that have arrived: shards and their clocks.
        self.arrived: list[tuple[IntArray, IntArray]] = []


class _AsyncRun:
    """The events of a run, in their order in time."""

    def __init__(self, shards: Shards, machine: Machine, steps: int) -> None:
        self.shards, self.machine, self.steps = shards, machine, steps
        count, processes = len(shards.ranks), shards.processes
        self.rank_of = [int(rank) for rank in shards.ranks]
        self.pace = _Pace(machine, processes * machine.threads)
        self.processes = [
            _Process(range(rank * machine.threads, (rank + 1) * machine.threads)) for rank in range(processes)
        ]
        self.groups = np.bincount(shards.ranks, minlength=processes)
        self.clock = [0] * count
        # The clocks of all shards as each process knows them.
        self.known = np.zeros((processes, count), dtype=np.int64)
        self.waits = [False] * count
        self._make_pairs()
        # The end of each shard's visit, and the number of steps after which it sends its clock.
        self.plan = [0] * count
        self.piece = [min((outlet.period for _, outlet in self.outlets[k]), default=_MOST_STEPS) for k in range(count)]
        self.events: list[tuple[float, int, int, int, int]] = []
        self.under_way: dict[int, tuple[int, IntArray, IntArray]] = {}
        self.number = 0
        self.busy = 0.0
        self.visits = 0
        self.messages = 0

    def _make_pairs(self) -> None:
        shards = self.shards
        order = np.argsort(shards.targets, kind="stable")
        ends = np.searchsorted(shards.targets[order], np.arange(len(self.clock) + 1))
        self.sources = [shards.sources[order[a:b]] for a, b in itertools.pairwise(ends)]
        self.least = [shards.least[order[a:b]] for a, b in itertools.pairwise(ends)]
        # Shards of the same process that read a shard, and of each process that read one elsewhere.
        self.readers: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        outlets: dict[tuple[int, int], int] = {}
        for source, target, delay in zip(
            shards.sources.tolist(), shards.targets.tolist(), shards.least.tolist(), strict=True
        ):
            rank = self.rank_of[target]
            if source != target:
                self.readers[source, rank].append(target)
            if rank != self.rank_of[source]:
                outlets[source, rank] = min(delay, outlets.get((source, rank), delay))
        self.outlets: defaultdict[int, list[tuple[int, _Outlet]]] = defaultdict(list)
        for (source, rank), delay in sorted(outlets.items()):
            outlet = _Outlet(source, (delay + 1) // 2)
            self.outlets[source].append((rank, outlet))
            self.processes[self.rank_of[source]].routes.setdefault(rank, _Route()).outlets.append(outlet)

    def run(self) -> Outcome:
        for shard in range(len(self.clock)):
            heapq.heappush(self.processes[self.rank_of[shard]].ready, (0, shard))
        for process in self.processes:
            self._wake(process, 0.0)
        now = 0.0
        while self.events:
            now, _, worker, shard, last = heapq.heappop(self.events)
            if shard >= 0:
                self._end_piece(now, worker, shard, last)
            elif worker >= 0:
                self._work(now, worker)
            else:
                self._arrive(now, last)
        threads = len(self.processes) * self.machine.threads
        return Outcome(
            now, 1.0 - self.busy / (now * threads), len(self.clock) * self.steps / self.visits, self.messages
        )

    def _push(self, time: float, worker: int, shard: int, last: int) -> None:
        self.number += 1
        heapq.heappush(self.events, (time, self.number, worker, shard, last))

    def _wake(self, process: _Process, now: float) -> None:
        """Let threads that have nothing to do look for something."""
        for worker, since in process.idle:
            self._push(max(now, since), worker, -1, 0)
        process.idle = []

    def _limit(self, shard: int) -> int:
        sources = self.sources[shard]
        limit = min(self.clock[shard] + _MOST_STEPS, self.steps)
        if len(sources) == 0:
            return limit
        known = self.known[self.rank_of[shard], sources] + self.least[shard]
        # A shard reads the spikes of its cells while it advances.
        return min(limit, int(known[sources != shard].min(initial=limit)))

    def _work(self, now: float, worker: int) -> None:
        """Advance the earliest shard that can advance, or have nothing to do."""
        rank = worker // self.machine.threads
        process = self.processes[rank]
        now = self._receive(now, rank)
        while process.ready:
            clock, shard = heapq.heappop(process.ready)
            last = self._limit(shard)
            if last > clock:
                self.plan[shard] = last
                self.visits += 1
                self._advance(now + self.machine.visit, worker, shard)
                return
            self.waits[shard] = True
        now = self._send(now, rank, is_idle=True)
        process.idle.append((worker, now))

    def _advance(self, now: float, worker: int, shard: int) -> None:
        """Advance to the end of a visit, or until the clock must be sent."""
        clock = self.clock[shard]
        last = min(self.plan[shard], clock + self.piece[shard])
        end = self.pace.end(worker, now, (last - clock) * float(self.shards.seconds[shard]))
        self.busy += end - now
        self._push(end, worker, shard, last)

    def _end_piece(self, now: float, worker: int, shard: int, last: int) -> None:
        rank = worker // self.machine.threads
        process = self.processes[rank]
        self.clock[shard] = last
        self.known[rank, shard] = last
        goes_on = last < self.plan[shard]
        if not goes_on and last < self.steps:
            heapq.heappush(process.ready, (last, shard))
        self._tell(rank, shard)
        for to, outlet in self.outlets[shard]:
            if not outlet.is_due and (last == self.steps or last >= outlet.told + outlet.period):
                outlet.is_due = True
                process.routes[to].due += 1
        now = self._receive(now, rank)
        now = self._send(now, rank, is_idle=False)
        if process.ready:
            self._wake(process, now)
        if goes_on:
            self._advance(now, worker, shard)
        else:
            self._work(now, worker)

    def _tell(self, rank: int, shard: int) -> None:
        """Let those of a process that read a shard try again."""
        for reader in self.readers.get((shard, rank), ()):
            if self.waits[reader]:
                self.waits[reader] = False
                heapq.heappush(self.processes[rank].ready, (self.clock[reader], reader))

    def _send(self, now: float, rank: int, *, is_idle: bool) -> float:
        for to, route in self.processes[rank].routes.items():
            if route.due == 0:
                continue
            if not is_idle and 2 * route.due < len(route.outlets):
                route.waited += 1
                if route.waited < self.groups[rank]:
                    continue
            now += self.machine.overhead
            told = [outlet for outlet in route.outlets if self.clock[outlet.shard] > outlet.told]
            clocks = np.array([self.clock[outlet.shard] for outlet in told], dtype=np.int64)
            for outlet, clock in zip(told, clocks.tolist(), strict=True):
                outlet.told, outlet.is_due = clock, False
            route.due = route.waited = 0
            self.messages += 1
            self.under_way[self.messages] = (to, np.array([outlet.shard for outlet in told]), clocks)
            self._push(now + self.machine.latency, -1, -1, self.messages)
        return now

    def _arrive(self, now: float, number: int) -> None:
        rank, shards, clocks = self.under_way.pop(number)
        process = self.processes[rank]
        process.arrived.append((shards, clocks))
        self._wake(process, now)

    def _receive(self, now: float, rank: int) -> float:
        process = self.processes[rank]
        arrived, process.arrived = process.arrived, []
        for shards, clocks in arrived:
            self.known[rank, shards] = clocks
            for shard in shards.tolist():
                self._tell(rank, shard)
        return now + len(arrived) * self.machine.overhead
