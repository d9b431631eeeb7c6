# Written by `make stub`.
"""Neuron models, synapse models and stimulators.

Their classes are made from the registry of the core when they are first used. Every value of a neuron model or a
stimulator is one number for all neurons, an array with one number for each, or a distribution. All synapses of a
projection share the values of a synapse model, unless the description of a parameter says that it may differ.
"""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy.typing as npt

from ranvier.base.values import Values
from ranvier.populations.model_base import NeuronModel, Stimulator, SynapseModel
from ranvier.populations.populations import Neurons

__all__ = [
    "ac_generator",
    "bernoulli",
    "clopath",
    "dc_generator",
    "gamma_generator",
    "iaf_cond_nmda",
    "iaf_psc_alpha",
    "iaf_psc_delta",
    "iaf_psc_exp",
    "ignore_and_fire",
    "inhomogeneous_gamma_generator",
    "inhomogeneous_poisson_generator",
    "interval_fire",
    "mip_generator",
    "noise_generator",
    "parrot_neuron",
    "poisson_generator",
    "pulsepacket_generator",
    "quantal_stp",
    "saturating_nmda",
    "sinusoidal_gamma_generator",
    "sinusoidal_poisson_generator",
    "static_synapse",
    "stdp",
    "stdp_dopamine",
    "stdp_nn_pre_centered",
    "stdp_nn_restr",
    "stdp_nn_symm",
    "stdp_pl",
    "stdp_triplet",
    "step_current_generator",
    "tsodyks",
    "tsodyks2",
    "vogels_sprekeler",
]

class iaf_cond_nmda(NeuronModel):
    """Leaky integrate-and-fire neuron with conductances of AMPA, NMDA, GABA_A and GABA_B receptors.

    Weights are in nS, >= 0. Receptors: AMPA, NMDA, GABA_A, GABA_B. Name one of them with receptor= in connect() and
    stimulate(). State variables: V_m, g_AMPA, g_NMDA, g_GABA_A, g_GABA_B.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period, rounded up to the grid.
    V_th : default -55 mV
        Threshold: the neuron fires when V_m >= V_th.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    E_AMPA : default 0 mV; >= -1e+06 and <= 1e+06
        Reversal potential of AMPA receptors.
    E_NMDA : default 0 mV; >= -1e+06 and <= 1e+06
        Reversal potential of NMDA receptors.
    E_GABA_A : default -70 mV; >= -1e+06 and <= 1e+06
        Reversal potential of GABA_A receptors.
    E_GABA_B : default -90 mV; >= -1e+06 and <= 1e+06
        Reversal potential of GABA_B receptors.
    tau_AMPA : default 5 ms; > 0
        Time constant of the conductance of AMPA receptors.
    tau_NMDA : default 150 ms; > 0
        Time constant of the conductance of NMDA receptors.
    tau_GABA_A : default 6 ms; > 0
        Time constant of the conductance of GABA_A receptors.
    tau_GABA_B : default 150 ms; > 0
        Time constant of the conductance of GABA_B receptors.
    Mg : default 1 mM; >= 0 and <= 1e+06
        Extracellular magnesium, which blocks NMDA receptors.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    g_AMPA : default 0
        Initial value: conductance of AMPA receptors (nS).
    g_NMDA : default 0
        Initial value: conductance of NMDA receptors without magnesium (nS).
    g_GABA_A : default 0
        Initial value: conductance of GABA_A receptors (nS).
    g_GABA_B : default 0
        Initial value: conductance of GABA_B receptors (nS).

    Notes
    -----
    ::

        C_m dV_m/dt = -C_m (V_m - E_L) / tau_m - g_AMPA (V_m - E_AMPA) - B(V_m) g_NMDA (V_m - E_NMDA)
                      - g_GABA_A (V_m - E_GABA_A) - g_GABA_B (V_m - E_GABA_B) + I_e + I_stimulus
        B(V_m) = 1 / (1 + exp(-0.062 V_m / mV) Mg / 3.57 mM)
        dg_X/dt = -g_X / tau_X + sum of the weights of the spikes that arrive at receptor X, for each X of AMPA, NMDA,
        GABA_A, GABA_B
        A connection or a stimulus names its receptor; weights are conductances, in nS, and not negative.
        Spikes add up: no receptor saturates by itself. Conductances of NMDA receptors, which close slowly, then become too
        large at high rates (at 100 spikes/s, eleven times those of receptors that saturate). Connections saturate with
        synapse="saturating_nmda", whose tau_decay should be tau_NMDA.
        When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays there for t_ref, while the
        conductances go on. A spike acts on V_m from the end of the step in which it arrives. The conductances are
        integrated exactly on the grid. V_m is advanced by the exponential midpoint rule, whose error is of second order
        in the resolution: as if the conductances, and B, were constant during a step, with the values that they have in its
        middle; for B, V_m in the middle comes from half a step with B(V_m) of its begin.

    References
    ----------
    C. E. Jahr and C. F. Stevens, Journal of Neuroscience 10, 3178-3182 (1990), the magnesium block; E. M. Izhikevich
    and G. M. Edelman, PNAS 105, 3593-3598 (2008), four receptors and their time constants
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values = -70.0,
        C_m: Values = 250.0,
        tau_m: Values = 10.0,
        t_ref: Values = 2.0,
        V_th: Values = -55.0,
        V_reset: Values = -70.0,
        I_e: Values = 0.0,
        E_AMPA: Values = 0.0,
        E_NMDA: Values = 0.0,
        E_GABA_A: Values = -70.0,
        E_GABA_B: Values = -90.0,
        tau_AMPA: Values = 5.0,
        tau_NMDA: Values = 150.0,
        tau_GABA_A: Values = 6.0,
        tau_GABA_B: Values = 150.0,
        Mg: Values = 1.0,
        V_m: Values | None = None,
        g_AMPA: Values | None = None,
        g_NMDA: Values | None = None,
        g_GABA_A: Values | None = None,
        g_GABA_B: Values | None = None,
    ) -> None: ...

class iaf_psc_alpha(NeuronModel):
    """Leaky integrate-and-fire neuron with alpha-shaped synaptic currents.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, I_syn_ex, I_syn_in, dI_syn_ex, dI_syn_in.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period, rounded up to the grid.
    V_th : default -55 mV
        Threshold: the neuron fires when V_m >= V_th.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    V_min : default -inf mV; any number or infinite
        Lower limit of the potential; -infinity: none.
    tau_syn_ex : default 2 ms; > 0
        Rise time of the excitatory synaptic current.
    tau_syn_in : default 2 ms; > 0
        Rise time of the inhibitory synaptic current.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current (pA).
    dI_syn_ex : default 0
        Initial value: what drives I_syn_ex: its derivative plus I_syn_ex / tau_syn_ex (pA/ms).
    dI_syn_in : default 0
        Initial value: what drives I_syn_in: its derivative plus I_syn_in / tau_syn_in (pA/ms).

    Notes
    -----
    ::

        C_m dV_m/dt = -C_m (V_m - E_L) / tau_m + I_syn_ex + I_syn_in + I_e + I_stimulus
        dI_syn_ex/dt = -I_syn_ex / tau_syn_ex + dI_syn_ex
        d(dI_syn_ex)/dt = -dI_syn_ex / tau_syn_ex + (e / tau_syn_ex) sum of weights >= 0 of the spikes that arrive
        and likewise for I_syn_in and weights < 0: a weight is the peak of the current that one spike causes.
        V_m is never below V_min. When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays
        there for t_ref, while the synaptic currents go on. Integrated exactly on the grid; a spike acts from the end of
        the step in which it arrives.

    References
    ----------
    S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values = -70.0,
        C_m: Values = 250.0,
        tau_m: Values = 10.0,
        t_ref: Values = 2.0,
        V_th: Values = -55.0,
        V_reset: Values = -70.0,
        I_e: Values = 0.0,
        V_min: Values = -math.inf,
        tau_syn_ex: Values = 2.0,
        tau_syn_in: Values = 2.0,
        V_m: Values | None = None,
        I_syn_ex: Values | None = None,
        I_syn_in: Values | None = None,
        dI_syn_ex: Values | None = None,
        dI_syn_in: Values | None = None,
    ) -> None: ...

class iaf_psc_delta(NeuronModel):
    """Leaky integrate-and-fire neuron whose potential jumps when a spike arrives.

    Weights are in mV. Receptors: jump. State variables: V_m.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period, rounded up to the grid.
    V_th : default -55 mV
        Threshold: the neuron fires when V_m >= V_th.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    V_min : default -inf mV; any number or infinite
        Lower limit of the potential; -infinity: none.
    V_m : default E_L
        Initial value: potential of the membrane (mV).

    Notes
    -----
    ::

        C_m dV_m/dt = -C_m (V_m - E_L) / tau_m + I_e + I_stimulus
        V_m jumps by the sum of the weights of the spikes that arrive, at the end of the step in which they do.
        V_m is never below V_min. When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays
        there for t_ref; spikes that arrive meanwhile are lost. Integrated exactly on the grid.

    References
    ----------
    S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values = -70.0,
        C_m: Values = 250.0,
        tau_m: Values = 10.0,
        t_ref: Values = 2.0,
        V_th: Values = -55.0,
        V_reset: Values = -70.0,
        I_e: Values = 0.0,
        V_min: Values = -math.inf,
        V_m: Values | None = None,
    ) -> None: ...

class iaf_psc_exp(NeuronModel):
    """Leaky integrate-and-fire neuron with exponentially decaying synaptic currents.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: V_m, I_syn_ex, I_syn_in.

    Parameters
    ----------
    E_L : default -70 mV
        Resting potential.
    C_m : default 250 pF; > 0
        Capacitance of the membrane.
    tau_m : default 10 ms; > 0
        Time constant of the membrane.
    t_ref : default 2 ms; >= 0 and <= 1e+06
        Duration of the refractory period, rounded up to the grid.
    V_th : default -55 mV
        Threshold: the neuron fires when V_m >= V_th.
    V_reset : default -70 mV
        Potential after a spike.
    I_e : default 0 pA
        Constant current.
    tau_syn_ex : default 2 ms; > 0
        Time constant of the excitatory synaptic current.
    tau_syn_in : default 2 ms; > 0
        Time constant of the inhibitory synaptic current.
    V_m : default E_L
        Initial value: potential of the membrane (mV).
    I_syn_ex : default 0
        Initial value: excitatory synaptic current (pA).
    I_syn_in : default 0
        Initial value: inhibitory synaptic current (pA).

    Notes
    -----
    ::

        C_m dV_m/dt = -C_m (V_m - E_L) / tau_m + I_syn_ex + I_syn_in + I_e + I_stimulus
        dI_syn_ex/dt = -I_syn_ex / tau_syn_ex + sum of weights >= 0 of the spikes that arrive
        dI_syn_in/dt = -I_syn_in / tau_syn_in + sum of weights < 0 of the spikes that arrive
        When V_m >= V_th at the end of a step the neuron fires; V_m is set to V_reset and stays there for t_ref, while
        the synaptic currents go on. Integrated exactly on the grid; a spike acts on V_m from the end of the step in which
        it arrives.

    References
    ----------
    S. Rotter and M. Diesmann, Biological Cybernetics 81, 381-402 (1999)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        E_L: Values = -70.0,
        C_m: Values = 250.0,
        tau_m: Values = 10.0,
        t_ref: Values = 2.0,
        V_th: Values = -55.0,
        V_reset: Values = -70.0,
        I_e: Values = 0.0,
        tau_syn_ex: Values = 2.0,
        tau_syn_in: Values = 2.0,
        V_m: Values | None = None,
        I_syn_ex: Values | None = None,
        I_syn_in: Values | None = None,
    ) -> None: ...

class ignore_and_fire(NeuronModel):
    """Neuron that fires at a constant rate, whatever arrives.

    Weights are in pA. Receptors: excitatory, inhibitory. Weights >= 0 belong to the first receptor, negative weights to
    the second, unless receptor= names one. State variables: phase.

    Parameters
    ----------
    rate : default 10 spikes/s; >= 0 and <= 1e+06
        Rate at which it fires.
    phase : default 1
        Initial value: time to the next spike, in intervals between spikes.

    Notes
    -----
    ::

        d(phase)/dt = -rate
        The neuron fires at the end of the first step in which phase reaches 0; phase then grows by 1. So intervals between
        spikes are 1 / rate, rounded to the grid each, and the rate is exact. Spikes that arrive are delivered, and then
        ignored: networks of these neurons measure what connections and the exchange of spikes cost, at any size with the same
        rates.

    References
    ----------
    the model of this name in NEST: T. Isbister et al., NEST simulator, https://nest-simulator.org
    """

    name: ClassVar[str]
    def __init__(self, *, rate: Values = 10.0, phase: Values | None = None) -> None: ...

class interval_fire(NeuronModel):
    """Artificial cell that fires by itself at random intervals, made to measure the exchange of spikes.

    Weights have no unit. Receptors: jump, spikes. Weights at spikes are whole numbers of spikes, of static synapses or
    stimuli; receptor="spikes" of connect() and stimulate() selects it. State variables: m, evaluations.

    Parameters
    ----------
    tau : default 10 ms; >= 1e-12 and <= 1e+12
        Time constant with which the state relaxes.
    interval_min : default 20 ms; >= 1e-12 and <= 1e+12
        Shortest interval between spikes, at least 1e-9 tau.
    interval_max : default 40 ms; >= 1e-12 and <= 1e+12
        Longest interval between spikes, at most 100 tau.
    burst_groups : default 0; >= 0 and <= 1e+06
        Number of groups, of equal size and by id, that burst one after another; 0: none burst.
    burst_duration : default 50 ms; >= 1e-12 and <= 1e+12
        Time for which each group bursts.
    burst_factor : default 5; >= 1e-09 and <= 1e+09
        How much faster the time of a cell runs while it bursts.
    jump : default 0
        Increment of the state by each spike at the receptor spikes.
    m : default 0
        Initial value: state, at 1 of which the cell fires.
    evaluations : default 0
        Initial value: number of jumps at the receptor spikes, each of one exponential and logarithm.

    Notes
    -----
    ::

        dm/ds = (m_inf - m) / tau, with m_inf = 1 / (1 - exp(-T / tau))
        The interval T is drawn after every spike, uniformly between interval_min and interval_max, so that m rises from
        0 to 1 in T. At the end of a step, m jumps by the sum of the weights that arrived in it at the receptor "jump", and m
        and the time of the next spike, s + tau ln((m_inf - m) / (m_inf - 1)), are calculated anew, whatever the sum.
        A weight at the receptor "spikes", which has to be named, is a number of spikes. The sum n of those that arrived in a
        step makes n jumps of m by the parameter jump, one after another, each with its own exponential and logarithm, so that
        the work of a cell grows with the spikes that reach it. These jumps follow that of the receptor "jump".
        A cell fires at the end of the first step in which m has reached 1; m is set to 0. Spikes that arrive in the step in
        which it fires are not taken after that.
        The local time s of a cell is t, except in bursts: with burst_groups > 0 the cells of the population are divided by
        id into that many groups of equal size, and the local time of group g = 0, 1, ... runs burst_factor times as fast for
        g burst_duration <= t < (g + 1) burst_duration. Calculated in double precision always.

    References
    ----------
    M. Hines, S. Kumar and F. Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        tau: Values = 10.0,
        interval_min: Values = 20.0,
        interval_max: Values = 40.0,
        burst_groups: Values = 0.0,
        burst_duration: Values = 50.0,
        burst_factor: Values = 5.0,
        jump: Values = 0.0,
        m: Values | None = None,
        evaluations: Values | None = None,
    ) -> None: ...

class parrot_neuron(NeuronModel):
    """Relay that fires whenever a spike arrives.

    Weights have no unit, >= 1 and <= 1. Receptors: relay.

    Notes
    -----
    ::

        A spike that arrives in a step is fired again at the end of this step; k spikes that arrive in the same step are
        fired as k spikes. So a spike that was fired at t reaches the targets of a parrot at t + d1 + d2, where d1 is the
        delay of the synapse or the stimulus from which the parrot gets it, and d2 that of the synapse to the target.
        The weights of what arrives are 1. A parrot can relay 1023 spikes in a step; more are an error.

    References
    ----------
    the device of this name in NEST: J. Hahne et al., NEST simulator, https://nest-simulator.org
    """

    name: ClassVar[str]
    def __init__(self) -> None: ...

class bernoulli(SynapseModel):
    """Synapse that transmits a spike with a fixed probability.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Parameters
    ----------
    p_transmit : default 1; >= 0 and <= 1; may differ from synapse to synapse
        Probability with which a synapse transmits a spike of its source.

    Notes
    -----
    ::

        Each spike of the source adds the weight to the input of the target with the probability p_transmit.
        Synapses draw independently of each other, and anew for each spike.

    References
    ----------
    S. Lefort, C. Tomm, J.-C. F. Sarria and C. C. H. Petersen, Neuron 61, 301-316 (2009)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(self, *, p_transmit: Values = 1.0) -> None: ...

class clopath(SynapseModel):
    """Plasticity that depends on filtered potentials of the target.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    A_LTD : default 0.00014 1/mV; >= 0
        Depression of the weight by a presynaptic spike, for each mV of u_bar_minus above theta_minus.
    A_LTP : default 8e-05 1/mV^2; >= 0
        Potentiation of the weight, for V_m and u_bar_plus a mV above their thresholds and x a time of 1.
    theta_minus : default -70.6 mV
        Threshold of u_bar_minus and u_bar_plus.
    theta_plus : default -45.3 mV
        Threshold of V_m.
    tau_x : default 15 ms; > 0 and <= 1e+05
        Time constant of the trace of presynaptic spikes.
    delay_u_bars : default 5 ms; >= 0 and <= 1000
        How long ago u_bar_plus and u_bar_minus are taken, rounded to steps.
    A_LTD_const : default 1; >= 0 and <= 1
        1: A_LTD is constant; 0: it is multiplied by (u_bar_bar - u_rest)^2/u_ref_squared.
    u_ref_squared : default 60 mV^2; > 0
        Where depression has the size A_LTD, if it is not constant.
    u_rest : default 0 mV
        What u_bar_bar is counted from: 0 as in NEST, the resting potential in the paper.
    W_min : default 0
        The weight stays between this and W_max, which have the same sign.
    W_max : default 100
        The weight stays between W_min and this.

    Notes
    -----
    ::

        When a presynaptic spike arrives at the synapse:
            w -> max(w - A [u_bar_minus(t - delay_u_bars) - theta_minus]+, W_min), then x -> x + 1 / tau_x
        At all times, and w stays below W_max:
            dw/dt = A_LTP x [V_m(t) - theta_plus]+ [u_bar_plus(t - delay_u_bars) - theta_minus]+
        dx/dt = -x / tau_x
        A is A_LTD, or A_LTD (u_bar_bar(t) - u_rest)^2 / u_ref_squared where A_LTD_const is 0. [v]+ is v, or 0 if v < 0.
        V_m, u_bar_plus, u_bar_minus and u_bar_bar are variables of the target, at the end of a step; they take the delay of
        the synapse to it, as postsynaptic spikes do. Before the beginning they are as at the beginning.

    References
    ----------
    C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352 (2010)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        A_LTD: float = 0.00014,
        A_LTP: float = 8e-05,
        theta_minus: float = -70.6,
        theta_plus: float = -45.3,
        tau_x: float = 15.0,
        delay_u_bars: float = 5.0,
        A_LTD_const: float = 1.0,
        u_ref_squared: float = 60.0,
        u_rest: float = 0.0,
        W_min: float = 0.0,
        W_max: float = 100.0,
    ) -> None: ...

class quantal_stp(SynapseModel):
    """Synapse with sites that release vesicles at random, with short-term depression and facilitation.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Parameters
    ----------
    n : default 1; >= 1 and <= 65535; may differ from synapse to synapse
        Number of release sites of each synapse, a whole number.
    U : default 0.5; >= 0 and <= 1; may differ from synapse to synapse
        Probability with which a site releases at rest.
    tau_rec : default 800 ms; >= 1e-06 and <= 1e+09; may differ from synapse to synapse
        Mean time after which a site holds a vesicle again.
    tau_fac : default 0 ms; >= 0 and <= 1e+09; may differ from synapse to synapse
        Time constant of facilitation; 0 means none.
    u : default U; >= 0 and <= 1; may differ from synapse to synapse
        Probability with which a site releases at the first spike.
    depleted : default 0; >= 0 and <= 65535; may differ from synapse to synapse
        Number of sites that hold no vesicle at the first spike, a whole number.

    Notes
    -----
    ::

        Of n sites, a_k hold a vesicle when the k-th spike of the source comes, and each of these releases it with the
        probability u_k. The spike adds the weight as many times as there are sites that release. A site that has released
        is refilled after a random time with the mean tau_rec. With the interval t since the spike before:
            a_k = (a_(k-1) - released_(k-1)) + as many as are drawn of the others, each with 1 - exp(-t / tau_rec)
            u_k = U + u_(k-1) (1 - U) exp(-t / tau_fac)
            released_k is drawn from a_k, each with u_k
        u_1 = u and a_1 = n - depleted: the first spike finds the synapse as the parameters say, whenever it comes.
        Synapses draw independently of each other. Those with the same source share u_k, unless parameters differ between
        them.

    References
    ----------
    G. Fuhrmann, I. Segev, H. Markram and M. Tsodyks, Journal of Neurophysiology 87, 140-148 (2002); A. Loebel, G.
    Silberberg, D. Helbig, H. Markram, M. Tsodyks and M. J. E. Richardson, Frontiers in Computational Neuroscience 3, 27
    (2009)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    following_names: ClassVar[Mapping[str, str]]
    def __init__(
        self,
        *,
        n: Values = 1.0,
        U: Values = 0.5,
        tau_rec: Values = 800.0,
        tau_fac: Values = 0.0,
        u: Values | None = None,
        depleted: Values = 0.0,
    ) -> None: ...

class saturating_nmda(SynapseModel):
    """NMDA synapse that saturates: each spike opens a fraction of the channels that are still closed.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Parameters
    ----------
    alpha : default 0.5 1/ms; >= 1e-06 and <= 50
        Rate at which transmitter opens channels.
    tau_rise : default 2 ms; >= 0.001 and <= 100
        Time constant of the decay of transmitter.
    tau_decay : default 100 ms; >= 0.001 and <= 1e+05
        Time constant of the closing of channels.

    Notes
    -----
    ::

        A spike adds w (k_0 - k_1 s) to the input of the target when it arrives, where s is the fraction of open channels
        of the source when it fires. At each spike of the source,
            s -> s + k_0 - k_1 s
        and between spikes ds/dt = -s / tau_decay. If tau_decay is the time constant of the conductance of the target, this
        conductance is the sum of w s over its sources. The factors
            k_1 = 1 - exp(-alpha tau_rise)
            k_0 = (alpha tau_rise)^(tau_rise / tau_decay) gamma(1 - tau_rise / tau_decay, alpha tau_rise)
        with the lower incomplete gamma function follow from the kinetics
            ds/dt = -s / tau_decay + alpha x (1 - s),  dx/dt = -x / tau_rise,  x -> x + 1 with each spike
        for spikes further apart than tau_rise, which is short compared with tau_decay; the rise itself is neglected.
        All synapses with the same source share s. The weight w does not change.

    References
    ----------
    X.-J. Wang, Neuron 36, 955-968 (2002); N. Brunel and X.-J. Wang, Journal of Computational Neuroscience 11, 63-85
    (2001)
    """

    name: ClassVar[str]
    def __init__(self, *, alpha: float = 0.5, tau_rise: float = 2.0, tau_decay: float = 100.0) -> None: ...

class static_synapse(SynapseModel):
    """Synapse with a constant weight.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Notes
    -----
    ::

        Each spike of the source adds the weight to the input of the target when it arrives.
    """

    name: ClassVar[str]
    def __init__(self) -> None: ...

class stdp(SynapseModel):
    """Spike-timing dependent plasticity of all pairs of spikes, additive to multiplicative.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the postsynaptic trace.
    learning_rate : default 0.01; >= 0; may differ from synapse to synapse
        Size of a change, in W_max: lambda in the paper.
    alpha : default 1; >= 0; may differ from synapse to synapse
        How much stronger a depression is than a potentiation.
    mu_plus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the distance to W_max in a potentiation: 0 is additive, 1 multiplicative.
    mu_minus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the weight in a depression: 0 is additive, 1 multiplicative.
    W_max : default 100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        When a postsynaptic spike arrives at the synapse:
            w -> min(w + learning_rate W_max (1 - w/W_max)^mu_plus K_plus, W_max)
        When a presynaptic spike arrives at the synapse:
            w -> max(w - learning_rate alpha W_max (w/W_max)^mu_minus K_minus, 0)
        dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
        dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike

    References
    ----------
    R. Guetig, R. Aharonov, S. Rotter and H. Sompolinsky, Journal of Neuroscience 23, 3697-3714 (2003); A. Morrison, M.
    Diesmann and W. Gerstner, Biological Cybernetics 98, 459-478 (2008)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau_plus: Values = 20.0,
        tau_minus: Values = 20.0,
        learning_rate: Values = 0.01,
        alpha: Values = 1.0,
        mu_plus: Values = 1.0,
        mu_minus: Values = 1.0,
        W_max: Values = 100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_dopamine(SynapseModel):
    """Spike-timing dependent plasticity of all pairs of spikes, modulated by dopamine.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    dopamine : population, view or a sequence of them
        Neurons whose spikes act on all synapses of the projection at once: a volume transmitter.
    A_plus : default 1
        What a postsynaptic spike adds to the eligibility, times K_plus.
    A_minus : default 1.5
        What a presynaptic spike takes from the eligibility, times K_minus.
    tau_plus : default 20 ms; > 0 and <= 1e+05
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05
        Time constant of the postsynaptic trace.
    tau_c : default 1000 ms; > 0 and <= 1e+05
        Time constant of the eligibility.
    tau_n : default 200 ms; > 0 and <= 1e+05
        Time constant of the concentration of dopamine.
    b : default 0 1/ms
        Concentration at which weights do not change.
    W_min : default 0
        The weight stays between this and W_max, which have the same sign.
    W_max : default 200
        The weight stays between W_min and this.
    dopamine_delay : default 1 ms; > 0
        Time from a spike of a dopaminergic neuron to all of the synapses, at least one step.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        dw/dt = c (n - b), and w stays between W_min and W_max
        dc/dt = -c / tau_c; c is the eligibility of a synapse
        dn/dt = -n / tau_n, and 1 / tau_n is added with each spike that arrives from one of the dopaminergic neurons
        When a postsynaptic spike arrives at the synapse:
            c -> c + A_plus K_plus
        When a presynaptic spike arrives at the synapse:
            c -> c - A_minus K_minus
        dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
        dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike
        All synapses of a projection share n. A weight stops at its bounds when a spike of any of the three kinds arrives.

    References
    ----------
    E. M. Izhikevich, Cerebral Cortex 17, 2443-2452 (2007); W. Potjans, A. Morrison and M. Diesmann, Frontiers in
    Computational Neuroscience 4, 141 (2010)
    """

    name: ClassVar[str]
    transmitter_name: ClassVar[str]
    def __init__(
        self,
        *,
        dopamine: Neurons | None = None,
        A_plus: float = 1.0,
        A_minus: float = 1.5,
        tau_plus: float = 20.0,
        tau_minus: float = 20.0,
        tau_c: float = 1000.0,
        tau_n: float = 200.0,
        b: float = 0.0,
        W_min: float = 0.0,
        W_max: float = 200.0,
        dopamine_delay: float = 1.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_nn_pre_centered(SynapseModel):
    """Spike-timing dependent plasticity of the nearest spikes, centred on presynaptic spikes.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the postsynaptic trace.
    learning_rate : default 0.01; >= 0; may differ from synapse to synapse
        Size of a change, in W_max: lambda in the paper.
    alpha : default 1; >= 0; may differ from synapse to synapse
        How much stronger a depression is than a potentiation.
    mu_plus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the distance to W_max in a potentiation: 0 is additive, 1 multiplicative.
    mu_minus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the weight in a depression: 0 is additive, 1 multiplicative.
    W_max : default 100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        As stdp, but each presynaptic spike is paired with the last postsynaptic one before it and the first after it:
        K_plus has 1 added with each presynaptic spike, and is set to 0 after a postsynaptic spike has read it.
        K_minus is set to 1 with each postsynaptic spike.
        Each synapse has a separate K_plus.

    References
    ----------
    R. Guetig, R. Aharonov, S. Rotter and H. Sompolinsky, Journal of Neuroscience 23, 3697-3714 (2003); A. Morrison, M.
    Diesmann and W. Gerstner, Biological Cybernetics 98, 459-478 (2008)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau_plus: Values = 20.0,
        tau_minus: Values = 20.0,
        learning_rate: Values = 0.01,
        alpha: Values = 1.0,
        mu_plus: Values = 1.0,
        mu_minus: Values = 1.0,
        W_max: Values = 100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_nn_restr(SynapseModel):
    """Spike-timing dependent plasticity of the nearest spikes, restricted to those that follow each other.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the postsynaptic trace.
    learning_rate : default 0.01; >= 0; may differ from synapse to synapse
        Size of a change, in W_max: lambda in the paper.
    alpha : default 1; >= 0; may differ from synapse to synapse
        How much stronger a depression is than a potentiation.
    mu_plus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the distance to W_max in a potentiation: 0 is additive, 1 multiplicative.
    mu_minus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the weight in a depression: 0 is additive, 1 multiplicative.
    W_max : default 100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        As stdp, but only spikes that follow each other form a pair:
        K_plus is that of the last presynaptic spike, and 0 if another postsynaptic spike has come since then.
        K_minus is that of the last postsynaptic spike, and 0 if another presynaptic spike has come since then.
        If both spikes arrive at the synapse in the same step, the presynaptic one is paired with the postsynaptic one before.

    References
    ----------
    R. Guetig, R. Aharonov, S. Rotter and H. Sompolinsky, Journal of Neuroscience 23, 3697-3714 (2003); A. Morrison, M.
    Diesmann and W. Gerstner, Biological Cybernetics 98, 459-478 (2008)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau_plus: Values = 20.0,
        tau_minus: Values = 20.0,
        learning_rate: Values = 0.01,
        alpha: Values = 1.0,
        mu_plus: Values = 1.0,
        mu_minus: Values = 1.0,
        W_max: Values = 100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_nn_symm(SynapseModel):
    """Spike-timing dependent plasticity of the nearest spikes, symmetric.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the postsynaptic trace.
    learning_rate : default 0.01; >= 0; may differ from synapse to synapse
        Size of a change, in W_max: lambda in the paper.
    alpha : default 1; >= 0; may differ from synapse to synapse
        How much stronger a depression is than a potentiation.
    mu_plus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the distance to W_max in a potentiation: 0 is additive, 1 multiplicative.
    mu_minus : default 1; >= 0 and <= 10; may differ from synapse to synapse
        Exponent of the weight in a depression: 0 is additive, 1 multiplicative.
    W_max : default 100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        As stdp, but each spike is paired with the last one of the other side only:
        K_plus is set to 1 with each presynaptic spike, and K_minus with each postsynaptic spike.

    References
    ----------
    R. Guetig, R. Aharonov, S. Rotter and H. Sompolinsky, Journal of Neuroscience 23, 3697-3714 (2003); A. Morrison, M.
    Diesmann and W. Gerstner, Biological Cybernetics 98, 459-478 (2008)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau_plus: Values = 20.0,
        tau_minus: Values = 20.0,
        learning_rate: Values = 0.01,
        alpha: Values = 1.0,
        mu_plus: Values = 1.0,
        mu_minus: Values = 1.0,
        W_max: Values = 100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_pl(SynapseModel):
    """Spike-timing dependent plasticity with potentiation by a power law, of all pairs of spikes.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 20 ms; > 0 and <= 1e+05
        Time constant of the presynaptic trace.
    tau_minus : default 20 ms; > 0 and <= 1e+05
        Time constant of the postsynaptic trace.
    learning_rate : default 0.1; >= 0
        Size of a change, lambda in the paper.
    alpha : default 1; >= 0
        How much stronger a depression is than a potentiation.
    mu : default 0.4; >= 0 and <= 10
        Exponent of the weight in a potentiation.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        When a postsynaptic spike arrives at the synapse:  w -> w + learning_rate w^mu K_plus
        When a presynaptic spike arrives at the synapse:   w -> max(w - learning_rate alpha w K_minus, 0)
        dK_plus/dt = -K_plus / tau_plus, and 1 is added with each presynaptic spike
        dK_minus/dt = -K_minus / tau_minus, and 1 is added with each postsynaptic spike
        w counts in units of 1 pA (or what the unit of weights is).

    References
    ----------
    A. Morrison, A. Aertsen and M. Diesmann, Neural Computation 19, 1437-1467 (2007)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        tau_plus: float = 20.0,
        tau_minus: float = 20.0,
        learning_rate: float = 0.1,
        alpha: float = 1.0,
        mu: float = 0.4,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class stdp_triplet(SynapseModel):
    """Spike-timing dependent plasticity of triplets of spikes.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau_plus : default 16.8 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the presynaptic trace.
    tau_minus : default 33.7 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the postsynaptic trace.
    tau_plus_triplet : default 101 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the slow presynaptic trace: tau_x in the paper.
    tau_minus_triplet : default 125 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of the slow postsynaptic trace: tau_y in the paper.
    A_plus : default 5e-10; >= 0; may differ from synapse to synapse
        Potentiation by pairs, in the unit of weights.
    A_minus : default 0.007; >= 0; may differ from synapse to synapse
        Depression by pairs, in the unit of weights.
    A_plus_triplet : default 0.0062; >= 0; may differ from synapse to synapse
        Potentiation by triplets of two post- and one presynaptic spike, in the unit of weights.
    A_minus_triplet : default 0.00023; >= 0; may differ from synapse to synapse
        Depression by triplets of two pre- and one postsynaptic spike, in the unit of weights.
    W_max : default 100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        |w| is the absolute value of the weight, and stays between 0 and |W_max|.
        When a postsynaptic spike arrives at the synapse:  |w| -> |w| + r_1 (A_plus + A_plus_triplet o_2)
        When a presynaptic spike arrives at the synapse:   |w| -> |w| - o_1 (A_minus + A_minus_triplet r_2)
        o_2 and r_2 are read just before the spike adds to them.
        dr_1/dt = -r_1 / tau_plus,   dr_2/dt = -r_2 / tau_plus_triplet,   and 1 is added to both with each presynaptic spike
        do_1/dt = -o_1 / tau_minus,  do_2/dt = -o_2 / tau_minus_triplet,  and 1 is added to both with each postsynaptic spike

    References
    ----------
    J.-P. Pfister and W. Gerstner, Journal of Neuroscience 26, 9673-9682 (2006)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau_plus: Values = 16.8,
        tau_minus: Values = 33.7,
        tau_plus_triplet: Values = 101.0,
        tau_minus_triplet: Values = 125.0,
        A_plus: Values = 5e-10,
        A_minus: Values = 0.007,
        A_plus_triplet: Values = 0.0062,
        A_minus_triplet: Values = 0.00023,
        W_max: Values = 100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class tsodyks(SynapseModel):
    """Short-term depression and facilitation, for synaptic currents that decay exponentially.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Parameters
    ----------
    U : default 0.5; >= 0 and <= 1; may differ from synapse to synapse
        Part of the resources that a spike uses at rest.
    tau_psc : default 3 ms; >= 1e-06 and <= 1e+09; may differ from synapse to synapse
        Time constant with which resources in use become inactive: that of the synaptic current.
    tau_rec : default 800 ms; >= 1e-06 and <= 1e+09; may differ from synapse to synapse
        Time constant with which inactive resources recover.
    tau_fac : default 0 ms; >= 0 and <= 1e+09; may differ from synapse to synapse
        Time constant of facilitation; 0 means none.
    x : default 1; >= 0 and <= 1; may differ from synapse to synapse
        Recovered resources at the beginning of the simulation.
    y : default 0; >= 0 and <= 1; may differ from synapse to synapse
        Resources in use at the beginning of the simulation.
    u : default 0; >= 0 and <= 1; may differ from synapse to synapse
        Facilitation at the beginning of the simulation.

    Notes
    -----
    ::

        A spike of the source uses a part of the recovered resources x, and adds w u x to the input of the target
        when it arrives. Between two spikes, with the resources y in use and z inactive:
            dx/dt = z / tau_rec
            dy/dt = -y / tau_psc
            z = 1 - x - y
            du/dt = -u / tau_fac
        With each spike:
            u -> u + U (1 - u), then  x -> x - u x,  y -> y + u x  (with the x before the spike)
        tau_psc should be the time constant of the input current of the target, which is then proportional to y.
        All synapses with the same source share x, y and u, unless parameters differ between them. The weight w does not
        change.

    References
    ----------
    M. Tsodyks, A. Uziel and H. Markram, Journal of Neuroscience 20, RC50 (2000)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        U: Values = 0.5,
        tau_psc: Values = 3.0,
        tau_rec: Values = 800.0,
        tau_fac: Values = 0.0,
        x: Values = 1.0,
        y: Values = 0.0,
        u: Values = 0.0,
    ) -> None: ...

class tsodyks2(SynapseModel):
    """Short-term depression and facilitation of the weight, for all kinds of synaptic input.

    For ``synapse=`` of `Network.connect`. Only the user changes weights.

    Parameters
    ----------
    U : default 0.5; >= 0 and <= 1; may differ from synapse to synapse
        Part of the resources that a spike uses at rest.
    tau_rec : default 800 ms; >= 1e-06 and <= 1e+09; may differ from synapse to synapse
        Time constant with which resources recover.
    tau_fac : default 0 ms; >= 0 and <= 1e+09; may differ from synapse to synapse
        Time constant of facilitation; 0 means none.
    u : default U; >= 0 and <= 1; may differ from synapse to synapse
        Part that the first spike uses.
    x : default 1; >= 0 and <= 1; may differ from synapse to synapse
        Resources that the first spike finds.

    Notes
    -----
    ::

        The n-th spike of the source adds w u_n x_n to the input of the target when it arrives. With the interval
        t since the spike before:
            x_n = 1 + (x_(n-1) (1 - u_(n-1)) - 1) exp(-t / tau_rec)
            u_n = U + u_(n-1) (1 - U) exp(-t / tau_fac)
        u_1 = u and x_1 = x: the first spike finds the synapse as the parameters say, whenever it comes.
        All synapses with the same source share u_n and x_n, unless parameters differ between them. The weight w does not
        change.

    References
    ----------
    M. Tsodyks and H. Markram, Proceedings of the National Academy of Sciences 94, 719-723 (1997); M. Tsodyks, K.
    Pawelzik and H. Markram, Neural Computation 10, 821-835 (1998)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    following_names: ClassVar[Mapping[str, str]]
    def __init__(
        self,
        *,
        U: Values = 0.5,
        tau_rec: Values = 800.0,
        tau_fac: Values = 0.0,
        u: Values | None = None,
        x: Values = 1.0,
    ) -> None: ...

class vogels_sprekeler(SynapseModel):
    """Symmetric plasticity of inhibitory synapses, which takes the target to a rate.

    For ``synapse=`` of `Network.connect`. Weights change with the spikes of sources and targets.

    Parameters
    ----------
    tau : default 20 ms; > 0 and <= 1e+05; may differ from synapse to synapse
        Time constant of both traces.
    learning_rate : default 0.001; >= 0; may differ from synapse to synapse
        Size of a change, in the unit of weights: eta in the paper.
    alpha : default 0.12; >= 0; may differ from synapse to synapse
        Depression with each presynaptic spike, in learning rates: twice tau times the rate that is aimed at.
    W_max : default -100; may differ from synapse to synapse
        The weight stays between 0 and this, which is negative where weights are.
    axonal_fraction : default 0; >= 0 and <= 1
        Part of the delay that is axonal, rounded to a step; the rest is dendritic, and postsynaptic spikes take it to
        the synapse, too.

    Notes
    -----
    ::

        |w| is the absolute value of the weight, and stays between 0 and |W_max|.
        When a postsynaptic spike arrives at the synapse:
            |w| -> min(|w| + learning_rate K_pre, |W_max|)
        When a presynaptic spike arrives at the synapse, one after the other:
            |w| -> min(|w| + learning_rate K_post, |W_max|), then |w| -> max(|w| - learning_rate alpha, 0)
        dK/dt = -K / tau for both traces, and 1 is added to each with the spikes of its side

    References
    ----------
    T. P. Vogels, H. Sprekeler, F. Zenke, C. Clopath and W. Gerstner, Science 334, 1569-1573 (2011)
    """

    name: ClassVar[str]
    per_synapse_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        tau: Values = 20.0,
        learning_rate: Values = 0.001,
        alpha: Values = 0.12,
        W_max: Values = -100.0,
        axonal_fraction: float = 0.0,
    ) -> None: ...

class ac_generator(Stimulator):
    """Sinusoidal current.

    It adds to the current of its targets (pA).

    Parameters
    ----------
    amplitude : default 0 pA; >= -1e+30 and <= 1e+30
        Amplitude of the sine.
    offset : default 0 pA; >= -1e+30 and <= 1e+30
        Constant part of the current.
    frequency : default 0 Hz; >= -1e+09 and <= 1e+09
        Frequency of the sine.
    phase : default 0 degrees; >= -1e+09 and <= 1e+09
        Phase of the sine at time 0.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        I(t) = offset + amplitude sin(2 pi (frequency t + phase / 360)) for start <= t < stop, else 0, sampled
        at the steps of the grid; it flows into a target from t + delay on.
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self,
        *,
        amplitude: Values = 0.0,
        offset: Values = 0.0,
        frequency: Values = 0.0,
        phase: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class dc_generator(Stimulator):
    """Constant current.

    It adds to the current of its targets (pA).

    Parameters
    ----------
    amplitude : default 0 pA; >= -1e+30 and <= 1e+30
        Current.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        I(t) = amplitude for start <= t < stop, else 0; it flows into a target from t + delay on.
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(self, *, amplitude: Values = 0.0, start: Values = 0.0, stop: Values = math.inf) -> None: ...

class gamma_generator(Stimulator):
    """Independent spike trains with gamma distributed intervals, one for each target, and a dead time.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    rate : default 0 spikes/s; >= 0 and <= 1e+09
        Mean rate of each train.
    shape : default 1; >= 0.05 and <= 1e+06
        Shape of the gamma distribution of intervals: 1 for a Poisson process, more for a regular one.
    dead_time : default 0 ms; >= 0 and <= 1e+06
        Time after each spike without another one.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        Intervals between the spikes of a train are dead_time + (1 / rate - dead_time) G, with G gamma distributed with
        the shape and a mean of 1. So the mean rate is `rate`, and the coefficient of variation (1 - rate dead_time) / sqrt(shape).
        shape = 1 is a Poisson process, with a dead time if there is one. Trains begin in equilibrium, as if they had always
        been going on. Spikes are emitted in start < t <= stop, rounded up to the grid; they arrive at t + delay.

    References
    ----------
    D. R. Cox, Renewal Theory (1962); G. Marsaglia and W. W. Tsang, ACM Transactions on Mathematical Software 26,
    363-372 (2000), for the gamma numbers
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self,
        *,
        rate: Values = 0.0,
        shape: Values = 1.0,
        dead_time: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class inhomogeneous_gamma_generator(Stimulator):
    """Independent spike trains of gamma processes, one for each target, whose rate changes at given times.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    times : array (ms)
        Times at which the rate changes, ascending.
    rates : array (spikes/s)
        Rate of each train from each of these times on.
    shape : default 1; >= 0.05 and <= 1e+06
        Shape of the gamma distribution of intervals: 1 for a Poisson process, more for a regular one.
    dead_time : default 0 ms; >= 0 and <= 1e+06
        Time after each spike without another one.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        r(t) = rates[i] for times[i] < t <= times[i + 1], and 0 before times[0]
        After a dead time, the train fires when the integral of r(s) / (1 - r(s) dead_time) ds since then has reached a gamma
        distributed number with the shape and a mean of 1. So r(t) is the rate of the train, but for some intervals after it
        has changed; without a dead time the mean number of spikes is the integral of r(t) always. shape = 1 is a Poisson
        process, with a dead time if there is one. Trains begin in equilibrium with r(start). Spikes are emitted in
        start < t <= stop, rounded up to the grid; they arrive at t + delay.

    References
    ----------
    E. N. Brown et al., Neural Computation 14, 325-346 (2002), time rescaling; M. Deger et al., Journal of Computational
    Neuroscience 32, 443-463 (2012), dead times
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    sequence_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        times: npt.ArrayLike,
        rates: npt.ArrayLike,
        shape: Values = 1.0,
        dead_time: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class inhomogeneous_poisson_generator(Stimulator):
    """Independent Poisson spike trains, one for each target, whose rate changes at given times.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    times : array (ms)
        Times at which the rate changes, ascending.
    rates : array (spikes/s)
        Rate of each target's train from each of these times on.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        As poisson_generator, with the rate rates[i] for spikes emitted in times[i] < t <= times[i + 1],
        and 0 before times[0].

    References
    ----------
    J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011); W. Hörmann, Insurance: Mathematics
    and Economics 12, 39-45 (1993), where the mean exceeds 16
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    sequence_names: ClassVar[tuple[str, ...]]
    def __init__(
        self, *, times: npt.ArrayLike, rates: npt.ArrayLike, start: Values = 0.0, stop: Values = math.inf
    ) -> None: ...

class mip_generator(Stimulator):
    """Correlated Poisson spike trains, one for each target: parts of one mother process (MIP).

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    rate : default 0 spikes/s; >= 0 and <= 1e+09
        Rate of the mother process.
    p_copy : default 1; >= 0 and <= 1
        Probability with which a train has each of the spikes of the mother process.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        The mother process is a Poisson process with the rate `rate`. The train of each target has each spike of it with the
        probability p_copy. So trains are Poisson processes with the rate p_copy rate; the correlation of the numbers of spikes
        of two trains in any bin is sqrt(p_copy1 p_copy2), and their covariance p_copy1 p_copy2 times the mean number of spikes
        of the mother process. If rates differ, trains share the spikes of the mother process with the lower rate, which are a
        part of those with the higher rate. All targets of a stimulus, or all sources of a population, share one mother
        process. Spikes are emitted in start < t <= stop; they arrive at t + delay.

    References
    ----------
    A. Kuhn, A. Aertsen and S. Rotter, Neural Computation 15, 67-101 (2003)
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self, *, rate: Values = 0.0, p_copy: Values = 1.0, start: Values = 0.0, stop: Values = math.inf
    ) -> None: ...

class noise_generator(Stimulator):
    """Independent Gaussian noise currents, one for each target.

    It adds to the current of its targets (pA).

    Parameters
    ----------
    mean : default 0 pA; >= -1e+30 and <= 1e+30
        Mean current.
    std : default 0 pA; >= 0 and <= 1e+30
        Standard deviation of the current.
    interval : default 1 ms; > 0 and <= 1e+12
        Time for which a value holds, a multiple of the resolution.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.
    std_mod : default 0 pA; >= 0 and <= 1e+30
        Modulation of the standard deviation, at most std.
    frequency : default 0 Hz; >= -1e+09 and <= 1e+09
        Frequency of the modulation.
    phase : default 0 degrees; >= -1e+09 and <= 1e+09
        Phase of the modulation at time 0.

    Notes
    -----
    ::

        I(t) = mean + sqrt(std^2 + std_mod^2 sin(2 pi (frequency t_j + phase / 360))) N_j for t_j <= t < t_j + interval,
        where t_j = start + j interval, and the N_j of each target are independent and standard normal; 0 outside
        start <= t < stop. The current flows into a target from t + delay on.

    References
    ----------
    M. J. Wichura, Applied Statistics 37, 477-484 (1988), for the normal numbers
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self,
        *,
        mean: Values = 0.0,
        std: Values = 0.0,
        interval: Values = 1.0,
        start: Values = 0.0,
        stop: Values = math.inf,
        std_mod: Values = 0.0,
        frequency: Values = 0.0,
        phase: Values = 0.0,
    ) -> None: ...

class poisson_generator(Stimulator):
    """Independent Poisson spike trains, one for each target.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    rate : default 0 spikes/s; >= 0 and <= 1e+09
        Rate of each target's train.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        The number of spikes that a target receives in a step is Poisson distributed with the mean
        rate * resolution, for spikes emitted in start < t <= stop; they arrive at t + delay.

    References
    ----------
    J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011); W. Hörmann, Insurance: Mathematics
    and Economics 12, 39-45 (1993), where the mean exceeds 16
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(self, *, rate: Values = 0.0, start: Values = 0.0, stop: Values = math.inf) -> None: ...

class pulsepacket_generator(Stimulator):
    """Packets of spikes around given times, with independent times for each target.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    pulse_times : array (ms)
        Centres of the packets, ascending.
    activity : default 0; >= 0 and <= 10000
        Number of spikes of each packet.
    sdev : default 0 ms; >= 0 and <= 1e+06
        Standard deviation of spike times in a packet.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        Each packet has `activity` spikes, at pulse_times[i] + sdev X, with X standard normal, rounded up to the grid. Spikes
        at or before 0 are lost. Of the others those in start < t <= stop are emitted; they arrive at t + delay.

    References
    ----------
    M. Diesmann, M.-O. Gewaltig and A. Aertsen, Nature 402, 529-533 (1999)
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    sequence_names: ClassVar[tuple[str, ...]]
    def __init__(
        self,
        *,
        pulse_times: npt.ArrayLike,
        activity: Values = 0.0,
        sdev: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class sinusoidal_gamma_generator(Stimulator):
    """Independent spike trains of gamma processes, one for each target, whose rate follows a sine.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    rate : default 0 spikes/s; >= 0 and <= 1e+09
        Mean rate of each train.
    amplitude : default 0 spikes/s; >= -1e+09 and <= 1e+09
        Amplitude of the sine that is added to the rate.
    frequency : default 0 Hz; >= -1e+09 and <= 1e+09
        Frequency of the sine.
    phase : default 0 degrees; >= -1e+09 and <= 1e+09
        Phase of the sine at time 0.
    shape : default 1; >= 0.05 and <= 1e+06
        Shape of the gamma distribution of intervals: 1 for a Poisson process, more for a regular one.
    dead_time : default 0 ms; >= 0 and <= 1e+06
        Time after each spike without another one.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        r(t) = max(0, rate + amplitude sin(2 pi frequency t + phase)), with its mean in each step
        After a dead time, the train fires when the integral of r(s) / (1 - r(s) dead_time) ds since then has reached a gamma
        distributed number with the shape and a mean of 1. So r(t) is the rate of the train if it changes slowly; without a
        dead time the mean number of spikes is the integral of r(t) always. shape = 1 is a Poisson process, with a dead time
        if there is one. Trains begin in equilibrium with r(start). Spikes are emitted in start < t <= stop, rounded up to the
        grid; they arrive at t + delay.

    References
    ----------
    E. N. Brown et al., Neural Computation 14, 325-346 (2002), time rescaling; M. Deger et al., Journal of Computational
    Neuroscience 32, 443-463 (2012), dead times
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self,
        *,
        rate: Values = 0.0,
        amplitude: Values = 0.0,
        frequency: Values = 0.0,
        phase: Values = 0.0,
        shape: Values = 1.0,
        dead_time: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class sinusoidal_poisson_generator(Stimulator):
    """Independent Poisson spike trains, one for each target, whose rate follows a sine.

    For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a
    population of sources, each of which fires the train that a target would get, without the delay.

    Parameters
    ----------
    rate : default 0 spikes/s; >= 0 and <= 1e+09
        Mean rate of each target's train.
    amplitude : default 0 spikes/s; >= -1e+09 and <= 1e+09
        Amplitude of the sine that is added to the rate.
    frequency : default 0 Hz; >= -1e+09 and <= 1e+09
        Frequency of the sine.
    phase : default 0 degrees; >= -1e+09 and <= 1e+09
        Phase of the sine at time 0.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        r(t) = max(0, rate + amplitude sin(2 pi frequency t + phase)), with its mean in each step
        The number of spikes that a target receives in a step is Poisson distributed with the mean r * resolution, for spikes
        emitted in start < t <= stop; they arrive at t + delay.

    References
    ----------
    P. A. W. Lewis and G. S. Shedler, Naval Research Logistics Quarterly 26, 403-413 (1979), thinning
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    def __init__(
        self,
        *,
        rate: Values = 0.0,
        amplitude: Values = 0.0,
        frequency: Values = 0.0,
        phase: Values = 0.0,
        start: Values = 0.0,
        stop: Values = math.inf,
    ) -> None: ...

class step_current_generator(Stimulator):
    """Current that is constant between given times.

    It adds to the current of its targets (pA).

    Parameters
    ----------
    times : array (ms)
        Times at which the current changes, ascending.
    amplitudes : array (pA)
        Current from each of these times on.
    start : default 0 ms; >= 0 and <= 1e+12
        Time from which it is active.
    stop : default inf ms; >= 0, may be infinite
        Time up to which it is active.

    Notes
    -----
    ::

        I(t) = amplitudes[i] for times[i] <= t < times[i + 1] and start <= t < stop, else 0;
        it flows into a target from t + delay on.
    """

    name: ClassVar[str]
    emits_spikes: ClassVar[bool]
    sequence_names: ClassVar[tuple[str, ...]]
    def __init__(
        self, *, times: npt.ArrayLike, amplitudes: npt.ArrayLike, start: Values = 0.0, stop: Values = math.inf
    ) -> None: ...

NEURON_MODELS: Mapping[str, type[NeuronModel]]
SYNAPSE_MODELS: Mapping[str, type[SynapseModel]]
STIMULATORS: Mapping[str, type[Stimulator]]
