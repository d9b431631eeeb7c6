"""`ranvier models`: list neurons, parts of cells, synapses, stimulators, rules and networks.

Without arguments, it prints one line for each. With a name, it prints the parameters, equations and reference of that
one; with other words, the lines of those whose name, summary or reference contains all of them.

With a file, it lists the models that the file defines: of a Python file (.py) the neurons, synapses, channels and cells
outside of functions and the keys of its function network(), of a file of a neuron (.toml) this neuron, of a file of
NESTML (.nestml) its neurons, of an NMODL file (.mod) its channel, and its ignored statements. With several NMODL files,
one line for each: whether it is read, its ignored parts or why it is refused, and the counts.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.commands.keys import shipped_networks
from ranvier.commands.model_tables import (
    Entry,
    entry_of_mechanism,
    entry_of_neuron,
    entry_of_synapse,
    parameter_rows,
    print_entries,
    print_lines,
    print_sections,
)
from ranvier.commands.models_of_files import FORMATS, chosen_entries, is_file, sections_of
from ranvier.commands.network_tables import entry_of_network
from ranvier.commands.nmodl_accounts import are_nmodl_files, print_account, print_accounts
from ranvier.equations.library import described
from ranvier.equations.neurons import NAMES
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = __doc__
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="the name of a model; words to search for; or a file, and the name of one of its models",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the lists."""
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    words = [word for word in options.words if word]
    makers = _shipped()
    found = [make() for by_name in makers.values() for name, make in by_name.items() if [name] == words]
    if not words:
        print_lines(console, _made(makers))
        console.print("`ranvier models NAME` shows one of them; `ranvier models WORD...` searches names and summaries.")
    elif found:
        print_entries(console, found)
        others = {name for by_name in makers.values() for name in by_name if words[0] in name} - {words[0]}
        if others:
            console.print(f"See also: {', '.join(sorted(others))}", soft_wrap=True)
    elif len(words) > 1 and are_nmodl_files(words):
        print_accounts(console, words)
    elif is_file(words[0]):
        _print_file(console, *words)
    else:
        print_lines(console, _search(_made(makers), words))
    return 0


def _print_file(console: Console, file: str, name: str | None = None, *more: str) -> None:
    if more:
        bound = "at most one name can follow a file"
        raise ValueOutOfBoundsError(
            "names after the file", f"'{more[0]}'", bound, "give at most one name; without a name, all are listed"
        )
    if name is None:
        print_sections(console, sections_of(file))
        if are_nmodl_files([file]):
            print_account(console, file)
    else:
        print_entries(console, chosen_entries(sections_of(file, name), name, file))


def _search(sections: Mapping[str, Sequence[Entry]], words: Sequence[str]) -> dict[str, list[Entry]]:
    """Return the entries with all words in their descriptions, or else in the descriptions of their parameters."""
    wanted = [word.lower() for word in words]

    def described(title: str, entry: Entry) -> str:
        return f"{title} {entry.name} {entry.summary} {entry.reference}"

    def with_parameters(title: str, entry: Entry) -> str:
        return f"{described(title, entry)} {' '.join(f'{row[0]} {row[4]}' for row in entry.rows)}"

    for text_of in (described, with_parameters):
        found = {
            title: [entry for entry in entries if all(word in text_of(title, entry).lower() for word in wanted)]
            for title, entries in sections.items()
        }
        if any(found.values()):
            return found
    known = [entry.name for entries in sections.values() for entry in entries]
    return unknown_name("model", " ".join(words), [*known, f"a file ({FORMATS})"])


def _shipped() -> dict[str, dict[str, Callable[[], Entry]]]:
    """Return what makes the entries of the models and networks that come with Ranvier, by section and name.

    The entry of a neuron of equations compiles its equations, so only those that are shown are made.
    """
    neurons: dict[str, Callable[[], Entry]] = {
        **_each(entry_of_neuron, _core.neuron_models()),
        **{name: functools.partial(_neuron_of_equations, name) for name in NAMES},
    }
    return {
        "Neurons": dict(sorted(neurons.items())),
        "Mechanisms of detailed cells": _each(entry_of_mechanism, _core.mechanism_models()),
        "Receptors of detailed cells": _each(entry_of_mechanism, _core.receptor_models()),
        "Synapses": _each(entry_of_synapse, _core.synapse_models()),
        "Stimulators": _each(_stimulator, _core.stimulator_models()),
        "Connection rules": _each(_rule, _core.rules()),
        "Networks": {
            name: functools.partial(entry_of_network, name, network) for name, network in shipped_networks().items()
        },
    }


def _each(entry_of: Callable[[Any], Entry], models: Iterable[Any]) -> dict[str, Callable[[], Entry]]:
    return {model.name: functools.partial(entry_of, model) for model in models}


def _neuron_of_equations(name: str) -> Entry:
    return entry_of_neuron(described(name))


def _made(makers: Mapping[str, Mapping[str, Callable[[], Entry]]]) -> dict[str, list[Entry]]:
    return {title: [make() for make in by_name.values()] for title, by_name in makers.items()}


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
                "" if parameter.default is None else str(parameter.default),
                parameter.unit,
                parameter.bounds,
                parameter.meaning,
            )
            for parameter in rule.parameters
        ],
    )
