"""The recordings of a simulation, kept in memory or written piece by piece to files."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.paths import check_writable
from ranvier.errors import StateError
from ranvier.network.recorders import (
    CompartmentRecorder,
    DipoleRecorder,
    ExtracellularRecorder,
    LfpRecorder,
    Recorder,
    SpikeRecorder,
    StateRecorder,
    WeightRecorder,
    sample_bytes,
)
from ranvier.processes.agreement import agree, agreed, from_root
from ranvier.recording import files, reading
from ranvier.recording.convolution import Convolution, joined_kernels
from ranvier.recording.data import (
    CompartmentData,
    DipoleData,
    ExtracellularData,
    IntArray,
    SpikeData,
    StateData,
    WeightData,
)
from ranvier.recording.kept import Pieces
from ranvier.recording.neuron_ids import NeuronIds
from ranvier.recording.pace import Pace
from ranvier.recording.saved import Columns, load_samples, load_spikes, save_samples, save_spikes
from ranvier.recording.segments import Segment, as_segment
from ranvier.simulation import recording_memory
from ranvier.simulation.connections import Connections
from ranvier.simulation.multipole_potentials import MultipolePotentials
from ranvier.simulation.readouts import set_readouts
from ranvier.simulation.recording_memory import SPIKE_BYTES, RecordingMemory

__all__ = ["RecordingStore", "check_files"]

# Assumed rate, in spikes/s per neuron, until the activity of the network is known.
_ASSUMED_RATE = 100.0

Part = tuple[npt.NDArray[Any], ...]
Data = TypeVar("Data", SpikeData, StateData, WeightData)


def check_files(recorders: Sequence[Recorder], communicator: _core.Communicator, gather: str) -> None:
    """Check that this process can write its files of recorders, and that no existing data would be lost."""
    for recorder in recorders:
        if isinstance(recorder, LfpRecorder) and _apart(communicator, gather):
            raise StateError(
                f"recorder of {recorder.description}",
                bound="potentials follow from the spikes of all processes, which recordings='local' does not join",
                remedy="use recordings='root'",
            )
        if recorder.to is None:
            continue
        if isinstance(recorder, StateRecorder) and recorder.sums_neurons and _apart(communicator, gather):
            raise StateError(
                f"file {recorder.to}",
                bound="each process has a part of the sums, that of its cells, with recordings='local'",
                remedy="use recordings='root'",
            )
        if not _writes(communicator, gather):
            continue
        path = _path(recorder.to, communicator, gather)
        check_writable(path, files.SUFFIXES)
        if not recorder.overwrite:
            files.check_new(path)
            if communicator.rank == 0:
                files.check_no_relics(recorder.to, communicator.size if _apart(communicator, gather) else None)


class RecordingStore:
    """Takes recordings from the core, and keeps them or writes them to files.

    Data that were taken from the core are kept until they are written, so that a full disk or Ctrl-C loses nothing.
    Its methods are collective: all processes must call them. If one of them cannot write or read, all fail.

    Parameters
    ----------
    core
        The simulation.
    network
        Name, seed and recorders of the network.
    find_synapses
        Function that returns the synapses of a weight recorder.
    communicator
        The processes of the simulation.
    gather
        Which processes get the recordings: the option `recordings` of `ranvier.Simulation`.
    memory_limit
        Bytes that the network and the recordings in memory may take on this process; None: the available memory.
    creates_files
        Whether to create the files of recorders; otherwise they are continued with `resume_files`.
    """

    def __init__(
        self,
        core: _core.Simulation,
        network: tuple[str, int, tuple[Recorder, ...]],
        find_synapses: Callable[[WeightRecorder], Connections],
        communicator: _core.Communicator,
        gather: str,
        *,
        memory_limit: int | None = None,
        creates_files: bool = True,
    ) -> None:
        self._core = core
        self._communicator = communicator
        self._gather = gather
        self._network_name, self._seed, self._recorders = network
        self._resolution = core.resolution
        self._filed = [recorder for recorder in self._recorders if recorder.to is not None]
        self._pieces = {recorder: Pieces() for recorder in self._recorders}
        self._synapses = {
            recorder: find_synapses(recorder) for recorder in self._recorders if isinstance(recorder, WeightRecorder)
        }
        set_readouts(core, self._recorders, communicator)
        self._convolutions = {
            recorder: _convolution_of(recorder, core.step, self._resolution)
            for recorder in self._recorders
            if isinstance(recorder, LfpRecorder)
        }
        self._multipoles = {
            recorder: MultipolePotentials(core, recorder, communicator, self._gathering(recorder) == "local")
            for recorder in self._recorders
            if isinstance(recorder, ExtracellularRecorder) and recorder.method == "fmm"
        }
        self._evaluated = dict.fromkeys(self._multipoles, core.step)
        self._places = {
            recorder: self._find_places(recorder)
            for recorder in self._recorders
            if not isinstance(recorder, SpikeRecorder)
        }
        self._weight_intervals = {recorder: round(recorder.interval / self._resolution) for recorder in self._synapses}
        self._last_sample = core.step
        self._spike_rate = _ASSUMED_RATE * self._resolution / 1000.0
        self._units = {
            recorder: self._count_units(recorder) for recorder in self._recorders if isinstance(recorder, SpikeRecorder)
        }
        self._files = self._create_files() if creates_files else {}
        self._pace = Pace(core.epoch_steps)
        self._memory = RecordingMemory(core, communicator, memory_limit)
        self._takes_all = self._runs = False
        self._taken_at: dict[SpikeRecorder, int] = {}
        self._written = core.step

    def begin_run(self) -> None:
        """Remove the marks of complete recordings from the files: a kill during the run leaves them incomplete."""
        self._pace.begin_run()
        self._runs = True
        if self._filed:
            with interrupts_deferred(), agreed(self._communicator, "files of recorders"):
                for file in self._files.values():
                    file.begin_run()

    def end_run(self) -> None:
        """Mark the recordings in the files as complete, if they reach the present step."""
        self._runs = False
        if self._filed and self._written == self._core.step:
            with interrupts_deferred(), agreed(self._communicator, "files of recorders"):
                for file in self._files.values():
                    file.end_run()

    def next_chunk(self, end: int) -> int:
        """Return how many steps, up to step `end`, may be run before `write` must be called.

        This depends on how much each process has recorded so far. All processes get the smallest of their numbers.
        """
        self._sample_weights()
        now = self._core.step
        for interval in self._weight_intervals.values():
            end = min(end, (now // interval + 1) * interval)
        for evaluated in self._multipoles:
            end = min(end, self._end_of_block(evaluated))
        fits = self._fitting_in_memory(end - now)
        if not self._filed:
            return fits
        bytes_per_step = 0.0
        for recorder in self._filed:
            if isinstance(recorder, SpikeRecorder):
                bytes_per_step += self._units[recorder] * self._spike_rate * SPIKE_BYTES
            elif isinstance(recorder, StateRecorder):
                samples = self._resolution / recorder.interval
                bytes_per_step += 8.0 * samples * len(recorder.variables) * len(self._places[recorder])
        if bytes_per_step * fits > recording_memory.BUDGET:
            fits = max(1, int(recording_memory.BUDGET / bytes_per_step))
        fits = min(fits, self._pace.next_steps(now))
        return self._communicator.least(fits)

    def _end_of_block(self, recorder: ExtracellularRecorder) -> int:
        """Return the step of the last sample whose currents are kept for the next evaluation of potentials."""
        interval = round(recorder.interval / self._resolution)
        return (self._evaluated[recorder] // interval + self._multipoles[recorder].samples) * interval

    def _fitting_in_memory(self, steps: int) -> int:
        """Return how many of these steps may be run until the memory for recordings may be too small."""
        kept = [recorder for recorder in self._recorders if recorder.to is None]
        per_step = {recorder: self._bytes_per_step(recorder) for recorder in kept}
        most = sum(per_step.values())
        if not self._memory.matters(most * steps):
            return steps
        samples = {each: size for each, size in per_step.items() if not isinstance(each, SpikeRecorder)}
        exact = {each: size * steps for each, size in samples.items() if self._keeps(each)}
        spikes = most - sum(samples.values())
        expected = spikes * min(1.0, self._spike_rate)
        waiting = self._core.recorded_bytes
        with agreed(self._communicator, "memory for recordings"):
            steps_here = self._memory.next_steps(self.taken_bytes + waiting, exact, (expected, spikes), steps)
        # The buffers of the core may have twice the capacity that is used, so they must stay small.
        fits = self._communicator.least(steps_here)
        self._takes_all = self._communicator.greatest(fits < steps or waiting > self._memory.piece) > 0
        return fits

    def _bytes_per_step(self, recorder: Recorder) -> float:
        """Return the bytes of a recorder per step, on a process that gets all; for spikes, if all neurons fire."""
        if isinstance(recorder, SpikeRecorder):
            return float(self._units[recorder] * SPIKE_BYTES)
        if isinstance(recorder, WeightRecorder):
            return sample_bytes(len(self._synapses[recorder])) / self._weight_intervals[recorder]
        assert isinstance(recorder, StateRecorder)
        return recorder.bytes_per_second * self._resolution / 1000.0

    @property
    def taken_bytes(self) -> int:
        """Bytes of the recordings on this process, with kernels, that are neither in the core nor in files."""
        pieces = sum(pieces.nbytes for pieces in self._pieces.values())
        return pieces + sum(convolution.nbytes for convolution in self._convolutions.values())

    @property
    def evaluation_bytes(self) -> int:
        """Bytes of solvers of recorded potentials."""
        return sum(potentials.nbytes for potentials in self._multipoles.values())

    def write(self) -> None:
        """Sample weights that are due, and write recordings to their files."""
        if self._takes_all:
            self._takes_all = False
            self._take_kept()
        with interrupts_deferred():
            for recorder in self._multipoles:
                if self._core.step >= self._end_of_block(recorder):
                    self._take(recorder)
        if not self._filed and not self._synapses:
            return
        self._pace.stopped(now := self._core.step)
        with interrupts_deferred():
            self._sample_weights()
            for filed in self._filed:
                self._take(filed)
            if not self._filed:
                return
            with agreed(self._communicator, "files of recorders"):
                for filed, file in self._files.items():
                    file.append(self._columns(filed, self._joined(filed)), now)
                    if not self._runs:
                        file.end_run()
                    self._pieces[filed].clear()
            self._written = now
            self._pace.written()

    def take(self) -> None:
        """Take all recordings from the core, and write those that have a file."""
        self.write()
        self._take_kept()

    def _take_kept(self) -> None:
        with interrupts_deferred():
            for recorder in self._recorders:
                if recorder.to is None and not isinstance(recorder, WeightRecorder):
                    self._take(recorder)

    def positions(self) -> dict[str, Any]:
        """Return how far this process has written its files, in types of JSON, after `take`."""
        return {str(self._recorders.index(recorder)): file.position() for recorder, file in self._files.items()}

    def resume_files(self, positions: dict[str, Any]) -> None:
        """Continue the files of recorders, truncated at these positions."""
        if not _writes(self._communicator, self._gather):
            return
        for recorder in self._filed:
            assert recorder.to is not None
            path = _path(recorder.to, self._communicator, self._gather)
            self._files[recorder] = files.resume(path, positions[str(self._recorders.index(recorder))])
        self._written = self._core.step

    @property
    def has_files_of_ranks(self) -> bool:
        """Whether each process has a separate file."""
        return bool(self._filed) and _apart(self._communicator, self._gather)

    def save(self, write: Callable[[str, Columns], None]) -> None:
        """Write the recordings in memory, after `take`, as tables. Not collective."""
        if not _writes(self._communicator, self._gather):
            return
        for table, recorder in self._kept_tables():
            steps, values = self._joined(recorder)
            if isinstance(recorder, SpikeRecorder):
                pieces = save_spikes(steps, values)
            else:
                pieces = save_samples(self._places[recorder], values)
                if self._communicator.rank == 0:
                    write(f"{table}.steps", [("id", False, np.arange(len(steps))), ("step", False, steps)])
            for columns in pieces:
                write(table, columns)
        for table, convolution in self._convolution_tables():
            ends, counts = convolution.kept
            sizes = np.full(len(ends), counts.shape[1])
            ids = np.arange(len(ends))
            write(
                table,
                [("id", False, ids), ("step", False, ends), ("size", False, sizes), ("count", True, counts.ravel())],
            )

    def load(
        self,
        pieces_of: Callable[[str], Iterable[Columns]],
        local_rows_of: Callable[[str], Iterable[Columns]],
        owns: Callable[[IntArray], npt.NDArray[Any]],
    ) -> None:
        """Replace the recordings in memory by saved ones. All processes call it.

        Parameters
        ----------
        pieces_of
            Function that returns the saved rows of a table, of all processes.
        local_rows_of
            Function that returns the rows of the neurons of this process; it is collective.
        owns
            Function that returns which neurons of some ids belong to this process.
        """
        self._last_sample = self._core.step
        self._evaluated = dict.fromkeys(self._multipoles, self._core.step)
        for table, recorder in self._kept_tables():
            if not self._keeps(recorder):
                continue
            if isinstance(recorder, SpikeRecorder):
                if self._gathering(recorder) == "local":
                    self._append(recorder, *load_spikes(local_rows_of(table), owns))
                else:
                    self._append(
                        recorder, *load_spikes(pieces_of(table), lambda ids: np.ones(len(ids), dtype=np.bool_))
                    )
                continue
            steps = np.concatenate(
                [np.empty(0, dtype=np.int64)]
                + [values for piece in pieces_of(f"{table}.steps") for name, _, values in piece if name == "step"]
            )
            if len(steps):
                empty = self._empty(recorder)[1]
                shape = (len(steps), *empty.shape[1:])
                self._append(recorder, steps, load_samples(pieces_of(table), self._places[recorder], shape))
        for table, convolution in self._convolution_tables():
            found = [{name: values for name, _, values in piece} for piece in pieces_of(table)]
            if found:
                ends, counts = (np.concatenate([piece[name] for piece in found]) for name in ("step", "count"))
                convolution.restore(ends, counts, self._core.step)

    def _kept_tables(self) -> list[tuple[str, Recorder]]:
        return [(f"recorder{i}", each) for i, each in enumerate(self._recorders) if each.to is None]

    def _convolution_tables(self) -> list[tuple[str, Convolution]]:
        return [
            (f"recorder{i}.counts", self._convolutions[each])
            for i, each in enumerate(self._recorders)
            if isinstance(each, LfpRecorder)
        ]

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return the recorded data."""

        def take() -> SpikeData:
            steps, ids = self._joined(recorder)
            # A process that gets no data covers no neurons; otherwise they would seem to be silent.
            segments = _segments(recorder) if self._keeps(recorder) else ()
            covered = self._covered_by(recorder)
            return SpikeData(steps, ids, self._resolution, 0, self._core.step, segments, covered)

        return self._fetch(recorder, take, reading.read_spikes)

    def state(self, recorder: StateRecorder) -> StateData:
        """Return the recorded data."""

        def take() -> StateData:
            steps, values = self._joined(recorder)
            places = self._places[recorder]
            ids, names = recorder.ids[places], recorder.population_names
            if isinstance(recorder, CompartmentRecorder):
                compartments = recorder.compartments[places]
                return CompartmentData(steps, ids, recorder.variables, values, self._resolution, names, compartments)
            if isinstance(recorder, ExtracellularRecorder | LfpRecorder):
                # A process without data has no contacts.
                labels = recorder.labels.given() if len(places) else {}
                contacts, medium = recorder.contacts[places], recorder.sigma
                return ExtracellularData(
                    steps, ids, recorder.variables, values, self._resolution, names, contacts, medium, **labels
                )
            if isinstance(recorder, DipoleRecorder):
                return DipoleData(steps, ids, recorder.variables, values, self._resolution, names, recorder.per_cell)
            return StateData(steps, ids, recorder.variables, values, self._resolution, names)

        return self._fetch(recorder, take, reading.read_state)

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return the recorded data."""

        def take() -> WeightData:
            steps, weights = self._joined(recorder)
            synapses, places = self._synapses[recorder], self._places[recorder]
            sources, targets = synapses.sources[places], synapses.targets[places]
            return WeightData(steps, weights, sources, targets, self._resolution, recorder.projection.name)

        return self._fetch(recorder, take, reading.read_weights)

    def _fetch(self, recorder: Recorder, take: Callable[[], Data], read: Callable[[Path], Data]) -> Data:
        """Return the data, from memory or from the file, on the processes that get them."""
        if recorder.to is None:
            with interrupts_deferred():
                self._take(recorder)
                return take()
        path = recorder.to
        # Paths may differ between hosts, calls not.
        what, call = f"file {path}", "reading the file of a recorder"
        if self._gather == "local":
            return agree(self._communicator, what, lambda: read(path), call)
        if self._gather == "everywhere":
            return from_root(self._communicator, what, lambda: read(path), call)
        # The other processes keep no data of this recorder.
        return agree(self._communicator, what, lambda: read(path) if self._communicator.rank == 0 else take(), call)

    # ---- data of this process ----------------------------------------------------------------------------------------

    def _gathering(self, recorder: Recorder) -> str:
        """Return which processes get the data of a recorder; if it has a file, the processes that write it."""
        return "root" if recorder.to is not None and self._gather == "everywhere" else self._gather

    def _keeps(self, recorder: Recorder) -> bool:
        return self._gathering(recorder) != "root" or self._communicator.rank == 0

    def _count_units(self, recorder: SpikeRecorder) -> int:
        """Return the number of neurons whose spikes this process can get; at most, if they are not consecutive."""
        if self._gathering(recorder) != "local":
            return sum(len(selection) for selection in recorder.neurons)
        count = 0
        for segment in _segments(recorder):
            _, stride, size, listed = self._core.local_ids(segment.first_id, segment.end_id - segment.first_id)
            count += min(segment.size, size if stride else len(listed))
        return count

    def _covered_by(self, recorder: SpikeRecorder) -> NeuronIds | None:
        """Return the neurons whose spikes this process has; None for all recorded neurons."""
        apart = self._gathering(recorder) == "local" or self._communicator.is_dry_run
        if self._communicator.size == 1 or not apart:
            return None
        first = min((view.first_id for view in recorder.neurons), default=0)
        end = max((segment.end_id for segment in _segments(recorder)), default=0)
        begin, stride, size, listed = self._core.local_ids(first, end - first)
        return NeuronIds(range(begin, begin + size * stride, stride) if stride else listed)

    def _find_places(self, recorder: Recorder) -> IntArray:
        """Return the positions, among a recorder's neurons or synapses, of those sampled by this process, ascending."""
        if not self._keeps(recorder):
            return np.empty(0, dtype=np.int64)
        if self._gathering(recorder) == "local":
            if isinstance(recorder, StateRecorder) and not recorder.sums_neurons:
                _, _, places = self._core.take_state(recorder.index, "local")
                return places
            if isinstance(recorder, WeightRecorder):
                return self._core.stored_here(self._synapses[recorder].handles)
        whole = recorder.ids if isinstance(recorder, StateRecorder) else self._synapses[recorder]  # type: ignore[index]
        return np.arange(len(whole), dtype=np.int64)

    def _take(self, recorder: Recorder) -> None:
        if isinstance(recorder, SpikeRecorder):
            steps, ids = self._core.take_spikes(recorder.index, self._gathering(recorder))
            self._append(recorder, steps, ids)
            if self._units[recorder] and (passed := self._core.step - self._taken_at.get(recorder, 0)):
                # Twice the largest number so far, to allow for a burst.
                self._spike_rate = max(self._spike_rate, 2.0 * len(steps) / self._units[recorder] / passed)
            self._taken_at[recorder] = self._core.step
        elif isinstance(recorder, LfpRecorder):
            ends, counts = self._core.take_counts(recorder.index, self._gathering(recorder))
            if self._keeps(recorder):
                numbers = counts.reshape(len(ends), len(recorder.kernels))
                self._append(recorder, *self._convolutions[recorder].potentials(ends, numbers, self._core.step))
        elif isinstance(recorder, ExtracellularRecorder) and recorder.method == "fmm":
            steps, values, places = self._core.take_state(recorder.index, "local")
            currents = values.reshape(len(steps), len(places))
            self._append(recorder, steps, self._multipoles[recorder].potentials(currents, places)[:, np.newaxis, :])
            self._evaluated[recorder] = self._core.step
        elif isinstance(recorder, StateRecorder):
            steps, values, _ = self._core.take_state(recorder.index, self._gathering(recorder))
            shape = (len(steps), len(recorder.variables), len(self._places[recorder]))
            self._append(recorder, steps, values.reshape(shape))

    def _sample_weights(self) -> None:
        """Sample the weights that are due and have not been sampled yet."""
        now = self._core.step
        if now > self._last_sample:
            for recorder, interval in self._weight_intervals.items():
                if now % interval == 0:
                    weights = self._core.weights(self._synapses[recorder].handles)[self._places[recorder]]
                    self._append(recorder, np.array([now], dtype=np.int64), weights[np.newaxis, :])
            self._last_sample = now

    def _append(self, recorder: Recorder, steps: IntArray, values: npt.NDArray[Any]) -> None:
        if self._keeps(recorder):
            self._pieces[recorder].append((steps, values))

    def _joined(self, recorder: Recorder) -> Part:
        return self._pieces[recorder].joined(self._empty(recorder))

    def _empty(self, recorder: Recorder) -> Part:
        steps = np.empty(0, dtype=np.int64)
        if isinstance(recorder, StateRecorder):
            return steps, np.empty((0, len(recorder.variables), len(self._places[recorder])))
        if isinstance(recorder, WeightRecorder):
            return steps, np.empty((0, len(self._places[recorder])))
        return steps, np.empty(0, dtype=np.int64)

    def _columns(self, recorder: Recorder, part: Part) -> dict[str, npt.NDArray[Any]]:
        steps, values = part
        if isinstance(recorder, StateRecorder):
            return {"steps": steps, **{name: values[:, i, :] for i, name in enumerate(recorder.variables)}}
        return {"steps": steps, "weights" if isinstance(recorder, WeightRecorder) else "ids": values}

    # ---- files -------------------------------------------------------------------------------------------------------

    def _create_files(self) -> dict[Recorder, files.RecordingFile]:
        """Create the files that this process writes, and remove files that could be mistaken for them."""
        if not self._filed:
            return {}
        # These are the same in all files of a run.
        run = from_root(self._communicator, "run", lambda: {"run_id": uuid.uuid4().hex, "created": time.time()})
        with agreed(self._communicator, "files of recorders"):
            if self._communicator.rank == 0:
                apart = _apart(self._communicator, self._gather)
                for recorder in self._filed:
                    assert recorder.to is not None
                    if recorder.overwrite:
                        files.remove_relics(recorder.to, self._communicator.size if apart else None)
            if not _writes(self._communicator, self._gather):
                return {}
            return {recorder: self._create_file(recorder, run) for recorder in self._filed}

    def _create_file(self, recorder: Recorder, run: files.Metadata) -> files.RecordingFile:
        assert recorder.to is not None
        now = self._core.step
        metadata: files.Metadata = {
            "network": self._network_name,
            "seed": str(self._seed),
            "resolution": self._resolution,
            "begin": now,
            "end": now,
            **run,
        }
        fixed: dict[str, npt.NDArray[Any]] = {}
        if isinstance(recorder, SpikeRecorder):
            metadata["segments"] = [
                (segment.name, segment.first_id, segment.size, *([segment.runs] if segment.runs else []))
                for segment in _segments(recorder)
            ]
            covered = self._covered_by(recorder)
            if covered is not None:
                metadata["covered"] = covered.rule()
                fixed["gaps"] = covered.gaps()
        elif isinstance(recorder, StateRecorder):
            metadata["population"] = recorder.population_names
            metadata["variables"] = list(recorder.variables)
            metadata["interval"] = recorder.interval
            fixed["ids"] = recorder.ids[self._places[recorder]]
            if isinstance(recorder, CompartmentRecorder):
                fixed["compartments"] = recorder.compartments[self._places[recorder]]
            if isinstance(recorder, DipoleRecorder):
                metadata["per_cell"] = recorder.per_cell
            if isinstance(recorder, ExtracellularRecorder | LfpRecorder):
                metadata["sigma"] = recorder.sigma
                metadata["contacts"] = recorder.labels.given()
                fixed |= dict(zip("xyz", np.ascontiguousarray(recorder.contacts.T), strict=True))
        elif isinstance(recorder, WeightRecorder):
            metadata["projection"] = recorder.projection.name
            metadata["interval"] = recorder.interval
            fixed["sources"] = self._synapses[recorder].sources[self._places[recorder]]
            fixed["targets"] = self._synapses[recorder].targets[self._places[recorder]]
        if _apart(self._communicator, self._gather):
            metadata["rank"] = self._communicator.rank
            metadata["ranks"] = self._communicator.size
            if recorder in self._places:
                fixed["places"] = self._places[recorder]
        path = _path(recorder.to, self._communicator, self._gather)
        columns = self._columns(recorder, self._empty(recorder))
        return files.create(path, recorder.kind, metadata, fixed, columns, overwrite=recorder.overwrite)


def _convolution_of(recorder: LfpRecorder, now: int, resolution: float) -> Convolution:
    kernels = joined_kernels([kernel.values for _, kernel in recorder.kernels])
    return Convolution(kernels, round(recorder.bin / resolution), round(recorder.interval / resolution), now)


def _apart(communicator: _core.Communicator, gather: str) -> bool:
    """Return whether each process has a separate file."""
    return gather == "local" and communicator.size > 1


def _writes(communicator: _core.Communicator, gather: str) -> bool:
    return communicator.rank == 0 or _apart(communicator, gather)


def _path(path: Path, communicator: _core.Communicator, gather: str) -> Path:
    """Return the file of this process for a recorder that writes to `path`."""
    return files.path_of_rank(path, communicator.rank) if _apart(communicator, gather) else path


def _segments(recorder: SpikeRecorder) -> tuple[Segment, ...]:
    return tuple(map(as_segment, recorder.neurons))
