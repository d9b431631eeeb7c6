"""Checks of the available memory before an array is allocated: the system kills a process that takes too much."""

from __future__ import annotations

from ranvier import _core
from ranvier.errors import InsufficientMemoryError

__all__ = ["bytes_text", "check_room"]

# For fewer bytes than this, asking the system takes longer than making the array.
_LEAST = 16 << 20


def bytes_text(size: int) -> str:
    """Return a number of bytes, and the same in the unit in which it is easiest to read."""
    for power, unit in ((18, "EB"), (15, "PB"), (12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            return f"{size} bytes ({size / 10**power:.1f} {unit})"
    return f"{size} bytes"


def check_room(what: str, size: int, remedy: str) -> None:
    """Check that this process can allocate `size` more bytes.

    Parameters
    ----------
    what
        Purpose of the bytes, as a name in error messages.
    size
        Number of bytes.
    remedy
        Remedy of the error when fewer bytes are available.

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
            bytes_text(size),
            f"there are {bytes_text(available)} available",
            remedy,
        )
