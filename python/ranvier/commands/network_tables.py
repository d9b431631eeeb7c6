"""The keys of networks of the package and of users, for `ranvier models` and `ranvier run MODEL --help`."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import itertools
import textwrap
import types
import typing
from collections.abc import Callable

from ranvier.commands.files_of_users import find_network
from ranvier.commands.keys import described_keys, shipped_networks, shown, signature_keys
from ranvier.commands.model_tables import Entry, Row

__all__ = ["HelpWithKeys", "entry_of_network", "parameter_texts", "wanted"]

_REQUIRED = "required"


def entry_of_network(name: str, function: Callable[..., object], *, of_every_run: bool = True) -> Entry:
    """Return the output for a network: the keywords of its function, and the keys that every run has."""
    summary = inspect.cleandoc(function.__doc__ or "").split("\n")[0].removesuffix(".")
    rows = _own_rows(function)
    if of_every_run:
        rows += [(key, default, "", wanted, meaning) for key, default, wanted, meaning in described_keys()]
    return Entry(name, summary or "Network, without a docstring", rows)


def _own_rows(function: Callable[..., object]) -> list[Row]:
    meanings = parameter_texts(function.__doc__ or "")
    hints = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}
    # Annotations of users may contain names that do not exist; their keys work nevertheless.
    with contextlib.suppress(Exception):
        hints |= typing.get_type_hints(function)
    rows = []
    for key, default in signature_keys(function).items():
        is_required = default is inspect.Parameter.empty
        kind = type(default) if hints[key] is inspect.Parameter.empty else hints[key]
        rows.append((key, _REQUIRED if is_required else shown(default), "", wanted(kind), meanings.get(key, "")))
    return rows


class HelpWithKeys(argparse.Action):
    """``--help`` of a command for networks: after MODEL, it lists the keys of this network, too."""

    def __init__(self, option_strings: list[str], dest: str, **_: object) -> None:
        text = "show this message and exit; after MODEL, also the keys of this network"
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=text)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: object = None
    ) -> typing.NoReturn:
        """Print the help and exit."""
        model = getattr(namespace, "model", None)
        if model is not None:
            parser.epilog = _help_of_network(model)
        parser.print_help()
        parser.exit()


def _help_of_network(model: str) -> str:
    function = find_network(model)
    where = f"network {model}" if model in shipped_networks() else f"function network() in {model}"
    rows = _own_rows(function)
    if not rows:
        return f"The {where} has no additional keys."
    lines = [f"Keys of the {where}, to be set with --set KEY=VALUE:", ""]
    for name, default, _, values, meaning in rows:
        given = _REQUIRED if default == _REQUIRED else f"default {default}" if default else ""
        first = f"  {name:<18} {'; '.join(text for text in (values, given) if text)}"
        lines += textwrap.wrap(first, 118, subsequent_indent=" " * 21)
        lines += textwrap.wrap(meaning, 118, initial_indent=" " * 21, subsequent_indent=" " * 21)
    return "\n".join(lines)


def wanted(hint: object) -> str:
    """Return a description of the values of a type."""
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    words = []
    for part in parts:
        if typing.get_origin(part) is typing.Literal:
            words += [str(choice) for choice in typing.get_args(part)]
        elif isinstance(part, type) and part in _WORDS:
            words.append(_WORDS[part])
    return " or ".join(words)


_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "text"}


def parameter_texts(docstring: str) -> dict[str, str]:
    """Return the text of a docstring for each parameter, by its name."""
    lines = inspect.cleandoc(docstring).split("\n")
    if "Parameters" not in lines:
        return {}
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line, following in itertools.pairwise([*lines[lines.index("Parameters") + 2 :], ""]):
        if following.startswith("---"):
            break
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.split(" : ")[0].split(",")]
        for name in names:
            texts.setdefault(name, []).extend([line.strip()] if line.startswith(" ") else [])
    return {name: " ".join(text) for name, text in texts.items()}
