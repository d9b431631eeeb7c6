"""Common parts of both file formats: a recording has pieces, and each piece has the step up to which it reaches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy.typing as npt

from ranvier.base.paths import file_errors
from ranvier.errors import FileError

__all__ = ["CORRUPT", "MARKS_END", "Columns", "Cut", "Metadata", "Recorded", "damaged", "not_ours", "sync"]

Metadata: TypeAlias = dict[str, Any]
Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]

CORRUPT = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""Errors that Python and its libraries raise for a file with unexpected content."""


def sync(path: Path) -> None:
    """Make sure that a file is on the disk."""
    with file_errors(path, "written"), path.open("rb") as file:
        os.fsync(file.fileno())


@dataclass(frozen=True)
class Cut:
    """The end of a recording is missing: the program was killed, or the disk was full, during a run.

    Attributes
    ----------
    end
        The last step up to which the recording is complete.
    """

    end: int


MARKS_END = "marks_end"
"""Key of a description: the file ends with a mark while no run writes to it. Earlier versions wrote no marks."""


@dataclass(frozen=True)
class Recorded:
    """Content of a file: its description, with its last step as ``"end"``; its columns; whether its end is missing."""

    metadata: Metadata
    columns: dict[str, npt.NDArray[Any]]
    cut: Cut | None


def damaged(path: Path, end: int | None) -> FileError:
    """Return the error for a file that was changed after it was written; `end` is the last step that is unchanged."""
    where = "in the lines that describe it" if end is None else f"after step {end}"
    return FileError(
        f"file {path}",
        bound=f"it is damaged or was changed {where}: its check does not fit its content",
        remedy="copy it again from its original, or simulate again",
    )


def not_ours(path: Path) -> FileError:
    """Return the error for a file that was replaced after a recorder wrote it."""
    return FileError(
        f"file {path}",
        bound="another simulation or program has replaced or changed it",
        remedy="use different files for each simulation, and do not change them before it has ended",
    )
