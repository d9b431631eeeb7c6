"""Values that the frames of a movie show: rates in bins, or samples."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ranvier.base.names import counted
from ranvier.base.numeric import positive_number
from ranvier.base.times import text_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.figures.arguments import check_window, samples_in_window
from ranvier.figures.rasters import shown_window
from ranvier.recording.correlations import whole_steps
from ranvier.recording.data import SpikeData, StateData
from ranvier.recording.neuron_ids import IntArray

__all__ = ["Frames", "Pixels", "SampleFrames", "SpikeFrames"]

# Frames that determine the colours, and the percentage of their values that are brighter than the last colour.
_FRAMES_OF_SCALE, _BEYOND = 40, 0.5
# Standard deviations after which a Gaussian is cut.
_CUT = 3.0


@dataclass(frozen=True)
class Pixels:
    """Parts of a map; each shows the mean of its neurons.

    Attributes
    ----------
    shape
        Numbers of rows and columns; the first row is at the bottom.
    of
        The pixel of each neuron, row by row, shape ``(neurons,)``.
    """

    shape: tuple[int, int]
    of: IntArray

    @property
    def count(self) -> int:
        """Number of pixels."""
        return self.shape[0] * self.shape[1]


class Frames(ABC):
    """Values of neurons, or of the pixels that contain them, frame by frame.

    Attributes
    ----------
    times
        Time of each frame, ms, shape ``(frames,)``.
    """

    times: FloatArray

    def __init__(self, neurons: int) -> None:
        self._neurons = neurons
        self._pixels: Pixels | None = None

    def average(self, pixels: Pixels) -> None:
        """Show the means of pixels from now on."""
        self._pixels = pixels
        self._sizes = np.bincount(pixels.of, minlength=pixels.count).astype(np.float64)

    @abstractmethod
    def shown(self, frame: int) -> FloatArray:
        """Return what a frame shows: one value for each neuron or, as a matrix, for each pixel; NaN: no value."""

    @abstractmethod
    def label(self, frame: int) -> str:
        """Return the time of a frame as a text."""

    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """Return values for the ends of the colours."""

    def _some_values(self) -> FloatArray:
        """Return the values of some frames."""
        chosen = np.unique(np.linspace(0, len(self.times) - 1, _FRAMES_OF_SCALE).astype(np.int64))
        values = np.concatenate([self.shown(frame).ravel() for frame in chosen.tolist()])
        finite: FloatArray = values[np.isfinite(values)]
        return finite

    def _means(self, sums: FloatArray) -> FloatArray:
        """Return the means of pixels of sums over their neurons."""
        assert self._pixels is not None
        with np.errstate(invalid="ignore"):
            means: FloatArray = np.where(self._sizes > 0.0, sums / np.maximum(self._sizes, 1.0), np.nan)
        return means.reshape(self._pixels.shape)


class SpikeFrames(Frames):
    """Rates in bins of time, spikes/s.

    Parameters
    ----------
    spikes
        The spikes.
    ids
        Global ids of the neurons, all of them recorded.
    bin_width
        Width of the bins, ms.
    smooth
        Standard deviation of the Gaussian in time, ms, or None.
    start, stop
        The window, ms, or None.
    """

    def __init__(
        self,
        spikes: SpikeData,
        ids: IntArray,
        bin_width: float,
        smooth: float | None,
        start: float | None,
        stop: float | None,
    ) -> None:
        super().__init__(len(ids))
        check_window(spikes)
        _check_recorded(ids, np.concatenate(list(spikes.recorded_ids().values())))
        self._width = whole_steps("bin of a movie", bin_width, spikes.resolution, 1)
        seen = spikes.between(*shown_window(spikes, start, stop))
        bins = (seen.end - seen.begin) // self._width
        if not bins:
            raise StateError(
                repr(seen), bound=f"its window is shorter than a bin of {bin_width:g} ms", remedy="take smaller bins"
            )
        self._edges = times_of(seen.begin + self._width * np.arange(bins + 1), seen.resolution)
        self.times = self._edges[1:]
        self._seconds = 0.001 * self._width * seen.resolution
        self._kernel = _gaussian(smooth, self._width * seen.resolution, bins)
        order = np.argsort(ids, kind="stable")
        places = np.minimum(np.searchsorted(ids[order], seen.ids), len(ids) - 1)
        here = ids[order][places] == seen.ids
        self._places = order[places[here]]
        self._bins = (seen.steps[here] - seen.begin - 1) // self._width
        self._begins = np.searchsorted(self._bins, np.arange(bins + 1))

    def shown(self, frame: int) -> FloatArray:
        """Return what a frame shows."""
        reach = len(self._kernel) // 2
        first, last = max(0, frame - reach), min(len(self.times), frame + reach + 1)
        here = slice(int(self._begins[first]), int(self._begins[last]))
        weights = self._kernel[self._bins[here] - frame + reach]
        # Of the Gaussian, the part within the window: a constant rate stays constant at its ends.
        whole = self._kernel[first - frame + reach : last - frame + reach].sum() * self._seconds
        places = self._places[here]
        if self._pixels is None:
            rates: FloatArray = np.bincount(places, weights, minlength=self._neurons) / whole
            return rates
        return self._means(np.bincount(self._pixels.of[places], weights, minlength=self._pixels.count) / whole)

    def label(self, frame: int) -> str:
        """Return the time of a frame."""
        return f"{text_of(self._edges[frame])} to {text_of(self._edges[frame + 1])} ms"

    def limits(self) -> tuple[float, float]:
        """Return values for the ends of the colours."""
        values = self._some_values()
        high = float(np.percentile(values, 100.0 - _BEYOND)) if len(values) else 0.0
        # Of few spikes, most values are 0.
        high = high or float(values.max(initial=0.0))
        return 0.0, high or 1.0


class SampleFrames(Frames):
    """Samples of a state variable.

    Parameters
    ----------
    data
        The samples.
    variable
        Name of the variable.
    ids
        Global ids of the neurons, all of them recorded.
    start, stop
        The window, ms, or None.
    """

    def __init__(self, data: StateData, variable: str, ids: IntArray, start: float | None, stop: float | None) -> None:
        super().__init__(len(ids))
        _check_recorded(ids, data.ids)
        values, times = data[variable], data.times
        here = samples_in_window(times, start, stop)
        if not here.any():
            raise StateError(
                repr(data), bound="there is no sample in the window", remedy="run longer or choose another window"
            )
        # The samples are those of the data: a copy of the shown ones could take as much memory again.
        self._samples = np.flatnonzero(here)
        self._values = values
        self.times = times[here]
        order = np.argsort(data.ids, kind="stable")
        self._columns = order[np.searchsorted(data.ids[order], ids)]

    def shown(self, frame: int) -> FloatArray:
        """Return what a frame shows."""
        values: FloatArray = self._values[self._samples[frame]][self._columns]
        if self._pixels is None:
            return values
        sums = np.asarray(np.bincount(self._pixels.of, values, minlength=self._pixels.count), dtype=np.float64)
        return self._means(sums)

    def label(self, frame: int) -> str:
        """Return the time of a frame."""
        return f"{text_of(self.times[frame])} ms"

    def limits(self) -> tuple[float, float]:
        """Return values for the ends of the colours."""
        values = self._some_values()
        low, high = np.percentile(values, [_BEYOND, 100.0 - _BEYOND]) if len(values) else (0.0, 1.0)
        return (float(low), float(high)) if low < high else (float(low) - 0.5, float(low) + 0.5)


def _check_recorded(ids: IntArray, recorded: IntArray) -> None:
    missing = ids[~np.isin(ids, recorded)]
    if len(missing):
        raise ValueOutOfBoundsError(
            "neurons of a movie",
            f"{counted(len(missing), 'neuron')}, the first with id {missing[0]}",
            "they were not recorded",
            "record them, or show others",
        )


def _gaussian(smooth: float | None, width: float, bins: int) -> npt.NDArray[np.float64]:
    """Return the weights of bins around a frame; one weight without smoothing."""
    if smooth is None:
        return np.ones(1)
    scaled = positive_number("smooth of a movie", smooth, "ms") / width
    reach = min(bins - 1, math.ceil(_CUT * scaled))
    edges = (np.arange(-reach, reach + 2) - 0.5) / (scaled * math.sqrt(2.0))
    kernel = np.diff([math.erf(edge) for edge in edges])
    return np.asarray(kernel / kernel.sum())
