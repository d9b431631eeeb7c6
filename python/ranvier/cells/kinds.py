"""Populations of cells of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.names import counted
from ranvier.base.user_model import UserModel
from ranvier.cells.cell import Cell
from ranvier.errors import ShapeError, WrongTypeError

__all__ = ["CellKinds"]


class CellKinds(UserModel):
    """The model of a population that `Network.create` was given a list of cells for.

    Attributes
    ----------
    kinds
        The different cells, in the order of their first occurrence.
    kind_of
        Index among `kinds` of each cell of the population.
    """

    kinds: tuple[Cell, ...]
    kind_of: npt.NDArray[np.int64]
    core_model: _core.CellModel
    _remedy = "make another population"

    def __init__(self, cells: Sequence[Cell]) -> None:
        for i, cell in enumerate(cells):
            if not isinstance(cell, Cell):
                raise WrongTypeError(f"model[{i}]", type(cell).__name__, "must be a rv.Cell")
        if not cells:
            raise ShapeError("model", "an empty list", "a population has at least one cell")
        numbers: dict[int, int] = {}
        kinds: list[Cell] = []
        for cell in cells:
            if id(cell) not in numbers:
                numbers[id(cell)] = len(kinds)
                kinds.append(cell)
        self._build(tuple(kinds), np.array([numbers[id(cell)] for cell in cells], dtype=np.int64))

    def _build(self, kinds: tuple[Cell, ...], kind_of: npt.NDArray[np.int64]) -> None:
        names = {cell.name for cell in kinds}
        kind_of.flags.writeable = False
        self._put(kinds=kinds, kind_of=kind_of, name=names.pop() if len(names) == 1 else "cells")
        self._put(core_model=_core.CellModel.of_kinds([cell.core_model for cell in kinds], kind_of))

    @property
    def compartment_count(self) -> int:
        """Number of compartments of all cells."""
        return int(np.array([cell.compartment_count for cell in self.kinds])[self.kind_of].sum())

    def model_for(self, size: int) -> list[Cell]:
        """Return a number of cells that are evenly spaced in the list."""
        places = np.linspace(0, len(self.kind_of) - 1, size).astype(np.int64)
        return [self.kinds[kind] for kind in self.kind_of[places]]

    def differing_values(self) -> dict[str, npt.NDArray[np.float64]]:
        """Return the defaults that kinds differ in, by name: one value for each cell."""
        defaults: dict[str, list[float]] = {}
        potential = self.core_model.variables[0]
        if not potential.initial_parameter:
            defaults[potential.name] = [cell.core_model.variables[0].initial_value for cell in self.kinds]
        for parameter in self.core_model.parameters:
            defaults[parameter.name] = [
                next(each.default for each in cell.core_model.parameters if each.name == parameter.name)
                for cell in self.kinds
            ]
        return {name: np.array(values)[self.kind_of] for name, values in defaults.items() if len(set(values)) > 1}

    def __getstate__(self) -> dict[str, Any]:
        return {"kinds": self.kinds, "kind_of": self.kind_of}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._build(**state)

    def __repr__(self) -> str:
        return f"<{counted(len(self.kind_of), 'cell')} of {len(self.kinds)} kinds>"
