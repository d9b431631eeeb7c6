"""Recordings that `ranvier.files` has written, read back."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import h5py
import numpy as np
import numpy.typing as npt

from ranvier.errors import FileError
from ranvier.files import CSV_SUFFIX, Metadata, files_of_ranks, path_of_rank, peek
from ranvier.paths import checked_path, file_errors
from ranvier.recordings import IntArray, Segment, SpikeData, StateData, WeightData, joined

__all__ = ["read_spikes", "read_state", "read_weights"]

Part: TypeAlias = tuple[Metadata, dict[str, npt.NDArray[Any]]]


def read_spikes(path: str | PathLike[str]) -> SpikeData:
    """Read the file of a spike recorder.

    Where each process has written a file of its own, ``spikes.rank0.h5`` and so on, the name without a rank reads all
    of them as one, as far as all of them reach. If there are both, the newer counts.

    Raises
    ------
    FileError
        When it cannot be read or is not such a file, or when the file of a rank is missing or belongs to another run.
    """
    parts = [
        SpikeData(
            steps=_integers(columns["steps"]),
            neurons=_integers(columns["neurons"]),
            resolution=float(metadata["resolution"]),
            begin=int(metadata["begin"]),
            end=int(metadata["end"]),
            segments=tuple(Segment(name, first, size) for name, first, size in metadata["segments"]),
        )
        for metadata, columns in _read(checked_path(path), "spikes")
    ]
    return parts[0] if len(parts) == 1 else joined(parts)


def read_state(path: str | PathLike[str]) -> StateData:
    """Read the file of a recorder of state variables, or the files of all processes as one; as `read_spikes`.

    Raises
    ------
    FileError
        As `read_spikes`.
    """
    parts = _read(checked_path(path), "state")
    metadata, _ = parts[0]
    variables = tuple(metadata["variables"])
    columns = _side_by_side(parts, ("neurons",), variables)
    steps, neurons = _integers(columns["steps"]), _integers(columns["neurons"])
    values = np.empty((len(steps), len(variables), len(neurons)))
    for i, name in enumerate(variables):
        values[:, i, :] = columns[name]
    return StateData(
        steps=steps,
        neurons=neurons,
        variables=variables,
        values=values,
        resolution=float(metadata["resolution"]),
        population=str(metadata["population"]),
    )


def read_weights(path: str | PathLike[str]) -> WeightData:
    """Read the file of a recorder of weights, or the files of all processes as one; as `read_spikes`.

    Raises
    ------
    FileError
        As `read_spikes`.
    """
    parts = _read(checked_path(path), "weights")
    metadata, _ = parts[0]
    columns = _side_by_side(parts, ("sources", "targets"), ("weights",))
    return WeightData(
        steps=_integers(columns["steps"]),
        weights=np.asarray(columns["weights"], dtype=np.float64),
        sources=_integers(columns["sources"]),
        targets=_integers(columns["targets"]),
        resolution=float(metadata["resolution"]),
        projection=str(metadata["projection"]),
    )


def _side_by_side(parts: list[Part], owners: tuple[str, ...], samples: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """Return the samples of all files, in the order of the recorder, up to the step that all of them reach."""
    if len(parts) == 1:
        return parts[0][1]
    end = min(int(metadata["end"]) for metadata, _ in parts)
    # A file of lines tells nothing of samples of no neurons.
    steps = max((columns["steps"] for _, columns in parts), key=len)
    steps = steps[steps <= end]
    order = np.argsort(np.concatenate([columns["places"] for _, columns in parts]), kind="stable")
    joined = {"steps": steps}
    for name in owners:
        joined[name] = np.concatenate([columns[name] for _, columns in parts])[order]
    for name in samples:
        wide = [columns[name][: len(steps)] for _, columns in parts if columns[name].shape[1] > 0]
        joined[name] = np.concatenate(wide, axis=1)[:, order] if wide else np.empty((len(steps), 0))
    return joined


def _integers(values: npt.ArrayLike) -> IntArray:
    return np.asarray(values, dtype=np.int64)


def _read(path: Path, kind: str) -> list[Part]:
    """Return what a file holds, or the files of all ranks, by rank."""
    with file_errors(path, "read"):
        return [_read_file(part, kind) for part in _files_of(path)]


def _read_file(path: Path, kind: str) -> Part:
    with path.open("rb"):
        pass
    read = _read_csv if path.suffix.lower() == CSV_SUFFIX else _read_hdf5
    try:
        metadata, columns = read(path)
    except (ValueError, KeyError) as error:
        raise FileError(f"file {path}", bound=f"it is not a recording of Ranvier ({error})") from error
    if metadata.get("format") != "ranvier" or metadata.get("kind") != kind:
        raise FileError(f"file {path}", str(metadata.get("kind", "something else")), f"a recording of {kind} is needed")
    return metadata, columns


def _files_of(path: Path) -> list[Path]:
    """Return the file or the files that a name stands for, those of the newest run."""
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
                bound=f"it is missing: {newest} is one of {ranks} files that belong together",
                remedy="get the files of all ranks into one folder",
            )
        if described[rank][1]["run_id"] != wanted["run_id"]:
            raise FileError(
                f"file {part}",
                bound=f"it is of another run than {newest}",
                remedy="get all files of one run into one folder",
            )
    return [path_of_rank(path, rank) for rank in range(ranks)]


def _read_hdf5(path: Path) -> tuple[Metadata, dict[str, npt.NDArray[Any]]]:
    with h5py.File(path, "r") as file:
        metadata = dict(file.attrs)
        for name in ("segments", "variables"):
            if name in metadata:
                metadata[name] = json.loads(metadata[name])
        return metadata, {name: dataset[()] for name, dataset in file.items()}


def _read_csv(path: Path) -> tuple[Metadata, dict[str, npt.NDArray[Any]]]:
    with path.open() as file:
        first = file.readline()
        if not first.startswith("# {"):
            raise ValueError("its first line does not describe it")
        metadata: Metadata = json.loads(first[2:])
        names = file.readline().strip().split(",")
        rows, end = [], metadata["begin"]
        for line in file:
            if line.startswith("#"):
                end = int(line.split()[2])
            else:
                rows.append(line)
    metadata["end"] = end
    table = np.loadtxt(rows, delimiter=",", ndmin=2) if rows else np.empty((0, len(names)))
    columns = dict(zip(names, table.T, strict=True))
    if metadata["kind"] == "spikes":
        return metadata, {"steps": columns["step"], "neurons": columns["neuron"]}
    # One line per sample and neuron, or synapse.
    fixed = ("neurons",) if metadata["kind"] == "state" else ("sources", "targets")
    width = max(1, len(metadata[fixed[0]]))
    result = {name: np.asarray(metadata[name]) for name in (*fixed, "places") if name in metadata}
    result["steps"] = columns["step"][::width]
    data = names[3:] if metadata["kind"] == "state" else ["weight"]
    for name in data:
        shaped = columns[name].reshape(-1, width)[:, : len(metadata[fixed[0]])]
        result["weights" if name == "weight" else name] = shaped
    return metadata, result
