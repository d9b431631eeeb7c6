"""The memory of recordings, predicted and present, and the memory that is available for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ranvier import _core
from ranvier.base.memory_checks import bytes_text
from ranvier.base.names import some_names
from ranvier.base.times import text_of, time_of
from ranvier.errors import InsufficientMemoryError
from ranvier.network.recorders import LfpRecorder, Recorder, SpikeRecorder, StateRecorder, WeightRecorder, sample_bytes

__all__ = ["BUDGET", "SPIKE_BYTES", "RecordingMemory", "predicted_bytes"]

BUDGET = 64 << 20
"""Approximate bytes of a recording that the core buffers until they are taken or written to a file."""
SPIKE_BYTES = 16
# Querying the available memory takes longer than recording this many bytes.
_LEAST_CHECKED = 16 << 20
# Over this number of steps, neurons may fire at any rate.
_STEPS_AT_ANY_RATE = 64


def predicted_bytes(recorders: Sequence[Recorder], time: float, rate: float) -> int:
    """Return the bytes that recorders will have recorded after some time, on a process that gets all recordings.

    Parameters
    ----------
    recorders
        Recorders of a network. Those that write to a file count with their buffers only.
    time
        Simulated time, ms.
    rate
        Mean rate of all recorded neurons, spikes/s.
    """
    total = 0.0
    for recorder in recorders:
        if isinstance(recorder, LfpRecorder):
            # Numbers of spikes are in the core until potentials are calculated.
            counts = _samples(recorder.bin, time) * sample_bytes(len(recorder.kernels))
            size = float(_samples(recorder.interval, time) * sample_bytes(len(recorder.ids)) + min(counts, BUDGET))
            lags = max(kernel.values.shape[1] for _, kernel in recorder.kernels)
            # Kernels, and the numbers of spikes that they still act on.
            total += lags * len(recorder.kernels) * 8 * len(recorder.ids) + lags * sample_bytes(len(recorder.kernels))
        elif isinstance(recorder, StateRecorder):
            size = float(_samples(recorder.interval, time) * sample_bytes(len(recorder.variables) * len(recorder.ids)))
        elif isinstance(recorder, WeightRecorder):
            size = float(_samples(recorder.interval, time) * sample_bytes(round(recorder.expected_synapses)))
        else:
            assert isinstance(recorder, SpikeRecorder)
            size = sum(len(selection) for selection in recorder.neurons) * rate * time / 1000.0 * SPIKE_BYTES
        total += size if recorder.to is None else min(size, BUDGET)
    return round(total)


def _samples(interval: float, time: float) -> int:
    # A quotient of decimal times may lie just below a whole number.
    return math.floor(time / interval + 1e-6)


class RecordingMemory:
    """The memory that is available for the recordings of a simulation on this process.

    Parameters
    ----------
    core
        The simulation.
    communicator
        Its processes.
    limit
        Bytes that the network and its recordings may take; None: the available memory of the machine.
    """

    def __init__(self, core: _core.Simulation, communicator: _core.Communicator, limit: int | None) -> None:
        self._core = core
        self._processes = communicator.host_size
        self._limit = limit
        self._least = _LEAST_CHECKED if limit is None else min(_LEAST_CHECKED, limit // 32)
        self._unchecked = 0.0

    @property
    def piece(self) -> int:
        """Bytes that the core may buffer."""
        return self._least

    def matters(self, most: float) -> bool:
        """Return whether to check the memory before `most` more bytes are recorded. The same on all processes."""
        self._unchecked += most
        if self._unchecked < self._least:
            return False
        self._unchecked = 0.0
        return True

    def next_steps(self, kept: int, exact: dict[Recorder, float], of_spikes: tuple[float, float], steps: int) -> int:
        """Return how many steps, at most `steps`, may be run until the memory must be checked again.

        Parameters
        ----------
        kept
            Bytes that have been recorded.
        exact
            Bytes that each recorder of samples will record in all `steps`.
        of_spikes
            Bytes of spikes in a step: as expected, and if all neurons fire.
        steps
            Steps up to the end of the run.

        Raises
        ------
        InsufficientMemoryError
            When the samples do not fit, before the run starts, or when there is no memory for more spikes.
        """
        room, bound = self._left(kept)
        samples = sum(exact.values())
        if samples > room:
            largest = sorted(exact, key=lambda recorder: -exact[recorder])
            raise InsufficientMemoryError(
                "memory for the recordings of this run",
                f"{bytes_text(round(samples))} for {some_names([each.description for each in largest])}",
                bound,
                "record to a file (to=...), fewer neurons or at a longer interval, or run for a shorter time",
            )
        expected, most = of_spikes
        room -= round(samples)
        # Without connections, epochs have very many steps.
        grain = min(max(1, self._core.epoch_steps), _STEPS_AT_ANY_RATE)
        # While spikes are taken from the core, there are several copies of them.
        if 4.0 * expected * grain > room:
            raise InsufficientMemoryError(
                f"recordings in memory at {text_of(time_of(self._core.step, self._core.resolution))} ms",
                bytes_text(kept),
                bound,
                "read the data so far, and record to a file (to=...) or fewer neurons",
            )
        budget = min(BUDGET, room // 8)
        fits = float(steps)
        if (per_step := expected + samples / steps) > 0.0:
            fits = min(fits, max(1.0, budget / per_step))
        if most > 0.0:
            fits = min(fits, max(room / (4.0 * most), float(_STEPS_AT_ANY_RATE)))
        return max(1, int(fits))

    def _left(self, kept: int) -> tuple[int, str]:
        """Return the bytes available for more recordings, and the bound of the error if they are too few."""
        available = _core.available_memory(self._processes)
        if self._limit is not None:
            taken = sum(size for name, size in self._core.memory().items() if name != "recordings")
            # `_least` is for the unused capacity of the core's buffers.
            left = self._limit - taken - kept - self._least
            if left < available:
                return left, (
                    f"memory_limit is {bytes_text(self._limit)}, of which the network takes {bytes_text(taken)} and "
                    f"earlier recordings {bytes_text(kept)}"
                )
        return available, f"there are {bytes_text(available)} available"
