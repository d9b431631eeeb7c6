"""Morphologies that are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.cells.morphology import Section

__all__ = ["Drawing"]


class Drawing:
    """Grows the sections of a cell."""

    def __init__(self, seed: int) -> None:
        self.sections: list[Section] = []
        # A bit generator whose numbers NumPy promises to keep.
        self._random = np.random.Generator(np.random.Philox(seed))

    def uniform(self) -> float:
        return float(self._random.random())

    def add(
        self,
        points: Sequence[FloatArray],
        first: float,
        last: float,
        parent: int | None,
        tag: str,
        position: float = 1.0,
    ) -> int:
        diameters = np.linspace(first, last, len(points))
        self.sections.append(
            Section(points=np.column_stack([points, diameters]), parent=parent, parent_position=position, tag=tag)
        )
        return len(self.sections) - 1

    def branch(
        self,
        parent: int,
        direction: FloatArray,
        length: float,
        first: float,
        last: float,
        tag: str,
        begin: FloatArray | None = None,
        position: float = 1.0,
    ) -> int:
        """Add one branch with some wobble; returns its number."""
        pieces = max(2, round(length / 12.0))
        end = self.sections[parent].points
        assert end is not None
        points = [end[-1] if begin is None else begin]
        towards = direction / np.linalg.norm(direction)
        heading = towards
        for _ in range(pieces):
            wobble = np.array([self.uniform() - 0.5 for _ in range(3)])
            heading = heading + 0.35 * wobble + 0.15 * (towards - heading)
            heading = heading / np.linalg.norm(heading)
            points.append(points[-1] + heading * length / pieces)
        return self.add(points, first, last, parent, tag, position)

    def tree(
        self,
        parent: int,
        direction: FloatArray,
        *,
        depth: int,
        length: float,
        diameter: float,
        tag: str,
        begin: FloatArray | None = None,
        position: float = 1.0,
    ) -> None:
        """Add a branch that divides in two, the given number of times."""
        varied_length = length * (0.7 + 0.6 * self.uniform()) * (1.0 + 0.25 * (4 - depth))
        branch = self.branch(parent, direction, varied_length, diameter, 0.8 * diameter, tag, begin, position)
        if depth == 0:
            return
        for side in (-1.0, 1.0):
            spread = np.array([self.uniform() - 0.5 for _ in range(3)])
            turned = direction + side * 0.7 * np.cross(direction, spread / np.linalg.norm(spread)) + 0.2 * spread
            thinner = max(0.5, 0.75 * diameter)
            self.tree(branch, turned, depth=depth - 1, length=length, diameter=thinner, tag=tag)
