NEURON { SUFFIX runge_linear USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = ss(v) }
BREAKPOINT { SOLVE s METHOD runge ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (ss(v) - n)/3 }
FUNCTION ss(u) { ss = 1/(1 + exp(-(u + 38)/7)) }
