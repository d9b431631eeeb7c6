"""Error and time of the fast multipole method, against the direct sum and against FMM3D.

Strengths are normal, positions uniform in a cube with as many targets. A line piece is as long as the mean distance of
points, N^(-1/3), and has a radius of 1 % of that. Errors are root mean squares over some targets, relative to that of
the potentials there, against the sum over all sources in double precision. Seconds are medians of the evaluations
after the first, without the set-up of tree, lists and tasks, which has a column of its own. All numbers of threads have
to give the same bits.

orders     each order with the capacity of boxes that the accuracy it reaches would choose
capacity   one order with other capacities: more pairs, or more expansions
accuracy   what is chosen for accuracies, and what is reached
growth     the time from one number of points to ten times as many, relative to linear growth
column     line pieces of cells in a cortical column, and their potentials at contacts: samples of time at once
against    FMM3D at its precisions, and Ranvier at the error that was reached there. FMM3D makes its tree in each call,
           so the set-up of Ranvier stands beside it. FMM3D has points only: a line piece becomes points at the nodes of
           Gauss and Legendre, and the error is that against line pieces.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import FileError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier.processes import machine
from ranvier_benchmarks._in_turn import Contestant, run_once
from ranvier_benchmarks._native import measurements
from ranvier_benchmarks._options import parse_peers
from ranvier_benchmarks._results import ResultsFile

__all__ = ["add_arguments", "main"]

Floats: TypeAlias = npt.NDArray[np.float64]
Row: TypeAlias = dict[str, Any]

_KINDS = ("points", "lines")
_MOST_POINTS = 10_000_000
_CHECKED_TARGETS = 200
_ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_PEER_PRECISIONS = ("1e-2", "1e-3", "1e-5")
_NODES = 4
_PIECES_OF_CELL = 50
_SAMPLES = 16
_FMM3D = Path(__file__).with_name("_fmm3d_points.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--points", type=int, default=100_000, metavar="N", help="sources, and targets (default: %(default)s)"
    )
    parser.add_argument(
        "--kinds", default="points,lines", metavar="NAME,...", help="points, lines or both (default: %(default)s)"
    )
    parser.add_argument("--orders", default="2,4,6,8,10", metavar="N,...", help="orders (default: %(default)s)")
    parser.add_argument(
        "--capacities", default="30,100,300", metavar="N,...", help="capacities of boxes (default: %(default)s)"
    )
    parser.add_argument("--threads", metavar="N,...", help="numbers of threads (default: 1 and all processors)")
    parser.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="measured evaluations (default: %(default)s)"
    )
    parser.add_argument("--growth", action="store_true", help="also measure ten times as many points")
    parser.add_argument("--against", default="", metavar="NAME", help="program to compare with: fmm3d")
    parser.add_argument(
        "--fmm3d-python",
        type=Path,
        metavar="FILE",
        help="Python that fmm3dpy is installed for (pip install fmm3dpy in a separate virtual environment)",
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all, and print the tables."""
    points = whole_number("--points", arguments.points, 100, _MOST_POINTS)
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 10_000)
    orders = _numbers("--orders", arguments.orders, 0, 20)
    capacities = _numbers("--capacities", arguments.capacities, 1, 1_000_000)
    threads = _threads(arguments.threads)
    kinds = list(dict.fromkeys(part.strip() for part in arguments.kinds.split(",")))
    for kind in kinds:
        if kind not in _KINDS:
            raise UnknownNameError("--kinds", repr(kind), f"there are {' and '.join(_KINDS)}")
    peers = parse_peers(arguments.against, ["fmm3d"])
    if peers and arguments.fmm3d_python is None:
        raise StateError(
            "FMM3D", bound="its Python is not known", remedy="give it with --fmm3d-python: it needs another NumPy"
        )
    if not peers and arguments.fmm3d_python is not None:
        raise ValueOutOfBoundsError(
            "--fmm3d-python",
            f"'{arguments.fmm3d_python}'",
            "FMM3D is not among the programs to compare with",
            "add --against fmm3d",
        )
    if peers and shutil.which(arguments.fmm3d_python) is None:
        raise FileError(
            f"file {arguments.fmm3d_python}",
            bound="it is no program that can be started",
            remedy="give the Python of --fmm3d-python: .../bin/python",
        )
    most = points * (10 if arguments.growth else 1)
    check_room("points, trees and expansions", 1500 * most, "give fewer points")
    if arguments.json is not None:
        check_writable(arguments.json)
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "fmm",
            "options": {
                "points": points,
                "kinds": kinds,
                "orders": orders,
                "capacities": capacities,
                "threads": threads,
                "repetitions": repetitions,
                "growth": arguments.growth,
                "against": peers,
            },
            "machine": info.gather(),
        },
    )
    results: dict[str, list[Row]] = {}

    def measured(table: str, row: Row) -> None:
        results.setdefault(table, []).append(row)
        file.update(results)

    with console.status("") as status:
        for kind in kinds:
            status.update(f"{points:,} {kind}")
            measure = _Measure(_uniform(kind, points), threads, repetitions)
            for order in orders:
                status.update(f"{points:,} {kind}, order {order}")
                precision = "float32" if order <= 8 else "float64"
                measured("orders", measure.solve(order, _capacity_of(order, kind, points), precision))
            middle = orders[len(orders) // 2]
            for capacity in capacities:
                status.update(f"{points:,} {kind}, capacity {capacity}")
                measured("capacity", measure.solve(middle, capacity, "float32" if middle <= 8 else "float64"))
            for accuracy in _ACCURACIES:
                status.update(f"{points:,} {kind}, accuracy {accuracy:g}")
                measured("accuracy", {"accuracy": accuracy, **measure.choose(accuracy)})
            if peers:
                status.update(f"{points:,} {kind}, FMM3D")
                for row in _against_fmm3d(measure, arguments.fmm3d_python):
                    measured("against", row)
            if arguments.growth:
                status.update(f"{most:,} {kind}")
                larger = _Measure(_uniform(kind, most), threads, repetitions)
                measured("growth", _growth(measure.choose(1e-3), larger.choose(1e-3)))
        status.update("column")
        for contacts in (100, 1000, 10_000):
            measured("column", _column(points, contacts, threads, repetitions))
    _show(console, results, threads)
    file.finish(results, console)
    return 0


# ---- what is asked for -----------------------------------------------------------------------------------------------


def _numbers(option: str, text: str, least: int, most: int) -> list[int]:
    numbers = set()
    for part in text.split(","):
        if not part.strip().isdecimal() or not least <= int(part) <= most:
            raise ValueOutOfBoundsError(
                option, f"'{text}'", f"it must be numbers from {least} to {most} with commas between"
            )
        numbers.add(int(part))
    return sorted(numbers)


def _threads(text: str | None) -> list[int]:
    if text is None:
        return sorted({1, machine.usable_processors()})
    return _numbers("--threads", text, 1, 1024)


def _capacity_of(order: int, kind: str, points: int) -> int:
    """Return the capacity that is chosen for the coarsest accuracy with at least this order."""
    for accuracy in np.geomspace(0.1, 1e-7, 100):
        chosen = measurements().choose_field_options(float(accuracy), points, points, kind == "points")
        if chosen[0] >= order:
            return int(chosen[1])
    return int(chosen[1])


# ---- problems --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    kind: str
    pieces: Floats
    """Rows of begin, end and radius."""
    targets: Floats
    strengths: Floats


def _uniform(kind: str, count: int) -> _Problem:
    draws = np.random.default_rng(37)
    begin = draws.random((count, 3))
    radius = np.zeros((count, 1))
    end = begin
    if kind == "lines":
        length = count ** (-1.0 / 3.0)
        direction = draws.standard_normal((count, 3))
        end = begin + length * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        radius += 0.01 * length
    return _Problem(kind, np.hstack([begin, end, radius]), draws.random((count, 3)), draws.standard_normal(count))


def _column_problem(pieces: int, contacts: int) -> _Problem:
    """Return cells of connected pieces in a column of 0.5 mm times 1.5 mm, and contacts on shanks in it; lengths in mm.

    The strengths of a cell sum up to 0, as its membrane currents do.
    """
    draws = np.random.default_rng(38)
    cells = max(1, pieces // _PIECES_OF_CELL)
    radius, angle = 0.25 * np.sqrt(draws.random(cells)), 2.0 * np.pi * draws.random(cells)
    soma = np.stack([radius * np.cos(angle), radius * np.sin(angle), 1.5 * draws.random(cells)], axis=1)
    step = draws.standard_normal((cells, _PIECES_OF_CELL, 3))
    step *= 0.02 / np.linalg.norm(step, axis=2, keepdims=True)
    # Five branches of ten pieces from the soma.
    branches = step.reshape(cells, 5, -1, 3).cumsum(axis=2) + soma[:, None, None, :]
    begin = np.concatenate([np.broadcast_to(soma[:, None, None, :], branches[:, :, :1].shape), branches[:, :, :-1]], 2)
    count = cells * _PIECES_OF_CELL
    strengths = draws.standard_normal((cells, _PIECES_OF_CELL, _SAMPLES))
    strengths -= strengths.mean(axis=1, keepdims=True)
    shanks = -(-contacts // 1000)
    number = np.arange(contacts)
    place = np.stack(
        [
            0.3 * ((number // 1000) / max(1, shanks - 1) - 0.5) * (shanks > 1),
            np.zeros(contacts),
            1.5 * (number % 1000 + 0.5) / min(contacts, 1000),
        ],
        axis=1,
    )
    pieces_array = np.hstack([begin.reshape(count, 3), branches.reshape(count, 3), np.full((count, 1), 5e-4)])
    return _Problem("lines", pieces_array, place, strengths.reshape(-1))


# ---- measuring -------------------------------------------------------------------------------------------------------


class _Measure:
    """Measurements of a problem, whose direct sum at some targets is computed once."""

    def __init__(self, problem: _Problem, threads: Sequence[int], repetitions: int, samples: int = 1) -> None:
        self.problem = problem
        self.threads = threads
        self._repetitions = repetitions
        self._samples = samples
        targets = len(problem.targets)
        self._checked = np.unique(np.linspace(0, targets - 1, min(_CHECKED_TARGETS, targets)).astype(np.int64))
        self._exact = measurements().sum_fields_directly(
            problem.pieces.ravel(), problem.targets[self._checked].ravel(), problem.strengths, samples
        )

    def error(self, potentials: Floats) -> float:
        """Return the error of potentials at all targets."""
        at = potentials.reshape(len(self.problem.targets), self._samples)[self._checked].ravel()
        return float(np.linalg.norm(at - self._exact) / np.linalg.norm(self._exact))

    def solve(self, order: int, capacity: int, precision: str) -> Row:
        """Return times for all numbers of threads, whose potentials have to be the same."""
        seconds, setups, first = {}, {}, None
        for threads in self.threads:
            places = _core.place_threads(_core.Topology.detect(), threads, "compact")
            run, potentials = measurements().measure_fields(
                self.problem.pieces.ravel(),
                self.problem.targets.ravel(),
                self.problem.strengths,
                self._samples,
                order,
                capacity,
                precision,
                "dense",
                places,
                self._repetitions,
            )
            if first is not None and not np.array_equal(first, potentials):
                raise StateError("potentials", f"{threads} threads", "they must be those of one thread, bit for bit")
            first = potentials
            seconds[str(threads)] = statistics.median(run["seconds"])
            setups[str(threads)] = run["setup_s"]
        assert first is not None
        fastest = min(seconds.values())
        return {
            "kind": self.problem.kind,
            "points": len(self.problem.targets),
            "order": order,
            "capacity": capacity,
            "precision": precision,
            "seconds": seconds,
            "setup_s": setups,
            "error": self.error(first),
            "operations_per_second": run["counts"]["operations"] * self._samples / fastest,
            "counts": run["counts"],
        }

    def choose(self, accuracy: float) -> Row:
        """Solve with what is chosen for an accuracy."""
        chosen = measurements().choose_field_options(
            accuracy, len(self.problem.pieces), len(self.problem.targets), self.problem.kind == "points"
        )
        return self.solve(*chosen)


def _growth(small: Row, large: Row) -> Row:
    """Return the ratio of the time to that of linear growth."""
    factor = large["points"] / small["points"]
    ratios = {threads: large["seconds"][threads] / (factor * small["seconds"][threads]) for threads in small["seconds"]}
    return {**large, "from_points": small["points"], "time_to_linear": ratios}


def _column(pieces: int, contacts: int, threads: Sequence[int], repetitions: int) -> Row:
    problem = _column_problem(pieces, contacts)
    measure = _Measure(problem, threads, repetitions, _SAMPLES)
    row = measure.choose(1e-3)
    return {**row, "pieces": len(problem.pieces), "samples": _SAMPLES}


def _against_fmm3d(measure: _Measure, python: Path) -> list[Row]:
    """Run FMM3D at its precisions, and Ranvier at the accuracy that it reached."""
    problem = measure.problem
    nodes, weights = (np.array([0.5]), np.array([1.0])) if problem.kind == "points" else _gauss_legendre(_NODES)
    begin, end = problem.pieces[:, None, :3], problem.pieces[:, None, 3:6]
    sources = (begin + nodes[:, None] * (end - begin)).reshape(-1, 3)
    strengths = (problem.strengths[:, None] * weights).reshape(-1)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "problem.npz")
        np.savez(path, sources=sources.T, targets=problem.targets.T, strengths=strengths)
        for threads in measure.threads:
            arguments = (f"--input={path}", f"--precisions={','.join(_PEER_PRECISIONS)}", "--repetitions=2")
            environment = {"OMP_NUM_THREADS": str(threads)}
            report = run_once(
                Contestant("FMM3D", arguments, environment=environment, program=(str(python), "-I", str(_FMM3D)))
            )
            for i, run in enumerate(report["runs"]):
                if i == len(rows):
                    potentials = np.load(path.with_name(f"potentials_{_PEER_PRECISIONS[i]}.npy"))
                    rows.append(
                        {
                            "kind": problem.kind,
                            "points": len(problem.targets),
                            "nodes_of_piece": len(nodes),
                            "version": report["version"],
                            "precision_of_fmm3d": run["precision"],
                            "error_of_fmm3d": measure.error(potentials),
                            "seconds_of_fmm3d": {},
                        }
                    )
                rows[i]["seconds_of_fmm3d"][str(threads)] = statistics.median(run["seconds"])
    for row in rows:
        row["ranvier"] = measure.choose(min(0.1, max(1e-7, row["error_of_fmm3d"])))
    return rows


def _gauss_legendre(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (nodes + 1.0), 0.5 * weights


# ---- tables ----------------------------------------------------------------------------------------------------------


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _seconds(seconds: Mapping[str, float]) -> list[str]:
    return [f"{value:.3g}" for value in seconds.values()]


def _cells(row: Row) -> list[str]:
    """Return order, capacity, precision, error, seconds and rates of a row."""
    fastest = min(row["seconds"].values())
    return [
        str(row["order"]),
        str(row["capacity"]),
        row["precision"].removeprefix("float"),
        f"{row['error']:.1e}",
        *_seconds(row["seconds"]),
        f"{min(row['setup_s'].values()):.3g}",
        f"{row['operations_per_second'] / 1e9:.3g}",
        f"{1e9 * fastest / row['points']:,.0f}",
    ]


def _show(console: Console, results: Mapping[str, Sequence[Row]], threads: Sequence[int]) -> None:
    at = [f"s, {number} thread{'s' if number > 1 else ''}" for number in threads]
    columns = ["order", "capacity", "bits", "error", *at, "set-up (s)", "GFLOP/s", "ns a point"]
    titles = {"orders": "Orders", "capacity": "Capacities", "accuracy": "Chosen by accuracy"}
    for name, title in titles.items():
        lead = ["accuracy"] if name == "accuracy" else []
        table = _table("", "points", *lead, *columns)
        for row in results.get(name, ()):
            first = [f"{row['accuracy']:g}"] if lead else []
            table.add_row(row["kind"], f"{row['points']:,}", *first, *_cells(row))
        _print(console, title, table)
    short = [f"s, {number}" for number in threads]
    table = _table("", "points", "FMM3D at", "error", *short, "Ranvier: error", *short, "set-up (s)", "FMM3D / Ranvier")
    for row in results.get("against", ()):
        ours = row["ranvier"]
        ratios = [row["seconds_of_fmm3d"][key] / ours["seconds"][key] for key in ours["seconds"]]
        table.add_row(
            row["kind"],
            f"{row['points']:,}",
            f"{row['precision_of_fmm3d']:g}",
            f"{row['error_of_fmm3d']:.1e}",
            *_seconds(row["seconds_of_fmm3d"]),
            f"{ours['error']:.1e}",
            *_seconds(ours["seconds"]),
            f"{min(ours['setup_s'].values()):.3g}",
            " ".join(f"{ratio:.3g}" for ratio in ratios),
        )
    if "against" in results:
        _print(console, f"FMM3D {results['against'][0]['version']}", table)
    table = _table("", "points", *at, *(f"time / linear, {number}" for number in threads))
    for row in results.get("growth", ()):
        ratios = [f"{value:.2f}" for value in row["time_to_linear"].values()]
        table.add_row(row["kind"], f"{row['points']:,}", *_seconds(row["seconds"]), *ratios)
    if "growth" in results:
        _print(console, f"Growth from {results['growth'][0]['from_points']:,} at 1e-3", table)
    table = _table("pieces", "contacts", *columns[:4], *(f"ms a sample, {number}" for number in threads), "set-up (s)")
    for row in results.get("column", ()):
        per_sample = [f"{1e3 * value / row['samples']:.3g}" for value in row["seconds"].values()]
        table.add_row(
            f"{row['pieces']:,}",
            f"{row['points']:,}",
            *_cells(row)[:4],
            *per_sample,
            f"{min(row['setup_s'].values()):.3g}",
        )
    _print(console, f"Cells of a column at contacts, {_SAMPLES} samples at once, at 1e-3", table)


def _print(console: Console, title: str, table: Table) -> None:
    if table.row_count > 0:
        console.print(f"\n[bold]{title}[/]", soft_wrap=True)
        console.print(Padding(table, (0, 0, 0, 2)))
