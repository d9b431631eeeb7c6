"""Recordings in files, written piece by piece while a simulation runs. `ranvier.reading` reads them.

HDF5 (``.h5``, ``.hdf5``) holds one dataset per column, with what they mean as attributes of the file. CSV (``.csv``)
holds one line per spike or sample after lines that begin with ``#`` and a line with the names of the columns; its first
line is JSON and tells what the file is.

Where each process of a run writes what its own neurons gave, ``spikes.h5`` becomes ``spikes.rank0.h5``,
``spikes.rank1.h5`` and so on. All files of a run have its ``run_id``, and those of ranks also ``rank``, ``ranks`` and,
unless they hold spikes, ``places``: which of the recorder's neurons or synapses theirs are. They are read together by
the name without a rank.
"""

from __future__ import annotations

import glob
import json
import math
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import h5py
import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.errors import FileError
from ranvier.paths import file_errors
from ranvier.times import times_of

__all__ = [
    "CSV_SUFFIX",
    "SUFFIXES",
    "Columns",
    "Metadata",
    "RecordingFile",
    "create",
    "files_of_ranks",
    "path_of_rank",
    "peek",
    "remove_relics",
]

Metadata: TypeAlias = dict[str, Any]
Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]

_HDF5_SUFFIXES = (".h5", ".hdf5")
CSV_SUFFIX = ".csv"
SUFFIXES = (*_HDF5_SUFFIXES, CSV_SUFFIX)
# Bytes of one chunk of a dataset.
_CHUNK_BYTES = 1 << 18
# What HDF5 itself needs beside the chunks when a file grows, at most, in bytes and as a part of them.
_HDF5_OVERHEAD_BYTES = 1 << 17
_HDF5_OVERHEAD = 1.0 / 64.0


def path_of_rank(path: Path, rank: int) -> Path:
    """Return the name of the file to which one of several processes writes."""
    return path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def remove_relics(path: Path, ranks: int | None = None) -> None:
    """Remove what an earlier run with another number of files has left where a recorder writes.

    Parameters
    ----------
    path
        Where it writes.
    ranks
        How many processes will write; None: one, to `path` itself.
    """
    with file_errors(path, "replaced"):
        for rank, relic in files_of_ranks(path).items():
            if (ranks is None or rank >= ranks) and "rank" in (peek(relic) or {}):
                relic.unlink(missing_ok=True)
        if ranks is not None and peek(path) is not None:
            path.unlink(missing_ok=True)


def files_of_ranks(path: Path) -> dict[int, Path]:
    """Return the files beside `path` that are named like those of its ranks."""
    found = {}
    for candidate in path.parent.glob(f"{glob.escape(path.stem)}.rank*{glob.escape(path.suffix)}"):
        match = re.fullmatch(r"\.rank(0|[1-9][0-9]*)", candidate.stem.removeprefix(path.stem))
        if match:
            found[int(match[1])] = candidate
    return found


def peek(path: Path) -> Metadata | None:
    """Return what a file tells of itself, or None if it is not a recording."""
    try:
        if path.suffix.lower() == CSV_SUFFIX:
            with path.open("rb") as file:
                first = file.readline()
            metadata = json.loads(first[2:]) if first.startswith(b"# {") else None
        else:
            with h5py.File(path, "r") as file:
                metadata = dict(file.attrs)
    except (OSError, ValueError):
        return None
    return metadata if isinstance(metadata, dict) and metadata.get("format") == "ranvier" else None


class RecordingFile(Protocol):
    """A file that grows while a simulation runs. It is open only while something is written."""

    def append(self, columns: Columns, end: int) -> None:
        """Write rows, which reach up to step `end`; after an error the same rows can be written again."""


def create(path: Path, kind: str, metadata: Metadata, fixed: Columns, columns: Columns) -> RecordingFile:
    """Create or replace the file of a recorder.

    Parameters
    ----------
    path
        Its suffix tells the format.
    kind
        ``"spikes"``, ``"state"`` or ``"weights"``.
    metadata
        What must be known to read it, as JSON has it.
    fixed
        Arrays that are written once.
    columns
        Empty arrays of the type and shape, but for the first dimension, of what will be appended.
    """
    metadata = {
        "format": "ranvier",
        "kind": kind,
        "version": _core.version,
        "file_id": uuid.uuid4().hex,
        **metadata,
    }
    with file_errors(path, "written"):
        if path.suffix.lower() == CSV_SUFFIX:
            return _CsvFile(path, metadata, fixed, columns)
        return _Hdf5File(path, metadata, fixed, columns)


class _Hdf5File:
    def __init__(self, path: Path, metadata: Metadata, fixed: Columns, columns: Columns) -> None:
        self._path = path
        self._id = metadata["file_id"]
        self._rows = 0
        self._chunks: dict[str, tuple[int, ...]] = {}
        path.write_bytes(b"")
        _reserve(path, sum(array.nbytes for array in fixed.values()))
        with h5py.File(path, "w") as file:
            for name, value in metadata.items():
                file.attrs[name] = json.dumps(value) if isinstance(value, list | dict) else value
            for name, array in fixed.items():
                file.create_dataset(name, data=array)
            for name, array in columns.items():
                row_bytes = max(1, array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64)))
                rows = max(1, _CHUNK_BYTES // row_bytes)
                # A row that is longer than a chunk is cut.
                width = tuple(max(1, min(n, _CHUNK_BYTES // array.dtype.itemsize)) for n in array.shape[1:])
                self._chunks[name] = (rows, *width)
                file.create_dataset(
                    name,
                    shape=(0, *array.shape[1:]),
                    maxshape=(None, *(n or None for n in array.shape[1:])),
                    dtype=array.dtype,
                    chunks=self._chunks[name],
                )

    def append(self, columns: Columns, end: int) -> None:
        with file_errors(self._path, "written"):
            _reserve(self._path, sum(self._growth(name, array) for name, array in columns.items()))
            self._write(columns, end)

    def _growth(self, name: str, array: npt.NDArray[Any]) -> int:
        """Bytes of the chunks that the rows of a dataset need beside those that it has."""
        rows, *width = self._chunks[name]
        new = -(-(self._rows + len(array)) // rows) - -(-self._rows // rows)
        across = [-(-n // chunk) for n, chunk in zip(array.shape[1:], width, strict=True)]
        return math.prod([new, *across, rows, *width]) * array.dtype.itemsize

    def _write(self, columns: Columns, end: int) -> None:
        with h5py.File(self._path, "r+") as file:
            if file.attrs.get("file_id") != self._id:
                raise FileError(
                    f"file {self._path}",
                    bound="another simulation or program has replaced it",
                    remedy="give each simulation files of its own",
                )
            rows = 0
            for name, array in columns.items():
                rows = len(array)
                dataset = file[name]
                dataset.resize(self._rows + rows, axis=0)
                dataset[self._rows :] = array
            file.attrs["end"] = end
        self._rows += rows


def _reserve(path: Path, size: int) -> None:
    """Make sure that a file of HDF5 can grow by so many bytes.

    When a write fails inside HDF5, as it does on a full disk, the library is left in a state in which it later crashes.
    So the space is taken before; HDF5 gives back what it does not use when it closes the file.
    """
    with path.open("r+b") as file:
        now = file.seek(0, os.SEEK_END)
        try:
            os.posix_fallocate(file.fileno(), now, _HDF5_OVERHEAD_BYTES + size + int(size * _HDF5_OVERHEAD))
        except OSError:
            file.truncate(now)
            raise


class _CsvFile:
    def __init__(self, path: Path, metadata: Metadata, fixed: Columns, columns: Columns) -> None:
        self._path = path
        self._kind = metadata["kind"]
        self._resolution = metadata["resolution"]
        self._fixed = fixed
        described = {**metadata, **{name: array.tolist() for name, array in fixed.items()}}
        names = {
            "spikes": ["step", "time_ms", "neuron"],
            "state": ["step", "time_ms", "neuron", *(name for name in columns if name != "steps")],
            "weights": ["step", "time_ms", "source", "target", "weight"],
        }[self._kind]
        self._header = f"# {json.dumps(described)}\n{','.join(names)}\n".encode()
        path.write_bytes(self._header)
        self._bytes = len(self._header)

    def append(self, columns: Columns, end: int) -> None:
        with file_errors(self._path, "written"), self._path.open("r+b") as file:
            if file.read(len(self._header)) != self._header:
                raise FileError(
                    f"file {self._path}",
                    bound="another simulation or program has replaced it",
                    remedy="give each simulation files of its own",
                )
            # What an earlier attempt may have left is written anew.
            file.truncate(self._bytes)
            file.seek(self._bytes)
            file.writelines(line.encode() for line in self._lines(columns))
            file.write(f"# end {end}\n".encode())
            position = file.tell()
        self._bytes = position

    def _lines(self, columns: Columns) -> Iterator[str]:
        steps = columns["steps"]
        times = times_of(steps, self._resolution).tolist()
        if self._kind == "spikes":
            for step, time, neuron in zip(steps.tolist(), times, columns["neurons"].tolist(), strict=True):
                yield f"{step},{time!r},{neuron}\n"
        elif self._kind == "state":
            neurons = self._fixed["neurons"].tolist()
            names = [name for name in columns if name != "steps"]
            for row, (step, time) in enumerate(zip(steps.tolist(), times, strict=True)):
                for neuron, *values in zip(neurons, *(columns[name][row].tolist() for name in names), strict=True):
                    yield f"{step},{time!r},{neuron},{','.join(map(repr, values))}\n"
        else:
            pairs = list(zip(self._fixed["sources"].tolist(), self._fixed["targets"].tolist(), strict=True))
            for step, time, weights in zip(steps.tolist(), times, columns["weights"], strict=True):
                for (source, target), weight in zip(pairs, weights.tolist(), strict=True):
                    yield f"{step},{time!r},{source},{target},{weight!r}\n"
