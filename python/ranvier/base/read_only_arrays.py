"""Arrays that users get to read: who writes to one is told what changes the thing itself."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ranvier.errors import ReadOnlyError

__all__ = ["read_only"]

Number = TypeVar("Number", bound=np.generic)


def read_only(
    array: npt.NDArray[Number], called: str, remedy: str, *, is_assignable: bool = False
) -> npt.NDArray[Number]:
    """Return a view of an array that cannot be written to.

    Parameters
    ----------
    array
        The array.
    called
        What errors call it.
    remedy
        What they tell to do.
    is_assignable
        Whether the attribute that returns it can be assigned. Then ``connections.weights *= 2`` makes another array,
        which Python assigns; else it is refused.
    """
    view = array.view(_ReadOnlyArray)
    view.flags.writeable = False
    view._called, view._remedy, view._is_assignable = called, remedy, is_assignable
    return cast("npt.NDArray[Number]", view)


def _in_place(operate: Callable[[Any, Any], Any]) -> Callable[[_ReadOnlyArray, Any], Any]:
    def operate_in_place(self: _ReadOnlyArray, other: Any) -> Any:
        if not self.flags.writeable and not self._is_assignable:
            self._refuse()
        # Of what cannot be written to, another array is made.
        own = np.asarray(self)
        return operate(own.copy() if not own.flags.writeable else own, other)

    return operate_in_place


class _ReadOnlyArray(np.ndarray[Any, np.dtype[Any]]):
    """A view whose errors help. What is computed of it are arrays of NumPy, and copies of it behave as such."""

    _called: str = "array"
    _remedy: str = "write to a copy of it, array.copy()"
    _is_assignable: bool = False

    def __array_finalize__(self, origin: object) -> None:
        if isinstance(origin, _ReadOnlyArray):
            self._called, self._remedy = origin._called, origin._remedy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        # The method `at` writes to its first input.
        for out in (*keywords.get("out", ()), *(inputs[:1] if method == "at" else ())):
            if isinstance(out, _ReadOnlyArray):
                out._check_writable()
        if "out" in keywords:
            keywords["out"] = tuple(map(_plain, keywords["out"]))
        return getattr(ufunc, method)(*map(_plain, inputs), **keywords)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check_writable()
        super().__setitem__(index, value)

    def fill(self, *arguments: Any, **keywords: Any) -> None:
        self._check_writable()
        super().fill(*arguments, **keywords)

    def sort(self, *arguments: Any, **keywords: Any) -> None:
        self._check_writable()
        super().sort(*arguments, **keywords)

    def _check_writable(self) -> None:
        if not self.flags.writeable:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise ReadOnlyError(self._called, bound="what you read is a read-only copy", remedy=self._remedy)

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()

    __iadd__ = _in_place(operator.iadd)
    __isub__ = _in_place(operator.isub)
    __imul__ = _in_place(operator.imul)
    __itruediv__ = _in_place(operator.itruediv)
    __ifloordiv__ = _in_place(operator.ifloordiv)
    __imod__ = _in_place(operator.imod)
    __ipow__ = _in_place(operator.ipow)


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, _ReadOnlyArray) else value
