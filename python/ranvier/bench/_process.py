"""What a process knows about itself and its machine."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["peak_resident_bytes", "processor_count"]


def peak_resident_bytes() -> int:
    """Return the most memory that this process has had resident.

    From VmHWM: what getrusage tells starts with the memory of the process that started this one.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
