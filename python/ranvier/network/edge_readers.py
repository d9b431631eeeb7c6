"""Files with one row for each connection, read in blocks: CSV, Parquet and HDF5."""

from __future__ import annotations

import contextlib
import csv
import gzip
import itertools
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier.base.hdf5 import h5py
from ranvier.base.names import counted, unknown_name
from ranvier.base.packages import package
from ranvier.base.paths import file_errors
from ranvier.errors import FileError, RanvierError, ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["FORMATS", "Block", "Column", "EdgeReader", "open_edges", "version_of"]

BLOCK_ROWS = 1 << 18
"""Rows that are in memory at a time."""


@dataclass(frozen=True)
class Column:
    """A column that is read.

    Attributes
    ----------
    name
        Its name in the file; of CSV files without a header, its number.
    whole
        Whether its elements are whole numbers: int64 instead of float64.
    """

    name: str | int
    whole: bool


@dataclass(frozen=True)
class Block:
    """Some rows.

    Attributes
    ----------
    places
        The number of each row in the file, as errors show it.
    columns
        The elements of each column.
    """

    places: npt.NDArray[np.int64]
    columns: list[npt.NDArray[Any]]


def version_of(path: Path) -> tuple[int, ...]:
    """Return what changes when a file is written: its size, and the time in nanoseconds."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


class EdgeReader(ABC):
    """A file that is open: its columns were found, and their types are right."""

    unit: ClassVar[str] = "row"
    """Name of a row in errors."""
    version: tuple[int, ...]
    """Size and time of the file before anything was read."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.path = path
        self.columns = columns
        self.version = version_of(path)

    @property
    @abstractmethod
    def most_rows(self) -> int:
        """An upper bound of the number of rows."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield all rows."""

    def place(self, row: int) -> str:
        """Return the name of a row in errors, as "row 17 of edges.csv"."""
        return f"{self.unit} {row} of {self.path.name}"

    def refuse(self, column: Column, row: int, value: object, bound: str) -> NoReturn:
        """Raise the error for an element."""
        raise ValueOutOfBoundsError(f"{column.name} in {self.place(row)}", str(value), bound, "correct the file")

    def _refuse_type(self, column: Column, found: str) -> NoReturn:
        wanted = "must be whole numbers" if column.whole else "must be numbers"
        raise WrongTypeError(f"elements of column {column.name!r} of {self.path.name}", found, wanted)

    def _numbers(self, column: Column, elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return elements of any type of numbers as int64 or float64."""
        if column.whole and elements.dtype == np.uint64 and elements.size and elements.max() > np.iinfo(np.int64).max:
            raise ValueOutOfBoundsError(
                f"column {column.name!r} of {self.path.name}", str(elements.max()), "it must be below 2^63"
            )
        return elements.astype(np.int64 if column.whole else np.float64, copy=False)


def _check_names(path: Path, columns: Sequence[Column], known: Sequence[str]) -> None:
    for column in columns:
        if column.name not in known:
            unknown_name(f"column of {path.name}", column.name, known)


def _check_once(path: Path, column: Column, names: Sequence[str]) -> None:
    if names.count(str(column.name)) > 1:
        raise FileError(f"file {path}", bound=f"it has two columns {column.name!r}", remedy="rename one")


class _CsvReader(EdgeReader):
    unit = "line"

    def __init__(self, path: Path, columns: Sequence[Column], delimiter: str | None) -> None:
        super().__init__(path, columns)
        self._delimiter = delimiter
        self._has_header = not all(isinstance(column.name, int) for column in columns)
        self._places: list[int] = []
        with self._open() as file:
            first = next((line for line in file if not _is_blank(line)), "")
            if not first:
                raise FileError(f"file {path}", bound="it is empty", remedy="check the path")
            fields = self._fields(first)
        if self._has_header:
            names = [field.strip() for field in fields]
            _check_names(path, columns, names)
            for column in columns:
                _check_once(path, column, names)
            self._places = [names.index(str(column.name)) for column in columns]
        else:
            self._places = [int(column.name) for column in columns]
            for place in self._places:
                if not 0 <= place < len(fields):
                    raise FileError(
                        f"file {path}",
                        bound=f"it has no column {place}: its first line has {counted(len(fields), 'column')}",
                        remedy="columns are numbered from 0; check the delimiter",
                    )

    @property
    def most_rows(self) -> int:
        # The shortest row, "0,0" and the end of the line, has four bytes. Deflate makes at most 1032 bytes into one.
        ratio = 1032 if self.path.suffix == ".gz" else 1
        return self.path.stat().st_size * ratio // 4 + 1

    @contextlib.contextmanager
    def _open(self) -> Iterator[IO[str]]:
        with file_errors(self.path, "read"):
            try:
                if self.path.suffix == ".gz":
                    with gzip.open(self.path, "rt", encoding="utf-8-sig", newline=None) as file:
                        yield file
                else:
                    with self.path.open(encoding="utf-8-sig") as file:
                        yield file
            except (EOFError, UnicodeDecodeError, gzip.BadGzipFile, zlib.error, csv.Error) as error:
                raise FileError(
                    f"file {self.path}", bound=f"it cannot be read ({error})", remedy="check that the file is complete"
                ) from None

    def blocks(self) -> Iterator[Block]:
        kinds = [(f"{number}", np.int64 if column.whole else np.float64) for number, column in enumerate(self.columns)]
        with self._open() as file:
            line_number = 1
            if self._has_header:
                for line in file:
                    line_number += 1
                    if not _is_blank(line):
                        break
            while lines := list(itertools.islice(file, BLOCK_ROWS)):
                block = self._parsed(lines, line_number, np.dtype(kinds))
                line_number += len(lines)
                if block is not None:
                    yield block

    def _parsed(self, lines: list[str], first: int, kinds: np.dtype[Any]) -> Block | None:
        try:
            with warnings.catch_warnings():
                # A whole number written as 3.0 is deprecated, and lines without data give a warning.
                warnings.simplefilter("error")
                rows = np.loadtxt(
                    lines,
                    dtype=kinds,
                    delimiter=self._delimiter,
                    comments="#",
                    quotechar='"',
                    usecols=self._places,
                    ndmin=1,
                )
        except (ValueError, DeprecationWarning, UserWarning) as error:
            self._explain(lines, first, error)
            return None
        places = np.arange(first, first + len(lines))
        if len(rows) < len(lines):
            places = places[[not _is_blank(line) for line in lines]]
        if len(rows) < len(places):
            self._refuse_open_quote(lines, first)
        return Block(places, [np.ascontiguousarray(rows[name]) for name in kinds.names or ()])

    def _explain(self, lines: list[str], first: int, error: Exception) -> None:
        """Raise the error for the first line that cannot be read; there is none if all are blank."""
        for place, line in enumerate(lines, first):
            if _is_blank(line):
                continue
            fields = self._fields(line)
            for column, index in zip(self.columns, self._places, strict=True):
                if index >= len(fields):
                    raise FileError(
                        self.place(place),
                        counted(len(fields), "column"),
                        f"column {column.name!r} is the {_ordinal(index)}",
                        "check that the file is complete",
                    ) from None
                text = fields[index].strip()
                if column.whole and _is_number(text, whole=True) and not -(2**63) <= int(text) < 2**63:
                    self.refuse(column, place, text, "it must be below 2^63")
                if not _is_number(text, whole=column.whole):
                    wanted = "it must be a whole number" if column.whole else "it must be a number"
                    self.refuse(column, place, repr(text), wanted)
        if not all(map(_is_blank, lines)):
            raise FileError(f"file {self.path}", bound=f"it cannot be read ({error})", remedy="correct it") from None

    def _refuse_open_quote(self, lines: list[str], first: int) -> NoReturn:
        """Raise the error for a quotation mark that makes one row of several lines, which would be lost."""
        line = next((each for each, line in enumerate(lines, first) if line.count('"') % 2), first)
        raise FileError(
            self.place(line), bound="a quotation mark is not closed in its line", remedy="close it, or leave it out"
        )

    def _fields(self, line: str) -> list[str]:
        line = line.partition("#")[0]
        if self._delimiter is None:
            return line.split()
        return next(csv.reader([line], delimiter=self._delimiter), [])


def _is_blank(line: str) -> bool:
    return not line.partition("#")[0].strip()


def _is_number(text: str, *, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return "_" not in text


def _ordinal(index: int) -> str:
    return f"{index + 1}{'st' if index == 0 else 'nd' if index == 1 else 'rd' if index == 2 else 'th'}"


class _ParquetReader(EdgeReader):
    def __init__(self, path: Path, columns: Sequence[Column], delimiter: str | None) -> None:
        super().__init__(path, columns)
        parquet = package("pyarrow.parquet", "EdgeFile", "parquet")
        arrow = package("pyarrow", "EdgeFile", "parquet")
        with self._errors(arrow):
            self._file = parquet.ParquetFile(path)
        schema = self._file.schema_arrow
        _check_names(path, columns, schema.names)
        for column in columns:
            _check_once(path, column, schema.names)
            kind = schema.field(column.name).type
            is_whole = arrow.types.is_integer(kind)
            if not is_whole and (column.whole or not arrow.types.is_floating(kind)):
                self._refuse_type(column, str(kind))

    @property
    def most_rows(self) -> int:
        return int(self._file.metadata.num_rows)

    @contextlib.contextmanager
    def _errors(self, arrow: Any) -> Iterator[None]:
        try:
            yield
        except RanvierError:
            raise
        except (OSError, arrow.ArrowException) as error:
            raise FileError(
                f"file {self.path}", bound=f"it cannot be read ({error})", remedy="check that the file is complete"
            ) from None

    def blocks(self) -> Iterator[Block]:
        arrow = package("pyarrow", "EdgeFile", "parquet")
        names = list(dict.fromkeys(str(column.name) for column in self.columns))
        first = 0
        with self._errors(arrow):
            for batch in self._file.iter_batches(batch_size=BLOCK_ROWS, columns=names):
                found = {}
                for column in self.columns:
                    elements = batch.column(names.index(str(column.name)))
                    if elements.null_count:
                        row = first + int(np.argmax(elements.is_null().to_numpy(zero_copy_only=False)))
                        self.refuse(column, row, "missing", "each row must have a number")
                    found[column] = self._numbers(column, elements.to_numpy(zero_copy_only=False))
                places = np.arange(first, first + batch.num_rows)
                first += batch.num_rows
                yield Block(places, [found[column] for column in self.columns])


class _Hdf5Reader(EdgeReader):
    def __init__(self, path: Path, columns: Sequence[Column], delimiter: str | None) -> None:
        super().__init__(path, columns)
        with self._open() as file:
            lengths: dict[str, int] = {}
            for column in columns:
                name = str(column.name)
                if name not in file:
                    unknown_name(f"dataset of {path.name}", name, _datasets(file))
                try:
                    dataset = file[name]
                except (KeyError, RuntimeError) as error:
                    raise FileError(
                        f"dataset {name!r} of {path.name}",
                        bound=f"it is a link that leads nowhere ({error})",
                        remedy="correct the link, or name another dataset",
                    ) from None
                if not isinstance(dataset, h5py.Dataset):
                    unknown_name(f"dataset of {path.name}", name, _datasets(file))
                if dataset.dtype.kind not in ("iu" if column.whole else "iuf"):
                    self._refuse_type(column, str(dataset.dtype))
                if dataset.ndim != 1:
                    raise ShapeError(
                        f"dataset {name!r} of {path.name}", f"{dataset.ndim} dimensions", "it must have one dimension"
                    )
                lengths[name] = len(dataset)
            first = str(columns[0].name)
            for name, length in lengths.items():
                if length != lengths[first]:
                    raise ShapeError(
                        f"length of dataset {name!r} of {path.name}",
                        str(length),
                        f"{first!r} has {counted(lengths[first], 'element')}",
                    )
            self._rows = lengths[first]

    @property
    def most_rows(self) -> int:
        return self._rows

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        with file_errors(self.path, "read"), h5py.File(self.path, "r") as file:
            yield file

    def blocks(self) -> Iterator[Block]:
        with self._open() as file:
            for first in range(0, self._rows, BLOCK_ROWS):
                last = min(first + BLOCK_ROWS, self._rows)
                columns = [self._numbers(column, file[str(column.name)][first:last]) for column in self.columns]
                yield Block(np.arange(first, last), columns)


def _datasets(file: Any) -> list[str]:
    """Return the names of all datasets of an HDF5 file."""
    names: list[str] = []

    def add(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            names.append(name)

    file.visititems(add)
    return names


FORMATS: Mapping[str, type[Any]] = {"csv": _CsvReader, "parquet": _ParquetReader, "hdf5": _Hdf5Reader}

_SUFFIXES = {
    ".csv": "csv", ".txt": "csv", ".tsv": "csv", ".dat": "csv", ".edges": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".h5": "hdf5", ".hdf5": "hdf5", ".hdf": "hdf5",
}  # fmt: skip


def open_edges(path: Path, columns: Sequence[Column], file_format: str | None, delimiter: str | None) -> EdgeReader:
    """Open a file, of a format or of that of its suffix.

    Raises
    ------
    FileError
        When the file cannot be read or is empty, and when its format is not known.
    UnknownNameError
        When it has no column of a name.
    WrongTypeError, ShapeError
        When columns are not lists of numbers, or of whole numbers.
    """
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    found = file_format or _SUFFIXES.get(suffix.lower())
    if found is None:
        raise FileError(
            f"file {path}", bound="its suffix tells no format", remedy=f"write format= and one of {', '.join(FORMATS)}"
        )
    with file_errors(path, "read"):
        size, _ = version_of(path)
    if size == 0:
        raise FileError(f"file {path}", bound="it is empty", remedy="check the path")
    made: EdgeReader = FORMATS[found](path, columns, delimiter)
    return made
