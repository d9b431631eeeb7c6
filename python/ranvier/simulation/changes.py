"""Reading and changing values of neurons and stimuli of a simulation between two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ranvier import models
from ranvier.base.memory_checks import check_room
from ranvier.base.names import there_are, unknown_name
from ranvier.base.read_only_arrays import read_only
from ranvier.base.texts import check_text, name_type
from ranvier.base.values import FloatArray, StoredValues, to_core
from ranvier.errors import ReadOnlyError, ShapeError, WrongTypeError
from ranvier.network import changes as network_changes
from ranvier.network import formulas
from ranvier.network.projections import Projection, Stimulus
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agreed
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.built_network import BuiltNetwork

__all__ = ["get_values", "set_values"]

_FIXED_OF_STIMULI = ("delay", "name", "receptor", "site", "stimulator", "targets")


def get_values(
    built: BuiltNetwork, neurons: PopulationView | Sequence[PopulationView], names: str | list[str] | tuple[str, ...]
) -> FloatArray | dict[str, FloatArray]:
    """Return the result of `Simulation.get`."""
    with agreed(built.communicator, "getting values of neurons"):
        views = _views(built, neurons)
        wanted = _names(names)
        for view in views:
            if view.population.plays_spikes:
                _refuse_sources(view)
        places = [(view.population.index, _indices(view)) for view in views]
    built.agree_on_request("getting", *wanted, *(view.name for view in views))
    # Read-only, since writing to a returned array would not change the simulation.
    values = {
        name: read_only(
            np.concatenate([built.core.get(population, name, indices) for population, indices in places]),
            f"{name} of neurons",
            f"write sim.set(neurons, {name}=...) to change the simulation, or .copy() for a writable array",
        )
        for name in wanted
    }
    return values[names] if isinstance(names, str) else values


def set_values(built: BuiltNetwork, part: object, values: dict[str, Any]) -> None:
    """Carry out `Simulation.set`."""
    if not values:
        network_changes.refuse_nothing("sim.set", "V_m=...")
    if isinstance(part, Stimulus):
        _set_stimulus(built, part, values)
        return
    if isinstance(part, Projection):
        raise WrongTypeError(
            "first argument of sim.set",
            "a projection",
            "must be neurons or a stimulus",
            "write sim.connections(projection=...).weights = ...",
        )
    with agreed(built.communicator, "setting values of neurons"):
        views = _views(built, part)
        plays_spikes = any(view.population.plays_spikes for view in views)
    if plays_spikes:
        _set_spike_times(built, views, values)
    else:
        _set_neurons(built, views, values)


def _views(built: BuiltNetwork, neurons: object) -> list[PopulationView]:
    """Return the selected neurons as views, each of one population."""
    if isinstance(neurons, list | tuple):
        if not neurons:
            raise ShapeError("neurons", "an empty list", "there must be at least one population")
        views = [built.check_view("neurons", view) for view in neurons]
    else:
        views = [built.check_view("neurons", neurons)]
    return [part for view in views for part in view.parts]


def _indices(view: PopulationView) -> IntArray:
    check_room(f"values of {view.name}", 16 * len(view), "take fewer neurons at a time")
    return view.indices


def _names(names: object) -> list[str]:
    if isinstance(names, str):
        return [check_text("name of a value to get", names)]
    if not isinstance(names, list | tuple):
        raise WrongTypeError("name of a value to get", name_type(names), "must be a string or a list of strings")
    return [check_text("name of a value to get", name) for name in names]


def _set_neurons(built: BuiltNetwork, views: list[PopulationView], values: dict[str, Any]) -> None:
    with agreed(built.communicator, "setting values of neurons"):
        first = views[0].population
        stored = network_changes.numbers_of(first.user_model or first.model, values)
        sequences = _sequences(views, stored)
        asked = _asked({**stored, **sequences})
        changes = []
        begin, total = 0, sum(len(view) for view in views)
        for view in views:
            of_view = {name: to_core(_part(name, value, views, begin, total)) for name, value in stored.items()}
            part = formulas.of_neurons(of_view, view)
            changes.append((view.population.index, _indices(view), part))
            begin += len(view)
    built.agree_on_request("setting", *(view.name for view in views), *asked)
    if sequences:
        built.core.set_sequences(first.index, sequences)
        built.sequence_changes.setdefault(first.index, {}).update(sequences)
    else:
        built.core.set(changes)


def _sequences(views: list[PopulationView], values: dict[str, StoredValues]) -> dict[str, FloatArray]:
    """Remove from `values` those that are lists which all sources of a population share, and return them."""
    sequences = network_changes.sequences_of_population(views[0], values)
    if sequences and (values or len(views) > 1):
        raise WrongTypeError(
            "values of sources",
            f"{' and '.join(sequences)} beside others",
            "must be the lists of one population alone",
            "set them in a separate call",
        )
    return sequences


def _part(name: str, value: StoredValues, views: list[PopulationView], begin: int, total: int) -> StoredValues:
    """Return the values of the view that starts at position `begin` among the neurons of all views."""
    if not isinstance(value, np.ndarray):
        return value
    if value.shape != (total,):
        raise ShapeError(
            f"{name} of {', '.join(view.name for view in views)}",
            f"an array of shape {value.shape}",
            f"it must be a number, a distribution or of shape ({total},)",
        )
    ends = np.cumsum([len(view) for view in views])
    return value[begin : int(ends[np.searchsorted(ends, begin, side="right")])] if total else value


def _set_spike_times(built: BuiltNetwork, views: list[PopulationView], values: dict[str, Any]) -> None:
    with agreed(built.communicator, "setting spike times"):
        if len(views) > 1:
            raise WrongTypeError(
                "sources whose spike times are set", "a list", "must be one population or a part of it"
            )
        for name in values:
            if name != "spike_times":
                unknown_name("value of a spike_generator", name, ["spike_times"])
        lists = network_changes.spike_lists(values["spike_times"])
        if len(lists) != len(views[0]):
            raise ShapeError(
                f"spike_times of {views[0].name}",
                f"{len(lists)} lists",
                there_are(len(views[0]), "source"),
                "give one list for each",
            )
        counts = np.array([len(times) for times in lists], dtype=np.int64)
        times = np.concatenate(lists) if lists else np.empty(0)
        units = _indices(views[0])
    built.agree_on_request("setting spike times", views[0].name, counts, times)
    built.core.set_spike_times(views[0].population.index, units, times, counts)


def _refuse_sources(view: PopulationView) -> None:
    raise WrongTypeError(
        "neurons",
        f"{view.name}, a population of sources with given spike times",
        "must have a state",
        "sim.set(..., spike_times=...) changes the spikes",
    )


def _set_stimulus(built: BuiltNetwork, stimulus: Stimulus, values: dict[str, Any]) -> None:
    with agreed(built.communicator, "setting a stimulus"):
        index = built.check_stimulus(stimulus)
        known = ["weight", *models.STIMULATORS[stimulus.stimulator].value_names()]
        for name in values:
            if name in _FIXED_OF_STIMULI:
                raise ReadOnlyError(
                    f"{name} of stimulus {stimulus.name}",
                    bound="it cannot be changed in a simulation",
                    remedy="build the network again"
                    if name in ("delay", "receptor", "site")
                    else "make another stimulus",
                )
            if name not in known:
                unknown_name(f"value of a {stimulus.stimulator}", name, known)
        stored = network_changes.numbers_of(stimulus.stimulator, values)
        asked = _asked(stored)
        weight = stored.pop("weight", None)
        sequences = network_changes.sequences_of(stimulus.stimulator, stored)
        numbers, core_weight = values_of_stimulus(stimulus, stored, weight)
    built.agree_on_request("setting", stimulus.name, index, *asked)
    step = built.core.step
    built.core.set_stimulus(index, numbers, sequences, core_weight)
    noted = built.stimulus_changes.setdefault(index, {})
    given = {**stored, **sequences} if weight is None else {**stored, **sequences, "weight": weight}
    noted.update({name: (step, value) for name, value in given.items()})


def values_of_stimulus(
    stimulus: Stimulus, values: Mapping[str, StoredValues], weight: StoredValues | None
) -> tuple[dict[str, Any], Any]:
    """Return values of a stimulus and its weight in the form in which the core takes them; None: no weight."""
    numbers = {name: to_core(value) for name, value in values.items()}
    made = formulas.of_stimulus(numbers, stimulus.stimulator, stimulus.name, stimulus.targets)
    if weight is None:
        return made, None
    return made, formulas.weight_of_stimulus(to_core(weight), stimulus.name, stimulus.targets)


def _asked(values: dict[str, StoredValues]) -> list[object]:
    """Return names and values in the form in which processes compare them."""
    return [each for name, value in sorted(values.items()) for each in (name, value)]
