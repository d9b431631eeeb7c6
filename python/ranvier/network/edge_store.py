"""The connections of a file, sorted by target, in files of numbers: what a rule maps into memory.

A file is converted in blocks, so that the memory does not grow with the number of its rows:

1. Its rows are checked and written to a file of numbers for each column, and the connections of each target counted.
2. The targets are divided into ranges of at most `_RANGE_ROWS` connections. The rows are distributed to the ranges, in
   their order.
3. Each range is sorted by target in memory, without changing the order of the connections of a target.

The numbers have the byte order of the machine.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.mapped_arrays import map_file
from ranvier.base.memory_checks import check_room
from ranvier.base.paths import file_errors
from ranvier.base.user_cache import user_cache
from ranvier.errors import FileError
from ranvier.network import edge_readers
from ranvier.network.edge_readers import Block, EdgeReader

__all__ = ["EdgeList", "Largest", "read_edges"]

_VERSION = 1
_RANGE_ROWS = 1 << 22
_MOST_IN_MEMORY = 64 << 20
"""Bytes of a list that is kept in memory, in arrays; longer lists stay in files."""


@dataclass
class Largest:
    """The largest index of a side, and the place of its first row in the file; -1 without rows."""

    index: int = -1
    place: int = -1


@dataclass
class EdgeList:
    """A list of connections, sorted by target.

    Attributes
    ----------
    starts
        For each target up to the largest one, the position of its first connection, and at the end their number.
    sources
        The source of each connection.
    values
        The other columns, float64.
    largest
        The largest source and target.
    folder
        The folder of its files; None: the arrays are in memory.
    """

    starts: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    values: list[npt.NDArray[np.float64]]
    largest: tuple[Largest, Largest]
    folder: Path | None


def read_edges(
    reader: EdgeReader, firsts: tuple[int, int], bounded: Sequence[str], store: Path | None, options: Sequence[Any]
) -> EdgeList:
    """Return the connections of a file, converted now or before.

    Parameters
    ----------
    reader
        The open file: its first column has the sources, and its second one the targets.
    firsts
        The numbers of the first source and target.
    bounded
        Names of the other columns, in errors.
    store
        Folder of converted lists; None: in the cache of the user.
    options
        All that determines the conversion, beside the file itself.

    Raises
    ------
    ValueOutOfBoundsError, FileError, InsufficientMemoryError
        As `EdgeFile`.
    """
    row_bytes = 8 * (len(reader.columns) + 1)
    if store is None and reader.most_rows * row_bytes <= _MOST_IN_MEMORY:
        with file_errors(Path(tempfile.gettempdir()), "written"), tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _convert(reader, firsts, folder)
            found = _opened(folder, len(bounded))
            return EdgeList(
                np.array(found.starts),
                np.array(found.sources),
                [np.array(each) for each in found.values],
                found.largest,
                None,
            )
    parent = store or _default_store(reader.path)
    with file_errors(parent, "written"):
        parent.mkdir(parents=True, exist_ok=True)
        folder = parent / f"edges-{_key(reader, options)}"
        with _locked(parent / f"{folder.name}.lock"):
            if not (folder / "contents.json").exists():
                shutil.rmtree(folder, ignore_errors=True)
                unfinished = parent / f"{folder.name}.unfinished"
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                try:
                    _convert(reader, firsts, unfinished)
                    unfinished.rename(folder)
                finally:
                    shutil.rmtree(unfinished, ignore_errors=True)
    return _opened(folder, len(bounded))


def _default_store(path: Path) -> Path:
    cache = user_cache()
    if cache is None:
        raise FileError(
            f"folder for the connections of {path.name}",
            bound="this user has no folder for caches",
            remedy="write store= and a folder with enough space",
        )
    return cache / "edges"


def _key(reader: EdgeReader, options: Sequence[Any]) -> str:
    """Return a name for what the conversion of a file gives: another one if the file has changed."""
    parts = [_VERSION, str(reader.path.resolve()), *reader.version, *options]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process converts the same file."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _opened(folder: Path, count: int) -> EdgeList:
    with file_errors(folder, "read"):
        contents = json.loads((folder / "contents.json").read_text())
    rows = int(contents["rows"])
    source, target = (Largest(**each) for each in contents["largest"])
    return EdgeList(
        # It grows with the neurons, and is extended to all targets.
        np.array(map_file(folder / "starts", np.int64, target.index + 2)),
        map_file(folder / "0", np.int64, rows),
        [map_file(folder / f"{number}", np.float64, rows) for number in range(2, 2 + count)],
        (source, target),
        folder,
    )


class _Counts:
    """The number of connections of each target."""

    def __init__(self) -> None:
        self._counts = np.zeros(1 << 10, dtype=np.int64)

    def add(self, targets: npt.NDArray[np.int64]) -> None:
        needed = int(targets.max()) + 1
        if needed > len(self._counts):
            size = max(needed, 2 * len(self._counts))
            check_room("the numbers of connections of all targets", 16 * size, "check the largest index of a target")
            self._counts = np.concatenate([self._counts, np.zeros(size - len(self._counts), dtype=np.int64)])
        least = int(targets.min())
        some = np.bincount(targets - least)
        self._counts[least : least + len(some)] += some

    def starts(self, targets: int) -> npt.NDArray[np.int64]:
        """Return the position of the first connection of each target, and the number of all."""
        starts = np.zeros(targets + 1, dtype=np.int64)
        np.cumsum(self._counts[:targets], out=starts[1:])
        return starts


def _convert(reader: EdgeReader, firsts: tuple[int, int], folder: Path) -> None:
    """Write the files of a list into an empty folder."""
    counts = _Counts()
    largest = (Largest(), Largest())
    columns = range(len(reader.columns))
    rows, is_sorted, last = 0, True, -1
    with contextlib.ExitStack() as files:
        opened = [files.enter_context((folder / f"{number}").open("wb")) for number in columns]
        for block in reader.blocks():
            if not len(block.places):
                continue
            _check_block(reader, block, firsts, largest)
            targets = block.columns[1]
            counts.add(targets)
            is_sorted = is_sorted and last <= targets[0] and bool((np.diff(targets) >= 0).all())
            last = int(targets[-1])
            rows += len(targets)
            for file, elements in zip(opened, block.columns, strict=True):
                _write(file, elements)
    if edge_readers.version_of(reader.path) != reader.version:
        raise FileError(
            f"file {reader.path}",
            bound="it has changed while it was read",
            remedy="make the rule again when the file is complete",
        )
    if rows == 0:
        raise FileError(f"file {reader.path}", bound="it has no rows", remedy="leave out the connections")
    starts = counts.starts(largest[1].index + 1)
    with (folder / "starts").open("wb") as file:
        _write(file, starts)
    if not is_sorted:
        _sort(folder, [column for column in columns if column != 1], starts)
    (folder / "1").unlink()
    contents = {"rows": rows, "largest": [asdict(each) for each in largest], "path": str(reader.path.resolve())}
    (folder / "contents.json").write_text(json.dumps(contents))


def _write(file: Any, elements: npt.NDArray[Any]) -> None:
    # Not ndarray.tofile(), whose error for a full disk does not say so.
    file.write(np.ascontiguousarray(elements).data.cast("B"))


def _check_block(reader: EdgeReader, block: Block, firsts: tuple[int, int], largest: tuple[Largest, Largest]) -> None:
    """Check some rows, and subtract the numbers of the first neurons from the indices."""
    for side, (first, most) in enumerate(zip(firsts, largest, strict=True)):
        elements = block.columns[side]
        if (least := int(elements.min())) < first:
            place = int(block.places[np.argmin(elements)])
            reader.refuse(reader.columns[side], place, least, f"the first one is {first}")
        block.columns[side] = elements - first
        if (greatest := int(block.columns[side].max())) > most.index:
            most.index, most.place = greatest, int(block.places[np.argmax(block.columns[side])])
    for column, elements in zip(reader.columns[2:], block.columns[2:], strict=True):
        if not (is_finite := np.isfinite(elements)).all():
            bad = int(np.argmin(is_finite))
            reader.refuse(column, int(block.places[bad]), elements[bad], "it must be finite")


def _sort(folder: Path, columns: Sequence[int], starts: npt.NDArray[np.int64]) -> None:
    """Sort the files of columns by the targets, which are in the file of column 1."""
    rows = int(starts[-1])
    # The first target of each range, and the end of the last one; a target with more rows is a range of its own.
    first_targets = [0]
    while first_targets[-1] < len(starts) - 1:
        first = first_targets[-1]
        end = int(np.searchsorted(starts, starts[first] + _RANGE_ROWS, side="right")) - 1
        first_targets.append(max(end, first + 1))
    ranges = np.array(first_targets)
    bounds = starts[ranges]
    _distribute(folder, 1, "sorted-1", ranges, bounds, rows)
    for column in columns:
        _distribute(folder, column, "distributed", ranges, bounds, rows)
        (folder / "distributed").rename(folder / f"{column}")
    with (folder / "sorted-1").open("rb") as target_file, contextlib.ExitStack() as files:
        opened = [files.enter_context((folder / f"{column}").open("r+b")) for column in columns]
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            order = np.argsort(_read(target_file, begin, end), kind="stable")
            for file in opened:
                elements = _read(file, begin, end)[order]
                file.seek(8 * begin)
                _write(file, elements)
    (folder / "sorted-1").unlink()


def _distribute(
    folder: Path,
    column: int,
    destination: str,
    ranges: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
    rows: int,
) -> None:
    """Write a column in the order of the ranges of its targets."""
    block = edge_readers.BLOCK_ROWS
    following = bounds[:-1].copy()
    with (
        (folder / f"{column}").open("rb") as file,
        (folder / "1").open("rb") as target_file,
        (folder / destination).open("w+b") as written,
    ):
        for begin in range(0, rows, block):
            end = min(begin + block, rows)
            belongs = np.searchsorted(ranges, _read(target_file, begin, end), side="right") - 1
            order = np.argsort(belongs, kind="stable")
            elements = _read(file, begin, end)[order]
            counts = np.bincount(belongs, minlength=len(following))
            position = 0
            for number in np.flatnonzero(counts).tolist():
                count = int(counts[number])
                written.seek(8 * int(following[number]))
                _write(written, elements[position : position + count])
                following[number] += count
                position += count


def _read(file: Any, begin: int, end: int) -> npt.NDArray[np.int64]:
    """Return elements of a column, as whole numbers of 64 bits: they are only moved."""
    file.seek(8 * begin)
    return np.frombuffer(file.read(8 * (end - begin)), dtype=np.int64)
