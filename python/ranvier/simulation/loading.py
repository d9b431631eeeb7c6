"""Loading the state of a simulation into one that has just been built."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core, models
from ranvier.base.paths import checked_path
from ranvier.base.values import to_core
from ranvier.errors import FileError, StateError
from ranvier.mpi import Communicator
from ranvier.network import changes as network_changes
from ranvier.network.recorders import Recorder
from ranvier.recording.neuron_ids import IntArray
from ranvier.recording.store import RecordingStore
from ranvier.simulation.agreement import agreed, from_root
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.saved_values import from_saved
from ranvier.simulation.saving import network_parts, own_ids
from ranvier.state.index_files import StateIndex, open_part, read_index
from ranvier.state.part_files import Column, damage_found

__all__ = ["SavedState", "load_state", "open_state"]

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
    own_check
        Check of the manifest of the part in the same file.
    """

    path: Path
    index: StateIndex
    own_check: str

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
        own: list[tuple[Any, ...]] = list(network_parts(description, options, recorders))
        if saved == own:
            return
        places = range(max(len(saved), len(own)))
        here, there = next((own[i : i + 1], saved[i : i + 1]) for i in places if own[i : i + 1] != saved[i : i + 1])
        if here and there and here[0][0] == there[0][0]:
            name, _, text = here[0]
            was = f"it is {text}" if text and text != there[0][2] else "it is another one"
            bound = f"{was}, and {there[0][2] or 'another one'} in the saved state"
        else:
            name = (here or there)[0][0]
            bound = f"the {'network' if here else 'saved state'} has it, and the other has not"
        raise StateError(
            f"{name} of the network to load {self.path} into" if " of " not in name else name,
            bound=bound,
            remedy="load the state with the network that it was saved of",
        )


def open_state(path: str | os.PathLike[str], communicator: Communicator) -> SavedState:
    """Read the index of a state on one process, for all.

    Raises
    ------
    FileError
        When there is no such file, or it is not a complete state.
    """

    def read() -> SavedState:
        found = Path(os.path.realpath(checked_path(path, "file of a saved state")))
        index, own_check = read_index(found)
        return SavedState(found, index, own_check)

    return from_root(communicator, "file of a saved state", read)


class _Parts:
    """The parts of a state that a process needs."""

    def __init__(self, saved: SavedState, core: _core.Simulation) -> None:
        self._saved = saved
        own, listed = own_ids(core)
        parts = saved.index.parts
        # A process with the same neurons as the one that has saved a part finds all that it needs in it.
        same = [rank for rank, part in enumerate(parts) if (tuple(part.ids), part.listed) == (own, listed)]
        self._own_ranks = same[:1] or list(range(len(parts)))
        (begin, stride, size), ids = own, core.own_ids(0, 1 << 62)[3]
        self._rule, self._ids = (begin, stride, size), ids
        self._elements = max(_LEAST_ELEMENTS, core.counts().synapses // (32 * core.ranks))

    def owns(self, ids: IntArray) -> npt.NDArray[np.bool_]:
        """Return which neurons belong to this process."""
        begin, stride, size = self._rule
        if size == 0:
            return np.zeros(len(ids), dtype=np.bool_)
        if stride:
            owned: npt.NDArray[np.bool_] = (
                (ids >= begin) & (ids < begin + size * stride) & ((ids - begin) % stride == 0)
            )
            return owned
        at = np.searchsorted(self._ids, ids)
        found = at < len(self._ids)
        found[found] = self._ids[at[found]] == ids[found]
        return found

    def pieces(
        self, table: str, *, everywhere: bool = False, wants: Callable[[IntArray], bool] | None = None
    ) -> Iterator[list[Column]]:
        """Yield the pieces of a table, of all processes that may have saved what this one needs."""
        ranks = range(len(self._saved.index.parts)) if everywhere else self._own_ranks
        for rank in ranks:
            with open_part(self._saved.path, self._saved.index, self._saved.own_check, rank) as part:
                yield from part.pieces(table, _ROWS, self._elements, wants)


def load_state(built: BuiltNetwork, store: RecordingStore, saved: SavedState) -> None:
    """Put a saved state into a simulation that has just been built."""
    content, core = saved.index.content, built.core
    parts = _Parts(saved, core)
    with agreed(built.communicator, "loading a state"), damage_found(saved.path):
        totals = _totals(content, parts)
    _set_stimuli(built, content, parts)
    loader = _core.StateLoader(core, totals)
    tables = list(enumerate(loader.tables))
    with agreed(built.communicator, "loading a state"), _states_checked(saved.path):
        for index, table in tables[:-1]:
            # Any process may need what is kept of a source.
            wants = None if table.endswith((".sources", ".common")) else lambda ids: bool(parts.owns(ids).any())
            for columns in parts.pieces(table, wants=wants):
                loader.load(index, columns)
    loader.replay()
    with agreed(built.communicator, "loading a state"), _states_checked(saved.path):
        index, table = tables[-1]
        for columns in parts.pieces(table, wants=lambda ids: bool(parts.owns(ids).any())):
            loader.load(index, columns)
        loader.finish()
        with damage_found(saved.path):
            store.load(lambda name: parts.pieces(name, everywhere=True), parts.owns)
    # At the end: nothing that was recorded is cut off for a state that cannot be loaded.
    with agreed(built.communicator, "files of recorders"):
        store.resume_files(_positions(saved, store, built))


def _positions(saved: SavedState, store: RecordingStore, built: BuiltNetwork) -> dict[str, Any]:
    """Return how far the files of this process had been written."""
    files = saved.index.content["files"]
    if saved.index.content["apart"] != store.has_files_of_ranks:
        raise StateError(
            "files of recorders",
            bound="one of the two simulations has a file for each process, and the other one file for all",
            remedy="load the state with the same option recordings",
        )
    if not store.has_files_of_ranks:
        found: dict[str, Any] = files[0]
        return found
    rank, parts = built.communicator.rank, saved.index.parts
    if len(files) != built.communicator.size or (tuple(parts[rank].ids), parts[rank].listed) != own_ids(built.core):
        raise StateError(
            "files of recorders of each process",
            bound="the neurons are divided differently among processes than in the saved state",
            remedy="load the state on the same number of processes, with the same placement",
        )
    own: dict[str, Any] = files[rank]
    return own


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
        for columns in parts.pieces(f"population{population}.spikes", everywhere=True):
            named = {name: values for name, _, values in columns}
            steps = named.get("step", np.empty(0, dtype=np.int64))
            lists[population] += [part.tolist() for part in np.split(steps, np.cumsum(named["size"])[:-1])]
    totals.spikes_set = lists
    return totals


def _set_stimuli(built: BuiltNetwork, content: dict[str, Any], parts: _Parts) -> None:
    def array(name: str) -> npt.NDArray[Any]:
        pieces = [values for piece in parts.pieces(name, everywhere=True) for key, _, values in piece if key == "value"]
        return np.concatenate([np.empty(0), *pieces])

    for key, changes in content["stimuli"].items():
        index = int(key)
        stimulator = built.stimuli[index].stimulator
        with agreed(built.communicator, "loading a state"):
            values = {name: from_saved(value, array) for name, (_, value) in changes.items()}
            steps = {name: step for name, (step, _) in changes.items()}
            built.stimulus_changes[index] = {name: (steps[name], value) for name, value in values.items()}
            weight = values.pop("weight", None)
            sequences = network_changes.sequences_of(stimulator, values)
            numbers = {name: to_core(value) for name, value in values.items()}
        for name in models.STIMULATORS[stimulator].sequence_names:
            steps.pop(name, None)
        built.core.set_stimulus(index, numbers, sequences, None if weight is None else to_core(weight), steps)
