"""`ranvier models`: list neurons, parts of cells, synapses, stimulators, rules and networks, with their parameters."""

from __future__ import annotations

import argparse
import inspect
import itertools
import math
import sys
import types
import typing
from collections.abc import Iterable

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.commands.keys import described_keys, shipped_networks, shown, signature_keys
from ranvier.equations.definitions import DEFINITIONS
from ranvier.equations.library import DescribedModel, described

__all__ = ["add_command"]

Row = tuple[str, str, str, str, str]
Entry = tuple[str, str, list[Row]]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "models", help="list neurons, parts of cells, synapses, stimulators, rules and networks", description=__doc__
    )
    parser.add_argument("name", nargs="?", help="show only this model, with its equations")
    parser.set_defaults(carry_out=carry_out)


def carry_out(options: argparse.Namespace) -> int:
    """Print the lists."""
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    sections = {
        "Neurons": [*map(_neuron, _core.neuron_models()), *(_neuron(described(name)) for name in DEFINITIONS)],
        "Mechanisms of detailed cells": [_part_of_cell(model) for model in _core.mechanism_models()],
        "Receptors of detailed cells": [_part_of_cell(model) for model in _core.receptor_models()],
        "Synapses": [_synapse(model) for model in _core.synapse_models()],
        "Stimulators": [_stimulator(model) for model in _core.stimulator_models()],
        "Connection rules": [_rule(rule) for rule in _core.rules()],
        "Networks": [_network(name) for name in shipped_networks()],
    }
    if options.name is not None:
        _print_one(console, options.name, [entry for entries in sections.values() for entry in entries])
        return 0
    for title, entries in sections.items():
        console.rule(f"[bold]{title}", align="left", style="dim")
        for entry in entries:
            console.print(_format(entry))
    return 0


def _print_one(console: Console, name: str, entries: list[Entry]) -> None:
    for entry in entries:
        if entry[0] == name:
            console.print(_format(entry))
            break
    else:
        unknown_name("model", name, [entry[0] for entry in entries])
    models: list[
        DescribedModel
        | _core.NeuronModel
        | _core.MechanismModel
        | _core.ReceptorModel
        | _core.SynapseModel
        | _core.StimulatorModel
    ]
    models = [
        *_core.neuron_models(),
        *map(described, DEFINITIONS),
        *_core.mechanism_models(),
        *_core.receptor_models(),
        *_core.synapse_models(),
        *_core.stimulator_models(),
    ]
    for model in models:
        if model.name == name:
            console.print(Padding(Text(model.equations), (0, 0, 1, 2)))
            if model.reference:
                console.print(Padding(Text(model.reference, style="italic"), (0, 0, 1, 2)))


def _format(entry: Entry) -> Group:
    name, summary, rows = entry
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("parameter", "default", "unit", "bounds", "meaning"):
        table.add_column(head, no_wrap=head in ("parameter", "unit"), justify="right" if head == "default" else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    title = Text.assemble((name, "bold cyan"), f"  {summary}")
    return Group(title, Padding(table, (0, 0, 1, 2)) if rows else Text())


def _neuron(model: _core.NeuronModel | DescribedModel) -> Entry:
    rows = [*(model.copy_rows if isinstance(model, DescribedModel) else []), *_parameters(model.parameters)]
    rows += [
        (variable.name, variable.initial_parameter or "0", variable.unit, "", f"{variable.meaning} (state)")
        for variable in model.variables
    ]
    rows += [(receptor, "", model.weight_unit, bounds, "Receptor") for receptor, bounds in _receptors(model)]
    # A model without receptors has no weights.
    weights = f"; weights in {model.weight_unit}" if model.weight_unit else ""
    return model.name, model.summary + weights, rows


def _receptors(model: _core.NeuronModel | DescribedModel) -> Iterable[tuple[str, str]]:
    """Yield the receptors of a model, each with the weights that it accepts."""
    bounds = "" if model.weight_bounds == "any number" else f"weights {model.weight_bounds}"
    for place, receptor in enumerate(model.receptors):
        if model.sign_chooses_receptor:
            bounds = "weights < 0, or by name" if place else "weights >= 0, or by name"
        yield receptor, bounds


def _part_of_cell(model: _core.MechanismModel | _core.ReceptorModel) -> Entry:
    gates = [] if isinstance(model, _core.ReceptorModel) else model.gates
    rows = [(name, "steady", "", "", f"{meaning} (gate)") for name, meaning in gates]
    return model.name, model.summary, [*_parameters(model.parameters), *rows]


def _synapse(model: _core.SynapseModel) -> Entry:
    meaning = "Neurons whose spikes act on all synapses of the projection at once"
    neurons = [(model.transmitter, "", "", "neurons", meaning)] if model.transmitter else []
    return model.name, model.summary, neurons + list(_parameters(model.parameters))


def _stimulator(model: _core.StimulatorModel) -> Entry:
    rows = [(sequence.name, "", sequence.unit, "array", sequence.meaning) for sequence in model.sequences]
    return model.name, model.summary, rows + list(_parameters(model.parameters))


def _rule(rule: _core.RuleInfo) -> Entry:
    return (
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
    return name, (function.__doc__ or "").split("\n")[0], rows


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


def _parameters(parameters: Iterable[_core.ParameterInfo]) -> Iterable[Row]:
    for parameter in parameters:
        bounds = "" if parameter.bounds == "any number" else parameter.bounds
        meaning = parameter.meaning + (" (may differ from synapse to synapse)" if parameter.per_synapse else "")
        default = "" if math.isnan(parameter.default) else f"{parameter.default:g}"
        yield parameter.name, default, parameter.unit, bounds, meaning
