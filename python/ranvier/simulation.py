"""A network that has been built, and its state at one point in time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier._names import unknown_name
from ranvier.connections import Connections
from ranvier.errors import ShapeError, StateError, ValueOutOfBoundsError
from ranvier.files import check_writable
from ranvier.network import Network
from ranvier.numeric import number, number_array, whole_number
from ranvier.populations import PopulationView, Projection
from ranvier.progress import ProgressOption, ProgressReporter
from ranvier.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.recordings import IntArray, SpikeData, StateData, WeightData
from ranvier.store import RecordingStore
from ranvier.values import FloatArray

__all__ = ["Counts", "Simulation", "predict_memory"]

_PRECISIONS = ("double", "single")
_LAYOUTS = ("auto", "runs", "ring")
_MOST_THREADS = 4096
_LONGEST_WINDOW = 1024
_LARGEST_LIMIT = 2**63 - 1


@dataclass(frozen=True)
class Counts:
    """What there is and what happened.

    Attributes
    ----------
    neurons, synapses
        How many there are.
    spikes
        Spikes of neurons since the start or the last `Simulation.reset_counts`.
    synaptic_events
        Synapses that were reached by a spike, since then.
    steps
        Steps since then.
    population_spikes
        Spikes by the name of the population, since then.
    """

    neurons: int
    synapses: int
    spikes: int
    synaptic_events: int
    steps: int
    population_spikes: dict[str, int]


class Simulation:
    """Builds a network and runs it.

    The description is copied: later changes of the network do not change the simulation. Several simulations may live
    in one process; one simulation takes one call at a time.

    Parameters
    ----------
    network
        What to build.
    threads
        Number of worker threads; None: one for each processor that the process may use. The results are the same for
        any number.
    precision
        Of the state of the neurons, ``"double"`` or ``"single"``.
    weight_precision
        Of stored weights, ``"single"`` or ``"double"``.
    instruction_set
        ``"auto"`` (the widest that the processor has), ``"baseline"``, ``"avx2"`` or ``"avx512"``. The results are the
        same for each.
    table_layout
        How synapses are stored and delivered: ``"auto"``, ``"runs"`` or ``"ring"``. The results are the same for each.
    delivery_window
        With the layout ``"runs"``: steps whose inputs are delivered at a time, a power of two; None: chosen. More makes
        fewer and longer reads of memory, and inputs that take more of the cache. The results are the same for any.
    pin
        Whether to keep each thread on a processor of its own, when the threads take all of them.
    memory_limit
        Bytes that the network may take; None: what the machine has available.
    progress
        None: show progress when stderr is a terminal; True or False: always or never; a function: it gets a
        `ranvier.progress.ProgressReport` about 20 times a second, and what it raises stops the work at a safe point.

    Raises
    ------
    InsufficientMemoryError
        When the network would take more memory than there is; before anything is built.
    StateError
        For a network without neurons.
    FileError
        When the file of a recorder cannot be written; before anything is built.
    UnknownNameError, ValueOutOfBoundsError
        For options that do not exist or that this machine does not have.
    KeyboardInterrupt
        On Ctrl-C. The network is still as it was.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> neurons = net.create(rv.iaf_psc_exp(I_e=500.0), 10)
    >>> recorder = net.record_spikes()
    >>> sim = rv.Simulation(net)
    >>> sim.run(1000.0)
    >>> sim.spikes(recorder).mean_rates()
    """

    def __init__(
        self,
        network: Network,
        *,
        threads: int | None = None,
        precision: Literal["double", "single"] = "double",
        weight_precision: Literal["double", "single"] = "single",
        instruction_set: str = "auto",
        table_layout: Literal["auto", "runs", "ring"] = "auto",
        delivery_window: int | None = None,
        pin: bool = True,
        memory_limit: int | None = None,
        progress: ProgressOption = None,
    ) -> None:
        if not isinstance(network, Network):
            raise TypeError(f"network must be a ranvier.Network, not {type(network).__name__}")
        _check_choices(precision=precision, weight_precision=weight_precision, table_layout=table_layout)
        if not isinstance(instruction_set, str):
            raise TypeError(f"instruction_set must be the name of one, not {type(instruction_set).__name__}")
        if not isinstance(pin, bool):
            raise TypeError(f"pin must be True or False, not {type(pin).__name__}")
        for recorder in network.recorders:
            if recorder.to is not None:
                check_writable(recorder.to)
        self._network = network
        self._progress = progress
        self._busy = False
        self._process = os.getpid()
        self._recorders = network.recorders
        self._populations = network.populations
        self._projections = len(network.projections)
        # The resolution of the network may be changed later; that of the simulation stays.
        self._grid = _core.Network(network.resolution, 0)
        synapses = network.expected_synapses
        title = f"Building {network.neuron_count:,} neurons and {synapses:,.0f} synapses"
        with ProgressReporter(progress, "build", title) as reporter:
            self._core = _core.Simulation(
                network._core,
                threads=_positive("threads", threads, _MOST_THREADS),
                double_state=precision == "double",
                double_weights=weight_precision == "double",
                instruction_set=instruction_set,
                table_layout=table_layout,
                delivery_window=_positive("delivery_window", delivery_window, _LONGEST_WINDOW),
                pin=pin,
                memory_limit=_positive("memory_limit", memory_limit, _LARGEST_LIMIT),
                progress=None if reporter.silent else lambda: reporter.update(0.0),
            )
        self._store = RecordingStore(self._core, network, self._sampled_synapses)

    # ---- running -----------------------------------------------------------------------------------------------------

    def run(self, duration: float) -> None:
        """Run for some more time.

        Parameters
        ----------
        duration
            Milliseconds, >= 0, a multiple of the resolution.

        Raises
        ------
        DelayError, ValueOutOfBoundsError
            For a duration that is negative or not on the grid.
        FileError
            When the file of a recorder cannot be written any more. What was recorded is kept, and the next run tries
            again.
        KeyboardInterrupt
            On Ctrl-C, after a whole step. The simulation can be continued, for example with `run_until`.
        """
        steps = self._grid.to_steps(number("duration of a run", duration), "duration of a run")
        if steps < 0:
            raise ValueOutOfBoundsError("duration of a run", f"{duration} ms", "it must be >= 0")
        self._advance(steps)

    def run_until(self, time: float) -> None:
        """Run until a point in time (ms, not in the past); as `run`."""
        steps = self._grid.to_steps(number("end of a run", time), "end of a run") - self.step
        if steps < 0:
            raise ValueOutOfBoundsError("end of a run", f"{time} ms", f"it is in the past: it is {self.time:g} ms now")
        self._advance(steps)

    def _advance(self, steps: int) -> None:
        begin = self.step
        end = begin + steps
        total = steps * self.resolution
        with (
            self._exclusive(),
            ProgressReporter(self._progress, "run", f"Simulating {total:g} ms", total) as reporter,
        ):
            poll: Callable[[], None] | None = None
            if not reporter.silent:

                def poll() -> None:
                    reporter.update((self._core.step - begin) * self.resolution)

            try:
                while self._core.step < end:
                    self._core.run(self._store.next_chunk(end), poll)
                    self._store.write()
            finally:
                # After an interruption too, so that the files reach as far as the simulation.
                self._store.write()

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def network(self) -> Network:
        """The network that was built."""
        return self._network

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self._core.step

    @property
    def time(self) -> float:
        """Milliseconds since the start."""
        return self.step * self.resolution

    @property
    def resolution(self) -> float:
        """Length of a step, ms."""
        return self._core.resolution

    @property
    def threads(self) -> int:
        """Number of worker threads."""
        return self._core.threads

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self._core.ranks

    @property
    def instruction_set(self) -> str:
        """The instruction set in use."""
        return self._core.instruction_set

    def get(self, neurons: PopulationView, name: str) -> FloatArray:
        """Return a state variable or a parameter of neurons, shape ``(len(neurons),)``, in its unit.

        Raises
        ------
        UnknownNameError
            When their model has none of that name; the message tells the nearest one.
        """
        index, indices = self._indices(neurons)
        with self._exclusive():
            return self._core.get(index, name, indices)

    def set(self, neurons: PopulationView, name: str, values: npt.ArrayLike) -> None:
        """Set a state variable or a parameter of neurons, in its unit: a number, or an array with one for each.

        Raises
        ------
        UnknownNameError, ShapeError, ValueOutOfBoundsError
            Nothing is changed then.
        """
        index, indices = self._indices(neurons)
        array = number_array(name, values, "a number or an array of numbers")
        if array.ndim > 0 and array.shape != indices.shape:
            raise ShapeError(
                f"{name} of {neurons.name}",
                f"an array of shape {array.shape}",
                f"it must be a number or of shape {indices.shape}",
            )
        with self._exclusive():
            self._core.set(index, name, indices, np.ascontiguousarray(np.broadcast_to(array, indices.shape)))

    def connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
    ) -> Connections:
        """Return synapses, as arrays.

        Parameters
        ----------
        sources, targets
            Only synapses from and to these neurons: a population, a part of one, or an array of global ids; None: all.
        projection
            Only synapses of this projection; None: of all.
        """
        query = self._query(sources, targets, projection)
        with self._exclusive():
            return self._find_synapses(*query)

    def count_connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
    ) -> int:
        """Return the number of synapses that `connections` would return."""
        query = self._query(sources, targets, projection)
        with self._exclusive():
            return self._core.count_connections(*query)

    # ---- recordings --------------------------------------------------------------------------------------------------

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return what a spike recorder has recorded since the start; if it writes to a file, from there."""
        self._check_recorder(recorder, SpikeRecorder)
        with self._exclusive():
            return self._store.spikes(recorder)

    def trace(self, recorder: StateRecorder) -> StateData:
        """Return what a state recorder has recorded since the start; if it writes to a file, from there."""
        self._check_recorder(recorder, StateRecorder)
        with self._exclusive():
            return self._store.state(recorder)

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return what a recorder of weights has recorded since the start; if it writes to a file, from there."""
        self._check_recorder(recorder, WeightRecorder)
        with self._exclusive():
            return self._store.weights(recorder)

    # ---- accounts ----------------------------------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Return what there is and what happened since the start or the last `reset_counts`."""
        with self._exclusive():
            counts = self._core.counts()
        return Counts(
            neurons=counts.neurons,
            synapses=counts.synapses,
            spikes=counts.spikes,
            synaptic_events=counts.synaptic_events,
            steps=counts.steps,
            population_spikes={
                population.name: spikes
                for population, spikes in zip(self._populations, counts.population_spikes, strict=True)
                if not population.plays_spikes
            },
        )

    def reset_counts(self) -> None:
        """Count spikes, events, steps and the time of the simulation from now on, for example after a transient."""
        with self._exclusive():
            self._core.reset_counts()

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of wall-clock time by phase.

        *build* makes neurons and synapses, *init* sorts the tables and makes the buffers, *simulation* is all runs
        since the last `reset_counts`; *update*, *deliver*, *communicate* and *record* are parts of it, means over the
        threads.
        """
        with self._exclusive():
            times = self._core.times()
        names = ("build", "init", "simulation", "update", "deliver", "communicate", "record")
        return {name: getattr(times, name) for name in names}

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second, since the last `reset_counts`; not a number before a run."""
        simulated = self.counts().steps * self.resolution / 1000.0
        return self.phases["simulation"] / simulated if simulated else float("nan")

    def memory(self) -> dict[str, int]:
        """Return the bytes that the simulation takes, by component, from its own account."""
        with self._exclusive():
            return dict(self._core.memory())

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self._network.name} at {self.time:g} ms, {self.threads} threads, {self.instruction_set}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a simulation cannot be copied or pickled: pickle its network and build it again")

    # ---- checks ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Refuse a call while another one is under way, in another thread or from a progress function."""
        if os.getpid() != self._process:
            # Its worker threads have stayed behind.
            raise StateError("simulation", bound="it was built in another process", remedy="build it in this one")
        if self._busy:
            raise StateError("simulation", bound="it is busy with another call", remedy="wait until that has returned")
        # Not a lock, whose acquisition Ctrl-C could cut off from the statement that releases it: the interpreter
        # neither changes threads nor handles signals between a test, an assignment and the begin of a try.
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _check_view(self, what: str, view: PopulationView) -> None:
        if not isinstance(view, PopulationView):
            raise TypeError(f"{what} must be a population or a part of one, not {type(view).__name__}")
        if view.network is not self._network:
            raise StateError(f"population {view.name}", bound="it belongs to another network")
        if view.population not in self._populations:
            raise StateError(f"population {view.name}", bound="it was created after the simulation was built")

    def _indices(self, neurons: PopulationView) -> tuple[int, IntArray]:
        self._check_view("neurons", neurons)
        return neurons.population.index, np.arange(neurons.begin, neurons.end, dtype=np.int64)

    def _ids(self, what: str, neurons: PopulationView | npt.ArrayLike | None) -> IntArray | None:
        if neurons is None:
            return None
        if isinstance(neurons, PopulationView):
            self._check_view(what, neurons)
            return neurons.ids
        ids = np.atleast_1d(np.asarray(neurons))
        if ids.ndim != 1:
            raise ShapeError(what, f"an array of shape {ids.shape}", "it must have one dimension")
        if ids.size and not np.issubdtype(ids.dtype, np.integer):
            raise TypeError(f"{what} must be a population or global ids (integers), not {ids.dtype}")
        units = sum(len(population) for population in self._populations)
        if ids.size and (ids.min() < 0 or ids.max() >= units):
            raise ValueOutOfBoundsError(what, f"{ids.min()} to {ids.max()}", f"global ids must be >= 0 and < {units}")
        return np.ascontiguousarray(ids, dtype=np.int64)

    def _query(
        self,
        sources: PopulationView | npt.ArrayLike | None,
        targets: PopulationView | npt.ArrayLike | None,
        projection: Projection | None,
    ) -> tuple[IntArray | None, IntArray | None, int | None]:
        index = self._projection_index(projection)
        if projection is not None:
            # This spares the core the synapses of all others.
            sources = projection.sources if sources is None else sources
            targets = projection.targets if targets is None else targets
        return self._ids("sources", sources), self._ids("targets", targets), index

    def _projection_index(self, projection: Projection | None) -> int | None:
        if projection is None:
            return None
        if not isinstance(projection, Projection):
            raise TypeError(f"projection must be a projection, not {type(projection).__name__}")
        if projection.network is not self._network:
            raise StateError(f"projection {projection.name}", bound="it belongs to another network")
        if projection.index >= self._projections:
            raise StateError(f"projection {projection.name}", bound="it was made after the simulation was built")
        return projection.index

    def _check_recorder(self, recorder: Recorder, kind: type[Recorder]) -> None:
        if not isinstance(recorder, kind):
            raise TypeError(f"recorder must be a {kind.__name__}, not {type(recorder).__name__}")
        if recorder.network is not self._network:
            raise StateError(repr(recorder), bound="it belongs to another network")
        if recorder not in self._recorders:
            raise StateError(
                repr(recorder), bound="it was created after the simulation was built", remedy="build it again"
            )

    def _find_synapses(self, sources: IntArray | None, targets: IntArray | None, projection: int | None) -> Connections:
        source, target, _, steps, projections, handles = self._core.connections(sources, targets, projection)
        delay = np.multiply(steps, self.resolution, dtype=np.float64)
        return Connections(self._core, self._exclusive, source, target, delay, projections.astype(np.int64), handles)

    def _sampled_synapses(self, recorder: WeightRecorder) -> Connections:
        return self._find_synapses(*self._query(recorder.sources, recorder.targets, recorder.projection))


def predict_memory(
    network: Network,
    *,
    threads: int | None = None,
    precision: Literal["double", "single"] = "double",
    weight_precision: Literal["double", "single"] = "single",
    table_layout: Literal["auto", "runs", "ring"] = "auto",
    delivery_window: int | None = None,
) -> dict[str, int]:
    """Return the bytes that a simulation of a network would take, by component, without building it.

    The options are those of `Simulation`. ``"construction"`` is needed only while it is being built; recordings grow
    with the time that is simulated and are not in it.
    """
    _check_choices(precision=precision, weight_precision=weight_precision, table_layout=table_layout)
    return dict(
        _core.predict_memory(
            network._core,
            threads=_positive("threads", threads, _MOST_THREADS),
            double_state=precision == "double",
            double_weights=weight_precision == "double",
            instruction_set="auto",
            table_layout=table_layout,
            delivery_window=_positive("delivery_window", delivery_window, _LONGEST_WINDOW),
            pin=False,
        )
    )


def _check_choices(**choices: str) -> None:
    for name, value in choices.items():
        known = _LAYOUTS if name == "table_layout" else _PRECISIONS
        if value not in known:
            unknown_name(name, value, known)


def _positive(name: str, value: int | None, greatest: int) -> int:
    """Return an option of the core, for which 0 means that it chooses."""
    if value is None:
        return 0
    return whole_number(name, value, 1, greatest, "leave it out to let Ranvier choose")
