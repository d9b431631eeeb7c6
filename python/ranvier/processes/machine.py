"""What a process can tell of itself and of the machine it runs on."""

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
    """Return the most memory that this process has had resident, in bytes.

    From VmHWM: what getrusage tells starts with the memory of the process that started this one.
    """
    return _kibibytes(Path("/proc/self/status"), "VmHWM") * 1024


def resident_bytes() -> int:
    """Return the bytes of memory that this process has resident now."""
    return _kibibytes(Path("/proc/self/status"), "VmRSS") * 1024


def total_memory() -> int:
    """Return the bytes of memory that the machine has."""
    return _kibibytes(Path("/proc/meminfo"), "MemTotal") * 1024


def free_memory_of_node(node: int) -> int | None:
    """Return the bytes of a NUMA node, by the system's number of it, that nobody uses; None where this is not told."""
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
    """Return the processor's name for people."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _kibibytes(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
