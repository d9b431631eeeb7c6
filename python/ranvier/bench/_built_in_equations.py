"""The built-in point neurons as users would write them in equations."""

from __future__ import annotations

from typing import Any

__all__ = ["BUILT_IN", "FIRING", "LEAKY_PARAMETERS"]

LEAKY_PARAMETERS: dict[str, Any] = {
    "E_L": "-70 mV",
    "tau_m": "10 ms",
    "C_m": "250 pF",
    "V_th": "-55 mV",
    "V_reset": "-70 mV",
    "t_ref": "2 ms",
    "I_e": "500 pA",
}
FIRING: dict[str, Any] = {"threshold": "v >= V_th", "reset": "v = V_reset", "refractory": "t_ref"}

BUILT_IN: dict[str, dict[str, Any]] = {
    "iaf_psc_exp": {
        "equations": """
        dv/dt = (E_L - v)/tau_m + (I_ex + I_in + I_e + I_stimulus)/C_m : mV
        dI_ex/dt = -I_ex/tau_ex : pA
        dI_in/dt = -I_in/tau_in : pA
        """,
        **FIRING,
        "parameters": {**LEAKY_PARAMETERS, "I_e": "0 pA", "tau_ex": "2 ms", "tau_in": "2 ms"},
        "receptors": {"excitatory": "I_ex += w", "inhibitory": "I_in += w"},
        "initial": {"v": "E_L"},
    },
    "iaf_psc_alpha": {
        "equations": """
        dv/dt = (E_L - v)/tau_m + (I_ex + I_in + I_e + I_stimulus)/C_m : mV
        dI_ex/dt = -I_ex/tau_ex + x_ex : pA
        dx_ex/dt = -x_ex/tau_ex : pA/ms
        dI_in/dt = -I_in/tau_in + x_in : pA
        dx_in/dt = -x_in/tau_in : pA/ms
        """,
        **FIRING,
        "parameters": {**LEAKY_PARAMETERS, "I_e": "0 pA", "tau_ex": "2 ms", "tau_in": "2 ms"},
        "receptors": {"excitatory": "x_ex += w*e/tau_ex", "inhibitory": "x_in += w*e/tau_in"},
        "initial": {"v": "E_L"},
    },
    "iaf_psc_delta": {
        "equations": "dv/dt = (E_L - v)/tau_m + (I_e + I_stimulus)/C_m : mV",
        **FIRING,
        "parameters": {**LEAKY_PARAMETERS, "I_e": "0 pA"},
        "receptors": {"jump": "v += w"},
        "initial": {"v": "E_L"},
    },
}
"""Keywords of `ranvier.neuron` by the names of the models."""
