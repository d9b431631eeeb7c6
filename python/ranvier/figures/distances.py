"""Figures of connections by distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

import numpy as np
from matplotlib.axes import Axes

from ranvier.base.names import check_choice, counted
from ranvier.base.values import FloatArray
from ranvier.equations.expression import Expression
from ranvier.errors import WrongTypeError
from ranvier.figures.style import COLOURS, EXCITATORY, GREY, Figure, cover, panel, styled
from ranvier.space.histograms import DistanceHistogram
from ranvier.space.kernels import KernelFit

__all__ = ["distances"]

_BAR = "#C3CBD1"
# Points of a curve.
_POINTS = 400

KernelLike: TypeAlias = str | Expression | KernelFit
"""A connection probability by distance."""


@overload
def distances(
    histogram: DistanceHistogram,
    *,
    kernel: str | Expression | None = None,
    fits: str | KernelFit | Sequence[str | KernelFit] = (),
    quantity: Literal["probability", "connections"] = "probability",
    title: str = "",
    ax: None = None,
) -> Figure: ...
@overload
def distances(
    histogram: DistanceHistogram,
    *,
    kernel: str | Expression | None = None,
    fits: str | KernelFit | Sequence[str | KernelFit] = (),
    quantity: Literal["probability", "connections"] = "probability",
    title: str = "",
    ax: Axes,
) -> Axes: ...
@styled
def distances(
    histogram: DistanceHistogram,
    *,
    kernel: str | Expression | None = None,
    fits: str | KernelFit | Sequence[str | KernelFit] = (),
    quantity: Literal["probability", "connections"] = "probability",
    title: str = "",
    ax: Axes | None = None,
) -> Figure | Axes:
    """Plot the connections of a projection by distance, with the kernel that they were drawn from and fitted kernels.

    Parameters
    ----------
    histogram
        Result of `Simulation.distance_histogram`.
    kernel
        The probability of a connection as an expression of the distance ``d``.
    fits
        Kernels to fit, ``"constant"``, ``"linear"``, ``"exponential"`` or ``"gaussian"``, or results of
        `DistanceHistogram.fit`. The legend has their parameters and the standard errors of these.
    quantity
        ``"probability"``: connections of a pair, with their standard errors; ``"connections"``: numbers of connections,
        beside what the kernels expect for the pairs that there are.
    title
        Title of the figure, or of `ax`.
    ax
        Axes of matplotlib to draw in, which are then returned; None: draw in a new figure and return it.

    Raises
    ------
    StateError
        When a kernel cannot be fitted: see `DistanceHistogram.fit`.
    ValueOutOfBoundsError
        For a kernel that depends on more than the distance, or that draws.
    WrongTypeError, UnknownNameError, UnknownSymbolError, UnitError
        For arguments of a wrong type, kernels that do not exist, and mistakes in an expression.
    """
    if not isinstance(histogram, DistanceHistogram):
        raise WrongTypeError(
            "data of a plot", type(histogram).__name__, "must be the result of Simulation.distance_histogram()"
        )
    check_choice("quantity of a plot", quantity, ["probability", "connections"])
    reach = float(histogram.edges[-1])
    along = np.linspace(0.0, reach, _POINTS)
    curves: list[tuple[str, FloatArray, FloatArray]] = []
    if kernel is not None:
        expression = kernel if isinstance(kernel, Expression) else Expression(kernel)
        means = expression.at_distances(histogram.fine_distances, histogram.unit)
        curves.append(("kernel", expression.at_distances(along, histogram.unit), means))
    for fit in [fits] if isinstance(fits, str | KernelFit) else fits:
        found = fit if isinstance(fit, KernelFit) else histogram.fit(fit)
        curves.append((f"{found.kernel}: {found.described()}", found(along), found(histogram.fine_distances)))
    drawn, axes = panel(ax, (6.0, 3.6), title)
    if quantity == "probability":
        greatest = _draw_probabilities(axes, histogram)
    else:
        axes.stairs(histogram.connections, histogram.edges, fill=True, color=_BAR)
        greatest = float(histogram.connections.max())
    colours = [EXCITATORY, *(colour for colour in COLOURS if colour != EXCITATORY)][1 if kernel is None else 0 :]
    for (label, curve, means), colour in zip(curves, colours, strict=False):
        style = "-" if label == "kernel" else "--"
        if quantity == "probability":
            axes.plot(along, curve, style, color=colour, linewidth=1.4, label=label)
        else:
            curve = histogram.expected(means)
            axes.plot(histogram.distances, curve, style, color=colour, linewidth=1.4, label=label)
        greatest = max(greatest, float(np.nanmax(curve)))
    axes.set(
        xlabel=f"distance ({'µm' if histogram.unit == 'um' else histogram.unit})",
        ylabel="connections of a pair" if quantity == "probability" else "connections",
    )
    made = counted(int(histogram.connections.sum()), "connection", ",")
    axes.set_title(title if title and ax is not None else f"{histogram.name}: {made}")
    cover(axes, "x", 0.0, reach, ticks=6)
    cover(axes, "y", 0.0, greatest, ticks=4)
    axes.set_ylim(bottom=0.0)
    if curves:
        axes.legend(loc="upper right", frameon=False, fontsize=8)
    return drawn


def _draw_probabilities(axes: Axes, histogram: DistanceHistogram) -> float:
    """Draw a point with an error bar for each bin that has pairs; return the greatest value."""
    here = histogram.pairs > 0
    values, errors = histogram.probabilities[here], histogram.errors[here]
    axes.errorbar(
        histogram.distances[here], values, errors, fmt="o", color=GREY, markersize=3, elinewidth=0.8, zorder=2
    )
    # A bin with few pairs, near the greatest distance, has a large error; it must not compress the others.
    reliable = histogram.pairs[here] >= 0.01 * float(histogram.pairs.max())
    return float(values[reliable].max(initial=0.0))
