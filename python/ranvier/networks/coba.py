"""Integrate-and-fire neurons with conductance-based synapses: benchmark 1 of Brette et al. (2007)."""

from __future__ import annotations

from typing import Literal

from ranvier.base.distributions import Uniform
from ranvier.base.names import check_choice
from ranvier.equations.models import iaf_cond_exp
from ranvier.networks._bounds import bounded
from ranvier.networks._vogels_abbott import RandomNetwork, Stimulus
from ranvier.networks.network_model import NetworkModel

__all__ = ["coba"]

_V_RESET, _V_TH = -60.0, -50.0  # mV
_STIMULUS_TIME = 50.0  # ms


def coba(
    *,
    neurons: int = 4000,
    connection_probability: float | None = None,
    g_ex: float = 6.0,
    g_in: float = 67.0,
    stimulus_rate: float = 300.0,
    method: Literal["adaptive", "exponential_euler"] = "adaptive",
    delay: float | None = None,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a network of integrate-and-fire neurons with conductance-based synapses (COBA).

    This is benchmark 1 of Brette et al. (2007), after Vogels and Abbott (2005): four of five neurons are excitatory,
    and each pair of neurons is connected with a probability of 2 %. Random spikes start the activity in the first
    50 ms; after that, the network sustains itself. Initial potentials are uniform between reset and threshold.

    Parameters
    ----------
    neurons
        Number of neurons, >= 5.
    connection_probability
        Probability of a connection from one neuron to another, 0 to 1; None: 80 divided by the number of neurons, and
        at most 1, so that the mean in-degree stays that of the paper.
    g_ex, g_in
        Increase of the excitatory or the inhibitory conductance by a spike, nS, >= 0.
    stimulus_rate
        Rate of the Poisson train to each neuron in the first 50 ms, through excitatory synapses, spikes/s, >= 0.
    method
        Method of integration: ``"adaptive"``, which has an error bound, or ``"exponential_euler"``, which is of first
        order and takes less time; see `neuron`.
    delay
        Delay of all synapses, ms; None: one step. The paper does not specify it.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds.
    UnknownNameError
        For a method that does not exist.

    References
    ----------
    R. Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007),
    https://doi.org/10.1007/s10827-007-0038-6; T. P. Vogels and L. F. Abbott, Journal of Neuroscience 25, 10786-10795
    (2005), https://doi.org/10.1523/JNEUROSCI.3508-05.2005
    """
    check_choice("method of coba", method, ["adaptive", "exponential_euler"])
    network = RandomNetwork("coba", "COBA network", neurons, connection_probability, delay, resolution, seed)
    weights = bounded("g_ex of coba", g_ex), -bounded("g_in of coba", g_in)
    stimulus = Stimulus(bounded("stimulus_rate of coba", stimulus_rate), _STIMULUS_TIME)
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
        V_m=Uniform(_V_RESET, _V_TH),
        method=method,
    )
    return network.describe(neuron, weights, stimulus)
