"""`ranvier models`: list neurons, parts of cells, synapses, stimulators, rules and networks, with their parameters.

With a file of yours, it lists what the file defines: a Python file (.py) the neurons, synapses, channels and cells that
stand outside of functions, a file of NESTML (.nestml) its neurons, an NMODL file (.mod) its channel.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import sys
import types
import typing

from rich.console import Console

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.commands.keys import described_keys, shipped_networks, shown, signature_keys
from ranvier.commands.model_tables import (
    Entry,
    entry_of_mechanism,
    entry_of_neuron,
    entry_of_synapse,
    parameter_rows,
    print_entries,
    print_sections,
)
from ranvier.commands.models_of_files import FORMATS, chosen_entries, is_file, sections_of
from ranvier.equations.definitions import DEFINITIONS
from ranvier.equations.library import DescribedModel, described
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "models",
        help="list neurons, parts of cells, synapses, stimulators, rules and networks, or those of a file",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="MODEL", help="only this model, with its equations, or a file")
    parser.add_argument("of_file", nargs="?", metavar="NAME", help="only this model of the file, with its equations")
    parser.set_defaults(carry_out=carry_out)


def carry_out(options: argparse.Namespace) -> int:
    """Print the lists."""
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    name, of_file = options.name, options.of_file
    sections = _shipped()
    found = [entry for entries in sections.values() for entry in entries if entry.name == name]
    if name is None:
        print_sections(console, sections)
    elif found or not is_file(name):
        if not found:
            known = [entry.name for entries in sections.values() for entry in entries]
            unknown_name("model", name, [*known, f"a file ({FORMATS})"])
        if of_file is not None:
            bound = f"{name} is a model, and only files have several"
            raise ValueOutOfBoundsError("second name", f"'{of_file}'", bound, "give one of the two")
        print_entries(console, found)
    elif of_file is None:
        print_sections(console, sections_of(name))
    else:
        print_entries(console, chosen_entries(sections_of(name, of_file), of_file, name))
    return 0


def _shipped() -> dict[str, list[Entry]]:
    """Return what comes with Ranvier, by the titles of sections."""
    neurons: list[_core.NeuronModel | DescribedModel]
    neurons = [*_core.neuron_models(), *map(described, DEFINITIONS)]
    return {
        "Neurons": [entry_of_neuron(model) for model in neurons],
        "Mechanisms of detailed cells": [entry_of_mechanism(model) for model in _core.mechanism_models()],
        "Receptors of detailed cells": [entry_of_mechanism(model) for model in _core.receptor_models()],
        "Synapses": [entry_of_synapse(model) for model in _core.synapse_models()],
        "Stimulators": [_stimulator(model) for model in _core.stimulator_models()],
        "Connection rules": [_rule(rule) for rule in _core.rules()],
        "Networks": [_network(name) for name in shipped_networks()],
    }


def _stimulator(model: _core.StimulatorModel) -> Entry:
    rows = [(sequence.name, "", sequence.unit, "array", sequence.meaning) for sequence in model.sequences]
    rows += parameter_rows(model.parameters)
    return Entry(model.name, model.summary, rows, model.equations, model.reference)


def _rule(rule: _core.RuleInfo) -> Entry:
    return Entry(
        rule.name,
        rule.summary,
        [
            (
                parameter.name,
                "True" if parameter.name.startswith("allow_") else "",
                "",
                parameter.bounds,
                parameter.meaning,
            )
            for parameter in rule.parameters
        ],
    )


def _network(name: str) -> Entry:
    function = shipped_networks()[name]
    meanings = parameter_texts(function.__doc__ or "")
    hints = typing.get_type_hints(function)
    rows = [
        (key, shown(default), "", wanted(hints.get(key)), meanings.get(key, ""))
        for key, default in signature_keys(function).items()
    ]
    rows += [(key, default, "", wanted, meaning) for key, default, wanted, meaning in described_keys()]
    return Entry(name, (function.__doc__ or "").split("\n")[0], rows)


def wanted(hint: object) -> str:
    """Return the values of a type in words."""
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
