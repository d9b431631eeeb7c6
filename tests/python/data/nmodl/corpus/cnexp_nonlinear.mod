: cnexp cannot solve it: the compiler takes derivimplicit
NEURON { SUFFIX cnexp_nonlinear USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 0.4 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = 0.3/(1 + exp(-(v + 50)/9)) - n*n/2 }
