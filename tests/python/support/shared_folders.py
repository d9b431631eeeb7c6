"""Folders that are filled once for all processes that run tests side by side."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def filled_once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], object]) -> Path:
    """Return a folder that the first who asks for it fills; all others wait, and must only read it.

    Tests of one module may be run by several processes, each of which would otherwise fill a folder of its own. If
    filling fails, the next one who asks tries it again.
    """
    common = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent
    folder = common / name
    filled = common / f"{name}.filled"
    with (common / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not filled.exists():
            folder.mkdir(exist_ok=True)
            fill(folder)
            filled.touch()
    return folder
