"""The costs of exchanging and delivering spikes on this machine, measured with a small copy of a network.

The time of a spike depends on the number of synapses in its row, on their distances in memory, on the number of
processes, and on the number of spikes in an exchange. So the copy is a dry run with the same numbers of processes,
neurons and shards, the same row lengths and the same delays as the network, but with fewer sources, which fire at
higher rates. An exchange then moves as many spikes, and reaches as many synapses, as in the network. Only the tables
are smaller.

Plastic synapses process the spikes of their targets since the last spike of their source. If the network has any, all
neurons of the copy fire, at rates that are higher by the same factor.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.distributions import Distribution, Normal, Uniform
from ranvier.base.times import nearest_step, time_of
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues
from ranvier.forecast.load import (
    as_numbers,
    expect_load,
    is_compiled,
    rates_by_population,
    shortest_delay,
    sign_of_weights,
)
from ranvier.network.network import Network
from ranvier.network.projections import Projection
from ranvier.network.rules import FixedIndegree
from ranvier.populations.model_base import AnySynapse
from ranvier.populations.populations import Population, PopulationView
from ranvier.processes import machine
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation

__all__ = ["PARTS", "Group", "Measured", "Miniature", "describe", "measure"]

PARTS = ("deliver", "collocate", "communicate", "wait")
"""Phases that depend on spikes."""

# Number of synapses: the tables do not fit into caches, but can be built in a second.
_MOST_SYNAPSES = 4_000_000
# Each pair of neuron and process has a message of some hundred bytes.
_MOST_PERSISTENT = 2_000_000
# Sources are left out until a target has only this many; then targets are left out, too.
_LEAST_INDEGREE = 16
# Largest number of spikes of an exchange; for more spikes, the time is extrapolated.
_MOST_RECORDS = 2_000_000
# Largest rate of a neuron per step: at higher rates, a Poisson process often has several spikes in a step.
_MOST_SPIKES = 0.2
_BUILDS = 2
_SLICES = 7
_SLICE = 0.02  # seconds
_LONGEST = 1.5  # seconds
# Also where the first takes longer than all should: the machine may have stood still.
_FEWEST_SLICES = 3
# Methods that set up messages when a neuron first fires.
_SET_UP_LATE = ("auto", "persistent", "persistent_reduce_scatter")
# Number of exchanges after which "auto" has tried all methods, with a margin.
_TRIED = 200


@dataclass(frozen=True)
class Group:
    """Sources with similar synapses.

    Attributes
    ----------
    sources
        Number of neurons on all processes.
    indegree
        Number of synapses of a neuron from these sources.
    rate
        Rate of the remaining sources, spikes/s.
    weight, delay
        Weight and delay of their largest projection; for an array, its mean.
    synapse
        Model of most of their synapses that learn.
    learning
        Part of their targets with synapses of this model; the others are static.
    """

    sources: int
    indegree: int
    rate: float
    weight: float | Distribution
    delay: float | Distribution
    synapse: AnySynapse | str = "static_synapse"
    learning: float = 0.0


@dataclass(frozen=True)
class Miniature:
    """The small copy: neurons of all processes, beginning with those that are sources.

    Attributes
    ----------
    neurons
        Number of all of them.
    rate
        Rate of the neurons, sources excluded, spikes/s: plastic synapses process their spikes.
    """

    neurons: int
    rate: float
    groups: tuple[Group, ...]
    resolution: float
    ranks: int
    threads: int
    shards: int


@dataclass(frozen=True)
class Measured:
    """Measured times on all threads, in seconds.

    Attributes
    ----------
    synapse
        Time to build a synapse, sort it into its table, and send its source to the source's process.
    exchange
        Time per exchange of spikes, by phase.
    events
        Number of synapses that the spikes of an exchange reached.
    exchanges_per_delay
        Number of exchanges within the shortest delay.
    directed
        Whether spikes are sent only to the processes that need them.
    """

    synapse: float
    exchange: dict[str, float]
    events: float
    exchanges_per_delay: float
    directed: bool


def describe(
    network: Network,
    options: Mapping[str, Any],
    *,
    ranks: int,
    threads: int,
    rates: Mapping[str, float],
    rate: float,
    sorted_by_source: bool,
) -> Miniature:
    """Return a small copy of a network on many processes. The arguments are those of `expect_load`."""
    method = options.get("exchange")
    directed = method is None or _core.exchange_traits()[method]["directed"]
    load = expect_load(
        network,
        ranks=ranks,
        threads=threads,
        rates=rates,
        rate=rate,
        sorted_by_source=sorted_by_source,
        directed=directed,
    )
    of_source = rates_by_population(network, rates, rate)
    neurons = network.neuron_count
    most = _MOST_PERSISTENT if options.get("exchange") in _SET_UP_LATE else _MOST_SYNAPSES
    left = min(1.0, most / max(1.0, load.synapses))
    indegree = load.synapses * ranks / max(1, neurons)
    # First reduce the sources, which keeps the distances of targets in memory; then the targets.
    of_sources = min(1.0, max(left, min(1.0, _LEAST_INDEGREE / max(1.0, indegree))))
    of_targets = min(1.0, left / of_sources)
    faster = 1.0 / (of_sources * of_targets)
    faster *= min(1.0, _MOST_RECORDS / max(1.0, load.records_per_second / load.exchanges_per_second))
    groups = _groups(network, of_source, of_sources, of_targets, faster)
    shortest = min((shortest_delay(one) for one in network.projections), default=0)
    if shortest and all(_steps(group.delay, network.resolution) > shortest for group in groups):
        # Only a few synapses have this delay, but it determines how often spikes are exchanged.
        groups.append(Group(1, 1, 0.0, 1.0, shortest * network.resolution))
    # Rate of the targets of plastic synapses.
    of_learning = [one for one in network.projections if _learns(one)]
    learning = sum(one.expected_synapses for one in of_learning)
    rate_of_targets = (
        sum(one.expected_synapses * _mean_rate(one.targets, of_source) for one in of_learning) / learning
        if learning > 0.0
        else 0.0
    )
    here = threads <= machine.usable_processors()
    return Miniature(
        neurons=max(1, round(neurons * of_targets), sum(group.sources for group in groups)),
        rate=min(rate_of_targets * faster, _MOST_SPIKES * 1000.0 / network.resolution),
        groups=tuple(groups),
        resolution=network.resolution,
        ranks=ranks,
        # More threads than processors would take turns, so one thread does the work of all.
        threads=threads if here else 1,
        shards=threads,
    )


def _groups(
    network: Network, of_source: Mapping[int, float], of_sources: float, of_targets: float, faster: float
) -> list[Group]:
    """Return a group of sources for each sign of weights, with these fractions of the sources and targets."""
    groups = []
    for sign in (1.0, -1.0):
        chosen = [one for one in network.projections if sign_of_weights(one) == sign and one.expected_synapses > 0.0]
        if not chosen:
            continue
        sources = {each.index: len(each) for one in chosen for each in one.sources.populations}
        largest = max(chosen, key=lambda one: one.expected_synapses)
        synapses = sum(one.expected_synapses for one in chosen)
        mean = sum(one.expected_synapses * _mean_rate(one.sources, of_source) for one in chosen) / synapses
        learning = [one for one in chosen if _learns(one)]
        if learning:
            largest = max(learning, key=lambda one: one.expected_synapses)
        groups.append(
            Group(
                sources=max(1, round(sum(sources.values()) * of_sources * of_targets)),
                indegree=max(1, round(synapses / network.neuron_count * of_sources)),
                rate=min(mean * faster, _MOST_SPIKES * 1000.0 / network.resolution),
                weight=_weight(largest, sign),
                delay=_delay(largest, network.resolution),
                synapse=largest.synapse,
                learning=sum(one.expected_synapses for one in learning) / synapses,
            )
        )
    return groups


def _learns(projection: Projection) -> bool:
    return isinstance(projection.synapse, UserSynapse) or projection.synapse.name != "static_synapse"


def _mean_rate(neurons: PopulationView, of_source: Mapping[int, float]) -> float:
    return sum(of_source[each.population.index] * len(each) for each in neurons.parts) / len(neurons)


def _weight(projection: Projection, sign: float) -> float | Distribution:
    weight = projection.weight
    if is_compiled(weight):
        return 0.5 * sum(projection.weight_range) if _learns(projection) else sign
    if isinstance(weight, Distribution):
        return weight
    weight = as_numbers(weight)
    # Models of synapses that learn have bounds for weights.
    return float(np.mean(weight)) if _learns(projection) and np.size(weight) else sign


def _delay(projection: Projection, resolution: float) -> float | Distribution:
    delay: StoredValues = projection.delay
    if is_compiled(delay):
        shortest, longest = projection.delay_range
        return Uniform(max(resolution, shortest), max(resolution, longest))
    if isinstance(delay, Distribution):
        return delay
    return max(resolution, float(np.mean(as_numbers(delay))))


def _steps(delay: float | Distribution, resolution: float) -> int:
    """Return the shortest delay, in steps."""
    if not isinstance(delay, Distribution):
        return max(1, nearest_step(delay, resolution))
    low = getattr(delay, "low", 0.0)
    return max(1, nearest_step(low, resolution)) if math.isfinite(low) else 1


def measure(miniature: Miniature, options: Mapping[str, Any]) -> Measured:
    """Build the copy and run it for about a second."""
    built: list[float] = []
    begin = time.perf_counter()
    while not built or (len(built) < _BUILDS and time.perf_counter() - begin < _LONGEST):
        sim = _build(miniature, options)
        built.append(sim.phases["build"] + sim.phases["init"])
    steps = sim.epoch_steps
    _run_steps(sim, _before(sim, miniature, str(options.get("exchange", ""))))
    _let_all_fire(sim, miniature)
    slices = _slices(sim, steps)
    # Other work of the machine can make a slice longer, but not shorter.
    best = min(slices, key=lambda one: sum(one[part] for part in PARTS))
    share = miniature.threads / miniature.shards
    of_threads = {"deliver": share, "collocate": share}
    shortest = min((_steps(group.delay, miniature.resolution) for group in miniature.groups), default=steps)
    return Measured(
        synapse=min(built) * share / max(1, sim.counts().synapses // miniature.ranks),
        exchange={part: best[part] * of_threads.get(part, 1.0) for part in PARTS},
        # Slices differ in length: one that was short because the machine was busy counts for as little as it has seen.
        events=sum(one["events"] for one in slices) / sum(one["exchanges"] for one in slices),
        exchanges_per_delay=max(1.0, round(shortest / steps)),
        directed=miniature.ranks == 1 or sim.traffic().presynaptic_entries > 0,
    )


def _build(miniature: Miniature, options: Mapping[str, Any]) -> Simulation:
    net = Network(resolution=miniature.resolution)
    sources = [net.create("iaf_psc_exp", group.sources) for group in miniature.groups]
    rates = {population.name: group.rate for population, group in zip(sources, miniature.groups, strict=True)}
    targets = list(sources)
    rest = miniature.neurons - sum(group.sources for group in miniature.groups)
    if rest > 0:
        targets.append(net.create("iaf_psc_exp", rest))
        rates[targets[-1].name] = miniature.rate
    for group, population in zip(miniature.groups, sources, strict=True):
        for target in targets:
            _connect(net, population, target, group)
    return Simulation(
        net,
        threads=miniature.threads,
        recordings="local",
        progress=False,
        **grouped({**options, "shards": miniature.shards, "ranks": miniature.ranks, "invented_rate": rates}),
    )


def _connect(net: Network, sources: Population, targets: Population, group: Group) -> None:
    learn = round(group.learning * len(targets))
    rule = FixedIndegree(group.indegree)
    if learn > 0:
        net.connect(
            sources,
            targets[:learn],
            rule,
            weight=group.weight,
            delay=group.delay,
            synapse=_with_new_transmitter(_idle(_without_arrays(group.synapse)), sources),
        )
    if learn < len(targets):
        net.connect(sources, targets[learn:], rule, weight=group.weight, delay=group.delay)


def _with_new_transmitter(synapse: AnySynapse | str, sources: PopulationView) -> AnySynapse | str:
    """Return a synapse model whose transmitter, if it has one, is released by as many neurons of the copy."""
    if isinstance(synapse, str | UserSynapse) or not isinstance(synapse.transmitter, PopulationView):
        return synapse
    neurons = sources[: len(synapse.transmitter)]
    return type(synapse)(**{synapse.transmitter_name: neurons}, **synapse.values)


def _without_arrays(synapse: AnySynapse | str) -> AnySynapse | str:
    """Return a synapse model that does as much with mean values, which fit any number of synapses."""
    if isinstance(synapse, str):
        return synapse
    means = {
        name: Normal(float(value.mean()) if value.size else 0.0, 0.0)
        for name, value in synapse.values.items()
        if isinstance(value, np.ndarray)
    }
    return synapse.with_values(means) if means else synapse


def _idle(synapse: AnySynapse | str) -> AnySynapse | str:
    """Return a synapse model that does as much, but keeps its weights: at high rates they might leave their bounds."""
    if isinstance(synapse, UserSynapse):
        return synapse._idle()
    if isinstance(synapse, str) or "learning_rate" not in inspect.signature(type(synapse)).parameters:
        return synapse
    values: dict[str, Any] = {**synapse.values, "learning_rate": 0.0}
    return type(synapse)(**values)


def _let_all_fire(sim: Simulation, miniature: Miniature) -> None:
    """Run until most sources have fired, if that is soon: synapses learn nothing before the first spike of theirs."""
    rates = [group.rate for group in miniature.groups if group.learning > 0.0 and group.rate > 0.0]
    if not rates:
        return
    last = round(3000.0 / min(rates) / miniature.resolution)
    begin = time.perf_counter()
    while sim.step < last and time.perf_counter() - begin < _LONGEST:
        _run_steps(sim, min(last - sim.step, 10 * sim.epoch_steps))


def _before(sim: Simulation, miniature: Miniature, exchange: str) -> int:
    """Return the number of steps after which all set-up has ended."""
    steps = sim.epoch_steps * (_TRIED if exchange == "auto" else 2)
    rates = [group.rate for group in miniature.groups if group.rate > 0.0]
    if exchange in _SET_UP_LATE and rates:
        # Messages are set up when a neuron fires for the first time; after this time, one in fifty has not fired.
        return max(steps, round(4000.0 / min(rates) / miniature.resolution))
    return steps


def _slices(sim: Simulation, steps: int) -> list[dict[str, float]]:
    """Return, for several slices of a run, the times per exchange, the exchanges and the synapses that were reached."""
    exchanges = 1
    slices: list[dict[str, float]] = []
    begin = time.perf_counter()
    while len(slices) < _SLICES and (len(slices) < _FEWEST_SLICES or time.perf_counter() - begin < _LONGEST):
        phases, events, started = sim.phases, sim.counts().synaptic_events, time.perf_counter()
        _run_steps(sim, exchanges * steps)
        taken = time.perf_counter() - started
        if taken < _SLICE / 2 and exchanges < 10_000:
            # Too short compared to the time of the call itself.
            exchanges = min(10_000, math.ceil(exchanges * min(100.0, _SLICE / taken)))
            continue
        now = sim.phases
        one = {part: (now[part] - phases[part]) / exchanges for part in PARTS}
        reached = (sim.counts().synaptic_events - events) / sim.communicator.size
        slices.append({**one, "events": reached, "exchanges": exchanges})
    return slices


def _run_steps(sim: Simulation, steps: int) -> None:
    sim.run(time_of(steps, sim.resolution))
