"""Neuron models, synapse models and stimulators.

Their classes are made from the registry of the core when they are first used. Every value of a neuron model or a
stimulator is one number for all neurons, an array with one number for each, or a distribution. All synapses of a
projection share the values of a synapse model, unless the description of a parameter says that it may differ.
"""

from __future__ import annotations

from inspect import Parameter

from ranvier import _core
from ranvier.base.model_classes import Classes, attribute, keyword, made_class
from ranvier.base.model_documentation import docstring, initial_value_row, notes_of_neuron, parameter_row
from ranvier.populations.model_base import NeuronModel, Stimulator, SynapseModel

# Network.create_spike_generators makes spike generators: their times are not values of a parameter.
_NEURONS = {model.name: model for model in _core.neuron_models() if not model.plays_spikes}
_SYNAPSES = {model.name: model for model in _core.synapse_models()}
_STIMULATORS = {model.name: model for model in _core.stimulator_models()}

_OF_SPIKES = (
    "For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a "
    "population of sources, each of which fires the train that a target would get, without the delay."
)
_OF_CURRENTS = "It adds to the current of its targets (pA)."
_TRANSMITTER = "Neurons whose spikes act on all synapses of the projection at once: a volume transmitter"


def _neuron(name: str) -> type[NeuronModel]:
    model = _NEURONS[name]
    names = [each.name for each in model.parameters]
    settable = [each for each in model.variables if each.name not in names]
    rows = [*map(parameter_row, model.parameters), *map(initial_value_row, settable)]
    keywords = [keyword(each.name, "Values", each.default) for each in model.parameters]
    keywords += [keyword(each.name, "Values | None", None) for each in settable]
    documentation = docstring(model, rows, notes_of_neuron(model))
    return made_class(name, NeuronModel, __name__, documentation, keywords, {"name": name})


def _synapse(name: str) -> type[SynapseModel]:
    model = _SYNAPSES[name]
    rows = [parameter_row(each) for each in model.parameters]
    keywords = [_keyword_of_synapse(each) for each in model.parameters]
    attributes: dict[str, object] = {"name": name}
    if model.transmitter:
        rows.insert(0, (f"{model.transmitter} : population, view or a sequence of them", _TRANSMITTER))
        keywords.insert(0, keyword(model.transmitter, "Neurons | None", None))
        attributes["transmitter_name"] = model.transmitter
    if per_synapse := tuple(each.name for each in model.parameters if each.per_synapse):
        attributes["per_synapse_names"] = per_synapse
    if following := {each.name: each.default_parameter for each in model.parameters if each.default_parameter}:
        attributes["following_names"] = following
    notes = "For ``synapse=`` of `Network.connect`. " + (
        "Weights change with the spikes of sources and targets." if model.learns else "Only the user changes weights."
    )
    return made_class(name, SynapseModel, __name__, docstring(model, rows, notes), keywords, attributes)


def _keyword_of_synapse(parameter: _core.ParameterInfo) -> Parameter:
    annotation = "Values" if parameter.per_synapse else "float"
    if parameter.default_parameter:
        return keyword(parameter.name, f"{annotation} | None", None)
    return keyword(parameter.name, annotation, parameter.default)


def _stimulator(name: str) -> type[Stimulator]:
    model = _STIMULATORS[name]
    rows = [(f"{each.name} : array{f' ({each.unit})' if each.unit else ''}", each.meaning) for each in model.sequences]
    rows += [parameter_row(each) for each in model.parameters]
    keywords = [keyword(each.name, "npt.ArrayLike") for each in model.sequences]
    keywords += [keyword(each.name, "Values", each.default) for each in model.parameters]
    attributes: dict[str, object] = {"name": name, "emits_spikes": model.emits_spikes}
    if model.sequences:
        attributes["sequence_names"] = tuple(each.name for each in model.sequences)
    notes = _OF_SPIKES if model.emits_spikes else _OF_CURRENTS
    return made_class(name, Stimulator, __name__, docstring(model, rows, notes), keywords, attributes)


NEURON_MODELS = Classes(_NEURONS, _neuron)
SYNAPSE_MODELS = Classes(_SYNAPSES, _synapse)
STIMULATORS = Classes(_STIMULATORS, _stimulator)

__all__ = sorted([*NEURON_MODELS, *SYNAPSE_MODELS, *STIMULATORS])


def __getattr__(name: str) -> type:
    return attribute(__name__, name, NEURON_MODELS, SYNAPSE_MODELS, STIMULATORS)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
