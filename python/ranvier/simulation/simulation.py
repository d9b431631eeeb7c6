"""Simulations: networks that have been built, with their state at the present time."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Never, NoReturn, Self, overload

import numpy as np
import numpy.typing as npt

from ranvier.base.keywords import known_keywords
from ranvier.base.names import counted
from ranvier.base.numeric import number
from ranvier.base.times import text_of, time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import ReadOnlyError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.network import Network, check_network
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agree_on, agreed
from ranvier.recording.data import SpikeData, StateData, WeightData
from ranvier.simulation.accounts import Accounts
from ranvier.simulation.building import build, choose_communicator
from ranvier.simulation.built_network import SynapseQuery
from ranvier.simulation.changes import get_values, set_values
from ranvier.simulation.connections import Connections
from ranvier.simulation.described_options import as_docstring
from ranvier.simulation.loading import load_state, open_state
from ranvier.simulation.named_options import names_options
from ranvier.simulation.options import (
    DryRun,
    Precision,
    Processes,
    Recordings,
    RunOptions,
    Stepping,
    Tuning,
    way_to_change,
)
from ranvier.simulation.progress import ProgressOption, ProgressReporter
from ranvier.simulation.recordings import RecordingStore
from ranvier.simulation.running import prepare_run, run_to
from ranvier.simulation.saving import save_state

__all__ = ["Simulation"]


class Simulation(Accounts):
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
        with a `ranvier.ProgressReport` about 20 times a second. What it raises stops the work at a safe point.
    processes
        How many processes share the network; see `Processes`.
    tuning
        How each process uses its processors and its memory; see `Tuning`.
    dry_run
        Let this process stand for one of many; see `DryRun`.

    Raises
    ------
    InsufficientMemoryError
        When the network needs more memory than is available. The check takes place before anything is built.
    StateError
        For a network without neurons.
    FileError
        When the file of a recorder cannot be written. The check takes place before anything is built.
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

    @names_options
    def __init__(
        self,
        network: Network,
        *,
        threads: int | None = None,
        stepping: Stepping = "bsp",
        precision: Precision = "double",
        weight_precision: Precision = "single",
        memory_limit: int | None = None,
        recordings: Recordings = "everywhere",
        progress: ProgressOption = None,
        processes: Processes | None = None,
        tuning: Tuning | None = None,
        dry_run: DryRun | None = None,
    ) -> None:
        run = (threads, stepping, precision, weight_precision, memory_limit, recordings)
        self._begin(network, run, progress, (processes, tuning, dry_run))

    @classmethod
    @names_options
    def load(
        cls,
        network: Network,
        path: str | PathLike[str],
        *,
        threads: int | None = None,
        stepping: Stepping = "bsp",
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

        The simulation goes on as the saved one would have: spikes, weights and recordings are the same, bit for bit.
        All options may differ except for the two precisions.

        Parameters
        ----------
        network
            The network that was saved.
        path
            The file that `save` has written.
        threads, stepping, precision, weight_precision, memory_limit, recordings, progress, processes, tuning, dry_run
            As for `Simulation`.

        Raises
        ------
        FileError
            When there is no such file, or when it is not a complete, unchanged state.
        StateError
            When it is the state of another network; the error names the first difference.

        Examples
        --------
        >>> sim.save("state.h5")
        >>> later = rv.Simulation.load(net, "state.h5", threads=2)
        >>> later.run(1000.0)
        """
        simulation = cls.__new__(cls)
        run = (threads, stepping, precision, weight_precision, memory_limit, recordings)
        simulation._begin(network, run, progress, (processes, tuning, dry_run), path)
        return simulation

    def _begin(
        self,
        network: Network,
        run: tuple[int | None, Stepping, Precision, Precision, int | None, Recordings],
        progress: ProgressOption,
        groups: tuple[Processes | None, Tuning | None, DryRun | None],
        state: str | PathLike[str] | None = None,
    ) -> None:
        """Build the network, and load a state if there is one."""
        threads, stepping, precision, weight_precision, memory_limit, recordings = run
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

    # ---- running -----------------------------------------------------------------------------------------------------

    @known_keywords
    def run(self, duration: float, *, save_every: float | None = None, to: str | PathLike[str] | None = None) -> None:
        """Continue the simulation for some time.

        Parameters
        ----------
        duration
            Milliseconds, >= 0, a multiple of the resolution.
        save_every
            Save the state at each time that is a multiple of so many milliseconds, as `save` does.
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
        processes, each writes a file of its own beside it; keep them together. The file is replaced in one step at the
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
                self._built.communicator, "saving the state", lambda: prepare_run(self._built, save_every, to)
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

        Use `set` to change the values, and ``sim.get(...).copy()`` for an array that you can write to.

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
            For names that do not exist, for values that are not allowed, and for so many spikes in one step that the
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

    # ---- recordings --------------------------------------------------------------------------------------------------

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return the spikes of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets which spikes. A process that gets none returns data of
        no neurons. With ``"local"`` and a file, each process reads the files of all processes as one recording.
        All processes must call this, also those that get nothing.
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
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.state(recorder)

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return the weights of a recorder since the start of the simulation; they are read from its file if any.

        The option ``recordings`` determines which process gets which synapses, as for `state`; all must call this.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, WeightRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.weights(recorder)

    def __repr__(self) -> str:
        now = text_of(self.time)
        return (
            f"<Simulation of {self.network.name} at {now} ms, "
            f"{counted(self.threads, 'thread')}, {self.instruction_set}>"
        )

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            "what is copied or pickled",
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
