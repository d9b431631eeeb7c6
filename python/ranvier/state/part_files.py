"""Files of columns, written and read in pieces, with a check of each block of each column.

The state of a simulation is a set of tables. The rows of a table are objects with a global id. Each column is a dataset
``TABLE/COLUMN``. It has one value for each row, or a list for each row. Then the column ``size`` has the lengths of the
lists, which lie one after another. The dataset ``manifest`` is JSON: it lists the columns, with a BLAKE2b hash of each
block of 65536 values. A reader checks each block that it reads.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.file_space import reserve
from ranvier.base.hdf5 import h5py
from ranvier.base.paths import file_errors
from ranvier.errors import FileError

__all__ = ["BLOCK", "CORRUPT", "Array", "Column", "PartReader", "PartWriter", "check_of", "damage_found", "damaged"]

Array: TypeAlias = npt.NDArray[Any]
Column: TypeAlias = tuple[str, bool, Array]
"""Name of a column, whether it has lists, and its values."""

BLOCK = 1 << 16
_VERSIONS = ("v110", "v110")
_SMALLEST_CHUNK = 256
_DATASET_BYTES = 1 << 14
CORRUPT = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError, OSError)
"""Errors that Python and its libraries raise for a file with unexpected content."""


def damaged(path: Path, what: str = "") -> FileError:
    """Return the error for a file that was changed after it was written."""
    return FileError(
        f"file {path}",
        what,
        "it is damaged, cut, or was changed: its check does not fit its content",
        "use another saved state, or copy it again from its original",
    )


@contextlib.contextmanager
def damage_found(path: Path) -> Iterator[None]:
    """Turn errors of libraries that read a file into FileError."""
    try:
        yield
    except FileError:
        raise
    except FileNotFoundError as error:
        raise FileError(
            f"file {path}",
            bound="there is no such file",
            remedy="check the path, and keep all files of a state together",
        ) from error
    except PermissionError as error:
        raise FileError(f"file {path}", bound="it cannot be read", remedy="check the permissions") from error
    except CORRUPT as error:
        raise damaged(path) from error


def check_of(data: bytes) -> str:
    """Return the check of some bytes as text."""
    return hashlib.sha256(data).hexdigest()


def _hash_of(block: Array) -> str:
    return hashlib.blake2b(np.ascontiguousarray(block).view(np.uint8).data, digest_size=8).hexdigest()


@dataclass
class _Written:
    """A column that is being written."""

    dataset: Any
    is_list: bool
    rows: int = 0
    checks: list[str] = field(default_factory=list)
    pending: list[Array] = field(default_factory=list)  # values of the block that is not complete
    pending_rows: int = 0


class PartWriter:
    """A file that is being written; an error leaves a file that is to be removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._columns: dict[tuple[str, str], _Written] = {}
        # Space is reserved in pieces that are a little larger than needed.
        self._reserved, self._needed = 0, 0
        with file_errors(path, "written"):
            path.open("xb").close()
            try:
                reserve(path, _DATASET_BYTES)
                self._file = h5py.File(path, "w", libver=_VERSIONS)
            except BaseException:
                path.unlink()
                raise

    def write(self, table: str, columns: list[Column]) -> None:
        """Append rows to a table."""
        with file_errors(self.path, "written"):
            for name, is_list, values in columns:
                if len(values):
                    self._append(self._column(table, name, is_list, values), values)

    def write_text(self, name: str, text: bytes) -> None:
        """Write a dataset of one text."""
        with file_errors(self.path, "written"):
            self._make_room(len(text) + _DATASET_BYTES)
            self._file.create_dataset(name, data=np.frombuffer(text, dtype=np.uint8))

    def mark(self, kind: str) -> None:
        """Write the kind of the file as an attribute, for other programs."""
        with file_errors(self.path, "written"):
            self._make_room(_DATASET_BYTES)
            self._file.attrs["format"] = kind

    def finish(self) -> str:
        """Write the list of columns, and return its check."""
        tables: dict[str, dict[str, Any]] = {}
        for (table, name), column in self._columns.items():
            if column.pending_rows:
                column.checks.append(_hash_of(np.concatenate(column.pending)))
            tables.setdefault(table, {})[name] = {
                "list": column.is_list,
                "dtype": column.dataset.dtype.str,
                "rows": column.rows,
                "checks": column.checks,
            }
        manifest = json.dumps(tables).encode()
        self.write_text("manifest", manifest)
        return check_of(manifest)

    def close(self) -> int:
        """Close the file, make sure that it is on the disk, and return its size in bytes."""
        with file_errors(self.path, "written"):
            self._file.close()
            # HDF5 releases reserved space of a file that it has opened.
            h5py.File(self.path, "r+", libver=_VERSIONS).close()
            with self.path.open("rb") as file:
                os.fsync(file.fileno())
                return os.fstat(file.fileno()).st_size

    def abandon(self) -> None:
        """Close and remove the file after an error."""
        with contextlib.suppress(Exception):
            self._file.close()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _make_room(self, size: int) -> None:
        self._needed += size
        if self._needed > self._reserved:
            more = self._needed - self._reserved + (self._needed >> 3)
            reserve(self.path, more)
            self._reserved += more

    def _column(self, table: str, name: str, is_list: bool, values: Array) -> _Written:
        found = self._columns.get((table, name))
        if found is None:
            chunk = min(BLOCK, max(_SMALLEST_CHUNK, 1 << (len(values) - 1).bit_length()))
            self._make_room(_DATASET_BYTES)
            dataset = self._file.create_dataset(
                f"{table}/{name}", shape=(0,), maxshape=(None,), dtype=values.dtype, chunks=(chunk,)
            )
            found = self._columns[table, name] = _Written(dataset, is_list)
        return found

    def _append(self, column: _Written, values: Array) -> None:
        (chunk,) = column.dataset.chunks
        rows = column.rows + len(values)
        new_chunks = -(-rows // chunk) - -(-column.rows // chunk)
        self._make_room(int(new_chunks * chunk * values.dtype.itemsize * (1.0 + 1.0 / 64.0)))
        column.dataset.resize(rows, axis=0)
        column.dataset[column.rows :] = values
        column.rows = rows
        for begin in _cuts(values, BLOCK - column.pending_rows):
            column.pending.append(begin)
            column.pending_rows += len(begin)
            if column.pending_rows == BLOCK:
                column.checks.append(_hash_of(np.concatenate(column.pending)))
                column.pending, column.pending_rows = [], 0
        # A copy: the array that was given is not kept.
        column.pending = [np.concatenate(column.pending)] if column.pending else []


def _cuts(values: Array, first: int) -> Iterator[Array]:
    """Yield a first stretch of values, then stretches of one block."""
    yield values[:first]
    for begin in range(first, len(values), BLOCK):
        yield values[begin : begin + BLOCK]


class _Stream:
    """A column that is read from start to end; blocks that are not needed are skipped."""

    def __init__(self, path: Path, dataset: Any, described: dict[str, Any]) -> None:
        self._path = path
        self._dataset = dataset
        self._checks: list[str] = described["checks"]
        self.rows: int = described["rows"]
        self.is_list = bool(described["list"])
        self.dtype = np.dtype(described["dtype"])
        expected = -(-self.rows // BLOCK)
        if dataset.shape != (self.rows,) or dataset.dtype != self.dtype or len(self._checks) != expected:
            raise damaged(path, dataset.name)
        self._next = 0
        self._block, self._values = -1, np.empty(0, dtype=self.dtype)

    @property
    def left(self) -> int:
        return self.rows - self._next

    def skip(self, count: int) -> None:
        self._next += count

    def peek(self, count: int) -> Array:
        parts = []
        begin, end = self._next, min(self._next + count, self.rows)
        while begin < end:
            block = begin // BLOCK
            self._load(block)
            stop = min(end, (block + 1) * BLOCK)
            parts.append(self._values[begin - block * BLOCK : stop - block * BLOCK])
            begin = stop
        return np.concatenate(parts) if parts else np.empty(0, dtype=self.dtype)

    def take(self, count: int) -> Array:
        if count > self.left:
            raise damaged(self._path, self._dataset.name)
        values = self.peek(count)
        self._next += count
        return values

    def _load(self, block: int) -> None:
        if block == self._block:
            return
        values = self._dataset[block * BLOCK : (block + 1) * BLOCK]
        if _hash_of(values) != self._checks[block]:
            raise damaged(self._path, self._dataset.name)
        self._block, self._values = block, values


class PartReader:
    """A file of columns whose manifest has a known check."""

    def __init__(self, path: Path, check: str) -> None:
        self.path = path
        with damage_found(path):
            self._file = h5py.File(path, "r")
            try:
                manifest = self.text("manifest")
                if check_of(manifest) != check:
                    raise damaged(path)
                self._tables: dict[str, dict[str, Any]] = json.loads(manifest)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> PartReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def text(self, name: str) -> bytes:
        """Return a dataset of one text."""
        dataset = self._file[name]
        if not isinstance(dataset, h5py.Dataset) or dataset.dtype != np.uint8 or dataset.ndim != 1:
            raise damaged(self.path, name)
        return bytes(dataset[()].tobytes())

    @property
    def tables(self) -> list[str]:
        """Names of the tables that have any rows."""
        return list(self._tables)

    def pieces(
        self, table: str, rows: int, elements: int, wants: Callable[[int], bool] | None = None
    ) -> Iterator[list[Column]]:
        """Yield a table in pieces.

        Parameters
        ----------
        table
            Its name; a table that the file does not have has no pieces.
        rows, elements
            The most rows of a piece, and the most values in all of its lists, but at least one row.
        wants
            Function that is called with the number of each piece; where it returns False, the piece is skipped.
        """
        if table not in self._tables:
            return
        with damage_found(self.path):
            streams = {
                name: _Stream(self.path, self._file[f"{table}/{name}"], described)
                for name, described in self._tables[table].items()
            }
            fixed = [stream for stream in streams.values() if not stream.is_list]
            if not fixed or any(stream.rows != fixed[0].rows for stream in fixed):
                raise damaged(self.path, table)
        for number in itertools.count():
            if not fixed[0].left:
                break
            with damage_found(self.path):
                piece = _next_piece(self.path, streams, rows, elements, wants is None or wants(number))
            if piece is not None:
                yield piece
        if any(stream.left for stream in streams.values()):
            raise damaged(self.path, table)


def _next_piece(path: Path, streams: dict[str, _Stream], rows: int, elements: int, wanted: bool) -> list[Column] | None:
    count = min(rows, next(stream.left for stream in streams.values() if not stream.is_list))
    total = 0
    if "size" in streams:
        sizes = streams["size"].peek(count)
        if sizes.dtype != np.int64 or (len(sizes) and int(sizes.min()) < 0):
            raise damaged(path, "size")
        ends = np.cumsum(sizes)
        count = max(1, int(np.searchsorted(ends, elements, side="right")))
        total = int(ends[count - 1])
    piece: list[Column] = []
    for name, stream in streams.items():
        size = total if stream.is_list else count
        if wanted:
            piece.append((name, stream.is_list, stream.take(size)))
        else:
            stream.skip(size)
    return piece if wanted else None
