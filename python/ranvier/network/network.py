"""The description of a network: populations, projections, stimuli and recorders."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number
from ranvier.base.paths import check_writable, checked_path
from ranvier.base.values import Values, store
from ranvier.errors import FileError, ReadOnlyError, StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network import changes
from ranvier.network.checks import (
    check_flag,
    check_name,
    check_positive,
    check_size,
    check_text,
    choose,
    flatten,
    name_type,
)
from ranvier.network.description import Description, Selection
from ranvier.network.model_base import NeuronModel, Stimulator
from ranvier.network.populations import Population, PopulationView, Projection, Stimulus
from ranvier.network.recorders import Recorder, SpikeRecorder, StateRecorder, WeightRecorder
from ranvier.network.rules import AllToAll, Rule, make_rule
from ranvier.recording import files

__all__ = ["Network", "check_network"]

FilePath: TypeAlias = str | PathLike[str]


class Network(Description):
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
            model_name, given = model.name, dict(model.values)
        elif isinstance(model, str):
            model_name, given = check_text("model", model), {}
        else:
            raise WrongTypeError("model", name_type(model), "must be a neuron model or the name of one")
        given |= changes.numbers_of(model_name, values)
        made = self._do(
            "create", model=model_name, size=check_size(size), name=check_name("population", name), values=given
        )
        return cast("Population", made)

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
        lists = changes.spike_lists(spike_times)
        counts = np.array([len(times) for times in lists], dtype=np.int64)
        times = np.concatenate(lists) if lists else np.empty(0)
        made = self._do(
            "create_spike_generators",
            times=locked(times),
            counts=locked(counts),
            name=check_name("population", name),
        )
        return cast("Population", made)

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
            Largest absolute weight that these synapses may be given while a simulation runs; None: any. Where all
            projections onto a population have such a bound, weights above the largest of them are refused.
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

        Notes
        -----
        Weights are kept as they are drawn or given, rounded to single precision (to within 2**-24 of each) unless the
        simulation stores them in double precision. A neuron gets the sum of all that arrives in a step, rounded once to
        double precision, so that spikes do not depend on the order of delivery. Sums are exact while all weights that
        can arrive at once, added up, are below 2**126 times the last bit of the smallest one; where double precision
        does not suffice for that (2**53), they are taken in 128 bits, and delivering a spike takes up to five times as
        long; weights that are stored in double precision mostly need that. A simulation refuses weights for which
        this is not enough, and weights below 1.2e-38 in single precision (but for 0), with a ValueOutOfBoundsError.
        """
        from_selection, to_selection = self._selection("sources", sources), self._selection("targets", targets)
        complete_rule = make_rule(rule, parameters)
        pairs = (len(targets), len(sources)) if isinstance(complete_rule, AllToAll) else None
        made = self._do(
            "connect",
            sources=from_selection,
            targets=to_selection,
            rule=complete_rule,
            weight=store("weight", flatten("weight", weight, pairs)),
            delay=store("delay", flatten("delay", delay, pairs)),
            weight_bound=0.0 if weight_bound is None else check_positive("weight_bound", weight_bound),
            name=check_name("projection", name),
        )
        return cast("Projection", made)

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
            stimulator_name, given = stimulator.name, dict(stimulator.values)
        elif isinstance(stimulator, str):
            stimulator_name, given = check_text("stimulator", stimulator), {}
        else:
            raise WrongTypeError("stimulator", name_type(stimulator), "must be a stimulator or the name of one")
        given |= changes.numbers_of(stimulator_name, values)
        sequences = changes.sequences_of(stimulator_name, given)
        made = self._do(
            "stimulate",
            targets=self._selection("targets", targets),
            stimulator=stimulator_name,
            values=given,
            sequences=sequences,
            weight=store("weight", weight),
            delay=self.resolution if delay is None else number("delay", delay),
            name=check_name("stimulus", name),
        )
        return cast("Stimulus", made)

    def set(self, part: PopulationView | Projection | Stimulus, /, **values: Any) -> None:
        """Change what was created, connected or stimulated before, for simulations that are built from now on.

        All values are checked as if they had been given at first, and are changed together or not at all. A simulation
        that was built before keeps what it was built with; `Simulation.set` and `Connections.weight` change it.

        Parameters
        ----------
        part
            A population, a part of one, a projection or a stimulus of this network.
        **values
            *Of a population*: parameters and initial values of state variables, as for `create`; for sources that play
            given spikes ``spike_times``, as for `create_spike_generators`. A part of a population takes numbers and
            arrays of shape ``(len(part),)``; the other neurons keep what they have.
            *Of a projection*: ``weight``, ``delay`` and ``weight_bound``, as for `connect`; ``rule``, or parameters of
            the rule that it has.
            *Of a stimulus*: parameters of the stimulator, ``weight`` and ``delay``, as for `stimulate`.

        Raises
        ------
        UnknownNameError, ValueOutOfBoundsError, ShapeError, DelayError, RuleError
            As for the call that made the part.
        ReadOnlyError
            For what is fixed when a part is made: sizes, models, names, sources and targets.

        Examples
        --------
        >>> for rate in (8000.0, 9000.0):
        ...     net.set(drive, rate=rate)
        ...     sim = rv.Simulation(net)
        """
        given: object = part
        if isinstance(given, Recorder):
            raise ReadOnlyError(given._called(), bound="it cannot be changed", remedy=given._way_to(""))
        with self._lock:
            if isinstance(part, PopulationView):
                self._selection("part", part)
                whole: Population | Projection | Stimulus = part.population
                changed = changes.changed_population(part, self._call_of(whole), values)
            elif isinstance(part, Projection | Stimulus):
                whole = part
                if part.network is not self:
                    raise StateError(part._called(), bound="it belongs to another network")
                if isinstance(part, Projection):
                    changed = changes.changed_projection(part, self._call_of(part), values)
                else:
                    changed = changes.changed_stimulus(part, self._call_of(part), values, self.resolution)
            else:
                raise WrongTypeError(
                    "part", name_type(part), "must be a population, a part of one, a projection or a stimulus"
                )
            self._redo(whole, changed)

    def record_spikes(
        self, *neurons: PopulationView, to: FilePath | None = None, overwrite: bool = False
    ) -> SpikeRecorder:
        """Record spikes.

        Parameters
        ----------
        *neurons
            Populations or parts of them; none: all neurons that the network has now.
        to
            A file to write to, ``.h5`` or ``.csv``: it is written piece by piece, and nothing piles up in memory.
            None: the simulation keeps the spikes.
        overwrite
            Whether a simulation may replace a file that exists. Without it no simulation is built as long as there is
            such a file, unless it is empty. All runs of one simulation write to the same file, one after the other.

        Raises
        ------
        FileError
            When the file cannot be written, or when another recorder writes to it.
        ValueOutOfBoundsError
            For ``overwrite=True`` without a file.
        """
        selections = [self._selection("neurons", selection) for selection in neurons]
        if not neurons:
            selections = [
                (population.index, 0, len(population))
                for population in self._populations
                if not population.plays_spikes
            ]
        return cast(
            "SpikeRecorder", self._do("record_spikes", selections=selections, **self._destination(to, overwrite))
        )

    def record_state(
        self,
        neurons: PopulationView,
        variables: str | Sequence[str],
        interval: float | None = None,
        *,
        indices: npt.ArrayLike | None = None,
        to: FilePath | None = None,
        overwrite: bool = False,
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
        to, overwrite
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
        if not isinstance(variables, str | Sequence):
            raise WrongTypeError("variables", name_type(variables), "must be the name of one or a list of names")
        names = [variables] if isinstance(variables, str) else variables
        # The list of the neurons, their ids, and the copy of the core.
        check_room(
            f"the list of the {end - begin} neurons of {neurons.name}", 24 * (end - begin), "record fewer neurons"
        )
        chosen = np.arange(begin, end, dtype=np.int64)
        if indices is not None:
            chosen = choose(neurons, chosen, indices)
        made = self._do(
            "record_state",
            population=population,
            indices=chosen,
            variables=tuple(check_text("name of a variable", name) for name in names),
            interval=self.resolution if interval is None else number("interval", interval),
            **self._destination(to, overwrite),
        )
        return cast("StateRecorder", made)

    def record_weights(
        self,
        projection: Projection,
        interval: float,
        *,
        sources: PopulationView | None = None,
        targets: PopulationView | None = None,
        to: FilePath | None = None,
        overwrite: bool = False,
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
        to, overwrite
            As for `record_spikes`.

        Raises
        ------
        DelayError
            For an interval that is not a multiple of the resolution.
        FileError
            As for `record_spikes`.
        """
        if not isinstance(projection, Projection):
            raise WrongTypeError("projection", name_type(projection), "must be a projection of this network")
        if projection.network is not self:
            raise StateError(f"projection {projection.name}", bound="it belongs to another network")
        made = self._do(
            "record_weights",
            projection=projection.index,
            interval=number("interval", interval),
            sources=None if sources is None else self._selection("sources", sources),
            targets=None if targets is None else self._selection("targets", targets),
            **self._destination(to, overwrite),
        )
        return cast("WeightRecorder", made)

    # ---- checks that need the network --------------------------------------------------------------------------------

    def _selection(self, what: str, view: PopulationView) -> Selection:
        if not isinstance(view, PopulationView):
            raise WrongTypeError(what, name_type(view), "must be a population or a part of one")
        if view.network is not self:
            raise StateError(f"population {view.name}", bound="it belongs to another network")
        return view.population.index, view.begin, view.end

    def _destination(self, to: FilePath | None, overwrite: bool) -> dict[str, Any]:
        """Return where a recorder writes, as arguments of the call that makes it."""
        replaces = check_flag("overwrite", overwrite)
        if to is None:
            if replaces:
                raise ValueOutOfBoundsError(
                    "overwrite", "True", "the recorder writes to no file", "name a file with to=, or leave it out"
                )
            return {"to": None, "overwrite": False}
        path = checked_path(to, "to")
        check_writable(path, files.SUFFIXES)
        for recorder in self._recorders:
            # Links and detours lead to the same file too.
            if recorder.to is not None and recorder.to.resolve() == path.resolve():
                raise FileError(
                    f"file {path}", bound="another recorder of this network writes to it", remedy="name another file"
                )
        return {"to": path, "overwrite": replaces}


def check_network(network: object) -> None:
    """Make sure that something is a network.

    Raises
    ------
    WrongTypeError
        When it is not.
    """
    if not isinstance(network, Network):
        raise WrongTypeError("network", name_type(network), "must be a ranvier.Network")
