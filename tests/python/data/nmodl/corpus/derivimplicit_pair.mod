NEURON { SUFFIX derivimplicit_pair USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { p q }
INITIAL { p = 0.2 q = 0.5 }
BREAKPOINT { SOLVE s METHOD derivimplicit ik = gbar*p*(v - ek) }
DERIVATIVE s {
    p' = 0.5*q*(1 - p)/(1 + exp(-(v + 50)/9)) - 0.3*p
    q' = 0.2*(1 - q) - 0.4*p*q
}
