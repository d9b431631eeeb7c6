"""Rotations of detailed cells about their positions."""

from __future__ import annotations

import math
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable, locked
from ranvier.base.names import check_choice
from ranvier.base.numeric import number_array
from ranvier.base.texts import name_type
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Rotation", "random_rotation", "rotation"]

Axis: TypeAlias = tuple[float, float, float]
Step: TypeAlias = tuple[str, Axis, npt.NDArray[np.float64]]
"""Kind in the core, axis of length 1, and angles in turns."""

_AXES: dict[str, Axis] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MOST_TURNS = 2.0**50


class Rotation(Immutable):
    """Rotations of the cells of a population, which `Network.create` takes. Made by `rotation` and `random_rotation`.

    ``a @ b`` is the rotation `b` followed by `a`, as for matrices. Objects are immutable, can be pickled, and are equal
    if all axes and angles are.

    Attributes
    ----------
    count
        Number of cells that angles were given for; None for any number.
    """

    count: int | None
    core_rotations: _core.Rotations
    _steps: tuple[Step, ...]
    _remedy: ClassVar[str] = "make another rotation"

    def __init__(self, steps: tuple[Step, ...]) -> None:
        # Unpickling makes arrays writable.
        kept = tuple((kind, axis, locked(angles)) for kind, axis, angles in steps)
        counts = {len(angles) for _, _, angles in kept if len(angles) > 1}
        if len(counts) > 1:
            raise ShapeError(
                "numbers of angles of rotations",
                " and ".join(map(str, sorted(counts))),
                "those that follow each other must have as many angles",
                "give one angle for all cells, or one for each",
            )
        self._put(_steps=kept, count=counts.pop() if counts else None)
        self._put(core_rotations=_core.Rotations.of_steps([(kind, list(axis), angles) for kind, axis, angles in kept]))

    def __matmul__(self, other: Rotation) -> Rotation:
        if not isinstance(other, Rotation):
            raise WrongTypeError("second operand of a rotation @ ...", name_type(other), "must be a rotation")
        return Rotation((*other._steps, *self._steps))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rotation) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return tuple((kind, axis, angles.tobytes()) for kind, axis, angles in self._steps)

    def __repr__(self) -> str:
        return " @ ".join(map(_text, reversed(self._steps)))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Rotation, (self._steps,)


def _text(step: Step) -> str:
    kind, axis, angles = step
    if kind == "any":
        return "random_rotation()"
    name = next((name for name, known in _AXES.items() if known == axis), axis)
    if kind == "random":
        return f"random_rotation({name!r})"
    degrees = f"{360.0 * angles[0]:.15g}" if len(angles) == 1 else f"<{len(angles)} of them>"
    return f"rotation({name!r}, degrees={degrees})"


@known_keywords
def rotation(
    axis: str | npt.ArrayLike, *, degrees: npt.ArrayLike | None = None, radians: npt.ArrayLike | None = None
) -> Rotation:
    """Return rotations about an axis through the soma.

    Parameters
    ----------
    axis
        ``"x"``, ``"y"``, ``"z"``, or a vector of three numbers, of any length > 0.
    degrees, radians
        Angle, counter-clockwise for a viewer to whom the axis points; one number for all cells, or one for each, shape
        ``(cells,)``. Give it in one of the units.

    Raises
    ------
    ValueOutOfBoundsError
        For angles and axes that are not finite, and an axis of length 0.
    ShapeError
        For an axis that has not three numbers, and for angles that are not one number or an array of one dimension.
    WrongTypeError
        When not exactly one of `degrees` and `radians` is given.

    Examples
    --------
    >>> import ranvier as rv
    >>> upright = rv.rotation("x", degrees=90.0)  # what pointed along y points along z
    >>> any_side = rv.random_rotation("z") @ upright
    """
    if (degrees is None) == (radians is None):
        raise WrongTypeError(
            "arguments of rotation()", bound="it takes an angle in degrees or in radians", remedy="give one of them"
        )
    given, turn = (degrees, 360.0) if radians is None else (radians, 2.0 * math.pi)
    angles = np.atleast_1d(number_array("angle of a rotation", given, "a number, or one for each cell"))
    if angles.ndim != 1 or not len(angles):
        raise ShapeError(
            "angle of a rotation", f"an array of shape {angles.shape}", "there is one for all cells, or one for each"
        )
    angles /= turn
    for i in np.flatnonzero(~(np.abs(angles) < _MOST_TURNS))[:1]:
        raise ValueOutOfBoundsError("angle of a rotation", f"{angles[i]} turns", "it must be finite, and below 2^50")
    return Rotation((("given", _unit_vector(axis), angles),))


@known_keywords
def random_rotation(axis: str | npt.ArrayLike | None = None) -> Rotation:
    """Return random rotations, drawn for each cell from the seed, the population and the index of the cell.

    Parameters
    ----------
    axis
        The angle about this axis is uniform: ``"x"``, ``"y"``, ``"z"``, or a vector of three numbers, of any length >
        0. None: rotations are uniform among all (Shoemake 1992).

    Raises
    ------
    ValueOutOfBoundsError, ShapeError
        As for `rotation`.
    """
    if axis is None:
        return Rotation((("any", _AXES["z"], np.empty(0)),))
    return Rotation((("random", _unit_vector(axis), np.empty(0)),))


def _unit_vector(axis: Any) -> Axis:
    if isinstance(axis, str):
        check_choice("axis of a rotation", axis, list(_AXES))
        return _AXES[axis]
    vector = number_array("axis of a rotation", axis, "'x', 'y', 'z' or three numbers")
    if vector.shape != (3,):
        raise ShapeError("axis of a rotation", f"an array of shape {vector.shape}", "it has three numbers")
    largest = float(np.abs(vector).max())
    if not 0.0 < largest < math.inf:
        raise ValueOutOfBoundsError(
            "axis of a rotation", str(tuple(vector.tolist())), "its length must be > 0 and finite"
        )
    x, y, z = (vector / largest).tolist()
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
