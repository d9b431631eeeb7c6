"""The balanced random network of benchmarks of simulators on supercomputers.

Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002, sections 2.1, 3.5.
"""

from __future__ import annotations

import math

from ranvier.base.distributions import Normal
from ranvier.base.numeric import number
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.models import iaf_psc_alpha, poisson_generator, static_synapse, stdp_pl
from ranvier.network.network import Network
from ranvier.network.rules import FixedIndegree
from ranvier.networks._alpha_psp import alpha_psp_height
from ranvier.networks.network_model import NetworkModel

__all__ = ["hpc_benchmark"]

_EXCITATORY, _INHIBITORY = 9000, 2250  # neurons at scale 1, and sources of every neuron
_THRESHOLD = 20.0  # mV above rest
_C_M, _TAU_M, _T_REF = 250.0, 10.0, 0.5  # pF, ms, ms
_TAU_SYN = 0.32582722403722841  # ms
_PSP = 0.14  # mV
_INHIBITION = -5.0  # inhibitory weight relative to excitatory weights
_DELAY = 1.5  # ms
_LEARNING = stdp_pl(learning_rate=0.1, alpha=0.0513, mu=0.4, tau_plus=15.0, tau_minus=30.0)
_LARGEST_SCALE = 1e12  # so that 64 bits can count the neurons
_ETA = 1.685  # rate of the drive relative to the rate that brings the mean potential to the threshold


def hpc_benchmark(
    *,
    scale: float = 1.0,
    indegree_scale: float = 1.0,
    plastic: bool = True,
    resolution: float = 0.1,
    seed: int = 1,
) -> NetworkModel:
    """Describe the balanced random network of Jordan et al. (2018).

    At scale 1 there are 9,000 excitatory and 2,250 inhibitory neurons (`iaf_psc_alpha`). At every scale, each neuron
    has 9,000 excitatory and 2,250 inhibitory synapses, whose sources are drawn with repetition, and a Poisson train.

    Synapses between excitatory neurons learn by a power law (`stdp_pl`), as in the paper; weights and rates grow
    slowly. Smaller networks fire more, because their neurons share more sources.

    Parameters
    ----------
    scale
        Scales the number of neurons, > 0.
    indegree_scale
        Scales the number of synapses of a neuron, > 0. Weights and drive do not change, so with fewer synapses there is
        less inhibition, and neurons fire more.
    plastic
        Whether synapses between excitatory neurons learn; else all are static, with the same initial weights.
    resolution
        Resolution, ms.
    seed
        Seed of all random numbers.

    Raises
    ------
    ValueOutOfBoundsError
        For scales outside their bounds, and for scales so small that a population or an in-degree would be 0.

    References
    ----------
    J. Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002
    """
    if not isinstance(plastic, bool):
        raise WrongTypeError("plastic of the balanced random network", type(plastic).__name__, "must be True or False")
    excitatory_size, inhibitory_size = _scaled("scale", scale)
    excitatory_indegree, inhibitory_indegree = _scaled("indegree_scale", indegree_scale)
    weight = _PSP / alpha_psp_height(_TAU_M, _TAU_SYN, _C_M)
    net = Network(resolution=resolution, seed=seed, name="balanced random network")
    neuron = iaf_psc_alpha(
        E_L=0.0,
        V_reset=0.0,
        V_th=_THRESHOLD,
        C_m=_C_M,
        tau_m=_TAU_M,
        tau_syn_ex=_TAU_SYN,
        tau_syn_in=_TAU_SYN,
        t_ref=_T_REF,
        V_m=Normal(5.7, 7.2),
    )
    excitatory = net.create(neuron, excitatory_size, name="excitatory")
    inhibitory = net.create(neuron, inhibitory_size, name="inhibitory")
    for target in (excitatory, inhibitory):
        learns = plastic and target is excitatory
        net.connect(
            excitatory,
            target,
            FixedIndegree(excitatory_indegree, allow_autapses=False),
            weight=weight,
            delay=_DELAY,
            synapse=_LEARNING if learns else static_synapse(),
        )
        net.connect(
            inhibitory,
            target,
            FixedIndegree(inhibitory_indegree, allow_autapses=False),
            weight=_INHIBITION * weight,
            delay=_DELAY,
        )
        net.stimulate(target, poisson_generator(rate=_drive(weight)), weight=weight, delay=_DELAY)
    return NetworkModel(
        net=net,
        spikes=net.record_spikes(),
        time=1000.0,
        presim=50.0,
        source="J. Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018)",
    )


def _scaled(name: str, scale: float) -> tuple[int, int]:
    """Return the scaled numbers of excitatory and inhibitory neurons, or synapses."""
    scale = number(f"{name} of the balanced random network", scale)
    if not (0.0 < scale <= _LARGEST_SCALE and round(_INHIBITORY * scale) >= 1):
        raise ValueOutOfBoundsError(
            f"{name} of the balanced random network",
            str(scale),
            f"it must be <= {_LARGEST_SCALE:g} and leave at least one of {_INHIBITORY}",
        )
    return round(_EXCITATORY * scale), round(_INHIBITORY * scale)


def _drive(weight: float) -> float:
    """Rate of the Poisson train of a neuron, spikes/s."""
    # There are as many external as excitatory sources at the full in-degree; this number cancels.
    threshold_rate = _THRESHOLD / (_EXCITATORY * (_TAU_M / _C_M) * weight * math.e * _TAU_SYN)  # spikes/ms
    return 1000.0 * _ETA * threshold_rate * _EXCITATORY
