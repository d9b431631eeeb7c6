"""Places on a morphology: at a distance, or at random."""

from __future__ import annotations

import numpy as np

from ranvier.base.hints import known_keywords
from ranvier.base.numeric import number, whole_number
from ranvier.cells.intervals import Intervals
from ranvier.cells.morphology import Morphology
from ranvier.cells.places import Place, RegionLike, as_region
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError

__all__ = ["places_at_distance", "random_places"]

_MOST_PLACES = 2**24


def places_at_distance(morphology: Morphology, distance: float, region: RegionLike = "all") -> list[Place]:
    """Return all places of a region at one distance from the start of the root along the neurites.

    Parameters
    ----------
    morphology
        The form of the cell.
    distance
        um, >= 0.
    region
        See `Cell`.

    Returns
    -------
    list of Place
        In the order of the sections. If a section ends at that distance, the place is its end, not the start of its
        children.

    Raises
    ------
    ValueOutOfBoundsError
        If no place of the region has this distance.
    """
    pieces = _pieces(morphology, region)
    wanted = number("distance", distance)
    if not 0.0 <= wanted < float("inf"):
        raise ValueOutOfBoundsError("distance", f"{distance} um", "it must be >= 0 and finite")
    begins, lengths = morphology._form.begins(), morphology.lengths
    positions = (wanted - begins) / lengths
    # The start of a non-root section is the place on its parent.
    is_there = (positions > 0.0) & (positions <= 1.0)
    is_there |= (positions == 0.0) & (np.arange(len(positions)) == 0)
    section = pieces.section
    inside = is_there[section] & (pieces.begin <= positions[section]) & (positions[section] <= pieces.end)
    found = np.unique(section[inside])
    if not len(found):
        ends = begins[section] + pieces.end * lengths[section]
        raise ValueOutOfBoundsError(
            "distance",
            f"{wanted:g} um",
            f"region {as_region('region', region)} has no place there, and ends at {ends.max():g} um",
        )
    return [Place(i, position) for i, position in zip(found.tolist(), positions[found].tolist(), strict=True)]


@known_keywords
def random_places(
    morphology: Morphology,
    region: RegionLike = "all",
    *,
    density: float | None = None,
    count: int | None = None,
    seed: int = 1,
) -> list[Place]:
    """Return places that are drawn at random in a region, uniformly over the length of its neurites.

    Parameters
    ----------
    morphology
        The form of the cell.
    region
        See `Cell`.
    density
        Mean number of places for each um of neurite; their number is a Poisson number.
    count
        Number of places; give either this or `density`.
    seed
        The same seed gives the same places.

    Returns
    -------
    list of Place
        By section, then position.

    Raises
    ------
    ValueOutOfBoundsError
        For a region without length, and for more than 2^24 places.
    WrongTypeError
        When not exactly one of `density` and `count` is given.

    Examples
    --------
    >>> import ranvier as rv
    >>> dendrite = rv.Section(length=300.0, diameter=1.0, parent=0, tag="basal")
    >>> tree = rv.Morphology([rv.Section(length=12.0, diameter=12.0), dendrite])
    >>> places = rv.random_places(tree, "dendrites", density=0.1)
    >>> receptors = {"exc": (rv.expsyn(), places)}
    """
    pieces = _pieces(morphology, region)
    if (density is None) == (count is None):
        raise WrongTypeError(
            "arguments of random_places()", bound="it takes either a density or a count", remedy="give one of them"
        )
    lengths = (pieces.end - pieces.begin) * morphology.lengths[pieces.section]
    ends = np.cumsum(lengths)
    # A bit generator whose numbers NumPy promises to keep.
    random = np.random.Generator(np.random.Philox(whole_number("seed", seed, 0, 2**64 - 1)))
    if count is not None:
        number_of_places = whole_number("count", count, 0, _MOST_PLACES)
        along = np.sort(random.random(number_of_places)) * ends[-1]
    else:
        along = _poisson_process(number("density", density), float(ends[-1]), random)
    chosen = np.minimum(np.searchsorted(ends, along, side="right"), len(ends) - 1)
    first, last = pieces.begin[chosen], pieces.end[chosen]
    part = (along - (ends[chosen] - lengths[chosen])) / lengths[chosen]
    positions = np.minimum(np.maximum(first + part * (last - first), first), last)
    return [
        Place(section, position)
        for section, position in zip(pieces.section[chosen].tolist(), positions.tolist(), strict=True)
    ]


def _poisson_process(density: float, length: float, random: np.random.Generator) -> np.ndarray:
    if not (density >= 0.0 and density * length <= _MOST_PLACES / 2):
        raise ValueOutOfBoundsError(
            "density",
            f"{density:g} 1/um",
            f"it must be >= 0 and give at most {_MOST_PLACES // 2} places on {length:g} um",
        )
    along: list[float] = []
    place = 0.0
    while density > 0.0:
        place -= np.log1p(-random.random()) / density
        if place >= length:
            break
        along.append(place)
    return np.array(along)


def _pieces(morphology: Morphology, region: RegionLike) -> Intervals:
    if not isinstance(morphology, Morphology):
        raise WrongTypeError("morphology", type(morphology).__name__, "must be a rv.Morphology")
    pieces = as_region("region", region)._pieces(morphology)
    if not len(pieces.section):
        raise ValueOutOfBoundsError(f"region {as_region('region', region)}", bound="the cell has no neurite there")
    return pieces
