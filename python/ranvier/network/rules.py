"""Connection rules: which source connects to which target.

Their classes are made from the registry of the core when they are first used. The connections that a rule draws depend
only on the seed of the network, the projection and the neurons, so they are the same for any number of threads. An
*autapse* connects a neuron to itself; *multapses* are several connections from one neuron to another.
"""

from __future__ import annotations

from typing import Any

from ranvier import _core
from ranvier.base.immutable import value_class
from ranvier.base.model_classes import Classes, attribute
from ranvier.base.model_documentation import docstring_of_rule
from ranvier.network.rule_base import Rule, class_name
from ranvier.network.rule_expressions import with_constants

_TYPES = {
    "flag": "bool",
    "count": "int",
    "real": "float",
    "indices": "npt.ArrayLike",
    "pair_value": "float | str | Expression",
    "mask": "Mask | None",
}


_RULES = {class_name(rule.name): rule for rule in _core.rules()}


def _made(name: str) -> type[Rule]:
    rule = _RULES[name]
    contents: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": docstring_of_rule(rule),
        "__annotations__": {each.name: _TYPES[each.kind] for each in rule.parameters},
        "name": rule.name,
        "_parameters": tuple(rule.parameters),
        "_expressions": tuple(each.name for each in rule.parameters if each.kind == "pair_value"),
    }
    contents |= {each.name: each.default for each in rule.parameters if each.default is not None}
    contents |= {each.name: None for each in rule.parameters if each.kind == "mask"}
    # Arrays have no hash, and are compared element by element.
    has_lists = any(each.kind == "indices" for each in rule.parameters)
    contents |= {"__eq__": Rule.__eq__, "__hash__": None if has_lists else Rule.__hash__}
    made = value_class(type(name, (Rule,), contents))
    return with_constants(made) if made._expressions else made


RULES = Classes(_RULES, _made)

__all__ = sorted(RULES)


def __getattr__(name: str) -> type:
    return attribute(__name__, name, RULES)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
