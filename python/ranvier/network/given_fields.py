"""Potentials outside of cells that are given: uniform fields, point sources, functions, arrays and files."""

from __future__ import annotations

import hashlib
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.conductivity import checked_conductivity
from ranvier.base.hdf5 import h5py
from ranvier.base.immutable import Immutable, locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted
from ranvier.base.numeric import number_array, three_numbers
from ranvier.base.paths import checked_path, file_errors
from ranvier.base.texts import name_type
from ranvier.base.values import FloatArray
from ranvier.cells.lines import CompartmentLines
from ranvier.errors import FileError, RanvierError, ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.waveforms import Waveform, WaveformLike, as_waveform, check_finite, checked_times
from ranvier.space.contacts import MOST_COORDINATE
from ranvier.space.positions import MICROMETRES, check_unit

__all__ = [
    "OutsideField",
    "given_field",
    "point_source",
    "read_field",
    "sampled_field",
    "uniform_field",
]

Potentials: TypeAlias = Callable[[FloatArray], npt.ArrayLike]


class OutsideField(Immutable, ABC):
    """Given potentials outside of cells, for `Network.apply_field`.

    Made by `uniform_field`, `point_source`, `given_field`, `sampled_field` or `read_field`.

    Attributes
    ----------
    span
        Times between which it is defined, ms.
    """

    span: tuple[float, float] = (0.0, math.inf)
    _text: str

    @property
    @abstractmethod
    def times(self) -> FloatArray | None:
        """Times of its distributions, between which potentials are interpolated; None: it has a waveform."""

    @property
    @abstractmethod
    def course(self) -> Waveform | None:
        """The waveform of its distribution; None: it has times."""

    @abstractmethod
    def potentials(self, lines: CompartmentLines, first: int) -> FloatArray:
        """Return the distributions at the middles of compartments, mV, shape (distributions, compartments).

        Parameters
        ----------
        lines
            Of a cell.
        first
            The first compartment of the cell among those of all cells on which the field acts.
        """

    def check_compartments(self, count: int) -> None:
        """Refuse cells with this number of compartments if the field has potentials for another number."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A hash of what the potentials follow from, or a name."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**{name: locked(value) if isinstance(value, np.ndarray) else value for name, value in state.items()})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, OutsideField) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        return (self.digest, self.course)

    def __repr__(self) -> str:
        return self._text


def _hash(*arrays: FloatArray) -> str:
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(str(array.shape).encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]


class _WithWaveform(OutsideField):
    _waveform: Waveform

    @property
    def times(self) -> None:
        return None

    @property
    def course(self) -> Waveform:
        return self._waveform


class _Uniform(_WithWaveform):
    _field: FloatArray

    def __init__(self, field: FloatArray, waveform: Waveform) -> None:
        text = f"uniform_field({tuple(field.tolist())}, {waveform!r})"
        self._put(_field=locked(field), _waveform=waveform, _text=text, span=waveform.span)

    @property
    def digest(self) -> str:
        return f"uniform {_hash(self._field)}"

    def potentials(self, lines: CompartmentLines, first: int) -> FloatArray:
        # V/m times um is 1e-3 mV.
        return (lines.middle @ (-1e-3 * self._field))[np.newaxis]


class _PointSource(_WithWaveform):
    _place: FloatArray
    _sigma: float

    def __init__(self, place: FloatArray, current: Waveform, sigma: float) -> None:
        text = f"point_source({tuple(place.tolist())}, {current!r}, sigma={sigma:g})"
        self._put(_place=locked(place), _waveform=current, _sigma=sigma, _text=text, span=current.span)

    @property
    def digest(self) -> str:
        return f"point {_hash(self._place, np.array(self._sigma))}"

    def potentials(self, lines: CompartmentLines, first: int) -> FloatArray:
        _, inside = _core.line_potentials(lines.begin, lines.end, 0.5 * lines.diameter, self._place[np.newaxis])
        within = np.flatnonzero(inside >= 0)
        if len(within):
            raise ValueOutOfBoundsError(
                "point source",
                f"{tuple(self._place.tolist())} um",
                f"it is within compartment {within[0]} of a cell",
                "move the source or the cell",
            )
        # uA / (S/m um) is 1 V.
        distance = np.linalg.norm(lines.middle - self._place, axis=1)
        potentials: FloatArray = (1e3 / (4.0 * math.pi * self._sigma) / distance)[np.newaxis]
        return potentials


class _Given(_WithWaveform):
    _potentials: Potentials | FloatArray

    def __init__(self, potentials: Potentials | FloatArray, waveform: Waveform) -> None:
        named = "an array" if isinstance(potentials, np.ndarray) else _name_of(potentials)
        text = f"given_field({named}, {waveform!r})"
        self._put(_potentials=potentials, _waveform=waveform, _text=text, span=waveform.span)

    @property
    def digest(self) -> str:
        if isinstance(self._potentials, np.ndarray):
            return f"array {_hash(self._potentials)}"
        return f"function {_name_of(self._potentials)}"

    def check_compartments(self, count: int) -> None:
        if isinstance(self._potentials, np.ndarray):
            _check_count("potentials of a field", len(self._potentials), count)

    def potentials(self, lines: CompartmentLines, first: int) -> FloatArray:
        if isinstance(self._potentials, np.ndarray):
            return self._potentials[np.newaxis, first : first + len(lines)]
        name = f"potentials of {_name_of(self._potentials)}"
        values = number_array(name, self._potentials(lines.middle), "an array of numbers")
        if values.shape != (len(lines),):
            raise ShapeError(
                name,
                f"an array of the shape {values.shape}",
                f"it was called with {len(lines)} points",
                "return one each",
            )
        check_finite(name, values)
        return values[np.newaxis]


class _Sampled(OutsideField):
    """At compartments, shape (times, compartments), or at the points of a grid, (times, x, y, z)."""

    _times: FloatArray
    _axes: tuple[FloatArray, ...]
    _values: FloatArray

    def __init__(self, times: FloatArray, axes: tuple[FloatArray, ...], values: FloatArray) -> None:
        of = counted(values[0].size, "point") if axes else counted(values.shape[1], "compartment")
        self._put(
            _times=locked(times),
            _axes=tuple(locked(axis) for axis in axes),
            _values=locked(values),
            _text=f"<field of {counted(len(times), 'time')} at {of}>",
            span=(float(times[0]), float(times[-1])) if len(times) > 1 else (0.0, math.inf),
        )

    @property
    def times(self) -> FloatArray:
        return self._times

    @property
    def course(self) -> None:
        return None

    @property
    def digest(self) -> str:
        return f"samples {_hash(self._times, *self._axes, self._values)}"

    def check_compartments(self, count: int) -> None:
        if not self._axes:
            _check_count("potentials of a field", self._values.shape[1], count)

    def potentials(self, lines: CompartmentLines, first: int) -> FloatArray:
        if not self._axes:
            return self._values[:, first : first + len(lines)]
        points = lines.middle
        corners, parts = [], []
        for axis, name, coordinates in zip(self._axes, "xyz", points.T, strict=True):
            outside = np.flatnonzero((coordinates < axis[0]) | (coordinates > axis[-1]))
            if len(outside):
                raise ValueOutOfBoundsError(
                    f"compartment {outside[0]} of a cell in a field",
                    f"{name} = {coordinates[outside[0]]:g} um",
                    f"the grid of the field goes from {axis[0]:g} to {axis[-1]:g} um",
                    "give a larger grid, or move the cell",
                )
            begin = np.clip(np.searchsorted(axis, coordinates, side="right") - 1, 0, max(len(axis) - 2, 0))
            width = axis[np.minimum(begin + 1, len(axis) - 1)] - axis[begin]
            corners.append((begin, np.minimum(begin + 1, len(axis) - 1)))
            parts.append(np.divide(coordinates - axis[begin], width, out=np.zeros_like(width), where=width > 0.0))
        potentials = np.zeros((len(self._times), len(points)))
        for corner in np.ndindex(2, 2, 2):
            weight = np.ones(len(points))
            for side, part in zip(corner, parts, strict=True):
                weight = weight * (part if side else 1.0 - part)
            x, y, z = (pair[side] for pair, side in zip(corners, corner, strict=True))
            potentials += weight * self._values[:, x, y, z]
        return potentials


def uniform_field(field: npt.ArrayLike, waveform: WaveformLike = 1.0) -> OutsideField:
    """Return a uniform electric field.

    The potential at x is -E x, with 0 at the origin of the positions, as between large electrodes (tDCS, tACS).

    Parameters
    ----------
    field
        The three components of E, V/m, which are mV/mm.
    waveform
        Factor over time: a number, `sine_wave`, `pulse_train` or `waveform`.

    Raises
    ------
    ShapeError, ValueOutOfBoundsError
        Unless it is three finite numbers.

    Examples
    --------
    >>> net.apply_field(cells, rv.uniform_field((0.0, 0.0, 1.0), rv.sine_wave(10.0)), interval=0.1)
    """
    return _Uniform(three_numbers("field", field, MOST_COORDINATE), as_waveform("waveform", waveform))


def point_source(
    position: npt.ArrayLike, current: WaveformLike, *, sigma: float = 0.3, unit: str = "um"
) -> OutsideField:
    """Return a monopolar electrode in an infinite homogeneous medium: potentials are I / (4 pi sigma r).

    Parameters
    ----------
    position
        The three coordinates.
    current
        uA, positive out of the electrode into the medium (anodic): a number, `sine_wave`, `pulse_train` or `waveform`.
    sigma
        Conductivity of the medium, S/m.
    unit
        Unit of the position, ``"um"`` or ``"mm"``.

    Raises
    ------
    ShapeError, ValueOutOfBoundsError
        For a position that is not three finite numbers, and a conductivity that is not positive. A source within a
        cell is found when the simulation is built.
    """
    place = three_numbers("position", position, MOST_COORDINATE) * MICROMETRES[check_unit("unit", unit)]
    return _PointSource(place, as_waveform("current", current), checked_conductivity(sigma))


def given_field(potentials: Potentials | npt.ArrayLike, waveform: WaveformLike = 1.0) -> OutsideField:
    """Return given potentials, for example those of a finite-element solution.

    Parameters
    ----------
    potentials
        A function that gets the middles of compartments, um, shape ``(points, 3)``, and returns potentials in mV: it is
        called once for each cell when the simulation is built, and must return the same on all processes. Saved states
        know its name only, and are loaded with any function of this name. Or an array with one potential for each
        compartment of all cells, in the order of their ids.
    waveform
        Factor over time: a number, `sine_wave`, `pulse_train` or `waveform`.

    Raises
    ------
    WrongTypeError, ShapeError, ValueOutOfBoundsError
        For other types, and values that are not finite.
    """
    course = as_waveform("waveform", waveform)
    if callable(potentials):
        return _Given(potentials, course)
    values = number_array("potentials", potentials, "a function or an array of numbers")
    if values.ndim != 1:
        raise ShapeError("potentials", f"an array of the shape {values.shape}", "it must be (compartments,)")
    check_finite("potentials", values)
    return _Given(locked(values), course)


def sampled_field(
    times: npt.ArrayLike,
    potentials: npt.ArrayLike,
    *,
    grid: Sequence[npt.ArrayLike] | None = None,
    unit: str | None = None,
) -> OutsideField:
    """Return potentials at given times, between which they are interpolated linearly.

    Parameters
    ----------
    times
        ms, ascending. A simulation cannot run beyond the last one, nor begin before the first one.
    potentials
        mV, shape ``(times, compartments)``, with the compartments of all cells in the order of their ids; or with
        `grid`, ``(times, x, y, z)``.
    grid
        Coordinates along x, y and z, ascending, between which potentials are interpolated linearly.
    unit
        Unit of the grid, ``"um"`` or ``"mm"``; None: um.

    Raises
    ------
    ShapeError, ValueOutOfBoundsError
        For shapes that do not agree, numbers that are not finite, and times or coordinates that do not ascend. A
        compartment outside of the grid is found when the simulation is built.
    """
    at = checked_times("times of a field", times)
    values = number_array("potentials of a field", potentials, "an array of numbers")
    axes: tuple[FloatArray, ...] = ()
    if grid is not None:
        try:
            given = tuple(itertools.islice(grid, 4))
        except TypeError:
            raise WrongTypeError("grid of a field", name_type(grid), "must be coordinates along x, y and z") from None
        if len(given) != 3:
            raise ShapeError("axes of the grid of a field", str(len(given)), "there must be three")
        scale = MICROMETRES["um" if unit is None else check_unit("unit", unit)]
        axes = tuple(scale * _axis(name, axis) for name, axis in zip("xyz", given, strict=True))
    elif unit is not None:
        raise ValueOutOfBoundsError("unit", repr(unit), "potentials at compartments have no grid", "leave the unit out")
    expected = (len(at), *map(len, axes)) if axes else (len(at), values.shape[1] if values.ndim == 2 else -1)
    if values.shape != expected:
        wanted = f"{expected}" if axes else f"({len(at)}, compartments)"
        raise ShapeError("potentials of a field", f"an array of the shape {values.shape}", f"it must be {wanted}")
    check_finite("potentials of a field", values)
    return _Sampled(at, axes, values)


def read_field(path: str | PathLike[str]) -> OutsideField:
    """Read potentials at the points of a grid from an HDF5 file.

    Parameters
    ----------
    path
        A file with the datasets ``times`` (ms), ``x``, ``y``, ``z`` (um) and ``potentials`` (mV), of the shape
        ``(times, x, y, z)``. Potentials are interpolated linearly between points and between times.

    Raises
    ------
    FileError
        When the file cannot be read, or lacks a dataset.
    ShapeError, ValueOutOfBoundsError
        As `sampled_field`.
    """
    file = checked_path(path, "file of a field")
    with file_errors(file, "read"), h5py.File(file, "r") as opened:
        times, x, y, z, potentials = (_dataset(file, opened, name) for name in ("times", "x", "y", "z", "potentials"))
    return sampled_field(times, potentials, grid=(x, y, z))


def _dataset(file: Path, opened: Any, name: str) -> npt.NDArray[Any]:
    """Return the array of a dataset of a file that is open."""
    try:
        if name not in opened or not isinstance(dataset := opened[name], h5py.Dataset) or dataset.shape is None:
            raise FileError(
                f"file {file}", bound=f"it has no dataset {name!r}", remedy="write times, x, y, z and potentials"
            )
        check_room(f"dataset {name!r} of file {file}", 2 * dataset.nbytes, "write fewer times, or a smaller grid")
        return np.asarray(dataset)
    except (LookupError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, RanvierError):
            raise
        raise FileError(
            f"file {file}", bound=f"its dataset {name!r} cannot be read ({error})", remedy="write the file again"
        ) from error


def as_fields(given: object) -> tuple[OutsideField, ...]:
    """Return one field, or a list of fields with waveforms, as a tuple.

    Raises
    ------
    WrongTypeError, ShapeError
        For something else.
    """
    fields = tuple(given) if isinstance(given, list | tuple) else (given,)
    for field in fields:
        if not isinstance(field, OutsideField):
            raise WrongTypeError(
                "field", type(field).__name__, "must be a field", "write rv.uniform_field((0.0, 0.0, 1.0))"
            )
    if not fields:
        raise ShapeError("fields", "none", "there must be at least one")
    if len(fields) > 1 and any(field.times is not None for field in fields):
        raise ShapeError(
            "fields", str(len(fields)), "one with times cannot be in a list", "apply each in a call of its own"
        )
    return fields


def _axis(name: str, given: npt.ArrayLike) -> FloatArray:
    axis: FloatArray = np.atleast_1d(number_array(f"{name} of a grid", given, "an array of numbers"))
    if axis.ndim != 1 or not len(axis):
        raise ShapeError(f"{name} of a grid", f"an array of the shape {axis.shape}", "it must have one dimension")
    check_finite(f"{name} of a grid", axis)
    if (np.diff(axis) <= 0.0).any():
        raise ValueOutOfBoundsError(f"{name} of a grid", "not ascending", "coordinates must ascend")
    return axis


def _check_count(what: str, given: int, count: int) -> None:
    if given != count:
        raise ShapeError(what, f"for {counted(given, 'compartment')}", f"the cells have {count}")


def _name_of(function: Potentials) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))
