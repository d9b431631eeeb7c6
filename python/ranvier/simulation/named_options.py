"""Calls that take options by name; their errors for unknown names suggest the right one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ranvier.base.names import unknown_name
from ranvier.errors import UnknownNameError, WrongTypeError
from ranvier.simulation.options import GROUPS, OPTIONS

__all__ = ["names_options"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def names_options(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a call refuse unknown keywords with an error that suggests the nearest name or the group of the option."""
    signature = inspect.signature(call)
    known = [name for name, each in signature.parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    every = list(signature.parameters)
    name_of_call = call.__qualname__.removesuffix(".__init__")

    @functools.wraps(call)
    def checked(*positional: Parameters.args, **named: Parameters.kwargs) -> Result:
        for name in named:
            if name not in every:
                _refuse(name_of_call, name, known)
        try:
            signature.bind(*positional, **named)
        except TypeError as error:
            raise WrongTypeError(f"arguments of {name_of_call}", bound=str(error)) from None
        return call(*positional, **named)

    return checked


def _refuse(call: str, name: str, known: list[str]) -> None:
    found = OPTIONS.get(name)
    if found is None or found.group not in known:
        unknown_name(f"keyword of {call}", name, known)
    kind = next(group for group in GROUPS if name in group.options).__name__
    raise UnknownNameError(
        f"keyword of {call}",
        f"'{name}'",
        f"it belongs to {found.group}=rv.{kind}({name}=...)",
        "pass it there",
    )
