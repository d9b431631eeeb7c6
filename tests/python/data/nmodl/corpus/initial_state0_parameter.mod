: a parameter named after a state with 0 is what it begins at
NEURON { SUFFIX initial_state0_parameter USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.002 (S/cm2) n0 = 0.7 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (1/(1 + exp(-(v + 35)/9)) - n)/7 }
