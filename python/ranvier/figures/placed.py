"""Pictures of detailed cells at their positions."""

from __future__ import annotations

import importlib
from typing import Any, Literal, overload

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ranvier.base.names import check_choice
from ranvier.errors import StateError
from ranvier.figures.maps import legend_of_dots, note_selection
from ranvier.figures.space_axes import AXES, Box, box_of, checked_views, space_panel
from ranvier.figures.style import Figure, colours_of, styled
from ranvier.populations.populations import Neurons
from ranvier.recording.segments import as_segment

__all__ = ["cells"]

Plane = Literal["xy", "xz", "yz"]

# Cells of a picture: each has hundreds of lines.
_MOST_CELLS = 200


@overload
def cells(neurons: Neurons, *, plane: Plane | None = None, title: str = "", ax: None = None) -> Figure: ...
@overload
def cells(neurons: Neurons, *, plane: Plane | None = None, title: str = "", ax: Axes) -> Axes: ...
@styled
def cells(neurons: Neurons, *, plane: Plane | None = None, title: str = "", ax: Axes | None = None) -> Figure | Axes:
    """Draw detailed cells at their positions, with their rotations, as lines.

    Of more than 200 cells, a regular selection is drawn. Neurites may extend beyond the box of the positions.

    Parameters
    ----------
    neurons
        A population of cells, a part of one, or a list of them.
    plane
        Which coordinates are drawn, ``"xy"``, ``"xz"`` or ``"yz"``; None: all three, in axes with a depth.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When neurons have no positions or are no cells.
    WrongTypeError, UnknownNameError
        For arguments of a wrong type, and axes of another number of dimensions.
    """
    if plane is not None:
        check_choice("plane of a picture", plane, ["xy", "xz", "yz"])
    views = checked_views(neurons)
    for view in views:
        if view.population.cell is None:
            raise StateError(
                f"population {view.name}",
                bound=f"neurons of the model {view.population.model} are points",
                remedy="draw them by rv.plot.neurons(...)",
            )
    layout = box_of(views)
    across = [0, 1, 2] if plane is None else [AXES.index(axis) for axis in plane]
    stride = -(-sum(map(len, views)) // _MOST_CELLS)
    drawn_of = [
        [
            points[:, across]
            for index in range(0, len(view), stride)
            for points in view.morphology_points(index)
            if len(points) > 1
        ]
        for view in views
    ]
    everything = np.concatenate([points for sections in drawn_of for points in sections])
    # Positions of two dimensions have z = 0.
    ends = np.zeros((3, 3))
    ends[:, : layout.dimensions] = layout.lower, layout.upper, layout.period
    box = Box(
        layout.unit,
        np.minimum(everything.min(axis=0), ends[0, across]),
        np.maximum(everything.max(axis=0), ends[1, across]),
        np.zeros(len(across)),
    )
    drawn, axes = space_panel(ax, box, title, room=0.0 if len(views) == 1 else 1.2)
    colours = colours_of([as_segment(view) for view in views])
    for sections, colour in zip(drawn_of, colours, strict=True):
        _add_lines(axes, sections, colour)
    if plane is not None:
        unit = "µm" if box.unit == "um" else box.unit
        axes.set(xlabel=f"{plane[0]} ({unit})", ylabel=f"{plane[1]} ({unit})")
    if len(views) > 1:
        legend_of_dots(axes, {view.name: colour for view, colour in zip(views, colours, strict=True)})
    if stride > 1:
        note_selection(axes, stride, "cell")
    return drawn


def _add_lines(axes: Any, lines: list[Any], colour: str) -> None:
    style: dict[str, Any] = {"colors": colour, "linewidths": 0.6, "alpha": 0.8}
    if axes.name == "3d":
        kind = importlib.import_module("mpl_toolkits.mplot3d.art3d").Line3DCollection
        axes.add_collection3d(kind(lines, **style), autolim=False)
    else:
        axes.add_collection(LineCollection(lines, **style), autolim=False)
