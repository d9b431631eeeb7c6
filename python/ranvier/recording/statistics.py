"""Statistics of spikes: counts, rates, irregularity, spike trains, and relations in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import locked
from ranvier.base.names import counted, some_names, unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.times import time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.recording.correlations import (
    CrossCorrelogram,
    PeristimulusHistogram,
    around_events,
    binned,
    correlate,
    cross_correlate,
    whole_steps,
)
from ranvier.recording.neuron_ids import IntArray, NeuronIds
from ranvier.recording.segments import Neurons, Segment, as_segment

__all__ = ["SpikeStatistics"]

Measure = TypeVar("Measure")


class SpikeStatistics(NamedAttributes):
    """Base of `ranvier.SpikeData`, with the statistics of its spikes."""

    steps: IntArray
    ids: IntArray
    resolution: float
    begin: int
    end: int
    segments: tuple[Segment, ...]
    covered: NeuronIds | None

    @property
    def covered_segments(self) -> tuple[Segment, ...]:
        """The `segments` that have neurons in the data."""
        return tuple(each for each in self.segments if each.size == 0 or len(self.ids_of(each)))

    def recorded_ids(self) -> dict[str, IntArray]:
        """Return the global ids of the neurons whose spikes are in the data, by population."""
        return {segment.name: self.ids_of(segment).array for segment in self.covered_segments}

    def ids_of(self, segment: Segment) -> NeuronIds:
        """Return the global ids of the neurons of a recorded segment, or a part of it, whose spikes are in the data."""
        if self.covered is None:
            here = NeuronIds(range(segment.first_id, segment.end_id))
        else:
            here = self.covered.within(segment.first_id, segment.end_id)
        return NeuronIds(here.array[segment.holds(here.array)]) if segment.runs else here

    @property
    def duration(self) -> float:
        """Length of the window, ms."""
        return time_of(self.end - self.begin, self.resolution)

    @overload
    def counts(self) -> dict[str, IntArray]: ...
    @overload
    def counts(self, neurons: Neurons) -> IntArray: ...
    def counts(self, neurons: Neurons | None = None) -> IntArray | dict[str, IntArray]:
        """Return the number of spikes of each neuron of `recorded_ids`, shape ``(neurons,)``.

        Parameters
        ----------
        neurons
            A population, a part of one or a name, as for `of`; None: all, as a dict by name of the population.
        """
        return self._of_each(neurons, self._counts_of)

    @overload
    def rates(self) -> dict[str, FloatArray]: ...
    @overload
    def rates(self, neurons: Neurons) -> FloatArray: ...
    def rates(self, neurons: Neurons | None = None) -> FloatArray | dict[str, FloatArray]:
        """Return the mean rate of each neuron of `recorded_ids` over the window, spikes/s, shape ``(neurons,)``.

        Parameters
        ----------
        neurons
            As for `counts`.

        Raises
        ------
        StateError
            When the window has no length, for example before the first run.

        Examples
        --------
        >>> spikes = sim.spikes(recorder)
        >>> spikes.rates(exc).std()  # one number a neuron
        >>> spikes.rates()["exc"]  # rates of all populations, by name
        """
        self._check_length()
        return self._of_each(neurons, self._rates_of)

    @overload
    def mean_rates(self) -> dict[str, float]: ...
    @overload
    def mean_rates(self, neurons: Neurons) -> float: ...
    def mean_rates(self, neurons: Neurons | None = None) -> float | dict[str, float]:
        """Return the mean of `rates`, spikes/s: a number, or a dict by population.

        For arguments and errors see `rates`.
        """
        self._check_length()
        return self._of_each(neurons, self._mean_rate_of)

    @overload
    def irregularity(self, *, least_spikes: int = 3) -> dict[str, FloatArray]: ...
    @overload
    def irregularity(self, neurons: Neurons, *, least_spikes: int = 3) -> FloatArray: ...
    def irregularity(
        self, neurons: Neurons | None = None, *, least_spikes: int = 3
    ) -> FloatArray | dict[str, FloatArray]:
        """Return the coefficient of variation of the inter-spike intervals of each neuron, shape ``(neurons,)``.

        Parameters
        ----------
        neurons
            As for `counts`.
        least_spikes
            Neurons with fewer spikes in the window have NaN; >= 3.

        Examples
        --------
        >>> np.nanmean(spikes.irregularity(exc))  # of the neurons that have fired often enough
        """
        least = max(3, whole_number("least_spikes", least_spikes, 0, 2**63 - 1))
        return self._of_each(neurons, lambda segment: self._irregularity_of(segment, least))

    # ---- trains ------------------------------------------------------------------------------------------------------

    def train(self, neuron: int) -> FloatArray:
        """Return the times of the spikes of one neuron, ms, ascending.

        Parameters
        ----------
        neuron
            Global id of the neuron.

        Raises
        ------
        ValueOutOfBoundsError
            When the neuron was not recorded.
        """
        first_id = whole_number("id of a neuron", neuron, 0, 2**63 - 2)
        segment = self._segment(Segment(f"neuron {first_id}", first_id, 1))
        return times_of(self.steps[self._in(segment)], self.resolution)

    @overload
    def trains(self) -> dict[str, list[FloatArray]]: ...
    @overload
    def trains(self, neurons: Neurons) -> list[FloatArray]: ...
    def trains(self, neurons: Neurons | None = None) -> list[FloatArray] | dict[str, list[FloatArray]]:
        """Return an array of spike times, ms, ascending, for each neuron of `recorded_ids`.

        Parameters
        ----------
        neurons
            As for `counts`.
        """
        return self._of_each(neurons, self._trains_of)

    # ---- relations in time -------------------------------------------------------------------------------------------

    def binned_counts(self, neurons: Neurons, bin_width: float = 5.0) -> IntArray:
        """Return the numbers of spikes in bins, beginning at the start of the window, shape ``(neurons, bins)``.

        Parameters
        ----------
        neurons
            A population, a part of one or a name, as for `of`.
        bin_width
            Width of a bin, ms, a whole number of steps. The rest of the window, if shorter than a bin, is left out.

        Raises
        ------
        ValueOutOfBoundsError
            For a width that is not a whole number of steps.
        """
        segment = self._segment(neurons)
        width = whole_steps("bin_width", bin_width, self.resolution, 1)
        steps, places = self._of_segment(segment)
        return locked(binned(steps, places, len(self.ids_of(segment)), self.begin, self.end, width))

    def correlations(self, neurons: Neurons, others: Neurons | None = None, *, bin_width: float = 5.0) -> FloatArray:
        """Return the correlation coefficients of the binned spike counts of all pairs of neurons.

        Parameters
        ----------
        neurons, others
            Neurons of the rows and of the columns, as for `of`; None: `others` are the same as `neurons`.
        bin_width
            As for `binned_counts`.

        Returns
        -------
        FloatArray
            Pearson's coefficients, shape ``(neurons, others)``; NaN for neurons whose counts are the same in all bins,
            for example silent ones.

        Raises
        ------
        StateError
            When the window has fewer than two bins.
        """
        first = self.binned_counts(neurons, bin_width)
        if first.shape[1] < 2:
            raise StateError(
                repr(self),
                bound=f"it has fewer than two bins of {bin_width:g} ms",
                remedy="record longer, or use smaller bins",
            )
        return correlate(first, first if others is None else self.binned_counts(others, bin_width))

    def cross_correlogram(
        self, neurons: Neurons, others: Neurons | None = None, *, reach: float = 50.0, bin_width: float = 1.0
    ) -> CrossCorrelogram:
        """Return how often spikes of `others` follow spikes of `neurons` after each lag.

        Parameters
        ----------
        neurons, others
            The neurons, as for `of`; None: `others` are the same as `neurons`, and no spike is paired with itself.
        reach
            Largest lag, ms, a whole number of bins.
        bin_width
            Width of a bin, ms, a whole number of steps.

        Raises
        ------
        ValueOutOfBoundsError
            For a reach or a width that is not a whole number as above, and a window shorter than twice the reach.
        """
        first, second = self._segment(neurons), self._segment(neurons if others is None else others)
        self._check_length()
        width = whole_steps("bin_width", bin_width, self.resolution, 1)
        bins = whole_steps("reach", reach, self.resolution, 1) / width
        if bins != round(bins):
            raise ValueOutOfBoundsError(
                "reach", f"{reach:g} ms", f"it must be a whole number of bins of {bin_width:g} ms"
            )
        if 2 * (bins * width + width // 2) >= self.end - self.begin:
            raise ValueOutOfBoundsError(
                "reach", f"{reach:g} ms", f"the window of {self.duration:g} ms is too short", "take a smaller one"
            )
        shared = len(np.intersect1d(self.ids_of(first).array, self.ids_of(second).array, assume_unique=True))
        if shared and first != second:
            raise ValueOutOfBoundsError(
                "neurons and others",
                bound=f"{counted(shared, 'neuron')} are in both",
                remedy="take parts without common neurons",
            )
        counts, references = cross_correlate(
            self.steps[self._in(first)],
            self.steps[self._in(second)],
            1 if shared else 0,
            (self.begin, self.end),
            round(bins),
            width,
        )
        lags = times_of(np.arange(-round(bins), round(bins) + 1) * width, self.resolution)
        size = len(self.ids_of(second))
        return CrossCorrelogram(
            lags=lags,
            counts=locked(counts),
            bin_width=width * self.resolution,
            reference_spikes=references,
            neurons=size,
            mean_rate=self._mean_rate_of(second),
            names=(first.name, second.name),
        )

    def peristimulus_histogram(
        self,
        events: npt.ArrayLike,
        neurons: Neurons | None = None,
        *,
        before: float = 50.0,
        after: float = 200.0,
        bin_width: float = 5.0,
    ) -> PeristimulusHistogram:
        """Return the spikes around events, summed over the events.

        Parameters
        ----------
        events
            Times of the events, ms, rounded to the grid, for example the onsets of a stimulus.
        neurons
            The neurons, as for `of`; None: all neurons.
        before, after
            Length of the window before and after each event, ms, >= 0. Their sum must be a whole number of bins.
        bin_width
            Width of a bin, ms, a whole number of steps.

        Raises
        ------
        ValueOutOfBoundsError
            For an event whose window was not recorded completely, and for times that are not allowed.
        """
        chosen = self.covered_segments if neurons is None else (self._segment(neurons),)
        width = whole_steps("bin_width", bin_width, self.resolution, 1)
        span = whole_steps("before", before, self.resolution, 0), whole_steps("after", after, self.resolution, 0)
        if sum(span) < width or sum(span) % width:
            raise ValueOutOfBoundsError(
                "before and after", f"{before:g} and {after:g} ms", f"they must make whole bins of {bin_width:g} ms"
            )
        here = np.zeros(len(self.steps), dtype=bool)
        for segment in chosen:
            here |= self._in(segment)
        edges, counts, number = around_events(
            self.steps[here], events, (self.begin, self.end), span, (width, self.resolution)
        )
        size = sum(len(self.ids_of(segment)) for segment in chosen)
        name = some_names([segment.name for segment in chosen], " + ")
        return PeristimulusHistogram(edges, counts, number, size, name)

    # ---- some of the neurons -----------------------------------------------------------------------------------------

    def _segment(self, neurons: Neurons) -> Segment:
        """Return neurons as a segment. All of them must have been recorded; for a name, at least one of them."""
        if isinstance(neurons, str):
            chosen = [segment for segment in self.segments if segment.name == neurons]
            if not chosen:
                unknown_name("recorded population", neurons, [segment.name for segment in self.segments])
            if chosen[0] not in self.covered_segments:
                self._check_covered(chosen[0])
            return chosen[0]
        segment = as_segment(neurons)
        self._check_recorded(segment)
        self._check_covered(segment)
        return segment

    def _of_each(self, neurons: Neurons | None, measure: Callable[[Segment], Measure]) -> Measure | dict[str, Measure]:
        if neurons is not None:
            return measure(self._segment(neurons))
        return {segment.name: measure(segment) for segment in self.covered_segments}

    def _check_length(self) -> None:
        if self.end <= self.begin:
            raise StateError(repr(self), bound="its window has no length", remedy="run the simulation first")

    def _counts_of(self, segment: Segment) -> IntArray:
        return np.bincount(self._of_segment(segment)[1], minlength=len(self.ids_of(segment))).astype(np.int64)

    def _trains_of(self, segment: Segment) -> list[FloatArray]:
        steps, places = self._of_segment(segment)
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(self.ids_of(segment))))
        times = locked(times_of(steps[order], self.resolution))
        return np.split(times, ends[:-1]) if len(ends) else []

    def _rates_of(self, segment: Segment) -> FloatArray:
        return np.multiply(self._counts_of(segment), 1000.0 / self.duration, dtype=np.float64)

    def _mean_rate_of(self, segment: Segment) -> float:
        rates = self._rates_of(segment)
        return float(rates.mean()) if len(rates) else 0.0

    def _check_recorded(self, wanted: Segment) -> None:
        recorded: list[tuple[int, int]] = []  # first and last, disjoint, ascending
        for first, size in sorted(stretch for segment in self.segments for stretch in segment.stretches):
            if recorded and first <= recorded[-1][1] + 1:
                recorded[-1] = recorded[-1][0], max(recorded[-1][1], first + size - 1)
            else:
                recorded.append((first, first + size - 1))
        firsts, sizes = np.array(wanted.stretches, dtype=np.int64).T
        begins, lasts = np.array(recorded or [(-1, -1)], dtype=np.int64).T
        place = np.maximum(np.searchsorted(begins, firsts, side="right") - 1, 0)
        if np.all((sizes == 0) | ((begins[place] <= firsts) & (firsts + sizes - 1 <= lasts[place]))):
            return
        parts = [
            segment.name
            for segment in self.segments
            if segment.first_id < wanted.end_id and wanted.first_id < segment.end_id
        ]
        raise ValueOutOfBoundsError(
            wanted.name,
            bound=f"only {some_names(parts)} of it was recorded" if parts else "its neurons were not recorded",
            remedy=f"ask for {some_names(parts)}" if parts else "record it",
        )

    def _check_covered(self, wanted: Segment) -> None:
        if self.covered is None:
            return
        for first, size in wanted.stretches:
            missing = self.covered.first_missing(first, first + size)
            if missing is None:
                continue
            raise ValueOutOfBoundsError(
                wanted.name,
                bound=f"only {len(self.ids_of(wanted))} of its {wanted.size} neurons were recorded by this process, "
                f"not neuron {missing}",
                remedy="see `recorded_ids` for the recorded neurons, read the files of all processes (the name without "
                'a rank), or build the simulation with recordings="everywhere"',
            )

    def _in(self, segment: Segment) -> npt.NDArray[np.bool_]:
        return segment.holds(self.ids)

    def _of_segment(self, segment: Segment) -> tuple[IntArray, IntArray]:
        """Return the steps of the spikes of a segment, and the positions of their neurons among its recorded ids."""
        here = self._in(segment)
        return self.steps[here], self.ids_of(segment).positions(self.ids[here])

    def _irregularity_of(self, segment: Segment, least_spikes: int) -> FloatArray:
        steps, neurons = self._of_segment(segment)
        order = np.argsort(neurons, kind="stable")
        steps, neurons = steps[order], neurons[order]
        size = len(self.ids_of(segment))
        same = neurons[1:] == neurons[:-1]
        intervals = np.diff(steps)[same].astype(np.float64)
        owners = neurons[1:][same]
        number = np.bincount(owners, minlength=size)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.bincount(owners, weights=intervals, minlength=size) / number
            squares = np.bincount(owners, weights=(intervals - mean[owners]) ** 2, minlength=size)
            variation = np.sqrt(squares / number) / mean
        result: FloatArray = np.where(number >= least_spikes - 1, variation, np.nan)
        return result
