"""Potentials from the spikes of populations: numbers of spikes in bins of time, convolved with kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.recording.data import IntArray

__all__ = ["Convolution", "joined_kernels"]

FloatArray = npt.NDArray[np.float64]


def joined_kernels(kernels: Sequence[FloatArray]) -> FloatArray:
    """Return kernels of shape ``(contacts, lags)`` as ``(kernels, lags, contacts)``; short ones end with zeros."""
    longest = max(kernel.shape[1] for kernel in kernels)
    whole = np.zeros((len(kernels), longest, len(kernels[0])))
    for kernel, values in zip(whole, kernels, strict=True):
        kernel[: values.shape[1]] = values.T
    return whole


class Convolution:
    """Computes potentials at contacts from numbers of spikes, while a simulation runs.

    A potential is a sum over the bins up to its time, in a fixed order, so it has the same bits wherever runs end. The
    numbers that later potentials need are kept.

    Parameters
    ----------
    kernels
        Potentials of one spike, mV, shape ``(sets of neurons, lags, contacts)``; lags are bins.
    width, interval
        Length of a bin and sampling interval, steps; the interval is a multiple of the bin.
    now
        Step after which potentials are sampled.
    """

    def __init__(self, kernels: FloatArray, width: int, interval: int, now: int) -> None:
        self._kernels = kernels
        self._width, self._interval = width, interval
        self._sampled = now
        self._ends = np.empty(0, dtype=np.int64)
        self._counts = np.empty((0, len(kernels)))

    @property
    def nbytes(self) -> int:
        """Bytes of the kernels, and of the numbers that are kept."""
        return self._kernels.nbytes + self._counts.nbytes + self._ends.nbytes

    @property
    def kept(self) -> tuple[IntArray, FloatArray]:
        """Steps at the ends of the bins that are kept, and their numbers of spikes, shape ``(bins, sets)``."""
        return self._ends, self._counts

    def restore(self, ends: IntArray, counts: FloatArray, now: int) -> None:
        """Continue with bins that were kept at a step."""
        self._ends, self._counts, self._sampled = ends, counts.reshape(len(ends), len(self._kernels)), now

    def potentials(self, ends: IntArray, counts: IntArray, now: int) -> tuple[IntArray, FloatArray]:
        """Return the potentials from the last call up to a step.

        Parameters
        ----------
        ends
            Steps at the ends of the bins since the last call. The first one may continue the last one of that call.
        counts
            Numbers of spikes, shape ``(bins, sets)``.

        Returns
        -------
        steps, values
            Steps of the samples, and potentials, mV, shape ``(samples, 1, contacts)``.
        """
        fresh = counts.astype(np.float64)
        if len(ends) and len(self._ends) and ends[0] == self._ends[-1]:
            self._counts[-1] += fresh[0]
            ends, fresh = ends[1:], fresh[1:]
        self._ends = np.concatenate([self._ends, ends])
        self._counts = np.concatenate([self._counts, fresh])
        first = self._sampled // self._interval + 1
        steps = np.arange(first, now // self._interval + 1, dtype=np.int64) * self._interval
        self._sampled = now
        outputs = self._kernels.shape[2]
        values = np.empty((0, 1, outputs))
        if len(steps):
            bins = (steps - self._ends[0]) // self._width
            values = _core.sum_kernels(self._kernels, np.ascontiguousarray(self._counts), bins).reshape(-1, 1, outputs)
        lags = self._kernels.shape[1]
        self._ends, self._counts = self._ends[-lags:].copy(), self._counts[-lags:].copy()
        return steps, values
