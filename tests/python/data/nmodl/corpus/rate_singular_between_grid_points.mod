: no function guards the quotient
NEURON { SUFFIX rate_singular_between_grid_points USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) a b }
STATE { n }
INITIAL { rates(v) n = a/(a + b) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n^4*(v - ek) }
DERIVATIVE s { rates(v) n' = a*(1 - n) - b*n }
PROCEDURE rates(u) {
    a = 0.02*(u + 47.3)/(1 - exp(-(u + 47.3)/9))
    b = 0.3*exp(-(u + 52.5)/40)
}
