"""Keys of ``--set key=value``: the keys of every run, and the keywords of the function that describes the network."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from ranvier import networks
from ranvier.base.names import unknown_name
from ranvier.errors import ValueOutOfBoundsError
from ranvier.simulation.described_options import Option
from ranvier.simulation.options import OPTIONS

__all__ = [
    "RUN_KEYS",
    "SAVES",
    "TIMES",
    "add_settings",
    "described_keys",
    "help_of_keys",
    "parse_options",
    "parse_settings",
    "shipped_networks",
    "shown",
    "signature_keys",
]

# With their defaults; None: chosen by the network or the machine. Only rank 0, which reports, needs recordings.
RUN_KEYS: dict[str, Any] = {
    "time": None,
    "presim": None,
    "save_every": None,
    **{name: option.default for name, option in OPTIONS.items() if option.settable},
    "recordings": "root",
}

TIMES = {
    "time": "Milliseconds to simulate and report on; the default depends on the network.",
    "presim": "Milliseconds to simulate before that.",
}
# Only for the command `run`.
SAVES = {"save_every": "Milliseconds of simulated time between two saves of the state to the file of --save."}
_TITLES = {
    "": "Options of every run",
    "processes": "Options of runs on many processes (mpiexec -n 4 ranvier run MODEL)",
    "tuning": "Options of the threads and the memory of a process",
}


def add_settings(parser: argparse.ArgumentParser, meaning: str = "parameters of the network, and options") -> None:
    """Declare ``--set``."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        dest="settings",
        help=meaning,
    )


def described_keys() -> Iterator[tuple[str, str, str, str]]:
    """Yield name, default, allowed values and meaning of each key that every run has."""
    for name, meaning in (TIMES | SAVES).items():
        yield name, "", "a number", meaning
    for name, option in OPTIONS.items():
        if option.settable:
            # In the form that is written after "="; a key that is left out is None.
            wanted = option.wanted().removesuffix(" or None").replace("'", "").replace("True", "true")
            yield name, shown(RUN_KEYS[name]), wanted.replace("False", "false"), option.meaning


def shown(default: object) -> str:
    """Return a default as it is written after ``=``; empty without a default."""
    return "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def help_of_keys() -> str:
    """Return the description of the keys that every run has, for the help of commands."""
    entries = {name: (default, wanted, meaning) for name, default, wanted, meaning in described_keys()}
    lines = []
    for group, title in _TITLES.items():
        lines += ["", f"{title}:", ""]
        options = [name for name, option in OPTIONS.items() if option.group == group and option.settable]
        for name in [*(TIMES | SAVES if not group else ()), *options]:
            default, wanted, meaning = entries[name]
            given = f"{wanted}{f'; default {default}' if default else ''}"
            lines += textwrap.wrap(f"  {name:<18} {given}", 118, subsequent_indent=" " * 21)
            lines += textwrap.wrap(meaning, 118, initial_indent=" " * 21, subsequent_indent=" " * 21)
    return "\n".join(lines)


def shipped_networks() -> dict[str, Callable[..., networks.NetworkModel]]:
    """Return the networks of the package, by name."""
    return {
        "microcircuit": networks.microcircuit,
        "mesocircuit": networks.mesocircuit,
        "brunel": networks.brunel,
        "cuba": networks.cuba,
        "coba": networks.coba,
        "coba_hh": networks.coba_hh,
        "izhikevich": networks.izhikevich,
        "synfire": networks.synfire,
        "vogels": networks.vogels,
        "ring_attractor": networks.ring_attractor,
        "topographic_map": networks.topographic_map,
        "hpc_benchmark": networks.hpc_benchmark,
        "interval_fire": networks.interval_fire,
        "ring": networks.ring,
        "l5_pair": networks.l5_pair,
        "layers": networks.layers,
        "column": networks.column,
    }


def signature_keys(function: Callable[..., object]) -> dict[str, object]:
    """Return the keywords of a function with their defaults; `inspect.Parameter.empty` if there is no default."""
    return {name: parameter.default for name, parameter in _parameters(function).items()}


def parse_settings(settings: Iterable[str], function: Callable[..., object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of the run and the keys of the network that were set.

    Raises
    ------
    UnknownNameError
        For a key that does not exist; the message suggests the nearest one.
    ValueOutOfBoundsError
        For a text that is not ``key=value``, for a key that is set twice, and for a value of the wrong type.
    """
    parameters = _parameters(function)
    run: dict[str, Any] = {}
    network: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueOutOfBoundsError("--set", f"'{setting}'", "it must be key=value")
        if key in run or key in network:
            raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", "it is set twice", "set it once")
        if key in parameters:
            network[key] = _convert(key, text, _type_of(parameters[key]))
        elif key in RUN_KEYS:
            times = TIMES | SAVES
            run[key] = _convert(key, text, float) if key in times else _option_value(OPTIONS[key], text)
        else:
            unknown_name("key", key, sorted([*parameters, *RUN_KEYS]))
    return run, network


def parse_options(settings: Iterable[str], names: Collection[str]) -> dict[str, Any]:
    """Return the options of `names` that were set.

    Raises
    ------
    UnknownNameError, ValueOutOfBoundsError
        As for `parse_settings`.
    """
    options, _ = parse_settings(settings, lambda: None)
    for name in options:
        if name not in names:
            unknown_name("key", name, sorted(names))
    return options


def _parameters(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    # Only parameters that can be passed by name.
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def _type_of(parameter: inspect.Parameter) -> type | None:
    """Return the type of a keyword, from its default or its annotation; None: the text determines the type."""
    if parameter.default is not None and parameter.default is not inspect.Parameter.empty:
        return type(parameter.default)
    annotation = str(parameter.annotation)
    for kind in (float, int, str):
        if kind.__name__ in annotation:
            return kind
    return None


def _literal(key: str, text: str, kind: type) -> object:
    """Return a list, a tuple or a similar value, written as in Python."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, kind):
        raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be a {kind.__name__} in Python's notation")
    return value


def _option_value(option: Option, text: str) -> object:
    """Return the checked value of an option from its text."""
    if text.lower() in option.choices:
        return text.lower()
    if bool in option.types:
        others = "".join(f"{choice}, " for choice in option.choices)
        return _flag(option.name, text, others)
    if int in option.types:
        others = "".join(f"{choice} or " for choice in option.choices)
        return option.checked(_convert(option.name, text, int, others))
    return option.checked(text)


def _flag(key: str, text: str, others: str = "") -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be {others}true or false")
    return text.lower() == "true"


def _convert(key: str, text: str, kind: type | None, others: str = "") -> object:
    if kind is bool:
        return _flag(key, text)
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
        raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", f"it must be {others}{wanted}") from None
