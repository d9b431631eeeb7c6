"""Errors for names that do not exist. The core writes their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from ranvier import _core
from ranvier.errors import UnknownNameError, WrongTypeError


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NoReturn:
    """Raise an UnknownNameError that suggests the nearest known name and lists all known names."""
    # The core cannot take surrogates; no known name contains any.
    shown = str(name).encode("utf-8", "backslashreplace").decode()
    _core.raise_unknown_name(kind, shown, list(known))
    raise AssertionError("the core did not raise")


def nearest_name(name: object, known: Iterable[str]) -> str | None:
    """Return the nearest of the known names; None if all differ too much."""
    try:
        unknown_name("name", name, known)
    except UnknownNameError as error:
        found = error.remedy.partition("did you mean '")[2].partition("'?")[0]
        return found or None


def with_article(noun: str) -> str:
    """Return a noun with *a* or *an*."""
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"


def counted(number: float, noun: str, form: str = "") -> str:
    """Return a number and its noun, which is in the plural unless the number is shown as 1."""
    shown = format(number, form)
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{shown} {noun if shown == '1' else plural}"


def there_are(number: int, noun: str) -> str:
    """Return "there are 2 neurons", "there is 1 neuron"."""
    return f"there {'is' if number == 1 else 'are'} {counted(number, noun)}"


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Raise an UnknownNameError, which suggests the nearest name, unless the value is one of the known names."""
    if not isinstance(value, str):
        raise WrongTypeError(name, type(value).__name__, f"must be one of {', '.join(known)}")
    if value not in known:
        unknown_name(name, value, known)


_MOST_NAMES = 8


def some_names(names: Sequence[str], separator: str = ", ") -> str:
    """Return names in one line; of a long list, only the first names and the number of the others."""
    if len(names) <= _MOST_NAMES:
        return separator.join(names)
    return separator.join(names[: _MOST_NAMES - 2]) + f" and {len(names) - _MOST_NAMES + 2} more"
