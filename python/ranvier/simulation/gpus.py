"""The GPUs of this machine."""

from __future__ import annotations

from dataclasses import dataclass

from ranvier import _core

__all__ = ["Gpu", "find_gpu"]


@dataclass(frozen=True)
class Gpu:
    """A GPU of this machine.

    Attributes
    ----------
    name
        Its name.
    multiprocessors
        Their number: a simulation has as many blocks of threads.
    memory, free
        Bytes of its memory, and those that are free now.
    """

    name: str
    multiprocessors: int
    memory: int
    free: int


def find_gpu(device: str) -> Gpu:
    """Return the GPU of a name: ``"cuda"``, the first one, or ``"cuda:1"``.

    Raises
    ------
    DeviceError
        Without a driver of NVIDIA, or this GPU.
    """
    return Gpu(*_core.describe_gpu(device))
