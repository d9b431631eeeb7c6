"""The expected load of each of many processes, computed before anything is built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ranvier import _core
from ranvier.base.distributions import Distribution, LogNormal, is_plain
from ranvier.base.formulas import Formula
from ranvier.base.numeric import number, whole_number
from ranvier.base.times import nearest_step
from ranvier.base.values import FloatArray, StoredValues
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.network.network import Network, check_network
from ranvier.network.projections import Projection
from ranvier.populations.populations import Population, PopulationView
from ranvier.simulation.options import MOST_RANKS, MOST_THREADS

__all__ = [
    "DEFAULT_RATE",
    "Arrivals",
    "Load",
    "arrivals_by_population",
    "expect_load",
    "mean_rate",
    "rates_by_population",
    "shortest_delay",
    "sign_of_weights",
]

DEFAULT_RATE = 10.0
"""Assumed rate of neurons, spikes/s, if no rate is known."""

_LONGEST_EPOCH = 256  # steps


@dataclass(frozen=True)
class Load:
    """The load of one process, averaged over all processes.

    Attributes
    ----------
    neurons
        Number of neurons, by population.
    stimulated
        Number of stimulated neurons, by stimulus.
    synapses
        Number of synapses onto its neurons.
    entries
        Number of rows, on other processes, that need spikes of its neurons.
    steps_per_second, exchanges_per_second, events_per_second, records_per_second
        Per simulated second: steps, exchanges of spikes, spikes delivered to synapses, and spike records that arrive
        (and leave), one for each process that needs a spike.
    ranks, threads
        Number of processes, and of threads of each.
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
    """Return the expected load of one of many processes.

    Parameters
    ----------
    network
        The network.
    ranks, threads
        Number of processes, and of threads of each.
    rates
        Mean rates by population, spikes/s.
    rate
        Mean rate of all other populations, spikes/s.
    sorted_by_source
        Whether a spike is sent once to a process, and not once for each synapse.
    directed
        Whether spikes are sent only to the processes that need them.
    exchanges_per_delay
        How often spikes are exchanged within the shortest delay.
    """
    check_network(network)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("threads", threads, 1, MOST_THREADS)
    of_source = rates_by_population(network, rates, rate)
    # By source population: synapses here, and how many sources they can have.
    here: dict[int, float] = {}
    possible: dict[int, float] = {}
    for projection in network.projections:
        for part in projection.sources.parts:
            index = part.population.index
            synapses = projection.expected_synapses * len(part) / max(1, len(projection.sources))
            here[index] = here.get(index, 0.0) + synapses / ranks
            possible[index] = max(possible.get(index, 0.0), float(len(part)))
    events = sum(count * of_source[index] for index, count in here.items())
    rows = {
        index: _rows(count, possible[index], threads) if sorted_by_source else count for index, count in here.items()
    }
    records = sum(count * of_source[index] for index, count in rows.items())
    if not directed:
        records = sum(len(population) * of_source[population.index] for population in network.populations)
    if ranks == 1 and sorted_by_source:
        # A single process exchanges nothing.
        rows, records = {}, 0.0
    shortest = min((shortest_delay(projection) for projection in network.projections), default=_LONGEST_EPOCH)
    return Load(
        # Those that are updated in a step of the resolution, on average.
        neurons=tuple(_updated(population) / ranks for population in network.populations),
        stimulated=tuple(_updated(stimulus.targets) / ranks for stimulus in network.stimuli),
        synapses=sum(here.values()),
        entries=sum(rows.values()) if directed else 0.0,
        steps_per_second=1000.0 / network.resolution,
        exchanges_per_second=1000.0 / (network.resolution * min(shortest, _LONGEST_EPOCH)) * exchanges_per_delay,
        events_per_second=events,
        records_per_second=records,
        ranks=ranks,
        threads=threads,
    )


def mean_rate(network: Network, rates: Mapping[str, float], rate: float = DEFAULT_RATE) -> float:
    """Return the mean rate of the neurons of a network, spikes/s, as used by `expect_load`."""
    check_network(network)
    of_source = rates_by_population(network, rates, rate)
    count = network.neuron_count
    neurons = [each for each in network.populations if not each.is_source]
    return sum(of_source[each.index] * len(each) for each in neurons) / count if count else 0.0


def rates_by_population(network: Network, rates: Mapping[str, float], rate: float) -> dict[int, float]:
    """Return the mean rate of each population, spikes/s, by index: of sources that which they were given.

    Sources with given spike times count as silent.
    """
    if not isinstance(rates, Mapping):
        raise WrongTypeError("rates", type(rates).__name__, "must be a mapping of populations to spikes/s")
    result = {}
    for population in network.populations:
        name = f"rate of {population.name}"
        of_others = expected_rate(population) if population.is_source else rate
        result[population.index] = number(name, rates.get(population.name, of_others))
        if not 0.0 <= result[population.index] < math.inf:
            raise ValueOutOfBoundsError(name, f"{result[population.index]} spikes/s", "it must be >= 0 and finite")
        if population.plays_spikes:
            result[population.index] = 0.0
    return result


@dataclass(frozen=True)
class Arrivals:
    """Spikes that arrive at the synapses of a neuron.

    Attributes
    ----------
    receptor
        Receptor of the synapses; None: the only one, or the one for the sign of the weights.
    sign
        1.0 or -1.0, the sign of most weights.
    rate
        Mean number of spikes per second that a neuron of the population gets.
    """

    receptor: str | None
    sign: float
    rate: float


def arrivals_by_population(network: Network, of_source: Mapping[int, float]) -> dict[int, tuple[Arrivals, ...]]:
    """Return the spikes that arrive at the neurons of each population, by index.

    Parameters
    ----------
    network
        The network.
    of_source
        Mean rate of each population, spikes/s, by index: see `rates_by_population`.
    """
    rates: dict[int, dict[tuple[str | None, float], float]] = {each.index: {} for each in network.populations}
    for projection in network.projections:
        if not len(projection.sources) or not len(projection.targets):
            continue
        of_sources = sum(of_source[part.population.index] * len(part) for part in projection.sources.parts)
        per_target = projection.expected_synapses * of_sources / len(projection.sources) / len(projection.targets)
        key = (projection.receptor, sign_of_weights(projection))
        for part in projection.targets.parts:
            of_population = rates[part.population.index]
            share = len(part) / len(part.population)
            of_population[key] = of_population.get(key, 0.0) + share * per_target
    return {
        index: tuple(Arrivals(*key, rate) for key, rate in of_population.items() if rate > 0.0)
        for index, of_population in rates.items()
    }


def sign_of_weights(projection: Projection) -> float:
    """Return the sign of most weights of a projection: 1.0 or -1.0."""
    weight = projection.weight
    if is_compiled(weight):
        mean = sum(projection.weight_range)
    elif isinstance(weight, Distribution):
        mean = getattr(weight, "mean", None) or getattr(weight, "low", None) or 1.0
    else:
        mean = float(np.mean(as_numbers(weight))) if np.size(as_numbers(weight)) else 1.0
    return -1.0 if mean < 0.0 else 1.0


def is_compiled(value: object) -> bool:
    """Return whether values are calculated by an expression."""
    return isinstance(value, Formula) and not is_plain(value)


def as_numbers(value: StoredValues) -> float | FloatArray:
    """Return values that are numbers."""
    assert not isinstance(value, Formula)
    return value


def expected_rate(sources: Population) -> float:
    """Return the mean rate of sources that a stimulator draws, spikes/s; 0 if it does not follow from its values."""
    models = [model for model in _core.stimulator_models() if model.name == sources.model]
    defaults = {parameter.name: parameter.default for model in models for parameter in model.parameters}
    values: dict[str, object] = {} if sources.plays_spikes else {**defaults, **sources.values}
    for name, value in values.items():
        if is_compiled(value):
            values[name] = 0.5 * sum(sources.value_range(name))
    rate = mean_value(values.get("rate", values.get("rates", 0.0)))
    return max(0.0, rate * mean_value(values.get("p_copy", 1.0)))


def mean_value(value: object) -> float:
    """Return the mean of a value of some neurons: of a distribution its mean, or the middle of its range."""
    if isinstance(value, LogNormal):
        return math.exp(number("mu", value.mu) + 0.5 * number("sigma", value.sigma) ** 2)
    if isinstance(value, Distribution):
        mean = getattr(value, "mean", None)
        middle = 0.5 * (getattr(value, "low", 0.0) + getattr(value, "high", 0.0)) if mean is None else float(mean)
        return middle if math.isfinite(middle) else 0.0
    array = np.asarray(value, dtype=np.float64)
    return float(array.mean()) if array.size else 0.0


def _updated(neurons: PopulationView) -> float:
    return math.fsum(len(part) * part.population.network.resolution / part.population.step for part in neurons.parts)


def _rows(synapses: float, sources: float, threads: int) -> float:
    """Return the number of spike records that a process gets if each of some sources fires once."""
    # If most sources have targets on each thread, one record serves all threads; otherwise each thread has one.
    if sources == 0.0:
        return 0.0
    on_thread = synapses / threads
    if on_thread > sources:
        return -sources * math.expm1(-synapses / sources)
    return threads * -sources * math.expm1(-on_thread / sources)


def shortest_delay(projection: Projection) -> int:
    """Return the shortest possible delay of a projection, in steps."""
    delay = projection.delay
    resolution = projection.network.resolution
    if is_compiled(delay):
        shortest = projection.delay_range[0]
    elif isinstance(delay, Distribution):
        low = getattr(delay, "low", 0.0)
        shortest = low if math.isfinite(low) else 0.0
    else:
        shortest = float(np.min(as_numbers(delay))) if np.size(as_numbers(delay)) else math.inf
    if not math.isfinite(shortest):
        return _LONGEST_EPOCH
    step: float = max((part.population.step for part in projection.targets.parts), default=resolution)
    steps: int = max(1, nearest_step(shortest, step)) * round(step / resolution)
    return steps
