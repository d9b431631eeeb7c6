"""Connections and pairs of neurons by distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranvier.base.names import counted
from ranvier.base.values import FloatArray
from ranvier.space.kernels import DistanceCounts, KernelFit, fit_kernel, kernel_of

__all__ = ["FINE", "DistanceHistogram", "bins_of", "count_pairs", "displacements"]

# Bins of a fit, which are the parts of a bin of the histogram: the probability hardly changes within them.
FINE = 16
# Number of pairs whose distances are computed at a time.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, repr=False, eq=False)
class DistanceHistogram:
    """Connections of a projection, and pairs of its neurons, by distance.

    Attributes
    ----------
    name
        Name of the projection.
    unit
        Unit of distances: ``"mm"`` or ``"um"``.
    edges
        Edges of the bins, shape ``(bins + 1,)``.
    connections, pairs
        Number of connections and of pairs that can be connected, shape ``(bins,)``.
    targets
        Number of targets that were counted.
    repeats
        Whether a pair can have several connections.
    """

    name: str
    unit: str
    edges: FloatArray
    connections: FloatArray
    pairs: FloatArray
    targets: int
    repeats: bool
    _fine_connections: FloatArray
    _fine_pairs: FloatArray
    _fine_distances: FloatArray

    @property
    def distances(self) -> FloatArray:
        """Middles of the bins, shape ``(bins,)``."""
        result: FloatArray = 0.5 * (self.edges[1:] + self.edges[:-1])
        return result

    @property
    def probabilities(self) -> FloatArray:
        """Connections of a pair in each bin, shape ``(bins,)``; NaN in bins without pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            result: FloatArray = np.where(self.pairs > 0, self.connections / self.pairs, np.nan)
        return result

    @property
    def errors(self) -> FloatArray:
        """Standard errors of `probabilities`, shape ``(bins,)``."""
        p = self.probabilities
        with np.errstate(invalid="ignore", divide="ignore"):
            result: FloatArray = np.sqrt(np.maximum(p if self.repeats else p * (1.0 - p), 0.0) / self.pairs)
        return result

    @property
    def fine_distances(self) -> FloatArray:
        """Mean distances of the pairs in parts of bins, in which kernels are evaluated, shape ``(16 * bins,)``."""
        return self._fine_distances

    def expected(self, probabilities: FloatArray) -> FloatArray:
        """Return the number of connections that a kernel expects in each bin, shape ``(bins,)``.

        Parameters
        ----------
        probabilities
            Values of the kernel at `fine_distances`.
        """
        result: FloatArray = (self._fine_pairs * probabilities).reshape(len(self.pairs), FINE).sum(axis=1)
        return result

    def fit(self, kernel: str) -> KernelFit:
        """Return the kernel with the greatest likelihood.

        Parameters
        ----------
        kernel
            ``"constant"``, ``"linear"``, ``"exponential"`` or ``"gaussian"``.

        Raises
        ------
        StateError
            When there are fewer connections than parameters, or the likelihood has no maximum.
        UnknownNameError
            For another kernel.
        """
        width = float(self.edges[-1]) / len(self._fine_pairs)
        used = self._fine_pairs > 0
        counts = DistanceCounts(
            distances=self.fine_distances[used],
            connections=self._fine_connections[used],
            pairs=self._fine_pairs[used],
            width=width,
            repeats=self.repeats,
        )
        return fit_kernel(kernel_of(kernel), counts, self.unit, self.name)

    def __repr__(self) -> str:
        span = f"{counted(len(self.pairs), 'bin')} up to {self.edges[-1]:g} {self.unit}"
        made = counted(int(self.connections.sum()), "connection", ",")
        return f"<DistanceHistogram of {self.name}: {span}, {made} of {int(self.pairs.sum()):,} pairs>"


def displacements(sources: FloatArray, targets: FloatArray, period: FloatArray) -> FloatArray:
    """Return targets minus sources, the shortest of all images on periodic axes.

    Parameters
    ----------
    sources, targets
        Coordinates, shapes that can be broadcast, with one axis for the dimensions at the end.
    period
        Length after which each axis repeats itself; 0 on an axis that is not periodic.
    """
    difference = targets - sources
    for axis in np.flatnonzero(period):
        part = difference[..., axis]
        part -= period[axis] * np.rint(part / period[axis])
    return difference


def count_pairs(
    sources: FloatArray, targets: FloatArray, period: FloatArray, reach: float, bins: int
) -> tuple[FloatArray, FloatArray]:
    """Return the number of pairs in each of `bins` bins of the distance from 0 to `reach`, and their mean distances.

    Without pairs, a mean is the middle of the bin. Time is proportional to the number of all pairs.
    """
    found, sums = np.zeros(bins), np.zeros(bins)
    rows = max(1, _AT_ONCE // max(1, len(sources)))
    axes = range(sources.shape[1])
    columns = [np.ascontiguousarray(sources[:, axis]) for axis in axes]
    for begin in range(0, len(targets), rows):
        block = targets[begin : begin + rows]
        square = np.zeros((len(block), len(sources)))
        for axis in axes:
            difference = block[:, axis, np.newaxis] - columns[axis]
            if period[axis] > 0.0:
                difference -= period[axis] * np.rint(difference / period[axis])
            square += difference * difference
        distances = np.sqrt(square.ravel())
        places = bins_of(distances, reach, bins)
        found += np.bincount(places, minlength=bins + 1)[:bins]
        sums += np.bincount(places, distances, minlength=bins + 1)[:bins]
    middles = (np.arange(bins) + 0.5) * (reach / bins)
    return found, np.where(found > 0.0, sums / np.maximum(found, 1.0), middles)


def bins_of(distances: FloatArray, reach: float, bins: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the bin of each distance; `bins` for those that are greater than `reach`."""
    # The greatest distance itself belongs to the last bin.
    scaled = distances * (bins / reach)
    places = np.minimum(scaled, bins).astype(np.int64)
    places[distances == reach] = bins - 1
    return places
