"""Projections and stimuli of a network, as handles: they name a part of it and show what it has taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier._core import Network as CoreNetwork
from ranvier.base.immutable import Immutable, Settings
from ranvier.base.values import StoredValues
from ranvier.network.populations import PopulationView
from ranvier.network.rules import Rule

__all__ = ["Projection", "Stimulus"]

_FIXED_OF_PROJECTIONS = ("expected_synapses", "index", "name", "network", "sources", "targets")
_FIXED_OF_STIMULI = ("index", "name", "network", "stimulator", "targets")


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
        The same; None: weights may be changed to any that can be summed exactly.
    """

    network: Any
    index: int
    name: str
    sources: PopulationView
    targets: PopulationView
    rule: Rule
    weight: StoredValues
    delay: StoredValues
    weight_bound: float | None
    _core: CoreNetwork

    def __init__(
        self,
        network: Any,
        core: CoreNetwork,
        index: int,
        name: str,
        sources: PopulationView,
        targets: PopulationView,
    ) -> None:
        self._put(network=network, _core=core, index=index, name=name, sources=sources, targets=targets)

    def _show(self, rule: Rule, weight: StoredValues, delay: StoredValues, weight_bound: float) -> None:
        """Take values that the network has taken."""
        self._put(rule=rule, weight=weight, delay=delay, weight_bound=weight_bound or None)

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact where the rule fixes it, else its expectation."""
        return self._core.expected_synapses_of(self.index)

    def _called(self) -> str:
        return f"projection {self.name}"

    def _way_to(self, name: str) -> str:
        if name in _FIXED_OF_PROJECTIONS:
            return "it is fixed when neurons are connected: connect others"
        change = f"write net.set(projection, {name}=...) and build the network again"
        if name != "weight":
            return change
        return change + ", or, in a simulation that runs, sim.connections(projection=projection).weights = ..."

    def __repr__(self) -> str:
        return f"<Projection {self.name}: {self.rule!r}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _projection_of, (self.network, self.index)


def _projection_of(network: Any, index: int) -> Projection:
    projection: Projection = network.projections[index]
    return projection


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

    network: Any
    index: int
    name: str
    targets: PopulationView
    stimulator: str
    values: Mapping[str, StoredValues]
    weight: StoredValues
    delay: float

    def __init__(self, network: Any, index: int, name: str, targets: PopulationView, stimulator: str) -> None:
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


def _stimulus_of(network: Any, index: int) -> Stimulus:
    stimulus: Stimulus = network.stimuli[index]
    return stimulus
