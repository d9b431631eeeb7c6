"""Neurons whose threshold moves, or that fire at random, as arguments of `ranvier.neuron`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ranvier.equations.definition_parts import (
    BY_CONDUCTANCES,
    BY_CONDUCTANCES_OF_EACH,
    CONDUCTANCE_ALPHA,
    CONDUCTANCE_EXP,
    CONDUCTANCES_EXP,
    CURRENT_ALPHA,
    CURRENT_EXP,
    REVERSAL,
    REVERSAL_OF_EACH,
    TIME_OF_EACH,
    TO_ALPHA_OF_EACH,
    TO_CONDUCTANCES,
    parameters,
)
from ranvier.equations.parameters import parameter

__all__ = ["ADAPTIVE_THRESHOLD"]

# Currents that are negative where they inhibit, as those of NEST's models.
_CURRENTS_EXP = """
dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative"""
_TO_CURRENTS = {"excitatory": "I_syn_ex += w", "inhibitory": "I_syn_in += w"}

# ---- multi-timescale adaptive thresholds -----------------------------------------------------------------------------

_ALPHAS = """
dV_th_alpha_1/dt = -V_th_alpha_1/tau_1 : mV (always)  # What spikes add to the threshold for a short time
dV_th_alpha_2/dt = -V_th_alpha_2/tau_2 : mV (always)  # What spikes add to the threshold for a long time"""
_SLOPE = "(E_L - V_m)/tau_m + (I_syn_ex + I_syn_in + I_e + I_stimulus)/C_m"


def _adaptive_threshold(equations: str, extra: Mapping[str, Any], **values: str) -> dict[str, Any]:
    return {
        "equations": equations + _CURRENTS_EXP + _ALPHAS,
        "threshold": "V_m >= V_th",
        # The potential goes on: only the threshold keeps the neuron from firing again.
        "reset": "V_th_alpha_1 += alpha_1; V_th_alpha_2 += alpha_2",
        "refractory": "t_ref",
        "receptors": _TO_CURRENTS,
        "initial": {"V_m": "E_L"},
        "parameters": {
            **parameters(
                E_L=("-70 mV", "Resting potential"),
                C_m=(values["C_m"], "Capacitance of the membrane"),
                tau_m=(values["tau_m"], "Time constant of the membrane"),
                t_ref=("2 ms", "Period after a spike in which the neuron does not fire; all its variables go on"),
                tau_syn_ex=("1 ms", "Time constant of excitatory synapses"),
                tau_syn_in=("3 ms", "Time constant of inhibitory synapses"),
                tau_1=("10 ms", "Short time constant of the threshold"),
                tau_2=("200 ms", "Long time constant of the threshold"),
                alpha_1=(values["alpha_1"], "What a spike adds to the threshold for a short time"),
                alpha_2=(values["alpha_2"], "What a spike adds to the threshold for a long time"),
                omega=(values["omega"], "Threshold at rest"),
                I_e=("0 pA", "Constant current"),
            ),
            **extra,
        },
        "method": "exact",
    }


# ---- neurons that fire at random -------------------------------------------------------------------------------------

_KERNELS = """
dI_stc[stc]/dt = -I_stc[stc]/tau_stc[stc] : pA  # Current [stc] that spikes trigger
dE_sfa[sfa]/dt = -E_sfa[sfa]/tau_sfa[sfa] : mV (always)  # What spikes add to the threshold with the time constant [sfa]
I_stc = sum(I_stc[stc]) : pA  # Sum of the currents that spikes trigger, which is subtracted
E_sfa = V_T_star + sum(E_sfa[sfa]) : mV  # Threshold"""
_KERNEL_PARAMETERS = {
    "tau_sfa[sfa]": ("100 ms", "Time constant [sfa] of the threshold"),
    "q_sfa[sfa]": ("0 mV", "What a spike adds to the threshold with the time constant [sfa]"),
}
_GENERALIZED = {
    "E_L": ("-70 mV", "Resting potential"),
    "C_m": ("80 pF", "Capacitance of the membrane"),
    "g_L": ("4 nS", "Leak conductance"),
    "t_ref": ("4 ms", "Duration of the refractory period"),
    "V_reset": ("-55 mV", "Potential after a spike"),
    "Delta_V": ("0.5 mV", "How sharp the threshold is"),
    "V_T_star": ("-35 mV", "Threshold without spikes"),
    "lambda_0": ("1/s", "Rate of firing at the threshold"),
    "tau_stc[stc]": ("100 ms", "Time constant of current [stc] that spikes trigger"),
    "q_stc[stc]": ("0 pA", "What a spike adds to current [stc]"),
    **_KERNEL_PARAMETERS,
    "I_e": ("0 pA", "Constant current"),
}


def _generalized(
    synapses: str,
    current: str,
    receptors: Mapping[str, str],
    times: Mapping[str, tuple[str, str]],
    method: str,
    copies: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    return {
        "equations": f"dV_m/dt = (g_L*(E_L - V_m) + {current} - I_stc + I_e + I_stimulus)/C_m : mV  # Potential of the "
        f"membrane{synapses}{_KERNELS}",
        # The probability that a spike comes within a step of this rate.
        "threshold": "rand() < -expm1(-lambda_0*exp((V_m - E_sfa)/Delta_V)*dt)",
        "reset": "V_m = V_reset; I_stc[stc] += q_stc[stc]; E_sfa[sfa] += q_sfa[sfa]",
        "refractory": "t_ref",
        "receptors": receptors,
        "initial": {"V_m": "E_L"},
        "parameters": parameters(**_GENERALIZED, **times),
        "copies": {**(copies or {}), "stc": 1, "sfa": 1},
        "method": method,
        "reference": "S. Mensi et al., Journal of Neurophysiology 107, 1756-1775 (2012); "
        "C. Pozzorini et al., PLOS Computational Biology 11, e1004275 (2015)",
    }


_TIMES = {
    "tau_syn_ex": ("2 ms", "Time constant of excitatory synapses"),
    "tau_syn_in": ("2 ms", "Time constant of inhibitory synapses"),
}

# ---- generalized leaky integrate-and-fire neurons of the Allen Institute ---------------------------------------------

_GLIF = """\
dV_m/dt = ({leak}*(E_L - V_m) + ASCurrents_sum + {synapses} + I_stimulus)/C_m : mV (unless refractory)  # Potential
dASCurrents_1/dt = -asc_decay_1*ASCurrents_1 : pA (unless refractory)  # First current that spikes trigger
dASCurrents_2/dt = -asc_decay_2*ASCurrents_2 : pA (unless refractory)  # Second current that spikes trigger
dthreshold_spike/dt = -th_spike_decay*threshold_spike : mV (unless refractory)  # What spikes add to the threshold
dthreshold_voltage/dt = adapting_threshold*th_voltage_index*(V_m - E_L) - th_voltage_decay*threshold_voltage : mV \
(unless refractory)  # What the potential adds to the threshold
ASCurrents_sum = ASCurrents_1 + ASCurrents_2 : pA  # Sum of the currents that spikes trigger
threshold = V_th + threshold_spike + threshold_voltage : mV  # Threshold"""
_GLIF_CURRENTS = f"""{CURRENT_ALPHA}
I_syn = sum(I_syn[receptors]) : pA  # Sum of the currents of all receptors"""
# While the neuron is refractory, all that spikes change is held; what it would have decayed by is taken at once.
_GLIF_RESET = """\
V_m = E_L + voltage_reset_fraction*(before(V_m) - E_L) + voltage_reset_add if spike_dependent_threshold > 0 else V_reset
threshold_spike = spike_dependent_threshold*(threshold_spike*exp(-th_spike_decay*t_ref) + th_spike_add)
ASCurrents_1 = after_spike_currents*(asc_amps_1 + asc_r_1*ASCurrents_1*exp(-asc_decay_1*t_ref))
ASCurrents_2 = after_spike_currents*(asc_amps_2 + asc_r_2*ASCurrents_2*exp(-asc_decay_2*t_ref))"""


def _of_each(of_receptor: Mapping[str, tuple[str, str]], value: str) -> Any:
    """Return a parameter of receptors with another value."""
    ((name, (_, meaning)),) = of_receptor.items()
    return parameters(**{name: (value, meaning)})[name]


def _glif(leak: str, synapses: str, equations: str, receptors: int, of_receptors: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "equations": _GLIF.format(leak=leak, synapses=synapses) + equations,
        "threshold": "V_m > threshold",
        "reset": _GLIF_RESET,
        "refractory": "t_ref",
        "receptors": {"receptor[receptors]": TO_ALPHA_OF_EACH.format(w="w")},
        "initial": {"V_m": "E_L"},
        "parameters": {**_glif_parameters(leak), **of_receptors},
        "copies": {"receptors": receptors},
        "reference": "C. Teeter et al., Nature Communications 9, 709 (2018)",
    }


def _glif_parameters(leak: str) -> dict[str, Any]:
    made = parameters(
        E_L=("-78.85 mV", "Resting potential"),
        C_m=("58.72 pF", "Capacitance of the membrane"),
        t_ref=("3.75 ms", "Duration of the refractory period"),
        V_th=("-51.68 mV", "Threshold without spikes"),
        V_reset=("-78.85 mV", "Potential after a spike, without spike_dependent_threshold"),
        th_spike_add=("0.37 mV", "What a spike adds to the threshold"),
        voltage_reset_add=("18.51 mV", "What a spike adds to the potential"),
        th_voltage_index=("0.005/ms", "How fast the threshold follows the potential"),
        asc_amps_1=("-9.18 pA", "What a spike adds to the first current"),
        asc_amps_2=("-198.94 pA", "What a spike adds to the second current"),
    )
    rates = {
        "th_spike_decay": ("0.009/ms", "Rate at which the threshold forgets spikes"),
        "th_voltage_decay": ("0.09/ms", "Rate at which the threshold forgets the potential"),
        "asc_decay_1": ("0.003/ms", "Rate at which the first current decays"),
        "asc_decay_2": ("0.1/ms", "Rate at which the second current decays"),
        leak: ("9.43 nS", "Leak conductance"),
    }
    fractions = {
        "voltage_reset_fraction": (0.2, "Part of the potential before a spike that remains after it"),
        "asc_r_1": (1.0, "Part of the first current that remains after a spike"),
        "asc_r_2": (1.0, "Part of the second current that remains after a spike"),
    }
    switches = {
        "spike_dependent_threshold": "Whether spikes change the threshold, and a part of the potential remains (LIF-R)",
        "after_spike_currents": "Whether spikes trigger currents (LIF-ASC)",
        "adapting_threshold": "Whether the threshold follows the potential (LIF-R-ASC-A, with both others)",
    }
    return {
        **made,
        **{n: parameter(v, low=0.0, low_open=True, meaning=meaning) for n, (v, meaning) in rates.items()},
        **{n: parameter(v, low=0.0, high=1.0, meaning=meaning) for n, (v, meaning) in fractions.items()},
        **{n: parameter(False, meaning=meaning) for n, meaning in switches.items()},
    }


ADAPTIVE_THRESHOLD: Mapping[str, Mapping[str, Any]] = {
    "amat2_psc_exp": {
        **_adaptive_threshold(
            f"""\
dV_m/dt = slope : mV  # Potential of the membrane
slope = {_SLOPE} : mV/ms  # Derivative of the potential
dV_th_v/dt = V_th_dv - V_th_v/tau_v : mV  # What the potential adds to the threshold
dV_th_dv/dt = beta*slope - V_th_dv/tau_v : mV/ms  # What this grows by
V_th = omega + V_th_alpha_1 + V_th_alpha_2 + V_th_v : mV  # Threshold""",
            parameters(
                tau_v=("5 ms", "Time constant with which the threshold follows the potential"),
                beta=("0/ms", "How much the threshold follows the potential"),
            ),
            C_m="200 pF",
            tau_m="10 ms",
            alpha_1="10 mV",
            alpha_2="0 mV",
            omega="-65 mV",
        ),
        "summary": "Integrate-and-fire neuron whose threshold follows spikes and the potential, without reset",
        "reference": "S. Yamauchi, H. Kim and S. Shinomoto, Frontiers in Computational Neuroscience 5, 42 (2011)",
    },
    "gif_cond_exp": {
        **_generalized(
            CONDUCTANCES_EXP,
            BY_CONDUCTANCES,
            {name: text.format(w="w") for name, text in TO_CONDUCTANCES.items()},
            {**_TIMES, **REVERSAL},
            "adaptive",
        ),
        "summary": "Generalized integrate-and-fire neuron, which fires at random, with decaying conductances",
    },
    "gif_cond_exp_multisynapse": {
        **_generalized(
            CONDUCTANCE_EXP,
            BY_CONDUCTANCES_OF_EACH,
            {"receptor[receptors]": "g[receptors] += w"},
            {**TIME_OF_EACH, **REVERSAL_OF_EACH},
            "adaptive",
            {"receptors": 1},
        ),
        "summary": "Generalized integrate-and-fire neuron, which fires at random, with any number of conductances",
    },
    "gif_psc_exp": {
        **_generalized(_CURRENTS_EXP, "I_syn_ex + I_syn_in", _TO_CURRENTS, _TIMES, "exact"),
        "summary": "Generalized integrate-and-fire neuron, which fires at random, with decaying synaptic currents",
    },
    "gif_psc_exp_multisynapse": {
        **_generalized(
            CURRENT_EXP,
            "sum(I_syn[receptors])",
            {"receptor[receptors]": "I_syn[receptors] += w"},
            TIME_OF_EACH,
            "exact",
            {"receptors": 1},
        ),
        "summary": "Generalized integrate-and-fire neuron, which fires at random, with any number of synaptic currents",
    },
    "glif_cond": {
        **_glif(
            "g_m",
            BY_CONDUCTANCES_OF_EACH,
            CONDUCTANCE_ALPHA,
            2,
            {
                # Those of an excitatory and of an inhibitory receptor; any more are as the last.
                "tau_syn[receptors]": [_of_each(TIME_OF_EACH, value) for value in ("0.2 ms", "2 ms")],
                "E_rev[receptors]": [_of_each(REVERSAL_OF_EACH, value) for value in ("0 mV", "-85 mV")],
            },
        ),
        "method": "adaptive",
        "summary": "Generalized leaky integrate-and-fire neuron of the Allen Institute with conductances",
    },
    "glif_psc": {
        **_glif("g", "I_syn", _GLIF_CURRENTS, 1, parameters(**TIME_OF_EACH)),
        "method": "exact",
        "summary": "Generalized leaky integrate-and-fire neuron of the Allen Institute, whose five levels are switches",
    },
    "mat2_psc_exp": {
        **_adaptive_threshold(
            f"""\
dV_m/dt = {_SLOPE} : mV  # Potential of the membrane
V_th = omega + V_th_alpha_1 + V_th_alpha_2 : mV  # Threshold""",
            {},
            C_m="100 pF",
            tau_m="5 ms",
            alpha_1="37 mV",
            alpha_2="2 mV",
            omega="-51 mV",
        ),
        "summary": "Integrate-and-fire neuron whose threshold follows spikes, with two time constants, without reset",
        "reference": "R. Kobayashi, Y. Tsubo and S. Shinomoto, Frontiers in Computational Neuroscience 3, 9 (2009)",
    },
    "pp_psc_delta": {
        "equations": """\
dV_m/dt = -V_m/tau_m + (I_e + I_stimulus)/C_m : mV (always)  # Potential of the membrane, relative to that at rest
dE_sfa[sfa]/dt = -E_sfa[sfa]/tau_sfa[sfa] : mV (always)  # What spikes add to the threshold with the time constant [sfa]
E_sfa = sum(E_sfa[sfa]) : mV  # Threshold
rate = max(0, c_1*(V_m - E_sfa) + c_2*exp(c_3*(V_m - E_sfa))) : Hz  # Rate of firing""",
        "threshold": "rand() < -expm1(-rate*dt)",
        "reset": "V_m *= 1 - with_reset; E_sfa[sfa] += q_sfa[sfa]",
        "refractory": "dead_time",
        "receptors": {"jump": "V_m += w"},
        "parameters": {
            **parameters(
                tau_m=("10 ms", "Time constant of the membrane"),
                C_m=("250 pF", "Capacitance of the membrane"),
                dead_time=("1 ms", "Period after a spike in which the neuron does not fire; all its variables go on"),
                c_1=("0 Hz/mV", "Slope of the linear part of the rate"),
                c_2=("1.238 Hz", "Factor of the exponential part of the rate"),
                c_3=("0.25/mV", "Exponent of the exponential part of the rate"),
                I_e=("0 pA", "Constant current"),
                **{**_KERNEL_PARAMETERS, "tau_sfa[sfa]": ("34 ms", _KERNEL_PARAMETERS["tau_sfa[sfa]"][1])},
            ),
            "with_reset": parameter(True, meaning="Whether the potential is 0 after a spike"),
        },
        "copies": {"sfa": 1},
        "method": "exact",
        "summary": "Neuron that fires at random, with a rate that depends on the potential and on its spikes",
        "reference": "R. Jolivet, A. Rauch, H.-R. Luescher and W. Gerstner, Journal of Computational Neuroscience 21, "
        "35-49 (2006); C. Pozzorini, R. Naud, S. Mensi and W. Gerstner, Nature Neuroscience 16, 942-948 (2013)",
    },
}
"""By name."""
