"""Recordings in files, written piece by piece while a simulation runs. `ranvier.recording.reading` reads them.

HDF5 files (``.h5``, ``.hdf5``) have one dataset per column, and a description as attributes of the file: see
`ranvier.recording.hdf5_files`. CSV files (``.csv``) have one line per spike or sample, and lines that start with ``#``:
see `ranvier.recording.csv_files`. In both, the end of each piece is marked, so that a reader finds the complete pieces,
and so is the end of the recording: a run removes this mark at its start and writes it again at its end.

If each process of a run writes the recordings of its neurons, ``spikes.h5`` becomes ``spikes.rank0.h5``,
``spikes.rank1.h5`` and so on. All files of a run have the same ``run_id``. Files of ranks also have ``rank`` and
``ranks``. Files of states and weights have ``places``: which of the recorder's neurons or synapses are in the file.
Files of spikes have ``covered`` and ``gaps``, which describe the global ids of the neurons of the process: ``covered``
is the first id, the stride and the number of ids; with stride 0, ``gaps`` has the differences of consecutive ids. The
name without a rank reads all of these files as one recording.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat
import uuid
from pathlib import Path
from typing import Protocol

from ranvier import _core
from ranvier.base.paths import file_errors
from ranvier.errors import FileError
from ranvier.recording import csv_files, hdf5_files
from ranvier.recording.csv_files import CsvFile
from ranvier.recording.hdf5_files import Hdf5File
from ranvier.recording.pieces import CORRUPT, MARKS_END, Columns, Metadata, damaged

__all__ = [
    "CSV_SUFFIX",
    "SUFFIXES",
    "Columns",
    "Metadata",
    "RecordingFile",
    "check_new",
    "check_no_relics",
    "create",
    "exists",
    "files_of_ranks",
    "path_of_rank",
    "peek",
    "remove_relics",
    "resume",
]

_HDF5_SUFFIXES = (".h5", ".hdf5")
CSV_SUFFIX = ".csv"
SUFFIXES = (*_HDF5_SUFFIXES, CSV_SUFFIX)


def path_of_rank(path: Path, rank: int) -> Path:
    """Return the name of the file to which one of several processes writes."""
    return path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def check_new(path: Path) -> None:
    """Check that a file does not exist or is empty, since its content would be lost.

    Raises
    ------
    FileError
        When there is one.
    """
    with file_errors(path, "written"):
        try:
            # One call only: another process that checks whether it can write makes an empty file and removes it again.
            found = path.stat()
        except FileNotFoundError:
            return
        if stat.S_ISREG(found.st_mode) and found.st_size > 0:
            raise exists(path)


def check_no_relics(path: Path, ranks: int | None = None) -> None:
    """Check that there are no files that `remove_relics` would remove.

    Raises
    ------
    FileError
        When it would remove a file.
    """
    with file_errors(path, "replaced"):
        for relic in _relics(path, ranks):
            raise exists(relic)


def remove_relics(path: Path, ranks: int | None = None) -> None:
    """Remove files of a recorder that an earlier run with another number of processes has left.

    Parameters
    ----------
    path
        The file of the recorder.
    ranks
        Number of processes that will write; None: one, to `path` itself.
    """
    with file_errors(path, "replaced"):
        for relic in _relics(path, ranks):
            relic.unlink(missing_ok=True)


def _relics(path: Path, ranks: int | None) -> list[Path]:
    relics = [
        relic
        for rank, relic in files_of_ranks(path).items()
        if (ranks is None or rank >= ranks) and "rank" in (peek(relic) or {})
    ]
    if ranks is not None and peek(path) is not None:
        relics.append(path)
    return relics


def files_of_ranks(path: Path) -> dict[int, Path]:
    """Return the files beside `path` that have the names of its ranks' files."""
    found = {}
    for candidate in path.parent.glob(f"{glob.escape(path.stem)}.rank*{glob.escape(path.suffix)}"):
        match = re.fullmatch(r"\.rank(0|[1-9][0-9]*)", candidate.stem.removeprefix(path.stem))
        if match:
            found[int(match[1])] = candidate
    return found


def peek(path: Path) -> Metadata | None:
    """Return the description in a file, or None if it is not a recording."""
    try:
        metadata = (csv_files if path.suffix.lower() == CSV_SUFFIX else hdf5_files).describe(path)
    except (OSError, *CORRUPT):
        return None
    return metadata if isinstance(metadata, dict) and metadata.get("format") == "ranvier" else None


class RecordingFile(Protocol):
    """A file that grows while a simulation runs. It is open only while something is written."""

    def append(self, columns: Columns, end: int) -> None:
        """Write rows up to step `end`. After an error the same rows can be written again."""

    def begin_run(self) -> None:
        """Remove the mark at the end: the recording is incomplete until `end_run`."""

    def end_run(self) -> None:
        """Mark the end: the recording in the file is complete."""

    def position(self) -> Metadata:
        """Return how far the file has been written, after making sure that it is on the disk."""


def create(
    path: Path, kind: str, metadata: Metadata, fixed: Columns, columns: Columns, *, overwrite: bool = False
) -> RecordingFile:
    """Create the file of a recorder.

    Parameters
    ----------
    path
        Path of the file; its suffix determines the format.
    kind
        ``"spikes"``, ``"state"`` or ``"weights"``.
    metadata
        Description that is needed for reading, in types that JSON has.
    fixed
        Arrays that are written once.
    columns
        Empty arrays with the type and, except for the first dimension, the shape of the arrays that will be appended.
    overwrite
        Whether to replace an existing file.

    Raises
    ------
    FileError
        When it cannot be written, or exists and must not be replaced.
    """
    metadata = {
        "format": "ranvier",
        "kind": kind,
        "version": _core.version,
        "file_id": uuid.uuid4().hex,
        "fixed": list(fixed),
        "columns": list(columns),
        MARKS_END: True,
        **metadata,
    }
    with file_errors(path, "written"):
        if not overwrite:
            _claim(path)
        try:
            if path.suffix.lower() == CSV_SUFFIX:
                return CsvFile(path, metadata, fixed, columns)
            return Hdf5File(path, metadata, fixed, columns)
        except BaseException:
            # Remove an empty new file, so that it does not prevent another attempt.
            with contextlib.suppress(OSError):
                os.truncate(path, 0)
            raise


def resume(path: Path, position: Metadata) -> RecordingFile:
    """Continue the file of a recorder from a position in it; the rest is truncated.

    Raises
    ------
    FileError
        When the file does not exist, cannot be written, ends before the position, is damaged, or is another file.
    """
    with file_errors(path, "continued"):
        os.close(os.open(path, os.O_RDWR))
        try:
            return (CsvFile if path.suffix.lower() == CSV_SUFFIX else Hdf5File).resume(path, position)
        except CORRUPT as error:
            raise damaged(path, None) from error


def _claim(path: Path) -> None:
    """Create an empty file. If two programs find no file at the same time, only one of them may write it."""
    try:
        path.open("xb").close()
    except FileExistsError:
        check_new(path)


def exists(path: Path) -> FileError:
    """Return the error for a file of a recorder that exists already."""
    return FileError(
        f"file {path}",
        bound="it exists, and its content would be lost",
        remedy="remove or rename it, record to another file, or pass overwrite=True to the call that records to it",
    )
