"""The rule of a call, which users pass as an object, or as its name with parameters as keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import MISSING, fields
from typing import Any

from ranvier import _core
from ranvier.base.hints import hint_for
from ranvier.base.names import unknown_name
from ranvier.base.values import StoredValues
from ranvier.errors import RuleError, UnknownNameError, WrongTypeError
from ranvier.network.rule_base import Rule
from ranvier.network.rules import RULES, AllToAll

__all__ = ["make_rule", "pairs_of", "rule_class", "rule_names", "values_of"]

# The classes by the names of rules in the core.
_NAMES = dict(zip((rule.name for rule in _core.rules()), RULES, strict=True))


_OF_BOTH_DIRECTIONS = ("make_symmetric", "symmetric")
"""Keywords with which other simulators connect both directions."""


def rule_names() -> list[str]:
    """Return the names of all rules."""
    return sorted(_NAMES)


def rule_class(name: str) -> type[Rule] | None:
    """Return the class of a rule of that name; None where there is none."""
    return RULES[_NAMES[name]] if name in _NAMES else None


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
    if isinstance(rule, str) and rule not in _NAMES:
        if hint := hint_for(rule):
            raise UnknownNameError("rule", f"'{rule}'", "no rule has this name", hint)
        unknown_name("rule", rule, rule_names())
    if not isinstance(rule, Rule | str):
        raise WrongTypeError("a rule", type(rule).__name__, "must be a rule, such as rv.OneToOne(), or its name")
    rule_type = type(rule) if isinstance(rule, Rule) else RULES[_NAMES[rule]]
    names = [field.name for field in fields(rule_type)]
    # Further keywords are constants of an expression.
    takes_constants = any(isinstance(keywords.get(name), str) for name in rule_type._expressions)
    for name in keywords:
        if name in _OF_BOTH_DIRECTIONS:
            raise UnknownNameError(
                "keyword of Network.connect()",
                f"'{name}'",
                "a projection has one direction",
                "connect the other one, too: net.connect(targets, sources, rv.Reversed(projection))",
            )
        if name not in names and not takes_constants:
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


def values_of(rule: Rule, given: Mapping[str, Any]) -> Mapping[str, StoredValues]:
    """Return the weights and delays of a rule, which replace what the user has not given.

    Raises
    ------
    RuleError
        When the user has given any of them, too.
    """
    for name in rule._values:
        if name in given:
            raise RuleError(
                f"{name} of a projection",
                bound=f"the rule {rule!r} has a {name} for each connection",
                remedy=f"leave out {name}=..., or {rule._how_to_leave_out(name)}",
            )
    return rule._values


def pairs_of(sources: Sized, targets: Sized, rule: Rule) -> tuple[int, int] | None:
    """Return the numbers of targets and sources if arrays may have one number for each pair of them, else None."""
    return (len(targets), len(sources)) if isinstance(rule, AllToAll) else None
