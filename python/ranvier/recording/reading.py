"""Reading recordings that `ranvier.recording.files` has written."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier.base.paths import checked_path, file_errors
from ranvier.base.times import text_of, time_of
from ranvier.errors import FileError, IncompleteRecordingWarning
from ranvier.recording import csv_files, hdf5_files
from ranvier.recording.data import (
    CompartmentData,
    DipoleData,
    ExtracellularData,
    IntArray,
    SpikeData,
    StateData,
    WeightData,
    joined,
)
from ranvier.recording.files import CSV_SUFFIX, files_of_ranks, path_of_rank, peek
from ranvier.recording.neuron_ids import NeuronIds
from ranvier.recording.pieces import CORRUPT, Metadata, Recorded
from ranvier.recording.segments import Segment

__all__ = ["read_spikes", "read_state", "read_weights"]

Data = TypeVar("Data", SpikeData, StateData, WeightData)


def read_spikes(path: str | PathLike[str]) -> SpikeData:
    """Read the file of a spike recorder.

    If each process has written a file, ``spikes.rank0.h5`` and so on, the name without a rank reads all of them
    as one recording, up to the last time that all of them have. If there are files with and without a rank, the newest
    ones are read. The file of one rank has only the spikes of the neurons of this process (`SpikeData.covered`).

    Raises
    ------
    FileError
        When the file cannot be read, is not a recording of spikes, or was damaged or changed, and when the file of a
        rank is missing or belongs to another run.

    Warns
    -----
    IncompleteRecordingWarning
        When the end is missing, because the disk was full, or because the program was killed during a run or still
        runs. The window then ends at the end of the complete part.
    """
    return _read(checked_path(path), "spikes", _spikes)


def _spikes(parts: list[Recorded]) -> SpikeData:
    data = [
        SpikeData(
            steps=_integers(part.columns["steps"]),
            ids=_integers(part.columns["ids"]),
            resolution=float(part.metadata["resolution"]),
            begin=int(part.metadata["begin"]),
            end=int(part.metadata["end"]),
            segments=tuple(
                Segment(name, first, size, tuple((run, length) for runs in gaps for run, length in runs))
                for name, first, size, *gaps in part.metadata["segments"]
            ),
            covered=_covered(part),
        )
        for part in parts
    ]
    if len(data) == 1:
        return data[0]
    whole = joined(data)
    if whole.covered is not None:
        raise ValueError("the files of all ranks do not have all neurons")
    return whole


def _covered(part: Recorded) -> NeuronIds | None:
    """Return the neurons whose spikes are in a file; None for all recorded neurons."""
    if "covered" in part.metadata:
        return NeuronIds.of_rule(part.metadata["covered"], part.columns["gaps"])
    if "rank" in part.metadata:
        raise ValueError("the list of its neurons is missing")
    return None


def read_state(path: str | PathLike[str]) -> StateData:
    """Read the file of a state recorder, or the files of all processes as one recording; see `read_spikes`.

    Raises
    ------
    FileError
        As `read_spikes`.
    """
    return _read(checked_path(path), "state", _state)


def _state(parts: list[Recorded]) -> StateData:
    metadata = parts[0].metadata
    variables = tuple(metadata["variables"])
    at_compartments = "compartments" in parts[0].columns
    columns = _side_by_side(parts, ("ids", "compartments") if at_compartments else ("ids",), variables)
    steps, ids = _integers(columns["steps"]), _integers(columns["ids"])
    values = np.empty((len(steps), len(variables), len(ids)))
    for i, name in enumerate(variables):
        values[:, i, :] = columns[name]
    resolution, population = float(metadata["resolution"]), str(metadata["population"])
    if at_compartments:
        places = _integers(columns["compartments"])
        return CompartmentData(steps, ids, variables, values, resolution, population, places)
    if "contacts" in metadata:
        contacts = np.stack([np.asarray(parts[0].columns[axis], dtype=np.float64) for axis in "xyz"], axis=1)
        labels = {name: tuple(given) for name, given in metadata["contacts"].items()}
        return ExtracellularData(
            steps, ids, variables, values, resolution, population, contacts, float(metadata["sigma"]), **labels
        )
    if "per_cell" in metadata:
        return DipoleData(steps, ids, variables, values, resolution, population, bool(metadata["per_cell"]))
    return StateData(steps, ids, variables, values, resolution, population)


def read_weights(path: str | PathLike[str]) -> WeightData:
    """Read the file of a weight recorder, or the files of all processes as one recording; see `read_spikes`.

    Raises
    ------
    FileError
        As `read_spikes`.
    """
    return _read(checked_path(path), "weights", _weights)


def _weights(parts: list[Recorded]) -> WeightData:
    metadata = parts[0].metadata
    columns = _side_by_side(parts, ("sources", "targets"), ("weights",))
    return WeightData(
        steps=_integers(columns["steps"]),
        weights=np.asarray(columns["weights"], dtype=np.float64),
        sources=_integers(columns["sources"]),
        targets=_integers(columns["targets"]),
        resolution=float(metadata["resolution"]),
        projection=str(metadata["projection"]),
    )


def _side_by_side(
    parts: list[Recorded], owners: tuple[str, ...], samples: tuple[str, ...]
) -> dict[str, npt.NDArray[Any]]:
    """Return the samples of all files, in the order of the recorder, up to the last step that all of them have."""
    if len(parts) == 1:
        return parts[0].columns
    end = min(int(part.metadata["end"]) for part in parts)
    # A CSV file has no lines for samples of no neurons.
    steps = max((part.columns["steps"] for part in parts), key=len)
    steps = steps[steps <= end]
    order = np.argsort(np.concatenate([part.columns["places"] for part in parts]), kind="stable")
    joined = {"steps": steps}
    for name in owners:
        joined[name] = np.concatenate([part.columns[name] for part in parts])[order]
    for name in samples:
        wide = [part.columns[name][: len(steps)] for part in parts if part.columns[name].shape[1] > 0]
        joined[name] = np.concatenate(wide, axis=1)[:, order] if wide else np.empty((len(steps), 0))
    return joined


def _integers(values: npt.ArrayLike) -> IntArray:
    return np.asarray(values, dtype=np.int64)


def _read(path: Path, kind: str, make: Callable[[list[Recorded]], Data]) -> Data:
    """Read a file, or the files of all ranks, and return the data that `make` makes of them."""
    with file_errors(path, "read"):
        parts = []
        for part in _files_of(path):
            with _not_a_recording(part):
                parts.append(_read_file(part, kind))
        ends = {int(part.metadata["end"]) for part in parts}
        if len(ends) > 1 and all(part.cut is None for part in parts):
            _warn(path, parts[0].metadata, min(ends), 3)
        # The parts may also be inconsistent with each other.
        with _not_a_recording(path):
            return make(parts)


@contextlib.contextmanager
def _not_a_recording(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileError, OSError):
        raise
    except CORRUPT as error:
        reason = str(error) or type(error).__name__
        raise FileError(f"file {path}", bound=f"it is not a recording of Ranvier ({reason})") from error


def _read_file(path: Path, kind: str) -> Recorded:
    # If the file does not exist, the error of the system is raised.
    with path.open("rb"):
        pass
    recorded = csv_files.read(path) if path.suffix.lower() == CSV_SUFFIX else hdf5_files.read(path)
    metadata = recorded.metadata
    if metadata.get("format") != "ranvier" or metadata.get("kind") != kind:
        raise FileError(f"file {path}", str(metadata.get("kind", "something else")), f"a recording of {kind} is needed")
    if recorded.cut is not None:
        _warn(path, metadata, recorded.cut.end, 4)
    return recorded


def _warn(path: Path, metadata: Metadata, end: int, level: int) -> None:
    time = text_of(time_of(end, float(metadata["resolution"])))
    warnings.warn(IncompleteRecordingWarning(path, end, time), stacklevel=level + 1)


def _files_of(path: Path) -> list[Path]:
    """Return the file, or the files of ranks, for a name; if both exist, the files of the newest run."""
    described = {rank: (part, peek(part) or {}) for rank, part in files_of_ranks(path).items()}
    described = {rank: found for rank, found in described.items() if "rank" in found[1]}
    if not described:
        return [path]

    def created(metadata: Metadata) -> float:
        return float(metadata.get("created", 0.0))

    _, (newest, wanted) = max(described.items(), key=lambda item: created(item[1][1]))
    alone = peek(path)
    if alone is not None and created(alone) > created(wanted):
        return [path]
    ranks = int(wanted["ranks"])
    for rank in range(ranks):
        part = path_of_rank(path, rank)
        if rank not in described:
            raise FileError(
                f"file {part}",
                bound=f"it is missing: {newest} is one of {ranks} files of a run",
                remedy="put the files of all ranks into one folder",
            )
        if described[rank][1]["run_id"] != wanted["run_id"]:
            raise FileError(
                f"file {part}",
                bound=f"it is of another run than {newest}",
                remedy="put all files of one run into one folder",
            )
    return [path_of_rank(path, rank) for rank in range(ranks)]
