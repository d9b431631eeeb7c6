NEURON { SUFFIX initial_number USEION k READ ek WRITE ik RANGE gbar, n0 }
PARAMETER { gbar = 0.002 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 0.25 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (1/(1 + exp(-(v + 35)/9)) - n)/7 }
