"""Constants of the expressions of rules, as keywords beside their parameters."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ranvier.equations.expression import Expression
from ranvier.network.rule_base import Rule
from ranvier.space.masks import Mask

__all__ = ["with_constants"]


def with_constants(kind: type[Rule]) -> type[Rule]:
    """Let the constructor of a rule take constants of its expressions as further keywords."""
    call = kind.__init__
    signature = inspect.signature(call)
    names = list(signature.parameters)

    @functools.wraps(call)
    def made(self: object, *given: Any, **keywords: Any) -> None:
        # Flags and masks are parameters of other rules.
        constants = {
            name: value for name, value in keywords.items() if name not in names and not isinstance(value, bool | Mask)
        }
        if constants:
            values = {**dict(zip(names[1:], given, strict=False)), **keywords}
            texts = [name for name in kind._expressions if isinstance(values.get(name), str)]
            # Without a text, the constructor refuses the keyword, and suggests another one.
            if texts and len(given) < len(names):
                given = ()
                keywords = {name: value for name, value in values.items() if name not in constants}
                keywords[texts[0]] = Expression(values[texts[0]], constants)
        call(self, *given, **keywords)

    constants = inspect.Parameter("constants", inspect.Parameter.VAR_KEYWORD, annotation="float | str")
    made.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), constants]
    )
    kind.__init__ = made  # type: ignore[method-assign]
    return kind
