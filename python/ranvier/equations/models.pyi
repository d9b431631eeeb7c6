# Written by `make stub`.
"""Neuron models that come with Ranvier and are written as equations.

Their classes are made from the files of `ranvier.equations.neurons` when they are first used. Every value is one number
for all neurons, an array with one number for each, a distribution, or a text with a unit.
"""

from collections.abc import Mapping
from typing import ClassVar

from ranvier.base.values import Values
from ranvier.equations.copies import Copies
from ranvier.equations.integration import AbsoluteTolerance
from ranvier.equations.library import LibraryNeuron

__all__ = [
    "aeif_cond_alpha",
    "aeif_cond_alpha_multisynapse",
    "aeif_cond_beta_multisynapse",
    "aeif_cond_exp",
    "aeif_psc_alpha",
    "aeif_psc_delta",
    "aeif_psc_delta_clopath",
    "aeif_psc_exp",
    "amat2_psc_exp",
    "gif_cond_exp",
    "gif_cond_exp_multisynapse",
    "gif_psc_exp",
    "gif_psc_exp_multisynapse",
    "glif_cond",
    "glif_psc",
    "hh_cond_exp_traub",
    "hh_psc_alpha",
    "hh_psc_alpha_clopath",
    "iaf_cond_alpha",
    "iaf_cond_beta",
    "iaf_cond_exp",
    "iaf_psc_alpha_multisynapse",
    "iaf_psc_exp_multisynapse",
    "iaf_wang_2002",
    "izhikevich",
    "mat2_psc_exp",
    "pp_psc_delta",
]

class aeif_cond_alpha(LibraryNeuron):
    """Adaptive exponential integrate-and-fire neuron with conductances that are alpha functions.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, w, g_ex, x_ex, g_in, x_in, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    x_ex : default 0
        Initial value: rate of rise of the excitatory conductance (nS/ms).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    x_in : default 0
        Initial value: rate of rise of the inhibitory conductance (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dg_ex/dt = x_ex - g_ex/tau_syn_ex : nS  # Excitatory conductance
        dx_ex/dt = -x_ex/tau_syn_ex : nS/ms  # Rate of rise of the excitatory conductance
        dg_in/dt = x_in - g_in/tau_syn_in : nS  # Inhibitory conductance
        dx_in/dt = -x_in/tau_syn_in : nS/ms  # Rate of rise of the inhibitory conductance
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at excitatory: x_ex += weight*e/tau_syn_ex
        spike at inhibitory: x_in -= weight*e/tau_syn_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        g_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        x_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class aeif_cond_alpha_multisynapse(LibraryNeuron):
    """Adaptive exponential neuron with any number of conductances that are alpha functions.

    Weights are in nS. Receptors: receptor_1. State variables: V_m, w, g_1, x_1, I_spike.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    E_rev_1 : default 0 mV
        Reversal potential of receptor 1.
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    g_1 : default 0
        Initial value: conductance of receptor 1 (nS).
    x_1 : default 0
        Initial value: rate of rise of conductance 1 (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + ((g_1*(E_rev_1 - V_m))) - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dg_1/dt = x_1 - g_1/tau_syn_1 : nS  # Conductance of receptor 1
        dx_1/dt = -x_1/tau_syn_1 : nS/ms  # Rate of rise of conductance 1
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at receptor_1: x_1 += weight*e/tau_syn_1
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class aeif_cond_beta_multisynapse(LibraryNeuron):
    """Adaptive exponential neuron with any number of conductances that are beta functions.

    Weights are in nS. Receptors: receptor_1. State variables: V_m, w, g_1, x_1, I_spike.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    E_rev_1 : default 0 mV
        Reversal potential of receptor 1.
    tau_rise_1 : default 2 ms; > 0
        Time constant of the rise of receptor 1.
    tau_decay_1 : default 20 ms; > 0
        Time constant of the decay of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    g_1 : default 0
        Initial value: conductance of receptor 1 (nS).
    x_1 : default 0
        Initial value: rate of rise of conductance 1 (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + ((g_1*(E_rev_1 - V_m))) - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dg_1/dt = x_1 - g_1/tau_rise_1 : nS  # Conductance of receptor 1
        dx_1/dt = -x_1/tau_decay_1 : nS/ms  # Rate of rise of conductance 1
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at receptor_1: x_1 += weight*exp(1/exprel(log(tau_decay_1/tau_rise_1)))/tau_rise_1
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class aeif_cond_exp(LibraryNeuron):
    """Adaptive exponential integrate-and-fire neuron with exponentially decaying conductances.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, w, g_ex, g_in, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
        dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at excitatory: g_ex += weight
        spike at inhibitory: g_in -= weight
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        g_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class aeif_psc_alpha(LibraryNeuron):
    """Adaptive exponential integrate-and-fire neuron with synaptic currents that are alpha functions.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, w, I_syn_ex, x_ex, I_syn_in, x_in, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    x_ex : default 0
        Initial value: rate of rise of the excitatory current (pA/ms).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is subtracted (pA).
    x_in : default 0
        Initial value: rate of rise of the inhibitory current (pA/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + I_syn_ex - I_syn_in - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # Rate of rise of the excitatory current
        dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted
        dx_in/dt = -x_in/tau_syn_in : pA/ms  # Rate of rise of the inhibitory current
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at excitatory: x_ex += weight*e/tau_syn_ex
        spike at inhibitory: x_in -= weight*e/tau_syn_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        x_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class aeif_psc_delta(LibraryNeuron):
    """Adaptive exponential integrate-and-fire neuron whose potential jumps with each spike.

    Weights are in mV. Receptors: jump. State variables: V_m, w, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at jump: V_m += weight
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class aeif_psc_delta_clopath(LibraryNeuron):
    """Adaptive exponential neuron of Clopath et al., whose potential jumps with each spike.

    Weights are in mV. Receptors: jump. State variables: V_m, w, z, V_th, u_bar_plus, u_bar_minus, u_bar_bar, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    V_peak : default 33 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after the clamp.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    V_clamp : default 33 mV
        Potential at which a neuron that has fired is clamped.
    t_clamp : default 2 ms; >= 0 and <= 1e+06
        Duration of the clamp.
    V_th_rest : default -50.4 mV
        Threshold long after a spike.
    V_th_max : default 30.4 mV
        Threshold right after a spike.
    tau_V_th : default 50 ms; > 0
        Time constant of the threshold.
    I_sp : default 400 pA
        Depolarizing current right after a spike.
    tau_z : default 40 ms; > 0
        Time constant of the depolarizing current.
    tau_u_bar_plus : default 7 ms; > 0
        Time constant of u_bar_plus.
    tau_u_bar_minus : default 10 ms; > 0
        Time constant of u_bar_minus.
    tau_u_bar_bar : default 500 ms; > 0
        Time constant of u_bar_bar.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    z : default 0
        Initial value: depolarizing current after a spike (pA).
    V_th : default V_th_rest
        Initial value: potential at which a spike starts (mV).
    u_bar_plus : default E_L
        Initial value: filtered potential that potentiation follows (mV).
    u_bar_minus : default E_L
        Initial value: filtered potential that depression follows (mV).
    u_bar_bar : default E_L
        Initial value: slow potential, which keeps the balance of both (mV).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + z - w + I_e + I_stimulus)/C_m : mV (unless refractory)  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA (unless refractory)  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dz/dt = -z/tau_z : pA  # Depolarizing current after a spike
        dV_th/dt = (V_th_rest - V_th)/tau_V_th : mV  # Potential at which a spike starts
        du_bar_plus/dt = (V_m - u_bar_plus)/tau_u_bar_plus : mV  # Filtered potential that potentiation follows
        du_bar_minus/dt = (V_m - u_bar_minus)/tau_u_bar_minus : mV  # Filtered potential that depression follows
        du_bar_bar/dt = (u_bar_minus - u_bar_bar)/tau_u_bar_bar : mV  # Slow potential, which keeps the balance of both
        fires when V_m >= V_peak
        then V_m = V_clamp; w += b; z = I_sp; V_th = V_th_max
        refractory for t_clamp
        after that V_m = V_reset
        spike at jump: V_m += weight
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352 (2010)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        V_peak: Values | str = 33.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        V_clamp: Values | str = 33.0,
        t_clamp: Values | str = 2.0,
        V_th_rest: Values | str = -50.4,
        V_th_max: Values | str = 30.4,
        tau_V_th: Values | str = 50.0,
        I_sp: Values | str = 400.0,
        tau_z: Values | str = 40.0,
        tau_u_bar_plus: Values | str = 7.0,
        tau_u_bar_minus: Values | str = 10.0,
        tau_u_bar_bar: Values | str = 500.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        z: Values | str | None = None,
        V_th: Values | str | None = None,
        u_bar_plus: Values | str | None = None,
        u_bar_minus: Values | str | None = None,
        u_bar_bar: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class aeif_psc_exp(LibraryNeuron):
    """Adaptive exponential integrate-and-fire neuron with exponentially decaying synaptic currents.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, w, I_syn_ex, I_syn_in, I_spike.

    Parameters
    ----------
    E_L : default -70.6 mV
        Resting potential.
    C_m : default 281 pF; > 0
        Capacitance of the membrane.
    g_L : default 30 nS; > 0
        Leak conductance.
    t_ref : default 0 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50.4 mV
        Potential at which a spike starts.
    V_peak : default 0 mV
        Threshold: the neuron fires when V_m >= V_peak.
    V_reset : default -60 mV
        Potential after a spike.
    Delta_T : default 2 mV; > 0
        Slope factor of the exponential.
    tau_w : default 144 ms; > 0
        Time constant of the adaptation.
    a : default 4 nS
        Subthreshold adaptation.
    b : default 80.5 pA
        Adaptation by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    w : default 0
        Initial value: adaptation (pA).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is subtracted (pA).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_spike + I_syn_ex - I_syn_in - w + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dw/dt = (a*(V_m - E_L) - w)/tau_w : pA  # Adaptation
        I_spike = g_L*Delta_T*exp((V_m - V_th)/Delta_T) : pA  # Current of the spike
        dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is subtracted
        fires when V_m >= V_peak
        then V_m = V_reset; w += b
        refractory for t_ref
        spike at excitatory: I_syn_ex += weight
        spike at inhibitory: I_syn_in -= weight
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. Brette and W. Gerstner, Journal of Neurophysiology 94, 3637-3642 (2005)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.6,
        C_m: Values | str = 281.0,
        g_L: Values | str = 30.0,
        t_ref: Values | str = 0.0,
        V_th: Values | str = -50.4,
        V_peak: Values | str = 0.0,
        V_reset: Values | str = -60.0,
        Delta_T: Values | str = 2.0,
        tau_w: Values | str = 144.0,
        a: Values | str = 4.0,
        b: Values | str = 80.5,
        I_e: Values | str = 0.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        w: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class amat2_psc_exp(LibraryNeuron):
    """Integrate-and-fire neuron whose threshold follows spikes and the potential, without reset.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, V_th_v, V_th_dv, I_syn_ex, I_syn_in, V_th_alpha_1,
    V_th_alpha_2, V_th.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 200 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    tau_syn_ex : default 1 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 3 ms; > 0
        Time constant of inhibitory synapses.
    tau_1 : default 10 ms; > 0
        Time constant of the fast threshold component.
    tau_2 : default 200 ms; > 0
        Time constant of the slow threshold component.
    alpha_1 : default 10 mV
        Increment of the fast threshold component by a spike.
    alpha_2 : default 0 mV
        Increment of the slow threshold component by a spike.
    omega : default -65 mV
        Threshold at rest.
    I_e : default 0 pA
        Constant current.
    tau_v : default 5 ms; > 0
        Time constant with which the threshold follows the potential.
    beta : default 0 1/ms
        Strength with which the threshold follows changes of the potential.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    V_th_v : default 0
        Initial value: voltage-dependent component of the threshold (mV).
    V_th_dv : default 0
        Initial value: rate of rise of this component (mV/ms).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is negative (pA).
    V_th_alpha_1 : default 0
        Initial value: fast spike-triggered component of the threshold (mV).
    V_th_alpha_2 : default 0
        Initial value: slow spike-triggered component of the threshold (mV).

    Notes
    -----
    ::

        dV_m/dt = slope : mV  # Potential of the membrane
        slope = (E_L - V_m)/tau_m + (I_syn_ex + I_syn_in + I_e + I_stimulus)/C_m : mV/ms  # Derivative of the potential
        dV_th_v/dt = V_th_dv - V_th_v/tau_v : mV  # Voltage-dependent component of the threshold
        dV_th_dv/dt = beta*slope - V_th_dv/tau_v : mV/ms  # Rate of rise of this component
        V_th = omega + V_th_alpha_1 + V_th_alpha_2 + V_th_v : mV  # Threshold
        dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
        dV_th_alpha_1/dt = -V_th_alpha_1/tau_1 : mV (always)  # Fast spike-triggered component of the threshold
        dV_th_alpha_2/dt = -V_th_alpha_2/tau_2 : mV (always)  # Slow spike-triggered component of the threshold
        fires when V_m >= V_th
        then V_th_alpha_1 += alpha_1; V_th_alpha_2 += alpha_2
        refractory for t_ref
        spike at excitatory: I_syn_ex += w
        spike at inhibitory: I_syn_in += w
        Method: solved exactly

    References
    ----------
    S. Yamauchi, H. Kim and S. Shinomoto, Frontiers in Computational Neuroscience 5, 42 (2011)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 200.0,
        tau_m: Values | str = 10.0,
        t_ref: Values | str = 2.0,
        tau_syn_ex: Values | str = 1.0,
        tau_syn_in: Values | str = 3.0,
        tau_1: Values | str = 10.0,
        tau_2: Values | str = 200.0,
        alpha_1: Values | str = 10.0,
        alpha_2: Values | str = 0.0,
        omega: Values | str = -65.0,
        I_e: Values | str = 0.0,
        tau_v: Values | str = 5.0,
        beta: Values | str = 0.0,
        V_m: Values | str | None = None,
        V_th_v: Values | str | None = None,
        V_th_dv: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        V_th_alpha_1: Values | str | None = None,
        V_th_alpha_2: Values | str | None = None,
    ) -> None: ...

class gif_cond_exp(LibraryNeuron):
    """Generalized integrate-and-fire neuron, which fires at random, with decaying conductances.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, g_ex, g_in, I_stc_1, E_sfa_1, I_stc, E_sfa.

    Parameters
    ----------
    stc : default 1
        Number of spike-triggered currents.
    sfa : default 1
        Number of spike-triggered components of the threshold.
    E_L : default -70 mV
        Resting potential.
    C_m : default 80 pF; > 0
        Capacitance of the membrane.
    g_L : default 4 nS; > 0
        Leak conductance.
    t_ref : default 4 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_reset : default -55 mV
        Potential after a spike.
    Delta_V : default 0.5 mV; > 0
        Increase of the potential with which the rate of firing grows e-fold.
    V_T_star : default -35 mV
        Threshold without spikes.
    lambda_0 : default 1 1/s; >= 0
        Rate of firing at the threshold.
    tau_stc_1 : default 100 ms; > 0
        Time constant of spike-triggered current 1.
    q_stc_1 : default 0 pA
        Increment of spike-triggered current 1 by a spike.
    tau_sfa_1 : default 100 ms; > 0
        Time constant of threshold component 1.
    q_sfa_1 : default 0 mV
        Increment of threshold component 1 by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_ex : default 2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    I_stc_1 : default 0
        Initial value: spike-triggered current 1 (pA).
    E_sfa_1 : default 0
        Initial value: spike-triggered component 1 of the threshold (mV).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) - I_stc + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
        dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance
        dI_stc_1/dt = -I_stc_1/tau_stc_1 : pA  # Spike-triggered current 1
        dE_sfa_1/dt = -E_sfa_1/tau_sfa_1 : mV (always)  # Spike-triggered component 1 of the threshold
        I_stc = (I_stc_1) : pA  # Sum of the spike-triggered currents, which is subtracted
        E_sfa = V_T_star + (E_sfa_1) : mV  # Threshold
        fires when rand() < -expm1(-lambda_0*exp((V_m - E_sfa)/Delta_V)*dt)
        then V_m = V_reset; I_stc_1 += q_stc_1; E_sfa_1 += q_sfa_1
        refractory for t_ref
        spike at excitatory: g_ex += w
        spike at inhibitory: g_in -= w
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    S. Mensi et al., Journal of Neurophysiology 107, 1756-1775 (2012); C. Pozzorini et al., PLOS Computational Biology
    11, e1004275 (2015)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        stc: Copies = 1,
        sfa: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 80.0,
        g_L: Values | str = 4.0,
        t_ref: Values | str = 4.0,
        V_reset: Values | str = -55.0,
        Delta_V: Values | str = 0.5,
        V_T_star: Values | str = -35.0,
        lambda_0: Values | str = 1.0,
        I_e: Values | str = 0.0,
        tau_syn_ex: Values | str = 2.0,
        tau_syn_in: Values | str = 2.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        V_m: Values | str | None = None,
        g_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class gif_cond_exp_multisynapse(LibraryNeuron):
    """Generalized integrate-and-fire neuron, which fires at random, with any number of conductances.

    Weights are in nS. Receptors: receptor_1. State variables: V_m, g_1, I_stc_1, E_sfa_1, I_stc, E_sfa.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    stc : default 1
        Number of spike-triggered currents.
    sfa : default 1
        Number of spike-triggered components of the threshold.
    E_L : default -70 mV
        Resting potential.
    C_m : default 80 pF; > 0
        Capacitance of the membrane.
    g_L : default 4 nS; > 0
        Leak conductance.
    t_ref : default 4 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_reset : default -55 mV
        Potential after a spike.
    Delta_V : default 0.5 mV; > 0
        Increase of the potential with which the rate of firing grows e-fold.
    V_T_star : default -35 mV
        Threshold without spikes.
    lambda_0 : default 1 1/s; >= 0
        Rate of firing at the threshold.
    tau_stc_1 : default 100 ms; > 0
        Time constant of spike-triggered current 1.
    q_stc_1 : default 0 pA
        Increment of spike-triggered current 1 by a spike.
    tau_sfa_1 : default 100 ms; > 0
        Time constant of threshold component 1.
    q_sfa_1 : default 0 mV
        Increment of threshold component 1 by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    E_rev_1 : default 0 mV
        Reversal potential of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_1 : default 0
        Initial value: conductance of receptor 1 (nS).
    I_stc_1 : default 0
        Initial value: spike-triggered current 1 (pA).
    E_sfa_1 : default 0
        Initial value: spike-triggered component 1 of the threshold (mV).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + ((g_1*(E_rev_1 - V_m))) - I_stc + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dg_1/dt = -g_1/tau_syn_1 : nS  # Conductance of receptor 1
        dI_stc_1/dt = -I_stc_1/tau_stc_1 : pA  # Spike-triggered current 1
        dE_sfa_1/dt = -E_sfa_1/tau_sfa_1 : mV (always)  # Spike-triggered component 1 of the threshold
        I_stc = (I_stc_1) : pA  # Sum of the spike-triggered currents, which is subtracted
        E_sfa = V_T_star + (E_sfa_1) : mV  # Threshold
        fires when rand() < -expm1(-lambda_0*exp((V_m - E_sfa)/Delta_V)*dt)
        then V_m = V_reset; I_stc_1 += q_stc_1; E_sfa_1 += q_sfa_1
        refractory for t_ref
        spike at receptor_1: g_1 += w
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    S. Mensi et al., Journal of Neurophysiology 107, 1756-1775 (2012); C. Pozzorini et al., PLOS Computational Biology
    11, e1004275 (2015)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        stc: Copies = 1,
        sfa: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 80.0,
        g_L: Values | str = 4.0,
        t_ref: Values | str = 4.0,
        V_reset: Values | str = -55.0,
        Delta_V: Values | str = 0.5,
        V_T_star: Values | str = -35.0,
        lambda_0: Values | str = 1.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class gif_psc_exp(LibraryNeuron):
    """Generalized integrate-and-fire neuron, which fires at random, with decaying synaptic currents.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, I_syn_ex, I_syn_in, I_stc_1, E_sfa_1, I_stc, E_sfa.

    Parameters
    ----------
    stc : default 1
        Number of spike-triggered currents.
    sfa : default 1
        Number of spike-triggered components of the threshold.
    E_L : default -70 mV
        Resting potential.
    C_m : default 80 pF; > 0
        Capacitance of the membrane.
    g_L : default 4 nS; > 0
        Leak conductance.
    t_ref : default 4 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_reset : default -55 mV
        Potential after a spike.
    Delta_V : default 0.5 mV; > 0
        Increase of the potential with which the rate of firing grows e-fold.
    V_T_star : default -35 mV
        Threshold without spikes.
    lambda_0 : default 1 1/s; >= 0
        Rate of firing at the threshold.
    tau_stc_1 : default 100 ms; > 0
        Time constant of spike-triggered current 1.
    q_stc_1 : default 0 pA
        Increment of spike-triggered current 1 by a spike.
    tau_sfa_1 : default 100 ms; > 0
        Time constant of threshold component 1.
    q_sfa_1 : default 0 mV
        Increment of threshold component 1 by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_ex : default 2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is negative (pA).
    I_stc_1 : default 0
        Initial value: spike-triggered current 1 (pA).
    E_sfa_1 : default 0
        Initial value: spike-triggered component 1 of the threshold (mV).

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + I_syn_ex + I_syn_in - I_stc + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
        dI_stc_1/dt = -I_stc_1/tau_stc_1 : pA  # Spike-triggered current 1
        dE_sfa_1/dt = -E_sfa_1/tau_sfa_1 : mV (always)  # Spike-triggered component 1 of the threshold
        I_stc = (I_stc_1) : pA  # Sum of the spike-triggered currents, which is subtracted
        E_sfa = V_T_star + (E_sfa_1) : mV  # Threshold
        fires when rand() < -expm1(-lambda_0*exp((V_m - E_sfa)/Delta_V)*dt)
        then V_m = V_reset; I_stc_1 += q_stc_1; E_sfa_1 += q_sfa_1
        refractory for t_ref
        spike at excitatory: I_syn_ex += w
        spike at inhibitory: I_syn_in += w
        Method: solved exactly

    References
    ----------
    S. Mensi et al., Journal of Neurophysiology 107, 1756-1775 (2012); C. Pozzorini et al., PLOS Computational Biology
    11, e1004275 (2015)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        stc: Copies = 1,
        sfa: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 80.0,
        g_L: Values | str = 4.0,
        t_ref: Values | str = 4.0,
        V_reset: Values | str = -55.0,
        Delta_V: Values | str = 0.5,
        V_T_star: Values | str = -35.0,
        lambda_0: Values | str = 1.0,
        I_e: Values | str = 0.0,
        tau_syn_ex: Values | str = 2.0,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class gif_psc_exp_multisynapse(LibraryNeuron):
    """Generalized integrate-and-fire neuron, which fires at random, with any number of synaptic currents.

    Weights are in pA. Receptors: receptor_1. State variables: V_m, I_syn_1, I_stc_1, E_sfa_1, I_stc, E_sfa.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    stc : default 1
        Number of spike-triggered currents.
    sfa : default 1
        Number of spike-triggered components of the threshold.
    E_L : default -70 mV
        Resting potential.
    C_m : default 80 pF; > 0
        Capacitance of the membrane.
    g_L : default 4 nS; > 0
        Leak conductance.
    t_ref : default 4 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_reset : default -55 mV
        Potential after a spike.
    Delta_V : default 0.5 mV; > 0
        Increase of the potential with which the rate of firing grows e-fold.
    V_T_star : default -35 mV
        Threshold without spikes.
    lambda_0 : default 1 1/s; >= 0
        Rate of firing at the threshold.
    tau_stc_1 : default 100 ms; > 0
        Time constant of spike-triggered current 1.
    q_stc_1 : default 0 pA
        Increment of spike-triggered current 1 by a spike.
    tau_sfa_1 : default 100 ms; > 0
        Time constant of threshold component 1.
    q_sfa_1 : default 0 mV
        Increment of threshold component 1 by a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_1 : default 0
        Initial value: current of receptor 1 (pA).
    I_stc_1 : default 0
        Initial value: spike-triggered current 1 (pA).
    E_sfa_1 : default 0
        Initial value: spike-triggered component 1 of the threshold (mV).

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + (I_syn_1) - I_stc + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dI_syn_1/dt = -I_syn_1/tau_syn_1 : pA  # Current of receptor 1
        dI_stc_1/dt = -I_stc_1/tau_stc_1 : pA  # Spike-triggered current 1
        dE_sfa_1/dt = -E_sfa_1/tau_sfa_1 : mV (always)  # Spike-triggered component 1 of the threshold
        I_stc = (I_stc_1) : pA  # Sum of the spike-triggered currents, which is subtracted
        E_sfa = V_T_star + (E_sfa_1) : mV  # Threshold
        fires when rand() < -expm1(-lambda_0*exp((V_m - E_sfa)/Delta_V)*dt)
        then V_m = V_reset; I_stc_1 += q_stc_1; E_sfa_1 += q_sfa_1
        refractory for t_ref
        spike at receptor_1: I_syn_1 += w
        Method: solved exactly

    References
    ----------
    S. Mensi et al., Journal of Neurophysiology 107, 1756-1775 (2012); C. Pozzorini et al., PLOS Computational Biology
    11, e1004275 (2015)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        stc: Copies = 1,
        sfa: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 80.0,
        g_L: Values | str = 4.0,
        t_ref: Values | str = 4.0,
        V_reset: Values | str = -55.0,
        Delta_V: Values | str = 0.5,
        V_T_star: Values | str = -35.0,
        lambda_0: Values | str = 1.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class glif_cond(LibraryNeuron):
    """Generalized leaky integrate-and-fire neuron of the Allen Institute with conductances.

    Weights are in nS. Receptors: receptor_1, receptor_2. Name one of them with receptor= in connect() and stimulate().
    State variables: V_m, ASCurrents_1, ASCurrents_2, threshold_spike, threshold_voltage, g_1, g_2, x_1, x_2,
    ASCurrents_sum, threshold.

    Parameters
    ----------
    receptors : default 2
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -78.85 mV
        Resting potential.
    C_m : default 58.72 pF; > 0
        Capacitance of the membrane.
    t_ref : default 3.75 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -51.68 mV
        Threshold without spikes.
    V_reset : default -78.85 mV
        Potential after a spike, without spike_dependent_threshold.
    th_spike_add : default 0.37 mV
        Increment of the spike-triggered component by a spike.
    voltage_reset_add : default 18.51 mV
        Offset of the potential after a spike.
    th_voltage_index : default 0.005 1/ms
        Rate at which the threshold follows the potential.
    asc_amps_1 : default -9.18 pA
        Increment of the first spike-triggered current by a spike.
    asc_amps_2 : default -198.94 pA
        Increment of the second spike-triggered current by a spike.
    th_spike_decay : default 0.009 1/ms; > 0
        Rate at which the threshold forgets spikes.
    th_voltage_decay : default 0.09 1/ms; > 0
        Rate at which the threshold forgets the potential.
    asc_decay_1 : default 0.003 1/ms; > 0
        Rate at which the first current decays.
    asc_decay_2 : default 0.1 1/ms; > 0
        Rate at which the second current decays.
    g_m : default 9.43 nS; > 0
        Leak conductance.
    voltage_reset_fraction : default 0.2; >= 0 and <= 1
        Fraction of the potential before a spike that remains after it.
    asc_r_1 : default 1; >= 0 and <= 1
        Fraction of the first current that remains after a spike.
    asc_r_2 : default 1; >= 0 and <= 1
        Fraction of the second current that remains after a spike.
    spike_dependent_threshold : default 0; >= 0 and <= 1
        Whether spikes change the threshold, and a fraction of the potential remains (LIF-R).
    after_spike_currents : default 0; >= 0 and <= 1
        Whether spikes trigger currents (LIF-ASC).
    adapting_threshold : default 0; >= 0 and <= 1
        Whether the threshold follows the potential (LIF-R-ASC-A, with both others).
    tau_syn_1 : default 0.2 ms; > 0
        Time constant of receptor 1.
    tau_syn_2 : default 2 ms; > 0
        Time constant of receptor 2.
    E_rev_1 : default 0 mV
        Reversal potential of receptor 1.
    E_rev_2 : default -85 mV
        Reversal potential of receptor 2.
    V_m : default E_L
        Initial value: potential (mV).
    ASCurrents_1 : default 0
        Initial value: first spike-triggered current (pA).
    ASCurrents_2 : default 0
        Initial value: second spike-triggered current (pA).
    threshold_spike : default 0
        Initial value: spike-triggered component of the threshold (mV).
    threshold_voltage : default 0
        Initial value: voltage-dependent component of the threshold (mV).
    g_1 : default 0
        Initial value: conductance of receptor 1 (nS).
    g_2 : default 0
        Initial value: conductance of receptor 2 (nS).
    x_1 : default 0
        Initial value: rate of rise of conductance 1 (nS/ms).
    x_2 : default 0
        Initial value: rate of rise of conductance 2 (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_m*(E_L - V_m) + ASCurrents_sum + ((g_1*(E_rev_1 - V_m)) + (g_2*(E_rev_2 - V_m))) + I_stimulus)/C_m : mV (unless refractory)  # Potential
        dASCurrents_1/dt = -asc_decay_1*ASCurrents_1 : pA (unless refractory)  # First spike-triggered current
        dASCurrents_2/dt = -asc_decay_2*ASCurrents_2 : pA (unless refractory)  # Second spike-triggered current
        dthreshold_spike/dt = -th_spike_decay*threshold_spike : mV (unless refractory)  # Spike-triggered component of the threshold
        dthreshold_voltage/dt = adapting_threshold*th_voltage_index*(V_m - E_L) - th_voltage_decay*threshold_voltage : mV (unless refractory)  # Voltage-dependent component of the threshold
        ASCurrents_sum = ASCurrents_1 + ASCurrents_2 : pA  # Sum of the spike-triggered currents
        threshold = V_th + threshold_spike + threshold_voltage : mV  # Threshold
        dg_1/dt = x_1 - g_1/tau_syn_1 : nS  # Conductance of receptor 1
        dg_2/dt = x_2 - g_2/tau_syn_2 : nS  # Conductance of receptor 2
        dx_1/dt = -x_1/tau_syn_1 : nS/ms  # Rate of rise of conductance 1
        dx_2/dt = -x_2/tau_syn_2 : nS/ms  # Rate of rise of conductance 2
        fires when V_m > threshold
        then V_m = E_L + voltage_reset_fraction*(before(V_m) - E_L) + voltage_reset_add if spike_dependent_threshold > 0 else V_reset; threshold_spike = spike_dependent_threshold*(threshold_spike*exp(-th_spike_decay*t_ref) + th_spike_add); ASCurrents_1 = after_spike_currents*(asc_amps_1 + asc_r_1*ASCurrents_1*exp(-asc_decay_1*t_ref)); ASCurrents_2 = after_spike_currents*(asc_amps_2 + asc_r_2*ASCurrents_2*exp(-asc_decay_2*t_ref))
        refractory for t_ref
        spike at receptor_1: x_1 += w*e/tau_syn_1
        spike at receptor_2: x_2 += w*e/tau_syn_2
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    C. Teeter et al., Nature Communications 9, 709 (2018)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 2,
        E_L: Values | str = -78.85,
        C_m: Values | str = 58.72,
        t_ref: Values | str = 3.75,
        V_th: Values | str = -51.68,
        V_reset: Values | str = -78.85,
        th_spike_add: Values | str = 0.37,
        voltage_reset_add: Values | str = 18.51,
        th_voltage_index: Values | str = 0.005,
        asc_amps_1: Values | str = -9.18,
        asc_amps_2: Values | str = -198.94,
        th_spike_decay: Values | str = 0.009,
        th_voltage_decay: Values | str = 0.09,
        asc_decay_1: Values | str = 0.003,
        asc_decay_2: Values | str = 0.1,
        g_m: Values | str = 9.43,
        voltage_reset_fraction: Values | str = 0.2,
        asc_r_1: Values | str = 1.0,
        asc_r_2: Values | str = 1.0,
        spike_dependent_threshold: Values | str = 0.0,
        after_spike_currents: Values | str = 0.0,
        adapting_threshold: Values | str = 0.0,
        V_m: Values | str | None = None,
        ASCurrents_1: Values | str | None = None,
        ASCurrents_2: Values | str | None = None,
        threshold_spike: Values | str | None = None,
        threshold_voltage: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class glif_psc(LibraryNeuron):
    """Generalized leaky integrate-and-fire neuron of the Allen Institute, whose five levels are switches.

    Weights are in pA. Receptors: receptor_1. State variables: V_m, ASCurrents_1, ASCurrents_2, threshold_spike,
    threshold_voltage, I_syn_1, x_1, ASCurrents_sum, threshold, I_syn.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -78.85 mV
        Resting potential.
    C_m : default 58.72 pF; > 0
        Capacitance of the membrane.
    t_ref : default 3.75 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -51.68 mV
        Threshold without spikes.
    V_reset : default -78.85 mV
        Potential after a spike, without spike_dependent_threshold.
    th_spike_add : default 0.37 mV
        Increment of the spike-triggered component by a spike.
    voltage_reset_add : default 18.51 mV
        Offset of the potential after a spike.
    th_voltage_index : default 0.005 1/ms
        Rate at which the threshold follows the potential.
    asc_amps_1 : default -9.18 pA
        Increment of the first spike-triggered current by a spike.
    asc_amps_2 : default -198.94 pA
        Increment of the second spike-triggered current by a spike.
    th_spike_decay : default 0.009 1/ms; > 0
        Rate at which the threshold forgets spikes.
    th_voltage_decay : default 0.09 1/ms; > 0
        Rate at which the threshold forgets the potential.
    asc_decay_1 : default 0.003 1/ms; > 0
        Rate at which the first current decays.
    asc_decay_2 : default 0.1 1/ms; > 0
        Rate at which the second current decays.
    g : default 9.43 nS; > 0
        Leak conductance.
    voltage_reset_fraction : default 0.2; >= 0 and <= 1
        Fraction of the potential before a spike that remains after it.
    asc_r_1 : default 1; >= 0 and <= 1
        Fraction of the first current that remains after a spike.
    asc_r_2 : default 1; >= 0 and <= 1
        Fraction of the second current that remains after a spike.
    spike_dependent_threshold : default 0; >= 0 and <= 1
        Whether spikes change the threshold, and a fraction of the potential remains (LIF-R).
    after_spike_currents : default 0; >= 0 and <= 1
        Whether spikes trigger currents (LIF-ASC).
    adapting_threshold : default 0; >= 0 and <= 1
        Whether the threshold follows the potential (LIF-R-ASC-A, with both others).
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    V_m : default E_L
        Initial value: potential (mV).
    ASCurrents_1 : default 0
        Initial value: first spike-triggered current (pA).
    ASCurrents_2 : default 0
        Initial value: second spike-triggered current (pA).
    threshold_spike : default 0
        Initial value: spike-triggered component of the threshold (mV).
    threshold_voltage : default 0
        Initial value: voltage-dependent component of the threshold (mV).
    I_syn_1 : default 0
        Initial value: current of receptor 1 (pA).
    x_1 : default 0
        Initial value: rate of rise of current 1 (pA/ms).

    Notes
    -----
    ::

        dV_m/dt = (g*(E_L - V_m) + ASCurrents_sum + I_syn + I_stimulus)/C_m : mV (unless refractory)  # Potential
        dASCurrents_1/dt = -asc_decay_1*ASCurrents_1 : pA (unless refractory)  # First spike-triggered current
        dASCurrents_2/dt = -asc_decay_2*ASCurrents_2 : pA (unless refractory)  # Second spike-triggered current
        dthreshold_spike/dt = -th_spike_decay*threshold_spike : mV (unless refractory)  # Spike-triggered component of the threshold
        dthreshold_voltage/dt = adapting_threshold*th_voltage_index*(V_m - E_L) - th_voltage_decay*threshold_voltage : mV (unless refractory)  # Voltage-dependent component of the threshold
        ASCurrents_sum = ASCurrents_1 + ASCurrents_2 : pA  # Sum of the spike-triggered currents
        threshold = V_th + threshold_spike + threshold_voltage : mV  # Threshold
        dI_syn_1/dt = x_1 - I_syn_1/tau_syn_1 : pA  # Current of receptor 1
        dx_1/dt = -x_1/tau_syn_1 : pA/ms  # Rate of rise of current 1
        I_syn = (I_syn_1) : pA  # Sum of the currents of all receptors
        fires when V_m > threshold
        then V_m = E_L + voltage_reset_fraction*(before(V_m) - E_L) + voltage_reset_add if spike_dependent_threshold > 0 else V_reset; threshold_spike = spike_dependent_threshold*(threshold_spike*exp(-th_spike_decay*t_ref) + th_spike_add); ASCurrents_1 = after_spike_currents*(asc_amps_1 + asc_r_1*ASCurrents_1*exp(-asc_decay_1*t_ref)); ASCurrents_2 = after_spike_currents*(asc_amps_2 + asc_r_2*ASCurrents_2*exp(-asc_decay_2*t_ref))
        refractory for t_ref
        spike at receptor_1: x_1 += w*e/tau_syn_1
        Method: solved exactly

    References
    ----------
    C. Teeter et al., Nature Communications 9, 709 (2018)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        E_L: Values | str = -78.85,
        C_m: Values | str = 58.72,
        t_ref: Values | str = 3.75,
        V_th: Values | str = -51.68,
        V_reset: Values | str = -78.85,
        th_spike_add: Values | str = 0.37,
        voltage_reset_add: Values | str = 18.51,
        th_voltage_index: Values | str = 0.005,
        asc_amps_1: Values | str = -9.18,
        asc_amps_2: Values | str = -198.94,
        th_spike_decay: Values | str = 0.009,
        th_voltage_decay: Values | str = 0.09,
        asc_decay_1: Values | str = 0.003,
        asc_decay_2: Values | str = 0.1,
        g: Values | str = 9.43,
        voltage_reset_fraction: Values | str = 0.2,
        asc_r_1: Values | str = 1.0,
        asc_r_2: Values | str = 1.0,
        spike_dependent_threshold: Values | str = 0.0,
        after_spike_currents: Values | str = 0.0,
        adapting_threshold: Values | str = 0.0,
        V_m: Values | str | None = None,
        ASCurrents_1: Values | str | None = None,
        ASCurrents_2: Values | str | None = None,
        threshold_spike: Values | str | None = None,
        threshold_voltage: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class hh_cond_exp_traub(LibraryNeuron):
    """Hodgkin-Huxley neuron of the hippocampus with exponentially decaying conductances.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, Act_m, Inact_h, Act_n, g_ex, g_in, I_Na, I_K, alpha_m,
    beta_m, alpha_h, beta_h, alpha_n, beta_n.

    Parameters
    ----------
    C_m : default 200 pF; > 0
        Capacitance of the membrane.
    g_Na : default 20000 nS; >= 0
        Greatest sodium conductance.
    g_K : default 6000 nS; >= 0
        Greatest potassium conductance.
    E_Na : default 50 mV
        Reversal potential of sodium.
    E_K : default -90 mV
        Reversal potential of potassium.
    E_L : default -60 mV
        Reversal potential of the leak.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    I_e : default 0 pA
        Constant current.
    g_L : default 10 nS; >= 0
        Leak conductance.
    V_T : default -63 mV
        Shift of the potentials in the rates, and of the threshold.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -80 mV
        Reversal potential of inhibitory synapses.
    tau_syn_ex : default 5 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 10 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    Act_m : default 9.895563096746586e-09
        Initial value: activation of the sodium channels.
    Inact_h : default 0.999999999106396
        Initial value: inactivation of the sodium channels.
    Act_n : default 2.551577051602551e-07
        Initial value: activation of the potassium channels.
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (I_Na + I_K + g_L*(E_L - V_m) + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dAct_m/dt = alpha_m*(1 - Act_m) - beta_m*Act_m : 1  # Activation of the sodium channels
        dInact_h/dt = alpha_h*(1 - Inact_h) - beta_h*Inact_h : 1  # Inactivation of the sodium channels
        dAct_n/dt = alpha_n*(1 - Act_n) - beta_n*Act_n : 1  # Activation of the potassium channels
        I_Na = g_Na*Act_m**3*Inact_h*(E_Na - V_m) : pA  # Sodium current
        I_K = g_K*Act_n**4*(E_K - V_m) : pA  # Potassium current
        alpha_m = 1.28/exprel((13*mV - V_m + V_T)/(4*mV))/ms : 1/ms  # Rate at which activation gates of sodium channels open
        beta_m = 1.4/exprel((V_m - V_T - 40*mV)/(5*mV))/ms : 1/ms  # Rate at which they close
        alpha_h = 0.128*exp((17*mV - V_m + V_T)/(18*mV))/ms : 1/ms  # Rate at which inactivation gates of sodium channels open
        beta_h = 4/(1 + exp((40*mV - V_m + V_T)/(5*mV)))/ms : 1/ms  # Rate at which they close
        alpha_n = 0.16/exprel((15*mV - V_m + V_T)/(5*mV))/ms : 1/ms  # Rate at which gates of potassium channels open
        beta_n = 0.5*exp((10*mV - V_m + V_T)/(40*mV))/ms : 1/ms  # Rate at which they close
        dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
        dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance
        fires when V_m >= V_T + 30*mV and V_m < before(V_m)
        refractory for t_ref
        spike at excitatory: g_ex += w
        spike at inhibitory: g_in -= w
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    R. D. Traub and R. Miles, Neuronal Networks of the Hippocampus, Cambridge University Press (1991); R. Brette et al.,
    Journal of Computational Neuroscience 23, 349-398 (2007)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        C_m: Values | str = 200.0,
        g_Na: Values | str = 20000.0,
        g_K: Values | str = 6000.0,
        E_Na: Values | str = 50.0,
        E_K: Values | str = -90.0,
        E_L: Values | str = -60.0,
        t_ref: Values | str = 2.0,
        I_e: Values | str = 0.0,
        g_L: Values | str = 10.0,
        V_T: Values | str = -63.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -80.0,
        tau_syn_ex: Values | str = 5.0,
        tau_syn_in: Values | str = 10.0,
        V_m: Values | str | None = None,
        Act_m: Values | str | None = None,
        Inact_h: Values | str | None = None,
        Act_n: Values | str | None = None,
        g_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class hh_psc_alpha(LibraryNeuron):
    """Hodgkin-Huxley neuron with synaptic currents that are alpha functions.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, Act_m, Inact_h, Act_n, I_syn_ex, x_ex, I_syn_in, x_in,
    I_Na, I_K, alpha_m, beta_m, alpha_h, beta_h, alpha_n, beta_n.

    Parameters
    ----------
    C_m : default 100 pF; > 0
        Capacitance of the membrane.
    g_Na : default 12000 nS; >= 0
        Greatest sodium conductance.
    g_K : default 3600 nS; >= 0
        Greatest potassium conductance.
    E_Na : default 50 mV
        Reversal potential of sodium.
    E_K : default -77 mV
        Reversal potential of potassium.
    E_L : default -54.402 mV
        Reversal potential of the leak.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    I_e : default 0 pA
        Constant current.
    g_L : default 30 nS; >= 0
        Leak conductance.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default -65
        Initial value: potential of the membrane (mV).
    Act_m : default 0.05293248525724958
        Initial value: activation of the sodium channels.
    Inact_h : default 0.5961207535084603
        Initial value: inactivation of the sodium channels.
    Act_n : default 0.3176769140606974
        Initial value: activation of the potassium channels.
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    x_ex : default 0
        Initial value: rate of rise of the excitatory current (pA/ms).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is negative (pA).
    x_in : default 0
        Initial value: rate of rise of the inhibitory current (pA/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (I_Na + I_K + g_L*(E_L - V_m) + I_syn_ex + I_syn_in + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dAct_m/dt = alpha_m*(1 - Act_m) - beta_m*Act_m : 1  # Activation of the sodium channels
        dInact_h/dt = alpha_h*(1 - Inact_h) - beta_h*Inact_h : 1  # Inactivation of the sodium channels
        dAct_n/dt = alpha_n*(1 - Act_n) - beta_n*Act_n : 1  # Activation of the potassium channels
        I_Na = g_Na*Act_m**3*Inact_h*(E_Na - V_m) : pA  # Sodium current
        I_K = g_K*Act_n**4*(E_K - V_m) : pA  # Potassium current
        alpha_m = 1/exprel(-(V_m + 40*mV)/(10*mV))/ms : 1/ms  # Rate at which activation gates of sodium channels open
        beta_m = 4*exp(-(V_m + 65*mV)/(18*mV))/ms : 1/ms  # Rate at which they close
        alpha_h = 0.07*exp(-(V_m + 65*mV)/(20*mV))/ms : 1/ms  # Rate at which inactivation gates of sodium channels open
        beta_h = 1/(1 + exp(-(V_m + 35*mV)/(10*mV)))/ms : 1/ms  # Rate at which they close
        alpha_n = 0.1/exprel(-(V_m + 55*mV)/(10*mV))/ms : 1/ms  # Rate at which gates of potassium channels open
        beta_n = 0.125*exp(-(V_m + 65*mV)/(80*mV))/ms : 1/ms  # Rate at which they close
        dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # Rate of rise of the excitatory current
        dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
        dx_in/dt = -x_in/tau_syn_in : pA/ms  # Rate of rise of the inhibitory current
        fires when V_m >= 0*mV and V_m < before(V_m)
        refractory for t_ref
        spike at excitatory: x_ex += w*e/tau_syn_ex
        spike at inhibitory: x_in += w*e/tau_syn_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    A. L. Hodgkin and A. F. Huxley, Journal of Physiology 117, 500-544 (1952); P. Dayan and L. F. Abbott, Theoretical
    Neuroscience, MIT Press (2001)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        C_m: Values | str = 100.0,
        g_Na: Values | str = 12000.0,
        g_K: Values | str = 3600.0,
        E_Na: Values | str = 50.0,
        E_K: Values | str = -77.0,
        E_L: Values | str = -54.402,
        t_ref: Values | str = 2.0,
        I_e: Values | str = 0.0,
        g_L: Values | str = 30.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        Act_m: Values | str | None = None,
        Inact_h: Values | str | None = None,
        Act_n: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        x_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class hh_psc_alpha_clopath(LibraryNeuron):
    """Hodgkin-Huxley neuron with alpha-shaped currents and the filtered potentials of Clopath et al.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, Act_m, Inact_h, Act_n, I_syn_ex, x_ex, I_syn_in, x_in,
    u_bar_plus, u_bar_minus, u_bar_bar, I_Na, I_K, alpha_m, beta_m, alpha_h, beta_h, alpha_n, beta_n.

    Parameters
    ----------
    C_m : default 100 pF; > 0
        Capacitance of the membrane.
    g_Na : default 12000 nS; >= 0
        Greatest sodium conductance.
    g_K : default 3600 nS; >= 0
        Greatest potassium conductance.
    E_Na : default 50 mV
        Reversal potential of sodium.
    E_K : default -77 mV
        Reversal potential of potassium.
    E_L : default -54.402 mV
        Reversal potential of the leak.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    I_e : default 0 pA
        Constant current.
    g_L : default 30 nS; >= 0
        Leak conductance.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    tau_u_bar_plus : default 114 ms; > 0
        Time constant of u_bar_plus.
    tau_u_bar_minus : default 10 ms; > 0
        Time constant of u_bar_minus.
    tau_u_bar_bar : default 500 ms; > 0
        Time constant of u_bar_bar.
    V_m : default -65
        Initial value: potential of the membrane (mV).
    Act_m : default 0.05293248525724958
        Initial value: activation of the sodium channels.
    Inact_h : default 0.5961207535084603
        Initial value: inactivation of the sodium channels.
    Act_n : default 0.3176769140606974
        Initial value: activation of the potassium channels.
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    x_ex : default 0
        Initial value: rate of rise of the excitatory current (pA/ms).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is negative (pA).
    x_in : default 0
        Initial value: rate of rise of the inhibitory current (pA/ms).
    u_bar_plus : default 0
        Initial value: filtered potential that potentiation follows (mV).
    u_bar_minus : default 0
        Initial value: filtered potential that depression follows (mV).
    u_bar_bar : default 0
        Initial value: slow potential, which keeps the balance of both (mV).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (I_Na + I_K + g_L*(E_L - V_m) + I_syn_ex + I_syn_in + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dAct_m/dt = alpha_m*(1 - Act_m) - beta_m*Act_m : 1  # Activation of the sodium channels
        dInact_h/dt = alpha_h*(1 - Inact_h) - beta_h*Inact_h : 1  # Inactivation of the sodium channels
        dAct_n/dt = alpha_n*(1 - Act_n) - beta_n*Act_n : 1  # Activation of the potassium channels
        I_Na = g_Na*Act_m**3*Inact_h*(E_Na - V_m) : pA  # Sodium current
        I_K = g_K*Act_n**4*(E_K - V_m) : pA  # Potassium current
        alpha_m = 1/exprel(-(V_m + 40*mV)/(10*mV))/ms : 1/ms  # Rate at which activation gates of sodium channels open
        beta_m = 4*exp(-(V_m + 65*mV)/(18*mV))/ms : 1/ms  # Rate at which they close
        alpha_h = 0.07*exp(-(V_m + 65*mV)/(20*mV))/ms : 1/ms  # Rate at which inactivation gates of sodium channels open
        beta_h = 1/(1 + exp(-(V_m + 35*mV)/(10*mV)))/ms : 1/ms  # Rate at which they close
        alpha_n = 0.1/exprel(-(V_m + 55*mV)/(10*mV))/ms : 1/ms  # Rate at which gates of potassium channels open
        beta_n = 0.125*exp(-(V_m + 65*mV)/(80*mV))/ms : 1/ms  # Rate at which they close
        dI_syn_ex/dt = x_ex - I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dx_ex/dt = -x_ex/tau_syn_ex : pA/ms  # Rate of rise of the excitatory current
        dI_syn_in/dt = x_in - I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
        dx_in/dt = -x_in/tau_syn_in : pA/ms  # Rate of rise of the inhibitory current
        du_bar_plus/dt = (V_m - u_bar_plus)/tau_u_bar_plus : mV  # Filtered potential that potentiation follows
        du_bar_minus/dt = (V_m - u_bar_minus)/tau_u_bar_minus : mV  # Filtered potential that depression follows
        du_bar_bar/dt = (u_bar_minus - u_bar_bar)/tau_u_bar_bar : mV  # Slow potential, which keeps the balance of both
        fires when V_m >= 0*mV and V_m < before(V_m)
        refractory for t_ref
        spike at excitatory: x_ex += w*e/tau_syn_ex
        spike at inhibitory: x_in += w*e/tau_syn_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    A. L. Hodgkin and A. F. Huxley, Journal of Physiology 117, 500-544 (1952); P. Dayan and L. F. Abbott, Theoretical
    Neuroscience, MIT Press (2001); C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352
    (2010)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        C_m: Values | str = 100.0,
        g_Na: Values | str = 12000.0,
        g_K: Values | str = 3600.0,
        E_Na: Values | str = 50.0,
        E_K: Values | str = -77.0,
        E_L: Values | str = -54.402,
        t_ref: Values | str = 2.0,
        I_e: Values | str = 0.0,
        g_L: Values | str = 30.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        tau_u_bar_plus: Values | str = 114.0,
        tau_u_bar_minus: Values | str = 10.0,
        tau_u_bar_bar: Values | str = 500.0,
        V_m: Values | str | None = None,
        Act_m: Values | str | None = None,
        Inact_h: Values | str | None = None,
        Act_n: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        x_in: Values | str | None = None,
        u_bar_plus: Values | str | None = None,
        u_bar_minus: Values | str | None = None,
        u_bar_bar: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class iaf_cond_alpha(LibraryNeuron):
    """Leaky integrate-and-fire neuron with conductances that are alpha functions.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, g_ex, x_ex, g_in, x_in.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    g_L : default 16.6667 nS; > 0
        Leak conductance.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -55 mV
        Threshold.
    V_reset : default -60 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    x_ex : default 0
        Initial value: rate of rise of the excitatory conductance (nS/ms).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    x_in : default 0
        Initial value: rate of rise of the inhibitory conductance (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dg_ex/dt = x_ex - g_ex/tau_syn_ex : nS  # Excitatory conductance
        dx_ex/dt = -x_ex/tau_syn_ex : nS/ms  # Rate of rise of the excitatory conductance
        dg_in/dt = x_in - g_in/tau_syn_in : nS  # Inhibitory conductance
        dx_in/dt = -x_in/tau_syn_in : nS/ms  # Rate of rise of the inhibitory conductance
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at excitatory: x_ex += w*e/tau_syn_ex
        spike at inhibitory: x_in -= w*e/tau_syn_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    H. Meffin, A. N. Burkitt and D. B. Grayden, Journal of Computational Neuroscience 16, 159-175 (2004)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 250.0,
        g_L: Values | str = 16.6667,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -55.0,
        V_reset: Values | str = -60.0,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        g_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        x_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class iaf_cond_beta(LibraryNeuron):
    """Leaky integrate-and-fire neuron with conductances that are beta functions.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, g_ex, x_ex, g_in, x_in.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    g_L : default 16.6667 nS; > 0
        Leak conductance.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -55 mV
        Threshold.
    V_reset : default -60 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    tau_rise_ex : default 0.2 ms; > 0
        Time constant of the rise of excitatory synapses.
    tau_decay_ex : default 0.2 ms; > 0
        Time constant of the decay of excitatory synapses.
    tau_rise_in : default 2 ms; > 0
        Time constant of the rise of inhibitory synapses.
    tau_decay_in : default 2 ms; > 0
        Time constant of the decay of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    x_ex : default 0
        Initial value: rate of rise of the excitatory conductance (nS/ms).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    x_in : default 0
        Initial value: rate of rise of the inhibitory conductance (nS/ms).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dg_ex/dt = x_ex - g_ex/tau_rise_ex : nS  # Excitatory conductance
        dx_ex/dt = -x_ex/tau_decay_ex : nS/ms  # Rate of rise of the excitatory conductance
        dg_in/dt = x_in - g_in/tau_rise_in : nS  # Inhibitory conductance
        dx_in/dt = -x_in/tau_decay_in : nS/ms  # Rate of rise of the inhibitory conductance
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at excitatory: x_ex += w*exp(1/exprel(log(tau_decay_ex/tau_rise_ex)))/tau_rise_ex
        spike at inhibitory: x_in -= w*exp(1/exprel(log(tau_decay_in/tau_rise_in)))/tau_rise_in
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    H. Meffin, A. N. Burkitt and D. B. Grayden, Journal of Computational Neuroscience 16, 159-175 (2004); A. Roth and M.
    C. W. van Rossum, Modeling synapses, in E. De Schutter (ed.), Computational Modeling Methods for Neuroscientists,
    MIT Press, 139-160 (2009)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 250.0,
        g_L: Values | str = 16.6667,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -55.0,
        V_reset: Values | str = -60.0,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        tau_rise_ex: Values | str = 0.2,
        tau_decay_ex: Values | str = 0.2,
        tau_rise_in: Values | str = 2.0,
        tau_decay_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        g_ex: Values | str | None = None,
        x_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        x_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class iaf_cond_exp(LibraryNeuron):
    """Leaky integrate-and-fire neuron with exponentially decaying conductances.

    Weights are in nS. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, g_ex, g_in.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    g_L : default 16.6667 nS; > 0
        Leak conductance.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -55 mV
        Threshold.
    V_reset : default -60 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -85 mV
        Reversal potential of inhibitory synapses.
    tau_syn_ex : default 0.2 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 2 ms; > 0
        Time constant of inhibitory synapses.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_ex : default 0
        Initial value: excitatory conductance (nS).
    g_in : default 0
        Initial value: inhibitory conductance (nS).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + g_ex*(E_ex - V_m) + g_in*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        dg_ex/dt = -g_ex/tau_syn_ex : nS  # Excitatory conductance
        dg_in/dt = -g_in/tau_syn_in : nS  # Inhibitory conductance
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at excitatory: g_ex += w
        spike at inhibitory: g_in -= w
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    H. Meffin, A. N. Burkitt and D. B. Grayden, Journal of Computational Neuroscience 16, 159-175 (2004)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 250.0,
        g_L: Values | str = 16.6667,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -55.0,
        V_reset: Values | str = -60.0,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -85.0,
        tau_syn_ex: Values | str = 0.2,
        tau_syn_in: Values | str = 2.0,
        V_m: Values | str | None = None,
        g_ex: Values | str | None = None,
        g_in: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class iaf_psc_alpha_multisynapse(LibraryNeuron):
    """Leaky integrate-and-fire neuron with any number of synaptic currents that are alpha functions.

    Weights are in pA. Receptors: receptor_1. State variables: V_m, I_syn_1, x_1, I_syn.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -55 mV
        Threshold.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_1 : default 0
        Initial value: current of receptor 1 (pA).
    x_1 : default 0
        Initial value: rate of rise of current 1 (pA/ms).

    Notes
    -----
    ::

        dV_m/dt = (E_L - V_m)/tau_m + (I_syn + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        I_syn = (I_syn_1) : pA  # Sum of the currents of all receptors
        dI_syn_1/dt = x_1 - I_syn_1/tau_syn_1 : pA  # Current of receptor 1
        dx_1/dt = -x_1/tau_syn_1 : pA/ms  # Rate of rise of current 1
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at receptor_1: x_1 += w*e/tau_syn_1
        Method: solved exactly

    References
    ----------
    S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 250.0,
        tau_m: Values | str = 10.0,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -55.0,
        V_reset: Values | str = -70.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class iaf_psc_exp_multisynapse(LibraryNeuron):
    """Leaky integrate-and-fire neuron with any number of exponentially decaying synaptic currents.

    Weights are in pA. Receptors: receptor_1. State variables: V_m, I_syn_1, I_syn.

    Parameters
    ----------
    receptors : default 1
        Number of receptors, or a list of their names; names that end in _1 here are those of the first.
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -55 mV
        Threshold.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_1 : default 2 ms; > 0
        Time constant of receptor 1.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_1 : default 0
        Initial value: current of receptor 1 (pA).

    Notes
    -----
    ::

        dV_m/dt = (E_L - V_m)/tau_m + (I_syn + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        I_syn = (I_syn_1) : pA  # Sum of the currents of all receptors
        dI_syn_1/dt = -I_syn_1/tau_syn_1 : pA  # Current of receptor 1
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at receptor_1: I_syn_1 += w
        Method: solved exactly

    References
    ----------
    S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        receptors: Copies = 1,
        E_L: Values | str = -70.0,
        C_m: Values | str = 250.0,
        tau_m: Values | str = 10.0,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -55.0,
        V_reset: Values | str = -70.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

class iaf_wang_2002(LibraryNeuron):
    """Leaky integrate-and-fire neuron with AMPA, NMDA and GABA receptors, for decision-making networks.

    Weights are in nS. Receptors: AMPA, NMDA, GABA. Name one of them with receptor= in connect() and stimulate(). State
    variables: V_m, s_AMPA, s_NMDA, s_GABA, block.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 500 pF; > 0
        Capacitance of the membrane.
    g_L : default 25 nS; > 0
        Leak conductance.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period.
    V_th : default -50 mV
        Threshold.
    V_reset : default -55 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    E_ex : default 0 mV
        Reversal potential of excitatory synapses.
    E_in : default -70 mV
        Reversal potential of inhibitory synapses.
    tau_AMPA : default 2 ms; > 0
        Time constant of AMPA receptors.
    tau_decay_NMDA : default 100 ms; > 0
        Time constant of NMDA receptors.
    tau_GABA : default 5 ms; > 0
        Time constant of GABA receptors.
    conc_Mg2 : default 1; >= 0
        Concentration of magnesium in mM, which blocks NMDA receptors.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    s_AMPA : default 0
        Initial value: conductance of AMPA receptors (nS).
    s_NMDA : default 0
        Initial value: conductance of NMDA receptors, without the block (nS).
    s_GABA : default 0
        Initial value: conductance of GABA receptors (nS).
    method : default adaptive; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (g_L*(E_L - V_m) + (s_AMPA + block*s_NMDA)*(E_ex - V_m) + s_GABA*(E_in - V_m) + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        block = 1/(1 + conc_Mg2*exp(-0.062*V_m/mV)/3.57) : 1  # Fraction of the NMDA receptors without magnesium
        ds_AMPA/dt = -s_AMPA/tau_AMPA : nS  # Conductance of AMPA receptors
        ds_NMDA/dt = -s_NMDA/tau_decay_NMDA : nS  # Conductance of NMDA receptors, without the block
        ds_GABA/dt = -s_GABA/tau_GABA : nS  # Conductance of GABA receptors
        fires when V_m >= V_th
        then V_m = V_reset
        refractory for t_ref
        spike at AMPA: s_AMPA += w
        spike at NMDA: s_NMDA += w
        spike at GABA: s_GABA += w
        Method: adaptive method of Taylor, or of Cash and Karp where functions have no simple series

    References
    ----------
    X.-J. Wang, Neuron 36, 955-968 (2002)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 500.0,
        g_L: Values | str = 25.0,
        t_ref: Values | str = 2.0,
        V_th: Values | str = -50.0,
        V_reset: Values | str = -55.0,
        I_e: Values | str = 0.0,
        E_ex: Values | str = 0.0,
        E_in: Values | str = -70.0,
        tau_AMPA: Values | str = 2.0,
        tau_decay_NMDA: Values | str = 100.0,
        tau_GABA: Values | str = 5.0,
        conc_Mg2: Values | str = 1.0,
        V_m: Values | str | None = None,
        s_AMPA: Values | str | None = None,
        s_NMDA: Values | str | None = None,
        s_GABA: Values | str | None = None,
        method: str = "adaptive",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class izhikevich(LibraryNeuron):
    """Izhikevich neuron: a potential with a quadratic equation, and a recovery variable.

    Weights are in mV. Receptors: jump. State variables: V_m, U_m.

    Parameters
    ----------
    a : default 0.02 1/ms
        Rate of the recovery.
    b : default 0.2 1/ms
        Sensitivity of the recovery to the potential.
    c : default -65 mV
        Potential after a spike.
    d : default 8 mV/ms
        Increment of the recovery by a spike.
    V_th : default 30 mV
        Threshold: the peak of a spike.
    I_e : default 0 pA
        Constant current.
    V_m : default -65
        Initial value: potential of the membrane (mV).
    U_m : default -13
        Initial value: recovery (mV/ms).
    method : default euler; adaptive, exponential_euler, rk4, euler
        Method of integration, see `neuron`.
    relative_tolerance : default 1e-06; 1e-13 to 0.1
        Relative error bound of an adaptive step.
    absolute_tolerance : default 1e-06; > 0, or by variable
        Absolute error bound of an adaptive step, in the unit of the variable.

    Notes
    -----
    ::

        dV_m/dt = (0.04*V_m**2/mV + 5*V_m + 140*mV)/ms - U_m + (I_e + I_stimulus)*mV/pA/ms : mV  # Potential of the membrane
        dU_m/dt = a*(b*V_m - U_m) : mV/ms  # Recovery
        fires when V_m >= V_th
        then V_m = c; U_m += d
        spike at jump: V_m += w
        Method: Euler method (Euler-Maruyama with noise)

    References
    ----------
    E. M. Izhikevich, IEEE Transactions on Neural Networks 14, 1569-1572 (2003)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        a: Values | str = 0.02,
        b: Values | str = 0.2,
        c: Values | str = -65.0,
        d: Values | str = 8.0,
        V_th: Values | str = 30.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        U_m: Values | str | None = None,
        method: str = "euler",
        relative_tolerance: float | None = None,
        absolute_tolerance: AbsoluteTolerance | None = None,
    ) -> None: ...

class mat2_psc_exp(LibraryNeuron):
    """Integrate-and-fire neuron whose threshold follows spikes, with two time constants, without reset.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, I_syn_ex, I_syn_in, V_th_alpha_1, V_th_alpha_2, V_th.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 100 pF; > 0
        Capacitance of the membrane.
    tau_m : default 5 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    tau_syn_ex : default 1 ms; > 0
        Time constant of excitatory synapses.
    tau_syn_in : default 3 ms; > 0
        Time constant of inhibitory synapses.
    tau_1 : default 10 ms; > 0
        Time constant of the fast threshold component.
    tau_2 : default 200 ms; > 0
        Time constant of the slow threshold component.
    alpha_1 : default 37 mV
        Increment of the fast threshold component by a spike.
    alpha_2 : default 2 mV
        Increment of the slow threshold component by a spike.
    omega : default -51 mV
        Threshold at rest.
    I_e : default 0 pA
        Constant current.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current, which is negative (pA).
    V_th_alpha_1 : default 0
        Initial value: fast spike-triggered component of the threshold (mV).
    V_th_alpha_2 : default 0
        Initial value: slow spike-triggered component of the threshold (mV).

    Notes
    -----
    ::

        dV_m/dt = (E_L - V_m)/tau_m + (I_syn_ex + I_syn_in + I_e + I_stimulus)/C_m : mV  # Potential of the membrane
        V_th = omega + V_th_alpha_1 + V_th_alpha_2 : mV  # Threshold
        dI_syn_ex/dt = -I_syn_ex/tau_syn_ex : pA  # Excitatory synaptic current
        dI_syn_in/dt = -I_syn_in/tau_syn_in : pA  # Inhibitory synaptic current, which is negative
        dV_th_alpha_1/dt = -V_th_alpha_1/tau_1 : mV (always)  # Fast spike-triggered component of the threshold
        dV_th_alpha_2/dt = -V_th_alpha_2/tau_2 : mV (always)  # Slow spike-triggered component of the threshold
        fires when V_m >= V_th
        then V_th_alpha_1 += alpha_1; V_th_alpha_2 += alpha_2
        refractory for t_ref
        spike at excitatory: I_syn_ex += w
        spike at inhibitory: I_syn_in += w
        Method: solved exactly

    References
    ----------
    R. Kobayashi, Y. Tsubo and S. Shinomoto, Frontiers in Computational Neuroscience 3, 9 (2009)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values | str = -70.0,
        C_m: Values | str = 100.0,
        tau_m: Values | str = 5.0,
        t_ref: Values | str = 2.0,
        tau_syn_ex: Values | str = 1.0,
        tau_syn_in: Values | str = 3.0,
        tau_1: Values | str = 10.0,
        tau_2: Values | str = 200.0,
        alpha_1: Values | str = 37.0,
        alpha_2: Values | str = 2.0,
        omega: Values | str = -51.0,
        I_e: Values | str = 0.0,
        V_m: Values | str | None = None,
        I_syn_ex: Values | str | None = None,
        I_syn_in: Values | str | None = None,
        V_th_alpha_1: Values | str | None = None,
        V_th_alpha_2: Values | str | None = None,
    ) -> None: ...

class pp_psc_delta(LibraryNeuron):
    """Neuron that fires at random, with a rate that depends on the potential and on its spikes.

    Weights are in mV. Receptors: jump. State variables: V_m, E_sfa_1, E_sfa, rate.

    Parameters
    ----------
    sfa : default 1
        Number of spike-triggered components of the threshold.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    dead_time : default 1 ms; >= 0 and <= 1e+06
        Period after a spike in which the neuron does not fire; no variable is held.
    c_1 : default 0 Hz/mV
        Slope of the linear term of the rate.
    c_2 : default 1.238 Hz
        Factor of the exponential term of the rate.
    c_3 : default 0.25 1/mV
        Exponent of the exponential term of the rate.
    I_e : default 0 pA
        Constant current.
    tau_sfa_1 : default 34 ms; > 0
        Time constant of threshold component 1.
    q_sfa_1 : default 0 mV
        Increment of threshold component 1 by a spike.
    with_reset : default 1; >= 0 and <= 1
        Whether the potential is 0 after a spike.
    V_m : default 0
        Initial value: potential of the membrane, relative to that at rest (mV).
    E_sfa_1 : default 0
        Initial value: spike-triggered component 1 of the threshold (mV).

    Notes
    -----
    ::

        dV_m/dt = -V_m/tau_m + (I_e + I_stimulus)/C_m : mV (always)  # Potential of the membrane, relative to that at rest
        dE_sfa_1/dt = -E_sfa_1/tau_sfa_1 : mV (always)  # Spike-triggered component 1 of the threshold
        E_sfa = (E_sfa_1) : mV  # Threshold
        rate = max(0, c_1*(V_m - E_sfa) + c_2*exp(c_3*(V_m - E_sfa))) : Hz  # Rate of firing
        fires when rand() < -expm1(-rate*dt)
        then V_m *= 1 - with_reset; E_sfa_1 += q_sfa_1
        refractory for dead_time
        spike at jump: V_m += w
        Method: solved exactly

    References
    ----------
    R. Jolivet, A. Rauch, H.-R. Luescher and W. Gerstner, Journal of Computational Neuroscience 21, 35-49 (2006); C.
    Pozzorini, R. Naud, S. Mensi and W. Gerstner, Nature Neuroscience 16, 942-948 (2013)
    """

    model_name: ClassVar[str]
    def __init__(
        self,
        *,
        sfa: Copies = 1,
        tau_m: Values | str = 10.0,
        C_m: Values | str = 250.0,
        dead_time: Values | str = 1.0,
        c_1: Values | str = 0.0,
        c_2: Values | str = 1.238,
        c_3: Values | str = 0.25,
        I_e: Values | str = 0.0,
        with_reset: Values | str = 1.0,
        V_m: Values | str | None = None,
        **of_each: Values | str | None,
    ) -> None: ...

LIBRARY_NEURONS: Mapping[str, type[LibraryNeuron]]
