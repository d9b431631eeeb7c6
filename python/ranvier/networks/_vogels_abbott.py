"""The random network of Vogels and Abbott (2005), which is benchmarks 1 to 3 of Brette et al. (2007).

Vogels and Abbott, Journal of Neuroscience 25, 10786-10795 (2005), https://doi.org/10.1523/JNEUROSCI.3508-05.2005;
Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007), https://doi.org/10.1007/s10827-007-0038-6.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranvier.base.numeric import whole_number
from ranvier.base.user_model import UserModel
from ranvier.models import poisson_generator
from ranvier.network.network import Network
from ranvier.network.rules import PairwiseBernoulli
from ranvier.networks._bounds import LARGEST_NUMBER, bounded
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.model_base import NeuronModel

__all__ = ["RandomNetwork", "Stimulus"]

_INDEGREE = 80  # 2 % of 4,000 neurons
# Five of eight coba networks of 1,000 neurons fell silent within 3 s; networks of 2,000 and 4,000 neurons did not.
_LEAST_TO_LIVE = 2000
_SMALL = f"Activity of fewer than {_LEAST_TO_LIVE:,} neurons often ends by itself after a second or two."
_SOURCE = "R. Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007)"


@dataclass(frozen=True)
class Stimulus:
    """An independent Poisson train for each neuron, from the start of the simulation.

    Attributes
    ----------
    rate
        Rate of each train, spikes/s.
    time
        How long it lasts, ms.
    """

    rate: float
    time: float


@dataclass(frozen=True)
class RandomNetwork:
    """The parts that the three benchmarks share. Four of five neurons are excitatory.

    Attributes
    ----------
    name
        Name of the benchmark, for errors.
    title
        Name of the network.
    neurons
        Number of neurons, >= 5.
    connection_probability
        Probability of a connection of each ordered pair of neurons, 0 to 1; None: 80 divided by the number of neurons.
    delay
        Delay of all synapses, ms; None: one step.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.
    """

    name: str
    title: str
    neurons: int
    connection_probability: float | None
    delay: float | None
    resolution: float
    seed: int

    def describe(
        self, neuron: NeuronModel | UserModel, weights: tuple[float, float], stimulus: Stimulus | None = None
    ) -> NetworkModel:
        """Describe the network of a model of neurons.

        Parameters
        ----------
        neuron
            The model of all neurons.
        weights
            Weights of the excitatory and of the inhibitory synapses, in the unit of the model.
        stimulus
            Starts the activity, through excitatory synapses; None: neurons fire without input.

        Raises
        ------
        WrongTypeError, ValueOutOfBoundsError
            For parameters of a wrong type, or outside their bounds.
        """
        size = whole_number(f"neurons of {self.name}", self.neurons, 5, LARGEST_NUMBER)
        rule = PairwiseBernoulli(self._probability(size), allow_autapses=False)
        net = Network(resolution=self.resolution, seed=self.seed, name=self.title)
        delay = net.resolution if self.delay is None else self.delay
        excitatory = net.create(neuron, size - size // 5, name="excitatory")
        inhibitory = net.create(neuron, size // 5, name="inhibitory")
        for sources, weight in zip((excitatory, inhibitory), weights, strict=True):
            for targets in (excitatory, inhibitory):
                net.connect(sources, targets, rule, weight=weight, delay=delay)
        if stimulus is not None and stimulus.rate > 0.0 and stimulus.time > 0.0:
            for targets in (excitatory, inhibitory):
                train = poisson_generator(rate=stimulus.rate, stop=stimulus.time)
                net.stimulate(targets, train, weight=weights[0], delay=delay)
        notes = (_SMALL,) if stimulus is not None and size < _LEAST_TO_LIVE else ()
        return NetworkModel(net=net, spikes=net.record_spikes(), time=1000.0, presim=100.0, source=_SOURCE, notes=notes)

    def _probability(self, size: int) -> float:
        if self.connection_probability is None:
            return min(1.0, _INDEGREE / size)
        return bounded(f"connection_probability of {self.name}", self.connection_probability, 0.0, 1.0)
