"""Errors for names that do not exist, in the words of the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from ranvier import _core
from ranvier.errors import WrongTypeError


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NoReturn:
    """Raise the UnknownNameError that tells the nearest of the known names and lists all of them."""
    # The core takes no surrogates, which no name has anyhow.
    shown = str(name).encode("utf-8", "backslashreplace").decode()
    _core.raise_unknown_name(kind, shown, list(known))
    raise AssertionError("the core did not raise")


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Raise UnknownNameError, which tells the nearest one, when a value is none of the names that are known."""
    if not isinstance(value, str):
        raise WrongTypeError(name, type(value).__name__, f"must be one of {', '.join(known)}")
    if value not in known:
        unknown_name(name, value, known)


_MOST_NAMES = 8


def some_names(names: Sequence[str], separator: str = ", ") -> str:
    """Return names in a line, of very many only the first ones."""
    if len(names) <= _MOST_NAMES:
        return separator.join(names)
    return separator.join(names[: _MOST_NAMES - 2]) + f" and {len(names) - _MOST_NAMES + 2} more"
