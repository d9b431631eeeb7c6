"""The places of the threads of all processes on one machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ranvier import _core

__all__ = ["RankPlaces", "ThreadPlaces", "place"]


@dataclass(frozen=True)
class RankPlaces:
    """The part of the machine of one process, and the processor of each of its threads (-1: not bound)."""

    processors: list[int]
    threads: list[int]


@dataclass(frozen=True)
class ThreadPlaces:
    """All threads of the processes on a machine."""

    pinning: str
    ranks: list[RankPlaces]
    threads_on_unit: int  # largest number on a processing unit
    threads_on_core: int  # largest number on a core

    @property
    def thread_count(self) -> int:
        """Threads of all processes."""
        return sum(len(rank.threads) for rank in self.ranks)

    @property
    def are_pinned(self) -> bool:
        """Whether threads are bound to processors."""
        return any(processor >= 0 for rank in self.ranks for processor in rank.threads)

    def by_processor(self) -> Mapping[int, list[tuple[int, int]]]:
        """Return the (rank, thread) of all threads on each processor, by the number of the processor."""
        found = defaultdict(list)
        for rank, places in enumerate(self.ranks):
            for thread, processor in enumerate(places.threads):
                found[processor].append((rank, thread))
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the places for JSON."""
        return {
            "pinning": self.pinning,
            "threads": self.thread_count,
            "ranks": [{"processors": rank.processors, "threads": rank.threads} for rank in self.ranks],
            "most_threads_on_processor": self.threads_on_unit,
            "most_threads_on_core": self.threads_on_core,
            "oversubscribed": self.threads_on_unit > 1,
        }


def place(
    topology: _core.Topology, *, threads: int | None = None, pinning: str = "auto", ranks: int = 1, quota: int | None
) -> ThreadPlaces:
    """Place the threads of several processes that share a machine.

    By default, each process has one thread for each of its processors, limited by the quota of the control group.

    Raises
    ------
    UnknownNameError, ValueOutOfBoundsError, ShapeError
        When the policy does not exist, or when the list of processors does not match the threads or the machine.
    """
    policy, listed = _core.parse_pinning(pinning)
    found = []
    every = []
    for rank in range(ranks):
        part = topology.shared_out(rank, ranks) if ranks > 1 else topology
        processors = part.processors()
        count = threads
        if count is None:
            count = len(listed) if listed else _core.default_threads(len(processors), quota, ranks)
        places = _core.place_threads(part, count, pinning)
        found.append(RankPlaces(processors, [processor for processor, _ in places]))
        every += places
    on_unit, on_core = _core.occupancy(topology, every)
    return ThreadPlaces(pinning if policy == "list" else policy, found, on_unit, on_core)
