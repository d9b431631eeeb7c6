"""Neuron models that come with Ranvier and are written as equations.

Their classes are made from the files of `ranvier.equations.neurons` when they are first used. Every value is one number
for all neurons, an array with one number for each, a distribution, or a text with a unit.
"""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING

from ranvier.base.model_classes import Classes, attribute, keyword, made_class
from ranvier.base.model_documentation import docstring, initial_value_row, notes_of_neuron, parameter_row
from ranvier.equations.neurons import NAMES

if TYPE_CHECKING:
    from ranvier.equations.library import LibraryNeuron


def _neuron(name: str) -> type[LibraryNeuron]:
    # The reader of equations is loaded with the first of these models that a program uses.
    from ranvier.equations.library import LibraryNeuron, described, indexed_names

    model = described(name)
    indexed, parameters = indexed_names(name), [each.name for each in model.parameters]
    settable = [each for each in model.settable if each.name not in parameters]
    rows = [(f"{index} : default {count}", model.copy_meanings[index]) for index, count in model.copies.items()]
    rows += [*map(parameter_row, model.parameters), *map(initial_value_row, settable)]
    rows += [(f"{row[0]} : default {row[1]}; {row[3]}", row[4]) for row in model.integration_rows]
    keywords = [keyword(index, "Copies", count) for index, count in model.copies.items()]
    keywords += [
        keyword(each.name, "Values | str", each.default) for each in model.parameters if each.name not in indexed
    ]
    keywords += [keyword(each.name, "Values | str | None", None) for each in settable if each.name not in indexed]
    if model.integration is not None:
        keywords += [
            keyword("method", "str", model.integration.method),
            keyword("relative_tolerance", "float | None", None),
            keyword("absolute_tolerance", "AbsoluteTolerance | None", None),
        ]
    if model.copies:
        keywords.append(Parameter("of_each", Parameter.VAR_KEYWORD, annotation="Values | str | None"))
    documentation = docstring(model, rows, notes_of_neuron(model))
    return made_class(name, LibraryNeuron, __name__, documentation, keywords, {"model_name": name})


LIBRARY_NEURONS = Classes(NAMES, _neuron)

__all__ = sorted(LIBRARY_NEURONS)


def __getattr__(name: str) -> type:
    return attribute(__name__, name, LIBRARY_NEURONS)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
