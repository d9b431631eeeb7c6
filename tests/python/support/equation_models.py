"""Neuron models as equations, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.adaptive import Tolerances
from ranvier.equations.beginning import check_beginning
from ranvier.equations.lowering import Lowered, lower
from ranvier.equations.reading import Given, describe
from ranvier_benchmarks import _built_in_equations
from ranvier_benchmarks._built_in_equations import BUILT_IN

LEAKY = "dv/dt = (E_L - v)/tau_m + I_e/C_m : mV"
FIRING = _built_in_equations.FIRING
LEAKY_PARAMETERS = _built_in_equations.LEAKY_PARAMETERS
BY_SIGN = {"excitatory": "I_ex += w", "inhibitory": "I_in += w"}

IAF_PSC_EXP = BUILT_IN["iaf_psc_exp"]
IAF_PSC_ALPHA = BUILT_IN["iaf_psc_alpha"]
IAF_PSC_DELTA = BUILT_IN["iaf_psc_delta"]

IAF_COND_EXP: dict[str, Any] = {
    "equations": """
        dv/dt = (g_L*(E_L - v) + g_ex*(E_ex - v) + g_in*(E_in - v) + I_e + I_stimulus)/C_m : mV
        dg_ex/dt = -g_ex/tau_ex : nS
        dg_in/dt = -g_in/tau_in : nS
    """,
    **FIRING,
    "parameters": {
        "E_L": "-70 mV",
        "C_m": "250 pF",
        "g_L": "16.6667 nS",
        "E_ex": "0 mV",
        "E_in": "-85 mV",
        "V_th": "-55 mV",
        "V_reset": "-60 mV",
        "t_ref": "2 ms",
        "tau_ex": "0.2 ms",
        "tau_in": "2 ms",
        "I_e": "0 pA",
    },
    "receptors": {"excitatory": "g_ex += w", "inhibitory": "g_in += -w"},
    "initial": {"v": "E_L"},
}

AEIF_COND_EXP: dict[str, Any] = {
    "equations": """
        dv/dt = (g_L*(E_L - v) + g_L*Delta_T*exp((v - V_th)/Delta_T) + I_syn - w + I_e + I_stimulus)/C_m : mV
        dw/dt = (a*(v - E_L) - w)/tau_w : pA  # adaptation
        dg_ex/dt = -g_ex/tau_ex : nS
        dg_in/dt = -g_in/tau_in : nS
        I_syn = g_ex*(E_ex - v) + g_in*(E_in - v) : pA
    """,
    "threshold": "v >= V_peak",
    "reset": "v = V_reset; w += b",
    "refractory": "t_ref",
    "parameters": {
        "E_L": "-70.6 mV",
        "C_m": "281 pF",
        "g_L": "30 nS",
        "E_ex": "0 mV",
        "E_in": "-85 mV",
        "V_th": "-50.4 mV",
        "V_peak": "0 mV",
        "V_reset": "-60 mV",
        "Delta_T": "2 mV",
        "tau_w": "144 ms",
        "a": "4 nS",
        "b": "80.5 pA",
        "t_ref": "0 ms",
        "tau_ex": "0.2 ms",
        "tau_in": "2 ms",
        "I_e": "0 pA",
    },
    "receptors": {"excitatory": "g_ex += weight", "inhibitory": "g_in += -weight"},
    "initial": {"v": "E_L"},
}

IZHIKEVICH: dict[str, Any] = {
    "equations": """
        dv/dt = (0.04*v**2/mV + 5*v + 140*mV)/ms - u + (I_e + I_stimulus)*mV/pA/ms : mV
        du/dt = a*(b*v - u) : mV/ms
    """,
    "threshold": "v >= V_th",
    "reset": "v = c; u += d",
    "parameters": {
        "a": "0.02/ms",
        "b": "0.2/ms",
        "c": "-65 mV",
        "d": "8 mV/ms",
        "V_th": "30 mV",
        "I_e": "0 pA",
    },
    "receptors": {"jump": "v += w"},
    "initial": {"u": -13.0},
}

HH_PSC_ALPHA: dict[str, Any] = {
    "equations": """
        dv/dt = (g_Na*m**3*h*(E_Na - v) + g_K*n**4*(E_K - v) + g_L*(E_L - v) + I_ex + I_in + I_e + I_stimulus)/C_m : mV
        dm/dt = alpha_m*(1 - m) - beta_m*m : 1
        dh/dt = alpha_h*(1 - h) - beta_h*h : 1
        dn/dt = alpha_n*(1 - n) - beta_n*n : 1
        dI_ex/dt = -I_ex/tau_ex + x_ex : pA
        dx_ex/dt = -x_ex/tau_ex : pA/ms
        dI_in/dt = -I_in/tau_in + x_in : pA
        dx_in/dt = -x_in/tau_in : pA/ms
        alpha_m = 0.1*(v/mV + 40)/(1 - exp(-(v/mV + 40)/10))/ms : 1/ms
        beta_m = 4*exp(-(v/mV + 65)/18)/ms : 1/ms
        alpha_h = 0.07*exp(-(v/mV + 65)/20)/ms : 1/ms
        beta_h = 1/(1 + exp(-(v/mV + 35)/10))/ms : 1/ms
        alpha_n = 0.01*(v/mV + 55)/(1 - exp(-(v/mV + 55)/10))/ms : 1/ms
        beta_n = 0.125*exp(-(v/mV + 65)/80)/ms : 1/ms
    """,
    "threshold": "v >= 0*mV",
    "refractory": "t_ref",
    "parameters": {
        "C_m": "100 pF",
        "g_Na": "12000 nS",
        "g_K": "3600 nS",
        "g_L": "30 nS",
        "E_Na": "50 mV",
        "E_K": "-77 mV",
        "E_L": "-54.402 mV",
        "t_ref": "2 ms",
        "tau_ex": "0.2 ms",
        "tau_in": "2 ms",
        "I_e": "0 pA",
    },
    "receptors": {"excitatory": "x_ex += w*e/tau_ex", "inhibitory": "x_in += w*e/tau_in"},
    "initial": {"v": -65.0, "m": 0.0529, "h": 0.5961, "n": 0.3177},
}


def lowered(model: Mapping[str, Any], method: str = "auto", relative: float = 1e-6, **changes: Any) -> Lowered:
    """Return the programs of a model, given as arguments of `rv.neuron`, without the core."""
    arguments: dict[str, Any] = {
        "threshold": None,
        "reset": "",
        "refractory": None,
        "parameters": None,
        "receptors": None,
        "initial": None,
        "sign_chooses_receptor": None,
        "name": "neuron",
        "summary": "",
        "reference": "",
        **model,
        **changes,
    }
    description = describe(Given(**arguments))
    check_beginning(description, {})
    return lower(description, method, Tolerances(relative, dict.fromkeys(description.variables, relative)))
