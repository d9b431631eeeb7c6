"""Neurons with any number of receptors, each with time constants of its own, as arguments of `ranvier.neuron`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.definition_parts import (
    ADAPTIVE,
    BRETTE,
    BY_CONDUCTANCES_OF_EACH,
    CONDUCTANCE_ALPHA,
    CURRENT_ALPHA,
    CURRENT_EXP,
    EXPONENTIAL,
    REVERSAL_OF_EACH,
    TIME_OF_EACH,
    TO_ALPHA_OF_EACH,
    parameters,
)

__all__ = ["MULTISYNAPSE"]

_LEAKY = {
    "E_L": ("-70 mV", "Resting potential"),
    "C_m": ("250 pF", "Capacitance of the membrane"),
    "tau_m": ("10 ms", "Time constant of the membrane"),
    "t_ref": ("2 ms", "Duration of the refractory period"),
    "V_th": ("-55 mV", "Threshold"),
    "V_reset": ("-70 mV", "Potential after a spike"),
    "I_e": ("0 pA", "Constant current"),
}
_RISE_AND_DECAY = {
    "tau_rise[receptors]": ("2 ms", "Time constant of the rise of receptor [receptors]"),
    "tau_decay[receptors]": ("20 ms", "Time constant of the decay of receptor [receptors]"),
}

_CONDUCTANCE_BETA = """
dg[receptors]/dt = x[receptors] - g[receptors]/tau_rise[receptors] : nS  # Conductance of receptor [receptors]
dx[receptors]/dt = -x[receptors]/tau_decay[receptors] : nS/ms  # What conductance [receptors] grows by"""

_TO_CURRENT = "I_syn[receptors] += {w}"
# The factor is explained in `definition_parts`.
_TO_BETA = "x[receptors] += {w}*exp(1/exprel(log(tau_decay[receptors]/tau_rise[receptors])))/tau_rise[receptors]"


def _leaky(synapses: str, effect: str) -> dict[str, Any]:
    return {
        "equations": "dV_m/dt = (E_L - V_m)/tau_m + (I_syn + I_e + I_stimulus)/C_m : mV  # Potential of the membrane\n"
        "I_syn = sum(I_syn[receptors]) : pA  # Sum of the currents of all receptors" + synapses,
        "threshold": "V_m >= V_th",
        "reset": "V_m = V_reset",
        "refractory": "t_ref",
        "receptors": {"receptor[receptors]": effect.format(w="w")},
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**_LEAKY, **TIME_OF_EACH),
        "copies": {"receptors": 1},
        "method": "exact",
    }


def _exponential(synapses: str, effect: str, times: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    return {
        "equations": EXPONENTIAL.format(synapses=BY_CONDUCTANCES_OF_EACH) + synapses,
        "threshold": "V_m >= V_peak",
        "reset": "V_m = V_reset; w += b",
        "refractory": "t_ref",
        "receptors": {"receptor[receptors]": effect.format(w="weight")},
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**ADAPTIVE, **REVERSAL_OF_EACH, **times),
        "copies": {"receptors": 1},
        "method": "adaptive",
    }


MULTISYNAPSE: Mapping[str, Mapping[str, Any]] = {
    "aeif_cond_alpha_multisynapse": {
        **_exponential(CONDUCTANCE_ALPHA, TO_ALPHA_OF_EACH, TIME_OF_EACH),
        "summary": "Adaptive exponential neuron with any number of conductances that are alpha functions",
        "reference": BRETTE,
    },
    "aeif_cond_beta_multisynapse": {
        **_exponential(_CONDUCTANCE_BETA, _TO_BETA, _RISE_AND_DECAY),
        "summary": "Adaptive exponential neuron with any number of conductances that are beta functions",
        "reference": BRETTE,
    },
    "iaf_psc_alpha_multisynapse": {
        **_leaky(CURRENT_ALPHA, TO_ALPHA_OF_EACH),
        "summary": "Leaky integrate-and-fire neuron with any number of synaptic currents that are alpha functions",
        "reference": "S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)",
    },
    "iaf_psc_exp_multisynapse": {
        **_leaky(CURRENT_EXP, _TO_CURRENT),
        "summary": "Leaky integrate-and-fire neuron with any number of exponentially decaying synaptic currents",
        "reference": "S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)",
    },
}
"""By name."""
