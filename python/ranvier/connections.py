"""Synapses of a simulation, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.errors import ShapeError
from ranvier.numeric import number_array
from ranvier.recordings import IntArray
from ranvier.together import agree
from ranvier.values import FloatArray

__all__ = ["Connections"]

Number = TypeVar("Number", bound=np.generic)


class Connections:
    """Synapses that a query found, in the order (projection, source, target, delay, order of drawing).

    ``connections[mask]``, ``connections[10:20]`` and ``connections[indices]`` are fewer of them.

    Only `weight` can be assigned: the other arrays are locked, since a change of them would not reach the simulation.
    """

    def __init__(
        self,
        core: _core.Simulation,
        exclusive: Callable[[], AbstractContextManager[None]],
        communicator: _core.Communicator,
        source: IntArray,
        target: IntArray,
        delay: FloatArray,
        projection: IntArray,
        handles: npt.NDArray[np.uint64],
    ) -> None:
        self._core = core
        self._exclusive = exclusive
        self._communicator = communicator
        self._handles = handles
        self._source = _locked(source)
        self._target = _locked(target)
        self._delay = _locked(delay)
        self._projection = _locked(projection)

    @property
    def source(self) -> IntArray:
        """Global ids of the sources, shape ``(synapses,)``."""
        return self._source

    @property
    def target(self) -> IntArray:
        """Global ids of the targets, shape ``(synapses,)``."""
        return self._target

    @property
    def delay(self) -> FloatArray:
        """Delays, ms, shape ``(synapses,)``."""
        return self._delay

    @property
    def projection(self) -> IntArray:
        """Index of the projection in ``network.projections``, shape ``(synapses,)``."""
        return self._projection

    @property
    def weight(self) -> FloatArray:
        """Weights as they are now (pA or mV), shape ``(synapses,)``.

        Assign a number or an array of that shape to change them in the simulation; the array that you read is a copy,
        so that some of them are changed by ``connections[chosen].weight = ...``. They are rounded to the grid of the
        weights of their projection. A spike finds the weight that a synapse has when it arrives, also when it was on
        its way while the weight changed.

        Raises
        ------
        ShapeError
            For an array of another length.
        ValueOutOfBoundsError
            For weights that are not finite, beyond the bound of the projection, or whose sign would move them to
            another receptor; nothing is changed then.
        """
        with self._exclusive():
            return self._core.weights(self._handles)

    @weight.setter
    def weight(self, values: npt.ArrayLike) -> None:
        def checked() -> FloatArray:
            array = number_array("weight", values, "a number or an array of numbers")
            if array.ndim > 0 and array.shape != (len(self),):
                raise ShapeError(
                    "weight", f"an array of shape {array.shape}", f"it must be a number or of shape ({len(self)},)"
                )
            return np.ascontiguousarray(np.broadcast_to(array, (len(self),)))

        with self._exclusive():
            self._core.set_weights(self._handles, agree(self._communicator, "weights of synapses", checked))

    def __len__(self) -> int:
        return len(self._handles)

    def __getitem__(self, chosen: int | slice | npt.NDArray[Any]) -> Connections:
        return Connections(
            self._core,
            self._exclusive,
            self._communicator,
            np.atleast_1d(self.source[chosen]),
            np.atleast_1d(self.target[chosen]),
            np.atleast_1d(self.delay[chosen]),
            np.atleast_1d(self.projection[chosen]),
            np.atleast_1d(np.ascontiguousarray(self._handles[chosen])),
        )

    def __repr__(self) -> str:
        return f"<Connections: {len(self)} synapses>"


def _locked(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    view = array.view()
    view.flags.writeable = False
    return view
