"""Files of recorders, checked when a recorder is made: they are writable, and each has one recorder."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ranvier.base.paths import check_writable, checked_path
from ranvier.base.texts import check_flag
from ranvier.errors import FileError, ValueOutOfBoundsError
from ranvier.recording import files

__all__ = ["FilePath", "checked_destination"]

FilePath: TypeAlias = str | PathLike[str]


def checked_destination(
    to: FilePath | None, overwrite: bool, others: Iterable[Path | None]
) -> tuple[Path | None, bool]:
    """Return the file of a new recorder, and whether it replaces a file; `others` are the files of other recorders.

    Raises
    ------
    FileError
        When the file cannot be written, or when another recorder writes to it.
    ValueOutOfBoundsError
        For ``overwrite=True`` without a file.
    """
    replaces = check_flag("overwrite", overwrite)
    if to is None:
        if replaces:
            raise ValueOutOfBoundsError(
                "overwrite", "True", "the recorder writes to no file", "name a file with to=, or leave it out"
            )
        return None, False
    path = checked_path(to, "to")
    check_writable(path, files.SUFFIXES)
    for other in others:
        # Symbolic links and detours lead to the same file, too.
        if other is not None and other.resolve() == path.resolve():
            raise FileError(
                f"file {path}", bound="another recorder of this network writes to it", remedy="name another file"
            )
    return path, replaces
