"""Kernels of potentials: what one spike of a population adds to the potential at each contact of an electrode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.conductivity import checked_conductivity
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Immutable, locked
from ranvier.base.names import counted
from ranvier.base.numeric import number, number_array, positive_number
from ranvier.base.texts import name_type
from ranvier.base.times import text_of
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.checks import as_view
from ranvier.populations.populations import Population, PopulationView
from ranvier.space.contacts import ContactLabels, checked_contacts

__all__ = ["KernelsLike", "PotentialKernel", "checked_kernels"]


class PotentialKernel(Immutable):
    """The potential that one spike of a neuron adds at contacts of electrodes, by the time since the spike.

    `unitary_potentials` calculates kernels with detailed cells; `Network.record_lfp` uses them. It cannot be changed.

    Parameters
    ----------
    values
        Potentials, mV, shape ``(contacts, lags)``: column 0 is the time of the spike, and each further column one
        `interval` later. After the last one the potential is 0.
    interval
        Time between two columns, ms, > 0.
    contacts
        As for `Network.record_extracellular`.
    unit
        Unit of an array of contacts, ``"um"`` or ``"mm"``; None: um.
    sigma
        Conductivity of the medium, S/m; NaN: not known. Kernels in use do not depend on it.

    Attributes
    ----------
    values, interval, sigma
        As given.
    contacts
        Coordinates, um, shape ``(contacts, 3)``.
    labels
        As in `ExtracellularRecorder`.

    Raises
    ------
    WrongTypeError
        For values and contacts that are not numbers.
    ShapeError
        For another shape than one row for each contact and at least one column.
    ValueOutOfBoundsError
        For values that are not finite, contacts that are not points in space, and an interval that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import ranvier as rv
    >>> times = np.arange(0.0, 30.0, 0.1)
    >>> contacts = [[0.0, 0.0, -100.0], [0.0, 0.0, -400.0]]
    >>> kernel = rv.PotentialKernel(np.outer([-1e-4, 2e-4], times * np.exp(-times / 5.0)), 0.1, contacts)
    """

    values: FloatArray
    interval: float
    contacts: FloatArray
    labels: ContactLabels
    sigma: float

    @known_keywords
    def __init__(
        self,
        values: npt.ArrayLike,
        interval: float,
        contacts: Any,
        *,
        unit: str | None = None,
        sigma: float = math.nan,
    ) -> None:
        points, labels = checked_contacts(contacts, unit, "um")
        array = number_array("values of a kernel", values, "an array of numbers")
        if array.ndim != 2 or len(array) != len(points) or not array.shape[1]:
            raise ShapeError(
                "values of a kernel",
                f"an array of shape {array.shape}",
                f"it must be ({len(points)}, lags): one row for each contact, and at least one column",
                "transpose it" if array.ndim == 2 and array.shape[1] == len(points) else "",
            )
        wrong = np.argwhere(~np.isfinite(array))
        if len(wrong):
            contact, lag = wrong[0]
            raise ValueOutOfBoundsError(
                f"value of a kernel at contact {contact}, lag {lag}", f"{array[contact, lag]} mV", "it must be finite"
            )
        step = positive_number("interval of a kernel", interval, "ms")
        conductivity = number("sigma", sigma)
        if not math.isnan(conductivity):
            checked_conductivity(sigma)
        self._put(values=locked(array), interval=step, contacts=points, labels=labels, sigma=conductivity)

    @property
    def lags(self) -> FloatArray:
        """Times since the spike, ms, shape ``(lags,)``."""
        lags: FloatArray = self.interval * np.arange(self.values.shape[1], dtype=np.float64)
        return lags

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**{name: locked(value) if isinstance(value, np.ndarray) else value for name, value in state.items()})

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PotentialKernel)
            and (self.interval, self.labels, str(self.sigma)) == (other.interval, other.labels, str(other.sigma))
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.contacts, other.contacts)
        )

    def __hash__(self) -> int:
        return hash((self.interval, self.values.tobytes()))

    def __repr__(self) -> str:
        duration = text_of(self.interval * (self.values.shape[1] - 1))
        return (
            f"<PotentialKernel: {counted(len(self.contacts), 'contact')}, {duration} ms every "
            f"{text_of(self.interval)} ms, {np.abs(self.values).max() * 1000.0:.3g} uV at most>"
        )


KernelsLike: TypeAlias = Mapping[Population, PotentialKernel] | Mapping[PopulationView, PotentialKernel]


def checked_kernels(network: object, kernels: object) -> tuple[tuple[PopulationView, PotentialKernel], ...]:
    """Return the neurons and kernels of a mapping in the order of the ids.

    Raises
    ------
    WrongTypeError, StateError
        For anything but a mapping from neurons of the network to kernels.
    ShapeError
        For an empty mapping.
    ValueOutOfBoundsError
        For a neuron with two kernels, and kernels with different contacts or intervals.
    """
    if not isinstance(kernels, Mapping):
        raise WrongTypeError(
            "kernels", name_type(kernels), "must be a mapping from populations", "write {population: kernel}"
        )
    if not kernels:
        raise ShapeError("kernels", "an empty mapping", "potentials need the kernel of at least one population")
    pairs = []
    for neurons, kernel in kernels.items():
        view = as_view(network, "kernels", neurons)
        if not isinstance(kernel, PotentialKernel):
            raise WrongTypeError(f"kernel of {view.name}", name_type(kernel), "must be a ranvier.PotentialKernel")
        pairs.append((view, kernel))
    pairs.sort(key=lambda pair: pair[0].first_id)
    first, expected = pairs[0]
    for view, kernel in pairs[1:]:
        if kernel.interval != expected.interval:
            raise ValueOutOfBoundsError(
                f"interval of the kernel of {view.name}",
                f"{text_of(kernel.interval)} ms",
                f"that of {first.name} is {text_of(expected.interval)} ms",
                "give all kernels of a recorder the same interval",
            )
        if not np.array_equal(kernel.contacts, expected.contacts):
            raise ValueOutOfBoundsError(
                f"contacts of the kernel of {view.name}",
                counted(len(kernel.contacts), "contact"),
                f"they must be those of the kernel of {first.name}, {counted(len(expected.contacts), 'contact')}",
            )
    return tuple(pairs)
