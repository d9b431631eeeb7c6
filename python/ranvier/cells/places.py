"""Parts of a cell: regions, and single places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.names import counted
from ranvier.base.numeric import number, whole_number
from ranvier.cells.intervals import Intervals
from ranvier.cells.morphology import TAGS, Morphology, tag_number
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = [
    "Everywhere",
    "Place",
    "PlacesLike",
    "Region",
    "RegionLike",
    "as_place",
    "as_region",
    "at",
    "everywhere",
    "places_of",
    "sections",
    "tagged",
    "within_distance",
]

FloatArray = npt.NDArray[np.float64]

_MOST_SECTIONS = 2**31 - 1
_MOST_SHOWN = 20
_DEEPEST = 100  # of nested expressions


class Place(Immutable):
    """A place on a cell: made by `at`."""

    section: int
    position: float

    def __init__(self, section: int, position: float) -> None:
        self._put(section=section, position=position)

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
        Fraction of its length, from 0 (its start) to 1 (its end).

    Raises
    ------
    ValueOutOfBoundsError
        For a position outside 0 to 1. The number of the section is checked when the place is used for a cell.
    """
    position = number("position", position)
    if not 0.0 <= position <= 1.0:
        raise ValueOutOfBoundsError("position", str(position), "it must be from 0 to 1", "divide um by the length")
    return Place(whole_number("section", section, 0, _MOST_SECTIONS), position)


class Everywhere(Immutable):
    """Every compartment of a cell: the type of `everywhere`, which replaces a place."""

    _remedy = "write rv.everywhere"

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
    _depth: int

    def __init__(self, covered: tuple[Any, ...], text: str = "") -> None:
        depth = 1 + max((part._depth for part in covered[1:] if isinstance(part, Region)), default=0)
        if depth > _DEEPEST:
            raise ValueOutOfBoundsError(
                "region",
                f"an expression of {depth} nested ones",
                f"there can be at most {_DEEPEST}",
                "join regions of one kind first: a | b | c - (d | e | f)",
            )
        self._put(_covered=covered, _text=text, _depth=depth)

    def _joined(self, kind: str, other: RegionLike) -> Region:
        """Return one region of many, so that long expressions do not nest."""
        operands = self._covered[1:] if self._covered[0] == kind else (self,)
        return Region((kind, *operands, as_region("region", other)))

    def __or__(self, other: RegionLike) -> Region:
        return self._joined("or", other)

    def __and__(self, other: RegionLike) -> Region:
        return self._joined("and", other)

    def __sub__(self, other: RegionLike) -> Region:
        return self & ~as_region("region", other)

    def __invert__(self) -> Region:
        return Region(("not", self))

    def _pieces(self, cell: Morphology) -> Intervals:
        """Return the pieces of sections that it covers."""
        kind, *arguments = self._covered
        count = len(cell)
        if kind == "all":
            return Intervals.whole(np.arange(count))
        if kind == "tags":
            return Intervals.whole(np.flatnonzero(np.isin(cell.tags, arguments[0])))
        if kind == "sections":
            numbers = arguments[0]
            if len(numbers) and numbers[-1] >= count:
                missing = numbers[np.searchsorted(numbers, count)]
                raise ValueOutOfBoundsError(
                    f"region {self}", f"section {missing}", f"the cell has {counted(count, 'section')}, numbered from 0"
                )
            return Intervals.whole(numbers)
        if kind == "distance":
            return _within(cell, *arguments)
        parts: list[Intervals] = [part._pieces(cell) for part in arguments]
        if kind == "not":
            return parts[0].complement(count)
        return Intervals.union(parts) if kind == "or" else Intervals.intersection(parts)

    def covered(self, cell: Morphology, compartments: _core.Compartments) -> FloatArray:
        """Return the fraction of the membrane of each compartment that is in the region, 0 to 1."""
        pieces = self._pieces(cell)
        begin, end, area = compartments.begin, compartments.end, compartments.area
        covered = np.zeros(len(compartments))
        piece, compartment = _meetings(pieces, np.bincount(compartments.section, minlength=len(cell)))
        low = np.maximum(pieces.begin[piece], begin[compartment])
        high = np.minimum(pieces.end[piece], end[compartment])
        is_whole = (low == begin[compartment]) & (high == end[compartment])
        covered[compartment[is_whole]] = 1.0
        for i in np.flatnonzero((low < high) & ~is_whole):
            number = int(compartment[i])
            section = int(pieces.section[piece[i]])
            covered[number] += compartments.area_between(section, float(low[i]), float(high[i])) / float(area[number])
        return np.minimum(covered, 1.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __repr__(self) -> str:
        kind, *arguments = self._covered
        if kind == "not":
            return f"~{arguments[0]}"
        if kind in ("or", "and"):
            return f"({(' | ' if kind == 'or' else ' & ').join(map(str, arguments))})"
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
        return Region(("tags", [TAGS["basal"], TAGS["apical"]]), "dendrites")
    if region in TAGS:
        return tagged(region)
    raise UnknownNameError(
        what,
        ascii(region),
        f"names of regions are all, dendrites, {', '.join(TAGS)}",
        "give one of them, or rv.tagged(number)",
    )


def tagged(*tags: int | str) -> Region:
    """Return the region of all sections with one of some tags: numbers, or ``"soma"``, ``"axon"``, ..."""
    numbers = sorted({tag_number(tag) for tag in tags})
    return Region(("tags", numbers), f"tagged({', '.join(map(repr, tags))})")


def sections(numbers: int | Iterable[int]) -> Region:
    """Return the region of some sections, by their numbers."""
    given = numbers if isinstance(numbers, Iterable) else [numbers]
    chosen = sorted({whole_number("section", each, 0, _MOST_SECTIONS) for each in given})
    shown = chosen if len(chosen) <= _MOST_SHOWN else f"{len(chosen)} from {chosen[0]} to {chosen[-1]}"
    return Region(("sections", np.array(chosen, dtype=np.int64)), f"sections({shown})")


def within_distance(least: float = 0.0, greatest: float = float("inf")) -> Region:
    """Return the region with some distances from the start of the root along the neurites.

    Parameters
    ----------
    least, greatest
        um, 0 <= least < greatest.
    """
    low, high = number("least", least), number("greatest", greatest)
    if not 0.0 <= low < high:
        raise ValueOutOfBoundsError(
            "distances of a region", f"{low:g} to {high:g} um", "0 <= least < greatest", "swap them"
        )
    return Region(("distance", low, high), f"within_distance({low:g}, {high:g})")


PlacesLike: TypeAlias = Place | Sequence[Place] | RegionLike


def places_of(what: str, places: object, cell: Morphology, compartments: _core.Compartments) -> list[Place]:
    """Return places that a user has given: one, a list, or the middles of all compartments of a region.

    Raises
    ------
    ShapeError
        For an empty list.
    ValueOutOfBoundsError
        For a region without membrane.
    WrongTypeError
        For something else.
    """
    if isinstance(places, Place):
        return [places]
    if isinstance(places, Region | str):
        region = as_region(what, places)
        chosen = np.flatnonzero(region.covered(cell, compartments) > 0.0)
        if not chosen.size:
            raise ValueOutOfBoundsError(
                what, repr(region), "it has no membrane of the cell", "check tags and distances"
            )
        middles = (np.array(compartments.begin) + np.array(compartments.end)) / 2.0
        return [Place(int(compartments.section[i]), float(middles[i])) for i in chosen]
    if not isinstance(places, list | tuple):
        raise WrongTypeError(
            what, type(places).__name__, "must be a place, a list of places or a region", "write rv.at(0, 0.5)"
        )
    if not places:
        raise ShapeError(what, "an empty list", "a receptor has at least one place", "leave the receptor out")
    return [as_place(f"{what} (element {i})", place) for i, place in enumerate(places)]


def _within(cell: Morphology, least: float, greatest: float) -> Intervals:
    begins, lengths = cell._form.begins(), cell.lengths
    low = np.maximum(0.0, (least - begins) / lengths)
    high = np.minimum(1.0, (greatest - begins) / lengths)
    some = np.flatnonzero(low < high)
    return Intervals(some, low[some], high[some])


def _meetings(pieces: Intervals, counts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return numbers of pieces and of compartments that may overlap; `counts` are the compartments of each section.

    They are all that do, and few that do not, since ends of compartments are rounded.
    """
    count = counts[pieces.section]
    first = np.maximum(np.floor(pieces.begin * count).astype(np.int64) - 1, 0)
    last = np.minimum(np.ceil(pieces.end * count).astype(np.int64) + 1, count)
    lengths = last - first
    piece = np.repeat(np.arange(len(count)), lengths)
    within = np.arange(len(piece)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    before = np.cumsum(counts) - counts
    return piece, before[pieces.section[piece]] + first[piece] + within
