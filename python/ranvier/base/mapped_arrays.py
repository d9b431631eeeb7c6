"""Arrays that are files: descriptions of networks refer to them, and do not copy them into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.errors import FileError

__all__ = ["MappedArray", "map_file"]


class MappedArray(np.memmap[Any, Any]):
    """A read-only array of all numbers of a file, float64 or int64.

    Parts of it and results of calculations are ordinary arrays, which are copied where a description needs them.
    """

    _path: Path | None = None
    """The file; None: this is a part of the array, or the result of a calculation."""

    def __array_finalize__(self, obj: Any) -> None:
        super().__array_finalize__(obj)
        self._path = None

    @property
    def is_file(self) -> bool:
        """Whether this is the whole file."""
        return self._path is not None

    def _to_core(self) -> _core.MappedArray | _core.MappedIndices:
        kind = _core.MappedArray if self.dtype == np.float64 else _core.MappedIndices
        return kind(str(self._path), self.size)

    def __reduce__(self) -> Any:
        if self._path is None:
            return np.array(self).__reduce__()
        return map_file, (self._path, self.dtype.str, self.size)

    def __deepcopy__(self, memo: dict[int, Any] | None) -> MappedArray:
        # A part stays one: neither can be written to.
        return self


def map_file(path: Path, kind: npt.DTypeLike, size: int) -> npt.NDArray[Any]:
    """Return the numbers of a file; none as an ordinary array, since an empty file cannot be mapped.

    Raises
    ------
    FileError
        When the file does not exist, or does not have this number of numbers.
    """
    dtype = np.dtype(kind)
    try:
        found = path.stat().st_size
    except OSError as error:
        raise FileError(
            f"file {path}", bound=f"it cannot be opened ({error.strerror})", remedy="make the rule of the file again"
        ) from None
    if found != size * dtype.itemsize:
        raise FileError(
            f"file {path}", f"{found} bytes", f"it must have {size} numbers", "delete it, and make the rule again"
        )
    if size == 0:
        return np.empty(0, dtype=dtype)
    array = MappedArray(path, dtype=dtype, mode="r", shape=(size,))
    array._path = path
    return array
