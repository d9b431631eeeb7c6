"""The JSON file of a benchmark. It is written after each measurement, so that no results are lost."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from ranvier.base.paths import write_text

__all__ = ["ResultsFile"]


class ResultsFile:
    """The file of the results of a benchmark.

    Parameters
    ----------
    path
        The file; None: results are not written.
    head
        Information that is known before the measurements.
    """

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        self._path = path
        self._head = dict(head)

    def update(self, measured: Mapping[str, Any]) -> None:
        """Write the results so far, with ``"complete": false`` for readers.

        A file that is not a regular one, such as a pipe, gets all results at the end only.
        """
        if self._path is not None and self._is_ordinary():
            self._write(measured, complete=False)

    def finish(self, measured: Mapping[str, Any], console: Console | None) -> None:
        """Write all results, and print the name of the file on the console, if there is one."""
        if self._path is None:
            return
        self._write(measured, complete=True)
        if console is not None:
            console.print(f"\n  All results are in {self._path}", style="dim", soft_wrap=True)

    def _is_ordinary(self) -> bool:
        assert self._path is not None
        try:
            # This also follows links. A file that is standard output must not get incomplete texts.
            found = self._path.stat()
        except FileNotFoundError:
            return True
        return stat.S_ISREG(found.st_mode) and not str(self._path.absolute()).startswith(("/dev/", "/proc/"))

    def _write(self, measured: Mapping[str, Any], *, complete: bool) -> None:
        assert self._path is not None
        write_text(self._path, json.dumps({**self._head, "complete": complete, **measured}, indent=1) + "\n")
