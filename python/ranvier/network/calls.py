"""The calls that make the parts of a network, as plain data: a network remembers them and can repeat them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.numeric import number
from ranvier.base.user_model import UserModel
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, Values, flatten, store, to_core
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.checks import (
    StoredSynapse,
    check_electrode,
    check_name,
    check_positive,
    check_receptor,
    synapse_and_transmitter,
)
from ranvier.network.contents import Contents, Handle
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.network.rule_base import Rule
from ranvier.network.sites import CoreSite, SiteLike, StoredSite, site_to_core, store_site
from ranvier.populations.model_base import AnySynapse
from ranvier.populations.populations import Population, PopulationView, Selection, core_ids

__all__ = [
    "Call",
    "ChangeableCall",
    "Connect",
    "Context",
    "Create",
    "CreateSpikeGenerators",
    "DescribingCall",
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
            index = contents.core.create_user_model(
                own.core_model, self.size, self.name, _numbers(self.values), self.step
            )
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


@dataclass(frozen=True)
class Context:
    """What the arguments of a call are checked against."""

    network: Any
    pairs: tuple[int, int] | None = None
    """Numbers of targets and sources, if arrays may have one number for each pair of them."""
    default_name: str = ""


def _kept(value: Any, contents: Contents) -> Any:
    return value


def _argument(
    to_core: Callable[[Any, Contents], Any] = _kept,
    show: Callable[[Any, Contents], Any] = _kept,
    *,
    check: Callable[[str, Any, Context], Any] | None = None,
    fixed: bool = False,
) -> dict[str, Any]:
    """Return the metadata of the field of a call that describes a part of a network.

    Parameters
    ----------
    to_core, show
        Return the value in the forms in which the core takes it and in which the handle shows it.
    check
        Checks a keyword of the call and returns it in the form in which the call keeps it; None: not a keyword.
    fixed
        Whether `Network.set` refuses to change it.
    """
    return {"to_core": to_core, "show": show, "check": check, "fixed": fixed}


class DescribingCall(ChangeableCall[Made]):
    """A call whose fields are the description of a part, by the names that they have in the core.

    Each argument is one field, whose metadata tells how it is checked, passed to the core and shown.
    """

    @classmethod
    def keywords(cls, *, changeable: bool = False) -> tuple[str, ...]:
        """Return the names of the keywords that are checked one by one; only those that `Network.set` changes."""
        return tuple(
            each.name for each in fields(cls) if each.metadata["check"] and not (changeable and each.metadata["fixed"])
        )

    @classmethod
    def fixed(cls) -> tuple[str, ...]:
        """Return the names of the arguments that `Network.set` refuses to change."""
        return tuple(each.name for each in fields(cls) if each.metadata["fixed"])

    @classmethod
    def checked(cls, given: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return those keywords of the call that were given, in the form in which the call keeps them."""
        return {
            each.name: each.metadata["check"](each.name, given[each.name], context)
            for each in fields(cls)
            if each.metadata["check"] and each.name in given
        }

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        return {each.name: each.metadata["to_core"](getattr(self, each.name), contents) for each in fields(self)}

    def _shown(self, contents: Contents) -> dict[str, Any]:
        return {each.name: each.metadata["show"](getattr(self, each.name), contents) for each in fields(self)}


def _ids(selection: Selection, contents: Contents) -> Any:
    return core_ids(contents.view(selection))


def _view(selection: Selection, contents: Contents) -> PopulationView:
    return contents.view(selection)


_SELECTION = _argument(_ids, _view, fixed=True)


def _values_to_core(values: StoredValues, contents: Contents) -> Any:
    return to_core(values)


def _check_values(name: str, values: Values, context: Context) -> StoredValues:
    return store(name, flatten(name, values, context.pairs))


def _check_receptor(name: str, receptor: str | None, context: Context) -> str | None:
    return check_receptor(receptor)


def _check_site(name: str, site: SiteLike, context: Context) -> StoredSite:
    return store_site(site, context.pairs)


def _site_to_core(site: StoredSite, contents: Contents) -> CoreSite:
    return site_to_core(site)


def _rule_to_core(rule: Rule, contents: Contents) -> _core.RuleSpec:
    return rule._to_core()


def _check_bound(name: str, bound: float | None, context: Context) -> float | None:
    return None if bound is None else check_positive(name, bound)


def _check_synapse(name: str, synapse: object, context: Context) -> StoredSynapse:
    return synapse_and_transmitter(context.network, synapse, context.pairs)


def _synapse_to_core(synapse: StoredSynapse, contents: Contents) -> tuple[Any, dict[str, Any], Any]:
    model, transmitter = synapse
    return (
        model.core_model if isinstance(model, UserSynapse) else model.name,
        _numbers(model.values),
        None if transmitter is None else _ids(transmitter, contents),
    )


def _show_synapse(synapse: StoredSynapse, contents: Contents) -> AnySynapse:
    model, transmitter = synapse
    return model.with_transmitter(None if transmitter is None else contents.view(transmitter))


def _check_name_of_projection(name: str, given: str | None, context: Context) -> str:
    return check_name("projection", given) or context.default_name


@dataclass(frozen=True, eq=False)
class Connect(DescribingCall[Projection]):
    """`Network.connect`."""

    sources: Selection = field(metadata=_SELECTION)
    targets: Selection = field(metadata=_SELECTION)
    rule: Rule = field(metadata=_argument(_rule_to_core))
    weight: StoredValues = field(metadata=_argument(_values_to_core, check=_check_values))
    delay: StoredValues = field(metadata=_argument(_values_to_core, check=_check_values))
    receptor: str | None = field(metadata=_argument(check=_check_receptor))
    weight_bound: float | None = field(metadata=_argument(check=_check_bound))
    synapse: StoredSynapse = field(metadata=_argument(_synapse_to_core, _show_synapse, check=_check_synapse))
    site: StoredSite = field(metadata=_argument(_site_to_core, check=_check_site))
    name: str = field(metadata=_argument(check=_check_name_of_projection, fixed=True))

    def make(self, contents: Contents) -> Projection:
        """Carry it out."""
        index = contents.core.connect(self._to_core(contents))
        made = Projection(contents.network, contents.core, index, self._shown(contents))
        contents.projections.append(made)
        return made

    def change(self, contents: Contents, made: Projection) -> None:
        """Give the projection the rule, weight, delay and receptor of this call."""
        contents.core.set_projection(made.index, self._to_core(contents))
        made._show(self._shown(contents))


def _check_delay_of_stimulus(name: str, delay: float | None, context: Context) -> float:
    return context.network.resolution if delay is None else number(name, delay)


def _check_electrode(name: str, electrode: str | None, context: Context) -> str | None:
    return check_electrode(electrode)


def _check_name_of_stimulus(name: str, given: str | None, context: Context) -> str:
    return check_name("stimulus", given)


def _numbers_to_core(values: Numbers, contents: Contents) -> dict[str, Any]:
    return _numbers(values)


@dataclass(frozen=True, eq=False)
class Stimulate(DescribingCall[Stimulus]):
    """`Network.stimulate`."""

    targets: Selection = field(metadata=_SELECTION)
    stimulator: str = field(metadata=_argument(fixed=True))
    parameters: Numbers = field(metadata=_argument(_numbers_to_core))
    sequences: Sequences = field(metadata=_argument())
    weight: StoredValues = field(metadata=_argument(_values_to_core, check=_check_values))
    delay: float = field(metadata=_argument(check=_check_delay_of_stimulus))
    receptor: str | None = field(metadata=_argument(check=_check_receptor))
    site: StoredSite = field(metadata=_argument(_site_to_core, check=_check_site))
    electrode: str | None = field(metadata=_argument(check=_check_electrode))
    name: str = field(metadata=_argument(check=_check_name_of_stimulus, fixed=True))

    def make(self, contents: Contents) -> Stimulus:
        """Carry it out."""
        contents.core.stimulate(self._to_core(contents))
        index = len(contents.stimuli)
        made = Stimulus(contents.network, index, self._shown_of(contents, index))
        contents.stimuli.append(made)
        return made

    def change(self, contents: Contents, made: Stimulus) -> None:
        """Give the stimulus these values."""
        contents.core.set_stimulus(made.index, self._to_core(contents))
        made._show(self._shown_of(contents, made.index))

    def _shown_of(self, contents: Contents, index: int) -> dict[str, Any]:
        shown = self._shown(contents)
        values = {**shown.pop("parameters"), **shown.pop("sequences")}
        return {**shown, "values": values, "name": self.name or f"{self.stimulator}_{index}"}


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


def _numbers(values: Mapping[str, StoredValues]) -> dict[str, Any]:
    return {name: to_core(value) for name, value in values.items()}
