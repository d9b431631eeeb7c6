: what DERIVATIVE assigns is what BREAKPOINT takes afterwards
NEURON { SUFFIX derivative_sets_conductance USEION k READ ek WRITE ik RANGE gbar, scale }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) scale }
STATE { n }
INITIAL { n = 0.4 scale = 0.1 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*scale*n*(v - ek) }
DERIVATIVE s {
    scale = 1/(1 + exp(-(v + 60)/5))
    n' = (0.6 - n)/5
}
