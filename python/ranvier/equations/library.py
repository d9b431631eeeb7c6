"""Models that come with Ranvier and are written as equations."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.base.values import StoredValues, shown
from ranvier.equations.copies import Copies, suffixes_of
from ranvier.equations.definitions import COPIES, DEFINITIONS
from ranvier.equations.documentation import METHOD_WORDS
from ranvier.equations.integration import Integration
from ranvier.equations.model import EquationNeuron, neuron

__all__ = [
    "INTEGRATION",
    "DescribedModel",
    "LibraryNeuron",
    "built",
    "default_integration",
    "describe_model",
    "described",
    "indexed_names",
    "is_integrated",
]


METHODS = ("adaptive", "exponential_euler", "rk4", "euler")
"""Methods of integration that a model can be asked for if its equations are not solved exactly."""


def built(name: str, integration: Integration | None = None, **copies: Copies) -> EquationNeuron:
    """Return a model with its defaults, and with another integration, numbers or names of copies.

    Programs are made once.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For copies that are neither a number from 0 to 100 nor names that differ.
    """
    counts = {**DEFINITIONS[name].get("copies", {}), **copies}
    own = integration or default_integration(name)
    return _built(name, own, tuple((index, suffixes_of(index, each)) for index, each in counts.items()))


def default_integration(name: str) -> Integration:
    """Return how a model is integrated unless another way is asked for."""
    return Integration(DEFINITIONS[name].get("method", "auto"))


@functools.cache
def _built(name: str, integration: Integration, copies: tuple[tuple[str, tuple[str, ...]], ...]) -> EquationNeuron:
    definition = {**DEFINITIONS[name], **integration.given}
    if copies:
        definition["copies"] = dict(copies)
        receptors = dict(definition.get("receptors", {}))
        for index, suffixes in copies:
            # Receptors whose copies have names are called so.
            if f"receptor[{index}]" in receptors and suffixes and not suffixes[0].isdigit():
                receptors[f"[{index}]"] = receptors.pop(f"receptor[{index}]")
        definition["receptors"] = receptors
        definition["parameters"] = {
            parameter: _of_copies(parameter, default, dict(copies))
            for parameter, default in definition["parameters"].items()
        }
    return neuron(name=name, **definition)


def _of_copies(parameter: str, default: Any, copies: Mapping[str, tuple[str, ...]]) -> Any:
    """Return the defaults of all copies of a parameter; where the definition lists fewer, the last goes on."""
    if not isinstance(default, list):
        return default
    index = parameter.partition("[")[2].removesuffix("]")
    return [default[min(i, len(default) - 1)] for i in range(len(copies[index]))]


def indexed_names(name: str) -> set[str]:
    """Return the names of parameters and variables of a model with its defaults that there are for each copy."""
    definition = DEFINITIONS[name]
    copies = definition.get("copies", {})
    text = " ".join([definition["equations"], *definition["parameters"]])
    return {
        f"{base}_{suffix}"
        for base, index in re.findall(r"(\w+?)\[(\w+)\]", re.sub(r"\bd(?=\w+\[\w+\]/dt)", "", text))
        for suffix in suffixes_of(index, copies[index])
    }


def is_integrated(name: str) -> bool:
    """Return whether a model is integrated in a way that can be chosen: its equations are not solved exactly."""
    return built(name).method != "exact"


INTEGRATION = {
    "method": (", ".join(METHODS), "Method of integration, see `neuron`"),
    "relative_tolerance": ("1e-13 to 0.1", "Relative error bound of an adaptive step"),
    "absolute_tolerance": (
        "> 0, or by variable",
        "Absolute error bound of an adaptive step, in the unit of the variable",
    ),
}
"""Bounds and meanings of the keywords that say how a model is integrated."""


@dataclass(frozen=True)
class DescribedModel:
    """What is told of a model: as `_core.NeuronModel`, and `settable`, the variables that have initial values."""

    name: str
    summary: str
    equations: str
    reference: str
    parameters: list[_core.ParameterInfo]
    variables: list[_core.VariableInfo]
    settable: list[_core.VariableInfo]
    receptors: list[str]
    sign_chooses_receptor: bool
    weight_unit: str
    copies: Mapping[str, int]
    integration: Integration | None = None
    weight_bounds: str = "any number"
    is_source: bool = False
    plays_spikes: bool = False

    @property
    def copy_rows(self) -> list[tuple[str, str, str, str, str]]:
        """What says how many there are of what has an index: name, default, no unit, bounds and meaning."""
        return [(index, str(count), "", "0 to 100, or names", COPIES[index]) for index, count in self.copies.items()]

    @property
    def integration_rows(self) -> list[tuple[str, str, str, str, str]]:
        """The same of the keywords that say how a model is integrated; empty where it is solved exactly."""
        if self.integration is None:
            return []
        default = {"method": self.integration.method}
        return [
            (name, default.get(name, "1e-06"), "", bounds, meaning) for name, (bounds, meaning) in INTEGRATION.items()
        ]


def described(name: str) -> DescribedModel:
    """Return what is told of a model that comes with Ranvier."""
    integration = default_integration(name) if is_integrated(name) else None
    return describe_model(built(name), DEFINITIONS[name].get("copies", {}), integration)


def describe_model(
    model: EquationNeuron, copies: Mapping[str, int] | None = None, integration: Integration | None = None
) -> DescribedModel:
    """Return what is told of a model.

    `copies` says how many there are by default of what has an index, `integration` how it is integrated if there are
    keywords for this.
    """
    own, program = model.core_model, model.program
    derived = {each.name for each in program.derived}
    return DescribedModel(
        name=model.name,
        summary=program.summary,
        equations=f"{program.equations.strip()}\nMethod: {METHOD_WORDS[model.method]}",
        reference=program.reference,
        parameters=own.parameters,
        variables=own.variables,
        settable=[variable for variable in own.variables if variable.name not in derived],
        receptors=list(program.receptors),
        sign_chooses_receptor=program.sign_chooses_receptor,
        weight_unit=program.weight_unit,
        copies=copies or {},
        integration=integration,
    )


class _Signature:
    """The signature of a class is that of its call; that of an object tells the values that it has."""

    def __get__(self, model: LibraryNeuron | None, kind: type[LibraryNeuron]) -> inspect.Signature:
        if model is not None:
            return model.signature
        own = inspect.signature(kind.__init__)
        return own.replace(parameters=list(own.parameters.values())[1:])


class LibraryNeuron(EquationNeuron):
    """A model of `DEFINITIONS`, which `model_name` names."""

    model_name: ClassVar[str]
    _copies: dict[str, Copies]
    _chosen: dict[str, Any]
    __signature__ = _Signature()

    def __init__(self, **values: Any) -> None:
        copies = {
            index: values.pop(index, count) for index, count in DEFINITIONS[self.model_name].get("copies", {}).items()
        }
        default = default_integration(self.model_name)
        chosen = default
        if is_integrated(self.model_name):
            unless_given = {**dict.fromkeys(INTEGRATION), "method": default.method}
            integration: list[Any] = [values.pop(name, value) for name, value in unless_given.items()]
            chosen = Integration.checked(*integration, known=METHODS)
        model = built(self.model_name, chosen, **copies)
        known = [*model.parameters, *(variable.name for variable in model.program.variables)]
        for name in values:
            if name not in known:
                unknown_name(f"keyword of {self.model_name}()", name, [*copies, *known, *self.counted])
        defaults = {each.name: each.default for each in model.program.parameters}
        stored: dict[str, StoredValues] = {}
        for name, value in values.items():
            if value is None:
                continue
            given = model.stored(name, value)
            # What is as it was need not be given to a population.
            if not (isinstance(given, float) and given == defaults.get(name)):
                stored[name] = given
        differs = {key: value for key, value in chosen.given.items() if default.given.get(key) != value}
        self._put(**{**vars(model), "_values": stored, "_copies": copies, "_chosen": differs})
        self.check_values(stored)

    @property
    def counted(self) -> tuple[str, ...]:
        """Keywords of the class that say how many receptors or kernels there are, and how it is integrated."""
        integration = tuple(INTEGRATION) if is_integrated(self.model_name) else ()
        return (*DEFINITIONS[self.model_name].get("copies", {}), *integration)

    def _title(self) -> str:
        return f"a model {self.name}"

    def __repr__(self) -> str:
        texts = {name: shown(value) for name, value in self.values.items()}
        default = DEFINITIONS[self.model_name].get("copies", {})
        copies = {name: repr(each) for name, each in self._copies.items() if each != default[name]}
        texts |= {name: repr(value) for name, value in self._chosen.items()}
        return f"{self.name}({', '.join(f'{name}={text}' for name, text in {**copies, **texts}.items())})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _again, (type(self), {**self._copies, **self.values, **self._chosen})


def _again(kind: type[LibraryNeuron], values: dict[str, Any]) -> LibraryNeuron:
    return kind(**values)
