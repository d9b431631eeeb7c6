"""Hodgkin-Huxley neurons with conductance-based synapses: benchmark 3 of Brette et al. (2007)."""

from __future__ import annotations

import functools
import math
from typing import Literal

from ranvier.base.distributions import Uniform
from ranvier.base.names import check_choice
from ranvier.equations.integration import Integration
from ranvier.equations.library import built
from ranvier.equations.model import EquationNeuron
from ranvier.networks._bounds import bounded
from ranvier.networks._vogels_abbott import RandomNetwork, Stimulus
from ranvier.networks.network_model import NetworkModel

__all__ = ["coba_hh"]

_E_L, _V_T = -65.0, -63.0  # mV
_STIMULUS_TIME = 50.0  # ms


def coba_hh(
    *,
    neurons: int = 4000,
    connection_probability: float | None = None,
    g_ex: float = 6.0,
    g_in: float = 67.0,
    stimulus_rate: float = 300.0,
    method: Literal["exponential_euler", "adaptive"] = "exponential_euler",
    delay: float | None = None,
    resolution: float = 0.05,
    seed: int = 1,
) -> NetworkModel:
    """Describe a network of Hodgkin-Huxley neurons with conductance-based synapses.

    This is benchmark 3 of Brette et al. (2007): the network of `coba`, whose neurons have the channels of pyramidal
    cells of the hippocampus after Traub and Miles (1991). Random spikes start the activity in the first 50 ms.
    Initial potentials are uniform in the 10 mV below rest. The neurons are `hh_cond_exp_traub`: a spike is the peak of
    the potential.

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
        Method of integration: ``"exponential_euler"``, which is of first order, or ``"adaptive"``, which takes several
        times as long and has an error bound; see `neuron`.
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
    https://doi.org/10.1007/s10827-007-0038-6; R. D. Traub and R. Miles, Neuronal Networks of the Hippocampus,
    Cambridge University Press (1991)
    """
    check_choice("method of coba_hh", method, ["exponential_euler", "adaptive"])
    network = RandomNetwork(
        "coba_hh", "COBA network of Hodgkin-Huxley neurons", neurons, connection_probability, delay, resolution, seed
    )
    weights = bounded("g_ex of coba_hh", g_ex), -bounded("g_in of coba_hh", g_in)
    stimulus = Stimulus(bounded("stimulus_rate of coba_hh", stimulus_rate), _STIMULUS_TIME)
    return network.describe(_neuron(method)(V_m=Uniform(_E_L - 10.0, _E_L)), weights, stimulus)


@functools.cache
def _neuron(method: str) -> EquationNeuron:
    m, h, n = _gates_at_rest()
    model = built("hh_cond_exp_traub", Integration(method))
    return model(E_L=_E_L, V_T=_V_T, Act_m=m, Inact_h=h, Act_n=n)


def _gates_at_rest() -> tuple[float, float, float]:
    """Return the activations m and n and the inactivation h, in the order m, h, n, in equilibrium at rest."""
    v = _E_L - _V_T
    m = 0.32 * (13.0 - v) / math.expm1((13.0 - v) / 4.0), 0.28 * (v - 40.0) / math.expm1((v - 40.0) / 5.0)
    h = 0.128 * math.exp((17.0 - v) / 18.0), 4.0 / (1.0 + math.exp((40.0 - v) / 5.0))
    n = 0.032 * (15.0 - v) / math.expm1((15.0 - v) / 5.0), 0.5 * math.exp((10.0 - v) / 40.0)
    return tuple(alpha / (alpha + beta) for alpha, beta in (m, h, n))  # type: ignore[return-value]
