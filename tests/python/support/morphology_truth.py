"""What files of morphologies say, read by rules that are as strict as simple: to see that a reader leaves nothing out.

They return the length of the neurites by tag and the number of their points, or a reason to refuse the file.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import defaultdict
from typing import Any

import numpy as np

__all__ = ["Truth", "of_neurolucida", "of_swc"]

Truth = tuple[dict[int, float], int]
"""Length of the neurites by tag, um; number of their cones."""

_INTEGER = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NO_NUMBERS = ("nan", "inf", "infinity")
_LARGEST = 3e38
Point = tuple[float, ...]


def _number(word: str) -> float:
    if not _NUMBER.fullmatch(word):
        return math.nan
    value = float(word)
    return float(np.float32(value)) if abs(value) < _LARGEST else math.nan


def of_swc(data: bytes) -> Truth | str:
    """Return what an SWC file says."""
    data = data.removeprefix(codecs.BOM_UTF8)
    samples: dict[int, tuple[int, Point, int]] = {}
    for line in data.decode("latin-1").split("\n"):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) < 7:
            return "too few fields"
        if not all(_INTEGER.fullmatch(words[i]) for i in (0, 1, 6)):
            return "a number of a sample, its tag or its parent is no whole number"
        number, tag, parent = (int(words[i]) for i in (0, 1, 6))
        point = tuple(_number(word) for word in words[2:6])
        if not all(map(math.isfinite, point)):
            return "a coordinate is no number"
        if number in samples:
            return "a sample twice"
        samples[number] = tag, point, parent
    roots = [number for number, (_, _, parent) in samples.items() if parent == -1]
    if not roots:
        return "no root"
    return _lengths(samples)


def _lengths(samples: dict[int, tuple[int, Point, int]]) -> Truth | str:
    lengths: defaultdict[int, float] = defaultdict(float)
    cones = 0
    reached: set[int] = set()
    for number in samples:
        path = []
        while number != -1 and number not in reached:
            if number in path:
                return "a loop"
            if number not in samples:
                return "a missing parent"
            path.append(number)
            number = samples[number][2]
        reached.update(path)
    for tag, point, parent in samples.values():
        if tag == 1:
            continue
        if not point[3] > 0.0:
            return "no thickness"
        if not 0 < tag < 20:
            return "an unknown tag"
        if parent != -1 and parent not in samples:
            return "a missing parent"
        if parent != -1 and samples[parent][0] != 1:
            lengths[tag] += math.dist(point[:3], samples[parent][1][:3])
            cones += point[:3] != samples[parent][1][:3]
    return dict(lengths), cones


# ---- Neurolucida -----------------------------------------------------------------------------------------------------

_TOKEN = re.compile(rb'\s+|;[^\n]*|"[^"]*"|[()|]|[^\s()|;"]+')
# Of contours; those of other names, such as the border of a layer, are no part of a cell.
_SOMA_NAMES = ('"cellbody"', '"cell body"', '"soma"')
_TAGS = {"axon": 2, "dendrite": 3, "apical": 4}


def _parsed(data: bytes) -> list[Any]:
    """Return the nested lists of a file; raise a ValueError where parentheses do not match."""
    stack: list[list[Any]] = [[]]
    place = 0
    while place < len(data):
        match = _TOKEN.match(data, place)
        if match is None:
            raise ValueError
        token, place = match.group().decode("latin-1"), match.end()
        if token[0] in ";," or token.isspace():
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError
    return stack[0]


def of_neurolucida(data: bytes) -> Truth | str:
    """Return what a Neurolucida file says, of those with nothing but contours and neurites."""
    try:
        blocks = _parsed(data.removeprefix(codecs.BOM_UTF8))
    except (ValueError, IndexError):
        return "parentheses that do not match"
    lengths: defaultdict[int, float] = defaultdict(float)
    cones = 0
    for block in blocks:
        if not isinstance(block, list):
            return "words outside of blocks"
        if any(isinstance(e, list) and len(e) == 1 and str(e[0]).lower() == "cellbody" for e in block):
            continue
        tags = {
            _TAGS[e[0].lower()] for e in block if isinstance(e, list) and len(e) == 1 and str(e[0]).lower() in _TAGS
        }
        name = block[0].lower() if block and isinstance(block[0], str) else ""
        if len(tags) != 1:
            if _has_point(block) and not (name[:1] == '"' and name not in _SOMA_NAMES):
                return "not one kind of neurite"
            continue
        if name in _SOMA_NAMES:
            return "a soma that is a neurite"
        try:
            length, count = _branch(block, None)
        except ValueError as error:
            return str(error)
        lengths[tags.pop()] += length
        cones += count
    return dict(lengths), cones


def _branch(elements: list[Any], before: Point | None) -> tuple[float, int]:
    """Return the length of a branch and what grows on it."""
    length, cones = 0.0, 0
    for element in elements:
        if not isinstance(element, list):
            if element in ("Normal", "High", "Low", "Incomplete", "Origin", "Generated") or element.startswith('"'):
                continue
            raise ValueError("a word that is not known")
        if element and all(isinstance(word, str) for word in element):
            numbers = sum(bool(_NUMBER.fullmatch(word)) for word in element)
            # A colour or another setting of the program, which may have a number; or a point whose x was damaged.
            if numbers == 0 or (_WORD.fullmatch(element[0]) and element[0].lower() not in _NO_NUMBERS and numbers <= 2):
                continue
            point = tuple(_number(word) for word in element[:4])
            if len(point) < 4 or not all(map(math.isfinite, point)):
                raise ValueError("a point that is none")
            if not point[3] > 0.0:
                raise ValueError("no thickness")
            if before is not None:
                length += math.dist(point[:3], before[:3])
                cones += point[:3] != before[:3]
            before = point
            continue
        if element and isinstance(element[0], str) and not _has_point(element):
            continue
        twigs: list[list[Any]] = [[]]
        for part in element:
            if part == "|":
                twigs.append([])
            else:
                twigs[-1].append(part)
        for twig in twigs:
            more, count = _branch(twig, before)
            length, cones = length + more, cones + count
    return length, cones


def _has_point(elements: list[Any]) -> bool:
    """Whether there is a list that begins with a number in what may be nested."""
    waiting = [element for element in elements if isinstance(element, list)]
    while waiting:
        element = waiting.pop()
        if element and isinstance(element[0], str) and _NUMBER.fullmatch(element[0]):
            return True
        waiting += [each for each in element if isinstance(each, list)]
    return False
