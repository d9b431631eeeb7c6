# Written by `make stub`.
"""Mechanisms of the membrane of detailed cells, and receptors that are placed on them.

Their classes are made from the registry of the core when they are first used. A parameter of a mechanism is one number,
an array with one number for each compartment of the cell, or a function of the distances of all compartments from the
start of the root (um) that returns these; it is one number if rates of gates depend on it. A parameter of a receptor is
one number. With `per_cell`, the cells of a population can have different values.
"""

from collections.abc import Mapping
from typing import ClassVar

from ranvier.cells.membrane import DensityValue, Mechanism, PerCellValue, Receptor

__all__ = [
    "ca_hva",
    "ca_lva",
    "calcium_pool",
    "exp2syn",
    "expsyn",
    "h_current",
    "hh",
    "k_fast",
    "k_persistent",
    "k_transient",
    "m_current",
    "na_persistent",
    "na_transient",
    "nmda",
    "pas",
    "sk_current",
]

class ca_hva(Mechanism):
    """Calcium current that is activated by high voltages.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.0001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    eca : in mV, without a default; >= -1000 and <= 1000
        Reversal potential of calcium, where there is no calcium_pool.

    Notes
    -----
    ::

        i = gbar m^2 h (V - eca)
        dx/dt = alpha_x (1 - x) - beta_x x, V in mV and rates in 1/ms, at any temperature:
        alpha_m = 0.055 (V + 27) / (1 - exp(-(V + 27) / 3.8))     beta_m = 0.94 exp(-(V + 75) / 17)
        alpha_h = 0.000457 exp(-(V + 13) / 50)                    beta_h = 0.0065 / (1 + exp(-(V + 15) / 28))
        eca is that of the calcium_pool there.

    References
    ----------
    I. Reuveni, A. Friedman, Y. Amitai and M. J. Gutnick, Journal of Neuroscience 13, 4609-4621 (1993); as in E. Hay et
    al., PLoS Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    def __init__(self, *, gbar: DensityValue = 0.0001, eca: DensityValue | None = None) -> None: ...

class ca_lva(Mechanism):
    """Calcium current that is activated by low voltages.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.0001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    eca : in mV, without a default; >= -1000 and <= 1000
        Reversal potential of calcium, where there is no calcium_pool.

    Notes
    -----
    ::

        i = gbar m^2 h (V - eca)
        dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
        m_inf = 1 / (1 + exp(-(V + 40) / 6))                      h_inf = 1 / (1 + exp((V + 90) / 6.4))
        tau_m = 5 + 20 / (1 + exp((V + 35) / 5))                  tau_h = 20 + 50 / (1 + exp((V + 50) / 7))
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10). eca is that of the calcium_pool there.

    References
    ----------
    R. B. Avery and D. Johnston, Journal of Neuroscience 16, 5567-5582 (1996), and A. D. Randall and R. W. Tsien,
    Neuropharmacology 36, 879-893 (1997); as in E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.0001, eca: DensityValue | None = None) -> None: ...

class calcium_pool(Mechanism):
    """Calcium in a shell below the membrane, which calcium currents fill.

    For ``membrane=`` of `Cell`.

    Parameters
    ----------
    gamma : default 0.05; > 0 and <= 1
        Share of the calcium that comes in that is not buffered.
    depth : default 0.1 um; >= 1e-06 and <= 1e+06
        Depth of the shell below the membrane.
    decay : default 80 ms; >= 1e-06 and <= 1e+09
        Time constant of the return to rest.
    Ca_rest : default 0.0001 mM; >= 1e-08 and <= 100
        Concentration at rest, with which it begins.
    Ca_out : default 2 mM; >= 1e-06 and <= 1000
        Concentration outside of the cell.

    Notes
    -----
    ::

        dCa/dt = -gamma i_Ca / (2 F depth) - (Ca - Ca_rest) / decay
        i_Ca: sum of the calcium currents at the same place
        eca = R T / (2 F) ln(Ca_out / Ca), for these currents
        F = 96485.33212 C/mol, R = 8.314462618 J/(mol K), T = celsius + 273.15 K

    References
    ----------
    A. Destexhe, Z. F. Mainen and T. J. Sejnowski, Journal of Computational Neuroscience 1, 195-230 (1994); with the
    values of E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    is_pool: ClassVar[bool]
    def __init__(
        self,
        *,
        gamma: DensityValue = 0.05,
        depth: DensityValue = 0.1,
        decay: DensityValue = 80.0,
        Ca_rest: DensityValue = 0.0001,
        Ca_out: DensityValue = 2.0,
    ) -> None: ...

class h_current(Mechanism):
    """Current of cations that hyperpolarisation activates (h current).

    For ``membrane=`` of `Cell`. Gating variables: m, activation. Currents: i.

    Parameters
    ----------
    gbar : default 0.0001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    eh : default -45 mV; >= -1000 and <= 1000
        Reversal potential of the current.

    Notes
    -----
    ::

        i = gbar m (V - eh)
        dm/dt = alpha (1 - m) - beta m, V in mV and rates in 1/ms, as measured at 34 degrees, at any temperature:
        alpha = 0.00643 (V + 154.9) / (exp((V + 154.9) / 11.9) - 1)   beta = 0.193 exp(V / 33.1)

    References
    ----------
    M. H. P. Kole, S. Hallermann and G. J. Stuart, Journal of Neuroscience 26, 1677-1687 (2006)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    def __init__(self, *, gbar: DensityValue = 0.0001, eh: DensityValue = -45.0) -> None: ...

class hh(Mechanism):
    """Sodium, potassium and leak of the squid giant axon, after Hodgkin and Huxley.

    For ``membrane=`` of `Cell`. Gating variables: m, activation of sodium; h, inactivation of sodium; n, activation of
    potassium. Currents: i_Na, i_K, i_l.

    Parameters
    ----------
    gnabar : default 0.12 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance of sodium.
    gkbar : default 0.036 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance of potassium.
    gl : default 0.0003 S/cm^2; >= 0 and <= 1e+06
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

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(
        self,
        *,
        gnabar: DensityValue = 0.12,
        gkbar: DensityValue = 0.036,
        gl: DensityValue = 0.0003,
        el: DensityValue = -54.3,
        ena: DensityValue = 50.0,
        ek: DensityValue = -77.0,
    ) -> None: ...

class k_fast(Mechanism):
    """Fast potassium current (Kv3.1).

    For ``membrane=`` of `Cell`. Gating variables: m, activation. Currents: i.

    Parameters
    ----------
    gbar : default 0.1 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ek : default -85 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gbar m (V - ek)
        dm/dt = (m_inf - m) / tau_m, V in mV and times in ms, at any temperature:
        m_inf = 1 / (1 + exp(-(V - 18.7) / 9.7))                  tau_m = 4 / (1 + exp((V + 46.56) / 44.14))

    References
    ----------
    J. Rettig et al., EMBO Journal 11, 2473-2486 (1992); as in E. Hay et al., PLoS Computational Biology 7, e1002107
    (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    def __init__(self, *, gbar: DensityValue = 0.1, ek: DensityValue = -85.0) -> None: ...

class k_persistent(Mechanism):
    """Slow potassium current of cortical pyramidal cells.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.01 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ek : default -85 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gbar m^2 h (V - ek)
        dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
        m_inf = 1 / (1 + exp(-(V + 11) / 12))                     h_inf = 1 / (1 + exp((V + 64) / 11))
        tau_m = 1.25 + 13 exp(0.026 (V + 110)) below -60 mV, 1.25 + 13 exp(-0.026 (V + 10)) above
        tau_h = 360 + (1010 + 24 (V + 65)) exp(-((V + 85) / 48)^2)
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10).

    References
    ----------
    A. Korngreen and B. Sakmann, Journal of Physiology 525, 621-639 (2000); as in E. Hay et al., PLoS Computational
    Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.01, ek: DensityValue = -85.0) -> None: ...

class k_transient(Mechanism):
    """Transient (A-type) potassium current of cortical pyramidal cells.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.01 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ek : default -85 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gbar m^4 h (V - ek)
        dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
        m_inf = 1 / (1 + exp(-(V + 10) / 19))                     h_inf = 1 / (1 + exp((V + 76) / 10))
        tau_m = 0.34 + 0.92 exp(-((V + 81) / 59)^2)               tau_h = 8 + 49 exp(-((V + 83) / 23)^2)
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10).

    References
    ----------
    A. Korngreen and B. Sakmann, Journal of Physiology 525, 621-639 (2000); as in E. Hay et al., PLoS Computational
    Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.01, ek: DensityValue = -85.0) -> None: ...

class m_current(Mechanism):
    """M current: potassium channels that muscarinic receptors close.

    For ``membrane=`` of `Cell`. Gating variables: m, activation. Currents: i.

    Parameters
    ----------
    gbar : default 0.0001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ek : default -85 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gbar m (V - ek)
        dm/dt = alpha (1 - m) - beta m, V in mV and rates in 1/ms at 21 degrees:
        alpha = 0.0033 exp(0.1 (V + 35))                          beta = 0.0033 exp(-0.1 (V + 35))
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10).

    References
    ----------
    P. R. Adams, D. A. Brown and A. Constanti, Journal of Physiology 330, 537-572 (1982); as in E. Hay et al., PLoS
    Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.0001, ek: DensityValue = -85.0) -> None: ...

class na_persistent(Mechanism):
    """Persistent sodium current of cortical pyramidal cells.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ena : default 50 mV; >= -1000 and <= 1000
        Reversal potential of sodium.

    Notes
    -----
    ::

        i = gbar m^3 h (V - ena)
        dx/dt = (x_inf - x) / tau_x, V in mV and times in ms at 21 degrees:
        m_inf = 1 / (1 + exp(-(V + 52.6) / 4.6))                  h_inf = 1 / (1 + exp((V + 48.8) / 10))
        tau_m = 6 / (0.182 (V + 38) / (1 - exp(-(V + 38) / 6)) - 0.124 (V + 38) / (1 - exp((V + 38) / 6)))
        1/tau_h = -2.88e-6 (V + 17) / (1 - exp((V + 17) / 4.63)) + 6.94e-6 (V + 64.4) / (1 - exp(-(V + 64.4) / 2.63))
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10).

    References
    ----------
    J. Magistretti and A. Alonso, Journal of General Physiology 114, 491-509 (1999); as in E. Hay et al., PLoS
    Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.001, ena: DensityValue = 50.0) -> None: ...

class na_transient(Mechanism):
    """Transient sodium current of cortical pyramidal cells.

    For ``membrane=`` of `Cell`. Gating variables: m, activation; h, inactivation. Currents: i.

    Parameters
    ----------
    gbar : default 0.1 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ena : default 50 mV; >= -1000 and <= 1000
        Reversal potential of sodium.

    Notes
    -----
    ::

        i = gbar m^3 h (V - ena)
        dx/dt = alpha_x (1 - x) - beta_x x, V in mV and rates in 1/ms at 21 degrees:
        alpha_m = 0.182 (V + 38) / (1 - exp(-(V + 38) / 6))       beta_m = -0.124 (V + 38) / (1 - exp((V + 38) / 6))
        alpha_h = -0.015 (V + 66) / (1 - exp((V + 66) / 6))       beta_h = 0.015 (V + 66) / (1 - exp(-(V + 66) / 6))
        At temperature T, rates are multiplied by 2.3^((T - 21) / 10).

    References
    ----------
    C. M. Colbert and E. Pan, Nature Neuroscience 5, 533-538 (2002); as in E. Hay et al., PLoS Computational Biology 7,
    e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    measured_celsius: ClassVar[float | None]
    def __init__(self, *, gbar: DensityValue = 0.1, ena: DensityValue = 50.0) -> None: ...

class pas(Mechanism):
    """Passive leak of the membrane.

    For ``membrane=`` of `Cell`. Currents: i.

    Parameters
    ----------
    g : default 0.001 S/cm^2; >= 0 and <= 1e+06
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

    name: ClassVar[str]
    currents: ClassVar[tuple[str, ...]]
    def __init__(self, *, g: DensityValue = 0.001, e: DensityValue = -70.0) -> None: ...

class sk_current(Mechanism):
    """Potassium current of small conductance that calcium activates.

    For ``membrane=`` of `Cell`. Gating variables: z, activation by calcium. Currents: i.

    Parameters
    ----------
    gbar : default 0.001 S/cm^2; >= 0 and <= 1e+06
        Greatest conductance.
    ek : default -85 mV; >= -1000 and <= 1000
        Reversal potential of potassium.

    Notes
    -----
    ::

        i = gbar z (V - ek)
        dz/dt = (z_inf - z) / tau_z, with the concentration Ca of the calcium_pool there, at any temperature:
        z_inf = 1 / (1 + (0.00043 mM / Ca)^4.8)                   tau_z = 1 ms

    References
    ----------
    M. Koehler, B. Hirschberg, C. T. Bond, J. M. Kinzie, N. V. Marrion, J. Maylie and J. P. Adelman, Science 273,
    1709-1714 (1996); as in E. Hay et al., PLoS Computational Biology 7, e1002107 (2011)
    """

    name: ClassVar[str]
    gates: ClassVar[tuple[str, ...]]
    currents: ClassVar[tuple[str, ...]]
    def __init__(self, *, gbar: DensityValue = 0.001, ek: DensityValue = -85.0) -> None: ...

class exp2syn(Receptor):
    """Conductance that rises and decays exponentially.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau_rise : default 0.5 ms; >= 1e-06 and <= 1e+09
        Time constant of the rise.
    tau_decay : default 2 ms; >= 1e-06 and <= 1e+09
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

    name: ClassVar[str]
    def __init__(
        self, *, tau_rise: PerCellValue = 0.5, tau_decay: PerCellValue = 2.0, e: PerCellValue = 0.0
    ) -> None: ...

class expsyn(Receptor):
    """Conductance that jumps with each spike and decays exponentially.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau : default 2 ms; >= 1e-06 and <= 1e+09
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

    name: ClassVar[str]
    def __init__(self, *, tau: PerCellValue = 2.0, e: PerCellValue = 0.0) -> None: ...

class nmda(Receptor):
    """NMDA receptors, which magnesium blocks at low potentials.

    Weights of synapses are in nS. For ``receptors=`` of `Cell`.

    Parameters
    ----------
    tau_rise : default 2 ms; >= 1e-06 and <= 1e+09
        Time constant of the rise.
    tau_decay : default 65 ms; >= 1e-06 and <= 1e+09
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
        Within a step, the current is linear in V, about the potential before the step.

    References
    ----------
    C. E. Jahr and C. F. Stevens, Journal of Neuroscience 10, 3178-3182 (1990)
    """

    name: ClassVar[str]
    def __init__(
        self,
        *,
        tau_rise: PerCellValue = 2.0,
        tau_decay: PerCellValue = 65.0,
        e: PerCellValue = 0.0,
        Mg: PerCellValue = 1.0,
    ) -> None: ...

MECHANISMS: Mapping[str, type[Mechanism]]
RECEPTORS: Mapping[str, type[Receptor]]
