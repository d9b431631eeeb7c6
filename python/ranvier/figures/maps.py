"""Pictures of neurons in space."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from ranvier.base.numeric import number_array
from ranvier.base.texts import check_text
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, ValueOutOfBoundsError
from ranvier.figures.space_axes import box_of, checked_views, draw_dots, marker_area, space_panel
from ranvier.figures.style import FAINT, GREY, Figure, colours_of, styled
from ranvier.populations.populations import Neurons
from ranvier.recording.segments import as_segment

__all__ = ["checked_limits", "legend_of_dots", "neurons", "note_selection"]

# A picture of more dots shows the same.
_MOST_DOTS = 50_000


@overload
def neurons(
    neurons: Neurons,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def neurons(
    neurons: Neurons,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def neurons(
    neurons: Neurons,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw neurons at their positions, in two or three dimensions, with populations or values in colour.

    A dashed box shows periodic positions. Of more than 50,000 neurons, a regular selection is drawn.

    Parameters
    ----------
    neurons
        A population, a part of one, or a list of them.
    values
        One value for each neuron, in the order of `neurons`: for example ``spikes.rates(exc)``, or
        ``sim.get(exc, "V_m")``. NaN: no value. None: populations have different colours.
    label
        Label of the values, with their unit.
    limits
        The values at the ends of the colours; None: the least and the greatest one.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned, with as many dimensions as the positions; None: draw in
        a new figure and return it.

    Raises
    ------
    StateError
        When neurons have no positions, or there are no neurons.
    ShapeError
        For another number of values than neurons.
    ValueOutOfBoundsError
        For limits that are not ascending.
    WrongTypeError
        For arguments of a wrong type, and axes of another number of dimensions.
    """
    views = checked_views(neurons)
    box = box_of(views)
    of_populations = colours_of([as_segment(view) for view in views])
    check_text("label", label)
    count = sum(map(len, views))
    colours = None if values is None else _checked_values(values, count)
    if colours is None and limits is not None:
        raise ValueOutOfBoundsError("limits", bound="there are no values", remedy="give values")
    scale = None if colours is None else Normalize(*checked_limits(limits, colours))
    stride = -(-count // _MOST_DOTS)
    room = 1.0 if colours is not None else 0.0 if len(views) == 1 else 1.2
    drawn, axes = space_panel(ax, box, title, room=room)
    style: dict[str, Any] = {"s": marker_area(-(-count // stride), ax), "rasterized": True}
    if box.dimensions == 3:
        style["depthshade"] = colours is None
    mappable = None
    begin = 0
    for view, colour in zip(views, of_populations, strict=True):
        points = view[::stride].positions
        if colours is None or scale is None:
            draw_dots(axes, points, color=colour, alpha=0.75, **style)
            continue
        shown = colours[begin : begin + len(view)][::stride]
        begin += len(view)
        absent = np.isnan(shown)
        if absent.any():
            draw_dots(axes, points[absent], color=FAINT, **style)
        mappable = draw_dots(axes, points[~absent], c=shown[~absent], norm=scale, cmap=colormaps["viridis"], **style)
    if mappable is not None:
        pad = 0.1 if box.dimensions == 3 else 0.03
        axes.figure.colorbar(mappable, ax=axes, label=label, shrink=0.7, aspect=30, pad=pad)
    elif len(views) > 1:
        legend_of_dots(axes, {view.name: colour for view, colour in zip(views, of_populations, strict=True)})
    if stride > 1:
        note_selection(axes, stride)
    return drawn


def note_selection(axes: Axes, stride: int, what: str = "neuron") -> None:
    """Write into the picture that not all neurons are drawn."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(stride % 10 if stride % 100 not in (11, 12, 13) else 0, "th")
    axes.annotate(
        f"every {stride}{ending} {what}", (1.0, 1.0), xycoords="axes fraction", xytext=(0, 2),
        textcoords="offset points", ha="right", va="bottom", fontsize=8, color=GREY,
    )  # fmt: skip


def legend_of_dots(axes: Axes, colours: dict[str, str]) -> None:
    """Draw a legend beside the axes, with a dot of each colour."""
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=5, linestyle="", label=name)
        for name, colour in colours.items()
    ]
    axes.legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)


def checked_limits(limits: tuple[float, float] | None, values: FloatArray) -> tuple[float, float]:
    """Return the values at the ends of the colours: as given, or the least and the greatest value."""
    if limits is None:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        return (low, high) if low < high else (low - 0.5, high + 0.5)
    ends = number_array("limits", limits, "two numbers")
    if ends.shape != (2,) or not ends[0] < ends[1] or not np.isfinite(ends).all():
        raise ValueOutOfBoundsError("limits", repr(limits), "they must be two ascending numbers")
    return float(ends[0]), float(ends[1])


def _checked_values(values: npt.ArrayLike, count: int) -> FloatArray:
    array = number_array("values of neurons", values, "an array of numbers, one for each neuron")
    if array.shape != (count,):
        raise ShapeError("values of neurons", f"an array of shape {array.shape}", f"there are {count} neurons")
    return array
