"""Read-only arrays whose error names the call that changes the original."""

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
    array: npt.NDArray[Number], name: str, remedy: str, *, is_assignable: bool = False
) -> npt.NDArray[Number]:
    """Return a read-only view of an array.

    Parameters
    ----------
    array
        The array.
    name, remedy
        Name and remedy in errors.
    is_assignable
        Whether the attribute that returns it can be assigned. If so, ``connections.weights *= 2`` calculates a new
        array, which Python assigns; otherwise it raises an error.
    """
    view = array.view(_ReadOnlyArray)
    view.flags.writeable = False
    view._refusal, view._is_assignable = (name, remedy), is_assignable
    return cast("npt.NDArray[Number]", view)


class _ReadOnlyArray(np.ndarray[Any, np.dtype[Any]]):
    """A view whose errors have a remedy. Copies of it, and what is calculated from it, are ordinary arrays."""

    _refusal = ("array", "write to a copy of it, array.copy()")
    _is_assignable = False

    def __array_finalize__(self, origin: object) -> None:
        self._refusal = getattr(origin, "_refusal", self._refusal)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        outputs = keywords.get("out", ())
        # The method `at` writes to its first input.
        for written in (*outputs, *(inputs[:1] if method == "at" else ())):
            if isinstance(written, _ReadOnlyArray):
                written._check_writable()
        if outputs:
            keywords["out"] = tuple(map(_plain, outputs))
        return getattr(ufunc, method)(*map(_plain, inputs), **keywords)

    def _check_writable(self) -> None:
        if not self.flags.writeable:
            self._refuse()

    def _refuse(self) -> NoReturn:
        name, remedy = self._refusal
        raise ReadOnlyError(name, bound="what you read is a read-only copy", remedy=remedy)

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, _ReadOnlyArray) else value


def _checked(write: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: _ReadOnlyArray, *arguments: Any, **keywords: Any) -> Any:
        self._check_writable()
        return write(self, *arguments, **keywords)

    return call


def _in_place(operate: Callable[[Any, Any], Any]) -> Callable[[_ReadOnlyArray, Any], Any]:
    def call(self: _ReadOnlyArray, other: Any) -> Any:
        if not self._is_assignable:
            self._check_writable()
        array = np.asarray(self)
        return operate(array if array.flags.writeable else array.copy(), other)

    return call


for _name in ("__setitem__", "fill", "sort"):
    setattr(_ReadOnlyArray, _name, _checked(getattr(np.ndarray, _name)))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(_ReadOnlyArray, f"__i{_name}__", _in_place(getattr(operator, f"i{_name}")))
