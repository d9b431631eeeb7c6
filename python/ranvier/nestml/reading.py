"""Reads models of neurons from files of NESTML."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ranvier.base.encodings import encoding_of
from ranvier.base.hints import known_keywords
from ranvier.base.names import unknown_name
from ranvier.base.paths import checked_path, read_bounded
from ranvier.equations.integration import AbsoluteTolerance, Integration
from ranvier.equations.model import EquationNeuron
from ranvier.equations.places import Source
from ranvier.equations.statements import without_comments
from ranvier.errors import EquationError, FileError, ValueOutOfBoundsError
from ranvier.nestml.grammar import MOST_CHARACTERS, parsed
from ranvier.nestml.syntax import Model
from ranvier.nestml.translation import given_of
from ranvier.nestml.tree import models_of

__all__ = ["read_models", "read_nestml"]


@known_keywords
def read_nestml(
    path: str | PathLike[str],
    model: str | None = None,
    *,
    method: str = "auto",
    relative_tolerance: float | None = None,
    absolute_tolerance: AbsoluteTolerance | None = None,
) -> EquationNeuron:
    """Return a neuron model that is written in NESTML, the modelling language of the NEST initiative (version 9).

    The result is a model as made by `neuron`: it can be pickled, does not need the file, and its ``equations`` show the
    translation. Spike ports are receptors, with their names; where one is excitatory and one is
    inhibitory, the sign of a weight chooses. Weights have no unit, as in NESTML, where the file multiplies them by one.
    The continuous port is the current of stimulators.

    Parameters
    ----------
    path
        The file.
    model
        Name of the model; None: the only one in the file.
    method, relative_tolerance, absolute_tolerance
        As in `neuron`: how the equations are integrated, which NESTML leaves to the simulator.

    Raises
    ------
    FileError
        When the file cannot be read, or is not a text.
    EquationError, UnitError, UnknownSymbolError
        For mistakes, and for constructs that equations cannot express: the error shows the file, the line and the
        column, and says what to write instead.
    UnknownNameError, ValueOutOfBoundsError
        For a model that is not in the file, and for None where there are several.
    MissingPackageError
        When Lark is not installed: ``pip install 'ranvier[nestml]'``.

    Notes
    -----
    The file is not executed as a program. The supported forms of `update` and `onCondition` are those of neurons
    that fire under one condition, with at most one timer of refractoriness.

    References
    ----------
    D. Plotnikov et al., NESTML: a modeling language for spiking neurons, Modellierung 2016, 93-108 (2016).

    Examples
    --------
    >>> import ranvier as rv
    >>> cell = rv.read_nestml("iaf_psc_exp_neuron.nestml")  # doctest: +SKIP
    >>> net = rv.Network()
    >>> cells = net.create(cell(tau_m="15 ms"), 100)  # doctest: +SKIP
    """
    integration = Integration.checked(method, relative_tolerance, absolute_tolerance)
    file = checked_path(path, "path of a NESTML file")
    return _made(_chosen(_models_of(file), model, file), file, integration)


def read_models(path: str | PathLike[str], model: str | None = None) -> list[EquationNeuron]:
    """Return all models of a file, or the one of this name, as `read_nestml` does with its defaults.

    Raises
    ------
    RanvierError
        As `read_nestml`.
    """
    file = checked_path(path, "path of a NESTML file")
    models = _models_of(file)
    wanted = [_chosen(models, model, file)] if model is not None or not models else models
    return [_made(each, file, Integration("auto")) for each in wanted]


def _models_of(file: Path) -> list[Model]:
    source = Source(f"file {file}", _text_of(file))
    _, comments = without_comments(source.text)
    return models_of(source, parsed(source), comments)


def _made(chosen: Model, file: Path, integration: Integration) -> EquationNeuron:
    given = given_of(chosen, f"Neuron of the NESTML file {file.name}")
    try:
        return EquationNeuron(given, integration, {})
    except EquationError as error:
        # An error that is found in the whole of the equations; its place is in them, not in the file.
        subject = f"model {chosen.name} of file {file}, {error.object}"
        raise type(error)(subject, error.value, error.bound, error.remedy, error.place) from None


def _text_of(file: Path) -> str:
    # A character has four bytes at the most; how many characters there are is looked at later.
    data = read_bounded(file, 4 * MOST_CHARACTERS, "write each model in a file")
    try:
        text = data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        raise FileError(
            f"file {file}", f"no text in UTF-8 at byte {error.start}", "files of NESTML are texts"
        ) from None
    if "\0" in text:
        raise FileError(f"file {file}", "a text with zero bytes", "files of NESTML do not have zero bytes")
    return text


def _chosen(models: list[Model], name: str | None, file: Path) -> Model:
    if not models:
        raise FileError(f"file {file}", bound="it has no model", remedy="write model NAME:")
    names = [each.name for each in models]
    if name is None:
        if len(models) > 1:
            raise ValueOutOfBoundsError(
                f"model of file {file}",
                bound=f"there are several: {', '.join(names)}",
                remedy=f"write model={names[0]!r}",
            )
        return models[0]
    found = [each for each in models if each.name == name]
    if not found:
        unknown_name(f"model of file {file}", name, names)
    return found[0]
