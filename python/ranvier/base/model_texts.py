"""Descriptions of built-in models as text: their equations, parameters and variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier import _core
from ranvier.base.value_texts import describe_values, indented, table

__all__ = ["described"]


def described(name: str, known: list[str], values: Mapping[str, object]) -> str:
    """Return a model of the core as text.

    Parameters
    ----------
    name
        Its name.
    known
        Names of its parameters and variables, which distinguish it from models of other kinds with the same name.
    values
        Values that differ from the defaults.
    """
    model = _model(name, known)
    parts = [f"{model.name}: {model.summary}", indented(model.equations.split("\n"))]
    rows = [
        (each.name, _with_unit(values.get(each.name, each.default), each.unit), each.bounds, each.meaning)
        for each in model.parameters
    ]
    rows += [(each.name, f"array, in {each.unit or '1'}", "", each.meaning) for each in getattr(model, "sequences", [])]
    if rows:
        parts.append("Parameters\n" + table(rows))
    variables = [
        (
            each.name,
            _with_unit(values[each.name], each.unit)
            if each.name in values
            else each.initial_parameter or _with_unit(each.initial_value, each.unit),
            f"in {each.unit or '1'}",
            each.meaning,
        )
        for each in getattr(model, "variables", [])
    ]
    if variables:
        parts.append("Variables, with initial values\n" + table(variables))
    if receptors := getattr(model, "receptors", []):
        sign = "; the sign of a weight chooses between the first two" if model.sign_chooses_receptor else ""
        parts.append(f"Receptors: {', '.join(receptors)}; weights in {model.weight_unit or '1'}{sign}")
    if model.reference:
        parts.append(model.reference)
    return "\n\n".join(parts)


def _model(name: str, known: list[str]) -> Any:
    models: list[Any] = [
        *_core.neuron_models(),
        *_core.synapse_models(),
        *_core.stimulator_models(),
        *_core.mechanism_models(),
        *_core.receptor_models(),
    ]
    return next(
        model
        for model in models
        if model.name == name and all(parameter.name in known for parameter in model.parameters)
    )


def _with_unit(value: object, unit: str) -> str:
    return f"{describe_values(value)} {unit}".strip()
