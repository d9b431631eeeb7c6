"""The calls that make the parts of a network, as plain data: a network remembers them and can repeat them."""

from __future__ import annotations

import functools
import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.numeric import number, positive_number
from ranvier.base.times import text_of
from ranvier.base.user_model import UserModel
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, Values, flatten, store, to_core
from ranvier.errors import GridError, ValueOutOfBoundsError
from ranvier.network import formulas
from ranvier.network.checks import (
    StoredSynapse,
    check_electrode,
    check_name,
    check_receptor,
    checked_rotation,
    synapse_and_transmitter,
)
from ranvier.network.contents import Contents, Handle
from ranvier.network.fields import AppliedField, CellCoupling
from ranvier.network.given_fields import OutsideField
from ranvier.network.potential_kernels import PotentialKernel
from ranvier.network.potential_methods import evaluation_bytes
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import (
    CompartmentRecorder,
    DipoleRecorder,
    ExtracellularRecorder,
    LfpRecorder,
    Recorder,
    SpikeRecorder,
    StateRecorder,
    WeightRecorder,
)
from ranvier.network.rule_base import Rule
from ranvier.network.sites import CoreSite, SiteLike, StoredSite, site_to_core, store_site
from ranvier.populations.model_base import AnySynapse
from ranvier.populations.populations import Population, PopulationView, Selection, core_ids
from ranvier.space.boundary import BoundaryPlane
from ranvier.space.contacts import ContactLabels
from ranvier.space.positions import Positions, PositionsLike, as_positions
from ranvier.space.rotations import Rotation

__all__ = [
    "ApplyField",
    "Call",
    "ChangeableCall",
    "Connect",
    "Context",
    "CoupleExtracellular",
    "Create",
    "DescribingCall",
    "RecordDipole",
    "RecordExtracellular",
    "RecordLfp",
    "RecordSpikes",
    "RecordState",
    "RecordWeights",
    "SpikeTimes",
    "Stimulate",
]

Made = TypeVar("Made", bound=Handle)
Numbers = dict[str, StoredValues]
Sequences = dict[str, npt.NDArray[np.float64]]
SpikeTimes = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]
"""The times of all units, ms, and the number of times of each."""


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
    to_core: Callable[[Any, Contents], Any] | None = _kept,
    show: Callable[[Any, Contents], Any] = _kept,
    *,
    check: Callable[[str, Any, Context], Any] | None = None,
    fixed: bool = False,
) -> dict[str, Any]:
    """Return the metadata of the field of a call that describes a part of a network.

    Parameters
    ----------
    to_core, show
        Return the value in the forms in which the core takes it and in which the handle shows it. `to_core` is None for
        values that the core does not take.
    check
        Checks a keyword of the call and returns it in the form in which the call keeps it; None: not a keyword.
    fixed
        Whether `Network.set` refuses to change it.
    """
    return {"to_core": to_core, "show": show, "check": check, "fixed": fixed}


class DescribingCall(Call[Made]):
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
        return {
            each.name: each.metadata["to_core"](getattr(self, each.name), contents)
            for each in fields(self)
            if each.metadata["to_core"]
        }

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
    return None if bound is None else positive_number(name, bound)


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


def _numbers_to_core(values: Numbers, contents: Contents) -> dict[str, Any]:
    return _numbers(values)


def _model_to_core(model: str | UserModel, contents: Contents) -> str | _core.UserModel:
    return model if isinstance(model, str) else model.core_model


def _check_step(name: str, step: float | None, context: Context) -> float | None:
    return None if step is None else number(name, step)


def _check_positions(name: str, positions: PositionsLike | None, context: Context) -> Positions | None:
    return None if positions is None else as_positions(positions)


def _positions_to_core(positions: Positions | None, contents: Contents) -> _core.Positions | None:
    return None if positions is None else positions.core_positions


def _check_rotation(name: str, rotation: Rotation | None, context: Context) -> Rotation | None:
    return checked_rotation(name, rotation)


def _rotation_to_core(rotation: Rotation | None, contents: Contents) -> _core.Rotations | None:
    return None if rotation is None else rotation.core_rotations


def _check_name_of_population(name: str, given: str | None, context: Context) -> str:
    return check_name("population", given)


@dataclass(frozen=True, eq=False)
class Create(DescribingCall[Population], ChangeableCall[Population]):
    """`Network.create` and `Network.create_spike_generators`."""

    model: str | UserModel = field(metadata=_argument(_model_to_core, fixed=True))
    size: int = field(metadata=_argument(fixed=True))
    values: Numbers = field(default_factory=dict, metadata=_argument(_numbers_to_core))
    sequences: Sequences = field(default_factory=dict, metadata=_argument())
    spike_times: SpikeTimes | None = field(default=None, metadata=_argument())
    """Only of spike generators."""
    step: float | None = field(default=None, metadata=_argument(check=_check_step, fixed=True))
    positions: Positions | None = field(
        default=None, metadata=_argument(_positions_to_core, check=_check_positions, fixed=True)
    )
    rotation: Rotation | None = field(
        default=None, metadata=_argument(_rotation_to_core, check=_check_rotation, fixed=True)
    )
    name: str = field(default="", metadata=_argument(check=_check_name_of_population, fixed=True))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        made = super()._to_core(contents)
        lengths = "" if self.positions is None else self.positions.unit
        name = self.name or (self.model if isinstance(self.model, str) else self.model.name)
        made["values"] = formulas.of_population(made["values"], self.model, name, lengths)
        return made

    def make(self, contents: Contents) -> Population:
        """Carry it out."""
        first_id = contents.core.unit_count
        index = contents.core.create(self._to_core(contents), contents.poll)
        shown = {**self._shown(contents), "name": contents.core.population_name(index)}
        made = Population(contents.network, contents.core, index, first_id, shown)
        contents.populations.append(made)
        return made

    def change(self, contents: Contents, made: Population) -> None:
        """Give the population these values."""
        contents.core.set_population(made.index, {**self._to_core(contents), "name": made.name})
        made._show(self._shown(contents))


def _check_name_of_projection(name: str, given: str | None, context: Context) -> str:
    return check_name("projection", given) or context.default_name


@dataclass(frozen=True, eq=False)
class Connect(DescribingCall[Projection], ChangeableCall[Projection]):
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

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        made = super()._to_core(contents)
        pairs = formulas.Pairs(self.name, contents.view(self.sources), contents.view(self.targets))
        made["weight"] = pairs.weight(made["weight"])
        made["delay"] = pairs.delay(made["delay"])
        model, values, transmitter = made["synapse"]
        made["synapse"] = (model, pairs.parameters(model, values), transmitter)
        return made

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


def _check_delay_of_stimulus(name: str, delay: float | None, context: Context) -> float | None:
    return None if delay is None else number(name, delay)


def _show_delay_of_stimulus(delay: float | None, contents: Contents) -> float:
    return contents.core.resolution if delay is None else delay


def _check_electrode(name: str, electrode: str | None, context: Context) -> str | None:
    return check_electrode(electrode)


def _check_name_of_stimulus(name: str, given: str | None, context: Context) -> str:
    return check_name("stimulus", given)


@dataclass(frozen=True, eq=False)
class Stimulate(DescribingCall[Stimulus], ChangeableCall[Stimulus]):
    """`Network.stimulate`."""

    targets: Selection = field(metadata=_SELECTION)
    stimulator: str = field(metadata=_argument(fixed=True))
    parameters: Numbers = field(metadata=_argument(_numbers_to_core))
    sequences: Sequences = field(metadata=_argument())
    weight: StoredValues = field(metadata=_argument(_values_to_core, check=_check_values))
    delay: float | None = field(metadata=_argument(_kept, _show_delay_of_stimulus, check=_check_delay_of_stimulus))
    receptor: str | None = field(metadata=_argument(check=_check_receptor))
    site: StoredSite = field(metadata=_argument(_site_to_core, check=_check_site))
    electrode: str | None = field(metadata=_argument(check=_check_electrode))
    name: str = field(metadata=_argument(check=_check_name_of_stimulus, fixed=True))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        made = super()._to_core(contents)
        targets = contents.view(self.targets)
        name = self.name or self.stimulator
        made["parameters"] = formulas.of_stimulus(made["parameters"], self.stimulator, name, targets)
        made["weight"] = formulas.weight_of_stimulus(made["weight"], name, targets)
        return made

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


def _all_ids(selections: tuple[Selection, ...], contents: Contents) -> list[Any]:
    return [_ids(selection, contents) for selection in selections]


def _all_views(selections: tuple[Selection, ...], contents: Contents) -> tuple[PopulationView, ...]:
    return tuple(_view(selection, contents) for selection in selections)


def _joined_view(selections: tuple[Selection, ...], contents: Contents) -> PopulationView:
    return functools.reduce(operator.add, _all_views(selections, contents))


def _view_if_any(selection: Selection | None, contents: Contents) -> PopulationView | None:
    return None if selection is None else contents.view(selection)


def _projection(index: int, contents: Contents) -> Projection:
    return contents.projections[index]


_PYTHON_ONLY = _argument(None)

# A recorder of variables as they are.
_NO_READOUT = {
    "outputs": 0,
    "by_neuron": False,
    "readout": "",
    "evaluation_bytes": 0,
    "divided_evaluation_bytes": 0,
}


@dataclass(frozen=True, eq=False)
class RecordSpikes(DescribingCall[SpikeRecorder]):
    """`Network.record_spikes`."""

    neurons: tuple[Selection, ...] = field(metadata=_argument(_all_ids, _all_views))
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)

    def make(self, contents: Contents) -> SpikeRecorder:
        """Carry it out."""
        index = contents.core.record_spikes(self._to_core(contents))
        return _added(contents, SpikeRecorder(contents.network, index, self._shown(contents)))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        return {**super()._to_core(contents), "bin": 0, "purpose": ""}


@dataclass(frozen=True, eq=False)
class RecordState(DescribingCall[StateRecorder]):
    """`Network.record_state`."""

    neurons: Selection = field(metadata=_argument(_ids, _view))
    variables: tuple[str, ...] = field(metadata=_argument())
    interval: float = field(metadata=_argument())
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)
    at_compartments: bool = field(default=False, metadata=_argument())

    def make(self, contents: Contents) -> StateRecorder:
        """Carry it out."""
        index = contents.core.record_state(self._to_core(contents))
        if not self.at_compartments:
            return _added(contents, StateRecorder(contents.network, index, self._shown(contents)))
        first = contents.core.first_compartments(_ids(self.neurons, contents))
        return _added(contents, CompartmentRecorder(contents.network, index, self._shown(contents), first))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        return {**super()._to_core(contents), **_NO_READOUT}


@dataclass(frozen=True, eq=False)
class RecordExtracellular(DescribingCall[ExtracellularRecorder]):
    """`Network.record_extracellular`."""

    neurons: Selection = field(metadata=_argument(_ids, _view))
    contacts: npt.NDArray[np.float64] = field(metadata=_PYTHON_ONLY)
    labels: ContactLabels = field(metadata=_PYTHON_ONLY)
    sigma: float = field(metadata=_PYTHON_ONLY)
    inside: Literal["error", "surface"] = field(metadata=_PYTHON_ONLY)
    boundary: BoundaryPlane | None = field(metadata=_PYTHON_ONLY)
    method: Literal["matrix", "fmm"] = field(metadata=_PYTHON_ONLY)
    accuracy: float = field(metadata=_PYTHON_ONLY)
    interval: float = field(metadata=_argument())
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)

    def make(self, contents: Contents) -> ExtracellularRecorder:
        """Carry it out."""
        index = contents.core.record_state(self._to_core(contents))
        return _added(contents, ExtracellularRecorder(contents.network, index, self._shown(contents)))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        contacts, plane = len(self.contacts), self.boundary
        numbers = [self.sigma, *((*plane.point, *plane.normal, plane.sigma) if plane else ())]
        digest = hashlib.sha256(self.contacts.tobytes() + np.array(numbers).tobytes()).hexdigest()
        size, divided, accuracy = 0, 0, ""
        if self.method == "fmm":
            compartments = int(contents.core.first_compartments(_ids(self.neurons, contents))[-1])
            size, divided = evaluation_bytes(compartments, contacts, self.accuracy)
            accuracy = f", accuracy {self.accuracy}"
        return {
            **super()._to_core(contents),
            "variables": ["I_m"],
            "at_compartments": True,
            "outputs": contacts if self.method == "matrix" else 0,
            "by_neuron": False,
            "readout": f"{contacts} contacts in {self.sigma} S/m, {digest[:16]}{accuracy}",
            "evaluation_bytes": size,
            "divided_evaluation_bytes": divided,
        }


@dataclass(frozen=True, eq=False)
class RecordDipole(DescribingCall[DipoleRecorder]):
    """`Network.record_dipole`."""

    neurons: Selection = field(metadata=_argument(_ids, _view))
    interval: float = field(metadata=_argument())
    per_cell: bool = field(metadata=_PYTHON_ONLY)
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)

    def make(self, contents: Contents) -> DipoleRecorder:
        """Carry it out."""
        index = contents.core.record_state(self._to_core(contents))
        return _added(contents, DipoleRecorder(contents.network, index, self._shown(contents)))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        return {
            **super()._to_core(contents),
            **_NO_READOUT,
            "variables": ["I_m"],
            "at_compartments": True,
            "outputs": 3,
            "by_neuron": self.per_cell,
            "readout": "current dipole moments",
        }


@dataclass(frozen=True, eq=False)
class RecordLfp(DescribingCall[LfpRecorder]):
    """`Network.record_lfp`."""

    neurons: tuple[Selection, ...] = field(metadata=_argument(_all_ids, _joined_view))
    kernels: tuple[PotentialKernel, ...] = field(metadata=_PYTHON_ONLY)
    """One for each element of `neurons`."""
    interval: float = field(metadata=_PYTHON_ONLY)
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)

    def make(self, contents: Contents) -> LfpRecorder:
        """Carry it out."""
        index = contents.core.record_spikes(self._to_core(contents))
        return _added(contents, LfpRecorder(contents.network, index, self._shown(contents)))

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        width = self.kernels[0].interval
        steps = contents.core.to_steps(width, "interval of a kernel")
        every = contents.core.to_steps(self.interval, "interval of a recorder of potentials")
        if steps < 1 or every < 1 or every % steps:
            raise GridError(
                "interval of a recorder of potentials",
                f"{text_of(self.interval)} ms",
                f"it must be a multiple of the interval of its kernels, {text_of(width)} ms, and at least one step",
            )
        hashed = hashlib.sha256(f"{every} {len(self.kernels)}".encode())
        for kernel in self.kernels:
            hashed.update(kernel.values.tobytes() + kernel.contacts.tobytes())
        purpose = f"potentials at {len(self.kernels[0].contacts)} contacts by kernels, {hashed.hexdigest()[:16]}"
        return {**super()._to_core(contents), "bin": steps, "purpose": purpose}

    def _shown(self, contents: Contents) -> dict[str, Any]:
        shown = super()._shown(contents)
        views = _all_views(self.neurons, contents)
        return {**shown, "kernels": tuple(zip(views, self.kernels, strict=True))}


@dataclass(frozen=True, eq=False)
class RecordWeights(DescribingCall[WeightRecorder]):
    """`Network.record_weights`."""

    projection: int = field(metadata=_argument(None, _projection))
    interval: float = field(metadata=_PYTHON_ONLY)
    sources: Selection | None = field(metadata=_argument(None, _view_if_any))
    targets: Selection | None = field(metadata=_argument(None, _view_if_any))
    to: Path | None = field(metadata=_PYTHON_ONLY)
    overwrite: bool = field(metadata=_PYTHON_ONLY)

    def make(self, contents: Contents) -> WeightRecorder:
        """Carry it out."""
        if contents.core.to_steps(self.interval, "interval of a weight recorder") < 1:
            raise ValueOutOfBoundsError(
                "interval of a weight recorder", f"{self.interval} ms", "it must be at least one step"
            )
        index = sum(isinstance(recorder, WeightRecorder) for recorder in contents.recorders)
        return _added(contents, WeightRecorder(contents.network, index, self._shown(contents)))


@dataclass(frozen=True, eq=False)
class ApplyField(DescribingCall[AppliedField]):
    """`Network.apply_field`."""

    cells: Selection = field(metadata=_argument(_ids, _view))
    fields: tuple[OutsideField, ...] = field(metadata=_PYTHON_ONLY)
    interval: float = field(metadata=_argument())

    def make(self, contents: Contents) -> AppliedField:
        """Carry it out."""
        count = int(contents.core.first_compartments(_ids(self.cells, contents))[-1])
        for each in self.fields:
            each.check_compartments(count)
        index = contents.core.add_field(self._to_core(contents))
        contents.fields.append(made := AppliedField(contents.network, index, **self._shown(contents)))
        return made

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        courses = {}
        for i, each in enumerate(self.fields):
            if each.times is not None:
                courses["times"] = each.times
            elif each.course is not None:
                # In the order of their names.
                courses[f"course {i:06}"] = each.course._numbers
        return {
            **super()._to_core(contents),
            "courses": courses,
            "sigma": 0.0,
            "accuracy": 0.0,
            "potentials": ", ".join(each.digest for each in self.fields),
        }


@dataclass(frozen=True, eq=False)
class CoupleExtracellular(DescribingCall[CellCoupling]):
    """`Network.couple_extracellular`."""

    cells: Selection = field(metadata=_argument(_ids, _view))
    interval: float = field(metadata=_argument())
    sigma: float = field(metadata=_argument())
    method: Literal["matrix", "fmm"] = field(metadata=_PYTHON_ONLY)
    accuracy: float = field(metadata=_argument())

    def make(self, contents: Contents) -> CellCoupling:
        """Carry it out."""
        index = contents.core.add_field(self._to_core(contents))
        contents.fields.append(made := CellCoupling(contents.network, index, **self._shown(contents)))
        return made

    def _to_core(self, contents: Contents) -> dict[str, Any]:
        return {**super()._to_core(contents), "courses": {}, "potentials": "membrane currents"}


Recording = TypeVar("Recording", bound=Recorder)


def _added(contents: Contents, recorder: Recording) -> Recording:
    contents.recorders.append(recorder)
    return recorder


def _numbers(values: Mapping[str, StoredValues]) -> dict[str, Any]:
    return {name: to_core(value) for name, value in values.items()}
