"""Checks Neurolucida files before MorphIO reads them: it leaves out parts of some damaged files."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ranvier.cells.cones import DEEPEST, Cones
from ranvier.errors import FileError

__all__ = ["check_neurolucida"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Nearly all that files have are points; one that is written otherwise is a list of words.
_POINT = rf"\([ \t]*({_NUMBER.pattern})" + rf"[ \t]+({_NUMBER.pattern})" * 3 + r"[ \t]*\)"
_TOKEN = re.compile(_POINT + r'|\s+|;[^\n]*|"[^"\n]*"|[()|<>,]|[^\s()|<>;",]+|.', re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_NO_NUMBERS = frozenset({"nan", "inf", "infinity"})
_SOMA = "cellbody"
_KINDS = frozenset({_SOMA, "axon", "dendrite", "apical"})
_SOMA_NAMES = frozenset({'"cellbody"', '"cell body"', '"soma"'})
# Words that MorphIO accepts as the end of a branch.
_ENDS = frozenset({"normal", "high", "low", "incomplete", "midpoint", "origin", "generated"})
_FARTHEST = 1e9  # um
# Parentheses that are open at a point; a fork has one.
_MOST_OPEN = 2 * DEEPEST


class _List(list[Any]):
    """Content of a pair of parentheses: words, numbers of points, and lists."""

    line: int = 0


class _Checker:
    def __init__(self, file: Path) -> None:
        self.file = file
        # x, y, z, diameter of all points; their lines.
        self.read = array("d")
        self.lines = array("q")
        # Numbers of the points of neurites, and places of the points before them.
        self.points = array("q")
        self.parents = array("q")

    def refuse(self, line: int, bound: str, remedy: str = "mend the file") -> NoReturn:
        raise FileError(f"file {self.file}, line {line}", bound=bound, remedy=remedy)

    def parsed(self, text: str) -> _List:
        """Return the blocks of the file."""
        top, line = _List(), 1
        stack = [top]
        for match in _TOKEN.finditer(text):
            token = match[0]
            if match[1]:
                stack[-1].append(self.add(map(float, match.groups()), line))
            elif token.isspace():
                line += token.count("\n")
            elif token == "(":
                below = _List()
                below.line = line
                stack[-1].append(below)
                stack.append(below)
                # MorphIO recurses also into lists that are not part of the cell.
                if len(stack) > _MOST_OPEN:
                    self.refuse(line, f"more than {_MOST_OPEN} parentheses are open")
            elif token == ")":
                if len(stack) == 1:
                    self.refuse(line, "a parenthesis is closed that was not opened")
                stack.pop()
            elif token == '"':
                self.refuse(line, "a text in quotes does not end on its line")
            elif token[0] not in ";,":
                if len(stack) == 1:
                    self.refuse(line, f"the word {token[:40]!r} is outside of parentheses")
                stack[-1].append(token)
        if len(stack) > 1:
            self.refuse(stack[-1].line, "a parenthesis is opened here and not closed")
        return top

    def add(self, values: Iterable[float], line: int) -> int:
        """Add a point, and return its number."""
        self.read.extend(values)
        self.lines.append(line)
        return len(self.lines) - 1

    def check_block(self, block: _List) -> None:
        """Check a contour, a neurite, or a block that is not part of the cell."""
        kinds = {each[0].lower() for each in block if _is_words(each) and len(each) == 1} & _KINDS
        first = block[0] if block else ""
        for each in block:
            if isinstance(each, _List) and _hides_neurite(each):
                self.refuse(each.line, f"there is a part of a neurite within ({str(each[0])[:40]} ...)")
        if isinstance(first, str) and first.lower() in _SOMA_NAMES and kinds:
            # If the list of points was not closed, it includes the neurite that follows.
            kinds.add(_SOMA)
        if len(kinds) > 1:
            self.refuse(block.line, f"it is {' and '.join(sorted(kinds))} at once", "give it one kind")
        if not kinds:
            named = isinstance(first, str)
            if named and first.lower() not in _SOMA_NAMES | _KINDS and not _is_branched(block):
                return  # a contour or marker of something else, or settings of the program
            if named or _has_points(block):
                self.refuse(block.line, "it has no kind", "add (CellBody), (Axon), (Dendrite) or (Apical)")
            return
        if kinds == {_SOMA}:
            for each in block:
                if isinstance(each, int) or (isinstance(each, _List) and each and not _is_property(each)):
                    self.point(each)
            return
        self.check_neurite(block)

    def check_neurite(self, block: _List) -> None:
        """Check a tree of branches; the next one to be checked is the last of a list."""
        waiting: list[tuple[_List, int, int]] = [(block, -1, 0)]
        while waiting:
            branch, before, depth = waiting.pop()
            if depth > DEEPEST:
                self.refuse(branch.line, f"there are more than {DEEPEST} forks on the way from the soma to here")
            waiting += [(twig, end, depth + 1) for twig, end in self.twigs(branch, before)]

    def twigs(self, branch: _List, before: int) -> Iterator[tuple[_List, int]]:
        """Check the points of a branch, and yield the branches that continue from its end."""
        ended, in_spine, forked, has_points = "", False, False, False
        for each in branch:
            if isinstance(each, str):
                if each == "|":
                    self.refuse(branch.line, "there is a | outside of a fork in the branch that starts here")
                in_spine = each == "<" or (in_spine and each != ">")
                if _WORD.fullmatch(each):
                    ended = each
                elif each not in "<>" and each[0] != '"' and not in_spine:
                    self.refuse(branch.line, f"there is {each[:40]!r} among the points of the branch that starts here")
                continue
            if in_spine:
                continue
            if isinstance(each, _List) and _is_property(each):
                if _is_words(each) and sum(bool(_NUMBER.fullmatch(word)) for word in each) > 2:
                    self.point(each)
                if _hides_neurite(each):
                    self.refuse(each.line, f"there is a part of a neurite within ({each[0][:40]} ...)")
                if "|" in each or each[0].lower() in _ENDS:
                    self.refuse(each.line, f"a fork starts with the word {each[0]}", "start it with a point")
                continue
            if ended or forked:
                after = f"the word {ended}" if ended else "a fork"
                line = self.lines[each] if isinstance(each, int) else each.line
                self.refuse(line, f"a branch continues after {after}", "end the branch there")
            if isinstance(each, _List) and each and isinstance(each[0], list | int):
                if not has_points:
                    self.refuse(each.line, "a branch starts with a fork", "start it with a point")
                forked = True
                for twig in self.split(each):
                    if twig and all(isinstance(part, list) and _is_property(part) for part in twig):
                        self.refuse(twig.line, "a branch has no points")
                    yield twig, before
            else:
                self.points.append(self.point(each))
                self.parents.append(before)
                has_points = True
                before = len(self.points) - 1
        if not (has_points or forked) and ended and ended.lower() not in _ENDS:
            # MorphIO takes it for a branch that is empty; it may be one whose first parenthesis is lost.
            self.refuse(branch.line, f"a branch without points ends in the word {ended[:40]!r}")

    def split(self, fork: _List) -> Iterator[_List]:
        """Yield the branches of a fork."""
        twig = _List()
        twig.line = fork.line
        for each in fork:
            if each != "|":
                if not twig and not isinstance(each, str):
                    twig.line = self.lines[each] if isinstance(each, int) else each.line
                twig.append(each)
                continue
            yield twig
            twig = _List()
            twig.line = fork.line
        yield twig

    def point(self, given: _List | int) -> int:
        """Check a point, and return its number."""
        number = given if isinstance(given, int) else self.add(_values(given), given.line)
        x, y, z, diameter = self.read[4 * number : 4 * number + 4]
        if not (abs(x) <= _FARTHEST and abs(y) <= _FARTHEST and abs(z) <= _FARTHEST and 0.0 < diameter <= _FARTHEST):
            self.refuse_point(number, None if isinstance(given, int) else given)
        return number

    def refuse_point(self, number: int, words: _List | None) -> NoReturn:
        """Raise an error for a point, which the file has in these words."""
        values = self.read[4 * number : 4 * number + 4]
        shown = " ".join(f"{value:g}" for value in values) if words is None else " ".join(map(str, words[:6]))[:60]
        shown = "".join(letter if letter.isprintable() else "?" for letter in shown)
        line = self.lines[number]
        if all(abs(value) <= _FARTHEST for value in values):
            self.refuse(line, f"the point ({shown}) has no thickness", "give diameters in um, or remove it")
        self.refuse(line, f"({shown}) is not a point", f"a point is (x y z diameter), numbers up to {_FARTHEST:g} um")


def _values(words: _List) -> list[float]:
    """Return x, y, z and diameter; NaN for words that are not numbers."""
    if not 4 <= len(words) <= 5:
        return [math.nan] * 4
    return [float(word) if isinstance(word, str) and _NUMBER.fullmatch(word) else math.nan for word in words[:4]]


def _is_words(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


def _is_property(value: list[Any]) -> bool:
    """Whether a list is a property, such as a colour, a name or a marker, not a point or a fork."""
    first = value[0] if value else ""
    if not isinstance(first, str):
        return False
    return (bool(_WORD.fullmatch(first)) and first.lower() not in _NO_NUMBERS) or first[:1] == '"'


def _hides_neurite(value: list[Any]) -> bool:
    """Whether there is a fork, or the kind of a neurite, within a colour, a name, a marker."""
    if not _is_property(value):
        return False
    waiting = [each for each in value if isinstance(each, list)]
    while waiting:
        part = waiting.pop()
        if part and (isinstance(part[0], list | int) or (len(part) == 1 and str(part[0]).lower() in _KINDS)):
            return True
        waiting += [each for each in part if isinstance(each, list)]
    return False


def _is_branched(block: list[Any]) -> bool:
    """Whether a block has a point and a fork or the end of a branch, as only neurites have."""
    has_end = any(isinstance(each, str) and each.lower() in _ENDS for each in block[1:])
    has_fork = any(isinstance(each, list) and each and isinstance(each[0], list | int) for each in block)
    return (has_end or has_fork) and _has_points(block)


def _has_points(block: list[Any]) -> bool:
    """Whether there are points anywhere in a block, also within lists of its lists."""
    waiting: list[list[Any]] = [block]
    while waiting:
        part = waiting.pop()
        for each in part:
            if isinstance(each, int):
                return True
            if isinstance(each, list):
                if each and isinstance(each[0], str) and not _is_property(each):
                    return True
                waiting.append(each)
    return False


def check_neurolucida(file: Path, text: str) -> Cones:
    """Check the file, and return the cones of its neurites."""
    checker = _Checker(file)
    blocks = checker.parsed(text)
    if not blocks:
        raise FileError(f"file {file}", bound="it has no neurites", remedy="check that it is a Neurolucida file")
    for block in blocks:
        if isinstance(block, int):
            checker.refuse(checker.lines[block], "a point is not in a neurite or contour")
        checker.check_block(block)
    numbers = np.array(checker.points, dtype=np.int64)
    points = np.array(checker.read).reshape(-1, 4)[numbers]
    cones = Cones(points, np.array(checker.parents, dtype=np.int64), np.array(checker.lines, dtype=np.int64)[numbers])
    if (line := cones.single()) is not None:
        checker.refuse(line, "a neurite has a single point", "add a second one, or remove it")
    return cones
