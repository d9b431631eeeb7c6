"""Where the recordings of a simulation go: into memory, or piece by piece into files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core, files
from ranvier.connections import Connections
from ranvier.interrupts import interrupts_deferred
from ranvier.network import Network
from ranvier.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.recordings import Pieces, Segment, SpikeData, StateData, WeightData

__all__ = ["RecordingStore", "check_files"]

# Bytes that recordings on their way to files may take in memory, about.
_BUDGET = 64 << 20
_SPIKE_BYTES = 16
# Until it is known how active the network is, spikes/s and neuron.
_ASSUMED_RATE = 100.0

Part = tuple[npt.NDArray[Any], ...]


def check_files(network: Network, communicator: _core.Communicator, gather: str) -> None:
    """Make sure that this process can write the files of recorders that it will write."""
    if gather != "local" and communicator.rank > 0:
        return
    for recorder in network.recorders:
        if recorder.to is not None:
            files.check_writable(recorder.to)


class RecordingStore:
    """Takes recordings out of the core, keeps them or writes them to files.

    What was taken out of the core and not yet written is kept until it is, so that a full disk or Ctrl-C loses nothing.

    Parameters
    ----------
    core
        The simulation.
    network
        Its description.
    find_synapses
        Returns the synapses of a weight recorder.
    communicator
        The processes that record together.
    gather
        Who gets what was recorded, see `ranvier.Simulation`.
    """

    def __init__(
        self,
        core: _core.Simulation,
        network: Network,
        find_synapses: Callable[[WeightRecorder], Connections],
        communicator: _core.Communicator,
        gather: str,
    ) -> None:
        self._core = core
        self._communicator = communicator
        self._gather = gather
        self._network_name = network.name
        self._seed = network.seed
        self._resolution = core.resolution
        self._recorders = network.recorders
        self._pieces = {recorder: Pieces() for recorder in self._recorders}
        self._synapses = {
            recorder: find_synapses(recorder) for recorder in self._recorders if isinstance(recorder, WeightRecorder)
        }
        self._weight_intervals = {recorder: round(recorder.interval / self._resolution) for recorder in self._synapses}
        self._last_sample = core.step
        self._spike_rate = _ASSUMED_RATE * self._resolution / 1000.0
        self._units = {
            recorder: sum(len(selection) for selection in recorder.selections)
            for recorder in self._recorders
            if isinstance(recorder, SpikeRecorder)
        }
        self._files = {recorder: self._create_file(recorder) for recorder in self._recorders if recorder.to is not None}

    def next_chunk(self, end: int) -> int:
        """Return how many steps may be run now, towards step `end`, before `write` must be called."""
        now = self._core.step
        for interval in self._weight_intervals.values():
            end = min(end, (now // interval + 1) * interval)
        bytes_per_step = 0.0
        for recorder in self._files:
            if isinstance(recorder, SpikeRecorder):
                bytes_per_step += self._units[recorder] * self._spike_rate * _SPIKE_BYTES
            elif isinstance(recorder, StateRecorder):
                samples = self._resolution / recorder.interval
                bytes_per_step += 8.0 * samples * len(recorder.variables) * len(recorder.neurons)
        if bytes_per_step * (end - now) <= _BUDGET:
            return end - now
        return max(1, int(_BUDGET / bytes_per_step))

    def write(self) -> None:
        """Sample weights that are due, and write to files what belongs there."""
        if not self._files and not self._synapses:
            return
        now = self._core.step
        with interrupts_deferred():
            if now > self._last_sample:
                for recorder, interval in self._weight_intervals.items():
                    if now % interval == 0:
                        weights = self._core.weights(self._synapses[recorder]._handles)[np.newaxis, :]
                        self._pieces[recorder].append((np.array([now], dtype=np.int64), weights))
                self._last_sample = now
            for filed, file in self._files.items():
                self._take(filed)
                file.append(self._columns(filed, self._joined(filed)), now)
                self._pieces[filed].clear()

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return what was recorded."""
        if recorder.to is not None:
            return files.read_spikes(recorder.to)
        with interrupts_deferred():
            self._take(recorder)
            steps, neurons = self._joined(recorder)
        return SpikeData(steps, neurons, self._resolution, 0, self._core.step, _segments(recorder))

    def state(self, recorder: StateRecorder) -> StateData:
        """Return what was recorded."""
        if recorder.to is not None:
            return files.read_state(recorder.to)
        with interrupts_deferred():
            self._take(recorder)
            steps, values = self._joined(recorder)
        return StateData(
            steps, recorder.neurons, recorder.variables, values, self._resolution, recorder.population.name
        )

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return what was recorded."""
        if recorder.to is not None:
            return files.read_weights(recorder.to)
        steps, weights = self._joined(recorder)
        synapses = self._synapses[recorder]
        return WeightData(steps, weights, synapses.source, synapses.target, self._resolution, recorder.projection.name)

    def _take(self, recorder: Recorder) -> None:
        if isinstance(recorder, SpikeRecorder):
            steps, neurons = self._core.take_spikes(recorder.index, self._gather)
            self._pieces[recorder].append((steps, neurons))
            if self._units[recorder] and self._core.step:
                # Twice what was seen at most, so that a burst does not take the network by surprise.
                seen = 2.0 * len(steps) / self._units[recorder]
                self._spike_rate = max(self._spike_rate, seen / self._core.step)
        elif isinstance(recorder, StateRecorder):
            steps, values, _ = self._core.take_state(recorder.index, self._gather)
            shape = (len(steps), len(recorder.variables), len(recorder.neurons))
            self._pieces[recorder].append((steps, values.reshape(shape)))

    def _joined(self, recorder: Recorder) -> Part:
        return self._pieces[recorder].joined(self._empty(recorder))

    def _empty(self, recorder: Recorder) -> Part:
        steps = np.empty(0, dtype=np.int64)
        if isinstance(recorder, StateRecorder):
            return steps, np.empty((0, len(recorder.variables), len(recorder.neurons)))
        if isinstance(recorder, WeightRecorder):
            return steps, np.empty((0, len(self._synapses[recorder])))
        return steps, np.empty(0, dtype=np.int64)

    def _columns(self, recorder: Recorder, part: Part) -> dict[str, npt.NDArray[Any]]:
        steps, values = part
        if isinstance(recorder, StateRecorder):
            return {"steps": steps, **{name: values[:, i, :] for i, name in enumerate(recorder.variables)}}
        return {"steps": steps, "weights" if isinstance(recorder, WeightRecorder) else "neurons": values}

    def _create_file(self, recorder: Recorder) -> files.RecordingFile:
        assert recorder.to is not None
        now = self._core.step
        metadata: files.Metadata = {
            "network": self._network_name,
            "seed": str(self._seed),
            "resolution": self._resolution,
            "begin": now,
            "end": now,
        }
        fixed: dict[str, npt.NDArray[Any]] = {}
        if isinstance(recorder, SpikeRecorder):
            metadata["segments"] = [(segment.name, segment.first_id, segment.size) for segment in _segments(recorder)]
        elif isinstance(recorder, StateRecorder):
            metadata["population"] = recorder.population.name
            metadata["variables"] = list(recorder.variables)
            metadata["interval"] = recorder.interval
            fixed["neurons"] = recorder.neurons
        elif isinstance(recorder, WeightRecorder):
            metadata["projection"] = recorder.projection.name
            metadata["interval"] = recorder.interval
            fixed["sources"] = self._synapses[recorder].source
            fixed["targets"] = self._synapses[recorder].target
        columns = self._columns(recorder, self._empty(recorder))
        return files.create(recorder.to, recorder.kind, metadata, fixed, columns)


def _segments(recorder: SpikeRecorder) -> tuple[Segment, ...]:
    return tuple(Segment(view.name, view.first_id, len(view)) for view in recorder.selections)
