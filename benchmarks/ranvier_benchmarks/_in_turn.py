"""Comparison of contestants that run in turn (A B A B), each in a separate process.

Other programs may use the machine, so an absolute time is not a result. The result is the median of the ratios of
consecutive runs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.python_process import python_command
from ranvier.errors import StateError

__all__ = ["Comparison", "Contestant", "Measure", "Report", "run_in_turn", "run_once", "show"]

Report: TypeAlias = dict[str, Any]

_LINES_OF_AN_ERROR = 20
_WIDEST_NAME = 16


@dataclass(frozen=True)
class Contestant:
    """A program with its options.

    Attributes
    ----------
    name
        Name in tables.
    arguments
        Arguments of ``ranvier``; ``--json FILE`` is added, with the file of its report.
    launcher
        Command in front of it that starts several processes.
    environment
        Variables that are added to the environment of this process.
    program
        Command in place of ``ranvier``, which takes ``--json FILE`` as well.
    """

    name: str
    arguments: tuple[str, ...]
    launcher: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measure:
    """A row of the table of results.

    Attributes
    ----------
    label
        Name of the measure, with its unit.
    value
        Function that returns the value from a report; None if the report does not contain it.
    format
        Format of a number.
    compared
        Whether ratios of contestants are shown.
    """

    label: str
    value: Callable[[Report], float | None]
    format: str = ".2f"
    compared: bool = True


@dataclass(frozen=True)
class Comparison:
    """Reports of contestants that ran in turn: `reports[i][k]` is that of contestant i in repetition k."""

    contestants: tuple[Contestant, ...]
    reports: list[list[Report]] = field(default_factory=list)

    def values(self, measure: Measure, contestant: int) -> list[float] | None:
        """Return the value of a measure in each repetition, or None if reports do not contain it."""
        values = [measure.value(report) for report in self.reports[contestant]]
        return [value for value in values if value is not None] if None not in values else None

    def ratios(self, measure: Measure, contestant: int) -> list[float] | None:
        """Return the value of a contestant divided by that of the first one, for each repetition."""
        ours, theirs = self.values(measure, 0), self.values(measure, contestant)
        if contestant == 0 or not measure.compared or ours is None or theirs is None or 0.0 in ours:
            return None
        # While they run in turn, the first ones may be one run ahead.
        return [other / first for other, first in zip(theirs, ours, strict=False)]

    def short_names(self) -> list[str]:
        """Return the names of the contestants, or letters if the names would make a table too wide."""
        names = [contestant.name for contestant in self.contestants]
        if len(names) <= 2 and max(map(len, names)) <= _WIDEST_NAME:
            return names
        return [chr(ord("A") + i) for i in range(len(names))]

    def table(self, measures: Sequence[Measure]) -> Table:
        """Return the medians of all measures, and the medians of the ratios to the first contestant."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("", no_wrap=True)
        names = self.short_names()
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
        for name in names[1:]:
            ratio = "ratio" if len(names) == 2 else f"{name}/{names[0]}"
            table.add_column(ratio, justify="right", style="bold", no_wrap=True)
        for measure in measures:
            values = [self.values(measure, i) for i in range(len(self.contestants))]
            if all(value is None for value in values):
                continue
            ratios = [self.ratios(measure, i) for i in range(1, len(self.contestants))]
            table.add_row(
                measure.label,
                *("" if value is None else format(statistics.median(value), measure.format) for value in values),
                *("" if ratio is None else f"{statistics.median(ratio):.3g}" for ratio in ratios),
            )
        return table

    def as_json(
        self, name: str, options: Mapping[str, Any], measures: Sequence[Measure], machine: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return all results, the ratios, and a description of the machine."""
        contestants = []
        for i, contestant in enumerate(self.contestants):
            compared = {measure.label: self.ratios(measure, i) for measure in measures}
            contestants.append(
                {
                    "name": contestant.name,
                    "arguments": contestant.arguments,
                    "reports": self.reports[i],
                    "ratios": {
                        label: {"median": statistics.median(ratios), "all": ratios}
                        for label, ratios in compared.items()
                        if ratios
                    },
                }
            )
        return {
            "benchmark": name,
            "options": {
                key: value for key, value in options.items() if isinstance(value, bool | int | float | str | list)
            },
            "machine": machine,
            "first": self.contestants[0].name,
            "contestants": contestants,
        }


def run_in_turn(
    contestants: Sequence[Contestant],
    repetitions: int,
    console: Console,
    on_report: Callable[[Comparison], None] = lambda comparison: None,
) -> Comparison:
    """Run all contestants once, then again, and so on; `on_report` is called with the results after each run.

    Raises
    ------
    StateError
        When a run fails; the message has the end of its output.
    """
    comparison = Comparison(tuple(contestants), [[] for _ in contestants])
    for repetition in range(repetitions):
        for contestant, reports in zip(contestants, comparison.reports, strict=True):
            with console.status(f"{contestant.name}, run {repetition + 1} of {repetitions}"):
                reports.append(run_once(contestant))
            on_report(comparison)
    return comparison


def show(console: Console, title: str, comparison: Comparison, measures: Sequence[Measure]) -> None:
    """Print a title and the table."""
    console.print()
    console.print(title, style="bold", soft_wrap=True)
    console.print()
    for short, contestant in zip(comparison.short_names(), comparison.contestants, strict=True):
        if short != contestant.name:
            console.print(f"  [bold]{short}[/]  {contestant.name}", soft_wrap=True)
    console.print(Padding(comparison.table(measures), (0, 0, 0, 2)))


def run_once(contestant: Contestant) -> Report:
    """Run a contestant and return its report.

    Raises
    ------
    StateError
        When the run fails; the message has the end of its output.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        program = contestant.program or python_command("-m", "ranvier.command_line")
        command = [*contestant.launcher, *program, *contestant.arguments, "--json", str(path)]
        environment = {**os.environ, **contestant.environment, "COLUMNS": "120"}
        # Its output goes to a file: a full pipe would stop it.
        with Path(folder, "output").open("w+", encoding="utf-8", errors="replace") as output:
            status = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                check=False,
            ).returncode
            output.seek(0)
            lines = output.read().splitlines()
        if status != 0 or not path.exists():
            raise StateError(
                contestant.name,
                bound="\n".join([f"it ended with status {status}:", *lines[-_LINES_OF_AN_ERROR:]]),
            )
        report: Report = json.loads(path.read_text(encoding="utf-8"))
        return report
