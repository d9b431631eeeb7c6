: BREAKPOINT bounds a state on both sides, and switches a conductance
NEURON { SUFFIX bounded_in_breakpoint USEION k READ ek WRITE ik NONSPECIFIC_CURRENT i RANGE gbar, high }
PARAMETER { gbar = 0.003 (S/cm2) high = 0.45 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) i (mA/cm2) open }
STATE { p }
INITIAL { p = 0.3 open = 0 }
BREAKPOINT {
    SOLVE s METHOD cnexp
    if (p > 0.45) { p = 0.45 }
    if (p < 0.1) { p = 0.1 }
    if (v > -45) { open = 1 }
    if (v < -75) { open = 0.2 }
    ik = gbar*p*(v - ek)
    i = 0.0003*open*(v + 30)
}
DERIVATIVE s { p' = (1/(1 + exp(-(v + 50)/7)) - p)/4 }
