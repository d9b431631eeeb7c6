"""The measurements that are written in C++."""

from __future__ import annotations

import importlib
from typing import Any

from ranvier.errors import MissingPackageError

__all__ = ["measurements"]


def measurements() -> Any:
    """Return the extension module with measurements.

    Raises
    ------
    MissingPackageError
        When it has not been built.
    """
    try:
        return importlib.import_module("ranvier_benchmarks._measurements")
    except ImportError as error:
        raise MissingPackageError(
            "module ranvier_benchmarks._measurements",
            bound="it is compiled with the core, and is not there",
            remedy="make setup, in Ranvier's sources",
        ) from error
