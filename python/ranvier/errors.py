"""The types of errors.

Every error that a user can cause and correct is a `RanvierError`. It has four attributes: `object`, the subject of
the error; `value`, the value that was passed; `bound`, the condition that this value violates; `remedy`, what to do.
Each type derives from an error of Python, so that ``except ValueError`` works as expected. An `InternalError` is a bug
in Ranvier.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "ChangedNetworkWarning",
    "CommunicationError",
    "DelayError",
    "DeviceError",
    "EquationError",
    "FileError",
    "GridError",
    "IncompleteRecordingWarning",
    "IndexOutOfBoundsError",
    "InsufficientMemoryError",
    "InternalError",
    "LargeRecordingWarning",
    "MissingPackageError",
    "RanvierError",
    "ReadOnlyError",
    "RemoteError",
    "RuleError",
    "ShapeError",
    "StateError",
    "UnitError",
    "UnknownAttributeError",
    "UnknownNameError",
    "UnknownSymbolError",
    "ValueOutOfBoundsError",
    "WrongTypeError",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class RanvierError(Exception):
    """Base of all errors that a user can cause and correct.

    Attributes
    ----------
    object
        Subject of the error, for example ``"parameter tau_m of population exc"``.
    value
        The value that was passed, as text.
    bound
        The condition that this value breaks.
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

    def __reduce__(self) -> tuple[type[RanvierError], tuple[str, ...]]:
        return type(self), (self.object, self.value, self.bound, self.remedy)


class MissingPackageError(RanvierError, ImportError):
    """A package is needed that is not installed."""


class UnknownNameError(RanvierError, KeyError):
    """A model, parameter, variable, rule, population or option of that name does not exist."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""


class UnknownAttributeError(UnknownNameError, AttributeError):
    """A module or an object has no attribute of that name, or a model of that name is absent."""


class ValueOutOfBoundsError(RanvierError, ValueError):
    """A value is outside its bounds or not finite."""


class IndexOutOfBoundsError(ValueOutOfBoundsError, IndexError):
    """An index is outside the range of the sequence."""


class WrongTypeError(RanvierError, TypeError):
    """An argument has the wrong type: `value` is its type, `bound` is the required one."""

    def _sentence(self) -> str:
        return f"{self.object} {self.bound}, not {self.value}" if self.value else super()._sentence()


class ReadOnlyError(RanvierError, AttributeError, TypeError):
    """An attribute cannot be assigned; the remedy names the call that changes it."""


class ShapeError(RanvierError, ValueError):
    """An array has the wrong length or the wrong number of dimensions."""


class GridError(RanvierError, ValueError):
    """A time, interval or delay is not a multiple of the resolution."""


class DelayError(RanvierError, ValueError):
    """A delay is shorter than one step or too long."""


class RuleError(RanvierError, ValueError):
    """A connection rule cannot be applied to these populations."""


class InsufficientMemoryError(RanvierError, MemoryError):
    """More memory is needed than the machine has. The check takes place before anything is built."""


class StateError(RanvierError, RuntimeError):
    """The present state of the object does not allow this call."""


class DeviceError(RanvierError, RuntimeError):
    """A GPU, its driver or the compiler of its kernels is missing, too old, or has failed."""


class CommunicationError(RanvierError, ConnectionError):
    """The communication between processes failed or is not available."""


class RemoteError(RanvierError, RuntimeError):
    """Another process of the run failed, or describes a different network, so that this process cannot continue."""


class FileError(RanvierError, OSError):
    """A file cannot be written or read."""


class EquationError(RanvierError, ValueError):
    """Equations of a model have a mistake.

    Attributes
    ----------
    place
        The line with the mistake and, below it, marks under the place; empty if the mistake has no place.
    """

    def __init__(
        self,
        object: str,  # noqa: A002
        value: str = "",
        bound: str = "",
        remedy: str = "",
        place: str = "",
    ) -> None:
        super().__init__(object, value, bound, remedy)
        self.place = place
        if place:
            self.args = (f"{self.args[0]}\n{place}",)

    def __reduce__(self) -> tuple[type[RanvierError], tuple[str, ...]]:
        return type(self), (self.object, self.value, self.bound, self.remedy, self.place)


class UnitError(EquationError):
    """Units do not match: `value` is the present unit, `bound` the required one."""


class UnknownSymbolError(EquationError, UnknownNameError):
    """Equations use a name that does not exist."""


class IncompleteRecordingWarning(UserWarning):
    """The end of a recording in a file is missing; the data that were read end earlier.

    Attributes
    ----------
    path
        The file.
    end
        The last step up to which the recording is complete.
    """

    def __init__(self, path: Path, end: int, time: str) -> None:
        self.path = path
        self.end = end
        self._time = time
        super().__init__(
            f"file {path} is incomplete: the recording is whole up to {time} ms. The program was killed during a run, "
            "the disk was full, or a run is writing the file now"
        )

    def __reduce__(self) -> tuple[type[IncompleteRecordingWarning], tuple[Path, int, str]]:
        return type(self), (self.path, self.end, self._time)


class LargeRecordingWarning(UserWarning):
    """A recording that is kept in memory grows by more than a gigabyte in a simulated second."""


class ChangedNetworkWarning(UserWarning):
    """A simulation runs on after its network was changed; the changes are not in the simulation."""

    def __init__(self, network: str) -> None:
        self.network = network
        super().__init__(
            f"network {network} has changed since this simulation was built, and the simulation runs on without the "
            "changes: use sim.set(...) for values of neurons, synapses and stimuli, or build again with "
            "ranvier.Simulation(net)"
        )

    def __reduce__(self) -> tuple[type[ChangedNetworkWarning], tuple[str]]:
        return type(self), (self.network,)


class InternalError(RuntimeError):
    """A bug in Ranvier, never a user's mistake. Please report it."""
