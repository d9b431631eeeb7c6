"""Checks SWC files, before MorphIO reads them: of some damaged ones it leaves parts out, or reads something else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import numpy as np

from ranvier.cells.cones import DEEPEST, Cones
from ranvier.errors import FileError

__all__ = ["check_swc"]

_INTEGER = r"[+-]?\d{1,9}"
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_SAMPLE = re.compile(
    rf"\s*({_INTEGER})\s+({_INTEGER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_INTEGER})(\s.*)?",
    re.ASCII | re.DOTALL,
)
_FIELDS = ("number", "tag", "x", "y", "z", "radius", "parent")
_FARTHEST = 1e9  # um
_SOMA = 1


class _Samples:
    """The samples of a file, in its order."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.index: dict[int, int] = {}
        self.lines: list[int] = []
        self.tags: list[int] = []
        self.parents: list[int] = []
        self.points: list[tuple[float, float, float, float]] = []

    def refuse(self, line: int, value: str, bound: str, remedy: str = "mend the file") -> NoReturn:
        raise FileError(f"file {self.file}, line {line}", value, bound, remedy)

    def add(self, line: int, text: str) -> None:
        """Add the sample of a line."""
        match = _SAMPLE.fullmatch(text)
        if match is None:
            self.refuse_words(line, text.split())
            return
        if "\r" in text.rstrip():
            self.refuse(line, "", "lines end in the old way of Macintosh", r"end lines with \n or \r\n")
        number, tag, parent = int(match[1]), int(match[2]), int(match[7])
        point = float(match[3]), float(match[4]), float(match[5]), float(match[6])
        sample = f"sample {number}"
        if number in self.index:
            self.refuse(line, sample, "it is there already", "number it anew")
        if not all(abs(each) <= _FARTHEST for each in point):
            self.refuse(line, sample, f"coordinates and radii are numbers up to {_FARTHEST:g} um", "check the unit")
        if not point[3] > 0.0:
            self.refuse(line, f"{sample} with radius {point[3]:g}", "a radius is > 0", "give radii in um")
        if tag == 0:
            self.refuse(line, f"{sample} with tag 0", "it has no kind", "give it a tag, such as 3 for a dendrite")
        self.index[number] = len(self.lines)
        self.lines.append(line)
        self.tags.append(tag)
        self.parents.append(parent)
        self.points.append(point)

    def refuse_words(self, line: int, words: list[str]) -> None:
        """Refuse a line that is no sample; empty ones are none, and no matter."""
        if not words:
            return
        for name, word in zip(_FIELDS, words, strict=False):
            kind = _INTEGER if name in ("number", "tag", "parent") else _NUMBER
            if re.fullmatch(kind, word, re.ASCII) is None:
                whole = "a whole number" if kind is _INTEGER else "a number"
                self.refuse(line, "", f"the {name} of the sample is {word[:40]!r}, but must be {whole}")
        self.refuse(
            line, f"{len(words)} fields", f"a sample has {len(_FIELDS)}: {', '.join(_FIELDS)}", "add what is missing"
        )

    def check_tree(self) -> None:
        """Check that the samples form trees, not too deep ones: of those with loops, some would be left out."""
        forks = self.forks()
        depths: dict[int, int] = {}
        for sample in self.index:
            path: list[int] = []
            on_path: set[int] = set()
            place = sample
            while place in self.index and place not in depths:
                at = self.index[place]
                if place in on_path:
                    self.refuse(
                        self.lines[at],
                        f"sample {place}",
                        "it is among its own ancestors: the samples form a loop",
                        "correct its parent",
                    )
                path.append(place)
                on_path.add(place)
                place = self.parents[at]
            depth = depths.get(place, 0)
            for each in reversed(path):
                depth += each in forks
                if depth > DEEPEST:
                    self.refuse(
                        self.lines[self.index[each]],
                        f"sample {each}",
                        f"there are more than {DEEPEST} forks on the way from the soma to it",
                        "check the parents",
                    )
                depths[each] = depth

    def forks(self) -> set[int]:
        """Return the samples from which several go on."""
        seen: set[int] = set()
        forks: set[int] = set()
        for parent in self.parents:
            (forks if parent in seen else seen).add(parent)
        return forks

    def cones(self) -> Cones:
        """Return the cones of the neurites; they begin with their own first point."""
        parents = [
            -1
            if tag == _SOMA or parent not in self.index or self.tags[self.index[parent]] == _SOMA
            # A soma goes on in nothing but neurites.
            else self.index[parent]
            for tag, parent in zip(self.tags, self.parents, strict=True)
        ]
        own = [tag != _SOMA for tag in self.tags]
        new = np.cumsum(own) - 1
        chosen = np.flatnonzero(own)
        kept = np.array(parents, dtype=np.int64)[chosen]
        kept[kept >= 0] = new[kept[kept >= 0]]
        points = np.array(self.points, dtype=np.float64).reshape(-1, 4)[chosen]
        return Cones(points, kept, [self.lines[i] for i in chosen.tolist()])


def check_swc(file: Path, text: str) -> Cones:
    """Check the file, and return the cones of its neurites."""
    samples = _Samples(file)
    for number, line in enumerate(text.split("\n"), 1):
        samples.add(number, line.partition("#")[0])
    if not samples.lines:
        raise FileError(f"file {file}", bound="it has no samples", remedy="check that it is an SWC file")
    samples.check_tree()
    cones = samples.cones()
    if (alone := cones.single()) is not None:
        samples.refuse(alone, "", "a neurite has a single point", "add a second one, or remove it")
    return cones
