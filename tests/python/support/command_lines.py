"""Carries out command lines of `ranvier` in this process, for tests."""

from __future__ import annotations

import contextlib
import io
import subprocess
from pathlib import Path

from ranvier.command_line import main

__all__ = ["fail", "ranvier", "run"]


def ranvier(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Carry out a command line in a folder, without the time that a process takes to start."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder or Path.cwd()), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    return subprocess.CompletedProcess(arguments, status, output.getvalue(), errors.getvalue())


def run(*arguments: str | Path, folder: Path | None = None) -> str:
    """Carry out a command line without an error; return what it prints."""
    done = ranvier(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def fail(*arguments: str | Path, status: int = 2, folder: Path | None = None, lines: int | None = 1) -> str:
    """Carry out a command line that ends with an error; return its message, which has this many lines."""
    done = ranvier(*arguments, folder=folder)
    assert done.returncode == status
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert lines is None or len(done.stderr.strip().splitlines()) == lines, done.stderr
    assert done.stderr.startswith("ranvier: error: ")
    return done.stderr
