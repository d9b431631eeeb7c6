NEURON { SUFFIX derivimplicit_squared USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n }
INITIAL { n = 0.4 }
BREAKPOINT { SOLVE s METHOD derivimplicit ik = gbar*n*(v - ek) }
DERIVATIVE s { n' = 0.3/(1 + exp(-(v + 50)/9)) - n*n/2 }
