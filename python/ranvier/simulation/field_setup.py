"""The potentials outside of cells that a simulation begins with."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from ranvier import _core
from ranvier.base.interrupts import Deferral
from ranvier.network.fields import AppliedField, CellCoupling, Field
from ranvier.populations.lines import lines_of_all, lines_of_cells
from ranvier.processes.agreement import agreed
from ranvier.simulation.local_cells import cells_here

__all__ = ["set_fields"]


def set_fields(
    core: _core.Simulation, fields: Sequence[Field], communicator: _core.Communicator, interrupts: Deferral
) -> None:
    """Give the cells of this process the potentials of fields, and couple cells. All processes must call it.

    Raises
    ------
    RanvierError
        For what `OutsideField.potentials` refuses, and an accuracy that cannot be reached.
    """
    for field in fields:
        if communicator.is_dry_run:
            continue
        with agreed(communicator, "potentials outside of cells"), interrupts.allowed():
            if isinstance(field, AppliedField):
                _apply(core, field)
                continue
            assert isinstance(field, CellCoupling)
            # Pairs are summed over all cells. The fast multipole method moves cells to the processes that need them.
            cells = field.cells if field.method == "matrix" else field.cells[cells_here(core, field.cells)]
            lines = lines_of_all(cells)
        # If one of several processes were interrupted, the others would wait for it.
        with interrupts.allowed() if communicator.size == 1 else contextlib.nullcontext():
            core.set_coupling(field.index, lines.begin, lines.end, 0.5 * lines.diameter)


def _apply(core: _core.Simulation, field: AppliedField) -> None:
    first = 0
    here = cells_here(core, field.cells)
    for is_here, (neuron, lines) in zip(here, lines_of_cells(field.cells), strict=True):
        if is_here:
            potentials = np.concatenate([each.potentials(lines, first) for each in field.fields])
            core.set_field(field.index, neuron, np.ascontiguousarray(potentials).ravel())
        first += len(lines)
