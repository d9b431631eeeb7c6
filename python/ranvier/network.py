"""The description of a network: populations, projections, stimuli and recorders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core, files, models, summary
from ranvier._names import unknown_name
from ranvier.errors import FileError, ShapeError, StateError, ValueOutOfBoundsError
from ranvier.model_base import Model, NeuronModel, Stimulator
from ranvier.populations import Population, PopulationView, Projection, Stimulus
from ranvier.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.rules import AllToAll, Rule, make_rule
from ranvier.values import StoredValues, Values, store, store_array, to_core

__all__ = ["Network"]

FilePath: TypeAlias = str | PathLike[str]
RecorderKind = TypeVar("RecorderKind", bound=Recorder)
_LARGEST_SEED = 2**64 - 1


class Network:
    """The description of a network. Nothing is built until a `Simulation` is made of it.

    Every call checks what it is given at once. A network can be copied and pickled, and several may live side by side;
    handles (populations, projections, recorders) belong to the network that made them.

    Parameters
    ----------
    resolution
        Length of a step, ms, > 0. Times and delays are multiples of it.
    seed
        What all random numbers depend on, 0 to 2**64 - 1. The same network and seed give the same spikes, bit for bit,
        for any number of threads.
    name
        What summaries and reports call it.

    Raises
    ------
    ValueOutOfBoundsError
        For a resolution that is not positive and finite, and a seed out of its range.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network(resolution=0.1, seed=1)
    >>> exc = net.create(rv.iaf_psc_exp(tau_m=20.0, V_m=rv.Normal(-65.0, 3.0)), 80, name="exc")
    >>> inh = net.create("iaf_psc_exp", 20, name="inh")
    >>> exc_to_inh = net.connect(exc, inh, rv.FixedIndegree(8), weight=50.0, delay=1.5)
    >>> drive = net.stimulate(exc, rv.poisson_generator(rate=9000.0), weight=50.0)
    >>> spikes = net.record_spikes()
    """

    def __init__(self, resolution: float = 0.1, seed: int = 1, name: str = "network") -> None:
        self.name = name
        self._core = _core.Network(float(resolution), _seed(seed))
        self._reset()

    def _reset(self) -> None:
        self._calls: list[tuple[str, dict[str, Any]]] = []
        self._populations: list[Population] = []
        self._projections: list[Projection] = []
        self._stimuli: list[Stimulus] = []
        self._recorders: list[Recorder] = []

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def resolution(self) -> float:
        """Length of a step, ms. It cannot be changed once something was put on its grid (StateError)."""
        return self._core.resolution

    @resolution.setter
    def resolution(self, resolution: float) -> None:
        self._core.set_resolution(float(resolution))

    @property
    def seed(self) -> int:
        """What all random numbers depend on."""
        return self._core.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._core.set_seed(_seed(seed))

    @property
    def populations(self) -> tuple[Population, ...]:
        """All populations, in the order of creation."""
        return tuple(self._populations)

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All projections, in the order of creation."""
        return tuple(self._projections)

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """All stimuli, in the order of creation."""
        return tuple(self._stimuli)

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """All recorders, in the order of creation."""
        return tuple(self._recorders)

    @property
    def neuron_count(self) -> int:
        """Number of neurons; sources that play given spikes are not counted."""
        return self._core.neuron_count

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact where the rules fix it, else its expectation."""
        return self._core.expected_synapses

    def __getitem__(self, name: str) -> Population:
        """Return the population of that name.

        Raises
        ------
        UnknownNameError
            When there is none; the message tells the nearest name.
        """
        for population in self._populations:
            if population.name == name:
                return population
        return unknown_name("population", name, [population.name for population in self._populations])

    # ---- describing it -----------------------------------------------------------------------------------------------

    def create(self, model: NeuronModel | str, size: int, name: str | None = None, **values: Values) -> Population:
        """Create a population of neurons.

        Parameters
        ----------
        model
            The model with values for its parameters, for example ``rv.iaf_psc_exp(tau_m=10.0)``, or only its name.
        size
            Number of neurons, >= 1.
        name
            Name of the population; None: one that tells the model and a number.
        **values
            Values of parameters or initial values of state variables: one for all neurons, an array of shape
            ``(size,)`` or a distribution. They go before those of the model.

        Raises
        ------
        UnknownNameError
            For a model or a parameter that does not exist; the message tells the nearest name.
        ValueOutOfBoundsError
            For values that are out of their bounds or not finite, and for no neurons.
        ShapeError
            For an array that does not hold one value for each neuron.
        """
        if isinstance(model, NeuronModel):
            model_name, given = model.name, model.values
        elif isinstance(model, str):
            model_name, given = model, {}
        else:
            raise TypeError(f"model must be a neuron model or the name of one, not {_type_name(model)}")
        for key, value in values.items():
            given[key] = store(f"parameter {key} of {model_name}", value)
        self._do("create", model=model_name, size=_size(size), name=name or "", values=given)
        return self._populations[-1]

    def create_spike_generators(self, spike_times: Sequence[npt.ArrayLike], name: str | None = None) -> Population:
        """Create a population of sources that play given spikes. It can be connected like neurons.

        Parameters
        ----------
        spike_times
            One list of times for each source (ms; ascending, on the grid, > 0). A time may stand in a list more than
            once: then that many spikes leave at once.
        name
            Name of the population.

        Raises
        ------
        DelayError, ValueOutOfBoundsError
            For times that are not on the grid, not positive or not ascending.
        """
        lists = [store_array(f"spike times of source {i}", times) for i, times in enumerate(spike_times)]
        counts = np.array([len(times) for times in lists], dtype=np.int64)
        times = np.concatenate(lists) if lists else np.empty(0)
        self._do("create_spike_generators", times=times, counts=counts, name=name or "")
        return self._populations[-1]

    def connect(
        self,
        sources: PopulationView,
        targets: PopulationView,
        rule: Rule | str,
        *,
        weight: Values = 1.0,
        delay: Values = 1.0,
        weight_bound: float | None = None,
        name: str | None = None,
        **parameters: Any,
    ) -> Projection:
        """Connect sources to targets.

        Parameters
        ----------
        sources, targets
            Populations or parts of them.
        rule
            Who connects to whom, for example ``rv.FixedIndegree(100)``; or the name of a rule, with its parameters as
            keywords: ``"fixed_indegree", indegree=100``.
        weight
            In the unit of the model of the targets (pA or mV): a number, an array (its shape is that of the rule), or a
            distribution.
        delay
            Milliseconds, at least one step: a number or an array, on the grid of the resolution; or a distribution,
            whose values are rounded to it.
        weight_bound
            Largest absolute weight that will ever be set on these synapses; None: 64 times the largest one given here.
            Weights are stored on a binary grid so fine that nobody can see it; this says how fine it may be.
        name
            Name of the projection; None: one that tells the populations.
        **parameters
            Of a rule that was given by its name.

        Raises
        ------
        UnknownNameError
            For a rule or a parameter of it that does not exist.
        RuleError
            When the rule cannot be carried out on these neurons, for example for an in-degree above the number of
            sources without multapses.
        DelayError
            For a delay below one step or not on the grid.
        ShapeError
            For an array of weights or delays that does not fit the rule.
        ValueOutOfBoundsError
            For values that are not finite or out of their bounds.
        """
        complete_rule = make_rule(rule, parameters)
        pairs = (len(targets), len(sources)) if isinstance(complete_rule, AllToAll) else None
        self._do(
            "connect",
            sources=self._selection("sources", sources),
            targets=self._selection("targets", targets),
            rule=complete_rule,
            weight=store("weight", _flat("weight", weight, pairs)),
            delay=store("delay", _flat("delay", delay, pairs)),
            weight_bound=0.0 if weight_bound is None else _positive("weight_bound", weight_bound),
            name=name or "",
        )
        return self._projections[-1]

    def stimulate(
        self,
        targets: PopulationView,
        stimulator: Stimulator | str,
        *,
        weight: Values = 1.0,
        delay: float | None = None,
        name: str | None = None,
        **values: Values,
    ) -> Stimulus:
        """Stimulate neurons. Each target gets a stimulus of its own: Poisson trains and noise are independent.

        Parameters
        ----------
        targets
            A population or a part of one.
        stimulator
            The stimulator with values for its parameters, for example ``rv.poisson_generator(rate=8000.0)``, or only
            its name.
        weight
            Of the spikes that reach each target, in the unit of its model (pA or mV); a factor for currents. A number,
            an array of shape ``(len(targets),)`` or a distribution.
        delay
            Milliseconds until what the stimulator emits acts on the targets, on the grid; None: the least, one step.
        name
            Name of the stimulus.
        **values
            Values of parameters; they go before those of the stimulator.

        Raises
        ------
        UnknownNameError, ValueOutOfBoundsError, ShapeError, DelayError
            As for `create` and `connect`.
        """
        if isinstance(stimulator, Stimulator):
            stimulator_name, given = stimulator.name, stimulator.values
        elif isinstance(stimulator, str):
            stimulator_name, given = stimulator, {}
        else:
            raise TypeError(f"stimulator must be a stimulator or the name of one, not {_type_name(stimulator)}")
        for key, value in values.items():
            given[key] = store(f"parameter {key} of {stimulator_name}", value)
        known = models.STIMULATORS.get(stimulator_name)
        sequences = {key: given.pop(key) for key in (known.sequence_names if known else ()) if key in given}
        for key, sequence in sequences.items():
            if not isinstance(sequence, np.ndarray):
                raise ShapeError(f"{key} of {stimulator_name}", "not an array", "it must be an array of one dimension")
        self._do(
            "stimulate",
            targets=self._selection("targets", targets),
            stimulator=stimulator_name,
            values=given,
            sequences=sequences,
            weight=store("weight", weight),
            delay=self.resolution if delay is None else float(delay),
            name=name or "",
        )
        return self._stimuli[-1]

    def record_spikes(self, *neurons: PopulationView, to: FilePath | None = None) -> SpikeRecorder:
        """Record spikes.

        Parameters
        ----------
        *neurons
            Populations or parts of them; none: all neurons that the network has now.
        to
            A file to write to, ``.h5`` or ``.csv``: it is written piece by piece, and nothing piles up in memory. A
            file that exists is replaced when a simulation has been built. None: the simulation keeps the spikes.

        Raises
        ------
        FileError
            When the file cannot be written, or when another recorder writes to it.
        """
        selections = [self._selection("neurons", selection) for selection in neurons]
        if not neurons:
            selections = [
                (population.index, 0, len(population))
                for population in self._populations
                if not population.plays_spikes
            ]
        self._do("record_spikes", selections=selections, to=self._destination(to))
        return self._last_recorder(SpikeRecorder)

    def record(
        self,
        neurons: PopulationView,
        variables: str | Sequence[str],
        interval: float | None = None,
        *,
        indices: npt.ArrayLike | None = None,
        to: FilePath | None = None,
    ) -> StateRecorder:
        """Record state variables.

        Parameters
        ----------
        neurons
            A population or a part of one.
        variables
            Names of state variables of its model, for example ``["V_m", "I_syn_ex"]``.
        interval
            Milliseconds from sample to sample, a multiple of the resolution; None: the resolution. Samples are taken at
            the times that are multiples of it.
        indices
            Only these of the neurons, ascending; None: all.
        to
            As for `record_spikes`.

        Raises
        ------
        UnknownNameError
            When the model has no such variable; the message tells the nearest one.
        DelayError
            For an interval that is not a multiple of the resolution.
        FileError
            As for `record_spikes`.
        """
        population, begin, end = self._selection("neurons", neurons)
        chosen = np.arange(begin, end, dtype=np.int64)
        if indices is not None:
            chosen = _chosen(neurons, chosen, indices)
        self._do(
            "record",
            population=population,
            indices=chosen,
            variables=(variables,) if isinstance(variables, str) else tuple(variables),
            interval=self.resolution if interval is None else float(interval),
            to=self._destination(to),
        )
        return self._last_recorder(StateRecorder)

    def record_weights(
        self,
        projection: Projection,
        interval: float,
        *,
        sources: PopulationView | None = None,
        targets: PopulationView | None = None,
        to: FilePath | None = None,
    ) -> WeightRecorder:
        """Record weights of synapses.

        Parameters
        ----------
        projection
            The projection whose synapses are recorded.
        interval
            Milliseconds from sample to sample, a multiple of the resolution. Samples are taken at the times that are
            multiples of it.
        sources, targets
            Only synapses of these neurons; None: of all.
        to
            As for `record_spikes`.

        Raises
        ------
        DelayError
            For an interval that is not a multiple of the resolution.
        FileError
            As for `record_spikes`.
        """
        if not isinstance(projection, Projection):
            raise TypeError(f"projection must be a projection of this network, not {_type_name(projection)}")
        if projection.network is not self:
            raise StateError(f"projection {projection.name}", bound="it belongs to another network")
        self._do(
            "record_weights",
            projection=projection.index,
            interval=float(interval),
            sources=None if sources is None else self._selection("sources", sources),
            targets=None if targets is None else self._selection("targets", targets),
            to=self._destination(to),
        )
        return self._last_recorder(WeightRecorder)

    # ---- looking at it -----------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """Return tables of what the network consists of, as text."""
        return summary.as_text(self)

    def _repr_html_(self) -> str:
        return summary.as_html(self)

    def __repr__(self) -> str:
        return (
            f"<Network {self.name}: {self.neuron_count} neurons in {len(self._populations)} populations, "
            f"{self.expected_synapses:.0f} synapses in {len(self._projections)} projections>"
        )

    # ---- pickling: the description is the list of calls that made it -------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "resolution": self.resolution, "seed": self.seed, "calls": list(self._calls)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._core = _core.Network(state["resolution"], state["seed"])
        self._reset()
        for method, arguments in state["calls"]:
            self._do(method, **arguments)

    def _do(self, method: str, **arguments: Any) -> None:
        """Carry out a checked call, which the core may still refuse, and remember it when it was accepted."""
        getattr(self, f"_do_{method}")(**arguments)
        self._calls.append((method, arguments))

    def _do_create(self, model: str, size: int, name: str, values: dict[str, StoredValues]) -> None:
        first_id = self._core.unit_count
        index = self._core.create(model, size, name, {key: to_core(value) for key, value in values.items()})
        name = self._core.population_name(index)
        self._populations.append(Population(self, index, name, model, first_id, size, values))

    def _do_create_spike_generators(
        self, times: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], name: str
    ) -> None:
        first_id = self._core.unit_count
        index = self._core.create_spike_generators(name, times, counts)
        name = self._core.population_name(index)
        self._populations.append(Population(self, index, name, "spike_generator", first_id, len(counts), {}))

    def _do_connect(
        self,
        sources: tuple[int, int, int],
        targets: tuple[int, int, int],
        rule: Rule,
        weight: StoredValues,
        delay: StoredValues,
        weight_bound: float,
        name: str,
    ) -> None:
        index = self._core.connect(
            sources,
            targets,
            rule.name,
            weight=to_core(weight),
            delay=to_core(delay),
            weight_bound=weight_bound,
            name=name,
            **rule._arguments(),
        )
        name = self._core.projection_name(index)
        views = self._view(sources), self._view(targets)
        self._projections.append(Projection(self, index, name, *views, rule, weight, delay))

    def _do_stimulate(
        self,
        targets: tuple[int, int, int],
        stimulator: str,
        values: dict[str, StoredValues],
        sequences: dict[str, npt.NDArray[np.float64]],
        weight: StoredValues,
        delay: float,
        name: str,
    ) -> None:
        numbers = {key: to_core(value) for key, value in values.items()}
        self._core.stimulate(targets, stimulator, numbers, sequences, to_core(weight), delay, name)
        index = len(self._stimuli)
        name = name or f"{stimulator}_{index}"
        view = self._view(targets)
        self._stimuli.append(Stimulus(self, index, name, view, stimulator, {**values, **sequences}, weight, delay))

    def _do_record_spikes(self, selections: list[tuple[int, int, int]], to: Path | None) -> None:
        index = self._core.record_spikes(selections)
        views = tuple(self._view(selection) for selection in selections)
        self._recorders.append(SpikeRecorder(self, index, to, views))

    def _do_record(
        self,
        population: int,
        indices: npt.NDArray[np.int64],
        variables: tuple[str, ...],
        interval: float,
        to: Path | None,
    ) -> None:
        index = self._core.record_state(population, indices, list(variables), interval)
        owner = self._populations[population]
        ids = indices + owner.first_id
        self._recorders.append(StateRecorder(self, index, to, owner, ids, variables, interval))

    def _do_record_weights(
        self,
        projection: int,
        interval: float,
        sources: tuple[int, int, int] | None,
        targets: tuple[int, int, int] | None,
        to: Path | None,
    ) -> None:
        if self._core.to_steps(interval, "interval of a weight recorder") < 1:
            raise ValueOutOfBoundsError("interval of a weight recorder", str(interval), "it must be at least one step")
        index = sum(isinstance(recorder, WeightRecorder) for recorder in self._recorders)
        self._recorders.append(
            WeightRecorder(
                self,
                index,
                to,
                self._projections[projection],
                interval,
                None if sources is None else self._view(sources),
                None if targets is None else self._view(targets),
            )
        )

    # ---- checks of what Python alone knows ---------------------------------------------------------------------------

    def _selection(self, what: str, view: PopulationView) -> tuple[int, int, int]:
        if not isinstance(view, PopulationView):
            raise TypeError(f"{what} must be a population or a part of one, not {_type_name(view)}")
        if view.network is not self:
            raise StateError(f"population {view.name}", bound="it belongs to another network")
        return view.population.index, view.begin, view.end

    def _view(self, selection: tuple[int, int, int]) -> PopulationView:
        index, begin, end = selection
        population = self._populations[index]
        if (begin, end) == (0, len(population)):
            return population
        return PopulationView(population, begin, end)

    def _destination(self, to: FilePath | None) -> Path | None:
        if to is None:
            return None
        path = Path(to)
        files.check_writable(path)
        for recorder in self._recorders:
            if recorder.to is not None and recorder.to.absolute() == path.absolute():
                raise FileError(
                    f"file {path}", bound="another recorder of this network writes to it", remedy="name another file"
                )
        return path

    def _last_recorder(self, kind: type[RecorderKind]) -> RecorderKind:
        recorder = self._recorders[-1]
        assert isinstance(recorder, kind)
        return recorder


def _type_name(value: object) -> str:
    if isinstance(value, type) and issubclass(value, Model):
        return f"the class {value.__name__}: write {value.__name__}()"
    return type(value).__name__


def _seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed must be an integer, not {type(seed).__name__}")
    if not 0 <= seed <= _LARGEST_SEED:
        raise ValueOutOfBoundsError("seed", str(seed), f"it must be >= 0 and <= {_LARGEST_SEED}")
    return int(seed)


def _size(size: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        raise TypeError(f"size of a population must be an integer, not {type(size).__name__}")
    if size < 1:
        raise ValueOutOfBoundsError(
            "size of a population", str(size), "it must be at least 1", "give a positive number"
        )
    return int(size)


def _positive(name: str, value: float) -> float:
    if not 0.0 < float(value) < float("inf"):
        raise ValueOutOfBoundsError(name, str(value), "it must be > 0 and finite")
    return float(value)


def _flat(name: str, values: Values, pairs: tuple[int, int] | None) -> Values:
    """Flatten an array with one number per target and source, which only a rule that connects all pairs knows."""
    if not isinstance(values, Iterable) or np.ndim(values) != 2:
        return values
    shape = np.shape(values)
    if pairs is None or shape != pairs:
        wanted = (
            "it must have one dimension" if pairs is None else f"it must have the shape (targets, sources), {pairs}"
        )
        raise ShapeError(name, f"an array of shape {shape}", wanted)
    return np.ravel(values)


def _chosen(
    neurons: PopulationView, all_of_them: npt.NDArray[np.int64], indices: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    chosen = np.asarray(indices)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise ShapeError(
            "indices of recorded neurons",
            f"an array of {chosen.dtype} of shape {chosen.shape}",
            "it must be a list of integers",
        )
    chosen = chosen.astype(np.int64)
    if chosen.size and (chosen.min() < 0 or chosen.max() >= len(neurons)):
        raise ValueOutOfBoundsError(
            "indices of recorded neurons",
            f"{chosen.min()} to {chosen.max()}",
            f"it must be >= 0 and < {len(neurons)}, the size of {neurons.name}",
        )
    if np.any(np.diff(chosen) <= 0):
        raise ValueOutOfBoundsError("indices of recorded neurons", "not ascending", "it must be ascending, each once")
    result: npt.NDArray[np.int64] = all_of_them[chosen]
    return result
