"""A network that has been built, and its state at one point in time."""

from __future__ import annotations

import contextlib
import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ranvier import _core, mpi
from ranvier.base.immutable import locked
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.memory_checks import check_room
from ranvier.base.names import unknown_name
from ranvier.base.numeric import as_array, number, number_array, whole_number
from ranvier.base.times import text_of, time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import (
    ReadOnlyError,
    ShapeError,
    StateError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from ranvier.mpi import Communicator, Mpi4pyCommunicator
from ranvier.network.checks import check_text
from ranvier.network.network import Network, check_network
from ranvier.network.network_base import contents_of, snapshot_of
from ranvier.network.populations import Population, PopulationView
from ranvier.network.projections import Projection
from ranvier.network.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.recording.data import IntArray, SpikeData, StateData, WeightData
from ranvier.recording.store import RecordingStore, check_files
from ranvier.simulation.agreement import agree, agree_on, agreed, exchange_values, summary_of
from ranvier.simulation.connections import Connections
from ranvier.simulation.measurements import PARTS, PHASES, Bursts, Crowding, EpochTimes, Timers, Traffic
from ranvier.simulation.options import MOST_RANKS, RECORDINGS, Placement, check_choice, core_options
from ranvier.simulation.progress import ProgressOption, ProgressReporter

__all__ = ["Counts", "Simulation", "predict_memory", "sorts_connections"]


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
    pinning
        On which processors threads are kept: ``"equal"`` (the same number on each NUMA node), ``"compact"`` (on as few
        nodes as there can be with one thread a core), ``"none"``, or a list of processors, one for each thread;
        ``"auto"``: one on each processor or core when there are as many, else none. See docs/parallel.md.
    shards
        Into how many parts, at least one for each thread, the neurons of this process are divided; None: one for each
        thread. More make it possible that threads take work from each other, at the price of shorter reads of memory.
        The results are the same for any.
    stealing
        From whom a thread that has updated its own shards takes others: ``"none"``, ``"local_and_remote"`` (anybody),
        ``"prefer_local"`` (those of its NUMA node first) or ``"local_only"`` (of its node). The results are the same
        for each.
    costs
        What a neuron of each population costs compared to others, by the name of the population, as `costs()` of an
        earlier simulation tells; ``"measured"``: a simulation of 100 ms is made and thrown away to find out. Shards
        then get neurons so that the costs are even. None: so that the numbers are. The results are the same for any.
    measure_costs
        Whether to measure what the populations cost, for `costs()`; takes some time of each step.
    memory_limit
        Bytes that the network may take on this process; None: what the machine has available, shared with the other
        processes of the run on it.
    communicator
        The processes that simulate the network together: a `ranvier.mpi.Communicator` or one of mpi4py; None: all that
        mpiexec has started, or this process alone. All of them must make the same simulation of the same network, and
        call its methods together.
    placement
        Which process has which neuron: ``"round_robin"`` (by id), ``"consecutive"`` (ranges of ids), ``"shuffle"`` (at
        random), or an array with a rank for each neuron and spike source, by id. The results are the same for each.
    exchange
        How processes exchange spikes; `ranvier.mpi.exchanges` lists the methods. The results are the same for each.
    intervals
        1 or 2: into how many intervals the shortest delay is divided, so that with 2 spikes travel during one of them
        while neurons are updated; for methods that can make use of it.
    spike_buffer
        Bytes of the buffer that spikes are sent from; what does not fit takes more rounds. None: 32 MiB.
    allgather_spikes
        Spikes that each process sends in one allgather, before a second one carries what is left; None: 16.
    connection_buffer
        Bytes of the buffers through which processes tell each other of synapses while the network is built; None: 128
        MiB.
    sort_connections
        Whether synapses are sorted by source, so that a spike is sent once to a process and not once for each synapse;
        ``"auto"``: unless they take less memory as they are, because most of the neurons that could have targets on a
        thread of a process have none, and neither the exchange nor ``row_numbering`` needs them sorted. All processes
        do the same, which `sorts_connections` tells. The results are the same for each.
    keep_sources
        Whether the sources of synapses are kept after the build. Without them memory is saved where networks are
        sparse, and connections cannot be asked for.
    row_numbering
        Whether tables have a row for every possible source (``"dense"``) or only for those with targets on this process
        (``"compact"``); ``"auto"``: whichever takes less memory.
    recordings
        Who gets what was recorded: ``"everywhere"`` (each process all of it), ``"root"`` (rank 0 all of it, the others
        nothing) or ``"local"`` (each what its neurons gave). Files are written by rank 0, or with ``"local"`` by each
        process for itself: ``spikes.h5`` becomes ``spikes.rank0.h5``, ``spikes.rank1.h5`` and so on, which
        `ranvier.read_spikes`, `spikes` and so on read together by the name without a rank, on any number of processes.
    wait_apart
        Whether processes meet before each exchange, so that waiting for others is told apart from exchanging.
    trace_epochs
        Whether the times of each interval between exchanges are kept, for `epoch_times`.
    invented_rate
        In a dry run (`ranvier.forecast.dry_run`): spikes/s that each neuron of all processes is said to send, in place
        of its own spikes, which are still recorded: a number, or a dict with one for each population by its name, such
        as the `SpikeData.mean_rates` of a real run. None: the other processes are taken to send what this one does.
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
        pinning: str | Sequence[int] = "auto",
        shards: int | None = None,
        stealing: str = "none",
        costs: Mapping[str, float] | Literal["measured"] | None = None,
        measure_costs: bool = False,
        memory_limit: int | None = None,
        communicator: Communicator | Mpi4pyCommunicator | None = None,
        placement: Placement | npt.ArrayLike = "round_robin",
        exchange: str = "alltoall",
        intervals: int = 1,
        spike_buffer: int | None = None,
        allgather_spikes: int | None = None,
        connection_buffer: int | None = None,
        sort_connections: bool | Literal["auto"] = "auto",
        keep_sources: bool = True,
        row_numbering: Literal["auto", "dense", "compact"] = "auto",
        recordings: Literal["everywhere", "root", "local"] = "everywhere",
        wait_apart: bool = False,
        trace_epochs: bool = False,
        invented_rate: float | Mapping[str, float] | None = None,
        progress: ProgressOption = None,
    ) -> None:
        check_network(network)
        self._communicator = _resolve(communicator)
        # Other threads may change the network while it is checked and built.
        present = snapshot_of(network)
        description, self._populations, self._recorders = (
            present.core,
            tuple(present.populations),
            tuple(present.recorders),
        )
        self._projections = len(present.projections)

        measures = isinstance(costs, str) and costs == "measured"

        def check() -> _core.SimulationOptions:
            options = core_options(
                threads=threads,
                precision=precision,
                weight_precision=weight_precision,
                instruction_set=instruction_set,
                table_layout=table_layout,
                delivery_window=delivery_window,
                pinning=pinning,
                shards=shards,
                stealing=stealing,
                costs=None if costs is None or measures else _costs(self._populations, costs),
                measure_costs=measure_costs,
                memory_limit=memory_limit,
                placement=placement,
                exchange=exchange,
                intervals=intervals,
                spike_buffer=spike_buffer,
                allgather_spikes=allgather_spikes,
                connection_buffer=connection_buffer,
                sort_connections=sort_connections,
                keep_sources=keep_sources,
                row_numbering=row_numbering,
                wait_apart=wait_apart,
                trace_epochs=trace_epochs,
                invented_rate=_rates(self._populations, invented_rate),
            )
            check_choice("recordings", recordings, RECORDINGS)
            check_files(self._recorders, self._communicator, recordings)
            return options

        options = agree(self._communicator, "options of the simulation", check)
        in_files = sum(recorder.to is not None for recorder in self._recorders)
        agree_on(self._communicator, "recordings", lambda: f"{recordings}, {in_files} of them in files")
        self._network = network
        # On a terminal, one line for all processes is enough.
        self._progress = progress if callable(progress) or self._communicator.rank == 0 else False
        self._traces_epochs = trace_epochs
        self._busy = False
        self._process = os.getpid()
        # The resolution of the network may be changed later; that of the simulation stays.
        self._grid = _core.Network(description.resolution, 0)
        synapses = description.expected_synapses
        title = f"Building {description.neuron_count:,} neurons and {synapses:,.0f} synapses"
        with (
            ProgressReporter(self._progress, "build", title) as reporter,
            # Else one process might not come to tell the others that it has stopped.
            interrupts_deferred() as interrupts,
            agreed(self._communicator, "building the network"),
            interrupts.allowed(),
        ):
            progress_of_build = None if reporter.silent else lambda: reporter.update(0.0)
            if measures:
                options.costs = _measure_costs(description, options, self._communicator, progress_of_build)
                options.measure_costs = measure_costs
            self._core = _core.Simulation(description, options, self._communicator, progress=progress_of_build)
        self._store = RecordingStore(
            self._core,
            (network.name, description.seed, self._recorders),
            self._sampled_synapses,
            self._communicator,
            recordings,
        )

    def __setattr__(self, name: str, value: object) -> None:
        # What is assigned by mistake would be lost without a word.
        if not name.startswith("_") and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(
                f"{name} of a simulation",
                bound="it cannot be assigned",
                remedy=f"write sim.set(population, {name!r}, ...) for what neurons have, or build another simulation",
            )
        super().__setattr__(name, value)

    # ---- running -----------------------------------------------------------------------------------------------------

    def run(self, duration: float) -> None:
        """Run for some more time.

        Parameters
        ----------
        duration
            Milliseconds, >= 0, a multiple of the resolution.

        Raises
        ------
        GridError, ValueOutOfBoundsError
            For a duration that is negative or not on the grid.
        FileError
            When the file of a recorder cannot be written any more. What was recorded is kept, and the next run tries
            again.
        KeyboardInterrupt
            On Ctrl-C, after a whole step. The simulation can be continued, for example with `run_until`.
        """

        def count_steps() -> int:
            steps = self._grid.to_steps(number("duration of a run", duration), "duration of a run")
            if steps < 0:
                raise ValueOutOfBoundsError("duration of a run", f"{duration} ms", "it must be >= 0")
            return steps

        self._advance(count_steps)

    def run_until(self, time: float) -> None:
        """Run until a point in time (ms, not in the past); as `run`."""

        def count_steps() -> int:
            steps = self._grid.to_steps(number("end of a run", time), "end of a run") - self.step
            if steps < 0:
                raise ValueOutOfBoundsError(
                    "end of a run", f"{time} ms", f"it is in the past: it is {text_of(self.time)} ms now"
                )
            return steps

        self._advance(count_steps)

    def _advance(self, count_steps: Callable[[], int]) -> None:
        with self._exclusive():
            steps = agree_on(self._communicator, "steps to run", count_steps)
            begin = self.step
            end = begin + steps
            total = time_of(steps, self.resolution)
            with ProgressReporter(self._progress, "run", f"Simulating {text_of(total)} ms", total) as reporter:
                self._run_to(end, reporter, begin)

    def _run_to(self, end: int, reporter: ProgressReporter, begin: int) -> None:
        poll: Callable[[], None] | None = None
        if not reporter.silent:

            def poll() -> None:
                reporter.update(time_of(self._core.step - begin, self.resolution))

        # An interruption between the steps and what is recorded of them would lose it.
        with interrupts_deferred() as interrupts:
            while True:
                chunk = self._store.next_chunk(end)
                try:
                    # Processes stop after the same step, but the one that wanted to may be the only one that knows.
                    with agreed(self._communicator, "run"), interrupts.allowed():
                        self._core.run(chunk, poll)
                finally:
                    # After an interruption too, so that the files reach as far as the simulation.
                    self._store.write()
                if self._core.step >= end:
                    return

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
        return time_of(self.step, self.resolution)

    @property
    def resolution(self) -> float:
        """Length of a step, ms."""
        return self._core.resolution

    @property
    def threads(self) -> int:
        """Number of worker threads."""
        return self._core.threads

    def costs(self) -> dict[str, float]:
        """Return what a neuron of each population has cost on average, in nanoseconds a step, by population.

        That is its update with its stimuli, and the share of delivery that the synapses onto it take if all synapses
        cost the same and the neurons of a population have as many as each other. Since the last `reset_counts`.

        Raises
        ------
        StateError
            When the simulation was made without ``measure_costs``, or has not run.
        """
        with self._exclusive():
            costs = self._core.costs()
        return {population.name: 1e9 * cost for population, cost in zip(self._populations, costs, strict=True)}

    @property
    def shards(self) -> int:
        """Number of parts into which the neurons of this process are divided."""
        return self._core.shards

    @property
    def processors(self) -> list[int | None]:
        """The processor that each thread of this process is kept on; None for one that the system may move."""
        return [processor if processor >= 0 else None for processor, _ in self._core.places]

    @property
    def oversubscribed(self) -> bool:
        """Whether some processor has more than one thread of this run, so that threads wait for each other."""
        return self._core.is_crowded

    @property
    def stolen_shards(self) -> int:
        """How often a thread of this process has updated a shard of another one for an epoch."""
        with self._exclusive():
            return sum(local + remote for _, local, remote in self._core.stealing_counts())

    @property
    def crowding(self) -> Crowding:
        """How much other programs kept the threads of this process from their processors while it simulated."""
        return Crowding(*self._core.crowding())

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self._core.ranks

    @property
    def communicator(self) -> Communicator:
        """The processes that simulate the network together."""
        return self._communicator

    @property
    def exchange(self) -> str:
        """The method by which processes exchange spikes; for ``"auto"`` the one it has chosen, ``"none"`` for none."""
        with self._exclusive():
            return self._core.exchange

    @property
    def sorts_connections(self) -> bool:
        """Whether synapses are sorted by source, as was asked for or as ``"auto"`` has chosen; for all processes."""
        return self._core.sorts_connections

    @property
    def instruction_set(self) -> str:
        """The instruction set in use."""
        return self._core.instruction_set

    def get(self, neurons: PopulationView, name: str) -> FloatArray:
        """Return a state variable or a parameter of neurons, shape ``(len(neurons),)``, in its unit, to be read only.

        `set` changes it; ``sim.get(...).copy()`` is an array of your own.

        Raises
        ------
        UnknownNameError
            When their model has none of that name; the message tells the nearest one.
        """
        with self._exclusive():
            with agreed(self._communicator, f"getting {name}"):
                check_text("name of what to get", name)
                parts = self._indices(neurons)
            self._agree_on_request("getting", name, neurons.name)
            values = [self._core.get(index, name, indices) for index, indices in parts]
            # Who writes to it would change nothing.
            return locked(values[0] if len(values) == 1 else np.concatenate(values))

    def set(self, neurons: PopulationView, name: str, values: npt.ArrayLike) -> None:
        """Set a state variable or a parameter of neurons, in its unit: a number, or an array with one for each.

        Raises
        ------
        UnknownNameError, ShapeError, ValueOutOfBoundsError
            Nothing is changed then.
        """
        with self._exclusive():
            with agreed(self._communicator, f"setting {name}"):
                check_text("name of what to set", name)
                parts = self._indices(neurons)
                shape = (len(neurons),)
                array = number_array(name, values, "a number or an array of numbers")
                if array.ndim > 0 and array.shape != shape:
                    raise ShapeError(
                        f"{name} of {neurons.name}",
                        f"an array of shape {array.shape}",
                        f"it must be a number or of shape {shape}",
                    )
            self._agree_on_request("setting", name, neurons.name, array)
            self._set_all(name, parts, np.broadcast_to(array, shape))

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
        with self._exclusive():
            with agreed(self._communicator, "connections"):
                query = self._query(sources, targets, projection)
            self._agree_on_request("connections", *query)
            return self._find_synapses(*query)

    def count_connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
    ) -> int:
        """Return the number of synapses that `connections` would return."""
        with self._exclusive():
            with agreed(self._communicator, "connections"):
                query = self._query(sources, targets, projection)
            self._agree_on_request("connections", *query)
            return self._core.count_connections(*query)

    # ---- recordings --------------------------------------------------------------------------------------------------

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return what a spike recorder has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells. One that gets nothing gets spikes of no neurons. With
        ``"local"``, files of all processes are read as one by each.
        """
        with self._exclusive():
            with agreed(self._communicator, "recordings"):
                self._check_recorder(recorder, SpikeRecorder)
            self._agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.spikes(recorder)

    def state(self, recorder: StateRecorder) -> StateData:
        """Return what a state recorder has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells. One that gets nothing gets samples of no neurons, and one that
        gets what its own neurons gave gets no others in `StateData.ids`.
        """
        with self._exclusive():
            with agreed(self._communicator, "recordings"):
                self._check_recorder(recorder, StateRecorder)
            self._agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.state(recorder)

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return what a recorder of weights has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells, as for `state`: it gets synapses, not only their weights.
        """
        with self._exclusive():
            with agreed(self._communicator, "recordings"):
                self._check_recorder(recorder, WeightRecorder)
            self._agree_on_request("recordings", recorder.kind, recorder.index)
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

        *build* makes neurons and synapses, *init* sorts the tables and makes the presynaptic table and the buffers,
        *simulation* is all runs since the last `reset_counts`. *update*, *collocate*, *communicate*, *deliver*, *wait*
        and *record* are parts of it, means over the threads of this process.
        """
        with self._exclusive():
            times = self._core.times()
        return {name: getattr(times, name) for name in (*PHASES, *PARTS)}

    def timers(self) -> Timers:
        """Return where the time of all processes and their threads went; all processes must call it.

        Raises
        ------
        StateError
            While the simulation is busy.
        """
        with self._exclusive():
            phases, parts = self._core.times(), self._core.worker_times()
            all_phases = exchange_values(self._communicator, {name: getattr(phases, name) for name in PHASES})
            all_parts = exchange_values(self._communicator, parts)
        return Timers(
            phases={name: np.array([one[name] for one in all_phases]) for name in PHASES},
            parts={name: tuple(np.array(one[name]) for one in all_parts) for name in PARTS},
        )

    def traffic(self) -> Traffic:
        """Return what this process has exchanged with the others; all zero for one process alone."""
        with self._exclusive():
            return Traffic(**self._core.traffic())

    def epoch_times(self) -> EpochTimes:
        """Return the times of each epoch on this process since the last `reset_counts`.

        Raises
        ------
        StateError
            When the simulation was built without ``trace_epochs``.
        """
        if not self._traces_epochs:
            raise StateError("times of epochs", bound="they were not kept", remedy="build it with trace_epochs=True")
        with self._exclusive():
            return EpochTimes(*self._core.epoch_times())

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second, since the last `reset_counts`; not a number before a run."""
        simulated = time_of(self.counts().steps, self.resolution) / 1000.0
        return self.phases["simulation"] / simulated if simulated else float("nan")

    def memory(self) -> dict[str, int]:
        """Return the bytes that the simulation takes, by component, from its own account."""
        with self._exclusive():
            return dict(self._core.memory())

    def memory_by_node(self) -> dict[str, dict[str, int]]:
        """Return the bytes that the simulation takes, by NUMA node and component, from its own account.

        Each thread has memory of its own, which is counted at the node that the thread is bound to; nodes are named by
        the numbers that the system gives them. Where threads are bound to no node, and there are several, it is counted
        as ``"any"``.
        """
        with self._exclusive():
            return {node: dict(parts) for node, parts in self._core.memory_by_node().items()}

    def memory_pages(self) -> dict[str, int]:
        """Return where the arrays of the simulation really lie: bytes by NUMA node, from a sample of their pages.

        Small arrays are left out. Bytes that have no place yet are ``"untouched"``; where the system does not tell, as
        in some containers, they are ``"unknown"``.
        """
        with self._exclusive():
            return dict(self._core.memory_pages())

    def __repr__(self) -> str:
        now = text_of(self.time)
        return f"<Simulation of {self._network.name} at {now} ms, {self.threads} threads, {self.instruction_set}>"

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            "what is copied or pickled",
            "a simulation",
            "must be a description",
            "pickle its network and build it again",
        )

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

    def _agree_on_request(self, what: str, *asked: object) -> None:
        """Make sure that all processes ask for the same: else they would wait for each other in vain."""
        if self._communicator.size > 1:
            agree_on(self._communicator, what, lambda: ", ".join(map(summary_of, asked)))

    def _check_view(self, what: str, view: PopulationView) -> None:
        if not isinstance(view, PopulationView):
            raise WrongTypeError(what, type(view).__name__, "must be a population or a part of one")
        if view.network is not self._network:
            raise StateError(f"population {view.name}", bound="it belongs to another network")
        if any(population not in self._populations for population in view.populations):
            raise StateError(f"population {view.name}", bound="it was created after the simulation was built")

    def _indices(self, neurons: PopulationView) -> list[tuple[int, IntArray]]:
        """Return the index of each population and those of the neurons in it."""
        self._check_view("neurons", neurons)
        check_room(f"values of {neurons.name}", 16 * len(neurons), "ask for fewer neurons at a time")
        return [(part.population.index, part.indices) for part in neurons.parts]

    def _set_all(self, name: str, parts: list[tuple[int, IntArray]], values: FloatArray) -> None:
        """Set a value of neurons of one or several populations: of all of them or, when one is refused, of none."""
        before: list[tuple[int, IntArray, FloatArray]] = []
        begin = 0
        try:
            for index, indices in parts:
                own = np.ascontiguousarray(values[begin : begin + len(indices)])
                present = self._core.get(index, name, indices) if len(parts) > 1 else own
                self._core.set(index, name, indices, own)
                before.append((index, indices, present))
                begin += len(indices)
        except BaseException:
            for index, indices, present in before:
                self._core.set(index, name, indices, present)
            raise

    def _ids(self, what: str, neurons: PopulationView | npt.ArrayLike | None) -> IntArray | None:
        if neurons is None:
            return None
        if isinstance(neurons, PopulationView):
            self._check_view(what, neurons)
            return neurons.ids
        given = as_array(what, neurons)
        if given is None:
            raise ShapeError(what, "lists of different lengths", "it must have one dimension")
        ids = np.atleast_1d(given)
        if ids.ndim != 1:
            raise ShapeError(what, f"an array of shape {ids.shape}", "it must have one dimension")
        if ids.size and not np.issubdtype(ids.dtype, np.integer):
            raise WrongTypeError(what, str(ids.dtype), "must be a population or global ids (integers)")
        units = sum(len(population) for population in self._populations)
        if ids.size and (ids.min() < 0 or ids.max() >= units):
            raise ValueOutOfBoundsError(what, f"{ids.min()} to {ids.max()}", f"global ids must be >= 0 and < {units}")
        # A copy: others may change theirs while this is looked at.
        return np.array(ids, dtype=np.int64)

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
            raise WrongTypeError("projection", type(projection).__name__, "must be a projection")
        if projection.network is not self._network:
            raise StateError(f"projection {projection.name}", bound="it belongs to another network")
        if projection.index >= self._projections:
            raise StateError(f"projection {projection.name}", bound="it was made after the simulation was built")
        return projection.index

    def _check_recorder(self, recorder: Recorder, kind: type[Recorder]) -> None:
        if not isinstance(recorder, kind):
            raise WrongTypeError("recorder", type(recorder).__name__, f"must be a {kind.__name__}")
        if recorder.network is not self._network:
            raise StateError(repr(recorder), bound="it belongs to another network")
        if recorder not in self._recorders:
            raise StateError(
                repr(recorder), bound="it was created after the simulation was built", remedy="build it again"
            )

    def _find_synapses(self, sources: IntArray | None, targets: IntArray | None, projection: int | None) -> Connections:
        source, target, _, steps, projections, handles = self._core.connections(sources, targets, projection)
        delay = times_of(steps, self.resolution)
        return Connections(
            self._core,
            self._exclusive,
            self._communicator,
            source,
            target,
            delay,
            projections.astype(np.int64),
            handles,
        )

    def _sampled_synapses(self, recorder: WeightRecorder) -> Connections:
        return self._find_synapses(*self._query(recorder.sources, recorder.targets, recorder.projection))


def _resolve(communicator: Communicator | Mpi4pyCommunicator | None) -> Communicator:
    if communicator is None:
        return mpi.world()
    if isinstance(communicator, Communicator):
        return communicator
    return mpi.communicator(communicator)


def _check_names(values: Mapping[str, float], names: list[str], one: str) -> None:
    """Make sure that there is a value for each population of a list, and no other; `one` is what a value is called."""
    for name in values:
        if name not in names:
            unknown_name(f"population with a {one}", name, names)
    for name in names:
        if name not in values:
            raise ShapeError(f"{one}s of populations", bound=f"there is none for {name}", remedy="give one for each")


def _costs(populations: Sequence[Population], costs: Mapping[str, float] | str) -> list[float]:
    """Return the costs of populations in their order."""
    if isinstance(costs, str):
        unknown_name("way to find costs", costs, ["measured"])
    if not isinstance(costs, Mapping):
        raise WrongTypeError(
            "costs", type(costs).__name__, "must be a mapping of populations to numbers, or 'measured'"
        )
    names = [population.name for population in populations]
    _check_names(costs, names, "cost")
    return [number(f"cost of population {name}", costs[name]) for name in names]


# Long enough for some spikes of each neuron, short beside what is simulated.
_PILOT_MS = 100.0


def _measure_costs(
    network: _core.Network,
    options: _core.SimulationOptions,
    communicator: Communicator,
    progress: Callable[[], None] | None,
) -> list[float]:
    """Return what a short simulation finds the populations to cost."""
    options.measure_costs = True
    pilot = _core.Simulation(network, options, communicator, progress=progress)
    pilot.run(math.ceil(_PILOT_MS / pilot.resolution), progress)
    return pilot.costs()


def _rates(populations: Sequence[Population], rates: float | Mapping[str, float] | None) -> float | list[float] | None:
    """Return rates by population in the order of the populations; those of sources that play spikes do not count."""
    if not isinstance(rates, Mapping):
        return rates
    _check_names(rates, [population.name for population in populations if not population.plays_spikes], "rate")
    return [
        0.0 if each.plays_spikes else number(f"rate of population {each.name}", rates[each.name])
        for each in populations
    ]


def _check_options(network: Network, options: Mapping[str, object]) -> None:
    check_network(network)
    known = list(inspect.signature(core_options).parameters)
    for name in options:
        if name not in known:
            unknown_name("option of a prediction", name, known)


def predict_memory(
    network: Network,
    *,
    ranks: int = 1,
    rank: int = 0,
    rate: float = 10.0,
    bursts: Bursts | None = None,
    **options: Any,
) -> dict[str, int]:
    """Return the bytes that a simulation of a network would take on one process, by component, without building it.

    ``"construction"`` is needed only while it is being built; recordings grow with the time that is simulated and are
    not in it.

    Parameters
    ----------
    network
        What would be built.
    ranks, rank
        How many processes would share it, and which of them is asked for.
    rate
        Mean rate of the neurons, spikes/s, which buffers depend on.
    bursts
        By how much the largest numbers of spikes exceed the mean, from `ranvier.measurements.Bursts.of` a run. None:
        neurons fire independently. Buffers of spikes are as large as the largest burst needs, which matters where
        synapses are not sorted by source, so that each of them gets a record of its own.
    **options
        Those of `Simulation`, but for ``communicator``, ``recordings`` and ``progress``, which change nothing here.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError, UnknownNameError
        For arguments that are none.
    """
    _check_options(network, options)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("rank", rank, 0, ranks - 1, "ranks are counted from 0")
    if options.get("costs") is not None:
        options["costs"] = _costs(network.populations, options["costs"])
    if not isinstance(bursts, Bursts | None):
        raise WrongTypeError("bursts", type(bursts).__name__, "must be ranvier.measurements.Bursts or None")
    most = (0.0, 0.0, 0.0) if bursts is None else (bursts.in_step, bursts.in_epoch, bursts.of_late)
    return dict(
        _core.predict_memory(
            contents_of(network).core, core_options(**options), ranks, rank, number("rate", rate), *most
        )
    )


def sorts_connections(network: Network, *, ranks: int = 1, **options: Any) -> bool:
    """Return whether a simulation of a network would sort its synapses by source, without building it.

    Parameters
    ----------
    network
        What would be built.
    ranks
        How many processes would share it, all with as many threads.
    **options
        As for `predict_memory`, which it raises the errors of, too.
    """
    _check_options(network, options)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    return _core.sorts_connections(contents_of(network).core, core_options(**options), ranks)
