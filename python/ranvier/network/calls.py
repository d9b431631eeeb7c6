"""The calls that make the parts of a network, as plain data: a network remembers them and can repeat them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.user_model import UserModel
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, to_core
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.contents import Contents, Handle
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.network.rules import Rule
from ranvier.network.sites import StoredSite, site_to_core
from ranvier.populations.model_base import AnySynapse
from ranvier.populations.populations import Population, Selection, core_ids

__all__ = [
    "Call",
    "ChangeableCall",
    "Connect",
    "Create",
    "CreateSpikeGenerators",
    "RecordSpikes",
    "RecordState",
    "RecordWeights",
    "Stimulate",
]

Made = TypeVar("Made", bound=Handle)
Numbers = dict[str, StoredValues]
Sequences = dict[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Call(ABC, Generic[Made]):
    """A checked call, which the core may still refuse."""

    @abstractmethod
    def make(self, contents: Contents) -> Made:
        """Carry out the call, and return the handle of the new part."""


class ChangeableCall(Call[Made]):
    """A call that can be repeated with other arguments."""

    @abstractmethod
    def change(self, contents: Contents, made: Made) -> None:
        """Give the part these arguments. If the core refuses them, nothing changes."""


@dataclass(frozen=True, eq=False)
class Create(ChangeableCall[Population]):
    """`Network.create`."""

    model: str | UserModel
    size: int
    name: str
    values: Numbers
    step: float | None
    sequences: Sequences = field(default_factory=dict)
    """Of a stimulator."""

    def make(self, contents: Contents) -> Population:
        """Carry it out."""
        first_id = contents.core.unit_count
        own: UserModel | None = None
        if not isinstance(self.model, str):
            own, model = self.model, self.model.name
            index = contents.core.create_own(own.core_model, self.size, self.name, _numbers(self.values), self.step)
        else:
            model = self.model
            index = contents.core.create(model, self.size, self.name, _numbers(self.values), self.step, self.sequences)
        name = contents.core.population_name(index)
        settings = {**self.values, **self.sequences}
        made = Population(contents.network, index, name, model, first_id, self.size, settings, own, self.step)
        contents.populations.append(made)
        return made

    def change(self, contents: Contents, made: Population) -> None:
        """Give the population these values."""
        contents.core.set_values(made.index, _numbers(self.values), self.sequences)
        made._show({**self.values, **self.sequences})


@dataclass(frozen=True, eq=False)
class CreateSpikeGenerators(ChangeableCall[Population]):
    """`Network.create_spike_generators`."""

    times: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    name: str

    def make(self, contents: Contents) -> Population:
        """Carry it out."""
        first_id = contents.core.unit_count
        index = contents.core.create_spike_generators(self.name, self.times, self.counts)
        name = contents.core.population_name(index)
        made = Population(contents.network, index, name, "spike_generator", first_id, len(self.counts), {})
        contents.populations.append(made)
        return made

    def change(self, contents: Contents, made: Population) -> None:
        """Give the sources these times."""
        contents.core.set_spike_times(made.index, self.times, self.counts)


@dataclass(frozen=True, eq=False)
class Connect(ChangeableCall[Projection]):
    """`Network.connect`."""

    sources: Selection
    targets: Selection
    rule: Rule
    weight: StoredValues
    delay: StoredValues
    weight_bound: float
    receptor: str
    name: str
    synapse: AnySynapse
    """Without its transmitter, whose neurons belong to a network."""
    transmitter: Selection | None
    site: StoredSite = None

    def make(self, contents: Contents) -> Projection:
        """Carry it out."""
        sources, targets = contents.view(self.sources), contents.view(self.targets)
        index = contents.core.connect(
            core_ids(sources), core_ids(targets), self._core_rule(), name=self.name, **self._arguments(contents)
        )
        made = Projection(
            contents.network, contents.core, index, contents.core.projection_name(index), sources, targets
        )
        self._show(contents, made)
        contents.projections.append(made)
        return made

    def change(self, contents: Contents, made: Projection) -> None:
        """Give the projection the rule, weight, delay and receptor of this call."""
        contents.core.set_projection(made.index, self._core_rule(), **self._arguments(contents))
        self._show(contents, made)

    def _core_rule(self) -> _core.RuleSpec:
        return _core.RuleSpec(self.rule.name, **self.rule._arguments())

    def _show(self, contents: Contents, made: Projection) -> None:
        neurons = None if self.transmitter is None else contents.view(self.transmitter)
        synapse = self.synapse.with_transmitter(neurons)
        made._show(self.rule, self.weight, self.delay, self.weight_bound, self.receptor, synapse, self.site)

    def _arguments(self, contents: Contents) -> dict[str, Any]:
        return {
            "weight": to_core(self.weight),
            "delay": to_core(self.delay),
            "weight_bound": self.weight_bound,
            "receptor": self.receptor,
            "synapse": own.core_model if isinstance(own := self.synapse, UserSynapse) else own.name,
            "synapse_parameters": {name: to_core(value) for name, value in self.synapse.values.items()},
            "modulators": None if self.transmitter is None else core_ids(contents.view(self.transmitter)),
            "site": site_to_core(self.site),
        }


@dataclass(frozen=True, eq=False)
class Stimulate(ChangeableCall[Stimulus]):
    """`Network.stimulate`."""

    targets: Selection
    stimulator: str
    values: Numbers
    sequences: Sequences
    weight: StoredValues
    delay: float
    receptor: str
    electrode: str
    name: str
    site: StoredSite = None

    def make(self, contents: Contents) -> Stimulus:
        """Carry it out."""
        targets = contents.view(self.targets)
        contents.core.stimulate(
            core_ids(targets),
            self.stimulator,
            _numbers(self.values),
            self.sequences,
            to_core(self.weight),
            self.delay,
            self.name,
            self.receptor or self.electrode,
            site_to_core(self.site),
        )
        index = len(contents.stimuli)
        made = Stimulus(contents.network, index, self.name or f"{self.stimulator}_{index}", targets, self.stimulator)
        self._show(made)
        contents.stimuli.append(made)
        return made

    def change(self, contents: Contents, made: Stimulus) -> None:
        """Give the stimulus these values."""
        contents.core.set_stimulus(
            made.index,
            _numbers(self.values),
            self.sequences,
            to_core(self.weight),
            self.delay,
            self.receptor or self.electrode,
            site_to_core(self.site),
        )
        self._show(made)

    def _show(self, made: Stimulus) -> None:
        settings = {**self.values, **self.sequences}
        made._show(settings, self.weight, self.delay, self.receptor, self.site, self.electrode)


@dataclass(frozen=True, eq=False)
class RecordSpikes(Call[SpikeRecorder]):
    """`Network.record_spikes`."""

    selections: tuple[Selection, ...]
    to: Path | None
    overwrite: bool

    def make(self, contents: Contents) -> SpikeRecorder:
        """Carry it out."""
        views = tuple(contents.view(selection) for selection in self.selections)
        index = contents.core.record_spikes([core_ids(view) for view in views])
        return _added(contents, SpikeRecorder(contents.network, index, (self.to, self.overwrite), views))


@dataclass(frozen=True, eq=False)
class RecordState(Call[StateRecorder]):
    """`Network.record_state`."""

    selection: Selection
    variables: tuple[str, ...]
    interval: float
    to: Path | None
    overwrite: bool

    def make(self, contents: Contents) -> StateRecorder:
        """Carry it out."""
        view = contents.view(self.selection)
        index = contents.core.record_state(core_ids(view), list(self.variables), self.interval)
        return _added(
            contents,
            StateRecorder(contents.network, index, (self.to, self.overwrite), view, self.variables, self.interval),
        )


@dataclass(frozen=True, eq=False)
class RecordWeights(Call[WeightRecorder]):
    """`Network.record_weights`."""

    projection: int
    interval: float
    sources: Selection | None
    targets: Selection | None
    to: Path | None
    overwrite: bool

    def make(self, contents: Contents) -> WeightRecorder:
        """Carry it out."""
        if contents.core.to_steps(self.interval, "interval of a weight recorder") < 1:
            raise ValueOutOfBoundsError(
                "interval of a weight recorder", f"{self.interval} ms", "it must be at least one step"
            )
        index = sum(isinstance(recorder, WeightRecorder) for recorder in contents.recorders)
        made = WeightRecorder(
            contents.network,
            index,
            (self.to, self.overwrite),
            contents.projections[self.projection],
            self.interval,
            None if self.sources is None else contents.view(self.sources),
            None if self.targets is None else contents.view(self.targets),
        )
        return _added(contents, made)


Recording = TypeVar("Recording", bound=Recorder)


def _added(contents: Contents, recorder: Recording) -> Recording:
    contents.recorders.append(recorder)
    return recorder


def _numbers(values: Numbers) -> dict[str, Any]:
    return {name: to_core(value) for name, value in values.items()}
