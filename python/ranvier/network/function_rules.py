"""Rules that are carried out in Python when neurons are connected: functions, and the list that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import known_keywords
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted
from ranvier.base.numeric import as_array, number_array, whole_number
from ranvier.errors import RuleError, ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.listed_rules import ListedRule
from ranvier.network.rule_base import Rule
from ranvier.populations.populations import PopulationView

__all__ = ["FunctionRule", "MadeRule", "Part", "checked_part", "listed"]

TargetFunction: TypeAlias = Callable[[npt.NDArray[np.int64], int, np.random.Generator], Sequence[npt.ArrayLike]]

Part: TypeAlias = list[npt.NDArray[Any] | None]
"""Sources, targets, weights and delays of some connections; None for weights and delays that there are not."""


class MadeRule(ListedRule):
    """The connections that a rule has made in Python, as a list.

    `FunctionRule` and `ConnectionSet` become this when neurons are connected: the function or the connection set is no
    longer used, so that networks can be pickled.
    """

    _text: str

    def _how_to_leave_out(self, name: str) -> str:
        return f"make {self._text} without a {name}"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, MadeRule) and self._text == other._text

    __hash__ = None

    def __repr__(self) -> str:
        return f"{self._text[:-1]}, {counted(len(self), 'connection')})"


class FunctionRule(Rule):
    """Connections that a Python function returns for blocks of targets. This is slow: prefer rules that are built in.

    Parameters
    ----------
    function
        Called as ``function(targets, sources, random)`` with the indices of some consecutive targets, an int64 array;
        the number of sources; and a `numpy.random.Generator`. It returns arrays of equal length with the sources and
        the targets of connections, in any order, then, if there are any, their weights, and then their delays (ms).
        Weights that are None are those of `Network.connect`.
    seed
        Seed of the random numbers, 0 to 2**64 - 1. The seed of the network does not change them. Each block has a
        stream of its own.
    block
        Number of targets for which the function is called, at least 1. Random numbers depend on it.

    Raises
    ------
    WrongTypeError
        When the function cannot be called; in `Network.connect`, when it does not return arrays of numbers.
    ShapeError
        In `Network.connect`, when it returns arrays of different lengths, or another number of them; and weights or
        delays for some blocks only.
    ValueOutOfBoundsError
        In `Network.connect`, for a source that does not exist, a target that is not in the block, and weights or delays
        that are not finite.
    RuleError
        In `Network.connect`, when the function returns something else if it is called again.

    Notes
    -----
    The function is called when neurons are connected, for all targets on every process, and twice for each block, since
    a function that depends on anything but its arguments would give each process another network. Processes whose
    connections differ fail with an error when the simulation is built. Each process holds the list of all connections:
    8 bytes for each, and 8 more for each weight and delay, and four times as much while it is made. The projection
    keeps this list, not the function.

    Examples
    --------
    >>> import numpy as np
    >>> import ranvier as rv
    >>> def nearby(targets, sources, random):
    ...     chosen = targets[:, None] + random.integers(-5, 6, (len(targets), 3))
    ...     return chosen.ravel() % sources, np.repeat(targets, 3)
    >>> net = rv.Network()
    >>> a = net.create("iaf_psc_exp", 100)
    >>> net.connect(a, a, rv.FunctionRule(nearby), weight=20.0).expected_synapses
    300.0
    """

    name = "function"
    _function: TargetFunction
    _seed: int
    _block: int

    @known_keywords
    def __init__(self, function: TargetFunction, *, seed: int = 1, block: int = 1024) -> None:
        if not callable(function):
            raise WrongTypeError("function of FunctionRule", type(function).__name__, "must be a function")
        object.__setattr__(self, "_function", function)
        object.__setattr__(self, "_seed", whole_number("seed of FunctionRule", seed, 0, 2**64 - 1))
        object.__setattr__(self, "_block", whole_number("block of FunctionRule", block, 1, 2**31))

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        parts = (
            self._part(number, first, min(first + self._block, len(targets)), len(sources))
            for number, first in enumerate(range(0, len(targets), self._block))
        )
        return listed(repr(self), parts, len(targets))

    def _part(self, number: int, first: int, end: int, sources: int) -> Part:
        what = f"result of {self._function_name} for targets {first} to {end - 1}"
        part, again = (self._called(what, number, first, end, sources) for _ in range(2))
        if not _are_same(part, again):
            raise RuleError(
                what,
                bound="it was another one when the function was called again",
                remedy="draw with the generator that is an argument, and use nothing else that changes",
            )
        return part

    def _called(self, what: str, number: int, first: int, end: int, sources: int) -> Part:
        random = np.random.Generator(np.random.Philox(key=np.array([self._seed, number], dtype=np.uint64)))
        returned: Any = self._function(np.arange(first, end), sources, random)
        if not isinstance(returned, tuple | list) or not 2 <= len(returned) <= 4:
            found = f"{len(returned)} arrays" if isinstance(returned, tuple | list) else type(returned).__name__
            raise ShapeError(what, found, "it must be sources and targets, then weights and delays if there are any")
        return checked_part(what, [*returned, None, None][:4], (0, sources), (first, end))

    @property
    def _function_name(self) -> str:
        return str(getattr(self._function, "__qualname__", type(self._function).__name__)).rpartition("<locals>.")[2]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, FunctionRule)
        return (self._function, self._seed, self._block) == (other._function, other._seed, other._block)

    def __hash__(self) -> int:
        return hash((self._function, self._seed, self._block))

    def __repr__(self) -> str:
        seed = "" if self._seed == 1 else f", seed={self._seed}"
        block = "" if self._block == 1024 else f", block={self._block}"
        return f"FunctionRule({self._function_name}{seed}{block})"


_NAMES = ("sources", "targets", "weights", "delays")


def checked_part(what: str, given: Sequence[Any], sources: tuple[int, int], targets: tuple[int, int]) -> Part:
    """Return sources, targets, weights and delays of some connections, checked.

    Parameters
    ----------
    what
        What they are, in errors.
    given
        The four arrays; weights and delays may be None.
    sources, targets
        The first index that is possible, and the end of all.

    Raises
    ------
    WrongTypeError, ShapeError, ValueOutOfBoundsError
        As `FunctionRule`.
    """
    part: Part = [_indices(f"{name} in {what}", each) for name, each in zip(_NAMES, given[:2], strict=False)]
    for name, each in zip(_NAMES[2:], given[2:], strict=True):
        part.append(None if each is None else number_array(f"{name} in {what}", each))
    rows = np.asarray(part[0]).shape
    for name, array in zip(_NAMES, part, strict=True):
        if array is not None and (array.ndim != 1 or array.shape != rows):
            raise ShapeError(f"{name} in {what}", f"an array of shape {array.shape}", f"sources have shape {rows}")
    for name, array, (first, end) in zip(_NAMES[:2], part[:2], (sources, targets), strict=True):
        _check_range(f"{name} in {what}", np.asarray(array), first, end)
    for name, array in zip(_NAMES[2:], part[2:], strict=True):
        if array is not None and not (is_finite := np.isfinite(array)).all():
            raise ValueOutOfBoundsError(f"{name} in {what}", str(array[np.argmin(is_finite)]), "they must be finite")
    return part


def _indices(name: str, values: object) -> npt.NDArray[np.int64]:
    array = as_array(name, values)
    if array is None:
        raise ShapeError(name, "lists of different lengths", "it must have one dimension")
    if array.dtype.kind not in "iu" and array.size:
        raise WrongTypeError(name, str(array.dtype), "must be integers")
    # Not the array of the function, which may write to it again.
    return np.array(array, dtype=np.int64)


def _check_range(what: str, indices: npt.NDArray[np.int64], first: int, end: int) -> None:
    for index in (indices.min(), indices.max()) if len(indices) else ():
        if not first <= index < end:
            bound = f"they must be from {first} to {end - 1}" if end > first else "there are none"
            raise ValueOutOfBoundsError(what, str(index), bound, "return indices, not ids")


def _are_same(part: Part, other: Part) -> bool:
    return all(
        np.array_equal(one, another) if one is not None and another is not None else one is another
        for one, another in zip(part, other, strict=True)
    )


def listed(text: str, parts: Iterable[Part], targets: int) -> MadeRule:
    """Return the list of all connections.

    Parameters
    ----------
    text
        The rule, as a user would write it.
    parts
        Connections of all targets.
    targets
        Number of targets.

    Raises
    ------
    ShapeError
        When some parts have weights or delays and others do not.
    """
    found: list[Part] = []
    room = 0
    for part in parts:
        for name, each, first in zip(_NAMES, part, found[0] if found else part, strict=True):
            if (each is None) != (first is None):
                raise ShapeError(
                    f"{name} in results of {text}", "missing in some", "all blocks must have them, or none"
                )
        found.append(part)
        room += sum(each.nbytes for each in part if each is not None)
        # All parts are copied twice, to join and to sort them.
        check_room(f"the connections of {text}", 2 * room, "connect parts of the populations")
    nothing = np.empty(0, dtype=np.int64)
    columns = [None if column[0] is None else np.concatenate(column) for column in zip(*found, strict=True)] or [
        nothing,
        nothing,
        None,
        None,
    ]
    found.clear()
    ends = np.asarray(columns[1])
    order = np.argsort(ends, kind="stable")
    source, _, weight, delay = (None if column is None else column[order] for column in columns)
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=targets))]).astype(np.int64)
    made = object.__new__(MadeRule)
    object.__setattr__(made, "_text", text)
    made._keep(starts, np.asarray(source), weight, delay)
    return made
