"""The rule of connections that are listed in a file."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import locked
from ranvier.base.mapped_arrays import MappedArray
from ranvier.base.names import check_choice, counted, unknown_name
from ranvier.base.numeric import whole_number
from ranvier.base.paths import checked_path
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.edge_readers import FORMATS, Column, open_edges
from ranvier.network.edge_store import Largest, read_edges
from ranvier.network.listed_rules import ListedRule
from ranvier.network.rule_base import Rule
from ranvier.populations.populations import PopulationView

__all__ = ["EdgeFile"]

Format = Literal["csv", "parquet", "hdf5"]


class EdgeFile(ListedRule):
    r"""The connections of a file with one row for each: CSV, Parquet or HDF5.

    Parameters
    ----------
    path
        The file. The suffix tells the format (``.csv``, ``.txt``, ``.tsv``, also with ``.gz``; ``.parquet``; ``.h5``,
        ``.hdf5``), unless `format` is given.
    source, target
        Columns with whole numbers of the source and the target of each connection: the names in the header of a CSV
        file, names of columns of Parquet, paths of datasets of one dimension in HDF5. Whole numbers are the columns,
        from 0, of a CSV file without a header; then all columns are numbers.
    first
        The number that the file gives to the first source and the first target of the call of `connect`: 0 or 1 for
        indices; the id of the first neuron for ids. A pair ``(source, target)`` if they differ.
    weight, delay
        Columns with weights, in the unit of `Network.connect`, and delays, ms. None: those of `Network.connect`.
    values
        Further columns, for parameters of synapses: ``synapse=rv.tsodyks2(U=edges["U"])``.
    format
        ``"csv"``, ``"parquet"`` or ``"hdf5"``; None: by the suffix.
    delimiter
        Delimiter of CSV files, one character; None: white space. Lines or ends of lines from ``#`` on are comments.
    store
        Folder for the sorted list; None: in memory if the file is small, else in the cache of the user
        (``~/.cache/ranvier/edges``).

    Raises
    ------
    FileError
        When the file cannot be read, is incomplete, has no rows or changes while it is read, and when the list cannot
        be written.
    UnknownNameError
        When the file has no column of a name.
    WrongTypeError
        For columns that are not numbers.
    ValueOutOfBoundsError
        For an element that is not a number, not a whole number or not finite, and a source or target below `first`;
        and in `Network.connect` for one that is not among the neurons. The message has the row.
    MissingPackageError
        For Parquet files, when pyarrow is not installed.

    Notes
    -----
    The file is read in blocks when the rule is made. The list, sorted by target and then in the order of the file, is
    written to files, 8 bytes for each connection and column except the target; while these are written, they take about
    twice as much. The processes of a node map the files into memory, and the tables of a process are built from the
    rows of its targets, so that no process needs memory for all connections. A process reads all files, which lie in
    the cache of the system if there is room, to check them and to compare them with those of the other processes. The
    list is made again only if the file has changed; `store` is the folder, which can be deleted when no network uses
    it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ranvier as rv
    >>> path = pathlib.Path(tempfile.mkdtemp(), "edges.csv")
    >>> text = path.write_text("pre,post,weight\n1,2,20.0\n3,1,30.0\n")
    >>> net = rv.Network()
    >>> exc = net.create("iaf_psc_exp", 3)
    >>> edges = rv.EdgeFile(path, source="pre", target="post", first=1, weight="weight")
    >>> net.connect(exc, exc, edges, delay=1.5).expected_synapses
    2.0
    """

    _path: Path
    _columns: tuple[str | int, ...]
    _values_of: tuple[FloatArray, ...]
    _firsts: tuple[int, int]
    _largest: tuple[Largest, Largest]
    _unit: str
    _store: Path | None

    @known_keywords
    def __init__(
        self,
        path: str | PathLike[str],
        *,
        source: str | int,
        target: str | int,
        first: int | tuple[int, int],
        weight: str | int | None = None,
        delay: str | int | None = None,
        values: Sequence[str | int] = (),
        format: Format | None = None,  # noqa: A002
        delimiter: str | None = ",",
        store: str | PathLike[str] | None = None,
    ) -> None:
        where = checked_path(path, "path of EdgeFile")
        if format is not None:
            check_choice("format of EdgeFile", format, tuple(FORMATS))
        if isinstance(values, str):
            raise WrongTypeError("values of EdgeFile", "str", "must be a list of names", f"write [{values!r}]")
        _check_delimiter(delimiter)
        others = list(dict.fromkeys(name for name in (weight, delay, *values) if name is not None))
        _check_columns([source, target, *others])
        firsts = _checked_firsts(first)
        folder = None if store is None else checked_path(store, "store of EdgeFile")
        columns = [Column(source, True), Column(target, True), *(Column(name, False) for name in others)]
        reader = open_edges(where, columns, format, delimiter)
        options = [source, target, *others, *firsts, type(reader).__name__, delimiter]
        found = read_edges(reader, firsts, [str(name) for name in others], folder, options)
        of_name = dict(zip(others, found.values, strict=True))
        self._keep(
            found.starts,
            found.sources,
            None if weight is None else of_name[weight],
            None if delay is None else of_name[delay],
        )
        attributes = {
            "_path": where,
            "_columns": tuple(others),
            "_values_of": tuple(map(locked, found.values)),
            "_firsts": firsts,
            "_largest": found.largest,
            "_unit": reader.unit,
            "_store": found.folder,
        }
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def store(self) -> Path | None:
        """The folder of the sorted list; None: it is in memory."""
        return self._store

    def __getitem__(self, column: str | int) -> FloatArray:
        """Return a column, sorted as the connections are.

        Raises
        ------
        UnknownNameError
            For a column that is not among `weight`, `delay` and `values`.
        """
        if column not in self._columns:
            unknown_name(f"column of {self!r}", column, map(str, self._columns))
        return self._values_of[self._columns.index(column)]

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        for side, view, first, largest in zip(
            ("source", "target"), (sources, targets), self._firsts, self._largest, strict=True
        ):
            if largest.index < len(view):
                continue
            raise ValueOutOfBoundsError(
                f"{side} in {self._unit} {largest.place} of {self._path.name}",
                str(first + largest.index),
                f"{view.name} has {counted(len(view), 'neuron')}, from {first} to {first + len(view) - 1}",
                f"correct the file, or first={first}",
            )
        completed = copy.copy(self)
        starts = np.pad(self._starts, (0, len(targets) + 1 - len(self._starts)), mode="edge")
        object.__setattr__(completed, "_starts", locked(starts))
        return completed

    def _to_core(self) -> _core.RuleSpec:
        sources: Any = self._sources
        if isinstance(sources, MappedArray):
            sources = sources._to_core()
        return _core.RuleSpec(self.name, {"starts": self._starts, "sources": sources})

    def _how_to_leave_out(self, name: str) -> str:
        return f"make EdgeFile without {name}=..."

    def __repr__(self) -> str:
        return f"EdgeFile({self._path.name!r}, {counted(len(self), 'connection')})"


def _check_columns(names: list[Any]) -> None:
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise WrongTypeError("column of EdgeFile", type(name).__name__, "must be a name, or a number")
    if len({isinstance(name, str) for name in names}) > 1:
        raise WrongTypeError("columns of EdgeFile", "a mix of names and numbers", "must be all names, or all numbers")


def _check_delimiter(delimiter: object) -> None:
    if delimiter is None:
        return
    if not isinstance(delimiter, str):
        raise WrongTypeError("delimiter of EdgeFile", type(delimiter).__name__, "must be a character, or None")
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"#+-.\r\n\0' or ord(delimiter) > 127:
        raise ValueOutOfBoundsError(
            "delimiter of EdgeFile",
            repr(delimiter),
            "it must be one character that no number, comment or quotation has",
            "write ',', ';', '\\t', or None for white space",
        )


def _checked_firsts(first: object) -> tuple[int, int]:
    pair = first if isinstance(first, tuple | list) else (first, first)
    if len(pair) != 2:
        raise ShapeError(
            "first of EdgeFile", f"{len(pair)} numbers", "it must be one, or one for sources and one for targets"
        )
    source, target = (whole_number("first of EdgeFile", each, 0, 2**62) for each in pair)
    return source, target
