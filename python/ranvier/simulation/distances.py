"""Counts of connections and pairs of a projection by distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ranvier.base.numeric import number, whole_number
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError
from ranvier.network.projections import Projection
from ranvier.populations.populations import PopulationView, common_layout
from ranvier.recording.neuron_ids import IntArray
from ranvier.space.histograms import FINE, DistanceHistogram, bins_of, count_pairs, displacements

__all__ = ["counted_targets", "distance_histogram"]

_MOST_BINS = 100_000


def counted_targets(projection: Projection, most_pairs: int) -> PopulationView:
    """Return the targets whose pairs are counted: all, or a regular selection."""
    most = whole_number("most_pairs", most_pairs, 1, 2**63 - 1)
    sources, targets = projection.sources, projection.targets
    stride = -(-len(targets) // max(1, most // len(sources)))
    return targets[::stride]


def distance_histogram(
    projection: Projection,
    targets: PopulationView,
    bins: int,
    reach: float | None,
    connections: Callable[[], tuple[IntArray, IntArray]],
) -> DistanceHistogram:
    """Return the histogram of the connections to some targets.

    Parameters
    ----------
    projection
        The projection.
    targets
        The targets, at least one.
    bins
        Number of bins.
    reach
        Greatest distance, or None: that of a connection.
    connections
        Returns the sources and the targets of all connections to the targets.

    Raises
    ------
    StateError
        When neurons have no positions, and without a connection if there is no `reach`.
    ShapeError, ValueOutOfBoundsError
        When the positions differ in their dimensions, units or periods, and for values outside their bounds.
    """
    count = whole_number("bins of a histogram", bins, 1, _MOST_BINS)
    greatest = None if reach is None else _checked_reach(reach)
    unit, period = _space_of(projection)
    from_points, to_points = projection.sources.positions, targets.positions
    sources_of, targets_of = connections()
    found = displacements(
        from_points[_places(projection.sources, sources_of)], to_points[_places(targets, targets_of)], period
    )
    distances = np.sqrt((found**2).sum(axis=1))
    if greatest is None:
        greatest = float(distances.max(initial=0.0))
        if greatest == 0.0:
            raise StateError(
                f"projection {projection.name}",
                f"{len(distances)} connections",
                "none of them has a distance > 0",
                "give max_distance",
            )
    fine = count * FINE
    pairs, means = count_pairs(from_points, to_points, period, greatest, fine)
    rule = projection.rule
    if not getattr(rule, "allow_autapses", True):
        # Their distance is 0.
        itself = len(np.intersect1d(projection.sources.ids, targets.ids, assume_unique=True))
        means[0] *= pairs[0] / max(1.0, pairs[0] - itself)
        pairs[0] -= itself
    made = np.bincount(bins_of(distances, greatest, fine), minlength=fine + 1)[:fine].astype(np.float64)
    return DistanceHistogram(
        name=projection.name,
        unit=unit,
        edges=np.linspace(0.0, greatest, count + 1),
        connections=made.reshape(count, FINE).sum(axis=1),
        pairs=pairs.reshape(count, FINE).sum(axis=1),
        targets=len(targets),
        repeats=bool(getattr(rule, "allow_multapses", rule.name == "pairwise_poisson")),
        _fine_connections=made,
        _fine_pairs=pairs,
        _fine_distances=means,
    )


def _checked_reach(reach: float) -> float:
    value = number("max_distance", reach)
    if not 0.0 < value < np.inf:
        raise ValueOutOfBoundsError("max_distance", str(value), "it must be > 0 and finite")
    return value


def _space_of(projection: Projection) -> tuple[str, FloatArray]:
    """Return the common unit of all neurons of a projection, and their period by axis."""
    first = common_layout(projection.sources)
    periods = []
    for view in (projection.sources, projection.targets):
        layout = common_layout(view)
        if layout.dimensions != first.dimensions:
            raise ShapeError(
                f"positions of projection {projection.name}",
                f"of {first.dimensions} and {layout.dimensions} dimensions",
                "distances need the same number of dimensions",
            )
        if layout.unit != first.unit:
            raise ValueOutOfBoundsError(
                f"positions of projection {projection.name}",
                f"in {first.unit} and {layout.unit}",
                "distances need the same unit",
            )
        for population in view.populations:
            each = common_layout(population)
            sides = np.zeros(each.dimensions) if each.extent is None else np.array(each.extent)
            periods.append(np.where(each.periodic, sides, 0.0))
    if any(not np.array_equal(period, periods[0]) for period in periods):
        raise ValueOutOfBoundsError(
            f"positions of projection {projection.name}", bound="their periods differ between populations"
        )
    return first.unit, periods[0]


def _places(view: PopulationView, ids: IntArray) -> IntArray:
    """Return the indices in a view of neurons with some ids."""
    if view.is_contiguous:
        return ids - view.first_id
    return np.searchsorted(view.ids, ids)
