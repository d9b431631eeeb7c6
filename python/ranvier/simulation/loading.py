"""Loading the state of a simulation into one that has just been built."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core, models
from ranvier.base.paths import checked_path
from ranvier.errors import FileError, StateError
from ranvier.mpi import Communicator
from ranvier.network import changes as network_changes
from ranvier.network.recorders import Recorder
from ranvier.processes.agreement import agreed, from_root, values_of_all
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.changes import values_of_stimulus
from ranvier.simulation.recordings import RecordingStore
from ranvier.simulation.routed_rows import route, supply
from ranvier.simulation.saved_values import from_saved
from ranvier.simulation.saving import local_ids, network_parts
from ranvier.state.index_files import StateIndex, open_part, read_index
from ranvier.state.part_files import Column, PartReader, damage_found
from ranvier.state.rows import KeptRows, joined, taken

__all__ = ["SavedState", "load_state", "open_state"]

_WHAT = "loading a state"
_ROWS = 1 << 16
_LEAST_ELEMENTS = 4 << 20


@dataclass(frozen=True)
class SavedState:
    """A saved state whose index has been read.

    Attributes
    ----------
    path
        Its file.
    index
        Its index.
    check_of_root
        Check of the manifest of the part of rank 0, which is in the same file.
    """

    path: Path
    index: StateIndex
    check_of_root: str

    def check_network(
        self, description: _core.Network, options: _core.SimulationOptions, recorders: Sequence[Recorder]
    ) -> None:
        """Check that it is the state of this network.

        Raises
        ------
        StateError
            When it is not; the error names the first difference.
        """
        saved = [tuple(part) for part in self.index.content["network"]]
        present: list[tuple[Any, ...]] = list(network_parts(description, options, recorders))
        if saved == present:
            return
        places = (slice(i, i + 1) for i in range(max(len(saved), len(present))))
        here, there = next((present[i], saved[i]) for i in places if present[i] != saved[i])
        if here and there and here[0][0] == there[0][0]:
            name, _, text = here[0]
            was = f"it is {text}" if text and text != there[0][2] else "it is another one"
            bound = f"{was}, and {there[0][2] or 'another one'} in the saved state"
        else:
            # One of them has a part more here; the parts that follow it are in both.
            is_here = bool(here) and here[0][0] not in {name for name, _, _ in saved}
            name = (here if is_here else there)[0][0]
            bound = f"the {'network' if is_here else 'saved state'} has it, and the other has not"
        raise StateError(
            f"{name} of the network to load {self.path} into" if " of " not in name else name,
            bound=bound,
            remedy="load the state with the network of which it was saved",
        )


def open_state(path: str | os.PathLike[str], communicator: Communicator) -> SavedState:
    """Read the index of a state on one process, for all.

    Raises
    ------
    FileError
        When the file does not exist, or is not a complete state.
    """

    def read() -> SavedState:
        found = Path(os.path.realpath(checked_path(path, "file of a saved state")))
        index, check_of_root = read_index(found)
        return SavedState(found, index, check_of_root)

    return from_root(communicator, "file of a saved state", read)


class _Parts:
    """The parts of a state, of which each process reads the part of its neurons, or a share of all parts."""

    def __init__(self, saved: SavedState, built: BuiltNetwork) -> None:
        self._saved = saved
        self._communicator = built.communicator
        core, parts = built.core, saved.index.parts
        self._local = local_ids(core)
        self._elements = max(_LEAST_ELEMENTS, core.counts().synapses // (32 * core.ranks))
        # If each process has the neurons of a process that has saved a part, it reads only this part.
        same = next((rank for rank, part in enumerate(parts) if (tuple(part.ids), part.listed) == self._local), None)
        self._local_part = same if all(values_of_all(built.communicator, same is not None)) else None
        self._listed = core.local_ids(0, 1 << 62)[3]
        self._recorded: list[int] = []

    def owns(self, ids: IntArray) -> npt.NDArray[np.bool_]:
        """Return which neurons belong to this process."""
        begin, stride, size = self._local[0]
        if size == 0:
            return np.zeros(len(ids), dtype=np.bool_)
        if stride:
            owned: npt.NDArray[np.bool_] = (
                (ids >= begin) & (ids < begin + size * stride) & ((ids - begin) % stride == 0)
            )
            return owned
        at = np.searchsorted(self._listed, ids)
        found = at < len(self._listed)
        found[found] = self._listed[at[found]] == ids[found]
        return found

    def load(self, loader: _core.StateLoader, index: int, table: str) -> None:
        """Load a table. All processes call it."""
        if self._local_part is not None:
            with agreed(self._communicator, _WHAT), self._checked():
                for rows in self._pieces(self._local_part, table):
                    loader.load(index, rows)
        elif table.endswith(".common"):
            self._load_common(loader, index, table)
        elif table.endswith(".sources"):
            # Each process keeps the state of its neurons as sources, and sends it to the other processes.
            kept = KeptRows()
            self._route(table, loader, kept.add)
            supply(
                self._communicator,
                kept,
                lambda: loader.next_sources(index),
                loader.ranks_of,
                lambda rows: loader.load(index, rows),
                self._checked,
            )
        else:
            self._route(table, loader, lambda rows: loader.load(index, rows))

    def local_rows(self, table: str, loader: _core.StateLoader) -> list[list[Column]]:
        """Return all rows of the neurons of this process. All processes call it."""
        received: list[list[Column]] = []
        self._route(table, loader, received.append)
        return received

    def of_root(self, table: str) -> Iterator[list[Column]]:
        """Yield the rows of a table that only rank 0 has saved."""
        yield from self._pieces(0, table)

    def find_recordings(self) -> None:
        """Find the parts that have recordings. All processes call it."""
        found = []
        with agreed(self._communicator, _WHAT), damage_found(self._saved.path):
            for rank in self._local_share():
                with self._opened(rank) as part:
                    found += [rank] if any(table.startswith("recorder") for table in part.tables) else []
        self._recorded = sorted({rank for each in values_of_all(self._communicator, found) for rank in each})

    def recorded(self, table: str) -> Iterator[list[Column]]:
        """Yield all rows of a recording."""
        for rank in self._recorded:
            yield from self._pieces(rank, table)

    def _pieces(self, rank: int, table: str, wants: Callable[[int], bool] | None = None) -> Iterator[list[Column]]:
        with self._opened(rank) as part:
            yield from part.pieces(table, _ROWS, self._elements, wants)

    def _opened(self, rank: int) -> PartReader:
        return open_part(self._saved.path, self._saved.index, self._saved.check_of_root, rank)

    def _share(self, table: str) -> Iterator[list[Column]]:
        """Yield the pieces that this process reads for all: whole parts, or some of the pieces of a part."""
        local, parts = self._communicator.rank, len(self._saved.index.parts)
        readers = len(range(local % parts, self._communicator.size, parts))
        for rank in self._local_share():
            yield from self._pieces(rank, table, lambda number: number % readers == local // parts)

    def _local_share(self) -> range:
        parts = len(self._saved.index.parts)
        return range(self._communicator.rank % parts, parts, self._communicator.size)

    def _route(self, table: str, loader: _core.StateLoader, take: Callable[[list[Column]], None]) -> None:
        limits = (_ROWS, self._elements)
        route(self._communicator, self._share(table), loader.ranks_of, take, limits, self._checked)

    def _load_common(self, loader: _core.StateLoader, index: int, table: str) -> None:
        """Load the common values of all tables of a kind, which are equal except for the greatest weight."""
        greatest: list[Column] | None = None
        with agreed(self._communicator, _WHAT), self._checked():
            for rows in self._share(table):
                every = rows if greatest is None else joined([greatest, rows])
                weights = next(values for name, _, values in every if name == "greatest_weight")
                greatest = taken(every, np.array([int(np.argmax(weights))]))
        every_greatest = values_of_all(self._communicator, greatest)
        with agreed(self._communicator, _WHAT), self._checked():
            for each in every_greatest:
                if each is not None:
                    loader.load(index, each)

    def _checked(self) -> contextlib.AbstractContextManager[None]:
        return _states_checked(self._saved.path)


def load_state(built: BuiltNetwork, store: RecordingStore, saved: SavedState) -> None:
    """Put a saved state into a simulation that has just been built."""
    content, core = saved.index.content, built.core
    parts = _Parts(saved, built)
    with agreed(built.communicator, _WHAT), damage_found(saved.path):
        totals = _totals(content, parts)
    _set_stimuli(built, content, parts)
    loader = _core.StateLoader(core, totals)
    tables = list(enumerate(loader.tables))
    for index, table in tables[:-1]:
        parts.load(loader, index, table)
    loader.replay()
    index, table = tables[-1]
    parts.load(loader, index, table)
    with agreed(built.communicator, _WHAT), _states_checked(saved.path):
        loader.finish()
    _set_sequences(built, content, parts)
    parts.find_recordings()
    with agreed(built.communicator, _WHAT), _states_checked(saved.path), damage_found(saved.path):
        store.load(parts.recorded, lambda name: parts.local_rows(name, loader), parts.owns)
    # At the end: files of recorders are truncated only if the state could be loaded.
    with agreed(built.communicator, "files of recorders"):
        store.resume_files(_positions(saved, store, built))


def _positions(saved: SavedState, store: RecordingStore, built: BuiltNetwork) -> dict[str, Any]:
    """Return how far the files of this process had been written."""
    files = saved.index.content["files"]
    if saved.index.content["apart"] != store.has_files_of_ranks:
        raise StateError(
            "files of recorders",
            bound="one of the two simulations has a file for each process, and the other has one file for all",
            remedy="load the state with the same option recordings",
        )
    if not store.has_files_of_ranks:
        found: dict[str, Any] = files[0]
        return found
    rank, parts = built.communicator.rank, saved.index.parts
    if len(files) != built.communicator.size or (tuple(parts[rank].ids), parts[rank].listed) != local_ids(built.core):
        raise StateError(
            "files of recorders of each process",
            bound="the neurons are divided differently among processes than in the saved state",
            remedy="load the state on the same number of processes, with the same placement",
        )
    local: dict[str, Any] = files[rank]
    return local


@contextlib.contextmanager
def _states_checked(path: Path) -> Iterator[None]:
    """Name the file in errors of the core."""
    try:
        yield
    except StateError as error:
        raise FileError(f"file {path}", error.object, error.bound, error.remedy) from error


def _totals(content: dict[str, Any], parts: _Parts) -> _core.StateTotals:
    totals = _core.StateTotals()
    for name in ("step", "counted_from", "synaptic_events", "population_spikes", "weight_ranges", "parameters_set"):
        setattr(totals, name, content[name])
    totals.weights_set = content["weights_set"]
    lists: dict[int, list[list[int]]] = {}
    for population in content["spikes_set"]:
        lists[population] = []
        for columns in parts.of_root(f"population{population}.spikes"):
            named = {name: values for name, _, values in columns}
            steps = named.get("step", np.empty(0, dtype=np.int64))
            lists[population] += [part.tolist() for part in np.split(steps, np.cumsum(named["size"])[:-1])]
    totals.spikes_set = lists
    return totals


def _saved_array(parts: _Parts, name: str) -> npt.NDArray[Any]:
    pieces = [values for piece in parts.of_root(name) for key, _, values in piece if key == "value"]
    return np.concatenate([np.empty(0), *pieces])


def _set_sequences(built: BuiltNetwork, content: dict[str, Any], parts: _Parts) -> None:
    for key, changes in content.get("sequences", {}).items():
        population = int(key)
        with agreed(built.communicator, "loading a state"):
            values = {name: from_saved(value, partial(_saved_array, parts)) for name, value in changes.items()}
            sequences = network_changes.sequences_of(built.populations[population].model, dict(values))
            built.sequence_changes[population] = values
        built.core.set_sequences(population, sequences)


def _set_stimuli(built: BuiltNetwork, content: dict[str, Any], parts: _Parts) -> None:
    array = partial(_saved_array, parts)
    for key, changes in content["stimuli"].items():
        index = int(key)
        stimulator = built.stimuli[index].stimulator
        with agreed(built.communicator, "loading a state"):
            values = {name: from_saved(value, array) for name, (_, value) in changes.items()}
            steps = {name: step for name, (step, _) in changes.items()}
            built.stimulus_changes[index] = {name: (steps[name], value) for name, value in values.items()}
            weight = values.pop("weight", None)
            sequences = network_changes.sequences_of(stimulator, values)
            numbers, core_weight = values_of_stimulus(built.stimuli[index], values, weight)
        for name in models.STIMULATORS[stimulator].sequence_names:
            steps.pop(name, None)
        built.core.set_stimulus(index, numbers, sequences, core_weight, steps)
