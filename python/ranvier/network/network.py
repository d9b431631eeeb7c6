"""The description of a network: populations, projections, stimuli and recorders."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core, models
from ranvier.base.conductivity import checked_conductivity
from ranvier.base.hints import NamedAttributes, known_keywords
from ranvier.base.immutable import locked
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.memory_checks import check_room
from ranvier.base.names import check_choice, counted, unknown_name
from ranvier.base.numeric import number, whole_number
from ranvier.base.texts import check_flag, check_text, name_type
from ranvier.base.times import time_of
from ranvier.base.user_model import UserModel
from ranvier.base.values import Values
from ranvier.cells.cell import Cell
from ranvier.errors import (
    LargeRecordingWarning,
    ReadOnlyError,
    ShapeError,
    StateError,
    WrongTypeError,
)
from ranvier.network import changes, summary
from ranvier.network.call_forms import explained_connect, explained_create
from ranvier.network.calls import (
    ApplyField,
    Call,
    ChangeableCall,
    Connect,
    Context,
    CoupleExtracellular,
    Create,
    RecordDipole,
    RecordExtracellular,
    RecordLfp,
    RecordSpikes,
    RecordState,
    RecordWeights,
    Stimulate,
)
from ranvier.network.checks import (
    as_view,
    check_positions,
    check_reachable,
    check_rotation,
    check_seed,
    check_size,
    check_value_names,
    model_and_values,
    stimulator_and_values,
)
from ranvier.network.contents import Contents, Handle, Parts
from ranvier.network.fields import AppliedField, CellCoupling, Field
from ranvier.network.formulas import Constants
from ranvier.network.given_fields import OutsideField, as_fields
from ranvier.network.potential_kernels import KernelsLike, checked_kernels
from ranvier.network.potential_methods import Method, all_cells, check_side, chosen_coupling, chosen_recording
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import (
    CompartmentRecorder,
    DipoleRecorder,
    ExtracellularRecorder,
    LfpRecorder,
    Recorder,
    SpikeRecorder,
    StateRecorder,
    WeightRecorder,
)
from ranvier.network.rule_base import Rule
from ranvier.network.rule_choice import make_rule, pairs_of, values_of
from ranvier.network.sites import SiteLike
from ranvier.populations.model_base import AnySynapse, NeuronModel, Stimulator
from ranvier.populations.populations import (
    Neurons,
    Population,
    PopulationView,
    common_layout,
    population_names,
    selection_of,
)
from ranvier.recording.destinations import FilePath, checked_destination
from ranvier.space.boundary import BoundaryPlane
from ranvier.space.contacts import checked_contacts
from ranvier.space.positions import PositionsLike
from ranvier.space.rotations import Rotation

__all__ = ["Network", "check_network", "contents_of", "snapshot_of"]

Made = TypeVar("Made", bound=Handle)

_MUCH_PER_SECOND = 1e9
"""Bytes of a recording in memory per simulated second above which a warning is given."""


def _warn_of_size(recorder: StateRecorder, remedy: str, stacklevel: int) -> None:
    """Warn of a recorder that keeps much in memory."""
    if recorder.to is None and recorder.bytes_per_second >= _MUCH_PER_SECOND:
        warnings.warn(
            LargeRecordingWarning(
                f"the recorder of {recorder.description} keeps {recorder.cost} of simulated time in memory; {remedy}"
            ),
            stacklevel=stacklevel,
        )


class Network(NamedAttributes):
    """The description of a network; it becomes executable as a `Simulation`.

    Every call checks its arguments at once. A network can be copied and pickled, and a process can have several
    networks. Handles (populations, projections, recorders) belong to the network that made them.

    Parameters
    ----------
    resolution
        Length of a step, ms, > 0. Times and delays are multiples of it.
    seed
        Seed of all random numbers, 0 to 2**64 - 1. The same network and seed give the same spikes, bit for bit, for any
        number of threads and processes.
    name
        Name of the network in summaries and reports.

    Raises
    ------
    ValueOutOfBoundsError
        For a resolution that is not positive and finite, and for a seed outside its range.

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

    _hints: ClassVar[Mapping[str, str]] = {
        "Create": "write net.create(model, size)",
        "get": "write net.populations[0].values for what was set, or sim.get(population, names) in a simulation",
        "spikes": "write sim = rv.Simulation(net), sim.run(duration), sim.spikes(recorder)",
        "connections": "write sim = rv.Simulation(net), sim.connections()",
    }

    @known_keywords
    def __init__(self, resolution: float = 0.1, seed: int = 1, name: str = "network") -> None:
        self.name = name
        self._begin(number("resolution", resolution), check_seed(seed))

    def _begin(self, resolution: float, seed: int) -> None:
        self._contents = Contents(self, _core.Network(resolution, seed))
        self._lock = threading.RLock()
        self._calls: list[Call[Any]] = []
        self._places: dict[tuple[type, int], int] = {}  # place in _calls, by kind and index of the part

    def __setattr__(self, name: str, value: object) -> None:
        # An attribute that was assigned by mistake would have no effect, and would be lost in a copy.
        known = ("name", "resolution", "seed")
        if not name.startswith("_") and name not in known and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(
                f"{name} of network {self.name}",
                bound=f"it cannot be assigned, only {', '.join(known)} can",
                remedy="change parts of the network with net.set(...), and keep other data in variables",
            )
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """Name of the network in summaries and reports."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_text("name of a network", name)

    @property
    def resolution(self) -> float:
        """Length of a step, ms. Changing it raises StateError once the network has times or delays on its grid."""
        return self._contents.core.resolution

    @resolution.setter
    def resolution(self, resolution: float) -> None:
        before = self.resolution
        self._contents.core.set_resolution(number("resolution", resolution))
        self._contents.revision += self.resolution != before

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return self._contents.core.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        before = self.seed
        self._contents.core.set_seed(check_seed(seed))
        self._contents.revision += self.seed != before

    @property
    def populations(self) -> tuple[Population, ...]:
        """All populations, in the order of creation; ``net["exc"]`` is the one of that name."""
        return Parts(self._contents.populations)

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All projections, in the order of creation."""
        return Parts(self._contents.projections)

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """All stimuli, in the order of creation."""
        return Parts(self._contents.stimuli)

    @property
    def fields(self) -> tuple[Field, ...]:
        """What acts on cells from outside, in the order of creation: `AppliedField` and `CellCoupling`."""
        return Parts(self._contents.fields)

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """All recorders, in the order of creation."""
        return Parts(self._contents.recorders)

    @property
    def neuron_count(self) -> int:
        """Number of neurons; sources, whose spikes are given or drawn, are not counted."""
        return self._contents.core.neuron_count

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact if the rules determine it, otherwise its expected value."""
        return self._contents.core.expected_synapses

    def __getitem__(self, name: str) -> Population:
        """Return the population of that name.

        Raises
        ------
        UnknownNameError
            When it does not exist; the message suggests the nearest name.
        """
        for population in self._contents.populations:
            if isinstance(name, str) and population.name == name:
                return population
        return unknown_name("population", name, [population.name for population in self._contents.populations])

    def __contains__(self, item: object) -> bool:
        """Whether there is a population of that name, or whether a handle belongs to this network."""
        if isinstance(item, str):
            return any(population.name == item for population in self._contents.populations)
        return isinstance(item, PopulationView | Projection | Stimulus | Recorder | Field) and item.network is self

    def __iter__(self) -> Iterator[Population]:
        """Go through the populations, in the order of creation."""
        return iter(self.populations)

    def __len__(self) -> int:
        """Return the number of populations."""
        return len(self._contents.populations)

    def __bool__(self) -> bool:
        """Return True, also for a network without populations."""
        return True

    def to_steps(self, milliseconds: float, what: str = "time") -> int:
        """Return the number of steps that a time takes.

        Raises
        ------
        GridError
            When it is not a multiple of the resolution; `what` is the name of the time in the message.
        """
        return self._contents.core.to_steps(number(what, milliseconds), what)

    def ranks(self, processes: int, placement: str = "space") -> npt.NDArray[np.int32]:
        """Return the rank of each neuron and spike source, by id, as the option `placement` distributes them.

        The array can be changed and given as `placement` of a simulation.

        Parameters
        ----------
        processes
            Number of processes, >= 1.
        placement
            "round_robin", "consecutive", "shuffle" or "space".

        Raises
        ------
        StateError
            For "space" in a network without positions.
        UnknownNameError
            For a placement that does not exist.
        """
        name = check_text("placement", placement)
        count = whole_number("number of processes", processes, 1, 2**31 - 1)
        check_room("ranks of neurons", 4 * self._contents.core.unit_count, "ask for a smaller network")
        return self._contents.core.ranks(name, count)

    def summary(self) -> str:
        """Return tables of the parts of the network, as text."""
        return summary.as_text(self)

    def _repr_html_(self) -> str:
        return summary.as_html(self)

    def __repr__(self) -> str:
        return (
            f"<Network {self.name}: {counted(self.neuron_count, 'neuron')} in "
            f"{counted(len(self._contents.populations), 'population')}, "
            f"{counted(self.expected_synapses, 'synapse', '.0f')} in "
            f"{counted(len(self._contents.projections), 'projection')}>"
        )

    def __eq__(self, other: object) -> bool:
        """Whether another network has the same parts, resolution, seed and name."""
        if not isinstance(other, Network):
            return NotImplemented
        return _are_alike(self.__getstate__(), other.__getstate__())

    # A network is mutable.
    __hash__ = None  # type: ignore[assignment]

    # ---- parts that are added and changed ----------------------------------------------------------------------------

    @explained_create
    def create(
        self,
        model: NeuronModel | Stimulator | UserModel | Sequence[Cell] | str,
        size: int | None = None,
        name: str | None = None,
        *,
        step: float | None = None,
        positions: PositionsLike | None = None,
        rotation: Rotation | None = None,
        constants: Mapping[str, float | str] | None = None,
        **values: Values,
    ) -> Population:
        """Create a population of neurons.

        Parameters
        ----------
        model
            The model with values of its parameters, for example ``rv.iaf_psc_exp(tau_m=10.0)``, or only its name; or a
            `neuron` of equations, whose values may also be texts with a unit; or a `Cell`, whose populations have the
            values ``V_m``, the initial potential (mV), ``I_e``, a constant current (pA), and parameters `per_cell`; or
            a list with the `Cell` of each neuron, which may contain a cell several times: ``[a] * 30 + [b] * 70``. All
            cells of a list have the same receptors, probes, parameters, temperature, rates and scheme. A stimulator
            that emits spikes, for example ``rv.poisson_generator(rate=5.0)``, makes a population of sources: each emits
            a different train, the same for all neurons that it is connected to. Sources can be connected by any rule,
            and recorded by name; they receive no input and do not count as neurons.
        size
            Number of neurons, >= 1; None for a list of cells, and for as many neurons as there are positions.
        name
            Name of the population; None: a name made of the model and a number.
        step
            Length of a step of the neurons, ms, a multiple of the resolution; None: the resolution. Delays onto the
            neurons are rounded to whole steps of them.
        positions
            Positions of the neurons in two or three dimensions: an array with one row for each, of shape ``(size, 2)``
            or ``(size, 3)``, in mm; or made by `grid`, `random_positions` or `positions`. None: the neurons have no
            positions. The position of a cell is that of the middle of its first section, the soma.
        rotation
            Of cells about their positions: made by `rotation` or `random_rotation`. None: they are as their
            morphologies have them.
        constants
            Values of names in texts of this call, as for `connect`.
        **values
            Values of parameters or initial values of state variables: one number for all neurons, an array of shape
            ``(size,)``, a distribution, a text or an `Expression` of positions and indices,
            ``"300*pA*exp(-x**2/(2*(0.3*mm)**2))"``, or arithmetic of these. They take precedence over the values in
            `model`.

        Raises
        ------
        UnknownNameError
            For a model or a parameter that does not exist; the message suggests the nearest name.
        ValueOutOfBoundsError
            For values that are outside their bounds or not finite, for ``size < 1``, for rotations of other neurons
            than cells, and of cells without positions.
        ShapeError
            For an array whose length is not the number of neurons, a size that is not the length of the list of cells
            or the number of positions, and positions of other than two or three dimensions.
        GridError
            For a step that is not a multiple of the resolution.
        """
        checked, given = model_and_values(model)
        check_value_names(checked, values, "create()", [*Create.keywords()])
        given |= changes.numbers_of(checked, values)
        known = Constants(constants, "create()")
        given = known.of_all(given)
        known.check_used()
        if isinstance(checked, UserModel):
            checked.check_values(given)
        arguments = Create.checked(
            {"step": step, "positions": positions, "rotation": rotation, "name": name}, Context(self)
        )
        check_rotation(checked, arguments["rotation"], arguments["positions"])
        checked_size = check_size(size, checked, arguments["positions"])
        check_positions(checked_size, arguments["positions"])
        sequences = changes.sequences_of(checked, given) if isinstance(checked, str) else {}
        return self._make(Create(checked, checked_size, given, sequences, **arguments))

    @known_keywords
    def create_spike_generators(
        self,
        spike_times: Sequence[npt.ArrayLike],
        name: str | None = None,
        *,
        positions: PositionsLike | None = None,
    ) -> Population:
        """Create a population of sources that play given spikes. It can be connected like neurons.

        Parameters
        ----------
        spike_times
            One list of times for each source (ms; ascending, on the grid, > 0). If a time is in a list more than once,
            the source emits that many spikes at this time.
        name
            Name of the population.
        positions
            Positions of the sources, as for `create`.

        Raises
        ------
        GridError, ValueOutOfBoundsError
            For times that are not on the grid, not positive or not ascending.
        ShapeError
            For another number of positions than of lists.
        """
        lists = changes.spike_lists(spike_times)
        arguments = Create.checked({"positions": positions, "name": name}, Context(self))
        check_positions(len(lists), arguments["positions"])
        spikes = changes.joined_spikes(lists)
        return self._make(Create("spike_generator", len(lists), spike_times=spikes, **arguments))

    @explained_connect
    def connect(
        self,
        sources: Neurons,
        targets: Neurons,
        rule: Rule | str,
        *,
        weight: Values | None = None,
        delay: Values | None = None,
        receptor: str | None = None,
        weight_bound: float | None = None,
        synapse: AnySynapse | str = "static_synapse",
        site: SiteLike = None,
        name: str | None = None,
        constants: Mapping[str, float | str] | None = None,
        **parameters: Any,
    ) -> Projection:
        """Connect sources to targets.

        Parameters
        ----------
        sources, targets
            Populations, views or sequences of them. A sequence counts as one population, in the order of the ids: with
            ``FixedIndegree(100)``, each target gets 100 connections from all sources in total. All targets must have
            the same number of receptors.
        rule
            The connection rule, for example ``rv.FixedIndegree(100)``; or the name of a rule, with its parameters as
            keywords: ``"fixed_indegree", indegree=100``.
        weight
            In the unit of the model of the targets (pA, mV or nS): a number, an array (the rule determines its shape),
            a distribution, a text or an `Expression` of distances, positions and indices, ``"J*exp(-d/l)"``, or
            arithmetic of these. None: the weights of the rule, if it has any (`FromMatrix`,
            `Reversed`), and else 1.
        delay
            Milliseconds, at least one step of the targets, as `weight`: ``"0.5*ms + d/v"``. A single number must be a
            multiple of the resolution. All delays are rounded to the nearest step of the targets; half a step is
            rounded up. None: the delays of the rule, if it has any, and else 1.
        receptor
            Name of the receptor of the targets that all these synapses reach, whatever the sign of their weights; None:
            the only receptor, or, in some models, the receptor for the sign of each weight. Targets of several models
            must all have a receptor of this name, at the same place in the lists of their receptors.
        weight_bound
            Largest absolute weight that these synapses can be set to while a simulation runs; None: any. If all
            projections onto a population have such a bound, weights above the largest bound are refused.
        synapse
            The synapse model with values of its parameters, for example ``rv.tsodyks2(U=rv.Uniform(0.2, 0.6))``, or
            only its name; or a model of equations, made by `ranvier.synapse`. Parameters that may differ between
            synapses can be arrays and distributions, as for `weight`.
        site
            If the receptor of the targets has several places: the number of the place, its *site*, that each synapse
            reaches. None: drawn for each synapse, all with the same probability; a number; an array, as for `weight`;
            or `SiteProbabilities`. Point neurons have one site, 0.
        name
            Name of the projection; None: a name made of the names of the populations.
        constants
            Values of names in texts of this call, ``weight="J*exp(-d/lambda)"``: numbers, or texts with a unit,
            ``{"J": "87.8 pA", "lambda": "0.3 mm"}``. An `Expression` has its own constants.
        **parameters
            Parameters of the rule, if `rule` is a name.

        Raises
        ------
        UnknownNameError
            For a rule, a parameter of it or a receptor that does not exist, and for a constant that no text uses.
        EquationError, UnitError
            For a mistake in a text; it points at the place.
        RuleError
            When the rule cannot be applied to these neurons, for example when the in-degree is larger than the number
            of sources and multapses are not allowed; and when both the rule and the call have weights or delays.
        GridError
            For a single delay that is not a multiple of the resolution.
        DelayError
            For a delay that is less than one step, also after rounding, and for a delay that is too long.
        ShapeError
            For an array of weights, delays or sites that does not fit the rule, and for probabilities that are not as
            many as each target has sites.
        ValueOutOfBoundsError
            For values that are not finite or outside their bounds, for a site that a target does not have, for targets
            that need the name of a receptor, and for targets of several models to which weights do not mean the same.

        Notes
        -----
        Weights are rounded to single precision (relative error at most 2**-24), unless the simulation stores them in
        double precision. All weights that arrive at a neuron in a step are added without rounding; the sum is rounded
        once to double precision. So spikes do not depend on the order of delivery.

        Sums are exact as long as the sum of all weights that can arrive in one step is below 2**126 times the last bit
        of the smallest weight. If it is above 2**53 times that bit, which double precision can hold, sums are computed
        with 128-bit integers, and delivering a spike takes up to five times as long. Weights that are stored in double
        precision usually need this. If 128 bits are not enough, and for weights below 1.2e-38 in single precision
        (except 0), the simulation raises a ValueOutOfBoundsError.
        """
        from_view = self._view("sources", sources)
        to_view = self._view("targets", targets)
        known = Constants(constants, "connect()")
        given_values = {name: each for name, each in (("weight", weight), ("delay", delay)) if each is not None}
        complete_rule = make_rule(rule, known.of_all(parameters), Connect.keywords())._completed(
            from_view, to_view, given_values
        )
        check_reachable("targets of connect()", to_view, receptor)
        values: dict[str, Any] = {"weight": 1.0, "delay": 1.0, **values_of(complete_rule, given_values)}
        given = {
            **given_values,
            "receptor": receptor,
            "weight_bound": weight_bound,
            "synapse": synapse,
            "site": site,
            "name": name,
        }
        default_name = f"{population_names(from_view)} to {population_names(to_view)}"
        context = Context(self, pairs_of(from_view, to_view, complete_rule), default_name)
        values |= known.of_arguments(Connect.checked(given, context))
        known.check_used()
        return self._make(Connect(selection_of(from_view), selection_of(to_view), complete_rule, **values))

    def stimulate(
        self,
        targets: Neurons,
        stimulator: Stimulator | str,
        *,
        weight: Values = 1.0,
        delay: float | None = None,
        receptor: str | None = None,
        site: SiteLike = None,
        electrode: str | None = None,
        name: str | None = None,
        constants: Mapping[str, float | str] | None = None,
        **values: Values,
    ) -> Stimulus:
        """Stimulate neurons. Spike trains and noise are independent from target to target.

        Sources whose trains several neurons share are populations: see `create`.

        Parameters
        ----------
        targets
            A population, a view or a sequence of them.
        stimulator
            The stimulator with values of its parameters, for example ``rv.poisson_generator(rate=8000.0)``, or only its
            name.
        weight
            Weight of the spikes in the unit of the target's model (pA, mV or nS); for currents, a factor. A number, an
            array of shape ``(len(targets),)``, a distribution, or a text or an `Expression` of positions and indices of
            the targets.
        delay
            Milliseconds until the output of the stimulator acts on the targets, a multiple of the resolution, which is
            rounded to steps of the targets, at least one; None: the shortest delay, one step.
        receptor
            Name of the receptor that the spikes reach, as for `connect`. Without it, if the sign of the weight
            chooses, all weights must have one sign. Currents reach no receptor.
        site
            The site of the receptor that the spikes for each target reach, as for `connect`; arrays have one number for
            each target.
        electrode
            Name of the electrode of cells that injects the currents; all targets must have it. None: their first, or,
            of point neurons, their only place.
        name
            Name of the stimulus.
        constants
            Values of names in texts of this call, as for `connect`.
        **values
            Values of parameters, as for `create`. They take precedence over the values in `stimulator`.

        Raises
        ------
        UnknownNameError, ValueOutOfBoundsError, ShapeError, GridError, DelayError
            As for `create` and `connect`.
        """
        stimulator_name, parameters = stimulator_and_values(stimulator)
        check_value_names(stimulator_name, values, "stimulate()", [*Stimulate.keywords()])
        parameters |= changes.numbers_of(stimulator_name, values)
        sequences = changes.sequences_of(stimulator_name, parameters)
        to_view = self._view("targets", targets)
        if models.STIMULATORS[stimulator_name].emits_spikes and electrode is None:
            check_reachable("targets of stimulate()", to_view, receptor)
        given = {
            "weight": weight,
            "delay": delay,
            "receptor": receptor,
            "site": site,
            "electrode": electrode,
            "name": name,
        }
        known = Constants(constants, "stimulate()")
        checked = known.of_arguments(Stimulate.checked(given, Context(self)))
        parameters = known.of_all(parameters)
        known.check_used()
        return self._make(Stimulate(selection_of(to_view), stimulator_name, parameters, sequences, **checked))

    def set(self, part: Neurons | Projection | Stimulus, /, **values: Any) -> None:
        """Change a population, a projection or a stimulus, for simulations that are built from now on.

        All values are checked as in the call that made the part. If one of them is refused, nothing changes. A
        simulation that was built before keeps its values; `Simulation.set` and `Connections.weights` change these.

        Parameters
        ----------
        part
            A population, a view, a projection or a stimulus of this network.
        **values
            *Of a population*: parameters and initial values of state variables, as for `create`; for sources made by
            `create_spike_generators`, ``spike_times``. For a part of a population, values are numbers or arrays of
            shape ``(len(part),)``; the other neurons keep their values. All sources of a stimulator share its lists.
            Texts are as for `create`, with ``constants``.
            *Of a projection*: ``weight``, ``delay``, ``receptor``, ``site``, ``weight_bound`` and ``synapse``, as for
            `connect`; ``rule``, or parameters of its present rule.
            *Of a stimulus*: parameters of the stimulator, ``weight``, ``delay``, ``receptor``, ``site`` and
            ``electrode``, as for
            `stimulate`.

        Raises
        ------
        UnknownNameError, ValueOutOfBoundsError, ShapeError, GridError, DelayError, RuleError
            As for the call that made the part.
        ReadOnlyError
            For properties that are fixed when a part is made: sizes, models, names, sources and targets.
        StateError
            For a rule, weights and delays of a projection that another one shares (`Reversed`).

        Examples
        --------
        >>> for rate in (8000.0, 9000.0):
        ...     net.set(drive, rate=rate)
        ...     sim = rv.Simulation(net)
        """
        given: object = part
        if isinstance(given, Recorder | Field):
            raise ReadOnlyError(given._title(), bound="it cannot be changed", remedy=given._how_to_change(""))
        if not values:
            changes.refuse_nothing("net.set", "I_e=...")
        with self._lock:
            if isinstance(part, Projection | Stimulus) and part.network is not self:
                raise StateError(part._title(), bound="it belongs to another network")
            if isinstance(part, Projection):
                self._change([(part, changes.changed_projection(part, self._call_of(part), values))])
            elif isinstance(part, Stimulus):
                self._change([(part, changes.changed_stimulus(part, self._call_of(part), values))])
            else:
                view = self._view("part", part, "must be a population, a view, a projection or a stimulus")
                self._change(
                    [
                        (part.population, changes.changed_population(part, self._call_of(part.population), part_values))
                        for part, part_values in changes.by_population(view, values)
                    ]
                )

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
        return self._make(RecordSpikes(tuple(map(selection_of, views)), *self._destination(to, overwrite)))

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
            Sampling interval, ms, a multiple of the steps of all neurons; None: the shortest possible interval, in most
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
        return self._record_state("record_state", neurons, variables, interval, to, overwrite)

    @known_keywords
    def record_compartments(
        self,
        cells: Neurons,
        variables: str | Sequence[str] = "I_m",
        interval: float | None = None,
        *,
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> CompartmentRecorder:
        """Record variables of all compartments of detailed cells.

        Parameters
        ----------
        cells
            A population of cells, a view or a sequence of them.
        variables
            ``"I_m"``, the current through the membrane of a compartment, pA, positive outwards: what flows in from
            neighbouring compartments, electrodes and clamps. Its sum over a cell is what electrodes and clamps inject.
            ``"V_m"``, the potential, mV. Or a list of both.
        interval
            As for `record_state`.
        to, overwrite
            As for `record_spikes`.

        Returns
        -------
        CompartmentRecorder
            `Simulation.state` of it returns `CompartmentData`, in which cells follow each other in the order of their
            ids, each with its compartments in their order.

        Raises
        ------
        ValueOutOfBoundsError
            For neurons without compartments.
        UnknownNameError, GridError, FileError
            As for `record_state`.

        Warns
        -----
        LargeRecordingWarning
            As for `record_state`.
        """
        recorder = self._record_state("record_compartments", cells, variables, interval, to, overwrite)
        assert isinstance(recorder, CompartmentRecorder)
        return recorder

    @known_keywords
    def record_extracellular(
        self,
        contacts: Any,
        interval: float = 0.1,
        *,
        cells: Neurons | None = None,
        sigma: float = 0.3,
        boundary: BoundaryPlane | None = None,
        method: Method = "auto",
        accuracy: float = 1e-3,
        unit: str | None = None,
        inside: Literal["error", "surface"] = "error",
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> ExtracellularRecorder:
        """Record potentials outside of cells, at contacts of electrodes.

        The potential is that of the membrane currents of all compartments, each a line with a constant current per
        length in a homogeneous medium (Holt and Koch 1999), which is infinite or ends at a plane. Within the radius of
        a compartment, the potential of its current is that at its surface. Recorded potentials do not act on the cells.

        Parameters
        ----------
        contacts
            Coordinates, shape ``(contacts, 3)``; a grid, ``rv.grid((20, 1, 30), ...)`` or an array of the shape
            ``(20, 30, 3)``, whose potentials `ExtracellularData.on_grid` has in the shape of the grid; a
            `laminar_probe`; a probe or a group of probes of probeinterface in three dimensions.
        interval
            Sampling interval, ms. Samples are taken at multiples of it.
        cells
            Detailed cells with positions; None: all that the network has now.
        sigma
            Conductivity of the medium, S/m.
        boundary
            A plane beyond which the medium has another conductivity, `BoundaryPlane`; None: the medium is infinite.
        method
            ``"matrix"`` sums currents with a weight for each compartment and contact, to rounding. ``"fmm"``, the fast
            multipole method, needs time and memory in proportion to the sum of both numbers. ``"auto"`` chooses the
            method with fewer operations: the matrix up to about 10^8 weights. Operations are estimated, not timed, so
            that the same network gives the same bits on any machine.
        accuracy
            Of the method ``"fmm"``, from 1e-7 to 0.1: the root mean square of the errors at the contacts, relative to
            that of the potentials, for random currents whose sum over each cell is 0. It is checked at some of the
            contacts when the simulation is built.
        unit
            Unit of an array, ``"um"`` or ``"mm"``; None: that of the positions of the cells.
        inside
            Of a contact within a compartment: ``"error"`` refuses it when the simulation is built, ``"surface"``
            records the potential at the surface of the compartment, for planes and volumes of contacts through cells.
        to, overwrite
            As for `record_spikes`.

        Returns
        -------
        ExtracellularRecorder
            `Simulation.extracellular` of it returns potentials in mV.

        Raises
        ------
        StateError
            For cells without positions.
        WrongTypeError
            For contacts that are not numbers, and a boundary that is not a `BoundaryPlane`.
        ShapeError, ValueOutOfBoundsError
            For contacts that are not points in space or beyond the boundary, no cells, and a conductivity that is not
            positive. A contact within a cell, a cell beyond the boundary, and an accuracy that cannot be reached are
            found when the simulation is built.
        UnknownNameError
            For an unknown method.
        GridError, FileError
            As for `record_state`.

        Warns
        -----
        LargeRecordingWarning
            As for `record_state`.
        """
        view = all_cells(self.populations) if cells is None else self._cells_in_space(cells)
        check_choice("inside", inside, ["error", "surface"])
        points, labels = checked_contacts(contacts, unit, common_layout(view).unit)
        conductivity = checked_conductivity(sigma)
        check_side(points, boundary)
        method, accuracy = chosen_recording(method, accuracy, view, len(points))
        destination, replaces = self._destination(to, overwrite)
        recorder = self._make(
            RecordExtracellular(
                neurons=selection_of(view),
                contacts=points,
                labels=labels,
                sigma=conductivity,
                inside=inside,
                boundary=boundary,
                method=method,
                accuracy=accuracy,
                interval=number("interval", interval),
                to=destination,
                overwrite=replaces,
            )
        )
        _warn_of_size(recorder, "record at fewer contacts, at a longer interval, or to a file (to=...)", 4)
        return recorder

    @known_keywords
    def record_dipole(
        self,
        cells: Neurons,
        interval: float = 0.1,
        *,
        per_cell: bool = False,
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> DipoleRecorder:
        """Record current dipole moments of detailed cells, from which their potentials far away follow.

        The moment is the sum of the membrane currents of all compartments, each times the coordinates of its middle
        (Linden, Pettersen and Einevoll 2010). If electrodes or clamps inject currents into a cell, the sum of its
        membrane currents is not 0, and the moment depends on the origin of the coordinates.

        Parameters
        ----------
        cells
            Detailed cells with positions.
        interval
            Sampling interval, ms. Samples are taken at multiples of it.
        per_cell
            Whether to record the moment of each cell instead of their sum.
        to, overwrite
            As for `record_spikes`.

        Returns
        -------
        DipoleRecorder
            `Simulation.dipole` of it returns moments in nA um.

        Raises
        ------
        StateError
            For cells without positions.
        ShapeError
            For no cells.
        ValueOutOfBoundsError, GridError, FileError
            As for `record_compartments`.

        Warns
        -----
        LargeRecordingWarning
            As for `record_state`.
        """
        view = self._cells_in_space(cells)
        destination, replaces = self._destination(to, overwrite)
        recorder = self._make(
            RecordDipole(
                neurons=selection_of(view),
                interval=number("interval", interval),
                per_cell=check_flag("per_cell", per_cell),
                to=destination,
                overwrite=replaces,
            )
        )
        _warn_of_size(recorder, "record fewer cells, their sum, at a longer interval, or to a file (to=...)", 4)
        return recorder

    @known_keywords
    def record_lfp(
        self,
        kernels: KernelsLike,
        interval: float | None = None,
        *,
        to: FilePath | None = None,
        overwrite: bool = False,
    ) -> LfpRecorder:
        """Record the local field potential of point neurons: their spikes, convolved with kernels.

        The potential at a contact is the sum, over populations and their spikes, of the kernel of the population at the
        time since the spike (E. Hagen et al., PLoS Computational Biology 18, e1010353, 2022). A kernel is the mean over
        the neurons of a population: the positions of those that fire do not matter. Recorded potentials have no effect
        on the neurons.

        Parameters
        ----------
        kernels
            The kernel of each population or view, ``{exc: kernel, inh: other}``, all with the same contacts and
            interval: from `unitary_potentials`, or made as a `PotentialKernel`. Populations of sources can have kernels
            too; populations without a kernel do not contribute.
        interval
            Sampling interval, ms, a multiple of the interval of the kernels; None: that interval. Samples are taken at
            multiples of it. Spikes are counted in bins of the interval of the kernels; a spike counts as one at the end
            of its bin.
        to, overwrite
            As for `record_spikes`.

        Returns
        -------
        LfpRecorder
            `Simulation.extracellular` of it returns potentials in mV.

        Raises
        ------
        WrongTypeError, ShapeError, StateError
            For anything but kernels of populations of this network.
        ValueOutOfBoundsError
            For kernels with different contacts or intervals, and for a neuron with two kernels.
        GridError
            For an interval of the kernels that is not a multiple of the resolution, and for an interval that is not a
            multiple of that.
        FileError
            As for `record_spikes`.

        Warns
        -----
        LargeRecordingWarning
            As for `record_state`.

        Notes
        -----
        Spikes are counted in bins of time, and not stored. The counts are summed over threads and processes, and
        convolved in a fixed order, so that potentials do not depend on the number of either. A simulation of several
        processes cannot be built with ``recordings="local"``, since the counts of all are needed.
        """
        pairs = checked_kernels(self, kernels)
        # Refuses neurons with two kernels.
        self._view("kernels", [view for view, _ in pairs])
        destination, replaces = self._destination(to, overwrite)
        recorder = self._make(
            RecordLfp(
                neurons=tuple(selection_of(view) for view, _ in pairs),
                kernels=tuple(kernel for _, kernel in pairs),
                interval=pairs[0][1].interval if interval is None else number("interval", interval),
                to=destination,
                overwrite=replaces,
            )
        )
        _warn_of_size(recorder, "record at fewer contacts, at a longer interval, or to a file (to=...)", 4)
        return recorder

    @known_keywords
    def apply_field(
        self,
        cells: Neurons,
        field: OutsideField | Sequence[OutsideField],
        *,
        interval: float | None = None,
    ) -> AppliedField:
        """Let given potentials outside act on detailed cells: extracellular stimulation.

        With the potential phi outside, the potential inside a compartment is V_m + phi. So the current
        g (phi_j - phi_i) flows between neighbouring compartments with the axial conductance g, in addition to the one
        that the membrane potentials cause (McNeal 1976; Rattay 1986). ``V_m`` is still the potential across the
        membrane, and ``I_m`` contains the current along the neurite that the field causes; its sum over a cell does not
        change.

        Potentials are constant within an interval, with their values at its middle. They are taken at the middles of
        compartments.

        Parameters
        ----------
        cells
            Detailed cells with positions: a population, a view or a sequence of them.
        field
            Made by `uniform_field`, `point_source`, `given_field`, `sampled_field` or `read_field`; or a list of
            fields with waveforms, whose potentials are added.
        interval
            ms, a multiple of the steps of the cells; None: the shortest possible interval.

        Returns
        -------
        AppliedField
            A handle that describes it.

        Raises
        ------
        StateError
            For cells without positions.
        WrongTypeError
            For other fields.
        ShapeError, ValueOutOfBoundsError
            For no cells, neurons without compartments, and potentials for another number of compartments. A point
            source within a cell, and a compartment outside of the grid of a field, are found when the simulation is
            built.
        GridError
            For an interval that is not a multiple of the steps of the cells.

        Examples
        --------
        >>> net.apply_field(cells, rv.uniform_field((0.0, 0.0, 1.0), rv.sine_wave(10.0)), interval=0.1)
        >>> net.apply_field(cells, rv.point_source((0.0, 50.0, 0.0), rv.pulse_train(-20.0, 0.2, start=5.0)))
        """
        view = self._cells_in_space(cells)
        return self._make(
            ApplyField(
                cells=selection_of(view),
                fields=as_fields(field),
                interval=self._shortest_interval(view) if interval is None else number("interval", interval),
            )
        )

    @known_keywords
    def couple_extracellular(
        self,
        cells: Neurons,
        interval: float = 0.1,
        *,
        sigma: float = 0.3,
        accuracy: float = 1e-4,
        method: Method = "auto",
    ) -> CellCoupling:
        """Let detailed cells act on each other through the medium outside of them: ephaptic coupling.

        At each multiple of the interval, the potentials at the middles of all compartments are calculated from the
        membrane currents of all compartments at that time, as by `record_extracellular`. They act until the next
        multiple, as those of `apply_field`, so the coupling is of first order in the interval. Cells also act on
        themselves. For a compartment that contains the middle, such as its own, the potential is that at its surface.

        Parameters
        ----------
        cells
            All cells that act on each other, with positions: a population, a view or a sequence of them.
        interval
            ms, a multiple of the steps of the cells.
        sigma
            Conductivity of the medium, S/m.
        accuracy
            Of the method ``"fmm"``, from 1e-7 to 0.1: the root mean square of the errors for independent currents,
            relative to that of the potentials. It is checked when the simulation is built.
        method
            ``"matrix"`` sums over all pairs of compartments, exactly; ``"fmm"`` is the fast multipole method, which
            ``"auto"`` chooses for more than 4096 compartments.

        Returns
        -------
        CellCoupling
            A handle that describes it.

        Raises
        ------
        StateError
            For cells without positions.
        ShapeError, ValueOutOfBoundsError, UnknownNameError
            For no cells, neurons without compartments, cells that are already coupled, a conductivity or an accuracy
            out of bounds, and an unknown method.
        GridError
            For an interval that is not a multiple of the steps of the cells.

        Notes
        -----
        Potentials follow the currents with a delay of up to one interval. In a nearly insulating medium and with a long
        interval, this feedback can grow from one interval to the next: shorten the interval.
        """
        view = self._cells_in_space(cells)
        conductivity = checked_conductivity(sigma)
        method, accuracy = chosen_coupling(method, accuracy, view)
        return self._make(
            CoupleExtracellular(
                cells=selection_of(view),
                interval=number("interval", interval),
                sigma=conductivity,
                method=method,
                accuracy=accuracy,
            )
        )

    def _cells_in_space(self, cells: Neurons) -> PopulationView:
        view = self._view("cells", cells)
        if not len(view):
            raise ShapeError("cells", "none", "there must be at least one cell")
        common_layout(view)
        return view

    def _record_state(
        self,
        call: str,
        neurons: Neurons,
        variables: str | Sequence[str],
        interval: float | None,
        to: FilePath | None,
        overwrite: bool,
    ) -> StateRecorder:
        view = self._view("neurons" if call == "record_state" else "cells", neurons)
        if not isinstance(variables, str | Sequence):
            raise WrongTypeError("variables", name_type(variables), "must be the name of one or a list of names")
        names = [variables] if isinstance(variables, str) else variables
        # The list of the neurons, their ids, and the core's copy.
        check_room(f"the list of the {len(view)} neurons of {view.name}", 24 * len(view), "record fewer neurons")
        destination, replaces = self._destination(to, overwrite)
        recorder = self._make(
            RecordState(
                neurons=selection_of(view),
                variables=tuple(check_text("name of a variable", name) for name in names),
                interval=self._shortest_interval(view) if interval is None else number("interval", interval),
                to=destination,
                overwrite=replaces,
                at_compartments=call == "record_compartments",
            )
        )
        _warn_of_size(recorder, "record fewer neurons, at a longer interval, or to a file (to=...)", 5)
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
        destination, replaces = self._destination(to, overwrite)
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

    # ---- calls, and calls made again ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"name": self.name, "resolution": self.resolution, "seed": self.seed, "calls": list(self._calls)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._begin(state["resolution"], state["seed"])
        for call in state["calls"]:
            self._make(_locked(call))

    def _make(self, call: Call[Made]) -> Made:
        """Carry out a call, and remember it if it was accepted."""
        # Neither another thread nor Ctrl-C may interrupt these statements.
        with self._lock, interrupts_deferred() as deferral:
            self._contents.poll = deferral.handle_received
            try:
                made = call.make(self._contents)
            finally:
                self._contents.poll = None
            self._places[type(made), made.index] = len(self._calls)
            self._calls.append(call)
            self._contents.revision += 1
        return made

    def _call_of(self, made: Handle) -> Call[Any]:
        """Return the call that made a part."""
        return self._calls[self._places[type(made), made.index]]

    def _change(self, changes: list[tuple[Handle, ChangeableCall[Any]]]) -> None:
        """Replace the calls that made some parts; if the core refuses one, no call is replaced."""
        with self._lock, interrupts_deferred():
            present = [(made, self._call_of(made)) for made, _ in changes]
            for number_done, (made, call) in enumerate(changes):
                try:
                    call.change(self._contents, made)
                except BaseException:
                    for earlier, before in present[:number_done]:
                        before.change(self._contents, earlier)  # type: ignore[attr-defined]
                    raise
            for made, call in changes:
                self._calls[self._places[type(made), made.index]] = call
            self._contents.revision += 1

    def _shortest_interval(self, neurons: PopulationView) -> float:
        """Return the least common multiple of the steps of some neurons, ms."""
        steps = {round(part.population.step / self.resolution) for part in neurons.parts}
        longest = math.lcm(*steps)
        return self.resolution if longest == 1 else time_of(longest, self.resolution)

    def _view(self, what: str, neurons: Neurons, wanted: str = "") -> PopulationView:
        """Return a population, a view or a sequence of them as one view of this network."""
        return as_view(self, what, neurons, wanted)

    def _destination(self, to: FilePath | None, overwrite: bool) -> tuple[Path | None, bool]:
        return checked_destination(to, overwrite, [recorder.to for recorder in self.recorders])


def check_network(network: object) -> None:
    """Check that an argument is a network.

    Raises
    ------
    WrongTypeError
        When it is not.
    """
    if not isinstance(network, Network):
        raise WrongTypeError("network", name_type(network), "must be a ranvier.Network")


def contents_of(network: Network) -> Contents:
    """Return the contents of a network, for building it and for predicting its memory."""
    return network._contents


def snapshot_of(network: Network) -> Contents:
    """Return a copy of the contents of a network, from which a simulation is built; later changes do not affect it."""
    with network._lock:
        now = network._contents
        now.built_revision = now.revision
        return Contents(
            network,
            _core.Network(now.core),
            list(now.populations),
            list(now.projections),
            list(now.stimuli),
            list(now.recorders),
            list(now.fields),
            now.revision,
        )


def _are_alike(a: Any, b: Any) -> bool:
    """Return whether two arguments of calls, which may contain arrays, are equal."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_are_alike(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_are_alike, a, b))
    if is_dataclass(a) and type(a) is type(b) and isinstance(a, Call):
        return all(_are_alike(getattr(a, each.name), getattr(b, each.name)) for each in fields(a))
    return bool(a == b)


def _locked(argument: Any) -> Any:
    """Make arrays read-only again after copying or unpickling, which made them writable."""
    if isinstance(argument, np.ndarray):
        return locked(argument)
    if isinstance(argument, dict):
        return {name: _locked(value) for name, value in argument.items()}
    if isinstance(argument, tuple):
        return tuple(map(_locked, argument))
    if isinstance(argument, Call):
        return replace(argument, **{each.name: _locked(getattr(argument, each.name)) for each in fields(argument)})
    return argument
