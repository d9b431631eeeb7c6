"""The compartments of many cells as line pieces in space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ranvier.cells.kinds import CellKinds
from ranvier.cells.lines import CompartmentLines, lines_of
from ranvier.populations.populations import PopulationView, common_layout

__all__ = ["lines_of_cells"]


def lines_of_cells(view: PopulationView) -> Iterator[tuple[int, CompartmentLines]]:
    """Return the ids of cells, and their lines as `PopulationView.compartment_lines` returns them."""
    layout = common_layout(view)
    unit = {"um": 1.0, "mm": 1000.0}[layout.unit]
    for part in view.parts:
        cell = part.population.cell
        assert cell is not None
        shapes = cell.kinds if isinstance(cell, CellKinds) else (cell,)
        kinds = cell.kind_of[part.indices] if isinstance(cell, CellKinds) else np.zeros(len(part), dtype=np.int64)
        lines = {kind: lines_of(shapes[kind]) for kind in np.unique(kinds)}
        places = np.zeros((len(part), 3))
        places[:, : layout.dimensions] = unit * part.positions
        for neuron, kind, matrix, place in zip(part.ids, kinds, part.rotations, places, strict=True):
            yield int(neuron), lines[kind].moved(matrix, place)
