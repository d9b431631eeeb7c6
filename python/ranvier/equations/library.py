"""Models that come with Ranvier and are written as equations."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ranvier import _core
from ranvier.base.keywords import known_keywords
from ranvier.base.names import unknown_name
from ranvier.base.own_model import named_models
from ranvier.base.values import StoredValues
from ranvier.equations.copies import Copies, suffixes_of
from ranvier.equations.definitions import COPIES, DEFINITIONS
from ranvier.equations.documentation import METHOD_WORDS
from ranvier.equations.model import EquationNeuron, neuron

__all__ = ["DescribedModel", "LibraryNeuron", "built", "describe_model", "described", "indexed_names"]


def built(name: str, **copies: Copies) -> EquationNeuron:
    """Return a model with its defaults, and with other numbers or names of copies. Programs are made once.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For copies that are neither a number from 0 to 100 nor names that differ.
    """
    counts = {**DEFINITIONS[name].get("copies", {}), **copies}
    return _built(name, tuple((index, suffixes_of(index, each)) for index, each in counts.items()))


@functools.cache
def _built(name: str, copies: tuple[tuple[str, tuple[str, ...]], ...]) -> EquationNeuron:
    definition = dict(DEFINITIONS[name])
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
    weight_bounds: str = "any number"
    is_source: bool = False
    plays_spikes: bool = False

    @property
    def copy_rows(self) -> list[tuple[str, str, str, str, str]]:
        """What says how many there are of what has an index: name, default, no unit, bounds and meaning."""
        return [(index, str(count), "", "0 to 100, or names", COPIES[index]) for index, count in self.copies.items()]


def described(name: str) -> DescribedModel:
    """Return what is told of a model that comes with Ranvier."""
    return describe_model(built(name), DEFINITIONS[name].get("copies", {}))


def describe_model(model: EquationNeuron, copies: Mapping[str, int] | None = None) -> DescribedModel:
    """Return what is told of a model; `copies` says how many there are by default of what has an index."""
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
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__init__ = known_keywords(cls.__init__)  # type: ignore[method-assign]
        named_models[cls.model_name] = cls

    def __init__(self, copies: Mapping[str, Copies] | None = None, **values: Any) -> None:
        model = built(self.model_name, **(copies or {}))
        known = [*model.parameters, *(variable.name for variable in model.program.variables)]
        for name in values:
            if name not in known:
                unknown_name(f"keyword of {self.model_name}()", name, [*(copies or {}), *known])
        defaults = {each.name: each.default for each in model.program.parameters}
        stored: dict[str, StoredValues] = {}
        for name, value in values.items():
            if value is None:
                continue
            given = model.stored(name, value)
            # What is as it was need not be given to a population.
            if not (isinstance(given, float) and given == defaults.get(name)):
                stored[name] = given
        self._put(**{**vars(model), "_values": stored, "_copies": dict(copies or {})})
        self.check_values(stored)

    @property
    def counted(self) -> tuple[str, ...]:
        """Keywords of the class that say how many receptors or kernels there are."""
        return tuple(DEFINITIONS[self.model_name].get("copies", {}))

    def _called(self) -> str:
        return f"a model {self.name}"

    def __repr__(self) -> str:
        shown = {
            name: f"<array of {value.size}>" if isinstance(value, np.ndarray) and value.size > 8 else repr(value)
            for name, value in self.values.items()
        }
        default = DEFINITIONS[self.model_name].get("copies", {})
        copies = {name: repr(each) for name, each in self._copies.items() if each != default[name]}
        return f"{self.name}({', '.join(f'{name}={text}' for name, text in {**copies, **shown}.items())})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _again, (type(self), {**self._copies, **self.values})


def _again(kind: type[LibraryNeuron], values: dict[str, Any]) -> LibraryNeuron:
    return kind(**values)
