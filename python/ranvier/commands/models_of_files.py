"""The models that a file of a user defines, for `ranvier models FILE`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ranvier.base.names import counted, unknown_name
from ranvier.base.value_texts import describe_values
from ranvier.cells.cell import Cell
from ranvier.cells.parts import parts_of
from ranvier.channels.channel import ChannelMechanism, EquationChannel, description_of
from ranvier.channels.documentation import begin_of, default_of, parameters_of
from ranvier.channels.general import GeneralDescription
from ranvier.channels.nmodl import read_nmodl
from ranvier.channels.receptor import EquationReceptor, ReceptorMechanism
from ranvier.commands.files_of_users import execute
from ranvier.commands.model_tables import Entry, Row, entry_of_neuron, parameter_rows, variable_rows
from ranvier.commands.network_tables import entry_of_network
from ranvier.equations.documentation import bounds_of
from ranvier.equations.files import load, read_neuron
from ranvier.equations.library import LibraryNeuron, describe_model
from ranvier.equations.model import EquationNeuron
from ranvier.equations.synapse import EquationSynapse
from ranvier.errors import FileError
from ranvier.nestml.reading import read_models

__all__ = ["FORMATS", "chosen_entries", "is_file", "sections_of"]

FORMATS = ".py, .toml, .nestml or .mod"
_NEURONS, _CELLS = "Neurons", "Detailed cells"
_CHANNELS, _SYNAPSES, _NETWORKS = "Mechanisms of detailed cells", "Synapses", "Networks (keys of ranvier run --set)"
# Default names of models.
_UNNAMED = ("neuron", "synapse", "channel", "cell")


def is_file(name: str) -> bool:
    """Return whether an argument is the name of a file, not of a model."""
    with contextlib.suppress(OSError, ValueError):  # no file can have a name like this
        return Path(name).suffix.lower() in _READERS or Path(name).exists()
    return False


def sections_of(name: str, model: str | None = None) -> dict[str, list[Entry]]:
    """Return the models of a file, by the titles of sections; of a file of NESTML, only `model` if it is given.

    Raises
    ------
    FileError
        When the file does not exist, is a folder or of another format, raises an error, or does not define a model.
    RanvierError
        For mistakes in files of other formats than Python.
    """
    path = Path(name)
    if path.is_dir():
        raise FileError(f"file {path}", bound="it is a folder", remedy=f"name a file in it ({FORMATS})")
    if not path.is_file():
        bound = "it is not a regular file" if path.exists() else "there is no such file"
        raise FileError(f"file {path}", bound=bound, remedy="check the path")
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise FileError(f"file {path}", bound=f"its format is not known: '{path.suffix}'", remedy=f"name it {FORMATS}")
    sections: dict[str, list[Entry]] = {title: [] for title in (_NEURONS, _CELLS, _CHANNELS, _SYNAPSES, _NETWORKS)}
    for title, entry in read(path, model):
        sections[title].append(entry)
    if not any(sections.values()):
        raise FileError(
            f"file {path}",
            bound="it defines no neuron, synapse, channel or cell, and no function network()",
            remedy="make them with rv.neuron(), rv.synapse(), rv.channel() or rv.Cell() outside of functions",
        )
    return sections


def chosen_entries(sections: dict[str, list[Entry]], name: str, file: str) -> list[Entry]:
    """Return the entries with a name, which is that of a variable in the file or of the model.

    Raises
    ------
    UnknownNameError
        When no entry has the name; the message suggests the nearest name.
    """
    entries = [entry for section in sections.values() for entry in section]
    found = [entry for entry in entries if entry.name == name] or [entry for entry in entries if entry.also == name]
    if not found:
        unknown_name(f"model of file {file}", name, [entry.name for entry in entries])
    return found


# ---- files -----------------------------------------------------------------------------------------------------------


def _of_python(path: Path, model: str | None) -> Iterator[tuple[str, Entry]]:
    """Yield each model once, with the first name that it has in the module."""
    seen: set[int] = set()
    for name, value in vars(execute(path)).items():
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, EquationNeuron) and not isinstance(value, LibraryNeuron):
            yield _NEURONS, _neuron(name, value)
        elif isinstance(value, Cell):
            yield _CELLS, _cell(name, value)
        elif isinstance(value, EquationChannel | ChannelMechanism):
            yield _CHANNELS, _channel(name, value)
        elif isinstance(value, EquationReceptor | ReceptorMechanism):
            yield _CHANNELS, _receptor_of_equations(name, value)
        elif isinstance(value, EquationSynapse):
            yield _SYNAPSES, _synapse(name, value)
        elif name == "network" and callable(value):
            yield _NETWORKS, entry_of_network(name, value, of_every_run=False)


def _of_toml(path: Path, model: str | None) -> Iterator[tuple[str, Entry]]:
    made = read_neuron(path)
    yield _NEURONS, entry_of_neuron(describe_model(made, load(path)))


def _of_nestml(path: Path, model: str | None) -> Iterator[tuple[str, Entry]]:
    for each in read_models(path, model):
        yield _NEURONS, _neuron(each.name, each)


def _of_nmodl(path: Path, model: str | None) -> Iterator[tuple[str, Entry]]:
    made = read_nmodl(path)
    shown = _receptor_of_equations if isinstance(made, EquationReceptor) else _channel
    yield _CHANNELS, shown(made.name, made)


_READERS: dict[str, Callable[[Path, str | None], Iterator[tuple[str, Entry]]]] = {
    ".py": _of_python,
    ".toml": _of_toml,
    ".nestml": _of_nestml,
    ".mod": _of_nmodl,
}


# ---- models ----------------------------------------------------------------------------------------------------------


def _titled(name: str, model: str, summary: str) -> tuple[str, str]:
    """Return the summary of a model, with its name if this differs from that of the variable, and its name."""
    return summary if model == name or model in _UNNAMED else f"{summary}; its name is {model}", model


def _neuron(name: str, model: EquationNeuron) -> Entry:
    shown = entry_of_neuron(describe_model(model), model.values)
    summary, model_name = _titled(name, model.name, shown.summary)
    return Entry(name, summary, shown.rows, shown.equations, shown.reference, model_name)


def _synapse(name: str, model: EquationSynapse) -> Entry:
    weights = f"; weights in {model.weight_unit}" if model.weight_unit else ""
    summary, model_name = _titled(name, model.name, model.program.summary + weights)
    rows = [*parameter_rows(model.core_model.parameters, model.values)]
    return Entry(name, summary, rows, model.equations, model.program.reference, model_name)


def _channel(name: str, given: EquationChannel | ChannelMechanism) -> Entry:
    channel, values = (given, {}) if isinstance(given, EquationChannel) else (given.channel, given.values)
    read = description_of(channel)
    rows: list[Row] = []
    for parameter in parameters_of(read):
        shown = _value(values[parameter.name]) if parameter.name in values else default_of(parameter)
        rows.append((parameter.name, shown, parameter.unit, bounds_of(parameter), parameter.meaning))
    if isinstance(read, GeneralDescription):
        rows += [
            (each.name, "", each.unit.text, "", f"{each.meaning} (state)".strip()) for each in read.states.values()
        ]
    else:
        begin = begin_of(read)
        rows += [
            (gate.name, begin.get(gate.name, "steady"), "", "", f"{gate.meaning} (gate)".strip())
            for gate in read.gates.values()
        ]
    summary, model_name = _titled(name, channel.name, channel.program.summary)
    return Entry(name, summary, rows, channel.equations, channel.program.reference, model_name)


def _receptor_of_equations(name: str, given: EquationReceptor | ReceptorMechanism) -> Entry:
    receptor, values = (given, {}) if isinstance(given, EquationReceptor) else (given.receptor, given.values)
    rows: list[Row] = []
    for each in receptor.program.parameters:
        shown = _value(values[each.name]) if each.name in values else default_of(each)
        rows.append((each.name, shown, each.unit, bounds_of(each), each.meaning))
    rows += [(each.name, "", each.unit.text, "", f"{each.meaning} (state)".strip()) for each in receptor.program.states]
    summary, model_name = _titled(name, receptor.name, f"{receptor.program.summary}; receptor, weights in nS")
    return Entry(name, summary, rows, receptor.equations, receptor.program.reference, model_name)


def _value(value: Any) -> str:
    return "a function" if callable(value) else describe_values(value)


def _cell(name: str, cell: Cell) -> Entry:
    sections, compartments = len(cell.morphology), cell.compartment_count
    summary, model_name = _titled(
        name,
        cell.name,
        f"Cell of {sections:,} section{'s' if sections > 1 else ''} and {compartments:,} "
        f"compartment{'s' if compartments > 1 else ''}; weights in nS",
    )
    rows = [*parameter_rows(cell.core_model.parameters), *variable_rows(cell.core_model.variables)]
    sites = cell.sites
    rows += [(each, "", "nS", "weights >= 0", _receptor(len(sites[each]))) for each in cell.receptors]
    return Entry(name, summary, rows, "\n".join(parts_of(cell)), "", model_name)


def _receptor(sites: int) -> str:
    return "Receptor" if sites == 1 else f"Receptor, {counted(sites, 'site', ',')}"
