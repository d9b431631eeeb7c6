"""Declaration of options: the name, type, default, bounds and meaning of an option are written in one place.

Checks, the keys of ``--set``, the help of the command line and the docstrings are made from this declaration.
"""

from __future__ import annotations

import dataclasses
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, NoReturn, Self, TypeVar, dataclass_transform

import numpy as np

from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import locked
from ranvier.base.names import unknown_name
from ranvier.base.numeric import whole_number
from ranvier.errors import ReadOnlyError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Option", "OptionGroup", "as_docstring", "option", "option_group"]

Check = Callable[[Any], Any]
Group = TypeVar("Group", bound="OptionGroup")


@dataclass(frozen=True)
class Option:
    """The properties of an option.

    Attributes
    ----------
    name
        Name of the option. It is unique, and the same everywhere.
    group
        Keyword of `ranvier.Simulation` for the group that the option belongs to; empty: the option is itself a keyword.
    default
        Default value.
    meaning
        Meaning of the option.
    choices
        Allowed names.
    types
        Other allowed types.
    least, greatest
        Bounds of whole numbers.
    values
        Allowed values in words, if types and bounds do not describe them.
    settable
        Whether ``--set`` accepts the option.
    check
        Function that returns a checked value or raises; None: choices, types and bounds are checked.
    """

    name: str
    group: str
    default: object
    meaning: str
    choices: tuple[str, ...]
    types: tuple[type, ...]
    least: int
    greatest: int
    values: str
    settable: bool
    check: Check | None

    def checked(self, value: Any) -> Any:
        """Return a checked value.

        Raises
        ------
        UnknownNameError, ValueOutOfBoundsError, ShapeError, WrongTypeError
            For a value that is not allowed.
        """
        if self.check is not None:
            return self.check(value)
        if value is None and types.NoneType in self.types:
            return None
        if isinstance(value, bool | np.bool_) and bool in self.types:
            return bool(value)
        if isinstance(value, str) and self.choices:
            if value in self.choices:
                return value
            if int in self.types:
                raise ValueOutOfBoundsError(self.name, f"'{value}'", f"it must be {self.wanted()}")
            unknown_name(self.name, value, self.choices)
        if int in self.types and not isinstance(value, bool | np.bool_ | str):
            remedy = "leave it out to let Ranvier choose" if self.default is None else ""
            return whole_number(self.name, value, self.least, self.greatest, remedy)
        raise WrongTypeError(self.name, type(value).__name__, f"must be {self.wanted()}")

    def wanted(self) -> str:
        """Return the allowed values in words."""
        if self.values:
            return self.values
        parts = [f"'{choice}'" for choice in self.choices]
        if bool in self.types:
            parts += ["True", "False"]
        if int in self.types:
            upper = f"{self.greatest}" if self.greatest < 2**53 else "2**63 - 1"
            parts.append(f"an integer from {self.least} to {upper}")
        if types.NoneType in self.types:
            parts.append("None")
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def option(
    *,
    default: Any,
    meaning: str,
    choices: Iterable[str] = (),
    least: int = 1,
    greatest: int = 2**63 - 1,
    values: str = "",
    settable: bool = True,
    check: Check | None = None,
) -> Any:
    """Declare an option of a group; see `Option`. Its names are those of a Literal in the type, or `choices`."""
    described: dict[str, Any] = {
        "meaning": " ".join(meaning.split()),
        "least": least,
        "greatest": greatest,
        "values": values,
    }
    described["choices"] = tuple(choices)
    return field(default=default, metadata={**described, "settable": settable, "check": check})


class OptionGroup(NamedAttributes):
    """Base of groups of options: named values that are checked when the group is made, and then cannot change."""

    keyword: ClassVar[str]
    """Keyword of `ranvier.Simulation` that takes the group; empty for the options that are keywords themselves."""
    options: ClassVar[Mapping[str, Option]]
    """The options of the group, by name."""

    def __new__(cls, *positional: object, **given: object) -> Self:
        """Raise an error for a name that is not the name of an option."""
        # Runs before __init__, in which Python would raise an error without a suggestion.
        if positional:
            raise WrongTypeError(f"option of {cls.__name__}", type(positional[0]).__name__, "must be given by its name")
        for name in given:
            if name not in cls.options:
                unknown_name(f"option of {cls.__name__}", name, cls.options)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, described in self.options.items():
            object.__setattr__(self, name, described.checked(getattr(self, name)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays that were copied or pickled can be written to again.
        for name, value in state.items():
            object.__setattr__(self, name, locked(value) if isinstance(value, np.ndarray) else value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self._refuse(name)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        kind = type(self).__name__
        raise ReadOnlyError(
            f"{name} of {kind}", bound="it cannot be assigned", remedy=f"make another one, rv.{kind}({name}=...)"
        )

    def different(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        values = {name: getattr(self, name) for name in self.options}
        return {name: value for name, value in values.items() if not _are_equal(value, self.options[name].default)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OptionGroup) or type(self) is not type(other):
            return NotImplemented
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in self.options)

    # Arrays and mappings may be among the values.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.different().items())})"


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(option,))
def option_group(kind: type[Group]) -> type[Group]:
    """Make a group of the options that a class declares, and add them to its docstring."""
    made = dataclasses.dataclass(frozen=True, kw_only=True, repr=False, eq=False)(kind)
    # The errors of a frozen dataclass have no remedy.
    made.__setattr__ = OptionGroup.__setattr__  # type: ignore[method-assign]
    made.__delattr__ = OptionGroup.__delattr__  # type: ignore[method-assign]
    hints = typing.get_type_hints(kind)
    made.options = types.MappingProxyType(
        {each.name: _described(each, hints[each.name], kind.keyword) for each in fields(made)}  # type: ignore[arg-type]
    )
    made.__doc__ = f"{kind.__doc__}\n\nParameters\n----------\n{as_docstring(made.options)}"
    return made


def as_docstring(options: Mapping[str, Option]) -> str:
    """Return options as text for the section *Parameters* of a docstring."""
    lines = []
    for each in options.values():
        lines.append(f"{each.name} : {each.wanted()}; default {each.default!r}")
        lines += textwrap.wrap(each.meaning, 116, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def _described(declared: dataclasses.Field[Any], hint: Any, group: str) -> Option:
    parts = (
        typing.get_args(hint) if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union else ()
    )
    metadata = dict(declared.metadata)
    choices = list(metadata.pop("choices"))
    others: list[type] = []
    for part in parts or (hint,):
        if typing.get_origin(part) is Literal:
            choices += typing.get_args(part)
        elif isinstance(part, type):
            others.append(part)
    return Option(
        name=declared.name,
        group=group,
        default=declared.default,
        choices=tuple(choices),
        types=tuple(others),
        **metadata,
    )


def _are_equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return bool(a == b)
