: the time constant is negative at potentials that the cell never has
NEURON { SUFFIX tau_negative_far_away USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 1/(1 + exp(-(v + 40)/8)) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = (1/(1 + exp(-(v + 40)/8)) - n)/(30 + 0.2*v) }
