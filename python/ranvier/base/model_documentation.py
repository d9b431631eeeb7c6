"""Docstrings of the classes of models, made from their descriptions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator
from typing import Protocol

from ranvier import _core

__all__ = ["Described", "docstring", "docstring_of_rule", "initial_value_row", "notes_of_neuron", "parameter_row"]

_WIDTH = 116


class Described(Protocol):
    """A description of a model of any kind."""

    @property
    def summary(self) -> str:
        """Description in one sentence."""

    @property
    def equations(self) -> str:
        """Its equations, on several lines."""

    @property
    def reference(self) -> str:
        """The publication; empty without one."""


class DescribedNeuron(Described, Protocol):
    """A description of a neuron model."""

    @property
    def variables(self) -> list[_core.VariableInfo]:
        """Its state variables."""

    @property
    def receptors(self) -> list[str]:
        """Names of its receptors."""

    @property
    def sign_chooses_receptor(self) -> bool:
        """Whether the sign of a weight chooses between the first two receptors."""

    @property
    def weight_unit(self) -> str:
        """Unit of weights."""

    @property
    def weight_bounds(self) -> str:
        """Bounds of weights, as text."""

    @property
    def counting_receptor(self) -> str:
        """The receptor at which weights are whole numbers of spikes, which has to be named; empty: none."""


def docstring(model: Described, rows: Iterable[tuple[str, str]], notes: str) -> str:
    """Return the docstring of a class.

    Parameters
    ----------
    model
        The description of the model.
    rows
        Title and meaning of each parameter.
    notes
        A paragraph that follows the summary.
    """
    lines = [_sentence(model.summary), "", *_wrapped(notes)]
    rows = list(rows)
    if rows:
        lines += _section("Parameters")
    for title, meaning in rows:
        lines += [title, *_wrapped(_sentence(meaning), "    ")]
    lines += [*_section("Notes"), "::", ""]
    lines += [f"    {line}" if line.strip() else "" for line in model.equations.strip("\n").splitlines()]
    if model.reference:
        lines += [*_section("References"), *_wrapped(model.reference)]
    return "\n".join(lines) + "\n"


def docstring_of_rule(rule: _core.RuleInfo) -> str:
    """Return the docstring of the class of a connection rule."""
    lines = [*_wrapped(_sentence(rule.summary))]
    lines += _section("Parameters") if rule.parameters else []
    for each in rule.parameters:
        lines += [_title_of(each), *_wrapped(_sentence(each.meaning), "    ")]
    for paragraph in rule.notes.split("\n\n") if rule.notes else []:
        lines += ["", *_wrapped(paragraph)]
    return "\n".join(lines) + "\n"


def _title_of(parameter: _core.RuleParameterInfo) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    default = "" if parameter.default is None else f"default {parameter.default}{unit}; "
    return f"{parameter.name} : {default}{'True or False' if parameter.kind == 'flag' else parameter.bounds}"


def parameter_row(parameter: _core.ParameterInfo) -> tuple[str, str]:
    """Return title and meaning of a parameter."""
    unit = f" {parameter.unit}" if parameter.unit else ""
    bounds = "" if parameter.bounds == "any number" else f"; {parameter.bounds}"
    per_synapse = "; may differ from synapse to synapse" if parameter.per_synapse else ""
    if math.isnan(parameter.default):
        return f"{parameter.name} : in {parameter.unit}, without a default{bounds}{per_synapse}", parameter.meaning
    default = parameter.default_parameter or f"{_plain_number(parameter.default)}{unit}"
    return f"{parameter.name} : default {default}{bounds}{per_synapse}", parameter.meaning


def initial_value_row(variable: _core.VariableInfo) -> tuple[str, str]:
    """Return title and meaning of the initial value of a state variable."""
    unit = f" ({variable.unit})" if variable.unit else ""
    default = variable.initial_parameter or _plain_number(variable.initial_value)
    meaning = f"{variable.meaning[:1].lower()}{variable.meaning[1:]}"
    return f"{variable.name} : default {default}", f"initial value: {meaning}{unit}"


def notes_of_neuron(model: DescribedNeuron) -> str:
    """Return the notes on weights, receptors and state variables of a neuron model."""
    unit = f"are in {model.weight_unit}" if model.weight_unit else "have no unit"
    bounds = "" if model.weight_bounds == "any number" else f", {model.weight_bounds}"
    notes = f"Weights {unit}{bounds}. Receptors: {', '.join(model.receptors)}."
    if model.sign_chooses_receptor:
        notes += (
            " Weights >= 0 belong to the first receptor, negative weights to the second, unless receptor= names one."
        )
    elif model.counting_receptor:
        notes += (
            f" Weights at {model.counting_receptor} are whole numbers of spikes, of static synapses or stimuli; "
            f'receptor="{model.counting_receptor}" of connect() and stimulate() selects it.'
        )
    elif len(model.receptors) > 1:
        notes += " Name one of them with receptor= in connect() and stimulate()."
    if model.variables:
        notes += f" State variables: {', '.join(variable.name for variable in model.variables)}."
    return notes


def _plain_number(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _section(title: str) -> list[str]:
    return ["", title, "-" * len(title)]
