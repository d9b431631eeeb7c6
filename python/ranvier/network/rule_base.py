"""The base class of connection rules, which checks the values of their parameters."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.formulas import check_not_number
from ranvier.base.hints import NamedAttributes
from ranvier.base.immutable import locked, value_class
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted
from ranvier.base.numeric import as_array, number, whole_number
from ranvier.base.texts import name_type
from ranvier.base.values import StoredValues
from ranvier.equations.expression import Expression
from ranvier.equations.value_functions import Context
from ranvier.errors import RuleError, ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.populations.populations import PopulationView
from ranvier.space.masks import Mask
from ranvier.space.positions import Grid

__all__ = ["Rule", "class_name"]

# The core counts synapses in 64 bits; Python's integers are unbounded.
_LARGEST_NUMBER = 2**63 - 1


def class_name(rule: str) -> str:
    """Return the name of the class of a rule."""
    return "".join(word.capitalize() for word in rule.split("_"))


def _flag(rule: str, name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise WrongTypeError(f"{name} of {rule}", type(value).__name__, "must be True or False")
    return bool(value)


def _count(rule: str, name: str, value: object) -> int:
    return whole_number(f"{name} of {rule}", value, 0, _LARGEST_NUMBER)


def _real(rule: str, name: str, value: object) -> float:
    return number(f"{name} of rule '{rule}'", value)


def _indices(rule: str, name: str, values: object) -> npt.NDArray[np.int64]:
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


def _pair_value(rule: str, name: str, value: object) -> float | Expression:
    if isinstance(value, str):
        check_not_number(f"{name} of rule '{rule}'", value)
        return Expression(value)
    if isinstance(value, Expression):
        return value
    return _real(rule, name, value)


def _mask(rule: str, name: str, value: object) -> Mask | None:
    if value is not None and not isinstance(value, Mask):
        raise WrongTypeError(
            f"{name} of rule '{rule}'", name_type(value), "must be a mask", "such as rv.circle(0.3), or None"
        )
    return value


_CHECKS: dict[str, Callable[[str, str, object], object]] = {
    "flag": _flag,
    "count": _count,
    "real": _real,
    "indices": _indices,
    "pair_value": _pair_value,
    "mask": _mask,
}


@value_class
class Rule(NamedAttributes):
    """Base of all rules."""

    name: ClassVar[str]
    """Name of the rule in the registry of the core."""
    _parameters: ClassVar[tuple[_core.RuleParameterInfo, ...]] = ()
    _hints_of_keywords: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("mask", "probability"),
        "it connects neurons by their indices; use a rule by distance, such as FixedIndegree, PairwiseBernoulli or "
        "NearestNeighbors",
    )
    """What to use instead of keywords that other rules have."""
    _expressions: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters that may be expressions."""

    def __post_init__(self) -> None:
        if type(self) is Rule:
            names = ", ".join(class_name(each.name) for each in _core.rules())
            raise RuleError("rule", bound="this is the base of all rules", remedy=f"make one of {names}")
        for parameter in self._parameters:
            given = getattr(self, parameter.name)
            object.__setattr__(self, parameter.name, _CHECKS[parameter.kind](self.name, parameter.name, given))
        # The core checks bounds, and values that depend on each other.
        self._to_core()

    _length_unit: ClassVar[str | None] = None
    """Unit of the positions of the neurons, empty without; None for a rule that was not applied to neurons."""
    _spacing: ClassVar[tuple[float, ...] | None] = None
    """Of the grid of the neurons, if they are on one."""

    def _to_core(self) -> _core.RuleSpec:
        values: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Expression):
                what = f"{field.name} of rule '{self.name}'"
                value = value._to_core(Context(what, lengths="mm" if self._length_unit is None else self._length_unit))
            elif isinstance(value, Mask):
                # Whether the neurons are on a grid is known later.
                if self._length_unit is None and self._spacing is None and value.needs_grid:
                    continue
                value = value._to_core(self._spacing)
            if value is not None:
                values[field.name] = value
        return _core.RuleSpec(self.name, values)

    def _completed(self, sources: PopulationView, targets: PopulationView, given: Collection[str]) -> Rule:
        """Return the rule with everything that depends on the neurons, checked against them.

        `given` are the names of the arguments of `Network.connect` that the user has given, of weight and delay.
        """
        values = [getattr(self, field.name) for field in fields(self)]
        if not any(isinstance(value, Expression | Mask) for value in values):
            return self
        made = copy.copy(self)
        populations = (*sources.populations, *targets.populations)
        layouts = [population.layout for population in populations]
        units = {"" if layout is None else layout.unit for layout in layouts}
        # The core refuses different units where positions are used.
        object.__setattr__(made, "_length_unit", units.pop() if len(units) == 1 else "")
        spacings = {layout.spacing if isinstance(layout, Grid) else None for layout in layouts}
        object.__setattr__(made, "_spacing", spacings.pop() if len(spacings) == 1 else None)
        made._to_core()
        return made

    def _with_given(self, given: Collection[str]) -> Rule:
        """Return the rule of a projection after these values of the projection were changed."""
        return self

    @property
    def _values(self) -> Mapping[str, StoredValues]:
        """The weights and delays of the rule, if it has any: values of ``weight`` and ``delay`` of a projection."""
        return {}

    def _how_to_leave_out(self, name: str) -> str:
        """Return how to make the rule without its weights or delays: the end of a sentence with "or"."""
        return f"make the rule without a {name}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays that were copied or pickled can be written to again.
        for name, value in state.items():
            object.__setattr__(self, name, locked(value) if isinstance(value, np.ndarray) else value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __hash__(self) -> int:
        return hash((self.name, *(getattr(self, field.name) for field in fields(self))))

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if isinstance(values.get("sources"), np.ndarray):
            return f"{type(self).__name__}({counted(len(values['sources']), 'connection')})"
        # As a user would write it: without the values that equal the defaults.
        given = [
            f"{field.name}={values[field.name]!r}" for field in fields(self) if values[field.name] != field.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"
