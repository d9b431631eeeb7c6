"""Mechanisms of the membrane of detailed cells, and receptors that are placed on them.

Generated from the registry of the core by ``python -m ranvier.generate_models``: change the model in the core, then run
this command. A parameter of a mechanism is one number, an array with one number for each compartment of the cell, or a
function of the distances of all compartments from the begin of the root (um) that returns such; where rates of gates
depend on it, one number.
"""

# The names are those of the field and of the equations.
# ruff: noqa: N801, N803

from __future__ import annotations

from typing import ClassVar

from ranvier.cells.membrane import DensityValue, Mechanism, Receptor

__all__ = [
    "exp2syn",
    "expsyn",
    "hh",
    "nmda",
    "pas",
]


class hh(Mechanism):
    """Sodium, potassium and leak of the squid giant axon, after Hodgkin and Huxley.

    For ``membrane=`` of `Cell`. Gating variables: m, activation of sodium; h, inactivation of sodium; n, activation of
    potassium.

    Parameters
    ----------
    gnabar : default 0.12 S/cm^2; >= 0
        Greatest conductance of sodium.
    gkbar : default 0.036 S/cm^2; >= 0
        Greatest conductance of potassium.
    gl : default 0.0003 S/cm^2; >= 0
        Conductance of the leak.
    el : default -54.3 mV; >= -1000 and <= 1000
        Reversal potential of the leak.
    ena : default 50 mV; >= -1000 and <= 1000
        Reversal potential of sodium.
    ek : default -77 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gnabar m^3 h (V - ena) + gkbar n^4 (V - ek) + gl (V - el)
        dx/dt = alpha_x (1 - x) - beta_x x, for each gate x of m, h, n, with V in mV and rates in 1/ms at 6.3 degrees:
        alpha_m = 0.1 (V + 40) / (1 - exp(-(V + 40) / 10))        beta_m = 4 exp(-(V + 65) / 18)
        alpha_h = 0.07 exp(-(V + 65) / 20)                        beta_h = 1 / (1 + exp(-(V + 35) / 10))
        alpha_n = 0.01 (V + 55) / (1 - exp(-(V + 55) / 10))       beta_n = 0.125 exp(-(V + 65) / 80)
        At other temperatures rates are multiplied by 3^((celsius - 6.3) / 10).

    References
    ----------
    A. L. Hodgkin and A. F. Huxley, Journal of Physiology 117, 500-544 (1952); potentials as they are written today,
    with the rest at -65 mV
    """

    name: ClassVar[str] = "hh"
    gates: ClassVar[tuple[str, ...]] = ("m", "h", "n")

    def __init__(
        self,
        *,
        gnabar: DensityValue = 0.12,
        gkbar: DensityValue = 0.036,
        gl: DensityValue = 0.0003,
        el: DensityValue = -54.3,
        ena: DensityValue = 50.0,
        ek: DensityValue = -77.0,
    ) -> None:
        super().__init__(
            gnabar=gnabar,
            gkbar=gkbar,
            gl=gl,
            el=el,
            ena=ena,
            ek=ek,
        )


class pas(Mechanism):
    """Passive leak of the membrane.

    For ``membrane=`` of `Cell`.

    Parameters
    ----------
    g : default 0.001 S/cm^2; >= 0
        Conductance.
    e : default -70 mV; >= -1000 and <= 1000
        Reversal potential.

    Notes
    -----
    ::

        i = g (V - e)

    References
    ----------
    W. Rall, Experimental Neurology 1, 491-527 (1959)
    """

    name: ClassVar[str] = "pas"

    def __init__(
        self,
        *,
        g: DensityValue = 0.001,
        e: DensityValue = -70.0,
    ) -> None:
        super().__init__(
            g=g,
            e=e,
        )


class exp2syn(Receptor):
    """Conductance that rises and decays exponentially.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau_rise : default 0.5 ms; > 0
        Time constant of the rise.
    tau_decay : default 2 ms; > 0
        Time constant of the decay.
    e : default 0 mV; >= -1000 and <= 1000
        Reversal potential.

    Notes
    -----
    ::

        i = g (V - e)
        g = sum over spikes of w f (exp(-t / tau_decay) - exp(-t / tau_rise)), t after the spike arrives
        f is such that a spike of weight w gives a greatest conductance of w.

    References
    ----------
    A. Roth and M. C. W. van Rossum, in: Computational Modeling Methods for Neuroscientists, MIT Press (2009), 139-160
    """

    name: ClassVar[str] = "exp2syn"

    def __init__(
        self,
        *,
        tau_rise: float = 0.5,
        tau_decay: float = 2.0,
        e: float = 0.0,
    ) -> None:
        super().__init__(
            tau_rise=tau_rise,
            tau_decay=tau_decay,
            e=e,
        )


class expsyn(Receptor):
    """Conductance that jumps with each spike and decays exponentially.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau : default 2 ms; > 0
        Time constant of the conductance.
    e : default 0 mV; >= -1000 and <= 1000
        Reversal potential.

    Notes
    -----
    ::

        i = g (V - e)
        dg/dt = -g / tau + sum of the weights of the spikes that arrive

    References
    ----------
    A. Destexhe, Z. F. Mainen and T. J. Sejnowski, Neural Computation 6, 14-18 (1994), in its limit of short pulses
    """

    name: ClassVar[str] = "expsyn"

    def __init__(
        self,
        *,
        tau: float = 2.0,
        e: float = 0.0,
    ) -> None:
        super().__init__(
            tau=tau,
            e=e,
        )


class nmda(Receptor):
    """NMDA receptors, which magnesium blocks at low potentials.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau_rise : default 2 ms; > 0
        Time constant of the rise.
    tau_decay : default 65 ms; > 0
        Time constant of the decay.
    e : default 0 mV; >= -1000 and <= 1000
        Reversal potential.
    Mg : default 1 mM; >= 0 and <= 1e+06
        Extracellular magnesium, which blocks the receptors.

    Notes
    -----
    ::

        i = g B(V) (V - e)
        B(V) = 1 / (1 + exp(-0.062 V / mV) Mg / 3.57 mM)
        g = sum over spikes of w f (exp(-t / tau_decay) - exp(-t / tau_rise)), t after the spike arrives
        f is such that a spike of weight w gives a greatest conductance of w without magnesium.
        B is taken at the potential before the step.

    References
    ----------
    C. E. Jahr and C. F. Stevens, Journal of Neuroscience 10, 3178-3182 (1990)
    """

    name: ClassVar[str] = "nmda"

    def __init__(
        self,
        *,
        tau_rise: float = 2.0,
        tau_decay: float = 65.0,
        e: float = 0.0,
        Mg: float = 1.0,
    ) -> None:
        super().__init__(
            tau_rise=tau_rise,
            tau_decay=tau_decay,
            e=e,
            Mg=Mg,
        )
