"""Synapses of a simulation, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, NoReturn, SupportsIndex

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import NamedAttributes, known_keywords
from ranvier.base.memory_checks import check_room
from ranvier.base.names import counted, there_are, unknown_name
from ranvier.base.numeric import as_array, number_array
from ranvier.base.read_only_arrays import read_only
from ranvier.base.texts import check_text, name_type
from ranvier.base.values import FloatArray
from ranvier.errors import (
    IndexOutOfBoundsError,
    ReadOnlyError,
    ShapeError,
    UnknownNameError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.models import SYNAPSE_MODELS
from ranvier.network.changes import refuse_nothing
from ranvier.network.projections import Projection
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agree
from ranvier.recording.conversion import adjacency, synapses_to_pandas
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.built_network import BuiltNetwork

__all__ = ["Connections"]


def _receptors_of(projection: Projection) -> list[str]:
    """Return the receptors of the targets in the order of their model; several models agree on those reached."""
    for population in projection.targets.populations:
        if population.user_model is not None:
            return population.user_model.core_model.receptors
    wanted = {population.model for population in projection.targets.populations}
    return next((model.receptors for model in _core.neuron_models() if model.name in wanted), [])


def _check_parameter(user_defined: frozenset[str], name: object) -> None:
    """Check that a synapse model has the parameter; the core checks the models of the synapses.

    `user_defined` are parameters of user-defined models.
    """
    if not isinstance(name, str):
        raise WrongTypeError("parameter of synapses", name_type(name), "must be the name of one")
    arrays = {"weight": "weights", "delay": "delays", "source": "sources", "target": "targets"}
    if name in arrays or name in arrays.values():
        raise UnknownNameError(
            "parameter of synapses", f"'{name}'", "it is an array", f"use connections.{arrays.get(name, name)}"
        )
    if name not in (known := _known_parameters() | user_defined):
        unknown_name("parameter of synapses", check_text("parameter of synapses", name), sorted(known))


def _known_parameters() -> set[str]:
    return {name for model in SYNAPSE_MODELS.values() for name in model.value_names()}


class Connections(NamedAttributes):
    """Synapses found by a query, in the order (projection, source, target, delay, order of drawing).

    ``connections[mask]``, ``connections[10:20]`` and ``connections[indices]`` select some of them.

    Only `weights` can be assigned. The other arrays are read-only, since writing to them would not change the
    simulation. `get` and `set` are for the parameters of the synapse model.
    """

    _hints: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        built: BuiltNetwork,
        sources: IntArray,
        targets: IntArray,
        delays: FloatArray,
        projections: IntArray,
        sites: IntArray,
        handles: npt.NDArray[np.uint64],
    ) -> None:
        self._built = built
        self._handles = handles
        fixed = "it is fixed when neurons are connected; connections.{0}.copy() is writable"
        self._sources = read_only(sources, "sources of connections", fixed.format("sources"))
        self._targets = read_only(targets, "targets of connections", fixed.format("targets"))
        self._delays = read_only(delays, "delays of connections", fixed.format("delays"))
        self._projections = read_only(projections, "projections of connections", fixed.format("projections"))
        self._sites = read_only(sites, "sites of connections", fixed.format("sites"))

    def __copy__(self) -> Connections:
        return self[:]

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            "copied or pickled object",
            "connections",
            "must be arrays: connections belong to their simulation",
            "pickle the arrays you need, such as connections.sources, connections.targets and connections.weights",
        )

    @property
    def handles(self) -> npt.NDArray[np.uint64]:
        """Handles by which the core finds the synapses, shape ``(synapses,)``."""
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
    def sites(self) -> IntArray:
        """Sites of the receptors that the synapses reach, numbers of their places, shape ``(synapses,)``."""
        return self._sites

    @property
    def receptors(self) -> npt.NDArray[np.str_]:
        """Names of the receptors that the synapses reach, shape ``(synapses,)``."""
        tables = [_receptors_of(projection) for projection in self._built.projections]
        names = sorted({name for table in tables for name in table})
        width = max(map(len, names), default=1)
        check_room(
            f"names of the receptors of {counted(len(self), 'synapse')}", len(self) * (4 * width + 16), "ask for fewer"
        )
        most = max(map(len, tables), default=0)
        # By projection and place of the receptor among those of the targets' model.
        places = np.array(
            [[names.index(name) for name in table] + [0] * (most - len(table)) for table in tables], dtype=np.intp
        ).reshape(len(tables), most)
        chosen = places[self._projections, self._built.core.receptors(self._handles)]
        fixed = "it is fixed when neurons are connected; connections.receptors.copy() is writable"
        return read_only(np.array(names, dtype=f"U{width}")[chosen], "receptors of connections", fixed)

    @property
    def weights(self) -> FloatArray:
        """Present weights (pA or mV), shape ``(synapses,)``.

        Assign a number or an array of this shape to change the weights in the simulation, for example
        ``connections.weights *= 2.0``; to change some of them, write ``connections[chosen].weights = ...``. The array
        is a read-only copy; results of calculations with it are ordinary arrays. Weights are rounded as by
        `Network.connect`. A spike has the weight of the synapse at the time of its arrival, also if the weight
        changed while the spike was on its way.

        Raises
        ------
        ShapeError
            For an array of another length.
        ValueOutOfBoundsError
            For weights that are not finite, above the ``weight_bound`` of the projections, too small or too different
            in magnitude to be summed exactly, outside the bounds of the model of the targets, and for weights whose
            sign belongs to another receptor. Then nothing is changed.
        """
        with self._built.exclusive():
            self._built.agree_on_request("weights of synapses", self._handles)
            weights = self._built.core.weights(self._handles)
        return read_only(
            weights,
            "weights of connections",
            "assign all at once, connections.weights = ..., or some, connections[chosen].weights = ...",
            is_assignable=True,
        )

    @weights.setter
    def weights(self, values: npt.ArrayLike) -> None:
        with self._built.exclusive():
            weights = agree(self._built.communicator, "weights of synapses", partial(self._one_each, "weights", values))
            self._built.agree_on_request("setting weights of synapses", self._handles, weights)
            self._built.core.set_weights(self._handles, weights)

    @known_keywords
    def get(self, name: str) -> FloatArray:
        """Return a parameter of the synapse model, shape ``(synapses,)``, for example ``connections.get("U")``.

        The array has the present values; all synapses of a projection share some of them. It is a read-only copy.

        Raises
        ------
        UnknownNameError
            When the model of one of the synapses has no parameter of this name.
        """
        with self._built.exclusive():
            agree(
                self._built.communicator,
                "parameter of synapses",
                partial(_check_parameter, self._built.user_synapse_parameters, name),
            )
            self._built.agree_on_request(f"{name} of synapses", self._handles)
            values = self._built.core.synapse_parameters(self._handles, name)
        return read_only(values, f"{name} of connections", f"write connections.set({name}=...)")

    @known_keywords
    def set(self, **values: npt.ArrayLike) -> None:
        """Change parameters of the synapse model that have one value per synapse.

        Spikes that are sent later use the new values. State variables of synapses are not changed.

        Parameters
        ----------
        **values
            By the name of the parameter a number, or an array of shape ``(synapses,)``; for example
            ``connections.set(U=0.4)``. Values are rounded as weights.

        Raises
        ------
        UnknownNameError
            When the model of one of the synapses has no parameter of this name.
        ShapeError
            For an array of another length.
        ValueOutOfBoundsError
            For values that are not finite or out of bounds, for a parameter that all synapses of a projection share,
            and for the initial value of a state variable. Then nothing is changed.
        """
        if not values:
            refuse_nothing("connections.set", "U=0.5")

        def checked() -> dict[str, FloatArray]:
            for name in values:
                _check_parameter(self._built.user_synapse_parameters, name)
            return {name: self._one_each(name, given) for name, given in values.items()}

        with self._built.exclusive():
            arrays = agree(self._built.communicator, "parameters of synapses", checked)
            self._built.agree_on_request(f"setting {', '.join(arrays)} of synapses", self._handles, *arrays.values())
            self._built.core.set_synapse_parameters(self._handles, arrays)

    def _one_each(self, name: str, values: npt.ArrayLike) -> FloatArray:
        """Return an array with a value for each synapse."""
        array = number_array(name, values, "a number or an array of numbers")
        if array.ndim > 0 and array.shape != (len(self),):
            raise ShapeError(
                name, f"an array of shape {array.shape}", f"it must be a number or of shape ({len(self)},)"
            )
        # The core checks the value of each synapse only, and there may be no synapses.
        if array.ndim == 0 and not np.isfinite(array):
            raise ValueOutOfBoundsError(name, str(array), "it must be finite")
        return np.ascontiguousarray(np.broadcast_to(array, (len(self),)))

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
            self.sites[places],
            np.ascontiguousarray(self._handles[places]),
        )

    def to_scipy(self, sources: PopulationView, targets: PopulationView) -> Any:
        """Return the weights as a `scipy.sparse.csr_array` of the shape ``(len(targets), len(sources))``.

        The weights of several synapses from one neuron to another are added.

        Parameters
        ----------
        sources, targets
            The neurons of the columns (sources) and of the rows (targets), in this order.

        Raises
        ------
        ValueOutOfBoundsError
            When one of the synapses connects other neurons.
        MissingPackageError
            When SciPy is not installed.
        """
        for what, view in (("sources", sources), ("targets", targets)):
            if not isinstance(view, PopulationView):
                raise WrongTypeError(what, name_type(view), "must be a population or a part of one")
        return adjacency(self.weights, (self.targets, self.sources), (targets.ids, sources.ids))

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each synapse.

        Its columns are ``source`` and ``target``, global ids; ``weight``, in the unit of the targets' model;
        ``delay_ms``; ``projection`` and ``receptor``, names, as categories; and ``site``.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.

        Examples
        --------
        >>> sim.connections(exc).to_pandas().groupby("projection").weight.mean()
        """
        names = [projection.name for projection in self._built.projections]
        receptors, places = np.unique(self.receptors, return_inverse=True)
        return synapses_to_pandas(
            {"source": self.sources, "target": self.targets, "weight": self.weights, "delay_ms": self.delays},
            {"projection": (self.projections, names), "receptor": (places, receptors.tolist())},
            self.sites,
        )

    def _chosen(self, chosen: object) -> slice | npt.NDArray[np.bool_] | npt.NDArray[np.int64]:
        """Return a checked index that selects some of the synapses."""
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
                raise ShapeError(what, f"a mask of shape {array.shape}", there_are(len(self), "synapse"))
            return array
        if array.size == 0:
            return np.empty(0, dtype=np.int64)
        if array.dtype.kind not in "iu":
            raise WrongTypeError(what, name_type(chosen), wanted)
        places = np.atleast_1d(array)
        least, greatest = int(places.min()), int(places.max())
        if least < -len(self) or greatest >= len(self):
            bad = greatest if greatest >= len(self) else least
            raise IndexOutOfBoundsError("index of a synapse", str(bad), there_are(len(self), "synapse"))
        return places.astype(np.int64)

    def __setattr__(self, name: str, value: object) -> None:
        # An attribute that was assigned by mistake would have no effect.
        if name != "weights" and not name.startswith("_"):
            remedy = "assign weights, or change the network and build it again"
            if name in _known_parameters():
                remedy = f"write connections.set({name}=...)"
            raise ReadOnlyError(f"{name} of connections", bound="it cannot be assigned", remedy=remedy)
        super().__setattr__(name, value)

    def _hint(self, name: str) -> str:
        return f'write connections.get("{name}")' if name in _known_parameters() else super()._hint(name)

    def __repr__(self) -> str:
        return f"<Connections: {counted(len(self), 'synapse')}>"
