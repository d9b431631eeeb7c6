"""Compiled code in the user's cache folder.

Files that are read here are executed. So a file is used only if the file and its folder belong to the user, nobody else
can write to them, and its digest is right. Links are not followed. Whatever is wrong with the folder or a file, the
code is compiled again: an error of the cache does not prevent a simulation; `Cache.problem` has its text.

A file is written beside its place and then renamed, so that it is there as a whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ranvier.base.paths import write_all
from ranvier.base.user_cache import user_cache

__all__ = ["Cache"]

_BEGIN = b"ranvier compiled step 1\n"
_DIGEST = hashlib.sha256().digest_size
_LARGEST = 64 << 20
# When there are more files than this, the older half is removed.
_MOST_FILES = 1000
# Age of temporary files: a writer that takes longer was killed.
_LONGEST_WRITE = 3600.0
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class _RefusedError(OSError):
    """A folder or a file that may have been written by others."""


class Cache:
    """Objects of compiled code, by name.

    Attributes
    ----------
    folder
        Folder of the files; None for a user without a home.
    problem
        Why the last call has not read or written; empty if it has.
    """

    def __init__(self, folder: Path | None = None) -> None:
        cache = user_cache()
        self.folder = folder or (None if cache is None else cache / "programs")
        self.problem = ""

    def read(self, name: str) -> bytes | None:
        """Return the data of a name, or None if the file is missing or cannot be trusted."""
        self.problem = ""
        try:
            with self._opened() as folder:
                return self._read(folder, name)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problem = _text_of(error)
            return None

    def write(self, name: str, data: bytes) -> None:
        """Store the data of a name, if possible."""
        self.problem = ""
        if self.folder is None:
            self.problem = "the user has no home"
            return
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
            with self._opened() as folder:
                _make_room(folder)
                _write(folder, name, _sealed(name, data))
        except OSError as error:
            self.problem = _text_of(error)

    def look(self) -> str:
        """Return why the folder cannot be used, or nothing; it need not exist yet."""
        try:
            with self._opened():
                return ""
        except FileNotFoundError:
            return "" if self.folder is not None else "the user has no home"
        except OSError as error:
            return _text_of(error)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder, so that all that follows happens in the one that was looked at."""
        if self.folder is None:
            raise FileNotFoundError
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _check_owner(str(self.folder), os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _read(self, folder: int, name: str) -> bytes:
        path = f"{self.folder}/{name}"
        # A pipe must not make anybody wait.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(name, flags, dir_fd=folder)
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode):
                raise _RefusedError(f"{path} is not a file")
            _check_owner(path, about)
            if about.st_size > _LARGEST:
                raise _RefusedError(f"{path} is too large")
            found = _read_all(file, about.st_size)
        finally:
            os.close(file)
        data = found[len(_BEGIN) + _DIGEST :]
        if found != _sealed(name, data):
            raise _RefusedError(f"{path} is damaged")
        return data


def _read_all(file: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(file, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _sealed(name: str, data: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0" + data).digest()
    return _BEGIN + digest + data


def _check_owner(path: str, about: os.stat_result) -> None:
    if about.st_uid != os.geteuid():
        raise _RefusedError(f"{path} belongs to another user")
    if about.st_mode & _WRITABLE_BY_OTHERS:
        raise _RefusedError(f"others can write to {path}")


def _write(folder: int, name: str, data: bytes) -> None:
    beside = f".{os.urandom(8).hex()}"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        try:
            write_all(file, data)
        finally:
            os.close(file)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _make_room(folder: int) -> None:
    """Remove files of killed writers, and the older half of the files if there are many."""
    files: list[tuple[float, str]] = []
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            written = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
            if name.startswith(".") and written < time.time() - _LONGEST_WRITE:
                os.unlink(name, dir_fd=folder)
            elif not name.startswith("."):
                files.append((written, name))
    if len(files) < _MOST_FILES:
        return
    for _, name in sorted(files)[: len(files) // 2]:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _text_of(error: OSError) -> str:
    return str(error.strerror or error) if not isinstance(error, _RefusedError) else str(error)
