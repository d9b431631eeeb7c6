"""Parts of a cell: regions, and single places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.numeric import number, whole_number
from ranvier.cells.morphology import TAGS, Morphology, tag_number
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = [
    "Everywhere",
    "Place",
    "Region",
    "RegionLike",
    "as_place",
    "as_region",
    "at",
    "begins_of",
    "everywhere",
    "sections",
    "tagged",
    "within_distance",
]

FloatArray = npt.NDArray[np.float64]
Covered: TypeAlias = Callable[[Morphology, _core.Compartments], FloatArray]

_MOST_SECTIONS = 2**31 - 1


class Place(Immutable):
    """A place on a cell: made by `at`."""

    section: int
    position: float

    def __init__(self, section: int, position: float) -> None:
        self._put(section=section, position=position)

    def _way_to(self, name: str) -> str:
        return "make another one: rv.at(section, position)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.section, self.position) == (other.section, other.position)

    def __hash__(self) -> int:
        return hash((self.section, self.position))

    def __repr__(self) -> str:
        return f"at({self.section}, {self.position:g})"


def at(section: int, position: float = 0.5) -> Place:
    """Return a place on a cell.

    Parameters
    ----------
    section
        Number of the section, from 0.
    position
        Fraction of its length, from 0 (its begin) to 1 (its end).

    Raises
    ------
    ValueOutOfBoundsError
        For a position outside 0 to 1. That the cell has such a section is checked where the place is used.
    """
    position = number("position", position)
    if not 0.0 <= position <= 1.0:
        raise ValueOutOfBoundsError("position", str(position), "it must be from 0 to 1", "divide um by the length")
    return Place(whole_number("section", section, 0, _MOST_SECTIONS), position)


class Everywhere(Immutable):
    """Every compartment of a cell: `everywhere`, in the place of a place."""

    def _way_to(self, name: str) -> str:
        return "write rv.everywhere"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Everywhere)

    def __hash__(self) -> int:
        return hash(Everywhere)

    def __repr__(self) -> str:
        return "everywhere"


everywhere = Everywhere()
"""Every compartment of a cell, for probes: ``{"V": rv.everywhere}`` gives ``V[0]``, ``V[1]``, ..., by compartment."""


def as_place(what: str, place: object) -> Place:
    """Return a place that a user has given."""
    if isinstance(place, Place):
        return place
    raise WrongTypeError(what, type(place).__name__, "must be a place", "write rv.at(section, position)")


class Region(Immutable):
    """A part of a cell. ``a | b``, ``a & b``, ``a - b`` and ``~a`` are regions, too.

    Regions are described without a cell: which membrane they mean shows with the morphology of a cell.
    """

    _covered: tuple[Any, ...]
    _text: str

    def __init__(self, covered: tuple[Any, ...], text: str) -> None:
        self._put(_covered=covered, _text=text)

    def __or__(self, other: RegionLike) -> Region:
        second = as_region("region", other)
        return Region(("or", self, second), f"({self} | {second})")

    def __and__(self, other: RegionLike) -> Region:
        second = as_region("region", other)
        return Region(("and", self, second), f"({self} & {second})")

    def __sub__(self, other: RegionLike) -> Region:
        return self & ~as_region("region", other)

    def __invert__(self) -> Region:
        return Region(("not", self), f"~{self}")

    def _pieces(self, cell: Morphology) -> list[list[tuple[float, float]]]:
        """Return for each section the pieces [begin, end) that it covers, as ascending fractions of its length."""
        kind, *arguments = self._covered
        count = len(cell)
        whole = [(0.0, 1.0)]
        if kind == "all":
            return [list(whole) for _ in range(count)]
        if kind == "tags":
            return [list(whole) if section.tag in arguments[0] else [] for section in cell.sections]
        if kind == "sections":
            for section in arguments[0]:
                if section >= count:
                    raise ValueOutOfBoundsError(
                        f"region {self}", f"section {section}", f"the cell has {count} sections, numbered from 0"
                    )
            return [list(whole) if i in arguments[0] else [] for i in range(count)]
        if kind == "distance":
            return _within(cell, *arguments)
        parts = [part._pieces(cell) for part in arguments]
        if kind == "not":
            return [_complement(own) for own in parts[0]]
        if kind == "and":
            return [_intersection(first, second) for first, second in zip(*parts, strict=True)]
        return [
            _complement(_intersection(_complement(first), _complement(second)))
            for first, second in zip(*parts, strict=True)
        ]

    def covered(self, cell: Morphology, compartments: _core.Compartments) -> FloatArray:
        """Return the part of the membrane of each compartment that lies in the region, 0 to 1."""
        pieces = self._pieces(cell)
        section, begin, end = compartments.section, compartments.begin, compartments.end
        covered = np.zeros(len(compartments))
        for i, (own, first, last) in enumerate(zip(section, begin, end, strict=True)):
            for piece in pieces[own]:
                low, high = max(piece[0], float(first)), min(piece[1], float(last))
                if low <= first and high >= last:
                    covered[i] = 1.0
                elif low < high:
                    covered[i] += compartments.area_between(int(own), low, high) / float(compartments.area[i])
        return np.minimum(covered, 1.0)

    def _way_to(self, name: str) -> str:
        return "make another region"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __repr__(self) -> str:
        return self._text


RegionLike: TypeAlias = Region | str


def as_region(what: str, region: object) -> Region:
    """Return a region that a user has given, which may be the name of one."""
    if isinstance(region, Region):
        return region
    if not isinstance(region, str):
        raise WrongTypeError(what, type(region).__name__, "must be a region or the name of one")
    if region == "all":
        return Region(("all",), "all")
    if region == "dendrites":
        return Region(("tags", frozenset({TAGS["basal"], TAGS["apical"]})), "dendrites")
    if region in TAGS:
        return tagged(region)
    raise UnknownNameError(
        what,
        f"'{region}'",
        f"names of regions are all, dendrites, {', '.join(TAGS)}",
        "give one of them, or rv.tagged(number)",
    )


def tagged(*tags: int | str) -> Region:
    """Return the region of all sections with one of some tags: numbers, or ``"soma"``, ``"axon"``, ..."""
    numbers = frozenset(tag_number(tag) for tag in tags)
    return Region(("tags", numbers), f"tagged({', '.join(map(repr, tags))})")


def sections(numbers: int | Iterable[int]) -> Region:
    """Return the region of some sections, by their numbers."""
    given = numbers if isinstance(numbers, Iterable) else [numbers]
    chosen = frozenset(whole_number("section", each, 0, _MOST_SECTIONS) for each in given)
    return Region(("sections", chosen), f"sections({sorted(chosen)})")


def within_distance(least: float = 0.0, greatest: float = float("inf")) -> Region:
    """Return the region with some distances from the begin of the root along the neurites.

    Parameters
    ----------
    least, greatest
        um, 0 <= least < greatest.
    """
    low, high = number("least", least), number("greatest", greatest)
    if not 0.0 <= low < high:
        raise ValueOutOfBoundsError(
            "distances of a region", f"{low:g} to {high:g} um", "0 <= least < greatest", "exchange them"
        )
    return Region(("distance", low, high), f"within_distance({low:g}, {high:g})")


def begins_of(cell: Morphology) -> list[float]:
    """Return the distance of the begin of each section from that of the root along the neurites, um."""
    begins: list[float] = []
    for section in cell.sections:
        begin = 0.0
        if section.parent is not None:
            begin = begins[section.parent] + section.parent_position * cell.sections[section.parent].length
        begins.append(begin)
    return begins


def _within(cell: Morphology, least: float, greatest: float) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = []
    for begin, section in zip(begins_of(cell), cell.sections, strict=True):
        low = max(0.0, (least - begin) / section.length)
        high = min(1.0, (greatest - begin) / section.length)
        pieces.append([(low, high)] if low < high else [])
    return pieces


def _complement(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    ends = [0.0, *(end for _, end in pieces)]
    begins = [*(begin for begin, _ in pieces), 1.0]
    return [(low, high) for low, high in zip(ends, begins, strict=True) if low < high]


def _intersection(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> list[tuple[float, float]]:
    both = [(max(a, c), min(b, d)) for a, b in first for c, d in second]
    return sorted(piece for piece in both if piece[0] < piece[1])
