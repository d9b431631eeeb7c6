"""Recorders of a network, as handles: a simulation of the network gathers what they ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ranvier.times import text_of

if TYPE_CHECKING:
    from ranvier.network import Network
    from ranvier.populations import Population, PopulationView, Projection

__all__ = ["Recorder", "SpikeRecorder", "StateRecorder", "WeightRecorder"]

Kind = Literal["spikes", "state", "weights"]


class Recorder:
    """Base of all recorders.

    Attributes
    ----------
    network
        The network that it records from.
    index
        Its place among the network's recorders of its kind.
    to
        The file that it writes to, or None when the simulation keeps what it records.
    """

    kind: Kind

    def __init__(self, network: Network, index: int, to: Path | None) -> None:
        self.network = network
        self.index = index
        self.to = to

    @property
    def description(self) -> str:
        """What it records, in a line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        to = f" to {self.to}" if self.to else ""
        return f"<{type(self).__name__}: {self.description}{to}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _recorder_of, (self.network, self.kind, self.index)


def _recorder_of(network: Network, kind: Kind, index: int) -> Recorder:
    return [recorder for recorder in network.recorders if recorder.kind == kind][index]


class SpikeRecorder(Recorder):
    """Records the spikes of the neurons in `selections`."""

    kind = "spikes"

    def __init__(self, network: Network, index: int, to: Path | None, selections: tuple[PopulationView, ...]) -> None:
        super().__init__(network, index, to)
        self.selections = selections

    @property
    def description(self) -> str:
        """What it records, in a line."""
        return "spikes of " + ", ".join(selection.name for selection in self.selections)


class StateRecorder(Recorder):
    """Records state variables of some neurons of one population.

    Attributes
    ----------
    population
        The population that they belong to.
    neurons
        Global ids of the neurons, ascending.
    variables
        Names of the state variables.
    interval
        Milliseconds from sample to sample; samples are taken at the times that are multiples of it.
    """

    kind = "state"

    def __init__(
        self,
        network: Network,
        index: int,
        to: Path | None,
        population: Population,
        neurons: npt.NDArray[np.int64],
        variables: tuple[str, ...],
        interval: float,
    ) -> None:
        super().__init__(network, index, to)
        self.population = population
        self.neurons = neurons
        self.variables = variables
        self.interval = interval

    @property
    def description(self) -> str:
        """What it records, in a line."""
        neurons = f"{len(self.neurons)} neurons of {self.population.name}"
        return f"{', '.join(self.variables)} of {neurons} every {text_of(self.interval)} ms"


class WeightRecorder(Recorder):
    """Records the weights of synapses of one projection.

    Attributes
    ----------
    projection
        The projection whose synapses are recorded.
    interval
        Milliseconds from sample to sample; samples are taken at the times that are multiples of it.
    sources, targets
        Only synapses of these neurons; None: of all.
    """

    kind = "weights"

    def __init__(
        self,
        network: Network,
        index: int,
        to: Path | None,
        projection: Projection,
        interval: float,
        sources: PopulationView | None,
        targets: PopulationView | None,
    ) -> None:
        super().__init__(network, index, to)
        self.projection = projection
        self.interval = interval
        self.sources = sources
        self.targets = targets

    @property
    def description(self) -> str:
        """What it records, in a line."""
        return f"weights of {self.projection.name} every {text_of(self.interval)} ms"
