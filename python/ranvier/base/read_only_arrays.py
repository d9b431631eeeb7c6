"""Read-only arrays whose error names the call that changes the original."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ranvier.errors import ReadOnlyError

__all__ = ["read_only"]

Number = TypeVar("Number", bound=np.generic)


def read_only(
    array: npt.NDArray[Number], name: str, remedy: str, *, is_assignable: bool = False
) -> npt.NDArray[Number]:
    """Return a read-only view of an array, with a name and a remedy for errors.

    If the attribute that returns it is assignable, ``connections.weights *= 2`` calculates a new array, which Python
    assigns; otherwise it raises an error.
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
        # The method `at` writes to its first input.
        for written in (*keywords.get("out", ()), *(inputs[:1] if method == "at" else ())):
            _check_writable(written)
        if "out" in keywords:
            keywords["out"] = tuple(map(_plain, keywords["out"]))
        return getattr(ufunc, method)(*map(_plain, inputs), **keywords)

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, _ReadOnlyArray) else value


def _check_writable(array: Any) -> None:
    if isinstance(array, _ReadOnlyArray) and not array.flags.writeable:
        name, remedy = array._refusal
        raise ReadOnlyError(name, bound="what you read is a read-only copy", remedy=remedy)


def _method(name: str, operate: Callable[..., Any] | None = None) -> Callable[..., Any]:
    def call(self: _ReadOnlyArray, *arguments: Any, **keywords: Any) -> Any:
        if operate is None or not self._is_assignable:
            _check_writable(self)
        if operate is None:
            return getattr(np.ndarray, name)(self, *arguments, **keywords)
        return operate(np.array(self) if not self.flags.writeable else np.asarray(self), *arguments)

    return call


for _name in ("__setitem__", "fill", "sort"):
    setattr(_ReadOnlyArray, _name, _method(_name))
for _name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"):
    setattr(_ReadOnlyArray, f"__{_name}__", _method(_name, getattr(operator, _name)))
