"""Space on a disk, taken before a library writes to it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["reserve"]

# Largest space that HDF5 itself needs in addition to the chunks when a file grows, in bytes and as a fraction of them.
_OVERHEAD_BYTES = 1 << 17
_OVERHEAD = 1.0 / 64.0


def reserve(path: Path, size: int) -> None:
    """Make sure that an HDF5 file can grow by `size` bytes.

    If a write fails inside HDF5, for example on a full disk, the library is left in a state in which it later crashes.
    So the space is allocated before; HDF5 releases unused space when it closes a file that was as large when it was
    opened.
    """
    with path.open("r+b") as file:
        now = file.seek(0, os.SEEK_END)
        try:
            os.posix_fallocate(file.fileno(), now, _OVERHEAD_BYTES + size + int(size * _OVERHEAD))
        except OSError:
            file.truncate(now)
            raise
