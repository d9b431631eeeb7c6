"""The base classes of what is on the membrane of cells; the classes themselves are generated from the core."""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.distributions import Distribution
from ranvier.base.immutable import Immutable, locked
from ranvier.base.model import Model
from ranvier.base.numeric import number, number_array
from ranvier.base.texts import check_text
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["DensityValue", "Mechanism", "PerCell", "Receptor", "per_cell"]

FloatArray = npt.NDArray[np.float64]
Profile: TypeAlias = float | npt.ArrayLike | Callable[[FloatArray], npt.ArrayLike]


class PerCell(Immutable):
    """A parameter of a mechanism that has a value of its own in each cell of a population; see `per_cell`."""

    name: str
    default: float
    profile: Profile

    def __init__(self, name: str, default: float, profile: Profile) -> None:
        self._put(name=name, default=default, profile=profile)

    def _way_to(self, name: str) -> str:
        return "write rv.per_cell() anew"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __repr__(self) -> str:
        return f"per_cell('{self.name}', {self.default:g})"


DensityValue: TypeAlias = Profile | PerCell
"""One number, an array with one for each compartment, a function of distances (um) that returns such, or `per_cell`."""


def per_cell(name: str, default: float, profile: Profile = 1.0) -> PerCell:
    """Return a value for a parameter of a mechanism that can differ between the cells of a population.

    Parameters
    ----------
    name
        Name of the parameter in `Network.create` and `Network.set`. Where several parameters have the same name, a cell
        has one value for all of them.
    default
        The value of cells that are given none.
    profile
        What the value is multiplied by in each compartment: one number, an array with one for each compartment, or a
        function of all distances from the soma (um) that returns such; >= 0.

    Notes
    -----
    Only conductances, and reversal potentials of leaks, can differ between cells in this way. Other parameters change
    the tables of rates: make a `Cell` for each value, and give `Network.create` a list of them.

    Examples
    --------
    >>> import ranvier as rv
    >>> soma = rv.Morphology([rv.Section(length=12.0, diameter=12.0)])
    >>> cell = rv.Cell(soma, membrane=[("all", rv.hh(gnabar=rv.per_cell("gna", 0.12)))])
    >>> net = rv.Network(resolution=0.025)
    >>> cells = net.create(cell, 100, gna=rv.Normal(0.12, 0.01))
    """
    check_text("name of rv.per_cell", name)
    if not name.isidentifier() or iskeyword(name) or name in ("self", "model", "size", "name"):
        raise ValueOutOfBoundsError(
            "name of rv.per_cell", f"'{name}'", "net.create() could not be given it as an argument", "choose another"
        )
    if isinstance(profile, PerCell):
        raise WrongTypeError("profile of rv.per_cell", "PerCell", "must be numbers or a function", "multiply profiles")
    stored = profile if callable(profile) else locked(number_array("profile of rv.per_cell", profile))
    return PerCell(name, number("default of rv.per_cell", default), stored)


class Mechanism(Model):
    """A mechanism that is spread over membrane, with values for its parameters."""

    gates: ClassVar[tuple[str, ...]] = ()
    """Names of its gating variables."""
    currents: ClassVar[tuple[str, ...]] = ()
    """Names of its currents."""
    is_pool: ClassVar[bool] = False
    """Whether it holds a concentration of calcium."""

    def __init__(self, **values: Any) -> None:
        functions = {name: value for name, value in values.items() if callable(value) or isinstance(value, PerCell)}
        super().__init__(**{name: value for name, value in values.items() if name not in functions})
        self._put(_values={**self._values, **functions})

    def _parameters(self, distances: FloatArray) -> list[FloatArray]:
        """Return the values of all parameters: each one number, or one for each compartment."""
        parameters = []
        for name, default in self._defaults().items():
            value: Any = self._values.get(name, default)
            what = f"{name} of {self.name}"
            if value is None:
                # Not given, and without a default.
                parameters.append(np.array([np.nan]))
                continue
            if isinstance(value, PerCell):
                value = value.profile
            if callable(value):
                value = number_array(f"the values of the function for {what}", _called(what, value, distances))
                value = np.full(len(distances), float(value)) if value.ndim == 0 else value
            if default is None and np.isnan(value).any():
                raise ValueOutOfBoundsError(what, "nan", "it must be finite", "leave it out, or give a number")
            if isinstance(value, Distribution):
                raise WrongTypeError(what, repr(value), "must be a number, an array or a function of distances")
            array = np.atleast_1d(np.asarray(value, dtype=np.float64))
            if array.shape not in ((1,), distances.shape):
                raise ShapeError(
                    what, f"an array of shape {array.shape}", f"the cell has {len(distances)} compartments"
                )
            parameters.append(np.ascontiguousarray(array))
        return parameters

    def _per_cell(self) -> list[PerCell | None]:
        """Return, for each parameter, what gives it a value for each cell."""
        values = [self._values.get(name) for name in self._defaults()]
        return [value if isinstance(value, PerCell) else None for value in values]

    def _way_to(self, name: str) -> str:
        if name in self._defaults():
            return f"write rv.{self.name}({name}=...), and make another rv.Cell"
        return "make another mechanism"


def _called(what: str, function: Callable[[FloatArray], npt.ArrayLike], distances: FloatArray) -> npt.ArrayLike:
    try:
        return function(distances)
    except TypeError as error:
        # One of the call itself; what the function does is its own matter.
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise WrongTypeError(
                what, repr(function), "a function must take one argument, distances in um", "write lambda distance: ..."
            ) from None
        raise


class Receptor(Model):
    """A receptor that is placed on a cell, with values for its parameters."""

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            if isinstance(value, str) or np.ndim(value) != 0:
                raise WrongTypeError(f"{name} of {self.name}", type(value).__name__, "must be a number")
        super().__init__(**{name: number(f"parameter {name} of {self.name}", value) for name, value in values.items()})

    def _parameters(self) -> list[float]:
        return [float(self._values.get(name, default)) for name, default in self._defaults().items()]  # type: ignore[arg-type]

    def _way_to(self, name: str) -> str:
        if name in self._defaults():
            return f"write rv.{self.name}({name}=...), and make another rv.Cell"
        return "make another receptor"
