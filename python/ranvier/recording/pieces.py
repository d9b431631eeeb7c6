"""What both formats of recordings have in common: pieces, each of which tells how far the recording reaches with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from ranvier.errors import FileError

__all__ = ["CORRUPT", "Columns", "Cut", "Metadata", "Recorded", "damaged", "not_ours"]

Metadata: TypeAlias = dict[str, Any]
Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]

CORRUPT = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What Python and its libraries raise over a file that does not hold what it should."""


@dataclass(frozen=True)
class Cut:
    """The end of a recording is missing: it was being written when the program ended or the disk was full.

    Attributes
    ----------
    end
        The last step up to which all is there.
    """

    end: int


@dataclass(frozen=True)
class Recorded:
    """What is in a file: what describes it, with the step ``"end"`` that it reaches; its columns; what is missing."""

    metadata: Metadata
    columns: dict[str, npt.NDArray[Any]]
    cut: Cut | None


def damaged(path: Path, end: int | None) -> FileError:
    """Return the error that something in a file is not what was written, after the step up to which it is."""
    where = "in the lines that describe it" if end is None else f"after step {end}"
    return FileError(
        f"file {path}",
        bound=f"it is damaged or was changed {where}: its check is not that of what it holds",
        remedy="get it anew from where it was copied, or simulate again",
    )


def not_ours(path: Path) -> FileError:
    """Return the error that a file is another one than that which a recorder wrote."""
    return FileError(
        f"file {path}",
        bound="another simulation or program has replaced or changed it",
        remedy="give each simulation files of its own, and leave them alone until it has ended",
    )
