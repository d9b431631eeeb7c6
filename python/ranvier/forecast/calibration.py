"""What things cost on this machine: measured in a few seconds, and remembered."""

from __future__ import annotations

import hashlib
import json
import os
import re
import statistics
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.paths import write_text
from ranvier.base.values import StoredValues
from ranvier.errors import RanvierError
from ranvier.network.network import Network
from ranvier.network.populations import Population, Stimulus
from ranvier.network.rules import FixedIndegree
from ranvier.processes import machine
from ranvier.simulation.simulation import Simulation

__all__ = ["Costs", "cache_file", "measure"]

# Large enough that tables do not fit into caches, small enough to be built in a second.
_NEURONS, _INDEGREE = 3000, 2000
_DENSE_RANKS = 512
_SPARSE_RANKS = 4096
_MANY_RANKS = 65536
_SECTION_RANKS = (1024, _MANY_RANKS)
_RESOLUTION, _DELAY = 0.1, 1.5  # ms
_REPETITIONS = 3

# Which of the options of a simulation its costs depend on.
_OPTIONS = (
    "precision",
    "weight_precision",
    "instruction_set",
    "table_layout",
    "delivery_window",
    "exchange",
    "intervals",
)


@dataclass(frozen=True)
class Costs:
    """Seconds that one thread takes, by what for.

    Attributes
    ----------
    synapse
        To build a synapse and to sort it into its table.
    presynaptic_entry
        To tell the process of a source of a row, and to store that there.
    event
        To add a synapse's weight to the input of its target.
    dense_record
        To find the row of a spike that arrived in a table with a row for each source, and to wait for memory for it.
    record
        The same by number of processes where tables have rows only for sources that are there, or for synapses.
    collocation
        By number of processes: to put a spike where the exchange takes it from, for one process.
    transfer
        By number of processes: to move a spike from buffer to buffer.
    section
        Of an exchange, for each process that takes part. The network between machines is not in it.
    exchange
        Of an exchange, whatever the number of processes.
    exchanges_per_delay
        Exchanges within the shortest delay.
    directed
        Whether spikes are sent to those processes only that need them.
    neurons
        By population: to update a neuron by one step.
    stimuli
        By stimulus: to stimulate a neuron for one step.
    """

    synapse: float
    presynaptic_entry: float
    event: float
    dense_record: float
    record: dict[int, float]
    collocation: dict[int, float]
    transfer: dict[int, float]
    section: float
    exchange: float
    exchanges_per_delay: float
    directed: bool
    neurons: tuple[float, ...]
    stimuli: tuple[float, ...]


# Seconds: nothing of this takes as long.
_LONGEST = 1e6
# Those that are the same for all populations and stimuli.
_BY_RANKS = ("record", "collocation", "transfer")
_OF_TABLES = {field.name for field in fields(Costs)} - {"neurons", "stimuli"}


def cache_file() -> Path | None:
    """Return the file in which costs are remembered: one for each version of the program and each kind of machine.

    None where there is no place for it, such as for a user without a home.
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # One that is relative is to be ignored: XDG Base Directory Specification, version 0.8.
        folder = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    key = [_core.version, _core.source_revision, _core.compiler, machine.processor_name(), _core.instruction_sets()]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
    return folder / "ranvier" / f"costs-{digest}.json"


def measure(
    network: Network, options: Mapping[str, Any], *, sorted_by_source: bool = True, anew: bool = False
) -> Costs:
    """Return what the parts of a network cost on this machine: remembered, or measured now, which takes seconds.

    Parameters
    ----------
    network
        Its neuron models and stimulators are measured one by one. It is not built.
    options
        Those of `ranvier.Simulation`.
    sorted_by_source
        Whether synapses are sorted by source. What a simulation would choose depends on its processes: see
        `ranvier.simulation.sorts_connections`.
    anew
        Whether to measure again what is remembered.
    """
    chosen: dict[str, Any] = {name: options[name] for name in _OPTIONS if options.get(name) is not None}
    chosen["sort_connections"] = sorted_by_source
    remembered = _Remembered(anew)
    tables = remembered.get(
        f"tables by ranks {json.dumps(chosen, sort_keys=True)}", lambda: _measure_tables(chosen), _are_costs_of_tables
    )
    of_neurons: dict[str, Any] = {name: chosen[name] for name in ("precision", "instruction_set") if name in chosen}
    how = json.dumps(of_neurons, sort_keys=True)
    neurons = [
        remembered.get(
            f"neuron {population.model} {_told(population.values)} {how}",
            partial(_measure_neurons, population, None, of_neurons),
            _is_cost,
        )
        for population in network.populations
    ]
    stimuli = []
    for stimulus in network.stimuli:
        population = stimulus.targets.population
        both = remembered.get(
            f"stimulus {stimulus.stimulator} {_told(stimulus.values)} {_mean(stimulus.weight)} "
            f"{population.model} {_told(population.values)} {how}",
            partial(_measure_neurons, population, stimulus, of_neurons),
            _is_cost,
        )
        stimuli.append(max(0.0, both - neurons[population.index]))
    remembered.save()
    known: dict[str, Any] = {**tables, "directed": bool(tables["directed"])}
    for name in _BY_RANKS:
        known[name] = {int(ranks): cost for ranks, cost in tables[name].items()}
    return Costs(**known, neurons=tuple(neurons), stimuli=tuple(stimuli))


class _Remembered:
    """What was measured before, by what it is. Whatever is wrong with the file, things are measured again."""

    def __init__(self, anew: bool) -> None:
        self._path = cache_file()
        self._known: dict[str, Any] = {}
        self._fresh: dict[str, Any] = {}
        self._anew = anew
        # JSON that is nested too deeply is a RecursionError.
        with suppress(OSError, ValueError, RecursionError):
            loaded = json.loads(self._path.read_text()) if self._path is not None else {}
            self._known = loaded if isinstance(loaded, dict) else {}

    def get(self, key: str, measure: Callable[[], Any], is_sound: Callable[[object], bool]) -> Any:
        """Return what is remembered, if it is of the kind that is measured, or measure it."""
        if key in self._fresh:
            return self._fresh[key]
        if key in self._known and not self._anew and is_sound(self._known[key]):
            return self._known[key]
        self._fresh[key] = measure()
        return self._fresh[key]

    def save(self) -> None:
        if not self._fresh or self._path is None:
            return
        # A home that cannot be written to costs some seconds the next time.
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._path, json.dumps({**self._known, **self._fresh}, indent=1))


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < _LONGEST


def _are_costs_of_tables(value: object) -> bool:
    if not isinstance(value, dict) or set(value) != _OF_TABLES:
        return False
    return all(_are_costs_by_ranks(cost) if name in _BY_RANKS else _is_cost(cost) for name, cost in value.items())


def _are_costs_by_ranks(value: object) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    # JSON has names only.
    return all(re.fullmatch("[1-9][0-9]{0,8}", str(ranks)) and _is_cost(cost) for ranks, cost in value.items())


# ---- tables and their exchange ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Measured:
    build: float
    init: float
    deliver: float
    collocate: float
    communicate: float
    synapses: int
    events: int
    entries: int
    received: int
    sent: int
    exchanges: int
    epoch_steps: int


def _measure_tables(options: Mapping[str, Any]) -> dict[str, Any]:
    # Long rows, so that what spikes cost does not show; then rows of a few synapses, and of one; then exchanges of few
    # spikes between more and more processes.
    long = _dry_run(2, _NEURONS, _INDEGREE, 100.0, 50.0, options)
    dense = _dry_run(_DENSE_RANKS, _NEURONS, _INDEGREE, 20.0, 50.0, options)
    sparse = {_SPARSE_RANKS: _dry_run(_SPARSE_RANKS, _NEURONS, _INDEGREE, 20.0, 100.0, options)}
    few, many = (_dry_run(ranks, 300, 300, 20.0, 100.0, options) for ranks in _SECTION_RANKS)
    first = sparse[_SPARSE_RANKS]
    directed = first.entries > 0
    if directed:
        # Who sends to all gets what all send: more processes are more of the same.
        sparse[_MANY_RANKS] = _dry_run(_MANY_RANKS, _NEURONS, _INDEGREE, 20.0, 30.0, options)
    event = long.deliver / long.events
    # Who sends to all sends the more of them the more there are: that is not what a process costs.
    section = _of_section(few, many) if directed else 0.0
    exchange = max(0.0, few.communicate / few.exchanges - section * _SECTION_RANKS[0]) if directed else 0.0
    synapse = (long.build + long.init) / long.synapses

    def record(measured: _Measured) -> float:
        return max(0.0, measured.deliver - event * measured.events) / measured.received

    def transfer(ranks: int, measured: _Measured) -> float:
        moving = measured.communicate - measured.exchanges * (exchange + section * ranks)
        return max(0.0, moving) / measured.received

    return {
        "synapse": synapse,
        "presynaptic_entry": max(0.0, first.build + first.init - synapse * first.synapses) / max(first.entries, 1),
        "event": event,
        "dense_record": record(dense),
        "record": {ranks: record(measured) for ranks, measured in sparse.items()},
        "collocation": {ranks: measured.collocate / measured.sent for ranks, measured in sparse.items()},
        "transfer": {ranks: transfer(ranks, measured) for ranks, measured in sparse.items()},
        "section": section,
        "exchange": exchange,
        "exchanges_per_delay": max(1.0, round(_DELAY / _RESOLUTION) / first.epoch_steps),
        "directed": float(directed),
    }


def _of_section(few: _Measured, many: _Measured) -> float:
    """Return what each process more costs in an exchange of as many spikes."""

    def of_exchange(measured: _Measured) -> float:
        return (measured.collocate + measured.communicate + measured.deliver) / measured.exchanges

    return max(0.0, of_exchange(many) - of_exchange(few)) / (_SECTION_RANKS[1] - _SECTION_RANKS[0])


def _dry_run(
    ranks: int, neurons: int, indegree: int, rate: float, time: float, options: Mapping[str, Any]
) -> _Measured:
    """Run one of many processes whose neurons are silent, and get spikes that were invented."""
    net = Network(resolution=_RESOLUTION)
    population = net.create("iaf_psc_exp", ranks * neurons)
    net.connect(population, population, FixedIndegree(indegree), weight=1.0, delay=_DELAY)
    sim = Simulation(
        net,
        threads=1,
        communicator=_core.Communicator.mirror(ranks),
        recordings="local",
        invented_rate=rate,
        progress=False,
        **options,
    )
    sim.run(10.0)
    sim.reset_counts()
    before = sim.phases
    sim.run(time)
    phases, counts, traffic = sim.phases, sim.counts(), sim._core.traffic()
    return _Measured(
        build=phases["build"],
        init=phases["init"],
        deliver=phases["deliver"] - before["deliver"],
        collocate=phases["collocate"] - before["collocate"],
        communicate=phases["communicate"] - before["communicate"],
        # All processes do what this one does.
        synapses=counts.synapses // ranks,
        events=max(1, counts.synaptic_events // ranks),
        entries=traffic["presynaptic_entries"],
        received=max(1, traffic["spikes_received"]),
        sent=max(1, traffic["spikes_sent"]),
        exchanges=max(1, traffic["exchanges"]),
        epoch_steps=sim._core.epoch_steps,
    )


# ---- neurons and stimuli ---------------------------------------------------------------------------------------------


def _measure_neurons(population: Population, stimulus: Stimulus | None, options: Mapping[str, Any]) -> float:
    """Return the seconds that a neuron takes for a step, and its stimulus if there is one."""
    if population.plays_spikes:
        return 0.0
    neurons, steps = 4000, 500
    net = Network(resolution=population.network.resolution)
    copy = net.create(population.model, neurons, None, **_numbers(population.values))
    if stimulus is not None:
        if any(isinstance(value, np.ndarray) for value in stimulus.values.values()):
            # A list of times or of currents: next to nothing from step to step.
            return 0.0
        values: dict[str, Any] = dict(_numbers(stimulus.values))
        net.stimulate(copy, stimulus.stimulator, weight=_mean(stimulus.weight), **values)
    try:
        sim = Simulation(net, threads=1, communicator=_core.Communicator.local(), progress=False, **options)
    except RanvierError:
        # Values that are only allowed together, of which some are arrays.
        return _measure_defaults(population, options)
    return _seconds_a_step(sim, steps) / neurons


def _measure_defaults(population: Population, options: Mapping[str, Any]) -> float:
    neurons = 4000
    net = Network(resolution=population.network.resolution)
    net.create(population.model, neurons)
    sim = Simulation(net, threads=1, communicator=_core.Communicator.local(), progress=False, **options)
    return _seconds_a_step(sim, 500) / neurons


def _seconds_a_step(sim: Simulation, steps: int) -> float:
    sim.run(10 * sim.resolution)
    measured = []
    for _ in range(_REPETITIONS):
        before = sim.phases["update"]
        sim.run(steps * sim.resolution)
        measured.append((sim.phases["update"] - before) / steps)
    return statistics.median(measured)


def _numbers(values: Mapping[str, StoredValues]) -> dict[str, float]:
    return {name: value for name, value in values.items() if isinstance(value, float)}


def _mean(value: StoredValues) -> float:
    if isinstance(value, np.ndarray):
        return float(value.mean()) if value.size else 1.0
    return value if isinstance(value, float) else 1.0


def _told(values: Mapping[str, StoredValues]) -> str:
    return json.dumps(_numbers(values), sort_keys=True)
