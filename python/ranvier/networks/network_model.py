"""A network together with how it is meant to be run."""

from __future__ import annotations

from dataclasses import dataclass, field

from ranvier.network.network import Network
from ranvier.network.recorders import SpikeRecorder

__all__ = ["NetworkModel"]


@dataclass(frozen=True)
class NetworkModel:
    """A network together with how it is meant to be run.

    Attributes
    ----------
    net
        The network.
    spikes
        The recorder of what is reported on.
    time
        Milliseconds to simulate and look at.
    presim
        Milliseconds to simulate before that and to leave out.
    published_rates
        Mean rates by population to compare with, spikes/s, where there are some.
    source
        The publication.
    notes
        What a reader of the results must know, one sentence or two each.
    """

    net: Network
    spikes: SpikeRecorder
    time: float = 1000.0
    presim: float = 0.0
    published_rates: dict[str, float] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
