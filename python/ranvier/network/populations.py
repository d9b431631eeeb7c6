"""What a network consists of, as handles: they name a part of a network and show what it has taken."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable, Settings, locked
from ranvier.base.memory_checks import check_room
from ranvier.base.values import StoredValues
from ranvier.errors import IndexOutOfBoundsError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.rules import Rule

if TYPE_CHECKING:
    from ranvier.network.network import Network

__all__ = ["Population", "PopulationView", "Projection", "Stimulus"]

_FIXED_OF_POPULATIONS = ("begin", "end", "first_id", "ids", "index", "model", "name", "network", "population", "size")
_FIXED_OF_PROJECTIONS = ("expected_synapses", "index", "name", "network", "sources", "targets")
_FIXED_OF_STIMULI = ("index", "name", "network", "stimulator", "targets")


class PopulationView(Immutable):
    """Neurons of a population that follow each other.

    ``view[10:20]``, ``view[3]`` and ``view[-1]`` are views too; ``len(view)`` is the number of neurons.
    """

    population: Population
    """The population that it is a part of."""
    begin: int
    """Index of the first neuron in the population."""
    end: int
    """Index after the last neuron in the population."""

    def __init__(self, population: Population, begin: int, end: int) -> None:
        self._put(population=population, begin=begin, end=end)

    @property
    def network(self) -> Network:
        """The network that it is a part of."""
        return self.population.network

    @property
    def name(self) -> str:
        """Name as in Python: ``exc``, ``exc[10:20]``, ``exc[3]``."""
        if self.end == self.begin + 1:
            return f"{self.population.name}[{self.begin}]"
        return f"{self.population.name}[{self.begin}:{self.end}]"

    @property
    def first_id(self) -> int:
        """Global id of the first neuron."""
        return self.population.first_id + self.begin

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Global ids of the neurons, shape ``(len(self),)``."""
        check_room(f"the ids of {self.name}", 8 * len(self), "ask for those of a part of it")
        return locked(np.arange(self.first_id, self.first_id + len(self), dtype=np.int64))

    def __len__(self) -> int:
        return self.end - self.begin

    def __iter__(self) -> Iterator[PopulationView]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: SupportsIndex | slice) -> PopulationView:
        if isinstance(index, slice):
            try:
                begin, end, stride = index.indices(len(self))
            except (TypeError, ValueError) as error:
                raise WrongTypeError(f"slice of {self.name}", str(error), "must be of integers") from None
            if stride != 1:
                raise ValueOutOfBoundsError(
                    f"stride of a selection from {self.name}", str(stride), "it must be 1", "select with start:stop"
                )
            return PopulationView(self.population, self.begin + begin, self.begin + max(begin, end))
        try:
            position = operator.index(index)
        except TypeError:
            raise WrongTypeError(
                f"index of {self.name}",
                type(index).__name__,
                "must be an integer or a slice of neurons that follow each other",
            ) from None
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexOutOfBoundsError(
                f"index of {self.name}", str(index), f"it has {len(self)} neurons", "use indices from 0"
            )
        return PopulationView(self.population, self.begin + position, self.begin + position + 1)

    def _called(self) -> str:
        return f"population {self.name}"

    def _way_to(self, name: str) -> str:
        if name in _FIXED_OF_POPULATIONS:
            return "it is fixed when the population is created: create another one"
        return (
            f"write net.set({self.name}, {name}=...) and build the network again, or, in a simulation that runs, "
            f"sim.set({self.name}, {name!r}, ...)"
        )

    def _key(self) -> tuple[int, int, int, int]:
        return id(self.network), self.population.index, self.begin, self.end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PopulationView) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {len(self)} {self.population.model}>"


class Population(PopulationView):
    """Neurons of one model, or sources that play given spikes. Made by the methods of `Network`.

    Attributes
    ----------
    index
        Its place in ``network.populations``.
    model
        Name of the model.
    values
        What was set when it was created, or by `Network.set`: parameters and initial values of state variables, by
        name.
    """

    index: int
    model: str
    values: Mapping[str, StoredValues]
    _call: int
    _network: Network
    _name: str
    _first_id: int

    def __init__(
        self,
        network: Network,
        index: int,
        name: str,
        model: str,
        first_id: int,
        size: int,
        values: dict[str, StoredValues],
    ) -> None:
        self._put(_network=network, _name=name, _first_id=first_id, index=index, model=model)
        super().__init__(self, 0, size)
        self._show(values)

    def _show(self, values: Mapping[str, StoredValues]) -> None:
        """Take values that the network has taken."""
        self._put(values=Settings(values, self._called(), f"net.set({self.name}, "))

    @property
    def network(self) -> Network:
        """The network that it is a part of."""
        return self._network

    @property
    def name(self) -> str:
        """Name of the population."""
        return self._name

    @property
    def first_id(self) -> int:
        """Global id of the first neuron."""
        return self._first_id

    @property
    def plays_spikes(self) -> bool:
        """Whether it plays given spikes instead of computing them."""
        return self.model == "spike_generator"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        # The network rebuilds its populations when it is unpickled: take the one there.
        return _population_of, (self.network, self.index)


def _population_of(network: Network, index: int) -> Population:
    return network.populations[index]


class Projection(Immutable):
    """The synapses that one call of `Network.connect` makes.

    Attributes
    ----------
    network
        The network that it is a part of.
    index
        Its place in ``network.projections``.
    name, sources, targets, rule, weight, delay
        As they were given, or changed by `Network.set`.
    weight_bound
        The same; None: 64 times the largest weight.
    """

    network: Network
    index: int
    name: str
    sources: PopulationView
    targets: PopulationView
    rule: Rule
    weight: StoredValues
    delay: StoredValues
    weight_bound: float | None
    _call: int

    def __init__(
        self, network: Network, index: int, name: str, sources: PopulationView, targets: PopulationView
    ) -> None:
        self._put(network=network, index=index, name=name, sources=sources, targets=targets)

    def _show(self, rule: Rule, weight: StoredValues, delay: StoredValues, weight_bound: float) -> None:
        """Take values that the network has taken."""
        self._put(rule=rule, weight=weight, delay=delay, weight_bound=weight_bound or None)

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact where the rule fixes it, else its expectation."""
        return self.network._core.expected_synapses_of(self.index)

    def _called(self) -> str:
        return f"projection {self.name}"

    def _way_to(self, name: str) -> str:
        if name in _FIXED_OF_PROJECTIONS:
            return "it is fixed when neurons are connected: connect others"
        change = f"write net.set(projection, {name}=...) and build the network again"
        if name != "weight":
            return change
        return change + ", or, in a simulation that runs, sim.connections(projection=projection).weight = ..."

    def __repr__(self) -> str:
        return f"<Projection {self.name}: {self.rule!r}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _projection_of, (self.network, self.index)


def _projection_of(network: Network, index: int) -> Projection:
    return network.projections[index]


class Stimulus(Immutable):
    """What one call of `Network.stimulate` adds.

    Attributes
    ----------
    network
        The network that it is a part of.
    index
        Its place in ``network.stimuli``.
    name, targets, stimulator, values, weight, delay
        As they were given, or changed by `Network.set`; the stimulator by its name.
    """

    network: Network
    index: int
    name: str
    targets: PopulationView
    stimulator: str
    values: Mapping[str, StoredValues]
    weight: StoredValues
    delay: float
    _call: int

    def __init__(self, network: Network, index: int, name: str, targets: PopulationView, stimulator: str) -> None:
        self._put(network=network, index=index, name=name, targets=targets, stimulator=stimulator)

    def _show(self, values: Mapping[str, StoredValues], weight: StoredValues, delay: float) -> None:
        """Take values that the network has taken."""
        self._put(values=Settings(values, self._called(), "net.set(stimulus, "), weight=weight, delay=delay)

    def _called(self) -> str:
        return f"stimulus {self.name}"

    def _way_to(self, name: str) -> str:
        if name in _FIXED_OF_STIMULI:
            return "it is fixed when neurons are stimulated: make another stimulus"
        return f"write net.set(stimulus, {name}=...) and build the network again"

    def __repr__(self) -> str:
        return f"<Stimulus {self.name}: {self.stimulator} to {self.targets.name}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _stimulus_of, (self.network, self.index)


def _stimulus_of(network: Network, index: int) -> Stimulus:
    return network.stimuli[index]
