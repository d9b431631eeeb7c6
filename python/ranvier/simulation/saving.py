"""Saving the state of a simulation."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.paths import checked_path
from ranvier.network.recorders import Recorder, WeightRecorder
from ranvier.processes.agreement import agree, agreed, from_root, values_of_all
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.recordings import RecordingStore
from ranvier.simulation.saved_values import to_saved
from ranvier.state.index_files import Part, StateIndex, check_target, part_path, publish, remove_old_parts
from ranvier.state.part_files import PartWriter

__all__ = ["checked_target", "local_ids", "network_parts", "save_state"]

NetworkPart = tuple[str, int, str]
"""Name of a part of a network, a number that differs for different parts, and its value if that is short."""


def save_state(built: BuiltNetwork, store: RecordingStore, path: str | os.PathLike[str]) -> None:
    """Carry out `Simulation.save`."""
    communicator = built.communicator
    target = agree(communicator, "saving the state", lambda: checked_target(path))
    built.agree_on_request("saving the state", str(target))
    with interrupts_deferred():
        store.take()
        saver = _core.StateSaver(built.core)
        generation = from_root(communicator, "saving the state", lambda: uuid.uuid4().hex[:16])
        writer: PartWriter | None = None
        try:
            with agreed(communicator, "saving the state"):
                writer = PartWriter(part_path(target, generation, communicator.rank))
                _write_tables(writer, saver)
                store.save(writer.write)
                content = _content(built, saver.totals, writer) if communicator.rank == 0 else {}
                positions = store.positions()
                part = Part("", 0, "", *local_ids(built.core))
                if communicator.rank != 0:
                    check = writer.finish()
                    part = Part(writer.path.name, writer.close(), check, *local_ids(built.core))
            parts, files = zip(*values_of_all(communicator, (part, positions)), strict=True)
            content |= {"files": files if store.has_files_of_ranks else files[:1], "apart": store.has_files_of_ranks}
            with agreed(communicator, "saving the state"):
                if communicator.rank == 0:
                    publish(target, writer, StateIndex(generation, tuple(parts), content))
        except BaseException:
            if writer is not None:
                writer.abandon()
            raise
        finally:
            del saver
        if communicator.rank == 0:
            remove_old_parts(target, generation)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a state is to be saved to, checked."""
    # A link stays, and its target is replaced.
    target = Path(os.path.realpath(checked_path(path, "file of a saved state")))
    check_target(target)
    return target


def _write_tables(writer: PartWriter, saver: _core.StateSaver) -> None:
    for index, table in enumerate(saver.tables):
        while (columns := saver.next(index)) is not None:
            writer.write(table, columns)


def _content(built: BuiltNetwork, totals: _core.StateTotals, writer: PartWriter) -> dict[str, Any]:
    """Return the values that are equal on all processes; their arrays are written as tables."""
    for population, lists in totals.spikes_set.items():
        sizes = np.array([len(steps) for steps in lists], dtype=np.int64)
        steps = np.array([step for steps in lists for step in steps], dtype=np.int64)
        ids = np.arange(len(sizes), dtype=np.int64)
        name = f"population{population}.spikes"
        writer.write(name, [("id", False, ids), ("size", False, sizes), ("step", True, steps)])

    def keep_array(array: np.ndarray[Any, Any]) -> str:
        name = f"array{len(arrays)}"
        arrays.append(name)
        writer.write(
            name, [("id", False, np.arange(len(array))), ("value", False, np.asarray(array, dtype=np.float64))]
        )
        return name

    arrays: list[str] = []
    stimuli = {
        index: {name: [step, to_saved(value, keep_array)] for name, (step, value) in changes.items()}
        for index, changes in built.stimulus_changes.items()
    }
    sequences = {
        index: {name: to_saved(value, keep_array) for name, value in changes.items()}
        for index, changes in built.sequence_changes.items()
    }
    return {
        "network": network_parts(built.description, built.options, built.recorders),
        "name": built.network_name,
        "step": totals.step,
        "counted_from": totals.counted_from,
        "synaptic_events": totals.synaptic_events,
        "population_spikes": totals.population_spikes,
        "weight_ranges": totals.weight_ranges,
        "parameters_set": totals.parameters_set,
        "weights_set": totals.weights_set,
        "spikes_set": list(totals.spikes_set),
        "stimuli": stimuli,
        "sequences": sequences,
    }


def network_parts(
    description: _core.Network, options: _core.SimulationOptions, recorders: Sequence[Recorder]
) -> list[NetworkPart]:
    """Return all parts of a network that its state depends on."""
    parts = _core.network_parts(description, options)
    parts.append(("number of recorders", len(recorders), str(len(recorders))))
    for i, recorder in enumerate(recorders):
        place = "a file" if recorder.to is not None else "memory"
        text = f"{recorder.description}, in {place}"
        hashed = hashlib.sha256(text.encode(errors="backslashreplace"))
        if isinstance(recorder, WeightRecorder):
            hashed.update(str(recorder.projection.index).encode())
            for view in (recorder.sources, recorder.targets):
                hashed.update(b"all" if view is None else view.ids.tobytes())
        parts.append((f"recorder {i}", int.from_bytes(hashed.digest()[:8]), text))
    return parts


def local_ids(core: _core.Simulation) -> tuple[tuple[int, int, int], str]:
    """Return the ids of this process as first id, stride and number; if they follow no rule, also a check of them."""
    begin, stride, size, listed = core.local_ids(0, 1 << 62)
    return (begin, stride, size), hashlib.sha256(listed.tobytes()).hexdigest() if len(listed) else ""
