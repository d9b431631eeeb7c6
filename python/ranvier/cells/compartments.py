"""Rules that say into how many compartments the sections of a cell are cut."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.cells.morphology import Morphology
from ranvier.errors import ShapeError, ValueOutOfBoundsError

__all__ = ["CompartmentRule", "CompartmentsLike", "counts_of", "d_lambda", "max_length"]

_MOST = 2**26
_Counts = npt.NDArray[np.int64]


class CompartmentRule(Immutable):
    """A rule that says into how many compartments each section of a cell is cut."""

    _name: str
    _values: tuple[float, ...]

    def __init__(self, name: str, *values: float) -> None:
        self._put(_name=name, _values=values)

    def _counts(self, cell: Morphology, capacitance: float, resistivity: float) -> _Counts:
        if self._name == "max_length":
            ideal = cell.lengths / self._values[0]
            return _checked(np.ceil(ideal * (1.0 - 1e-12)))
        part, frequency = self._values
        lengths = np.array(
            [_length_constant(section, frequency, capacitance, resistivity) for section in cell.sections]
        )
        # An odd number, so that there is one in the middle.
        return _checked(np.floor((cell.lengths / (part * lengths) + 0.9) / 2.0) * 2.0 + 1.0)

    def _way_to(self, name: str) -> str:
        return "make another rule"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(f'{value:g}' for value in self._values)})"


CompartmentsLike: TypeAlias = int | npt.ArrayLike | CompartmentRule


def max_length(length: float) -> CompartmentRule:
    """Return the rule that cuts sections into equal compartments that are at most `length` um long."""
    return CompartmentRule("max_length", _positive("length of a compartment", length))


def d_lambda(part: float = 0.1, frequency: float = 100.0) -> CompartmentRule:
    """Return the rule that cuts sections into an odd number of compartments by their electrical length.

    Parameters
    ----------
    part
        The longest compartment, as a part of the length constant for alternating current.
    frequency
        Of this current, Hz.

    Notes
    -----
    The length constant is ``sqrt(d / (4 pi f R_a C_m))``, with `d` the diameter.

    References
    ----------
    M. L. Hines and N. T. Carnevale, The Neuroscientist 7, 123-135 (2001)
    """
    return CompartmentRule("d_lambda", _positive("part", part), _positive("frequency", frequency))


def counts_of(
    cell: Morphology, compartments: CompartmentsLike, capacitance: npt.NDArray[np.float64], resistivity: float
) -> _Counts:
    """Return the number of compartments of each section."""
    if isinstance(compartments, CompartmentRule):
        if compartments._name == "d_lambda" and len(capacitance) > 1:
            raise ShapeError(
                "C_m", "several values", "d_lambda needs one value for the cell", "give one, or max_length()"
            )
        return compartments._counts(cell, float(capacitance[0]), resistivity)
    if isinstance(compartments, int | np.integer) and not isinstance(compartments, bool):
        return np.full(
            len(cell), whole_number("compartments of a section", int(compartments), 1, _MOST), dtype=np.int64
        )
    array = number_array("compartments", compartments)
    if array.shape != (len(cell),):
        raise ShapeError(
            "compartments",
            f"an array of shape {array.shape}",
            f"the cell has {len(cell)} sections",
            "give one for each",
        )
    return _checked(array)


def _checked(counts: npt.NDArray[np.float64]) -> _Counts:
    for i, count in enumerate(counts):
        if not (1.0 <= count <= _MOST and count == round(count)):
            raise ValueOutOfBoundsError(
                f"compartments of section {i}", f"{count:g}", f"there must be 1 to {_MOST}, a whole number"
            )
    return counts.astype(np.int64)


def _length_constant(section: Any, frequency: float, capacitance: float, resistivity: float) -> float:
    """Return the length constant of a section, um: of cones the harmonic mean along the path."""
    steps = np.diff(section.distances)
    diameters = section.radii[:-1] + section.radii[1:]
    # In units of length constants, each cone has the length of its own; 1e5 brings uF, cm and kHz to um.
    electrical = float((steps / np.sqrt(diameters)).sum())
    unit = 1e5 / math.sqrt(4.0 * math.pi * frequency * resistivity * capacitance)
    return unit * float(section.length) / electrical


def _positive(what: str, value: float) -> float:
    given = number(what, value)
    if not 0.0 < given < math.inf:
        raise ValueOutOfBoundsError(what, str(value), "it must be > 0 and finite")
    return given
