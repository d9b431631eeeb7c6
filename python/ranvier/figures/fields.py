"""Figures of potentials outside of cells: traces at contacts, pictures of one time, current source density."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize

from ranvier.base.names import check_choice
from ranvier.base.numeric import number
from ranvier.base.texts import check_text
from ranvier.base.times import text_of
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.arguments import samples_in_window
from ranvier.figures.maps import checked_limits, note_selection
from ranvier.figures.placed import Plane
from ranvier.figures.space_axes import AXES, SIDE, Box, checked_views, draw_dots, marker_area, space_panel
from ranvier.figures.style import EXCITATORY, GREY, Figure, fit, new_figure, panel, styled
from ranvier.populations.populations import Neurons
from ranvier.recording.data import ExtracellularData
from ranvier.recording.potential_analysis import CurrentSourceDensity, SpikeTriggeredAverage, places_on_line

__all__ = ["csd", "draw_field", "extracellular", "field_panel", "scaled_unit", "symmetric"]

# Of values around 0.
_COLOURS = colormaps["RdBu_r"]
# Traces that are distinct in a figure, and cells that are drawn behind contacts.
_MOST_TRACES, _MOST_CELLS = 64, 200
# Height of the largest trace, and width of all, relative to the distance of neighbouring contacts.
_HIGHEST, _WIDTH = 1.8, 0.85
_FIRST_DIGITS = (1.0, 2.0, 5.0)


@overload
def extracellular(
    data: ExtracellularData | SpikeTriggeredAverage,
    *,
    time: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    plane: Plane | None = None,
    cells: Neurons | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def extracellular(
    data: ExtracellularData | SpikeTriggeredAverage,
    *,
    time: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    plane: Plane | None = None,
    cells: Neurons | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def extracellular(
    data: ExtracellularData | SpikeTriggeredAverage,
    *,
    time: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    plane: Plane | None = None,
    cells: Neurons | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot potentials outside of cells: traces at the contacts, or a picture of their values at one time in colour.

    Traces of contacts on a line have a common time axis, and are at their places along the line. Other traces, and all
    traces with `plane` or `cells`, are drawn small at the places of their contacts. Each trace is drawn around its
    mean; a bar shows the scale of all. In a picture, contacts on a grid of a plane are an image, and others are dots.

    Parameters
    ----------
    data
        Potentials, or their average around spikes.
    time
        Time of the picture, ms: the nearest sample is shown. None: traces.
    start, stop
        Window of the traces, ms; None: everything.
    plane
        The coordinates that are drawn, ``"xy"``, ``"xz"`` or ``"yz"``; None: those along which contacts extend most.
    cells
        Cells that are drawn behind the contacts; None: none.
    limits
        Of a picture, the values at the ends of the colours, mV; None: symmetric around 0.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When there is no sample in the window, or cells have no positions.
    ValueOutOfBoundsError
        For a time that was not recorded, limits that are not ascending, and options of traces for a picture or of
        pictures for traces.
    ShapeError
        For a picture of contacts in a volume.
    WrongTypeError, UnknownNameError
        For arguments of a wrong type.

    Examples
    --------
    >>> rv.plot.extracellular(sim.extracellular(lfp), start=20.0, stop=60.0)
    """
    if not isinstance(data, ExtracellularData | SpikeTriggeredAverage):
        raise WrongTypeError("data of a plot", type(data).__name__, "must be potentials, or an average around spikes")
    if plane is not None:
        check_choice("plane of a picture", plane, ["xy", "xz", "yz"])
    if not len(data.times) or not len(data.contacts):
        raise StateError(repr(data), bound="it has no potentials", remedy="run the simulation first")
    if time is not None:
        if start is not None or stop is not None:
            raise ValueOutOfBoundsError("window of a picture", bound="a picture has one time", remedy="leave it out")
        return _picture(data, number("time of a picture", time), plane, cells, limits, title, ax)
    if limits is not None:
        raise ValueOutOfBoundsError("limits", bound="traces have no colours", remedy="give a time, or leave them out")
    times = data.times
    here = samples_in_window(times, start, stop)
    if not here.any():
        raise StateError(
            repr(data), bound="there is no sample in the window", remedy="run longer or choose another window"
        )
    label = "time from the spike (ms)" if isinstance(data, SpikeTriggeredAverage) else "time (ms)"
    places = places_on_line(data.contacts) if plane is None and cells is None else None
    shown = data.potentials[here]
    shown = shown - shown.mean(axis=0)
    if places is not None:
        return _traces_on_line(times[here], shown, data.contacts, label, title, ax)
    return _traces_at_places(times[here], shown, data.contacts, plane, cells, title, ax)


@overload
def csd(
    density: CurrentSourceDensity,
    *,
    start: float | None = None,
    stop: float | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def csd(
    density: CurrentSourceDensity,
    *,
    start: float | None = None,
    stop: float | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def csd(
    density: CurrentSourceDensity,
    *,
    start: float | None = None,
    stop: float | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot a current source density over time and place, in colour: sinks are blue, and sources red.

    Parameters
    ----------
    density
        The density, from `ExtracellularData.current_source_density`.
    start, stop
        Window, ms; None: everything.
    limits
        The values at the ends of the colours, uA/mm^3; None: symmetric around 0.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When there are fewer than two samples in the window.
    ValueOutOfBoundsError
        For limits that are not ascending.
    WrongTypeError
        For arguments of a wrong type.
    """
    if not isinstance(density, CurrentSourceDensity):
        raise WrongTypeError("data of a plot", type(density).__name__, "must be a current source density")
    times = density.times
    here = samples_in_window(times, start, stop)
    if here.sum() < 2:
        raise StateError(
            repr(density), bound="there are fewer than two samples in the window", remedy="choose another window"
        )
    shown, values = times[here], density.values[here]
    drawn, axes = panel(ax, (7.5, 3.6), title)
    if ax is not None and title:
        axes.set_title(title)
    coordinates, label = _along(density.contacts)
    half_time = 0.5 * float(shown[1] - shown[0])
    half = 0.5 * float(abs(coordinates[1] - coordinates[0])) if len(coordinates) > 1 else 0.5
    upwards = len(coordinates) < 2 or coordinates[1] > coordinates[0]
    bottom, top = float(coordinates.min()) - half, float(coordinates.max()) + half
    image = axes.imshow(
        values.T if upwards else values.T[::-1],
        norm=Normalize(*(symmetric(values) if limits is None else checked_limits(limits, values))),
        cmap=_COLOURS, origin="lower", aspect="auto", interpolation="nearest",
        extent=(float(shown[0]) - half_time, float(shown[-1]) + half_time, bottom, top),
    )  # fmt: skip
    axes.set(xlabel="time (ms)", ylabel=label)
    axes.figure.colorbar(image, ax=axes, label="current source density (µA/mm³)", aspect=30)
    return drawn


def symmetric(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return limits of colours around 0, which 99.5 % of the values do not exceed."""
    finite = np.abs(values[np.isfinite(values)])
    if not finite.size:
        return -1.0, 1.0
    greatest = float(np.percentile(finite, 99.5)) or float(finite.max()) or 1.0
    return -greatest, greatest


def scaled_unit(greatest: float) -> tuple[float, str]:
    """Return the factor and the unit in which potentials up to a value, mV, are shown."""
    return (1.0, "mV") if greatest >= 1.0 else (1e3, "µV")


def draw_field(
    axes: Axes, contacts: FloatArray, grid_shape: tuple[int, ...] | None, across: list[int], norm: Normalize
) -> tuple[Any, tuple[int, ...]]:
    """Draw values of 0 at contacts, as an image of a plane or as dots; return what shows them, and their shape there.

    Raises
    ------
    ShapeError
        For contacts on a grid of a volume.
    """
    flat = [] if grid_shape is None else [count for count in grid_shape if count > 1]
    if len(flat) > 2:
        raise ShapeError(
            "contacts of a picture",
            f"a grid of the shape {grid_shape}",
            "a picture shows one plane",
            "draw a plane of data.on_grid by matplotlib, or select contacts: data.at_contacts(...)",
        )
    if len(flat) == 2:
        x, y = (contacts[:, axis].reshape(flat) for axis in across)
        image = axes.pcolormesh(
            x, y, np.zeros(flat), norm=norm, cmap=_COLOURS, shading="nearest", rasterized=True, zorder=-1
        )
        return image, tuple(flat)
    places = contacts[:, across]
    # Neighbours do not overlap in a new figure.
    shown = max(float(np.diff(limits)[0]) for limits in (axes.get_xlim(), axes.get_ylim()))
    widest = 72.0 * SIDE * min(_room_of_traces(places)) / shown
    area = float(np.clip(0.8 * widest**2, 1.0, 2.0 * marker_area(len(contacts))))
    dots = draw_dots(
        axes, places, c=np.zeros(len(contacts)), s=area, norm=norm, cmap=_COLOURS, edgecolors=GREY, linewidths=0.4
    )
    return dots, (len(contacts),)


def plane_of(contacts: FloatArray, plane: Plane | None) -> list[int]:
    """Return the axes of a plane; by default the two along which contacts extend most."""
    if plane is not None:
        return [AXES.index(axis) for axis in plane]
    extents = np.ptp(contacts, axis=0)
    # Of equal extents, the later axis: a vertical line is drawn in x and z.
    first = 2 - int(np.argmax(extents[::-1]))
    others = [axis for axis in range(3) if axis != first]
    second = max(others, key=lambda axis: (extents[axis], -axis))
    return sorted([first, second])


def field_panel(
    contacts: FloatArray, plane: Plane | None, cells: Neurons | None, title: str, ax: Axes | None, room: float
) -> tuple[Figure | Axes, Axes, list[int]]:
    """Return the new figure or the axes of the user, axes with cells behind contacts, and the axes of their plane."""
    across = plane_of(contacts, plane)
    lines, stride = ([], 1) if cells is None else _lines_of(cells, across)
    points = np.concatenate([contacts[:, across], *lines])
    box = Box("um", points.min(axis=0), points.max(axis=0), np.zeros(2))
    drawn, axes = space_panel(ax, box, title, room=room)
    axes.set(xlabel=f"{AXES[across[0]]} (µm)", ylabel=f"{AXES[across[1]]} (µm)")
    if lines:
        axes.add_collection(LineCollection(lines, colors="black", linewidths=0.6, alpha=0.55), autolim=False)
    if stride > 1:
        note_selection(axes, stride, "cell")
    return drawn, axes, across


def _lines_of(cells: Neurons, across: list[int]) -> tuple[list[FloatArray], int]:
    """Return the sections of cells in a plane, um, and a stride: one of so many cells is among them."""
    views = checked_views(cells)
    for view in views:
        if view.population.cell is None:
            raise StateError(
                f"population {view.name}",
                bound=f"neurons of the model {view.population.model} are points",
                remedy="give detailed cells, or leave them out",
            )
    stride = -(-sum(map(len, views)) // _MOST_CELLS)
    lines = [
        points[:, across]
        for view in views
        for index in range(0, len(view), stride)
        for points in view.morphology_points(index, unit="um")
        if len(points) > 1
    ]
    return lines, stride


def _picture(
    data: ExtracellularData | SpikeTriggeredAverage,
    time: float,
    plane: Plane | None,
    cells: Neurons | None,
    limits: tuple[float, float] | None,
    title: str,
    ax: Axes | None,
) -> Figure | Axes:
    times = data.times
    interval = float(times[1] - times[0]) if len(times) > 1 else np.inf
    sample = int(np.argmin(np.abs(times - time))) if np.isfinite(time) else 0
    if not abs(times[sample] - time) <= interval:
        span = f"from {text_of(float(times[0]))} to {text_of(float(times[-1]))} ms"
        raise ValueOutOfBoundsError("time of a picture", f"{time:g} ms", f"samples are {span}")
    values = data.potentials[sample]
    low, high = symmetric(values) if limits is None else checked_limits(limits, values)
    factor, unit = scaled_unit(max(abs(low), abs(high)))
    drawn, axes, across = field_panel(data.contacts, plane, cells, "", ax, 1.1)
    grid_shape = data.grid_shape if isinstance(data, ExtracellularData) else None
    artist, shape = draw_field(axes, data.contacts, grid_shape, across, Normalize(factor * low, factor * high))
    artist.set_array(factor * values.reshape(shape))
    axes.figure.colorbar(artist, ax=axes, label=f"potential ({unit})", shrink=0.8, aspect=30)
    heading = check_text("title of a figure", title)
    axes.set_title(f"{heading}{', ' if heading else ''}{text_of(float(times[sample]))} ms")
    return drawn


def _along(contacts: FloatArray) -> tuple[FloatArray, str]:
    """Return the coordinates of contacts along their line, um, and the label of an axis with them."""
    extents = np.ptp(contacts, axis=0)
    axis = 2 - int(np.argmax(extents[::-1]))
    others = np.delete(extents, axis)
    if len(contacts) < 2 or (others <= 1e-3 * extents[axis]).all():
        return contacts[:, axis], f"{AXES[axis]} (µm)"
    return np.linalg.norm(contacts - contacts[0], axis=1), "distance from the first contact (µm)"


def _traces_on_line(
    times: FloatArray, potentials: FloatArray, contacts: FloatArray, label: str, title: str, ax: Axes | None
) -> Figure | Axes:
    stride = -(-len(contacts) // _MOST_TRACES)
    contacts, potentials = contacts[::stride], potentials[:, ::stride]
    coordinates, name = _along(contacts)
    spacing = float(np.abs(np.diff(coordinates)).min()) if len(contacts) > 1 else 1.0
    drawn, axes = panel(ax, (7.5, float(np.clip(1.2 + 0.28 * len(contacts), 2.5, 9.0))), title)
    if ax is not None and title:
        axes.set_title(title)
    scale, bar = _scale_of(potentials, _HIGHEST * spacing)
    shifted = coordinates + scale * potentials
    axes.plot(times, shifted, color=EXCITATORY, linewidth=0.9)
    fit(axes, "y", float(shifted.min()), float(shifted.max()), ticks=7)
    span = float(times[-1] - times[0]) or 1.0
    axes.set_xlim(float(times[0]) - 0.003 * span, float(times[-1]) + 0.003 * span)
    axes.set(xlabel=label, ylabel=name)
    if times[0] < 0.0 < times[-1]:
        axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    _bar(axes, (1.02, float(coordinates.mean())), scale * bar, _text_of_potential(bar))
    if stride > 1:
        note_selection(axes, stride, "contact")
    return drawn


def _bar(axes: Axes, place: tuple[float, float], height: float, text: str) -> None:
    """Draw the scale of traces at the right side of axes."""
    from matplotlib.transforms import blended_transform_factory

    side = blended_transform_factory(axes.transAxes, axes.transData)
    x, middle = place
    axes.plot(
        [x, x], [middle - 0.5 * height, middle + 0.5 * height], color=GREY, linewidth=2.0, transform=side,
        clip_on=False, solid_capstyle="butt",
    )  # fmt: skip
    axes.text(x + 0.012, middle, text, transform=side, ha="left", va="center", color=GREY)


def _text_of_potential(potential: float) -> str:
    factor, unit = scaled_unit(potential)
    return f"{factor * potential:g} {unit}"


def _scale_of(potentials: FloatArray, height: float) -> tuple[float, float]:
    """Return how many um a mV is, such that the largest trace has a height, um; and a round potential for a bar, mV."""
    largest = float(np.ptp(potentials, axis=0).max()) or 1.0
    return height / largest, _round(largest)


def _round(value: float) -> float:
    """Return the greatest of 1, 2, 5, 10, ... that is at most a value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(digit for digit in _FIRST_DIGITS if digit * power <= value * (1.0 + 1e-12)) * power)


def _traces_at_places(
    times: FloatArray,
    potentials: FloatArray,
    contacts: FloatArray,
    plane: Plane | None,
    cells: Neurons | None,
    title: str,
    ax: Axes | None,
) -> Figure | Axes:
    across = plane_of(contacts, plane)
    places = contacts[:, across]
    wide, high = _room_of_traces(places)
    scale, bar = _scale_of(potentials, _HIGHEST * high)
    drawn: Figure | Axes
    if cells is None and ax is None:
        # Contacts of a probe are on a narrow strip, so each axis has a scale.
        columns, rows = (max(1.0, float(np.ptp(places[:, axis])) / step) for axis, step in ((0, wide), (1, high)))
        width, height = np.clip(1.6 + 0.7 * columns, 3.0, 10.0), np.clip(0.8 * rows, 3.0, 8.0)
        figure = new_figure(float(width), float(height), title)
        drawn, axes = figure, figure.add_subplot()
        axes.set(xlabel=f"{AXES[across[0]]} (µm)", ylabel=f"{AXES[across[1]]} (µm)")
    else:
        drawn, axes, _ = field_panel(contacts, plane, cells, title, ax, 0.0)
    span = float(times[-1] - times[0]) or 1.0
    x = places[:, 0] + _WIDTH * wide * ((times - times[0]) / span - 0.5)[:, np.newaxis]
    y = places[:, 1] + scale * potentials
    axes.add_collection(
        LineCollection(list(np.stack([x, y], axis=-1).transpose(1, 0, 2)), colors=EXCITATORY, linewidths=0.9),
        autolim=False,
    )
    axes.plot(*places.T, ".", color=GREY, markersize=1.5, zorder=0)
    lower = np.minimum([x.min(), y.min()], [axes.get_xlim()[0], axes.get_ylim()[0]] if cells is not None else np.inf)
    upper = np.maximum([x.max(), y.max()], [axes.get_xlim()[1], axes.get_ylim()[1]] if cells is not None else -np.inf)
    _bars_below(axes, (lower, upper), (span, _WIDTH * wide), (bar, scale))
    return drawn


def _room_of_traces(places: FloatArray) -> tuple[float, float]:
    """Return the distances of neighbouring contacts, um: of those of a row, and of rows."""
    size = float(np.ptp(places, axis=0).max()) or 1.0
    heights = np.unique(np.round(places[:, 1] / (1e-3 * size)))
    nearest = np.inf
    for height in heights.tolist():
        row = np.sort(places[np.round(places[:, 1] / (1e-3 * size)) == height, 0])
        nearest = min(nearest, float(np.diff(row).min(initial=np.inf)))
    if not 0.0 < nearest < np.inf:
        columns = np.unique(np.round(places[:, 0] / (1e-3 * size))) * 1e-3 * size
        nearest = float(np.diff(columns).min(initial=np.inf))
    rows = float(np.diff(heights).min(initial=np.inf)) * 1e-3 * size
    wide = nearest if np.isfinite(nearest) else rows if np.isfinite(rows) else 100.0
    return wide, rows if np.isfinite(rows) else wide


def _bars_below(
    axes: Axes, corners: tuple[FloatArray, FloatArray], time: tuple[float, float], potential: tuple[float, float]
) -> None:
    """Draw bars with the scales of time and potential below traces, and limit the axes to all of it."""
    lower, upper = corners
    (span, width), (bar, scale) = time, potential
    margin = 0.03 * (upper - lower)
    duration = _round(0.6 * span)
    length, height = width * duration / span, scale * bar
    # The name of the lower bar is below it.
    left, bottom = float(upper[0] + margin[0]), float(lower[1] + margin[1])
    axes.plot(
        [left, left, left + length], [bottom + height, bottom, bottom], color=GREY, linewidth=1.8,
        solid_joinstyle="miter", solid_capstyle="butt", clip_on=False,
    )  # fmt: skip
    style: dict[str, Any] = {"color": GREY, "fontsize": 8, "textcoords": "offset points"}
    axes.annotate(f"{duration:g} ms", (left, bottom), (0, -4), ha="left", va="top", **style)
    axes.annotate(_text_of_potential(bar), (left, bottom + 0.5 * height), (5, 0), ha="left", va="center", **style)
    axes.set_xlim(float(lower[0] - margin[0]), left + length + float(margin[0]))
    axes.set_ylim(float(lower[1] - margin[1]), float(upper[1] + margin[1]))
