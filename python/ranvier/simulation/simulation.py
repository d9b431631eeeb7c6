"""A network that has been built, and its state at one point in time."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Never, NoReturn, overload

import numpy as np
import numpy.typing as npt

from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.numeric import number
from ranvier.base.times import text_of, time_of, times_of
from ranvier.base.values import FloatArray
from ranvier.errors import ReadOnlyError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.network import Network, check_network
from ranvier.network.populations import PopulationView
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.recording.data import SpikeData, StateData, WeightData
from ranvier.recording.neuron_ids import IntArray
from ranvier.recording.store import RecordingStore
from ranvier.simulation.accounts import Accounts
from ranvier.simulation.agreement import agree_on, agreed
from ranvier.simulation.building import build, choose_communicator
from ranvier.simulation.changes import get_values, set_values
from ranvier.simulation.connections import Connections
from ranvier.simulation.described_options import as_docstring
from ranvier.simulation.named_options import names_options
from ranvier.simulation.options import DryRun, Precision, Processes, Recordings, RunOptions, Tuning
from ranvier.simulation.progress import ProgressOption, ProgressReporter

__all__ = ["Simulation"]


class Simulation(Accounts):
    """Builds a network and runs it.

    The description is copied: later changes of the network do not change the simulation. Several simulations may live
    in one process; one simulation takes one call at a time.

    Parameters
    ----------
    network
        What to build.
    {options}
    progress
        None: show progress when stderr is a terminal; True or False: always or never; a function: it gets a
        `ranvier.progress.ProgressReport` about 20 times a second, and what it raises stops the work at a safe point.
    processes
        How many processes share the network; see `Processes`.
    tuning
        How each of them uses its processors and its memory; see `Tuning`.
    dry_run
        Whether one process plays one of many; see `DryRun`.

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

    @names_options
    def __init__(
        self,
        network: Network,
        *,
        threads: int | None = None,
        precision: Precision = "double",
        weight_precision: Precision = "single",
        memory_limit: int | None = None,
        recordings: Recordings = "everywhere",
        progress: ProgressOption = None,
        processes: Processes | None = None,
        tuning: Tuning | None = None,
        dry_run: DryRun | None = None,
    ) -> None:
        check_network(network)
        communicator = choose_communicator(processes, dry_run)
        # On a terminal, one line for all processes is enough.
        self._progress = progress if callable(progress) or communicator.rank == 0 else False

        plays_many = dry_run is not None and dry_run.ranks is not None

        def choose_options() -> RunOptions:
            if plays_many and recordings == "root":
                raise StateError(
                    "recordings", "'root'", "a dry run records the neurons of one process", "write recordings='local'"
                )
            return RunOptions(
                threads=threads,
                precision=precision,
                weight_precision=weight_precision,
                memory_limit=memory_limit,
                recordings=recordings,
            )

        self._built = build(network, communicator, choose_options, (processes, tuning, dry_run), self._progress)
        self._store = RecordingStore(
            self._built.core,
            (network.name, self._built.seed, self._built.recorders),
            self._sampled_synapses,
            communicator,
            "local" if plays_many else recordings,
        )

    def __setattr__(self, name: str, value: object) -> None:
        # What is assigned by mistake would be lost without a word.
        if not name.startswith("_") and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(
                f"{name} of a simulation",
                bound="it cannot be assigned",
                remedy=f"write sim.set(population, {name}=...) for what neurons have, or build another simulation",
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
            steps = self._built.to_steps(number("duration of a run", duration), "duration of a run")
            if steps < 0:
                raise ValueOutOfBoundsError("duration of a run", f"{duration} ms", "it must be >= 0")
            return steps

        self._advance(count_steps)

    def run_until(self, time: float) -> None:
        """Run until a point in time (ms, not in the past); as `run`."""

        def count_steps() -> int:
            steps = self._built.to_steps(number("end of a run", time), "end of a run") - self.step
            if steps < 0:
                raise ValueOutOfBoundsError(
                    "end of a run", f"{time} ms", f"it is in the past: it is {text_of(self.time)} ms now"
                )
            return steps

        self._advance(count_steps)

    def _advance(self, count_steps: Callable[[], int]) -> None:
        with self._built.exclusive():
            steps = agree_on(self._built.communicator, "steps to run", count_steps)
            begin = self.step
            end = begin + steps
            total = time_of(steps, self.resolution)
            with ProgressReporter(self._progress, "run", f"Simulating {text_of(total)} ms", total) as reporter:
                self._run_to(end, reporter, begin)

    def _run_to(self, end: int, reporter: ProgressReporter, begin: int) -> None:
        poll: Callable[[], None] | None = None
        if not reporter.silent:

            def poll() -> None:
                reporter.update(time_of(self._built.core.step - begin, self.resolution))

        # An interruption between the steps and what is recorded of them would lose it.
        with interrupts_deferred() as interrupts:
            while True:
                chunk = self._store.next_chunk(end)
                try:
                    # Processes stop after the same step, but the one that wanted to may be the only one that knows.
                    with agreed(self._built.communicator, "run"), interrupts.allowed():
                        self._built.core.run(chunk, poll)
                finally:
                    # After an interruption too, so that the files reach as far as the simulation.
                    self._store.write()
                if self._built.core.step >= end:
                    return

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
        """Return state variables or parameters of neurons, in their units, to be read only.

        `set` changes them; ``sim.get(...).copy()`` is an array of your own.

        Parameters
        ----------
        neurons
            A population, a part of one, or a list of these, whose values follow each other.
        names
            The name of one: an array of shape ``(neurons,)`` is returned. A list of names: a dict of such arrays.

        Raises
        ------
        UnknownNameError
            When their model has none of that name; the message tells the nearest one.
        """
        with self._built.exclusive():
            return get_values(self._built, neurons, names)

    def set(
        self, part: PopulationView | Sequence[PopulationView] | Stimulus, /, *positional: Never, **values: Any
    ) -> None:
        """Change neurons or a stimulus from the next step on, all that is given or nothing.

        Parameters
        ----------
        part
            A population, a part of one, a list of these, or a stimulus.
        **values
            *Of neurons*: parameters and state variables, as for `Network.create`: numbers, arrays of shape
            ``(neurons,)`` or distributions. What is drawn depends on the seed, the neuron, the name and the present
            step, not on threads or processes; before the first step it is what `Network.create` would have drawn.
            *Of sources that play given spikes*: ``spike_times``, a list for each source with times that are still to
            come, in place of all that it has still to play.
            *Of a stimulus*: ``weight`` and the parameters of the stimulator, as for `Network.stimulate`. In the next
            step its targets get what they would get if it had always had these values, with the same random numbers.
            Its delay cannot change.

        Raises
        ------
        UnknownNameError, ShapeError, ValueOutOfBoundsError
            For names that do not exist and values that cannot be; for so many spikes at once that sums of their weights
            would not be exact. Nothing is changed then, on no process.
        ReadOnlyError
            For what cannot be changed in a simulation.

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
        with self._built.exclusive():
            with agreed(self._built.communicator, "connections"):
                query = self._built.query(sources, targets, projection)
            self._built.agree_on_request("connections", *query)
            return self._find_synapses(*query)

    def count_connections(
        self,
        sources: PopulationView | npt.ArrayLike | None = None,
        targets: PopulationView | npt.ArrayLike | None = None,
        projection: Projection | None = None,
    ) -> int:
        """Return the number of synapses that `connections` would return."""
        with self._built.exclusive():
            with agreed(self._built.communicator, "connections"):
                query = self._built.query(sources, targets, projection)
            self._built.agree_on_request("connections", *query)
            return self._built.core.count_connections(*query)

    # ---- recordings --------------------------------------------------------------------------------------------------

    def spikes(self, recorder: SpikeRecorder) -> SpikeData:
        """Return what a spike recorder has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells. One that gets nothing gets spikes of no neurons. With
        ``"local"``, files of all processes are read as one by each.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, SpikeRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.spikes(recorder)

    def state(self, recorder: StateRecorder) -> StateData:
        """Return what a state recorder has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells. One that gets nothing gets samples of no neurons, and one that
        gets what its own neurons gave gets no others in `StateData.ids`.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, StateRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.state(recorder)

    def weights(self, recorder: WeightRecorder) -> WeightData:
        """Return what a recorder of weights has recorded since the start; if it writes to a file, from there.

        Which process gets what, ``recordings`` tells, as for `state`: it gets synapses, not only their weights.
        """
        with self._built.exclusive():
            with agreed(self._built.communicator, "recordings"):
                self._built.check_recorder(recorder, WeightRecorder)
            self._built.agree_on_request("recordings", recorder.kind, recorder.index)
            return self._store.weights(recorder)

    def __repr__(self) -> str:
        now = text_of(self.time)
        return f"<Simulation of {self.network.name} at {now} ms, {self.threads} threads, {self.instruction_set}>"

    def __reduce__(self) -> NoReturn:
        raise WrongTypeError(
            "what is copied or pickled",
            "a simulation",
            "must be a description",
            "pickle its network and build it again",
        )

    def _find_synapses(self, sources: IntArray | None, targets: IntArray | None, projection: int | None) -> Connections:
        built = self._built
        source, target, _, steps, projections, handles = built.core.connections(sources, targets, projection)
        return Connections(
            built, source, target, times_of(steps, self.resolution), projections.astype(np.int64), handles
        )

    def _sampled_synapses(self, recorder: WeightRecorder) -> Connections:
        return self._find_synapses(*self._built.query(recorder.sources, recorder.targets, recorder.projection))


Simulation.__doc__ = (Simulation.__doc__ or "").replace(
    "    {options}\n", textwrap.indent(as_docstring(RunOptions.options), "    ")
)
