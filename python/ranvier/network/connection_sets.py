"""Connections that the connection-set algebra describes (package csa)."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Collection, Iterator
from typing import Any

from ranvier.base.hints import known_keywords
from ranvier.base.names import counted
from ranvier.base.numeric import whole_number
from ranvier.base.packages import package
from ranvier.errors import RuleError, WrongTypeError
from ranvier.network.function_rules import Part, checked_part, listed
from ranvier.network.rule_base import Rule
from ranvier.populations.populations import PopulationView

__all__ = ["ConnectionSet"]

_BLOCK = 1 << 16


class ConnectionSet(Rule):
    """The connections of a connection set of the package csa: M. Djurfeldt (2012), Neuroinformatics 10, 287-304.

    Parameters
    ----------
    connections
        A mask or a connection set over the indices of sources and targets: ``csa.random(0.1)``, ``csa.oneToOne``,
        ``csa.cset(csa.random(0.1), weights, delays)``.
    weight, delay
        The numbers of the value sets of `connections`, from 0, that are weights, in the unit of `Network.connect`, and
        delays, ms. None: those of `Network.connect`.

    Raises
    ------
    WrongTypeError
        When `connections` is not a mask or a connection set.
    RuleError
        When it has no value set of this number, and when one of its value sets is not used.
    ValueOutOfBoundsError
        In `Network.connect`, for a connection that is not between the neurons, and values that are not finite.
    MissingPackageError
        When csa is not installed.

    Notes
    -----
    The set is iterated when neurons are connected, for all connections on every process, in Python: this is slow.
    A random set of csa draws from the state that Python's module `random` had when the set was made: call
    ``random.seed(1)`` before that line, so that it is the same in each run and on each process. The seed of the network
    does not change it; processes whose connections differ fail with an error when the simulation is built. Each
    process holds the list of all connections: 8 bytes for each, and 8 more for each weight and
    delay. The projection keeps this list, not the set.

    Examples
    --------
    >>> import csa
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> a, b = net.create("iaf_psc_exp", 10), net.create("iaf_psc_exp", 10)
    >>> net.connect(a, b, rv.ConnectionSet(csa.oneToOne), weight=20.0).expected_synapses
    10.0
    """

    name = "connection_set"
    _connections: Any
    _values_used: tuple[int | None, int | None]

    @known_keywords
    def __init__(self, connections: Any, *, weight: int | None = None, delay: int | None = None) -> None:
        csa = package("csa", "ConnectionSet", "csa")
        connset = package("csa.connset", "ConnectionSet", "csa")
        if not isinstance(connections, connset.Mask | connset.ConnectionSet):
            raise WrongTypeError(
                "connections of ConnectionSet",
                type(connections).__name__,
                "must be a mask or a connection set of csa",
            )
        count = csa.arity(connections)
        used = [
            None if each is None else whole_number(f"{name} of ConnectionSet", each, 0, 2**31)
            for name, each in (("weight", weight), ("delay", delay))
        ]
        for name, each in zip(("weight", "delay"), used, strict=True):
            if each is not None and each >= count:
                raise RuleError(
                    f"{name} of ConnectionSet", str(each), f"the connection set has {counted(count, 'value set')}"
                )
        for number in range(count):
            if number not in used:
                raise RuleError(
                    f"value set {number} of ConnectionSet",
                    bound="it is not used",
                    remedy=f"write weight={number} or delay={number}, or leave the value set out of the connection set",
                )
        object.__setattr__(self, "_connections", connections)
        object.__setattr__(self, "_values_used", tuple(used))

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        return listed(repr(self), self._parts(len(sources), len(targets)), len(targets))

    def _parts(self, sources: int, targets: int) -> Iterator[Part]:
        csa = package("csa", "ConnectionSet", "csa")
        with _kept_state():
            connections = iter(csa.cross(range(sources), range(targets)) * self._connections)
            while block := list(itertools.islice(connections, _BLOCK)):
                columns = list(zip(*block, strict=True))
                weights, delays = (None if used is None else columns[2 + used] for used in self._values_used)
                given = [columns[0], columns[1], weights, delays]
                yield checked_part(f"connections of {self!r}", given, (0, sources), (0, targets))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, ConnectionSet)
        return self._connections is other._connections and self._values_used == other._values_used

    def __hash__(self) -> int:
        return hash((id(self._connections), self._values_used))

    def __repr__(self) -> str:
        kind = type(self._connections).__name__
        named = zip(("weight", "delay"), self._values_used, strict=True)
        numbers = "".join(f", {name}={number}" for name, number in named if number is not None)
        return f"ConnectionSet(<{kind}>{numbers})"


@contextlib.contextmanager
def _kept_state() -> Iterator[None]:
    """Restore the state of the generator at the end: csa sets that of the connection set."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
