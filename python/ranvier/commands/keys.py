"""Keys of ``--set key=value``: those of every run, and the keywords of the function that describes the network."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ranvier import networks
from ranvier.base.names import unknown_name
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["RUN_KEYS", "parse_settings", "shipped_networks", "signature_keys"]

# With their defaults; None: the network, or the machine, tells.
RUN_KEYS: dict[str, float | int | str | bool | None] = {
    "time": None,
    "presim": None,
    "threads": None,
    "pinning": "auto",
    "shards": None,
    "stealing": "none",
    "costs": None,
    "precision": "double",
    "weight_precision": "single",
    "instruction_set": "auto",
    "table_layout": "auto",
    "delivery_window": None,
    "exchange": "alltoall",
    "placement": "round_robin",
    "intervals": 1,
    "spike_buffer": None,
    "allgather_spikes": None,
    "connection_buffer": None,
    "sort_connections": "auto",
    "keep_sources": True,
    "row_numbering": "auto",
    "wait_apart": False,
    "recordings": "root",
}
_TYPES: dict[str, type] = {
    "time": float,
    "presim": float,
    **dict.fromkeys(
        ("threads", "shards", "delivery_window", "intervals", "spike_buffer", "allgather_spikes", "connection_buffer"),
        int,
    ),
    **dict.fromkeys(("sort_connections", "keep_sources", "wait_apart"), bool),
}
_CAN_BE_AUTO = ("sort_connections",)


def shipped_networks() -> dict[str, Callable[..., networks.NetworkModel]]:
    """Return the networks that ship, by name."""
    return {
        "microcircuit": networks.microcircuit,
        "brunel": networks.brunel,
        "hpc_benchmark": networks.hpc_benchmark,
        "interval_fire": networks.interval_fire,
    }


def signature_keys(function: Callable[..., object]) -> dict[str, object]:
    """Return the keywords of a function with their defaults; `inspect.Parameter.empty` where there is none."""
    return {name: parameter.default for name, parameter in _parameters(function).items()}


def parse_settings(settings: Iterable[str], function: Callable[..., object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the run and those of the network that were set.

    Raises
    ------
    UnknownNameError
        For a key that does not exist; the message tells the nearest one.
    ValueOutOfBoundsError
        For a text that is not ``key=value``, a key that is set twice, and a value that is not of the type of its key.
    """
    parameters = _parameters(function)
    run: dict[str, Any] = {}
    network: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueOutOfBoundsError("--set", f"'{setting}'", "it must be key=value")
        if key in run or key in network:
            raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", "it was set already", "set it once")
        if key in parameters:
            network[key] = _convert(key, text, _type_of(parameters[key]))
        elif key in RUN_KEYS:
            run[key] = _convert(key, text, _TYPES.get(key, str), key in _CAN_BE_AUTO)
        else:
            unknown_name("key", key, sorted([*parameters, *RUN_KEYS]))
    return run, network


def _parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    # Only what can be given by its name.
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def _type_of(parameter: inspect.Parameter) -> type | None:
    """Return the type of a keyword: of its default, or what its annotation says; None: whatever it looks like."""
    if parameter.default is not None and parameter.default is not inspect.Parameter.empty:
        return type(parameter.default)
    annotation = str(parameter.annotation)
    for kind in (float, int, str):
        if kind.__name__ in annotation:
            return kind
    return None


def _literal(key: str, text: str, kind: type) -> object:
    """Return a list, a tuple or the like, written as in Python."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, kind):
        raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be a {kind.__name__} as Python writes it")
    return value


def _convert(key: str, text: str, kind: type | None, can_be_auto: bool = False) -> object:
    if can_be_auto and text.lower() == "auto":
        return "auto"
    if kind is bool:
        if text.lower() not in ("true", "false"):
            others = "auto, " if can_be_auto else ""
            raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be {others}true or false")
        return text.lower() == "true"
    if kind is None:
        for guess in (int, float):
            try:
                return guess(text)
            except ValueError:
                continue
        return text
    if kind not in (int, float, str):
        return _literal(key, text, kind)
    try:
        return kind(text)
    except ValueError:
        wanted = {int: "a whole number", float: "a number"}.get(kind, f"a {kind.__name__}")
        raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be {wanted}") from None
