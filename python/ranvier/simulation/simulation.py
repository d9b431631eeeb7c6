"""Simulations: networks that have been built, with their state at the present time."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Never, NoReturn, Self, overload

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import NamedAttributes, known_keywords
from ranvier.base.html import card
from ranvier.base.names import counted
from ranvier.base.numeric import number
from ranvier.base.times import text_of, time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import ReadOnlyError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.mpi import Communicator
from ranvier.network.network import Network, check_network
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import (
    DipoleRecorder,
    ExtracellularRecorder,
    LfpRecorder,
    SpikeRecorder,
    StateRecorder,
    WeightRecorder,
)
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agree_on, agreed, values_of_all
from ranvier.recording.data import DipoleData, ExtracellularData, SpikeData, StateData, WeightData
from ranvier.recording.neuron_ids import IntArray
from ranvier.simulation.building import build, choose_communicator
from ranvier.simulation.built_network import BuiltNetwork, SynapseQuery
from ranvier.simulation.changes import get_values, set_values
from ranvier.simulation.connections import Connections
from ranvier.simulation.described_options import as_docstring
from ranvier.simulation.distances import counted_targets, distance_histogram
from ranvier.simulation.loading import load_state, open_state
from ranvier.simulation.measurements import (
    PARTS,
    PHASES,
    Counts,
    Crowding,
    EpochTimes,
    SteppingCounts,
    ThreadChoice,
    Timers,
    Traffic,
)
from ranvier.simulation.options import (
    DryRun,
    Precision,
    Processes,
    Recordings,
    RunOptions,
    Stepping,
    Threads,
    Tuning,
    names_options,
    way_to_change,
)
from ranvier.simulation.progress import ProgressOption, ProgressReporter
from ranvier.simulation.recordings import RecordingStore
from ranvier.simulation.running import prepare_run, run_to
from ranvier.simulation.saving import save_state
from ranvier.simulation.trace import Trace
from ranvier.space.histograms import DistanceHistogram

__all__ = ["Simulation"]


_OF_THE_NETWORK = tuple(
    name
    for name in vars(Network)
    if name.startswith(("create", "connect", "stimulate", "record_", "apply_", "couple_"))
)


class Simulation(NamedAttributes):
    """Builds a network and runs it.

    The description is copied: later changes of the network do not change the simulation, and its next run warns
    (``rv.errors.ChangedNetworkWarning``). A process can have several simulations, each for one call at a time.

    Parameters
    ----------
    network
        The network to build.
    {options}
    progress
        None: show progress on a terminal and in notebooks; True or False: always or never; a function: it is called
        with a `ranvier.ProgressReport` about 20 times a second. If it raises, the work stops at a safe point.
    processes
        How many processes share the network; see `Processes`.
    tuning
        How each process uses its processors and its memory; see `Tuning`.
    dry_run
        Simulate one of many processes; see `DryRun`.

    Raises
    ------
    InsufficientMemoryError
        When the network needs more memory than is available. The check is made before anything is built.
    StateError
        For a network without neurons.
    FileError
        When the file of a recorder cannot be written. The check is made before anything is built.
    UnknownNameError, ValueOutOfBoundsError
        For options that do not exist or that this machine does not have.
    KeyboardInterrupt
        On Ctrl-C. The network is unchanged.

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

    _built: BuiltNetwork
    _store: RecordingStore
    _hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("Simulate", "simulate", "Run"), "write sim.run(duration)"),
        **{
            name: f"write net.{name}(...) before the simulation is built: it does not see later changes"
            for name in _OF_THE_NETWORK
        },
        **dict.fromkeys(("store", "save_state"), "write sim.save(path)"),
        **dict.fromkeys(("restore", "load_state"), "write sim = rv.Simulation.load(net, path)"),
        "reset": "build another simulation; reset_counts() only sets counters to zero",
    }

    @names_options
    def __init__(
        self,
        network: Network,
        *,
        threads: Threads = None,
        stepping: Stepping = "bsp",
        device: str = "cpu",
        precision: Precision = "double",
        weight_precision: Precision = "single",
        memory_limit: int | None = None,
        recordings: Recordings = "everywhere",
        progress: ProgressOption = None,
        processes: Processes | None = None,
        tuning: Tuning | None = None,
        dry_run: DryRun | None = None,
    ) -> None:
        run = (threads, stepping, device, precision, weight_precision, memory_limit, recordings)
        self._begin(network, run, progress, (processes, tuning, dry_run))

    @classmethod
    @names_options
    def load(
        cls,
        network: Network,
        path: str | PathLike[str],
        *,
        threads: Threads = None,
        stepping: Stepping = "bsp",
        device: str = "cpu",
        precision: Precision = "double",
        weight_precision: Precision = "single",
        memory_limit: int | None = None,
        recordings: Recordings = "everywhere",
        progress: ProgressOption = None,
        processes: Processes | None = None,
        tuning: Tuning | None = None,
        dry_run: DryRun | None = None,
    ) -> Self:
        """Build a network and put a state into it that `save` has written.

        The simulation continues as the saved one would have: spikes, weights and recordings are bit-identical.
        All options may differ except for the two precisions. ``threads="auto"`` measures the first steps of the
        network, not those after the saved state.

        Parameters
        ----------
        network
            The network that was saved.
        path
            The file that `save` has written.
        threads, stepping, device, precision, weight_precision, memory_limit, recordings, progress, processes, tuning,
        dry_run
            As for `Simulation`.

        Raises
        ------
        FileError
            When the file does not exist, or is not a complete, unchanged state.
        StateError
            When it is the state of another network; the error names the first difference.

        Examples
        --------
        >>> sim.save("state.h5")
        >>> later = rv.Simulation.load(net, "state.h5", threads=2)
        >>> later.run(1000.0)
        """
        simulation = cls.__new__(cls)
        run = (threads, stepping, device, precision, weight_precision, memory_limit, recordings)
        simulation._begin(network, run, progress, (processes, tuning, dry_run), path)
        return simulation

    def _begin(
        self,
        network: Network,
        run: tuple[Threads, Stepping, str, Precision, Precision, int | None, Recordings],
        progress: ProgressOption,
        groups: tuple[Processes | None, Tuning | None, DryRun | None],
        state: str | PathLike[str] | None = None,
    ) -> None:
        """Build the network, and load a state if there is one."""
        threads, stepping, device, precision, weight_precision, memory_limit, recordings = run
        processes, _, dry_run = groups
        check_network(network)
        communicator = choose_communicator(processes, dry_run)
        # One progress line for all processes is enough.
        self._progress = progress if callable(progress) or communicator.rank == 0 else False
        plays_many = dry_run is not None and dry_run.ranks is not None

        def choose_options() -> RunOptions:
            if plays_many and recordings == "root":
                raise StateError(
                    "recordings", "'root'", "a dry run records the neurons of one process", "write recordings='local'"
                )
            return RunOptions(
                threads=threads,
                stepping=stepping,
                device=device,
                precision=precision,
                weight_precision=weight_precision,
                memory_limit=memory_limit,
                recordings=recordings,
            )

        saved = None if state is None else open_state(state, communicator)
        self._built = build(network, communicator, choose_options, groups, self._progress, saved)
        self._store = RecordingStore(
            self._built.core,
            (network.name, self._built.seed, self._built.recorders),
            self._sampled_synapses,
            communicator,
            "local" if plays_many else recordings,
            memory_limit=memory_limit,
            creates_files=saved is None,
        )
        if saved is not None:
            load_state(self._built, self._store, saved)

    def __setattr__(self, name: str, value: object) -> None:
        # An attribute that was assigned by mistake would have no effect.
        if not name.startswith("_") and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(f"{name} of a simulation", bound="it cannot be assigned", remedy=way_to_change(name))
        super().__setattr__(name, value)

    @property
    def network(self) -> Network:
        """The network that was built."""
        return self._built.network

    @property
    def step(self) -> int:
        """Steps since the start."""
        return self._built.core.step

    @property
    def time(self) -> float:
        """Milliseconds since the start."""
        return time_of(self.step, self.resolution)

    @property
    def resolution(self) -> float:
        """Length of a step, ms."""
        return self._built.core.resolution

    @property
    def threads(self) -> int:
        """Number of worker threads."""
        return self._built.core.threads

    @property
    def thread_choice(self) -> ThreadChoice | None:
        """How the number of threads was chosen with ``threads="auto"``; None if it was given.

        Examples
        --------
        >>> sim = rv.Simulation(net, threads="auto")
        >>> print(sim.thread_choice)
        1 of 2, chosen by measuring: 1 thread 12.1, 2 threads 14.0 µs a step
        """
        return self._built.thread_choice

    def costs(self) -> dict[str, float]:
        """Return the mean cost of a neuron of each population since the last `reset_counts`, in nanoseconds per step.

        It is the time for updating the neuron and its stimuli, and for delivering spikes to it. The time of delivery is
        divided among neurons on the assumption that all synapses cost the same, and that all neurons of a population
        have the same number of synapses.

        Raises
        ------
        StateError
            When the simulation was made without ``measure_costs``, or has not run.
        """
        with self._built.exclusive():
            costs = self._built.core.costs()
        return {population.name: 1e9 * cost for population, cost in zip(self._built.populations, costs, strict=True)}

    @property
    def shards(self) -> int:
        """Number of parts into which the neurons of this process are divided."""
        return self._built.core.shards

    @property
    def processors(self) -> list[int | None]:
        """The processor to which each thread of this process is bound; None for a thread that the system may move."""
        return [processor if processor >= 0 else None for processor, _ in self._built.core.places]

    @property
    def oversubscribed(self) -> bool:
        """Whether a processor has more than one thread of this run, so that threads wait for each other."""
        return self._built.core.is_crowded

    @property
    def stolen_shards(self) -> int:
        """How often a thread of this process has updated a shard of another thread: for an epoch, or for a visit.

        See `visits`.
        """
        with self._built.exclusive():
            return sum(local + remote for _, local, remote in self._built.core.stealing_counts())

    @property
    def shared_deliveries(self) -> int:
        """How often a thread of this process has delivered spikes to a shard of another thread while it waited.

        With ``stepping="bsp"`` and epochs of one step, shards may leave arrivals with longer delays for later, and
        threads that wait take some of them from threads that are slower, as far as the option ``stealing`` allows.
        """
        with self._built.exclusive():
            return self._built.core.shared_deliveries

    @property
    def stepping(self) -> SteppingCounts:
        """How the shards of this process advanced since the last `reset_counts`."""
        with self._built.exclusive():
            is_asynchronous, visits, moved = self._built.core.stepping()
            steps, shards = self._built.core.timed_steps, self._built.core.shards
        return SteppingCounts(
            mode="async" if is_asynchronous else "bsp",
            visits=visits,
            steps_per_visit=steps * shards / visits if visits else float("nan"),
            bytes_per_step=moved / steps if steps else float("nan"),
        )

    @property
    def visits(self) -> npt.NDArray[np.int64]:
        """How often a shard of this process advanced by 0, 1, 2, ... steps at a time with ``stepping="async"``.

        Counted since the last `reset_counts`. Empty if all shards advance together: with ``stepping="bsp"``, and if
        the delays do not allow anything else (see `stepping`).
        """
        with self._built.exclusive():
            return np.array(self._built.core.visits(), dtype=np.int64)

    @property
    def crowding(self) -> Crowding:
        """How much other programs kept the threads of this process from their processors while it simulated."""
        return Crowding(*self._built.core.crowding())

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self._built.core.ranks

    @property
    def communicator(self) -> Communicator:
        """The processes that simulate the network together."""
        return self._built.communicator

    @property
    def exchange(self) -> str:
        """Method by which processes exchange spikes: for ``"auto"`` the chosen one, for one process ``"none"``."""
        with self._built.exclusive():
            return self._built.core.exchange

    @property
    def sorts_connections(self) -> bool:
        """Whether synapses are sorted by source, as set or as ``"auto"`` has chosen; the same on all processes."""
        return self._built.core.sorts_connections

    @property
    def epoch_steps(self) -> int:
        """Steps from one exchange of spikes to the next."""
        return self._built.core.epoch_steps

    @property
    def instruction_set(self) -> str:
        """The instruction set in use."""
        return self._built.core.instruction_set

    @property
    def programs(self) -> str:
        """How neurons and synapses of equations are executed: ``"compiled"`` or ``"interpreted"``; else ``"none"``.

        Very long programs are interpreted in any case, unless ``programs="compiled"`` was chosen.
        """
        return self._built.programs

    # ---- running -----------------------------------------------------------------------------------------------------

    @known_keywords
    def run(self, duration: float, *, save_every: float | None = None, to: str | PathLike[str] | None = None) -> None:
        """Continue the simulation for some time.

        Parameters
        ----------
        duration
            Milliseconds, >= 0, a multiple of the resolution.
        save_every
            Interval in ms at whose multiples the state is saved, as by `save`.
        to
            The file for that; each state replaces the one before.

        Raises
        ------
        GridError, ValueOutOfBoundsError
            For a duration that is negative or not a multiple of the resolution.
        FileError
            When the file of a recorder cannot be written. The run stops, the recorded data stay in memory, and the next
            run tries to write them again.
        InsufficientMemoryError
            When recordings do not fit in memory. State variables and weights that would not fit are detected before
            the first step; spikes stop the run. The data so far can be read.
        KeyboardInterrupt
            On Ctrl-C, after a whole step. The simulation can be continued, for example with `run_until`.

        Examples
        --------
        >>> sim.run(60_000.0, save_every=1000.0, to="state.h5")
        """

        def count_steps() -> int:
            steps = self._built.to_steps(number("duration of a run", duration), "duration of a run")
            if steps < 0:
                raise ValueOutOfBoundsError("duration of a run", f"{duration} ms", "it must be >= 0")
            return steps

        self._advance(count_steps, save_every, to)

    @known_keywords
    def run_until(self, time: float, *, save_every: float | None = None, to: str | PathLike[str] | None = None) -> None:
        """Run until a time (ms, not in the past); otherwise like `run`."""

        def count_steps() -> int:
            steps = self._built.to_steps(number("end of a run", time), "end of a run") - self.step
            if steps < 0:
                raise ValueOutOfBoundsError(
                    "end of a run", f"{time} ms", f"it is in the past: it is {text_of(self.time)} ms now"
                )
            return steps

        self._advance(count_steps, save_every, to)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the state of the simulation to a file, so that `load` can continue it.

        Everything is saved: variables and changed parameters of neurons, weights and traces of synapses, spikes on
        their way, changed stimuli, and recordings in memory. The file has the suffix ``.h5`` or ``.hdf5``. With several
        processes, each writes a separate file beside it; keep them together. The file is replaced in one step at the
        end: if the program is killed or the disk is full, the last complete state remains.

        All processes call it with the same path, in a folder that all of them see.

        Raises
        ------
        FileError
            When the file cannot be written, or exists and is not a saved state.
        StateError
            For a dry run.
        """
        with self._built.exclusive():
            save_state(self._built, self._store, path)

    def _advance(
        self, count_steps: Callable[[], int], save_every: float | None, to: str | PathLike[str] | None
    ) -> None:
        with self._built.exclusive():
            steps = agree_on(self._built.communicator, "steps to run", count_steps)
            saves = agree_on(
                self._built.communicator, "saving the state", lambda: prepare_run(self._built, steps, save_every, to)
            )
            begin = self.step
            end = begin + steps
            total = time_of(steps, self.resolution)
            with ProgressReporter(self._progress, "run", f"Simulating {text_of(total)} ms", total) as reporter:
                run_to(self._built, self._store, end, saves, reporter)

    # ---- values of neurons, stimuli and synapses ---------------------------------------------------------------------

    @overload
    def get(self, neurons: PopulationView | Sequence[PopulationView], names: str) -> FloatArray: ...

    @overload
    def get(
        self, neurons: PopulationView | Sequence[PopulationView], names: list[str] | tuple[str, ...]
    ) -> dict[str, FloatArray]: ...

    def get(
        self, neurons: PopulationView | Sequence[PopulationView], names: str | list[str] | tuple[str, ...]
    ) -> FloatArray | dict[str, FloatArray]:
        """Return state variables or parameters of neurons, in their units, as read-only arrays.

        Use `set` to change the values, and ``sim.get(...).copy()`` for a writable array.

        Parameters
        ----------
        neurons
            A population, a part of one, or a list of these; the values of a list are concatenated.
        names
            One name: an array of shape ``(neurons,)`` is returned. A list of names: a dict of such arrays.

        Raises
        ------
        UnknownNameError
            When the model has no value of that name; the message suggests the nearest name.
        """
        with self._built.exclusive():
            return get_values(self._built, neurons, names)

    def set(
        self, part: PopulationView | Sequence[PopulationView] | Stimulus, /, *positional: Never, **values: Any
    ) -> None:
        """Change neurons or a stimulus from the next step on. If one of the values is refused, nothing changes.

        Parameters
        ----------
        part
            A population, a part of one, a list of these, or a stimulus.
        **values
            *Of neurons*: parameters and state variables, as for `Network.create`: numbers, arrays of shape
            ``(neurons,)`` or distributions. Drawn values depend on the seed, the neuron, the name and the present step,
            not on threads or processes. Before the first step they equal those that `Network.create` would have drawn.
            *Of sources with given spike times*: ``spike_times``, a list of future times for each source. They replace
            all spikes that the source has not emitted yet.
            *Of a stimulus*: ``weight`` and the parameters of the stimulator, as for `Network.stimulate`. From the next
            step on, the targets get the input that they would get if the stimulus had always had these values, with
            the same random numbers. Trains of gamma distributed intervals depend on their past: the rest of the
            present interval passes at the new rate, and the new shape and dead time hold from the next interval on. The
            delay of a stimulus cannot be changed.

        Raises
        ------
        UnknownNameError, ShapeError, ValueOutOfBoundsError
            For names that do not exist, for values that are not allowed, and for too many spikes in one step, if the
            sum of their weights would not be exact. Then nothing is changed on any process.
        ReadOnlyError
            For values that cannot be changed in a simulation.

        Examples
        --------
        >>> sim.set(exc, I_e=100.0, V_m=rv.Normal(-65.0, 3.0))
        >>> sim.set(drive, rate=9000.0)
        """
        if positional:
            raise WrongTypeError(
                "values to set",
                type(positional[0]).__name__,
                "must be given by name",
                "write sim.set(neurons, V_m=...)",
            )
        with self._built.exclusive():
            set_values(self._built, part, values)

    @known_keywords
    def connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
        receptor: str | None = None,
        site: npt.ArrayLike | None = None,
    ) -> Connections:
        """Return synapses, as arrays.

        Parameters
        ----------
        sources, targets
            Only synapses from and to these neurons: a population, a part of one, or an array of global ids; None: all.
        projection
            Only synapses of this projection; None: of all projections.
        receptor, site
            Only synapses that reach the receptor of this name, and sites with these numbers; None: all.

        Raises
        ------
        ValueOutOfBoundsError, UnknownNameError
            For neurons, a receptor or sites that the network does not have.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "connections"):
                query = self._built.query(sources, targets, projection, receptor, site)
            self._built.agree_on_request("connections", *query)
            return self._find_synapses(query)

    @known_keywords
    def count_connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
        receptor: str | None = None,
        site: npt.ArrayLike | None = None,
    ) -> int:
        """Return the number of synapses that `connections` would return."""
        with self._built.exclusive():
            with agreed(self._built.communicator, "connections"):
                query = self._built.query(sources, targets, projection, receptor, site)
            self._built.agree_on_request("connections", *query)
            return self._built.core.count_connections(*query)

    @known_keywords
    def distance_histogram(
        self,
        projection: Projection,
        *,
        bins: int = 40,
        max_distance: float | None = None,
        most_pairs: int = 20_000_000,
    ) -> DistanceHistogram:
        """Return the connections of a projection and the pairs of its neurons by distance.

        The pairs are those of the neurons at their positions, also near the ends of a box and across its periodic ends,
        so connections divided by pairs are the connection probability. Its `fit` finds the kernel that the connections
        were drawn from, and `ranvier.plot.distances` shows it.

        Parameters
        ----------
        projection
            The projection; all of its neurons must have positions. Pairs of a neuron with itself are left out, unless
            the rule allows them.
        bins
            Number of bins from 0 to `max_distance`, which is in the unit of the positions; None: the greatest distance
            of a connection.
        max_distance
            See `bins`.
        most_pairs
            The distances of all pairs are computed; where there are more pairs than this, those of a regular selection
            of the targets. Counted are the connections and the pairs of the same targets.

        Raises
        ------
        StateError
            When neurons have no positions, or there is no connection and no `max_distance`.
        ShapeError, ValueOutOfBoundsError
            When positions have different dimensions, units or periods, and for values outside their bounds.

        Examples
        --------
        >>> found = sim.distance_histogram(projection)
        >>> found.fit("gaussian")
        >>> rv.plot.distances(found, fits="gaussian")
        """
        if not isinstance(projection, Projection):
            raise WrongTypeError("projection", type(projection).__name__, "must be a projection of the network")
        targets = counted_targets(projection, most_pairs)

        def connections() -> tuple[IntArray, IntArray]:
            found = self.connections(targets=targets, projection=projection)
            return np.asarray(found.sources), np.asarray(found.targets)

        return distance_histogram(projection, targets, bins, max_distance, connections)

    # ---- recordings --------------------------------------------------------------------------------------------------

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return the spikes of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets which spikes. A process that gets none returns data of
        no neurons. With ``"local"`` and a file, each process reads the files of all processes as one recording.
        All processes must call this, also those without data.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, SpikeRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.spikes(recorder)

    def state(self, recorder: StateRecorder) -> StateData:
        """Return the samples of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets which samples. A process that gets none returns data of
        no neurons; with ``"local"``, `StateData.ids` has only the neurons of this process. All must call this.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, StateRecorder)
            self._built.agree_on_request("recordings", type(recorder).__name__, recorder.index)
            return self._store.state(recorder)

    def extracellular(self, recorder: ExtracellularRecorder | LfpRecorder) -> ExtracellularData:
        """Return the potentials of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets them; with ``"local"`` each gets those of its cells,
        whose sum is the potential. All must call this.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                kind = LfpRecorder if isinstance(recorder, LfpRecorder) else ExtracellularRecorder
                self._built.check_recorder(recorder, kind)
            self._built.agree_on_request("recordings", kind.__name__, recorder.index)
            data = self._store.state(recorder)
        assert isinstance(data, ExtracellularData)
        return data

    def dipole(self, recorder: DipoleRecorder) -> DipoleData:
        """Return the moments of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets them; with ``"local"`` each gets those of its cells, or
        their sum. All must call this.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, DipoleRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            data = self._store.state(recorder)
        assert isinstance(data, DipoleData)
        return data

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return the weights of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets which synapses, as for `state`; all must call this.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, WeightRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.weights(recorder)

    # ---- counts and times --------------------------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Return sizes of the simulation, and counts since the start or the last `reset_counts`."""
        with self._built.exclusive():
            counts = self._built.core.counts()
        return Counts(
            neurons=counts.neurons,
            synapses=counts.synapses,
            spikes=counts.spikes,
            synaptic_events=counts.synaptic_events,
            steps=counts.steps,
            population_spikes={
                population.name: spikes
                for population, spikes in zip(self._built.populations, counts.population_spikes, strict=True)
                if not population.is_source
            },
        )

    def reset_counts(self) -> None:
        """Set the counts of spikes, events, steps and times to zero, for example after a transient."""
        with self._built.exclusive():
            self._built.core.reset_counts()

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of wall-clock time by phase.

        *build* makes neurons and synapses, *init* sorts the tables and makes the presynaptic table and the buffers,
        *simulation* is the total of all runs since the last `reset_counts`. *update*, *collocate*, *communicate*,
        *deliver*, *wait* and *record* are parts of *simulation*, averaged over the threads of this process.
        """
        with self._built.exclusive():
            times = self._built.core.times()
        return {name: getattr(times, name) for name in (*PHASES, *PARTS)}

    def timers(self) -> Timers:
        """Return the times of all parts of the simulation, on all processes and threads. All processes must call it.

        Raises
        ------
        StateError
            While the simulation is busy.
        """
        with self._built.exclusive():
            phases, parts = self._built.core.times(), self._built.core.worker_times()
            all_phases = values_of_all(self._built.communicator, {name: getattr(phases, name) for name in PHASES})
            all_parts = values_of_all(self._built.communicator, parts)
        return Timers(
            phases={name: np.array([one[name] for one in all_phases]) for name in PHASES},
            parts={name: tuple(np.array(one[name]) for one in all_parts) for name in PARTS},
        )

    def traffic(self) -> Traffic:
        """Return how much this process has exchanged with the others; all zero for a single process."""
        with self._built.exclusive():
            return Traffic(**self._built.core.traffic())

    def greatest_fan_out(self) -> int:
        """Return the most other processes that the spikes of a neuron of this process are sent to.

        With a method that sends spikes to all processes, these are all others. The whole presynaptic table is read.
        """
        with self._built.exclusive():
            return self._built.core.greatest_fan_out()

    def epoch_times(self) -> EpochTimes:
        """Return the times and counts of each epoch on this process since the last `reset_counts`.

        Raises
        ------
        StateError
            When the simulation was built without ``trace_epochs``.
        """
        if not self._built.traces_epochs:
            raise StateError(
                "times of epochs",
                bound="they were not kept",
                remedy="build it with tuning=rv.Tuning(trace_epochs=True)",
            )
        with self._built.exclusive():
            return EpochTimes(*self._built.core.epoch_times())

    def trace(self) -> Trace:
        """Return the latest work of each thread of this process since the last `reset_counts`.

        `Trace.account` says where the time of a step went, and `Trace.write` writes a file for Perfetto.

        Raises
        ------
        StateError
            When the simulation was built without ``trace``.

        Examples
        --------
        >>> sim = rv.Simulation(net, tuning=rv.Tuning(trace=10_000))
        >>> sim.run(1000.0)
        >>> sim.trace().account().per_step
        >>> sim.trace().write("trace.json.gz")
        """
        if not self._built.options.trace:
            raise StateError(
                "trace",
                bound="no work of threads was kept",
                remedy="build it with tuning=rv.Tuning(trace=10_000)",
            )
        core, communicator = self._built.core, self._built.communicator
        with self._built.exclusive():
            return Trace.of(
                core.trace(),
                rank=communicator.rank,
                # The other processes of a dry run have no files.
                ranks=1 if communicator.is_dry_run else communicator.size,
                threads=core.threads,
                shards=core.shards,
            )

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second since the last `reset_counts`; NaN before a run.

        If a state was loaded, it is that since then.
        """
        simulated = time_of(self._built.core.timed_steps, self.resolution) / 1000.0
        return self.phases["simulation"] / simulated if simulated else float("nan")

    def memory(self) -> dict[str, int]:
        """Return the bytes that the simulation uses, by component, as counted by the simulation itself.

        With a device, the components whose names begin with ``"device "`` are those of the memory of this device.
        """
        with self._built.exclusive():
            items = dict(self._built.core.memory()) | dict(self._built.core.device_memory())
            # Recordings that were taken from the core are arrays of NumPy.
            items["recordings"] += self._store.taken_bytes + self._store.evaluation_bytes
        return items

    def memory_by_node(self) -> dict[str, dict[str, int]]:
        """Return the bytes that the simulation uses, by NUMA node and component, as counted by the simulation itself.

        The memory of each thread is counted for the node to which the thread is bound. Nodes have the
        numbers of the operating system. If there are several nodes and threads are not bound to one, their memory is
        counted as ``"any"``.
        """
        with self._built.exclusive():
            return {node: dict(parts) for node, parts in self._built.core.memory_by_node().items()}

    def memory_pages(self) -> dict[str, int]:
        """Return the real location of the simulation's arrays: bytes by NUMA node, from a sample of their pages.

        Small arrays are left out. Bytes that have no physical memory yet are counted as ``"untouched"``. If the system
        does not report locations, as in some containers, bytes are counted as ``"unknown"``.
        """
        with self._built.exclusive():
            return dict(self._built.core.memory_pages())

    # ---- other methods -----------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """Return a table for notebooks; on several processes without counts, which are a collective call."""
        counts = self.counts() if self._built.communicator.size == 1 else None
        rows = {
            "time": f"{text_of(self.time)} ms",
            "neurons": f"{self.network.neuron_count:,}",
            "synapses": f"{counts.synapses:,}" if counts else None,
            "spikes": f"{counts.spikes:,}" if counts else None,
            "threads": self.threads,
            "processes": self.ranks if self.ranks > 1 else None,
        }
        return card(f"Simulation of {self.network.name}", rows)

    def __repr__(self) -> str:
        now = text_of(self.time)
        return (
            f"<Simulation of {self.network.name} at {now} ms, "
            f"{counted(self.threads, 'thread')}, {self.instruction_set}>"
        )

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            "object to copy or pickle",
            "a simulation",
            "must be a network",
            "pickle its network and build it again",
        )

    def _find_synapses(self, query: SynapseQuery) -> Connections:
        built = self._built
        sources, targets, steps, projections, sites, handles = built.core.connections(*query)
        times = times_of(steps, self.resolution)
        numbers = projections.astype(np.int64), sites.astype(np.int64)
        return Connections(built, sources, targets, times, *numbers, handles)

    def _sampled_synapses(self, recorder: WeightRecorder) -> Connections:
        return self._find_synapses(self._built.query(recorder.sources, recorder.targets, recorder.projection))


Simulation.__doc__ = (Simulation.__doc__ or "").replace(
    "    {options}\n", textwrap.indent(as_docstring(RunOptions.options), "    ")
)
