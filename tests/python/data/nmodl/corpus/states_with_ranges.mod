NEURON { SUFFIX states_with_ranges USEION k READ ek WRITE ik RANGE gbar }
PARAMETER { gbar = 0.003 (S/cm2) <0, 1e9> }
ASSIGNED { v (mV) ek (mV) ik (mA/cm2) }
STATE { n FROM 0 TO 1 h FROM 0 TO 1 (1) }
INITIAL { n = 0.4 h = 0.6 }
BREAKPOINT { SOLVE s METHOD cnexp ik = gbar*n*h*(v - ek) }
DERIVATIVE s { n' = (inf(v) - n)/6 h' = (1 - inf(v) - h)/16 }
FUNCTION inf(u (mV)) { inf = 1/(1 + exp(-(u + 40)/7)) }
