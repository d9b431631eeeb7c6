"""`ranvier models`: neurons, synapses, stimulators and rules with their parameters, and the networks that ship."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.commands.keys import RUN_KEYS, shipped_networks, signature_keys

__all__ = ["add_command"]

Row = tuple[str, str, str, str, str]
Entry = tuple[str, str, list[Row]]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "models", help="list neurons, synapses, stimulators, rules and networks", description=__doc__
    )
    parser.add_argument("name", nargs="?", help="tell only of this one, with its equations")
    parser.set_defaults(carry_out=carry_out)


def carry_out(options: argparse.Namespace) -> int:
    """Print the lists."""
    # What reads a pipe has no width of its own.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    sections = {
        "Neurons": [_neuron(model) for model in _core.neuron_models()],
        "Synapses": [_static_synapse()],
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
    described: list[_core.NeuronModel | _core.StimulatorModel] = [*_core.neuron_models(), *_core.stimulator_models()]
    for model in described:
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


def _neuron(model: _core.NeuronModel) -> Entry:
    rows = list(_parameters(model.parameters))
    rows += [
        (variable.name, variable.initial_parameter or "0", variable.unit, "", f"{variable.meaning} (state)")
        for variable in model.variables
    ]
    # What takes no input has no weights.
    weights = f"; weights in {model.weight_unit}" if model.weight_unit else ""
    return model.name, model.summary + weights, rows


def _static_synapse() -> Entry:
    return (
        "static",
        "Synapse with a weight that only the user changes",
        [
            ("weight", "1", "pA or mV", "any number", "Strength, in the unit of the target's model"),
            ("delay", "1", "ms", ">= one step", "Time from a spike to its effect, rounded to the grid when drawn"),
        ],
    )


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
    rows = [(key, _default(default), "", "", "") for key, default in signature_keys(function).items()]
    rows += [(key, _default(default), "", "", "of every run") for key, default in RUN_KEYS.items()]
    return name, (function.__doc__ or "").split("\n")[0], rows


def _default(value: object) -> str:
    return "" if value is None else str(value)


def _parameters(parameters: Iterable[_core.ParameterInfo]) -> Iterable[Row]:
    for parameter in parameters:
        bounds = "" if parameter.bounds == "any number" else parameter.bounds
        yield parameter.name, f"{parameter.default:g}", parameter.unit, bounds, parameter.meaning
