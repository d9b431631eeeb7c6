"""The connections of a projection in the opposite direction."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.texts import name_type
from ranvier.base.values import StoredValues, same_values
from ranvier.errors import RuleError, StateError, WrongTypeError
from ranvier.network.projections import Projection
from ranvier.network.rule_base import Rule
from ranvier.populations.populations import PopulationView

__all__ = ["Reversed", "check_not_reversed"]


class Reversed(Rule):
    """The connections of another projection, in the opposite direction, so that each pair is symmetric.

    The sources are the targets of the other projection, and the targets its sources: ``net.connect(b, a,
    rv.Reversed(net.connect(a, b, rule)))``. Each connection of the other projection has one here, with the same random
    numbers, whatever its rule.

    Parameters
    ----------
    projection
        The other projection, of the same network.

    Raises
    ------
    WrongTypeError
        When it is not a projection.
    RuleError
        When it is itself reversed; and in `Network.connect` for other sources and targets.
    StateError
        In `Network.connect`, when the projection belongs to another network.

    Notes
    -----
    Without the argument `weight` of `Network.connect`, each connection has the weight of the other direction, also if
    weights are drawn; so with `delay`. With the argument, weights are those that are given, and are drawn
    independently. Parameters of synapses and sites are always drawn independently. Arrays have the order of the other
    projection.

    `Network.set` refuses to change the rule of a projection that another one reverses, and weights and delays that both
    share. In a simulation, the synapses of both directions change independently.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> a = net.create("iaf_psc_exp", 100)
    >>> half = net.connect(a, a, rv.UnorderedBernoulli(0.1), weight=rv.Normal(20.0, 2.0))
    >>> other_half = net.connect(a, a, rv.Reversed(half))
    """

    name: ClassVar[str] = "reversed"
    _hints_of_keywords: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mask", "probability"), "give it to the rule of the other projection"
    )
    _network: Any
    _of: int
    _name_of_other: str
    _rule: Rule
    _shared: Mapping[str, StoredValues]

    @known_keywords
    def __init__(self, projection: Projection) -> None:
        if not isinstance(projection, Projection):
            raise WrongTypeError("projection of Reversed", name_type(projection), "must be a projection of the network")
        if isinstance(projection.rule, Reversed):
            raise RuleError(
                "projection of Reversed",
                projection.name,
                "it is reversed itself",
                f"reverse {projection.rule._name_of_other}, or connect the same neurons again",
            )
        self._set(
            _network=projection.network, _of=projection.index, _name_of_other=projection.name, _rule=projection.rule
        )
        self._set(_shared={"weight": projection.weight, "delay": projection.delay})

    def _set(self, **attributes: object) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    @property
    def index(self) -> int:
        """Index of the other projection in ``network.projections``."""
        return self._of

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        network = sources.network
        if self._network is not network:
            raise StateError(f"projection {self._name_of_other}", bound="it belongs to another network")
        other = network.projections[self._of]
        if other.rule is not self._rule and other.rule != self._rule:
            raise StateError(f"{self!r}", bound="the projection has another rule now", remedy="make Reversed again")
        if other.sources != targets or other.targets != sources:
            raise RuleError(
                f"sources and targets of {self!r}",
                f"{sources.name} and {targets.name}",
                f"the projection connects {other.sources.name} to {other.targets.name}",
                "connect its targets to its sources",
            )
        made = copy.copy(self)
        shared = {"weight": other.weight, "delay": other.delay}
        # A description has no reference to its network.
        made._set(_network=None, _shared={name: shared[name] for name in shared if name not in given})
        return made

    def _with_given(self, given: Collection[str]) -> Rule:
        made = copy.copy(self)
        made._set(_shared={name: values for name, values in self._shared.items() if name not in given})
        return made

    @property
    def _values(self) -> Mapping[str, StoredValues]:
        return self._shared

    def _to_core(self) -> _core.RuleSpec:
        return self._rule._to_core().reversed(self._of, "weight" in self._shared, "delay" in self._shared)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Reversed)
        return self._of == other._of and self._rule == other._rule and same_values(self._shared, other._shared)

    # Weights may be arrays, which have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Reversed({self._name_of_other!r})"


def check_not_reversed(projection: Projection, changed: Collection[str]) -> None:
    """Check that no other projection shares what is changed.

    Raises
    ------
    StateError
        When one reverses this projection.
    """
    kept = {"receptor", "weight_bound", "synapse", "site", "weight", "delay"}
    for other in projection.network.projections:
        if not isinstance(other.rule, Reversed) or other.rule.index != projection.index or other is projection:
            continue
        for name in changed:
            if name in other.rule._values or name not in kept:
                remedy = "make both projections again"
                if name in kept:
                    remedy = f"write net.set(...) with {name}= of {other.name} first, so that each has its own"
                raise StateError(
                    f"{name} of {projection._title()}",
                    bound=f"projection {other.name} has it in the opposite direction",
                    remedy=remedy,
                )
