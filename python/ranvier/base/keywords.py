"""Checks of keywords: the error for a keyword that does not exist names the nearest one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ranvier.base.names import unknown_name
from ranvier.errors import WrongTypeError

__all__ = ["known_keywords"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def known_keywords(call: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make a function raise typed errors for wrong arguments; for an unknown keyword they name the nearest one."""
    signature = inspect.signature(call)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    known = [each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY]
    takes_others = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @functools.wraps(call)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        # For a class, errors show its own name, not that of a base.
        is_made = call.__name__ == "__init__" and bool(arguments)
        name = type(arguments[0]).__name__ if is_made else call.__qualname__
        for keyword in keywords:
            if keyword not in known and not takes_others:
                unknown_name(f"keyword of {name}()", keyword, known)
        try:
            signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise WrongTypeError(f"arguments of {name}()", bound=str(error)) from None
        return call(*arguments, **keywords)

    return checked
