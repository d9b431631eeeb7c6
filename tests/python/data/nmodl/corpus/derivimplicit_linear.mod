NEURON { SUFFIX derivimplicit_linear USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) a b }
STATE { n }
INITIAL { speed(v) n = a/(a + b) }
BREAKPOINT { SOLVE s METHOD derivimplicit ik = gbar*n^4*(v - ek) }
DERIVATIVE s { speed(v) n' = a*(1 - n) - b*n }
PROCEDURE speed(u) { a = 0.3*exp((u + 30)/20) b = 0.2*exp(-(u + 30)/50) }
