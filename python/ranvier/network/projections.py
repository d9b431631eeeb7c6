"""Projections and stimuli of a network: handles of its parts that show their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ranvier._core import Network as CoreNetwork
from ranvier.base.html import card
from ranvier.base.immutable import Immutable, Settings
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.value_texts import describe_settings, describe_values
from ranvier.base.values import StoredValues
from ranvier.network.rule_base import Rule
from ranvier.network.sites import StoredSite
from ranvier.populations.model_base import AnySynapse
from ranvier.populations.populations import PopulationView

__all__ = ["Projection", "Stimulus"]

_FIXED_OF_PROJECTIONS = ("expected_synapses", "index", "name", "network", "sources", "targets")
_FIXED_OF_STIMULI = ("index", "name", "network", "stimulator", "targets")


class Projection(Immutable):
    """The synapses that one call of `Network.connect` makes.

    Attributes
    ----------
    network
        The network that it belongs to.
    index
        Index of the projection in ``network.projections``.
    name, sources, targets, rule, weight, delay, synapse
        The arguments of `Network.connect`, or as changed by `Network.set`.
    weight_bound
        The same; None: weights can be changed to any values that can be summed exactly.
    receptor
        The same; None: the only receptor of the targets, or one for each sign of the weight.
    site
        The same; None: one of the sites of the receptor is drawn for each synapse.
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
    receptor: str | None
    synapse: AnySynapse
    site: StoredSite
    _core: CoreNetwork
    _hints: ClassVar[Mapping[str, str]] = {
        "set": "write net.set(projection, weight=...), or sim.connections(projection=projection).weights = ...",
        "get": "write sim.connections(projection=projection)",
        "weights": "write sim.connections(projection=projection).weights",
        "delays": "write sim.connections(projection=projection).delays",
    }

    def __init__(self, network: Any, core: CoreNetwork, index: int, values: Mapping[str, Any]) -> None:
        self._put(network=network, _core=core, index=index)
        self._show(values)

    def _show(self, values: Mapping[str, Any]) -> None:
        """Show the arguments of `Network.connect` that the network has accepted."""
        self._put(**values)

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact if the rule determines it, otherwise its expected value."""
        return self._core.expected_synapses_of(self.index)

    @property
    def weight_range(self) -> tuple[float, float]:
        """Bounds of the weights that its synapses can have when the network is built, with any random numbers."""
        return self._core.weight_range(self.index)

    @property
    def delay_range(self) -> tuple[float, float]:
        """Bounds of the delays that its synapses can have, ms, before they are rounded to steps."""
        return self._core.delay_range(self.index)

    def _title(self) -> str:
        return f"projection {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in _FIXED_OF_PROJECTIONS:
            return "it is fixed when neurons are connected: make another projection"
        change = f"write net.set(projection, {name}=...) and build the network again"
        if name != "weight":
            return change
        return change + ", or, in a simulation that runs, sim.connections(projection=projection).weights = ..."

    def __repr__(self) -> str:
        receptor = f", receptor {self.receptor}" if self.receptor else ""
        is_static = not isinstance(self.synapse, UserSynapse) and self.synapse.name == "static_synapse"
        learning = "" if is_static else f", {self.synapse!r}"
        return f"<Projection {self.name}: {self.rule!r}{receptor}{learning}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = {
            "from": self.sources.name,
            "to": self.targets.name,
            "rule": repr(self.rule),
            "synapses": f"{self.expected_synapses:,.0f}",
            "model": self.synapse.name if isinstance(self.synapse, UserSynapse) else repr(self.synapse),
            "weight": describe_values(self.weight),
            "delay": f"{describe_values(self.delay)} ms",
            "receptor": self.receptor,
        }
        return card(f"Projection {self.name}", rows)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _projection_of, (self.network, self.index)


def _projection_of(network: Any, index: int) -> Projection:
    projection: Projection = network.projections[index]
    return projection


class Stimulus(Immutable):
    """The stimulus that one call of `Network.stimulate` adds.

    Attributes
    ----------
    network
        The network that it belongs to.
    index
        Index of the stimulus in ``network.stimuli``.
    name, targets, stimulator, values, weight, delay
        The arguments of `Network.stimulate`, or as changed by `Network.set`; `stimulator` is the name of the model.
    receptor
        The same; None: the only receptor of the targets, or the one that the sign of the weight chooses.
    site
        The same; None: one of the sites of the receptor is drawn for each target.
    electrode
        The same, of currents; None: the only one of the targets, or their first.
    """

    network: Any
    index: int
    name: str
    targets: PopulationView
    stimulator: str
    values: Mapping[str, StoredValues]
    weight: StoredValues
    delay: float
    receptor: str | None
    site: StoredSite
    electrode: str | None
    _hints: ClassVar[Mapping[str, str]] = {
        "set": "write net.set(stimulus, ...) before a simulation is built, sim.set(stimulus, ...) while it runs"
    }

    def __init__(self, network: Any, index: int, values: Mapping[str, Any]) -> None:
        self._put(network=network, index=index)
        self._show(values)

    def _show(self, values: Mapping[str, Any]) -> None:
        """Show the arguments of `Network.stimulate` that the network has accepted."""
        self._put(**values)
        self._put(values=Settings(self.values, self._title(), "net.set(stimulus, "))

    def _title(self) -> str:
        return f"stimulus {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in _FIXED_OF_STIMULI:
            return "it is fixed when neurons are stimulated: make another stimulus"
        return f"write net.set(stimulus, {name}=...) and build the network again"

    def _hint(self, name: str) -> str:
        return f'write stimulus.values["{name}"]' if name in self.values else super()._hint(name)

    def __repr__(self) -> str:
        place = f", receptor {self.receptor}" if self.receptor else ""
        place += f", electrode {self.electrode}" if self.electrode else ""
        return f"<Stimulus {self.name}: {self.stimulator} to {self.targets.name}{place}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = {
            "stimulator": self.stimulator,
            "to": self.targets.name,
            "set": describe_settings(self.values),
            "weight": describe_values(self.weight),
            "delay": f"{self.delay:g} ms",
            "receptor": self.receptor,
            "electrode": self.electrode,
        }
        return card(f"Stimulus {self.name}", rows)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _stimulus_of, (self.network, self.index)


def _stimulus_of(network: Any, index: int) -> Stimulus:
    stimulus: Stimulus = network.stimuli[index]
    return stimulus
