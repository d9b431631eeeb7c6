"""Models that come with Ranvier and are written as equations."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.base.values import StoredValues, shown
from ranvier.equations.copies import Copies, suffixes_of
from ranvier.equations.documentation import METHOD_WORDS
from ranvier.equations.files import NeuronFile, load
from ranvier.equations.integration import Integration
from ranvier.equations.model import EquationNeuron
from ranvier.equations.neurons import file_of

__all__ = [
    "INTEGRATION",
    "DescribedModel",
    "LibraryNeuron",
    "built",
    "default_integration",
    "definition",
    "describe_model",
    "described",
    "indexed_names",
    "is_integrated",
]


METHODS = ("adaptive", "exponential_euler", "rk4", "euler")
"""Methods of integration that a model can be asked for if its equations are not solved exactly."""


@functools.cache
def definition(name: str) -> NeuronFile:
    """Return what the file of a model says."""
    return load(file_of(name))


def built(name: str, integration: Integration | None = None, **copies: Copies) -> EquationNeuron:
    """Return a model with its defaults, and with another integration, numbers or names of copies.

    Programs are made once.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For copies that are not a number from 0 to 100 or different names.
    """
    counts = {**definition(name).copies, **copies}
    chosen = integration or definition(name).integration
    return _built(name, chosen, tuple((index, suffixes_of(index, each)) for index, each in counts.items()))


@functools.cache
def _built(name: str, integration: Integration, copies: tuple[tuple[str, tuple[str, ...]], ...]) -> EquationNeuron:
    return definition(name).model(integration, dict(copies))


def default_integration(name: str) -> Integration:
    """Return how a model is integrated unless another way is given; a method that the file leaves open is chosen."""
    return replace(definition(name).integration, method=built(name).method)


def indexed_names(name: str) -> set[str]:
    """Return the names of parameters and variables of a model with its defaults that there are for each copy."""
    arguments, copies = definition(name).arguments, definition(name).copies
    text = " ".join([arguments["equations"], *arguments["parameters"]])
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
"""Bounds and meanings of the keywords for the integration of a model."""


@dataclass(frozen=True)
class DescribedModel:
    """The description of a model: as `_core.NeuronModel`, and more.

    Attributes
    ----------
    settable
        The variables that have initial values.
    copies, copy_meanings
        For each index, how many copies it has by default, or their names, and its meaning.
    integration
        How the model is integrated by default; None: it has no keywords for this.
    """

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
    copies: Mapping[str, Copies]
    copy_meanings: Mapping[str, str]
    integration: Integration | None = None
    weight_bounds: str = "any number"
    counting_receptor: str = ""
    is_source: bool = False
    plays_spikes: bool = False

    @property
    def copy_rows(self) -> list[tuple[str, str, str, str, str]]:
        """The numbers of copies, by index: name, default, no unit, bounds and meaning."""
        return [
            (index, str(count), "", "0 to 100, or names", self.copy_meanings[index])
            for index, count in self.copies.items()
        ]

    @property
    def integration_rows(self) -> list[tuple[str, str, str, str, str]]:
        """The keywords of the integration, in the same form; empty for a model that is solved exactly."""
        if self.integration is None:
            return []
        default = self.integration.given
        return [
            (name, str(default.get(name, 1e-06)), "", bounds, meaning)
            for name, (bounds, meaning) in INTEGRATION.items()
        ]


def described(name: str) -> DescribedModel:
    """Return the description of a model that comes with Ranvier."""
    integration = default_integration(name) if is_integrated(name) else None
    return describe_model(built(name), definition(name), integration)


def describe_model(
    model: EquationNeuron, file: NeuronFile | None = None, integration: Integration | None = None
) -> DescribedModel:
    """Return the description of a model.

    `file` describes it, if there is one. `integration` is the default of its keywords of the integration; None: it has
    no such keywords.
    """
    core_model, program = model.core_model, model.program
    derived = {each.name for each in program.derived}
    return DescribedModel(
        name=model.name,
        summary=program.summary,
        equations=f"{program.equations.strip()}\nMethod: {METHOD_WORDS[model.method]}",
        reference=program.reference,
        parameters=core_model.parameters,
        variables=core_model.variables,
        settable=[variable for variable in core_model.variables if variable.name not in derived],
        receptors=list(program.receptors),
        sign_chooses_receptor=program.sign_chooses_receptor,
        weight_unit=program.weight_unit,
        copies=file.copies if file else {},
        copy_meanings=file.meanings if file else {},
        integration=integration,
    )


class _Signature:
    """The signature of a class is that of its call; the signature of an object has its values as defaults."""

    def __get__(self, model: LibraryNeuron | None, kind: type[LibraryNeuron]) -> inspect.Signature:
        if model is not None:
            return model.signature
        signature = inspect.signature(kind.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class LibraryNeuron(EquationNeuron):
    """A model that comes with Ranvier; `model_name` is its name."""

    model_name: ClassVar[str]
    _copies: dict[str, Copies]
    _chosen: dict[str, Any]
    __signature__ = _Signature()

    def __init__(self, **values: Any) -> None:
        file = definition(self.model_name)
        copies = {index: values.pop(index, count) for index, count in file.copies.items()}
        default = default_integration(self.model_name)
        chosen = default
        if is_integrated(self.model_name):
            options = {name: values.pop(name) for name in INTEGRATION if name in values}
            # Error bounds of the default method do not hold for another one.
            if options.setdefault("method", default.method) == default.method:
                options = {**default.given, **{name: each for name, each in options.items() if each is not None}}
            chosen = Integration.checked(**options, known=METHODS)
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
            # A population needs only the values that differ.
            if not (isinstance(given, float) and given == defaults.get(name)):
                stored[name] = given
        differs = {key: value for key, value in chosen.given.items() if default.given.get(key) != value}
        self._put(**{**vars(model), "_values": stored, "_copies": copies, "_chosen": differs})
        self.check_values(stored)

    @property
    def counted(self) -> tuple[str, ...]:
        """Keywords of the class for the number of receptors or kernels, and for the integration."""
        integration = tuple(INTEGRATION) if is_integrated(self.model_name) else ()
        return (*definition(self.model_name).copies, *integration)

    def _title(self) -> str:
        return f"a model {self.name}"

    def __repr__(self) -> str:
        texts = {name: shown(value) for name, value in self.values.items()}
        default = definition(self.model_name).copies
        copies = {name: repr(each) for name, each in self._copies.items() if each != default[name]}
        texts |= {name: repr(value) for name, value in self._chosen.items()}
        return f"{self.name}({', '.join(f'{name}={text}' for name, text in {**copies, **texts}.items())})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _again, (type(self), {**self._copies, **self.values, **self._chosen})


def _again(kind: type[LibraryNeuron], values: dict[str, Any]) -> LibraryNeuron:
    return kind(**values)
