"""The compartments of many cells as line pieces in space."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.cells.kinds import CellKinds
from ranvier.cells.lines import CompartmentLines, lines_of
from ranvier.errors import ValueOutOfBoundsError
from ranvier.populations.populations import PopulationView, common_layout

__all__ = ["compartment_counts", "lines_of_all"]

_UM = {"um": 1.0, "mm": 1000.0}


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
                "choose detailed cells, as of rv.Cell",
            )
        if isinstance(cell, CellKinds):
            of_kinds = np.array([kind.compartment_count for kind in cell.kinds], dtype=np.int64)
            counts.append(of_kinds[cell.kind_of[part.indices]])
        else:
            counts.append(np.full(len(part), cell.compartment_count, dtype=np.int64))
    return np.concatenate(counts)


def lines_of_all(view: PopulationView) -> CompartmentLines:
    """Return where the compartments of all cells of a view are, um, as `PopulationView.compartment_lines` of each.

    They are in the order of the cells, then of their compartments.
    """
    counts = compartment_counts(view)
    total = int(counts.sum())
    check_room(f"the lines of {total} compartments of {view.name}", 3 * 56 * total, "record fewer cells")
    first = np.concatenate([[0], np.cumsum(counts)])
    begin, end, diameter = np.empty((total, 3)), np.empty((total, 3)), np.empty(total)
    cell_number = 0
    for part in view.parts:
        layout = common_layout(part)
        places = np.zeros((len(part), 3))
        places[:, : layout.dimensions] = part.positions
        places *= _UM[layout.unit]
        rotations = part.rotations
        cell = part.population.cell
        assert cell is not None
        kinds = cell.kinds if isinstance(cell, CellKinds) else (cell,)
        kind_of = cell.kind_of[part.indices] if isinstance(cell, CellKinds) else np.zeros(len(part), dtype=np.int64)
        for number, kind in enumerate(kinds):
            members = np.flatnonzero(kind_of == number)
            if not len(members):
                continue
            shape = lines_of(kind)
            for i in members:
                # One by one, so that each has the bits that it has alone.
                moved = shape.moved(rotations[i], places[i])
                rows = slice(first[cell_number + i], first[cell_number + i + 1])
                begin[rows], end[rows], diameter[rows] = moved.begin, moved.end, moved.diameter
        cell_number += len(part)
    return CompartmentLines(locked(begin), locked(end), locked(diameter))
