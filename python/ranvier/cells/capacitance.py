"""The capacitance of the membrane, which may differ between regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.numeric import number, number_array
from ranvier.base.values import FloatArray
from ranvier.cells.morphology import Morphology
from ranvier.cells.places import Region, RegionLike, as_region
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["Capacitance", "CapacitanceLike"]

CapacitanceLike: TypeAlias = float | npt.ArrayLike | Sequence[tuple[RegionLike, float]]


class Capacitance:
    """What a user has given as ``C_m``: a value, one for each compartment, or pairs of regions and values."""

    def __init__(self, given: CapacitanceLike) -> None:
        self._pairs: list[tuple[Region, float]] = []
        if isinstance(given, list | tuple) and any(isinstance(pair, list | tuple) for pair in given):
            for i, pair in enumerate(given):
                if not isinstance(pair, list | tuple) or len(pair) != 2:
                    raise WrongTypeError(
                        f"C_m[{i}]", repr(pair), "must be a region and a value", 'write [("all", 1.0), ("basal", 2.0)]'
                    )
                self._pairs.append((as_region(f"region of C_m[{i}]", pair[0]), number(f"C_m[{i}]", pair[1])))
            self.values = np.array([value for _, value in self._pairs])
            return
        self.values = np.ascontiguousarray(np.atleast_1d(number_array("C_m", given)))
        if self.values.ndim != 1 or not len(self.values):
            raise ShapeError(
                "C_m", f"an array of shape {self.values.shape}", "it must have one dimension, and one value at least"
            )

    def of(self, morphology: Morphology, cut: _core.Compartments) -> FloatArray:
        """Return one value, or one for each compartment, uF/cm^2."""
        if not self._pairs:
            return self.values
        found = np.zeros(len(cut))
        known = np.zeros(len(cut))
        for region, value in self._pairs:
            covered = region.covered(morphology, cut)
            if not covered.any():
                raise ValueOutOfBoundsError("region of C_m", repr(region), "no membrane of the cell lies in it")
            # A later region lies upon those before, and a compartment has the mean over its membrane.
            found += covered * (value - found)
            known = np.maximum(known, covered)
        if (known < 1.0).any():
            compartment = int(np.flatnonzero(known < 1.0)[0])
            raise ValueOutOfBoundsError(
                f"C_m of compartment {compartment}",
                bound="no region that has a value covers all of it",
                remedy='begin with ("all", 1.0)',
            )
        return found
