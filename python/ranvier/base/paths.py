"""Files that users name: checked before anything long begins, and written whole."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ranvier.errors import FileError, WrongTypeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "check_destinations",
    "check_writable",
    "checked_path",
    "figure_suffixes",
    "file_errors",
    "save_figure",
    "write_all",
    "write_text",
    "write_whole",
]


@contextlib.contextmanager
def file_errors(path: Path, what: str) -> Iterator[None]:
    """Raise FileError for what the system says of a file that is, for example, ``"written"``."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"file {path}",
            bound=f"it cannot be {what} ({error.strerror or error})",
            remedy="check the folder, the permissions and the space left",
        ) from error


def checked_path(path: str | PathLike[str], what: str = "path") -> Path:
    """Return the path of a file that the system can have.

    Raises
    ------
    FileError
        When there can be no file of that name.
    TypeError
        When it is no path at all.
    """
    text: object = os.fspath(path) if isinstance(path, str | PathLike) else None
    if not isinstance(text, str):
        raise WrongTypeError(what, type(path).__name__, "must be a path")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise _impossible(what, text, "it has characters that no file name can have", error) from error
    if b"\0" in encoded:
        raise _impossible(what, text, "no file name can have a character NUL")
    if not encoded:
        raise _impossible(what, text, "it is empty")
    return Path(text)


def _impossible(what: str, text: str, bound: str, cause: Exception | None = None) -> FileError:
    error = FileError(what, ascii(text), bound, "name a file that there can be")
    error.__cause__ = cause
    return error


def check_writable(path: str | PathLike[str], suffixes: tuple[str, ...] = ()) -> None:
    """Make sure that a file can be written; what it holds is left alone.

    Raises
    ------
    FileError
        When it cannot, or when its name does not end in one of the suffixes, if there are any.
    """
    path = checked_path(path)
    if suffixes and path.suffix.lower() not in suffixes:
        raise FileError(
            f"file {path}", bound=f"its format is not known: '{path.suffix}'", remedy=f"name it {' or '.join(suffixes)}"
        )
    with file_errors(path, "written"):
        while True:
            # What is there is asked for by its name: a pipe or a terminal may have no other.
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISFIFO(path.stat().st_mode):
                    # To open it and to close it again would tell a reader that all has been written.
                    if not os.access(path, os.W_OK):
                        raise PermissionError(None, "Permission denied")
                    return
                os.close(os.open(path, os.O_WRONLY))
                return
            # Of a link, what it leads to: that is what would be created.
            target = os.path.realpath(path)
            # Other processes of the run may look at the same time: what is created is gone again soon.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                with contextlib.suppress(FileNotFoundError):
                    Path(target).unlink()
                return


def check_destinations(json_path: Path | None, plot_path: Path | None) -> None:
    """Raise FileError, before anything is measured, where results or their figure cannot be written."""
    if json_path is not None:
        check_writable(json_path)
    if plot_path is not None:
        check_writable(plot_path, figure_suffixes())
        if json_path is not None and json_path.absolute() == plot_path.absolute():
            raise FileError(f"file {plot_path}", bound="it cannot hold both the results and the figure")


def figure_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the formats that a figure can be drawn in."""
    # Loading matplotlib takes a second: only for those who want to draw.
    from matplotlib.backend_bases import FigureCanvasBase

    return tuple(f".{kind}" for kind in FigureCanvasBase.get_supported_filetypes())


# What the system says where a file can be written but no other can take its place: in a folder that may not be changed,
# or when the file alone was mounted there.
_NO_OTHER_FILE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file so that its name stands at each moment for all that was in it before, or for all of `data`.

    It is written beside, and then takes the place of the old one, whose mode it gets. A link leads to what it led to
    before. What is no ordinary file, such as a pipe or a terminal, is written to, and so is the file that standard
    output or standard error goes to.

    Raises
    ------
    FileError
        When it cannot be written; what was there is still there.
    """
    path = checked_path(path)
    with file_errors(path, "written"):
        try:
            old = path.stat()
        except FileNotFoundError:
            old = None
        if old is not None:
            if _write_to_standard_stream(old, data):
                return
            if not stat.S_ISREG(old.st_mode):
                with path.open("wb") as file:
                    file.write(data)
                return
            # The folder's permissions allow to replace what the file's own protect.
            os.close(os.open(path, os.O_WRONLY))
        _replace(Path(os.path.realpath(path)), old, data)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text as `write_whole` writes bytes."""
    write_whole(path, text.encode(errors="backslashreplace"))


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Draw a figure in the format that the suffix tells, and write it as `write_whole` does."""
    path = checked_path(path)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    write_whole(path, drawn.getvalue())


def _write_to_standard_stream(wanted: os.stat_result, data: bytes) -> bool:
    """Write to standard output or standard error if that is what a file is; return whether."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            found = os.path.samestat(wanted, os.fstat(number))
        except OSError:
            # Closed.
            continue
        if found:
            # In the order in which things were written, and where the stream stands in its file.
            if stream is not None:
                stream.flush()
            write_all(number, data)
            return True
    return False


def write_all(descriptor: int, data: bytes) -> None:
    """Write to an open file, which may take a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _replace(target: Path, old: os.stat_result | None, data: bytes) -> None:
    beside = target.with_name(f".ranvier.{secrets.token_hex(8)}")
    try:
        # A new file gets the mode that the system gives to new files.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        if old is None or error.errno not in _NO_OTHER_FILE:
            raise
        _overwrite(target, data)
        return
    try:
        try:
            if old is not None:
                _take_after(descriptor, old)
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            beside.replace(target)
        except OSError as error:
            if old is None or error.errno not in _NO_OTHER_FILE:
                raise
            _overwrite(target, data)
            beside.unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)


def _take_after(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the owner and the mode of the one that it replaces, as far as that is allowed."""
    with contextlib.suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _overwrite(target: Path, data: bytes) -> None:
    """Write over what is there, once it is sure that there is space for it."""
    descriptor = os.open(target, os.O_WRONLY)
    try:
        size = os.fstat(descriptor).st_size
        if len(data) > size:
            try:
                os.posix_fallocate(descriptor, size, len(data) - size)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    # So that the new name outlives a power failure; not all file systems can do that.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
