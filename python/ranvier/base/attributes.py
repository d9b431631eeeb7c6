"""Attributes that do not exist: errors that tell which one was meant, or what takes its place here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, NoReturn

from ranvier.base.names import nearest_name, with_article
from ranvier.errors import UnknownAttributeError

__all__ = ["NamedAttributes"]


class NamedAttributes:
    """Base of what users have in hand: a misspelt attribute, or one of another simulator, is an error that helps."""

    _hints: ClassVar[Mapping[str, str]] = {}
    """What to do, by names that other simulators have for it."""

    # Type checkers are not to see it: they would take any name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Python looks for names of its own, also in what is not complete yet. What a property raises is its own
            # matter: looking once more raises it again.
            if not name.startswith("_") and not hasattr(type(self), name):
                self._refuse_attribute(name)
            return object.__getattribute__(self, name)

    def _refuse_attribute(self, name: str) -> NoReturn:
        kind = type(self).__name__
        known = [each for each in {**dict.fromkeys(dir(type(self))), **vars(self)} if not each.startswith("_")]
        remedy = self._hint(name)
        if not remedy:
            nearest = nearest_name(name, known)
            remedy = f"did you mean '{nearest}'?" if nearest else f"it has {', '.join(sorted(known))}"
        raise UnknownAttributeError(
            f"attribute of {with_article(kind)}", ascii(name), "this name does not exist", remedy
        )

    def _hint(self, name: str) -> str:
        """Return what to do in place of reading an attribute that does not exist; nothing where that is not known."""
        return self._hints.get(name, "")
