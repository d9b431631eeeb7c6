"""Values that differ from cell to cell of a population."""

from __future__ import annotations

import math
from collections.abc import Callable
from keyword import iskeyword
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable, locked
from ranvier.base.names import counted
from ranvier.base.numeric import number, number_array
from ranvier.base.texts import check_text
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["CoreUse", "PerCell", "PerCellParameters", "PerCellValue", "Profile", "called", "per_cell"]

FloatArray = npt.NDArray[np.float64]
Profile: TypeAlias = float | npt.ArrayLike | Callable[[FloatArray], npt.ArrayLike]
CoreUse: TypeAlias = tuple[str, int, int, int, FloatArray]
"""Use of a per-cell parameter: kind, number of the parameter, of a receptor or clamp, of its parameter, profile."""


class PerCell(Immutable):
    """A parameter that has one value per cell of a population; see `per_cell`."""

    name: str
    default: float
    profile: Profile

    def __init__(self, name: str, default: float, profile: Profile) -> None:
        self._put(name=name, default=default, profile=profile)

    def factor(self, what: str) -> float:
        """Return the profile as one number, for a value that a cell has once.

        Raises
        ------
        WrongTypeError, ShapeError
            When it is a function or an array.
        """
        if callable(self.profile):
            raise WrongTypeError(
                f"profile of rv.per_cell('{self.name}')", "a function", f"must be one number for {what}"
            )
        profile = np.asarray(self.profile)
        if profile.ndim:
            raise ShapeError(
                f"profile of rv.per_cell('{self.name}')",
                f"an array of shape {profile.shape}",
                f"it must be one number for {what}",
            )
        return float(profile)

    def parts(self, what: str) -> list[PerCell]:
        """Return a `PerCell` for each number of the profile, for a list of values such as the levels of a clamp."""
        if callable(self.profile):
            return [PerCell(self.name, self.default, self.factor(what))]
        profile = np.atleast_1d(np.asarray(self.profile))
        if profile.ndim != 1 or not len(profile):
            raise ShapeError(
                f"profile of rv.per_cell('{self.name}')",
                f"an array of shape {profile.shape}",
                "it must have one dimension",
            )
        return [PerCell(self.name, self.default, factor) for factor in profile.tolist()]

    def values(self, what: str, distances: FloatArray) -> FloatArray:
        """Return the profile: one number, or one for each compartment."""
        profile: Any = self.profile
        if callable(profile):
            profile = number_array(f"the values of the function for {what}", called(what, profile, distances))
            profile = np.full(len(distances), float(profile)) if profile.ndim == 0 else profile
        array = np.atleast_1d(np.asarray(profile, dtype=np.float64))
        if array.shape not in ((1,), distances.shape):
            raise ShapeError(
                what, f"an array of shape {array.shape}", f"the cell has {counted(len(distances), 'compartment')}"
            )
        return np.ascontiguousarray(array)

    def _content(self) -> tuple[object, ...]:
        profile = self.profile if callable(self.profile) else np.asarray(self.profile).tobytes()
        return self.name, self.default, profile

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerCell) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __repr__(self) -> str:
        return f"per_cell('{self.name}', {self.default:g})"


PerCellValue: TypeAlias = float | PerCell
"""A number, or `per_cell`."""


def per_cell(name: str, default: float, profile: Profile = 1.0) -> PerCell:
    """Return a value that can differ between the cells of a population.

    It replaces a number: a parameter of a mechanism or a receptor, numbers of clamps, and ``C_m``, ``R_a``,
    ``threshold`` and ``V_init`` of `Cell`.

    Parameters
    ----------
    name
        Name of the parameter in `Network.create` and `Network.set`. If several values have the same name, a cell
        has one value for all of them.
    default
        The value of cells for which it is not set.
    profile
        Factor of the value. For parameters of mechanisms and for ``C_m``, in each compartment: one number, an array
        with one for each compartment, or a function of all distances from the soma (um) that returns these; >= 0. For
        levels and durations of clamps: one number, or an array with one for each; for all others one number.

    Notes
    -----
    A cell behaves as with the same number in its place, bit for bit. Cells that differ only in clamps and thresholds
    are calculated as fast as equal cells. Parameters on which rates of gates depend cannot differ, because they change
    the tables of rates; mechanisms that come with Ranvier do not have such parameters.

    Examples
    --------
    >>> import ranvier as rv
    >>> soma = rv.Morphology([rv.Section(length=12.0, diameter=12.0)])
    >>> cell = rv.Cell(
    ...     soma,
    ...     membrane=[("all", rv.hh(gnabar=rv.per_cell("gna", 0.12)))],
    ...     clamps={"pulse": (rv.current_clamp(amplitude=rv.per_cell("pulse", 100.0), start=5.0), rv.at(0))},
    ... )
    >>> net = rv.Network(resolution=0.025)
    >>> cells = net.create(cell, 100, gna=rv.Normal(0.12, 0.01), pulse=rv.Uniform(50.0, 150.0))
    """
    check_text("name of rv.per_cell", name)
    if not name.isidentifier() or iskeyword(name) or name in ("self", "model", "size", "name", "step"):
        raise ValueOutOfBoundsError(
            "name of rv.per_cell", f"'{name}'", "net.create() could not be given it as an argument", "choose another"
        )
    if isinstance(profile, PerCell):
        raise WrongTypeError("profile of rv.per_cell", "PerCell", "must be numbers or a function", "multiply profiles")
    stored = profile if callable(profile) else locked(number_array("profile of rv.per_cell", profile))
    value = number("default of rv.per_cell", default)
    if math.isnan(value):
        raise ValueOutOfBoundsError("default of rv.per_cell", "nan", "it must be a number")
    return PerCell(name, value, stored)


def called(what: str, function: Callable[[FloatArray], npt.ArrayLike], distances: FloatArray) -> npt.ArrayLike:
    """Return the values of a function of distances.

    Raises
    ------
    WrongTypeError
        When it does not take them.
    """
    try:
        return function(distances)
    except TypeError as error:
        # Only an error of the call itself, not one that the function raises.
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise WrongTypeError(
                what, repr(function), "a function must take one argument, distances in um", "write lambda distance: ..."
            ) from None
        raise


class PerCellParameters:
    """The parameters with one value per cell, as they are found in the description of a cell."""

    def __init__(self) -> None:
        self.defaults: dict[str, float] = {}
        self.uses: list[CoreUse] = []

    def number_of(self, value: PerCell) -> int:
        """Return its number among the parameters; several values of a cell may use one.

        Raises
        ------
        ValueOutOfBoundsError
            When it had another default before.
        """
        if self.defaults.setdefault(value.name, value.default) != value.default:
            raise ValueOutOfBoundsError(
                f"default of rv.per_cell('{value.name}')",
                f"{value.default:g}",
                f"it was {self.defaults[value.name]:g} before",
                "a name has one default; choose another name, or multiply by a profile",
            )
        return list(self.defaults).index(value.name)

    def use(self, kind: str, value: PerCell, profile: FloatArray, of: int = 0, index: int = 0) -> None:
        """Add a use of a parameter."""
        self.uses.append((kind, self.number_of(value), of, index, profile))

    def number(self, kind: str, what: str, value: PerCellValue, of: int = 0, index: int = 0) -> float:
        """Return a number of a cell; 0 for a per-cell value, whose use is added."""
        if not isinstance(value, PerCell):
            return value
        self.use(kind, value, np.array([value.factor(what)]), of, index)
        return 0.0


def number_or_per_cell(what: str, value: object) -> PerCellValue:
    """Return a number or `per_cell` that a user has given. Raises WrongTypeError for anything else."""
    return value if isinstance(value, PerCell) else number(what, value)


def default_of(what: str, value: PerCellValue) -> float:
    """Return the number, or the default of a per-cell value."""
    return value.default * value.factor(what) if isinstance(value, PerCell) else value
