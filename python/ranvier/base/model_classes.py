"""Classes of models, made from their descriptions when they are first used.

The stubs beside the modules that use this (``models.pyi``) show editors and type checkers the classes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, Generic, TypeVar

from ranvier.base.names import unknown_name
from ranvier.errors import WrongTypeError

__all__ = ["Classes", "attribute", "keyword", "made_class"]

Kind = TypeVar("Kind")

_SELF = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)


class Classes(Mapping[str, type[Kind]], Generic[Kind]):
    """Classes by name. Each is made when it is first looked up, and only once."""

    def __init__(self, names: Collection[str], make: Callable[[str], type[Kind]]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, type[Kind]] = {}
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> type[Kind]:
        if name not in self._names:
            raise KeyError(name)
        with self._lock:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def attribute(module: str, name: str, *tables: Classes[Any]) -> type:
    """Return a class as an attribute of a module: for its ``__getattr__``."""
    for table in tables:
        if name in table:
            return table[name]
    raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)


def keyword(name: str, annotation: str, default: object = Parameter.empty) -> Parameter:
    """Return a parameter of a constructor that is passed by name."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def made_class(
    name: str,
    base: type[Kind],
    module: str,
    documentation: str,
    parameters: list[Parameter],
    attributes: Mapping[str, object],
) -> type[Kind]:
    """Return a class with a constructor of these parameters, as a statement ``class`` in the module would make it."""
    contents = {"__module__": module, "__doc__": documentation, **attributes}
    return type(name, (base,), {**contents, "__init__": _constructor(name, base, parameters)})


def _constructor(name: str, base: type, parameters: list[Parameter]) -> Callable[..., None]:
    signature = Signature([_SELF, *parameters], return_annotation="None")
    known = [each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    takes_others = len(known) < len(parameters)
    required = [
        each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD and each.default is each.empty
    ]

    def __init__(self: Any, *positional: object, **values: object) -> None:  # noqa: N807
        others = {key: value for key, value in values.items() if key not in known}
        if others and not takes_others:
            unknown_name(f"keyword of {name}()", next(iter(others)), known)
        if positional or any(each not in values for each in required):
            try:
                signature.bind(self, *positional, **values)
            except TypeError as error:
                raise WrongTypeError(f"arguments of {name}()", bound=str(error)) from None
        # In the order of the parameters, which is also the order of the text of a model.
        base.__init__(self, **{each: values[each] for each in known if each in values}, **others)  # type: ignore[misc]

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    return __init__
