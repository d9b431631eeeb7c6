"""Positions of the sections of a cell, in space or in a plane: coordinates, or without them a drawing of the tree."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.morphology import TAGS, Morphology, Section
from ranvier.cells.places import Region

__all__ = ["Pieces", "Projection", "at_fraction", "coordinates_of"]

Projection = Literal["xy", "xz", "yz"]

_AXES: dict[str, tuple[int, ...]] = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def coordinates_of(morphology: Morphology, axes: tuple[int, ...] = (0, 1, 2)) -> list[FloatArray]:
    """Return for each section some coordinates of its points, um, shape ``(n, len(axes))``.

    A section without coordinates is a straight line from its place on the parent, in the plane of the first two axes;
    lines from the soma divide the directions by their numbers of branches, with apical sections above it.
    """
    angles = _angles(morphology)
    children = _children(morphology)
    plane: list[FloatArray] = []
    for i, section in enumerate(morphology.sections):
        if section.points is not None:
            plane.append(np.asarray(section.points)[:, axes].astype(np.float64))
            continue
        direction = np.array([np.cos(angles[i]), np.sin(angles[i]), 0.0][: len(axes)])
        if section.parent is None:
            # Towards the middle of the sections that start there, if they have coordinates.
            first = [points for child in children[i] if (points := morphology.sections[child].points) is not None]
            middle = np.mean([points[0, axes] for points in first], axis=0) if first else np.zeros(len(axes))
            begin = middle - 0.5 * section.length * direction
        else:
            begin = at_fraction(morphology.sections[section.parent], plane[section.parent], section.parent_position)
        plane.append(begin + np.outer(section.distances, direction))
    return plane


def at_fraction(section: Section, points: FloatArray, position: float) -> FloatArray:
    """Return the place at a fraction of the length of a section, whose points have these coordinates."""
    distance = position * section.length
    return np.array([np.interp(distance, section.distances, along) for along in points.T])


def _children(morphology: Morphology) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in morphology.sections]
    for i, section in enumerate(morphology.sections):
        if section.parent is not None:
            children[section.parent].append(i)
    return children


def _angles(morphology: Morphology) -> FloatArray:
    """Return the direction of each section, the middle of those that its branches share."""
    children = _children(morphology)
    leaves = np.zeros(len(morphology))
    for i in reversed(range(len(morphology))):
        leaves[i] = sum(leaves[child] for child in children[i]) or 1.0
    low, high = np.zeros(len(morphology)), np.zeros(len(morphology))
    stems = children[0]
    apical = [child for child in stems if morphology.sections[child].tag == TAGS["apical"]]
    others = [child for child in stems if morphology.sections[child].tag != TAGS["apical"]]
    _share(apical, leaves, np.pi / 4, 3 * np.pi / 4, low, high)
    # All around, unless something is above.
    _share(others, leaves, -5 * np.pi / 4, np.pi / 4 if apical else 3 * np.pi / 4, low, high)
    for i, branches in enumerate(children):
        if i > 0:
            _share(branches, leaves, low[i], high[i], low, high)
    angles: FloatArray = (low + high) / 2
    angles[0] = np.pi / 2
    return angles


def _share(parts: list[int], leaves: FloatArray, begin: float, end: float, low: FloatArray, high: FloatArray) -> None:
    """Divide the directions from `begin` to `end` between sections, by their numbers of branches."""
    total = sum(leaves[part] for part in parts)
    for part in parts:
        low[part] = begin
        begin += (end - low[part]) * leaves[part] / total
        total -= leaves[part]
        high[part] = begin


class Pieces:
    """The cones of a cell in a plane, cut where compartments end."""

    def __init__(self, shape: Cell | Morphology, projection: Projection) -> None:
        morphology = shape.morphology if isinstance(shape, Cell) else shape
        cut = shape._compartments if isinstance(shape, Cell) else morphology._cut([1])
        plane = coordinates_of(morphology, _AXES[projection])
        sections, begins, ends = np.array(cut.section), np.array(cut.begin), np.array(cut.end)
        polygons: list[FloatArray] = []
        compartment: list[int] = []
        for i, (number, first, last) in enumerate(zip(sections, begins, ends, strict=True)):
            section = morphology.sections[int(number)]
            low, high = float(first) * section.length, float(last) * section.length
            # Of the points of a section, a compartment needs those in it, and one on each side.
            along = section.distances
            inside = slice(np.searchsorted(along, low, "right"), np.searchsorted(along, high, "left"))
            around = slice(max(inside.start - 1, 0), inside.stop + 1)
            distances = np.concatenate([[low], along[inside], [high]])
            points = np.column_stack(
                [np.interp(distances, along[around], plane[int(number)][around, axis]) for axis in range(2)]
            )
            radii = np.interp(distances, along[around], section.radii[around])
            for j in range(len(distances) - 1):
                polygons.append(_cone(points[j], points[j + 1], radii[j], radii[j + 1]))
                compartment.append(i)
        self.polygons = polygons
        self.compartment = np.array(compartment, dtype=np.int64)
        self.section = sections[self.compartment].astype(np.int64)
        corners = np.concatenate(polygons)
        self.bounds = np.array([corners.min(axis=0), corners.max(axis=0)])
        self.begins = begins
        """Start of each compartment, as a fraction of its section."""
        self._morphology, self._cut = morphology, cut

    def covered(self, region: Region) -> FloatArray:
        """Return for each piece the fraction of the membrane of its compartment that is in a region."""
        return region.covered(self._morphology, self._cut)[self.compartment]


def _cone(begin: FloatArray, end: FloatArray, first: float, last: float) -> FloatArray:
    along = end - begin
    length = float(np.hypot(*along))
    # A cone that points at the viewer is a line across.
    across = np.array([-along[1], along[0]]) / length if length > 0.0 else np.array([1.0, 0.0])
    return np.array([begin - first * across, begin + first * across, end + last * across, end - last * across])
