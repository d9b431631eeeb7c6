"""Recorded data, as NumPy arrays."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import NamedAttributes
from ranvier.base.html import card, lines_picture, raster_picture
from ranvier.base.immutable import locked
from ranvier.base.names import counted, some_names, unknown_name
from ranvier.base.numeric import as_array, number
from ranvier.base.texts import name_type
from ranvier.base.times import step_before, text_of, time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import IndexOutOfBoundsError, ShapeError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.populations.populations import PopulationView
from ranvier.recording.activity import ActivityStatistics
from ranvier.recording.conversion import (
    UNITS_OF_VARIABLES,
    samples_to_neo,
    samples_to_pandas,
    spikes_to_neo,
    spikes_to_pandas,
)
from ranvier.recording.neuron_ids import IdArray, IntArray, NeuronIds
from ranvier.recording.potential_analysis import (
    CurrentSourceDensity,
    SpikeTriggeredAverage,
    average_around,
    checked_times,
    current_source_density,
)
from ranvier.recording.segments import Neurons, Segment

__all__ = [
    "CompartmentData",
    "DipoleData",
    "ExtracellularData",
    "IntArray",
    "SpikeData",
    "StateData",
    "WeightData",
    "joined",
]

# Length of the raster and number of lines in pictures for notebooks.
_SHOWN_MS, _SHOWN_LINES = 500.0, 5
# Arrays of global ids of neurons.
_IDS = ("ids", "sources", "targets")
# Number of spikes that are hashed at a time, so that a digest takes little memory.
_PIECE = 1 << 20


@dataclass(frozen=True, repr=False)
class SpikeData(ActivityStatistics):
    """Spikes in a window of time, sorted by step and then by neuron.

    Attributes
    ----------
    steps
        Step of each spike, shape ``(spikes,)``: a spike of step *n* was found in the update from (n-1) h to n h.
    ids
        Global id of the neuron of each spike, shape ``(spikes,)``.
    resolution
        Length h of a step, ms.
    begin, end
        The window: spikes of the steps begin + 1 to end were recorded.
    segments
        The recorded neurons, including those without spikes.
    covered
        The neurons among these whose spikes are in the data; None: all of them. With ``recordings="local"``, and in the
        file of one of several processes, the data have only the neurons of this process. Then counts and statistics
        are those of the neurons in `recorded_ids`, and populations without such neurons are left out.
    """

    steps: IntArray
    ids: IntArray
    resolution: float
    begin: int
    end: int
    segments: tuple[Segment, ...]
    covered: NeuronIds | None = None

    _hints: ClassVar[Mapping[str, str]] = {
        "senders": "write data.ids",
        "i": "write data.ids",
        "t": "write data.times",
        "events": "write data.times and data.ids",
    }

    def __post_init__(self) -> None:
        _lock(self, "steps", "ids")

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        names = some_names([self._share_of(segment) for segment in self.segments])
        return (
            f"<SpikeData of {names}: {counted(len(self), 'spike')} in ({text_of(self.start)}, {text_of(self.stop)}] ms>"
        )

    def _repr_html_(self) -> str:
        """Return a table and a raster of at most the last 500 ms, for notebooks."""
        rows: dict[str, object] = {
            "window": f"{text_of(self.start)} to {text_of(self.stop)} ms",
            "spikes": f"{len(self):,}",
        }
        trains = []
        shown = self.between(max(self.start, self.stop - _SHOWN_MS))
        for segment in self.covered_segments:
            size = len(self.ids_of(segment))
            rate = f", {self.mean_rates(segment):.4g} spikes/s" if self.end > self.begin else ""
            rows[segment.name] = f"{size:,} neurons{rate}"
            steps, places = shown._of_segment(segment)
            trains.append((segment.name, times_of(steps, self.resolution), places.astype(np.float64), size))
        picture = raster_picture(trains, (shown.start, shown.stop)) if len(shown) else ""
        return card("Spikes", rows, picture)

    @property
    def times(self) -> FloatArray:
        """Times of the spikes, ms, shape ``(spikes,)``."""
        return times_of(self.steps, self.resolution)

    @property
    def start(self) -> float:
        """Begin of the window, ms; spikes at this time are not in it."""
        return time_of(self.begin, self.resolution)

    @property
    def stop(self) -> float:
        """End of the window, ms; spikes at this time are in it."""
        return time_of(self.end, self.resolution)

    def between(self, start: float = 0.0, stop: float = math.inf) -> SpikeData:
        """Return the spikes with start < time <= stop (ms), with this smaller window.

        Raises
        ------
        ValueOutOfBoundsError
            For times that are not numbers, and for a stop before the start.
        """
        if number("stop of a window", stop) < number("start of a window", start):
            raise ValueOutOfBoundsError(
                "stop of a window",
                f"{text_of(stop)} ms",
                f"it is before its start, {text_of(start)} ms",
                "swap them",
            )
        begin = max(self.begin, self._step_of("start of a window", start))
        end = max(begin, min(self.end, self._step_of("stop of a window", stop)))
        first, last = np.searchsorted(self.steps, [begin, end], side="right")
        return replace(self, steps=self.steps[first:last], ids=self.ids[first:last], begin=begin, end=end)

    def of(self, neurons: Neurons) -> SpikeData:
        """Return the spikes of some recorded neurons: a population, a part of one, or the name of a population.

        Raises
        ------
        UnknownNameError
            When no recorded population has that name.
        ValueOutOfBoundsError
            When one of the neurons was not recorded, or not by this process (`covered`): it has no spikes in the data,
            but it may have fired. For a name, the recorded part of the population is returned instead.
        """
        segment = self._segment(neurons)
        return self._part(segment)

    def by_population(self) -> dict[str, SpikeData]:
        """Return the spikes of each recorded population, by its name, in the order of recording."""
        return {segment.name: self._part(segment) for segment in self.covered_segments}

    def digest(self) -> str:
        """Return the SHA-256 over the spikes, sorted by (step, neuron), as little-endian 64-bit pairs.

        Two simulations with the same digest gave the same spikes.
        """
        result = hashlib.sha256()
        for begin in range(0, len(self), _PIECE):
            pairs = np.stack([self.steps[begin : begin + _PIECE], self.ids[begin : begin + _PIECE]], axis=1)
            result.update(pairs.astype("<i8", order="C").tobytes())
        return result.hexdigest()

    def to_neo(self) -> Any:
        """Return a `neo.Segment` with a `neo.SpikeTrain` for each neuron of `recorded_ids`, including silent neurons.

        Each train is annotated with its ``population`` and the global id of its ``neuron``.

        Raises
        ------
        MissingPackageError
            When neo is not installed.
        """
        trains = [
            (segment.name, int(neuron), times)
            for segment in self.covered_segments
            for neuron, times in zip(self.ids_of(segment).array, self._trains_of(segment), strict=True)
        ]
        return spikes_to_neo(trains, (self.start, self.stop), some_names([each.name for each in self.segments]))

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each spike: ``time_ms``, ``neuron`` and ``population``.

        ``neuron`` is the global id. For a neuron that was recorded under two names, ``population`` is the first one.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        places = np.full(len(self), -1, dtype=np.int64)
        names = list(dict.fromkeys(segment.name for segment in self.segments))
        for segment in self.segments:
            places[self._in(segment) & (places < 0)] = names.index(segment.name)
        return spikes_to_pandas(self.times, self.ids.copy(), places, names)

    def _step_of(self, name: str, time: float) -> int:
        given = number(name, time)
        if math.isnan(given):
            raise ValueOutOfBoundsError(name, "nan", "it must be a time in ms")
        # No recording is as long as this; infinity means the end of the window.
        longest = 2.0**53 * self.resolution
        return step_before(min(max(given, -longest), longest), self.resolution)

    def _share_of(self, segment: Segment) -> str:
        covered = len(self.ids_of(segment))
        return segment.name if covered == segment.size else f"{covered} of {segment.size} neurons of {segment.name}"

    def _part(self, segment: Segment) -> SpikeData:
        here = self._in(segment)
        return replace(self, steps=self.steps[here], ids=self.ids[here], segments=(segment,))


@dataclass(frozen=True, repr=False)
class StateData(NamedAttributes):
    """Samples of state variables of neurons: ``data["V_m"]`` has the shape ``(samples, neurons)``.

    Attributes
    ----------
    steps
        Step after which each sample was taken, shape ``(samples,)``.
    ids
        Global ids of the neurons, shape ``(neurons,)``.
    variables
        Names of the variables.
    values
        All samples, shape ``(samples, variables, neurons)``, in the units of the variables (mV, pA).
    resolution
        Length of a step, ms.
    population
        Name of the population.
    """

    steps: IntArray
    ids: IntArray
    variables: tuple[str, ...]
    values: FloatArray
    resolution: float
    population: str

    def __post_init__(self) -> None:
        _lock(self, "steps", "ids", "values")

    @property
    def times(self) -> FloatArray:
        """Times of the samples, ms, shape ``(samples,)``."""
        return times_of(self.steps, self.resolution)

    def __getitem__(self, variable: str) -> FloatArray:
        """Return the samples of one variable, shape ``(samples, neurons)``.

        Raises
        ------
        UnknownNameError
            When it was not recorded.
        """
        if not isinstance(variable, str) or variable not in self.variables:
            unknown_name("recorded variable", variable, self.variables)
        return self.values[:, self.variables.index(variable), :]

    def to_neo(self) -> Any:
        """Return a `neo.Segment` with a `neo.AnalogSignal` of the shape (times, neurons) for each variable.

        The signals have the ids of the neurons as array annotation ``neuron``.

        Raises
        ------
        MissingPackageError
            When neo is not installed.
        StateError
            When there are fewer than two samples, so that there is no sampling interval.
        """
        values = {name: self[name] for name in self.variables}
        return samples_to_neo(values, self.times, self._interval(), self._channels(), self.population)

    def _interval(self) -> float:
        """Return the sampling interval, ms."""
        if len(self) < 2:
            raise StateError(repr(self), bound="a signal needs two samples", remedy="run the simulation longer")
        return time_of(int(self.steps[1] - self.steps[0]), self.resolution)

    def _channels(self) -> dict[str, npt.NDArray[Any]]:
        """Return the array annotations of a signal of Neo."""
        return {"neuron": self.ids}

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each time, ``time_ms``, and a column for each variable and neuron.

        ``frame["V_m"]`` has a column for each neuron, by its global id.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        levels = np.repeat(self.variables, len(self.ids)), np.tile(self.ids, len(self.variables))
        return samples_to_pandas(
            self.values.reshape(len(self), len(self.variables) * len(self.ids)),
            self.times,
            levels,
            ["variable", "neuron"],
        )

    def __len__(self) -> int:
        return len(self.steps)

    def _repr_html_(self) -> str:
        """Return a table and the first variable of the first neurons, for notebooks."""
        rows = {
            "population": self.population,
            "neurons": f"{len(self.ids):,}",
            "samples": f"{len(self):,}",
            "variables": ", ".join(self.variables),
        }
        unit = UNITS_OF_VARIABLES.get(self.variables[0][:1], "") if self.variables else ""
        lines = [("", column) for column in self.values[:, 0, :_SHOWN_LINES].T] if self.variables else []
        return card(f"State of {self.population}", rows, lines_picture(lines, self.times, unit))

    def __repr__(self) -> str:
        return (
            f"<StateData of {', '.join(self.variables)}: {counted(len(self), 'sample')} of "
            f"{counted(len(self.ids), 'neuron')} of "
            f"{self.population}>"
        )


@dataclass(frozen=True, repr=False)
class CompartmentData(StateData):
    """Samples of variables of the compartments of cells: ``data["I_m"]`` has the shape ``(samples, compartments)``.

    Attributes
    ----------
    steps
        Step after which each sample was taken, shape ``(samples,)``.
    ids
        Global id of the cell of each compartment, shape ``(compartments,)``.
    compartments
        Index of each compartment in its cell, shape ``(compartments,)``.
    variables
        Names of the variables.
    values
        All samples, shape ``(samples, variables, compartments)``: potentials in mV, currents in pA.
    resolution
        Length of a step, ms.
    population
        Name of the population.
    """

    compartments: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        _lock(self, "compartments")

    def of_cell(self, neuron: int, variable: str) -> FloatArray:
        """Return the samples of the compartments of one cell, shape ``(samples, compartments of the cell)``.

        Parameters
        ----------
        neuron
            Global id of the cell.
        variable
            Name of a recorded variable.

        Raises
        ------
        UnknownNameError
            When the variable was not recorded.
        ValueOutOfBoundsError
            When the cell was not recorded.
        """
        begin, end = np.searchsorted(self.ids, [neuron, neuron + 1])
        if begin == end:
            recorded = f"from {self.ids[0]} to {self.ids[-1]}" if len(self.ids) else "none"
            raise ValueOutOfBoundsError(
                "cell", str(neuron), f"recorded cells have ids {recorded}", "choose one of them"
            )
        return self[variable][:, begin:end]

    def to_neo(self) -> Any:
        """Return a `neo.Segment` as `StateData.to_neo`, with the array annotation ``compartment``."""
        return super().to_neo()

    def _channels(self) -> dict[str, npt.NDArray[Any]]:
        return {"neuron": self.ids, "compartment": self.compartments}

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each time, and a column for each variable, neuron and compartment.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        columns = len(self.ids)
        levels = (
            np.repeat(self.variables, columns),
            np.tile(self.ids, len(self.variables)),
            np.tile(self.compartments, len(self.variables)),
        )
        return samples_to_pandas(
            self.values.reshape(len(self), len(self.variables) * columns),
            self.times,
            levels,
            ["variable", "neuron", "compartment"],
        )

    def __repr__(self) -> str:
        return (
            f"<CompartmentData of {', '.join(self.variables)}: {counted(len(self), 'sample')} of "
            f"{counted(len(self.ids), 'compartment')} of {counted(len(np.unique(self.ids)), 'cell')} of "
            f"{self.population}>"
        )


@dataclass(frozen=True, repr=False)
class ExtracellularData(StateData):
    """Samples of potentials at contacts of electrodes: ``data.potentials`` has the shape ``(samples, contacts)``, mV.

    Attributes
    ----------
    steps
        Step after which each sample was taken, shape ``(samples,)``.
    ids
        Numbers of the contacts, from 0.
    contacts
        Coordinates of the contacts, um, shape ``(contacts, 3)``.
    sigma
        Conductivity of the medium, S/m; NaN: not known.
    grid_shape
        The shape of the grid of contacts, see `on_grid`; None: they are not on a grid.
    contact_names, shanks
        Names of the contacts, and of the shank of each, as in the probe; None: they have none.
    variables
        ``("V_e",)``.
    values
        All samples, shape ``(samples, 1, contacts)``, mV.
    resolution
        Length of a step, ms.
    population
        Name of the population of the cells.
    """

    contacts: FloatArray
    sigma: float = math.nan
    grid_shape: tuple[int, ...] | None = None
    contact_names: tuple[str, ...] | None = None
    shanks: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _lock(self, "contacts")

    def to_neo(self) -> Any:
        """Return a `neo.Segment` with one signal, which has a channel for each contact.

        Array annotations of the signal are ``channel_names`` (the names of the contacts, or their numbers), ``contact``
        (their numbers), ``x_um``, ``y_um``, ``z_um`` and, if they are on several shanks, ``shank``.

        Raises
        ------
        MissingPackageError, StateError
            As for `StateData.to_neo`.
        """
        return super().to_neo()

    def _channels(self) -> dict[str, npt.NDArray[Any]]:
        names = [f"contact {number}" for number in self.ids] if self.contact_names is None else self.contact_names
        channels = {"channel_names": np.array(names), "contact": self.ids}
        for axis, values in zip("xyz", self.contacts.T, strict=True):
            channels[f"{axis}_um"] = values
        return channels if self.shanks is None else {**channels, "shank": np.array(self.shanks)}

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each time, and a column for each contact.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        levels = np.repeat(self.variables, len(self.ids)), self.ids
        return samples_to_pandas(self.potentials, self.times, levels, ["variable", "contact"])

    @property
    def potentials(self) -> FloatArray:
        """Potentials, mV, shape ``(samples, contacts)``."""
        return self.values[:, 0, :]

    @property
    def on_grid(self) -> FloatArray:
        """Potentials at a grid of contacts, mV, shape ``(samples, *grid_shape)``.

        Raises
        ------
        StateError
            When the contacts were not given as a grid.
        """
        if self.grid_shape is None:
            raise StateError(
                repr(self),
                bound="its contacts are not on a grid",
                remedy="record at rv.grid((20, 1, 30), ...), or at an array of the shape (20, 30, 3)",
            )
        return self.potentials.reshape(len(self), *self.grid_shape)

    def at_contacts(self, contacts: slice | Sequence[int] | npt.NDArray[Any]) -> ExtracellularData:
        """Return the potentials at some contacts.

        Parameters
        ----------
        contacts
            A slice, places among the contacts, or a mask with a value for each contact.

        Raises
        ------
        IndexOutOfBoundsError
            For a contact that was not recorded.
        ShapeError
            For a mask of another length, or something else.
        """
        remedy = "give a slice, a list of places, or a mask with a value for each contact"
        chosen: Any = contacts if isinstance(contacts, slice) else as_array("contacts", contacts)
        if chosen is None:
            raise ShapeError("contacts", "lists of different lengths", "they must be a sequence", remedy)
        if isinstance(chosen, np.ndarray) and chosen.shape == (0,):
            # NumPy takes an empty list for real numbers.
            chosen = []
        try:
            places = np.arange(len(self.ids))[chosen]
        except IndexError as error:
            if np.asarray(chosen).dtype.kind in "iu":
                count = counted(len(self.ids), "contact")
                raise IndexOutOfBoundsError(
                    "place of a contact", repr(contacts), f"there are {count}", remedy
                ) from None
            raise ShapeError("contacts", type(contacts).__name__, str(error), remedy) from None
        if places.ndim != 1:
            raise ShapeError("contacts", repr(contacts), "they must be a sequence", "write data.at_contacts([3])")
        names, shanks = (
            None if each is None else tuple(each[place] for place in places)
            for each in (self.contact_names, self.shanks)
        )
        return replace(
            self,
            ids=self.ids[places],
            values=self.values[:, :, places],
            contacts=self.contacts[places],
            grid_shape=None,
            contact_names=names,
            shanks=shanks,
        )

    def current_source_density(
        self,
        method: Literal["standard", "delta"] = "standard",
        *,
        sigma: float | None = None,
        vaknin: bool | None = None,
        diameter: float | None = None,
    ) -> CurrentSourceDensity:
        """Estimate the current source density along a line of contacts with equal distances.

        Parameters
        ----------
        method
            ``"standard"``: the second derivative of the potential along the line, times ``-sigma``, for activity that
            does not vary perpendicular to it (Nicholson and Freeman 1975). ``"delta"``: the inverse method, with
            sources on thin discs around the contacts (Pettersen, Devor, Ulbert, Dale and Einevoll 2006).
        sigma
            Conductivity of the medium, S/m; None: that of the recorder.
        vaknin
            Of ``"standard"``, whether the potentials beyond the ends are those of the end contacts, so that all
            contacts have a density (Vaknin, DiScenna and Teyler 1988); otherwise the end contacts have none. None: yes.
        diameter
            Of ``"delta"``, the diameter of the discs, um; None: 500.

        Raises
        ------
        ShapeError
            For too few contacts.
        ValueOutOfBoundsError
            For contacts that are not on a line with equal distances, for values outside of their bounds, and for
            options of the other method.
        """
        given = self.sigma if sigma is None else sigma
        return current_source_density(self.times, self.potentials, self.contacts, method, given, vaknin, diameter)

    def spike_triggered_average(
        self,
        spikes: SpikeData | npt.ArrayLike,
        neurons: Neurons | None = None,
        *,
        before: float = 2.0,
        after: float = 5.0,
    ) -> SpikeTriggeredAverage:
        """Return the mean potential around spikes.

        A spike counts at the nearest sample. Spikes at the ends, where a part of the window was not recorded, are
        skipped.

        Parameters
        ----------
        spikes
            Data of a recorder of spikes, or an array of times, ms.
        neurons
            Of data, a population or a part of one, or its name: only its spikes; None: all spikes.
        before, after
            The window, ms, >= 0, whole numbers of sampling intervals.

        Raises
        ------
        StateError
            When no spike has its whole window within the recording.
        ValueOutOfBoundsError
            For a window that is not a whole number of intervals, times that are not finite, and neurons whose spikes
            were not recorded.
        WrongTypeError, ShapeError
            For other spikes, and neurons that are given with an array.
        """
        interval = self._interval()
        if isinstance(spikes, SpikeData):
            events = (spikes if neurons is None else spikes.of(neurons)).times
        elif neurons is not None:
            raise WrongTypeError("spikes", type(spikes).__name__, "must be the data of a recorder of spikes")
        else:
            events = checked_times(spikes)
        return average_around(events, self.times, interval, self.potentials, self.contacts, (before, after))

    def __repr__(self) -> str:
        return (
            f"<ExtracellularData: {counted(len(self), 'sample')} at {counted(len(self.ids), 'contact')} of "
            f"{self.population}>"
        )


@dataclass(frozen=True, repr=False)
class DipoleData(StateData):
    """Samples of current dipole moments: ``data.moments`` has the shape ``(samples, 3)``, nA um.

    Attributes
    ----------
    steps
        Step after which each sample was taken, shape ``(samples,)``.
    ids
        Global ids of the cells; of a sum, that of the first cell.
    per_cell
        Whether these are the moments of each cell, and not their sum.
    variables
        ``("P_x", "P_y", "P_z")``.
    values
        All samples, shape ``(samples, 3, cells)``, or ``(samples, 3, 1)`` of a sum, nA um.
    resolution
        Length of a step, ms.
    population
        Name of the population of the cells.
    """

    per_cell: bool

    @property
    def moments(self) -> FloatArray:
        """Moment of all recorded cells together, nA um, shape ``(samples, 3)``."""
        total: FloatArray = self.values.sum(axis=2)
        return total

    def of(self, cells: PopulationView) -> FloatArray:
        """Return the moment of some cells together, nA um, shape ``(samples, 3)``.

        Parameters
        ----------
        cells
            A population, or a part of one.

        Raises
        ------
        StateError
            When the sum of all cells was recorded.
        ValueOutOfBoundsError
            When one of the cells was not recorded.
        """
        if not self.per_cell:
            raise StateError(repr(self), bound="it has only the sum over all cells", remedy="record with per_cell=True")
        if not isinstance(cells, PopulationView):
            raise WrongTypeError("cells", name_type(cells), "must be a population or a part of one")
        places = np.searchsorted(self.ids, cells.ids)
        missing = self.ids.take(places, mode="clip") != cells.ids if len(self.ids) else np.ones(len(places), np.bool_)
        if missing.any():
            raise ValueOutOfBoundsError(
                "cell", str(cells.ids[missing][0]), f"its moment was not recorded by {self!r}", "choose recorded cells"
            )
        total: FloatArray = self.values[:, :, places].sum(axis=2)
        return total

    def __repr__(self) -> str:
        of = f"each of {counted(len(self.ids), 'cell')} of " if self.per_cell else ""
        return f"<DipoleData: {counted(len(self), 'sample')} of {of}{self.population}>"


@dataclass(frozen=True, repr=False)
class WeightData(NamedAttributes):
    """Samples of the weights of synapses.

    Attributes
    ----------
    steps
        Step after which each sample was taken, shape ``(samples,)``.
    weights
        In the unit of the targets' model (pA or mV), shape ``(samples, synapses)``.
    sources, targets
        Global ids of the two neurons of each synapse, shape ``(synapses,)``.
    resolution
        Length of a step, ms.
    projection
        Name of the projection.
    """

    steps: IntArray
    weights: FloatArray
    sources: IntArray
    targets: IntArray
    resolution: float
    projection: str

    def __post_init__(self) -> None:
        _lock(self, "steps", "weights", "sources", "targets")

    @property
    def times(self) -> FloatArray:
        """Times of the samples, ms, shape ``(samples,)``."""
        return times_of(self.steps, self.resolution)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a row for each time, ``time_ms``, and a column for each synapse.

        Columns are named by the global ids of source and target.

        Raises
        ------
        MissingPackageError
            When pandas is not installed.
        """
        return samples_to_pandas(self.weights, self.times, (self.sources, self.targets), ["source", "target"])

    def __len__(self) -> int:
        return len(self.steps)

    def _repr_html_(self) -> str:
        """Return a table and the mean weight over time, for notebooks."""
        rows = {"projection": self.projection, "synapses": f"{len(self.sources):,}", "samples": f"{len(self):,}"}
        lines = [("mean", self.weights.mean(axis=1))] if self.weights.size else []
        return card(f"Weights of {self.projection}", rows, lines_picture(lines, self.times, "on average"))

    def __repr__(self) -> str:
        return (
            f"<WeightData of {self.projection}: {counted(len(self), 'sample')} of "
            f"{counted(len(self.sources), 'synapse')}>"
        )


def _lock(data: SpikeData | StateData | WeightData, *names: str) -> None:
    """Make arrays read-only: writing to them would not change the simulation or a file."""
    for name in names:
        array = locked(getattr(data, name))
        object.__setattr__(data, name, array.view(IdArray) if name in _IDS else array)


def joined(parts: Sequence[SpikeData]) -> SpikeData:
    """Join the data of one recorder from several processes, up to the last step that all of them have."""
    end = min(part.end for part in parts)
    steps = np.concatenate([part.steps for part in parts])
    ids = np.concatenate([part.ids for part in parts])
    order = np.lexsort((ids, steps))
    order = order[steps[order] <= end]
    covered = _covered_by_all(parts)
    return replace(parts[0], steps=steps[order], ids=ids[order], end=end, covered=covered)


def _covered_by_all(parts: Sequence[SpikeData]) -> NeuronIds | None:
    covered = [part.covered for part in parts if part.covered is not None]
    # Each neuron is on one process only.
    if len(covered) < len(parts) or all(
        sum(int(segment.holds(each.within(segment.first_id, segment.end_id).array).sum()) for each in covered)
        == segment.size
        for segment in parts[0].segments
    ):
        return None
    return NeuronIds(np.unique(np.concatenate([each.array for each in covered])))
