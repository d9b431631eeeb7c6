"""The compartments of many cells as line pieces in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.cells.kinds import CellKinds
from ranvier.cells.lines import CompartmentLines, lines_of
from ranvier.errors import ValueOutOfBoundsError
from ranvier.populations.populations import PopulationView

__all__ = ["compartment_counts", "lines_of_all", "lines_of_cells"]


def compartment_counts(view: PopulationView) -> npt.NDArray[np.int64]:
    """Return the number of compartments of each cell of a view.

    Raises
    ------
    ValueOutOfBoundsError
        For neurons without compartments.
    """
    counts = []
    for part in view.parts:
        cell = part.population.cell
        if cell is None:
            raise ValueOutOfBoundsError(
                "cells",
                f"population {part.name}",
                f"its model, {part.population.model}, has no compartments",
                "choose detailed cells, made by rv.Cell",
            )
        if isinstance(cell, CellKinds):
            of_kinds = np.array([kind.compartment_count for kind in cell.kinds], dtype=np.int64)
            counts.append(of_kinds[cell.kind_of[part.indices]])
        else:
            counts.append(np.full(len(part), cell.compartment_count, dtype=np.int64))
    return np.concatenate(counts)


def lines_of_cells(view: PopulationView) -> Iterator[tuple[int, CompartmentLines]]:
    """Go through the cells of a view: the id of each, and its lines as of `PopulationView.compartment_lines`."""
    for neuron, (cell, matrix, place) in zip(view.ids.tolist(), view._cells_in_space(), strict=True):
        yield neuron, lines_of(cell).moved(matrix, place)


def lines_of_all(view: PopulationView) -> CompartmentLines:
    """Return the lines of all cells of a view, um, in the order of the cells, then of their compartments."""
    total = int(compartment_counts(view).sum())
    check_room(f"the lines of {total} compartments of {view.name}", 3 * 56 * total, "take fewer cells")
    begin, end, diameter = np.empty((total, 3)), np.empty((total, 3)), np.empty(total)
    first = 0
    for _, lines in lines_of_cells(view):
        rows = slice(first, first + len(lines))
        begin[rows], end[rows], diameter[rows] = lines.begin, lines.end, lines.diameter
        first += len(lines)
    return CompartmentLines(locked(begin), locked(end), locked(diameter))
