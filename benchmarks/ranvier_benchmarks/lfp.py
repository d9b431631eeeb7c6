"""Potentials of detailed cells at contacts, recorded by Ranvier or computed by LFPykit from recorded currents.

The cells stand in a cylinder. Each network is simulated

plain        without recordings of potentials or currents,
a method     with `Network.record_extracellular` and this method: what it takes to build includes the weights,
lfpykit      with `Network.record_compartments`, and afterwards LFPykit's LineSourcePotential: its matrix, and the
             product with the currents,

in turn, in one process. Seconds are medians; `extra` is what potentials take in addition to the plain simulation. The
error is the largest difference of the potentials, relative to the largest of LFPykit's. The fast multipole method has
its default accuracy.

ring         branched cells with Hodgkin-Huxley channels, each connected to the next ones
column       reconstructed cells with twelve mechanisms, which currents drive
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import ranvier as rv
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number, whole_number
from ranvier.base.packages import package
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import LargeRecordingWarning, UnknownNameError, ValueOutOfBoundsError
from ranvier.networks.column import column_cell, drawn_layer_4_cells
from ranvier.networks.ring import ring_cell
from ranvier.processes import machine
from ranvier_benchmarks._results import ResultsFile

__all__ = ["add_arguments", "cells_in_space", "main"]

Floats: TypeAlias = npt.NDArray[np.float64]
Row: TypeAlias = dict[str, Any]

_NETWORKS = ("ring", "column")
_METHODS = ("matrix", "fmm", "auto")
_SIGMA = 0.3
# um
_RADIUS, _HEIGHT = 250.0, 600.0
_SYNAPSES, _INDEGREE = 200, 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--networks", default="ring,column", metavar="NAME,...", help="ring, column or both (default: %(default)s)"
    )
    parser.add_argument("--cells", type=int, default=64, metavar="N", help="number of cells (default: %(default)s)")
    parser.add_argument(
        "--contacts", default="16,384", metavar="N,...", help="numbers of contacts (default: %(default)s)"
    )
    parser.add_argument(
        "--methods", default="matrix,fmm", metavar="NAME,...", help="matrix, fmm, auto (default: %(default)s)"
    )
    parser.add_argument("--time", type=float, default=20.0, metavar="MS", help="simulated ms (default: %(default)s)")
    parser.add_argument(
        "--interval", type=float, default=0.1, metavar="MS", help="sampling interval (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads (default: all processors)")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="runs of each (default: %(default)s)")
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all, and print the table."""
    networks = _names("--networks", arguments.networks, _NETWORKS)
    methods = _names("--methods", arguments.methods, _METHODS)
    cells = whole_number("--cells", arguments.cells, _INDEGREE + 1, 1_000_000)
    contacts = _counts("--contacts", arguments.contacts)
    duration, interval = number("--time", arguments.time), number("--interval", arguments.interval)
    for name, value in (("--time", duration), ("--interval", interval)):
        if not 0.0 < value <= 1e6:
            raise ValueOutOfBoundsError(name, f"{value} ms", "it must be positive, and at most 1e6")
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 10_000)
    threads = machine.usable_processors() if arguments.threads is None else arguments.threads
    whole_number("--threads", threads, 1, 1024)
    lfpykit = package("lfpykit", "ranvier bench lfp")
    if arguments.json is not None:
        check_writable(arguments.json)
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    options = {
        "networks": networks,
        "cells": cells,
        "contacts": contacts,
        "methods": methods,
        "time": duration,
        "interval": interval,
        "threads": threads,
        "repetitions": repetitions,
    }
    head = {"benchmark": "lfp", "options": options, "machine": info.gather(), "lfpykit": lfpykit.__version__}
    file = ResultsFile(arguments.json, head)
    results: dict[str, list[Row]] = {"potentials": []}
    with console.status("") as status:
        for name in networks:
            for count in contacts:
                status.update(f"{name}, {count:,} contacts")
                scene = _Scene(name, cells, count, duration, interval, threads, lfpykit)
                results["potentials"] += scene.measure(methods, repetitions)
                file.update(results)
    _show(console, results["potentials"])
    file.finish(results, console)
    return 0


def _names(option: str, text: str, known: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            raise UnknownNameError(option, repr(name), f"there are {', '.join(known)}")
    return names


def _counts(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= 10**7 for part in parts):
        raise ValueOutOfBoundsError(option, f"'{text}'", "it must be numbers from 1 to 10000000 with commas between")
    return sorted({int(part) for part in parts})


def cells_in_space(name: str, count: int) -> tuple[rv.Network, rv.Population]:
    """Return a network of detailed cells in a cylinder: a ring, or cells of a column."""
    net = rv.Network(resolution=0.025, seed=5, name=name)
    layout = rv.random_positions(extent=(2.0 * _RADIUS, 2.0 * _RADIUS, _HEIGHT), shape="cylinder", unit="um")
    turned = rv.random_rotation("z")
    if name == "ring":
        cells = net.create(ring_cell(), count, positions=layout, rotation=turned, name="cells")
        targets = np.repeat(np.arange(count), _INDEGREE)
        sources = (targets - np.tile(np.arange(1, _INDEGREE + 1), count)) % count
        net.connect(cells, cells, rv.Explicit(sources, targets), weight=2.0, delay=5.0, receptor="exc")
        net.stimulate(cells[::4], rv.poisson_generator(rate=200.0), weight=20.0, delay=1.0)
    else:
        kinds = [
            column_cell(form, synapses=_SYNAPSES, compartment_length=20.0, separate_sites=False, t_ref=2.0, seed=kind)
            for kind, form in enumerate(drawn_layer_4_cells())
        ]
        models = [kinds[index % len(kinds)] for index in range(count)]
        currents = np.linspace(100.0, 400.0, count)
        cells = net.create(models, positions=layout, rotation=turned, I_e=currents, name="cells")
    return net, cells


class _Scene:
    """Cells and contacts."""

    def __init__(
        self, name: str, cells: int, contacts: int, duration: float, interval: float, threads: int, lfpykit: Any
    ) -> None:
        self._name, self._cells, self._duration, self._interval = name, cells, duration, interval
        self._threads, self._lfpykit = threads, lfpykit
        self._chosen: dict[str, str] = {}
        # Beside the cells, on shanks of up to 100 contacts around the cylinder.
        place = np.arange(contacts)
        angle = 2.0 * np.pi * (place // 100) / -(-contacts // 100)
        height = _HEIGHT * ((place % 100 + 0.5) / min(100, contacts) - 0.5)
        outside = 2.0 * _RADIUS
        self._contacts = np.stack([outside * np.cos(angle), outside * np.sin(angle), height], axis=1)

    def measure(self, methods: Sequence[str], repetitions: int) -> list[Row]:
        """Run all contestants in turn, and return a row for each but the plain simulation."""
        contestants: dict[str, Callable[[], tuple[dict[str, float], Floats | None]]] = {
            "plain": self._plain,
            **{method: functools.partial(self._recorded, method) for method in methods},
            "lfpykit": self._with_lfpykit,
        }
        seconds: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
        potentials: dict[str, Floats | None] = {}
        for _ in range(repetitions):
            for name, run in contestants.items():
                parts, potentials[name] = run()
                seconds[name].append(parts)
        reference = potentials["lfpykit"]
        assert reference is not None
        plain = _medians(seconds["plain"])
        rows = []
        for name in contestants:
            found = potentials[name]
            parts = _medians(seconds[name])
            row: Row = {
                "network": self._name,
                "contestant": name,
                "method": self._chosen.get(name),
                "contacts": len(self._contacts),
                "cells": self._cells,
                "compartments": self._compartments,
                "samples": len(reference),
                "seconds": parts,
                "all_seconds": seconds[name],
                "total_s": sum(parts.values()),
                "extra_s": sum(parts.values()) - sum(plain.values()),
            }
            if found is not None:
                row["error"] = float(np.abs(found - reference).max() / np.abs(reference).max())
            rows.append(row)
        return rows

    def _network(self) -> tuple[rv.Network, rv.Population]:
        net, cells = cells_in_space(self._name, self._cells)
        self._compartments = cells.compartment_count
        return net, cells

    def _run(self, net: rv.Network) -> tuple[rv.Simulation, dict[str, float]]:
        begin = time.perf_counter()
        sim = rv.Simulation(net, threads=self._threads, progress=False)
        built = time.perf_counter()
        sim.run(self._duration)
        return sim, {"build": built - begin, "run": time.perf_counter() - built}

    def _plain(self) -> tuple[dict[str, float], None]:
        net, _ = self._network()
        return self._run(net)[1], None

    def _recorded(self, method: Any) -> tuple[dict[str, float], Floats]:
        net, cells = self._network()
        with _large_recordings():
            recorder = net.record_extracellular(
                self._contacts, self._interval, cells=cells, sigma=_SIGMA, unit="um", method=method
            )
        sim, parts = self._run(net)
        self._chosen[method] = recorder.method
        begin = time.perf_counter()
        potentials = sim.extracellular(recorder).potentials
        return {**parts, "take": time.perf_counter() - begin}, potentials

    def _with_lfpykit(self) -> tuple[dict[str, float], Floats]:
        net, cells = self._network()
        with _large_recordings():
            recorder = net.record_compartments(cells, "I_m", self._interval)
        check_room("the matrix of LFPykit", 24 * self._compartments * len(self._contacts), "take fewer contacts")
        sim, parts = self._run(net)
        begin = time.perf_counter()
        currents = sim.state(recorder)["I_m"]
        taken = time.perf_counter()
        model = self._lfpykit.LineSourcePotential(cells.cell_geometry(), *self._contacts.T, sigma=_SIGMA)
        matrix = model.get_transformation_matrix()
        computed = time.perf_counter()
        # nA
        potentials = np.ascontiguousarray((matrix @ (1e-3 * currents.T)).T)
        after = {"take": taken - begin, "matrix": computed - taken, "product": time.perf_counter() - computed}
        return {**parts, **after}, potentials


@contextlib.contextmanager
def _large_recordings() -> Iterator[None]:
    """Leave out the warning of what a second of recording takes: runs last milliseconds, and the remedies are calls."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeRecordingWarning)
        yield


def _medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def _show(console: Console, rows: Sequence[Row]) -> None:
    for network in dict.fromkeys(row["network"] for row in rows):
        shown = [row for row in rows if row["network"] == network]
        first = shown[0]
        console.print(
            f"\n[bold]{network}[/]: {first['cells']:,} cells, {first['compartments']:,} compartments, "
            f"{first['samples']:,} samples; seconds\n",
            soft_wrap=True,
        )
        console.print(Padding(_table(shown), (0, 0, 0, 2)))


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    parts = ("build", "run", "take", "matrix", "product")
    for name in ("contacts", "with", *parts, "extra", "LFPykit / extra", "error"):
        justify: Literal["left", "right"] = "left" if name == "with" else "right"
        table.add_column(name, justify=justify, style="bold" if name.startswith("LFPykit") else "", no_wrap=True)
    peers = {row["contacts"]: row["extra_s"] for row in rows if row["contestant"] == "lfpykit"}
    for row in rows:
        is_plain, is_peer = row["contestant"] == "plain", row["contestant"] == "lfpykit"
        ratio = peers[row["contacts"]] / row["extra_s"] if row["extra_s"] > 0.0 else np.inf
        table.add_row(
            f"{row['contacts']:,}",
            f"auto: {row['method']}" if row["contestant"] == "auto" else row["contestant"],
            *(f"{row['seconds'][part]:.3g}" if part in row["seconds"] else "" for part in parts),
            "" if is_plain else f"{row['extra_s']:.3g}",
            "" if is_plain or is_peer else f"{ratio:.3g}",
            f"{row['error']:.1e}" if "error" in row and not is_peer else "",
        )
    return table
