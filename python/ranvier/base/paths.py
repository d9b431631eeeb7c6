"""Files that users name. They are checked before any long work starts, and are always written completely."""

from __future__ import annotations

import contextlib
import errno
import io
import os
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
    "read_bounded",
    "save_figure",
    "write_all",
    "write_text",
    "write_whole",
]


@contextlib.contextmanager
def file_errors(path: Path, what: str) -> Iterator[None]:
    """Convert errors of the system to FileError; `what` is the operation as a participle, for example ``"written"``."""
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


def read_bounded(file: Path, most: int, remedy: str = "check the path") -> bytes:
    """Return the content of a file that has at most `most` bytes.

    Raises
    ------
    FileError
        When it cannot be read, is longer, or is not a regular file: a device may be endless, a pipe may block.
    """
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise FileError(
                f"file {file}", bound="it cannot be read: it is not a regular file", remedy="check the path"
            )
        with file.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"file {file}", bound=f"it cannot be read: {error.strerror}", remedy="check the path") from None
    if len(data) > most:
        raise FileError(f"file {file}", bound=f"it has more than {most} bytes", remedy=remedy)
    return data


def checked_path(path: str | PathLike[str], what: str = "path") -> Path:
    """Return a path, checked to be a possible name of a file.

    Raises
    ------
    FileError
        When no file can have that name.
    TypeError
        When it is not a path.
    """
    text: object = os.fspath(path) if isinstance(path, str | PathLike) else None
    if not isinstance(text, str):
        raise WrongTypeError(what, type(path).__name__, "must be a path")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise _impossible(what, text, "it has characters that a file name cannot have", error) from error
    if b"\0" in encoded:
        raise _impossible(what, text, "a file name cannot have the character NUL")
    if not encoded:
        raise _impossible(what, text, "it is empty")
    return Path(text)


def _impossible(what: str, text: str, bound: str, cause: Exception | None = None) -> FileError:
    error = FileError(what, ascii(text), bound, "use another file name")
    error.__cause__ = cause
    return error


def check_writable(path: str | PathLike[str], suffixes: tuple[str, ...] = ()) -> None:
    """Check that a file can be written, without changing its content.

    Raises
    ------
    FileError
        When it cannot be written, or when its name does not end in one of `suffixes`, if there are any.
    """
    path = checked_path(path)
    if suffixes and path.suffix.lower() not in suffixes:
        raise FileError(
            f"file {path}", bound=f"its format is not known: '{path.suffix}'", remedy=f"name it {' or '.join(suffixes)}"
        )
    with file_errors(path, "written"):
        while True:
            # Use the name as it was passed: a pipe or a terminal may have no other name.
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISFIFO(path.stat().st_mode):
                    # Opening and closing it would be the end of the file for a reader.
                    if not os.access(path, os.W_OK):
                        raise PermissionError(None, "Permission denied")
                    return
                os.close(os.open(path, os.O_WRONLY))
                return
            # For a link, check its target: that is the file that would be created.
            target = os.path.realpath(path)
            # Other processes of the run may check at the same time; each removes the file that it created at once.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                with contextlib.suppress(FileNotFoundError):
                    Path(target).unlink()
                return


def check_destinations(json_path: Path | None, plot_path: Path | None) -> None:
    """Raise FileError, before anything is measured, if results or their figure cannot be written."""
    if json_path is not None:
        check_writable(json_path)
    if plot_path is not None:
        check_writable(plot_path, figure_suffixes())
        if json_path is not None and json_path.absolute() == plot_path.absolute():
            raise FileError(f"file {plot_path}", bound="it cannot hold both the results and the figure")


def figure_suffixes() -> tuple[str, ...]:
    """Return the file suffixes of the formats in which a figure can be saved."""
    # Loading matplotlib takes a second, so it is loaded only when a figure is wanted.
    from matplotlib.backend_bases import FigureCanvasBase

    return tuple(f".{kind}" for kind in FigureCanvasBase.get_supported_filetypes())


# Errors of the system when a file can be written but cannot be replaced: its folder is read-only, or the file is a
# mount point.
_NO_OTHER_FILE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file such that at each moment it holds either its whole old content or all of `data`.

    The data are written to a new file beside the old one. The new file gets the mode of the old one and then replaces
    it. A symbolic link stays, and its target is replaced. A pipe, a terminal, and the file that standard output or
    standard error is redirected to are written directly.

    Raises
    ------
    FileError
        When it cannot be written; the old content is still there.
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
            # The permissions of the folder may allow replacing a file that is itself write-protected.
            os.close(os.open(path, os.O_WRONLY))
        _replace(Path(os.path.realpath(path)), old, data)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text as `write_whole` writes bytes."""
    write_whole(path, text.encode(errors="backslashreplace"))


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Draw a figure in the format of the file's suffix, and write it as `write_whole` does."""
    path = checked_path(path)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    write_whole(path, drawn.getvalue())


def _write_to_standard_stream(wanted: os.stat_result, data: bytes) -> bool:
    """Write to standard output or standard error if the file is one of them; return whether it is."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            found = os.path.samestat(wanted, os.fstat(number))
        except OSError:
            # Closed.
            continue
        if found:
            # Flush first, so that everything is written in order, at the present position of the stream.
            if stream is not None:
                stream.flush()
            write_all(number, data)
            return True
    return False


def write_all(descriptor: int, data: bytes) -> None:
    """Write all data to an open file, which may accept only a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _replace(target: Path, old: os.stat_result | None, data: bytes) -> None:
    beside = target.with_name(f".ranvier.{os.urandom(8).hex()}")
    try:
        # A new file has the system's default mode.
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
    """Give a new file the owner and the mode of the file that it replaces, as far as the system allows."""
    with contextlib.suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _overwrite(target: Path, data: bytes) -> None:
    """Overwrite a file, after a check that there is enough space."""
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
    # So that the new name survives a power failure; not all file systems support this.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
