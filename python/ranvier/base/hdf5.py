"""h5py, imported with the first file: most processes of a large run open no file, and start faster without it."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["h5py"]


class _Deferred:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


h5py = _Deferred("h5py")
