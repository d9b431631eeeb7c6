"""Errors for calls of `Network` in the form of NEST or Brian2: they show the same call in the form of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from numbers import Real
from typing import Any, NoReturn, ParamSpec, TypeVar

from ranvier.base.formulas import Formula
from ranvier.base.hints import hint_for, known_keywords, unknown_model
from ranvier.base.model import Model
from ranvier.base.names import some_names, unknown_name
from ranvier.errors import UnknownNameError, WrongTypeError
from ranvier.network.rule_base import Rule
from ranvier.network.rule_choice import rule_class, rule_names
from ranvier.populations.populations import PopulationView

__all__ = ["explained_connect", "explained_create"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_PARAMETERS = {"p": "probability", "N": "number"}
"""Names of parameters of rules, by their different names in NEST and Brian2."""
_RULES = {
    "probability": "pairwise_bernoulli",
    "indegree": "fixed_indegree",
    "outdegree": "fixed_outdegree",
    "number": "fixed_total_number",
}
"""Rules that a parameter implies if no rule is given."""


def explained_connect(connect: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `Network.connect` with errors that show the right call."""
    return known_keywords(connect, _explain_connect)


def explained_create(create: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `Network.create` with errors that show the right call."""
    return known_keywords(create, _explain_create)


def _explain_create(call: str, positional: tuple[Any, ...], keywords: dict[str, Any], known: list[str]) -> None:
    given = {**dict(zip(("self", "model", "size", "name"), positional, strict=False)), **keywords}
    values = given.get("params", given.get("name"))
    has_size = isinstance(given.get("model"), list | tuple) or "positions" in given
    needed = {"model"} if has_size else {"model", "size"}
    if isinstance(values, Mapping) or len(positional) > 4 or not needed <= given.keys():
        words = [_text(given.get("model"), "model"), _text(given.get("size"), "size")]
        words += [f"{name}={_text(value)}" for name, value in (values.items() if isinstance(values, Mapping) else ())]
        _refuse("create", "a model and a size are needed, and values are given by name", words)


def _explain_connect(call: str, positional: tuple[Any, ...], keywords: dict[str, Any], known: list[str]) -> None:
    given = {**dict(zip(("self", "sources", "targets", "rule"), positional, strict=False)), **keywords}
    others, rule = positional[4:], given.get("rule", given.get("conn_spec"))
    written = {_PARAMETERS.get(key, key): key for key in keywords}
    key = next((key for key in _RULES if key in written), None)
    implied = None if key is None else {"rule": _RULES[key], key: keywords[written[key]]}
    if others or {"conn_spec", "syn_spec"} & keywords.keys() or isinstance(rule, Mapping) or rule is None:
        synapses = given.get("syn_spec", others[0] if others and isinstance(others[0], Mapping | str) else None)
        if isinstance(synapses, str | Mapping):
            given |= _weight_and_delay(synapses)
        else:
            given |= dict(zip(("weight", "delay"), others, strict=False))
        words = _words(given, rule or implied)
        _refuse("connect", "a rule is needed, and weight and delay are given by name", words)
    kind = type(rule) if isinstance(rule, Rule) else rule_class(rule) if isinstance(rule, str) else None
    if key is not None and kind is not None and written[key] not in (names := [each.name for each in fields(kind)]):
        has = f"the parameter of the rule {kind.name} is {key}" if key in names else ""
        raise UnknownNameError(
            "keyword of Network.connect()",
            f"'{written[key]}'",
            has or f"the rule {kind.name} has no such parameter",
            f"write net.connect({', '.join(_words(given, implied))})",
        ) from None


def _refuse(call: str, bound: str, words: list[str]) -> NoReturn:
    """Raise the error for the arguments of a call, with these words as the right ones."""
    remedy = f"write net.{call}({', '.join(words)})"
    raise WrongTypeError(f"arguments of Network.{call}()", bound=bound, remedy=remedy) from None


def _weight_and_delay(synapses: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return weight and delay of a description of synapses as in NEST."""
    described = {"synapse_model": synapses} if isinstance(synapses, str) else dict(synapses)
    model = described.get("synapse_model", described.get("model"))
    if isinstance(model, str) and hint_for(model):
        unknown_model("synapse model", model, ())
    return {name: described[name] for name in ("weight", "delay") if name in described}


def _words(given: Mapping[str, Any], rule: object) -> list[str]:
    """Return arguments of connect() with these neurons, this rule, and the weight and delay that are given."""
    words = [_text(given.get(side), side) for side in ("sources", "targets")]
    words.append(_rule_text(rule))
    return words + [f"{name}={_text(given[name])}" for name in ("weight", "delay") if name in given]


def _rule_text(rule: object) -> str:
    described = dict(rule) if isinstance(rule, Mapping) else {"rule": rule}
    name = described.pop("rule", None)
    if isinstance(rule, Rule) or name is None:
        return "rv.AllToAll()" if name is None else f"rv.{rule!r}"
    kind = rule_class(name) if isinstance(name, str) else None
    if kind is None:
        unknown_name("rule", name, rule_names())
    known = {field.name: field for field in fields(kind)}
    words = {_PARAMETERS.get(key, key): value for key, value in described.items()}
    for key in words:
        if key not in known:
            unknown_name(f"parameter of rule {kind.name}", key, known)
    needed = [key for key, field in known.items() if field.default is MISSING and key not in words]
    parts = [f"{key}=..." for key in needed] + [f"{key}={_text(value)}" for key, value in words.items()]
    return f"rv.{kind.__name__}({', '.join(parts)})"


def _text(value: object, otherwise: str = "...") -> str:
    """Return a value as a user writes it, if that is short."""
    if isinstance(value, PopulationView):
        return value.name
    if isinstance(value, list | tuple) and value and isinstance(value[0], PopulationView):
        return f"[{some_names([_text(each, otherwise) for each in value])}]"
    if isinstance(value, Formula | Model):
        return f"rv.{value!r}"
    return repr(value) if isinstance(value, Real | str) else otherwise
