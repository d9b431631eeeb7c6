"""Progress of long work, shown on a terminal or passed to a function of the user."""

from __future__ import annotations

import html
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["ProgressOption", "ProgressReport", "ProgressReporter"]

Phase: TypeAlias = Literal["build", "run"]

# Work that takes less time than this has no line on the terminal.
_SHORTEST_S = 0.5
# Terminals that cannot overwrite a line: each report is a new line.
_DUMB = ("dumb", "unknown")


@dataclass(frozen=True)
class ProgressReport:
    """Progress of a build or a run.

    Attributes
    ----------
    phase
        ``"build"`` or ``"run"``.
    done, total
        Milliseconds of simulated time; both 0 while building.
    elapsed
        Seconds of wall-clock time since the phase began.
    """

    phase: Phase
    done: float
    total: float
    elapsed: float


ProgressOption: TypeAlias = bool | Callable[[ProgressReport], None] | None


class ProgressReporter:
    """Reports one phase while it lasts; a context manager.

    Parameters
    ----------
    option
        True: a line on the terminal, or a bar in a notebook; None: the same, but only in a notebook or if stderr is a
        terminal; False: nothing; a function: it is called. On a terminal that cannot overwrite a line, a new one is
        written whenever the elapsed time has doubled.
    phase, title, total
        Phase, its title on the terminal, and its length in ms.
    """

    def __init__(self, option: ProgressOption, phase: Phase, title: str, total: float = 0.0) -> None:
        self._phase: Phase = phase
        self._title = title
        self._total = total
        self._function = option if callable(option) else None
        self._notebook = _notebook()
        seen = self._notebook is not None or sys.stderr.isatty()
        self._shown = option is True or (option is None and seen)
        self._handle: Any = None
        self._bar: Progress | None = None
        self._begin = time.monotonic()
        self._next_line = 0.0

    @property
    def silent(self) -> bool:
        """Whether progress is not reported at all."""
        return self._function is None and not self._shown

    def update(self, done: float) -> None:
        """Report that `done` ms are done."""
        elapsed = time.monotonic() - self._begin
        if self._function is not None:
            self._function(ProgressReport(self._phase, done, self._total, elapsed))
        if not self._shown or elapsed < _SHORTEST_S:
            return
        if self._notebook is not None:
            self._show_in_notebook(done, elapsed)
            return
        if os.environ.get("TERM", "").lower() in _DUMB:
            self._write_line(done, elapsed)
            return
        if self._bar is None:
            self._bar = self._make_bar()
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done)

    def _write_line(self, done: float, elapsed: float) -> None:
        if elapsed < self._next_line:
            return
        self._next_line = 2.0 * elapsed
        measure = f": {done:.0f} of {self._total:.0f} ms" if self._total else ""
        sys.stderr.write(f"{self._title}{measure}, {elapsed:.1f} s\n")
        sys.stderr.flush()

    def _show_in_notebook(self, done: float, elapsed: float) -> None:
        assert self._notebook is not None
        bar = measure = ""
        if self._total:
            bar = f'<progress value="{done:g}" max="{self._total:g}" style="width:20em"></progress> '
            measure = f"{done:.0f} of {self._total:.0f} ms, "
        content = {"text/html": f"{html.escape(self._title)} {bar}{measure}{elapsed:.1f} s", "text/plain": self._title}
        if self._handle is None:
            self._handle = self._notebook.display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def _make_bar(self) -> Progress:
        # Loading them takes a tenth of the start of Ranvier, and most runs on a cluster have no terminal.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        # If the user asks for progress, show it even if rich finds no terminal.
        console = Console(stderr=True, force_terminal=True)
        columns = [SpinnerColumn(), TextColumn("{task.description}")]
        if self._total:
            measure = TextColumn("{task.completed:.0f} of {task.total:.0f} ms")
            bar = Progress(
                *columns, BarColumn(), measure, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
                console=console, transient=True,
            )  # fmt: skip
        else:
            bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        bar.add_task(self._title, total=self._total or None)
        return bar

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._handle is not None:
            # As on a terminal, nothing remains at the end.
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)
            self._handle = None


def _notebook() -> Any:
    """Return the display module of IPython in a notebook, or None elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.modules["IPython.display"] if hasattr(shell, "kernel") and "IPython.display" in sys.modules else None
