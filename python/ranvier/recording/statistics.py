"""What is computed from spikes: counts, rates, irregularity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from ranvier.base.names import some_names, unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.times import time_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.recording.neuron_ids import IntArray, NeuronIds
from ranvier.recording.segments import Neurons, Segment, as_segment

__all__ = ["SpikeStatistics"]

Measure = TypeVar("Measure")


class SpikeStatistics:
    """Base of `ranvier.SpikeData`: what is computed from its spikes."""

    steps: IntArray
    ids: IntArray
    resolution: float
    begin: int
    end: int
    segments: tuple[Segment, ...]
    covered: NeuronIds | None

    @property
    def covered_segments(self) -> tuple[Segment, ...]:
        """Those of `segments` of which something is told."""
        return tuple(each for each in self.segments if each.size == 0 or len(self.ids_of(each)))

    def recorded_ids(self) -> dict[str, IntArray]:
        """Return the global ids of the neurons that the spikes are of, by population, shape ``(neurons,)`` each."""
        return {segment.name: self.ids_of(segment).array for segment in self.covered_segments}

    def ids_of(self, segment: Segment) -> NeuronIds:
        """Return the global ids of the neurons of a recorded segment, or of a part of it, that the spikes are of."""
        if self.covered is None:
            return NeuronIds(range(segment.first_id, segment.end_id))
        return self.covered.within(segment.first_id, segment.end_id)

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
            A population, a part of one or a name, as for `of`; None: all, as a dict by population.
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
        >>> spikes.rates()["exc"]  # those of all populations, by name
        """
        self._check_length()
        return self._of_each(neurons, self._rates_of)

    @overload
    def mean_rates(self) -> dict[str, float]: ...
    @overload
    def mean_rates(self, neurons: Neurons) -> float: ...
    def mean_rates(self, neurons: Neurons | None = None) -> float | dict[str, float]:
        """Return the mean of `rates`, spikes/s: a number, or a dict by population.

        Takes and raises what `rates` does.
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
        """Return the coefficient of variation of the inter-spike intervals of each neuron that has one.

        Parameters
        ----------
        neurons
            As for `counts`.
        least_spikes
            Neurons with fewer spikes in the window have no value and are left out; >= 3.
        """
        least = max(3, whole_number("least_spikes", least_spikes, 0, 2**63 - 1))
        return self._of_each(neurons, lambda segment: self._irregularity_of(segment, least))

    # ---- some of the neurons -----------------------------------------------------------------------------------------

    def _segment(self, neurons: Neurons) -> Segment:
        """Return where neurons lie; all of them must have been recorded, of what is named at least one."""
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

    def _rates_of(self, segment: Segment) -> FloatArray:
        return np.multiply(self._counts_of(segment), 1000.0 / self.duration, dtype=np.float64)

    def _mean_rate_of(self, segment: Segment) -> float:
        rates = self._rates_of(segment)
        return float(rates.mean()) if len(rates) else 0.0

    def _check_recorded(self, wanted: Segment) -> None:
        missing = wanted.first_id
        for segment in sorted(self.segments, key=lambda segment: segment.first_id):
            if segment.first_id <= missing < segment.end_id:
                missing = segment.end_id
        if missing >= wanted.end_id:
            return
        parts = [
            segment.name
            for segment in self.segments
            if segment.first_id < wanted.end_id and wanted.first_id < segment.end_id
        ]
        raise ValueOutOfBoundsError(
            wanted.name,
            bound=f"only {some_names(parts)} of it was recorded" if parts else "none of its neurons was recorded",
            remedy=f"ask for {some_names(parts)}" if parts else "record it",
        )

    def _check_covered(self, wanted: Segment) -> None:
        missing = None if self.covered is None else self.covered.first_missing(wanted.first_id, wanted.end_id)
        if missing is not None:
            raise ValueOutOfBoundsError(
                wanted.name,
                bound=f"only {len(self.ids_of(wanted))} of its {wanted.size} neurons were recorded by this process, "
                f"not neuron {missing}",
                remedy="look at `recorded_ids` for those that were, read the files of all processes by the name "
                'without a rank, or build the simulation with recordings="everywhere"',
            )

    def _in(self, segment: Segment) -> npt.NDArray[np.bool_]:
        return (self.ids >= segment.first_id) & (self.ids < segment.end_id)

    def _of_segment(self, segment: Segment) -> tuple[IntArray, IntArray]:
        """Return the steps of the spikes of a segment, and the places of their neurons among its recorded ids."""
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
        chosen = number >= least_spikes - 1
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.bincount(owners, weights=intervals, minlength=size) / number
            squares = np.bincount(owners, weights=(intervals - mean[owners]) ** 2, minlength=size)
            variation = np.sqrt(squares / number) / mean
        result: FloatArray = variation[chosen]
        return result
