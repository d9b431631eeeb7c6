NEURON { SUFFIX euler_squared USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 0.4 }
BREAKPOINT { SOLVE s METHOD euler ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = 0.3*ss(v) - n*n/2 }
FUNCTION ss(u) { ss = 1/(1 + exp(-(u + 38)/7)) }
