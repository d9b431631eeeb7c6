: BREAKPOINT bounds states that derivimplicit solves
NEURON { SUFFIX bounded_beside_function USEION k READ ek WRITE ik RANGE gbar, high }
PARAMETER { gbar = 0.003 (S/cm2) high = 0.33 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p q }
INITIAL { p = 0.1 q = 0.6 }
BREAKPOINT {
    SOLVE s METHOD derivimplicit
    if (p > high) { p = high }
    if (q > 0.45) { q = 0.45 }
    ik = gbar*p*q*(v - ek)
}
DERIVATIVE s {
    p' = exp(-p) - p
    q' = (1/(1 + exp(-(v + 50)/7)) + p - q)/4
}
