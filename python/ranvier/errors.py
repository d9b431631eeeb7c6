"""What can go wrong, as types.

Every error that a user can cause and mend is a `RanvierError` and tells four things as attributes: `object`, what it is
about; `value`, what was given; `bound`, what that breaks; `remedy`, what to do. Each is also one of Python's own
errors, so that ``except ValueError`` works as one would expect. An `InternalError` is a bug in Ranvier.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "CommunicationError",
    "DelayError",
    "FileError",
    "GridError",
    "IncompleteRecordingWarning",
    "IndexOutOfBoundsError",
    "InsufficientMemoryError",
    "InternalError",
    "MissingPackageError",
    "RanvierError",
    "ReadOnlyError",
    "RemoteError",
    "RuleError",
    "ShapeError",
    "StateError",
    "UnknownNameError",
    "ValueOutOfBoundsError",
    "WrongTypeError",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class RanvierError(Exception):
    """Base of all errors that a user can cause and mend.

    Attributes
    ----------
    object
        What the error is about, for example ``"parameter tau_m of population exc"``.
    value
        What was given, as text.
    bound
        What that breaks.
    remedy
        What to do.
    """

    def __init__(self, object: str, value: str = "", bound: str = "", remedy: str = "") -> None:  # noqa: A002
        self.object = object
        self.value = value
        self.bound = bound
        self.remedy = remedy
        message = self._sentence()
        if remedy:
            message += f"; {remedy}"
        super().__init__(message)

    def _sentence(self) -> str:
        sentence = self.object
        if self.value:
            sentence += f" is {self.value}"
        if self.bound:
            sentence += f"{', but ' if self.value else ': '}{self.bound}"
        return sentence

    def __reduce__(self) -> tuple[type[RanvierError], tuple[str, str, str, str]]:
        return type(self), (self.object, self.value, self.bound, self.remedy)


class MissingPackageError(RanvierError, ImportError):
    """A package is needed that is not installed."""


class UnknownNameError(RanvierError, KeyError):
    """A model, parameter, variable, rule, population or option of that name does not exist."""

    def __str__(self) -> str:
        # That of a KeyError shows the message in quotes.
        return str(self.args[0]) if self.args else ""


class ValueOutOfBoundsError(RanvierError, ValueError):
    """A value is out of its bounds or not finite."""


class IndexOutOfBoundsError(ValueOutOfBoundsError, IndexError):
    """An index is beyond what there is to choose from."""


class WrongTypeError(RanvierError, TypeError):
    """An argument is of another type than is needed: `value` tells which, and `bound` what it must be."""

    def _sentence(self) -> str:
        return f"{self.object} {self.bound}, not {self.value}" if self.value else super()._sentence()


class ReadOnlyError(RanvierError, AttributeError, TypeError):
    """What was assigned cannot be changed by assignment; the remedy is the call that changes it."""


class ShapeError(RanvierError, ValueError):
    """An array does not have the length or the number of dimensions that is needed."""


class GridError(RanvierError, ValueError):
    """A time, interval or delay is not a multiple of the resolution."""


class DelayError(RanvierError, ValueError):
    """A delay is shorter than one step or too long."""


class RuleError(RanvierError, ValueError):
    """A connection rule cannot be carried out on these populations."""


class InsufficientMemoryError(RanvierError, MemoryError):
    """More memory would be needed than the machine has; found before anything is built."""


class StateError(RanvierError, RuntimeError):
    """A call that the present state of the object does not allow."""


class CommunicationError(RanvierError, ConnectionError):
    """The transport between processes failed, or there is none."""


class RemoteError(RanvierError, RuntimeError):
    """Another process of the run failed, or describes another network, so that this one cannot go on."""


class FileError(RanvierError, OSError):
    """A file cannot be written or read."""


class IncompleteRecordingWarning(UserWarning):
    """The end of a recording in a file is missing; what was read ends before.

    Attributes
    ----------
    path
        The file.
    end
        The step up to which all is there.
    """

    def __init__(self, path: Path, end: int, time: str) -> None:
        self.path = path
        self.end = end
        self._time = time
        super().__init__(
            f"file {path} ends within what was being written: it is whole up to {time} ms. The program was killed, the "
            "disk was full, or it is being written now"
        )

    def __reduce__(self) -> tuple[type[IncompleteRecordingWarning], tuple[Path, int, str]]:
        return type(self), (self.path, self.end, self._time)


class InternalError(RuntimeError):
    """A bug in Ranvier, never a user's mistake. Please report it."""
