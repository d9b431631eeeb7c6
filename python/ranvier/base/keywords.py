"""Keywords of calls: one that does not exist is an error that names the nearest one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ranvier.base.names import unknown_name
from ranvier.errors import WrongTypeError

__all__ = ["known_keywords", "with_known_keywords"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Explain = Callable[[str, str, list[str]], None]
"""Gets what is called, a keyword that it does not have, and those that it has; may raise a better error."""


def known_keywords(call: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function or method raise typed errors for arguments that do not fit, with the nearest name of a keyword."""
    return with_known_keywords(call, lambda name, keyword, known: None)


def with_known_keywords(call: Callable[Arguments, Result], explain: Explain) -> Callable[Arguments, Result]:
    """As `known_keywords`, with words of its own for some keywords."""
    signature = inspect.signature(call)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    known = [each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY]
    takes_others = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @functools.wraps(call)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        # A class is called by its own name, not by that of a base.
        is_made = call.__name__ == "__init__" and bool(arguments)
        name = type(arguments[0]).__name__ if is_made else call.__qualname__
        for keyword in keywords:
            if keyword not in known and not takes_others:
                explain(name, keyword, known)
                unknown_name(f"keyword of {name}()", keyword, known)
        try:
            return call(*arguments, **keywords)
        except TypeError:
            # One of the call itself, which has then not begun; what the function does is its own matter.
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                raise WrongTypeError(f"arguments of {name}()", bound=str(error)) from None
            raise

    return checked
