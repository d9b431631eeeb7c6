"""The base classes of mechanisms and receptors; the classes themselves are made from the registry of the core."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.formulas import Formula
from ranvier.base.immutable import Immutable
from ranvier.base.model import Model
from ranvier.base.names import counted
from ranvier.base.numeric import number_array
from ranvier.cells.per_cell import PerCell, PerCellValue, Profile, called, number_or_per_cell
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["DensityValue", "Mechanism", "PerCellValue", "Receptor", "UserMechanism"]

FloatArray = npt.NDArray[np.float64]
DensityValue: TypeAlias = Profile | PerCell
"""A number, an array with one for each compartment, a function of distances (um) that returns these, or `per_cell`."""


class UserMechanism(Immutable):
    """A user-defined mechanism, which is pickled with cells.

    Attributes
    ----------
    name
        Its name.
    core_model
        The same mechanism, checked by the core.
    """

    name: str
    core_model: _core.UserMechanism

    @property
    def takes_spikes(self) -> bool:
        """Whether spikes change it where it is a receptor."""
        return True


class Mechanism(Model):
    """A mechanism that is spread over membrane, with values for its parameters."""

    gates: ClassVar[tuple[str, ...]] = ()
    """Names of its gating variables."""
    currents: ClassVar[tuple[str, ...]] = ()
    """Names of its currents."""
    is_pool: ClassVar[bool] = False
    """Whether it is a pool of calcium with a concentration."""
    measured_celsius: ClassVar[float | None] = None
    """Temperature at which its rates, which depend on the temperature, were measured; None if they do not."""
    _use = ", and make another rv.Cell"

    def __init__(self, **values: Any) -> None:
        functions = {name: value for name, value in values.items() if callable(value) or isinstance(value, PerCell)}
        super().__init__(**{name: value for name, value in values.items() if name not in functions})
        self._put(_values={**self._values, **functions})

    def _user_mechanism(self) -> UserMechanism | None:
        """Return the mechanism of a user; None for one that comes with the core."""
        return None

    def _follows_temperature(self) -> str | None:
        """Return a text that names the temperature-dependent part; None if nothing depends on the temperature."""
        if self.is_pool:
            return f"the reversal potential of {self.name} depends on it"
        if self.measured_celsius is None:
            return None
        return f"rates of {self.name} depend on it, and were measured at {self.measured_celsius:g} degrees"

    def _parameters(self, distances: FloatArray, celsius: float) -> list[FloatArray]:
        """Return the values of all parameters of the core: each one number, or one for each compartment.

        Those of a user's mechanism may depend on the temperature, `celsius`.
        """
        parameters = []
        for name, default in self._defaults().items():
            value: Any = self._values.get(name, default)
            what = f"{name} of {self.name}"
            if value is None:
                # Not given, and without a default.
                parameters.append(np.array([np.nan]))
                continue
            array = self._numbers(what, value, distances)
            if default is None and np.isnan(array).any():
                raise ValueOutOfBoundsError(what, "nan", "it must be finite", "leave it out, or give a number")
            parameters.append(array)
        return parameters

    @staticmethod
    def _numbers(what: str, value: Any, distances: FloatArray) -> FloatArray:
        """Return the numbers of a value: one, or one for each compartment; for `per_cell`, its profile."""
        if isinstance(value, PerCell):
            value = value.profile
        if callable(value):
            value = number_array(f"the values of the function for {what}", called(what, value, distances))
            value = np.full(len(distances), float(value)) if value.ndim == 0 else value
        if isinstance(value, str | Formula):
            raise WrongTypeError(what, repr(value), "must be a number, an array or a function of distances")
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
        if array.shape not in ((1,), distances.shape):
            raise ShapeError(
                what, f"an array of shape {array.shape}", f"the cell has {counted(len(distances), 'compartment')}"
            )
        return np.ascontiguousarray(array)

    def _per_cell(self) -> list[PerCell | None]:
        """Return the `per_cell` value of each parameter; None for other values."""
        values = [self._values.get(name) for name in self._defaults()]
        return [value if isinstance(value, PerCell) else None for value in values]


class Receptor(Model):
    """A receptor that is placed on a cell, with values for its parameters."""

    _use = ", and make another rv.Cell"

    def __init__(self, **values: Any) -> None:
        given = {name: number_or_per_cell(f"parameter {name} of {self.name}", value) for name, value in values.items()}
        per_cell = {name: value for name, value in given.items() if isinstance(value, PerCell)}
        super().__init__(**{name: value for name, value in given.items() if not isinstance(value, PerCell)})
        self._put(_values={**self._values, **per_cell})

    def _user_mechanism(self) -> UserMechanism | None:
        """Return the mechanism of a user; None for one that comes with the core."""
        return None

    def _follows_temperature(self) -> str | None:
        """Return a text that names the temperature-dependent part; None if nothing depends on the temperature."""
        return None

    def _parameters(self) -> list[PerCellValue]:
        values = [self._values.get(name, default) for name, default in self._defaults().items()]
        return [value if isinstance(value, PerCell) else float(value) for value in values]  # type: ignore[arg-type]
