"""Spikes of the test network of Hines, Kumar and Schürmann (2011), and the processes that need them.

The spikes of cells are those of `ranvier.networks.interval_fire` without weights, bit by bit: each cell draws its
intervals from the same counter-based stream. Targets are drawn, computed, or those of a network that has been built.

In a network whose cells have `connections` random inputs, each of the synapses on a process starts at a given cell with
the same probability. So a process needs the spikes of a cell with the same probability for all processes, and the
number of processes that need them has a binomial distribution. If the inputs are the nearest neighbors of a cell, both
follow from the processes of the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.errors import UnknownNameError, ValueOutOfBoundsError

__all__ = [
    "Calendar",
    "DrawnTargets",
    "Flags",
    "Floats",
    "GivenSpikes",
    "Integers",
    "IntervalFire",
    "KnownTargets",
    "NeighborTargets",
    "Placement",
    "Targets",
    "Topology",
    "check_neighbors",
    "ranks_of_cells",
    "relays_of",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.uint64]
Placement: TypeAlias = Literal["round_robin", "consecutive", "shuffled"]
Topology: TypeAlias = Literal["random", "adjacent"]

_SHORTEST, _LONGEST = 20.0, 40.0  # ms
_BURST_GROUPS, _BURST_DURATION, _BURST_GAIN = 8, 50.0, 4.0
_PURPOSE_OF_NEURONS = 10  # of ranvier::Purpose
_LOW = np.uint64(0xFFFFFFFF)


# ---- random numbers --------------------------------------------------------------------------------------------------


def _mix(value: int) -> int:
    """Return the finaliser of SplitMix64, as in ranvier/base/hash.hpp."""
    mask = (1 << 64) - 1
    value = (value + 0x9E3779B97F4A7C15) & mask
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def _key_of_cells(seed: int) -> tuple[int, int]:
    """Return the key of the first population of a network, as in core/base/random.cpp."""
    mixed = _mix(_mix(_mix(seed) ^ _PURPOSE_OF_NEURONS) ^ 0)
    return mixed & 0xFFFFFFFF, mixed >> 32


def _words(key: tuple[int, int], streams: Words, index: Words) -> Words:
    """Return 64-bit word `index` of each stream: Philox4x32-10, as in ranvier/base/random.hpp."""
    c0, c1 = index >> np.uint64(1), np.zeros_like(index)
    c2, c3 = streams & _LOW, streams >> np.uint64(32)
    k0, k1 = key
    for _ in range(10):
        product0, product1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (product1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0),
            product1 & _LOW,
            (product0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1),
            product0 & _LOW,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    is_odd = (index & np.uint64(1)).astype(bool)
    return np.where(is_odd, c2 | c3 << np.uint64(32), c0 | c1 << np.uint64(32))


def _to_open_unit(words: Words) -> Floats:
    return (np.uint64(0x3FF0000000000000) | words >> np.uint64(12)).view(np.float64) - 1.0 + 2.0**-53


# ---- spikes ----------------------------------------------------------------------------------------------------------


class Calendar(Protocol):
    """Spikes by interval; intervals are asked for in their order."""

    cells: int
    slots: int
    """Parts of an interval."""

    def interval(self, index: int) -> tuple[Integers, Integers, Flags]:
        """Return the cells that fire, the slot of each spike, and which spikes are the first of their cells."""


class IntervalFire:
    """Cells that fire at random intervals of 20 to 40 ms, as in the network.

    Parameters
    ----------
    cells
        Number of cells.
    delay
        Length of an interval, ms: the delay of the connections.
    slots
        Parts of an interval. Spikes of one part count as simultaneous.
    resolution, seed, burst
        As for `ranvier.networks.interval_fire`.
    """

    def __init__(
        self,
        cells: int,
        *,
        delay: float = 1.0,
        slots: int = 10,
        resolution: float = 0.025,
        seed: int = 1,
        burst: bool = False,
    ) -> None:
        steps = round(delay / resolution)
        if cells < 1:
            raise ValueOutOfBoundsError("cells", str(cells), "there must be at least one")
        if steps < 1 or abs(steps * resolution - delay) > 1e-9 * delay:
            raise ValueOutOfBoundsError(
                "delay", f"{delay} ms", f"it must be a multiple of the resolution, {resolution}"
            )
        if not 1 <= slots <= steps:
            raise ValueOutOfBoundsError(
                "slots", str(slots), f"they must be from 1 to {steps}, the steps of an interval"
            )
        self.cells, self.slots = cells, slots
        self._steps, self._resolution, self._burst = steps, resolution, burst
        self._key = _key_of_cells(seed)
        self._drawn: npt.NDArray[np.uint16] = np.zeros(cells, dtype=np.uint16)
        self._step = np.zeros(cells, dtype=np.int32)
        self._buckets: dict[int, list[Integers]] = {}
        self._next = 0
        for begin in range(0, cells, 1 << 20):
            self._draw(np.arange(begin, min(cells, begin + (1 << 20)), dtype=np.int64))

    def interval(self, index: int) -> tuple[Integers, Integers, Flags]:
        """Return the spikes of an interval. They are drawn anew, so that each can be asked for once."""
        if index != self._next:
            raise ValueOutOfBoundsError("interval", str(index), f"the next one is {self._next}")
        self._next += 1
        found: list[tuple[Integers, Integers, Flags]] = []
        while index in self._buckets:
            cells = np.sort(np.concatenate(self._buckets.pop(index)))
            steps = self._step[cells].astype(np.int64)
            found.append((cells, (steps - 1) % self._steps * self.slots // self._steps, self._drawn[cells] == 1))
            self._draw(cells)
        if not found:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing.astype(bool)
        cells, slots, first = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return cells, slots, first

    def steps_until(self, last: int) -> tuple[Integers, Integers]:
        """Return steps and cells of all spikes up to a step, sorted; for comparisons with real runs."""
        pairs = []
        for index in range(self._next, -(-last // self._steps)):
            while index in self._buckets:
                cells = np.concatenate(self._buckets.pop(index))
                pairs.append(np.stack([self._step[cells].astype(np.int64), cells]))
                self._draw(cells)
        steps, cells = np.concatenate(pairs, axis=1) if pairs else np.zeros((2, 0), dtype=np.int64)
        order = np.lexsort((cells, steps))
        order = order[steps[order] <= last]
        return steps[order], cells[order]

    def _draw(self, cells: Integers) -> None:
        """Draw the next spike of some cells, and note it."""
        unit = _to_open_unit(_words(self._key, cells.astype(np.uint64), self._drawn[cells].astype(np.uint64)))
        before = self._step[cells].astype(np.int64)
        fire_at = self._local_time(cells, before) + (_SHORTEST + (_LONGEST - _SHORTEST) * unit)
        steps = np.ceil(self._time_of(cells, fire_at) / self._resolution).astype(np.int64) - 1
        # Rounding: the first step at which the local time has come.
        steps = np.maximum(steps, before + 1)
        for _ in range(3):
            steps = steps + (self._local_time(cells, steps) < fire_at)
        self._drawn[cells] = self._drawn[cells] + 1
        self._step[cells] = steps
        intervals = (steps - 1) // self._steps
        order = np.argsort(intervals, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(intervals[order])) + 1):
            self._buckets.setdefault(int(intervals[part[0]]), []).append(cells[part])

    def _begin_of_burst(self, cells: Integers) -> Floats:
        return (cells * _BURST_GROUPS // self.cells).astype(np.float64) * _BURST_DURATION

    def _local_time(self, cells: Integers, steps: Integers) -> Floats:
        """Return the time that runs faster in bursts (core/models/neurons/interval_fire.cpp), at the end of a step."""
        time = steps.astype(np.float64) * self._resolution
        if not self._burst:
            return time
        return time + _BURST_GAIN * np.clip(time - self._begin_of_burst(cells), 0.0, _BURST_DURATION)

    def _time_of(self, cells: Integers, local: Floats) -> Floats:
        if not self._burst:
            return local
        begin = self._begin_of_burst(cells)
        inside = begin + (local - begin) / (1.0 + _BURST_GAIN)
        after = local - _BURST_GAIN * _BURST_DURATION
        return np.where(local <= begin, local, np.maximum(np.minimum(inside, begin + _BURST_DURATION), after))


class GivenSpikes:
    """Spikes that are given.

    Parameters
    ----------
    cells
        Number of cells.
    spikes
        For each interval, pairs of a slot and a cell.
    slots
        Parts of an interval.
    """

    def __init__(self, cells: int, spikes: Sequence[Sequence[tuple[int, int]]], *, slots: int = 1) -> None:
        self.cells, self.slots = cells, slots
        self._spikes = spikes
        self._fired: set[int] = set()
        for slot, cell in (pair for of_interval in spikes for pair in of_interval):
            if not (0 <= slot < slots and 0 <= cell < cells):
                raise ValueOutOfBoundsError("spike", f"slot {slot}, cell {cell}", "there is no such slot or cell")

    def interval(self, index: int) -> tuple[Integers, Integers, Flags]:
        """Return the spikes of an interval; none after the last one that was given."""
        pairs = self._spikes[index] if index < len(self._spikes) else []
        first = np.zeros(len(pairs), dtype=bool)
        for place, (_, cell) in enumerate(pairs):
            first[place] = cell not in self._fired
            self._fired.add(cell)
        array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return array[:, 1], array[:, 0], first


# ---- targets ---------------------------------------------------------------------------------------------------------


def ranks_of_cells(cells: int, ranks: int, placement: Placement, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the process of each cell."""
    if placement == "round_robin":
        return (np.arange(cells, dtype=np.int64) % ranks).astype(np.int32)
    if placement == "consecutive":
        return (np.arange(cells, dtype=np.int64) * ranks // cells).astype(np.int32)
    if placement == "shuffled":
        return rng.permutation((np.arange(cells, dtype=np.int64) % ranks).astype(np.int32))
    raise UnknownNameError("placement", str(placement), "it must be round_robin, consecutive or shuffled")


class Targets(Protocol):
    """The processes that need the spikes of each cell."""

    ranks: int
    rank_of: npt.NDArray[np.int32]
    """Process of each cell."""
    fanout: npt.NDArray[np.int32]
    """Number of other processes that need the spikes of each cell."""

    def draw(self, cells: Integers, relays: bool) -> tuple[Integers, Integers, Floats]:
        """Return numbers by process: of messages, of those that relays send, and of synapses that the spikes reach.

        Parameters
        ----------
        cells
            The cells that have fired.
        relays
            Whether ceil(sqrt(n)) of n processes relay a spike to the others. Otherwise, there is no relayed message.
        """


def check_neighbors(connections: int, cells: int) -> None:
    """Raise for a number of nearest neighbors that cells cannot have."""
    if connections % 2 or not 0 < connections < cells:
        raise ValueOutOfBoundsError(
            "connections", str(connections), f"with topology adjacent, they must be even, from 2 to {cells - 1}"
        )


def relays_of(fanout: Any) -> Any:
    """Return the number of processes that relay a spike for `fanout` processes."""
    return np.ceil(np.sqrt(fanout)).astype(np.int64)


class DrawnTargets:
    """Random targets; every process has equally many cells.

    Parameters
    ----------
    cells, ranks
        Number of cells and of processes.
    connections
        Mean number of inputs of a cell.
    placement
        "round_robin", "consecutive" or "shuffled".
    seed
        Seed of the random numbers.
    """

    def __init__(
        self, cells: int, ranks: int, *, connections: int, placement: Placement = "round_robin", seed: int = 1
    ) -> None:
        if not 1 <= ranks <= cells:
            raise ValueOutOfBoundsError("ranks", str(ranks), f"they must be from 1 to {cells}, the number of cells")
        if not 1 <= connections < cells:
            raise ValueOutOfBoundsError("connections", str(connections), f"they must be from 1 to {cells - 1}")
        self._rng = np.random.default_rng([seed, 1])
        self.ranks = ranks
        self.rank_of = ranks_of_cells(cells, ranks, placement, self._rng)
        self._per_rank = connections / ranks
        # Synapses on a process, each of which starts at a given cell with the same probability.
        needed = -np.expm1(connections * cells / ranks * np.log1p(-1.0 / (cells - 1)))
        self._synapses_of_message = self._per_rank / needed
        self.fanout = self._rng.binomial(ranks - 1, needed, size=cells).astype(np.int32)

    def draw(self, cells: Integers, relays: bool) -> tuple[Integers, Integers, Floats]:
        """Return numbers by process."""
        fanout = self.fanout[cells].astype(np.int64)
        first = int(relays_of(fanout).sum()) if relays else int(fanout.sum())
        direct = self._spread(first)
        relayed = self._spread(int(fanout.sum()) - first)
        synapses = (direct + relayed) * self._synapses_of_message
        synapses += np.bincount(self.rank_of[cells], minlength=self.ranks) * self._per_rank
        return direct, relayed, synapses

    def _spread(self, messages: int) -> Integers:
        """Return the number of messages for each process, if each goes to any of them."""
        if messages < 2 * self.ranks:
            return np.bincount(self._rng.integers(self.ranks, size=messages), minlength=self.ranks)
        return self._rng.multinomial(messages, np.full(self.ranks, 1.0 / self.ranks))


class NeighborTargets:
    """Targets of cells whose inputs are their nearest neighbors, as with ``topology="adjacent"``: exactly.

    Cells are on a ring. Each has inputs from the `connections` / 2 cells before it and as many after it. So a process
    gets a synaptic event for each of its cells in whose neighborhood a cell has fired, and a message for each cell of
    another process that has fired in the union of these neighborhoods. Neighborhoods of the same process have the same
    length, so the union has the sum of them less the overlaps of successive ones.

    Which of its messages a process gets from relays is drawn: all of a slot have the same probability.

    Parameters
    ----------
    cells, ranks
        Number of cells and of processes.
    connections
        Number of inputs of a cell, even.
    placement
        "round_robin", "consecutive" or "shuffled".
    seed
        Seed of the placement "shuffled", and of the choice of relays.
    """

    def __init__(
        self, cells: int, ranks: int, *, connections: int, placement: Placement = "round_robin", seed: int = 1
    ) -> None:
        if not 1 <= ranks <= cells:
            raise ValueOutOfBoundsError("ranks", str(ranks), f"they must be from 1 to {cells}, the number of cells")
        check_neighbors(connections, cells)
        self._rng = np.random.default_rng([seed, 1])
        self.ranks = ranks
        self.rank_of = ranks_of_cells(cells, ranks, placement, self._rng)
        # Position i of what follows is cell i - half of the ring.
        half = self._half = connections // 2
        order = np.argsort(self.rank_of, kind="stable").astype(np.int32)
        begins = np.searchsorted(self.rank_of[order], np.arange(ranks))
        self._begins = begins if placement == "consecutive" else None
        self._is_rectangular = placement == "round_robin" and cells % ranks == 0
        following = np.empty_like(order)
        following[:-1] = order[1:]
        following[np.append(begins[1:], cells) - 1] = order[begins]
        gaps = following.astype(np.int64) - order
        gaps[gaps <= 0] += cells
        pairs = np.flatnonzero(gaps <= connections)
        # The overlap of the neighborhoods of a cell and of the next one of its process, from the lower border on.
        self._upper = order[pairs] + np.int32(2 * half + 1)
        self._lower = (order[pairs] + gaps[pairs]).astype(np.int32)
        self._ranks_of_pairs = self.rank_of[order[pairs]]
        steps = np.bincount(self._lower, minlength=cells + 2 * half + 1)
        steps -= np.bincount(self._upper, minlength=cells + 2 * half + 1)
        overlaps = np.cumsum(steps)[: cells + 2 * half]
        # A part of the ring is at both ends.
        of_cells = overlaps[half : half + cells].copy()
        of_cells[cells - half :] += overlaps[:half]
        of_cells[:half] += overlaps[half + cells :]
        self.fanout = (connections - of_cells).astype(np.int32)
        self._fired = np.zeros(cells + 2 * half, dtype=np.int32)
        self._before = np.zeros(cells + 2 * half + 1, dtype=np.int32)
        self._near = np.zeros(cells, dtype=np.int32)

    def draw(self, cells: Integers, relays: bool) -> tuple[Integers, Integers, Floats]:
        """Return numbers by process; only which messages are relayed is drawn."""
        if len(cells) == 0:
            nothing = np.zeros(self.ranks, dtype=np.int64)
            return nothing, nothing.copy(), nothing.astype(np.float64)
        here = np.bincount(self.rank_of[cells], minlength=self.ranks)
        self._count(cells)
        in_neighborhoods = self._sums()
        messages = self._union(in_neighborhoods, len(cells)) - here
        synapses = (in_neighborhoods - here).astype(np.float64)
        if not relays:
            return messages, np.zeros_like(messages), synapses
        first = int(relays_of(self.fanout[cells]).sum())
        direct = self._rng.multivariate_hypergeometric(messages, first, method="marginals")
        return direct, messages - direct, synapses

    def _count(self, cells: Integers) -> None:
        """Count spikes before each position of the ring, and in the neighborhood of each cell, itself included."""
        half, number = self._half, len(self._near)
        fired = self._fired
        np.add.at(fired, cells + half, 1)
        fired[:half] = fired[number : number + half]
        fired[number + half :] = fired[half : 2 * half]
        np.cumsum(fired, out=self._before[1:])
        np.subtract(self._before[2 * half + 1 :], self._before[:number], out=self._near)
        fired[cells + half] = 0

    def _sums(self) -> Integers:
        """Return the spikes in the neighborhoods of all cells of each process, summed."""
        if self._begins is not None:
            return np.add.reduceat(self._near, self._begins, dtype=np.int64)
        if self._is_rectangular:
            by_row: Integers = self._near.reshape(-1, self.ranks).sum(axis=0, dtype=np.int64)
            return by_row
        return np.bincount(self.rank_of, weights=self._near, minlength=self.ranks).astype(np.int64)

    def _union(self, sums: Integers, spikes: int) -> Integers:
        """Return the spikes in the union of the neighborhoods of the cells of each process."""
        before = self._before
        if self._begins is not None:
            # The union is a part of the ring, or all of it.
            ends = np.append(self._begins[1:], len(self._near)) + 2 * self._half
            inside = before[ends].astype(np.int64) - before[self._begins]
            return np.where(ends - self._begins >= len(self._near), spikes, inside)
        overlaps = before[self._upper] - before[self._lower]
        in_overlaps = np.bincount(self._ranks_of_pairs, weights=overlaps, minlength=self.ranks)
        return sums - in_overlaps.astype(np.int64)


class KnownTargets:
    """Targets of a network that has been built.

    Parameters
    ----------
    rank_of
        Process of each cell.
    ranks
        Number of processes.
    sources, targets
        Cells at both ends of each synapse.
    seed
        Seed of the choice of relays.
    """

    def __init__(
        self, rank_of: npt.ArrayLike, ranks: int, sources: npt.ArrayLike, targets: npt.ArrayLike, *, seed: int = 1
    ) -> None:
        self.ranks = ranks
        self.rank_of = np.asarray(rank_of, dtype=np.int32)
        if ranks < 1 or (self.rank_of.size and not 0 <= self.rank_of.min() <= self.rank_of.max() < ranks):
            raise ValueOutOfBoundsError("rank_of", "some process", f"all must be from 0 to {ranks - 1}")
        pairs = np.asarray(sources, dtype=np.int64) * ranks + self.rank_of[np.asarray(targets, dtype=np.int64)]
        found, synapses = np.unique(pairs, return_counts=True)
        self._source, self._target = found // ranks, found % ranks
        self._synapses = synapses.astype(np.float64)
        self._is_remote = self._target != self.rank_of[self._source]
        cells = len(self.rank_of)
        self._begin = np.searchsorted(self._source, np.arange(cells + 1))
        self.fanout = np.bincount(self._source[self._is_remote], minlength=cells).astype(np.int32)
        # One member of each of the subsets of nearly equal size relays (core/comm/exchange/two_phase.cpp).
        self._is_relay = np.zeros(len(found), dtype=bool)
        rng = np.random.default_rng([seed, 2])
        for cell in np.flatnonzero(self.fanout):
            members = np.arange(self._begin[cell], self._begin[cell + 1])
            members = members[self._is_remote[members]]
            subsets = int(relays_of(len(members)))
            borders = len(members) * np.arange(subsets + 1) // subsets
            self._is_relay[members[borders[:-1] + rng.integers(np.diff(borders))]] = True

    def draw(self, cells: Integers, relays: bool) -> tuple[Integers, Integers, Floats]:
        """Return numbers by process."""
        entries = np.concatenate(
            [np.arange(self._begin[cell], self._begin[cell + 1]) for cell in cells] or [np.zeros(0, dtype=np.int64)]
        ).astype(np.int64)
        target, remote = self._target[entries], self._is_remote[entries]
        is_direct = remote & self._is_relay[entries] if relays else remote
        direct = np.bincount(target[is_direct], minlength=self.ranks)
        relayed = np.bincount(target[remote & ~is_direct], minlength=self.ranks)
        synapses = np.bincount(target, weights=self._synapses[entries], minlength=self.ranks).astype(np.float64)
        return direct, relayed, synapses
