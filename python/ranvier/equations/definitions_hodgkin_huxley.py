"""Point neurons with the sodium and potassium channels of Hodgkin and Huxley, as arguments of `ranvier.neuron`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.definition_parts import (
    BY_CONDUCTANCES,
    CONDUCTANCES_EXP,
    REVERSAL,
    SYNAPSES,
    TO_ALPHA,
    TO_CONDUCTANCES,
    parameters,
)
from ranvier.equations.parameters import parameter

__all__ = ["HODGKIN_HUXLEY"]

_MEMBRANE = """\
dV_m/dt = (I_Na + I_K + g_L*(E_L - V_m) + {synapses} + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
dAct_m/dt = alpha_m*(1 - Act_m) - beta_m*Act_m : 1  # Activation of the sodium channels
dInact_h/dt = alpha_h*(1 - Inact_h) - beta_h*Inact_h : 1  # Inactivation of the sodium channels
dAct_n/dt = alpha_n*(1 - Act_n) - beta_n*Act_n : 1  # Activation of the potassium channels
I_Na = g_Na*Act_m**3*Inact_h*(E_Na - V_m) : pA  # Sodium current
I_K = g_K*Act_n**4*(E_K - V_m) : pA  # Potassium current"""

# x/(1 - exp(-x)) is 1/exprel(-x), which is a number where x is 0.
_RATES_OF_SQUID = """
alpha_m = 1/exprel(-(V_m + 40*mV)/(10*mV))/ms : 1/ms  # Rate at which activation gates of sodium channels open
beta_m = 4*exp(-(V_m + 65*mV)/(18*mV))/ms : 1/ms  # Rate at which they close
alpha_h = 0.07*exp(-(V_m + 65*mV)/(20*mV))/ms : 1/ms  # Rate at which inactivation gates of sodium channels open
beta_h = 1/(1 + exp(-(V_m + 35*mV)/(10*mV)))/ms : 1/ms  # Rate at which they close
alpha_n = 0.1/exprel(-(V_m + 55*mV)/(10*mV))/ms : 1/ms  # Rate at which gates of potassium channels open
beta_n = 0.125*exp(-(V_m + 65*mV)/(80*mV))/ms : 1/ms  # Rate at which they close"""
_RATES_OF_TRAUB = """
alpha_m = 1.28/exprel((13*mV - V_m + V_T)/(4*mV))/ms : 1/ms  # Rate at which activation gates of sodium channels open
beta_m = 1.4/exprel((V_m - V_T - 40*mV)/(5*mV))/ms : 1/ms  # Rate at which they close
alpha_h = 0.128*exp((17*mV - V_m + V_T)/(18*mV))/ms : 1/ms  # Rate at which inactivation gates of sodium channels open
beta_h = 4/(1 + exp((40*mV - V_m + V_T)/(5*mV)))/ms : 1/ms  # Rate at which they close
alpha_n = 0.16/exprel((15*mV - V_m + V_T)/(5*mV))/ms : 1/ms  # Rate at which gates of potassium channels open
beta_n = 0.5*exp((10*mV - V_m + V_T)/(40*mV))/ms : 1/ms  # Rate at which they close"""

# Currents that are negative where they inhibit, as those of NEST's model.
_CURRENTS_ALPHA = """
dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # What the excitatory current grows by
dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
dx_in/dt = -x_in/tau_syn_in : pA/ms  # What the inhibitory current grows by"""


def _channels(**values: str) -> dict[str, Any]:
    made = parameters(
        C_m=(values["C_m"], "Capacitance of the membrane"),
        g_Na=(values["g_Na"], "Greatest sodium conductance"),
        g_K=(values["g_K"], "Greatest potassium conductance"),
        E_Na=(values["E_Na"], "Reversal potential of sodium"),
        E_K=(values["E_K"], "Reversal potential of potassium"),
        E_L=(values["E_L"], "Reversal potential of the leak"),
        t_ref=("2 ms", "Period after a spike in which the neuron does not fire; all its variables go on"),
        I_e=("0 pA", "Constant current"),
    )
    return {**made, "g_L": parameter(values["g_L"], low=0.0, meaning="Leak conductance")}


HODGKIN_HUXLEY: Mapping[str, Mapping[str, Any]] = {
    "hh_cond_exp_traub": {
        "equations": _MEMBRANE.format(synapses=BY_CONDUCTANCES) + _RATES_OF_TRAUB + CONDUCTANCES_EXP,
        # A spike is the peak of the potential.
        "threshold": "V_m >= V_T + 30*mV and V_m < before(V_m)",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="w") for name, text in TO_CONDUCTANCES.items()},
        # The gates have their steady states at the default of this potential.
        "initial": {
            "V_m": "E_L",
            "Act_m": 9.895563096746586e-09,
            "Inact_h": 0.999999999106396,
            "Act_n": 2.551577051602551e-07,
        },
        "parameters": {
            **_channels(
                C_m="200 pF", g_Na="20000 nS", g_K="6000 nS", g_L="10 nS", E_Na="50 mV", E_K="-90 mV", E_L="-60 mV"
            ),
            **parameters(
                V_T=("-63 mV", "Moves the potentials on which the rates depend, and with them the threshold"),
                E_ex=REVERSAL["E_ex"],
                E_in=("-80 mV", REVERSAL["E_in"][1]),
                tau_syn_ex=("5 ms", SYNAPSES["tau_syn_ex"][1]),
                tau_syn_in=("10 ms", SYNAPSES["tau_syn_in"][1]),
            ),
        },
        "method": "adaptive",
        "summary": "Hodgkin-Huxley neuron of the hippocampus with exponentially decaying conductances",
        "reference": "R. D. Traub and R. Miles, Neuronal Networks of the Hippocampus, Cambridge University Press "
        "(1991); R. Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007)",
    },
    "hh_psc_alpha": {
        "equations": _MEMBRANE.format(synapses="I_syn_ex + I_syn_in") + _RATES_OF_SQUID + _CURRENTS_ALPHA,
        "threshold": "V_m >= 0*mV and V_m < before(V_m)",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="w").replace("-=", "+=") for name, text in TO_ALPHA.items()},
        "initial": {
            "V_m": -65.0,
            "Act_m": 0.05293248525724958,
            "Inact_h": 0.5961207535084603,
            "Act_n": 0.3176769140606974,
        },
        "parameters": {
            **_channels(
                C_m="100 pF", g_Na="12000 nS", g_K="3600 nS", g_L="30 nS", E_Na="50 mV", E_K="-77 mV", E_L="-54.402 mV"
            ),
            **parameters(**SYNAPSES),
        },
        "method": "adaptive",
        "summary": "Hodgkin-Huxley neuron with synaptic currents that are alpha functions",
        "reference": "A. L. Hodgkin and A. F. Huxley, Journal of Physiology 117, 500-544 (1952); "
        "P. Dayan and L. F. Abbott, Theoretical Neuroscience, MIT Press (2001)",
    },
}
"""By name."""
