"""Errors for names that do not exist, in the words of the core."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from ranvier import _core


def unknown_name(kind: str, name: object, known: Iterable[str]) -> NoReturn:
    """Raise the UnknownNameError that tells the nearest of the known names and lists all of them."""
    _core.raise_unknown_name(kind, str(name), list(known))
    raise AssertionError("the core did not raise")
