"""Output of `ranvier models` for a model: a table of its parameters, and its equations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.value_texts import describe_values
from ranvier.equations.library import DescribedModel

__all__ = [
    "Entry",
    "Row",
    "entry_of_mechanism",
    "entry_of_neuron",
    "entry_of_synapse",
    "parameter_rows",
    "print_entries",
    "print_lines",
    "print_sections",
    "receptor_rows",
    "variable_rows",
]

Row: TypeAlias = tuple[str, str, str, str, str]
"""Name, default, unit, bounds and meaning."""
_NO_VALUES: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Entry:
    """A model, or something else that has parameters.

    Attributes
    ----------
    also
        Another name by which it is found.
    """

    name: str
    summary: str
    rows: list[Row]
    equations: str = ""
    reference: str = ""
    also: str = ""


# ---- printing --------------------------------------------------------------------------------------------------------


def print_sections(console: Console, sections: Mapping[str, list[Entry]]) -> None:
    """Print all entries below the titles of their sections; those without entries are left out."""
    for title, entries in sections.items():
        if entries:
            console.rule(f"[bold]{title}", align="left", style="dim")
        for entry in entries:
            console.print(_format(entry))


def print_lines(console: Console, sections: Mapping[str, Iterable[Entry]]) -> None:
    """Print one line for each entry, below the titles of their sections; those without entries are left out."""
    listed = {title: list(entries) for title, entries in sections.items()}
    width = max((len(entry.name) for entries in listed.values() for entry in entries), default=0)
    for title, entries in listed.items():
        if entries:
            console.rule(f"[bold]{title}", align="left", style="dim")
        for entry in entries:
            line = Text.assemble((f"{entry.name:<{width}}", "bold cyan"), f"  {entry.summary}")
            # Lines are cut at the width of a terminal, not in files and pipes.
            console.print(line, no_wrap=True, overflow="ellipsis" if console.is_terminal else "ignore", crop=False)
        if entries:
            console.print()


def print_entries(console: Console, entries: Iterable[Entry]) -> None:
    """Print entries with their equations and references."""
    for entry in entries:
        console.print(_format(entry))
        if entry.equations:
            console.print(Padding(Text(entry.equations), (0, 0, 1, 2)))
        if entry.reference:
            console.print(Padding(Text(entry.reference, style="italic"), (0, 0, 1, 2)))


def _format(entry: Entry) -> Group:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("parameter", "default", "unit", "bounds", "meaning"):
        table.add_column(head, no_wrap=head in ("parameter", "unit"), justify="right" if head == "default" else "left")
    for row in entry.rows:
        table.add_row(*(Text(cell) for cell in row))
    title = Text.assemble((entry.name, "bold cyan"), f"  {entry.summary}")
    return Group(title, Padding(table, (0, 0, 1, 2)) if entry.rows else Text())


# ---- models ----------------------------------------------------------------------------------------------------------


def entry_of_neuron(
    model: _core.NeuronModel | DescribedModel, values: Mapping[str, object] = _NO_VALUES, *, also: str = ""
) -> Entry:
    """Return the output for a neuron model; `values` replace its defaults."""
    rows = [*(model.copy_rows if isinstance(model, DescribedModel) else [])]
    rows += [*parameter_rows(model.parameters, values), *variable_rows(model.variables, values)]
    rows += receptor_rows(model)
    rows += model.integration_rows if isinstance(model, DescribedModel) else []
    # A model without receptors has no weights.
    weights = f"; weights in {model.weight_unit}" if model.weight_unit else ""
    return Entry(model.name, model.summary + weights, rows, model.equations, model.reference, also)


def receptor_rows(model: _core.NeuronModel | DescribedModel) -> Iterable[Row]:
    """Yield the receptors of a model, each with the weights that it accepts."""
    bounds = "" if model.weight_bounds == "any number" else f"weights {model.weight_bounds}"
    for place, receptor in enumerate(model.receptors):
        if model.sign_chooses_receptor:
            bounds = "weights < 0, or by name" if place else "weights >= 0, or by name"
        if receptor == model.counting_receptor:
            bounds = "weights whole, >= 0, by name"
        yield receptor, "", model.weight_unit, bounds, "Receptor"


def entry_of_mechanism(model: _core.MechanismModel | _core.ReceptorModel) -> Entry:
    """Return the output for a mechanism or a receptor of detailed cells."""
    gates = [] if isinstance(model, _core.ReceptorModel) else model.gates
    rows = [(name, "steady", "", "", f"{meaning} (gate)") for name, meaning in gates]
    rows = [*parameter_rows(model.parameters), *rows]
    return Entry(model.name, model.summary, rows, model.equations, model.reference)


def entry_of_synapse(model: _core.SynapseModel) -> Entry:
    """Return the output for a synapse model that comes with Ranvier."""
    meaning = "Neurons whose spikes act on all synapses of the projection at once"
    neurons = [(model.transmitter, "", "", "neurons", meaning)] if model.transmitter else []
    rows = neurons + list(parameter_rows(model.parameters))
    return Entry(model.name, model.summary, rows, model.equations, model.reference)


def parameter_rows(
    parameters: Iterable[_core.ParameterInfo], values: Mapping[str, object] = _NO_VALUES
) -> Iterable[Row]:
    """Yield parameters, with values that replace their defaults."""
    for parameter in parameters:
        bounds = "" if parameter.bounds == "any number" else parameter.bounds
        meaning = parameter.meaning + (" (may differ from synapse to synapse)" if parameter.per_synapse else "")
        default = parameter.default_parameter or ("" if math.isnan(parameter.default) else f"{parameter.default:g}")
        shown = describe_values(values[parameter.name]) if parameter.name in values else default
        yield parameter.name, shown, parameter.unit, bounds, meaning


def variable_rows(variables: Iterable[_core.VariableInfo], values: Mapping[str, object] = _NO_VALUES) -> Iterable[Row]:
    """Yield state variables, with their initial values."""
    for variable in variables:
        initial = variable.initial_parameter or f"{variable.initial_value:g}"
        shown = describe_values(values[variable.name]) if variable.name in values else initial
        if variable.is_read_only:
            yield variable.name, "", variable.unit, "", f"{variable.meaning} (recorded only)".strip()
        else:
            yield variable.name, shown, variable.unit, "", f"{variable.meaning} (state)".strip()
