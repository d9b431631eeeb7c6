"""Neurons and probabilities of the cortical circuit under 1 mm², which `microcircuit` and `mesocircuit` consist of.

T. C. Potjans and M. Diesmann, Cerebral Cortex 24, 785-806 (2014), https://doi.org/10.1093/cercor/bhs358
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier.base.distributions import Normal
from ranvier.models import iaf_psc_exp

__all__ = [
    "EXTERNAL_DELAY",
    "EXTERNAL_INDEGREES",
    "EXTERNAL_RATE",
    "NEURONS",
    "POPULATIONS",
    "PROBABILITIES",
    "PSP",
    "TAU_SYN",
    "mean_weights",
    "neuron",
    "spread_weight",
    "synapses_of",
    "weight_of",
]

FloatArray = npt.NDArray[np.float64]

POPULATIONS = ("L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I")
NEURONS = np.array([20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948])
EXTERNAL_INDEGREES = np.array([1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100])
EXTERNAL_RATE = 8.0  # spikes/s per connection
_INITIAL_MEAN = np.array([-68.28, -63.16, -63.33, -63.45, -63.11, -61.66, -66.72, -61.43])  # mV
_INITIAL_STD = np.array([5.36, 4.57, 4.74, 4.94, 4.94, 4.55, 5.46, 4.48])  # mV

# Row: target population, column: source population.
PROBABILITIES = np.array(
    [
        [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0, 0.0076, 0.0],
        [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0, 0.0042, 0.0],
        [0.0077, 0.0059, 0.0497, 0.135, 0.0067, 0.0003, 0.0453, 0.0],
        [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0, 0.1057, 0.0],
        [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0],
        [0.0548, 0.0269, 0.0257, 0.0022, 0.06, 0.3158, 0.0086, 0.0],
        [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252],
        [0.0364, 0.001, 0.0034, 0.0005, 0.0277, 0.008, 0.0658, 0.1443],
    ]
)

_E_L, _V_TH, _V_RESET = -65.0, -50.0, -65.0  # mV
_C_M, _TAU_M, TAU_SYN, _T_REF = 250.0, 10.0, 0.5, 2.0  # pF, ms
PSP = 0.15  # mV
_INHIBITION = -4.0  # inhibitory weight relative to excitatory weights
_WEIGHT_SPREAD = 0.1  # standard deviation by mean
EXTERNAL_DELAY = 1.5  # ms


def neuron(population: int, current: float) -> iaf_psc_exp:
    """Return the neuron of a population with a constant current, pA, and a random initial potential."""
    return iaf_psc_exp(
        E_L=_E_L,
        V_th=_V_TH,
        V_reset=_V_RESET,
        C_m=_C_M,
        tau_m=_TAU_M,
        tau_syn_ex=TAU_SYN,
        tau_syn_in=TAU_SYN,
        t_ref=_T_REF,
        I_e=current,
        V_m=Normal(float(_INITIAL_MEAN[population]), float(_INITIAL_STD[population])),
    )


def weight_of(psp: float) -> float:
    """Return the weight in pA that gives a postsynaptic potential of this amplitude in mV."""
    q = (_TAU_M / TAU_SYN) ** (1.0 / (TAU_SYN - _TAU_M))
    return float(psp * _C_M * (TAU_SYN - _TAU_M) / (_TAU_M * TAU_SYN) / (q**_TAU_M - q**TAU_SYN))


def mean_weights() -> FloatArray:
    """Return mean weights in pA, row: target, column: source."""
    weights = np.full(PROBABILITIES.shape, weight_of(PSP))
    weights[:, 1::2] *= _INHIBITION
    weights[POPULATIONS.index("L23E"), POPULATIONS.index("L4E")] *= 2.0
    return weights


def spread_weight(mean: float) -> Normal:
    """Return the distribution of weights with a mean, pA; none has the other sign."""
    spread = abs(mean) * _WEIGHT_SPREAD
    return Normal(mean, spread, low=0.0) if mean > 0 else Normal(mean, spread, high=0.0)


def synapses_of(
    probabilities: FloatArray, targets: npt.NDArray[np.int64], sources: npt.NDArray[np.int64]
) -> FloatArray:
    """Return numbers of synapses, not rounded, row: target, column: source.

    Pairs are drawn with repetition until the fraction of connected pairs is the probability.
    """
    pairs = np.outer(targets, sources).astype(np.float64)
    numbers: FloatArray = np.log(1.0 - probabilities) / np.log((pairs - 1.0) / pairs)
    return numbers
