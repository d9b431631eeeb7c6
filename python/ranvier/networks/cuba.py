"""Integrate-and-fire neurons with current-based synapses: benchmark 2 of Brette et al. (2007)."""

from __future__ import annotations

import math

from ranvier.base.distributions import Uniform
from ranvier.models import iaf_psc_exp
from ranvier.networks._bounds import bounded
from ranvier.networks._vogels_abbott import RandomNetwork
from ranvier.networks.network_model import NetworkModel

__all__ = ["cuba"]

_C_M, _TAU_M = 200.0, 20.0  # pF, ms
_G_L = _C_M / _TAU_M  # nS
_V_RESET, _V_TH = -60.0, -50.0  # mV


def cuba(
    *,
    neurons: int = 4000,
    connection_probability: float | None = None,
    J_ex: float = 1.62,  # noqa: N803
    J_in: float = -9.0,  # noqa: N803
    delay: float | None = None,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a network of integrate-and-fire neurons with current-based synapses (CUBA).

    This is benchmark 2 of Brette et al. (2007), after Vogels and Abbott (2005): four of five neurons are excitatory,
    and each pair of neurons is connected with a probability of 2 %. The resting potential, -49 mV, is above the
    threshold, -50 mV, so that the network needs no stimulus. Initial potentials are uniform between reset and
    threshold.

    Parameters
    ----------
    neurons
        Number of neurons, >= 5.
    connection_probability
        Probability of a connection from one neuron to another, 0 to 1; None: 80 divided by the number of neurons, and
        at most 1, so that the mean in-degree stays that of the paper.
    J_ex, J_in
        Increase of the current of a synapse by a spike, expressed as the steady potential of a constant current, mV;
        `J_ex` >= 0, `J_in` <= 0. Currents are `J` times the leak conductance, 10 nS.
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

    References
    ----------
    R. Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007),
    https://doi.org/10.1007/s10827-007-0038-6; T. P. Vogels and L. F. Abbott, Journal of Neuroscience 25, 10786-10795
    (2005), https://doi.org/10.1523/JNEUROSCI.3508-05.2005
    """
    network = RandomNetwork("cuba", "CUBA network", neurons, connection_probability, delay, resolution, seed)
    weights = _G_L * bounded("J_ex of cuba", J_ex), _G_L * bounded("J_in of cuba", J_in, -math.inf, 0.0)
    neuron = iaf_psc_exp(
        C_m=_C_M,
        tau_m=_TAU_M,
        E_L=-49.0,
        V_th=_V_TH,
        V_reset=_V_RESET,
        t_ref=5.0,
        tau_syn_ex=5.0,
        tau_syn_in=10.0,
        V_m=Uniform(_V_RESET, _V_TH),
    )
    return network.describe(neuron, weights)
