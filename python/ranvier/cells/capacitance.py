"""The capacitance of the membrane, which may differ between regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.numeric import number_array
from ranvier.base.values import FloatArray
from ranvier.cells.morphology import Morphology
from ranvier.cells.per_cell import PerCell, PerCellParameters, PerCellValue, default_of, number_or_per_cell
from ranvier.cells.places import Region, RegionLike, as_region
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Capacitance", "CapacitanceLike"]

CapacitanceLike: TypeAlias = float | npt.ArrayLike | PerCell | Sequence[tuple[RegionLike, PerCellValue]]


class Capacitance:
    """The argument ``C_m``: a value, one for each compartment, or pairs of regions and values."""

    def __init__(self, given: CapacitanceLike) -> None:
        self._pairs: list[tuple[Region, PerCellValue]] = []
        self._per_cell: PerCell | None = None
        if isinstance(given, PerCell):
            self._per_cell = given
            self.values = _values_of(given)
            return
        if isinstance(given, list | tuple) and any(isinstance(pair, list | tuple) for pair in given):
            for i, pair in enumerate(given):
                if not isinstance(pair, list | tuple) or len(pair) != 2:
                    raise WrongTypeError(
                        f"C_m[{i}]", repr(pair), "must be a region and a value", 'write [("all", 1.0), ("basal", 2.0)]'
                    )
                self._pairs.append(
                    (as_region(f"region of C_m[{i}]", pair[0]), number_or_per_cell(f"C_m[{i}]", pair[1]))
                )
            self.values = np.concatenate([_values_of(value) for _, value in self._pairs])
            return
        self.values = np.ascontiguousarray(np.atleast_1d(number_array("C_m", given)))
        if self.values.ndim != 1 or not len(self.values):
            raise ShapeError(
                "C_m", f"an array of shape {self.values.shape}", "it must have one dimension and at least one value"
            )

    def of(self, morphology: Morphology, cut: _core.Compartments, cell_parameters: PerCellParameters) -> FloatArray:
        """Return one value, or one for each compartment, uF/cm^2; values per cell are added to it."""
        if self._per_cell is not None:
            cell_parameters.use("capacitance", self._per_cell, self._per_cell.values("C_m", np.array(cut.distance)))
            return np.zeros(1)
        if not self._pairs:
            return self.values
        found = np.zeros(len(cut))
        known = np.zeros(len(cut))
        profiles: list[tuple[PerCell, FloatArray]] = []
        for i, (region, value) in enumerate(self._pairs):
            covered = region.covered(morphology, cut)
            if not covered.any():
                raise ValueOutOfBoundsError("region of C_m", repr(region), "it has no membrane of the cell")
            # Later regions replace earlier ones, and the value of a compartment is the mean over its membrane.
            for _, profile in profiles:
                profile -= covered * profile
            if isinstance(value, PerCell):
                profiles.append((value, covered * value.values(f"C_m[{i}]", np.array(cut.distance))))
                found -= covered * found
            else:
                found += covered * (value - found)
            known = np.maximum(known, covered)
        if (known < 1.0).any():
            compartment = int(np.flatnonzero(known < 1.0)[0])
            raise ValueOutOfBoundsError(
                f"C_m of compartment {compartment}",
                bound="the regions with values do not cover all of it",
                remedy='start with ("all", 1.0)',
            )
        for value, profile in profiles:
            cell_parameters.use("capacitance", value, profile)
        return found


def _values_of(value: PerCellValue) -> FloatArray:
    """Return the values for a rule that cuts sections, several for a profile."""
    if isinstance(value, PerCell) and (callable(value.profile) or np.ndim(value.profile)):
        return np.full(2, value.default)
    return np.array([default_of("C_m", value)])
