NEURON { SUFFIX power_not_whole USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.004 (S/cm2) p = 1.5 }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = ss(v) }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n^p*(v - ek) }
DERIVATIVE s { n' = (ss(v) - n)/8 }
FUNCTION ss(u) { ss = 1/(1 + exp(-(u + 38)/7)) }
