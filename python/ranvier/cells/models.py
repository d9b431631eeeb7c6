"""Mechanisms of the membrane of detailed cells, and receptors that are placed on them.

Their classes are made from the registry of the core when they are first used. A parameter of a mechanism is one number,
an array with one number for each compartment of the cell, or a function of the distances of all compartments from the
start of the root (um) that returns these; it is one number if rates of gates depend on it. A parameter of a receptor is
one number. With `per_cell`, the cells of a population can have different values.
"""

from __future__ import annotations

import math
from inspect import Parameter

from ranvier import _core
from ranvier.base.model_classes import Classes, attribute, keyword, made_class
from ranvier.base.model_documentation import docstring, parameter_row
from ranvier.cells.membrane import Mechanism, Receptor

_MECHANISMS = {model.name: model for model in _core.mechanism_models()}
_RECEPTORS = {model.name: model for model in _core.receptor_models()}


def _keywords(model: _core.MechanismModel | _core.ReceptorModel, annotation: str) -> list[Parameter]:
    # A parameter without a default need not be given.
    return [
        keyword(each.name, f"{annotation} | None", None)
        if math.isnan(each.default)
        else keyword(each.name, annotation, each.default)
        for each in model.parameters
    ]


def _mechanism(name: str) -> type[Mechanism]:
    model = _MECHANISMS[name]
    notes = "For ``membrane=`` of `Cell`."
    attributes: dict[str, object] = {"name": name}
    if model.gates:
        gates = "; ".join(f"{gate}, {meaning[:1].lower()}{meaning[1:]}" for gate, meaning in model.gates)
        notes += f" Gating variables: {gates}."
        attributes["gates"] = tuple(gate for gate, _ in model.gates)
    if model.currents:
        notes += f" Currents: {', '.join(model.currents)}."
        attributes["currents"] = tuple(model.currents)
    if model.is_pool:
        attributes["is_pool"] = True
    if not math.isnan(model.measured_celsius):
        attributes["measured_celsius"] = model.measured_celsius
    documentation = docstring(model, map(parameter_row, model.parameters), notes)
    return made_class(name, Mechanism, __name__, documentation, _keywords(model, "DensityValue"), attributes)


def _receptor(name: str) -> type[Receptor]:
    model = _RECEPTORS[name]
    notes = "Weights of synapses are in nS. For ``receptors=`` of `Cell`."
    documentation = docstring(model, map(parameter_row, model.parameters), notes)
    return made_class(name, Receptor, __name__, documentation, _keywords(model, "PerCellValue"), {"name": name})


MECHANISMS = Classes(_MECHANISMS, _mechanism)
RECEPTORS = Classes(_RECEPTORS, _receptor)

__all__ = sorted([*MECHANISMS, *RECEPTORS])


def __getattr__(name: str) -> type:
    return attribute(__name__, name, MECHANISMS, RECEPTORS)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
