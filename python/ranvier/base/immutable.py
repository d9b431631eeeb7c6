"""Immutable objects; assigning an attribute raises an error that names the call to use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import NamedAttributes, known_keywords
from ranvier.errors import ReadOnlyError

__all__ = ["Immutable", "Settings", "locked", "value_class"]

Class = TypeVar("Class")
Number = TypeVar("Number", bound=np.generic)


class Immutable(NamedAttributes):
    """Base of immutable objects."""

    _remedy: ClassVar[str] = ""
    """How to change an attribute ``{name}``; empty: by making another object of the class."""

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse(name)

    def __delattr__(self, name: str) -> None:
        self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        # The error does not show the repr, which may have arrays, or fail for an object that is incomplete.
        raise ReadOnlyError(
            f"{name} of {self._title()}", bound="it cannot be assigned", remedy=self._how_to_change(name)
        )

    def _title(self) -> str:
        """Return the name of this object in errors."""
        return type(self).__name__

    def _how_to_change(self, name: str) -> str:
        """Return the remedy of the error for assigning an attribute."""
        return self._remedy.format(name=name) or f"make another {type(self).__name__}"

    def _put(self, **attributes: object) -> None:
        """Assign attributes: for the code that makes the object."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)


class Settings(Immutable, Mapping[str, Any]):
    """Read-only mapping of values that were set, by name."""

    _values: dict[str, Any]
    _owner: str
    _call: str

    def __init__(self, values: Mapping[str, Any], owner: str, call: str) -> None:
        """Keep values of an object of the name `owner`; `call` is the beginning of the call that changes them."""
        self._put(_values=dict(values), _owner=owner, _call=call)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, name: str, value: object) -> None:
        self._refuse(name)

    def __delitem__(self, name: str) -> None:
        self._refuse(name)

    def __repr__(self) -> str:
        return repr(self._values)

    def _title(self) -> str:
        return self._owner

    def _hint(self, name: str) -> str:
        return f'write values["{name}"]' if name in self._values else ""

    def _how_to_change(self, name: str) -> str:
        return f"write {self._call}{name}=...)"


def locked(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return a view of an array that cannot be written to, or the array itself if it cannot."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _refuse_value(self: object, name: str, value: object = None) -> NoReturn:
    raise ReadOnlyError(
        f"{name} of {type(self).__name__}",
        bound="it cannot be assigned",
        remedy=f"make another {type(self).__name__}, and pass it to net.connect() or net.set()",
    )


@dataclass_transform(frozen_default=True)
def value_class(kind: type[Class]) -> type[Class]:
    """Make a frozen dataclass. Objects with equal values are equal; assignment raises an error."""
    made = dataclasses.dataclass(frozen=True, repr=False)(kind)
    # The error of Python for an unknown keyword has no suggestion.
    if "__init__" in vars(made):
        made.__init__ = known_keywords(made.__init__)  # type: ignore[method-assign]
    made.__setattr__ = _refuse_value  # type: ignore[method-assign]
    made.__delattr__ = _refuse_value  # type: ignore[method-assign]
    return made
