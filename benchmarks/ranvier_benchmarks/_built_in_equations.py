"""Built-in point neurons, and synapses that learn, as users would write them in equations."""

from __future__ import annotations

from typing import Any

__all__ = ["BUILT_IN", "BUILT_IN_SYNAPSES", "FIRING", "LEAKY_PARAMETERS"]

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

_PAIRS = "dx/dt = -x/tau_plus : 1\n dy/dt = -y/tau_minus : 1\n"
_TIMES = {"tau_plus": "20 ms", "tau_minus": "20 ms"}
_SIGN = "s = sign(W_max) : 1\n"

BUILT_IN_SYNAPSES: dict[str, dict[str, Any]] = {
    "stdp": {
        "equations": _PAIRS,
        "on_pre": "x += 1; w = W_max*max(w/W_max - learning_rate*alpha*(w/W_max)**mu_minus*y, 0)",
        "on_post": "y += 1; w = W_max*min(w/W_max + learning_rate*(1 - w/W_max)**mu_plus*x, 1)",
        "parameters": {
            **_TIMES,
            "learning_rate": 0.01,
            "alpha": 1.0,
            "mu_plus": 1.0,
            "mu_minus": 1.0,
            "W_max": 100.0,
        },
    },
    "stdp_pl": {
        "equations": _PAIRS,
        "on_pre": "x += 1; w = max(w - learning_rate*alpha*w*y, 0)",
        "on_post": "y += 1; w += learning_rate*w**mu*x",
        "parameters": {**_TIMES, "learning_rate": 0.1, "alpha": 1.0, "mu": 0.4},
    },
    "stdp_triplet": {
        "equations": _PAIRS
        + "dx_slow/dt = -x_slow/tau_plus_triplet : 1\n dy_slow/dt = -y_slow/tau_minus_triplet : 1\n"
        + _SIGN,
        "on_pre": "w = s*max(s*w - y*(A_minus + A_minus_triplet*x_slow), 0); x += 1; x_slow += 1",
        "on_post": "w = s*min(s*w + x*(A_plus + A_plus_triplet*y_slow), abs(W_max)); y += 1; y_slow += 1",
        "parameters": {
            "tau_plus": "16.8 ms",
            "tau_minus": "33.7 ms",
            "tau_plus_triplet": "101 ms",
            "tau_minus_triplet": "125 ms",
            "A_plus": 5e-10,
            "A_minus": 7e-3,
            "A_plus_triplet": 6.2e-3,
            "A_minus_triplet": 2.3e-4,
            "W_max": 100.0,
        },
    },
    "vogels_sprekeler": {
        "equations": "dx/dt = -x/tau : 1\n dy/dt = -y/tau : 1\n" + _SIGN,
        "on_pre": "x += 1; w = s*max(min(s*w + learning_rate*y, abs(W_max)) - learning_rate*alpha, 0)",
        "on_post": "y += 1; w = s*min(s*w + learning_rate*x, abs(W_max))",
        "parameters": {"tau": "20 ms", "learning_rate": 0.001, "alpha": 0.12, "W_max": -100.0},
    },
}
"""Keywords of `ranvier.synapse` by the names of the models; the parameters have their defaults."""
