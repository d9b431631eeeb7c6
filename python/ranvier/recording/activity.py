"""Activity of populations: rates over time, Fano factors, spectra and correlations of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import overload

import numpy as np

from ranvier.base.immutable import locked
from ranvier.base.names import counted
from ranvier.base.numeric import positive_number
from ranvier.base.times import times_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.recording.correlations import whole_steps
from ranvier.recording.segments import Neurons, Segment
from ranvier.recording.statistics import SpikeStatistics

__all__ = ["ActivityStatistics", "PopulationRate", "PowerSpectrum"]

# A Gaussian is cut here, in standard deviations.
_REACH = 4.0
# In bins. A narrower Gaussian has the same integrals over bins.
_LEAST_DEVIATION = 1e-3


@dataclass(frozen=True, repr=False)
class PopulationRate:
    """Rate of a population over time.

    Attributes
    ----------
    edges
        Edges of the bins, ms, shape ``(bins + 1,)``. A spike at the later edge belongs to the bin.
    rates
        Mean rate of a neuron in each bin, spikes/s, shape ``(bins,)``.
    neurons
        Number of neurons.
    smooth
        Standard deviation of the Gaussian that smoothed the rates, ms; None: not smoothed.
    name
        Name of the population.
    """

    edges: FloatArray
    rates: FloatArray
    neurons: int
    smooth: float | None
    name: str

    @property
    def times(self) -> FloatArray:
        """Centres of the bins, ms, shape ``(bins,)``."""
        result: FloatArray = 0.5 * (self.edges[1:] + self.edges[:-1])
        return result

    def __len__(self) -> int:
        return len(self.rates)

    def __repr__(self) -> str:
        mean = f"{self.rates.mean():.4g} spikes/s on average" if len(self) else "no bins"
        return (
            f"<PopulationRate of {counted(self.neurons, 'neuron')} of {self.name}: {counted(len(self), 'bin')}, {mean}>"
        )


@dataclass(frozen=True, repr=False)
class PowerSpectrum:
    """Power spectrum of the summed spike trains of a population, divided by the number of neurons.

    It is flat at the mean rate for independent Poisson trains; it has a peak for neurons that fire in a common rhythm.

    Attributes
    ----------
    frequencies
        Hz, ascending, without 0, shape ``(frequencies,)``.
    powers
        Two-sided power spectral density, spikes/s, shape ``(frequencies,)``.
    segments
        Number of overlapping segments over which it is averaged: the relative error is about 1/sqrt(segments).
    neurons
        Number of neurons.
    mean_rate
        Mean rate of a neuron, spikes/s: the expected power for independent Poisson trains.
    name
        Name of the population.
    """

    frequencies: FloatArray
    powers: FloatArray
    segments: int
    neurons: int
    mean_rate: float
    name: str

    @property
    def peak(self) -> float:
        """Frequency of the greatest power, Hz; NaN without spikes."""
        return float(self.frequencies[self.powers.argmax()]) if self.powers.any() else math.nan

    def __len__(self) -> int:
        return len(self.powers)

    def __repr__(self) -> str:
        span = f"{self.frequencies[0]:g} to {self.frequencies[-1]:g} Hz"
        return f"<PowerSpectrum of {counted(self.neurons, 'neuron')} of {self.name}: {span}, peak at {self.peak:g} Hz>"


class ActivityStatistics(SpikeStatistics):
    """Statistics of the activity of populations, as a part of `ranvier.SpikeData`."""

    @overload
    def rate(self, *, bin: float = 5.0, smooth: float | None = None) -> dict[str, PopulationRate]: ...
    @overload
    def rate(self, neurons: Neurons, *, bin: float = 5.0, smooth: float | None = None) -> PopulationRate: ...
    def rate(
        self,
        neurons: Neurons | None = None,
        *,
        bin: float = 5.0,  # noqa: A002
        smooth: float | None = None,
    ) -> PopulationRate | dict[str, PopulationRate]:
        """Return the rate of a population over time: the mean over its neurons in each bin, spikes/s.

        Parameters
        ----------
        neurons
            A population, a part of one or a name, as for `of`; None: all, as a dict by name of the population.
        bin
            Width of the bins, ms, a whole number of steps. The rest of the window, shorter than a bin, is not used.
        smooth
            Standard deviation of a Gaussian to smooth with, ms. Near the ends of the window, if a part of the
            Gaussian lies outside, the rest is normalised, so that a constant rate stays constant. None: no smoothing.

        Raises
        ------
        ValueOutOfBoundsError
            For a bin that is not a whole number of steps, and for `smooth` that is not > 0.
        StateError
            When the window is shorter than a bin.

        Examples
        --------
        >>> rate = spikes.rate(exc, bin=1.0, smooth=5.0)
        >>> plt.plot(rate.times, rate.rates)
        """
        width = whole_steps("bin", bin, self.resolution, 1)
        if smooth is not None:
            positive_number("smooth", smooth, "ms", "leave it out: no smoothing")
        bins = self._bins(width, bin, 1)
        edges = times_of(self.begin + width * np.arange(bins + 1), self.resolution)

        def measure(segment: Segment) -> PopulationRate:
            rates = self._counts_in_bins(segment, width, bins) / (
                self._size(segment) * width * self.resolution / 1000.0
            )
            if smooth is not None:
                rates = _smoothed(rates, float(smooth) / (width * self.resolution))
            return PopulationRate(
                edges, locked(rates), len(self.ids_of(segment)), None if smooth is None else float(smooth), segment.name
            )

        return self._of_each(neurons, measure)

    @overload
    def fano_factor(self, *, bin_width: float = 100.0) -> dict[str, FloatArray]: ...
    @overload
    def fano_factor(self, neurons: Neurons, *, bin_width: float = 100.0) -> FloatArray: ...
    def fano_factor(
        self, neurons: Neurons | None = None, *, bin_width: float = 100.0
    ) -> FloatArray | dict[str, FloatArray]:
        """Return the Fano factor of each neuron: variance over mean of its spike counts in bins, shape ``(neurons,)``.

        The variance is the unbiased estimate. The factor is near 1 for Poisson trains and near 0 for regular trains.

        Parameters
        ----------
        neurons
            As for `rate`.
        bin_width
            Width of the bins, ms, a whole number of steps. The rest of the window is left out.

        Returns
        -------
        FloatArray
            Element i is the factor of neuron i; NaN for a neuron without spikes in the bins.

        Raises
        ------
        ValueOutOfBoundsError
            For a width that is not a whole number of steps.
        StateError
            When the window has fewer than two bins.
        """
        width = whole_steps("bin_width", bin_width, self.resolution, 1)
        bins = self._bins(width, bin_width, 2)

        def measure(segment: Segment) -> FloatArray:
            steps, places = self._of_segment(segment)
            bin_of = (steps - self.begin - 1) // width
            here = bin_of < bins
            # Only bins with spikes are counted: most bins of most neurons are empty.
            pairs, counts = np.unique(places[here] * bins + bin_of[here], return_counts=True)
            size = len(self.ids_of(segment))
            mean = np.bincount(pairs // bins, weights=counts, minlength=size) / bins
            squares = np.bincount(pairs // bins, weights=counts.astype(np.float64) ** 2, minlength=size)
            with np.errstate(invalid="ignore", divide="ignore"):
                result: FloatArray = (squares - bins * mean**2) / (bins - 1) / mean
            return result

        return self._of_each(neurons, measure)

    @overload
    def spectrum(self, *, bin_width: float = 1.0, segment: float = 500.0) -> dict[str, PowerSpectrum]: ...
    @overload
    def spectrum(self, neurons: Neurons, *, bin_width: float = 1.0, segment: float = 500.0) -> PowerSpectrum: ...
    def spectrum(
        self, neurons: Neurons | None = None, *, bin_width: float = 1.0, segment: float = 500.0
    ) -> PowerSpectrum | dict[str, PowerSpectrum]:
        """Return the power spectrum of the summed spike trains of a population, divided by the number of neurons.

        The estimate is that of Welch (1967): the mean over segments that overlap by half, each with a Hann window, of
        the spike counts in bins without their mean. For independent Poisson trains it is flat at the mean rate.

        Parameters
        ----------
        neurons
            As for `rate`.
        bin_width
            Width of the bins, ms, a whole number of steps. The highest frequency is 500 Hz for 1 ms.
        segment
            Length of the segments, ms, a whole number of bins. Frequencies are 1000/segment Hz apart: 2 Hz for 500 ms.

        Raises
        ------
        ValueOutOfBoundsError
            For a width that is not a whole number of steps, and a segment that is not a whole number of bins, >= 4.
        StateError
            When the window is shorter than a segment.

        References
        ----------
        P. D. Welch, IEEE Transactions on Audio and Electroacoustics 15 (1967).
        """
        width = whole_steps("bin_width", bin_width, self.resolution, 1)
        length = whole_steps("segment", segment, self.resolution, 1)
        if length % width or length < 4 * width:
            raise ValueOutOfBoundsError(
                "segment", f"{segment:g} ms", f"it must be a whole number of bins of {bin_width:g} ms, at least 4"
            )
        bins = self._bins(width, bin_width, length // width)

        def measure(chosen: Segment) -> PowerSpectrum:
            counts = self._counts_in_bins(chosen, width, bins)
            powers, number_of_segments = _welch(counts, length // width)
            seconds = width * self.resolution / 1000.0
            frequencies = np.arange(1.0, len(powers) + 1.0, dtype=np.float64) * (1000.0 / (length * self.resolution))
            return PowerSpectrum(
                frequencies=locked(frequencies),
                powers=locked(powers / (self._size(chosen) * seconds)),
                segments=number_of_segments,
                neurons=len(self.ids_of(chosen)),
                mean_rate=float(counts.sum() / (self._size(chosen) * bins * seconds)),
                name=chosen.name,
            )

        return self._of_each(neurons, measure)

    def pairwise_correlations(self, neurons: Neurons, *, bin_width: float = 5.0) -> FloatArray:
        """Return the correlation coefficients of all pairs of neurons, each pair once, shape ``(pairs,)``.

        The pairs are (0, 1), (0, 2), ..., (1, 2), ...: the upper triangle of `correlations`, with NaN for the same
        neurons. Arguments and errors are the same.
        """
        matrix = self.correlations(neurons, bin_width=bin_width)
        return locked(matrix[np.triu_indices(len(matrix), 1)])

    def _size(self, segment: Segment) -> int:
        return max(1, len(self.ids_of(segment)))

    def _bins(self, width: int, given: float, least: int) -> int:
        bins = (self.end - self.begin) // width
        if bins < least:
            raise StateError(
                repr(self),
                bound=f"its window has fewer than {least} bins of {given:g} ms",
                remedy="simulate longer, or take smaller bins",
            )
        return bins

    def _counts_in_bins(self, segment: Segment, width: int, bins: int) -> FloatArray:
        """Return the number of spikes of all neurons in each bin."""
        bin_of = (self.steps[self._in(segment)] - self.begin - 1) // width
        return np.bincount(bin_of[bin_of < bins], minlength=bins).astype(np.float64)


def _smoothed(rates: FloatArray, deviation: float) -> FloatArray:
    """Return rates smoothed with a Gaussian whose standard deviation is given in bins."""
    reach = min(len(rates) - 1, math.ceil(_REACH * deviation))
    # The Gaussian, integrated over bins; it has no effect if it is narrower than a bin.
    deviation = max(deviation, _LEAST_DEVIATION)
    edges = (np.arange(-reach, reach + 2) - 0.5) / (deviation * math.sqrt(2.0))
    kernel = np.diff([math.erf(edge) for edge in edges])
    result: FloatArray = _convolved(rates, kernel) / _convolved(np.ones_like(rates), kernel)
    # Rounding must not make rates negative.
    smooth: FloatArray = np.maximum(result, 0.0)
    return smooth


def _convolved(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Return a convolution of the length of `values`, by the Fourier transform if that is faster."""
    reach = len(kernel) // 2
    if len(kernel) < 64:
        return np.convolve(values, kernel)[reach : reach + len(values)]
    size = 1 << (len(values) + len(kernel) - 1).bit_length()
    product = np.fft.rfft(values, size) * np.fft.rfft(kernel, size)
    return np.fft.irfft(product, size)[reach : reach + len(values)]


def _welch(counts: FloatArray, length: int) -> tuple[FloatArray, int]:
    """Return the mean periodogram of segments of counts, without frequency 0, and the number of segments."""
    window = np.hanning(length + 1)[:-1]
    deviations = counts - counts.mean()
    starts = range(0, len(counts) - length + 1, max(1, length // 2))
    powers = np.zeros(length // 2)
    for start in starts:
        powers += np.abs(np.fft.rfft(window * deviations[start : start + length])[1:]) ** 2
    return powers / (len(starts) * float((window**2).sum())), len(starts)
