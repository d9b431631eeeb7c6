"""What several models that are written as equations have in common: parameters, synapses, and what spikes do."""

from __future__ import annotations

from typing import Any

from ranvier.equations.parameters import parameter

__all__ = [
    "ADAPTIVE",
    "BETA",
    "BRETTE",
    "BY_CONDUCTANCES",
    "BY_CONDUCTANCES_OF_EACH",
    "BY_CURRENTS",
    "CONDUCTANCES_ALPHA",
    "CONDUCTANCES_BETA",
    "CONDUCTANCES_EXP",
    "CONDUCTANCE_ALPHA",
    "CONDUCTANCE_EXP",
    "CURRENTS_ALPHA",
    "CURRENTS_EXP",
    "CURRENT_ALPHA",
    "CURRENT_EXP",
    "EXPONENTIAL",
    "EXPONENTIAL_MEMBRANE",
    "REVERSAL",
    "REVERSAL_OF_EACH",
    "SYNAPSES",
    "TIME_OF_EACH",
    "TO_ALPHA",
    "TO_ALPHA_OF_EACH",
    "TO_BETA",
    "TO_CONDUCTANCES",
    "TO_CURRENTS",
    "parameters",
]

_NOT_NEGATIVE = ("t_ref", "t_clamp", "g_Na", "g_K", "lambda_0", "dead_time")


def parameters(**given: tuple[str, str]) -> dict[str, Any]:
    """Return parameters with their meanings; those by which is divided are positive."""
    made = {}
    for name, (value, meaning) in given.items():
        is_positive = name.startswith("tau_") or name in ("C_m", "g_L", "Delta_T", "Delta_V")
        low = 0.0 if is_positive or name in _NOT_NEGATIVE else None
        made[name] = parameter(value, low=low, low_open=is_positive, meaning=meaning)
    return made


ADAPTIVE = {
    "E_L": ("-70.6 mV", "Resting potential"),
    "C_m": ("281 pF", "Capacitance of the membrane"),
    "g_L": ("30 nS", "Leak conductance"),
    "t_ref": ("0 ms", "Duration of the refractory period"),
    "V_th": ("-50.4 mV", "Potential at which a spike begins"),
    "V_peak": ("0 mV", "Threshold: the neuron fires when V_m >= V_peak"),
    "V_reset": ("-60 mV", "Potential after a spike"),
    "Delta_T": ("2 mV", "Slope factor of the exponential"),
    "tau_w": ("144 ms", "Time constant of the adaptation"),
    "a": ("4 nS", "Subthreshold adaptation"),
    "b": ("80.5 pA", "Adaptation by a spike"),
    "I_e": ("0 pA", "Constant current"),
}
REVERSAL = {
    "E_ex": ("0 mV", "Reversal potential of excitatory synapses"),
    "E_in": ("-85 mV", "Reversal potential of inhibitory synapses"),
}
BETA = {
    "tau_rise_ex": ("0.2 ms", "Time constant of the rise of excitatory synapses"),
    "tau_decay_ex": ("0.2 ms", "Time constant of the decay of excitatory synapses"),
    "tau_rise_in": ("2 ms", "Time constant of the rise of inhibitory synapses"),
    "tau_decay_in": ("2 ms", "Time constant of the decay of inhibitory synapses"),
}
SYNAPSES = {
    "tau_syn_ex": ("0.2 ms", "Time constant of excitatory synapses"),
    "tau_syn_in": ("2 ms", "Time constant of inhibitory synapses"),
}

# `held` are flags of the potential and the adaptation.
EXPONENTIAL_MEMBRANE = """\
dV_m/dt = (g_L*(E_L - V_m) + I_spike + {synapses} - w + I_e + I_stimulus)/C_m : mV{held}  # Potential of the membrane
dw/dt = (a*(V_m - E_L) - w)/tau_w : pA{held}  # Adaptation
I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike"""
EXPONENTIAL = EXPONENTIAL_MEMBRANE.replace("{held}", "")
CONDUCTANCES_EXP = """
dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance"""
CONDUCTANCES_ALPHA = """
dg_ex/dt = x_ex - g_ex/tau_syn_ex : nS  # Excitatory conductance
dx_ex/dt = -x_ex/tau_syn_ex : nS/ms  # What the excitatory conductance grows by
dg_in/dt = x_in - g_in/tau_syn_in : nS  # Inhibitory conductance
dx_in/dt = -x_in/tau_syn_in : nS/ms  # What the inhibitory conductance grows by"""
CONDUCTANCES_BETA = """
dg_ex/dt = x_ex - g_ex/tau_rise_ex : nS  # Excitatory conductance
dx_ex/dt = -x_ex/tau_decay_ex : nS/ms  # What the excitatory conductance grows by
dg_in/dt = x_in - g_in/tau_rise_in : nS  # Inhibitory conductance
dx_in/dt = -x_in/tau_decay_in : nS/ms  # What the inhibitory conductance grows by"""
CURRENTS_EXP = """
dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted"""
CURRENTS_ALPHA = """
dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # What the excitatory current grows by
dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted
dx_in/dt = -x_in/tau_syn_in : pA/ms  # What the inhibitory current grows by"""
BY_CONDUCTANCES = "g_ex*(E_ex - V_m) + g_in*(E_in - V_m)"
BY_CURRENTS = "I_syn_ex - I_syn_in"

TO_CONDUCTANCES = {"excitatory": "g_ex += {w}", "inhibitory": "g_in -= {w}"}
TO_CURRENTS = {"excitatory": "I_syn_ex += {w}", "inhibitory": "I_syn_in -= {w}"}
TO_ALPHA = {"excitatory": "x_ex += {w}*e/tau_syn_ex", "inhibitory": "x_in -= {w}*e/tau_syn_in"}
# With this factor a weight is the peak of the conductance. There the conductance does not change: it is tau_rise times
# what it grows by, which has decayed since the spike by exp(-1/exprel(log(tau_decay/tau_rise))). Where both time
# constants are equal, the factor is the e/tau of an alpha function.
TO_BETA = {
    "excitatory": "x_ex += {w}*exp(1/exprel(log(tau_decay_ex/tau_rise_ex)))/tau_rise_ex",
    "inhibitory": "x_in -= {w}*exp(1/exprel(log(tau_decay_in/tau_rise_in)))/tau_rise_in",
}

# What there is of each of any number of receptors.
TIME_OF_EACH = {"tau_syn[receptors]": ("2 ms", "Time constant of receptor [receptors]")}
REVERSAL_OF_EACH = {"E_rev[receptors]": ("0 mV", "Reversal potential of receptor [receptors]")}

CURRENT_EXP = """
dI_syn[receptors]/dt = -I_syn[receptors]/tau_syn[receptors] : pA  # Current of receptor [receptors]"""
CURRENT_ALPHA = """
dI_syn[receptors]/dt = x[receptors] - I_syn[receptors]/tau_syn[receptors] : pA  # Current of receptor [receptors]
dx[receptors]/dt = -x[receptors]/tau_syn[receptors] : pA/ms  # What current [receptors] grows by"""
CONDUCTANCE_EXP = """
dg[receptors]/dt = -g[receptors]/tau_syn[receptors] : nS  # Conductance of receptor [receptors]"""
CONDUCTANCE_ALPHA = """
dg[receptors]/dt = x[receptors] - g[receptors]/tau_syn[receptors] : nS  # Conductance of receptor [receptors]
dx[receptors]/dt = -x[receptors]/tau_syn[receptors] : nS/ms  # What conductance [receptors] grows by"""
BY_CONDUCTANCES_OF_EACH = "sum(g[receptors]*(E_rev[receptors] - V_m))"
TO_ALPHA_OF_EACH = "x[receptors] += {w}*e/tau_syn[receptors]"

BRETTE = "R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)"
