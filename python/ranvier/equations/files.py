"""Files that describe a neuron model: its equations, parameters with units, bounds and meanings, and references.

A file is written in TOML. Its keys are keywords of `ranvier.neuron`. The models that come with Ranvier
(`ranvier.equations.neurons`) are such files.
"""

from __future__ import annotations

import contextlib
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from ranvier.base.hints import known_keywords
from ranvier.base.names import unknown_name
from ranvier.base.paths import checked_path, read_bounded
from ranvier.base.texts import check_text, name_type
from ranvier.equations.copies import Copies, suffixes_of
from ranvier.equations.description import Declared
from ranvier.equations.integration import AbsoluteTolerance, Integration
from ranvier.equations.model import EquationNeuron, neuron
from ranvier.equations.parameters import declare
from ranvier.errors import (
    EquationError,
    FileError,
    RanvierError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

__all__ = ["NeuronFile", "load", "read_neuron"]

MOST_BYTES = 1_000_000

_TEXTS = ("equations", "threshold", "reset", "refractory", "after_refractory")
_INTEGRATION = ("method", "relative_tolerance", "absolute_tolerance")
_TABLES = ("receptors", "initial", "parameters", "copies")
_KEYS = ("summary", "references", *_TEXTS, *_INTEGRATION, "sign_chooses_receptor", *_TABLES)

_BOUND = re.compile(r"\s*(>=|>|<=|<)\s*(\S.*?)\s*")


@dataclass(frozen=True)
class NeuronFile:
    """A neuron model as a file describes it.

    Attributes
    ----------
    name
        Name of the model: that of the file, without its suffix.
    arguments
        Arguments of `neuron`, without the method, the tolerances and `copies`.
    integration
        Method and tolerances.
    copies
        For each index, how many copies it has by default, or their names.
    meanings
        For each index, its meaning.
    """

    file: Path
    name: str
    arguments: Mapping[str, Any]
    integration: Integration
    copies: Mapping[str, Copies]
    meanings: Mapping[str, str]

    def model(
        self, integration: Integration | None = None, copies: Mapping[str, Copies] = MappingProxyType({})
    ) -> EquationNeuron:
        """Return the model, with another integration or other copies.

        Raises
        ------
        RanvierError
            As `neuron`.
        """
        if not isinstance(copies, Mapping):
            raise WrongTypeError("copies", name_type(copies), "must be a mapping from indices", "write dict(k=3)")
        for index in copies:
            if index not in self.copies:
                unknown_name("index of copies", index, list(self.copies))
        arguments = {**self.arguments, **(integration or self.integration).given}
        if counts := {**self.copies, **copies}:
            suffixes = {index: suffixes_of(index, each) for index, each in counts.items()}
            arguments["copies"] = suffixes
            arguments["receptors"] = _named_receptors(arguments.get("receptors", {}), suffixes)
            arguments["parameters"] = {
                name: _of_copies(name, default, suffixes) for name, default in arguments["parameters"].items()
            }
        return neuron(name=self.name, **arguments)


def _named_receptors(receptors: Mapping[str, Any], suffixes: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return receptors; copies with names are called by these alone: ``AMPA``, not ``receptor_AMPA``."""
    made = dict(receptors)
    for index, each in suffixes.items():
        if f"receptor[{index}]" in made and each and not each[0].isdigit():
            made[f"[{index}]"] = made.pop(f"receptor[{index}]")
    return made


def _of_copies(name: str, default: Any, suffixes: Mapping[str, tuple[str, ...]]) -> Any:
    """Return the defaults of all copies of a parameter; those that the file does not list are as the last."""
    if not isinstance(default, list):
        return default
    return [default[min(i, len(default) - 1)] for i in range(len(suffixes[_index_of(name)]))]


def _index_of(name: str) -> str:
    return name.partition("[")[2].removesuffix("]")


@known_keywords
def read_neuron(
    path: str | PathLike[str],
    *,
    method: str | None = None,
    relative_tolerance: float | None = None,
    absolute_tolerance: AbsoluteTolerance | None = None,
    copies: Mapping[str, Copies] | None = None,
) -> EquationNeuron:
    """Return a neuron model that a file describes in TOML.

    The models of equations that come with Ranvier are such files. The name of the model is that of the file without its
    suffix. The model is one as `neuron` makes it: it can be pickled, and does not need the file any more.

    Parameters
    ----------
    path
        The file.
    method
        Method of integration, see `neuron`; None: that of the file, or ``"auto"``.
    relative_tolerance, absolute_tolerance
        Error bounds of an adaptive step, see `neuron`; None: those of the file, unless `method` is given.
    copies
        By index, how many copies there are, or their names, in place of the default of the file.

    Raises
    ------
    FileError
        When the file cannot be read, or is not TOML.
    UnknownNameError, WrongTypeError, ValueOutOfBoundsError
        For keys that do not exist, and for values of a wrong type or outside their bounds.
    EquationError, UnitError, UnknownSymbolError
        For mistakes in equations; the error shows the line and the place.

    Notes
    -----
    The keys of a file are ``equations``, ``threshold``, ``reset``, ``refractory``, ``after_refractory``, ``method``,
    ``relative_tolerance``, ``absolute_tolerance``, ``sign_chooses_receptor`` and ``summary``, texts, numbers and
    switches as `neuron` takes them; ``references``, a list of texts; and the tables ``receptors``, ``initial``,
    ``copies`` and ``parameters``. A parameter is its default, or a table of ``default``, ``bounds`` (``"> 0"``, or
    ``">= 0 and < 1"``) and ``meaning``; an entry of ``copies`` is a number, a list of names, or a table of ``default``
    and ``meaning``.

    Examples
    --------
    >>> import ranvier as rv
    >>> cell = rv.read_neuron("my_neuron.toml")  # doctest: +SKIP
    >>> net = rv.Network()
    >>> cells = net.create(cell(tau_m="15 ms"), 100)  # doctest: +SKIP
    """
    read = load(checked_path(path, "path of a file of a neuron"))
    chosen = read.integration
    if method is not None:
        chosen = Integration.checked(method, relative_tolerance, absolute_tolerance)
    elif relative_tolerance is not None or absolute_tolerance is not None:
        given = {"relative_tolerance": relative_tolerance, "absolute_tolerance": absolute_tolerance}
        chosen = Integration.checked(**{**chosen.given, **{k: each for k, each in given.items() if each is not None}})
    with _located(f"file {read.file}"):
        return read.model(chosen, {} if copies is None else copies)


def load(file: Path) -> NeuronFile:
    """Read a file; its equations are read when the model is made.

    Raises
    ------
    FileError
        When the file cannot be read, or is not TOML.
    UnknownNameError, WrongTypeError, ValueOutOfBoundsError, UnitError
        For keys that do not exist, and for values of a wrong type or outside their bounds.
    """
    contents = _contents(file)
    with _located(f"file {file}"):
        _check_keys("key", contents, _KEYS)
        if "equations" not in contents:
            raise WrongTypeError("equations", bound="the key is missing", remedy='write equations = """..."""')
        for key in ("summary", *_TEXTS):
            if key in contents:
                check_text(key, contents[key])
        tables = {key: _table(key, contents.get(key, {})) for key in _TABLES}
        copies = {index: _copies(index, given) for index, given in tables["copies"].items()}
        arguments: dict[str, Any] = {
            **{key: contents[key] for key in (*_TEXTS, "sign_chooses_receptor", "summary") if key in contents},
            "reference": "; ".join(_references(contents.get("references", []))),
            **{key: tables[key] for key in ("receptors", "initial") if key in contents},
            "parameters": {
                name: _parameter(name, given, {index: each for index, (each, _) in copies.items()})
                for name, given in tables["parameters"].items()
            },
        }
        integration = {"method": "auto", **{key: contents[key] for key in _INTEGRATION if key in contents}}
        return NeuronFile(
            file,
            file.stem,
            arguments,
            Integration.checked(**integration),
            {index: default for index, (default, _) in copies.items()},
            {index: meaning for index, (_, meaning) in copies.items()},
        )


# ---- parts of a file -------------------------------------------------------------------------------------------------


def _contents(file: Path) -> dict[str, Any]:
    data = read_bounded(file, MOST_BYTES, "write one model in a file")
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        bound = f"it is not text in UTF-8 at byte {error.start}"
    except ValueError as error:
        bound = f"it is not TOML: {error}"
    except RecursionError:
        bound = "its brackets are nested too deeply"
    raise FileError(f"file {file}", bound=bound, remedy="see rv.read_neuron() for the format")


def _check_keys(what: str, given: Mapping[str, object], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            unknown_name(what, key, known)


def _table(what: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise WrongTypeError(what, name_type(given), "must be a table", f"write [{what}] above its entries")
    return given


def _references(given: object) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise WrongTypeError("references", name_type(given), "must be a list of texts", 'write ["..."]')
    return [check_text("references", each) for each in given]


def _copies(index: str, given: Any) -> tuple[Copies, str]:
    """Return the default number of copies of an index, or their names, and the meaning of the index."""
    table: dict[str, Any] = given if isinstance(given, dict) else {"default": given}
    with _located(f"copies of [{index}]"):
        _check_keys("key", table, ("default", "meaning"))
        default: Copies = _default(table)
        suffixes_of(index, default)
        return default, check_text("meaning", table.get("meaning", ""))


def _parameter(name: str, given: Any, copies: Mapping[str, Copies]) -> Declared | list[Declared]:
    table: dict[str, Any] = given if isinstance(given, dict) else {"default": given}
    with _located(f"parameter {name}"):
        _check_keys("key", table, ("default", "bounds", "meaning"))
        default, meaning = _default(table), table.get("meaning", "")
        bounds = _bounds(table["bounds"]) if "bounds" in table else {}
        if not isinstance(default, list):
            return declare("default", default, **bounds, meaning=meaning)
        index = _index_of(name)
        most = len(suffixes_of(index, copies[index])) if index in copies else 0
        if not 0 < len(default) <= most:
            bound = f"there are {most} copies, and a parameter without copies has one value"
            raise ValueOutOfBoundsError("default", f"a list of {len(default)} values", bound, "give one for each copy")
        return [declare("default", each, **bounds, meaning=meaning) for each in default]


def _default(table: Mapping[str, Any]) -> Any:
    if "default" not in table:
        raise WrongTypeError("default", bound="the key is missing", remedy='write default = "10 ms"')
    return table["default"]


def _bounds(text: Any) -> dict[str, Any]:
    """Return keywords of `parameter`, of a text such as ``">= 0 and < 1"``."""
    made: dict[str, Any] = {}
    for part in check_text("bounds", text).split(" and "):
        found = _BOUND.fullmatch(part)
        end = "" if found is None else "low" if found[1].startswith(">") else "high"
        if found is None or end in made:
            _refuse_bounds(text)
        try:
            made[end] = float(found[2])
        except ValueError:
            made[end] = found[2]  # with a unit
        if isinstance(made[end], float) and not math.isfinite(made[end]):
            _refuse_bounds(text)
        made[f"{end}_open"] = not found[1].endswith("=")
    return made


def _refuse_bounds(text: str) -> NoReturn:
    bound = "it must be a finite lower bound, an upper bound, or both, with 'and' between them"
    raise EquationError("bounds", f"'{text}'", bound, 'write "> 0", or ">= 0 and <= 1"')


@contextlib.contextmanager
def _located(place: str) -> Iterator[None]:
    """Put a place before the object of each error."""
    try:
        yield
    except RanvierError as error:
        kind, (first, *others) = error.__reduce__()
        raise kind(f"{place}, {first}", *others) from None
