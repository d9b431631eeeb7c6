"""Models that come with Ranvier and are written as equations."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ranvier import _core
from ranvier.base.keywords import known_keywords
from ranvier.base.own_model import named_models
from ranvier.base.values import StoredValues
from ranvier.equations.definitions import DEFINITIONS
from ranvier.equations.documentation import METHOD_WORDS
from ranvier.equations.model import EquationNeuron, neuron

__all__ = ["DescribedModel", "LibraryNeuron", "built", "described"]


@functools.cache
def built(name: str) -> EquationNeuron:
    """Return a model with its defaults. The programs of each are made when it is first used."""
    return neuron(name=name, **DEFINITIONS[name])


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
    weight_bounds: str = "any number"
    is_source: bool = False
    plays_spikes: bool = False


def described(name: str) -> DescribedModel:
    """Return what is told of a model."""
    model = built(name)
    own, program = model.core_model, model.program
    derived = {each.name for each in program.derived}
    return DescribedModel(
        name=name,
        summary=program.summary,
        equations=f"{program.equations.strip()}\nMethod: {METHOD_WORDS[model.method]}",
        reference=program.reference,
        parameters=own.parameters,
        variables=own.variables,
        settable=[variable for variable in own.variables if variable.name not in derived],
        receptors=list(program.receptors),
        sign_chooses_receptor=program.sign_chooses_receptor,
        weight_unit=program.weight_unit,
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
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__init__ = known_keywords(cls.__init__)  # type: ignore[method-assign]
        named_models[cls.model_name] = cls

    def __init__(self, **values: Any) -> None:
        model = built(self.model_name)
        defaults = {each.name: each.default for each in model.program.parameters}
        stored: dict[str, StoredValues] = {}
        for name, value in values.items():
            if value is None:
                continue
            given = model.stored(name, value)
            # What is as it was need not be given to a population.
            if not (isinstance(given, float) and given == defaults.get(name)):
                stored[name] = given
        self._put(**{**vars(model), "_values": stored})
        self.check_values(stored)

    def _called(self) -> str:
        return f"a model {self.name}"

    def __repr__(self) -> str:
        shown = {
            name: f"<array of {value.size}>" if isinstance(value, np.ndarray) and value.size > 8 else repr(value)
            for name, value in self.values.items()
        }
        return f"{self.name}({', '.join(f'{name}={text}' for name, text in shown.items())})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _again, (type(self), dict(self.values))


def _again(kind: type[LibraryNeuron], values: dict[str, StoredValues]) -> LibraryNeuron:
    return kind(**values)
