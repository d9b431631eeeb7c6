"""Costs of synapses, spikes, neurons and stimuli on this machine. They are measured in a few seconds, and stored."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ranvier import _core, models
from ranvier.base.paths import write_text
from ranvier.base.times import time_of
from ranvier.base.user_cache import user_cache
from ranvier.base.values import StoredValues
from ranvier.forecast import miniature
from ranvier.forecast.load import (
    DEFAULT_RATE,
    Arrivals,
    arrivals_by_population,
    rates_by_population,
    shortest_delay,
)
from ranvier.network.network import Network
from ranvier.network.projections import Stimulus
from ranvier.network.rules import FixedIndegree
from ranvier.populations.populations import Population
from ranvier.processes import machine
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier.space.positions import Positions, positions

__all__ = ["Costs", "cache_file", "measure"]

_REPETITIONS, _NEURONS, _STEPS = 3, 4000, 500
# Largest number of spikes for all measured neurons in a step: above, fewer neurons are measured.
_MOST_ARRIVALS = 100_000
# Largest rate of a source per step: at higher rates, a Poisson process often has several spikes in a step.
_MOST_SPIKES = 0.2
_SOURCES = 100
# Spikes with this weight cost the same as others, and change the potentials of neurons by nearly nothing.
_SMALL_WEIGHT = 1e-9

# The options of a simulation on which its costs depend.
_OPTIONS = (
    "precision",
    "weight_precision",
    "instruction_set",
    "table_layout",
    "row_numbering",
    "delivery_window",
    "exchange",
    "intervals",
)


@dataclass(frozen=True)
class Costs:
    """Costs of one process with a number of threads, in seconds.

    Attributes
    ----------
    synapse
        Time to build a synapse, sort it into its table, and send its source to the source's process.
    exchange
        Time per exchange of spikes, by phase (*deliver*, *collocate*, *communicate*, *wait*). The network between
        machines is not included.
    events
        Number of synapses that the spikes of such an exchange reach.
    exchanges_per_delay
        Number of exchanges within the shortest delay.
    directed
        Whether spikes are sent only to the processes that need them.
    neurons
        By population: time of one thread to update a neuron by one step, at which as many spikes arrive as in the
        network. The time to deliver these spikes is not included.
    stimuli
        By stimulus: time of one thread to stimulate a neuron for one step.
    """

    synapse: float
    exchange: dict[str, float]
    events: float
    exchanges_per_delay: float
    directed: bool
    neurons: tuple[float, ...]
    stimuli: tuple[float, ...]


# Upper bound of stored costs, seconds.
_LONGEST = 1e6
# Upper bound of the number of synapses of a process.
_MOST_EVENTS = 1e15
# Largest number of stored costs; the oldest are removed.
_MOST_REMEMBERED = 1000


def cache_file() -> Path | None:
    """Return the file in which costs are stored: one for each version of the program and each type of machine.

    None if it cannot be stored, for example for a user without a home.
    """
    folder = user_cache()
    if folder is None:
        return None
    key = [_core.version, _core.source_revision, _core.compiler, machine.processor_name(), _core.instruction_sets()]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
    return folder / f"costs-{digest}.json"


def measure(
    network: Network,
    options: Mapping[str, Any],
    *,
    ranks: int,
    threads: int,
    rates: Mapping[str, float],
    rate: float = DEFAULT_RATE,
    sorted_by_source: bool = True,
    recalibrate: bool = False,
) -> Costs:
    """Return the costs of the parts of a network on this machine: stored ones, or measured now, which takes seconds.

    Neuron models and stimulators are measured one by one, with as many spikes as arrive at a neuron of the network:
    some models need more time for a step in which they get a spike. The costs of spikes are measured with a small copy
    of the network (`ranvier.forecast.miniature`). The network itself is not built.

    Parameters
    ----------
    network
        The network.
    options
        Options of `ranvier.Simulation`, by name, without groups.
    ranks, threads, rates, rate
        As for `ranvier.forecast.load.expect_load`.
    sorted_by_source
        Whether synapses are sorted by source. The choice of a simulation depends on its processes: see
        `ranvier.simulation.sorts_connections`.
    recalibrate
        Whether to measure stored costs again.
    """
    chosen: dict[str, Any] = {name: options[name] for name in _OPTIONS if options.get(name) is not None}
    chosen["sort_connections"] = sorted_by_source
    remembered = _Remembered(recalibrate)
    small = miniature.describe(
        network, chosen, ranks=ranks, threads=threads, rates=rates, rate=rate, sorted_by_source=sorted_by_source
    )
    exchange = remembered.get(
        f"exchange of {small} {json.dumps(chosen, sort_keys=True)}",
        lambda: asdict(miniature.measure(small, chosen)),
        _are_costs_of_exchange,
    )
    of_neurons: dict[str, Any] = {name: chosen[name] for name in ("precision", "instruction_set") if name in chosen}
    how = json.dumps(of_neurons, sort_keys=True)
    arrivals = arrivals_by_population(network, rates_by_population(network, rates, rate))
    # Neurons are updated for several steps at once, as many as there are between exchanges.
    shortest = min((shortest_delay(projection) for projection in network.projections), default=1)
    delay = time_of(shortest, network.resolution)
    how = f"delay {delay} {how}"
    neurons = [
        remembered.get(
            f"neuron {population.model} {_told(population.values)} {_arriving(arrivals[population.index])}{how}",
            partial(_measure_neurons, population, arrivals[population.index], delay, None, of_neurons),
            _is_cost,
        )
        for population in network.populations
    ]
    stimuli = []
    for stimulus in network.stimuli:
        cost = 0.0
        for part in stimulus.targets.parts:
            population = part.population
            here = arrivals[population.index]
            both = remembered.get(
                f"stimulus {stimulus.stimulator} {_told(stimulus.values)} {_mean(stimulus.weight)} "
                f"{population.model} {_told(population.values)} {_arriving(here)}{how}",
                partial(_measure_neurons, population, here, delay, stimulus, of_neurons),
                _is_cost,
            )
            share = len(part) / max(1, len(stimulus.targets))
            cost += share * max(0.0, both - neurons[population.index])
        stimuli.append(cost)
    remembered.save()
    return Costs(**exchange, neurons=tuple(neurons), stimuli=tuple(stimuli))


class _Remembered:
    """Stored costs by name. If the file cannot be read, costs are measured again."""

    def __init__(self, recalibrate: bool) -> None:
        self._path = cache_file()
        self._known: dict[str, Any] = {}
        self._fresh: dict[str, Any] = {}
        self._recalibrates = recalibrate
        # JSON that is nested too deeply raises a RecursionError.
        with suppress(OSError, ValueError, RecursionError):
            loaded = json.loads(self._path.read_text()) if self._path is not None else {}
            self._known = loaded if isinstance(loaded, dict) else {}

    def get(self, key: str, measure: Callable[[], Any], is_sound: Callable[[object], bool]) -> Any:
        """Return the stored value if it is sound, otherwise measure it."""
        if key in self._fresh:
            return self._fresh[key]
        if key in self._known and not self._recalibrates and is_sound(self._known[key]):
            return self._known[key]
        self._fresh[key] = measure()
        return self._fresh[key]

    def save(self) -> None:
        if not self._fresh or self._path is None:
            return
        # If the file cannot be written, costs are measured again the next time.
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            kept = {name: value for name, value in self._known.items() if name not in self._fresh}
            newest = list({**kept, **self._fresh}.items())[-_MOST_REMEMBERED:]
            write_text(self._path, json.dumps(dict(newest), indent=1))


def _is_cost(value: object) -> bool:
    return _is_number(value, _LONGEST)


def _is_number(value: object, bound: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < bound


def _are_costs_of_exchange(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != {field.name for field in fields(miniature.Measured)}:
        return False
    parts = value["exchange"]
    return (
        isinstance(parts, dict)
        and set(parts) == set(miniature.PARTS)
        and isinstance(value["directed"], bool)
        and all(map(_is_cost, [*parts.values(), value["synapse"], value["exchanges_per_delay"]]))
        and _is_number(value["events"], _MOST_EVENTS)
    )


# ---- neurons and stimuli ---------------------------------------------------------------------------------------------


def _measure_neurons(
    population: Population,
    arrivals: Sequence[Arrivals],
    delay: float,
    stimulus: Stimulus | None,
    options: Mapping[str, Any],
) -> float:
    """Return the time, in seconds, of one step of a neuron, including its stimulus if there is one."""
    if population.plays_spikes:
        return 0.0
    sim = _simulation_of_neurons(population, arrivals, delay, stimulus, options)
    return 0.0 if sim is None else _seconds_a_step(sim) / len(sim.network.populations[0])


def _simulation_of_neurons(
    population: Population,
    arrivals: Sequence[Arrivals],
    delay: float,
    stimulus: Stimulus | None,
    options: Mapping[str, Any],
) -> Simulation | None:
    """Return some neurons of a population, as the first of a network, at which as many spikes arrive.

    None: the cost of the stimulus is negligible.
    """
    net = Network(resolution=population.step)
    per_step = sum(each.rate for each in arrivals) * population.step / 1000.0
    count = max(1, min(_NEURONS, round(_MOST_ARRIVALS / per_step))) if per_step > 0.0 else _NEURONS
    # Rates depend on the distribution of values over neurons.
    lists = models.STIMULATORS[population.model].sequence_names if population.is_source else ()
    given = {name: each for name, each in population.values.items() if name not in lists}
    sampled: dict[str, Any] = dict(_sampled(given, count))
    sampled.update({name: population.values[name] for name in lists if name in population.values})
    copy = net.create(population.model_for(count), count, None, positions=_places(population, count), **sampled)
    if stimulus is not None:
        if any(isinstance(value, np.ndarray) for value in stimulus.values.values()):
            # A list of times or of currents: its cost per step is negligible.
            return None
        values: dict[str, Any] = dict(_sampled(stimulus.values, count))
        to: dict[str, Any] = {"receptor": stimulus.receptor, "electrode": stimulus.electrode}
        net.stimulate(copy, stimulus.stimulator, weight=_mean(stimulus.weight), **to, **values)
    # Sources fire at given rates; the spikes of the copied neurons go nowhere.
    rates = {copy.name: 0.0}
    for each in arrivals:
        of_step = each.rate * population.step / 1000.0
        indegree = max(1, math.ceil(of_step / _MOST_SPIKES))
        # The model that costs least while nothing arrives.
        sources = net.create("interval_fire", _SOURCES)
        rates[sources.name] = each.rate / indegree
        net.connect(
            sources,
            copy,
            FixedIndegree(indegree),
            weight=1.0 if each.receptor == _counting_receptor(population) else each.sign * _SMALL_WEIGHT,
            delay=max(1, round(delay / population.step)) * population.step,
            receptor=each.receptor,
        )
    here: dict[str, Any] = {"threads": 1}
    here |= {"invented_rate": rates, "ranks": 1} if arrivals else {"communicator": _core.Communicator.local()}
    return Simulation(net, progress=False, **grouped({**options, **here}))


def _counting_receptor(population: Population) -> str | None:
    """Return the receptor at which weights are numbers of spikes, or None."""
    if population.user_model is not None:
        return None
    return next((model.counting_receptor for model in _core.neuron_models() if model.name == population.model), None)


def _seconds_a_step(sim: Simulation) -> float:
    sim.run(10 * sim.resolution)
    measured = []
    for _ in range(_REPETITIONS):
        before = sim.phases["update"]
        sim.run(_STEPS * sim.resolution)
        measured.append((sim.phases["update"] - before) / _STEPS)
    # Other work of the machine can only make it longer.
    return min(measured)


def _sampled(values: Mapping[str, StoredValues], count: int) -> dict[str, StoredValues]:
    """Return a sample of the values, one for each measured neuron."""
    return {
        name: value[np.linspace(0, len(value) - 1, count).astype(np.int64)]
        if isinstance(value, np.ndarray) and value.ndim == 1 and len(value)
        else value
        for name, value in values.items()
    }


def _places(population: Population, count: int) -> Positions | None:
    """Return positions of the neurons of a sample, on which their values may depend."""
    if population.layout is None:
        return None
    chosen, order = np.unique(np.linspace(0, len(population) - 1, count).astype(np.int64), return_inverse=True)
    return positions(population[chosen].positions[order], unit=population.layout.unit)


def _mean(value: StoredValues) -> float:
    if isinstance(value, np.ndarray):
        return float(value.mean()) if value.size else 1.0
    return value if isinstance(value, float) else 1.0


def _arriving(arrivals: Sequence[Arrivals]) -> str:
    """Return a text that identifies arriving spikes. Rates that differ by less than 5 % have the same cost."""
    return "".join(f"{each.receptor} {each.sign:+.0f} {each.rate:.1e} " for each in arrivals)


def _told(values: Mapping[str, StoredValues]) -> str:
    """Return a text that identifies values."""
    return json.dumps(
        {
            name: hashlib.sha256(value.tobytes()).hexdigest()[:16] if isinstance(value, np.ndarray) else repr(value)
            for name, value in values.items()
        },
        sort_keys=True,
    )
