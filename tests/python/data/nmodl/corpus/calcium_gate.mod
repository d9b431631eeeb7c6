NEURON { SUFFIX calcium_gate USEION ca READ cai USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.006 (S/cm2) half = 0.0004 (mM) tau = 3 (ms) }
ASSIGNED { v (mV) cai (mM) ek (mV) ik (mA/cm2) inf }
STATE { z }
INITIAL { inf = 1/(1 + (half/cai)^4) z = inf }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*z*(v - ek) }
DERIVATIVE s {
    if (cai < 1e-7) { cai = cai + 1e-7 }
    inf = 1/(1 + (half/cai)^4)
    z' = (inf - z)/tau
}
