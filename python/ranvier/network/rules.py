"""Connection rules: which source connects to which target.

The connections that a rule draws depend only on the seed of the network, the projection and the neurons, so they are
the same for any number of threads. An *autapse* connects a neuron to itself; *multapses* are several connections from
one neuron to another.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import MISSING, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import locked, value_class
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted, there_are, unknown_name
from ranvier.base.numeric import as_array, number, whole_number
from ranvier.errors import RuleError, ShapeError, ValueOutOfBoundsError, WrongTypeError

__all__ = [
    "AllToAll",
    "Explicit",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedTotalNumber",
    "NearestNeighbors",
    "OneToOne",
    "PairwiseBernoulli",
    "Rule",
    "UniformIndegree",
    "make_rule",
    "pairs_of",
    "rule_class",
    "rule_names",
]

# The core counts synapses in 64 bits; Python's integers are unbounded.
_LARGEST_NUMBER = 2**63 - 1


def _count(rule: str, name: str, value: object) -> int:
    return whole_number(f"{name} of {rule}", value, 0, _LARGEST_NUMBER)


def _indices(rule: str, name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = as_array(f"{name} of {rule}", values)
    if array is None:
        raise ShapeError(f"{name} of {rule}", "lists of different lengths", "it must have one dimension")
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1:
        raise ShapeError(f"{name} of {rule}", f"an array of {array.ndim} dimensions", "it must have one dimension")
    if array.dtype.kind not in "iu":
        raise WrongTypeError(f"{name} of {rule}", str(array.dtype), "must be integers")
    if array.size and array.min() < 0:
        raise ValueOutOfBoundsError(f"{name} of {rule}", str(array.min()), "indices must be >= 0")
    if array.size and array.max() > _LARGEST_NUMBER:
        raise ValueOutOfBoundsError(
            f"{name} of {rule}", str(array.max()), "indices must be below the number of neurons"
        )
    # Check the memory for the copy, which the core shares.
    check_room(f"{name} of {rule}", 8 * array.size, "give fewer connections, or a rule that draws them")
    # A read-only copy: if the user later writes to the array, the network must not change.
    result = np.array(array, dtype=np.int64)
    result.flags.writeable = False
    return result


@value_class
class Rule(NamedAttributes):
    """Base of all rules."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        if type(self) is Rule:
            names = ", ".join(kind.__name__ for kind in _RULES.values())
            raise RuleError("rule", bound="this is the base of all rules", remedy=f"make one of {names}")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.bool_):
                self._keep(**{field.name: bool(value)})
            elif field.name.startswith("allow_") and not isinstance(value, bool):
                raise WrongTypeError(f"{field.name} of {self.name}", type(value).__name__, "must be True or False")

    def _keep(self, **values: object) -> None:
        """Keep values as they were checked."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        # As a user would write it: without the values that equal the defaults.
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def _arguments(self) -> dict[str, Any]:
        """Arguments of the core's `RuleSpec`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@value_class
class OneToOne(Rule):
    """The i-th source connects to the i-th target; there must be as many sources as targets.

    Parameters
    ----------
    allow_autapses
        Whether a neuron may connect to itself.

    Arrays of weights or delays hold one number per pair, in the order of the neurons.
    """

    name: ClassVar[str] = "one_to_one"
    allow_autapses: bool = True


@value_class
class AllToAll(Rule):
    """Every source connects to every target.

    Parameters
    ----------
    allow_autapses
        Whether a neuron that is both a source and a target connects to itself.

    Arrays of weights or delays hold one number per pair, with the shape ``(targets, sources)`` or flattened. They also
    contain numbers for autapses that are not allowed; these are not used.
    """

    name: ClassVar[str] = "all_to_all"
    allow_autapses: bool = True


@value_class
class FixedIndegree(Rule):
    """Every target gets the same number of connections, from sources drawn uniformly.

    Parameters
    ----------
    indegree
        Connections per target.
    allow_autapses
        Whether a neuron may be drawn as its own source.
    allow_multapses
        Whether a source may be drawn more than once for a target.
    """

    name: ClassVar[str] = "fixed_indegree"
    indegree: int
    allow_autapses: bool = True
    allow_multapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep(indegree=_count(self.name, "indegree", self.indegree))

    def _arguments(self) -> dict[str, Any]:
        return {
            "number": self.indegree,
            "allow_autapses": self.allow_autapses,
            "allow_multapses": self.allow_multapses,
        }


@value_class
class UniformIndegree(Rule):
    """Every target gets a number of connections drawn uniformly, from sources drawn uniformly.

    Parameters
    ----------
    indegree_min, indegree_max
        Smallest and largest number of connections of a target. All whole numbers in this range are equally probable.
    allow_autapses
        Whether a neuron may be drawn as its own source.
    allow_multapses
        Whether a source may be drawn more than once for a target.
    """

    name: ClassVar[str] = "uniform_indegree"
    indegree_min: int
    indegree_max: int
    allow_autapses: bool = True
    allow_multapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep(
            indegree_min=_count(self.name, "indegree_min", self.indegree_min),
            indegree_max=_count(self.name, "indegree_max", self.indegree_max),
        )
        if self.indegree_min > self.indegree_max:
            raise RuleError(
                f"indegree_min of rule '{self.name}'",
                str(self.indegree_min),
                f"it must not exceed indegree_max, {self.indegree_max}",
                "swap them",
            )

    def _arguments(self) -> dict[str, Any]:
        return {
            "least_number": self.indegree_min,
            "number": self.indegree_max,
            "allow_autapses": self.allow_autapses,
            "allow_multapses": self.allow_multapses,
        }


@value_class
class NearestNeighbors(Rule):
    """Every neuron gets connections from the neurons with the nearest ids, but not from itself.

    The sources must be the targets: a population, or a part of it, that is connected to itself. Neurons are arranged in
    a ring: the last neuron is next to the first one.

    Parameters
    ----------
    indegree
        Connections per target, half of them from the neurons before it and half from those after it. An even number,
        less than the number of neurons.

    Arrays of weights or delays hold one number per connection, sorted by target. For each target, the sources are
    sorted from the farthest one before it to the farthest one after it.
    """

    name: ClassVar[str] = "nearest_neighbors"
    indegree: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep(indegree=_count(self.name, "indegree", self.indegree))
        if self.indegree % 2:
            raise RuleError(
                f"indegree of rule '{self.name}'",
                str(self.indegree),
                "it must be even: as many before a neuron as after it",
                "add or take away one",
            )

    def _arguments(self) -> dict[str, Any]:
        return {"number": self.indegree}


@value_class
class FixedOutdegree(Rule):
    """Every source gets the same number of connections, to targets drawn uniformly.

    Parameters
    ----------
    outdegree
        Connections per source.
    allow_autapses
        Whether a neuron may be drawn as its own target.
    allow_multapses
        Whether a target may be drawn more than once for a source.
    """

    name: ClassVar[str] = "fixed_outdegree"
    outdegree: int
    allow_autapses: bool = True
    allow_multapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep(outdegree=_count(self.name, "outdegree", self.outdegree))

    def _arguments(self) -> dict[str, Any]:
        return {
            "number": self.outdegree,
            "allow_autapses": self.allow_autapses,
            "allow_multapses": self.allow_multapses,
        }


@value_class
class FixedTotalNumber(Rule):
    """A fixed total number of connections, between pairs of a source and a target that are drawn uniformly.

    Parameters
    ----------
    number
        Total number of connections.
    allow_autapses
        Whether a neuron may be paired with itself.
    allow_multapses
        Whether a pair may be drawn more than once.
    """

    name: ClassVar[str] = "fixed_total_number"
    number: int
    allow_autapses: bool = True
    allow_multapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep(number=_count(self.name, "number", self.number))


@value_class
class PairwiseBernoulli(Rule):
    """Each pair of a source and a target is connected with the same probability, independently.

    Parameters
    ----------
    probability
        Between 0 and 1.
    allow_autapses
        Whether a neuron may connect to itself.
    """

    name: ClassVar[str] = "pairwise_bernoulli"
    probability: float
    allow_autapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        probability = number(f"probability of rule '{self.name}'", self.probability)
        if not 0.0 <= probability <= 1.0:
            raise ValueOutOfBoundsError(
                f"probability of rule '{self.name}'",
                str(self.probability),
                "it must be from 0 to 1",
                "give a probability",
            )
        self._keep(probability=probability)


@value_class
class Explicit(Rule):
    """A list of all connections, in coordinate form.

    Parameters
    ----------
    sources, targets
        For each connection, the index of its source among the sources and of its target among the targets. Two arrays
        of integers of equal length.
    allow_autapses
        Whether the list may connect a neuron to itself.
    allow_multapses
        Whether the list may contain a pair more than once.

    Arrays of weights or delays hold one number per connection, in the same order.
    """

    name: ClassVar[str] = "explicit"
    sources: npt.ArrayLike
    targets: npt.ArrayLike
    allow_autapses: bool = True
    allow_multapses: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        sources = _indices(self.name, "sources", self.sources)
        targets = _indices(self.name, "targets", self.targets)
        if len(sources) != len(targets):
            raise ShapeError(
                f"length of targets of rule '{self.name}'",
                str(len(targets)),
                there_are(len(sources), "source"),
                "give one source and one target for each synapse",
            )
        self._keep(sources=sources, targets=targets)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays that were copied or pickled can be written to again.
        for name, value in state.items():
            object.__setattr__(self, name, locked(value) if isinstance(value, np.ndarray) else value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explicit):
            return NotImplemented
        return all(np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __repr__(self) -> str:
        return f"Explicit({counted(len(np.asarray(self.sources)), 'connection')})"

    def _arguments(self) -> dict[str, Any]:
        return {
            "source_indices": self.sources,
            "target_indices": self.targets,
            "allow_autapses": self.allow_autapses,
            "allow_multapses": self.allow_multapses,
        }


# Arrays have no hash.
Explicit.__hash__ = None  # type: ignore[assignment]

_RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        OneToOne,
        AllToAll,
        FixedIndegree,
        UniformIndegree,
        FixedOutdegree,
        FixedTotalNumber,
        PairwiseBernoulli,
        NearestNeighbors,
        Explicit,
    )
}


def rule_names() -> list[str]:
    """Return the names of all rules."""
    return sorted(_RULES)


def rule_class(name: str) -> type[Rule] | None:
    """Return the class of a rule of that name; None where there is none."""
    return _RULES.get(name)


def make_rule(rule: object, keywords: dict[str, Any], others: Sequence[str] = ()) -> Rule:
    """Return a rule, which the user may pass as an object, or as its name with its parameters as keywords.

    Parameters
    ----------
    rule, keywords
        The user's arguments.
    others
        Further keywords of the call, which errors can suggest.

    Raises
    ------
    UnknownNameError
        When no rule, or no parameter of the rule, has that name.
    RuleError
        When a parameter is missing, or when a rule object and keywords are both passed.
    """
    if isinstance(rule, type) and issubclass(rule, Rule) and rule is not Rule:
        raise WrongTypeError("a rule", f"the class {rule.__name__}", "must be made", f"write rv.{rule.__name__}(...)")
    if isinstance(rule, str) and rule not in _RULES:
        unknown_name("rule", rule, sorted(_RULES))
    if not isinstance(rule, Rule | str):
        raise WrongTypeError("a rule", type(rule).__name__, "must be a rule, such as rv.OneToOne(), or its name")
    rule_type = type(rule) if isinstance(rule, Rule) else _RULES[rule]
    names = [field.name for field in fields(rule_type)]
    for name in keywords:
        if name not in names:
            unknown_name(f"parameter of rule {rule_type.name} or keyword", name, [*others, *names])
    if isinstance(rule, Rule):
        if not keywords:
            return rule
        raise RuleError(
            f"rule {rule.name}",
            bound=f"keywords ({', '.join(keywords)}) cannot be combined with a rule object",
            remedy="pass them to the rule itself",
        )
    missing = [field.name for field in fields(rule_type) if field.default is MISSING and field.name not in keywords]
    if missing:
        raise RuleError(f"rule {rule}", bound=f"it needs {' and '.join(missing)}", remedy=f"give {missing[0]}=...")
    return rule_type(**keywords)


def pairs_of(sources: Sized, targets: Sized, rule: Rule) -> tuple[int, int] | None:
    """Return the numbers of targets and sources if arrays may have one number for each pair of them, else None."""
    return (len(targets), len(sources)) if isinstance(rule, AllToAll) else None
