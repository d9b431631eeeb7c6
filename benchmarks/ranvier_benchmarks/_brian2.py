"""The Python that Brian2 is installed for, which need not be that of Ranvier: it needs an older NumPy than others."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from ranvier.base.python_process import python_command
from ranvier.errors import StateError, ValueOutOfBoundsError

__all__ = ["add_brian2_python", "python_of_brian2", "refuse_brian2_python"]


def add_brian2_python(parser: argparse.ArgumentParser) -> None:
    """Declare ``--brian2-python``."""
    parser.add_argument(
        "--brian2-python",
        type=Path,
        metavar="FILE",
        help="the Python that Brian2 is installed for (default: this one)",
    )


def refuse_brian2_python(given: Path | None) -> None:
    """Check that no Python was given, where Brian2 is not compared with.

    Raises
    ------
    ValueOutOfBoundsError
        When one was given.
    """
    if given is not None:
        raise ValueOutOfBoundsError(
            "--brian2-python", f"'{given}'", "Brian2 is not among the programs to compare with", "add --against brian2"
        )


def python_of_brian2(given: Path | None) -> tuple[str, ...]:
    """Return the command that starts the Python of Brian2.

    Parameters
    ----------
    given
        Its file, or a name on the PATH; None: the Python of this process.

    Raises
    ------
    StateError
        When it cannot be started, or cannot import Brian2.
    """
    python = python_command() if given is None else [shutil.which(given) or str(given), "-I"]
    try:
        found = subprocess.run([*python, "-c", "import brian2"], capture_output=True, text=True, check=False)
        complaint = found.stderr.strip().rpartition("\n")[2] if found.returncode != 0 else ""
    except OSError as error:
        complaint = str(error)
    if complaint:
        raise StateError(
            "Brian2",
            bound=f"{given or python[0]} cannot import it: {complaint}",
            remedy="pip install brian2 in a separate virtual environment, and give its Python as --brian2-python",
        )
    return tuple(python)
