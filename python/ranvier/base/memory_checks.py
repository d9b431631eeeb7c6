"""Checks, before an array is made, that there is memory for it: the system kills a process that takes too much."""

from __future__ import annotations

from ranvier import _core
from ranvier.errors import InsufficientMemoryError

__all__ = ["check_room"]

# For fewer bytes than this, asking the system takes longer than making the array.
_LEAST = 16 << 20


def check_room(what: str, size: int, remedy: str) -> None:
    """Check that this process can allocate `size` more bytes.

    Parameters
    ----------
    what
        What the bytes are for; error messages use this name.
    size
        Number of bytes.
    remedy
        What the user can do when there are fewer.

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
