"""Places in the texts of users, which errors point at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ranvier.base.names import nearest_name
from ranvier.errors import EquationError, UnitError, UnknownSymbolError

__all__ = ["Place", "Source", "refuse", "refuse_name", "refuse_unit"]

_WIDEST = 100


@dataclass(frozen=True, slots=True)
class Source:
    """A text of a user: its title, for example "the equations", and its characters."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """The characters from `begin` up to `end` of a text."""

    source: Source
    begin: int
    end: int

    @property
    def line(self) -> int:
        """Number of the line, from 1."""
        return self.source.text.count("\n", 0, self.begin) + 1

    @property
    def column(self) -> int:
        """Number of the first character in its line, from 1."""
        return self.begin - self._begin_of_line() + 1

    @property
    def text(self) -> str:
        """The characters; shortened for a long place."""
        text = " ".join(_printable(self.source.text[self.begin : self.end]).split())
        return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."

    def _begin_of_line(self) -> int:
        return self.source.text.rfind("\n", 0, self.begin) + 1

    def called(self) -> str:
        """Return where it is, in words."""
        return f"{self.source.what}, line {self.line}, column {self.column}"

    def shown(self) -> str:
        """Return the line, and marks below the place."""
        first = self._begin_of_line()
        last = self.source.text.find("\n", self.begin)
        last = len(self.source.text) if last < 0 else last
        line = _printable(self.source.text[first:last])
        mark, width = self.begin - first, max(1, min(self.end, last) - self.begin)
        # Of a long line, the part around the place.
        cut = max(0, min(mark - _WIDEST // 2, len(line) - _WIDEST))
        shown = line[cut : cut + _WIDEST].rstrip()
        return f"    {shown}\n    {' ' * (mark - cut)}{'^' * min(width, max(1, _WIDEST - (mark - cut)))}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def refuse(place: Place, value: str, bound: str, remedy: str = "") -> NoReturn:
    """Raise an error about a place; `value` is its text, or empty."""
    raise EquationError(place.called(), value, bound, remedy, place.shown())


def refuse_unit(place: Place, value: str, bound: str, remedy: str = "") -> NoReturn:
    """Raise an error about units."""
    raise UnitError(place.called(), value, bound, remedy, place.shown())


def refuse_name(place: Place, name: str, known: list[str], instead: str = "") -> NoReturn:
    """Raise an error about a name that does not exist; `instead` is the remedy if no name is near."""
    nearest = nearest_name(name, known)
    remedy = f"did you mean '{nearest}'?" if nearest else instead
    raise UnknownSymbolError(place.called(), f"'{name}'", "no such name exists", remedy, place.shown())
