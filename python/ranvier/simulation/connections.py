"""Synapses of a simulation, as arrays."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.numeric import as_array, number_array
from ranvier.base.values import FloatArray
from ranvier.errors import (
    IndexOutOfBoundsError,
    ReadOnlyError,
    ShapeError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.network.checks import name_type
from ranvier.network.populations import PopulationView
from ranvier.recording.conversion import adjacency
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.agreement import agree
from ranvier.simulation.built_network import BuiltNetwork

__all__ = ["Connections"]


class Connections:
    """Synapses that a query found, in the order (projection, source, target, delay, order of drawing).

    ``connections[mask]``, ``connections[10:20]`` and ``connections[indices]`` are fewer of them.

    Only `weights` can be assigned: the other arrays are locked, since a change of them would not reach the simulation.
    """

    def __init__(
        self,
        built: BuiltNetwork,
        sources: IntArray,
        targets: IntArray,
        delays: FloatArray,
        projections: IntArray,
        handles: npt.NDArray[np.uint64],
    ) -> None:
        self._built = built
        self._handles = handles
        self._sources = locked(sources)
        self._targets = locked(targets)
        self._delays = locked(delays)
        self._projections = locked(projections)

    @property
    def handles(self) -> npt.NDArray[np.uint64]:
        """What the core finds the synapses by, shape ``(synapses,)``."""
        return self._handles

    @property
    def sources(self) -> IntArray:
        """Global ids of the sources, shape ``(synapses,)``."""
        return self._sources

    @property
    def targets(self) -> IntArray:
        """Global ids of the targets, shape ``(synapses,)``."""
        return self._targets

    @property
    def delays(self) -> FloatArray:
        """Delays, ms, shape ``(synapses,)``."""
        return self._delays

    @property
    def projections(self) -> IntArray:
        """Index of the projection in ``network.projections``, shape ``(synapses,)``."""
        return self._projections

    @property
    def weights(self) -> FloatArray:
        """Weights as they are now (pA or mV), shape ``(synapses,)``.

        Assign a number or an array of that shape to change them in the simulation; the array that you read is a locked
        copy, so that some of them are changed by ``connections[chosen].weights = ...``. They are kept as those that
        ``Network.connect`` takes. A spike finds the weight that a synapse has when it arrives, also when it was on its
        way while the weight changed.

        Raises
        ------
        ShapeError
            For an array of another length.
        ValueOutOfBoundsError
            For weights that are not finite, beyond the ``weight_bound`` of the projections, too small or spread too
            widely to be kept, or whose sign would move them to another receptor; nothing is changed then.
        """
        with self._built.exclusive():
            self._built.agree_on_request("weights of synapses", self._handles)
            return locked(self._built.core.weights(self._handles))

    @weights.setter
    def weights(self, values: npt.ArrayLike) -> None:
        def checked() -> FloatArray:
            array = number_array("weights", values, "a number or an array of numbers")
            if array.ndim > 0 and array.shape != (len(self),):
                raise ShapeError(
                    "weights", f"an array of shape {array.shape}", f"it must be a number or of shape ({len(self)},)"
                )
            # The core looks at the weight of each synapse, and there may be none.
            if array.ndim == 0 and not np.isfinite(array):
                raise ValueOutOfBoundsError("weights", str(array), "it must be finite")
            return np.ascontiguousarray(np.broadcast_to(array, (len(self),)))

        with self._built.exclusive():
            weights = agree(self._built.communicator, "weights of synapses", checked)
            self._built.agree_on_request("setting weights of synapses", self._handles, weights)
            self._built.core.set_weights(self._handles, weights)

    def __len__(self) -> int:
        return len(self._handles)

    def __getitem__(self, chosen: SupportsIndex | slice | npt.ArrayLike) -> Connections:
        places = self._chosen(chosen)
        return Connections(
            self._built,
            self.sources[places],
            self.targets[places],
            self.delays[places],
            self.projections[places],
            np.ascontiguousarray(self._handles[places]),
        )

    def to_scipy(self, sources: PopulationView, targets: PopulationView) -> Any:
        """Return the weights as a `scipy.sparse.csr_array` of the shape ``(len(targets), len(sources))``.

        The weights of several synapses from one neuron to another are added.

        Parameters
        ----------
        sources, targets
            The neurons that are the columns and the rows, in their order.

        Raises
        ------
        ValueOutOfBoundsError
            When one of the synapses is of other neurons.
        MissingPackageError
            When SciPy is not installed.
        """
        for what, view in (("sources", sources), ("targets", targets)):
            if not isinstance(view, PopulationView):
                raise WrongTypeError(what, name_type(view), "must be a population or a part of one")
        return adjacency(self.weights, (self.targets, self.sources), (targets.ids, sources.ids))

    def _chosen(self, chosen: object) -> slice | npt.NDArray[np.bool_] | npt.NDArray[np.int64]:
        """Return what chooses some of the synapses, checked."""
        what = "choice of synapses"
        wanted = "must be an integer, a slice, a mask or an array of integers"
        if isinstance(chosen, slice):
            try:
                chosen.indices(len(self))
            except (TypeError, ValueError) as error:
                raise WrongTypeError(
                    what, f"a slice of others: {error}", "must be an integer or a slice of integers"
                ) from None
            return chosen
        array = as_array(what, chosen)
        if array is None:
            raise ShapeError(what, "lists of different lengths", "it must have one dimension")
        if array.ndim > 1:
            raise ShapeError(what, f"an array of shape {array.shape}", "it must have one dimension")
        if array.dtype == np.bool_:
            if array.shape != (len(self),):
                raise ShapeError(what, f"a mask of shape {array.shape}", f"there are {len(self)} synapses")
            return array
        if array.size == 0:
            return np.empty(0, dtype=np.int64)
        if not np.issubdtype(array.dtype, np.integer):
            raise WrongTypeError(what, name_type(chosen), wanted)
        places = np.atleast_1d(array)
        least, greatest = int(places.min()), int(places.max())
        if least < -len(self) or greatest >= len(self):
            bad = greatest if greatest >= len(self) else least
            raise IndexOutOfBoundsError("index of a synapse", str(bad), f"there are {len(self)} synapses")
        return places.astype(np.int64)

    def __setattr__(self, name: str, value: object) -> None:
        # What is assigned by mistake would be lost without a word.
        if name != "weights" and not name.startswith("_"):
            raise ReadOnlyError(
                f"{name} of connections",
                bound="it cannot be assigned",
                remedy="only weights can, or connect neurons anew",
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<Connections: {len(self)} synapses>"
