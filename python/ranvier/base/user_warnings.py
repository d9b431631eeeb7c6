"""Warnings that point to the line of the user's program."""

from __future__ import annotations

import inspect
import warnings

__all__ = ["warn_user"]


def warn_user(warning: Warning) -> None:
    """Issue a warning at the innermost call outside this package."""
    level = 1
    frame = inspect.currentframe()
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith("ranvier."):
        frame = frame.f_back
        level += 1
    # This function is level 1.
    warnings.warn(warning, stacklevel=level)
