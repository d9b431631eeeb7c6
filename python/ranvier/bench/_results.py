"""The JSON file of a benchmark, written anew whenever something has been measured, so that nothing measured is lost."""

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
    """Where results go, if anywhere.

    Parameters
    ----------
    path
        The file; None: there is none.
    head
        What is known before anything is measured.
    """

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        self._path = path
        self._head = dict(head)

    def update(self, measured: Mapping[str, Any]) -> None:
        """Write what has been measured so far; ``"complete"`` tells readers that more is to come.

        What is no ordinary file, such as a pipe, gets everything at the end only.
        """
        if self._path is not None and self._is_ordinary():
            self._write(measured, complete=False)

    def finish(self, measured: Mapping[str, Any], console: Console) -> None:
        """Write all that was measured, and tell where it is."""
        if self._path is None:
            return
        self._write(measured, complete=True)
        console.print(f"\n  All that was measured is in {self._path}", style="dim", soft_wrap=True)

    def _is_ordinary(self) -> bool:
        assert self._path is not None
        try:
            # Also what a link leads to; the files that standard output may go to are no place for half a text.
            found = self._path.stat()
        except FileNotFoundError:
            return True
        return stat.S_ISREG(found.st_mode) and not str(self._path.absolute()).startswith(("/dev/", "/proc/"))

    def _write(self, measured: Mapping[str, Any], *, complete: bool) -> None:
        assert self._path is not None
        write_text(self._path, json.dumps({**self._head, "complete": complete, **measured}, indent=1) + "\n")
