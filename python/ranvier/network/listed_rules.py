"""Rules whose connections are a list in compressed form, made of what a user has: the base of these, and matrices."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice, counted
from ranvier.base.values import FloatArray, StoredValues
from ranvier.errors import RuleError, ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.rule_base import Rule
from ranvier.populations.populations import PopulationView

__all__ = ["FromMatrix", "ListedRule"]

Rows = Literal["targets", "sources"]
IndexArray = npt.NDArray[np.int64]


class ListedRule(Rule):
    """Base of rules that have a list of all connections, sorted by target, in the memory of each process.

    Attributes
    ----------
    sources, targets
        The indices of source and target of each connection, in the order of arrays of weights and delays; shape
        ``(number of connections,)``.
    """

    name: ClassVar[str] = "explicit_rows"
    _hints_of_keywords: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mask", "probability"), "leave connections out of the list, or give the list to Explicit, which takes both"
    )
    _starts: IndexArray
    _sources: IndexArray
    _weight: FloatArray | None
    _delay: FloatArray | None

    def _keep(
        self, starts: IndexArray, sources: IndexArray, weight: FloatArray | None, delay: FloatArray | None
    ) -> None:
        """Keep the list, in the form of the rule ``explicit_rows``, with a weight and a delay for each connection."""
        lists = {"_starts": starts, "_sources": sources, "_weight": weight, "_delay": delay}
        for name, array in lists.items():
            object.__setattr__(self, name, None if array is None else locked(array))

    @property
    def sources(self) -> IndexArray:
        """The index of the source of each connection."""
        return self._sources

    @property
    def targets(self) -> IndexArray:
        """The index of the target of each connection."""
        return np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))

    def __len__(self) -> int:
        """Return the number of connections."""
        return len(self._sources)

    def __bool__(self) -> bool:
        """Return True, also for a rule without connections."""
        return True

    @property
    def _values(self) -> Mapping[str, StoredValues]:
        given = {"weight": self._weight, "delay": self._delay}
        return {name: values for name, values in given.items() if values is not None}

    def _to_core(self) -> _core.RuleSpec:
        return _core.RuleSpec(self.name, {"starts": self._starts, "sources": self._sources})

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, ListedRule)
        lists = ("_starts", "_sources", "_weight", "_delay")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in lists)

    # Arrays have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self), 'connection')})"


class FromMatrix(ListedRule):
    """The connections of a matrix, whose elements are the weights.

    Parameters
    ----------
    matrix
        Rows are targets and columns are sources, as in matrices of weights of `AllToAll`; shape ``(targets, sources)``.

        * A NumPy array or nested lists: each element that is not 0 is a connection, except NaN and elements that are
          masked (`numpy.ma`).
        * A sparse matrix or array of SciPy, of any format (``csr``, ``csc``, ``coo``, ...): each stored element is a
          connection, also a stored 0, except in the formats ``bsr`` and ``dia``, which store zeros beside other
          elements.

        Elements are the weights, in the unit of `Network.connect`. A Boolean matrix has no weights: its connections
        are the elements that are True.
    delay
        Delays, ms: a matrix of the same shape and orientation, dense or sparse, which has a number for each connection;
        other elements are not read. None: the argument `delay` of `Network.connect`.
    rows
        ``"targets"``, or ``"sources"`` for matrices with the sources as rows.

    Raises
    ------
    ShapeError
        For matrices that are not two-dimensional, or whose shapes differ; and in `Network.connect` for a matrix that
        does not have the numbers of targets and sources.
    WrongTypeError
        For elements that are not numbers.
    ValueOutOfBoundsError
        For an element that is infinite, a stored NaN, and a connection without a delay.
    RuleError
        For a sparse matrix that stores an element twice.

    Notes
    -----
    Connections are sorted by target and then by source. `values` reads another matrix in this order, for arrays of
    parameters of synapses and sites. Each process holds the list: 16 bytes for each connection, with delays 24.

    Examples
    --------
    >>> import numpy as np
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> exc, inh = net.create("iaf_psc_exp", 3, name="exc"), net.create("iaf_psc_exp", 2, name="inh")
    >>> weights = np.array([[10.0, 0.0, 20.0], [0.0, 0.0, 30.0]])
    >>> net.connect(exc, inh, rv.FromMatrix(weights), delay=1.5).expected_synapses
    3.0
    """

    _shape: tuple[int, int]
    _rows: Rows

    @known_keywords
    def __init__(self, matrix: Any, *, delay: Any = None, rows: Rows = "targets") -> None:
        check_choice("rows of a matrix", rows, ("targets", "sources"))
        found = _elements("matrix", matrix, rows)
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_shape", found.shape)
        self._keep(found.starts, found.sources, found.values, None)
        if delay is not None:
            delays = self._read("delay", delay)
            object.__setattr__(self, "_delay", locked(delays))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of targets and sources."""
        return self._shape

    def values(self, matrix: Any) -> FloatArray:
        """Return the elements of another matrix at the connections, in their order; shape ``(connections,)``.

        Parameters
        ----------
        matrix
            As the argument `delay` of the class.

        Raises
        ------
        ShapeError, WrongTypeError, ValueOutOfBoundsError
            As for the argument `delay`.
        """
        return self._read("matrix of values", matrix)

    def _read(self, name: str, matrix: Any) -> FloatArray:
        found = _elements(name, matrix, self._rows, every=True)
        if found.shape != self._shape:
            raise ShapeError(
                f"shape of the {name}",
                str(_turned(found.shape, self._rows)),
                f"the matrix of connections has the shape {_turned(self._shape, self._rows)}",
            )
        if found.values is None:
            raise WrongTypeError(f"elements of the {name}", "bool", "must be numbers")
        # Both lists are sorted by the numbers of their elements.
        numbers = self.targets * self._shape[1] + self._sources
        theirs = np.repeat(np.arange(found.shape[0]), np.diff(found.starts)) * self._shape[1] + found.sources
        places = np.searchsorted(theirs, numbers)
        has_value = places < len(theirs)
        has_value[has_value] = theirs[places[has_value]] == numbers[has_value]
        if not has_value.all():
            target, source = divmod(int(numbers[np.argmin(has_value)]), self._shape[1])
            raise ValueOutOfBoundsError(
                f"element {_turned((target, source), self._rows)} of the {name}",
                "missing",
                "there is a connection, which needs a number",
            )
        result: FloatArray = found.values[places]
        return result

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        wanted = (len(targets), len(sources))
        if self._shape != wanted:
            order = "(targets, sources)" if self._rows == "targets" else "(sources, targets)"
            other = "sources" if self._rows == "targets" else "targets"
            raise ShapeError(
                f"shape of the matrix of {self!r}",
                str(_turned(self._shape, self._rows)),
                f"it must be {order}, {_turned(wanted, self._rows)}",
                f'write rows="{other}" for a matrix with the {other} as rows' if self._shape == wanted[::-1] else "",
            )
        return self

    def _how_to_leave_out(self, name: str) -> str:
        return "pass a Boolean matrix, such as matrix != 0" if name == "weight" else "make the rule without delay=..."

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, FromMatrix)
            and (self._shape, self._rows) == (other._shape, other._rows)
        )

    __hash__ = None

    def __repr__(self) -> str:
        size = " x ".join(map(str, _turned(self._shape, self._rows)))
        turned = ', rows="sources"' if self._rows == "sources" else ""
        return f"FromMatrix(<{size}, {counted(len(self), 'connection')}>{turned})"


class _Elements:
    """The elements of a matrix, by target and then by source."""

    def __init__(
        self, shape: tuple[int, int], starts: IndexArray, sources: IndexArray, values: FloatArray | None
    ) -> None:
        self.shape = shape
        self.starts = starts
        self.sources = sources
        self.values = values


def _turned(pair: tuple[int, int], rows: Rows) -> tuple[int, int]:
    """Return (target, source) in the order of a matrix."""
    return pair if rows == "targets" else pair[::-1]


def _elements(name: str, matrix: Any, rows: Rows, *, every: bool = False) -> _Elements:
    """Return the elements of a matrix that are connections; of a dense matrix, `every` keeps zeros, too."""
    if hasattr(matrix, "tocsr") and hasattr(matrix, "nnz"):
        return _sparse_elements(name, matrix, rows)
    return _dense_elements(name, matrix, rows, every)


def _check_two_dimensional(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ShapeError(f"the {name}", f"an array of shape {shape}", "it must have two dimensions")


def _check_kind(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise WrongTypeError(f"elements of the {name}", str(dtype), "must be numbers")


def _dense_elements(name: str, matrix: Any, rows: Rows, every: bool) -> _Elements:
    hidden = None
    if "numpy.ma" in sys.modules and isinstance(matrix, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(matrix)
        matrix = matrix.data
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise ShapeError(f"the {name}", "lists of different lengths", "it must have two dimensions") from None
    _check_two_dimensional(name, array.shape)
    if array.size == 0:
        array = array.astype(np.float64)
    _check_kind(name, array.dtype)
    check_room(f"elements of the {name}", 2 * array.size, "pass a sparse matrix, or several parts of it")
    chosen = np.ones(array.shape, dtype=bool) if every else array != 0
    if hidden is not None:
        chosen &= ~hidden
    if array.dtype.kind == "f":
        chosen &= ~np.isnan(array)
    if rows == "sources":
        array, chosen = array.T, chosen.T
    counts = np.count_nonzero(chosen, axis=1)
    check_room(f"connections of the {name}", 24 * int(counts.sum()), "pass several parts of it")
    values = None if array.dtype.kind == "b" else array[chosen].astype(np.float64)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    sources = np.nonzero(chosen)[1].astype(np.int64, copy=False)
    _check_finite(name, rows, starts, sources, values)
    return _Elements((array.shape[0], array.shape[1]), starts, sources, values)


def _sparse_elements(name: str, matrix: Any, rows: Rows) -> _Elements:
    _check_two_dimensional(name, tuple(matrix.shape))
    _check_kind(name, matrix.dtype)
    check_room(f"connections of the {name}", 48 * int(matrix.nnz), "pass several parts of it")
    turned = matrix if rows == "targets" else matrix.T
    by_rows = turned.tocsr(copy=True)
    # SciPy adds elements of the format coo that are stored twice when it converts them to rows.
    stored = int(matrix.nnz if matrix.format == "coo" else by_rows.nnz)
    by_rows.sum_duplicates()
    if by_rows.nnz != stored:
        raise RuleError(
            f"the {name}",
            counted(stored, "stored element"),
            f"they are at {counted(int(by_rows.nnz), 'place')}",
            "call sum_duplicates(), or use rv.Explicit for several connections of a pair",
        )
    if matrix.format == "bsr" or matrix.dtype.kind == "b":
        by_rows.eliminate_zeros()
    starts, sources = by_rows.indptr.astype(np.int64), by_rows.indices.astype(np.int64)
    values = None if matrix.dtype.kind == "b" else by_rows.data.astype(np.float64)
    _check_finite(name, rows, starts, sources, values)
    return _Elements((int(by_rows.shape[0]), int(by_rows.shape[1])), starts, sources, values)


def _check_finite(name: str, rows: Rows, starts: IndexArray, sources: IndexArray, values: FloatArray | None) -> None:
    if values is None or np.isfinite(values).all():
        return
    place = int(np.argmin(np.isfinite(values)))
    target = int(np.searchsorted(starts, place, side="right")) - 1
    raise ValueOutOfBoundsError(
        f"element {_turned((target, int(sources[place])), rows)} of the {name}",
        str(values[place]),
        "it must be finite",
    )
