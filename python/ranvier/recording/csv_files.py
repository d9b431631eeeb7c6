"""Recordings in CSV files, with checks that show whether a file is complete.

A file starts with a line of JSON that describes it and a line with the names of the columns. Pieces follow: lines of
rows, and a line that closes the piece, ``# end=200 rows=153 check=0123456789abcdef``. It has the step up to which the
file has the recording, the number of rows of the piece, and the first digits of the SHA-256 of all bytes of the file
before the word ``check``. The first piece has no rows and closes the description.

While no run writes to the file, its last line is ``# complete check=0123456789abcdef``, with the check of all bytes
before this line. Each run removes the line at its start and writes it again at its end.

So a reader can distinguish a complete piece, a piece that was cut because the disk was full or the program was killed,
a recording whose last pieces are missing, and a piece that was changed later.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ranvier.base.encodings import skip_mark
from ranvier.base.paths import file_errors, write_all
from ranvier.base.times import times_of
from ranvier.errors import FileError
from ranvier.recording.pieces import MARKS_END, Columns, Cut, Metadata, Recorded, damaged, not_ours, sync

__all__ = ["CsvFile", "describe", "read"]

_CLOSING = re.compile(rb"# end=(-?[0-9]{1,19}) rows=([0-9]{1,19}) check=([0-9a-f]{16})\n")
_LINES_AT_A_TIME = 8192
# Stands for the line that marks the end of a recording.
_MARK = b""


class CsvFile:
    """A CSV file that is being written."""

    def __init__(self, path: Path, metadata: Metadata, fixed: Columns, columns: Columns) -> None:
        self._describe(path, metadata, fixed)
        described = {**metadata, **{name: array.tolist() for name, array in fixed.items()}}
        names = {
            "spikes": ["step", "time_ms", "neuron"],
            "state": [
                *("step", "time_ms", "neuron", *(["compartment"] if "compartments" in fixed else [])),
                *(name for name in columns if name != "steps"),
            ],
            "weights": ["step", "time_ms", "source", "target", "weight"],
        }[self._kind]
        header = f"# {json.dumps(described)}\n{','.join(names)}\n".encode()
        self._check = hashlib.sha256(header)
        self._last = _closing_line(self._check, metadata["end"], 0)
        self._bytes = len(header) + len(self._last)
        path.write_bytes(header + self._last + _complete_line(self._check))

    def _describe(self, path: Path, metadata: Metadata, fixed: Columns) -> None:
        self._path = path
        self._file_id = metadata["file_id"]
        self._kind = metadata["kind"]
        self._resolution = metadata["resolution"]
        self._fixed = fixed

    def position(self) -> Metadata:
        """Return how far the file has been written, after making sure that it is on the disk."""
        sync(self._path)
        return {"file_id": self._file_id, "bytes": self._bytes}

    @classmethod
    def resume(cls, path: Path, position: Metadata) -> CsvFile:
        """Continue a file from a position in it; the rest is truncated.

        Raises
        ------
        FileError
            When it is another file, or does not reach so far.
        """
        metadata = describe(path)
        if metadata["file_id"] != position["file_id"]:
            raise not_ours(path)
        file = cls.__new__(cls)
        file._describe(path, metadata, {name: np.array(metadata[name]) for name in metadata["fixed"]})
        file._bytes = position["bytes"]
        file._check, file._last = _check_until(path, file._bytes)
        with path.open("r+b") as opened:
            opened.truncate(file._bytes)
        file.end_run()
        return file

    def begin_run(self) -> None:
        """Remove the mark at the end: the recording is incomplete until `end_run`."""
        with self._opened() as file:
            file.truncate(self._bytes)

    def end_run(self) -> None:
        """Mark the end: the recording in the file is complete."""
        with self._opened() as file:
            file.truncate(self._bytes)
            file.seek(self._bytes)
            write_all(file.fileno(), _complete_line(self._check))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[FileIO]:
        # Unbuffered: after an error, closing the file would write the rest of a buffer.
        with file_errors(self._path, "written"), self._path.open("r+b", buffering=0) as file:
            self._make_sure_it_is_ours(file.fileno())
            yield file

    def append(self, columns: Columns, end: int) -> None:
        """Write rows up to step `end`. After an error the same rows can be written again."""
        with self._opened() as file:
            # Overwrite anything that an earlier attempt has left.
            file.truncate(self._bytes)
            file.seek(self._bytes)
            try:
                self._append(file.fileno(), columns, end)
            except BaseException:
                with contextlib.suppress(OSError):
                    file.truncate(self._bytes)
                    file.seek(self._bytes)
                    write_all(file.fileno(), f"# missing: what was recorded up to step {end}\n".encode())
                raise

    def _append(self, descriptor: int, columns: Columns, end: int) -> None:
        check, size, rows = self._check.copy(), self._bytes, 0
        lines = self._lines(columns)
        while batch := list(itertools.islice(lines, _LINES_AT_A_TIME)):
            text = "".join(batch).encode()
            check.update(text)
            write_all(descriptor, text)
            size += len(text)
            rows += len(batch)
        last = _closing_line(check, end, rows)
        write_all(descriptor, last)
        self._check, self._last, self._bytes = check, last, size + len(last)

    def _make_sure_it_is_ours(self, descriptor: int) -> None:
        # Its check covers all lines before it, and the first line is unique to this file.
        if os.pread(descriptor, len(self._last), self._bytes - len(self._last)) != self._last:
            raise not_ours(self._path)

    def _lines(self, columns: Columns) -> Iterator[str]:
        steps = columns["steps"]
        times = times_of(steps, self._resolution).tolist()
        if self._kind == "spikes":
            for step, time, neuron in zip(steps.tolist(), times, columns["ids"].tolist(), strict=True):
                yield f"{step},{time!r},{neuron}\n"
        elif self._kind == "state":
            owners = list(map(str, self._fixed["ids"].tolist()))
            if "compartments" in self._fixed:
                owners = [f"{owner},{place}" for owner, place in zip(owners, self._fixed["compartments"], strict=True)]
            names = [name for name in columns if name != "steps"]
            for row, (step, time) in enumerate(zip(steps.tolist(), times, strict=True)):
                for owner, *values in zip(owners, *(columns[name][row].tolist() for name in names), strict=True):
                    yield f"{step},{time!r},{owner},{','.join(map(repr, values))}\n"
        else:
            pairs = list(zip(self._fixed["sources"].tolist(), self._fixed["targets"].tolist(), strict=True))
            for step, time, weights in zip(steps.tolist(), times, columns["weights"], strict=True):
                for (source, target), weight in zip(pairs, weights.tolist(), strict=True):
                    yield f"{step},{time!r},{source},{target},{weight!r}\n"


def _check_until(path: Path, size: int) -> tuple[Any, bytes]:
    """Return the check of the first bytes of a file, and the closing line at their end."""
    check, left, last = hashlib.sha256(), size, b""
    with path.open("rb") as file:
        while left > 0 and (line := file.readline()):
            left -= len(line)
            if left > 0:
                check.update(line)
            last = line
    closing = _CLOSING.fullmatch(last)
    if left != 0 or closing is None or _closing_line(check, int(closing[1]), int(closing[2])) != last:
        raise damaged(path, None)
    return check, last


def _closing_line(check: Any, end: int, rows: int) -> bytes:
    """Return the line that closes a piece, and add it to the check."""
    closing = f"# end={end} rows={rows} ".encode()
    check.update(closing)
    rest = f"check={check.hexdigest()[:16]}\n".encode()
    check.update(rest)
    return closing + rest


def _complete_line(check: Any) -> bytes:
    """Return the line that marks the end of a recording whose bytes have this check."""
    return f"# complete check={check.hexdigest()[:16]}\n".encode()


# ---- reading ---------------------------------------------------------------------------------------------------------


def describe(path: Path) -> Metadata:
    """Return the description in the first line of a file, unchecked."""
    with path.open("rb") as file:
        skip_mark(file)
        first = file.readline()
    if not first.startswith(b"# {"):
        raise ValueError("its first line does not describe it")
    described: Metadata = json.loads(first[2:])
    return described


def read(path: Path) -> Recorded:
    """Return the complete pieces of a file."""
    with path.open("rb") as file:
        skip_mark(file)
        pieces = _pieces(path, file)
        first = next(pieces, None)
        if first is None:
            raise FileError(
                f"file {path}",
                bound="it ends, or was changed, within the lines that describe it",
                remedy="no data in it can be read",
            )
        (description, names_line), begin = first
        assert begin is not None
        end = begin
        metadata: Metadata = json.loads(description[2:])
        names = names_line.decode().strip().split(",")
        types = np.dtype([(name, np.int64 if name in _WHOLE else np.float64) for name in names])
        parts = [np.empty(0, dtype=types)]
        complete = MARKS_END not in metadata
        for lines, reached in pieces:
            if reached is None:
                complete = lines == [_MARK]
                break
            end = reached
            if lines:
                parts.append(np.loadtxt([line.decode() for line in lines], dtype=types, delimiter=",", ndmin=1))
    metadata["end"] = end
    columns = _columns(metadata, names, np.concatenate(parts))
    return Recorded(metadata, columns, None if complete else Cut(end))


_WHOLE = ("step", "neuron", "compartment", "source", "target")


def _pieces(path: Path, file: BinaryIO) -> Iterator[tuple[list[bytes], int | None]]:
    """Yield the lines of each piece and its last step; at the end `_MARK`, or the lines after the last piece."""
    check = hashlib.sha256()
    end: int | None = None
    lines: list[bytes] = []
    for line in file:
        closing = _CLOSING.fullmatch(line)
        if closing is None:
            lines.append(line)
            continue
        check.update(b"".join(lines))
        reached = int(closing[1])
        # The lines that describe the file are not rows.
        rows = len(lines) if end is not None else len(lines) - 2
        if _closing_line(check, reached, int(closing[2])) != line or rows != int(closing[2]):
            raise damaged(path, end)
        end = reached
        yield lines, end
        lines = []
    if lines and end is not None:
        yield [_MARK] if lines == [_complete_line(check)] else lines, None


def _columns(metadata: Metadata, names: list[str], table: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    if metadata["kind"] == "spikes":
        columns = {"steps": table["step"], "ids": table["neuron"]}
        return {**columns, "gaps": np.array(metadata["gaps"], dtype=np.int64)} if "gaps" in metadata else columns
    # One line per sample and neuron, or synapse.
    fixed = ("ids", "compartments") if metadata["kind"] == "state" else ("sources", "targets")
    width = len(metadata[fixed[0]])
    result = {name: np.array(metadata[name], dtype=np.int64) for name in (*fixed, "places") if name in metadata}
    if "contacts" in metadata:
        result |= {axis: np.array(metadata[axis], dtype=np.float64) for axis in "xyz"}
    result["steps"] = table["step"][:: max(1, width)]
    owners = 4 if "compartments" in metadata else 3
    data = names[owners:] if metadata["kind"] == "state" else ["weight"]
    for name in data:
        result["weights" if name == "weight" else name] = table[name].reshape(-1, max(1, width))[:, :width]
    return result
