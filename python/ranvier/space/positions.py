"""Positions of the neurons of a population: given, on a grid, or random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable
from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.base.texts import check_flag, name_type
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = [
    "MICROMETRES",
    "GivenPositions",
    "Grid",
    "Positions",
    "PositionsLike",
    "RandomPositions",
    "as_positions",
    "by_axis",
    "check_unit",
    "grid",
    "positions",
    "random_positions",
]

Coordinates: TypeAlias = tuple[float, ...]
"""One number for each dimension."""

MICROMETRES = {"um": 1.0, "mm": 1000.0}
"""The length of each unit, um."""

_AXES = "xyz"
_MOST_POSITIONS = 2**48
# Squares of lengths, whose sums are those of distances, must be numbers too.
_MOST_LENGTH = 1e150
_SHAPES = ("box", "ellipsoid", "cylinder", "surface")


class Positions(Immutable):
    """Positions of the neurons of a population, which `Network.create` takes. Made by `grid`, `positions`, and others.

    Objects are immutable, can be pickled, and are equal if all positions and the box are.

    Attributes
    ----------
    dimensions
        Number of coordinates of a position, 2 or 3.
    unit
        Unit of all coordinates and lengths, ``"mm"`` or ``"um"``.
    extent, center
        Lengths of the sides of the box that contains the neurons, and its center, one number for each dimension; None
        for positions that were given without a box.
    periodic
        For each dimension, whether the box repeats itself: its ends are neighbours.
    count
        Number of positions; None if there can be any number.
    """

    dimensions: int
    unit: str
    extent: Coordinates | None
    center: Coordinates | None
    periodic: tuple[bool, ...]
    count: int | None
    core_positions: _core.Positions
    _remedy: ClassVar[str] = "make other positions"

    def __init__(
        self,
        dimensions: int,
        unit: str,
        extent: Coordinates | None,
        center: Coordinates | None,
        periodic: tuple[bool, ...],
    ) -> None:
        self._put(dimensions=dimensions, unit=unit, extent=extent, center=center, periodic=periodic)

    @property
    def _lower(self) -> list[float]:
        """The lower end of the box; empty without a box."""
        if self.extent is None or self.center is None:
            return []
        return [middle - 0.5 * length for middle, length in zip(self.center, self.extent, strict=True)]

    @property
    def _frame(self) -> tuple[str, list[float], list[float]]:
        """Unit, period and origin in the form in which the core takes them."""
        if self.extent is None:
            return self.unit, [], []
        period = [length if repeats else 0.0 for length, repeats in zip(self.extent, self.periodic, strict=True)]
        return self.unit, period, self._lower if any(self.periodic) else []

    def check_room(self, size: int) -> None:
        """Check that there is memory for the positions of a population.

        Raises
        ------
        InsufficientMemoryError
            When there is not enough.
        """

    def _common_arguments(self) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if self.center is not None and any(self.center):
            given["center"] = self.center
        if any(self.periodic):
            given["periodic"] = True if all(self.periodic) else self.periodic
        if self.unit != "mm":
            given["unit"] = self.unit
        return given

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Positions) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.dimensions, self.unit, self.extent, self.center, self.periodic, self.count


PositionsLike: TypeAlias = Positions | npt.ArrayLike
"""Positions, or an array with one row of coordinates for each neuron, in mm."""


class Grid(Positions):
    """Positions on a regular grid, see `grid`.

    Attributes
    ----------
    shape
        Number of neurons along each dimension.
    spacing
        Distance between neighbours along each dimension.
    """

    shape: tuple[int, ...]
    spacing: Coordinates
    count: int

    def __init__(
        self, shape: tuple[int, ...], extent: Coordinates, center: Coordinates, periodic: tuple[bool, ...], unit: str
    ) -> None:
        super().__init__(len(shape), unit, extent, center, periodic)
        spacing = tuple(length / each for length, each in zip(extent, shape, strict=True))
        first = [lower + 0.5 * step for lower, step in zip(self._lower, spacing, strict=True)]
        self._put(shape=shape, count=math.prod(shape), spacing=spacing)
        self._put(core_positions=_core.Positions.grid(list(shape), first, list(spacing), self._frame))

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self.shape

    def __repr__(self) -> str:
        return _call("grid", [repr(self.shape)], {"extent": self.extent, **self._common_arguments()})

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Grid, (self.shape, self.extent, self.center, self.periodic, self.unit)


class RandomPositions(Positions):
    """Random positions, uniform in a volume or an area, see `random_positions`.

    Attributes
    ----------
    shape
        ``"box"``, ``"ellipsoid"``, ``"cylinder"`` or ``"surface"``.
    min_distance
        Least distance of two neurons; 0: they are independent.
    """

    shape: str
    min_distance: float
    extent: Coordinates
    center: Coordinates

    def __init__(
        self,
        count: int | None,
        extent: Coordinates,
        center: Coordinates,
        shape: str,
        min_distance: float,
        periodic: tuple[bool, ...],
        unit: str,
    ) -> None:
        super().__init__(len(extent), unit, extent, center, periodic)
        self._put(count=count, shape=shape, min_distance=min_distance)
        self._put(core_positions=_core.Positions.random(shape, self._lower, list(extent), min_distance, self._frame))

    def check_room(self, size: int) -> None:
        """Check that there is memory for the positions of a population."""
        if self.min_distance:
            # The array, and while it is drawn the points, their order, and as many as four cells for each.
            check_room(
                f"the positions of {size} neurons with a least distance",
                (8 * self.dimensions + 64) * size,
                "leave min_distance out, or create fewer neurons",
            )

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self.shape, self.min_distance

    def __repr__(self) -> str:
        given: dict[str, Any] = {"extent": self.extent}
        if self.shape != "box":
            given["shape"] = self.shape
        if self.min_distance:
            given["min_distance"] = self.min_distance
        counts = [] if self.count is None else [str(self.count)]
        return _call("random_positions", counts, {**given, **self._common_arguments()})

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return RandomPositions, (
            *(self.count, self.extent, self.center, self.shape, self.min_distance, self.periodic, self.unit),
        )


class GivenPositions(Positions):
    """Positions that were given as an array, see `positions`.

    Attributes
    ----------
    coordinates
        One row for each neuron, read-only.
    """

    coordinates: npt.NDArray[np.float64]
    count: int

    def __init__(
        self,
        coordinates: npt.NDArray[np.float64],
        extent: Coordinates | None,
        center: Coordinates | None,
        periodic: tuple[bool, ...],
        unit: str,
    ) -> None:
        count, dimensions = coordinates.shape
        super().__init__(dimensions, unit, extent, center, periodic)
        # Unpickling makes an array writable.
        coordinates.flags.writeable = False
        self._put(coordinates=coordinates, count=count)
        self._put(core_positions=_core.Positions.array(coordinates, self._frame))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and np.array_equal(self.coordinates, other.coordinates)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        given = {} if self.extent is None else {"extent": self.extent}
        return _call("positions", [f"<{self.count} of them>"], {**given, **self._common_arguments()})

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return GivenPositions, (self.coordinates, self.extent, self.center, self.periodic, self.unit)


def _call(name: str, positional: list[str], given: dict[str, Any]) -> str:
    return f"{name}({', '.join([*positional, *(f'{key}={value!r}' for key, value in given.items())])})"


@known_keywords
def grid(
    shape: Sequence[int],
    extent: npt.ArrayLike | None = None,
    *,
    center: npt.ArrayLike = 0.0,
    spacing: npt.ArrayLike | None = None,
    periodic: bool | Sequence[bool] = False,
    unit: str = "mm",
) -> Grid:
    """Return positions on a regular grid.

    The box is divided into cells, as many as there are neurons, and each neuron is in the middle of a cell. The index
    of a neuron grows fastest along the last dimension, as in a NumPy array of this shape.

    Parameters
    ----------
    shape
        Numbers of neurons along x and y, or x, y and z, each >= 1.
    extent
        Lengths of the sides of the box, > 0; one number for all dimensions, or one for each. None: 1, or what follows
        from `spacing`.
    center
        Center of the box; one number for all dimensions, or one for each.
    spacing
        Distance of neighbours, > 0, in place of the extent; one number for all dimensions, or one for each.
    periodic
        Whether the box repeats itself, for all dimensions or for each.
    unit
        Unit of all lengths, ``"mm"`` or ``"um"``.

    Raises
    ------
    ValueOutOfBoundsError
        For lengths that are not positive and finite, and for a center that is not finite.
    ShapeError
        For other than two or three dimensions.
    WrongTypeError
        For both an extent and a spacing.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> sheet = net.create("iaf_psc_exp", positions=rv.grid((20, 30), extent=(2.0, 3.0), periodic=True))
    >>> sheet.positions[0]
    array([-0.95, -1.45])
    """
    counts = _check_shape(shape)
    dimensions = len(counts)
    if extent is not None and spacing is not None:
        raise WrongTypeError(
            "arguments of grid()", bound="it takes either an extent or a spacing", remedy="give one of them"
        )
    if spacing is not None:
        steps = _lengths("spacing of a grid", spacing, dimensions)
        sides = tuple(step * count for step, count in zip(steps, counts, strict=True))
        _check_lengths("extent of a grid", sides)
    else:
        sides = _lengths("extent of a grid", 1.0 if extent is None else extent, dimensions)
    middle, repeats, checked_unit = _placed("a grid", center, periodic, unit, dimensions)
    _check_resolved("a grid", sides, middle)
    return Grid(counts, sides, middle, repeats, checked_unit)


@known_keywords
def random_positions(
    count: int | None = None,
    *,
    extent: npt.ArrayLike,
    center: npt.ArrayLike = 0.0,
    shape: str = "box",
    min_distance: float | None = None,
    periodic: bool | Sequence[bool] = False,
    unit: str = "mm",
) -> RandomPositions:
    """Return random positions, uniform in an area, in a volume or on a surface.

    The position of a neuron is drawn from the seed of the network, the population and the index of the neuron. It is
    computed when it is needed, so that positions take no memory. With `min_distance`, neurons are drawn one after the
    other, each again until none of those before it is nearer; these positions take 16 bytes for each neuron in two
    dimensions and 24 in three, on each process.

    Parameters
    ----------
    count
        Number of neurons; None: as many as the population has.
    extent
        Lengths of the sides of the box, > 0, two or three.
    center
        Center of the box; one number for all dimensions, or one for each.
    shape
        What neurons fill: the ``"box"``; the ``"ellipsoid"`` that touches its sides, which is a ball if they are equal,
        and an ellipse or a disc in two dimensions; the ``"cylinder"`` along z, in three dimensions; or the
        ``"surface"`` of the ball, a circle in two dimensions, for a box with equal sides.
    min_distance
        Least distance of two neurons of the population, > 0; None: they are independent. Random discs of this diameter
        cover at most about 54.7 % of a plane, and random balls 38.4 % of space. The network draws each neuron at most
        20,000 times, which is enough for about 50 % and 32 %, and refuses populations that are denser.
    periodic
        Whether the box repeats itself, for all dimensions or for each. Only for boxes, and for cylinders along z.
    unit
        Unit of all lengths, ``"mm"`` or ``"um"``.

    Raises
    ------
    ValueOutOfBoundsError
        For lengths that are not positive and finite, a center that is not finite, and a shape that cannot be periodic.
    ShapeError
        For other than two or three dimensions, and for a cylinder in two.
    UnknownNameError
        For another shape.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> disc = rv.random_positions(extent=(1.0, 1.0), shape="ellipsoid", min_distance=0.02)
    >>> cells = net.create("iaf_psc_exp", 500, positions=disc)
    """
    found = None if count is None else whole_number("number of positions", count, 1, _MOST_POSITIONS)
    sides = number_array("extent of random positions", extent, "numbers")
    if sides.ndim == 0:
        raise ShapeError(
            "extent of random positions",
            "one number",
            "there are two or three dimensions",
            "give a length for each: (1.0, 1.0)",
        )
    dimensions = _check_dimensions("extent of random positions", sides.size)
    lengths = _lengths("extent of random positions", extent, dimensions)
    check_choice("shape of random positions", shape, _SHAPES)
    if shape == "cylinder" and dimensions == 2:
        raise ShapeError(
            "extent of random positions", "one of two dimensions", "a cylinder has three", "use the shape 'ellipsoid'"
        )
    if shape == "surface" and len(set(lengths)) > 1:
        raise ValueOutOfBoundsError(
            "extent of random positions",
            str(lengths),
            "positions are uniform on the surface of a ball only, so that all lengths must be equal",
            "give equal lengths, or an array of positions",
        )
    least = 0.0 if min_distance is None else _distance("min_distance of random positions", min_distance)
    middle, repeats, checked_unit = _placed("random positions", center, periodic, unit, dimensions)
    _check_resolved("random positions", lengths, middle)
    fills = {"box": dimensions, "ellipsoid": 0, "cylinder": 1, "surface": 0}[shape]
    for axis, name in enumerate(_AXES[:dimensions]):
        if repeats[axis] and axis < dimensions - fills:
            raise ValueOutOfBoundsError(
                f"periodic of random positions along {name}",
                "True",
                f"the shape '{shape}' does not fill the box along {name}",
                "leave it out, or use the shape 'box'",
            )
    return RandomPositions(found, lengths, middle, shape, least, repeats, checked_unit)


@known_keywords
def positions(
    coordinates: npt.ArrayLike,
    *,
    extent: npt.ArrayLike | None = None,
    center: npt.ArrayLike = 0.0,
    min_distance: float | None = None,
    periodic: bool | Sequence[bool] = False,
    unit: str = "mm",
) -> GivenPositions:
    """Return given positions, with a unit and a box.

    ``net.create(model, positions=array)`` does the same for positions in mm without a box. Positions take 16 bytes for
    each neuron in two dimensions and 24 in three, on each process.

    Parameters
    ----------
    coordinates
        One row for each neuron: x and y, or x, y and z; shape ``(neurons, 2)`` or ``(neurons, 3)``. They are copied.
    extent
        Lengths of the sides of a box that contains all neurons, > 0; one number for all dimensions, or one for each.
        Only periodic positions need one.
    center
        Center of the box; one number for all dimensions, or one for each.
    min_distance
        Least distance of two neurons that is accepted, > 0; None: any.
    periodic
        Whether the box repeats itself, for all dimensions or for each.
    unit
        Unit of all lengths, ``"mm"`` or ``"um"``.

    Raises
    ------
    ShapeError
        For another shape of the array, and for periodic positions without an extent.
    ValueOutOfBoundsError
        For coordinates that are not finite or outside of the box, for lengths that are not positive and finite, and for
        two neurons that are nearer than `min_distance`, which the error names.
    """
    points = number_array("positions", coordinates, "an array of numbers, with one row for each neuron")
    if points.ndim != 2:
        raise ShapeError(
            "positions",
            f"an array of shape {points.shape}",
            "it must have one row for each neuron",
            "give the shape (neurons, 2) or (neurons, 3)",
        )
    if not len(points):
        raise ShapeError("number of positions", "0", "there must be at least one")
    dimensions = _check_dimensions("positions", points.shape[1])
    _refuse_row(points, ~np.isfinite(points), "it must be finite", "give a number")
    bound = f"it must be from {-_MOST_LENGTH:g} to {_MOST_LENGTH:g}"
    _refuse_row(points, np.abs(points) > _MOST_LENGTH, bound, "check the unit")
    middle, repeats, checked_unit = _placed("positions", center, periodic, unit, dimensions)
    if extent is None:
        if any(repeats):
            raise ShapeError(
                "extent of positions", "None", "periodic positions are in a box", "give the lengths of its sides"
            )
        if any(middle):
            raise ShapeError(
                "extent of positions", "None", "a center is that of a box", "give the lengths of its sides"
            )
        return _checked_distances(GivenPositions(points, None, None, repeats, checked_unit), min_distance)
    lengths = _lengths("extent of positions", extent, dimensions)
    lower = np.array(middle) - 0.5 * np.array(lengths)
    within = (points - lower >= 0.0) & (points - lower <= np.array(lengths))
    _refuse_row(
        points,
        ~within,
        f"the box has the extent {lengths} and the center {middle}",
        "give a larger extent, or move the neuron into the box",
    )
    return _checked_distances(GivenPositions(points, lengths, middle, repeats, checked_unit), min_distance)


def _checked_distances(given: GivenPositions, min_distance: float | None) -> GivenPositions:
    """Return positions such that no two are nearer than a distance."""
    if min_distance is None:
        return given
    least = _distance("min_distance of positions", min_distance)
    near = _core.find_near_pair(given.coordinates, least, given._frame)
    if near is not None:
        first, second, distance = near
        raise ValueOutOfBoundsError(
            f"distance of the positions {first} and {second}",
            f"{distance:g} {given.unit}",
            f"it must be at least {least:g} {given.unit}",
            "move one of them, or choose a smaller min_distance",
        )
    return given


def as_positions(given: PositionsLike) -> Positions:
    """Return the positions of a population, which may be given as an array."""
    if isinstance(given, Positions):
        return given
    if isinstance(given, str) or given is None:
        raise WrongTypeError(
            "positions",
            name_type(given),
            "must be an array with one row for each neuron, or made by rv.grid() and such",
        )
    return positions(given)


def _check_shape(shape: object) -> tuple[int, ...]:
    if isinstance(shape, str) or not isinstance(shape, Sequence | np.ndarray):
        raise WrongTypeError("shape of a grid", name_type(shape), "must be a list of numbers of neurons")
    _check_dimensions("shape of a grid", len(shape))
    counts = tuple(whole_number("shape of a grid", each, 1, _MOST_POSITIONS) for each in shape)
    if math.prod(counts) > _MOST_POSITIONS:
        raise ValueOutOfBoundsError("shape of a grid", str(counts), "there can be at most 2^48 neurons")
    return counts


def _distance(what: str, given: float) -> float:
    """Return a checked distance, finite and > 0."""
    distance = number(what, given)
    if not 0.0 < distance < math.inf:
        raise ValueOutOfBoundsError(what, str(given), "it must be > 0 and finite", "leave it out for any distance")
    if distance > _MOST_LENGTH:
        raise ValueOutOfBoundsError(what, str(given), f"it must be at most {_MOST_LENGTH:g}", "check the unit")
    return distance


def _check_dimensions(what: str, dimensions: int) -> int:
    if dimensions not in (2, 3):
        raise ShapeError(
            f"dimensions of {what}", str(dimensions), "there are two or three", "give x and y, or x, y and z"
        )
    return dimensions


def by_axis(what: str, given: npt.ArrayLike, dimensions: int) -> Coordinates:
    """Return one finite number for each dimension, given as such or as one for all of them."""
    array = number_array(what, given, "a number, or one for each dimension")
    if array.ndim > 1 or (array.ndim == 1 and len(array) != dimensions):
        raise ShapeError(what, f"an array of shape {array.shape}", f"there are {dimensions} dimensions")
    numbers = tuple(np.broadcast_to(array, dimensions).tolist())
    for axis, each in zip(_AXES, numbers, strict=False):
        if not math.isfinite(each):
            raise ValueOutOfBoundsError(f"{what} along {axis}", str(each), "it must be finite")
    return numbers


def _lengths(what: str, given: npt.ArrayLike, dimensions: int) -> Coordinates:
    """Return one finite number > 0 for each dimension."""
    return _check_lengths(what, by_axis(what, given, dimensions))


def _check_lengths(what: str, lengths: Coordinates) -> Coordinates:
    for axis, each in zip(_AXES, lengths, strict=False):
        if not 0.0 < each < math.inf:
            raise ValueOutOfBoundsError(f"{what} along {axis}", str(each), "it must be > 0 and finite")
        if not 1.0 / _MOST_LENGTH <= each <= _MOST_LENGTH:
            bound = f"it must be from {1.0 / _MOST_LENGTH:g} to {_MOST_LENGTH:g}"
            raise ValueOutOfBoundsError(f"{what} along {axis}", str(each), bound, "check the unit")
    return lengths


def _check_resolved(what: str, lengths: Coordinates, center: Coordinates) -> None:
    """Check that coordinates near the center, which are rounded, differ by much less than the lengths of the box."""
    for axis, length, middle in zip(_AXES, lengths, center, strict=False):
        step = math.ulp(middle)
        if step > 1e-6 * length:
            raise ValueOutOfBoundsError(
                f"center of {what} along {axis}",
                str(middle),
                f"numbers of this size differ by {step:g} at least, too much for a box of the length {length:g}",
                "move the center, or choose a larger extent",
            )


def _placed(
    what: str, center: npt.ArrayLike, periodic: bool | Sequence[bool], unit: str, dimensions: int
) -> tuple[Coordinates, tuple[bool, ...], str]:
    """Return the checked center, the periodic dimensions and the unit."""
    middle = by_axis(f"center of {what}", center, dimensions)
    if isinstance(periodic, list | tuple | np.ndarray):
        if len(periodic) != dimensions:
            raise ShapeError(f"periodic of {what}", str(tuple(periodic)), f"there are {dimensions} dimensions")
        repeats = tuple(check_flag(f"periodic of {what}", each) for each in periodic)
    else:
        repeats = (check_flag(f"periodic of {what}", periodic),) * dimensions
    return middle, repeats, check_unit(f"unit of {what}", unit)


def check_unit(what: str, unit: str) -> str:
    """Return a unit of length, "mm" or "um"."""
    if isinstance(unit, str) and unit in ("\u00b5m", "\u03bcm"):
        return "um"
    check_choice(what, unit, ("mm", "um"))
    return unit


def _refuse_row(points: npt.NDArray[np.float64], wrong: npt.NDArray[np.bool_], bound: str, remedy: str) -> None:
    """Raise an error for the first coordinate that is wrong."""
    if not wrong.any():
        return
    row, axis = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    raise ValueOutOfBoundsError(f"{_AXES[axis]} of position {row}", str(points[row, axis]), bound, remedy)
