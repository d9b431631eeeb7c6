"""Compartments as line pieces in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranvier.base.immutable import locked
from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.layout import at_fraction, coordinates_of

__all__ = ["CompartmentLines", "lines_of"]


@dataclass(frozen=True, repr=False)
class CompartmentLines:
    """Where the compartments of a cell are: a straight line each, um.

    Attributes
    ----------
    begin, end
        Ends of the lines, shape ``(compartments, 3)``.
    diameter
        Mean diameters, shape ``(compartments,)``: the area of the membrane is that of cylinders of the length along the
        neurite.
    """

    begin: FloatArray
    end: FloatArray
    diameter: FloatArray

    def __post_init__(self) -> None:
        for name in ("begin", "end", "diameter"):
            object.__setattr__(self, name, locked(np.ascontiguousarray(getattr(self, name))))

    @property
    def middle(self) -> FloatArray:
        """Middles of the lines, shape ``(compartments, 3)``."""
        return 0.5 * (self.begin + self.end)

    def __len__(self) -> int:
        return len(self.diameter)

    def moved(self, rotation: FloatArray, position: FloatArray) -> CompartmentLines:
        """Return them turned by a matrix about the origin, and moved."""
        return CompartmentLines(self.begin @ rotation.T + position, self.end @ rotation.T + position, self.diameter)

    def __repr__(self) -> str:
        return f"<CompartmentLines: {len(self)} compartments>"


def lines_of(cell: Cell) -> CompartmentLines:
    """Return the lines of a cell whose position, the middle of its first section, is the origin."""
    if cell._lines is None:
        # Many cells of a population ask for the same.
        cell._put(_lines=_calculated_lines(cell))
    lines: CompartmentLines = cell._lines
    return lines


def _calculated_lines(cell: Cell) -> CompartmentLines:
    morphology, cut = cell.morphology, cell._compartments
    sections = coordinates_of(morphology)
    origin = at_fraction(morphology.sections[0], sections[0], 0.5)
    lengths = np.array([section.length for section in morphology.sections])
    of_section, begin, end = np.asarray(cut.section), np.asarray(cut.begin), np.asarray(cut.end)
    ends = np.empty((2, len(cut), 3))
    for number, (section, points) in enumerate(zip(morphology.sections, sections, strict=True)):
        own = np.flatnonzero(of_section == number)
        for side, fractions in enumerate((begin[own], end[own])):
            for axis in range(3):
                ends[side, own, axis] = np.interp(fractions * section.length, section.distances, points[:, axis])
    diameter = np.asarray(cut.area) / (np.pi * lengths[of_section] * (end - begin))
    return CompartmentLines(ends[0] - origin, ends[1] - origin, diameter)
