"""Masks: the targets around a source that a rule may connect."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.base.texts import name_type
from ranvier.errors import RuleError, ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Mask", "ball", "box", "circle", "donut", "ellipse", "ellipsoid", "grid_mask", "rectangle"]

_OPERATIONS = {"&": "both", "|": "either", "-": "the first without the second"}


class Mask(Immutable):
    """A region around a source: rules connect targets in it. Made by `circle`, `rectangle`, `ball`, and others.

    A mask is of displacements, target minus source, for every rule, also for those that draw the sources of a target.
    On periodic axes the shortest displacement counts. Lengths are in the unit of the positions. Points on the surface
    are inside, with a relative tolerance of 1e-10 for rounding. A mask of two dimensions limits x and y only, so that
    in three dimensions a circle is a cylinder.

    ``a & b`` is in both masks, ``a | b`` in one of them at least, and ``a - b`` in the first and not in the second.
    Objects are immutable, can be pickled, and are equal if they are written alike.

    Attributes
    ----------
    dimensions
        Number of dimensions that it limits, 2 or 3.

    Examples
    --------
    >>> import ranvier as rv
    >>> rv.circle(0.3) - rv.rectangle((-0.1, -0.1), (0.1, 0.1))
    circle(0.3) - rectangle((-0.1, -0.1), (0.1, 0.1))
    """

    dimensions: int
    _remedy: ClassVar[str] = "make another mask"

    def __and__(self, other: Mask) -> Mask:
        return _Combined("&", self, _checked_mask(other))

    def __or__(self, other: Mask) -> Mask:
        return _Combined("|", self, _checked_mask(other))

    def __sub__(self, other: Mask) -> Mask:
        return _Combined("-", self, _checked_mask(other))

    def contains(self, displacements: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return whether displacements are in the mask.

        Parameters
        ----------
        displacements
            Target minus source, one row with two or three numbers each.

        Raises
        ------
        ShapeError
            For an array of another shape, or with fewer dimensions than the mask.
        RuleError
            For a mask of places on a grid, which depends on the neurons.
        """
        points = number_array("displacements", displacements)
        if points.ndim != 2 or points.shape[1] not in (2, 3) or points.shape[1] < self.dimensions:
            raise ShapeError(
                "displacements", f"of shape {points.shape}", f"there must be rows of {self.dimensions} numbers"
            )
        return self._to_core(None).contains(np.ascontiguousarray(points))

    needs_grid: ClassVar[bool] = False
    """Whether it depends on the grid of the neurons."""

    def _to_core(self, spacing: Sequence[float] | None) -> _core.Mask:
        """Return the mask of the core. `spacing` is that of the grid of the neurons; None: there is none."""
        raise NotImplementedError

    def _key(self) -> tuple[object, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


class _Combined(Mask):
    """Two masks, joined by an operation."""

    def __init__(self, operation: str, first: Mask, second: Mask) -> None:
        if first.dimensions != second.dimensions:
            raise ValueOutOfBoundsError(
                "dimensions of combined masks",
                f"{first.dimensions} and {second.dimensions}",
                "both must have the same",
                "combine circles with rectangles, and balls with boxes",
            )
        needs_grid = first.needs_grid or second.needs_grid
        self._put(dimensions=first.dimensions, _parts=(operation, first, second), needs_grid=needs_grid)

    _parts: tuple[str, Mask, Mask]

    def _to_core(self, spacing: Sequence[float] | None) -> _core.Mask:
        operation, first, second = self._parts
        return _core.Mask.combined(operation, first._to_core(spacing), second._to_core(spacing))

    def _key(self) -> tuple[object, ...]:
        return self._parts

    def __reduce__(self) -> tuple[Any, ...]:
        return _Combined, self._parts

    def __repr__(self) -> str:
        operation, *parts = self._parts
        texts = [f"({part!r})" if isinstance(part, _Combined) else repr(part) for part in parts]
        return f" {operation} ".join(texts)


class _Shape(Mask):
    """A region of the core, and the call that makes it."""

    _call: tuple[str, tuple[object, ...], tuple[tuple[str, object], ...]]

    def __init__(self, dimensions: int, call: str, values: tuple[object, ...], **named: object) -> None:
        self._put(dimensions=dimensions, _call=(call, values, tuple(named.items())))
        # Raises errors of lengths.
        self._to_core(None)

    def _to_core(self, spacing: Sequence[float] | None) -> _core.Mask:
        call, values, named = self._call
        return _MAKERS[call](*values, **dict(named))

    def _key(self) -> tuple[object, ...]:
        return self._call

    def __reduce__(self) -> tuple[Any, ...]:
        call, values, named = self._call
        return _made, (self.dimensions, call, values, dict(named))

    def __repr__(self) -> str:
        call, values, named = self._call
        return f"{call}({', '.join([*map(repr, values), *(f'{name}={value!r}' for name, value in named)])})"


class _Places(Mask):
    """Places on the grid of the neurons."""

    shape: tuple[int, ...]
    first: tuple[int, ...]
    needs_grid = True

    def __init__(self, shape: tuple[int, ...], first: tuple[int, ...]) -> None:
        self._put(dimensions=len(shape), shape=shape, first=first)

    def _to_core(self, spacing: Sequence[float] | None) -> _core.Mask:
        if spacing is None:
            raise RuleError(
                "grid_mask()",
                repr(self),
                "it needs the grid of the neurons",
                "connect populations with positions=rv.grid(...), or give a circle or a rectangle",
            )
        if len(spacing) != self.dimensions:
            raise RuleError(
                "grid_mask()",
                repr(self),
                f"the neurons are on a grid of {len(spacing)} dimensions",
                "give as many numbers of places",
            )
        # The surface lies in the middle between places.
        lower = [(first - 0.5) * step for first, step in zip(self.first, spacing, strict=True)]
        sides = [count * step for count, step in zip(self.shape, spacing, strict=True)]
        upper = [low + side for low, side in zip(lower, sides, strict=True)]
        return _core.Mask.box(lower, upper, [])

    def _key(self) -> tuple[object, ...]:
        return self.shape, self.first

    def __reduce__(self) -> tuple[Any, ...]:
        return _Places, (self.shape, self.first)

    def __repr__(self) -> str:
        return f"grid_mask({self.shape}, first={self.first})"


def _made(dimensions: int, call: str, values: tuple[object, ...], named: dict[str, object]) -> Mask:
    return _Shape(dimensions, call, values, **named)


def _checked_mask(other: object) -> Mask:
    if not isinstance(other, Mask):
        raise WrongTypeError("a mask", name_type(other), "must be a mask", "combine masks with &, | and -")
    return other


def _point(what: str, values: object, dimensions: int) -> tuple[float, ...]:
    found = number_array(what, values)
    if found.shape != (dimensions,):
        raise ShapeError(
            what, f"of shape {found.shape}", f"it must have {dimensions} numbers", "give one for each axis"
        )
    return tuple(found.tolist())


def _positive(what: str, value: object) -> float:
    found = number(what, value)
    if not (found > 0.0 and math.isfinite(found)):
        raise ValueOutOfBoundsError(what, f"{found}", "it must be > 0 and finite")
    return found


def _given(**values: tuple[object, object]) -> dict[str, object]:
    """Return values that differ from their defaults: pairs of both."""
    return {name: value for name, (value, default) in values.items() if value != default}


def _axes_of(angle: float) -> list[list[float]]:
    """Return unit vectors along the axes of a shape that is turned, counter-clockwise."""
    if angle == 0.0:
        return []
    turn = math.radians(angle)
    return [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]


def _axes_about(axis: Sequence[float], angle: float) -> list[list[float]]:
    """Return unit vectors along the axes of a body that is turned about an axis (Rodrigues' formula)."""
    if angle == 0.0:
        return []
    direction = np.array(axis) / np.linalg.norm(axis)
    turn = math.radians(angle)
    # The matrix of v -> direction x v.
    cross = np.cross(np.eye(3), direction)
    along = np.outer(direction, direction)
    matrix = math.cos(turn) * np.eye(3) + math.sin(turn) * cross + (1.0 - math.cos(turn)) * along
    columns: list[list[float]] = matrix.T.tolist()
    return columns


def _make_circle(radius: float, center: Sequence[float] = (0.0, 0.0)) -> _core.Mask:
    return _core.Mask.ellipsoid(list(center), [radius] * 2, [])


def _make_donut(inner: float, outer: float, center: Sequence[float] = (0.0, 0.0)) -> _core.Mask:
    return _core.Mask.combined("-", _make_circle(outer, center), _make_circle(inner, center))


def _make_ellipse(radii: Sequence[float], angle: float = 0.0, center: Sequence[float] = (0.0, 0.0)) -> _core.Mask:
    return _core.Mask.ellipsoid(list(center), list(radii), _axes_of(angle))


def _make_rectangle(lower: Sequence[float], upper: Sequence[float], angle: float = 0.0) -> _core.Mask:
    return _core.Mask.box(list(lower), list(upper), _axes_of(angle))


def _make_ball(radius: float, center: Sequence[float] = (0.0, 0.0, 0.0)) -> _core.Mask:
    return _core.Mask.ellipsoid(list(center), [radius] * 3, [])


def _make_ellipsoid(
    radii: Sequence[float],
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    angle: float = 0.0,
    center: Sequence[float] = (0.0, 0.0, 0.0),
) -> _core.Mask:
    return _core.Mask.ellipsoid(list(center), list(radii), _axes_about(axis, angle))


def _make_box(
    lower: Sequence[float], upper: Sequence[float], axis: Sequence[float] = (0.0, 0.0, 1.0), angle: float = 0.0
) -> _core.Mask:
    return _core.Mask.box(list(lower), list(upper), _axes_about(axis, angle))


_MAKERS: dict[str, Callable[..., _core.Mask]] = {
    "circle": _make_circle,
    "donut": _make_donut,
    "ellipse": _make_ellipse,
    "rectangle": _make_rectangle,
    "ball": _make_ball,
    "ellipsoid": _make_ellipsoid,
    "box": _make_box,
}


@known_keywords
def circle(radius: float, *, center: Sequence[float] = (0.0, 0.0)) -> Mask:
    """Return the mask of targets within a distance, in x and y.

    Parameters
    ----------
    radius
        In the unit of the positions.
    center
        The displacement of its center from the source.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For a radius that is not positive and finite, and a center that is not two numbers.

    Examples
    --------
    >>> import ranvier as rv
    >>> rule = rv.PairwiseBernoulli(0.1, mask=rv.circle(0.3))
    """
    middle = _point("center of circle()", center, 2)
    return _Shape(2, "circle", (_positive("radius of circle()", radius),), **_given(center=(middle, (0.0, 0.0))))


@known_keywords
def donut(inner: float, outer: float, *, center: Sequence[float] = (0.0, 0.0)) -> Mask:
    """Return the mask of targets beyond a distance and within a greater one, in x and y.

    Parameters
    ----------
    inner, outer
        Radii, in the unit of the positions. Targets at the distance `inner` are outside.
    center
        The displacement of its center from the source.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For radii that are not positive, finite and ascending, and a center that is not two numbers.
    """
    least, greatest = _positive("inner radius of donut()", inner), _positive("outer radius of donut()", outer)
    if greatest <= least:
        raise ValueOutOfBoundsError(
            "outer radius of donut()",
            f"{greatest}",
            f"it must be > {least}, the inner radius",
            "give the inner one first",
        )
    middle = _point("center of donut()", center, 2)
    return _Shape(2, "donut", (least, greatest), **_given(center=(middle, (0.0, 0.0))))


@known_keywords
def ellipse(radii: Sequence[float], *, angle: float = 0.0, center: Sequence[float] = (0.0, 0.0)) -> Mask:
    """Return the mask of targets in an ellipse, in x and y.

    Parameters
    ----------
    radii
        Half the lengths of its axes along x and y, before it is turned, in the unit of the positions.
    angle
        By which it is turned about its center, from x towards y, in degrees.
    center
        The displacement of its center from the source.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For radii that are not positive and finite, and wrong numbers of values.
    """
    values = _point("radii of ellipse()", radii, 2)
    middle = _point("center of ellipse()", center, 2)
    turn = number("angle of ellipse()", angle)
    return _Shape(2, "ellipse", (values,), **_given(angle=(turn, 0.0), center=(middle, (0.0, 0.0))))


@known_keywords
def rectangle(lower: Sequence[float], upper: Sequence[float], *, angle: float = 0.0) -> Mask:
    """Return the mask of targets in a rectangle, in x and y.

    Parameters
    ----------
    lower, upper
        Displacements of its corners from the source, before it is turned: those with the least and the greatest
        coordinates, in the unit of the positions.
    angle
        By which it is turned about its center, from x towards y, in degrees.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For corners that are not finite or not ascending, and wrong numbers of values.
    """
    corners = _point("lower corner of rectangle()", lower, 2), _point("upper corner of rectangle()", upper, 2)
    return _Shape(2, "rectangle", corners, **_given(angle=(number("angle of rectangle()", angle), 0.0)))


@known_keywords
def ball(radius: float, *, center: Sequence[float] = (0.0, 0.0, 0.0)) -> Mask:
    """Return the mask of targets within a distance, in three dimensions.

    Parameters
    ----------
    radius
        In the unit of the positions.
    center
        The displacement of its center from the source.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For a radius that is not positive and finite, and a center that is not three numbers.
    """
    middle = _point("center of ball()", center, 3)
    return _Shape(3, "ball", (_positive("radius of ball()", radius),), **_given(center=(middle, (0.0, 0.0, 0.0))))


@known_keywords
def ellipsoid(
    radii: Sequence[float],
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    angle: float = 0.0,
    center: Sequence[float] = (0.0, 0.0, 0.0),
) -> Mask:
    """Return the mask of targets in an ellipsoid.

    Parameters
    ----------
    radii
        Half the lengths of its axes along x, y and z, before it is turned, in the unit of the positions.
    axis, angle
        The axis about which it is turned, a vector through its center, and by how much, in degrees; counter-clockwise
        for who looks against the vector.
    center
        The displacement of its center from the source.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For radii that are not positive and finite, an axis of length 0, and wrong numbers of values.
    """
    values = _point("radii of ellipsoid()", radii, 3)
    about, turn = _turn("ellipsoid()", axis, angle)
    middle = _point("center of ellipsoid()", center, 3)
    named = _given(axis=(about, (0.0, 0.0, 1.0)), angle=(turn, 0.0), center=(middle, (0.0, 0.0, 0.0)))
    return _Shape(3, "ellipsoid", (values,), **named)


@known_keywords
def box(
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    angle: float = 0.0,
) -> Mask:
    """Return the mask of targets in a box.

    Parameters
    ----------
    lower, upper
        Displacements of its corners from the source, before it is turned: those with the least and the greatest
        coordinates, in the unit of the positions.
    axis, angle
        The axis about which it is turned, a vector through its center, and by how much, in degrees; counter-clockwise
        for who looks against the vector.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For corners that are not finite or not ascending, an axis of length 0, and wrong numbers of values.
    """
    corners = _point("lower corner of box()", lower, 3), _point("upper corner of box()", upper, 3)
    about, turn = _turn("box()", axis, angle)
    return _Shape(3, "box", corners, **_given(axis=(about, (0.0, 0.0, 1.0)), angle=(turn, 0.0)))


def _turn(what: str, axis: object, angle: object) -> tuple[tuple[float, ...], float]:
    about = _point(f"axis of {what}", axis, 3)
    if not (0.0 < math.hypot(*about) < math.inf):
        raise ValueOutOfBoundsError(f"axis of {what}", f"{about}", "it must have a length > 0", "give a direction")
    return about, number(f"angle of {what}", angle)


@known_keywords
def grid_mask(shape: Sequence[int], *, first: Sequence[int] | None = None) -> Mask:
    """Return the mask of places around a source, where sources and targets are on grids of one spacing.

    Parameters
    ----------
    shape
        Number of places along each axis.
    first
        The least place along each axis, counted from that of the source, which is 0. None: ``-(n // 2)`` for `n`
        places, so that the source is in the middle of an odd number.

    Raises
    ------
    ValueOutOfBoundsError, ShapeError, WrongTypeError
        For numbers that are not whole, or not positive, and wrong numbers of values.
    RuleError
        When it is used, unless all neurons are on grids with the same spacing.
    """
    given = _whole_numbers("shape of grid_mask()", shape, 1)
    if first is None:
        return _Places(given, tuple(-(count // 2) for count in given))
    begin = _whole_numbers("first place of grid_mask()", first, -(2**31))
    if len(begin) != len(given):
        raise ShapeError("first place of grid_mask()", f"{len(begin)} numbers", f"the shape has {len(given)}")
    return _Places(given, begin)


def _whole_numbers(what: str, values: object, least: int) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise WrongTypeError(what, name_type(values), "must be two or three whole numbers")
    if len(values) not in (2, 3):
        raise ShapeError(what, f"{len(values)} numbers", "it must have two or three")
    return tuple(whole_number(what, value, least, 2**31) for value in values)
