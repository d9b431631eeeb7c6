"""Rules for the number of compartments of the sections of a cell."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted
from ranvier.base.numeric import number, number_array, whole_number
from ranvier.cells.morphology import Morphology
from ranvier.errors import ShapeError, ValueOutOfBoundsError

__all__ = ["CompartmentRule", "CompartmentsLike", "counts_of", "d_lambda", "max_length"]

_MOST = 2**26
# Reconstructed cells have 1e5 at most. One of more takes minutes to be made, and has a length in a wrong unit.
_MOST_OF_CELL = 10_000_000
_BYTES = 300  # of a compartment while its cell is made
_Counts = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class CompartmentRule(Immutable):
    """A rule for the number of compartments of each section of a cell."""

    _name: str
    _values: tuple[float, ...]

    def __init__(self, name: str, *values: float) -> None:
        self._put(_name=name, _values=values)

    def _counts(self, cell: Morphology, capacitance: float, resistivity: float) -> _Counts:
        # Numbers of compartments without bound are refused below.
        with np.errstate(over="ignore"):
            if self._name == "max_length":
                return _checked(np.ceil(cell.lengths / self._values[0] * (1.0 - 1e-12)))
            part, frequency = self._values
            # An odd number, so that the section has a compartment in the middle.
            ideal = _electrical_lengths(cell, frequency, capacitance, resistivity) / part
            return _checked(np.floor((ideal + 0.9) / 2.0) * 2.0 + 1.0)

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
        Frequency of this current, Hz.

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
    counts = _counts_of(cell, compartments, capacitance, resistivity)
    all_of_them = int(counts.sum())
    if all_of_them > _MOST_OF_CELL:
        longest = int(np.argmax(counts))
        length = f"{cell.lengths[longest]:g} um"
        raise ValueOutOfBoundsError(
            "compartments of the cell",
            f"{all_of_them}, {counts[longest]} of them in section {longest}, which is {length} long",
            f"a cell has at most {_MOST_OF_CELL}",
            "check that lengths are in um, or give longer compartments",
        )
    check_room(f"a cell of {counted(all_of_them, 'compartment')}", _BYTES * all_of_them, "give longer compartments")
    return counts


def _counts_of(
    cell: Morphology, compartments: CompartmentsLike, capacitance: npt.NDArray[np.float64], resistivity: float
) -> _Counts:
    if isinstance(compartments, CompartmentRule):
        if compartments._name == "d_lambda" and len(capacitance) > 1:
            raise ShapeError(
                "C_m", "several values", "d_lambda needs one value for the cell", "give one, or max_length()"
            )
        if compartments._name == "d_lambda":
            _positive("C_m", float(capacitance[0]))
            _positive("R_a", resistivity)
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
            f"the cell has {counted(len(cell), 'section')}",
            "give one for each",
        )
    return _checked(array)


def _checked(counts: npt.NDArray[np.float64]) -> _Counts:
    good = (counts >= 1.0) & (counts <= _MOST) & (counts == np.round(counts))
    if not good.all():
        i = int(np.flatnonzero(~good)[0])
        raise ValueOutOfBoundsError(
            f"compartments of section {i}", f"{counts[i]:g}", f"there must be 1 to {_MOST}, a whole number"
        )
    return counts.astype(np.int64)


def _electrical_lengths(cell: Morphology, frequency: float, capacitance: float, resistivity: float) -> FloatArray:
    """Return the electrical length of each section: of each cone its length in units of its length constant."""
    form = cell._form
    # Intervals between points, but not those between two sections.
    steps = np.diff(form.distances) / np.sqrt(form.radii[:-1] + form.radii[1:])
    steps[form.offsets[1:-1] - 1] = 0.0
    # 1e5 brings uF, cm and kHz to um.
    rate = math.sqrt(4.0 * math.pi * frequency) * math.sqrt(resistivity) * math.sqrt(capacitance)
    lengths: FloatArray = np.add.reduceat(steps, form.offsets[:-1]) * (rate / 1e5)
    return lengths


def _positive(what: str, value: float) -> float:
    given = number(what, value)
    if not 0.0 < given < math.inf:
        raise ValueOutOfBoundsError(what, str(value), "it must be > 0 and finite")
    return given
