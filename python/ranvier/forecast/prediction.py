"""What a network would take on many processes, before anything of it is built.

Memory comes from the program's own account of its tables and buffers; times from what single synapses, spikes and steps
cost on this machine. `ranvier.forecast.dry_run` goes further: it builds and runs the part of one process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranvier.base.distributions import Distribution
from ranvier.base.numeric import number, whole_number
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.forecast.calibration import Costs
from ranvier.network.network import Network, check_network
from ranvier.network.populations import Projection
from ranvier.simulation.options import MOST_RANKS, MOST_THREADS
from ranvier.simulation.simulation import predict_memory

__all__ = [
    "DEFAULT_RATE",
    "SCALING_KEYS",
    "Fit",
    "Load",
    "Times",
    "expect_load",
    "expect_times",
    "largest_fit",
    "mean_rate",
    "memory_over_ranks",
    "ranks_around",
]

DEFAULT_RATE = 10.0
"""Spikes/s of neurons that nothing is known of."""

SCALING_KEYS = ("scale", "cells", "size")
"""Keywords that tell how large a network is, in the order in which they are looked for."""

# Neurons must be told apart by 64 bits, with room for their addresses.
_MOST_NEURONS = 2**47
_LONGEST_EPOCH = 128  # steps
# A fit within this much of the limit is near enough.
_PRECISION = 1e-3


# ---- load ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """What one process has to do, on average over all of them.

    Attributes
    ----------
    neurons
        By population.
    stimulated
        Neurons by stimulus.
    synapses
        Synapses that end on its neurons.
    entries
        Rows of other processes that spikes of its neurons go to.
    steps_per_second, exchanges_per_second, events_per_second, records_per_second
        In a second of biological time: steps, exchanges of spikes, synapses that are reached, and spikes that arrive
        (and leave), one for each process that needs them.
    ranks, threads
        Processes, and threads of each.
    dense
        Whether tables have a row for each source that they could have.
    """

    neurons: tuple[float, ...]
    stimulated: tuple[float, ...]
    synapses: float
    entries: float
    steps_per_second: float
    exchanges_per_second: float
    events_per_second: float
    records_per_second: float
    ranks: int
    threads: int
    dense: bool


def expect_load(
    network: Network,
    *,
    ranks: int,
    threads: int,
    rates: Mapping[str, float],
    rate: float = DEFAULT_RATE,
    sorted_by_source: bool = True,
    directed: bool = True,
    exchanges_per_delay: float = 1.0,
) -> Load:
    """Return what one of many processes would have to do.

    Parameters
    ----------
    network
        The network.
    ranks, threads
        Processes, and threads of each.
    rates
        Mean rates by population, spikes/s.
    rate
        Of the populations that are not among those.
    sorted_by_source
        Whether a spike is sent once to a process, and not once for each synapse.
    directed
        Whether spikes are sent to those processes only that need them.
    exchanges_per_delay
        How often spikes are exchanged within the shortest delay.
    """
    check_network(network)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("threads", threads, 1, MOST_THREADS)
    of_source = _rates(network, rates, rate)
    # By source population: synapses here, and how many sources they can have.
    here: dict[int, float] = {}
    possible: dict[int, float] = {}
    for projection in network.projections:
        index = projection.sources.population.index
        here[index] = here.get(index, 0.0) + projection.expected_synapses / ranks
        possible[index] = max(possible.get(index, 0.0), float(len(projection.sources)))
    events = sum(count * of_source[index] for index, count in here.items())
    rows = {
        index: _rows(count, possible[index], threads) if sorted_by_source else count for index, count in here.items()
    }
    records = sum(count * of_source[index] for index, count in rows.items())
    if not directed:
        records = sum(len(population) * of_source[population.index] for population in network.populations)
    if ranks == 1 and sorted_by_source:
        # Nothing travels.
        rows, records = {}, 0.0
    shortest = min((_shortest_delay(projection) for projection in network.projections), default=_LONGEST_EPOCH)
    return Load(
        neurons=tuple(len(population) / ranks for population in network.populations),
        stimulated=tuple(len(stimulus.targets) / ranks for stimulus in network.stimuli),
        synapses=sum(here.values()),
        entries=sum(rows.values()) if directed else 0.0,
        steps_per_second=1000.0 / network.resolution,
        exchanges_per_second=1000.0 / (network.resolution * min(shortest, _LONGEST_EPOCH)) * exchanges_per_delay,
        events_per_second=events,
        records_per_second=records,
        ranks=ranks,
        threads=threads,
        # As the core chooses it (core/connect/tables/table_plan.cpp).
        dense=sorted_by_source and sum(here.values()) >= 0.7 * threads * sum(possible.values()),
    )


def mean_rate(network: Network, rates: Mapping[str, float], rate: float = DEFAULT_RATE) -> float:
    """Return the mean rate of the neurons of a network, spikes/s, as `expect_load` takes it."""
    check_network(network)
    of_source = _rates(network, rates, rate)
    count = network.neuron_count
    return sum(of_source[each.index] * len(each) for each in network.populations) / count if count else 0.0


def _rates(network: Network, rates: Mapping[str, float], rate: float) -> dict[int, float]:
    """Return the mean rate of each population, spikes/s, by its index; sources that play spikes have none."""
    if not isinstance(rates, Mapping):
        raise WrongTypeError("rates", type(rates).__name__, "must be a mapping of populations to spikes/s")
    result = {}
    for population in network.populations:
        name = f"rate of {population.name}"
        result[population.index] = number(name, rates.get(population.name, rate))
        if not 0.0 <= result[population.index] < math.inf:
            raise ValueOutOfBoundsError(name, f"{result[population.index]} spikes/s", "it must be >= 0 and finite")
        if population.plays_spikes:
            result[population.index] = 0.0
    return result


def _rows(synapses: float, sources: float, threads: int) -> float:
    """Return how often a process is told of a spike if all of some sources fire once."""
    # Where most sources have targets on each thread, one record serves all threads; elsewhere each thread has its own.
    if sources == 0.0:
        return 0.0
    on_thread = synapses / threads
    if on_thread > sources:
        return -sources * math.expm1(-synapses / sources)
    return threads * -sources * math.expm1(-on_thread / sources)


def _shortest_delay(projection: Projection) -> int:
    """Return the shortest delay that a projection may have, in steps."""
    delay = projection.delay
    resolution = projection.network.resolution
    if isinstance(delay, Distribution):
        low = getattr(delay, "low", 0.0)
        shortest = low if math.isfinite(low) else 0.0
    else:
        shortest = float(np.min(delay)) if np.size(delay) else math.inf
    return max(1, round(shortest / resolution)) if math.isfinite(shortest) else _LONGEST_EPOCH


# ---- times -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds to expect, with a processor for each thread.

    Attributes
    ----------
    build
        To build neurons and synapses, sort them, and make the presynaptic table.
    parts
        Of a second of biological time: *update*, *deliver*, *collocate* and *communicate*. What the network between
        machines takes is not in it.
    """

    build: float
    parts: dict[str, float]

    @property
    def simulation(self) -> float:
        """Seconds for a second of biological time."""
        return sum(self.parts.values())


def expect_times(load: Load, costs: Costs) -> Times:
    """Return how long one process would take."""
    share = 1.0 / load.threads
    record = costs.dense_record if load.dense else _at_ranks(costs.record, load.ranks)
    collocation, transfer = _at_ranks(costs.collocation, load.ranks), _at_ranks(costs.transfer, load.ranks)
    of_neurons = sum(count * cost for count, cost in zip(load.neurons, costs.neurons, strict=True))
    of_stimuli = sum(count * cost for count, cost in zip(load.stimulated, costs.stimuli, strict=True))
    exchange = 0.0
    if load.ranks > 1:
        exchange = load.exchanges_per_second * (costs.exchange + costs.section * load.ranks)
    return Times(
        build=(load.synapses * costs.synapse + load.entries * costs.presynaptic_entry) * share,
        parts={
            "update": (of_neurons + of_stimuli) * load.steps_per_second * share,
            "deliver": (load.events_per_second * costs.event + load.records_per_second * record) * share,
            "collocate": load.records_per_second * collocation * share,
            "communicate": load.records_per_second * transfer + exchange,
        },
    )


def _at_ranks(costs: Mapping[int, float], ranks: int) -> float:
    """Return what lies between costs that were measured on several numbers of processes, linear in their logarithm."""
    known = sorted(costs)
    return float(np.interp(math.log(ranks), [math.log(count) for count in known], [costs[count] for count in known]))


# ---- memory ----------------------------------------------------------------------------------------------------------


def ranks_around(ranks: int, most: int = 2**17) -> list[int]:
    """Return powers of two around a number of processes, and that number, ascending."""
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("most ranks", most, 1, MOST_RANKS)
    around = {2**power for power in range(most.bit_length()) if ranks / 64 <= 2**power <= ranks * 64}
    return sorted(count for count in around | {ranks} if count <= max(most, ranks))


def memory_over_ranks(describe: Callable[[int], Network], ranks: Sequence[int], **options: Any) -> dict[str, list[int]]:
    """Return the bytes of a process by component, one number for each number of processes.

    Parameters
    ----------
    describe
        Returns the network for a number of processes.
    ranks
        Numbers of processes.
    **options
        Those of `ranvier.simulation.predict_memory`.
    """
    predicted = [predict_memory(describe(count), ranks=count, **options) for count in ranks]
    components = list(dict.fromkeys(name for each in predicted for name in each))
    return {name: [each.get(name, 0) for each in predicted] for name in components}


@dataclass(frozen=True)
class Fit:
    """The largest network of which each process has room for its part.

    Attributes
    ----------
    key, value
        The key that tells how large it is, and its value. None: not even the smallest network fits.
    neurons, synapses
        How many it has.
    memory
        Bytes of a process by component.
    """

    key: str
    value: float | int | None
    neurons: int = 0
    synapses: float = 0.0
    memory: dict[str, int] | None = None


def largest_fit(
    key: str,
    start: float | int,
    describe: Callable[[float | int], Network],
    limit: int,
    *,
    ranks: int,
    **options: Any,
) -> Fit:
    """Return the largest network whose processes take at most `limit` bytes, found by bisection.

    Parameters
    ----------
    key
        What the key is called.
    start
        A value of it, > 0; of the type that it has.
    describe
        Returns the network for a value.
    limit
        Bytes of each process.
    ranks
        Number of processes.
    **options
        Those of `ranvier.simulation.predict_memory`.
    """
    whole = isinstance(start, int)

    def memory(value: float | int) -> dict[str, int] | None:
        try:
            network = describe(value)
        except (ValueError, OverflowError):
            # Too small or too large for the network itself.
            return None
        if network.neuron_count > _MOST_NEURONS:
            return None
        return predict_memory(network, ranks=ranks, **options)

    def fits(value: float | int) -> bool:
        bytes_of = memory(value)
        return bytes_of is not None and sum(bytes_of.values()) <= limit

    low: float | int | None = None
    high: float | int | None = None
    value: float | int = start
    # From the start on by factors of two, up or down, to a value that fits beside one that does not.
    while low is None or high is None:
        if fits(value):
            low = value
            if high is None:
                value = value * 2
        else:
            high = value
            if low is None:
                value = value // 2 if isinstance(value, int) else value / 2
        if value <= 0 or value > 1e18 or value < 1e-12:
            break
    if low is None:
        return Fit(key, None)
    while high is not None and (high - low > 1 if whole else high - low > _PRECISION * low):
        middle: float | int = (low + high) // 2 if whole else (low + high) / 2
        if high - low <= _PRECISION * low:
            break
        if fits(middle):
            low = middle
        else:
            high = middle
    network = describe(low)
    return Fit(key, low, network.neuron_count, network.expected_synapses, memory(low))
