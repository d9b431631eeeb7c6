"""Information about a process and about the machine it runs on."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from ranvier import _core

__all__ = [
    "free_memory_of_node",
    "peak_resident_bytes",
    "processor_name",
    "resident_bytes",
    "total_memory",
    "usable_processors",
]


def peak_resident_bytes() -> int:
    """Return the peak resident memory of this process, in bytes.

    It is read from VmHWM: the value of getrusage includes the memory of the parent process.
    """
    return _kibibytes(Path("/proc/self/status"), "VmHWM") * 1024


def resident_bytes() -> int:
    """Return the present resident memory of this process, in bytes."""
    return _kibibytes(Path("/proc/self/status"), "VmRSS") * 1024


def total_memory() -> int:
    """Return the memory of the machine, in bytes."""
    return _kibibytes(Path("/proc/meminfo"), "MemTotal") * 1024


def free_memory_of_node(node: int) -> int | None:
    """Return the free bytes of a NUMA node, given by the system's number; None if the system does not report them."""
    try:
        text = Path(f"/sys/devices/system/node/node{node}/meminfo").read_text()
    except OSError:
        return None
    found = re.search(r"MemFree:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else None


def usable_processors() -> int:
    """Return the number of processors that this process may use."""
    return _core.usable_processors()


def processor_name() -> str:
    """Return a readable name of the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _kibibytes(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
