"""Checks that there is memory for an array before it is made: the system ends a process that takes too much."""

from __future__ import annotations

from ranvier import _core
from ranvier.errors import InsufficientMemoryError

__all__ = ["check_room"]

# Asking the system takes longer than making an array of so many bytes.
_LEAST = 16 << 20


def check_room(what: str, size: int, remedy: str) -> None:
    """Make sure that this process may take so many bytes more.

    Parameters
    ----------
    what
        What they are for; error messages call it that.
    size
        Number of bytes.
    remedy
        What to do where there are fewer.

    Raises
    ------
    InsufficientMemoryError
        When there are fewer.
    """
    if size < _LEAST:
        return
    available = _core.available_memory()
    if size > available:
        raise InsufficientMemoryError(
            f"memory for {what}",
            f"{size} bytes ({size / 1e9:.1f} GB)",
            f"there are {available} bytes ({available / 1e9:.1f} GB) available",
            remedy,
        )
