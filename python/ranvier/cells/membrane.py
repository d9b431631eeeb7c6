"""The base classes of what is on the membrane of cells; the classes themselves are generated from the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.model import Model
from ranvier.base.numeric import number, number_array
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["DensityValue", "Mechanism", "Receptor"]

FloatArray = npt.NDArray[np.float64]
DensityValue: TypeAlias = float | npt.ArrayLike | Callable[[FloatArray], npt.ArrayLike]
"""One number, an array with one for each compartment, or a function of all distances (um) that returns such."""


class Mechanism(Model):
    """A mechanism that is spread over membrane, with values for its parameters."""

    gates: ClassVar[tuple[str, ...]] = ()
    """Names of its gating variables."""
    currents: ClassVar[tuple[str, ...]] = ()
    """Names of its currents."""
    is_pool: ClassVar[bool] = False
    """Whether it holds a concentration of calcium."""

    def __init__(self, **values: Any) -> None:
        functions = {name: value for name, value in values.items() if callable(value)}
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
            if callable(value):
                value = number_array(f"the values of the function for {what}", value(distances))
                value = np.full(len(distances), float(value)) if value.ndim == 0 else value
            if default is None and np.isnan(value).any():
                raise ValueOutOfBoundsError(what, "nan", "it must be finite", "leave it out, or give a number")
            array = np.atleast_1d(np.asarray(value, dtype=np.float64))
            if array.shape not in ((1,), distances.shape):
                raise ShapeError(
                    what, f"an array of shape {array.shape}", f"the cell has {len(distances)} compartments"
                )
            parameters.append(np.ascontiguousarray(array))
        return parameters

    def _way_to(self, name: str) -> str:
        if name in self._defaults():
            return f"write rv.{self.name}({name}=...), and make another rv.Cell"
        return "make another mechanism"


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
