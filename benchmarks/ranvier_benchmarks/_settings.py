"""The settings of benchmarks by ``--set``: parameters of the network, options of the simulation, and times."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ranvier.commands.keys import SAVES, TIMES, add_settings, parse_settings
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["Chosen", "add_bench_settings", "choose", "recorded_options"]


@dataclass(frozen=True)
class Chosen:
    """The chosen settings, or the defaults of the benchmark.

    Attributes
    ----------
    network
        Keywords of the function that describes the network.
    options
        Options of the simulation by their names alone.
    time, presim
        Milliseconds to measure, and to leave out before.
    """

    network: dict[str, Any]
    options: dict[str, Any]
    time: float
    presim: float

    @property
    def threads(self) -> int:
        """Threads of a process, where the benchmark has a default for them."""
        return int(self.options["threads"])

    def without(self, *names: str) -> dict[str, Any]:
        """Return the options but those that are named."""
        return {name: value for name, value in self.options.items() if name not in names}

    def as_json(self) -> dict[str, Any]:
        """Return all of it by name."""
        return {"time": self.time, "presim": self.presim, **self.network, **self.options}


def add_bench_settings(parser: argparse.ArgumentParser, defaults: str) -> None:
    """Declare ``--set``; its defaults are those of `ranvier run`, but for some that are named."""
    add_settings(
        parser, f"parameters of the network, and options, as for ranvier run (defaults that differ: {defaults})"
    )


def choose(
    settings: Sequence[str],
    function: Callable[..., object] = lambda: None,
    *,
    time: float,
    presim: float | None = None,
    network: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Chosen:
    """Return what ``--set`` says.

    Parameters
    ----------
    function
        Its keywords are parameters of the network.
    time, presim, network, options
        Defaults of the benchmark. Without `presim`, no time can be left out of the report.
    refused
        Keys that the benchmark gives values to itself, with what to do.

    Raises
    ------
    UnknownNameError, ValueOutOfBoundsError
        As for `ranvier.commands.keys.parse_settings`, for a key that is refused, and for times out of bounds.
    """
    refused = {**({} if presim is not None else {"presim": "leave it out"}), **(refused or {})}
    refused |= dict.fromkeys(SAVES, "leave it out: benches save no states")
    for setting in settings:
        key, equals, text = setting.partition("=")
        if equals and key in refused:
            raise ValueOutOfBoundsError(f"key {key}", f"'{text}'", "this benchmark sets it itself", refused[key])
    for_run, for_network = parse_settings(settings, function)
    times = {"time": time, "presim": presim or 0.0} | {name: for_run[name] for name in TIMES if name in for_run}
    if not 0.0 < times["time"] < math.inf:
        raise ValueOutOfBoundsError("key time", f"{times['time']} ms", "it must be > 0")
    if not 0.0 <= times["presim"] < math.inf:
        raise ValueOutOfBoundsError("key presim", f"{times['presim']} ms", "it must be >= 0")
    chosen = {name: value for name, value in for_run.items() if name not in TIMES}
    return Chosen({**(network or {}), **for_network}, {**(options or {}), **chosen}, times["time"], times["presim"])


def recorded_options(arguments: argparse.Namespace, chosen: Chosen) -> dict[str, Any]:
    """Return flags and what was chosen, as they stand in the JSON file: each by its name."""
    flags = {
        name: value
        for name, value in vars(arguments).items()
        if isinstance(value, bool | int | float | str | list | tuple) and name != "settings"
    }
    return {**flags, **chosen.as_json()}
