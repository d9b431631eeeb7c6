"""Finds NVRTC, the compiler of kernels for GPUs, in NVIDIA's wheels."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

__all__ = ["cuda_compilers"]

OLDEST_CUDA = 12
"""Oldest major version of CUDA whose compiler knows C++20."""


def cuda_compilers() -> list[Path]:
    """Return the libraries of NVRTC that wheels have installed, the newest version of CUDA first.

    Ranvier takes the first one that the driver is new enough for. Without a wheel, the system may have the library.
    """
    found: dict[Path, int] = {}
    # A namespace, which the wheels of NVIDIA share: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib.
    package = importlib.util.find_spec("nvidia")
    for folder in (package and package.submodule_search_locations) or ():
        for path in Path(folder).glob("*/lib/libnvrtc.so.*"):
            version = re.fullmatch(r"libnvrtc\.so\.(\d+)", path.name)
            if version and int(version[1]) >= OLDEST_CUDA:
                found[path] = int(version[1])
    return sorted(found, key=lambda path: (-found[path], path))
