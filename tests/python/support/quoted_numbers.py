"""Numbers that pages quote from files in docs/measurements, with comments that say where they come from.

A table below a comment has one row for each element of a list in a file (``dry``, or ``networks.1.real`` for one in
another list), in the form that the comment states::

    <!-- rows paper_x.json dry method=4g
    | {ranks:,} | {simulation_s_per_s:.2g} s | {sum(memory_bytes) / 1e6:.0f} |
    -->

Conditions such as ``method=4g`` leave out elements. A text is stated likewise, and stands somewhere on the page::

    <!-- text paper_x.json
    {one(dry, method="4g", ranks=2048).simulation_s_per_s:.2g} s
    -->

Expressions are those of Python, with the fields of the element, or those of the file, as names. ``sum``, ``min``,
``max`` and ``median`` of an object are those of its values; ``one`` returns the only element of a list with given
fields. ``this`` is the whole element, for fields whose names are keywords of Python: ``this["async"]``.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["check_page", "files_quoted_in"]

_COMMENT = re.compile(r"^<!-- (rows|text) ([^\n]+)\n(.*?)\n-->$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"\{([^{}]+?)(?::([^{}:]*))?\}")


class _Fields(dict[str, Any]):
    """The fields of an object in a file, as attributes too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return _Fields({key: _wrapped(each) for key, each in value.items()})
    if isinstance(value, list):
        return [_wrapped(each) for each in value]
    return value


def _of_values(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: function(values.values() if isinstance(values, dict) else values)


def _one(elements: Sequence[_Fields], **fields: Any) -> _Fields:
    found = [each for each in elements if all(each.get(name) == value for name, value in fields.items())]
    assert len(found) == 1, f"{len(found)} elements have {fields}"
    return found[0]


_FUNCTIONS = {
    **{function.__name__: _of_values(function) for function in (sum, min, max, statistics.median)},
    "one": _one,
    "len": len,
}


def _rendered(template: str, fields: Mapping[str, Any]) -> str:
    def value(found: re.Match[str]) -> str:
        # The pages are of this repository.
        return format(eval(found[1], {"__builtins__": {}}, {**_FUNCTIONS, "this": fields, **fields}), found[2] or "")

    return _FIELD.sub(value, template)


def _element(whole: Any, path: str) -> Any:
    for name in path.split("."):
        whole = whole[int(name) if isinstance(whole, list) else name]
    return whole


def _condition(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    assert equals, f"{word} is no condition"
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text


def files_quoted_in(page: str) -> set[str]:
    """Return the names of the files that comments of a page name."""
    return {found[2].split()[0] for found in _COMMENT.finditer(page)}


def check_page(page: str, folder: Path) -> None:
    """Check that tables and texts of a page have the numbers of the files that their comments name."""
    plain = " ".join(_COMMENT.sub("", page).split())
    for found in _COMMENT.finditer(page):
        kind, (name, *words), template = found[1], found[2].split(), found[3].strip()
        whole = _wrapped(json.loads((folder / name).read_text()))
        if kind == "text":
            assert not words, f"{words} belong to rows"
            text = " ".join(_rendered(template, whole).split())
            assert text in plain, f"the page does not say: {text}"
            continue
        conditions = [_condition(word) for word in words[1:]]
        expected = [
            _rendered(template, each)
            for each in _element(whole, words[0])
            if all(each.get(field) == value for field, value in conditions)
        ]
        assert expected, f"{found[2]} has no elements"
        lines = page[found.end() :].lstrip().splitlines()
        assert lines[0].startswith("|"), f"there is no table below: {found[2]}"
        assert lines[1].startswith("|-"), f"there is no table below: {found[2]}"
        table = lines[2 : next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))]
        assert table == expected
