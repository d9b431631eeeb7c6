"""The description of a network as the list of calls that made it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import locked
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number
from ranvier.base.values import StoredValues, to_core
from ranvier.errors import ReadOnlyError, ValueOutOfBoundsError
from ranvier.network import summary
from ranvier.network.checks import check_seed, check_text
from ranvier.network.populations import Population, PopulationView, Projection, Stimulus
from ranvier.network.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.network.rules import Rule

if TYPE_CHECKING:
    from ranvier.network.network import Network

__all__ = ["Description", "Selection"]

Selection = tuple[int, int, int]
"""Index of a population, begin and end in it."""
Handle = Population | Projection | Stimulus | Recorder


class Description:
    """What a network consists of, and how it came about; `Network` adds the calls that users make.

    A description can be copied and pickled: it remembers the calls that the core has accepted, as plain data, and makes
    them again. Threads may call it at the same time.
    """

    def __init__(self, resolution: float = 0.1, seed: int = 1, name: str = "network") -> None:
        self.name = name
        self._core = _core.Network(number("resolution", resolution), check_seed(seed))
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._calls: list[tuple[str, dict[str, Any]]] = []
        self._populations: list[Population] = []
        self._projections: list[Projection] = []
        self._stimuli: list[Stimulus] = []
        self._recorders: list[Recorder] = []

    def __setattr__(self, name: str, value: object) -> None:
        # What is assigned by mistake would be lost without a word, also when the network is copied or pickled.
        known = ("name", "resolution", "seed")
        if not name.startswith("_") and name not in known and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(
                f"{name} of network {self.name}",
                bound=f"it cannot be assigned, only {', '.join(known)} can",
                remedy="change what is in the network with net.set(...), or keep what is yours in a variable",
            )
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """What summaries and reports call it."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_text("name of a network", name)

    @property
    def resolution(self) -> float:
        """Length of a step, ms. It cannot be changed once something was put on its grid (StateError)."""
        return self._core.resolution

    @resolution.setter
    def resolution(self, resolution: float) -> None:
        self._core.set_resolution(number("resolution", resolution))

    @property
    def seed(self) -> int:
        """What all random numbers depend on."""
        return self._core.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._core.set_seed(check_seed(seed))

    @property
    def populations(self) -> tuple[Population, ...]:
        """All populations, in the order of creation."""
        return tuple(self._populations)

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All projections, in the order of creation."""
        return tuple(self._projections)

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """All stimuli, in the order of creation."""
        return tuple(self._stimuli)

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """All recorders, in the order of creation."""
        return tuple(self._recorders)

    @property
    def neuron_count(self) -> int:
        """Number of neurons; sources that play given spikes are not counted."""
        return self._core.neuron_count

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact where the rules fix it, else its expectation."""
        return self._core.expected_synapses

    def __getitem__(self, name: str) -> Population:
        """Return the population of that name.

        Raises
        ------
        UnknownNameError
            When there is none; the message tells the nearest name.
        """
        for population in self._populations:
            if isinstance(name, str) and population.name == name:
                return population
        return unknown_name("population", name, [population.name for population in self._populations])

    def summary(self) -> str:
        """Return tables of what the network consists of, as text."""
        return summary.as_text(self._myself())

    def _repr_html_(self) -> str:
        return summary.as_html(self._myself())

    def __repr__(self) -> str:
        return (
            f"<Network {self.name}: {self.neuron_count} neurons in {len(self._populations)} populations, "
            f"{self.expected_synapses:.0f} synapses in {len(self._projections)} projections>"
        )

    def __eq__(self, other: object) -> bool:
        """Whether another network has the same description, seed and name."""
        if not isinstance(other, Description):
            return NotImplemented
        return _are_alike(self.__getstate__(), other.__getstate__())

    # It can be changed.
    __hash__ = None  # type: ignore[assignment]

    # ---- calls, and calls made again ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"name": self.name, "resolution": self.resolution, "seed": self.seed, "calls": list(self._calls)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._core = _core.Network(state["resolution"], state["seed"])
        self._reset()
        for method, arguments in state["calls"]:
            self._do(method, **{name: _locked(value) for name, value in arguments.items()})

    def _do(self, method: str, **arguments: Any) -> Handle:
        """Carry out a checked call, which the core may still refuse, and remember it when it was accepted."""
        # Between two of these statements no other thread, nor Ctrl-C, may come.
        with self._lock, interrupts_deferred():
            handle: Handle = getattr(self, f"_do_{method}")(**arguments)
            handle._put(_call=len(self._calls))
            self._calls.append((method, arguments))
        return handle

    def _call_of(self, part: Handle) -> dict[str, Any]:
        """Return the arguments of the call that made a part."""
        return self._calls[part._call][1]

    def _redo(self, part: Handle, arguments: dict[str, Any]) -> None:
        """Make the call that has made a part with other arguments, which the core may refuse: then nothing changes."""
        with self._lock, interrupts_deferred():
            method, _ = self._calls[part._call]
            getattr(self, f"_redo_{method}")(part, **arguments)
            self._calls[part._call] = method, arguments

    def _snapshot(self) -> tuple[_core.Network, tuple[Population, ...], tuple[Recorder, ...], int]:
        """Return a copy for the core that nobody changes, its populations, recorders and number of projections."""
        with self._lock:
            return _core.Network(self._core), self.populations, self.recorders, len(self._projections)

    def _do_create(self, model: str, size: int, name: str, values: dict[str, StoredValues]) -> Population:
        first_id = self._core.unit_count
        index = self._core.create(model, size, name, _numbers(values))
        population = Population(self._myself(), index, self._core.population_name(index), model, first_id, size, values)
        self._populations.append(population)
        return population

    def _redo_create(
        self, population: Population, model: str, size: int, name: str, values: dict[str, StoredValues]
    ) -> None:
        self._core.set_values(population.index, _numbers(values))
        population._show(values)

    def _do_create_spike_generators(
        self, times: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], name: str
    ) -> Population:
        first_id = self._core.unit_count
        index = self._core.create_spike_generators(name, times, counts)
        name = self._core.population_name(index)
        population = Population(self._myself(), index, name, "spike_generator", first_id, len(counts), {})
        self._populations.append(population)
        return population

    def _redo_create_spike_generators(
        self, population: Population, times: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], name: str
    ) -> None:
        self._core.set_spike_times(population.index, times, counts)

    def _do_connect(
        self,
        sources: Selection,
        targets: Selection,
        rule: Rule,
        weight: StoredValues,
        delay: StoredValues,
        weight_bound: float,
        name: str,
    ) -> Projection:
        index = self._core.connect(
            sources,
            targets,
            rule.name,
            weight=to_core(weight),
            delay=to_core(delay),
            weight_bound=weight_bound,
            name=name,
            **rule._arguments(),
        )
        name = self._core.projection_name(index)
        projection = Projection(self._myself(), index, name, self._view(sources), self._view(targets))
        projection._show(rule, weight, delay, weight_bound)
        self._projections.append(projection)
        return projection

    def _redo_connect(
        self,
        projection: Projection,
        sources: Selection,
        targets: Selection,
        rule: Rule,
        weight: StoredValues,
        delay: StoredValues,
        weight_bound: float,
        name: str,
    ) -> None:
        self._core.set_projection(
            projection.index,
            rule.name,
            weight=to_core(weight),
            delay=to_core(delay),
            weight_bound=weight_bound,
            **rule._arguments(),
        )
        projection._show(rule, weight, delay, weight_bound)

    def _do_stimulate(
        self,
        targets: Selection,
        stimulator: str,
        values: dict[str, StoredValues],
        sequences: dict[str, npt.NDArray[np.float64]],
        weight: StoredValues,
        delay: float,
        name: str,
    ) -> Stimulus:
        self._core.stimulate(targets, stimulator, _numbers(values), sequences, to_core(weight), delay, name)
        index = len(self._stimuli)
        name = name or f"{stimulator}_{index}"
        stimulus = Stimulus(self._myself(), index, name, self._view(targets), stimulator)
        stimulus._show({**values, **sequences}, weight, delay)
        self._stimuli.append(stimulus)
        return stimulus

    def _redo_stimulate(
        self,
        stimulus: Stimulus,
        targets: Selection,
        stimulator: str,
        values: dict[str, StoredValues],
        sequences: dict[str, npt.NDArray[np.float64]],
        weight: StoredValues,
        delay: float,
        name: str,
    ) -> None:
        self._core.set_stimulus(stimulus.index, _numbers(values), sequences, to_core(weight), delay)
        stimulus._show({**values, **sequences}, weight, delay)

    def _do_record_spikes(self, selections: list[Selection], to: Path | None, overwrite: bool) -> SpikeRecorder:
        index = self._core.record_spikes(selections)
        views = tuple(self._view(selection) for selection in selections)
        recorder = SpikeRecorder(self._myself(), index, (to, overwrite), views)
        self._recorders.append(recorder)
        return recorder

    def _do_record_state(
        self,
        population: int,
        indices: npt.NDArray[np.int64],
        variables: tuple[str, ...],
        interval: float,
        to: Path | None,
        overwrite: bool,
    ) -> StateRecorder:
        index = self._core.record_state(population, indices, list(variables), interval)
        owner = self._populations[population]
        ids = indices + owner.first_id
        recorder = StateRecorder(self._myself(), index, (to, overwrite), owner, ids, variables, interval)
        self._recorders.append(recorder)
        return recorder

    def _do_record_weights(
        self,
        projection: int,
        interval: float,
        sources: Selection | None,
        targets: Selection | None,
        to: Path | None,
        overwrite: bool,
    ) -> WeightRecorder:
        if self._core.to_steps(interval, "interval of a weight recorder") < 1:
            raise ValueOutOfBoundsError("interval of a weight recorder", str(interval), "it must be at least one step")
        index = sum(isinstance(recorder, WeightRecorder) for recorder in self._recorders)
        recorder = WeightRecorder(
            self._myself(),
            index,
            (to, overwrite),
            self._projections[projection],
            interval,
            None if sources is None else self._view(sources),
            None if targets is None else self._view(targets),
        )
        self._recorders.append(recorder)
        return recorder

    def _view(self, selection: Selection) -> PopulationView:
        index, begin, end = selection
        population = self._populations[index]
        if (begin, end) == (0, len(population)):
            return population
        return PopulationView(population, begin, end)

    def _myself(self) -> Network:
        # Handles are typed for users, who only ever see networks.
        return cast("Network", self)


def _numbers(values: dict[str, StoredValues]) -> dict[str, Any]:
    return {name: to_core(value) for name, value in values.items()}


def _are_alike(a: Any, b: Any) -> bool:
    """Return whether arguments of calls, with arrays in them, are the same."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_are_alike(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_are_alike, a, b))
    return bool(a == b)


def _locked(argument: Any) -> Any:
    """Lock arrays, which were copied or pickled, so that they can be written to again."""
    if isinstance(argument, np.ndarray):
        return locked(argument)
    if isinstance(argument, dict):
        return {name: _locked(value) for name, value in argument.items()}
    return argument
