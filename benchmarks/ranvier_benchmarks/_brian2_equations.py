"""Models of neurons in the notation of Brian2: Brian2's side of `ranvier bench models`.

Equations are written as Brian2's users write them, from those that are published; `ranvier models NAME` names the
sources. Names, values and units of parameters are those of Ranvier's models. Each model has the method of Brian2 with
which it is usually integrated: "exact" where the equations are linear, "exponential_euler" for conductances and
channels, and "euler" where the derivative of the potential is not linear in the potential.

Brian2 counts a refractory period from the beginning of the step of the spike, Ranvier and NEST from its end: so periods
are one step longer here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ranvier_benchmarks._model_loads import described_model

__all__ = ["BRIAN2_MODELS", "Brian2Model", "as_brian2_gets_it"]


@dataclass(frozen=True)
class Brian2Model:
    """A model: arguments of Brian2's NeuronGroup, and what a spike does, by receptor.

    Attributes
    ----------
    begin
        Initial values as expressions; other variables begin at 0.
    """

    method: str
    equations: str
    threshold: str
    receptors: Mapping[str, str]
    reset: str = ""
    refractory: str | None = None
    begin: Mapping[str, str] = field(default_factory=lambda: {"V_m": "E_L"})


# ---- synapses --------------------------------------------------------------------------------------------------------

# In all of these, what a spike adds to is made of weights of receptors `excitatory` and `inhibitory`. The latter are
# negative: so conductances subtract them.
_CURRENTS_EXP = """
dI_syn_ex/dt = -I_syn_ex / tau_syn_ex : amp
dI_syn_in/dt = -I_syn_in / tau_syn_in : amp"""
_CURRENTS_ALPHA = """
dI_syn_ex/dt = x_ex - I_syn_ex / tau_syn_ex : amp
dx_ex/dt = -x_ex / tau_syn_ex : amp / second
dI_syn_in/dt = x_in - I_syn_in / tau_syn_in : amp
dx_in/dt = -x_in / tau_syn_in : amp / second"""
_CONDUCTANCES_EXP = """
dg_ex/dt = -g_ex / tau_syn_ex : siemens
dg_in/dt = -g_in / tau_syn_in : siemens"""
_CONDUCTANCES_ALPHA = """
dg_ex/dt = x_ex - g_ex / tau_syn_ex : siemens
dx_ex/dt = -x_ex / tau_syn_ex : siemens / second
dg_in/dt = x_in - g_in / tau_syn_in : siemens
dx_in/dt = -x_in / tau_syn_in : siemens / second"""
_CONDUCTANCES_BETA = """
dg_ex/dt = x_ex - g_ex / tau_rise_ex : siemens
dx_ex/dt = -x_ex / tau_decay_ex : siemens / second
dg_in/dt = x_in - g_in / tau_rise_in : siemens
dx_in/dt = -x_in / tau_decay_in : siemens / second"""
_TO_CURRENTS = {"excitatory": "I_syn_ex += weight", "inhibitory": "I_syn_in += weight"}
_TO_CURRENTS_ALPHA = {
    "excitatory": "x_ex += weight * e / tau_syn_ex",
    "inhibitory": "x_in += weight * e / tau_syn_in",
}
_TO_CONDUCTANCES = {"excitatory": "g_ex += weight", "inhibitory": "g_in -= weight"}
_TO_ALPHA = {"excitatory": "x_ex += weight * e / tau_syn_ex", "inhibitory": "x_in -= weight * e / tau_syn_in"}
# A weight is the peak of the conductance; see ranvier/equations/neurons/iaf_cond_beta.toml.
_TO_BETA = {
    "excitatory": "x_ex += weight * exp(1 / exprel(log(tau_decay_ex / tau_rise_ex))) / tau_rise_ex",
    "inhibitory": "x_in -= weight * exp(1 / exprel(log(tau_decay_in / tau_rise_in))) / tau_rise_in",
}
_SYNAPTIC_CURRENTS = "I_syn_ex + I_syn_in"
_SYNAPTIC_CONDUCTANCES = "g_ex * (E_ex - V_m) + g_in * (E_in - V_m)"

# Models of any number of receptors have one by default.
_ONE_CURRENT_EXP = """
dI_syn/dt = -I_syn / tau_syn_1 : amp"""
_ONE_CURRENT_ALPHA = """
dI_syn/dt = x - I_syn / tau_syn_1 : amp
dx/dt = -x / tau_syn_1 : amp / second"""
_ONE_CONDUCTANCE_EXP = """
dg/dt = -g / tau_syn_1 : siemens"""
_ONE_CONDUCTANCE_ALPHA = """
dg/dt = x - g / tau_syn_1 : siemens
dx/dt = -x / tau_syn_1 : siemens / second"""
_ONE_CONDUCTANCE_BETA = """
dg/dt = x - g / tau_rise_1 : siemens
dx/dt = -x / tau_decay_1 : siemens / second"""
_TO_ONE_ALPHA = {"receptor_1": "x += weight * e / tau_syn_1"}
_TO_ONE_BETA = {"receptor_1": "x += weight * exp(1 / exprel(log(tau_decay_1 / tau_rise_1))) / tau_rise_1"}
_ONE_SYNAPTIC_CONDUCTANCE = "g * (E_rev_1 - V_m)"

_JUMP = {"jump": "V_m += weight"}
_CURRENT = "\nI_e : amp (constant)"
_REFRACTORY = "t_ref + dt"

# ---- integrate-and-fire ----------------------------------------------------------------------------------------------


def _leaky(synapses: str, current: str, receptors: Mapping[str, str]) -> Brian2Model:
    """Return a neuron with synaptic currents, which is linear."""
    inflow = f"{current} + I_e" if current else "I_e"
    return Brian2Model(
        method="exact",
        equations=f"dV_m/dt = (E_L - V_m) / tau_m + ({inflow}) / C_m : volt (unless refractory){synapses}{_CURRENT}",
        threshold="V_m >= V_th",
        reset="V_m = V_reset",
        refractory=_REFRACTORY,
        receptors=receptors,
    )


def _by_conductances(synapses: str, receptors: Mapping[str, str]) -> Brian2Model:
    current = f"g_L * (E_L - V_m) + {_SYNAPTIC_CONDUCTANCES} + I_e"
    return Brian2Model(
        method="exponential_euler",
        equations=f"dV_m/dt = ({current}) / C_m : volt (unless refractory){synapses}{_CURRENT}",
        threshold="V_m >= V_th",
        reset="V_m = V_reset",
        refractory=_REFRACTORY,
        receptors=receptors,
    )


_FOUR_RECEPTORS = ("AMPA", "NMDA", "GABA_A", "GABA_B")
_NMDA = Brian2Model(
    method="exponential_euler",
    # With a block that changes within a step, the equation would not be linear in the potential.
    equations="""
dV_m/dt = (E_L - V_m) / tau_m + (g_AMPA * (E_AMPA - V_m) + B * g_NMDA * (E_NMDA - V_m)
    + g_GABA_A * (E_GABA_A - V_m) + g_GABA_B * (E_GABA_B - V_m) + I_e) / C_m : volt (unless refractory)
B = 1 / (1 + exp(-0.062 * V_m / mV) * Mg / (3.57 * mM)) : 1 (constant over dt)"""
    + "".join(f"\ndg_{name}/dt = -g_{name} / tau_{name} : siemens" for name in _FOUR_RECEPTORS)
    + _CURRENT,
    threshold="V_m >= V_th",
    reset="V_m = V_reset",
    refractory=_REFRACTORY,
    receptors={name: f"g_{name} += weight" for name in _FOUR_RECEPTORS},
)
_IZHIKEVICH = Brian2Model(
    method="euler",
    equations=f"""
dV_m/dt = (0.04 * V_m**2 / mV + 5 * V_m + 140 * mV) / ms - U_m + I_e * mV / pA / ms : volt
dU_m/dt = a * (b * V_m - U_m) : volt / second{_CURRENT}""",
    threshold="V_m >= V_th",
    reset="V_m = c; U_m += d",
    receptors=_JUMP,
    begin={"V_m": "-65 * mV", "U_m": "-13 * mV / ms"},
)

# ---- adaptive exponential --------------------------------------------------------------------------------------------


def _exponential(synapses: str, current: str, receptors: Mapping[str, str]) -> Brian2Model:
    """Return a neuron that is refractory for no time, as is the default of all of these."""
    inflow = f"g_L * (E_L - V_m) + g_L * Delta_T * exp((V_m - V_th) / Delta_T) {current} - w + I_e"
    return Brian2Model(
        method="euler",
        equations=f"""
dV_m/dt = ({inflow}) / C_m : volt
dw/dt = (a * (V_m - E_L) - w) / tau_w : amp{synapses}{_CURRENT}""",
        threshold="V_m >= V_peak",
        reset="V_m = V_reset; w += b",
        receptors=receptors,
    )


# While a neuron is clamped after a spike, the potential V from which it will go on is held already.
_CLOPATH = Brian2Model(
    method="euler",
    equations=f"""
dV/dt = (g_L * (E_L - V) + g_L * Delta_T * exp((V - V_th) / Delta_T) + z - w + I_e) / C_m : volt (unless refractory)
dw/dt = (a * (V - E_L) - w) / tau_w : amp (unless refractory)
dz/dt = -z / tau_z : amp
dV_th/dt = (V_th_rest - V_th) / tau_V_th : volt
V_m = V_clamp + int(not_refractory) * (V - V_clamp) : volt
du_bar_plus/dt = (V_m - u_bar_plus) / tau_u_bar_plus : volt
du_bar_minus/dt = (V_m - u_bar_minus) / tau_u_bar_minus : volt
du_bar_bar/dt = (u_bar_minus - u_bar_bar) / tau_u_bar_bar : volt{_CURRENT}""",
    threshold="V >= V_peak",
    reset="V = V_reset; w += b; z = I_sp; V_th = V_th_max",
    refractory="t_clamp + dt",
    receptors={"jump": "V += weight"},
    begin={"V": "E_L", "V_th": "V_th_rest", "u_bar_plus": "E_L", "u_bar_minus": "E_L", "u_bar_bar": "E_L"},
)

# ---- Hodgkin and Huxley ----------------------------------------------------------------------------------------------

# x / (1 - exp(-x)) is 1 / exprel(-x).
_RATES_OF_SQUID = """
alpha_m = 1 / exprel(-(V_m + 40 * mV) / (10 * mV)) / ms : Hz
beta_m = 4 * exp(-(V_m + 65 * mV) / (18 * mV)) / ms : Hz
alpha_h = 0.07 * exp(-(V_m + 65 * mV) / (20 * mV)) / ms : Hz
beta_h = 1 / (1 + exp(-(V_m + 35 * mV) / (10 * mV))) / ms : Hz
alpha_n = 0.1 / exprel(-(V_m + 55 * mV) / (10 * mV)) / ms : Hz
beta_n = 0.125 * exp(-(V_m + 65 * mV) / (80 * mV)) / ms : Hz"""
_RATES_OF_TRAUB = """
alpha_m = 0.32 * 4 / exprel((13 * mV - V_m + V_T) / (4 * mV)) / ms : Hz
beta_m = 0.28 * 5 / exprel((V_m - V_T - 40 * mV) / (5 * mV)) / ms : Hz
alpha_h = 0.128 * exp((17 * mV - V_m + V_T) / (18 * mV)) / ms : Hz
beta_h = 4 / (1 + exp((40 * mV - V_m + V_T) / (5 * mV))) / ms : Hz
alpha_n = 0.032 * 5 / exprel((15 * mV - V_m + V_T) / (5 * mV)) / ms : Hz
beta_n = 0.5 * exp((10 * mV - V_m + V_T) / (40 * mV)) / ms : Hz"""
_FILTERED = """
du_bar_plus/dt = (V_m - u_bar_plus) / tau_u_bar_plus : volt
du_bar_minus/dt = (V_m - u_bar_minus) / tau_u_bar_minus : volt
du_bar_bar/dt = (u_bar_minus - u_bar_bar) / tau_u_bar_bar : volt"""
_AT_REST = {"V_m": "-65 * mV", "Act_m": "0.05293248525724958", "Inact_h": "0.5961207535084603"} | {
    "Act_n": "0.3176769140606974"
}


def _channels(
    rates: str, synapses: str, current: str, threshold: str, receptors: Mapping[str, str], begin: Mapping[str, str]
) -> Brian2Model:
    """Return a neuron of which a spike is a crossing of the threshold; in Ranvier it is the peak that follows."""
    return Brian2Model(
        method="exponential_euler",
        equations=f"""
dV_m/dt = (g_Na * Act_m**3 * Inact_h * (E_Na - V_m) + g_K * Act_n**4 * (E_K - V_m) + g_L * (E_L - V_m)
    + {current} + I_e) / C_m : volt
dAct_m/dt = alpha_m * (1 - Act_m) - beta_m * Act_m : 1
dInact_h/dt = alpha_h * (1 - Inact_h) - beta_h * Inact_h : 1
dAct_n/dt = alpha_n * (1 - Act_n) - beta_n * Act_n : 1{rates}{synapses}{_CURRENT}""",
        threshold=threshold,
        refractory=_REFRACTORY,
        receptors=receptors,
        begin=begin,
    )


def _squid(more: str, begin: Mapping[str, str]) -> Brian2Model:
    synapses = _CURRENTS_ALPHA + more
    return _channels(
        _RATES_OF_SQUID, synapses, _SYNAPTIC_CURRENTS, "V_m >= 0 * mV", _TO_CURRENTS_ALPHA, {**_AT_REST, **begin}
    )


# ---- moving thresholds, and spikes at random -------------------------------------------------------------------------

_SLOPE = f"((E_L - V_m) / tau_m + ({_SYNAPTIC_CURRENTS} + I_e) / C_m)"
_TWO_TIMES = """
dV_th_alpha_1/dt = -V_th_alpha_1 / tau_1 : volt
dV_th_alpha_2/dt = -V_th_alpha_2 / tau_2 : volt"""
_FOLLOWS_POTENTIAL = f"""
dV_th_v/dt = V_th_dv - V_th_v / tau_v : volt
dV_th_dv/dt = beta * {_SLOPE} - V_th_dv / tau_v : volt / second"""


def _moving_threshold(more: str, threshold: str) -> Brian2Model:
    return Brian2Model(
        method="exact",
        equations=f"dV_m/dt = {_SLOPE} : volt{_CURRENTS_EXP}{_TWO_TIMES}{more}{_CURRENT}",
        threshold=f"V_m >= {threshold}",
        reset="V_th_alpha_1 += alpha_1; V_th_alpha_2 += alpha_2",
        refractory=_REFRACTORY,
        receptors=_TO_CURRENTS,
    )


def _generalized(method: str, synapses: str, current: str, receptors: Mapping[str, str]) -> Brian2Model:
    return Brian2Model(
        method=method,
        equations=f"""
dV_m/dt = (g_L * (E_L - V_m) + {current} - I_stc + I_e) / C_m : volt (unless refractory){synapses}
dI_stc/dt = -I_stc / tau_stc_1 : amp
dE_sfa/dt = -E_sfa / tau_sfa_1 : volt{_CURRENT}""",
        threshold="rand() < -expm1(-lambda_0 * exp((V_m - V_T_star - E_sfa) / Delta_V) * dt)",
        reset="V_m = V_reset; I_stc += q_stc_1; E_sfa += q_sfa_1",
        refractory=_REFRACTORY,
        receptors=receptors,
    )


_POINT_PROCESS = Brian2Model(
    method="exact",
    equations=f"""
dV_m/dt = -V_m / tau_m + I_e / C_m : volt
dE_sfa/dt = -E_sfa / tau_sfa_1 : volt{_CURRENT}""",
    threshold="rand() < -expm1(-clip(c_1 * (V_m - E_sfa) + c_2 * exp(c_3 * (V_m - E_sfa)), 0 * Hz, inf * Hz) * dt)",
    reset="V_m = 0 * mV; E_sfa += q_sfa_1",
    refractory="dead_time + dt",
    receptors=_JUMP,
    begin={},
)


def _of_allen_institute(method: str, current: str, synapses: str, receptors: Mapping[str, str]) -> Brian2Model:
    """Return the first of the five levels, which is the default; it has neither thresholds that move nor currents."""
    return Brian2Model(
        method=method,
        equations=f"dV_m/dt = ({current}) / C_m : volt (unless refractory){synapses}",
        threshold="V_m > V_th",
        reset="V_m = V_reset",
        refractory=_REFRACTORY,
        receptors=receptors,
    )


_TWO_CONDUCTANCES = "".join(
    f"\ndg_{k}/dt = x_{k} - g_{k} / tau_syn_{k} : siemens\ndx_{k}/dt = -x_{k} / tau_syn_{k} : siemens / second"
    for k in (1, 2)
)

# ---- all -------------------------------------------------------------------------------------------------------------

_ONE_CURRENT = {"receptor_1": "I_syn += weight"}
_ONE_CONDUCTANCE = {"receptor_1": "g += weight"}

BRIAN2_MODELS: Mapping[str, Brian2Model] = {
    "aeif_cond_alpha": _exponential(_CONDUCTANCES_ALPHA, f"+ {_SYNAPTIC_CONDUCTANCES}", _TO_ALPHA),
    "aeif_cond_alpha_multisynapse": _exponential(
        _ONE_CONDUCTANCE_ALPHA, f"+ {_ONE_SYNAPTIC_CONDUCTANCE}", _TO_ONE_ALPHA
    ),
    "aeif_cond_beta_multisynapse": _exponential(_ONE_CONDUCTANCE_BETA, f"+ {_ONE_SYNAPTIC_CONDUCTANCE}", _TO_ONE_BETA),
    "aeif_cond_exp": _exponential(_CONDUCTANCES_EXP, f"+ {_SYNAPTIC_CONDUCTANCES}", _TO_CONDUCTANCES),
    # Its weights and currents are negative where they inhibit, which is the same as subtracting positive ones.
    "aeif_psc_alpha": _exponential(_CURRENTS_ALPHA, f"+ {_SYNAPTIC_CURRENTS}", _TO_CURRENTS_ALPHA),
    "aeif_psc_delta": _exponential("", "", _JUMP),
    "aeif_psc_delta_clopath": _CLOPATH,
    "aeif_psc_exp": _exponential(_CURRENTS_EXP, f"+ {_SYNAPTIC_CURRENTS}", _TO_CURRENTS),
    "amat2_psc_exp": _moving_threshold(_FOLLOWS_POTENTIAL, "omega + V_th_alpha_1 + V_th_alpha_2 + V_th_v"),
    "gif_cond_exp": _generalized("exponential_euler", _CONDUCTANCES_EXP, _SYNAPTIC_CONDUCTANCES, _TO_CONDUCTANCES),
    "gif_cond_exp_multisynapse": _generalized(
        "exponential_euler", _ONE_CONDUCTANCE_EXP, _ONE_SYNAPTIC_CONDUCTANCE, _ONE_CONDUCTANCE
    ),
    "gif_psc_exp": _generalized("exact", _CURRENTS_EXP, _SYNAPTIC_CURRENTS, _TO_CURRENTS),
    "gif_psc_exp_multisynapse": _generalized("exact", _ONE_CURRENT_EXP, "I_syn", _ONE_CURRENT),
    "glif_cond": _of_allen_institute(
        "exponential_euler",
        "g_m * (E_L - V_m) + g_1 * (E_rev_1 - V_m) + g_2 * (E_rev_2 - V_m)",
        _TWO_CONDUCTANCES,
        {f"receptor_{k}": f"x_{k} += weight * e / tau_syn_{k}" for k in (1, 2)},
    ),
    "glif_psc": _of_allen_institute("exact", "g * (E_L - V_m) + I_syn", _ONE_CURRENT_ALPHA, _TO_ONE_ALPHA),
    "hh_cond_exp_traub": _channels(
        _RATES_OF_TRAUB,
        _CONDUCTANCES_EXP,
        _SYNAPTIC_CONDUCTANCES,
        "V_m >= V_T + 30 * mV",
        _TO_CONDUCTANCES,
        {"V_m": "-60 * mV", "Act_m": "9.895563096746586e-09", "Inact_h": "0.999999999106396"}
        | {"Act_n": "2.551577051602551e-07"},
    ),
    "hh_psc_alpha": _squid("", {}),
    "hh_psc_alpha_clopath": _squid(_FILTERED, {}),
    "iaf_cond_alpha": _by_conductances(_CONDUCTANCES_ALPHA, _TO_ALPHA),
    "iaf_cond_beta": _by_conductances(_CONDUCTANCES_BETA, _TO_BETA),
    "iaf_cond_exp": _by_conductances(_CONDUCTANCES_EXP, _TO_CONDUCTANCES),
    "iaf_cond_nmda": _NMDA,
    "iaf_psc_alpha": _leaky(_CURRENTS_ALPHA, _SYNAPTIC_CURRENTS, _TO_CURRENTS_ALPHA),
    "iaf_psc_alpha_multisynapse": _leaky(_ONE_CURRENT_ALPHA, "I_syn", _TO_ONE_ALPHA),
    "iaf_psc_delta": _leaky("", "", _JUMP),
    "iaf_psc_exp": _leaky(_CURRENTS_EXP, _SYNAPTIC_CURRENTS, _TO_CURRENTS),
    "iaf_psc_exp_multisynapse": _leaky(_ONE_CURRENT_EXP, "I_syn", _ONE_CURRENT),
    "izhikevich": _IZHIKEVICH,
    "mat2_psc_exp": _moving_threshold("", "omega + V_th_alpha_1 + V_th_alpha_2"),
    "pp_psc_delta": _POINT_PROCESS,
}
"""By the name of Ranvier's model. ignore_and_fire and interval_fire are missing: they have no equations."""


def as_brian2_gets_it(name: str) -> dict[str, Any]:
    """Return a model and its parameters, numbers with units, as `_brian2_neurons.py` reads them."""
    model = BRIAN2_MODELS[name]
    ours = described_model(name)
    parameters = {
        parameter.name: [float(parameter.default), str(parameter.unit)]
        for parameter in ours.parameters
        if math.isfinite(parameter.default)
    }
    return {
        "name": name,
        "method": model.method,
        "equations": model.equations,
        "threshold": model.threshold,
        "reset": model.reset,
        "refractory": model.refractory,
        "receptors": dict(model.receptors),
        "begin": dict(model.begin),
        "parameters": parameters,
        "weight_unit": str(ours.weight_unit),
    }
