"""Neuron models of the field that are written as equations: the arguments of `ranvier.neuron` for each.

Names, units and defaults are those of NEST. `python -m ranvier.generate_models` makes classes of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.parameters import parameter

__all__ = ["DEFINITIONS"]


def _parameters(**given: tuple[str, str]) -> dict[str, Any]:
    """Return parameters with their meanings; those by which is divided are positive."""
    made = {}
    for name, (value, meaning) in given.items():
        is_positive = name.startswith("tau_") or name in ("C_m", "g_L", "Delta_T")
        low = 0.0 if is_positive or name == "t_ref" else None
        made[name] = parameter(value, low=low, low_open=is_positive, meaning=meaning)
    return made


_LEAKY = {
    "E_L": ("-70 mV", "Resting potential"),
    "C_m": ("250 pF", "Capacitance of the membrane"),
    "g_L": ("16.6667 nS", "Leak conductance"),
    "t_ref": ("2 ms", "Duration of the refractory period"),
    "V_th": ("-55 mV", "Threshold"),
    "V_reset": ("-60 mV", "Potential after a spike"),
    "I_e": ("0 pA", "Constant current"),
}
_ADAPTIVE = {
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
_REVERSAL = {
    "E_ex": ("0 mV", "Reversal potential of excitatory synapses"),
    "E_in": ("-85 mV", "Reversal potential of inhibitory synapses"),
}
_BETA = {
    "tau_rise_ex": ("0.2 ms", "Time constant of the rise of excitatory synapses"),
    "tau_decay_ex": ("0.2 ms", "Time constant of the decay of excitatory synapses"),
    "tau_rise_in": ("2 ms", "Time constant of the rise of inhibitory synapses"),
    "tau_decay_in": ("2 ms", "Time constant of the decay of inhibitory synapses"),
}
_SYNAPSES = {
    "tau_syn_ex": ("0.2 ms", "Time constant of excitatory synapses"),
    "tau_syn_in": ("2 ms", "Time constant of inhibitory synapses"),
}

_CONDUCTANCES_EXP = """
dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance"""
_CONDUCTANCES_ALPHA = """
dg_ex/dt = x_ex - g_ex/tau_syn_ex : nS  # Excitatory conductance
dx_ex/dt = -x_ex/tau_syn_ex : nS/ms  # What the excitatory conductance grows by
dg_in/dt = x_in - g_in/tau_syn_in : nS  # Inhibitory conductance
dx_in/dt = -x_in/tau_syn_in : nS/ms  # What the inhibitory conductance grows by"""
_CONDUCTANCES_BETA = """
dg_ex/dt = x_ex - g_ex/tau_rise_ex : nS  # Excitatory conductance
dx_ex/dt = -x_ex/tau_decay_ex : nS/ms  # What the excitatory conductance grows by
dg_in/dt = x_in - g_in/tau_rise_in : nS  # Inhibitory conductance
dx_in/dt = -x_in/tau_decay_in : nS/ms  # What the inhibitory conductance grows by"""
_CURRENTS_EXP = """
dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted"""
_CURRENTS_ALPHA = """
dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # What the excitatory current grows by
dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted
dx_in/dt = -x_in/tau_syn_in : pA/ms  # What the inhibitory current grows by"""
_BY_CONDUCTANCES = "g_ex*(E_ex - V_m) + g_in*(E_in - V_m)"
_BY_CURRENTS = "I_syn_ex - I_syn_in"

_TO_CONDUCTANCES = {"excitatory": "g_ex += {w}", "inhibitory": "g_in -= {w}"}
_TO_CURRENTS = {"excitatory": "I_syn_ex += {w}", "inhibitory": "I_syn_in -= {w}"}
_TO_ALPHA = {"excitatory": "x_ex += {w}*e/tau_syn_ex", "inhibitory": "x_in -= {w}*e/tau_syn_in"}
# With this factor a weight is the peak of the conductance. There the conductance does not change: it is tau_rise times
# what it grows by, which has decayed since the spike by exp(-1/exprel(log(tau_decay/tau_rise))). Where both time
# constants are equal, the factor is the e/tau of an alpha function.
_TO_BETA = {
    "excitatory": "x_ex += {w}*exp(1/exprel(log(tau_decay_ex/tau_rise_ex)))/tau_rise_ex",
    "inhibitory": "x_in -= {w}*exp(1/exprel(log(tau_decay_in/tau_rise_in)))/tau_rise_in",
}


def _leaky(
    synapses: str, current: str, receptors: Mapping[str, str], times: Mapping[str, tuple[str, str]] = _SYNAPSES
) -> dict[str, Any]:
    return {
        "equations": f"dV_m/dt = (g_L*(E_L - V_m) + {current} + I_e + I_stimulus)/C_m : mV  # Potential of the membrane"
        + synapses,
        "threshold": "V_m >= V_th",
        "reset": "V_m = V_reset",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="w") for name, text in receptors.items()},
        "initial": {"V_m": "E_L"},
        "parameters": _parameters(**_LEAKY, **_REVERSAL, **times),
        "method": "adaptive",
    }


def _exponential(synapses: str, current: str, receptors: Mapping[str, str]) -> dict[str, Any]:
    reversal = _REVERSAL if "E_ex" in current else {}
    return {
        "equations": f"""\
dV_m/dt = (g_L*(E_L - V_m) + I_spike + {current} - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike"""
        + synapses,
        "threshold": "V_m >= V_peak",
        "reset": "V_m = V_reset; w += b",
        "refractory": "t_ref",
        "receptors": {name: text.format(w="weight") for name, text in receptors.items()},
        "initial": {"V_m": "E_L"},
        "parameters": _parameters(**_ADAPTIVE, **reversal, **_SYNAPSES),
        "method": "adaptive",
    }


_BRETTE = "R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)"
_MEFFIN = "H. Meffin, A. N. Burkitt and D. B. Grayden, Journal of Computational Neuroscience 16, 159-175 (2004)"

DEFINITIONS: Mapping[str, Mapping[str, Any]] = {
    "aeif_cond_alpha": {
        **_exponential(_CONDUCTANCES_ALPHA, _BY_CONDUCTANCES, _TO_ALPHA),
        "summary": "Adaptive exponential integrate-and-fire neuron with conductances that are alpha functions",
        "reference": _BRETTE,
    },
    "aeif_cond_exp": {
        **_exponential(_CONDUCTANCES_EXP, _BY_CONDUCTANCES, _TO_CONDUCTANCES),
        "summary": "Adaptive exponential integrate-and-fire neuron with exponentially decaying conductances",
        "reference": _BRETTE,
    },
    "aeif_psc_alpha": {
        **_exponential(_CURRENTS_ALPHA, _BY_CURRENTS, _TO_ALPHA),
        "summary": "Adaptive exponential integrate-and-fire neuron with synaptic currents that are alpha functions",
        "reference": _BRETTE,
    },
    "aeif_psc_exp": {
        **_exponential(_CURRENTS_EXP, _BY_CURRENTS, _TO_CURRENTS),
        "summary": "Adaptive exponential integrate-and-fire neuron with exponentially decaying synaptic currents",
        "reference": _BRETTE,
    },
    "iaf_cond_alpha": {
        **_leaky(_CONDUCTANCES_ALPHA, _BY_CONDUCTANCES, _TO_ALPHA),
        "summary": "Leaky integrate-and-fire neuron with conductances that are alpha functions",
        "reference": _MEFFIN,
    },
    "iaf_cond_beta": {
        **_leaky(_CONDUCTANCES_BETA, _BY_CONDUCTANCES, _TO_BETA, _BETA),
        "summary": "Leaky integrate-and-fire neuron with conductances that are beta functions",
        "reference": f"{_MEFFIN}; A. Roth and M. C. W. van Rossum, Modeling synapses, in E. De Schutter (ed.), "
        "Computational Modeling Methods for Neuroscientists, MIT Press, 139-160 (2009)",
    },
    "iaf_cond_exp": {
        **_leaky(_CONDUCTANCES_EXP, _BY_CONDUCTANCES, _TO_CONDUCTANCES),
        "summary": "Leaky integrate-and-fire neuron with exponentially decaying conductances",
        "reference": _MEFFIN,
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
"""By name."""
