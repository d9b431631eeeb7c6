"""Channels written as equations: some that come with Ranvier, too, and others."""

from __future__ import annotations

import ranvier as rv

__all__ = [
    "HH",
    "HH_PARAMETERS",
    "HIGH_CALCIUM",
    "K_PERSISTENT",
    "POTASSIUM",
    "SMALL_POTASSIUM",
    "big_potassium",
    "high_calcium",
    "hodgkin_huxley",
    "k_persistent",
    "k_slow",
    "low_calcium",
    "passive",
    "small_potassium",
    "two_currents",
]

HH = """
i = i_Na + i_K + i_l : mA/cm**2
i_Na = gnabar*m**3*h*(v - ena) : mA/cm**2
i_K = gkbar*n**4*(v - ek) : mA/cm**2
i_l = gl*(v - el) : mA/cm**2
dm/dt = alpha_m*(1 - m) - beta_m*m : 1  # activation of sodium
dh/dt = alpha_h*(1 - h) - beta_h*h : 1
dn/dt = alpha_n*(1 - n) - beta_n*n : 1
alpha_m = phi/exprel(-(v + 40*mV)/(10*mV)) : 1/ms
beta_m = phi*4*exp(-(v + 65*mV)/(18*mV)) : 1/ms
alpha_h = phi*0.07*exp(-(v + 65*mV)/(20*mV)) : 1/ms
beta_h = phi/(1 + exp(-(v + 35*mV)/(10*mV))) : 1/ms
alpha_n = phi*0.1/exprel(-(v + 55*mV)/(10*mV)) : 1/ms
beta_n = phi*0.125*exp(-(v + 65*mV)/(80*mV)) : 1/ms
phi = 3**((celsius - 6.3)/10)/ms : 1/ms
"""
HH_PARAMETERS = {
    "gnabar": "0.12 S/cm**2",
    "gkbar": "36 mS/cm**2",
    "gl": rv.parameter("0.0003 S/cm**2", low=0.0, meaning="Leak"),
    "ena": "50 mV",
    "ek": "-77 mV",
    "el": "-54.3 mV",
}
POTASSIUM = {"gbar": "0.01 S/cm**2", "ek": "-85 mV"}
K_PERSISTENT = """
i = gbar*m**2*h*(v - ek) : mA/cm**2
dm/dt = speed*(m_inf - m)/tau_m : 1
m_inf = 1/(1 + exp(-(v + 11*mV)/(12*mV))) : 1
tau_m = 1.25*ms + 13*ms*(exp(0.026*(v/mV + 110)) if v < -60*mV else exp(-0.026*(v/mV + 10))) : ms
dh/dt = (h_inf - h)/tau_h*speed : 1
h_inf = 1/(1 + exp((v + 64*mV)/(11*mV))) : 1
tau_h = 360*ms + (1010*ms + 24*ms*(v/mV + 65))*exp(-((v + 85*mV)/(48*mV))**2) : ms
speed = 2.3**((celsius - 21)/10) : 1
"""


def hodgkin_huxley(name: str = "squid") -> rv.EquationChannel:
    """Return `rv.hh`."""
    return rv.channel(HH, parameters=HH_PARAMETERS, name=name)


def k_persistent() -> rv.EquationChannel:
    """Return `rv.k_persistent`."""
    return rv.channel(K_PERSISTENT, parameters=POTASSIUM, name="slow")


def passive() -> rv.EquationChannel:
    """Return `rv.pas`."""
    return rv.channel("i = g*(v - E) : mA/cm**2", parameters={"g": "0.001 S/cm**2", "E": "-70 mV"}, name="leak")


def k_slow() -> rv.EquationChannel:
    """Return a channel of two components, one of which begins away from its steady state."""
    return rv.channel(
        """
        i = 0.8*gbar*n**4*(v - ek) + 0.2*gbar*n*(v - ek)*b : mA/cm**2
        dn/dt = (1/(1 + exp(-(v + shift)/(9*mV))) - n)/tau : 1
        db/dt = (1/(1 + exp((v + 60*mV)/(6*mV))) - b)/(20*ms + tau) : 1
        tau = 2*ms + 8*ms/(1 + exp((v + 40*mV)/(15*mV))) : ms
        """,
        parameters={**POTASSIUM, "shift": "45 mV"},
        initial={"b": 0.3},
        name="k_slow",
    )


HIGH_CALCIUM = """
i = gbar*m**2*h*(v - eca) : mA/cm**2 (calcium)
dm/dt = alpha_m*(1 - m) - beta_m*m : 1
dh/dt = alpha_h*(1 - h) - beta_h*h : 1
alpha_m = 0.055*3.8/exprel(-(v + 27*mV)/(3.8*mV))/ms : 1/ms
beta_m = 0.94*exp(-(v + 75*mV)/(17*mV))/ms : 1/ms
alpha_h = 0.000457*exp(-(v + 13*mV)/(50*mV))/ms : 1/ms
beta_h = 0.0065/(1 + exp(-(v + 15*mV)/(28*mV)))/ms : 1/ms
"""
LOW_CALCIUM = """
i = gbar*m**2*h*(v - eca) : mA/cm**2 (calcium)
dm/dt = speed*(1/(1 + exp(-(v + 40*mV)/(6*mV))) - m)/(5*ms + 20*ms/(1 + exp((v + 35*mV)/(5*mV)))) : 1
dh/dt = speed*(1/(1 + exp((v + 90*mV)/(6.4*mV))) - h)/(20*ms + 50*ms/(1 + exp((v + 50*mV)/(7*mV)))) : 1
speed = 2.3**((celsius - 21)/10) : 1
"""
SMALL_POTASSIUM = """
i = gbar*z*(v - ek) : mA/cm**2
dz/dt = (z_inf - z)/(1*ms) : 1  # activation by calcium
z_inf = 1/(1 + (0.00043*mM/cai)**4.8) : 1
"""


def high_calcium() -> rv.EquationChannel:
    """Return `rv.ca_hva`."""
    return rv.channel(HIGH_CALCIUM, parameters={"gbar": "0.0001 S/cm**2"}, name="high")


def low_calcium() -> rv.EquationChannel:
    """Return `rv.ca_lva`."""
    return rv.channel(LOW_CALCIUM, parameters={"gbar": "0.0001 S/cm**2"}, name="low")


def small_potassium() -> rv.EquationChannel:
    """Return `rv.sk_current`."""
    return rv.channel(SMALL_POTASSIUM, parameters={"gbar": "0.001 S/cm**2", "ek": "-85 mV"}, name="small")


def big_potassium() -> rv.EquationChannel:
    """Return a channel that potential and calcium open together."""
    return rv.channel(
        """
        i = gbar*n*(v - ek) : mA/cm**2
        dn/dt = (1/(1 + exp(-(v - half)/(9*mV))) - n)/(1*ms + 3*ms/(1 + exp((v - half)/(20*mV)))) : 1
        half = shift - 15*mV*log(cai/uM) : mV
        """,
        parameters={**POTASSIUM, "shift": "-30 mV"},
        initial={"n": "0.5/(1 + exp(-(v - half)/(9*mV)))"},
        name="big",
    )


def two_currents() -> rv.EquationChannel:
    """Return a channel for calcium, which closes it from within, and potassium."""
    return rv.channel(
        """
        i = i_Ca + i_K : mA/cm**2
        i_Ca = gbar*m*q*(v - eca) : mA/cm**2 (calcium)
        i_K = gk*m*(v - ek) : mA/cm**2
        dm/dt = (1/(1 + exp(-(v + 35*mV)/(6*mV))) - m)/(2*ms) : 1
        dq/dt = (1/(1 + cai/(0.4*uM)) - q)/(8*ms) : 1
        """,
        parameters={"gbar": "0.0005 S/cm**2", "gk": "0.0008 S/cm**2", "ek": "-80 mV"},
        name="two",
    )
