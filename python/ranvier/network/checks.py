"""Checks of arguments of a network that only Python can make; the core makes all other checks."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from ranvier import models
from ranvier.base.hints import unknown_model
from ranvier.base.immutable import locked
from ranvier.base.names import counted, there_are, unknown_name
from ranvier.base.numeric import number_array, whole_number
from ranvier.base.texts import check_text, name_type
from ranvier.base.user_model import UserModel
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, flatten
from ranvier.cells.cell import Cell
from ranvier.cells.kinds import CellKinds
from ranvier.equations.models import LIBRARY_NEURONS
from ranvier.errors import ShapeError, StateError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.projections import Stimulus
from ranvier.populations.model_base import AnySynapse, Model, NeuronModel, Stimulator, SynapseModel
from ranvier.populations.populations import Neurons, PopulationView, Selection, selection_of
from ranvier.space.positions import Positions
from ranvier.space.rotations import Rotation

__all__ = [
    "Neurons",
    "StoredSynapse",
    "as_view",
    "check_electrode",
    "check_name",
    "check_positions",
    "check_receptor",
    "check_rotation",
    "check_seed",
    "check_size",
    "check_text",
    "check_value_names",
    "checked_rotation",
    "flatten",
    "known_values",
    "model_and_values",
    "name_type",
    "stimulator_and_values",
    "synapse_and_transmitter",
]

_LARGEST_SEED = 2**64 - 1
_MOST_UNITS = 2**48


def check_seed(seed: int) -> int:
    """Return a checked seed.

    Raises
    ------
    ValueOutOfBoundsError
        When it does not fit 64 bits.
    """
    return whole_number("seed", seed, 0, _LARGEST_SEED)


def check_size(size: int | None, model: str | UserModel, positions: Positions | None) -> int:
    """Return the checked size of a population, which a list of cells or the number of positions determines.

    Raises
    ------
    ShapeError
        When the size differs from the length of the list of cells.
    ValueOutOfBoundsError
        When the size is 0, or larger than the number of ids of the core.
    """
    if not isinstance(model, CellKinds):
        if size is None and positions is not None and positions.count is not None:
            return positions.count
        return whole_number("size of a population", size, 1, _MOST_UNITS)
    cells = len(model.kind_of)
    if size is not None and whole_number("size of a population", size, 1, _MOST_UNITS) != cells:
        raise ShapeError(
            "size of a population",
            str(size),
            f"the list has {counted(cells, 'cell')}",
            "leave the size out, or repeat cells in the list: net.create([a] * 30 + [b] * 70)",
        )
    return cells


def check_positions(size: int, positions: Positions | None) -> None:
    """Check that there are as many positions as neurons, and memory for them.

    Raises
    ------
    ShapeError
        When their number differs from the size.
    InsufficientMemoryError
        When there is not enough memory.
    """
    if positions is None:
        return
    if positions.count not in (None, size):
        raise ShapeError(
            "size of a population",
            str(size),
            there_are(positions.count, "position"),
            "leave the size out, or give one position for each neuron",
        )
    positions.check_room(size)


def checked_rotation(name: str, rotation: object) -> Rotation | None:
    """Return a rotation, or None."""
    if rotation is not None and not isinstance(rotation, Rotation):
        raise WrongTypeError(
            name, name_type(rotation), "must be made by rv.rotation() or rv.random_rotation()", "write rv.rotation(...)"
        )
    return rotation


def check_rotation(model: str | UserModel, rotation: Rotation | None, positions: Positions | None) -> None:
    """Check that what is rotated has a form and a position.

    Raises
    ------
    ValueOutOfBoundsError
        For other models than cells, and without positions.
    """
    if rotation is None:
        return
    if not isinstance(model, Cell | CellKinds):
        name = model if isinstance(model, str) else model.name
        raise ValueOutOfBoundsError(
            "rotation", repr(rotation), f"neurons of the model {name} are points", "leave it out, or use a rv.Cell"
        )
    if positions is None:
        raise ValueOutOfBoundsError(
            "rotation", repr(rotation), "the cells have no positions", "give them some: positions=..."
        )


def check_name(what: str, name: str | None) -> str:
    """Return a name for the core; empty for None."""
    if name is not None and not isinstance(name, str):
        raise WrongTypeError(f"name of a {what}", type(name).__name__, "must be a string or None")
    return check_text(f"name of a {what}", name) if name else ""


def check_receptor(name: str | None) -> str | None:
    """Return the checked name of a receptor; None: it is not named."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise WrongTypeError("receptor", name_type(name), "must be a string or None")
    if not name:
        raise ValueOutOfBoundsError("receptor", "''", "it must be the name of a receptor", "leave it out")
    return check_text("receptor", name)


def check_reachable(what: str, targets: PopulationView, receptor: str | None) -> None:
    """Check that user-defined models have receptors for spikes; the core checks the choice of the receptor."""
    receptor = check_receptor(receptor)
    for population in targets.populations:
        model = population.user_model
        kinds = model.kinds if isinstance(model, CellKinds) else [model]
        if any(isinstance(each, Cell) and not each.takes_spikes(receptor) for each in kinds):
            name = "the first receptor" if receptor is None else f"receptor '{receptor}'"
            raise ValueOutOfBoundsError(
                what,
                f"population '{population.name}'",
                f"no spike changes {name} of its cells: its file has no NET_RECEIVE that adds weights",
                "name another receptor",
            )
        if receptor is None and model is not None and not model.core_model.receptors:
            raise ValueOutOfBoundsError(
                what,
                f"population '{population.name}'",
                f"its model '{model.name}' has no receptor that synapses could reach",
                model.receptor_remedy,
            )


def check_electrode(name: str | None) -> str | None:
    """Return the checked name of an electrode; None: it is not named."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise WrongTypeError("electrode", name_type(name), "must be a string or None")
    if not name:
        raise ValueOutOfBoundsError("electrode", "''", "it must be the name of an electrode", "leave it out")
    return check_text("electrode", name)


def as_view(network: object, what: str, neurons: object, wanted: str = "") -> PopulationView:
    """Return a population, a view or a sequence of them as one view.

    Raises
    ------
    WrongTypeError, StateError
        When `neurons` is something else, or belongs to another network.
    ShapeError
        When it is an empty sequence.
    ValueOutOfBoundsError
        When a neuron is in more than one element of the sequence.
    """
    if isinstance(neurons, list | tuple):
        if not neurons:
            raise ShapeError(what, "an empty sequence", "there must be a population", "leave out empty ones")
        views = [as_view(network, f"element {i} of {what}", each) for i, each in enumerate(neurons)]
        return functools.reduce(operator.add, views)
    if not isinstance(neurons, PopulationView):
        remedy = ""
        if isinstance(neurons, Stimulator | Stimulus):
            remedy = (
                "use net.stimulate(targets, stimulator) for a stimulator, or net.create(stimulator, size) for sources"
            )
        elif isinstance(neurons, NeuronModel):
            remedy = "make neurons with net.create(model, size) first"
        wanted = wanted or "must be a population, a view or a sequence of them"
        raise WrongTypeError(what, name_type(neurons), wanted, remedy)
    if neurons.network is not network:
        raise StateError(f"population {neurons.name}", bound="it belongs to another network")
    return neurons


def model_and_values(model: object) -> tuple[str | UserModel, dict[str, StoredValues]]:
    """Return the name, or the user-defined model, and the values of a neuron model, passed as an object or by name."""
    if isinstance(model, UserModel):
        return model, dict(model.values)
    if isinstance(model, list | tuple):
        kinds = CellKinds(model)
        return kinds, {name: locked(values) for name, values in kinds.differing_values().items()}
    name = model.name if isinstance(model, Stimulator) else model
    if isinstance(name, str) and name in models.STIMULATORS and not models.STIMULATORS[name].emits_spikes:
        raise WrongTypeError(
            "model", f"the stimulator {name}, which gives currents", "must be a neuron model", "use net.stimulate()"
        )
    if isinstance(model, NeuronModel | Stimulator):
        return model.name, dict(model.values)
    if isinstance(model, str) and model in LIBRARY_NEURONS:
        return LIBRARY_NEURONS[model](), {}
    if isinstance(model, str):
        emitting = [name for name, kind in models.STIMULATORS.items() if kind.emits_spikes]
        known = [*models.NEURON_MODELS, *LIBRARY_NEURONS, *emitting]
        return _check_present("neuron model", check_text("model", model), known), {}
    raise WrongTypeError("model", name_type(model), "must be a neuron model or the name of one")


def stimulator_and_values(stimulator: object) -> tuple[str, dict[str, StoredValues]]:
    """Return the name and the values of a stimulator, which may be passed as an object or by name."""
    name = stimulator.name if isinstance(stimulator, NeuronModel) else stimulator
    if isinstance(stimulator, PopulationView) or (isinstance(name, str) and name in models.NEURON_MODELS):
        raise WrongTypeError(
            "stimulator",
            name_type(stimulator) if isinstance(stimulator, PopulationView) else f"the neuron model {name}",
            "must be a stimulator or the name of one",
            "use net.connect() to connect neurons",
        )
    if isinstance(stimulator, Stimulator):
        return stimulator.name, dict(stimulator.values)
    if isinstance(stimulator, str):
        return _check_present("stimulator", check_text("stimulator", stimulator), models.STIMULATORS), {}
    raise WrongTypeError("stimulator", name_type(stimulator), "must be a stimulator or the name of one")


def _check_present(what: str, name: str, known: Iterable[str]) -> str:
    """Return the name of a model if it is known; otherwise the error suggests a similar one."""
    if name in known:
        return name
    return unknown_model(what, name, list(known))


StoredSynapse: TypeAlias = tuple[AnySynapse, Selection | None]
"""A synapse model without its transmitter, and the neurons of the transmitter, which belong to a network."""


def synapse_and_transmitter(network: object, synapse: object, pairs: tuple[int, int] | None) -> StoredSynapse:
    """Return a synapse model, which may be passed as an object or by name, and the neurons of its transmitter.

    The core refuses a model that lacks them. Arrays of its parameters are flattened as `flatten` does it.
    """
    model = _synapse_model(synapse)
    flat = {
        name: locked(number_array(what, flatten(what, value, pairs)))
        for name, value in model.values.items()
        if isinstance(value, np.ndarray) and value.ndim > 1
        for what in [f"parameter {name} of {model.name}"]
    }
    model = model.with_values(flat) if flat else model
    if model.transmitter is None:
        return model, None
    view = as_view(network, f"{model.transmitter_name} of {model.name}", model.transmitter)
    return model.with_transmitter(None), selection_of(view)


def _synapse_model(synapse: object) -> AnySynapse:
    if isinstance(synapse, SynapseModel | UserSynapse):
        return synapse
    name = synapse.name if isinstance(synapse, Model) else synapse
    if not isinstance(name, str):
        raise WrongTypeError("synapse", name_type(synapse), "must be a synapse model or the name of one")
    return models.SYNAPSE_MODELS[_check_present("synapse model", check_text("synapse", name), models.SYNAPSE_MODELS)]()


def check_value_names(model: str | UserModel, values: Iterable[str], call: str, keywords: list[str]) -> str:
    """Check the names of values that are given to a call beside a model and keywords; return the name of the model."""
    name = model if isinstance(model, str) else model.name
    known = known_values(model)
    for key in values:
        if isinstance(model, UserModel) and key in model.counted:
            raise UnknownNameError(
                f"keyword of {call}",
                f"'{key}'",
                f"it is a keyword of the model {name}, which all neurons of a population have in common",
                f"give it to the model: net.create(rv.{name}({key}=...), size)",
            )
        if known and key not in known:
            unknown_name(f"parameter of {name} or keyword of {call}", key, [*known, *keywords])
    return name


def known_values(model: str | UserModel) -> list[str]:
    """Return the names of the values of a neuron model or a stimulator; empty if the model does not exist."""
    if isinstance(model, UserModel):
        return [*model.parameters, *model.variables]
    kind = models.NEURON_MODELS.get(model) or models.STIMULATORS.get(model)
    return kind.value_names() if kind else []
