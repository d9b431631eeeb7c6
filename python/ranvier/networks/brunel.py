"""Random balanced networks of excitatory and inhibitory neurons.

Brunel, Journal of Computational Neuroscience 8, 183-208 (2000), https://doi.org/10.1023/A:1008925309027.
"""

from __future__ import annotations

import math
from typing import Literal

from ranvier.base.names import check_choice
from ranvier.base.numeric import whole_number
from ranvier.errors import ValueOutOfBoundsError
from ranvier.models import iaf_psc_alpha, iaf_psc_delta, poisson_generator
from ranvier.network.network import Network
from ranvier.network.rules import FixedIndegree
from ranvier.networks._alpha_psp import alpha_psp_height
from ranvier.networks._bounds import LARGEST_NUMBER, POSITIVE, bounded
from ranvier.networks.network_model import NetworkModel
from ranvier.populations.model_base import NeuronModel

__all__ = ["brunel"]

_THRESHOLD = 20.0  # mV above rest
_TAU_M, _TAU_SYN, _T_REF = 20.0, 0.5, 2.0  # ms
_C_M_ALPHA = 250.0  # pF
# g, eta and the reset potential in mV above rest, without a regime and in those of Figure 8 of the paper.
_USUAL = (5.0, 2.0, 0.0)
_REGIMES = {
    "SR": (3.0, 2.0, 10.0),
    "SI_fast": (6.0, 4.0, 10.0),
    "AI": (5.0, 2.0, 10.0),
    "SI_slow": (4.5, 0.9, 10.0),
}


def brunel(
    *,
    version: Literal["delta", "alpha"] = "delta",
    regime: Literal["SR", "SI_fast", "AI", "SI_slow"] | None = None,
    order: int = 2500,
    scale: float = 1.0,
    g: float | None = None,
    eta: float | None = None,
    epsilon: float = 0.1,
    J: float = 0.1,  # noqa: N803
    V_reset: float | None = None,  # noqa: N803
    delay: float = 1.5,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe a random balanced network after Brunel (2000).

    There are four times as many excitatory as inhibitory neurons. The in-degree of each neuron is the fraction
    `epsilon` of each of the two populations; sources are drawn with repetition. Each neuron also gets an independent
    Poisson train.

    Parameters
    ----------
    version
        ``"delta"``: the potential jumps with each spike (`iaf_psc_delta`), as in the paper; ``"alpha"``: synaptic
        currents are alpha functions (`iaf_psc_alpha`), and a postsynaptic potential has the amplitude `J`.
    regime
        Sets `g`, `eta` and `V_reset` (10 mV) as in the figure of the paper that shows this regime: ``"SR"``,
        synchronous and regular (3 and 2); ``"SI_fast"``, synchronous and irregular with a fast oscillation (6 and 4);
        ``"AI"``, asynchronous and irregular (5 and 2); ``"SI_slow"``, synchronous and irregular with a slow oscillation
        (4.5 and 0.9). Other keywords change the regime.
    order
        Number of inhibitory neurons; there are four times as many excitatory neurons.
    scale
        Scales `order`, > 0.
    g
        Strength of an inhibitory synapse relative to an excitatory synapse, >= 0; None: that of `regime`, or 5.
    eta
        Rate of the external input relative to the rate that brings the mean potential to the threshold, >= 0; None:
        that of `regime`, or 2.
    epsilon
        Connection probability, 0 to 1.
    J
        Amplitude of an excitatory postsynaptic potential, mV, > 0.
    V_reset
        Potential after a spike, mV above rest, less than the threshold, 20 mV; None: that of `regime`, or 0.
    delay
        Delay of all synapses, ms.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For values outside their bounds, and when `epsilon` is so small that an in-degree would be 0.
    UnknownNameError
        For a version or a regime that does not exist.

    References
    ----------
    N. Brunel, Journal of Computational Neuroscience 8, 183-208 (2000), https://doi.org/10.1023/A:1008925309027
    """
    check_choice("version of the Brunel network", version, ["delta", "alpha"])
    scale = bounded("scale of the Brunel network", scale, POSITIVE, LARGEST_NUMBER)
    g, eta, reset = _strengths(regime, g, eta, V_reset)
    epsilon = bounded("epsilon of the Brunel network", epsilon, 0.0, 1.0)
    J = bounded("J of the Brunel network", J, POSITIVE)  # noqa: N806
    inhibitory_size = round(whole_number("order of the Brunel network", order, 1, LARGEST_NUMBER) * scale)
    excitatory_size = 4 * inhibitory_size
    excitatory_indegree, inhibitory_indegree = _indegrees(epsilon, excitatory_size, inhibitory_size)
    neuron, weight, threshold_rate = _neuron(version, J, excitatory_indegree, reset)
    title = f"Brunel network ({version}{f', {regime}' if regime is not None else ''})"
    net = Network(resolution=resolution, seed=seed, name=title)
    excitatory = net.create(neuron, excitatory_size, name="excitatory")
    inhibitory = net.create(neuron, inhibitory_size, name="inhibitory")
    for target in (excitatory, inhibitory):
        net.connect(excitatory, target, FixedIndegree(excitatory_indegree), weight=weight, delay=delay)
        net.connect(inhibitory, target, FixedIndegree(inhibitory_indegree), weight=-g * weight, delay=delay)
        # There are as many external as excitatory sources; the factor converts spikes/ms to spikes/s.
        rate = 1000.0 * eta * threshold_rate * excitatory_indegree
        net.stimulate(target, poisson_generator(rate=rate), weight=weight, delay=delay)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=1000.0,
        presim=100.0,
        source="N. Brunel, Journal of Computational Neuroscience 8, 183-208 (2000)",
    )


def _indegrees(epsilon: float, excitatory_size: int, inhibitory_size: int) -> tuple[int, int]:
    excitatory, inhibitory = round(epsilon * excitatory_size), round(epsilon * inhibitory_size)
    if excitatory < 1:
        raise ValueOutOfBoundsError(
            "excitatory in-degree of the Brunel network",
            str(excitatory),
            "it must be at least 1",
            "raise order, scale or epsilon",
        )
    return excitatory, inhibitory


def _strengths(
    regime: str | None, g: float | None, eta: float | None, reset: float | None
) -> tuple[float, float, float]:
    """Return g, eta and the reset potential: as given, or of the regime."""
    usual = _USUAL
    if regime is not None:
        check_choice("regime of the Brunel network", regime, list(_REGIMES))
        usual = _REGIMES[regime]
    return (
        bounded("g of the Brunel network", usual[0] if g is None else g),
        bounded("eta of the Brunel network", usual[1] if eta is None else eta),
        bounded("V_reset of the Brunel network", usual[2] if reset is None else reset, -math.inf, _THRESHOLD),
    )


def _neuron(version: str, psp: float, indegree: int, reset: float) -> tuple[NeuronModel, float, float]:
    """Return the neuron model, the excitatory weight, and the rate per source that brings the mean to threshold."""
    common = {"E_L": 0.0, "V_reset": reset, "V_th": _THRESHOLD, "tau_m": _TAU_M, "t_ref": _T_REF, "V_m": 0.0}
    if version == "delta":
        return iaf_psc_delta(C_m=1.0, **common), psp, _THRESHOLD / (psp * indegree * _TAU_M)
    weight = psp / alpha_psp_height(_TAU_M, _TAU_SYN, _C_M_ALPHA)
    rate = (_THRESHOLD * _C_M_ALPHA) / (weight * indegree * math.e * _TAU_M * _TAU_SYN)
    return iaf_psc_alpha(C_m=_C_M_ALPHA, tau_syn_ex=_TAU_SYN, tau_syn_in=_TAU_SYN, **common), weight, rate
