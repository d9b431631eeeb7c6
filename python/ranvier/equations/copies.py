"""Lines of a model with an index, which are repeated for copies: ``dI[k]/dt = -I[k]/tau[k] : pA``, ``sum(I[k])``.

They are expanded before anything else is read, so that all other code has plain names: ``I_1``, ``I_2``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ranvier.base.names import counted, unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.texts import name_type
from ranvier.equations.description import Declared
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.statements import lines_of, source_of, without_comments
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Copies", "Written", "suffixes_of"]

Copies = int | Sequence[str]
"""How many copies there are, or their names."""

_MOST = 100
_INDEX = re.compile(r"(?<=\w)\[\s*(\w+)\s*\]")
_IN_WORDS = re.compile(r"\[\s*(\w+)\s*\]")
_SUM = re.compile(r"(?<!\w)sum\s*\(")

Entry = TypeVar("Entry")


def suffixes_of(index: str, copies: object) -> tuple[str, ...]:
    """Return the suffixes of the names of copies.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For a value that is not a number from 0 to 100 or as many different names.
    """
    what = f"copies of [{index}]"
    if not isinstance(copies, str) and isinstance(copies, Sequence):
        for name in copies:
            if not isinstance(name, str) or not f"_{name}".isidentifier() or not name:
                raise WrongTypeError(what, repr(name), "a name has letters, digits and _", 'write ["AMPA", "NMDA"]')
            if list(copies).count(name) > 1:
                raise ValueOutOfBoundsError(what, f"'{name}'", "a name can be given once", "give names that differ")
        count = len(copies)
        made = tuple(copies)
    else:
        count = whole_number(what, copies, 0, _MOST)
        made = tuple(str(number + 1) for number in range(count))
    if count > _MOST:
        raise ValueOutOfBoundsError(what, str(count), f"there can be {_MOST} at most", "give fewer names")
    return made


class Written:
    """Writes out texts and mappings in which names have indices."""

    def __init__(self, copies: object) -> None:
        """Read how many copies there are by index; raises as `suffixes_of` does."""
        if not isinstance(copies, Mapping):
            raise WrongTypeError("copies", name_type(copies), "must be a mapping from indices", "write dict(k=3)")
        self.suffixes = {}
        for index, each in copies.items():
            if not isinstance(index, str) or not index.isidentifier():
                raise WrongTypeError("an index of copies", repr(index), "must be a name", "write dict(k=3)")
            self.suffixes[index] = suffixes_of(index, each)
        self._used: set[str] = set()

    def check_used(self) -> None:
        """Raise an error for indices that are not used.

        Raises
        ------
        UnknownNameError
            For the first of them.
        """
        for index in self.suffixes:
            if index not in self._used:
                unknown_name("index of copies", index, sorted(self._used))

    def equations(self, text: str) -> str:
        """Return equations with all copies of each line."""
        source = source_of("the equations", text)
        plain, comments = without_comments(source.text)
        made = []
        for begin, end in lines_of(plain, "\n"):
            comment = comments.get(source.text.count("\n", 0, end), "")
            made += [
                f"{line}  # {meaning}" if meaning else line
                for line, meaning in self._lines(Source(source.what, plain), begin, end, comment)
            ]
        return "\n".join(made)

    def statements(self, what: str, text: str) -> str:
        """Return the assignments of a reset or a receptor with all copies of each."""
        source = source_of(what, text)
        plain, _ = without_comments(source.text)
        pieces = [
            line
            for begin, end in lines_of(plain, "\n;")
            for line, _ in self._lines(Source(what, plain), begin, end, "")
        ]
        return "; ".join(pieces)

    def expression(self, what: str, text: str) -> str:
        """Return an expression with all terms of its sums."""
        return self._with_sums(source_of(what, text), 0, len(text))

    def entries(self, what: str, given: object, read: Callable[[str, Entry], Entry]) -> dict[str, Entry]:
        """Return a mapping with an entry for each copy of a name; `read` converts the value of a name.

        A list has a value for each copy.
        """
        if not isinstance(given, Mapping):
            raise WrongTypeError(what, name_type(given), "must be a mapping from names")
        made: dict[str, Entry] = {}
        for name, value in given.items():
            index = self._only_index(Source(what, str(name)), 0, len(str(name)), str(name), _IN_WORDS)
            if index is None:
                made[name] = read(name, value)
                continue
            suffixes = self.suffixes[index]
            values = list(value) if isinstance(value, list | tuple) else [value] * len(suffixes)
            if len(values) != len(suffixes):
                raise ShapeError(
                    f"{what} of {name}",
                    counted(len(values), "value"),
                    f"there are {len(suffixes)} copies",
                    "give one for each",
                )
            for suffix, each in zip(suffixes, values, strict=True):
                copy = self._replaced(name, index, suffix, _INDEX, "_")
                copy = self._replaced(copy, index, suffix, _IN_WORDS, "")
                made[copy] = read(copy, self._copied(each, index, suffix))
        return made

    def _copied(self, value: Entry, index: str, suffix: str) -> Entry:
        if isinstance(value, Declared):
            meaning = self._replaced(value.meaning, index, suffix, _IN_WORDS, "")
            return replace(value, meaning=meaning)
        if isinstance(value, str):
            return self._replaced(value, index, suffix, _INDEX, "_")  # type: ignore[return-value]
        return value

    def _lines(self, source: Source, begin: int, end: int, comment: str) -> Iterator[tuple[str, str]]:
        line = self._with_sums(source, begin, end).strip()
        index = self._only_index(source, begin, end, line, _INDEX)
        if index is None:
            yield line, comment
            return
        for suffix in self.suffixes[index]:
            meaning = self._replaced(comment, index, suffix, _IN_WORDS, "")
            yield self._replaced(line, index, suffix, _INDEX, "_"), meaning

    def _with_sums(self, source: Source, begin: int, end: int) -> str:
        """Return a part of a text with the terms of all sums, the inner ones first."""
        line = source.text[begin:end]
        while (found := list(_SUM.finditer(line))) != []:
            first, inside = found[-1].start(), found[-1].end()
            close = _closing(line, inside)
            if close is None:
                refuse(Place(source, begin, end), f"'{line[first:].strip()}'", "its bracket is not closed", "write )")
            term = line[inside:close]
            index = self._only_index(source, begin, end, term, _INDEX)
            if index is None:
                refuse(
                    Place(source, begin, end),
                    f"'sum({term})'",
                    "nothing in it has an index",
                    "write sum(x[k]), with copies",
                )
            terms = [self._replaced(term, index, suffix, _INDEX, "_").strip() for suffix in self.suffixes[index]]
            written = " + ".join(f"({each})" if _is_sum(each) else each for each in terms) or "0"
            line = f"{line[:first]}({written}){line[close + 1 :]}"
        return line

    def _only_index(self, source: Source, begin: int, end: int, text: str, pattern: re.Pattern[str]) -> str | None:
        """Return the index that a text has, or None; more than one, or one that is not known, is refused."""
        found = list(dict.fromkeys(pattern.findall(text)))
        place = Place(source, begin, max(end, begin + 1))
        for index in found:
            if index not in self.suffixes:
                refuse(place, f"'[{index}]'", "no copies have this index", f"write copies=dict({index}=2)")
        if len(found) > 1:
            listed = " and ".join(f"[{index}]" for index in found)
            refuse(place, f"'{text.strip()}'", f"it has two indices, {listed}", "write sum() around one of them")
        self._used |= set(found)
        return found[0] if found else None

    def _replaced(self, text: str, index: str, suffix: str, pattern: re.Pattern[str], before: str) -> str:
        return pattern.sub(lambda found: f"{before}{suffix}" if found[1] == index else found[0], text)


def _closing(text: str, begin: int) -> int | None:
    """Return where the bracket closes that is open at a place."""
    depth = 1
    for i in range(begin, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return None


def _is_sum(term: str) -> bool:
    return re.search(r"[-+<>=]|\b(?:and|or|not|if|else)\b", term) is not None
