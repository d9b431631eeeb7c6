"""The file that a user names when a state is saved, and the files beside it that other processes write.

Each process writes its part: rank 0 the file itself, ``state.h5``, the others ``state.GENERATION.rank1.h5`` and so on.
Each first writes under the name of a generation. When all parts are complete and on the disk, the list of them is
added to the file of rank 0, which is then renamed atomically. So at each moment the final name refers to a complete
state: the old one, whose parts still exist, or the new one. Parts of older generations are removed at the end.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranvier import _core
from ranvier.base.hdf5 import h5py
from ranvier.base.paths import check_writable, file_errors
from ranvier.errors import FileError
from ranvier.state.part_files import PartReader, PartWriter, check_of, damage_found, damaged

__all__ = [
    "SUFFIXES",
    "Part",
    "StateIndex",
    "check_target",
    "open_part",
    "part_path",
    "publish",
    "read_index",
    "remove_old_parts",
]

SUFFIXES = (".h5", ".hdf5")
FORMAT = "ranvier state"
VERSION = 2


@dataclass(frozen=True)
class Part:
    """A part of a state.

    Attributes
    ----------
    name, size, check
        Name of the file beside the file of rank 0, its size in bytes, and the check of its manifest; empty for rank 0.
    ids, listed
        Neurons of the process: first id, stride, and number; if they follow no rule, a check of the list of them.
    """

    name: str
    size: int
    check: str
    ids: tuple[int, int, int]
    listed: str


@dataclass(frozen=True)
class StateIndex:
    """Content of a state: the parts of all ranks, and the data that all ranks share, in types of JSON."""

    generation: str
    parts: tuple[Part, ...]
    content: dict[str, Any]


def part_path(path: Path, generation: str, rank: int) -> Path:
    """Return the file to which a process writes its part."""
    return path.with_name(f"{path.stem}.{generation}.rank{rank}{path.suffix}")


def check_target(path: Path) -> None:
    """Check that a state can be written to a file, and that nothing else would be lost.

    Raises
    ------
    FileError
        When it cannot be written, has another suffix, or holds something that is not a state.
    """
    check_writable(path, SUFFIXES)
    with file_errors(path, "written"):
        try:
            found = path.stat()
        except FileNotFoundError:
            return
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"file {path}", bound="it is not a regular file", remedy="save to another file")
    if found.st_size > 0 and not _is_state(path):
        raise FileError(
            f"file {path}",
            bound="it exists and is not a saved state, so its content would be lost",
            remedy="remove or rename it, or save to another file",
        )


def _is_state(path: Path) -> bool:
    try:
        with h5py.File(path, "r") as file:
            return bool(file.attrs.get("format") == FORMAT)
    except Exception:
        return False


def publish(path: Path, writer: PartWriter, index: StateIndex) -> None:
    """Complete the part of rank 0 with the index, and give it its final name."""
    manifest = writer.finish()
    text = json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "ranvier": _core.version,
            "generation": index.generation,
            "parts": [[part.name, part.size, part.check, part.ids, part.listed] for part in index.parts],
            "content": index.content,
        }
    ).encode()
    writer.write_text("index", text)
    writer.write_text("check", check_of(manifest.encode() + text).encode())
    writer.mark(FORMAT)
    writer.close()
    with file_errors(path, "written"):
        writer.path.replace(path)
        with contextlib.suppress(OSError):
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def remove_old_parts(path: Path, generation: str) -> None:
    """Remove the parts of all states that were saved, or were to be saved, to a file before; errors are ignored."""
    pattern = f"{glob.escape(path.stem)}.*.rank*{glob.escape(path.suffix)}"
    for candidate in path.parent.glob(pattern):
        match = re.fullmatch(r"\.([0-9a-f]{16})\.rank[0-9]+", candidate.stem.removeprefix(path.stem))
        if match and match[1] != generation:
            with contextlib.suppress(OSError):
                candidate.unlink()


def read_index(path: Path) -> tuple[StateIndex, str]:
    """Return the index of a state, checked, and the check of the manifest of the part in the same file.

    Raises
    ------
    FileError
        When the file does not exist, is not a state, was damaged, or was written in another version of the format.
    """
    with damage_found(path):
        try:
            file = h5py.File(path, "r")
        except OSError as error:
            if isinstance(error, FileNotFoundError | PermissionError) or not path.is_file():
                raise
            raise FileError(
                f"file {path}", bound="it is not a saved state, or it is damaged", remedy="pass a file of sim.save"
            ) from error
        with file:
            names = ("index", "check", "manifest")
            if any(not isinstance(file.get(name), h5py.Dataset) for name in names):
                raise FileError(
                    f"file {path}", bound="it is not a saved state of Ranvier", remedy="pass a file of sim.save"
                )
            text, stored, manifest = (bytes(file[name][()].tobytes()) for name in names)
        manifest_check = check_of(manifest)
        if check_of(manifest_check.encode() + text) != stored.decode():
            raise damaged(path)
        index = json.loads(text)
    if index["version"] != VERSION:
        raise FileError(
            f"file {path}",
            f"version {index['version']} of the format",
            f"this Ranvier reads version {VERSION}",
            f"load it with Ranvier {index['ranvier']}",
        )
    parts = tuple(Part(*part) for part in index["parts"])
    return StateIndex(index["generation"], parts, index["content"]), manifest_check


def open_part(path: Path, index: StateIndex, check_of_root: str, rank: int) -> PartReader:
    """Open the part that a rank has written."""
    if rank == 0:
        return PartReader(path, check_of_root)
    part = index.parts[rank]
    beside = path.with_name(part.name)
    with damage_found(beside):
        if beside.stat().st_size != part.size:
            raise damaged(beside)
    return PartReader(beside, part.check)
