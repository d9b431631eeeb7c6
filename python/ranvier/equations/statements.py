"""The lines of a text: equations, and assignments of resets and receptors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ranvier.base.names import nearest_name
from ranvier.base.texts import check_text
from ranvier.equations.description import Equation, Statement
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import Node, parse
from ranvier.equations.units import NONE, UNITS, Unit, read_unit
from ranvier.errors import EquationError

__all__ = ["lines_of", "normal_name", "read_equations", "read_statements", "source_of", "without_comments"]

_LONGEST = 20_000
_MOST_LINES = 500

_LEFT = re.compile(r"\s*(?:d[ \t]*(?P<derived>\w+?)[ \t]*/[ \t]*dt|(?P<name>\w+))[ \t]*(?=[=:]|$)")
_ASSIGNED = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign>[-+*/]?)=(?!=)")
_FLAGS = re.compile(r"\(([A-Za-z ,-]*)\)\s*$")
_KNOWN_FLAGS = ("unless refractory", "always", "constant", "constant over dt")
_OPERATIONS = {"": "", "+": "add", "-": "subtract", "*": "multiply", "/": "divide"}

_FORMS = "write dx/dt = ... : unit, or x = ... : unit"


def source_of(what: str, text: str) -> Source:
    """Return a text of the user; `what` is its name in errors.

    Raises
    ------
    WrongTypeError, EquationError
        When it is not a text, or too long.
    """
    check_text(what, text)
    if len(text) > _LONGEST or text.count("\n") > _MOST_LINES:
        size = f"{len(text)} characters in {text.count(chr(10)) + 1} lines"
        raise EquationError(what, size, f"they can have {_LONGEST} in {_MOST_LINES}", "write less")
    return Source(what, text)


def normal_name(name: str) -> str:
    """Return a name as Python reads it: letters that look the same are the same."""
    return unicodedata.normalize("NFKC", name)


def without_comments(text: str) -> tuple[str, dict[int, str]]:
    """Return the text with comments replaced by blanks, and the comments by the number of the line."""
    lines, comments = [], {}
    for i, line in enumerate(text.split("\n")):
        code, mark, comment = line.partition("#")
        lines.append(code + " " * (len(mark) + len(comment)))
        if comment.strip():
            comments[i] = comment.strip()
    return "\n".join(lines), comments


def lines_of(text: str, ends: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each line that is not empty; an open bracket continues in the next line."""
    begin, depth = 0, 0
    for i, letter in enumerate(text + ends[0]):
        depth += (letter in "([") - (letter in ")]")
        if (letter in ends and depth <= 0 and not (i and text[i - 1] == "\\")) or i == len(text):
            if text[begin:i].strip():
                yield begin, i
            begin, depth = i + 1, 0


def read_equations(source: Source, flags: tuple[str, ...] = _KNOWN_FLAGS) -> list[Equation]:
    """Return the equations of a text; `flags` are those that lines may have.

    Raises
    ------
    EquationError
        For a line that is not an equation; the error shows its place.
    """
    text, comments = without_comments(source.text)
    plain = Source(source.what, text)
    return [_equation(source, plain, begin, end, comments, flags) for begin, end in lines_of(text, "\n")]


def _equation(
    source: Source, plain: Source, begin: int, end: int, comments: dict[int, str], known: tuple[str, ...]
) -> Equation:
    text = plain.text[begin:end]
    found = _LEFT.match(text)
    line = Place(source, begin + len(text) - len(text.lstrip()), begin + len(text.rstrip()))
    if found is None:
        refuse(line, f"'{line.text}'", "this is not an equation", _FORMS)
    is_differential = found["derived"] is not None
    group = "derived" if is_differential else "name"
    place = Place(source, begin + found.start(group), begin + found.end(group))
    after = begin + found.end()
    colon = plain.text.rfind(":", after, end)
    if colon < 0:
        remedy = f"write {line.text} : mV, or : 1 without a unit" if "=" in text else _FORMS
        refuse(line, f"'{line.text}'", "its unit is missing", remedy)
    node: Node | None = None
    if plain.text[after] == "=":
        node = parse(plain, after + 1, colon)
    elif is_differential:
        refuse(line, f"'{line.text}'", "its right side is missing", _FORMS)
    unit, flags = _unit_and_flags(plain, colon + 1, end, known)
    if "always" in flags and "unless refractory" in flags:
        refuse(line, f"'{line.text}'", "the flags exclude each other", "write one of them")
    meaning = comments.get(source.text.count("\n", 0, end), "")
    return Equation(normal_name(found[group]), place, node, unit, is_differential, meaning, frozenset(flags))


def _unit_and_flags(plain: Source, begin: int, end: int, known: tuple[str, ...]) -> tuple[Unit, list[str]]:
    found = _FLAGS.search(plain.text, begin, end)
    flags: list[str] = []
    if found is not None and not all(word.strip() in UNITS for word in found[1].split(",")):
        flags = [" ".join(word.split()) for word in found[1].split(",")]
        for flag in flags:
            if flag not in known:
                nearest = nearest_name(flag, known)
                remedy = f"did you mean '{nearest}'?" if nearest else f"flags are {', '.join(known)}"
                refuse(Place(plain, found.start(), found.end()), f"'{flag}'", "this flag does not exist", remedy)
        end = found.start()
    if not plain.text[begin:end].strip():
        refuse(Place(plain, begin - 1, begin), "", "the unit is missing after ':'", "write mV, or 1 if it has none")
    unit = Unit(NONE, 0, "") if plain.text[begin:end].strip() == "1" else read_unit(plain, begin, end)
    return unit, flags


def read_statements(source: Source) -> tuple[Statement, ...]:
    """Return the assignments of a text, which are divided by new lines or semicolons.

    Raises
    ------
    EquationError
        For a text that is not one; the error shows its place.
    """
    text, _ = without_comments(source.text)
    plain = Source(source.what, text)
    made = []
    for begin, end in lines_of(text, "\n;"):
        line = text[begin:end]
        found = _ASSIGNED.match(line)
        if found is None:
            place = Place(source, begin + len(line) - len(line.lstrip()), begin + len(line.rstrip()))
            refuse(
                place, f"'{place.text}'", "this is not an assignment", "write x = ..., x += ..., x -= ... or x *= ..."
            )
        place = Place(source, begin + found.start("name"), begin + found.end("name"))
        node = parse(plain, begin + found.end(), end)
        made.append(Statement(normal_name(found["name"]), _OPERATIONS[found["sign"]], node, place))
    return tuple(made)
