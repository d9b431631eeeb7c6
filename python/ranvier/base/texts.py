"""Checks of texts and flags from users."""

from __future__ import annotations

import numpy as np

from ranvier.base.model import Model
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError

__all__ = ["check_flag", "check_text", "name_type"]


def name_type(value: object) -> str:
    """Return a readable name of the type of a value."""
    if isinstance(value, type) and issubclass(value, Model):
        return f"the class {value.__name__}: write {value.__name__}()"
    return type(value).__name__


def check_text(what: str, text: str) -> str:
    """Return a text, checked that files and the core can store it."""
    if not isinstance(text, str):
        raise WrongTypeError(what, name_type(text), "must be a string")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueOutOfBoundsError(what, ascii(text), "it must be text without NUL and surrogates", "leave them out")
    return str(text)


def check_flag(name: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise WrongTypeError(name, name_type(value), "must be True or False")
    return bool(value)
