"""How `Network.set` changes an earlier call of the user: it makes the same call with other arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier import _core, models
from ranvier.base.formulas import Formula
from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import there_are, unknown_name
from ranvier.base.numeric import number_array
from ranvier.base.user_model import UserModel
from ranvier.base.values import FloatArray, StoredValues, Values, store, store_array
from ranvier.errors import ReadOnlyError, ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.calls import Call, Connect, Context, Create, DescribingCall, SpikeTimes, Stimulate
from ranvier.network.checks import check_text, known_values
from ranvier.network.formulas import Constants
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.reversed_rules import check_not_reversed
from ranvier.network.rule_base import Rule
from ranvier.network.rule_choice import make_rule, pairs_of, values_of
from ranvier.populations.populations import Population, PopulationView

__all__ = [
    "by_population",
    "changed_population",
    "changed_projection",
    "changed_stimulus",
    "joined_spikes",
    "numbers_of",
    "refuse_nothing",
    "sequences_of",
    "sequences_of_population",
    "spike_lists",
]


def numbers_of(model: str | UserModel, values: Mapping[str, Values]) -> dict[str, StoredValues]:
    """Return values of parameters of a model, in the form in which a network keeps them."""
    if isinstance(model, UserModel):
        return {
            check_text(f"name of a parameter of {model.name}", key): model.stored(key, value)
            for key, value in values.items()
        }
    return {
        check_text(f"name of a parameter of {model}", key): store(f"parameter {key} of {model}", value)
        for key, value in values.items()
    }


def sequences_of(stimulator: str, values: dict[str, StoredValues]) -> dict[str, npt.NDArray[np.float64]]:
    """Remove from `values` those that are lists of numbers for each target, and return them."""
    known = models.STIMULATORS.get(stimulator)
    sequences = {key: values.pop(key) for key in (known.sequence_names if known else ()) if key in values}
    for key, sequence in sequences.items():
        if not isinstance(sequence, np.ndarray):
            raise ShapeError(f"{key} of {stimulator}", "not an array", "it must be an array of one dimension")
    return sequences  # type: ignore[return-value]


def sequences_of_population(
    view: PopulationView, values: dict[str, StoredValues]
) -> dict[str, npt.NDArray[np.float64]]:
    """Remove from `values` those that are lists which all sources of a population share, and return them."""
    sequences = sequences_of(view.population.model, values) if view.population.is_source else {}
    if sequences and len(view) < len(view.population):
        raise ValueOutOfBoundsError(
            f"{' and '.join(sequences)} of {view.name}",
            f"{len(view)} of {len(view.population)} sources",
            "all sources of a population share its lists",
            f"set them for {view.population.name}, or make two populations",
        )
    return sequences


def spike_lists(spike_times: Sequence[npt.ArrayLike]) -> list[FloatArray]:
    """Return the spike times of each source."""
    try:
        given = list(spike_times)
    except TypeError:
        raise WrongTypeError(
            "spike_times", type(spike_times).__name__, "must be one list of times for each source"
        ) from None
    return [store_array(f"spike times of source {i}", times) for i, times in enumerate(given)]


def joined_spikes(lists: Sequence[FloatArray]) -> SpikeTimes:
    """Return the spike times of all sources in the form in which a network keeps them."""
    counts = np.array([len(times) for times in lists], dtype=np.int64)
    return locked(np.concatenate(lists) if lists else np.empty(0)), locked(counts)


def refuse_nothing(call: str, example: str) -> NoReturn:
    """Refuse a call that changes values and names none."""
    raise WrongTypeError(
        f"arguments of {call}()", bound="no value to set was given", remedy=f"write {call}(..., {example})"
    )


def by_population(view: PopulationView, values: Mapping[str, Any]) -> list[tuple[PopulationView, dict[str, Any]]]:
    """Split a view and its values by population: arrays hold one value for each neuron of the view."""
    if len(view.parts) == 1:
        return [(view, dict(values))]
    parts = []
    begin = 0
    for part in view.parts:
        own = {}
        for key, value in values.items():
            is_formula = isinstance(value, str | Formula)
            array = None if is_formula else number_array(f"{key} of {view.name}", value)
            if array is None or array.ndim == 0:
                own[key] = value
                continue
            if array.shape != (len(view),):
                raise ShapeError(
                    f"{key} of {view.name}", f"an array of shape {array.shape}", there_are(len(view), "neuron")
                )
            own[key] = array[begin : begin + len(part)]
        parts.append((part, own))
        begin += len(part)
    return parts


def changed_population(view: PopulationView, made: Call[Population], values: dict[str, Any]) -> Create:
    """Return the call that creates a population with other values for all or some of its neurons."""
    population = view.population
    assert isinstance(made, Create)
    _refuse_fixed(population, made, values)
    if made.spike_times is not None:
        return replace(made, spike_times=_other_spikes(view, made.spike_times, values))
    values, known = _without_constants(values)
    _check_keys(population.user_model or population.model, values)
    given = known.of_all(numbers_of(population.user_model or population.model, values))
    known.check_used()
    sequences = sequences_of_population(view, given)
    if len(view) < len(population):
        given = {key: _in_part(view, made.values, key, value) for key, value in given.items()}
    if population.user_model is not None:
        population.user_model.check_values({**made.values, **given})
    return replace(made, values={**made.values, **given}, sequences={**made.sequences, **sequences})


def changed_projection(projection: Projection, made: Call[Projection], values: dict[str, Any]) -> Connect:
    """Return the call that connects neurons with another rule, weight or delay."""
    assert isinstance(made, Connect)
    _refuse_fixed(projection, made, values)
    values, known = _without_constants(values)
    values = {name: value if name in Connect.keywords() else known.of(value) for name, value in values.items()}
    rule = _other_rule(projection, made.rule, values)
    check_not_reversed(projection, values)
    changed: dict[str, Any] = {}
    if rule is not made.rule:
        rule = rule._completed(projection.sources, projection.targets, values)
        changed |= values_of(rule, values)
    else:
        rule = rule._with_given(values)
    pairs = pairs_of(projection.sources, projection.targets, rule)
    changed |= known.of_arguments(Connect.checked(values, Context(projection.network, pairs)))
    known.check_used()
    return replace(made, rule=rule, **changed)


def changed_stimulus(stimulus: Stimulus, made: Call[Stimulus], values: dict[str, Any]) -> Stimulate:
    """Return the call that stimulates neurons with other values."""
    assert isinstance(made, Stimulate)
    _refuse_fixed(stimulus, made, values)
    values, known = _without_constants(values)
    checked = known.of_arguments(Stimulate.checked(values, Context(stimulus.network)))
    given = {key: value for key, value in values.items() if key not in checked}
    _check_keys(stimulus.stimulator, given, *Stimulate.keywords(changeable=True))
    parameters = known.of_all(numbers_of(stimulus.stimulator, given))
    known.check_used()
    sequences = sequences_of(stimulus.stimulator, parameters)
    return replace(
        made,
        parameters={**made.parameters, **parameters},
        sequences={**made.sequences, **sequences},
        **checked,
    )


def _without_constants(values: Mapping[str, Any]) -> tuple[dict[str, Any], Constants]:
    """Return the values of a call of `Network.set` without its constants, and these."""
    others = {name: value for name, value in values.items() if name != "constants"}
    return others, Constants(values.get("constants"), "set()")


def _check_keys(model: str | UserModel, values: Mapping[str, Any], *others: str) -> None:
    known = [*known_values(model), *others]
    for key in values:
        if key not in known:
            unknown_name(f"parameter of {model if isinstance(model, str) else model.name}", key, known)


def _refuse_fixed(
    part: Population | Projection | Stimulus, made: DescribingCall[Any], values: Mapping[str, Any]
) -> None:
    for key in values:
        if key in made.fixed():
            _refuse(part, key)


def _refuse(part: Population | Projection | Stimulus, key: str) -> NoReturn:
    raise ReadOnlyError(f"{key} of {part._title()}", bound="it cannot be changed", remedy=part._how_to_change(key))


def _other_rule(projection: Projection, rule: Rule, values: Mapping[str, Any]) -> Rule:
    """Return the rule that results from values of a projection, which may have a rule, or parameters of one."""
    of_projections = (*Connect.keywords(changeable=True), "rule")
    keywords = {key: value for key, value in values.items() if key not in of_projections}
    if "rule" in values:
        return make_rule(values["rule"], keywords)
    known = [field.name for field in fields(rule)]
    for key in keywords:
        if key not in known:
            unknown_name(f"value of {projection._title()}", key, [*of_projections, *known])
    return replace(rule, **keywords) if keywords else rule


def _other_spikes(view: PopulationView, present: SpikeTimes, values: dict[str, Any]) -> SpikeTimes:
    for key in values:
        if key != "spike_times":
            unknown_name("value of a spike_generator", key, ["spike_times"])
    lists = spike_lists(values["spike_times"])
    if len(lists) != len(view):
        raise ShapeError(
            f"spike_times of {view.name}",
            f"{len(lists)} lists",
            there_are(len(view), "source"),
            "give one list for each",
        )
    times, counts = present
    ends = np.cumsum(counts)
    all_lists = [times[begin:end] for begin, end in zip(ends - counts, ends, strict=True)]
    for index, times_of_one in zip(view.indices, lists, strict=True):
        all_lists[index] = times_of_one
    return joined_spikes(all_lists)


def _in_part(view: PopulationView, present: Mapping[str, StoredValues], key: str, value: StoredValues) -> StoredValues:
    """Return values for all neurons of a population: new ones for a part of it, the present ones for the others."""
    population = view.population
    others = _present_value(population, present, key)
    if isinstance(value, Formula) or isinstance(others, Formula):
        drawn, of = (value, view) if isinstance(value, Formula) else (others, population)
        raise ValueOutOfBoundsError(
            f"{key} of {of.name}",
            repr(drawn),
            "if parts of a population differ, each neuron needs a number",
            "give the whole population an array or a distribution, or make two populations",
        )
    if isinstance(value, np.ndarray) and value.shape != (len(view),):
        raise ShapeError(f"{key} of {view.name}", f"an array of shape {value.shape}", there_are(len(view), "neuron"))
    size = len(population)
    check_room(
        f"an array with {key} of each neuron of {population.name}", 16 * size, "give the whole population one number"
    )
    numbers = np.empty(size)
    numbers[:] = others
    numbers[view.indices] = value
    return locked(numbers)


def _present_value(population: Population, present: Mapping[str, StoredValues], key: str) -> StoredValues:
    """Return the value that was set, or the default."""
    if key in present:
        return present[key]
    model: _core.NeuronModel | _core.UserModel | _core.StimulatorModel
    if population.user_model is not None:
        model = population.user_model.core_model
    else:
        known_models = _core.stimulator_models() if population.is_source else _core.neuron_models()
        (model,) = (model for model in known_models if model.name == population.model)
    for parameter in model.parameters:
        if parameter.name == key:
            return parameter.default
    variables = [] if isinstance(model, _core.StimulatorModel) else list(model.variables)
    for variable in variables:
        if variable.name == key:
            if not variable.initial_parameter:
                return variable.initial_value
            return _present_value(population, present, variable.initial_parameter)
    known = [parameter.name for parameter in model.parameters] + [variable.name for variable in variables]
    return unknown_name(f"parameter of {population.model}", key, known)
