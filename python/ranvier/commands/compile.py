"""`ranvier compile`: write neuron models of equations as programs, which simulations in C++ read.

Models are those that come with Ranvier, by name, and those of files in TOML and NESTML. A program is a text file. A
simulation in C++ that reads it (`ranvier::models::read_program_file`) has the same spikes as one in Python with the
model, bit for bit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ranvier.base.names import unknown_name
from ranvier.base.paths import check_writable, write_text
from ranvier.equations.copies import Copies
from ranvier.equations.files import read_neuron
from ranvier.equations.model import EquationNeuron
from ranvier.equations.neurons import NAMES, file_of
from ranvier.errors import FileError, ValueOutOfBoundsError
from ranvier.nestml.reading import read_nestml

__all__ = ["add_arguments"]

_SUFFIX = ".program"
_TOLERANCES = ("relative_tolerance", "absolute_tolerance")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = __doc__
    parser.add_argument(
        "neurons", nargs="*", metavar="NEURON", help="a name that `ranvier models` lists, or a file (.toml, .nestml)"
    )
    parser.add_argument("--all", action="store_true", help="all models of equations that come with Ranvier")
    parser.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        help=f"the file, by default NEURON{_SUFFIX}; an existing folder for files of these names",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        nargs="+",
        action="extend",
        default=[],
        dest="settings",
        help="method, relative_tolerance, absolute_tolerance, and numbers or names of copies: receptors=3, "
        "receptors=AMPA,NMDA",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the programs."""
    neurons = [*options.neurons, *(NAMES if options.all else ())]
    if not neurons:
        raise ValueOutOfBoundsError("neurons", bound="there must be at least one", remedy="name one, or write --all")
    integration, copies = _settings(options.settings)
    models = [_read(name, integration, copies) for name in neurons]
    for model, path in zip(models, _paths(models, options.output), strict=True):
        write_text(path, model.core_model.text)
        print(f"{model.name}: {path}")
    return 0


def _paths(models: list[EquationNeuron], output: Path | None) -> list[Path]:
    if output is not None and not output.is_dir():
        if len(models) > 1:
            raise FileError(
                f"file {output}",
                bound=f"it is not a folder, and there are {len(models)} neurons",
                remedy="make the folder first",
            )
        paths = [output]
    else:
        paths = [(output or Path()) / f"{model.name}{_SUFFIX}" for model in models]
    for path in paths:
        check_writable(path)
    return paths


def _settings(settings: Iterable[str]) -> tuple[dict[str, Any], dict[str, Copies]]:
    """Return keywords of the integration, and copies by index."""
    integration: dict[str, Any] = {}
    copies: dict[str, Copies] = {}
    for setting in settings:
        key, mark, text = setting.partition("=")
        if not mark or not text:
            raise ValueOutOfBoundsError("--set", f"'{setting}'", "it must be KEY=VALUE", "write --set receptors=3")
        if key == "method":
            integration[key] = text
        elif key in _TOLERANCES:
            try:
                integration[key] = float(text)
            except ValueError:
                raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", "it must be a number") from None
        else:
            copies[key] = int(text) if text.isdecimal() else text.split(",")
    return integration, copies


def _read(name: str, integration: dict[str, Any], copies: dict[str, Copies]) -> EquationNeuron:
    path = file_of(name) if name in NAMES else Path(name)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        return read_neuron(path, **integration, copies=copies)
    if suffix != ".nestml":
        unknown_name("neuron", name, [*NAMES, "a file (.toml, .nestml)"])
    if copies:
        unknown_name("key", next(iter(copies)), ["method", *_TOLERANCES])
    return read_nestml(path, **integration)
