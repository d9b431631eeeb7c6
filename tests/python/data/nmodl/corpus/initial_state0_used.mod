NEURON { SUFFIX initial_state0_used USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.002 (S/cm2) n0 = 0.6 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = n0/2 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (1/(1 + exp(-(v + 35)/9)) - n)/7 }
