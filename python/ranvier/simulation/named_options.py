"""Calls that take options by name, and tell which was meant where there is none of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ranvier.base.keywords import with_known_keywords
from ranvier.errors import UnknownNameError
from ranvier.simulation.options import GROUPS, OPTIONS

__all__ = ["names_options"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def names_options(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a call refuse keywords that it does not have with an error that tells which was meant, or what has it now."""
    return with_known_keywords(call, _tell_group)


def _tell_group(call: str, name: str, known: list[str]) -> None:
    found = OPTIONS.get(name)
    if found is None or found.group not in known:
        return
    kind = next(group for group in GROUPS if name in group.options).__name__
    raise UnknownNameError(
        f"keyword of {call}()",
        f"'{name}'",
        f"it belongs to {found.group}=rv.{kind}({name}=...)",
        "give it there",
    )
