"""Axes with the space of neurons: equal scales, units, and the box of periodic positions."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.ticker import MaxNLocator

from ranvier.base.texts import check_text
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.style import GREY, Figure, new_figure, panel
from ranvier.populations.populations import PopulationView, common_layout

__all__ = [
    "AXES",
    "SIDE",
    "Box",
    "box_of",
    "checked_views",
    "draw_dots",
    "is_three_dimensional",
    "marker_area",
    "space_panel",
]

AXES = "xyz"
# Inches of the longer side of a map.
SIDE = 5.0
# Of the area of a map, the part that markers cover, and the least and the greatest area of a marker, points².
_COVERED, _SMALLEST, _GREATEST = 0.25, 0.6, 40.0
_MARGIN = 0.03


@dataclass(frozen=True)
class Box:
    """The space of some populations.

    Attributes
    ----------
    unit
        Unit of all lengths.
    lower, upper
        The corners, shape ``(dimensions,)``.
    period
        Length after which each axis repeats itself, shape ``(dimensions,)``; 0: it does not.
    """

    unit: str
    lower: FloatArray
    upper: FloatArray
    period: FloatArray

    @property
    def dimensions(self) -> int:
        """Number of axes, 2 or 3."""
        return len(self.lower)

    @property
    def sides(self) -> FloatArray:
        """Lengths of the sides; if all neurons are in one plane or point, a side is 1."""
        sides = self.upper - self.lower
        return np.where(sides > 0.0, sides, float(sides.max()) or 1.0)


def checked_views(neurons: object, what: str = "neurons of a picture") -> list[PopulationView]:
    """Return views of one population each, of a population, a view, or a sequence of them."""
    given: list[Any] = list(neurons) if isinstance(neurons, list | tuple) else [neurons]
    for view in given:
        if not isinstance(view, PopulationView):
            raise WrongTypeError(what, type(view).__name__, "must be a population, a part of one, or a list of them")
    views = [part for view in given for part in view.parts]
    if not sum(map(len, views)):
        raise StateError(what, "no neurons", "there must be at least one", "choose other neurons")
    if len({id(view.network) for view in views}) > 1:
        raise StateError(what, bound="they belong to different networks", remedy="draw two pictures")
    return views


def box_of(views: Sequence[PopulationView]) -> Box:
    """Return the space of views of one population each.

    Raises
    ------
    StateError
        When neurons have no positions.
    ShapeError, ValueOutOfBoundsError
        When the positions have different dimensions, units or periods.
    """
    lowers, uppers, periods = [], [], []
    first = common_layout(views[0])
    for view in views:
        layout = common_layout(view)
        if layout.dimensions != first.dimensions:
            raise ShapeError(
                f"positions of {views[0].name} and {view.name}",
                f"of {first.dimensions} and {layout.dimensions} dimensions",
                "a picture has one space",
                "draw two pictures",
            )
        if layout.unit != first.unit:
            raise ValueOutOfBoundsError(
                f"positions of {views[0].name} and {view.name}",
                f"in {first.unit} and {layout.unit}",
                "a picture has one unit",
                "draw two pictures",
            )
        if layout.extent is None or layout.center is None:
            points = view.positions
            lowers.append(points.min(axis=0))
            uppers.append(points.max(axis=0))
            periods.append(np.zeros(layout.dimensions))
            continue
        center, extent = np.array(layout.center), np.array(layout.extent)
        lowers.append(center - 0.5 * extent)
        uppers.append(center + 0.5 * extent)
        periods.append(np.where(layout.periodic, extent, 0.0))
    if any(not np.array_equal(period, periods[0]) for period in periods):
        raise ValueOutOfBoundsError(
            f"positions of {views[0].name} and others", bound="their periods differ", remedy="draw two pictures"
        )
    return Box(first.unit, np.min(lowers, axis=0), np.max(uppers, axis=0), periods[0])


def is_three_dimensional(axes: Axes) -> bool:
    """Return whether axes have a depth."""
    return axes.name == "3d"


def space_panel(ax: Axes | None, box: Box, title: str, *, room: float = 0.0) -> tuple[Figure | Axes, Axes]:
    """Return what a function returns and the axes in which it draws, with the scales of a space.

    Parameters
    ----------
    ax
        Axes of the user, or None for a new figure.
    box
        The space.
    title
        Title of the figure, or of `ax`.
    room
        Inches for a legend or a scale at the right side of a new figure.

    Raises
    ------
    WrongTypeError
        When `ax` has another number of dimensions.
    """
    if box.dimensions == 3:
        # Registers axes with a depth.
        importlib.import_module("mpl_toolkits.mplot3d")
    drawn: Figure | Axes
    if ax is None:
        longest = float(box.sides.max())
        width, height = (SIDE, SIDE)
        if box.dimensions == 2:
            width, height = (max(1.6, SIDE * float(side) / longest) for side in box.sides)
        drawn = new_figure(width + 0.9 + room, height + 0.6 + (0.35 if title else 0.0), title)
        axes = drawn.add_subplot(projection="3d" if box.dimensions == 3 else None)
    else:
        drawn, axes = panel(ax, (0.0, 0.0), title)
        if is_three_dimensional(axes) != (box.dimensions == 3):
            remedy = "plt.subplots(subplot_kw={'projection': '3d'})" if box.dimensions == 3 else "plt.subplots()"
            raise WrongTypeError(
                "ax",
                "axes of three dimensions" if is_three_dimensional(axes) else "axes of two dimensions",
                f"the positions have {box.dimensions}",
                f"make them by {remedy}",
            )
        if title:
            axes.set_title(check_text("title of a figure", title))
    _scale(axes, box)
    return drawn, axes


def _scale(axes: Axes, box: Box) -> None:
    margin = _MARGIN * float(box.sides.max())
    middle = 0.5 * (box.lower + box.upper)
    for axis, name in enumerate(AXES[: box.dimensions]):
        half = 0.5 * float(box.sides[axis]) + margin
        limits = (float(middle[axis]) - half, float(middle[axis]) + half)
        axes.set(**{f"{name}lim": limits, f"{name}label": f"{name} ({'µm' if box.unit == 'um' else box.unit})"})
    if box.dimensions == 2:
        axes.set_aspect("equal")
    else:
        depth: Any = axes
        for each in (depth.xaxis, depth.yaxis, depth.zaxis):
            each.set_major_locator(MaxNLocator(5))
        depth.set_box_aspect(box.sides + 2.0 * margin, zoom=0.85)
    style: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 3)), "zorder": 0}
    for begin, end in _edges(box):
        axes.plot(*zip(begin, end, strict=True), **style)


def _edges(box: Box) -> list[tuple[FloatArray, FloatArray]]:
    """Return the edges of the box that lie on an end of a periodic axis."""
    edges = []
    for axis in range(box.dimensions):
        others = [each for each in range(box.dimensions) if each != axis]
        for corner in product((False, True), repeat=len(others)):
            if not any(box.period[other] > 0.0 for other in others):
                continue
            begin = box.lower.copy()
            begin[others] = np.where(corner, box.upper[others], box.lower[others])
            end = begin.copy()
            end[axis] = box.upper[axis]
            edges.append((begin, end))
    return edges


def draw_dots(axes: Any, points: FloatArray, **style: Any) -> PathCollection:
    """Draw a dot at each position, shape ``(neurons, dimensions)``, and return all of them."""
    dots: PathCollection = axes.scatter(*points.T, **{"linewidths": 0.0, **style})
    return dots


def marker_area(count: int, ax: Axes | None = None) -> float:
    """Return the area of a marker, points², such that `count` of them are distinct on a map.

    The map is that of a new figure, or axes of the user.
    """
    side = SIDE
    if ax is not None:
        extent = ax.get_window_extent()
        side = min(SIDE, float(min(extent.width, extent.height)) / ax.figure.dpi)
    return float(np.clip(_COVERED * (72.0 * side) ** 2 / max(1, count), _SMALLEST, _GREATEST))
