"""The description of a network as the list of calls that made it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ranvier import _core, summary
from ranvier._names import unknown_name
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network_checks import check_seed
from ranvier.numeric import number
from ranvier.populations import Population, PopulationView, Projection, Stimulus
from ranvier.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.rules import Rule
from ranvier.values import StoredValues, to_core

if TYPE_CHECKING:
    from ranvier.network import Network

__all__ = ["Description", "Selection"]

Selection = tuple[int, int, int]
"""Index of a population, begin and end in it."""


class Description:
    """What a network consists of, and how it came about; `Network` adds the calls that users make.

    A description can be copied and pickled: it remembers the calls that the core has accepted, as plain data, and makes
    them again.
    """

    def __init__(self, resolution: float = 0.1, seed: int = 1, name: str = "network") -> None:
        self.name = name
        self._core = _core.Network(number("resolution", resolution), check_seed(seed))
        self._reset()

    def _reset(self) -> None:
        self._calls: list[tuple[str, dict[str, Any]]] = []
        self._populations: list[Population] = []
        self._projections: list[Projection] = []
        self._stimuli: list[Stimulus] = []
        self._recorders: list[Recorder] = []

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
            if population.name == name:
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

    # ---- calls, and calls made again ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "resolution": self.resolution, "seed": self.seed, "calls": list(self._calls)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._core = _core.Network(state["resolution"], state["seed"])
        self._reset()
        for method, arguments in state["calls"]:
            self._do(method, **arguments)

    def _do(self, method: str, **arguments: Any) -> None:
        """Carry out a checked call, which the core may still refuse, and remember it when it was accepted."""
        getattr(self, f"_do_{method}")(**arguments)
        self._calls.append((method, arguments))

    def _do_create(self, model: str, size: int, name: str, values: dict[str, StoredValues]) -> None:
        first_id = self._core.unit_count
        index = self._core.create(model, size, name, {key: to_core(value) for key, value in values.items()})
        name = self._core.population_name(index)
        self._populations.append(Population(self._myself(), index, name, model, first_id, size, values))

    def _do_create_spike_generators(
        self, times: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], name: str
    ) -> None:
        first_id = self._core.unit_count
        index = self._core.create_spike_generators(name, times, counts)
        name = self._core.population_name(index)
        self._populations.append(Population(self._myself(), index, name, "spike_generator", first_id, len(counts), {}))

    def _do_connect(
        self,
        sources: Selection,
        targets: Selection,
        rule: Rule,
        weight: StoredValues,
        delay: StoredValues,
        weight_bound: float,
        name: str,
    ) -> None:
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
        views = self._view(sources), self._view(targets)
        self._projections.append(Projection(self._myself(), index, name, *views, rule, weight, delay))

    def _do_stimulate(
        self,
        targets: Selection,
        stimulator: str,
        values: dict[str, StoredValues],
        sequences: dict[str, npt.NDArray[np.float64]],
        weight: StoredValues,
        delay: float,
        name: str,
    ) -> None:
        numbers = {key: to_core(value) for key, value in values.items()}
        self._core.stimulate(targets, stimulator, numbers, sequences, to_core(weight), delay, name)
        index = len(self._stimuli)
        name = name or f"{stimulator}_{index}"
        view = self._view(targets)
        self._stimuli.append(
            Stimulus(self._myself(), index, name, view, stimulator, {**values, **sequences}, weight, delay)
        )

    def _do_record_spikes(self, selections: list[Selection], to: Path | None) -> None:
        index = self._core.record_spikes(selections)
        views = tuple(self._view(selection) for selection in selections)
        self._recorders.append(SpikeRecorder(self._myself(), index, to, views))

    def _do_record(
        self,
        population: int,
        indices: npt.NDArray[np.int64],
        variables: tuple[str, ...],
        interval: float,
        to: Path | None,
    ) -> None:
        index = self._core.record_state(population, indices, list(variables), interval)
        owner = self._populations[population]
        ids = indices + owner.first_id
        self._recorders.append(StateRecorder(self._myself(), index, to, owner, ids, variables, interval))

    def _do_record_weights(
        self,
        projection: int,
        interval: float,
        sources: Selection | None,
        targets: Selection | None,
        to: Path | None,
    ) -> None:
        if self._core.to_steps(interval, "interval of a weight recorder") < 1:
            raise ValueOutOfBoundsError("interval of a weight recorder", str(interval), "it must be at least one step")
        index = sum(isinstance(recorder, WeightRecorder) for recorder in self._recorders)
        self._recorders.append(
            WeightRecorder(
                self._myself(),
                index,
                to,
                self._projections[projection],
                interval,
                None if sources is None else self._view(sources),
                None if targets is None else self._view(targets),
            )
        )

    def _view(self, selection: Selection) -> PopulationView:
        index, begin, end = selection
        population = self._populations[index]
        if (begin, end) == (0, len(population)):
            return population
        return PopulationView(population, begin, end)

    def _myself(self) -> Network:
        # Handles are typed for users, who only ever see networks.
        return cast("Network", self)
