"""Neuron models of the field that are written as equations: the arguments of `ranvier.neuron` for each.

Names, units and defaults are those of NEST. `ranvier.equations.models` makes classes of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.definition_parts import (
    ADAPTIVE,
    BETA,
    BRETTE,
    BY_CONDUCTANCES,
    BY_CURRENTS,
    CONDUCTANCES_ALPHA,
    CONDUCTANCES_BETA,
    CONDUCTANCES_EXP,
    CURRENTS_ALPHA,
    CURRENTS_EXP,
    EXPONENTIAL,
    REVERSAL,
    SYNAPSES,
    TO_ALPHA,
    TO_BETA,
    TO_CONDUCTANCES,
    TO_CURRENTS,
    parameters,
)
from ranvier.equations.definitions_adaptive_threshold import ADAPTIVE_THRESHOLD
from ranvier.equations.definitions_clopath import CLOPATH
from ranvier.equations.definitions_hodgkin_huxley import HODGKIN_HUXLEY
from ranvier.equations.definitions_multisynapse import MULTISYNAPSE
from ranvier.equations.parameters import parameter

__all__ = ["DEFINITIONS"]


_LEAKY = {
    "E_L": ("-70 mV", "Resting potential"),
    "C_m": ("250 pF", "Capacitance of the membrane"),
    "g_L": ("16.6667 nS", "Leak conductance"),
    "t_ref": ("2 ms", "Duration of the refractory period"),
    "V_th": ("-55 mV", "Threshold"),
    "V_reset": ("-60 mV", "Potential after a spike"),
    "I_e": ("0 pA", "Constant current"),
}


def _leaky(
    synapses: str, current: str, receptors: Mapping[str, str], times: Mapping[str, tuple[str, str]] = SYNAPSES
) -> dict[str, Any]:
    return {
        "equations": f"dV_m/dt = (g_L*(E_L - V_m) + {current} + I_e + I_stimulus)/C_m : mV  # Potential of the membrane"
        + synapses,
        "threshold": "V_m >= V_th",
        "reset": "V_m = V_reset",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="w") for name, text in receptors.items()},
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**_LEAKY, **REVERSAL, **times),
        "method": "adaptive",
    }


def _exponential(synapses: str, current: str, receptors: Mapping[str, str]) -> dict[str, Any]:
    reversal = REVERSAL if "E_ex" in current else {}
    return {
        "equations": EXPONENTIAL.format(synapses=current) + synapses,
        "threshold": "V_m >= V_peak",
        "reset": "V_m = V_reset; w += b",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="weight") for name, text in receptors.items()},
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**ADAPTIVE, **reversal, **SYNAPSES),
        "method": "adaptive",
    }


_MEFFIN = "H. Meffin, A. N. Burkitt and D. B. Grayden, Journal of Computational Neuroscience 16, 159-175 (2004)"

_INTEGRATE_AND_FIRE: Mapping[str, Mapping[str, Any]] = {
    "aeif_cond_alpha": {
        **_exponential(CONDUCTANCES_ALPHA, BY_CONDUCTANCES, TO_ALPHA),
        "summary": "Adaptive exponential integrate-and-fire neuron with conductances that are alpha functions",
        "reference": BRETTE,
    },
    "aeif_cond_exp": {
        **_exponential(CONDUCTANCES_EXP, BY_CONDUCTANCES, TO_CONDUCTANCES),
        "summary": "Adaptive exponential integrate-and-fire neuron with exponentially decaying conductances",
        "reference": BRETTE,
    },
    "aeif_psc_alpha": {
        **_exponential(CURRENTS_ALPHA, BY_CURRENTS, TO_ALPHA),
        "summary": "Adaptive exponential integrate-and-fire neuron with synaptic currents that are alpha functions",
        "reference": BRETTE,
    },
    "aeif_psc_delta": {
        "equations": EXPONENTIAL.replace(" + {synapses}", ""),
        "threshold": "V_m >= V_peak",
        "reset": "V_m = V_reset; w += b",
        "refractory": "t_ref",
        "receptors": {"jump": "V_m += weight"},
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**ADAPTIVE),
        "method": "adaptive",
        "summary": "Adaptive exponential integrate-and-fire neuron whose potential jumps with each spike",
        "reference": BRETTE,
    },
    "aeif_psc_exp": {
        **_exponential(CURRENTS_EXP, BY_CURRENTS, TO_CURRENTS),
        "summary": "Adaptive exponential integrate-and-fire neuron with exponentially decaying synaptic currents",
        "reference": BRETTE,
    },
    "iaf_cond_alpha": {
        **_leaky(CONDUCTANCES_ALPHA, BY_CONDUCTANCES, TO_ALPHA),
        "summary": "Leaky integrate-and-fire neuron with conductances that are alpha functions",
        "reference": _MEFFIN,
    },
    "iaf_cond_beta": {
        **_leaky(CONDUCTANCES_BETA, BY_CONDUCTANCES, TO_BETA, BETA),
        "summary": "Leaky integrate-and-fire neuron with conductances that are beta functions",
        "reference": f"{_MEFFIN}; A. Roth and M. C. W. van Rossum, Modeling synapses, in E. De Schutter (ed.), "
        "Computational Modeling Methods for Neuroscientists, MIT Press, 139-160 (2009)",
    },
    "iaf_cond_exp": {
        **_leaky(CONDUCTANCES_EXP, BY_CONDUCTANCES, TO_CONDUCTANCES),
        "summary": "Leaky integrate-and-fire neuron with exponentially decaying conductances",
        "reference": _MEFFIN,
    },
    "iaf_wang_2002": {
        "equations": """\
dV_m/dt = (g_L*(E_L - V_m) + (s_AMPA + block*s_NMDA)*(E_ex - V_m) + s_GABA*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  \
# Potential of the membrane
block = 1/(1 + conc_Mg2*exp(-0.062*V_m/mV)/3.57) : 1  # Fraction of the NMDA receptors without magnesium
ds_AMPA/dt = -s_AMPA/tau_AMPA : nS  # Conductance of AMPA receptors
ds_NMDA/dt = -s_NMDA/tau_decay_NMDA : nS  # Conductance of NMDA receptors, without the block
ds_GABA/dt = -s_GABA/tau_GABA : nS  # Conductance of GABA receptors""",
        "threshold": "V_m >= V_th",
        "reset": "V_m = V_reset",
        "refractory": "t_ref",
        "receptors": {"AMPA": "s_AMPA += w", "NMDA": "s_NMDA += w", "GABA": "s_GABA += w"},
        "initial": {"V_m": "E_L"},
        "parameters": {
            **parameters(
                E_L=("-70 mV", "Resting potential"),
                C_m=("500 pF", "Capacitance of the membrane"),
                g_L=("25 nS", "Leak conductance"),
                t_ref=("2 ms", "Duration of the refractory period"),
                V_th=("-50 mV", "Threshold"),
                V_reset=("-55 mV", "Potential after a spike"),
                I_e=("0 pA", "Constant current"),
                E_ex=REVERSAL["E_ex"],
                E_in=("-70 mV", REVERSAL["E_in"][1]),
                tau_AMPA=("2 ms", "Time constant of AMPA receptors"),
                tau_decay_NMDA=("100 ms", "Time constant of NMDA receptors"),
                tau_GABA=("5 ms", "Time constant of GABA receptors"),
            ),
            "conc_Mg2": parameter(
                1.0, low=0.0, meaning="Concentration of magnesium in mM, which blocks NMDA receptors"
            ),
        },
        "method": "adaptive",
        "summary": "Leaky integrate-and-fire neuron with AMPA, NMDA and GABA receptors, for decision-making networks",
        "reference": "X.-J. Wang, Neuron 36, 955-968 (2002)",
    },
    "izhikevich": {
        "equations": """\
dV_m/dt = (0.04*V_m**2/mV + 5*V_m + 140*mV)/ms - U_m + (I_e + I_stimulus)*mV/pA/ms : mV  # Potential of the membrane
dU_m/dt = a*(b*V_m - U_m) : mV/ms  # Recovery""",
        "threshold": "V_m >= V_th",
        "reset": "V_m = c; U_m += d",
        "receptors": {"jump": "V_m += w"},
        "initial": {"V_m": -65.0, "U_m": -13.0},
        "parameters": {
            "a": parameter("0.02/ms", meaning="Rate of the recovery"),
            "b": parameter("0.2/ms", meaning="How much the recovery follows the potential"),
            "c": parameter("-65 mV", meaning="Potential after a spike"),
            "d": parameter("8 mV/ms", meaning="What a spike adds to the recovery"),
            "V_th": parameter("30 mV", meaning="Threshold: the peak of a spike"),
            "I_e": parameter("0 pA", meaning="Constant current"),
        },
        "method": "euler",
        "summary": "Neuron of Izhikevich: two variables, of which the potential is quadratic",
        "reference": "E. M. Izhikevich, IEEE Transactions on Neural Networks 14, 1569-1572 (2003)",
    },
}

DEFINITIONS: Mapping[str, Mapping[str, Any]] = dict(
    sorted({**_INTEGRATE_AND_FIRE, **HODGKIN_HUXLEY, **MULTISYNAPSE, **ADAPTIVE_THRESHOLD, **CLOPATH}.items())
)
"""By name."""

COPIES = {
    "sfa": "Number of time constants with which spikes change the threshold",
    "stc": "Number of currents that spikes trigger",
    "receptors": "Number of receptors, or a list of their names; what ends in _1 here is that of the first of them",
}
"""Meanings of what says how many there are of parameters and variables with an index."""
