"""Networks with their recommended settings for a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ranvier.network.network import Network
from ranvier.network.recorders import SpikeRecorder
from ranvier.network.templates import CellTemplate
from ranvier.space.positions import Positions

if TYPE_CHECKING:
    # Only for annotations: matplotlib is loaded where a figure is drawn.
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["NetworkModel", "Probe"]


@dataclass(frozen=True)
class Probe:
    """A probe in a network of point neurons, with the detailed cells that stand for the neurons.

    Attributes
    ----------
    contacts
        Places of the contacts, as for `Network.record_extracellular`.
    templates
        The template of each population with synaptic currents, by name.
    layers
        Upper and lower end of each layer, z in um; empty: no layers.
    """

    contacts: Positions
    templates: Mapping[str, CellTemplate]
    layers: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def layer_of(self, z: float) -> str:
        """Return the name of the layer at a depth, um; an empty one outside of all layers."""
        return next((name for name, (upper, lower) in self.layers.items() if lower < z <= upper), "")


@dataclass(frozen=True)
class NetworkModel:
    """A network with its recommended settings for a run.

    Attributes
    ----------
    net
        The network.
    spikes
        The recorder whose spikes are reported.
    time
        Simulated time to report on, ms.
    presim
        Simulated time before that, which is left out of the report, ms.
    published_rates
        Published mean rates by population, spikes/s, if any.
    source
        The publication.
    notes
        Notes for readers of the results, one or two sentences each.
    figure
        Draws the spikes with a title, instead of a raster; None: a raster.
    probe
        Function that returns the `Probe` of ``ranvier run --lfp``; None: the network has no probe.
    """

    net: Network
    spikes: SpikeRecorder
    time: float = 1000.0
    presim: float = 0.0
    published_rates: dict[str, float] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    figure: Callable[[SpikeData, str], Figure] | None = None
    probe: Callable[[], Probe] | None = None
