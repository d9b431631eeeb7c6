"""The base class of models: a name, and values for parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np

from ranvier.base.immutable import Immutable, Settings, locked
from ranvier.base.model_texts import described
from ranvier.base.names import nearest_name, unknown_name
from ranvier.base.values import StoredValues, Values, same_values, store

__all__ = ["Model"]


class Model(Immutable):
    """A model with values for its parameters. It cannot be changed; make another one instead."""

    name: ClassVar[str]
    """Name of the model in the registry of the core."""
    sequence_names: ClassVar[tuple[str, ...]] = ()
    """Parameters that are lists of numbers rather than values."""
    _use: ClassVar[str] = ", or give it beside the model to create() or stimulate()"
    """End of the remedy for assigning a parameter: how to use a model with another value."""
    _values: dict[str, StoredValues]

    def __new__(cls, *arguments: object, **values: object) -> Self:
        """Raise an error for a name that is not the name of a parameter."""
        # Runs before __init__, in which Python would raise an error without a suggestion.
        known = cls._defaults()
        for name in values:
            if name not in known:
                unknown_name(f"parameter of {cls.name}", name, known)
        return super().__new__(cls)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), {}

    def __init__(self, **values: Values | None) -> None:
        defaults = self._defaults()
        stored = {name: self._stored(name, value) for name, value in values.items() if value is not None}
        different = {
            name: value for name, value in stored.items() if isinstance(value, np.ndarray) or value != defaults[name]
        }
        self._put(_values=different)

    def _stored(self, name: str, value: Values) -> StoredValues:
        return store(f"parameter {name} of {self.name}", value)

    def __setstate__(self, state: dict[str, dict[str, StoredValues]]) -> None:
        # Arrays that were copied or pickled can be written to again.
        values = {
            name: locked(value) if isinstance(value, np.ndarray) else value for name, value in state["_values"].items()
        }
        self._put(_values=values)

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """The values that differ from the defaults, by the name of the parameter or state variable."""
        return Settings(self._values, self._title(), f"rv.{self.name}(")

    def _title(self) -> str:
        return f"a model {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in self._defaults():
            return f"write rv.{self.name}({name}=...){self._use}"
        return "make another model"

    def _hint(self, name: str) -> str:
        meant = name if name in self._defaults() else nearest_name(name, self._defaults())
        return (
            f'read the value that was set with .values["{meant}"]; without an entry it is the default' if meant else ""
        )

    def describe(self) -> str:
        """Return the model as text: equations, parameters with units, values and bounds, variables and receptors."""
        return described(self.name, list(self._defaults()), self._values)

    @classmethod
    def value_names(cls) -> list[str]:
        """Return the names of its parameters and state variables."""
        return list(cls._defaults())

    @classmethod
    @functools.cache  # reading a signature takes longer than all else that is done to make a model
    def _defaults(cls) -> Mapping[str, object]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return MappingProxyType({parameter.name: parameter.default for parameter in parameters})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model) or type(self) is not type(other):
            return NotImplemented
        return same_values(self._values, other._values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"
