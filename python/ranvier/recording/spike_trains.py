"""Reading trains of spikes from files of any origin, to play them."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ranvier.base.encodings import encoding_of_file, skip_mark
from ranvier.base.names import some_names
from ranvier.base.numeric import number, positive_number, whole_number
from ranvier.base.paths import checked_path, file_errors
from ranvier.base.times import times_of
from ranvier.base.values import FloatArray
from ranvier.errors import FileError, ValueOutOfBoundsError
from ranvier.recording.data import SpikeData
from ranvier.recording.neuron_ids import IntArray
from ranvier.recording.reading import read_spikes

__all__ = ["read_spike_trains"]

_SUFFIXES = (".h5", ".csv", ".npy", ".npz")
_NEURONS = ("neuron", "id", "ids", "sender", "senders", "i")
_TIMES = ("time_ms", "time", "times", "t")


def read_spike_trains(
    path: str | PathLike[str],
    *,
    neurons: Sequence[int] | npt.NDArray[np.int64] | None = None,
    resolution: float | None = None,
    shift: float = 0.0,
) -> list[FloatArray]:
    """Read spike trains from a file, in the form that `Network.create_spike_generators` takes.

    Parameters
    ----------
    path
        The file of a spike recorder (``.h5`` or ``.csv``); another ``.csv``, whose lines have the number of a neuron
        and a time in ms, or more columns if a first line names them (``time_ms`` or ``time``, ``neuron`` or ``id``);
        ``.npz`` with the arrays ``ids`` and ``times``; or ``.npy`` with an array of two such columns. Spikes may be in
        any order.
    neurons
        The neurons whose trains are returned, in this order, also if they have no spikes; None: of a recording all
        that were recorded, else all that have spikes, ascending.
    resolution
        Times are rounded up to multiples of it, ms; None: they are not changed. A network accepts times on its grid.
    shift
        Added to all times, ms; spikes at or before 0 are then left out.

    Returns
    -------
    list of arrays
        The times of each train, ms, ascending.

    Raises
    ------
    FileError
        When the file cannot be read, or has other contents; for text, the message has the line.
    ValueOutOfBoundsError
        For a resolution that is not > 0, and for a neuron that was not recorded.

    Examples
    --------
    >>> rv.read_spikes("spikes.h5").trains("exc")  # doctest: +SKIP
    >>> net.create_spike_generators(rv.read_spike_trains("measured.csv", resolution=0.1))  # doctest: +SKIP
    """
    file = checked_path(path)
    if resolution is not None:
        positive_number("resolution", resolution, "ms")
    moved = number("shift", shift)
    wanted = None if neurons is None else [whole_number("neuron", each, 0, 2**63 - 1) for each in neurons]
    with file_errors(file, "read"):
        ids, times, known = _spikes_of(file)
    if wanted is not None and known is not None and not np.isin(wanted, known).all():
        missing = [str(each) for each in wanted if each not in known]
        raise ValueOutOfBoundsError(f"neurons of file {file}", some_names(missing), "they were not recorded")
    if moved:
        times = times + moved
        ids, times = ids[times > 0.0], times[times > 0.0]
    if resolution is not None:
        # A decimal fraction of a ms and the resolution are both rounded to binary.
        times = times_of(np.ceil(times / resolution - 1e-6), resolution)
    order = np.lexsort((times, ids))
    ids, times = ids[order], times[order]
    chosen = np.array(wanted if wanted is not None else np.unique(ids) if known is None else known, dtype=np.int64)
    begins, ends = np.searchsorted(ids, chosen, side="left"), np.searchsorted(ids, chosen, side="right")
    return [times[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _spikes_of(file: Path) -> tuple[IntArray, FloatArray, IntArray | None]:
    """Return the neuron and the time of each spike, and, of a recording, which neurons were recorded."""
    suffix = file.suffix.lower()
    if suffix == ".h5" or (suffix == ".csv" and _is_recording(file)):
        data: SpikeData = read_spikes(file)
        recorded = [np.empty(0, dtype=np.int64), *data.recorded_ids().values()]
        return data.ids, data.times, np.unique(np.concatenate(recorded))
    if suffix == ".csv":
        return *_of_text(file), None
    if suffix == ".npz":
        return *_of_archive(file), None
    if suffix == ".npy":
        table = _array(file, _loaded(file))
        if table.ndim != 2 or table.shape[1] != 2:
            raise FileError(
                f"file {file}", f"an array of shape {table.shape}", "it must have two columns: neuron, time"
            )
        return *_checked(file, table[:, 0], table[:, 1]), None
    raise FileError(f"file {file}", f"'{file.suffix}'", f"names of files with spikes end in {some_names(_SUFFIXES)}")


def _is_recording(file: Path) -> bool:
    with file.open("rb") as opened:
        skip_mark(opened)
        return opened.read(3) == b"# {"


def _of_text(file: Path) -> tuple[IntArray, FloatArray]:
    ids: list[int] = []
    times: list[float] = []
    neuron, time = 0, 1
    with file.open(encoding=encoding_of_file(file), errors="replace") as lines:
        for line_number, line in enumerate(lines, start=1):
            words = [word.strip() for word in line.split(",")]
            if line.startswith("#") or words == [""]:
                continue
            if not ids and not words[0].lstrip("+-")[:1].isdigit() and words[0][:1] != ".":
                neuron, time = _columns(file, line_number, words)
                continue
            try:
                ids.append(int(words[neuron]))
                times.append(float(words[time]))
            except (ValueError, IndexError):
                raise _bad_line(file, line_number, line) from None
            if not (ids[-1] >= 0 and 0.0 < times[-1] < np.inf):
                raise _bad_line(file, line_number, line)
    return _checked(file, np.array(ids, dtype=np.int64), np.array(times))


def _columns(file: Path, line_number: int, names: list[str]) -> tuple[int, int]:
    found = []
    for known in (_NEURONS, _TIMES):
        places = [place for place, name in enumerate(names) if name.lower() in known]
        if len(places) != 1:
            raise FileError(
                f"line {line_number} of file {file}",
                f"'{', '.join(names)[:80]}'",
                f"one column must be named {some_names(known)}",
                "name the columns neuron,time_ms",
            )
        found += places
    return found[0], found[1]


def _bad_line(file: Path, line_number: int, line: str) -> FileError:
    return FileError(
        f"line {line_number} of file {file}",
        f"'{line.strip()[:80]}'",
        "it must have the number of a neuron, >= 0, and a time > 0 in ms",
        "write lines such as 12,103.5",
    )


def _of_archive(file: Path) -> tuple[IntArray, FloatArray]:
    archive = _loaded(file)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise FileError(f"file {file}", bound="it is not an archive of NumPy")
    with archive:
        for name in ("ids", "times"):
            if name not in archive:
                raise FileError(
                    f"file {file}",
                    some_names(list(itertools.islice(archive, 8))),
                    f"there is no array {name} in it",
                    "write np.savez(path, ids=data.ids, times=data.times)",
                )
        try:
            ids, times = archive["ids"], archive["times"]
        except (ValueError, zipfile.BadZipFile, EOFError) as error:
            raise _unreadable(file, error) from error
    return _checked(file, _array(file, ids), _array(file, times))


def _loaded(file: Path) -> object:
    try:
        # Objects would be unpickled, and could run any code.
        return np.load(file, allow_pickle=False)
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> FileError:
    return FileError(f"file {file}", bound=f"it is not a file of NumPy with numbers ({error})")


def _array(file: Path, loaded: object) -> npt.NDArray[np.float64] | IntArray:
    if not isinstance(loaded, np.ndarray) or loaded.dtype.kind not in "iuf":
        found = str(getattr(loaded, "dtype", type(loaded).__name__))
        raise FileError(f"file {file}", f"an array of {found}", "it must have numbers")
    return loaded


def _checked(file: Path, ids: npt.NDArray[np.generic], times: npt.NDArray[np.generic]) -> tuple[IntArray, FloatArray]:
    """Return arrays of the neuron and the time of each spike, if their types and shapes allow it."""
    if ids.ndim != 1 or ids.shape != times.shape:
        raise FileError(
            f"file {file}", f"shapes {ids.shape} and {times.shape}", "each spike must have a neuron and a time"
        )
    if times.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    numbers, when = np.asarray(ids, dtype=np.float64), np.asarray(times, dtype=np.float64)
    bad = ~((numbers >= 0.0) & (numbers < 2.0**63) & (numbers == np.floor(numbers)) & (when > 0.0) & (when < np.inf))
    if bad.any():
        first = int(np.argmax(bad))
        raise FileError(
            f"spike {first} of file {file}",
            f"neuron {ids[first]}, {times[first]} ms",
            "the number of a neuron must be whole and >= 0, and a time > 0 and finite",
        )
    return np.asarray(ids).astype(np.int64), when
