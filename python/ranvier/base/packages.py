"""Optional packages, which extras of this package install; they are imported on demand."""

from __future__ import annotations

import importlib
from typing import Any

from ranvier.errors import MissingPackageError

__all__ = ["package"]


def package(name: str, function: str, extra: str = "") -> Any:
    """Return an optional package, or raise an error that names the extra that installs it.

    Raises
    ------
    MissingPackageError
        When it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        whole = name.partition(".")[0]
        raise MissingPackageError(
            f"package {whole}", bound=f"{function}() needs it", remedy=f"pip install 'ranvier[{extra or whole}]'"
        ) from error
