"""Runs of the network `column` that the figures and tables of the paper share."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.memory_checks import check_room
from ranvier.errors import MissingPackageError, ValueOutOfBoundsError
from ranvier.networks import NetworkModel, column
from ranvier_benchmarks._in_turn import Contestant, Report
from ranvier_benchmarks._mpiexec import Mpiexec, is_crowded

__all__ = [
    "MOST_SHARDS",
    "bytes_of_step",
    "check_cells",
    "contestant",
    "folder_of",
    "make_column",
    "print_table",
    "steps_of_visits",
]

MOST_SHARDS = 4096
# A step of 0.025 ms; the ring of inputs has room for the longest delay, 10 ms, and 128 steps, rounded up to a power of
# two. The rest is the state of a cell, of a few hundred kB.
_BYTES_OF_SYNAPSE, _BYTES_OF_CELL = 1024 * 8, 1 << 20


def folder_of(morphologies: str) -> str:
    """Return the folder of a choice of morphologies: that of the package BMTK for "bmtk", none for "drawn".

    Raises
    ------
    MissingPackageError
        When BMTK is not installed.
    """
    if morphologies == "drawn":
        return ""
    if morphologies != "bmtk":
        return morphologies
    found = importlib.util.find_spec("bmtk")
    if found is None or found.origin is None:
        raise MissingPackageError(
            "package bmtk",
            bound="its five reconstructed cells of layer 4 are needed for morphologies=bmtk",
            remedy="pip install './benchmarks[morphologies]', in Ranvier's sources; or use morphologies=drawn",
        )
    return str(Path(found.origin).parent / "utils" / "scripts" / "bionet" / "morphologies")


def make_column(keys: Mapping[str, Any]) -> NetworkModel:
    """Return the network of some keys, among them `morphologies` as of `folder_of`."""
    return column(**{**keys, "morphologies": folder_of(str(keys.get("morphologies", "drawn")))})


def check_cells(cells: Sequence[int], keys: Mapping[str, Any], least: int = 5) -> None:
    """Check numbers of cells, the other keys of the network, and the memory of the largest one.

    Raises
    ------
    ValueOutOfBoundsError, FileError, MissingPackageError, InsufficientMemoryError
        For values outside their bounds, missing morphologies, and a network without room.
    """
    if not cells:
        raise ValueOutOfBoundsError("key cells", "()", "it must have a number", "give numbers of cells")
    for count in cells:
        if not isinstance(count, int) or isinstance(count, bool) or not least <= count <= MOST_SHARDS:
            raise ValueOutOfBoundsError(
                "key cells", str(count), f"it must be whole numbers from {least} to {MOST_SHARDS}"
            )
    make_column({**keys, "cells": least})
    check_room(
        f"{max(cells)} cells",
        max(cells) * (_BYTES_OF_CELL + int(keys["synapses"]) * _BYTES_OF_SYNAPSE),
        "give fewer cells or synapses",
    )


def contestant(
    name: str,
    keys: Mapping[str, Any],
    *,
    time: float,
    options: Mapping[str, Any],
    mpiexec: Mpiexec | None = None,
    ranks: int = 1,
) -> Contestant:
    """Return a run of the network. Options are those of `ranvier run`."""
    given = {**keys, **options, "morphologies": folder_of(str(keys["morphologies"])), "time": time}
    settings = [f"{key}={value}" for key, value in given.items() if value not in (None, "")]
    crowded = is_crowded(ranks, int(options.get("threads", 1)))
    starts = mpiexec is not None and ranks > 1
    return Contestant(
        name,
        ("run", "column", "--set", *settings),
        tuple(mpiexec.command(ranks, crowded)) if starts and mpiexec is not None else (),
        mpiexec.environment(crowded) if starts and mpiexec is not None else {},
    )


def steps_of_visits(report: Report) -> list[int]:
    """Return the number of visits of 0, 1, ... steps of all processes."""
    visits = [np.array(counts) for counts in report["visits_by_steps_by_rank"]]
    longest = max((len(counts) for counts in visits), default=0)
    total: list[int] = np.sum([np.pad(each, (0, longest - len(each))) for each in visits], axis=0).tolist()
    return total


def bytes_of_step(report: Report, cells: int, synapses: int) -> dict[str, float]:
    """Return what a step of a cell reads: its state, and the inputs of its synapses, which it also clears."""
    neurons = sum(memory["neurons"] for memory in report["memory_bytes_by_rank"])
    return {"state": neurons / cells, "inputs": 2.0 * 8.0 * synapses}


def print_table(console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with a title."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(f"\n[bold]{title}[/]", soft_wrap=True)
    console.print(Padding(table, (0, 0, 0, 2)))
