"""The form of a cell: a tree of sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable, locked
from ranvier.base.names import counted
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.cells.form import Form, distances_along
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["TAGS", "Morphology", "Section", "check_points", "tag_number"]

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
            "tag of a section", ascii(tag), f"names of tags are {', '.join(TAGS)}", "give one of them, or a number"
        )
    return TAGS[tag]


class Section(Immutable):
    """An unbranched piece of a cell: a chain of truncated cones.

    Parameters
    ----------
    length, diameter
        Size of a cylinder, um; with `end_diameter`, of a truncated cone that starts with `diameter`. Give either these
        or `points`.
    points
        Array of shape ``(n, 4)``, n >= 2: x, y, z and diameter of its points, um, from its start to its end.
    parent
        Number of the section from which it continues; None: it is the root. Sections are numbered from 0.
    parent_position
        Position of its start on the parent, as a fraction of the length of the parent, 0 to 1.
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
    # Length and radii of a cone, or distances, radii and coordinates of points: there may be very many sections.
    _size: tuple[float, float, float] | tuple[FloatArray, FloatArray, FloatArray]

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
        size: tuple[float, float, float] | tuple[FloatArray, FloatArray, FloatArray]
        if points is None:
            assert length is not None
            assert diameter is not None
            first = _positive("diameter of a section", diameter)
            last = first if end_diameter is None else _positive("end_diameter of a section", end_diameter)
            size = _positive("length of a section", length), first / 2.0, last / 2.0
        else:
            size = _from_points(points, length, diameter, end_diameter)
        position = number("parent_position of a section", parent_position)
        if not 0.0 <= position <= 1.0:
            raise ValueOutOfBoundsError("parent_position of a section", str(position), "it must be from 0 to 1")
        self._put(
            parent=None if parent is None else whole_number("parent of a section", parent, 0, _LARGEST_TAG),
            parent_position=position,
            tag=tag_number(tag),
            _size=size,
        )

    @classmethod
    def _of(cls, form: Form, i: int) -> Section:
        """Return a section of a cell."""
        part = slice(form.offsets[i], form.offsets[i + 1])
        made = cls.__new__(cls)
        parent = int(form.parents[i])
        size: Any = form.distances[part], form.radii[part], form.points[part]
        if not form.has_points(i):
            size = float(size[0][-1]), float(size[1][0]), float(size[1][-1])
        made._put(
            parent=None if parent < 0 else parent,
            parent_position=float(form.positions[i]),
            tag=int(form.tags[i]),
            _size=size,
        )
        return made

    def _numbers(self) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return distances and radii of its points, and their coordinates."""
        first, second, third = self._size
        if isinstance(first, float):
            return np.array([0.0, first]), np.array([second, third]), None
        assert isinstance(second, np.ndarray)
        assert isinstance(third, np.ndarray)
        return first, second, third

    @property
    def distances(self) -> FloatArray:
        """Distances of its points from its start along it, um."""
        return locked(self._numbers()[0])

    @property
    def radii(self) -> FloatArray:
        """At its points, um."""
        return locked(self._numbers()[1])

    @property
    def points(self) -> FloatArray | None:
        """Coordinates of its points, um, shape ``(n, 3)``; None for a section without coordinates."""
        coordinates = self._numbers()[2]
        return None if coordinates is None else locked(coordinates)

    @property
    def length(self) -> float:
        """Its length, um."""
        return float(self._numbers()[0][-1])

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

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
        Without sections, with several roots, for a parent that does not precede its child.

    Examples
    --------
    >>> import ranvier as rv
    >>> soma = rv.Section(length=12.0, diameter=12.0)
    >>> dendrite = rv.Section(length=300.0, diameter=2.0, end_diameter=1.0, parent=0, tag="basal")
    >>> ball_and_stick = rv.Morphology([soma, dendrite])
    """

    name: str
    _form: Form

    def __init__(self, sections: Iterable[Section], name: str = "") -> None:
        parents, positions, tags, numbers = [], [], [], []
        try:
            given = iter(sections)
        except TypeError:
            raise WrongTypeError("sections", type(sections).__name__, "must be a sequence of sections") from None
        for i, section in enumerate(given):
            if not isinstance(section, Section):
                raise WrongTypeError(f"section {i} of a morphology", type(section).__name__, "must be a rv.Section")
            parents.append(-1 if section.parent is None else section.parent)
            positions.append(section.parent_position)
            tags.append(section.tag)
            numbers.append(section._numbers())
        self._build(Form.of_sections(parents, positions, tags, numbers), name)

    @classmethod
    def _of(cls, form: Form, name: str) -> Morphology:
        made = cls.__new__(cls)
        made._build(form, name)
        return made

    def _build(self, form: Form, name: str) -> None:
        if not isinstance(name, str):
            raise WrongTypeError("name of a morphology", type(name).__name__, "must be a string")
        # The core checks the tree.
        form.cut([1])
        self._put(name=name, _form=form.read_only())

    def _cut(self, counts: npt.ArrayLike) -> _core.Compartments:
        """Return it, cut into compartments: one number for all sections, or one for each."""
        return self._form.cut(counts)

    @property
    def sections(self) -> Sequence[Section]:
        """Its sections, made when they are asked for."""
        return _Sections(self._form)

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the sections, um."""
        return locked(self._form.lengths)

    @property
    def tags(self) -> npt.NDArray[np.int64]:
        """Tags of the sections."""
        return self._form.tags

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "_form": self._form}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(name=state["name"], _form=state["_form"].read_only())

    def __len__(self) -> int:
        return len(self._form.parents)

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"<Morphology{name}: {counted(len(self), 'section')}, {self.lengths.sum():g} um>"


class _Sections(Sequence[Section]):
    """The sections of a cell, made on demand, since there may be very many."""

    def __init__(self, form: Form) -> None:
        self._form = form

    @overload
    def __getitem__(self, index: int) -> Section: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Section, ...]: ...
    def __getitem__(self, index: int | slice) -> Section | tuple[Section, ...]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return tuple(Section._of(self._form, i) for i in numbers)
        return Section._of(self._form, numbers)

    def __len__(self) -> int:
        return len(self._form.parents)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'section')}>"


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
    check_points(array, "a section")
    places = array[:, :3].copy()
    return distances_along(places, np.array([0, len(array)])), array[:, 3] / 2.0, places


def check_points(points: FloatArray, what: str) -> None:
    """Check x, y, z and diameter of the points of a section."""
    good = np.isfinite(points).all(axis=1) & (points[:, 3] > 0.0)
    if good.all():
        return
    row = int(np.flatnonzero(~good)[0])
    if np.isfinite(points[row]).all():
        raise ValueOutOfBoundsError(
            f"diameter of point {row} of {what}", str(points[row, 3]), "it must be > 0", "give diameters in um"
        )
    raise ValueOutOfBoundsError(
        f"point {row} of {what}", str(points[row].tolist()), "coordinates must be finite", "give numbers in um"
    )
