"""Pictures of the neurons that a neuron is connected with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from ranvier.base.names import check_choice, counted
from ranvier.base.values import FloatArray
from ranvier.errors import RuleError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.maps import checked_limits, legend_of_dots
from ranvier.figures.space_axes import Box, box_of, draw_dots, marker_area, space_panel
from ranvier.figures.style import FAINT, GREY, Figure, colours_of, styled
from ranvier.network.projections import Projection
from ranvier.populations.populations import Population, PopulationView, common_layout
from ranvier.recording.neuron_ids import IntArray
from ranvier.recording.segments import as_segment
from ranvier.simulation.simulation import Simulation
from ranvier.space.histograms import displacements
from ranvier.space.masks import Mask

__all__ = ["sources", "targets"]

Colouring = Literal["population", "weight", "delay"]

# Neurons in the background.
_MOST_AROUND = 20_000
# Points along each axis of the grid in which the outline of a mask is found.
_OUTLINE = 401


@overload
def targets(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def targets(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def targets(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw the targets of a neuron at their positions, with the outlines of the masks of its projections.

    The neuron is a star, and other neurons of the populations of its targets are faint. A dashed box shows periodic
    positions; outlines continue beyond its ends on the other side. In three dimensions, outlines are those in the
    planes through the neuron. Masks of places on a grid have no outline.

    Parameters
    ----------
    sim
        A simulation; its processes must all call this function.
    neuron
        One neuron: ``exc[17]``.
    projection
        Only synapses of this projection; None: of all projections.
    colour
        What the colours of the targets show: their ``"population"``, or the ``"weight"`` or the ``"delay"`` of the
        synapse; of several synapses to a target, the last one.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned, with as many dimensions as the positions; None: draw in
        a new figure and return it.

    Raises
    ------
    StateError
        When the neuron or a target has no position.
    ShapeError, ValueOutOfBoundsError
        When positions have different dimensions, units or periods, and for other than one neuron.
    WrongTypeError, UnknownNameError
        For arguments of a wrong type.
    """
    return _draw(sim, neuron, projection, colour, title, ax, side="targets")


@overload
def sources(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def sources(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def sources(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None = None,
    *,
    colour: Colouring = "population",
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Draw the sources of a neuron at their positions.

    Outlines contain the sources of which the neuron can be a target. For everything else see `targets`.
    """
    return _draw(sim, neuron, projection, colour, title, ax, side="sources")


@dataclass(frozen=True)
class _Partners:
    """Neurons of a population that are connected with the neuron of the picture.

    Attributes
    ----------
    neurons
        The partners, each once.
    values
        One value for each, or None.
    """

    neurons: PopulationView
    values: FloatArray | None


def _draw(
    sim: Simulation,
    neuron: PopulationView,
    projection: Projection | None,
    colour: Colouring,
    title: str,
    ax: Axes | None,
    *,
    side: Literal["sources", "targets"],
) -> Figure | Axes:
    if not isinstance(sim, Simulation):
        raise WrongTypeError("sim", type(sim).__name__, "must be a simulation")
    check_choice("colour of a picture", colour, ["population", "weight", "delay"])
    if not isinstance(neuron, PopulationView):
        raise WrongTypeError("neuron of a picture", type(neuron).__name__, "must be a neuron, such as exc[17]")
    if len(neuron) != 1:
        raise ValueOutOfBoundsError(
            "neuron of a picture", counted(len(neuron), "neuron"), "it must be one", f"choose one: {neuron.name}[0]"
        )
    common_layout(neuron)
    found = sim.connections(
        sources=neuron if side == "targets" else None,
        targets=neuron if side == "sources" else None,
        projection=projection,
    )
    ids = np.asarray(found.targets if side == "targets" else found.sources)
    values = None if colour == "population" else np.asarray(found.weights if colour == "weight" else found.delays)
    partners = _by_population(sim.network.populations, ids, values)
    if not partners:
        raise StateError(f"neuron {neuron.name}", f"it has no {side}", remedy="choose another neuron or projection")
    whole = [each.neurons.population for each in partners]
    box = box_of([neuron.population, *whole])
    drawn, axes = space_panel(ax, box, title, room=1.5 if colour == "population" else 1.0)
    if not title:
        axes.set_title(f"{counted(len(ids), 'synapse', ',')} {'from' if side == 'targets' else 'to'} {neuron.name}")
    if box.dimensions == 3:
        # With a computed order, neurons in the background would cover the others.
        vars(axes)["computed_zorder"] = False
    of_whole = colours_of([as_segment(each) for each in whole])
    _draw_around(axes, whole)
    _draw_partners(
        axes, partners, None if values is None else f"{colour} ({'ms' if colour == 'delay' else 'pA or mV'})"
    )
    here = neuron.positions[0]
    axes.plot(
        *here[:, np.newaxis], "*", color="black", markersize=11, markeredgecolor="white", markeredgewidth=0.7, zorder=6
    )
    numbers = np.unique(np.asarray(found.projections)).tolist() if projection is None else [projection.index]
    sign = 1.0 if side == "targets" else -1.0
    for number in numbers:
        of_number = sim.network.projections[number]
        mask = getattr(of_number.rule, "mask", None)
        if mask is not None:
            connected = (of_number.targets if side == "targets" else of_number.sources).populations
            places = [place for place, each in enumerate(whole) if each in connected]
            shade = of_whole[places[0]] if len(places) == 1 and colour == "population" else GREY
            _draw_outline(axes, box, here, mask, sign, shade)
    return drawn


def _by_population(populations: tuple[Population, ...], ids: IntArray, values: FloatArray | None) -> list[_Partners]:
    partners = []
    for population in populations:
        here = (ids >= population.first_id) & (ids < population.first_id + len(population))
        if here.any():
            # Of equal ids, the last one counts.
            unique, place = np.unique(ids[here][::-1], return_index=True)
            of_each = None if values is None else values[here][::-1][place]
            partners.append(_Partners(population[unique - population.first_id], of_each))
    return partners


def _draw_around(axes: Axes, populations: list[Population]) -> None:
    count = sum(map(len, populations))
    stride = -(-count // _MOST_AROUND)
    for population in populations:
        draw_dots(axes, population[::stride].positions, s=0.5 * marker_area(min(count, _MOST_AROUND)), color=FAINT,
            zorder=1, rasterized=True,
        )  # fmt: skip


def _draw_partners(axes: Axes, partners: list[_Partners], label: str | None) -> None:
    count = sum(len(each.neurons) for each in partners)
    area = min(22.0, 2.0 * marker_area(count))
    if label is None:
        colours = colours_of([as_segment(each.neurons.population) for each in partners])
        for each, colour in zip(partners, colours, strict=True):
            draw_dots(axes, each.neurons.positions, s=area, color=colour, alpha=0.85, zorder=3)
        legend_of_dots(
            axes,
            {
                f"{each.neurons.population.name}: {len(each.neurons):,}": colour
                for each, colour in zip(partners, colours, strict=True)
            },
        )
        return
    values = np.concatenate([each.values for each in partners if each.values is not None])
    points = np.concatenate([each.neurons.positions for each in partners])
    scale = Normalize(*checked_limits(None, values))
    dots = draw_dots(axes, points, c=values, s=area, norm=scale, cmap=colormaps["viridis"], zorder=3)
    axes.figure.colorbar(dots, ax=axes, label=label, shrink=0.7, aspect=30)


def _draw_outline(axes: Axes, box: Box, here: FloatArray, mask: Mask, sign: float, colour: str) -> None:
    """Draw where a mask around a neuron ends: in a plane, or in three planes through the neuron.

    Displacements from the neuron are multiplied by `sign`: those of its sources are the opposite.
    """
    dimensions = box.dimensions
    for normal in [None] if dimensions == 2 else range(3):
        across = [axis for axis in range(dimensions) if axis != normal]
        lines = [
            np.linspace(box.lower[axis] - 1e-9 * box.sides[axis], box.lower[axis] + box.sides[axis], _OUTLINE)
            for axis in across
        ]
        grid = np.broadcast_to(here, (_OUTLINE, _OUTLINE, dimensions)).copy()
        grid[:, :, across[0]], grid[:, :, across[1]] = np.meshgrid(*lines)
        offsets = sign * displacements(here, grid, box.period).reshape(-1, dimensions)
        try:
            inside = mask.contains(offsets).reshape(_OUTLINE, _OUTLINE).astype(np.float64)
        except RuleError:
            # A mask of places on a grid has no outline: it depends on the neurons.
            return
        if inside.min() == inside.max():
            continue
        style: dict[str, Any] = {"levels": [0.5], "colors": [colour], "linewidths": 1.1}
        if normal is None:
            axes.contour(*lines, inside, zorder=4, **style)
            continue
        _draw_in_space(axes, lines, inside, across, float(here[normal]), normal, colour)


def _draw_in_space(
    axes: Axes, lines: list[FloatArray], inside: FloatArray, across: list[int], level: float, normal: int, colour: str
) -> None:
    # The contours of matplotlib in three dimensions are those of planes with a constant z, x or y, but not clipped.
    from contourpy import contour_generator

    for line in contour_generator(x=lines[0], y=lines[1], z=inside).lines(0.5):
        points = np.full((3, len(line)), level)
        points[across[0]], points[across[1]] = np.asarray(line).T
        points[normal] = level
        axes.plot(*points, color=colour, linewidth=1.0, zorder=4)
