"""What a network consists of, as handles: they name a part of a network and hold nothing themselves."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from ranvier.errors import ValueOutOfBoundsError
from ranvier.memory_checks import check_room
from ranvier.rules import Rule
from ranvier.values import StoredValues

if TYPE_CHECKING:
    from ranvier.network import Network

__all__ = ["Population", "PopulationView", "Projection", "Stimulus"]


class PopulationView:
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
        self.population = population
        self.begin = begin
        self.end = end

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
        return np.arange(self.first_id, self.first_id + len(self), dtype=np.int64)

    def __len__(self) -> int:
        return self.end - self.begin

    def __iter__(self) -> Iterator[PopulationView]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: SupportsIndex | slice) -> PopulationView:
        if isinstance(index, slice):
            begin, end, stride = index.indices(len(self))
            if stride != 1:
                raise ValueOutOfBoundsError(
                    f"stride of a selection from {self.name}", str(stride), "it must be 1", "select with start:stop"
                )
            return PopulationView(self.population, self.begin + begin, self.begin + max(begin, end))
        position = operator.index(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"index {index} is out of range for {self.name}, which has {len(self)} neurons")
        return PopulationView(self.population, self.begin + position, self.begin + position + 1)

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
        What was set when it was created: parameters and initial values of state variables, by name.
    """

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
        self._network = network
        self._name = name
        self._first_id = first_id
        self.index = index
        self.model = model
        self.values = values
        super().__init__(self, 0, size)

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


class Projection:
    """The synapses that one call of `Network.connect` makes.

    Attributes
    ----------
    index
        Its place in ``network.projections``.
    name, sources, targets, rule, weight, delay
        As they were given.
    """

    def __init__(
        self,
        network: Network,
        index: int,
        name: str,
        sources: PopulationView,
        targets: PopulationView,
        rule: Rule,
        weight: StoredValues,
        delay: StoredValues,
    ) -> None:
        self.network = network
        self.index = index
        self.name = name
        self.sources = sources
        self.targets = targets
        self.rule = rule
        self.weight = weight
        self.delay = delay

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact where the rule fixes it, else its expectation."""
        return self.network._core.expected_synapses_of(self.index)

    def __repr__(self) -> str:
        return f"<Projection {self.name}: {self.rule!r}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _projection_of, (self.network, self.index)


def _projection_of(network: Network, index: int) -> Projection:
    return network.projections[index]


class Stimulus:
    """What one call of `Network.stimulate` adds.

    Attributes
    ----------
    index
        Its place in ``network.stimuli``.
    name, targets, stimulator, values, weight, delay
        As they were given; the stimulator by its name.
    """

    def __init__(
        self,
        network: Network,
        index: int,
        name: str,
        targets: PopulationView,
        stimulator: str,
        values: dict[str, StoredValues],
        weight: StoredValues,
        delay: float,
    ) -> None:
        self.network = network
        self.index = index
        self.name = name
        self.targets = targets
        self.stimulator = stimulator
        self.values = values
        self.weight = weight
        self.delay = delay

    def __repr__(self) -> str:
        return f"<Stimulus {self.name}: {self.stimulator} to {self.targets.name}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _stimulus_of, (self.network, self.index)


def _stimulus_of(network: Network, index: int) -> Stimulus:
    return network.stimuli[index]
