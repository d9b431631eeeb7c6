"""Starting further processes of this Python."""

from __future__ import annotations

import sys

__all__ = ["python_command"]


def python_command(*arguments: str) -> list[str]:
    """Return a command that starts this Python with a module (``-m``) or a program (``-c``) and its arguments.

    By default, Python searches the current folder first for imported modules, and would run a ``numpy.py`` that happens
    to be there.
    """
    return [sys.executable, "-P", *arguments]
