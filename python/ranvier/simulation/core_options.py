"""Conversion of the options of a simulation to those of the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

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
    # In the core, 0 means that it chooses.
    options.threads = run.threads or 0
    options.stepping = run.stepping
    options.double_state = run.precision == "double"
    options.double_weights = run.weight_precision == "double"
    options.memory_limit = run.memory_limit or 0
    _set_tuning(options, tuning, populations)
    _set_processes(options, processes)
    if dry_run.invented_rate is not None:
        options.invented_rates = _rates(populations, dry_run.invented_rate)
    return options


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


def _set_tuning(options: _core.SimulationOptions, tuning: Tuning, populations: Sequence[Population]) -> None:
    options.instruction_set = tuning.instruction_set
    options.table_layout = tuning.table_layout
    options.delivery_window = tuning.delivery_window or 0
    options.pinning = str(tuning.pinning)
    options.shards = tuning.shards or 0
    options.stealing = tuning.stealing
    if isinstance(tuning.costs, Mapping):
        names = [population.name for population in populations]
        _check_names(tuning.costs, names, "cost")
        options.costs = [tuning.costs[name] for name in names]
    options.measure_costs = tuning.measure_costs
    options.trace_epochs = tuning.trace_epochs


def _set_processes(options: _core.SimulationOptions, processes: Processes) -> None:
    if isinstance(processes.placement, str):
        options.placement = processes.placement
    else:
        options.set_ranks(np.asarray(processes.placement, dtype=np.int32))
    # In the core, "" means that nothing was chosen.
    options.exchange = processes.exchange or ""
    options.notifications = processes.notifications
    options.intervals = processes.intervals
    options.spike_buffer = processes.spike_buffer or options.spike_buffer
    options.allgather_spikes = processes.allgather_spikes or options.allgather_spikes
    options.connection_buffer = processes.connection_buffer or options.connection_buffer
    options.sort_connections = None if processes.sort_connections == "auto" else processes.sort_connections
    options.keep_sources = processes.keep_sources
    options.row_numbering = processes.row_numbering
    options.wait_apart = processes.wait_apart


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
