"""Calls of `Network` in the form of NEST: errors that show the same call as it is written here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from ranvier.base.distributions import Distribution
from ranvier.base.names import some_names, unknown_name
from ranvier.errors import UnknownNameError, WrongTypeError
from ranvier.network.other_simulators import ABSENT_MODELS, IN_PLACE_OF_MODELS
from ranvier.network.rules import Rule, rule_class, rule_names
from ranvier.populations.populations import PopulationView

__all__ = ["connects_in_one_form", "creates_in_one_form"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_PARAMETERS = {"p": "probability", "N": "number"}
"""Names of parameters of rules, by their names in NEST and Brian2 where these differ."""
_RULES = {
    "probability": "pairwise_bernoulli",
    "indegree": "fixed_indegree",
    "outdegree": "fixed_outdegree",
    "number": "fixed_total_number",
}
"""Rules that a parameter implies if no rule is given."""


def connects_in_one_form(connect: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let `Network.connect` refuse dictionaries, values without their names and a missing rule, with the right call."""

    @functools.wraps(connect)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        positional = dict(zip(("self", "sources", "targets", "rule"), arguments, strict=False))
        given = {**positional, **keywords}
        form = {"conn_spec", "syn_spec"} & keywords.keys()
        if len(arguments) > 4 or form or isinstance(given.get("rule"), Mapping) or "rule" not in given:
            _refuse_connect(given, arguments[4:])
        _check_rule_parameters(given)
        return connect(*arguments, **keywords)

    return checked


def creates_in_one_form(create: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let `Network.create` refuse a dictionary of values, with the right call."""

    @functools.wraps(create)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        given = {**dict(zip(("self", "model", "size", "name"), arguments, strict=False)), **keywords}
        values = given.get("params", given.get("name"))
        needed = {"model"} if isinstance(given.get("model"), list | tuple) else {"model", "size"}
        if isinstance(values, Mapping) or len(arguments) > 4 or not needed <= given.keys():
            words = [_text(given.get("model"), "model"), _text(given.get("size"), "size")]
            if isinstance(values, Mapping):
                words += [f"{name}={_text(value)}" for name, value in values.items()]
            raise WrongTypeError(
                "arguments of Network.create()",
                bound="a model and a size are needed, and values are given by name",
                remedy=f"write net.create({', '.join(words)})",
            )
        return create(*arguments, **keywords)

    return checked


def _refuse_connect(given: dict[str, Any], others: tuple[Any, ...]) -> None:
    """Raise an error that shows the call as it is written here."""
    values: dict[str, Any] = {name: given[name] for name in ("weight", "delay") if name in given}
    synapses = given.get("syn_spec", others[0] if others and isinstance(others[0], Mapping | str) else None)
    if synapses is not None:
        values |= _values_of(synapses)
    else:
        values |= dict(zip(("weight", "delay"), others, strict=False))
    rule = given.get("rule", given.get("conn_spec")) or _rule_of_keywords(given)
    raise WrongTypeError(
        "arguments of Network.connect()",
        bound="a rule is needed, and weight and delay are given by name",
        remedy=f"write {_call_text({**given, **values}, rule)}",
    )


def _call_text(given: Mapping[str, Any], rule: object) -> str:
    """Return a call of connect() with these neurons, this rule, and the weight and delay that are given."""
    words = [_name_of(given.get(side), side) for side in ("sources", "targets")]
    words.append(_rule_text(rule))
    words += [f"{name}={_text(given[name])}" for name in ("weight", "delay") if name in given]
    return f"net.connect({', '.join(words)})"


def _rule_of_keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of the rule that keywords imply, such as ``p=0.1``; empty if they imply none."""
    words = {_PARAMETERS.get(key, key): value for key, value in given.items()}
    return next(({"rule": rule, key: words[key]} for key, rule in _RULES.items() if key in words), {})


def _check_rule_parameters(given: Mapping[str, Any]) -> None:
    """Refuse a parameter that only another rule has; the error shows the call with that rule."""
    described = _rule_of_keywords({key: value for key, value in given.items() if key in {*_PARAMETERS, *_RULES}})
    rule = given["rule"]
    kind = type(rule) if isinstance(rule, Rule) else rule_class(rule) if isinstance(rule, str) else None
    if not described or kind is None:
        return
    key = next(key for key in described if key != "rule")
    written = next(name for name in given if _PARAMETERS.get(name, name) == key)
    names = [field.name for field in fields(kind)]
    if written in names:
        return
    raise UnknownNameError(
        "keyword of Network.connect()",
        f"'{written}'",
        f"the parameter of the rule {kind.name} is {key}"
        if key in names
        else f"the rule {kind.name} has no such parameter",
        f"write {_call_text(given, described)}",
    )


def _values_of(synapses: object) -> dict[str, Any]:
    """Return weight and delay from NEST's description of synapses."""
    described = dict(synapses) if isinstance(synapses, Mapping) else {"synapse_model": synapses}
    model = described.get("synapse_model", described.get("model"))
    if isinstance(model, str) and model in ABSENT_MODELS:
        raise UnknownNameError("synapse model", f"'{model}'", "this model is absent so far", ABSENT_MODELS[model])
    if isinstance(model, str) and model in IN_PLACE_OF_MODELS:
        raise UnknownNameError("synapse model", f"'{model}'", "it has another name here", IN_PLACE_OF_MODELS[model])
    return {name: described[name] for name in ("weight", "delay") if name in described}


def _rule_text(rule: object) -> str:
    if isinstance(rule, Rule):
        return f"rv.{rule!r}"
    described = dict(rule) if isinstance(rule, Mapping) else {"rule": rule}
    name = described.pop("rule", None)
    if name is None:
        return "rv.AllToAll()"
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


def _name_of(neurons: object, otherwise: str) -> str:
    if isinstance(neurons, list | tuple):
        return f"[{some_names([_name_of(each, otherwise) for each in neurons])}]"
    return neurons.name if isinstance(neurons, PopulationView) else otherwise


def _text(value: object, otherwise: str = "...") -> str:
    """Return a value as one writes it, where that is short."""
    if isinstance(value, Distribution):
        return f"rv.{value!r}"
    if isinstance(value, Real | str | bool) or type(value).__module__ == "ranvier.models":
        text = repr(value) if isinstance(value, str) else str(value)
        return f"rv.{text}" if type(value).__module__ == "ranvier.models" else text
    return otherwise
