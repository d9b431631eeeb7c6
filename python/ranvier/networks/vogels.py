"""A network that inhibitory plasticity balances, after Vogels et al. (2011).

T. P. Vogels, H. Sprekeler, F. Zenke, C. Clopath and W. Gerstner, Science 334, 1569-1573 (2011),
https://doi.org/10.1126/science.1211095.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ranvier.base.distributions import Uniform
from ranvier.base.numeric import whole_number
from ranvier.equations.models import iaf_cond_exp
from ranvier.models import vogels_sprekeler
from ranvier.network.network import Network
from ranvier.network.rules import PairwiseBernoulli
from ranvier.networks._bounds import LARGEST_NUMBER, POSITIVE, bounded
from ranvier.networks.network_model import NetworkModel

if TYPE_CHECKING:
    from ranvier.figures.style import Figure
    from ranvier.recording.data import SpikeData

__all__ = ["vogels"]

_V_RESET, _V_TH = -60.0, -50.0  # mV
_INDEGREE = 200  # 2 % of 10,000 neurons
_TAU = 20.0  # ms
_G_EX, _G_IN, _LARGEST = 0.3, 3.0, 100.0  # nS
_CURRENT = 200.0  # pA


def vogels(
    *,
    neurons: int = 10_000,
    target_rate: float = 3.0,
    learning_rate: float = 0.1,
    delay: float | None = None,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a network in which inhibitory synapses learn until excitatory neurons fire at a given rate.

    This is the network of Vogels et al. (2011): integrate-and-fire neurons with conductance-based synapses and a
    constant current that makes them fire, four of five of them excitatory. Synapses from inhibitory to excitatory
    neurons are plastic, with an initial weight of 0 (`vogels_sprekeler`). Excitatory neurons fire fast at first;
    inhibition grows until their rates are `target_rate`, and the network fires asynchronously and irregularly.

    Parameters
    ----------
    neurons
        Number of neurons, >= 5. Each pair of neurons is connected with a probability of 200 divided by this number, and
        at most 1, so that the mean in-degree is that of the paper.
    target_rate
        Rate of excitatory neurons at which the learning is in balance, spikes/s, > 0.
    learning_rate
        Size of a change of a weight, nS, >= 0. With the default, rates settle within some seconds.
    delay
        Delay of all synapses, ms; None: one step.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.

    References
    ----------
    T. P. Vogels, H. Sprekeler, F. Zenke, C. Clopath and W. Gerstner, Science 334, 1569-1573 (2011),
    https://doi.org/10.1126/science.1211095
    """
    of_network = "of the network of Vogels et al."
    size = whole_number(f"neurons {of_network}", neurons, 5, LARGEST_NUMBER)
    target_rate = bounded(f"target_rate {of_network}", target_rate, POSITIVE, 1e6)
    learning_rate = bounded(f"learning_rate {of_network}", learning_rate)
    net = Network(resolution=resolution, seed=seed, name="Network with inhibitory plasticity")
    delay = net.resolution if delay is None else delay
    neuron = iaf_cond_exp(
        C_m=200.0,
        g_L=10.0,
        E_L=-60.0,
        V_th=_V_TH,
        V_reset=_V_RESET,
        t_ref=5.0,
        E_ex=0.0,
        E_in=-80.0,
        tau_syn_ex=5.0,
        tau_syn_in=10.0,
        I_e=_CURRENT,
        V_m=Uniform(_V_RESET, _V_TH),
    )
    excitatory = net.create(neuron, size - size // 5, name="excitatory")
    inhibitory = net.create(neuron, size // 5, name="inhibitory")
    rule = PairwiseBernoulli(min(1.0, _INDEGREE / size), allow_autapses=False)
    for targets in (excitatory, inhibitory):
        net.connect(excitatory, targets, rule, weight=_G_EX, delay=delay)
    net.connect(inhibitory, inhibitory, rule, weight=-_G_IN, delay=delay)
    # The change by a source that fires at any rate is 0 in the mean when the target fires at this one.
    alpha = 2.0 * _TAU * 0.001 * target_rate
    learning = vogels_sprekeler(tau=_TAU, learning_rate=learning_rate, alpha=alpha, W_max=-_LARGEST)
    net.connect(inhibitory, excitatory, rule, weight=0.0, delay=delay, synapse=learning, name="learning")
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=10_000.0,
        source="T. P. Vogels, H. Sprekeler, F. Zenke, C. Clopath and W. Gerstner, Science 334, 1569-1573 (2011)",
        figure=_RatesFigure(target_rate),
    )


@dataclass(frozen=True)
class _RatesFigure:
    """Draws the rates over time, beside the one that learning takes excitatory neurons to.

    Attributes
    ----------
    target_rate
        As in `vogels`.
    """

    target_rate: float

    def __call__(self, spikes: SpikeData, title: str) -> Figure:
        from ranvier.figures.settling import settling

        return settling(spikes, self.target_rate, title=title)
