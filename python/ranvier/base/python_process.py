"""How further processes of this Python are started."""

from __future__ import annotations

import sys

__all__ = ["python_command"]


def python_command(*arguments: str) -> list[str]:
    """Return a command that starts this Python with a module (``-m``) or a program (``-c``) and its arguments.

    By itself Python would look for what these import in the folder where the user stands first, and carry out a
    ``numpy.py`` that happens to lie there.
    """
    return [sys.executable, "-P", *arguments]
