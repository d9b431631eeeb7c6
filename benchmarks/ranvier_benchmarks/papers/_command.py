"""The papers as arguments of the command `ranvier paper`."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.status import Status
from rich.table import Table

from ranvier.base.names import unknown_name
from ranvier.base.paths import check_destinations, read_bounded, save_figure
from ranvier.commands import info
from ranvier.commands.keys import add_settings, parse_settings, shown
from ranvier.errors import FileError, StateError
from ranvier_benchmarks import papers
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks.papers._paper import Measured, Paper, PaperResult

__all__ = ["add_arguments", "known_papers", "main"]

_LARGEST_FILE = 1 << 30
_PRESETS = "the preset for a laptop, or with --full that of the paper"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="name of the paper; without one, all are listed")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--figure", metavar="N", help="figure of the paper to repeat")
    which.add_argument("--table", metavar="N", help="table of the paper to repeat")
    parser.add_argument("--full", action="store_true", help="use the parameters of the paper, not those for a laptop")
    add_settings(
        parser, f"keys of the figure or table, which change {_PRESETS}; without --figure or --table, see --keys"
    )
    parser.add_argument("--keys", action="store_true", help="list the keys of the figure or table, and measure nothing")
    parser.add_argument(
        "--from",
        dest="stored",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="show and draw the results of these files, from one or several machines, and measure nothing",
    )
    parser.add_argument(
        "--mpiexec", type=Path, metavar="PATH", help="default: that of the Python environment, or the first on the PATH"
    )
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="file of all results (default: PAPER_figure_N.json, here)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="file of the figure: png, pdf or svg (default: PAPER_figure_N.png, here)",
    )
    parser.set_defaults(execute=main)


def known_papers() -> Iterator[Paper]:
    """Return the papers, by name."""
    for found in pkgutil.iter_modules(papers.__path__):
        if not found.name.startswith("_"):
            paper: Paper = importlib.import_module(f"{papers.__name__}.{found.name}").PAPER
            yield paper


def main(arguments: argparse.Namespace) -> int:
    """Repeat a figure or table of a paper, or list those that there are."""
    # A pipe has no width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    known = {paper.name: paper for paper in known_papers()}
    if arguments.paper is None:
        _refuse_other_options(arguments, ("figure", "table", "full", "settings", "keys", "stored"), "name a paper")
        _list(console, known.values())
        return 0
    if arguments.paper not in known:
        unknown_name("paper", arguments.paper, list(known))
    paper = known[arguments.paper]
    if arguments.figure is None and arguments.table is None:
        _refuse_other_options(arguments, ("full", "settings", "keys", "stored"), "give --figure or --table")
        _list(console, [paper])
        return 0
    result = (
        paper.find("figure", arguments.figure) if arguments.figure is not None else paper.find("table", arguments.table)
    )
    if arguments.keys:
        _list_keys(console, paper, result)
        return 0
    file_name = f"{paper.name}_{result.kind}_{result.number}"
    plot = None if result.draw is None else arguments.plot or Path(f"{file_name}.png")
    if result.draw is None and arguments.plot is not None:
        raise StateError("--plot", str(arguments.plot), f"{result.name} of {paper.name} is not drawn", "leave it out")
    if arguments.stored:
        _refuse_other_options(arguments, ("full", "settings", "json"), "leave it out: --from measures nothing")
        check_destinations(None, plot)
        measured = [_read(path, paper, result) for path in arguments.stored]
    else:
        measured = [_measure(arguments, console, paper, result, arguments.json or Path(f"{file_name}.json"), plot)]
    for each in measured:
        result.show(each, console)
    if result.show_together is not None:
        result.show_together(measured, console)
    if plot is not None and result.draw is not None:
        save_figure(result.draw(measured), plot)
        console.print(f"  Figure in {plot}", style="dim", soft_wrap=True)
    return 0


def _refuse_other_options(arguments: argparse.Namespace, names: Sequence[str], remedy: str) -> None:
    for name in names:
        if value := getattr(arguments, name):
            option = {"settings": "--set", "stored": "--from"}.get(name, f"--{name}")
            text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            raise StateError(option, text, "it does not go with the other arguments", remedy)


# ---- lists -----------------------------------------------------------------------------------------------------------


def _list(console: Console, listed: Any) -> None:
    for paper in listed:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for _ in range(2):
            table.add_column(no_wrap=True)
        table.add_column()
        for result in paper.results:
            table.add_row(f"--{result.kind} {result.number}", _duration(result.minutes), result.title)
        console.print(f"\n[bold]ranvier paper {paper.name}[/]", soft_wrap=True)
        console.print(paper.citation, style="dim", soft_wrap=True)
        console.print(Padding(table, (0, 0, 0, 2)))
    console.print("\nTimes are those of the presets for a laptop, on two processors.", style="dim", soft_wrap=True)


def _duration(minutes: float) -> str:
    return f"{60.0 * minutes:.0f} s" if minutes < 1.0 else f"{minutes:.0f} min"


def _list_keys(console: Console, paper: Paper, result: PaperResult) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("key", "for a laptop", "paper (--full)"):
        table.add_column(heading)
    of_paper = result.preset(full=True)
    for name, value in result.preset(full=False).items():
        table.add_row(name, shown(value), shown(of_paper[name]) if name in result.full else "")
    console.print(f"\n[bold]{result.name} of {paper.name}[/]: {result.title}", soft_wrap=True)
    console.print(Padding(table, (0, 0, 0, 2)))


# ---- results ---------------------------------------------------------------------------------------------------------


class _Progress:
    def __init__(self, mpiexec: Path | None, status: Status, keep: Callable[[Mapping[str, Any]], None]) -> None:
        self.mpiexec = mpiexec
        self.keep = keep
        self._status = status

    def step(self, text: str) -> None:
        self._status.update(text)


def _measure(
    arguments: argparse.Namespace, console: Console, paper: Paper, result: PaperResult, path: Path, plot: Path | None
) -> Measured:
    values = {**result.preset(full=arguments.full), **_settings(arguments.settings, result)}
    result.check(**values)
    check_destinations(path, plot)
    head = {
        "benchmark": "paper",
        "paper": paper.name,
        "kind": result.kind,
        "number": result.number,
        "options": {"full": arguments.full, **values},
        "machine": info.gather(),
    }
    file = ResultsFile(path, head)
    status: AbstractContextManager[Status] = console.status(result.title)
    with status as shown_status:
        measured = result.measure(_Progress(arguments.mpiexec, shown_status, file.update), **values)
    file.finish(measured, console)
    whole: Measured = json.loads(json.dumps({**head, **measured}))
    return whole


def _settings(settings: Sequence[str], result: PaperResult) -> dict[str, Any]:
    # Before parse_settings, whose error would also list the options of simulations.
    keys = list(result.preset(full=False))
    for setting in settings:
        name, equals, _ = setting.partition("=")
        if equals and name not in keys:
            unknown_name(f"key of {result.name}", name, keys)
    return parse_settings(settings, result.measure)[1]


def _read(path: Path, paper: Paper, result: PaperResult) -> Measured:
    remedy = f"give a file that `ranvier paper {paper.name} --{result.kind} {result.number}` wrote"
    text = read_bounded(path, _LARGEST_FILE, remedy)
    try:
        stored = json.loads(text)
    except ValueError as error:
        raise FileError(f"file {path}", bound=f"it is not JSON ({error})", remedy=remedy) from error
    found = tuple(stored.get(key) for key in ("paper", "kind", "number")) if isinstance(stored, dict) else ()
    allowed = [result.number, *result.same_as]
    if found not in [(paper.name, result.kind, number) for number in allowed]:
        numbers = " or ".join(allowed)
        raise FileError(
            f"file {path}", bound=f"it does not hold {result.kind} {numbers} of {paper.name}", remedy=remedy
        )
    if not stored.get("complete"):
        raise FileError(f"file {path}", bound="the measurement did not finish", remedy="measure again")
    whole: Measured = stored
    return whole
