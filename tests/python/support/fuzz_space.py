"""Random positions and rotations of the populations of a network."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import ranvier as rv

__all__ = ["Frame", "draw_frame", "draw_layout", "draw_rotation"]


class Frame(NamedTuple):
    """What all populations of a network share, so that neurons of any two of them have distances."""

    extent: tuple[float, ...]
    periodic: tuple[bool, ...]
    unit: str


def draw_frame(chance: random.Random) -> Frame:
    """Return a box of two or three dimensions."""
    dimensions = chance.choice([2, 2, 3])
    periodic = tuple(chance.random() < 0.4 for _ in range(dimensions))
    return Frame(tuple(chance.uniform(0.5, 2.0) for _ in range(dimensions)), periodic, chance.choice(["mm", "um"]))


def draw_layout(frame: Frame, size: int, chance: random.Random) -> rv.Positions:
    """Return positions for a population of any of the kinds that fit into a box."""
    extent, periodic, unit = frame
    shared: dict[str, Any] = {"extent": extent, "periodic": periodic, "unit": unit}
    kind = chance.randrange(5)
    if kind == 0:
        columns = max(each for each in range(1, 11) if size % each == 0)
        shape = (size // columns, columns, 1)[: len(extent)]
        return rv.grid(chance.sample(shape, len(shape)), **shared)
    if kind == 1:
        points = [[chance.uniform(-0.5, 0.5) * length for length in extent] for _ in range(size)]
        return rv.positions(points, **shared)
    if kind == 2:
        # Of a tenth of the space.
        least = min(extent) * (0.1 / size) ** (1.0 / len(extent))
        return rv.random_positions(min_distance=least, **shared)
    if kind == 3 and not any(periodic):
        return rv.random_positions(shape="ellipsoid", **shared)
    return rv.random_positions(**shared)


def draw_rotation(size: int, chance: random.Random) -> rv.Rotation | None:
    """Return rotations of as many cells, or none."""
    kind = chance.randrange(4)
    if kind == 0:
        return rv.rotation("x", degrees=[chance.uniform(-180.0, 180.0) for _ in range(size)])
    if kind == 1:
        return rv.random_rotation("z") @ rv.rotation((1, 2, 3), degrees=chance.uniform(0.0, 360.0))
    return rv.random_rotation() if kind == 2 else None
