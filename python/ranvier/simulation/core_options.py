"""Conversion of the options of a simulation to those of the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.base.texts import name_type
from ranvier.errors import ShapeError, WrongTypeError
from ranvier.populations.populations import Population
from ranvier.simulation.described_options import OptionGroup
from ranvier.simulation.options import DryRun, Processes, RunOptions, Tuning

__all__ = ["checked_group", "core_options"]

Group = TypeVar("Group", bound=OptionGroup)

# Options that only Python uses.
_OF_PYTHON = {"communicator", "programs", "recordings"}


def core_options(
    populations: Sequence[Population],
    run: RunOptions,
    processes: Processes | None,
    tuning: Tuning | None,
    dry_run: DryRun | None,
) -> _core.SimulationOptions:
    """Return the options of the core. A group that is None has its defaults.

    Raises
    ------
    UnknownNameError, ShapeError
        When costs or rates have other names than the populations.
    WrongTypeError
        For a group of another type.
    """
    processes, tuning, dry_run = (
        checked_group(Processes, processes),
        checked_group(Tuning, tuning),
        checked_group(DryRun, dry_run),
    )
    options = _core.SimulationOptions()
    for group in (run, processes, tuning):
        for name in group.options.keys() - _OF_PYTHON:
            _set(options, name, getattr(group, name), populations)
    if dry_run.invented_rate is not None:
        options.invented_rates = _rates(populations, dry_run.invented_rate)
    return options


def _set(options: _core.SimulationOptions, name: str, value: Any, populations: Sequence[Population]) -> None:
    """Set an option of the core; None leaves the choice to the core."""
    if name == "placement" and not isinstance(value, str):
        options.ranks = np.asarray(value, dtype=np.int32)
    elif name == "costs":
        if isinstance(value, Mapping):
            names = [population.name for population in populations]
            _check_names(value, names, "cost")
            options.costs = [value[each] for each in names]
    elif name == "threads" and value == "auto":
        # The number is chosen by measuring when the simulation is built.
        return
    elif name == "sort_connections":
        options.sort_connections = None if value == "auto" else value
    elif value is not None:
        setattr(options, name, value)


def checked_group(kind: type[Group], given: Group | None) -> Group:
    """Return a group of options; for None, the group with its defaults.

    Raises
    ------
    WrongTypeError
        For anything else.
    """
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise WrongTypeError(kind.keyword, name_type(given), f"must be a rv.{kind.__name__} or None")
    return given


def _rates(populations: Sequence[Population], rates: float | Mapping[str, float]) -> list[float]:
    """Return rates in the order of the populations; rates of sources with given spike times are not used."""
    if not isinstance(rates, Mapping):
        return [rates]
    _check_names(rates, [each.name for each in populations if not each.is_source], "rate")
    return [0.0 if each.is_source else rates[each.name] for each in populations]


def _check_names(values: Mapping[str, float], names: list[str], one: str) -> None:
    """Check that there is exactly one value for each population of a list; `one` is the name of such a value."""
    for name in values:
        if name not in names:
            unknown_name(f"population with a {one}", name, names)
    for name in names:
        if name not in values:
            raise ShapeError(
                f"{one}s of populations", bound=f"there is no {one} for {name}", remedy="give one for each"
            )
