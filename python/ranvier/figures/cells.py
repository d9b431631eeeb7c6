"""Pictures of detailed cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize, to_rgb
from matplotlib.patches import Patch

from ranvier.base.names import check_choice, counted
from ranvier.base.numeric import number_array
from ranvier.base.texts import check_text
from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.layout import Pieces, Projection
from ranvier.cells.morphology import TAGS, Morphology
from ranvier.cells.places import RegionLike, as_region
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.style import COLOURS, FAINT, GREY, Figure, panel, styled

__all__ = ["cell"]

_TAG_COLOURS = {"soma": "#000000", "axon": "#009E73", "basal": "#0072B2", "apical": "#D55E00"}
_OTHER = "#8C6D31"


@overload
def cell(
    shape: Cell | Morphology,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    regions: Mapping[str, RegionLike] | None = None,
    compartments: bool = False,
    projection: Projection = "xy",
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def cell(
    shape: Cell | Morphology,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    regions: Mapping[str, RegionLike] | None = None,
    compartments: bool = False,
    projection: Projection = "xy",
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def cell(
    shape: Cell | Morphology,
    *,
    values: npt.ArrayLike | None = None,
    label: str = "",
    limits: tuple[float, float] | None = None,
    regions: Mapping[str, RegionLike] | None = None,
    compartments: bool = False,
    projection: Projection = "xy",
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw a cell, with its kinds of neurites, regions, compartments or values in colour.

    Sections without coordinates are straight lines with their true lengths, apical ones above the soma.

    Parameters
    ----------
    shape
        The cell. A morphology can be drawn without compartments and values.
    values
        One value for each compartment, for example samples of probes at `everywhere`; NaN: no value.
    label
        Label of the values, with their unit.
    limits
        The values at the ends of the colours; None: the least and the greatest one.
    regions
        Regions by name, each in a different colour; later regions cover earlier ones.
    compartments
        Whether neighbouring compartments differ in brightness.
    projection
        ``"xy"``, ``"xz"`` or ``"yz"``: which coordinates are drawn.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib in which the cell is drawn, and which are then returned; None: draw in a new figure and
        return it.

    Raises
    ------
    ShapeError
        For another number of values than compartments.
    ValueOutOfBoundsError
        For values and regions at once, regions that the cell does not have, and limits that are not ascending.
    WrongTypeError, UnknownNameError
        For arguments of a wrong type.
    """
    if not isinstance(shape, Cell | Morphology):
        raise WrongTypeError("cell that is drawn", type(shape).__name__, "must be a rv.Cell or a rv.Morphology")
    check_choice("projection", projection, ["xy", "xz", "yz"])
    check_text("label", label)
    if values is not None and regions is not None:
        raise ValueOutOfBoundsError("regions", bound="values are drawn in colour already", remedy="draw two pictures")
    needs_cell = values is not None or compartments
    if needs_cell and not isinstance(shape, Cell):
        raise WrongTypeError("cell that is drawn", "Morphology", "it has no compartments", "give a rv.Cell")
    morphology = shape.morphology if isinstance(shape, Cell) else shape
    pieces = Pieces(shape, projection)
    mappable: ScalarMappable | None = None
    legend: dict[str, str] = {}
    if values is not None:
        assert isinstance(shape, Cell)
        colours, mappable = _colours_of_values(values, limits, shape.compartment_count, pieces)
    else:
        if limits is not None:
            raise ValueOutOfBoundsError("limits", bound="there are no values", remedy="give values")
        colours, legend = _colours_of_parts(morphology, regions, pieces)
    if compartments:
        colours = _alternating(colours, pieces)
    result, axes = panel(ax, _size(pieces.bounds), title)
    if ax is not None and title:
        axes.set_title(title)
    # Thin neurites would not be seen in their true width.
    axes.add_collection(PolyCollection(pieces.polygons, facecolors=colours, edgecolors=colours, linewidths=0.7))
    _frame(axes, pieces.bounds)
    if mappable is not None:
        axes.figure.colorbar(mappable, ax=axes, label=label, shrink=0.6, aspect=30)
    if len(legend) > 1 or regions is not None:
        handles = [Patch(color=colour, label=name) for name, colour in legend.items()]
        axes.legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return result


def _colours_of_values(
    values: npt.ArrayLike, limits: tuple[float, float] | None, count: int, pieces: Pieces
) -> tuple[FloatArray, ScalarMappable]:
    array = number_array("values", values)
    if array.shape != (count,):
        raise ShapeError("values", f"an array of shape {array.shape}", f"the cell has {counted(count, 'compartment')}")
    finite = array[np.isfinite(array)]
    if limits is None:
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    else:
        ends = number_array("limits", limits)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueOutOfBoundsError("limits", repr(limits), "they must be two ascending numbers")
        low, high = float(ends[0]), float(ends[1])
    mappable = ScalarMappable(Normalize(low, high), colormaps["viridis"])
    colours = np.array(mappable.to_rgba(np.where(np.isfinite(array), array, low)))[:, :3]
    colours[~np.isfinite(array)] = to_rgb(FAINT)
    return colours[pieces.compartment], mappable


def _colours_of_parts(
    morphology: Morphology, regions: Mapping[str, RegionLike] | None, pieces: Pieces
) -> tuple[FloatArray, dict[str, str]]:
    """Return the colour of each piece, and colours by name."""
    if regions is None:
        names = {number: name for name, number in TAGS.items()}
        kinds = [names.get(int(tag), "other") for tag in morphology.tags]
        legend = {
            name: _TAG_COLOURS.get(name, _OTHER) for name in dict.fromkeys(sorted(kinds, key=[*TAGS, "other"].index))
        }
        return np.array([to_rgb(legend[kinds[section]]) for section in pieces.section]), legend
    if not isinstance(regions, Mapping):
        raise WrongTypeError("regions", type(regions).__name__, "must be a mapping from names to regions")
    colours = np.tile(to_rgb(GREY), (len(pieces.polygons), 1))
    legend = {}
    for i, (name, given) in enumerate(regions.items()):
        region = as_region(f"region '{check_text('name of a region', name)}'", given)
        covered = pieces.covered(region)
        if not covered.any():
            raise ValueOutOfBoundsError(f"region '{name}'", repr(region), "it has no membrane of the cell")
        legend[name] = COLOURS[i % len(COLOURS)]
        # The colour of a compartment that is partly in the region is mixed.
        colours += covered[:, None] * (np.array(to_rgb(legend[name])) - colours)
    return colours, legend


def _alternating(colours: FloatArray, pieces: Pieces) -> FloatArray:
    """Make every second compartment of a section brighter."""
    begins = pieces.begins
    place = np.zeros(len(begins), dtype=np.int64)
    for i in range(1, len(begins)):
        place[i] = 0 if begins[i] == 0.0 else place[i - 1] + 1
    bright = (place % 2 == 1)[pieces.compartment]
    return np.where(bright[:, None], 0.5 + 0.5 * colours, colours)


def _size(bounds: FloatArray) -> tuple[float, float]:
    """Return a size in inches with about the proportions of the cell."""
    width, height = np.maximum(bounds[1] - bounds[0], 1.0)
    longer = 6.0
    if height >= width:
        return max(2.5, longer * float(width / height)) + 1.5, longer
    return longer + 1.5, max(2.0, longer * float(height / width))


def _frame(axes: Axes, bounds: FloatArray) -> None:
    """Show a scale bar instead of axes."""
    extent = bounds[1] - bounds[0]
    margin = 0.03 * float(extent.max())
    axes.set_aspect("equal")
    axes.set_axis_off()
    bar = _round_length(0.25 * float(extent.max()))
    left, bottom = float(bounds[0][0]), float(bounds[0][1]) - 2.0 * margin
    axes.plot([left, left + bar], [bottom, bottom], color=GREY, linewidth=2.0, solid_capstyle="butt")
    axes.text(left + bar / 2, bottom - 0.6 * margin, f"{bar:g} um", ha="center", va="top", color=GREY)
    axes.set_xlim(float(bounds[0][0]) - margin, max(float(bounds[1][0]), left + bar) + margin)
    axes.set_ylim(bottom - 3.0 * margin, float(bounds[1][1]) + margin)


def _round_length(length: float) -> float:
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(step for step in (1.0, 2.0, 5.0) if step * power <= length) * power)
