NEURON { SUFFIX calcium_and_potential_gate USEION ca READ cai USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.01 (S/cm2) }
ASSIGNED { v (mV) cai (mM) ek (mV) ik (mA/cm2) a b }
STATE { o }
INITIAL { rate(v, cai) o = a/(a + b) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*o*(v - ek) }
DERIVATIVE s { rate(v, cai) o' = a*(1 - o) - b*o }
PROCEDURE rate(u, ca) {
    a = 0.3*ca/(ca + 0.0006*exp(-(u + 30)/26))
    b = 0.15/(1 + ca/(0.0002*exp(-(u + 30)/26)))
}
