"""Neurons with the filtered potentials of Clopath's rule of plasticity, as arguments of `ranvier.neuron`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.definition_parts import ADAPTIVE, EXPONENTIAL_MEMBRANE, parameters
from ranvier.equations.definitions_hodgkin_huxley import HODGKIN_HUXLEY

__all__ = ["CLOPATH"]

_REFERENCE = "C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352 (2010)"

_FILTERED = """
du_bar_plus/dt = (V_m - u_bar_plus)/tau_u_bar_plus : mV  # Filtered potential that potentiation follows
du_bar_minus/dt = (V_m - u_bar_minus)/tau_u_bar_minus : mV  # Filtered potential that depression follows
du_bar_bar/dt = (u_bar_minus - u_bar_bar)/tau_u_bar_bar : mV  # Slow potential, which keeps the balance of both"""


def _filters(plus: str) -> dict[str, tuple[str, str]]:
    return {
        "tau_u_bar_plus": (plus, "Time constant of u_bar_plus"),
        "tau_u_bar_minus": ("10 ms", "Time constant of u_bar_minus"),
        "tau_u_bar_bar": ("500 ms", "Time constant of u_bar_bar"),
    }


_ADAPTIVE = {name: each for name, each in ADAPTIVE.items() if name not in ("t_ref", "V_th")} | {
    "V_peak": ("33 mV", ADAPTIVE["V_peak"][1]),
    "V_reset": ("-60 mV", "Potential after the clamp"),
    "V_clamp": ("33 mV", "Potential at which a neuron that has fired is clamped"),
    "t_clamp": ("2 ms", "Duration of the clamp"),
    "V_th_rest": ("-50.4 mV", "Threshold long after a spike"),
    "V_th_max": ("30.4 mV", "Threshold right after a spike"),
    "tau_V_th": ("50 ms", "Time constant of the threshold"),
    "I_sp": ("400 pA", "Depolarizing current right after a spike"),
    "tau_z": ("40 ms", "Time constant of the depolarizing current"),
}

CLOPATH: Mapping[str, Mapping[str, Any]] = {
    "aeif_psc_delta_clopath": {
        # The spike itself lasts: its shape matters to the filtered potentials.
        "equations": EXPONENTIAL_MEMBRANE.format(synapses="z", held=" (unless refractory)")
        + """
dz/dt = -z/tau_z : pA  # Depolarizing current after a spike
dV_th/dt = (V_th_rest - V_th)/tau_V_th : mV  # Potential at which a spike begins"""
        + _FILTERED,
        "threshold": "V_m >= V_peak",
        "reset": "V_m = V_clamp; w += b; z = I_sp; V_th = V_th_max",
        "refractory": "t_clamp",
        "after_refractory": "V_m = V_reset",
        "receptors": {"jump": "V_m += weight"},
        "initial": {
            "V_m": "E_L",
            "z": 0.0,
            "V_th": "V_th_rest",
            **dict.fromkeys(("u_bar_plus", "u_bar_minus", "u_bar_bar"), "E_L"),
        },
        "parameters": parameters(**_ADAPTIVE, **_filters("7 ms")),
        "method": "adaptive",
        "summary": "Adaptive exponential neuron of Clopath et al., whose potential jumps with each spike",
        "reference": _REFERENCE,
    },
    "hh_psc_alpha_clopath": {
        **HODGKIN_HUXLEY["hh_psc_alpha"],
        "equations": HODGKIN_HUXLEY["hh_psc_alpha"]["equations"] + _FILTERED,
        "parameters": {**HODGKIN_HUXLEY["hh_psc_alpha"]["parameters"], **parameters(**_filters("114 ms"))},
        "summary": "Hodgkin-Huxley neuron with alpha-shaped currents and the filtered potentials of Clopath et al.",
        "reference": f"{HODGKIN_HUXLEY['hh_psc_alpha']['reference']}; {_REFERENCE}",
    },
}
"""By name."""
