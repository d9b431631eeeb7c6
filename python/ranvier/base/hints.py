"""Errors for names that do not exist: they suggest the nearest name, or what replaces a name of another simulator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec, TypeVar

from ranvier import _core
from ranvier.base.names import nearest_name, unknown_name, with_article
from ranvier.errors import UnknownAttributeError, UnknownNameError, WrongTypeError

__all__ = ["NamedAttributes", "hint_for", "hints", "known_keywords", "refuse_attribute", "unknown_model"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Explain = Callable[[str, tuple[Any, ...], dict[str, Any], list[str]], None]
"""Gets the name of a call, its arguments by position and by name, and the keywords that it has; may raise an error."""

_SYNAPSE = "write net.connect(..., weight=..., delay=..., synapse=rv.{}(...))"


@functools.cache
def hints() -> Mapping[str, Mapping[str, str]]:
    """Return the hints for names of other simulators, by kind (``absent``, ``renamed``) and name."""
    # Needed for errors only.
    import tomllib

    text = Path(__file__).with_name("hints.toml").read_text(encoding="utf-8")
    found = {
        kind: {name: hint for names, hint in entries.items() for name in names.split()}
        for kind, entries in tomllib.loads(text).items()
    }
    # A model that was added to the core is no longer absent.
    here = {model.name for model in _core.neuron_models()} | {model.name for model in _core.synapse_models()}
    for name in here | {model.name for model in _core.stimulator_models()}:
        found["absent"].pop(name, None)
    return found


def hint_for(name: str) -> str:
    """Return the hint for a name of another simulator; empty if there is none."""
    stem = name.removesuffix("_hom").removesuffix("_synapse")
    if stem != name and any(model.name == stem for model in _core.synapse_models()):
        return _SYNAPSE.format(stem)
    return hints()["absent"].get(name) or hints()["renamed"].get(name, "")


def unknown_model(kind: str, name: str, known: Collection[str]) -> NoReturn:
    """Raise an UnknownNameError for a model; its remedy is a hint, or the nearest of the known names."""
    if hint := hint_for(name):
        bound = "this model is absent so far" if name in hints()["absent"] else f"no {kind} has this name"
        raise UnknownNameError(kind, f"'{name}'", bound, hint)
    unknown_name(kind, name, sorted(known))


def refuse_attribute(kind: str, name: str, known: Collection[str], hint: str = "", otherwise: str = "") -> NoReturn:
    """Raise an UnknownAttributeError whose remedy is a hint, the nearest of the known names, or `otherwise`."""
    remedy = hint or hint_for(name)
    if not remedy:
        nearest = nearest_name(name, known)
        remedy = f"did you mean '{nearest}'?" if nearest else otherwise or f"it has {', '.join(sorted(known))}"
    bound = "this model is absent so far" if name in hints()["absent"] else "this name does not exist"
    raise UnknownAttributeError(kind, ascii(name), bound, remedy)


class NamedAttributes:
    """Base of classes for users: reading an attribute that does not exist raises an error with a hint."""

    _hints: ClassVar[Mapping[str, str]] = {}
    """Hints for names that do not exist in this class."""

    # Hidden from type checkers, which would take any name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Python looks up private names, also in incomplete objects. If the class has the name, a property raised
            # an AttributeError: the second lookup raises it again.
            if not name.startswith("_") and not hasattr(type(self), name):
                known = [each for each in {**dict.fromkeys(dir(type(self))), **vars(self)} if not each.startswith("_")]
                refuse_attribute(f"attribute of {with_article(type(self).__name__)}", name, known, self._hint(name))
            return object.__getattribute__(self, name)

    def _hint(self, name: str) -> str:
        """Return what to do instead of reading an attribute that does not exist; empty if that is not known."""
        return self._hints.get(name, "")


def known_keywords(call: Callable[Arguments, Result], explain: Explain | None = None) -> Callable[Arguments, Result]:
    """Return a function that raises a typed error, with the nearest keyword, for arguments that do not fit.

    Arguments are inspected only after a call has failed; `explain` may then raise a better error.
    """
    signature = inspect.signature(call)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    known = [each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY]
    takes_others = any(each.kind is each.VAR_KEYWORD for each in parameters)

    @functools.wraps(call)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        try:
            return call(*arguments, **keywords)
        except (TypeError, UnknownNameError) as raised:
            # A constructor is called by the name of the class, which may derive from that of the function.
            is_constructor = call.__name__ == "__init__" and bool(arguments)
            name = type(arguments[0]).__name__ if is_constructor else call.__qualname__
            if explain is not None:
                explain(name, arguments, keywords, known)
            if isinstance(raised, UnknownNameError):
                raise
            for keyword in keywords:
                if keyword not in known and not takes_others:
                    hint = (
                        getattr(type(arguments[0]), "_hints_of_keywords", {}).get(keyword) if is_constructor else None
                    )
                    if hint:
                        raise UnknownNameError(f"keyword of {name}()", f"'{keyword}'", "it has none", hint) from None
                    unknown_name(f"keyword of {name}()", keyword, known)
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                raise WrongTypeError(f"arguments of {name}()", bound=str(error)) from None
            raise

    return checked
