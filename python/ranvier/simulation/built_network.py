"""A network that has been built, with the parts of it that all methods of a simulation need."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.numeric import as_array
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.user_warnings import warn_user
from ranvier.base.values import StoredValues
from ranvier.errors import ChangedNetworkWarning, ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.checks import check_receptor
from ranvier.network.contents import Contents
from ranvier.network.network import Network, contents_of
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agree_on, summary_of
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.measurements import ThreadChoice

__all__ = ["BuiltNetwork", "SynapseQuery"]

SynapseQuery: TypeAlias = tuple[IntArray | None, IntArray | None, int | None, str | None, IntArray | None]
"""Sources, targets, projection, receptor and sites; None: all."""


class BuiltNetwork:
    """The core's simulation of a network, and the parts of the network that it was built of.

    Attributes
    ----------
    core
        The simulation in the core.
    network
        The network that was built. It may have changed since.
    populations, projections, stimuli, recorders, fields, seed
        Parts and seed of the network when it was built.
    user_synapse_parameters
        Names of parameters of user-defined synapse models.
    description, options
        The network and the options in the form in which the core took them.
    network_name
        Name of the network when it was built.
    communicator
        The processes that have built the network.
    programs
        How neurons and synapses of equations are executed: see `ranvier.compiled.steps.compile_models`.
    traces_epochs
        Whether times of epochs are kept.
    thread_choice
        How the number of threads was chosen; None if it was given.
    """

    def __init__(
        self,
        core: _core.Simulation,
        network: Network,
        snapshot: Contents,
        communicator: _core.Communicator,
        options: _core.SimulationOptions,
        programs: str,
        traces_epochs: bool,
        thread_choice: ThreadChoice | None,
    ) -> None:
        self.core = core
        self.network = network
        self.populations = tuple(snapshot.populations)
        self.projections = tuple(snapshot.projections)
        synapses = [each.synapse for each in self.projections if isinstance(each.synapse, UserSynapse)]
        self.user_synapse_parameters = frozenset(name for each in synapses for name in each.parameters)
        self.stimuli = tuple(snapshot.stimuli)
        self.recorders = tuple(snapshot.recorders)
        self.fields = tuple(snapshot.fields)
        self.seed = snapshot.core.seed
        self.description = snapshot.core
        self.options = options
        self.network_name = network.name
        # By index: the step after which a value of a stimulus was changed, and the value.
        self.stimulus_changes: dict[int, dict[str, tuple[int, StoredValues]]] = {}
        # By index: lists of a population of sources that were changed.
        self.sequence_changes: dict[int, dict[str, StoredValues]] = {}
        self.communicator = communicator
        self.programs = programs
        self.traces_epochs = traces_epochs
        self.thread_choice = thread_choice
        # The revision of the network when it was built, or when the user was last warned.
        self._revision = snapshot.revision
        # The resolution of the network may change later, but not that of the simulation.
        self._grid = _core.Network(core.resolution, 0)
        self._busy = False
        self._process = os.getpid()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Refuse a call while another one is running, in another thread or from a progress function."""
        if os.getpid() != self._process:
            # Its worker threads were not copied to this process.
            raise StateError("simulation", bound="it was built in another process", remedy="build it in this one")
        if self._busy:
            raise StateError("simulation", bound="it is busy with another call", remedy="wait until that has returned")
        # Not a lock: Ctrl-C could interrupt between acquiring it and the try that releases it. The interpreter neither
        # switches threads nor handles signals between a test, an assignment and the start of a try.
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def warn_of_changes(self) -> None:
        """Warn, once, if the network has changed since a simulation of it was last built."""
        contents = contents_of(self.network)
        if contents.revision > max(self._revision, contents.built_revision) and self.communicator.rank == 0:
            self._revision = contents.revision
            warn_user(ChangedNetworkWarning(self.network.name))

    def agree_on_request(self, what: str, *asked: object) -> None:
        """Check that all processes make the same request: otherwise they would wait for each other forever."""
        if self.communicator.size > 1:
            agree_on(self.communicator, what, lambda: ", ".join(map(summary_of, asked)))

    def to_steps(self, milliseconds: float, what: str) -> int:
        """Return a time in steps; `what` is its name in errors."""
        return self._grid.to_steps(milliseconds, what)

    # ---- checks of arguments -----------------------------------------------------------------------------------------

    def check_view(self, what: str, view: object) -> PopulationView:
        """Return a population or a part of one that was built."""
        if not isinstance(view, PopulationView):
            raise WrongTypeError(what, type(view).__name__, "must be a population or a part of one")
        self._check_part(f"population {view.name}", view.network, set(view.populations) <= set(self.populations))
        return view

    def check_stimulus(self, stimulus: Stimulus) -> int:
        """Return the index of a stimulus that was built."""
        self._check_part(f"stimulus {stimulus.name}", stimulus.network, stimulus in self.stimuli)
        return stimulus.index

    def check_projection(self, projection: Projection | None) -> int | None:
        """Return the index of a projection that was built; None for None."""
        if projection is None:
            return None
        if not isinstance(projection, Projection):
            raise WrongTypeError("projection", type(projection).__name__, "must be a projection")
        self._check_part(f"projection {projection.name}", projection.network, projection in self.projections)
        return projection.index

    def check_recorder(self, recorder: Recorder, kind: type[Recorder]) -> None:
        """Make sure that it is a recorder of some kind that was built."""
        if not isinstance(recorder, kind):
            raise WrongTypeError("recorder", type(recorder).__name__, f"must be a {kind.__name__}")
        self._check_part(repr(recorder), recorder.network, recorder in self.recorders)

    def _check_part(self, what: str, network: Network, is_built: bool) -> None:
        if network is not self.network:
            raise StateError(what, bound="it belongs to another network")
        if not is_built:
            raise StateError(what, bound="it was made after the simulation was built", remedy="build it again")

    def ids(self, what: str, neurons: PopulationView | npt.ArrayLike | None) -> IntArray | None:
        """Return global ids of neurons that were given as a population, a part of one or an array; None for None."""
        if neurons is None:
            return None
        if isinstance(neurons, PopulationView):
            return self.check_view(what, neurons).ids
        if isinstance(neurons, Projection):
            raise WrongTypeError(
                what,
                "a projection",
                "must be a population or global ids (integers)",
                "write sim.connections(projection=...)",
            )
        given = as_array(what, neurons)
        if given is None:
            raise ShapeError(what, "lists of different lengths", "it must have one dimension")
        ids = np.atleast_1d(given)
        if ids.ndim != 1:
            raise ShapeError(what, f"an array of shape {ids.shape}", "it must have one dimension")
        if ids.size and ids.dtype.kind not in "iu":
            raise WrongTypeError(what, str(ids.dtype), "must be a population or global ids (integers)")
        units = sum(len(population) for population in self.populations)
        if ids.size and (ids.min() < 0 or ids.max() >= units):
            raise ValueOutOfBoundsError(what, f"{ids.min()} to {ids.max()}", f"global ids must be >= 0 and < {units}")
        # A copy: another thread may change the array while it is checked.
        return np.array(ids, dtype=np.int64)

    def query(
        self,
        sources: PopulationView | npt.ArrayLike | None,
        targets: PopulationView | npt.ArrayLike | None,
        projection: Projection | None,
        receptor: str | None = None,
        site: npt.ArrayLike | None = None,
    ) -> SynapseQuery:
        """Return a query for synapses in the form in which the core takes it."""
        index = self.check_projection(projection)
        if projection is not None:
            # So the core need not go through the synapses of other neurons.
            sources = projection.sources if sources is None else sources
            targets = projection.targets if targets is None else targets
        return (
            self.ids("sources", sources),
            self.ids("targets", targets),
            index,
            check_receptor(receptor) or None,
            _sites(site),
        )


def _sites(site: npt.ArrayLike | None) -> IntArray | None:
    """Return the numbers of sites in a query; None: all."""
    if site is None:
        return None
    array = as_array("site", site)
    if array is None or array.ndim > 1:
        raise ShapeError("site", "more than one dimension", "it must be a number or an array of one dimension")
    if array.size and array.dtype.kind not in "iu":
        raise WrongTypeError("site", str(array.dtype), "must be the number of a site, or several")
    if array.size and array.min() < 0:
        raise ValueOutOfBoundsError("site", str(array.min()), "sites are numbered from 0")
    return np.atleast_1d(array).astype(np.int64)
