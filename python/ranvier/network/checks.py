"""Checks of what users give to a network that Python alone can make; the core makes the others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import as_array, number, number_array, whole_number
from ranvier.base.values import Values
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.model_base import Model
from ranvier.network.populations import PopulationView

__all__ = [
    "check_flag",
    "check_name",
    "check_positive",
    "check_seed",
    "check_size",
    "check_text",
    "choose",
    "flatten",
    "name_type",
]

_LARGEST_SEED = 2**64 - 1
_MOST_UNITS = 2**48


def name_type(value: object) -> str:
    """Return the name of a value's type for people."""
    if isinstance(value, type) and issubclass(value, Model):
        return f"the class {value.__name__}: write {value.__name__}()"
    return type(value).__name__


def check_seed(seed: int) -> int:
    """Return a seed.

    Raises
    ------
    ValueOutOfBoundsError
        When it does not fit 64 bits.
    """
    return whole_number("seed", seed, 0, _LARGEST_SEED)


def check_size(size: int) -> int:
    """Return the size of a population.

    Raises
    ------
    ValueOutOfBoundsError
        When there would be no neurons, or more than the core can number.
    """
    return whole_number("size of a population", size, 1, _MOST_UNITS)


def check_name(what: str, name: str | None) -> str:
    """Return a name as the core takes it, for which none is an empty one."""
    if name is not None and not isinstance(name, str):
        raise WrongTypeError(f"name of a {what}", type(name).__name__, "must be a string or None")
    return check_text(f"name of a {what}", name) if name else ""


def check_text(what: str, text: str) -> str:
    """Return a text that files and the core can hold."""
    if not isinstance(text, str):
        raise WrongTypeError(what, name_type(text), "must be a string")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueOutOfBoundsError(what, ascii(text), "it must be text without NUL and surrogates", "leave them out")
    return str(text)


def check_positive(name: str, value: float) -> float:
    """Return a number that must be > 0 and finite."""
    given = number(name, value)
    if not 0.0 < given < float("inf"):
        raise ValueOutOfBoundsError(name, str(value), "it must be > 0 and finite")
    return given


def check_flag(name: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise WrongTypeError(name, name_type(value), "must be True or False")
    return bool(value)


def flatten(name: str, values: Values, pairs: tuple[int, int] | None) -> Values:
    """Flatten an array with one number per target and source, which only a rule that connects all pairs knows."""
    if not isinstance(values, Iterable):
        return values
    array = number_array(name, values)
    shape = array.shape
    if len(shape) != 2:
        return array
    if pairs is None or shape != pairs:
        wanted = (
            "it must have one dimension" if pairs is None else f"it must have the shape (targets, sources), {pairs}"
        )
        raise ShapeError(name, f"an array of shape {shape}", wanted)
    return array.ravel()


def choose(
    neurons: PopulationView, all_of_them: npt.NDArray[np.int64], indices: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """Return those of the neurons' indices that are chosen: ascending positions in the view."""
    chosen = as_array("indices of recorded neurons", indices)
    if chosen is None:  # lists of different lengths
        chosen = np.array(None)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise ShapeError(
            "indices of recorded neurons",
            f"an array of {chosen.dtype} of shape {chosen.shape}",
            "it must be a list of integers",
        )
    chosen = chosen.astype(np.int64)
    if chosen.size and (chosen.min() < 0 or chosen.max() >= len(neurons)):
        raise ValueOutOfBoundsError(
            "indices of recorded neurons",
            f"{chosen.min()} to {chosen.max()}",
            f"it must be >= 0 and < {len(neurons)}, the size of {neurons.name}",
        )
    if np.any(np.diff(chosen) <= 0):
        raise ValueOutOfBoundsError("indices of recorded neurons", "not ascending", "it must be ascending, each once")
    result: npt.NDArray[np.int64] = all_of_them[chosen]
    return result
