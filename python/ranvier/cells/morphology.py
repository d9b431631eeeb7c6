"""The form of a cell: a tree of sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.immutable import Immutable, locked
from ranvier.base.keywords import known_keywords
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["TAGS", "Morphology", "Section", "tag_number"]

FloatArray = npt.NDArray[np.float64]

TAGS = {"soma": 1, "axon": 2, "basal": 3, "apical": 4}
"""Names of the numbers that SWC files give to kinds of neurites."""

_LARGEST_TAG = 2**31 - 1


def tag_number(tag: int | str) -> int:
    """Return the number of a tag, which may be given by its name."""
    if not isinstance(tag, str):
        return whole_number("tag of a section", tag, 0, _LARGEST_TAG)
    if tag not in TAGS:
        raise UnknownNameError(
            "tag of a section", f"'{tag}'", f"names of tags are {', '.join(TAGS)}", "give one of them, or a number"
        )
    return TAGS[tag]


class Section(Immutable):
    """An unbranched piece of a cell: a chain of truncated cones.

    Parameters
    ----------
    length, diameter
        Of a cylinder, um; with `end_diameter`, of a truncated cone that begins with `diameter`. Give either these or
        `points`.
    points
        Array of shape ``(n, 4)``, n >= 2: x, y, z and diameter of its points, um, from its begin to its end.
    parent
        Number of the section from which it goes on; None: it is the root. Sections are numbered from 0.
    parent_position
        Where on the parent it begins: a fraction of the length of the parent, 0 to 1.
    tag
        ``"soma"``, ``"axon"``, ``"basal"``, ``"apical"``, or a number, as in SWC files.

    Raises
    ------
    ValueOutOfBoundsError
        For lengths and diameters that are not positive and finite, and a position outside 0 to 1.
    ShapeError
        For points of another shape.
    """

    parent: int | None
    parent_position: float
    tag: int
    distances: FloatArray
    """Of its points from its begin along it, um."""
    radii: FloatArray
    """At its points, um."""
    points: FloatArray | None
    """Coordinates of its points, um, shape ``(n, 3)``; None for a section that has none."""

    @known_keywords
    def __init__(
        self,
        *,
        length: float | None = None,
        diameter: float | None = None,
        end_diameter: float | None = None,
        points: npt.ArrayLike | None = None,
        parent: int | None = None,
        parent_position: float = 1.0,
        tag: int | str = "soma",
    ) -> None:
        if (points is None) == (length is None or diameter is None):
            raise WrongTypeError(
                "arguments of Section()",
                bound="a section has either a length and a diameter, or points",
                remedy="write Section(length=..., diameter=...) or Section(points=...)",
            )
        if points is None:
            assert length is not None
            assert diameter is not None
            first = _positive("diameter of a section", diameter)
            last = first if end_diameter is None else _positive("end_diameter of a section", end_diameter)
            distances = np.array([0.0, _positive("length of a section", length)])
            radii, coordinates = np.array([first, last]) / 2.0, None
        else:
            distances, radii, coordinates = _from_points(points, length, diameter, end_diameter)
        position = number("parent_position of a section", parent_position)
        if not 0.0 <= position <= 1.0:
            raise ValueOutOfBoundsError("parent_position of a section", str(position), "it must be from 0 to 1")
        self._put(
            parent=None if parent is None else whole_number("parent of a section", parent, 0, _LARGEST_TAG),
            parent_position=position,
            tag=tag_number(tag),
            distances=locked(distances),
            radii=locked(radii),
            points=None if coordinates is None else locked(coordinates),
        )

    @classmethod
    def _of_points(cls, what: str, points: FloatArray, parent: int | None, parent_position: float, tag: int) -> Section:
        """Return a section of points, whose other values are known to be good; there may be very many."""
        distances, radii, coordinates = _measured(what, points)
        made = cls.__new__(cls)
        made._put(
            parent=parent,
            parent_position=parent_position,
            tag=tag,
            distances=locked(distances),
            radii=locked(radii),
            points=locked(coordinates),
        )
        return made

    @property
    def length(self) -> float:
        """Its length, um."""
        return float(self.distances[-1])

    def _way_to(self, name: str) -> str:
        return f"make another one: rv.Section(..., {name}=...)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**{key: locked(value) if isinstance(value, np.ndarray) else value for key, value in state.items()})

    def __repr__(self) -> str:
        diameter = f"{2.0 * self.radii[0]:g} to {2.0 * self.radii[-1]:g}"
        return f"<Section of {self.length:g} um, diameter {diameter} um, tag {self.tag}, parent {self.parent}>"


class Morphology(Immutable):
    """The form of a cell: a tree of sections, parents before their children.

    Parameters
    ----------
    sections
        The root, usually the soma, comes first.
    name
        For messages and figures.

    Raises
    ------
    ShapeError, ValueOutOfBoundsError
        Without sections, with several roots, for a parent that does not come before its child.

    Examples
    --------
    >>> import ranvier as rv
    >>> soma = rv.Section(length=12.0, diameter=12.0)
    >>> dendrite = rv.Section(length=300.0, diameter=2.0, end_diameter=1.0, parent=0, tag="basal")
    >>> ball_and_stick = rv.Morphology([soma, dendrite])
    """

    name: str
    sections: tuple[Section, ...]

    def __init__(self, sections: Iterable[Section], name: str = "") -> None:
        try:
            given = tuple(sections)
        except TypeError:
            raise WrongTypeError("sections", type(sections).__name__, "must be a sequence of sections") from None
        for i, section in enumerate(given):
            if not isinstance(section, Section):
                raise WrongTypeError(f"section {i} of a morphology", type(section).__name__, "must be a rv.Section")
        if not isinstance(name, str):
            raise WrongTypeError("name of a morphology", type(name).__name__, "must be a string")
        self._put(name=name, sections=given)
        # The core checks the tree.
        self._cut([1])

    def _cut(self, counts: Sequence[int] | npt.NDArray[np.int64]) -> _core.Compartments:
        """Return it, cut into compartments: one number for all sections, or one for each."""
        sections = self.sections
        empty = np.empty(0)
        return _core.Compartments(
            parents=np.array([-1 if s.parent is None else s.parent for s in sections], dtype=np.int64),
            positions=np.array([s.parent_position for s in sections], dtype=np.float64),
            tags=np.array([s.tag for s in sections], dtype=np.int64),
            point_counts=np.array([len(s.distances) for s in sections], dtype=np.int64),
            distances=np.concatenate([empty, *(s.distances for s in sections)]),
            radii=np.concatenate([empty, *(s.radii for s in sections)]),
            counts=np.ascontiguousarray(counts, dtype=np.int64),
        )

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the sections, um."""
        return locked(np.array([section.length for section in self.sections]))

    @property
    def tags(self) -> npt.NDArray[np.int64]:
        """Tags of the sections."""
        return locked(np.array([section.tag for section in self.sections], dtype=np.int64))

    def _way_to(self, name: str) -> str:
        return "make another one: rv.Morphology(sections)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __len__(self) -> int:
        return len(self.sections)

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"<Morphology{name}: {len(self)} sections, {self.lengths.sum():g} um>"


def _positive(what: str, value: float) -> float:
    given = number(what, value)
    if not 0.0 < given < float("inf"):
        raise ValueOutOfBoundsError(what, str(value), "it must be > 0 and finite", "give it in um")
    return given


def _from_points(
    points: npt.ArrayLike, length: object, diameter: object, end_diameter: object
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if not (length is None and diameter is None and end_diameter is None):
        raise WrongTypeError(
            "arguments of Section()", bound="points give length and diameters, too", remedy="leave them out"
        )
    array = number_array("points of a section", points)
    if array.ndim != 2 or array.shape[1] != 4 or len(array) < 2:
        raise ShapeError(
            "points of a section",
            f"an array of shape {array.shape}",
            "it must have the shape (n, 4), n >= 2: x, y, z, diameter",
        )
    return _measured("a section", array)


def _measured(what: str, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return distances along points, radii and coordinates."""
    good = np.isfinite(points).all(axis=1) & (points[:, 3] > 0.0)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        if np.isfinite(points[row]).all():
            raise ValueOutOfBoundsError(
                f"diameter of point {row} of {what}", str(points[row, 3]), "it must be > 0", "give diameters in um"
            )
        raise ValueOutOfBoundsError(
            f"point {row} of {what}", str(points[row].tolist()), "coordinates must be finite", "give numbers in um"
        )
    distances = np.empty(len(points))
    distances[0] = 0.0
    steps = points[1:, :3] - points[:-1, :3]
    np.sqrt((steps * steps).sum(axis=1)).cumsum(out=distances[1:])
    return distances, points[:, 3] / 2.0, points[:, :3].copy()
