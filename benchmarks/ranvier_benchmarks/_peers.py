"""Simulators of detailed cells that are compared with: what their sides of benchmarks share."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ranvier.base.names import unknown_name
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.errors import StateError
from ranvier.processes.machine import peak_resident_bytes
from ranvier_benchmarks._settings import Chosen, choose

__all__ = [
    "RingKeys",
    "add_ring_arguments",
    "choose_ring",
    "load_peer",
    "require_peer",
    "ring_report",
]

RING_TIME = 100.0  # ms


def require_peer(name: str, module: str) -> None:
    """Check that a program is installed.

    Raises
    ------
    StateError
        When its package cannot be found.
    """
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise StateError(
            name,
            bound="it is not installed beside Ranvier",
            remedy="pip install './benchmarks[peers]', in Ranvier's sources",
        )


def load_peer(name: str, module: str) -> Any:
    """Import a program, which brings no types.

    Raises
    ------
    StateError
        When it is not installed.
    """
    require_peer(name, module)
    return importlib.import_module(module)


@dataclass(frozen=True)
class RingKeys:
    """The settings of the ring by ``--set``, those of `ranvier.networks.ring`."""

    cells: int
    depth: int
    compartments: int
    dendrites: str
    resolution: float

    @property
    def compartment_count(self) -> int:
        """Compartments of all cells."""
        return self.cells * (1 + self.compartments * ((2 << self.depth) - 2))


def ring_keys(
    *,
    cells: int = 128,
    depth: int = 5,
    compartments: int = 2,
    dendrites: Literal["hh", "pas"] = "hh",
    resolution: float = 0.025,
) -> RingKeys:
    """Take the keys of the ring."""
    return RingKeys(cells, depth, compartments, dendrites, resolution)


def add_ring_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--set`` and ``--json``."""
    add_settings(parser, f"cells, depth, compartments, dendrites, resolution, time ({RING_TIME:g}), threads (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there instead of to the terminal")


def choose_ring(settings: Sequence[str]) -> tuple[Chosen, RingKeys]:
    """Return what ``--set`` says.

    Raises
    ------
    UnknownNameError
        For an option of Ranvier's simulations other than the number of threads.
    """
    chosen = choose(settings, ring_keys, time=RING_TIME)
    for name in chosen.options:
        if name != "threads":
            unknown_name("key", name, ["time", "threads", *signature_keys(ring_keys)])
    return chosen, ring_keys(**chosen.network)


def ring_report(
    program: str, version: str, chosen: Chosen, keys: RingKeys, seconds: tuple[float, float, float], spikes: int
) -> dict[str, Any]:
    """Return the report of a run; `seconds` are those of building, preparing and running."""
    build, init, simulation = seconds
    steps = chosen.time / keys.resolution
    return {
        "program": program,
        "version": version,
        "threads": chosen.options.get("threads") or 1,
        "build_s": build,
        "init_s": init,
        "sim_s": simulation,
        "simulated_ms": chosen.time,
        "cells": keys.cells,
        "compartments": keys.compartment_count,
        "ns_per_compartment_step": 1e9 * simulation / (keys.compartment_count * steps),
        "spikes": spikes,
        "peak_rss_bytes": peak_resident_bytes(),
    }
