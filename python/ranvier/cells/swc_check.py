"""Checks SWC files before MorphIO reads them: it leaves out or misreads parts of some damaged files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier.cells.cones import DEEPEST, Cones, depths_of
from ranvier.errors import FileError

__all__ = ["check_swc"]

_INTEGER = r"[+-]?\d{1,9}"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_SAMPLE = re.compile(
    rf"\s*({_INTEGER})\s+({_INTEGER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_INTEGER})(\s.*)?",
    re.ASCII | re.DOTALL,
)
_COMMENT = re.compile("#[^\n]*")
_SPACE = r"[ \t]"
# A sample and nothing else.
_PLAIN_LINE = re.compile(
    rf"^{_SPACE}*{_INTEGER}{_SPACE}+{_INTEGER}{_SPACE}+(?:{_NUMBER}{_SPACE}+){{4}}{_INTEGER}{_SPACE}*\r?$",
    re.ASCII | re.MULTILINE,
)
_PIECE = 1_000_000  # letters
_FIELDS = ("number", "tag", "x", "y", "z", "radius", "parent")
_FARTHEST = 1e9  # um
_SOMA = 1
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class _Samples(NamedTuple):
    """Samples in the order of the file."""

    lines: IntArray
    numbers: IntArray
    tags: IntArray
    points: FloatArray
    """x, y, z, radius; shape ``(n, 4)``."""
    parents: IntArray
    """Numbers of samples."""


class _Checker:
    """Checks the samples of a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def refuse(self, line: int, value: str, bound: str, remedy: str = "mend the file") -> NoReturn:
        raise FileError(f"file {self.file}, line {line}", value, bound, remedy)

    def samples(self, text: str) -> _Samples:
        """Return all samples."""
        parts = []
        first = 1
        # Pieces of whole lines, so that temporary memory is small.
        for begin, end in _pieces(text):
            piece = _COMMENT.sub("", text[begin:end])
            count = piece.count("\n")
            # Nearly all files have nothing but plain lines; others are read line by line.
            is_plain = bool(piece.strip()) and not _PLAIN_LINE.sub("", piece).strip("\n")
            parts.append(_plain(piece, first, count) if is_plain else self.line_by_line(piece, first))
            first += count
        return _Samples(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def line_by_line(self, text: str, first: int) -> _Samples:
        """Return the samples of some lines; raise an error for a line that is not a sample."""
        rows = []
        for line, words in enumerate(text.split("\n"), first):
            match = _SAMPLE.fullmatch(words)
            if match is None:
                self.refuse_words(line, words.split())
                continue
            if "\r" in words.rstrip():
                self.refuse(line, "", "lines end in the old way of Macintosh", r"end lines with \n or \r\n")
            rows.append((line, int(match[1]), int(match[2]), *map(float, match.group(3, 4, 5, 6)), int(match[7])))
        return _as_samples(np.array(rows, dtype=np.float64).reshape(-1, 8))

    def refuse_words(self, line: int, words: list[str]) -> None:
        """Raise an error for a line that is not a sample; empty lines are ignored."""
        if not words:
            return
        for name, word in zip(_FIELDS, words, strict=False):
            kind = _INTEGER if name in ("number", "tag", "parent") else _NUMBER
            if re.fullmatch(kind, word, re.ASCII) is None:
                whole = "a whole number" if kind is _INTEGER else "a number"
                self.refuse(line, "", f"the {name} of the sample is {word[:40]!r}, but must be {whole}")
        self.refuse(
            line, f"{len(words)} fields", f"a sample has {len(_FIELDS)}: {', '.join(_FIELDS)}", "add the missing fields"
        )

    def check_values(self, samples: _Samples) -> None:
        """Check each sample; raise an error for the first invalid one."""
        points = samples.points
        # Stable, so that the first of equal numbers stays the first.
        order = np.argsort(samples.numbers, kind="stable")
        is_again = np.zeros(len(order), dtype=np.bool_)
        is_again[order[1:]] = samples.numbers[order[1:]] == samples.numbers[order[:-1]]
        far = np.abs(points).max(axis=1) > _FARTHEST
        thin = ~(points[:, 3] > 0.0)
        bad = np.flatnonzero(is_again | far | thin | (samples.tags <= 0))
        if not len(bad):
            return
        i = int(bad[0])
        line, sample = int(samples.lines[i]), f"sample {samples.numbers[i]}"
        if is_again[i]:
            self.refuse(line, sample, "this number was used before", "give it another number")
        if far[i]:
            self.refuse(line, sample, f"coordinates and radii are numbers up to {_FARTHEST:g} um", "check the unit")
        if thin[i]:
            self.refuse(line, f"{sample} with radius {points[i, 3]:g}", "a radius is > 0", "give radii in um")
        bound = "it has no kind" if samples.tags[i] == 0 else "kinds are numbers from 1 on"
        self.refuse(line, f"{sample} with tag {samples.tags[i]}", bound, "give it a tag, such as 3 for a dendrite")

    def check_parents(self, samples: _Samples, parents: IntArray) -> None:
        """Check that parents exist, and that there is one root."""
        missing = (parents < 0) & (samples.parents != -1)
        if missing.any():
            i = int(np.flatnonzero(missing)[0])
            self.refuse(
                int(samples.lines[i]),
                f"sample {samples.numbers[i]} with parent {samples.parents[i]}",
                "this sample does not exist",
                "correct the parent; the parent of the root is -1",
            )
        roots = np.flatnonzero(parents < 0)
        of_soma = roots[samples.tags[roots] == _SOMA]
        # Neurites may start beside the soma.
        several = of_soma if len(of_soma) else roots
        if len(several) > 1:
            bound = "a second soma starts there, and a cell has one"
            if not len(of_soma):
                bound = "a second neurite starts there, and there is no soma: a cell is one tree"
            self.refuse(
                int(samples.lines[several[1]]),
                f"sample {samples.numbers[several[1]]} with parent -1",
                bound,
                "write each cell to a separate file, or join them",
            )

    def check_tree(self, samples: _Samples, parents: IntArray) -> None:
        """Check that the samples form trees of limited depth: MorphIO leaves out samples of loops."""
        forks = np.bincount(parents[parents >= 0], minlength=len(parents)) > 1
        # A change of the kind also starts a section.
        changes = (parents >= 0) & (samples.tags != samples.tags[parents])
        depths, ends = depths_of(parents, forks | changes)
        if (ends >= 0).any():
            # After as many steps as there are samples, one is on the loop.
            i = int(ends[ends >= 0][0])
            self.refuse(
                int(samples.lines[i]),
                f"sample {samples.numbers[i]}",
                "it is an ancestor of itself: the samples form a loop",
                "correct its parent",
            )
        if depths.max(initial=0) > DEEPEST:
            i = int(np.flatnonzero(depths == DEEPEST + 1)[0])
            self.refuse(
                int(samples.lines[i]),
                f"sample {samples.numbers[i]}",
                f"there are more than {DEEPEST} forks and changes of kind on the way from the soma to it",
                "check the parents",
            )


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    while True:
        end = text.find("\n", begin + _PIECE) + 1 or len(text)
        yield begin, end
        if end == len(text):
            return
        begin = end


def _plain(text: str, first: int, count: int) -> _Samples:
    """Return the samples of lines that are known to be good."""
    values = np.fromstring(text, dtype=np.float64, sep=" ").reshape(-1, len(_FIELDS))
    lines = np.arange(first, first + count + 1)
    if len(values) < len(lines):
        # Some are empty.
        lines = lines[[bool(line.strip()) for line in text.split("\n")]]
    return _as_samples(np.column_stack([lines[: len(values)], values]))


def _as_samples(rows: FloatArray) -> _Samples:
    lines, numbers, tags, parents = (rows[:, i].astype(np.int64) for i in (0, 1, 2, 7))
    return _Samples(lines, numbers, tags, rows[:, 3:7], parents)


def _indices(wanted: IntArray, numbers: IntArray) -> IntArray:
    """Return the places of numbers of samples; -1 for unknown numbers."""
    order = np.argsort(numbers)
    places = np.minimum(np.searchsorted(numbers[order], wanted), len(numbers) - 1)
    found = order[places]
    return np.where(numbers[found] == wanted, found, -1)


def _cones(samples: _Samples, parents: IntArray) -> Cones:
    """Return the cones of the neurites, which start with their first point."""
    is_neurite = samples.tags != _SOMA
    # A neurite starts at a child of the soma, or without a parent.
    begins = (parents < 0) | ~is_neurite[parents]
    new = np.cumsum(is_neurite) - 1
    kept = np.where(begins, -1, new[parents])[is_neurite]
    return Cones(samples.points[is_neurite], kept, samples.lines[is_neurite])


def _conventional(text: str, samples: _Samples, parents: IntArray) -> str | None:
    """Return the text with a soma of three points in the form that MorphIO recognises; None if nothing changes.

    Three points represent a sphere, by the convention of NeuroMorpho.org: the centre, and the two ends of a diameter.
    MorphIO recognises this only for samples 1, 2 and 3, and warns of neurites that do not start at 1; otherwise it adds
    up the surfaces of cylinders between the points. Lines keep their numbers.
    """
    soma = np.flatnonzero(samples.tags == _SOMA)
    if len(soma) != 3:
        return None
    centre = soma[parents[soma] < 0]
    ends = soma[parents[soma] >= 0]
    if len(centre) != 1 or not (parents[ends] == centre[0]).all():
        return None
    order = np.concatenate([centre, ends, np.setdiff1d(np.arange(len(parents)), soma)])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(1, len(order) + 1)
    begins = np.isin(parents, ends)
    if (order[:3] == soma).all() and (samples.numbers[soma] == [1, 2, 3]).all() and not begins.any():
        return None
    parents = np.where(begins, centre[0], parents)
    lines = text.split("\n")
    words = [_COMMENT.sub("", lines[line - 1]).split()[1:6] for line in samples.lines.tolist()]
    # The centre must be the first point.
    places = samples.lines.copy()
    places[order[:3]] = samples.lines[soma]
    for i, line in enumerate(places.tolist()):
        parent = -1 if parents[i] < 0 else numbers[parents[i]]
        lines[line - 1] = f"{numbers[i]} {' '.join(words[i])} {parent}"
    return "\n".join(lines)


def check_swc(file: Path, text: str) -> tuple[Cones, str | None]:
    """Check the file; return the cones of its neurites, and the text that MorphIO reads if it is not the same."""
    checker = _Checker(file)
    samples = checker.samples(text)
    if not len(samples.lines):
        raise FileError(f"file {file}", bound="it has no samples", remedy="check that it is an SWC file")
    checker.check_values(samples)
    parents = _indices(samples.parents, samples.numbers)
    checker.check_parents(samples, parents)
    checker.check_tree(samples, parents)
    cones = _cones(samples, parents)
    if (alone := cones.single()) is not None:
        checker.refuse(alone, "", "a neurite has a single point", "add a second one, or remove it")
    return cones, _conventional(text, samples, parents)
