"""Recordings in HDF5 files: a dataset for each column, and one for the pieces that were written.

A file of spikes has the datasets ``times`` (ms) and ``ids`` (global ids of the neurons), with one row per spike. A file
of state variables has ``times``, ``ids`` and for each variable, such as ``V_m``, a dataset of the shape (times, ids). A
file of weights has ``times``, ``sources``, ``targets`` and ``weights`` of the shape (times, synapses). Times are the
doubles nearest to the decimal times. Ranvier computes the steps from them: step = time / ``resolution``. The resolution
is an attribute of the file, as are all other properties.

The dataset ``pieces`` has a row for each piece: the last step `end` of the piece, the number of its `rows` in each
column, and a `check`, the beginning of the SHA-256 of everything that was written before. The dataset ``description``
is JSON; the attributes of the file contain the same for other programs.

The dataset ``complete`` marks the end of a recording. While a run writes to the file, it is empty; otherwise it is a
check of the last piece.

Rows are written before the row in ``pieces`` that refers to them, and in the order that HDF5 keeps for files that are
read while they are written (SWMR). So after a kill, a file can be read up to its last complete piece.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.file_space import reserve
from ranvier.base.hdf5 import h5py
from ranvier.base.paths import file_errors
from ranvier.base.times import times_of
from ranvier.errors import FileError
from ranvier.recording.hdf5_superblock import as_if_closed, was_left_open
from ranvier.recording.pieces import CORRUPT, MARKS_END, Columns, Cut, Metadata, Recorded, damaged, not_ours, sync

__all__ = ["Hdf5File", "describe", "read"]

# Bytes of one chunk of a dataset.
_CHUNK_BYTES = 1 << 18
# The first version of the format that supports reading while writing, and has checksums for its structures.
_VERSIONS = ("v110", "v110")
_PIECE = np.dtype([("end", np.int64), ("rows", np.int64), ("check", "S16")])
_PIECES_IN_A_CHUNK = 256
_MARK = np.dtype("S16")


class Hdf5File:
    """An HDF5 file that is being written."""

    def __init__(self, path: Path, metadata: Metadata, fixed: Columns, columns: Columns) -> None:
        self._path = path
        self._file_id = metadata["file_id"]
        self._resolution = float(metadata["resolution"])
        columns = _with_times(columns, self._resolution)
        metadata = {**metadata, "columns": list(columns)}
        self._rows = 0
        self._pieces = 1
        self._chunks: dict[str, tuple[int, ...]] = {}
        description = json.dumps(metadata)
        self._check = _check_of_description(description.encode(), fixed)
        self._last = np.array([(metadata["end"], 0, _told(self._check, metadata["end"], 0))], dtype=_PIECE)
        path.write_bytes(b"")
        reserve(path, len(description) + sum(array.nbytes for array in fixed.values()))
        with h5py.File(path, "w", libver=_VERSIONS) as file:
            for name, value in metadata.items():
                file.attrs[name] = json.dumps(value) if isinstance(value, list | dict) else value
            file.create_dataset("description", data=np.bytes_(description.encode()))
            for name, array in fixed.items():
                file.create_dataset(name, data=array)
            for name, array in columns.items():
                self._create_column(file, name, array)
            file["times"].attrs["unit"] = "ms"
            file.create_dataset("pieces", data=self._last, maxshape=(None,), chunks=(_PIECES_IN_A_CHUNK,))
            file.create_dataset("complete", data=np.array([_mark_after(self._last)], dtype=_MARK))
            self._place_of_mark = _place_of_mark(path, file)
        self._stamp = _stamp(path)

    def _create_column(self, file: Any, name: str, array: npt.NDArray[Any]) -> None:
        row_bytes = max(1, array.dtype.itemsize * math.prod(array.shape[1:]))
        rows = max(1, _CHUNK_BYTES // row_bytes)
        # A row that is longer than a chunk is divided.
        width = tuple(max(1, min(n, _CHUNK_BYTES // array.dtype.itemsize)) for n in array.shape[1:])
        self._chunks[name] = (rows, *width)
        file.create_dataset(
            name,
            shape=(0, *array.shape[1:]),
            maxshape=(None, *(n or None for n in array.shape[1:])),
            dtype=array.dtype,
            chunks=self._chunks[name],
        )

    def position(self) -> Metadata:
        """Return how far the file has been written, after making sure that it is on the disk."""
        sync(self._path)
        return {"file_id": self._file_id, "pieces": self._pieces}

    @classmethod
    def resume(cls, path: Path, position: Metadata) -> Hdf5File:
        """Continue a file from a position in it; the rest is truncated.

        Raises
        ------
        FileError
            When it is another file, or does not reach so far.
        """
        file = cls.__new__(cls)
        file._path, file._pieces = path, position["pieces"]
        was_open = was_left_open(path)
        with _open_to_read(path, was_open) as opened:
            description: bytes = _dataset(path, opened, "description")[()]
            metadata: Metadata = json.loads(description)
            if metadata["file_id"] != position["file_id"]:
                raise not_ours(path)
            file._file_id, file._resolution = metadata["file_id"], float(metadata["resolution"])
            fixed = {name: _dataset(path, opened, name)[()] for name in metadata["fixed"]}
            datasets = {name: _dataset(path, opened, name) for name in metadata["columns"]}
            file._chunks = {name: dataset.chunks for name, dataset in datasets.items()}
            pieces = _dataset(path, opened, "pieces")[: file._pieces]
            file._last = pieces[-1:]
            if len(pieces) != file._pieces:
                raise damaged(path, None)
            file._check = _check_of_description(description, fixed)
            file._rows = _add_pieces(path, file._check, pieces, datasets)
            file._place_of_mark = _place_of_mark(path, opened)
            is_longer = len(opened["pieces"]) > file._pieces
            is_longer |= any(len(dataset) > file._rows for dataset in datasets.values())
        if is_longer or was_open:
            _cut(path, was_open, file._pieces, dict.fromkeys(datasets, file._rows))
        file._stamp = _stamp(path)
        file.end_run()
        return file

    def begin_run(self) -> None:
        """Remove the mark at the end: the recording is incomplete until `end_run`."""
        self._write_mark(bytes(_MARK.itemsize))

    def end_run(self) -> None:
        """Mark the end: the recording in the file is complete."""
        self._write_mark(_mark_after(self._last))

    def _write_mark(self, mark: bytes) -> None:
        with file_errors(self._path, "written"):
            self._make_sure_it_is_ours()
            # Opening the file with HDF5 takes a hundred times as long. These bytes have no checksum in the file.
            with self._path.open("r+b", buffering=0) as file:
                os.pwrite(file.fileno(), mark, self._place_of_mark)
            self._stamp = _stamp(self._path)

    def append(self, columns: Columns, end: int) -> None:
        """Write rows up to step `end`. After an error the same rows can be written again."""
        columns = _with_times(columns, self._resolution)
        with file_errors(self._path, "written"):
            # Check this before changing anything: the file may belong to another program by now.
            self._make_sure_it_is_ours()
            reserve(self._path, sum(self._growth(name, array) for name, array in columns.items()))
            self._write(columns, end)

    def _make_sure_it_is_ours(self) -> None:
        if _stamp(self._path) == self._stamp:
            return
        with self._path.open("rb"):
            pass
        try:
            with h5py.File(self._path, "r") as file:
                pieces = file["pieces"]
                ours = len(pieces) >= self._pieces and pieces[self._pieces - 1] == self._last[0]
                ours = ours and all(len(file[name]) >= self._rows for name in self._chunks)
        except (OSError, *CORRUPT):
            ours = False
        if not ours:
            raise not_ours(self._path)

    def _growth(self, name: str, array: npt.NDArray[Any]) -> int:
        """Return the bytes of the additional chunks that new rows of a dataset need."""
        rows, *width = self._chunks[name]
        new = -(-(self._rows + len(array)) // rows) - -(-self._rows // rows)
        across = [-(-n // chunk) for n, chunk in zip(array.shape[1:], width, strict=True)]
        return math.prod([new, *across, rows, *width]) * array.dtype.itemsize

    def _write(self, columns: Columns, end: int) -> None:
        check, rows = self._check.copy(), 0
        with _open_to_append(self._path) as file:
            for name, array in columns.items():
                rows = len(array)
                dataset = file[name]
                dataset.resize(self._rows + rows, axis=0)
                dataset[self._rows :] = array
                dataset.flush()
                check.update(_bytes_of(array))
            last = np.array([(end, rows, _told(check, end, rows))], dtype=_PIECE)
            pieces = file["pieces"]
            pieces.resize(self._pieces + 1, axis=0)
            pieces[self._pieces :] = last
            pieces.flush()
        self._check, self._last = check, last
        self._stamp = _stamp(self._path)
        self._rows += rows
        self._pieces += 1


def _add_pieces(path: Path, check: Any, pieces: npt.NDArray[Any], datasets: dict[str, Any]) -> int:
    """Add all pieces to a check, and compare; return the number of their rows."""
    begin = 0
    for end, rows, wanted in pieces.tolist():
        for dataset in datasets.values():
            check.update(_bytes_of(dataset[begin : begin + rows]))
        if _told(check, end, rows) != wanted:
            raise damaged(path, None)
        begin += rows
    return begin


def _cut(path: Path, was_open: bool, pieces: int, rows: dict[str, int]) -> None:
    """Cut a file back to some pieces. A kill leaves the old file or the new one."""
    beside = path.with_name(f".ranvier.{os.urandom(8).hex()}")
    try:
        with as_if_closed(path) if was_open else path.open("rb") as old, beside.open("xb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
        with h5py.File(beside, "r+", libver=_VERSIONS) as file:
            for name, size in (rows | {"pieces": pieces}).items():
                file[name].resize(size, axis=0)
        shutil.copymode(path, beside)
        sync(beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _place_of_mark(path: Path, file: Any) -> int:
    """Return the position, in the file, of the bytes of the dataset ``complete``."""
    place = _dataset(path, file, "complete").id.get_offset()
    if place is None:
        raise damaged(path, None)
    return int(place)


def _mark_after(last: npt.NDArray[Any]) -> bytes:
    """Return the mark of a recording that ends with this row of ``pieces``."""
    return hashlib.sha256(b"complete " + last["check"][0]).hexdigest()[: _MARK.itemsize].encode()


def _stamp(path: Path) -> tuple[int, ...]:
    """Return properties of a file that change when it is written."""
    now = path.stat()
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns


def _open_to_append(path: Path) -> Any:
    """Open a file for writing such that it can be read at each moment."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
    return h5py.File(h5py.h5f.open(os.fsencode(path), flags, fapl=access))


def _with_times(columns: Columns, resolution: float) -> Columns:
    """Return columns with steps converted to times."""
    return {"times": times_of(columns["steps"], resolution), **{k: v for k, v in columns.items() if k != "steps"}}


def _with_steps(path: Path, columns: Columns, resolution: float) -> dict[str, npt.NDArray[Any]]:
    """Return columns with times converted to steps."""
    times = columns["times"]
    steps = np.rint(times / resolution).astype(np.int64)
    if not np.array_equal(times_of(steps, resolution), times):
        raise damaged(path, None)
    return {"steps": steps, **{k: v for k, v in columns.items() if k != "times"}}


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _check_of_description(description: bytes, fixed: Columns) -> Any:
    check = hashlib.sha256(description)
    for array in fixed.values():
        check.update(_bytes_of(array))
    return check


def _told(check: Any, end: int, rows: int) -> bytes:
    """Add the end of a piece to the check, and return the check."""
    check.update(f"end={end} rows={rows}".encode())
    told: bytes = check.hexdigest()[:16].encode()
    return told


# ---- reading ---------------------------------------------------------------------------------------------------------


def describe(path: Path) -> Metadata:
    """Return the description in a file, unchecked."""
    with _open_to_read(path, was_left_open(path)) as file:
        described: Metadata = json.loads(_dataset(path, file, "description")[()])
        return described


def read(path: Path) -> Recorded:
    """Return the complete pieces of a file."""
    was_open = was_left_open(path)
    with _open_to_read(path, was_open) as file:
        # Read the pieces first: all their rows are in the file then, even if another process is still writing.
        pieces = _dataset(path, file, "pieces")[()]
        description: bytes = _dataset(path, file, "description")[()]
        metadata: Metadata = json.loads(description)
        fixed = {name: _dataset(path, file, name)[()] for name in metadata["fixed"]}
        datasets = {name: _dataset(path, file, name) for name in metadata["columns"]}
        rows = int(pieces["rows"].sum())
        columns = {name: dataset[:rows] for name, dataset in datasets.items()}
        more = any(len(dataset) > rows for dataset in datasets.values())
        marks = _dataset(path, file, "complete")[()].tolist() if MARKS_END in metadata else None
    metadata["end"] = _check_pieces(path, pieces, _check_of_description(description, fixed), columns)
    columns = _with_steps(path, columns, float(metadata["resolution"]))
    metadata["columns"] = list(columns)
    complete = not more and not was_open and (marks is None or marks == [_mark_after(pieces[-1:])])
    return Recorded(metadata, {**fixed, **columns}, None if complete else Cut(metadata["end"]))


@contextlib.contextmanager
def _open_to_read(path: Path, was_open: bool) -> Iterator[Any]:
    # Without the flag for files that are being written: with it, HDF5 would retry a wrong checksum for hours.
    with contextlib.ExitStack() as opened:
        source = opened.enter_context(as_if_closed(path)) if was_open else path
        yield opened.enter_context(h5py.File(source, "r"))


def _dataset(path: Path, file: Any, name: str) -> Any:
    found = file.get(name)
    if not isinstance(found, h5py.Dataset):
        raise FileError(f"file {path}", bound=f"it has no dataset '{name}': it is not a recording, or incomplete")
    return found


def _check_pieces(path: Path, pieces: npt.NDArray[Any], check: Any, columns: Columns) -> int:
    """Check the hashes of all pieces, and return the last step of the last piece."""
    begin, reached = 0, None
    if pieces.dtype != _PIECE or len(pieces) == 0:
        raise damaged(path, None)
    for end, rows, wanted in pieces.tolist():
        for array in columns.values():
            # A shorter column gives a different check.
            check.update(_bytes_of(array[begin : begin + max(rows, 0)]))
        if rows < 0 or _told(check, end, rows) != wanted:
            raise damaged(path, reached)
        begin, reached = begin + rows, end
    assert reached is not None
    return int(reached)
