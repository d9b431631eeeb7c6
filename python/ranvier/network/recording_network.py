"""The calls of a network that say what is recorded."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from ranvier.base.keywords import known_keywords
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number
from ranvier.base.times import time_of
from ranvier.errors import LargeRecordingWarning, StateError, WrongTypeError
from ranvier.network.calls import RecordSpikes, RecordState, RecordWeights
from ranvier.network.checks import as_view, check_text, name_type
from ranvier.network.destinations import FilePath, checked_destination
from ranvier.network.network_base import NetworkBase
from ranvier.network.populations import Neurons, PopulationView, selection_of
from ranvier.network.projections import Projection
from ranvier.network.recorders import SpikeRecorder, StateRecorder, WeightRecorder

__all__ = ["RecordingNetwork"]

# Bytes in a simulated second.
_MUCH = 1e9


class RecordingNetwork(NetworkBase):
    """Base of `Network` that records, without the calls that add or change other parts."""

    @known_keywords
    def record_spikes(
        self, neurons: Neurons | None = None, *, to: FilePath | None = None, overwrite: bool = False
    ) -> SpikeRecorder:
        """Record spikes.

        Parameters
        ----------
        neurons
            A population, a view or a sequence of them; rates are computed for each of them. None: all neurons that the
            network has now, without sources.
        to
            File to write to, ``.h5`` or ``.csv``. Spikes are written while the simulation runs, so that they do not
            fill the memory. None: the simulation keeps the spikes in memory.
        overwrite
            Whether a simulation may replace an existing file. If False, building a simulation fails as long as the file
            exists, unless it is empty. All runs of one simulation write to the same file, one after the other.

        Raises
        ------
        FileError
            When the file cannot be written, or when another recorder writes to it.
        ValueOutOfBoundsError
            For ``overwrite=True`` without a file.
        """
        if neurons is None:
            views: list[PopulationView] = [each for each in self.populations if not each.is_source]
        elif isinstance(neurons, list | tuple):
            views = [self._view("neurons", each) for each in neurons]
        else:
            views = [self._view("neurons", neurons)]
        return self._make(RecordSpikes(tuple(map(selection_of, views)), *checked_destination(self, to, overwrite)))

    @known_keywords
    def record_state(
        self,
        neurons: Neurons,
        variables: str | Sequence[str],
        interval: float | None = None,
        *,
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> StateRecorder:
        """Record state variables.

        Parameters
        ----------
        neurons
            A population, a view or a sequence of them. Samples are in the order of the ids.
        variables
            Names of state variables of their models, for example ``["V_m", "I_syn_ex"]``.
        interval
            Sampling interval, ms, a multiple of the steps of all neurons; None: the shortest that there is, in most
            networks the resolution. Samples are taken at multiples of the interval.
        to, overwrite
            As for `record_spikes`.

        Raises
        ------
        UnknownNameError
            When the model has no such variable; the message suggests the nearest one.
        GridError
            For an interval that is not a multiple of the steps of the neurons.
        FileError
            As for `record_spikes`.

        Warns
        -----
        LargeRecordingWarning
            For a recorder that keeps more than a gigabyte per simulated second in memory. ``repr(recorder)`` and
            `Network.summary` show the amount.
        """
        view = self._view("neurons", neurons)
        if not isinstance(variables, str | Sequence):
            raise WrongTypeError("variables", name_type(variables), "must be the name of one or a list of names")
        names = [variables] if isinstance(variables, str) else variables
        # The list of the neurons, their ids, and the core's copy.
        check_room(f"the list of the {len(view)} neurons of {view.name}", 24 * len(view), "record fewer neurons")
        destination, replaces = checked_destination(self, to, overwrite)
        recorder = self._make(
            RecordState(
                selection=selection_of(view),
                variables=tuple(check_text("name of a variable", name) for name in names),
                interval=self._shortest_interval(view) if interval is None else number("interval", interval),
                to=destination,
                overwrite=replaces,
            )
        )
        if destination is None and recorder.bytes_per_second >= _MUCH:
            warnings.warn(
                LargeRecordingWarning(
                    f"the recorder of {recorder.description} keeps {recorder.cost} of simulated time in memory; "
                    "record fewer neurons, at a longer interval, or to a file (to=...)"
                ),
                stacklevel=3,
            )
        return recorder

    @known_keywords
    def record_weights(
        self,
        projection: Projection,
        interval: float,
        *,
        sources: Neurons | None = None,
        targets: Neurons | None = None,
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> WeightRecorder:
        """Record weights of synapses.

        Parameters
        ----------
        projection
            The projection whose synapses are recorded.
        interval
            Sampling interval, ms, a multiple of the resolution. Samples are taken at multiples of the interval.
        sources, targets
            Record only synapses from these sources and to these targets; None: from or to any.
        to, overwrite
            As for `record_spikes`.

        Raises
        ------
        GridError
            For an interval that is not a multiple of the resolution.
        FileError
            As for `record_spikes`.
        """
        if not isinstance(projection, Projection):
            raise WrongTypeError("projection", name_type(projection), "must be a projection of this network")
        if projection.network is not self:
            raise StateError(f"projection {projection.name}", bound="it belongs to another network")
        destination, replaces = checked_destination(self, to, overwrite)
        made: WeightRecorder = self._make(
            RecordWeights(
                projection=projection.index,
                interval=number("interval", interval),
                sources=None if sources is None else selection_of(self._view("sources", sources)),
                targets=None if targets is None else selection_of(self._view("targets", targets)),
                to=destination,
                overwrite=replaces,
            )
        )
        return made

    # ---- checks that need the network --------------------------------------------------------------------------------

    def _shortest_interval(self, neurons: PopulationView) -> float:
        """Return the least common multiple of the steps of some neurons, ms."""
        steps = {round(part.population.step / self.resolution) for part in neurons.parts}
        longest = math.lcm(*steps)
        return self.resolution if longest == 1 else time_of(longest, self.resolution)

    def _view(self, what: str, neurons: Neurons, wanted: str = "") -> PopulationView:
        """Return a population, a view or a sequence of them as one view of this network."""
        return as_view(self, what, neurons, wanted)
